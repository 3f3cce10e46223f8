"""Types of the IR, and the values that have them.

A tile type says what the language promises of a tile: its element type, and for each axis its length and its
*tag*. The tag is the walker or dimension the axis came from; it decides how many of the `length` elements are
live, and two different tags never meet. An axis without a tag is full.

Lengths known at compile time: numbers, or expressions of dimensions whose value is not given yet. `tileproof check`
keeps `D: int` symbolic, so a tile may be `D // 2` long. An `Extent` is kept in a normal form (a constant plus integer
multiples of atoms), so equal lengths compare equal. What cannot be decided without numbers raises `Undecided`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Generic, TypeAlias, TypeVar

from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.language.dtypes import ENTRY, INDEX, DType

NOWHERE: Final = 1 << 61
"""A position that no axis has, and the largest that an entry may be: what a negative index becomes as an entry."""


class Access(StrEnum):
    """What a kernel may do with a tensor."""

    IN = "In"
    OUT = "Out"
    INOUT = "InOut"
    SUM = "Sum"
    MAX = "Max"
    MIN = "Min"

    @property
    def reads(self) -> bool:
        return self in (Access.IN, Access.INOUT)

    @property
    def writes(self) -> bool:
        return self in (Access.OUT, Access.INOUT)

    @property
    def combines(self) -> bool:
        """Written by many programs, combined by an associative operation."""
        return self in (Access.SUM, Access.MAX, Access.MIN)


@dataclass(frozen=True, slots=True)
class Named:
    """A dimension with a name: the same extent in every tensor."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Fixed:
    """A dimension given as a number."""

    extent: int

    def __str__(self) -> str:
        return str(self.extent)


@dataclass(frozen=True, slots=True)
class Unnamed:
    """`_`: any extent, of this axis alone."""

    def __str__(self) -> str:
        return "_"


Dimension: TypeAlias = Named | Fixed | Unnamed


@dataclass(frozen=True, slots=True)
class Content:
    """The element type of an index tensor: stored as i32 or i64, read as `index`."""

    kind: str
    dimension: str
    storage: DType
    ends_early: bool = False
    """Whether borders may end before the extent."""
    per: tuple[str, ...] = ()
    """The dimensions of the first axes, if entries of `Unique` differ only where these have the same position."""

    def __str__(self) -> str:
        words = ["<=" * self.ends_early + self.dimension, *(("per", *self.per) if self.per else ())]
        return f'{self.kind}["{" ".join(words)}"]'


@dataclass(frozen=True, slots=True)
class TensorType:
    """A parameter in memory."""

    access: Access
    element: DType | Content
    dimensions: tuple[Dimension, ...]
    keeps: bool = False
    """Whether what is combined starts from what the tensor holds, not from the identity."""

    @property
    def stored_as(self) -> DType:
        """The element type in memory."""
        return self.element.storage if isinstance(self.element, Content) else self.element

    @property
    def read_as(self) -> DType:
        """The element type of a loaded tile."""
        if isinstance(self.element, DType):
            return self.element
        return INDEX if self.element.kind == "Offsets" else ENTRY

    def __str__(self) -> str:
        keep = ', "keep"' if self.keeps else ""
        return f'{self.access}[{self.element}, "{" ".join(map(str, self.dimensions))}"{keep}]'


@dataclass(frozen=True, slots=True)
class WalkerType:
    """A position of a walk along a dimension: a tile `size` long, or one element if `size` is None."""

    dimension: str
    size: Length | None
    is_piece: bool = False
    """Made by `tp.split`: a piece of the dimension, to be joined with the others."""

    @property
    def is_each(self) -> bool:
        return self.size is None

    def __str__(self) -> str:
        if self.size is None:
            return f"element of {self.dimension}"
        return f"{'piece' if self.is_piece else 'tile'} of {self.dimension} by {self.size}"


@dataclass(frozen=True, slots=True)
class WalkerTag:
    """The axis walks with this walker; its live length is the walker's."""

    walker: Value[WalkerType]

    def __str__(self) -> str:
        return self.walker.name


