"""Folds and scans with a combiner of the user's."""

from __future__ import annotations

from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_builder import Builder, tagged, walker

from tileproof.backends.interpreter import run
from tileproof.diagnostics import OutOfBounds
from tileproof.ir import ops
from tileproof.ir.ops import Along, At, BinaryFn, Whole
from tileproof.ir.types import Access, Axis, Tile, TileType
from tileproof.language.dtypes import BF16, BOOL, F32, I32, INDEX

pytestmark = pytest.mark.filterwarnings("error")


def mixed(x: int, y: int) -> int:
    """Neither associative nor commutative, so that the order shows; wraps as i32 does."""
    return (3 * x - y + 2**31) % 2**32 - 2**31


def mixing(b: Builder, left: Tile, right: Tile) -> Tile:
    three = b(ops.Broadcast, left.type, b.constant(3, I32))
    return b.binary(BinaryFn.SUB, b.binary(BinaryFn.MUL, left, three), right)


def fold_kernel(axis: int) -> ops.KernelIR:
    """`y` is x folded along an axis, tiles of 5 along both."""
    b = Builder()
    y, x = b.tensor("y", Access.OUT, I32, "N" if axis == 0 else "M"), b.tensor("x", Access.IN, I32, "M N")
    i, j = walker("i", "M", 5), walker("j", "N", 5)
    kept, dropped = (j, i) if axis == 0 else (i, j)
    with b.parallel(kept):
        zero, turn, last = b.constant(-7, I32), b.value(I32, tagged(kept)), b.value(I32, tagged(kept))
        start = b(ops.Broadcast, turn.type, zero)
        with b.block() as body:
            part = b.value(I32, tagged(kept))
            combiner = b.combiner(part.type, by=lambda left, right: mixing(b, left, right))
            b.do(ops.Fold, (part,), (b.load(x, Along(i), Along(j)),), (zero,), axis, combiner)
            new = b.binary(BinaryFn.ADD, turn, part)
        b.do(ops.TilesLoop, (last,), dropped, None, None, (start,), (turn,), ops.Block(tuple(body), (new,)))
        b.do(ops.Store, y, (Along(kept),), last)
    return b.kernel()


@pytest.mark.parametrize("axis", [0, 1])
@given(st.integers(0, 8), st.integers(0, 8))
def test_a_fold_goes_from_left_to_right_over_live_elements(axis: int, m: int, n: int) -> None:
    x = np.random.default_rng(m + 9 * n).integers(-100, 100, (m, n)).astype(np.int32)
    out = np.zeros((n, m)[axis], np.int32)
    run(fold_kernel(axis), {"y": out, "x": x}, {"M": m, "N": n})
    rows = x.T.tolist() if axis == 0 else x.tolist()
    tiles = [[row[place : place + 5] for place in range(0, len(row), 5)] for row in rows]
    assert out.tolist() == [-7 + sum(reduce(mixed, tile) for tile in row) for row in tiles]


def test_a_fold_of_nothing_is_the_identity() -> None:
    b = Builder()
    y, x = b.tensor("y", Access.OUT, F32, "3"), b.tensor("x", Access.IN, F32, "3 D")
    folded = b.value(F32, Axis(3))
    combiner = b.combiner(folded.type, by=BinaryFn.MAX)
    b.do(ops.Fold, (folded,), (b.load(x, Whole(), Whole()),), (b.constant(0.5, F32),), 1, combiner)
    b.do(ops.Store, y, (Whole(),), folded)
    out = np.zeros(3, np.float32)
    run(b.kernel(), {"y": out, "x": np.zeros((3, 0), np.float32)}, {"D": 0})
    assert out.tolist() == [0.5] * 3
    run(b.kernel(), {"y": out, "x": np.full((3, 1), -2, np.float32)}, {"D": 1})
    assert out.tolist() == [-2] * 3, "the identity stands only where there is nothing"


