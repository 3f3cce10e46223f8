"""Kernels that once went outside, hung or crashed behind a check, and right ones that were once refused.

What stops a wrong launch is a check of the kernel's own, never the memory it would have left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Index, InOut, Offsets, Out, f32, i32, i64, u8
from tileproof.backends import interpreter
from tileproof.backends.interpreter.machine import Steps
from tileproof.compiler.proved import Proved
from tileproof.diagnostics.codes import Code
from tileproof.runtime.launch.binding import Bound


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch on the interpreter that does not end is abandoned."""

    def abandoned(_: Any, found: Proved, bound: Bound) -> Callable[..., None]:
        return lambda *given: interpreter.run(found.ready, *given, sanitize=False, steps=Steps(10_000))

    monkeypatch.setattr(interpreter.InterpreterBackend, "compile", abandoned)


def stopped(kernel: tp.Kernel, *args: Any) -> str:
    """What the check says that stops a launch of a kernel that is accepted, the same on every backend.

    On the interpreter the launch has changed nothing.
    """
    assert tp.check(kernel) == []
    before = copied(args)
    with tp.backend("interpreter"), pytest.raises(tp.OutOfBounds) as caught:
        kernel(*args)
    assert_same(args, before)
    with tp.backend("cpu"), pytest.raises(tp.OutOfBounds) as native:
        kernel(*args)
    assert str(native.value) == str(caught.value)
    (found,) = caught.value.diagnostics
    assert found.notes[0].startswith("a check at run time found this"), found.message
    return found.message


def runs(kernel: tp.Kernel, *args: Any) -> None:
    """Launches a kernel that is accepted on every backend, and demands what the watched interpreter gives."""
    assert tp.check(kernel) == []
    watched, launched = copied(args), copied(args)
    tp.interpret(kernel, *watched)
    with tp.backend("interpreter"):
        kernel(*launched)
    assert_same(tuple(launched), watched)
    with tp.backend("cpu"):
        kernel(*args)
    assert_same(args, watched)


def copied(args: tuple[Any, ...]) -> list[Any]:
    return [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]


def assert_same(args: tuple[Any, ...], others: list[Any]) -> None:
    for arg, other in zip(args, others, strict=True):
        np.testing.assert_array_equal(arg, other)


def blank(*shape: int) -> Any:
    return np.full(shape, 7, np.float32)


def ramp(*shape: int) -> Any:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1


def ints(*values: int) -> Any:
    return np.array(values, np.int32)


