"""The law of types: shapes that do not follow from the operands are refused, operation by operation."""

from __future__ import annotations

from typing import Any

import pytest

from tileproof.ir.ops import (
    Along,
    Broadcast,
    Cat,
    Expand,
    Fill,
    Permute,
    Reshape,
    Slice,
    Whole,
)
from tileproof.ir.types import Access, Axis, DimensionTag, symbol
from tileproof.language.dtypes import (
    F16,
    F32,
)

from .builder import Broken, Builder, accepts, along, of, refusal, tile, tiles
from .builder import Fill as Filling

broken = Broken()
D = symbol("D")


@pytest.mark.parametrize(
    ("source", "target", "is_good"),
    [
        ((), (4, "n"), True),
        ((4,), (8, 4), True),
        ((1,), ("n",), True),
        ((8,), ("n",), True),
        ((1, "n"), (4, "n"), True),
        (("n",), ("n",), True),
        (("D",), ("D",), True),
        ((4,), ("n",), False),
        ((4,), (8,), False),
        (("n",), (8,), False),
        (("n",), ("m",), False),
        (("n",), ("D",), False),
        ((2, 4), (4,), False),
        (("n",), ("n", 4), False),
    ],
)
def test_only_untagged_axes_stretch_or_take_a_tag(source: Any, target: Any, is_good: bool) -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, F32, "N M D")
    b.static = {"D": 8}
    n, m = tiles("n", "N", 8), tiles("m", "M", 8)
    axes = {"n": along(n), "m": along(m), "D": Axis(8, DimensionTag("D"))}
    with b.parallel(n, m):
        old = tile(b, x.type.read_as, *(axes.get(axis, axis) for axis in source))
        b.op(Broadcast, of(F32, *(axes.get(axis, axis) for axis in target)), operand=old)
    assert accepts(b) is is_good


@broken.rule("broadcasting keeps the element type")
def broadcast_that_converts(b: Builder) -> None:
    b.op(Broadcast, of(F16, 4), operand=tile(b, F32))


@broken.rule("f32[4] cannot get an axis 2")
def expand_too_far(b: Builder) -> None:
    b.op(Expand, of(F32, 4, 1), operand=tile(b, F32, 4), axis=2)


@broken.rule("the result is f32[4, 1], not f32[1, 4]")
def expand_at_another_axis(b: Builder) -> None:
    b.op(Expand, of(F32, 1, 4), operand=tile(b, F32, 4), axis=1)


@broken.rule("(0, 0) does not order f32[4, 8]")
def permute_by_no_order(b: Builder) -> None:
    b.op(Permute, of(F32, 4, 4), operand=tile(b, F32, 4, 8), order=(0, 0))


@broken.rule("the result is f32[8, 4], not f32[4, 8]")
def permute_without_effect(b: Builder) -> None:
    b.op(Permute, of(F32, 4, 8), operand=tile(b, F32, 4, 8), order=(1, 0))


@broken.rule("f32[4] and f32[8] differ in size")
def reshape_to_another_size(b: Builder) -> None:
    b.op(Reshape, of(F32, 8), operand=tile(b, F32, 4))


def test_sizes_that_only_a_launch_knows_are_not_refused() -> None:
    b = Builder()
    b.op(Reshape, of(F32, D), operand=tile(b, F32, 2, D // 2))
    assert accepts(b)


@broken.rule("f32[n:8] may be short")
def reshape_of_a_short_axis(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        b.op(Reshape, of(F32, 8), operand=b.load(x, Along(n), axes=(along(n),)))


@broken.rule("reshaping keeps the element type")
def reshape_that_converts(b: Builder) -> None:
    b.op(Reshape, of(F16, 4), operand=tile(b, F32, 2, 2))


@broken.rule("reshaping gives untagged axes")
def reshape_to_a_tag(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "D")
    b.static = {"D": 8}
    b.op(Reshape, of(F32, Axis(8, DimensionTag("D"))), operand=tile(b, F32, 2, 4))


@broken.rule("axis 0 of f32[n:8] may be short")
def slice_of_a_short_axis(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        b.op(Slice, of(F32, 4), operand=b.load(x, Along(n), axes=(along(n),)), axis=0, start=0, length=4)


@broken.rule("the slice leaves axis 0 of f32[8]")
def slice_past_the_end(b: Builder) -> None:
    b.op(Slice, of(F32, 4), operand=tile(b, F32, 8), axis=0, start=5, length=4)


@broken.rule("the slice leaves axis 0 of f32[8]")
def slice_before_the_start(b: Builder) -> None:
    b.op(Slice, of(F32, 4), operand=tile(b, F32, 8), axis=0, start=-1, length=4)


@broken.rule("f32[8] has no axis 1")
def slice_of_no_axis(b: Builder) -> None:
    b.op(Slice, of(F32, 8), operand=tile(b, F32, 8), axis=1, start=0, length=4)


@broken.rule("the result is f32[12], not f32[8]")
def cat_that_loses_elements(b: Builder) -> None:
    b.op(Cat, of(F32, 8), operands=(tile(b, F32, 8), tile(b, F32, 4)), axis=0)


@broken.rule("f32[2, 8] and f32[3, 8] differ beside axis 1")
def cat_of_different_heights(b: Builder) -> None:
    b.op(Cat, of(F32, 2, 16), operands=(tile(b, F32, 2, 8), tile(b, F32, 3, 8)), axis=1)


@broken.rule("axis 0 of f32[n:8] may be short")
def cat_of_short_axes(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        short = b.load(x, Along(n), axes=(along(n),))
        b.op(Cat, of(F32, 16), operands=(short, short), axis=0)


@broken.rule("there is nothing to put together")
def cat_of_nothing(b: Builder) -> None:
    b.op(Cat, of(F32, 0), operands=(), axis=0)


def test_filling_gives_full_axes_of_the_same_lengths() -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, F32, "N D")
    b.static = {"D": 8}
    n, line = tiles("n", "N", 4), Axis(8, DimensionTag("D"))
    with b.parallel(n):
        values = b.load(x, Along(n), Whole(), axes=(along(n), line))
        full = b.op(Fill, of(F32, 4, 8), operand=values, value=b.number(0.0, F32))
        b.op(Reshape, of(F32, 32), operand=full)
    assert accepts(b)


@broken.rule("the result is f32[8], not f32[n:8]")
def fill_that_keeps_the_tag(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        values = b.load(x, Along(n), axes=(along(n),))
        b.op(Fill, values.type, operand=values, value=b.number(0.0, F32))


@broken.rule("what stands for missing elements is f32, not f16")
def fill_with_another_type(b: Builder) -> None:
    b.op(Fill, of(F32, 4), operand=tile(b, F32, 4), value=tile(b, F16))


@broken.rule("what stands for missing elements is f32, not f32[4]")
def fill_with_a_tile(b: Builder) -> None:
    b.op(Fill, of(F32, 4), operand=tile(b, F32, 4), value=tile(b, F32, 4))


@broken
def test_a_shape_that_does_not_follow_is_refused(fill: Filling, message: str) -> None:
    b = Builder()
    fill(b)
    assert refusal(b).endswith(f": {message}")
