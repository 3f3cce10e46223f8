"""Kernels built by hand, run by the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_builder import Builder, tagged, walker

from tileproof.backends.interpreter import Order, run
from tileproof.diagnostics import Code, LaunchError, OutOfBounds
from tileproof.ir import ops
from tileproof.ir.ops import Along, At, BinaryFn, Gather, ReduceFn, Whole, Window
from tileproof.ir.types import INDEX_SCALAR, Access, Axis, Content, DimensionTag, TileType, symbol
from tileproof.language.dtypes import BF16, BOOL, F16, F32, I8, I32, I64, INDEX, DType

pytestmark = pytest.mark.filterwarnings("error")

ORDERS: list[Order] = ["forward", "reverse", 0, 7]


def zeros(*shape: int, dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype)


def add_kernel(size: int) -> ops.KernelIR:
    b = Builder()
    c, x, y = (b.tensor(n, a, F32, "N") for n, a in (("c", Access.OUT), ("x", Access.IN), ("y", Access.IN)))
    n = walker("n", "N", size)
    with b.parallel(n):
        b.do(ops.Store, c, (Along(n),), b.binary(BinaryFn.ADD, b.load(x, Along(n)), b.load(y, Along(n))))
    return b.kernel()


@given(extent=st.integers(0, 9), size=st.integers(1, 5), order=st.sampled_from(ORDERS), sanitize=st.booleans())
def test_add_needs_no_care_at_the_edge(extent: int, size: int, order: Order, sanitize: bool) -> None:
    x, y, c = np.arange(extent, dtype=np.float32), np.ones(extent, np.float32), zeros(extent)
    run(add_kernel(size), {"c": c, "x": x, "y": y}, {"N": extent}, order=order, sanitize=sanitize)
    assert c.tolist() == (x + 1).tolist()


@given(st.integers(0, 5), st.integers(0, 7), st.integers(0, 5), st.integers(1, 4))
def test_matmul_walks_the_inner_dimension(m: int, k: int, n: int, step: int) -> None:
    b = Builder()
    c = b.tensor("c", Access.OUT, F32, "M N")
    left, right = b.tensor("a", Access.IN, F16, "M K"), b.tensor("b", Access.IN, F16, "K N")
    i, j, t = walker("i", "M", 2), walker("j", "N", 3), walker("t", "K", step)
    with b.parallel(i, j):
        tile = TileType(F32, (tagged(i), tagged(j)))
        start = b(ops.Broadcast, tile, b.constant(0.0, F32))
        carried = b.value(F32, *tile.axes)
        with b.block() as body:
            new = b(ops.Mma, tile, b.load(left, Along(i), Along(t)), b.load(right, Along(t), Along(j)), carried)
        acc = b.value(F32, *tile.axes)
        b.do(ops.TilesLoop, (acc,), t, None, None, (start,), (carried,), ops.Block(tuple(body), (new,)))
        b.do(ops.Store, c, (Along(i), Along(j)), acc)
    rng = np.random.default_rng(0)
    x, y = rng.integers(-4, 4, (m, k)).astype(np.float16), rng.integers(-4, 4, (k, n)).astype(np.float16)
    out = zeros(m, n)
    run(b.kernel(), {"c": out, "a": x, "b": y}, {"M": m, "N": n, "K": k}, order=3)
    assert out.tolist() == (x.astype(int) @ y.astype(int)).tolist()


def test_gather_reads_rows_named_by_an_index_tensor() -> None:
    b = Builder()
    y, table = b.tensor("y", Access.OUT, F32, "N D"), b.tensor("table", Access.IN, F32, "V D")
    ids = b.tensor("ids", Access.IN, Content("Index", "V", I32), "N")
    n, d = walker("n", "N", 2), walker("d", "D", 2)
    with b.parallel(n, d):
        rows = b.load(ids, Along(n))
        b.do(ops.Store, y, (Along(n), Along(d)), b.load(table, Gather(rows), Along(d)))
    values, picked, out = np.arange(12.0, dtype=np.float32).reshape(4, 3), np.array([3, 0, 3], np.int32), zeros(3, 3)
    run(b.kernel(), {"y": out, "table": values, "ids": picked}, {"N": 3, "D": 3, "V": 4})
    assert out.tolist() == values[picked].tolist()


def test_reductions_see_live_elements_only() -> None:
    b = Builder()
    top, x = b.tensor("top", Access.MAX, F32, "1"), b.tensor("x", Access.IN, F32, "N")
    n = walker("n", "N", 4)
    with b.parallel(n):
        biggest = b(ops.Reduce, TileType(F32), ReduceFn.MAX, b.load(x, Along(n)), 0)
        b.do(ops.Update, top, (At(b.constant(0)),), biggest)
    out = np.full(1, 99, np.float32)
    run(b.kernel(), {"top": out, "x": -np.arange(1, 6, dtype=np.float32)}, {"N": 5})
    assert out.tolist() == [-1.0]


def test_a_full_axis_keeps_the_live_elements_of_the_tag_it_meets() -> None:
    b = Builder()
    c = b.tensor("c", Access.OUT, I32, "N")
    n = walker("n", "N", 4)
    with b.parallel(n):
        full = b(ops.Cast, TileType(I32, (Axis(4),)), b(ops.Iota, TileType(INDEX, (Axis(4),))))
        b.do(ops.Store, c, (Along(n),), b(ops.Broadcast, TileType(I32, (tagged(n),)), full))
    out = zeros(6, dtype=np.int32)
    run(b.kernel(), {"c": out}, {"N": 6})
    assert out.tolist() == [0, 1, 2, 3, 0, 1]


@pytest.mark.parametrize(
    ("start", "stop", "turns"),
    [
        (None, None, [(0, 3), (3, 6), (6, 7)]),
        (2, None, [(2, 5), (5, 7)]),
        (1, 6, [(1, 4), (4, 6)]),
        (0, 99, [(0, 3), (3, 6), (6, 7)]),
        (9, None, []),
        (0, -4, []),
    ],
)
def test_tiles_count_from_start_and_clip(start: int | None, stop: int | None, turns: list[tuple[int, int]]) -> None:
    b = Builder()
    seen = b.tensor("seen", Access.INOUT, I32, "T 2")
    b.tensor("x", Access.IN, F32, "K")
    k = walker("k", "K", 3)
    bounds = [None if place is None else b.constant(place) for place in (start, stop)]
    zero, turn, last = b.constant(0), b.value(INDEX), b.value(INDEX)
    with b.block() as body:
        for column, end in enumerate((ops.Start, ops.Stop)):
            number = b(ops.Cast, TileType(I32), b(end, INDEX_SCALAR, k))
            b.do(ops.Store, seen, (At(turn), At(b.constant(column))), number)
        new = b.binary(BinaryFn.ADD, turn, b.constant(1))
    b.do(ops.TilesLoop, (last,), k, *bounds, (zero,), (turn,), ops.Block(tuple(body), (new,)))
    out = np.full((4, 2), -1, np.int32)
    run(b.kernel(), {"seen": out, "x": zeros(7)}, {"T": 4, "K": 7})
    assert [tuple(row) for row in out.tolist() if row != [-1, -1]] == turns


def test_loops_and_branches_compute_collatz() -> None:
    b = Builder()
    c = b.tensor("c", Access.OUT, I32, "N")
    n = walker("n", "N", None)
    with b.parallel(n):
        one, two, three = b.constant(1), b.constant(2), b.constant(3)
        first = b.binary(BinaryFn.ADD, b(ops.Start, INDEX_SCALAR, n), one)
        number, count, steps, last = (b.value(INDEX) for _ in range(4))
        with b.block() as test:
            going = b(ops.Binary, TileType(BOOL), BinaryFn.NE, number, one)
        with b.block() as body:
            remainder = b.binary(BinaryFn.MOD, number, two)
            odd = b(ops.Cast, TileType(BOOL), remainder)
            with b.block() as then:
                up = b.binary(BinaryFn.ADD, b.binary(BinaryFn.MUL, number, three), one)
            with b.block() as orelse:
                down = b.binary(BinaryFn.FLOORDIV, number, two)
            new = b.value(INDEX)
            b.do(ops.If, (new,), odd, ops.Block(tuple(then), (up,)), ops.Block(tuple(orelse), (down,)))
            more = b.binary(BinaryFn.ADD, count, one)
        b.do(
            ops.While, (last, steps), (first, b.constant(0)), (number, count),
            ops.Block(tuple(test), (going,)), ops.Block(tuple(body), (new, more)),
        )  # fmt: skip
        b.do(ops.Store, c, (Along(n),), b(ops.Cast, TileType(I32), steps))
    out = zeros(7, dtype=np.int32)
    run(b.kernel(), {"c": out}, {"N": 7})
    assert out.tolist() == [0, 1, 7, 2, 5, 8, 16]


@pytest.mark.parametrize("arguments", [(0, 5, 2), (5, 0, -2), (3, 3, 1), (0, 5, 0)])
def test_range_is_that_of_python(arguments: tuple[int, int, int]) -> None:
    b = Builder()
    total = b.tensor("total", Access.OUT, I32, "1")
    variable, carried, result = (b.value(INDEX) for _ in range(3))
    bounds = [b.constant(number) for number in arguments]
    with b.block() as body:
        new = b.binary(BinaryFn.ADD, b.binary(BinaryFn.MUL, carried, b.constant(10)), variable)
    inits = (b.constant(0),)
    b.do(ops.RangeLoop, (result,), variable, *bounds, inits, (carried,), ops.Block(tuple(body), (new,)))
    b.do(ops.Store, total, (At(b.constant(0)),), b(ops.Cast, TileType(I32), result))
    out = zeros(1, dtype=np.int32)
    run(b.kernel(), {"total": out}, {})
    expected = 0
    for number in range(*arguments) if arguments[2] else ():
        expected = expected * 10 + number
    assert out.item() == expected


def updates(access: Access, dtype: DType, bins: list[int], values: Any, size: int) -> Any:
    """Every value updates the bin beside it."""
    b = Builder()
    out = b.tensor("out", access, dtype, "B")
    where, what = b.tensor("where", Access.IN, Content("Index", "B", I32), "N"), b.tensor("what", Access.IN, dtype, "N")
    n = walker("n", "N", 3)
    with b.parallel(n):
        b.do(ops.Update, out, (Gather(b.load(where, Along(n))),), b.load(what, Along(n)))
    array = np.full(size, 5).astype(dtype.storage)
    arguments = {"out": array, "where": np.array(bins, np.int32), "what": np.asarray(values).astype(dtype.storage)}
    run(b.kernel(), arguments, {"B": size, "N": len(bins)})
    return array.astype(np.float64).tolist()


def test_updates_start_from_the_identity_and_count_duplicates() -> None:
    assert updates(Access.SUM, I32, [1, 1, 0, 1, 1], [1, 2, 4, 8, 16], 3) == [4, 27, 0]
    assert updates(Access.SUM, F32, [1, 1, 0, 1], [1, 2, 4, 8], 2) == [4, 11]
    assert updates(Access.MAX, F32, [0, 0, 0, 0], [1, 3, -4, 2], 2) == [3, -np.inf]
    assert updates(Access.MIN, I8, [0, 0, 0, 0], [1, 3, -4, 2], 2) == [-4, 127]


def test_updates_wrap_round_and_keep_nan() -> None:
    assert updates(Access.SUM, I8, [0, 0, 0], [100, 100, 100], 1) == [44]
    assert updates(Access.SUM, BF16, [0] * 4, [256, 1, 1, 1], 1) == [256]  # 257 is not a bf16
    for access in (Access.MAX, Access.MIN):
        assert np.isnan(updates(access, F32, [0, 0, 0, 0], [1, np.nan, 2, 3], 1)).all()


def test_tiles_change_their_shape() -> None:
    b = Builder()
    c, x = b.tensor("c", Access.OUT, I32, "4 3"), b.tensor("x", Access.IN, I32, "2 6")
    flat = b(ops.Reshape, TileType(I32, (Axis(3), Axis(4))), b.load(x, Whole(), Whole()))
    rotated = b(ops.Permute, TileType(I32, (Axis(4), Axis(3))), flat, (1, 0))
    tops = b(ops.Slice, TileType(I32, (Axis(2), Axis(3))), rotated, 0, 2, 2)
    ends = b(ops.Slice, TileType(I32, (Axis(2), Axis(3))), rotated, 0, 0, 2)
    both = b(ops.Cat, rotated.type, (tops, ends), 0)
    sums = b(ops.Reduce, TileType(I32, (Axis(3),)), ReduceFn.SUM, both, 0)
    row = b(ops.Expand, TileType(I32, (Axis(1), Axis(3))), sums, 0)
    wide = b(ops.Broadcast, rotated.type, row)
    chosen = b(ops.Binary, TileType(BOOL, rotated.type.axes), BinaryFn.LT, both, wide)
    result = b(ops.Select, rotated.type, chosen, both, b(ops.CumSum, rotated.type, both, 1))
    b.do(ops.Store, c, (Whole(), Whole()), result)
    values, out = np.arange(12, dtype=np.int32).reshape(2, 6), zeros(4, 3, dtype=np.int32)
    run(b.kernel(), {"c": out, "x": values}, {})
    expected = np.roll(values.reshape(3, 4).T, 2, axis=0)
    assert out.tolist() == np.where(expected < expected.sum(0), expected, expected.cumsum(1)).tolist()


def test_static_dimensions_windows_and_symbolic_lengths() -> None:
    b = Builder()
    c, x = b.tensor("c", Access.OUT, F32, "N H"), b.tensor("x", Access.IN, F32, "N D")
    n = walker("n", "N", None)
    half = symbol("D") // 2
    with b.parallel(n):
        value = b.load(x, Along(n), Window(half, half))
        tagged_axis = Axis(half, DimensionTag("H"))
        b.do(ops.Store, c, (Along(n), Whole()), b(ops.Broadcast, TileType(F32, (tagged_axis,)), value))
    values, out = np.arange(8.0, dtype=np.float32).reshape(2, 4), zeros(2, 2)
    run(b.kernel(), {"c": out, "x": values}, {"N": 2, "D": 4, "H": 2})
    assert out.tolist() == values[:, 2:].tolist()


def test_extents_groups_and_positions() -> None:
    b = Builder()
    c = b.tensor("c", Access.OUT, I32, "H 3")
    x = b.tensor("x", Access.IN, F32, "G _")
    h = walker("h", "H", None)
    with b.parallel(h):
        here = b(ops.Start, INDEX_SCALAR, h)
        group = b(ops.Group, INDEX_SCALAR, here, "H", "G")
        unnamed, named = b(ops.Extents, INDEX_SCALAR, None, x, 1), b(ops.Extents, INDEX_SCALAR, "G")
        for column, value in enumerate((group, unnamed, named)):
            b.do(ops.Store, c, (Along(h), At(b.constant(column))), b(ops.Cast, TileType(I32), value))
    out = zeros(6, 3, dtype=np.int32)
    run(b.kernel(), {"c": out, "x": zeros(2, 5)}, {"H": 6, "G": 2}, order="reverse")
    assert out.tolist() == [[h // 3, 5, 2] for h in range(6)]


def test_elements_are_positions() -> None:
    b = Builder()
    c = b.tensor("c", Access.OUT, I32, "N")
    n = walker("n", "N", 4)
    with b.parallel(n):
        positions = b(ops.Elements, TileType(INDEX, (tagged(n),)), n)
        b.do(ops.Store, c, (Along(n),), b(ops.Cast, TileType(I32, (tagged(n),)), positions))
    out = zeros(6, dtype=np.int32)
    run(b.kernel(), {"c": out}, {"N": 6}, order=5)
    assert out.tolist() == list(range(6))


@given(st.integers(0, 9), st.integers(1, 5))
def test_fill_makes_a_full_tile_of_the_live_elements(extent: int, size: int) -> None:
    b = Builder()
    c, x = b.tensor("c", Access.SUM, I32, str(size)), b.tensor("x", Access.IN, I32, "N")
    n = walker("n", "N", size)
    with b.parallel(n):
        full = b(ops.Fill, TileType(I32, (Axis(size),)), b.load(x, Along(n)), b.constant(100, I32))
        b.do(ops.Update, c, (Whole(),), full)
    values, out = np.arange(extent, dtype=np.int32), zeros(size, dtype=np.int32)
    run(b.kernel(), {"c": out, "x": values}, {"N": extent})
    padded = np.pad(values, (0, -extent % size), constant_values=100)
    assert out.tolist() == padded.reshape(-1, size).sum(axis=0).tolist()


def test_fill_pads_every_axis_at_its_end() -> None:
    b = Builder()
    c, x = b.tensor("c", Access.INOUT, I32, "3 4"), b.tensor("x", Access.IN, I32, "M N")
    i, j = walker("i", "M", 3), walker("j", "N", 4)
    with b.parallel(i, j):
        full = b(ops.Fill, TileType(I32, (Axis(3), Axis(4))), b.load(x, Along(i), Along(j)), b.constant(-1, I32))
        b.do(ops.Store, c, (Whole(), Whole()), full)
    out = zeros(3, 4, dtype=np.int32)
    run(b.kernel(), {"c": out, "x": np.arange(6, dtype=np.int32).reshape(2, 3)}, {"M": 2, "N": 3})
    assert out.tolist() == [[0, 1, 2, -1], [3, 4, 5, -1], [-1, -1, -1, -1]]


def test_random_numbers_depend_on_seed_and_offset_alone() -> None:
    b = Builder()
    c, seed = b.tensor("c", Access.OUT, F32, "N"), b.scalar("seed", I64)
    n = walker("n", "N", 3)
    with b.parallel(n):
        offset = b(ops.Elements, TileType(INDEX, (tagged(n),)), n)
        b.do(ops.Store, c, (Along(n),), b(ops.Random, TileType(F32, (tagged(n),)), seed, offset))
    first, again, other = zeros(8), zeros(8), zeros(8)
    run(b.kernel(), {"c": first, "seed": 0}, {"N": 8})
    run(b.kernel(), {"c": again, "seed": 0}, {"N": 8}, order=3)
    run(b.kernel(), {"c": other, "seed": -1}, {"N": 8})
    assert first[0] == np.float32((0x6627E8D5 >> 8) / 2**24)
    assert first.tolist() == again.tolist()
    assert len({*first.tolist(), *other.tolist()}) == 16


def test_results_go_into_the_callers_array_whatever_its_strides() -> None:
    whole = zeros(3, 10)
    for out in (whole[0, ::2], whole.T[5, :][::-1], whole[1, 9:4:-1]):
        extent = len(out)
        x = np.arange(1, extent + 1, dtype=np.float32)
        run(add_kernel(2), {"c": out, "x": x, "y": x}, {"N": extent})
        assert out.tolist() == (x + x).tolist()


@pytest.mark.parametrize("value", [np.float32(0.1), 0.1, np.array(0.1)])
def test_scalars_are_rounded_to_their_type(value: Any) -> None:
    b = Builder()
    c, scale = b.tensor("c", Access.OUT, F32, ""), b.scalar("scale", F32)
    b.do(ops.Store, c, (), scale)
    out = zeros()
    run(b.kernel(), {"c": out, "scale": value}, {})
    assert out == np.float32(0.1)


# What goes wrong.


def shifted_kernel(writes: bool, amount: int) -> tuple[ops.KernelIR, int]:
    """Reads or writes x at n + amount, one element a program; the line of the access."""
    b = Builder()
    y, x = b.tensor("y", Access.INOUT, F32, "N"), b.tensor("x", Access.INOUT, F32, "N 2")
    n = walker("n", "N", None)
    with b.parallel(n):
        place = b.binary(BinaryFn.ADD, b(ops.Start, INDEX_SCALAR, n), b.constant(amount))
        one = b.constant(1)
        if writes:
            line = b.do(ops.Store, x, (At(place), At(one)), b.load(y, Along(n)))
        else:
            value = b.load(x, At(place), At(one))
            line = b.line
            b.do(ops.Store, y, (Along(n),), value)
    return b.kernel(), line


@pytest.mark.parametrize("sanitize", [False, True])
@pytest.mark.parametrize("writes", [False, True])
@pytest.mark.parametrize(("amount", "point", "index"), [(1, 3, 4), (-1, 0, -1)])
def test_an_index_outside_is_named_and_nothing_is_lost(
    writes: bool, amount: int, point: int, index: int, sanitize: bool
) -> None:
    kernel, line = shifted_kernel(writes, amount)
    y, x = np.arange(4, dtype=np.float32), np.arange(8, dtype=np.float32).reshape(4, 2)
    before = y.copy(), x.copy()
    with pytest.raises(OutOfBounds) as caught:
        run(kernel, {"y": y, "x": x}, {"N": 4}, sanitize=sanitize)
    (diagnostic,) = caught.value.diagnostics
    verb = "writes" if writes else "reads"
    assert diagnostic.code is Code.OUT_OF_BOUNDS
    assert diagnostic.message == f"program n={point} {verb} index {index} of axis 0 of x, which has 4 elements"
    assert diagnostic.span is not None
    assert diagnostic.span.line == line
    assert diagnostic.notes == ("with N=4",)
    assert diagnostic.help
    assert (y.tolist(), x.tolist()) == (before[0].tolist(), before[1].tolist())


def test_a_window_outside_and_a_gather_outside_are_refused() -> None:
    for pick in (Window(3, 2), Window(-1, 2)):
        b = Builder()
        c, x = b.tensor("c", Access.OUT, F32, "2"), b.tensor("x", Access.IN, F32, "4")
        b.do(ops.Store, c, (Whole(),), b.load(x, pick))
        with pytest.raises(OutOfBounds, match=f"kernel reads index {4 if pick.start == 3 else -1} of axis 0 of x"):
            run(b.kernel(), {"c": zeros(2), "x": zeros(4)}, {})
    with pytest.raises(OutOfBounds, match=r"program n=0:3 updates index -2 of axis 0 of out, which has 1 element\b"):
        updates(Access.SUM, F32, [0, -2, 7], [1, 1, 1], 1)


def test_tiles_that_start_before_the_axis_are_refused() -> None:
    b = Builder()
    b.tensor("x", Access.IN, F32, "K")
    k = walker("k", "K", 2)
    line = b.do(ops.TilesLoop, (), k, b.constant(-3), None, (), (), ops.Block(()))
    with pytest.raises(OutOfBounds, match="kernel walks K from -3, before its first element") as caught:
        run(b.kernel(), {"x": zeros(4)}, {"K": 4})
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert span.line == line


@pytest.mark.parametrize("sanitize", [False, True])
def test_argmax_of_nothing_is_refused(sanitize: bool) -> None:
    b = Builder()
    c, x = b.tensor("c", Access.OUT, I32, "1"), b.tensor("x", Access.IN, F32, "D")
    place = b(ops.Reduce, INDEX_SCALAR, ReduceFn.ARGMAX, b.load(x, Whole()), 0)
    b.do(ops.Store, c, (At(b.constant(0)),), b(ops.Cast, TileType(I32), place))
    out = zeros(1, dtype=np.int32)
    run(b.kernel(), {"c": out, "x": np.array([1, 5, 3], np.float32)}, {"D": 3}, sanitize=sanitize)
    assert out.item() == 1
    with pytest.raises(OutOfBounds, match="argmax of an axis without elements") as caught:
        run(b.kernel(), {"c": out, "x": zeros(0)}, {"D": 0}, sanitize=sanitize)
    assert caught.value.diagnostics[0].code is Code.EMPTY_ARGMAX


def test_index_arithmetic_outside_64_bits_is_refused() -> None:
    b = Builder()
    b.tensor("x", Access.IN, F32, "N")
    n = walker("n", "N", None)
    with b.parallel(n):
        b.binary(BinaryFn.MUL, b(ops.Start, INDEX_SCALAR, n), b.constant(2**62))
    run(b.kernel(), {"x": zeros(2)}, {"N": 2})
    with pytest.raises(OutOfBounds, match="program n=2 computes an index that does not fit 64 bits") as caught:
        run(b.kernel(), {"x": zeros(3)}, {"N": 3})
    assert caught.value.diagnostics[0].code is Code.INDEX_OVERFLOW
    assert caught.value.diagnostics[0].notes == (f"reached from 2 and {2**62}", "with N=3")


def test_a_broken_contract_is_a_launch_error() -> None:
    b = Builder()
    b.tensor("x", Access.IN, F32, "N")
    even = b.binary(BinaryFn.MOD, b(ops.Extents, INDEX_SCALAR, "N"), b.constant(2))
    line = b.do(ops.Require, b(ops.Binary, TileType(BOOL), BinaryFn.EQ, even, b.constant(0)))
    run(b.kernel(), {"x": zeros(4)}, {"N": 4})
    with pytest.raises(LaunchError) as caught:
        run(b.kernel(), {"x": zeros(3)}, {"N": 3})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.CONTRACT
    assert diagnostic.span is not None
    assert diagnostic.span.line == line


def test_ir_that_breaks_its_own_types_is_an_internal_error() -> None:
    b = Builder()
    x = b(ops.Iota, TileType(INDEX, (Axis(3),)))
    b(ops.Broadcast, TileType(F32, (Axis(3),)), x)
    with pytest.raises(TypeError, match="float32"):
        run(b.kernel(), {}, {})
