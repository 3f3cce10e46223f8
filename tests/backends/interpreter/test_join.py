"""Split walkers: what the pieces make is combined in index order, and the rest runs once for all of them."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_builder import Builder, tagged, walker

from tileproof.backends.interpreter import Order, run
from tileproof.diagnostics import Code, OutOfBounds, Race, Unwritten
from tileproof.ir import ops
from tileproof.ir.ops import Along, At, BinaryFn, ReduceFn, Window
from tileproof.ir.types import INDEX_SCALAR, Access, Axis, Content, Tile, TileType, Value
from tileproof.language.dtypes import F32, I32, INDEX

pytestmark = pytest.mark.filterwarnings("error")

ORDERS: list[Order] = ["forward", "reverse", 0, 7]


def piece_sums(b: Builder, x: Any, i: Any, z: Any, size: int) -> Tile:
    """Row sums of x over a piece of K, tile by tile."""
    k = walker("k", "K", size)
    axes = (tagged(i),)
    start = b(ops.Broadcast, TileType(I32, axes), b.constant(0, I32))
    carried, total = b.value(I32, *axes), b.value(I32, *axes)
    ends = b(ops.Start, INDEX_SCALAR, z), b(ops.Stop, INDEX_SCALAR, z)
    with b.block() as body:
        part = b(ops.Reduce, TileType(I32, axes), ReduceFn.SUM, b.load(x, Along(i), Along(k)), 1)
        new = b.binary(BinaryFn.ADD, carried, part)
    b.do(ops.TilesLoop, (total,), k, *ends, (start,), (carried,), ops.Block(tuple(body), (new,)))
    return total


def sum_kernel(before: bool = False) -> ops.KernelIR:
    """`y[i, j] = 10 * y + ...` of the pieces' row sums: the order of pieces shows. The piece walker stands first or
    last in the space."""
    b = Builder()
    y, x = b.tensor("y", Access.OUT, I32, "M J"), b.tensor("x", Access.IN, I32, "M K")
    i, j, z = walker("i", "M", 2), walker("j", "J", None), walker("z", "K", 3, is_piece=True)
    with b.parallel(*((z, i, j) if before else (i, j, z))):
        total = piece_sums(b, x, i, z, 2)

        def by(left: Tile, right: Tile) -> Tile:
            ten = b(ops.Broadcast, left.type, b.constant(10, I32))
            return b.binary(BinaryFn.ADD, b.binary(BinaryFn.MUL, left, ten), right)

        (joined,) = b.join(z, total, by=by)
        number = b.cast(b(ops.Number, INDEX_SCALAR, j), I32)
        b.do(
            ops.Store, y, (Along(i), Along(j)),
            b.binary(BinaryFn.ADD, joined, b(ops.Broadcast, joined.type, number)),
        )  # fmt: skip
    return b.kernel()


@pytest.mark.parametrize("before", [False, True])
@given(st.integers(0, 4), st.integers(0, 2), st.integers(0, 10), st.sampled_from(ORDERS), st.booleans())
def test_pieces_are_joined_in_index_order(before: bool, m: int, j: int, k: int, order: Order, sanitize: bool) -> None:
    x = np.random.default_rng(k).integers(0, 3, (m, k)).astype(np.int32)
    out = np.full((m, j), -1, np.int32)
    run(sum_kernel(before), {"y": out, "x": x}, {"M": m, "J": j, "K": k}, order=order, sanitize=sanitize)
    for row, result in zip(x.tolist(), out.tolist(), strict=True):
        sums = [sum(row[place : place + 3]) for place in range(0, k, 3)]
        whole = reduce(lambda left, right: 10 * left + right, sums, 0)
        assert result == [whole + number for number in range(j)]


def counting_kernel() -> ops.KernelIR:
    """`seen` counts how often the body runs before and after the join, and keeps what the pieces were."""
    b = Builder()
    seen, ends = b.tensor("seen", Access.SUM, I32, "2"), b.tensor("ends", Access.INOUT, I32, "P 3")
    b.tensor("x", Access.IN, F32, "K")
    z = walker("z", "K", 4, is_piece=True)
    with b.parallel(z):
        one, number = b.constant(1, I32), b(ops.Number, INDEX_SCALAR, z)
        b.do(ops.Update, seen, (At(b.constant(0)),), one)
        for column, op in enumerate((ops.Start, ops.Stop, ops.Number)):
            b.do(ops.Store, ends, (At(number), At(b.constant(column))), b.cast(b(op, INDEX_SCALAR, z), I32))
        (total,) = b.join(z, one, by=BinaryFn.ADD)
        b.do(ops.Update, seen, (At(b.constant(1)),), total)
    return b.kernel()


@pytest.mark.parametrize(
    ("extent", "pieces"), [(0, [[0, 0, 0]]), (3, [[0, 3, 0]]), (9, [[0, 4, 0], [4, 8, 1], [8, 9, 2]])]
)
@pytest.mark.parametrize("order", ORDERS)
def test_an_empty_axis_has_one_empty_piece(extent: int, pieces: list[list[int]], order: Order) -> None:
    seen, ends = np.zeros(2, np.int32), np.full((len(pieces), 3), -1, np.int32)
    arguments = {"seen": seen, "ends": ends, "x": np.zeros(extent, np.float32)}
    run(counting_kernel(), arguments, {"K": extent, "P": len(pieces)}, order=order)
    assert ends.tolist() == pieces
    assert seen.tolist() == [len(pieces)] * 2, "once for each piece, and the ones of all pieces once"


@given(st.lists(st.integers(0, 5), max_size=4), st.integers(0, 5), st.sampled_from(ORDERS))
def test_segments_are_joined_each_for_itself(lengths: list[int], k: int, order: Order) -> None:
    b = Builder()
    y, x = b.tensor("y", Access.OUT, I32, "M"), b.tensor("x", Access.IN, I32, "M K")
    offsets = b.tensor("offsets", Access.IN, Content("Offsets", "M", I32), "_")
    i, z, segment = walker("i", "M", 2), walker("z", "K", 2, is_piece=True), Value("e", INDEX_SCALAR)
    with b.parallel(z, i, segments=(ops.Segments(i, offsets, segment),)):
        (total,) = b.join(z, piece_sums(b, x, i, z, 2), by=BinaryFn.ADD)
        here = b(ops.Broadcast, total.type, b.cast(segment, I32))
        b.do(ops.Store, y, (Along(i),), b.binary(BinaryFn.ADD, total, here))
    borders = np.cumsum([0, *lengths], dtype=np.int32)
    rows = int(borders[-1])
    values, out = np.arange(rows * k, dtype=np.int32).reshape(rows, k), np.zeros(rows, np.int32)
    run(b.kernel(), {"y": out, "x": values, "offsets": borders}, {"M": rows, "K": k}, order=order)
    assert out.tolist() == (values.sum(axis=1) + np.repeat(np.arange(len(lengths)), lengths)).tolist()


def test_several_values_are_joined_together() -> None:
    b = Builder()
    low, high = b.tensor("low", Access.OUT, I32, "1"), b.tensor("high", Access.OUT, I32, "1")
    x = b.tensor("x", Access.IN, I32, "K")
    z = walker("z", "K", 2, is_piece=True)
    with b.parallel(z):
        value = b.load(x, Along(z))
        parts = tuple(b(ops.Reduce, TileType(I32), fn, value, 0) for fn in (ReduceFn.MIN, ReduceFn.MAX))
        left, right, built = ((b.value(I32), b.value(I32)) for _ in range(3))
        with b.block() as body:
            pairs = zip((BinaryFn.MIN, BinaryFn.MAX), left, right, strict=True)
            both = tuple(b.binary(fn, one, two) for fn, one, two in pairs)
        b.do(ops.Join, built, z, parts, ops.Combiner(left, right, ops.Block(tuple(body), both)))
        for tensor, result in zip((low, high), built, strict=True):
            b.do(ops.Store, tensor, (At(b.constant(0)),), result)
    outs = {"low": np.zeros(1, np.int32), "high": np.zeros(1, np.int32)}
    run(b.kernel(), {**outs, "x": np.array([3, 9, -4, 0, 7], np.int32)}, {"K": 5}, order=1)
    assert (outs["low"].item(), outs["high"].item()) == (-4, 9)


def test_what_all_pieces_agree_on_is_known_after_the_join() -> None:
    b = Builder()
    y, x = b.tensor("y", Access.OUT, I32, "M"), b.tensor("x", Access.IN, I32, "M K")
    i, z = walker("i", "M", 2), walker("z", "K", 2, is_piece=True)
    with b.parallel(i, z):
        whole = b.shift("whole", i, b.constant(0))
        positions = b.cast(b(ops.Elements, TileType(INDEX, (tagged(whole),)), whole), I32)
        (total,) = b.join(z, piece_sums(b, x, i, z, 2), by=BinaryFn.ADD)
        b.do(ops.Store, y, (Along(whole),), positions)
        b(ops.Binary, total.type, BinaryFn.ADD, total, total)
    out = np.zeros(5, np.int32)
    run(b.kernel(), {"y": out, "x": np.zeros((5, 3), np.int32)}, {"M": 5, "K": 3}, order=4)
    assert out.tolist() == [0, 1, 2, 3, 4]


def test_what_belongs_to_one_piece_is_not() -> None:
    b = Builder()
    y = b.tensor("y", Access.OUT, I32, "1")
    b.tensor("x", Access.IN, I32, "K")
    z = walker("z", "K", 2, is_piece=True)
    with b.parallel(z):
        start = b.cast(b(ops.Start, INDEX_SCALAR, z), I32)
        b.join(z, start, by=BinaryFn.ADD)
        b.do(ops.Store, y, (At(b.constant(0)),), start)
    with pytest.raises(TypeError, match="differs between the pieces z"):
        run(b.kernel(), {"y": np.zeros(1, np.int32), "x": np.zeros(3, np.int32)}, {"K": 3})
    b = Builder()
    b.tensor("x", Access.IN, I32, "K")
    with b.parallel(z):
        b.join(z, b.constant(1, I32), by=BinaryFn.ADD)
        b(ops.Start, INDEX_SCALAR, z)
    with pytest.raises(KeyError):
        run(b.kernel(), {"x": np.zeros(1, np.int32)}, {"K": 1})


def test_a_walker_shifted_by_its_piece_is_gone_too() -> None:
    b = Builder()
    b.tensor("x", Access.IN, I32, "M K")
    i, z = walker("i", "M", 2), walker("z", "K", 2, is_piece=True)
    with b.parallel(i, z):
        moved = b.shift("moved", i, b(ops.Start, INDEX_SCALAR, z))
        b.join(z, b.constant(1, I32), by=BinaryFn.ADD)
        b(ops.Broadcast, TileType(I32, (tagged(moved),)), b.constant(0, I32))
    with pytest.raises(KeyError):
        run(b.kernel(), {"x": np.zeros((2, 3), np.int32)}, {"M": 2, "K": 3})


# The sanitizer.


def touching_kernel(reads_in_pieces: bool, walks: bool) -> tuple[ops.KernelIR, int, int]:
    """Pieces touch x[0:1] (or each its own element), and so does the program after the join; with both lines."""
    b = Builder()
    x = b.tensor("x", Access.INOUT, F32, "_")
    b.tensor("y", Access.IN, F32, "M K")
    i, z = walker("i", "M", 2), walker("z", "K", 2, is_piece=True)
    with b.parallel(*((i, z) if walks else (z,))):
        one = b.constant(1.0, F32)
        full = b(ops.Broadcast, TileType(F32, (Axis(1),)), one)
        first = b.line + 1
        if reads_in_pieces:
            b.load(x, Window(0, 1))
        else:
            b.do(ops.Store, x, (At(b(ops.Number, INDEX_SCALAR, z)),), one)
            first = b.line
        b.join(z, one, by=BinaryFn.ADD)
        second = b.do(ops.Store, x, (Window(0, 1),), full)
    return b.kernel(), first, second


@pytest.mark.parametrize("order", ORDERS)
def test_the_program_after_the_join_is_another_than_its_pieces(order: Order) -> None:
    kernel, first, second = touching_kernel(reads_in_pieces=False, walks=True)
    arguments = {"x": np.zeros(2, np.float32), "y": np.zeros((2, 4), np.float32)}
    with pytest.raises(Race) as caught:
        run(kernel, arguments, {"M": 2, "K": 4}, order=order)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.RACE
    assert diagnostic.message == "programs i=0:2, z=0:2 and i=0:2 both write x[0]"
    assert diagnostic.help.startswith("touch x either before the join or after it")
    assert diagnostic.span is not None
    assert (diagnostic.span.line, diagnostic.labels[0].span.line) == (second, first)


def test_a_program_after_the_join_of_all_walkers() -> None:
    kernel, _, _ = touching_kernel(reads_in_pieces=True, walks=False)
    arguments = {"x": np.zeros(2, np.float32), "y": np.zeros((2, 4), np.float32)}
    with pytest.raises(Race, match=r"program z=0:2 reads x\[0\], which program after the join writes"):
        run(kernel, arguments, {"M": 2, "K": 4})


def test_two_programs_after_the_join_meet_like_any_other() -> None:
    b = Builder()
    x = b.tensor("x", Access.INOUT, F32, "1")
    b.tensor("y", Access.IN, F32, "M K")
    i, z = walker("i", "M", 2), walker("z", "K", 2, is_piece=True)
    with b.parallel(z, i):
        (total,) = b.join(z, b.constant(1.0, F32), by=BinaryFn.ADD)
        b.do(ops.Store, x, (At(b.constant(0)),), total)
    out = np.zeros(1, np.float32)
    run(b.kernel(), {"x": out, "y": np.zeros((2, 5), np.float32)}, {"M": 2, "K": 5}, order=2)
    assert out.tolist() == [3]
    with pytest.raises(Race) as caught:
        run(b.kernel(), {"x": out, "y": np.zeros((4, 5), np.float32)}, {"M": 4, "K": 5})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "programs i=0:2 and i=2:4 both write x[0]"
    assert diagnostic.help.startswith("index x with i, so that")


def test_pieces_meet_like_any_other() -> None:
    b = Builder()
    x = b.tensor("x", Access.INOUT, F32, "1")
    b.tensor("y", Access.IN, F32, "K")
    z = walker("z", "K", 2, is_piece=True)
    with b.parallel(z):
        one = b.constant(1.0, F32)
        b.do(ops.Store, x, (At(b.constant(0)),), one)
        b.join(z, one, by=BinaryFn.ADD)
    run(b.kernel(), {"x": np.zeros(1, np.float32), "y": np.zeros(2, np.float32)}, {"K": 2})
    with pytest.raises(Race, match=r"programs z=0:2 and z=2:3 both write x\[0\]"):
        run(b.kernel(), {"x": np.zeros(1, np.float32), "y": np.zeros(3, np.float32)}, {"K": 3})


def test_faults_after_the_join_name_the_program_that_is_left() -> None:
    b = Builder()
    y = b.tensor("y", Access.OUT, F32, "M")
    b.tensor("x", Access.IN, F32, "M K")
    i, z = walker("i", "M", None), walker("z", "K", 2, is_piece=True)
    with b.parallel(i, z):
        (total,) = b.join(z, b.constant(1.0, F32), by=BinaryFn.ADD)
        place = b.binary(BinaryFn.ADD, b(ops.Start, INDEX_SCALAR, i), b.constant(1))
        b.do(ops.Store, y, (At(place),), total)
    with pytest.raises(OutOfBounds, match="program i=1 writes index 2 of axis 0 of y"):
        run(b.kernel(), {"y": np.zeros(2, np.float32), "x": np.zeros((2, 5), np.float32)}, {"M": 2, "K": 5})


def test_an_out_that_no_program_after_the_join_writes() -> None:
    b = Builder()
    y = b.tensor("y", Access.OUT, F32, "2")
    b.tensor("x", Access.IN, F32, "K")
    z = walker("z", "K", 2, is_piece=True)
    with b.parallel(z):
        (total,) = b.join(z, b.constant(1.0, F32), by=BinaryFn.ADD)
        b.do(ops.Store, y, (At(b.constant(1)),), total)
    with pytest.raises(Unwritten, match=r"no program writes y\[0\]"):
        run(b.kernel(), {"y": np.zeros(2, np.float32), "x": np.zeros(3, np.float32)}, {"K": 3})