@dataclass(frozen=True, slots=True)
class DimensionTag:
    """The axis is all of a static dimension."""

    name: str

    def __str__(self) -> str:
        return self.name


Tag: TypeAlias = WalkerTag | DimensionTag


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a tile of `length` elements. Its tag determines how many are live; without a tag all are."""

    length: Length
    tag: Tag | None = None

    @property
    def is_full(self) -> bool:
        """Whether every element is live in every program: a static dimension has no short tile."""
        return not isinstance(self.tag, WalkerTag)

    def __str__(self) -> str:
        match self.tag:
            case None:
                return str(self.length)
            case WalkerTag(walker):
                return f"{walker.name}:{self.length}"
            case DimensionTag(name):
                return name if str(self.length) == name else f"{name}={self.length}"


@dataclass(frozen=True, slots=True)
class TileType:
    """An immutable block of elements; a scalar has no axes."""

    dtype: DType
    axes: tuple[Axis, ...] = ()

    @property
    def rank(self) -> int:
        return len(self.axes)

    @property
    def size(self) -> Length:
        """How many elements it has."""
        return math.prod((axis.length for axis in self.axes), start=1)

    def without(self, axis: int) -> TileType:
        """The type with one axis dropped."""
        return TileType(self.dtype, (*self.axes[:axis], *self.axes[axis + 1 :]))

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.axes))}]" if self.axes else str(self.dtype)


Type: TypeAlias = TileType | WalkerType | TensorType
T_co = TypeVar("T_co", bound="TileType | WalkerType | TensorType", covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Value(Generic[T_co]):
    """A value of the IR, defined once. Identity is equality; the name is unique within its kernel."""

    name: str
    type: T_co

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}"


Tile: TypeAlias = Value[TileType]
Walker: TypeAlias = Value[WalkerType]
Tensor: TypeAlias = Value[TensorType]
AnyValue: TypeAlias = Value[Type]
INDEX_SCALAR = TileType(INDEX)


def size_of(walker: Walker) -> Length:
    """How many elements a walker steps by."""
    return 1 if walker.type.size is None else walker.type.size


INDEX_LIMIT = 1 << 48
"""Extents are below it."""


class Undecided(Exception):
    """A decision depends on the value of a dimension that has none here."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(", ".join(sorted(names)))
        self.names = names


@dataclass(frozen=True, slots=True)
class Opaque:
    """An atom that is not linear: `left op right`."""

    op: str
    left: Length
    right: Length

    def __str__(self) -> str:
        return f"({_operand(self.left)} {self.op} {_operand(self.right)})"


Atom: TypeAlias = "str | Opaque"