@tp.kernel
def wide_choice(y: Out[f32, "N"], x: In[i64, "N"], z: In[i64, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        a = tp.where(n > 2, x[n], z[n])
        w = a + a
        y[n] = 0.0
        if (a > 0) & (w < 0):
            y[n] = z[n + 1000000].to(f32)


def test_a_choice_of_wide_numbers_is_wide() -> None:
    assert "axis 0 of z is 1000000" in stopped(wide_choice, blank(5), np.full(5, 2**62), np.full(5, 2**62))
    runs(wide_choice, blank(5), np.full(5, 2**61), np.full(5, -(2**61)))


@tp.kernel
def wide_minimum(y: Out[f32, "N"], x: In[i64, "N"], q: i64) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = 0.0
        if min(q, 2**62 + 5) != q:
            y[n] = x[n + 1000000].to(f32)


def test_a_wide_minimum_is_either_side() -> None:
    assert "axis 0 of x is 1000000" in stopped(wide_minimum, blank(5), np.full(5, 7), 2**63 - 1)
    runs(wide_minimum, blank(5), np.full(5, 7), 2**62)


@tp.kernel
def wide_rank_2(y: Out[f32, "N"], big: In[i64, "N 2"], x: In[f32, "V"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = (big[n, :] + tp.dim("V")).max(axis=1).to(f32)


@tp.kernel
def wide_absolute(y: Out[f32, "N"], ids: In[i64, "N 2"]) -> None:
    for n in tp.parallel(N=8):
        y[n] = abs((ids[n, :] + n.start).min(axis=1)).to(f32)


def test_a_wide_tile_of_rank_2_is_checked_where_it_becomes_an_index() -> None:
    said = "a number that becomes an index is"
    assert f"{said} {2**63 - 1}" in stopped(wide_rank_2, blank(2), np.full((2, 2), 2**63 - 1), ramp(3))
    assert f"{said} {-(2**63)}" in stopped(wide_absolute, blank(1), np.full((1, 2), -(2**63)))
    runs(wide_rank_2, blank(2), np.full((2, 2), 2**61), ramp(3))
    runs(wide_absolute, blank(1), np.full((1, 2), -(2**61)))


@tp.kernel
def choice_of_remainders(
    y: Out[f32, "N"], e: In[Index["V"], "N"], g: In[Index["V"], "N"], x: In[f32, "4"], v: In[f32, "V"]
) -> None:
    for n in tp.parallel(N=tp.each):
        s = tp.where(n > 2, e[n] % 4, g[n] % 4)
        y[n] = x[s + 0]


def test_none_chosen_from_two_remainders_is_not_a_remainder() -> None:
    assert "axis 0 of x is -1" in stopped(choice_of_remainders, blank(2), ints(-1, 1), ints(-1, 1), ramp(4), ramp(5))
    runs(choice_of_remainders, blank(2), ints(4, 1), ints(1, 4), ramp(4), ramp(5))


@tp.kernel
def entry_or_fill(y: Out[f32, "N"], x: In[f32, "V"], ids: In[Index["V"], "M"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[ids.get(n + 0, -1)]


@tp.kernel
def chosen_fill(y: Out[f32, "N"], x: In[f32, "V"], ids: In[Index["V"], "M"]) -> None:
    tp.require(tp.dim("M") > 0)
    for n in tp.parallel(N=tp.each):
        k = ids[0]
        if tp.dim("V") > 2:
            k = ids.get(n + 0, -1)
        y[n] = x[k]


@tp.kernel
def divided_fill(y: Out[f32, "N"], x: In[f32, "V"], ids: In[Index["V"], "M"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[ids.get(n.elements, -1) // 2]


@tp.kernel
def sliced_fill(y: Out[f32, "4"], x: In[f32, "V"], ids: In[Index["V"], "M"]) -> None:
    y[:] = x[ids.get(tp.arange(8), -1)[0:4]]


@tp.kernel
def bounded_fill(y: InOut[f32, "N"], x: In[f32, "V"], ids: In[Index["V"], "M"]) -> None:
    for n in tp.parallel(N=tp.each):
        k = ids.get(n + 0, -1)
        if k < tp.dim("V"):
            y[n] = x[k]


FILLED = [entry_or_fill, chosen_fill, divided_fill, sliced_fill, bounded_fill]


@pytest.mark.parametrize("kernel", FILLED, ids=lambda kernel: kernel.name)
def test_a_fill_of_none_is_no_element(kernel: tp.Kernel) -> None:
    assert "axis 0 of x is -1" in stopped(kernel, blank(4), ramp(3), ints(0, 1, 2))
    runs(kernel, blank(4), ramp(3), ints(0, 1, 2, 2))


@tp.kernel
def filled_tile(y: Out[f32, "N"], x: In[f32, "V"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[ids[n].fill(-1)]


def test_lanes_filled_with_none_are_no_elements() -> None:
    assert "axis 0 of x is -1" in stopped(filled_tile, blank(3), ramp(3), ints(0, 1, 2))
    runs(filled_tile, blank(4), ramp(3), ints(0, 1, 2, 0))


@tp.kernel
def written_none(y: Out[f32, "N"], entries: InOut[Index["V"], "N"], x: In[f32, "V"]) -> None:
    for n in tp.parallel(N=tp.each):
        entries[n] = -1
        y[n] = x[entries[n]]


@tp.kernel
def bounded_none(y: InOut[f32, "N"], entries: InOut[Index["V"], "N"], x: In[f32, "V"]) -> None:
    for n in tp.parallel(N=tp.each):
        entries[n] = -1
        k = entries[n]
        if k < tp.dim("V"):
            y[n] = x[k]


@pytest.mark.parametrize("kernel", [written_none, bounded_none], ids=lambda kernel: kernel.name)
def test_none_that_a_kernel_stores_itself_is_no_element(kernel: tp.Kernel) -> None:
    assert "axis 0 of x is -1" in stopped(kernel, blank(2), ints(0, 1), ramp(3))


@tp.kernel
def beside_a_shift(y: Out[f32, "N"], x: In[f32, "N"], z: In[f32, "N+1"], pos: In[i32, "1"]) -> None:
    for i in tp.parallel(N=4):
        w = i.shift(pos[0])
        y[i] = x[w].fill(0.0) + z[pos[0] + i.start]


def test_a_load_beside_a_shift_stays_inside() -> None:
    assert "the start of w is 100" in stopped(beside_a_shift, blank(8), ramp(8), ramp(9), ints(100))
    runs(beside_a_shift, blank(8), ramp(8), ramp(9), ints(3))


@tp.kernel
def beside_a_split(c: InOut[f32, "C"], y: Out[f32, "N"], z: In[f32, "C+1"], pos: In[i32, "1"]) -> None:
    _past, _fresh = tp.split_at(c, "C", pos[0])
    for i in tp.parallel(N=4):
        y[i] = z[pos[0]]


def test_a_load_beside_a_split_stays_inside() -> None:
    assert "the place where c is split is 100" in stopped(beside_a_split, blank(8), blank(3), ramp(9), ints(100))
    runs(beside_a_split, blank(8), blank(3), ramp(9), ints(8))


@tp.kernel
def there_and_back(y: Out[f32, "N"], x: In[f32, "N"], pos: In[i32, "1"]) -> None:
    for i in tp.parallel(N=4):
        p = pos[0] + i.start - i.start
        w = i.shift(p)
        v = w.shift(0 - p)
        y[i] = x[v].fill(0.0)


def test_a_shift_back_from_a_failed_shift_stays_inside() -> None:
    assert "the start of w is -5" in stopped(there_and_back, blank(4), ramp(4), ints(-5))
    runs(there_and_back, blank(4), ramp(4), ints(2))


@tp.kernel
def start_at_a_length(y: Out[f32, "S"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"], sel: In[i32, "S"]) -> None:
    for e in tp.parallel(S=tp.each):
        j = sel[e] + e
        t = 0.0
        for k in tp.tiles(N=4, start=off[j + 1] - off[j]):
            t = t + x[k].sum()
        y[e] = t


@tp.kernel
def shift_by_a_length(y: Out[f32, "S"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"], sel: In[i32, "S"]) -> None:
    for e in tp.parallel(S=tp.each):
        j = sel[e] + e
        t = 0.0
        for k in tp.tiles(N=4, stop=1):
            t = t + x[k.shift(off[j + 1] - off[j])].sum()
        y[e] = t


@tp.kernel
def split_at_a_length(y: Out[f32, "S"], c: InOut[f32, "C"], off: In[Offsets["C"], "E+1"], sel: In[i32, "1"]) -> None:
    j = sel[0] + tp.dim("C") * 0
    _past, _fresh = tp.split_at(c, "C", off[j + 1] - off[j])
    for i in tp.parallel(S=4):
        y[i] = 1.0


LENGTHS = [start_at_a_length, shift_by_a_length, split_at_a_length]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("kernel", LENGTHS, ids=lambda kernel: kernel.name)
def test_a_length_between_borders_that_are_not_there_moves_nothing_outside(kernel: tp.Kernel) -> None:
    assert "axis 0 of off is 3" in stopped(kernel, blank(1), ramp(9), ints(0, 4, 9), ints(2))
    runs(kernel, blank(1), ramp(9), ints(0, 4, 9), ints(1))


@tp.kernel
def linked(y: Out[f32, "N"], following: In[i32, "V"], head: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        k = head[n]
        t = 0.0
        while k >= 0:
            t = t + 1.0
            k = following[k]
        y[n] = t


@tp.kernel
def counted_in_memory(y: InOut[f32, "N"], x: In[f32, "V"], ids: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[ids[n]]
        while y[n] < 3.0:
            y[n] = y[n] + 1.0


def test_a_walk_along_links_ends_where_a_link_leads_outside() -> None:
    assert "axis 0 of following is 100" in stopped(linked, blank(1), ints(1, 100), ints(0))
    runs(linked, blank(1), ints(1, -1), ints(0))


def test_a_loop_over_its_own_stores_ends_where_nothing_is_stored() -> None:
    low = np.zeros(2, np.float32)
    assert "axis 0 of x is 100" in stopped(counted_in_memory, low, ramp(3), ints(0, 100))
    runs(counted_in_memory, low, ramp(3), ints(0, 1))


@tp.kernel
def group_without_an_axis(y: Out[f32, "H"], x: In[f32, "G+1"], a: In[i32, "H"]) -> None:
    for h in tp.parallel(H=tp.each):
        y[h] = x[tp.group(h, "G") + a[h]]


def test_a_group_may_be_of_a_dimension_that_no_axis_has() -> None:
    assert "axis 0 of x is 3" in stopped(group_without_an_axis, blank(4), ramp(3), ints(0, 1, 1, 2))
    runs(group_without_an_axis, blank(4), ramp(3), ints(0, 1, 1, 1))


@tp.kernel
def parts_of_a_length_given_by_a_shape(y: Out[f32, "K/S"], x: In[f32, "K"], *, S: int) -> None:
    for z in tp.parallel(K=S):
        y[z.number] = x[z].sum()


def test_a_size_of_tiles_that_shapes_give_is_not_tried_as_0() -> None:
    (found,) = tp.check(parts_of_a_length_given_by_a_shape)
    assert found.code == Code.COVER_OPEN


@tp.kernel
def tile_of_a_length_below_0(y: Out[f32, "N"], x: In[f32, "D"], *, D: int) -> None:
    for n in tp.parallel(N=4):
        y[n.start] = tp.zeros((D - 4,)).sum()


@tp.kernel
def window_of_a_length_below_0(y: Out[f32, "N"], x: In[f32, "D"], *, D: int) -> None:
    for n in tp.parallel(N=4):
        y[n.start] = x[4:D].sum()


@tp.kernel
def slice_that_is_too_long(y: Out[f32, "N"], x: In[f32, "D"], *, D: int) -> None:
    for n in tp.parallel(N=4):
        y[n.start] = x[:][0:4].sum()


@tp.kernel
def number_that_does_not_fit(y: Out[u8, "N"], x: In[u8, "D"], *, D: int) -> None:
    for n in tp.parallel(N=4):
        y[n.start] = tp.full((), D - 4, u8)


@pytest.mark.parametrize(
    "kernel", [tile_of_a_length_below_0, window_of_a_length_below_0, slice_that_is_too_long, number_that_does_not_fit]
)
def test_sizes_that_no_launch_compiles_for_are_not_tried(kernel: tp.Kernel) -> None:
    (found,) = tp.check(kernel)
    assert found.code in (Code.NOT_COVERED, Code.COVER_OPEN)


@tp.kernel
def beside_a_long_table(y: Out[f32, "N"], x: In[f32, "10000000 10000000"], z: In[f32, "N*10000000000000"]) -> None:
    for n in tp.parallel(N=4):
        y[n.start] = 1.0


def test_arguments_that_memory_does_not_hold_are_not_made() -> None:
    (found,) = tp.check(beside_a_long_table)
    assert found.code == Code.COVER_OPEN


@tp.kernel
def fresh_element(c: InOut[f32, "C"], p: In[i32, "1"], q: In[i32, "1"]) -> None:
    _past, fresh = tp.split_at(c, "C", p[0])
    fresh[q[0]] = 1.0


def test_a_check_on_a_part_stands_after_the_split() -> None:
    assert "axis 0 of fresh is 2" in stopped(fresh_element, blank(4), ints(2), ints(2))
    runs(fresh_element, blank(4), ints(2), ints(1))


# Right kernels that were once refused.


@tp.kernel
def rows(y: Out[f32, "N"], x: In[f32, "M"], a: In[i32, "N"], b: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        t = 0.0
        for j in range(a[n], b[n]):
            t = t + x[j]
        y[n] = t


def test_a_range_between_loaded_ends_is_checked() -> None:
    runs(rows, blank(3), ramp(5), ints(0, 2, 4), ints(2, 2, 5))
    assert "axis 0 of x is 5" in stopped(rows, blank(3), ramp(5), ints(0, 2, 4), ints(2, 2, 6))


@tp.kernel
def pages(y: Out[f32, "B S"], pool: In[f32, "P S"], table: In[i32, "B W"], lens: In[i32, "B"], *, S: int) -> None:
    for b in tp.parallel(B=tp.each):
        acc = tp.zeros((S,))
        for w in range(lens[b]):
            acc = acc + pool[table[b, w], :]
        y[b, :] = acc


def test_a_range_up_to_a_loaded_length_is_checked() -> None:
    table = ints(2, 0, 1, 9).reshape(2, 2)
    runs(pages, blank(2, 4), ramp(3, 4), table, ints(2, 1))
    assert "axis 0 of pool is 9" in stopped(pages, blank(2, 4), ramp(3, 4), table, ints(2, 2))
    assert "axis 1 of table is 2" in stopped(pages, blank(2, 4), ramp(3, 4), table, ints(3, 1))


@tp.kernel
def one_before(cache: InOut[f32, "C"], new: In[f32, "N"], pos: In[i32, "1"]) -> None:
    for n in tp.parallel(N=tp.each):
        cache[pos[0] - 1 + n] = new[n]


def test_a_loaded_position_less_one_is_checked() -> None:
    runs(one_before, blank(5), ramp(3), ints(3))
    assert "axis 0 of cache is -1" in stopped(one_before, blank(5), ramp(3), ints(0))
    assert "axis 0 of cache is 5" in stopped(one_before, blank(5), ramp(3), ints(4))


@tp.kernel
def strided(y: Out[f32, "N"], x: In[f32, "M"], s: i32) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[n * s]


def test_a_stride_that_is_a_scalar_is_checked() -> None:
    runs(strided, blank(3), ramp(5), 2)
    assert "axis 0 of x is 6" in stopped(strided, blank(3), ramp(5), 3)
    assert "axis 0 of x is -1" in stopped(strided, blank(3), ramp(5), -1)


@tp.kernel
def divided(y: InOut[f32, "V"], ids: In[Index["V"], "N"], d: i32) -> None:
    for n in tp.parallel(N=tp.each):
        if n == 0:
            y[ids[n] // d] = 1.0


def test_a_divisor_that_is_a_scalar_is_checked() -> None:
    runs(divided, blank(3), ints(2, 1), 2)
    assert "axis 0 of y is -2" in stopped(divided, blank(3), ints(2, 1), -1)


@tp.kernel
def flattened(y: Out[i64, "N"], x: In[f32, "W"], *, B: int = 4) -> None:
    for n in tp.parallel(N=B):
        y[n] = (n.elements * tp.dim("W")).to(i64)


def test_a_product_of_long_extents_fits() -> None:
    """The lanes of a tile are few, and so the launch computes."""
    y = np.zeros(5, np.int64)
    flattened(y, np.zeros(200_000, np.float32))
    assert y.tolist() == [0, 200_000, 400_000, 600_000, 800_000]
