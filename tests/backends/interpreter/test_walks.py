"""Where walkers go: their numbers, shifted walkers, segments, and axes without a name."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_builder import Builder, tagged, walker

from tileproof.backends.interpreter import Order, run
from tileproof.diagnostics import Code, OutOfBounds, Race
from tileproof.ir import ops
from tileproof.ir.ops import Along, At, BinaryFn
from tileproof.ir.types import INDEX_SCALAR, Access, Content, TileType, Value
from tileproof.language.dtypes import F32, I32, INDEX

pytestmark = pytest.mark.filterwarnings("error")


def numbers(*values: int) -> Any:
    return np.array(values, np.int32)


def filled(b: Builder, walked: Any, scalar: Any) -> Any:
    """An index scalar along the axis of a walker, as i32."""
    return b.cast(b(ops.Broadcast, TileType(INDEX, (tagged(walked),)), scalar), I32)


# Numbers.


@given(st.integers(0, 9), st.integers(0, 9), st.sampled_from(["forward", "reverse", 2]))
def test_points_are_numbered_along_each_dimension(m: int, n: int, order: Order) -> None:
    b = Builder()
    c = b.tensor("c", Access.OUT, I32, "M N")
    i, j = walker("i", "M", None), walker("j", "N", 4)
    with b.parallel(i, j):
        ten = b.binary(BinaryFn.MUL, b(ops.Number, INDEX_SCALAR, i), b.constant(10))
        number = b.binary(BinaryFn.ADD, ten, b(ops.Number, INDEX_SCALAR, j))
        b.do(ops.Store, c, (Along(i), Along(j)), filled(b, j, number))
    out = np.full((m, n), -1, np.int32)
    run(b.kernel(), {"c": out}, {"M": m, "N": n}, order=order)
    assert out.tolist() == [[10 * i + j // 4 for j in range(n)] for i in range(m)]


@pytest.mark.parametrize("size", [None, 2])
def test_a_loop_counts_its_turns_from_its_start(size: int | None) -> None:
    b = Builder()
    c = b.tensor("c", Access.INOUT, I32, "K")
    k = walker("k", "K", size)
    with b.block() as body:
        number = b(ops.Number, INDEX_SCALAR, k)
        b.do(ops.Store, c, (Along(k),), b.cast(number, I32) if size is None else filled(b, k, number))
    b.do(ops.TilesLoop, (), k, b.constant(3), None, (), (), ops.Block(tuple(body)))
    out = np.full(8, -1, np.int32)
    run(b.kernel(), {"c": out}, {"K": 8})
    assert out.tolist() == [-1, -1, -1, *([0, 1, 2, 3, 4] if size is None else [0, 0, 1, 1, 2])]


# Shifts.


def shift_kernel() -> ops.KernelIR:
    """What a walker by 3, moved by `by`, is: start, stop, number, and the x it covers, each by an update."""
    b = Builder()
    seen, x = b.tensor("seen", Access.INOUT, I32, "T 4"), b.tensor("x", Access.IN, I32, "N")
    by = b.scalar("by", I32)
    n = walker("n", "N", 3)
    with b.parallel(n):
        moved = b.shift("moved", n, b.cast(by, INDEX))
        total = b(ops.Reduce, TileType(I32), ops.ReduceFn.SUM, b.load(x, Along(moved)), 0)
        ends = [b.cast(b(op, INDEX_SCALAR, moved), I32) for op in (ops.Start, ops.Stop, ops.Number)]
        for column, value in enumerate((*ends, total)):
            b.do(ops.Store, seen, (At(b(ops.Number, INDEX_SCALAR, n)), At(b.constant(column))), value)
    return b.kernel()


SHIFT = shift_kernel()


@given(st.integers(1, 10), st.integers(-12, 12))
def test_a_shifted_walker_keeps_its_number_and_is_clipped_at_the_end(extent: int, by: int) -> None:
    x, count = np.arange(extent, dtype=np.int32) ** 2, -(-extent // 3)
    out = np.zeros((count, 4), np.int32)
    starts = [3 * number + by for number in range(count)]
    arguments = {"seen": out, "x": x, "by": by}
    if not all(0 <= start <= extent for start in starts):
        with pytest.raises(OutOfBounds, match="shifts a tile of N to start at"):
            run(SHIFT, arguments, {"N": extent, "T": count})
        return
    run(SHIFT, arguments, {"N": extent, "T": count})
    for number, start in enumerate(starts):
        stop = min(min(3 * number + 3, extent) + by, extent)
        assert out[number].tolist() == [start, stop, number, x[start:stop].sum()]


def test_a_shift_off_the_axis_is_named() -> None:
    with pytest.raises(OutOfBounds) as caught:
        run(SHIFT, {"seen": np.zeros((2, 4), np.int32), "x": numbers(1, 2, 3, 4), "by": 2}, {"N": 4, "T": 2})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.OUT_OF_BOUNDS
    assert diagnostic.message == "program n=3:4 shifts a tile of N to start at 5, and N has 4 elements"
    assert diagnostic.label == "moved starts at 5"
    assert diagnostic.notes == ("with N=4, T=2",)


def test_a_shifted_walker_is_another_place_to_the_sanitizer() -> None:
    b = Builder()
    x = b.tensor("x", Access.INOUT, F32, "N")
    n = walker("n", "N", 2)
    with b.parallel(n):
        value = b.load(x, Along(b.shift("after", n, b.constant(2))))
        total = b(ops.Reduce, TileType(F32), ops.ReduceFn.SUM, value, 0)
        b.do(ops.Store, x, (Along(n),), b(ops.Broadcast, TileType(F32, (tagged(n),)), total))
    run(b.kernel(), {"x": np.zeros(2, np.float32)}, {"N": 2})
    with pytest.raises(Race, match=r"program n=0:2 reads x\[2\], which program n=2:4 writes"):
        run(b.kernel(), {"x": np.zeros(4, np.float32)}, {"N": 4})


# Axes without a name.


def test_a_walker_on_an_axis_without_a_name_must_fit() -> None:
    b = Builder()
    y, x = b.tensor("y", Access.OUT, I32, "N"), b.tensor("x", Access.IN, I32, "_")
    n = walker("n", "N", 2)
    with b.parallel(n):
        b.do(ops.Store, y, (Along(n),), b.load(x, Along(n)))
    out = np.zeros(3, np.int32)
    run(b.kernel(), {"y": out, "x": numbers(4, 5, 6, 7)}, {"N": 3})
    assert out.tolist() == [4, 5, 6]
    with pytest.raises(OutOfBounds, match="program n=2:3 reads index 2 of axis 0 of x, which has 2 elements"):
        run(b.kernel(), {"y": out, "x": numbers(4, 5)}, {"N": 3})


# Segments.


def segments_kernel(size: int | None) -> ops.KernelIR:
    """c[i, j] = (segment, number of the tile within it, its start, the number of j), by Horner's rule in base 100."""
    b = Builder()
    c = b.tensor("c", Access.OUT, I32, "N J")
    offsets = b.tensor("offsets", Access.IN, Content("Offsets", "N", I32), "_")
    i, j = walker("i", "N", size), walker("j", "J", None)
    segment = Value("e", INDEX_SCALAR)
    with b.parallel(i, j, segments=(ops.Segments(i, offsets, segment),)):
        code = segment
        for op, walked in ((ops.Number, i), (ops.Start, i), (ops.Number, j)):
            hundred = b.binary(BinaryFn.MUL, code, b.constant(100))
            code = b.binary(BinaryFn.ADD, hundred, b(op, INDEX_SCALAR, walked))
        b.do(ops.Store, c, (Along(i), Along(j)), b.cast(code, I32) if size is None else filled(b, i, code))
    return b.kernel()


