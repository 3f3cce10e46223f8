"""Reductions, folds and scans of Tile IR code combine the live lanes, in the order that the interpreter does."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from oracles.tile_ir_operations import Array, executed, live_length
from support.agreement import assert_agree
from support.cpu_values import anything
from tileproof.backends.interpreter import semantics
from tileproof.diagnostics.spans import Source, Span
from tileproof.ir import ops
from tileproof.ir.ops import BinaryFn, ReduceFn
from tileproof.ir.rules import sums_to
from tileproof.ir.types import Axis, Tile, TileType, Value, Walker, WalkerTag, WalkerType
from tileproof.language.dtypes import BF16, BOOL, F16, F32, F64, I8, I32, I64, INDEX, U8, U32, U64, DType

SPAN = Span(Source("kernel.py", ("line\n",)), 1, 1, 1, 5)
N: Walker = Value("n", WalkerType("N", 12))
WALKED = Axis(12, WalkerTag(N))
SHAPES: list[tuple[Axis, ...]] = [
    (Axis(8),), (Axis(1),), (Axis(70),), (WALKED,), (Axis(3), WALKED), (WALKED, Axis(5)), (Axis(2), WALKED, Axis(4)),
]  # fmt: skip
LIVES = (0, 7, 12)


def cases() -> Iterator[tuple[tuple[Axis, ...], int, dict[Walker, int]]]:
    """Shapes, an axis of each, and how much of the walked one is live."""
    for axes in SHAPES:
        for live in LIVES if WALKED in axes else (12,):
            yield from ((axes, axis, {N: live}) for axis in range(len(axes)))


def tile(name: str, dtype: DType, axes: tuple[Axis, ...]) -> Tile:
    return Value(name, TileType(dtype, axes))


def filled(dtype: DType, axes: tuple[Axis, ...], lives: dict[Walker, int], seed: int = 0, small: bool = False) -> Array:
    shape = [live_length(axis, lives) for axis in axes]
    generator = np.random.default_rng(seed)
    if dtype == BOOL:
        return generator.integers(0, 2, shape).astype(np.bool_)
    if small:
        return generator.integers(-4, 5, shape).astype(semantics.storage(dtype))
    many = anything(dtype, 2000)
    return many[generator.integers(0, len(many), shape)]


@pytest.mark.parametrize("dtype", [I8, U8, I32, U32, I64, U64, F16, BF16, F32, F64], ids=str)
def test_extremes(dtype: DType) -> None:
    for (axes, axis, lives), fn in itertools.product(cases(), (ReduceFn.MAX, ReduceFn.MIN)):
        x = filled(dtype, axes, lives)
        operand, result = tile("x", dtype, axes), tile("y", dtype, (*axes[:axis], *axes[axis + 1 :]))
        (actual,) = executed(ops.Reduce(SPAN, result, fn, operand, axis), {operand: x}, lives)
        np.testing.assert_array_equal(actual, semantics.reduce(fn, x, axis, dtype, dtype))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", [BOOL, I8, U8, I32, U32, I64, F16, BF16, F32, F64, INDEX], ids=str)
def test_sums(dtype: DType) -> None:
    for axes, axis, lives in cases():
        x = filled(dtype, axes, lives, small=dtype == INDEX or dtype.is_float)
        operand, total = tile("x", dtype, axes), sums_to(dtype)
        result = tile("y", total, (*axes[:axis], *axes[axis + 1 :]))
        (actual,) = executed(ops.Reduce(SPAN, result, ReduceFn.SUM, operand, axis), {operand: x}, lives)
        assert_agree(actual, semantics.reduce(ReduceFn.SUM, x, axis, dtype, total))
        (actual,) = executed(ops.CumSum(SPAN, tile("y", total, axes), operand, axis), {operand: x}, lives)
        assert_agree(actual, semantics.cumsum(x, axis, dtype, total))
        if dtype.is_float:
            (actual,) = executed(ops.Reduce(SPAN, result, ReduceFn.MEAN, operand, axis), {operand: x}, lives)
            scale = np.abs(x.astype(np.float64)).sum(axis=axis)
            assert_agree(actual, semantics.reduce(ReduceFn.MEAN, x, axis, dtype, total), scale=scale)


def test_truths() -> None:
    for (axes, axis, lives), fn, seed in itertools.product(cases(), (ReduceFn.ANY, ReduceFn.ALL), range(3)):
        x = filled(BOOL, axes, lives, seed)
        operand, result = tile("x", BOOL, axes), tile("y", BOOL, (*axes[:axis], *axes[axis + 1 :]))
        (actual,) = executed(ops.Reduce(SPAN, result, fn, operand, axis), {operand: x}, lives)
        np.testing.assert_array_equal(actual, semantics.reduce(fn, x, axis, BOOL, BOOL))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("dtype", [I8, U8, I32, U64, F16, F32, F64], ids=str)
def test_places_of_extremes(dtype: DType) -> None:
    for (axes, axis, lives), fn in itertools.product(cases(), (ReduceFn.ARGMAX, ReduceFn.ARGMIN)):
        if not live_length(axes[axis], lives):
            continue
        generator = np.random.default_rng(axis)
        for kind in range(4):
            x = filled(dtype, axes, lives, kind, small=kind > 0 and dtype.kind != "uint")
            if dtype.is_float and kind == 2:
                x = np.where(generator.integers(0, 3, x.shape) == 0, np.nan, x).astype(x.dtype)
            if dtype.is_float and kind == 3:
                x = generator.choice(np.array([0.0, -0.0, -np.inf]), x.shape).astype(x.dtype)
            operand, result = tile("x", dtype, axes), tile("y", INDEX, (*axes[:axis], *axes[axis + 1 :]))
            (actual,) = executed(ops.Reduce(SPAN, result, fn, operand, axis), {operand: x}, lives)
            np.testing.assert_array_equal(actual, semantics.reduce(fn, x, axis, dtype, INDEX))


# Folds and scans.


def affine(axes: tuple[Axis, ...], *, by_parts: bool) -> ops.Combiner:
    """Two maps x -> a x + b one after the other: associative, and not the same the other way around.

    `by_parts` writes it with a reduction, so that it is not done element by element.
    """
    names = ("a", "b", "c", "d")
    a, b, c, d = (tile(name, I32, axes) for name in names)
    scaled, slope, moved = (tile(name, I32, axes) for name in ("scaled", "slope", "moved"))
    written: list[ops.AnyOp] = [
        ops.Binary(SPAN, slope, BinaryFn.MUL, a, c), ops.Binary(SPAN, scaled, BinaryFn.MUL, b, c),
        ops.Binary(SPAN, moved, BinaryFn.ADD, scaled, d),
    ]  # fmt: skip
    if by_parts:
        wide, same = tile("wide", I32, (Axis(1), *axes)), tile("same", I32, axes)
        written += [ops.Expand(SPAN, wide, moved, 0), ops.Reduce(SPAN, same, ReduceFn.SUM, wide, 0)]
        moved = same
    one, more = tile("one", I32, ()), tile("more", I32, axes)
    last = tile("last", I32, axes)
    written += [
        ops.Constant(SPAN, one, 0), ops.Broadcast(SPAN, more, one), ops.Binary(SPAN, last, BinaryFn.ADD, moved, more),
    ]  # fmt: skip
    return ops.Combiner((a, b), (c, d), ops.Block(tuple(written), (slope, last)))


def combine(left: list[Array], right: list[Array]) -> list[Array]:
    return [left[0] * right[0], left[1] * right[0] + right[1]]


@pytest.mark.parametrize("by_parts", [False, True])
def test_folds_and_scans_keep_the_order(by_parts: bool) -> None:
    for axes, axis, lives in cases():
        rest = (*axes[:axis], *axes[axis + 1 :])
        inputs = [filled(I32, axes, lives, seed) for seed in (1, 2)]
        lanes = [[np.take(x, place, axis) for x in inputs] for place in range(live_length(axes[axis], lives))]
        operands = tile("x", I32, axes), tile("y", I32, axes)
        arguments: dict[Tile, Any] = dict(zip(operands, inputs, strict=True))
        combiner = affine(rest, by_parts=by_parts)
        with np.errstate(over="ignore"):
            expected = list(itertools.accumulate(lanes, combine))
        identities = tile("i", I32, ()), tile("j", I32, ())
        results = tile("u", I32, rest), tile("v", I32, rest)
        fold = ops.Fold(SPAN, results, operands, identities, axis, combiner)
        actual = executed(fold, arguments | {identities[0]: np.asarray(5), identities[1]: np.asarray(6)}, lives)
        shape = [live_length(one, lives) for one in rest]
        last = expected[-1] if expected else [np.full(shape, number, np.int32) for number in (5, 6)]
        for one, other in zip(actual, last, strict=True):
            np.testing.assert_array_equal(one, other)
        results = tile("u", I32, axes), tile("v", I32, axes)
        actual = executed(ops.Scan(SPAN, results, operands, axis, combiner), arguments, lives)
        for one, parts in zip(actual, zip(*expected, strict=True), strict=True) if expected else ():
            np.testing.assert_array_equal(one, np.stack(parts, axis))


@pytest.mark.parametrize("fn", [BinaryFn.ADD, BinaryFn.MUL, BinaryFn.MAX, BinaryFn.MIN, BinaryFn.XOR, BinaryFn.AND])
@pytest.mark.parametrize("dtype", [I32, U8, BOOL, F32], ids=str)
def test_folds_by_one_function(fn: BinaryFn, dtype: DType) -> None:
    if (dtype == BOOL and fn not in (BinaryFn.XOR, BinaryFn.AND)) or (
        dtype == F32 and fn in (BinaryFn.XOR, BinaryFn.AND)
    ):
        pytest.skip("no such operation")
    for axes, axis, lives in cases():
        rest = (*axes[:axis], *axes[axis + 1 :])
        x = filled(dtype, axes, lives, small=dtype == F32)
        operand, identity, result = tile("x", dtype, axes), tile("i", dtype, ()), tile("y", dtype, rest)
        left, right, built = (tile(name, dtype, rest) for name in ("a", "b", "c"))
        body = ops.Block((ops.Binary(SPAN, built, fn, right, left),), (built,))
        fold = ops.Fold(SPAN, (result,), (operand,), (identity,), axis, ops.Combiner((left,), (right,), body))
        start = np.asarray(1, semantics.storage(dtype))
        (actual,) = executed(fold, {operand: x, identity: start}, lives)
        lanes = [np.take(x, place, axis) for place in range(live_length(axes[axis], lives))]
        expected = np.broadcast_to(start, actual.shape)
        if lanes:
            *_, expected = itertools.accumulate(lanes, lambda a, b: semantics.binary(fn, a, b, dtype))
        assert_agree(actual, expected)
