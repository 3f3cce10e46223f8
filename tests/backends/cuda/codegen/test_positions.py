"""Positions against the integers of Python: what they are, and that everything that is claimed of them is true.

A position is written as Tile IR and evaluated. Index arithmetic is proved to fit 64 bits, so results that do not are
left out; every index that fits is tried, those next to 2**31 and 2**63 more often than others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from oracles.tile_ir import Lanes, evaluate
from support.tiers import examples
from tileproof.backends.cuda.codegen.positions import (
    Position,
    base_value,
    compared,
    greatest,
    known,
    least,
    materialised,
    minus,
    narrow_value,
    plus,
    times,
)
from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.types import I32, I64, Tile, Value
from tileproof.ir.ops import BinaryFn

LEAST, MOST = -(2**63), 2**63 - 1
FAR = 2**30
"""Lanes stay below this."""
COMPARISONS = {
    BinaryFn.EQ: int.__eq__, BinaryFn.NE: int.__ne__, BinaryFn.LT: int.__lt__, BinaryFn.LE: int.__le__,
    BinaryFn.GT: int.__gt__, BinaryFn.GE: int.__ge__,
}  # fmt: skip
SHAPE = (4,)


@dataclass(frozen=True)
class Sample:
    """A position as a launch may find it: its base, known or not, what is claimed of it, and lanes if it has any."""

    base: int
    is_known: bool = False
    multiple: int = 1
    reach: int = 2**63
    has_narrow: bool = False
    lanes: tuple[int, ...] | None = None

    @property
    def numbers(self) -> list[int]:
        """What it is in each lane."""
        return [self.base] if self.lanes is None else [self.base + lane for lane in self.lanes]

    @property
    def all(self) -> list[int]:
        """The same, repeated in each lane if there is one for all."""
        return self.numbers * (len(SHAPE) * SHAPE[0] // len(self.numbers))

    def position(self, values: dict[Value, Any]) -> Position:
        """The position, and the values that no operation makes."""
        position = known(self.base)
        if not self.is_known:
            base, narrow = Value(Tile(I64)), Value(Tile(I32)) if self.has_narrow else None
            values[base] = np.asarray(self.base, np.int64)
            if narrow is not None:
                values[narrow] = np.asarray(self.base, np.int32)
            position = Position(base, multiple=self.multiple, narrow=narrow, reach=self.reach)
        if self.lanes is None:
            return position
        lanes = Value(Tile(I32, SHAPE))
        values[lanes] = np.array(self.lanes, np.int32)
        return replace(position, lanes=lanes, low=min(self.lanes), high=max(self.lanes))


def near(*places: int, within: int = 3) -> st.SearchStrategy[int]:
    """Numbers next to some."""
    return st.sampled_from(places).flatmap(lambda place: st.integers(place - within, place + within))


INDICES = st.one_of(
    near(0, 2**31, -(2**31), 2**48, 2**62, -(2**62)), st.integers(LEAST, LEAST + 5), st.integers(MOST - 5, MOST),
    st.integers(-1000, 1000), st.integers(LEAST, MOST),
).filter(lambda number: LEAST <= number <= MOST)  # fmt: skip
SMALL_LANES = st.tuples(*[st.integers(-300, 300)] * 3)
WIDE_LANES = st.tuples(*[st.one_of(near(FAR - 4, -FAR + 4), st.integers(-FAR + 1, FAR - 1))] * 3)


@st.composite
def samples(draw: st.DrawFn, *, scalar: bool | None = None, most: int = MOST) -> Sample:
    """Positions of which only what is true is claimed; the first lane is the base, as it is of every walk."""
    base = max(min(draw(INDICES), most), -most)
    multiple = draw(st.sampled_from([1, 2, 3, 16, 48, 64, 96]))
    if draw(st.booleans()):
        base = max(min(base // multiple * multiple, MOST // multiple * multiple), -(MOST // multiple) * multiple)
    else:
        multiple = 1
    reach = draw(st.sampled_from([2**63, 2**48, abs(base)]))
    lanes = None
    if not (draw(st.booleans()) if scalar is None else scalar):
        drawn = draw(st.one_of(SMALL_LANES, WIDE_LANES))
        lanes = (0, *(max(min(base + lane, most), -most) - base for lane in drawn))
    fits = -(2**31) <= base < 2**31
    return Sample(
        base, draw(st.booleans()), multiple, reach if reach >= abs(base) else 2**63, fits and draw(st.booleans()), lanes
    )


def numbers_of(b: Builder, position: Position, values: dict[Value, Any]) -> list[int]:
    """What a position is in each lane, after all that it claims was found true."""
    wanted = [base_value(b, position), *([position.lanes] if position.lanes is not None else [])]
    wanted += [position.narrow] if position.narrow is not None else []
    results = [lanes.data for lanes in evaluate(b, values, *wanted)]
    base = int(results[0])
    if isinstance(position.base, int):
        assert base == position.base
    else:
        assert position.multiple > 0
        assert base % position.multiple == 0, f"{base} is not a multiple of {position.multiple}"
    assert abs(base) <= position.away
    for of in (2, 3, 16, 48, 64):
        assert not position.is_multiple_of(of) or base % of == 0
    if position.narrow is not None:
        assert int(results[-1]) == base
    if position.lanes is None:
        assert (position.low, position.high) == (0, 0)
        return [base]
    assert -FAR < position.low <= int(results[1].min()) <= int(results[1].max()) <= position.high < FAR
    return [base + int(lane) for lane in results[1]]


def fit(numbers: Sequence[int]) -> bool:
    return all(LEAST <= number <= MOST for number in numbers)


def check(b: Builder, values: dict[Value, Any], result: Position, expected: list[int]) -> None:
    """A position is what Python computes, lane by lane, and as a whole tile."""
    numbers = numbers_of(b, result, values)
    assert numbers == expected or numbers * len(expected) == expected
    shape = () if result.lanes is None else SHAPE
    (whole,) = evaluate(b, values, materialised(b, result, shape))
    assert whole.data.reshape(-1).tolist() == numbers
    if result.lanes is None:
        (spread,) = evaluate(b, values, materialised(b, result, SHAPE))
        assert spread.data.tolist() == numbers * SHAPE[0]


EXAMPLES = settings(max_examples=examples(150), deadline=None)


@EXAMPLES
@given(samples())
def test_a_position_is_a_tile_of_64_bit_numbers(sample: Sample) -> None:
    b, values = Builder("tried", []), dict[Value, Any]()
    check(b, values, sample.position(values), sample.numbers)


@EXAMPLES
@given(samples(), samples(most=2**62) | samples(most=2**8), st.booleans())
@example(Sample(MOST), Sample(0, is_known=True), True)
@example(Sample(2**31 - 1, lanes=(0, 1, 2, 3)), Sample(1, is_known=True), True)
@example(Sample(48, multiple=48), Sample(64, multiple=64), False)
@example(Sample(0, is_known=True, lanes=(0, 0, 0, 0)), Sample(0, is_known=True, lanes=(0, 0, 0, 0)), False)
def test_sums_and_differences(one: Sample, other: Sample, is_sum: bool) -> None:
    sign = 1 if is_sum else -1
    expected = [left + sign * right for left, right in zip(one.all, other.all, strict=True)]
    assume(fit([*expected, one.base + sign * other.base]))
    b, values = Builder("tried", []), dict[Value, Any]()
    left, right = one.position(values), other.position(values)
    result = (plus if is_sum else minus)(b, left, right)
    if result is None:
        assert max(-left.low, left.high) + max(-right.low, right.high) >= FAR, "lanes are too large, and nothing else"
        return
    if result.lanes is None:
        expected = expected[:1]
    check(b, values, result, expected)


@EXAMPLES
@given(samples(most=2**31), samples(most=2**31))
@example(Sample(-7, lanes=(0, 1, 2, 3)), Sample(-3, is_known=True))
@example(Sample(5, lanes=(0, 0, 0, 0)), Sample(2**40, is_known=True))
@example(Sample(0, is_known=True, lanes=(0, 1, 2, 3)), Sample(0, is_known=True))
@example(Sample(64, multiple=64), Sample(0, is_known=True))
@example(Sample(MOST), Sample(1, is_known=True))
@example(Sample(-(2**62), lanes=(0, 1, 2, 3)), Sample(2, is_known=True))
@example(Sample(3, lanes=(0, 1, 2, 3)), Sample(2**60, is_known=True))
def test_products(one: Sample, other: Sample) -> None:
    expected = [left * right for left, right in zip(one.all, other.all, strict=True)]
    assume(fit([*expected, one.base * other.base]))
    b, values = Builder("tried", []), dict[Value, Any]()
    left, right = one.position(values), other.position(values)
    result = times(b, left, right)
    are_scalars = one.lanes is None and other.lanes is None
    if result is None:
        assert not are_scalars
        return
    check(b, values, result, expected[:1] if result.lanes is None else expected)


@EXAMPLES
@given(samples(scalar=True), samples(scalar=True), st.booleans())
def test_the_smaller_and_the_larger_of_two(one: Sample, other: Sample, is_least: bool) -> None:
    b, values = Builder("tried", []), dict[Value, Any]()
    result = (least if is_least else greatest)(b, one.position(values), other.position(values))
    check(b, values, result, [(min if is_least else max)(one.base, other.base)])


@EXAMPLES
@given(samples(), samples(), st.sampled_from(list(COMPARISONS)))
@example(Sample(2**62, lanes=(0, 1, 2, 3)), Sample(-(2**62) - 1), BinaryFn.LT)
@example(Sample(LEAST, lanes=(0, 1, 2, 3)), Sample(MOST), BinaryFn.GE)
@example(Sample(MOST - 3, lanes=(0, 1, 2, 3)), Sample(LEAST), BinaryFn.LE)
@example(Sample(MOST, lanes=(0, -1, -2, -FAR + 1)), Sample(MOST - FAR + 1), BinaryFn.EQ)
@example(Sample(LEAST, lanes=(0, 1, FAR - 1, 2)), Sample(LEAST + FAR - 1, is_known=True), BinaryFn.LT)
@example(Sample(0, lanes=(0, FAR - 1, 1 - FAR, 1)), Sample(0, lanes=(0, 1 - FAR, FAR - 1, 1)), BinaryFn.GT)
@example(Sample(2**31, reach=2**48), Sample(2**31 - 2, reach=2**48, lanes=(0, 1, 2, 3)), BinaryFn.NE)
def test_comparisons(one: Sample, other: Sample, fn: BinaryFn) -> None:
    expected = [COMPARISONS[fn](left, right) for left, right in zip(one.all, other.all, strict=True)]
    b, values = Builder("tried", []), dict[Value, Any]()
    left, right = one.position(values), other.position(values)
    (result,) = evaluate(b, values, compared(b, fn, left, right, SHAPE))
    assert result.data.tolist() == expected
    if one.lanes is None and other.lanes is None:
        (result,) = evaluate(b, values, compared(b, fn, left, right, ()))
        assert bool(result.data) == expected[0]


@EXAMPLES
@given(st.one_of(near(0, 2**31 - 4, -(2**31) + 3), st.integers(-(2**31), 2**31 - 1)), st.booleans(), st.booleans())
def test_a_position_that_fits_is_narrowed(number: int, is_known: bool, has_narrow: bool) -> None:
    b, values = Builder("tried", []), dict[Value, Any]()
    position = Sample(number, is_known, has_narrow=has_narrow).position(values)
    (result,) = evaluate(b, values, narrow_value(b, position))
    assert result.data.dtype == np.int32
    assert int(result.data) == number


# What the lowering relies on beside the numbers.


def test_nothing_is_written_for_what_is_known() -> None:
    b = Builder("tried", [])
    three, four = known(3), known(4)
    results = [each(b, three, four) for each in (plus, minus, times, least, greatest)]
    assert [result.base for result in results if result is not None] == [7, -1, 12, 3, 4]
    somewhere = Position(Value(Tile(I64)), multiple=8)
    assert plus(b, somewhere, known(0)) is somewhere
    assert plus(b, known(0), somewhere) is somewhere
    assert minus(b, somewhere, known(0)) is somewhere
    assert times(b, known(1), somewhere) is somewhere
    assert least(b, somewhere, somewhere) is somewhere
    assert b.entry.body.ops == []


def test_zero_is_a_multiple_of_everything() -> None:
    assert known(0).is_multiple_of(96)
    assert not known(48).is_multiple_of(96)
    assert known(-96).is_multiple_of(96)


def test_a_walk_of_multiples_is_known_to_be_one() -> None:
    """A walk between multiples of its tile has no short tile: that is what multiples are kept for."""
    b, values = Builder("tried", []), dict[Value, Any]()
    extent, turn = Sample(192, multiple=96).position(values), Sample(3).position(values)
    start = times(b, turn, known(48))
    assert start is not None
    rest = minus(b, extent, start)
    assert rest is not None
    assert rest.multiple == 48
    assert least(b, extent, start).is_multiple_of(48)
    moved = plus(b, start, known(24))
    assert moved is not None
    assert not moved.is_multiple_of(48)
    assert moved.is_multiple_of(24)


@pytest.mark.parametrize("sizes", [(2**48, 2**48), (2**62, 2**48)])
def test_the_distance_of_indices_that_are_near_is_one_difference(sizes: tuple[int, int]) -> None:
    """What walks is near: comparing it is a subtraction and two bounds for all lanes."""
    b, values = Builder("tried", []), dict[Value, Any]()
    one = Sample(5, reach=sizes[0], lanes=(0, 1, 2, 3)).position(values)
    compared(b, BinaryFn.LT, one, Sample(7, reach=sizes[1]).position(values), SHAPE)
    names = [op.name for op in b.entry.body.ops if op.name not in ("constant", "reshape", "broadcast")]
    assert names == ["subi", "maxi", "mini", "trunci", "cmpi"]


def test_dead_lanes_decide_nothing() -> None:
    """What lies in lanes that do not exist changes no other lane."""
    b, values = Builder("tried", []), dict[Value, Any]()
    position = Sample(5, lanes=(0, 1, 2, 3)).position(values)
    assert position.lanes is not None
    values[position.lanes] = Lanes(np.array([0, 1, 99, -99], np.int32), np.array([False, False, True, True]))
    (result,) = evaluate(b, values, compared(b, BinaryFn.LT, position, known(6), SHAPE))
    assert result.poison is not None
    assert result.poison.tolist() == [False, False, True, True]
    assert result.data[:2].tolist() == [True, False]
