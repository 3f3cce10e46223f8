"""Intervals of terms, and the law that index arithmetic fits 64 bits.

No extent of an argument reaches 2**48 (a launch checks it), and no 64-bit number that becomes an index passes 2**61 (it
is checked). What a loop carries starts within 2**61, and stays below 2**62 because its steps are limited. So most index
arithmetic fits for all sizes; where it depends on them, the launch computes the interval again with its own. An index
of which nothing is known may be any 64-bit number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from tileproof.ir import ops
from tileproof.ir.types import INDEX_LIMIT, Content

from .terms import (
    Atom,
    AxisExtent,
    DimensionExtent,
    Element,
    GroupOf,
    Lane,
    Least,
    Live,
    Product,
    Quotient,
    Read,
    Scalar,
    Start,
    Term,
    TileNumber,
    Unknown,
    Xor,
    with_remainder,
)

START_LIMIT = 1 << 61
"""Initial values of loops are within it, and so are entries and 64-bit numbers that become an index."""
CARRIED_LIMIT = (1 << 62) - 1
"""What loops carry stays within it."""
STEP_LIMIT = 1 << 14
"""What one iteration may add to it."""
LARGEST = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Range:
    """All integers from `low` to `high`."""

    low: int
    high: int

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def __or__(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))

    def __and__(self, other: Range) -> Range:
        return Range(max(self.low, other.low), min(self.high, other.high))

    @property
    def fits(self) -> bool:
        """Whether all of them are 64-bit numbers."""
        return self.low >= -LARGEST - 1 and self.high <= LARGEST

    def contains(self, other: Range) -> bool:
        """Whether all of another interval lies in it."""
        return self.low <= other.low and other.high <= self.high

    def within(self, limit: int) -> bool:
        """Whether none is further from 0 than `limit`."""
        return -limit <= self.low and self.high <= limit


_ANY = Range(-LARGEST - 1, LARGEST)
CARRIED = Range(-CARRIED_LIMIT, CARRIED_LIMIT)
"""The interval of what loops carry and combiners yield."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """Intervals of atoms, for all launches or for one whose extents and scalars are known."""

    elements: Mapping[str, Content | Range]
    """What the tensors hold that are read as integers."""
    walked: Mapping[str, Term]
    """The extent of the dimension each walker walks."""
    extent: Callable[[str], Term]
    """The extent of a dimension, by name."""
    known: Callable[[DimensionExtent | AxisExtent | Scalar], int] | None = None
    lanes: int = INDEX_LIMIT
    """How many lanes a tile of the kernel has at most."""
    hulls: dict[str, tuple[Term, ...]] = field(default_factory=dict)
    """For an unknown, terms between the least and the greatest of which it lies."""
    _of_terms: dict[Term, Range] = field(default_factory=dict)
    _of_names: dict[str, Range] = field(default_factory=dict)
    """The intervals that were computed, of terms and of hulls."""

    def knowing(self, known: Callable[[DimensionExtent | AxisExtent | Scalar], int] | None) -> Ranges:
        """The same for a launch whose extents and scalars are known, or for all launches."""
        return replace(self, known=known, _of_terms={}, _of_names={})

    def hull(self, terms: Iterable[Term]) -> Range:
        """Where any of some terms lies."""
        return reduce(Range.__or__, map(self.of, terms))

    def of(self, term: Term) -> Range:
        """Where the values of a term lie."""
        if term not in self._of_terms:
            self._of_terms[term] = self._with_remainder(term) or self._sum(term)
        return self._of_terms[term]

    def _with_remainder(self, term: Term) -> Range | None:
        split = with_remainder(term)
        if split is None:
            return None
        lies = of_binary(ops.BinaryFn.MOD, self.of(split.term), self.of(split.by))
        return of_binary(ops.BinaryFn.MUL, lies, self.of(split.times)) + self.of(split.rest)

    def _sum(self, term: Term) -> Range:
        low = high = term.constant
        for atom, factor in term.parts:
            part = self._atom(atom)
            one, two = part.low * factor, part.high * factor
            low += min(one, two)
            high += max(one, two)
        return Range(low, high)

    def _atom(self, atom: Atom) -> Range:
        match atom:
            case DimensionExtent() | AxisExtent():
                if self.known is not None:
                    extent = self.known(atom)
                    return Range(extent, extent)
                return Range(0, INDEX_LIMIT)
            case Scalar(_, low, high):
                if self.known is not None:
                    value = self.known(atom)
                    return Range(value, value)
                return Range(low, high)
            case Start(walker) | Live(walker) | TileNumber(walker):
                walked = self.walked.get(walker)
                return Range(0, self._size(walked) if walked is not None else INDEX_LIMIT)
            case Lane():
                return Range(0, self.lanes)
            case Element():
                return Range(0, INDEX_LIMIT)
            case Unknown():
                return self._unknown(atom)
            case Read(tensor, _):
                return self._element(tensor)
            case GroupOf(_, _, into):
                return Range(0, self._size(self.extent(into)))
            case Least(left, right):
                one, two = self.of(left), self.of(right)
                return Range(min(one.low, two.low), min(one.high, two.high))
            case Xor(left, right):
                return of_binary(ops.BinaryFn.XOR, self.of(left), self.of(right))
            case Product(left, right):
                return of_binary(ops.BinaryFn.MUL, self.of(left), self.of(right))
            case Quotient(term, by):
                return of_binary(ops.BinaryFn.FLOORDIV, self.of(term), self.of(by))

    def _unknown(self, atom: Unknown) -> Range:
        """What was known when it was introduced; in a launch, what its extents say of it."""
        bounds = Range(atom.low, atom.high)
        if self.known is None or atom.name not in self.hulls:
            return bounds
        if atom.name not in self._of_names:
            # Each refers to those before it, so nothing nests deep; or to what a loop carries, which is stated later.
            for name, terms in self.hulls.items():
                if name not in self._of_names:
                    self._of_names[name] = _ANY
                    self._of_names[name] = self.hull(terms)
                if name == atom.name:
                    break
        return bounds & self._of_names[atom.name]

    def _size(self, extent: Term) -> int:
        """The greatest extent a dimension can have, however it is computed."""
        return min(max(0, self.of(extent).high), INDEX_LIMIT)

    def _element(self, tensor: str) -> Range:
        match self.elements[tensor]:
            case Content(kind, dimension):
                extent = self._size(self.extent(dimension))
                return Range(0, extent) if kind == "Offsets" else Range(-1, max(-1, extent - 1))
            case bounds:
                return bounds


def of_binary(fn: ops.BinaryFn, one: Range, two: Range) -> Range:
    """The interval of an operation on two."""
    match fn:
        case ops.BinaryFn.ADD:
            return one + two
        case ops.BinaryFn.SUB:
            return Range(one.low - two.high, one.high - two.low)
        case ops.BinaryFn.MUL:
            corners = [a * b for a in (one.low, one.high) for b in (two.low, two.high)]
            return Range(min(corners), max(corners))
        case ops.BinaryFn.FLOORDIV:
            return _quotients(one, two)
        case ops.BinaryFn.CDIV:
            return _negated(_quotients(_negated(one), two))
        case ops.BinaryFn.MOD:
            return _remainders(one, two)
        case ops.BinaryFn.XOR:
            bits = max(end if end >= 0 else ~end for end in (one.low, one.high, two.low, two.high)).bit_length()
            return Range(0 if min(one.low, two.low) >= 0 else -(1 << bits), (1 << bits) - 1)
        case ops.BinaryFn.MIN:
            return Range(min(one.low, two.low), min(one.high, two.high))
        case ops.BinaryFn.MAX:
            return Range(max(one.low, two.low), max(one.high, two.high))
        case _:
            return one | two


def _negated(one: Range) -> Range:
    return Range(-one.high, -one.low)


def _quotients(top: Range, by: Range) -> Range:
    """Of `//`: it is monotone in its left side, and in divisors of one sign; 0 where the divisor is 0."""
    divisors = {max(by.low, 1), by.high} if by.high > 0 else set()
    divisors |= {by.low, min(by.high, -1)} if by.low < 0 else set()
    corners = [end // divisor for end in (top.low, top.high) for divisor in divisors]
    corners += [0] if by.low <= 0 <= by.high else []
    return Range(min(corners), max(corners))


def _remainders(top: Range, by: Range) -> Range:
    """Of `%`: between 0 and the divisor, and no further from 0 than the left side where both have one sign."""
    if top.high <= 0 and by.low < 0 and by.high <= 0:
        return _negated(_remainders(_negated(top), _negated(by)))
    low, high = min(by.low + 1, 0), max(by.high - 1, 0)
    if top.low >= 0 and by.low >= 0:
        high = min(high, top.high)
    return Range(low, high) | top if by.low <= 0 <= by.high else Range(low, high)