@given(
    st.lists(st.integers(0, 7), max_size=5),
    st.sampled_from([None, 1, 2, 3, 8]),
    st.integers(0, 2),
    st.sampled_from(["forward", "reverse", 5]),
)
def test_segments_are_cut_into_tiles_of_their_own(
    lengths: list[int], size: int | None, width: int, order: Order
) -> None:
    borders = [0, *np.cumsum(lengths, dtype=int).tolist()]
    out = np.full((borders[-1], width), -1, np.int32)
    arguments = {"c": out, "offsets": numbers(*borders)}
    run(segments_kernel(size), arguments, {"N": borders[-1], "J": width}, order=order)
    step = 1 if size is None else size
    for segment, (start, stop) in enumerate(pairwise(borders)):
        for place in range(start, stop):
            number = (place - start) // step
            code = ((segment * 100 + number) * 100 + start + number * step) * 100
            assert out[place].tolist() == [code + j for j in range(width)]


def test_a_program_of_a_segment_is_called_by_it() -> None:
    b = Builder()
    c = b.tensor("c", Access.INOUT, F32, "4")
    b.tensor("x", Access.IN, F32, "N")
    offsets = b.tensor("offsets", Access.IN, Content("Offsets", "N", I32), "E")
    i, segment = walker("i", "N", 2), Value("e", INDEX_SCALAR)
    with b.parallel(i, segments=(ops.Segments(i, offsets, segment),)):
        b.do(ops.Store, c, (At(segment),), b.constant(1.0, F32))
    arguments = {"c": np.zeros(4, np.float32), "x": np.zeros(5, np.float32)}
    run(b.kernel(), {**arguments, "offsets": numbers(0, 2, 2, 3, 5)}, {"N": 5, "E": 5})
    assert arguments["c"].tolist() == [1, 0, 1, 1]
    with pytest.raises(Race, match=r"programs e=1, i=2:4 and e=1, i=4:5 both write c\[1\]"):
        run(b.kernel(), {**arguments, "offsets": numbers(0, 2, 5)}, {"N": 5, "E": 3})
    run(b.kernel(), {**arguments, "x": np.zeros(0, np.float32), "offsets": numbers(0)}, {"N": 0, "E": 1})
