"""Types of the IR, and the values that have them.

A tile type says what the language promises of a tile: its element type, and for each axis its length and its
*tag*. The tag is the walker or dimension the axis came from; it decides how many of the `length` elements are
live, and two different tags never meet. An axis without a tag is full.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeAlias, TypeVar

from tileproof.diagnostics.records import dataclass
from tileproof.language.dtypes import ENTRY, INDEX, DType

from .extent import Length


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
    """A dimension with a name: one extent wherever it stands."""

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
    """`_`: any extent, shared with nothing."""

    def __str__(self) -> str:
        return "_"


Dimension: TypeAlias = Named | Fixed | Unnamed


@dataclass(frozen=True, slots=True)
class Content:
    """The element type of an index tensor: stored as i32 or i64, read as `index`."""

    kind: str
    dimension: str
    storage: DType

    def __str__(self) -> str:
        return f'{self.kind}["{self.dimension}"]'


@dataclass(frozen=True, slots=True)
class TensorType:
    """A parameter in memory."""

    access: Access
    element: DType | Content
    dimensions: tuple[Dimension, ...]

    @property
    def stored_as(self) -> DType:
        """The element type in memory."""
        return self.element.storage if isinstance(self.element, Content) else self.element

    @property
    def read_as(self) -> DType:
        """The element type a load gives."""
        if isinstance(self.element, DType):
            return self.element
        return INDEX if self.element.kind == "Offsets" else ENTRY

    def __str__(self) -> str:
        return f'{self.access}[{self.element}, "{" ".join(map(str, self.dimensions))}"]'


@dataclass(frozen=True, slots=True)
class WalkerType:
    """What a walk of a dimension hands out: a tile of it, `size` long; one element if `size` is None."""

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
    """One axis of a tile: at most `length` elements, as many live as its tag says, all if it has none."""

    length: Length
    tag: Tag | None = None

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
