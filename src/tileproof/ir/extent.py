"""Lengths known at compile time: numbers, or expressions of dimensions whose value is not given yet.

`tileproof check` keeps `D: int` symbolic, so a tile may be `D // 2` long. An `Extent` is kept in a normal
form (a constant plus integer multiples of atoms), so equal lengths compare equal. What cannot be decided
without numbers raises `Undecided`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tileproof.diagnostics.records import dataclass

INDEX_LIMIT = 1 << 48
"""Extents are below it."""


class Undecided(Exception):
    """The answer depends on the value of a dimension that has none here."""

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
        found: set[str] = set()
        for atom, _ in self.terms:
            if isinstance(atom, str):
                found.add(atom)
            else:
                for side in (atom.left, atom.right):
                    found |= side.names if isinstance(side, Extent) else set()
        return frozenset(found)

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
        raise Undecided(self.names | (other.names if isinstance(other, Extent) else frozenset()))

    __lt__ = __le__ = __gt__ = __ge__ = _undecided

    def __bool__(self) -> bool:
        return self._undecided(0)


Length: TypeAlias = "int | Extent"


def _multiple(atom: Atom, factor: int) -> str:
    """So many of an atom. A quotient that was rounded up is kept as one rounded down, and shown as what it was."""
    text = str(atom)
    over = atom.left if isinstance(atom, Opaque) and atom.op == "//" and isinstance(atom.left, Extent) else None
    if over is not None and factor < 0 and over.constant <= 0 and all(part < 0 for _, part in over.terms):
        text, factor = f"cdiv({-over}, {atom.right})", -factor  # type: ignore[union-attr]
    return text if factor == 1 else f"{factor}*{text}"


def _operand(length: Length) -> str:
    """A length beside an operator: a sum or a multiple stands in parentheses."""
    return f"({length})" if isinstance(length, Extent) and not length.is_atom else str(length)


def _normal(terms: Mapping[Atom, int], constant: int) -> Length:
    kept = sorted(((atom, factor) for atom, factor in terms.items() if factor), key=lambda term: str(term[0]))
    return Extent(tuple(kept), constant) if kept else constant


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
