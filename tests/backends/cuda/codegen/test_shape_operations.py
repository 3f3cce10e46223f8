"""Tiles of Tile IR code are broadcast, cut, put together and reshaped as numpy does, whatever their lengths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from oracles.tile_ir_operations import Array, executed
from tileproof.backends.cuda.codegen import shape_operations as reshaping
from tileproof.backends.interpreter import semantics
from tileproof.diagnostics.spans import Source, Span
from tileproof.ir import ops
from tileproof.ir.types import Axis, Tile, TileType, Value, Walker, WalkerTag, WalkerType
from tileproof.language.dtypes import BOOL, F8E4M3, F16, F32, I32, I64, INDEX, DType

SPAN = Span(Source("kernel.py", ("line\n",)), 1, 1, 1, 5)
N: Walker = Value("n", WalkerType("N", 6))
WALKED = Axis(6, WalkerTag(N))
SHAPES = [
    ((6,), (2, 3)), ((2, 3), (6,)), ((12, 5), (4, 15)), ((3, 5, 8), (15, 8)), ((6, 8), (3, 16)), ((7,), (7, 1)),
    ((1, 7), (7,)), ((4, 4), (16,)), ((5, 4), (20,)), ((12,), (3, 4)), ((12, 5), (3, 4, 5)), ((2, 3, 5), (30,)),
    ((30,), (5, 3, 2)), ((96,), (3, 32)), ((3, 32), (2, 48)), ((48, 2), (2, 48)), ((9, 7), (7, 9)), ((1,), (1, 1)),
    ((0, 3), (5, 0)), ((3, 7, 2), (2, 21)), ((17, 5), (85,)), ((6, 1, 3), (18,)), ((2, 96), (192,)), ((13, 11), (143,)),
]  # fmt: skip


def tile(name: str, dtype: DType, *lengths: int | Axis) -> Tile:
    axes = tuple(length if isinstance(length, Axis) else Axis(length) for length in lengths)
    return Value(name, TileType(dtype, axes))


def numbered(dtype: DType, *shape: int) -> Array:
    """Different numbers, as far as the type goes."""
    count = np.arange(math.prod(shape)).reshape(shape)
    return semantics.cast(count % 2 == 1 if dtype == BOOL else count % 240, BOOL if dtype == BOOL else I64, dtype)


def check(op: Any, values: dict[Tile, Array], expected: Array, lives: dict[Walker, int] | None = None) -> None:
    (actual,) = executed(op, values, lives)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.sweep(17)
@pytest.mark.parametrize(("old", "new"), SHAPES, ids=str)
@pytest.mark.parametrize("most", [64, 2])
def test_reshape(old: tuple[int, ...], new: tuple[int, ...], most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reshaping, "_MOST", most)
    for dtype in (I32, BOOL, F16, F8E4M3):
        x, operand, result = numbered(dtype, *old), tile("x", dtype, *old), tile("y", dtype, *new)
        check(ops.Reshape(SPAN, result, operand), {operand: x}, x.reshape(new))


@pytest.mark.parametrize("most", [64, 1])
def test_slices(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reshaping, "_MOST", most)
    for shape, axis in (((13,), 0), ((5, 12), 0), ((5, 12), 1), ((3, 8, 2), 1)):
        x, operand = numbered(I32, *shape), tile("x", I32, *shape)
        for start in range(shape[axis] + 1):
            for length in {0, 1, 2, 3, 4, shape[axis] - start} & set(range(shape[axis] - start + 1)):
                lengths = [*shape[:axis], length, *shape[axis + 1 :]]
                part = np.take(x, np.arange(start, start + length), axis)
                check(ops.Slice(SPAN, tile("y", I32, *lengths), operand, axis, start, length), {operand: x}, part)


@pytest.mark.parametrize("most", [64, 2])
@pytest.mark.parametrize("lengths", [(8, 8), (5, 3), (4, 12, 16), (1, 1, 1), (0, 7), (0, 0), (2, 6), (64, 32), (9,)])
def test_tiles_one_after_another(lengths: tuple[int, ...], most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reshaping, "_MOST", most)
    for before, after in (((), ()), ((3,), ()), ((), (5,)), ((2,), (2,))):
        axis = len(before)
        parts = [numbered(I32, *before, length, *after) + 1000 * n for n, length in enumerate(lengths)]
        operands = tuple(tile(f"x{n}", I32, *part.shape) for n, part in enumerate(parts))
        result = tile("y", I32, *before, sum(lengths), *after)
        arguments = dict(zip(operands, parts, strict=True))
        check(ops.Cat(SPAN, result, operands, axis), arguments, np.concatenate(parts, axis))


def test_slices_beside_a_walked_axis() -> None:
    for live in (0, 4, 6):
        x, operand = numbered(F32, live, 12), tile("x", F32, WALKED, 12)
        check(ops.Slice(SPAN, tile("y", F32, WALKED, 5), operand, 1, 3, 5), {operand: x}, x[:, 3:8], {N: live})


def test_take() -> None:
    for shape, axis in (((13,), 0), ((5, 12), 0), ((5, 12), 1), ((3, 8, 2), 1), ((100,), 0)):
        x, operand, index = numbered(I32, *shape), tile("x", I32, *shape), tile("i", INDEX)
        result = tile("y", I32, *shape[:axis], *shape[axis + 1 :])
        for place in {0, 1, shape[axis] // 2, shape[axis] - 1}:
            given = {operand: x, index: np.asarray(place)}
            check(ops.Take(SPAN, result, operand, axis, index), given, np.take(x, place, axis))


def test_a_place_that_no_tile_has_is_any_other() -> None:
    x, operand, index = numbered(I32, 5, 12), tile("x", I32, 5, 12), tile("i", INDEX)
    for place in (-1, 16, 1 << 40, -(1 << 40)):
        (got,) = executed(ops.Take(SPAN, tile("y", I32, 5), operand, 1, index), {operand: x, index: np.asarray(place)})
        assert got.shape == (5,)


def test_broadcast_expand_permute() -> None:
    x, operand = numbered(F32, 5), tile("x", F32, 5)
    check(ops.Broadcast(SPAN, tile("y", F32, 3, 5), operand), {operand: x}, np.broadcast_to(x, (3, 5)))
    check(ops.Expand(SPAN, tile("y", F32, 5, 1), operand, 1), {operand: x}, x[:, None])
    column, operand = numbered(F32, 5, 1), tile("x", F32, 5, 1)
    check(ops.Broadcast(SPAN, tile("y", F32, 2, 5, 7), operand), {operand: column}, np.broadcast_to(column, (2, 5, 7)))
    scalar, operand = np.asarray(3.5, np.float32), tile("x", F32)
    check(ops.Broadcast(SPAN, tile("y", F32, 5, 3), operand), {operand: scalar}, np.full((5, 3), scalar))
    cube, operand = numbered(I32, 2, 3, 5), tile("x", I32, 2, 3, 5)
    rotated = ops.Permute(SPAN, tile("y", I32, 5, 2, 3), operand, (2, 0, 1))
    s_turned = cube.transpose(2, 0, 1)
    check(rotated, {operand: cube}, s_turned)


def test_broadcast_to_a_walked_axis() -> None:
    x, operand = numbered(F32, 6), tile("x", F32, 6)
    check(ops.Broadcast(SPAN, tile("y", F32, 3, WALKED), operand), {operand: x}, np.broadcast_to(x[:4], (3, 4)), {N: 4})


def test_fill_gives_a_number_to_what_is_missing() -> None:
    value = tile("v", F32)
    for live in range(7):
        x, operand = numbered(F32, live, 5), tile("x", F32, WALKED, 5)
        expected = np.full((6, 5), np.float32(9))
        expected[:live] = x
        op = ops.Fill(SPAN, tile("y", F32, 6, 5), operand, value)
        check(op, {operand: x, value: np.asarray(9, np.float32)}, expected, {N: live})