@dataclass(frozen=True, slots=True)
class Extent:
    """A symbolic length: `constant + sum(factor * atom)`, with at least one atom. """

    terms: tuple[tuple[Atom, int], ...]
    constant: int = 0

    def __str__(self) -> str:
        parts = [_multiple(atom, factor) for atom, factor in self.terms]
        if self.constant:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")

    __repr__ = __str__

    @property
    def is_atom(self) -> bool:
        """Whether it is one atom alone, so that its text is one word."""
        return len(self.terms) == 1 and self.terms[0][1] == 1 and self.constant == 0

    @property
    def names(self) -> frozenset[str]:
        """The dimensions it mentions."""
        atoms = [atom for atom, _ in self.terms]
        parts = [names_in(atom.left, atom.right) for atom in atoms if isinstance(atom, Opaque)]
        return frozenset(atom for atom in atoms if isinstance(atom, str)).union(*parts)

    def __add__(self, other: Length) -> Length:
        terms = dict(self.terms)
        constant = self.constant
        if isinstance(other, Extent):
            constant += other.constant
            for atom, factor in other.terms:
                terms[atom] = terms.get(atom, 0) + factor
        else:
            constant += other
        return _normal(terms, constant)

    __radd__ = __add__

    def __mul__(self, other: Length) -> Length:
        if isinstance(other, Extent):
            left, right = sorted((self, other), key=str)
            return _normal({Opaque("*", left, right): 1}, 0)
        return _normal({atom: factor * other for atom, factor in self.terms}, self.constant * other)

    __rmul__ = __mul__

    def __neg__(self) -> Length:
        return self * -1

    def __sub__(self, other: Length) -> Length:
        return self + (-other)

    def __rsub__(self, other: Length) -> Length:
        return -self + other

    def __floordiv__(self, other: Length) -> Length:
        if isinstance(other, int) and other > 0:
            numbers = (self.constant, *(factor for _, factor in self.terms))
            if all(number % other == 0 for number in numbers):
                return _normal({atom: factor // other for atom, factor in self.terms}, self.constant // other)
        return _normal({Opaque("//", self, other): 1}, 0)

    def __rfloordiv__(self, other: Length) -> Length:
        return _normal({Opaque("//", other, self): 1}, 0)

    def __mod__(self, other: Length) -> Length:
        if isinstance(self // other, Extent) and isinstance(other, int) and (self // other) * other == self:
            return 0
        return _normal({Opaque("%", self, other): 1}, 0)

    def __rmod__(self, other: Length) -> Length:
        return _normal({Opaque("%", other, self): 1}, 0)

    def _undecided(self, other: object) -> bool:
        raise Undecided(names_in(self, other))

    __lt__ = __le__ = __gt__ = __ge__ = _undecided

    def __bool__(self) -> bool:
        return self._undecided(0)


Length: TypeAlias = "int | Extent"


def _multiple(atom: Atom, factor: int) -> str:
    """`factor * atom`. A ceiling division is stored as a negated floor division, and printed as `cdiv`."""
    text = str(atom)
    over = atom.left if isinstance(atom, Opaque) and atom.op == "//" and isinstance(atom.left, Extent) else None
    if over is not None and factor < 0 and over.constant <= 0 and all(part < 0 for _, part in over.terms):
        text, factor = f"cdiv({-over}, {atom.right})", -factor  # type: ignore[union-attr]
    return text if factor == 1 else f"{factor}*{text}"


def _operand(length: Length) -> str:
    """A length as an operand: a sum or a multiple is in parentheses."""
    return f"({length})" if isinstance(length, Extent) and not length.is_atom else str(length)


def _normal(terms: Mapping[Atom, int], constant: int) -> Length:
    kept = sorted(((atom, factor) for atom, factor in terms.items() if factor), key=lambda term: str(term[0]))
    return Extent(tuple(kept), constant) if kept else constant


def names_in(*lengths: object) -> frozenset[str]:
    """The dimensions without a value that some lengths mention."""
    return frozenset[str]().union(*(length.names for length in lengths if isinstance(length, Extent)))


def symbol(name: str) -> Extent:
    """The extent of a dimension as an unknown."""
    return Extent(((name, 1),))


def at_least(length: Length, least: int) -> bool | None:
    """Whether `length >= least`; None where that depends on unknown dimensions, which are >= 0."""
    if isinstance(length, int):
        return length >= least
    if length.constant >= least and all(factor > 0 and _is_positive(atom) for atom, factor in length.terms):
        return True
    return None


def _is_positive(atom: Atom) -> bool:
    """Whether an atom is certainly >= 0: a dimension is, and what `*`, `//` and `%` make of such."""
    return isinstance(atom, str) or bool(at_least(atom.left, 0) and at_least(atom.right, 0))


def number(length: Length) -> int:
    """A length as a number: in a launch all are known."""
    assert isinstance(length, int), f"{length} is not known"
    return length


def evaluate(length: Length, dimensions: Mapping[str, int]) -> int:
    """A length as a number; `//` and `%` by 0 are total, as everywhere."""
    if not isinstance(length, Extent):
        return length
    total = length.constant
    for atom, factor in length.terms:
        if isinstance(atom, str):
            total += factor * dimensions[atom]
            continue
        left, right = evaluate(atom.left, dimensions), evaluate(atom.right, dimensions)
        match atom.op:
            case "*":
                total += factor * left * right
            case "//":
                total += factor * (left // right if right else 0)
            case "%":
                total += factor * (left % right if right else left)
            case op:
                raise TypeError(f"a length cannot be made by {op}")
    return total
