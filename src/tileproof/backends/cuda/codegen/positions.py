"""Indices as the lowering holds them: an exact 64-bit number for all lanes, and a small one that differs by lane.

Most tiles of indices are the positions of a walker, perhaps moved: `past + s.elements`. Kept apart, the part that all
lanes share is computed once, and comparing two such tiles is 32-bit work for each lane. What a number is known to be a
multiple of is kept too, because a walk between multiples of its tile has no short tile. Index arithmetic is proved to
fit 64 bits; the distance of two indices, which `compared` looks at, is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.types import I32, I64, Tile, Value
from tileproof.ir.ops import BinaryFn

from .tiles import PREDICATES, shape_of

_FAR = 1 << 30
"""Lanes stay below this, so that sums and differences of two fit 32 bits."""
_ANYWHERE = 1 << 63
"""No index is further from 0."""


@dataclass(frozen=True, slots=True)
class Position:
    """`base + lanes`; a scalar if there are no lanes."""

    base: Value | int
    """An I64 scalar, or a number known now."""
    lanes: Value | None = None
    """A tile of I32, within `low` and `high`."""
    low: int = 0
    high: int = 0
    multiple: int = 1
    """What the base is known to be a multiple of; not said of a number."""
    narrow: Value | None = None
    """The base as an I32 scalar, where it is at hand and fits."""
    reach: int = _ANYWHERE
    """How far from 0 the base is at most; not said of a number."""

    @property
    def divisor(self) -> int:
        """What the base is a multiple of; 0 for zero, which is one of everything."""
        return abs(self.base) if isinstance(self.base, int) else self.multiple

    @property
    def away(self) -> int:
        """How far from 0 the base is at most."""
        return abs(self.base) if isinstance(self.base, int) else self.reach

    def is_multiple_of(self, of: int) -> bool:
        return self.divisor % of == 0


def known(number: int) -> Position:
    """A number."""
    return Position(number)


def base_value(b: Builder, position: Position) -> Value:
    """The part that all lanes share, as an I64 scalar."""
    if isinstance(position.base, int):
        return b.constant(Tile(I64), position.base)
    return position.base


def narrow_value(b: Builder, position: Position) -> Value:
    """A scalar as I32: only for one that fits."""
    if position.narrow is not None:
        return position.narrow
    if isinstance(position.base, int):
        return b.constant(Tile(I32), position.base)
    return b.trunci(position.base, I32)


def materialised(b: Builder, position: Position, shape: Sequence[int]) -> Value:
    """A position as a tile of I64."""
    base = base_value(b, position)
    if not shape:
        assert position.lanes is None
        return base
    everywhere = b.broadcast(b.reshape(base, (1,) * len(shape)), tuple(shape))
    if position.lanes is None:
        return everywhere
    return b.addi(everywhere, b.exti(position.lanes, I64, signed=True))


def plus(b: Builder, left: Position, right: Position) -> Position | None:
    """The sum; None where lanes would grow too large."""
    return _joined(b, left, right, is_sum=True)


def minus(b: Builder, left: Position, right: Position) -> Position | None:
    """The difference; None where lanes would grow too large."""
    return _joined(b, left, right, is_sum=False)


def _joined(b: Builder, left: Position, right: Position, *, is_sum: bool) -> Position | None:
    if left.lanes is None and right.lanes is None and right.base == 0:
        return left
    if is_sum and left.lanes is None and right.lanes is None and left.base == 0:
        return right
    low = left.low + (right.low if is_sum else -right.high)
    high = left.high + (right.high if is_sum else -right.low)
    if not -_FAR < low <= high < _FAR:
        return None
    base: Value | int
    if isinstance(left.base, int) and isinstance(right.base, int):
        base = left.base + right.base if is_sum else left.base - right.base
    else:
        emit = b.addi if is_sum else b.subi
        base = emit(base_value(b, left), base_value(b, right))
    lanes = left.lanes
    if right.lanes is not None:
        if lanes is not None:
            lanes = (b.addi if is_sum else b.subi)(lanes, right.lanes)
        else:
            lanes = right.lanes if is_sum else b.negi(right.lanes)
    reach = min(left.away + right.away, _ANYWHERE)
    return Position(base, lanes, low, high, math.gcd(left.divisor, right.divisor), reach=reach)


def times(b: Builder, left: Position, right: Position) -> Position | None:
    """The product, where one is a known number or both are scalars."""
    if isinstance(left.base, int) and left.lanes is None:
        left, right = right, left
    if isinstance(left.base, int) and left.lanes is None and isinstance(right.base, int) and right.lanes is None:
        return Position(left.base * right.base)
    if left.lanes is None and right.lanes is None:
        if right.base == 1:
            return left
        product = b.muli(base_value(b, left), base_value(b, right))
        reach = min(left.away * right.away, _ANYWHERE)
        return Position(product, multiple=left.divisor * right.divisor or 1, reach=reach)
    if not (isinstance(right.base, int) and right.lanes is None and left.lanes is not None):
        return None
    factor = right.base
    low, high = sorted((left.low * factor, left.high * factor))
    if not -_FAR < low <= high < _FAR:
        return None
    shape = shape_of(left.lanes)
    lanes = b.muli(left.lanes, b.constant(Tile(I32, shape), factor))
    base: Value | int
    if isinstance(left.base, int):
        base = left.base * factor
    else:
        base = b.muli(left.base, b.constant(Tile(I64), factor))
    reach = min(left.away * abs(factor), _ANYWHERE)
    return Position(base, lanes, low, high, left.divisor * abs(factor) or 1, reach=reach)


def least(b: Builder, left: Position, right: Position) -> Position:
    """The smaller of two scalars."""
    if isinstance(left.base, int) and isinstance(right.base, int):
        return Position(min(left.base, right.base))
    if left.base is right.base:
        return left
    smaller = b.mini(base_value(b, left), base_value(b, right), signed=True)
    return Position(smaller, multiple=math.gcd(left.divisor, right.divisor), reach=max(left.away, right.away))


def greatest(b: Builder, left: Position, right: Position) -> Position:
    """The larger of two scalars."""
    if isinstance(left.base, int) and isinstance(right.base, int):
        return Position(max(left.base, right.base))
    larger = b.maxi(base_value(b, left), base_value(b, right), signed=True)
    return Position(larger, multiple=math.gcd(left.divisor, right.divisor), reach=max(left.away, right.away))


def compared(b: Builder, fn: BinaryFn, left: Position, right: Position, shape: Sequence[int]) -> Value:
    """Whether `left fn right`, lane by lane: the parts that all lanes share are compared as one scalar."""
    predicate = PREDICATES[fn]
    if left.lanes is None and right.lanes is None:
        truth = b.cmpi(predicate, base_value(b, left), base_value(b, right), signed=True)
        return b.broadcast(b.reshape(truth, (1,) * len(shape)), tuple(shape)) if shape else truth
    low, high = left.low - right.high, left.high - right.low
    if left.lanes is None:
        assert right.lanes is not None
        lanes = b.negi(right.lanes)
    elif right.lanes is None:
        lanes = left.lanes
    else:
        lanes = b.subi(left.lanes, right.lanes)
    limit = _limit(b, left, right, low - 1, high + 1)
    return b.cmpi(predicate, lanes, b.broadcast(b.reshape(limit, (1,) * len(shape)), tuple(shape)), signed=True)


def _limit(b: Builder, left: Position, right: Position, low: int, high: int) -> Value:
    """How far the base of `right` is behind that of `left`, as I32: beyond what lanes reach, at one of the bounds."""
    one, other = replace(left, lanes=None, low=0, high=0), replace(right, lanes=None, low=0, high=0)
    if left.away + right.away >= _ANYWHERE and not (isinstance(left.base, int) and isinstance(right.base, int)):
        # The distance may not fit 64 bits: what is further away than the bounds is brought to them first.
        low, high = min(low, 0), max(high, 0)
        lowest = plus(b, greatest(b, one, known(-_ANYWHERE - low)), known(low))
        highest = plus(b, least(b, one, known(_ANYWHERE - 1 - high)), known(high))
        assert lowest is not None
        assert highest is not None
        other = least(b, greatest(b, other, lowest), highest)
    distance = minus(b, other, one)
    assert distance is not None
    return narrow_value(b, least(b, greatest(b, distance, known(low)), known(high)))
