"""`SplitAt`: the past of a tensor is read by all programs, its fresh part written by one each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_builder import Builder, tagged, walker

from tileproof.backends.interpreter import Order, run
from tileproof.diagnostics import Code, OutOfBounds, Race
from tileproof.ir import ops
from tileproof.ir.ops import Along, At, BinaryFn, ReduceFn, Whole
from tileproof.ir.types import INDEX_SCALAR, Access, Named, Tensor, TensorType, Tile, TileType, Unnamed, Value
from tileproof.language.dtypes import I32, INDEX

pytestmark = pytest.mark.filterwarnings("error")


def split(
    b: Builder, tensor: Tensor, axis: int, at: Tile, names: tuple[str, str] = ("past", "fresh")
) -> tuple[Tensor, Tensor, int]:
    """The two views and the line of the split."""
    of = tensor.type
    dimensions = (*of.dimensions[:axis], Unnamed(), *of.dimensions[axis + 1 :])
    past = Value(names[0], TensorType(Access.IN, of.element, of.dimensions))
    fresh = Value(names[1], TensorType(Access.INOUT, of.element, dimensions))
    return past, fresh, b.do(ops.SplitAt, past, fresh, tensor, axis, at)


def append_kernel() -> ops.KernelIR:
    """Every program sums all rows of the past and appends the sum, plus its number, after it."""
    b = Builder()
    cache = b.tensor("cache", Access.INOUT, I32, "2 C")
    b.tensor("new", Access.IN, I32, "N")
    place = b.cast(b.scalar("place", I32), INDEX)
    past, fresh, _ = split(b, cache, 1, place)
    n, c = walker("n", "N", None), walker("c", "C", 3)
    with b.parallel(n):
        start, carried, total = b.constant(0, I32), b.value(I32), b.value(I32)
        with b.block() as body:
            rows = b(ops.Reduce, TileType(I32, (tagged(c),)), ReduceFn.SUM, b.load(past, Whole(), Along(c)), 0)
            more = b.binary(BinaryFn.ADD, carried, b(ops.Reduce, TileType(I32), ReduceFn.SUM, rows, 0))
        b.do(ops.TilesLoop, (total,), c, None, place, (start,), (carried,), ops.Block(tuple(body), (more,)))
        number = b.cast(b(ops.Start, INDEX_SCALAR, n), I32)
        for row in range(2):
            b.do(ops.Store, fresh, (At(b.constant(row)), Along(n)), b.binary(BinaryFn.ADD, total, number))
    return b.kernel()


@given(st.integers(0, 6), st.integers(0, 3), st.integers(0, 3), st.sampled_from(["forward", "reverse", 3]))
def test_a_cache_is_read_and_appended_to(past: int, count: int, rest: int, order: Order) -> None:
    cache = np.arange(2 * (past + count + rest), dtype=np.int32).reshape(2, -1)
    expected = cache.copy()
    expected[:, past : past + count] = cache[:, :past].sum() + np.arange(count)
    arguments = {"cache": cache, "new": np.zeros(count, np.int32), "place": past}
    run(append_kernel(), arguments, {"C": past + count + rest, "N": count}, order=order)
    assert cache.tolist() == expected.tolist()


@pytest.mark.parametrize("place", [-1, 5])
def test_a_split_outside_the_axis_is_refused(place: int) -> None:
    b = Builder()
    cache = b.tensor("cache", Access.INOUT, I32, "C")
    _, _, line = split(b, cache, 0, b.constant(place))
    with pytest.raises(OutOfBounds) as caught:
        run(b.kernel(), {"cache": np.zeros(4, np.int32)}, {"C": 4}, sanitize=False)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.OUT_OF_BOUNDS
    assert diagnostic.message == f"kernel splits axis 0 of cache at {place}, and it has 4 elements"
    assert diagnostic.span is not None
    assert diagnostic.span.line == line


def access_kernel(of_past: bool, index: int) -> ops.KernelIR:
    """Reads the past, or writes the fresh part, at `index`, of a tensor split at 3."""
    b = Builder()
    cache = b.tensor("cache", Access.INOUT, I32, "C")
    past, fresh, _ = split(b, cache, 0, b.constant(3))
    if of_past:
        value = b.load(past, At(b.constant(index)))
        b.do(ops.Store, fresh, (At(b.constant(0)),), value)
    else:
        b.do(ops.Store, fresh, (At(b.constant(index)),), b.constant(9, I32))
    return b.kernel()


def test_the_past_ends_at_the_split_and_the_fresh_part_begins_there() -> None:
    cache = np.array([1, 2, 3, 4, 5], np.int32)
    run(access_kernel(True, 2), {"cache": cache}, {"C": 5})
    assert cache.tolist() == [1, 2, 3, 3, 5]
    run(access_kernel(False, 1), {"cache": cache}, {"C": 5})
    assert cache.tolist() == [1, 2, 3, 3, 9]
    with pytest.raises(OutOfBounds, match="reads index 3 of axis 0 of past, which has 3 elements"):
        run(access_kernel(True, 3), {"cache": cache}, {"C": 5})
    for index in (-1, 2):
        with pytest.raises(OutOfBounds, match=f"writes index {index} of axis 0 of fresh, which has 2 elements"):
            run(access_kernel(False, index), {"cache": cache}, {"C": 5})


def test_extents_of_views() -> None:
    """The past keeps the name of its dimension, so `:` means all of it, and that is outside of the past."""
    b = Builder()
    cache, y = b.tensor("cache", Access.INOUT, I32, "C"), b.tensor("y", Access.OUT, I32, "2")
    past, fresh, _ = split(b, cache, 0, b.cast(b.scalar("place", I32), INDEX))
    assert past.type.dimensions == (Named("C"),)
    for place, extent in enumerate((b(ops.Extents, INDEX_SCALAR, "C"), b(ops.Extents, INDEX_SCALAR, None, fresh, 0))):
        b.do(ops.Store, y, (At(b.constant(place)),), b.cast(extent, I32))
    b.load(past, Whole())
    out = np.zeros(2, np.int32)
    run(b.kernel(), {"cache": np.zeros(5, np.int32), "y": out, "place": 5}, {"C": 5})
    assert out.tolist() == [5, 0]
    with pytest.raises(OutOfBounds, match="reads index 3 of axis 0 of past, which has 3 elements"):
        run(b.kernel(), {"cache": np.zeros(5, np.int32), "y": out, "place": 3}, {"C": 5})


def test_a_split_of_a_split() -> None:
    b = Builder()
    cache = b.tensor("cache", Access.INOUT, I32, "A B")
    _, lower, _ = split(b, cache, 0, b.constant(1))
    left, corner, _ = split(b, lower, 1, b.constant(2), ("left", "corner"))
    value = b.load(left, At(b.constant(0)), At(b.constant(1)))
    b.do(ops.Store, corner, (At(b.constant(1)), At(b.constant(0))), value)
    values = np.arange(9, dtype=np.int32).reshape(3, 3)
    run(b.kernel(), {"cache": values}, {"A": 3, "B": 3})
    assert values.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 4]]


def racing_kernel(in_past: bool) -> ops.KernelIR:
    """Every program writes fresh[0], or reads past[0] (also before the space) and writes its own fresh element."""
    b = Builder()
    cache = b.tensor("cache", Access.INOUT, I32, "C")
    b.tensor("x", Access.IN, I32, "N")
    past, fresh, _ = split(b, cache, 0, b.constant(2))
    n = walker("n", "N", None)
    zero = b.constant(0)
    if in_past:
        b.load(past, At(zero))
    with b.parallel(n):
        if in_past:
            b.do(ops.Store, fresh, (Along(n),), b.load(past, At(zero)))
        else:
            b.do(ops.Store, fresh, (At(zero),), b.constant(1, I32))
    return b.kernel()


def test_the_past_is_shared_and_the_fresh_part_owned() -> None:
    cache = np.array([7, 0, 0, 0], np.int32)
    arguments: dict[str, Any] = {"cache": cache, "x": np.zeros(2, np.int32)}
    run(racing_kernel(in_past=True), arguments, {"C": 4, "N": 2})
    assert cache.tolist() == [7, 0, 7, 7]
    with pytest.raises(Race, match=r"programs n=0 and n=1 both write fresh\[0\]"):
        run(racing_kernel(in_past=False), arguments, {"C": 4, "N": 2})


def test_races_are_those_of_the_tensor_beneath() -> None:
    b = Builder()
    cache = b.tensor("cache", Access.INOUT, I32, "C")
    b.tensor("x", Access.IN, I32, "N")
    past, fresh, _ = split(b, cache, 0, b.constant(2))
    n = walker("n", "N", None)
    with b.parallel(n):
        value = b.load(past, At(b.constant(1)))
        b.do(ops.Store, fresh, (Along(n),), value)
        b.do(ops.Store, cache, (Along(n),), value)  # which the verifier refuses
    with pytest.raises(Race, match=r"program n=0 reads cache\[1\], which program n=1 writes"):
        run(b.kernel(), {"cache": np.zeros(4, np.int32), "x": np.zeros(2, np.int32)}, {"C": 4, "N": 2})