def test_several_values_are_folded_together() -> None:
    """argmax by hand: the larger value wins, with its position; at a tie the first."""
    b = Builder()
    place, x = b.tensor("place", Access.OUT, I32, "1"), b.tensor("x", Access.IN, BF16, "N")
    n = walker("n", "N", 8)
    with b.parallel(n):
        values, positions = b.load(x, Along(n)), b(ops.Elements, TileType(INDEX, (tagged(n),)), n)
        left, right, result = ((b.value(BF16), b.value(INDEX)) for _ in range(3))
        with b.block() as body:
            later = b(ops.Binary, TileType(BOOL), BinaryFn.GT, right[0], left[0])
            chosen = tuple(b(ops.Select, one.type, later, two, one) for one, two in zip(left, right, strict=True))
        combiner = ops.Combiner(left, right, ops.Block(tuple(body), chosen))
        identities = (b.constant(-np.inf, BF16), b.constant(-1))
        b.do(ops.Fold, result, (values, positions), identities, 0, combiner)
        b.do(ops.Store, place, (At(b.constant(0)),), b.cast(result[1], I32))
    out = np.zeros(1, np.int32)
    run(b.kernel(), {"place": out, "x": np.array([1, 4, -2, 4, 3]).astype(BF16.storage)}, {"N": 5})
    assert out.tolist() == [1]


@given(st.integers(0, 11), st.integers(1, 6))
def test_a_scan_keeps_every_step(extent: int, size: int) -> None:
    b = Builder()
    y, x = b.tensor("y", Access.OUT, I32, "2 N"), b.tensor("x", Access.IN, I32, "2 N")
    n = walker("n", "N", size)
    with b.parallel(n):
        value = b.load(x, Whole(), Along(n))
        scanned = b.value(I32, *value.type.axes)
        combiner = b.combiner(TileType(I32, (Axis(2),)), by=lambda left, right: mixing(b, left, right))
        b.do(ops.Scan, (scanned,), (value,), 1, combiner)
        b.do(ops.Store, y, (Whole(), Along(n)), scanned)
    x_ = np.random.default_rng(extent).integers(-100, 100, (2, extent)).astype(np.int32)
    out = np.zeros_like(x_)
    run(b.kernel(), {"y": out, "x": x_}, {"N": extent})
    for row, scanned_row in zip(x_.tolist(), out.tolist(), strict=True):
        tiles = [row[place : place + size] for place in range(0, extent, size)]
        assert scanned_row == [step for tile in tiles for step in accumulate(tile, mixed)]


def test_a_scan_of_two_values_gives_two() -> None:
    b = Builder()
    y, z = b.tensor("y", Access.OUT, I32, "3"), b.tensor("z", Access.OUT, F32, "3")
    x, w = b.tensor("x", Access.IN, I32, "3"), b.tensor("w", Access.IN, F32, "3")
    operands = b.load(x, Whole()), b.load(w, Whole())
    results = tuple(b.value(operand.type.dtype, Axis(3)) for operand in operands)
    b.do(ops.Scan, results, operands, 0, b.combiner(TileType(I32), TileType(F32), by=BinaryFn.MUL))
    for tensor, result in zip((y, z), results, strict=True):
        b.do(ops.Store, tensor, (Whole(),), result)
    arguments: dict[str, Any] = {"y": np.zeros(3, np.int32), "z": np.zeros(3, np.float32)}
    given_ = {"x": np.array([2, 3, 4], np.int32), "w": np.array([0.5, 0.5, 0.5], np.float32)}
    run(b.kernel(), {**arguments, **given_}, {})
    assert arguments["y"].tolist() == [2, 6, 24]
    assert arguments["z"].tolist() == [0.5, 0.25, 0.125]


def test_what_goes_wrong_in_a_combiner_is_the_programs_fault() -> None:
    b = Builder()
    n = walker("n", "N", 3)
    b.tensor("x", Access.IN, F32, "N")
    with b.parallel(n):
        big = b(ops.Broadcast, TileType(INDEX, (tagged(n),)), b.constant(2**62))
        total = b.value(INDEX)
        b.do(ops.Fold, (total,), (big,), (b.constant(0),), 0, b.combiner(TileType(INDEX), by=BinaryFn.ADD))
    run(b.kernel(), {"x": np.zeros(1, np.float32)}, {"N": 1})
    with pytest.raises(OutOfBounds, match="program n=0:2 computes an index that does not fit 64 bits"):
        run(b.kernel(), {"x": np.zeros(2, np.float32)}, {"N": 2})
