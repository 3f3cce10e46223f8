"""Kernels that were once proved and are wrong: each is refused now, or its launch is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Index, InOut, Offsets, Out, Unique, f32, i32, i64, u8


def refused(kernel: tp.Kernel) -> set[str]:
    """The codes of what checking a kernel finds."""
    return {found.code.id for found in tp.check(kernel)}


def demanded(kernel: tp.Kernel, *args: Any) -> str:
    """What a launch of a kernel that is accepted demands in vain. It has changed nothing."""
    assert tp.check(kernel) == []
    before = args[0].copy()
    with pytest.raises(tp.LaunchError) as caught:
        kernel(*args)
    np.testing.assert_array_equal(args[0], before)
    (found,) = caught.value.diagnostics
    return found.message


def zeros(*shape: int, dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype)


def ints(*values: int) -> Any:
    return np.array(values, np.int32)


# Coverage.


@tp.kernel
def segments_of_another_dimension(y: Out[f32, "M"], off: In[Offsets["N"], "E+1"], z: In[f32, "N"]) -> None:
    for _e, i in tp.parallel(tp.segments(off, N=tp.each)):
        y[i + 0] = 1.0


def test_segments_cover_no_more_than_their_own_dimension() -> None:
    kernel = segments_of_another_dimension
    assert demanded(kernel, zeros(5), ints(0, 1, 3), zeros(3)) == "segments_of_another_dimension needs N == M"
    y = zeros(3)
    kernel(y, ints(0, 1, 3), zeros(3))
    assert y.tolist() == [1, 1, 1]


@tp.kernel
def loop_over_a_segment(y: Out[f32, "M"], off: In[Offsets["N"], "E+1"], z: In[f32, "N"], w: In[f32, "E"]) -> None:
    for e in tp.parallel(E=tp.each):
        for k in tp.tiles(N=tp.each, start=off[e + 0], stop=off[e + 1]):
            y[k + 0] = 1.0


def test_loops_from_border_to_border_cover_no_more_than_their_own_dimension() -> None:
    assert refused(loop_over_a_segment) == {"TP0821"}


@tp.kernel
def scatter_through_get(y: Out[f32, "N"], idx: In[Unique["N"], "M"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[idx.get(n + 0, -1)] = 1.0


def test_the_fill_of_get_writes_nothing() -> None:
    assert refused(scatter_through_get) == {"TP0821"}


@tp.kernel
def choice_of_equals(y: Out[f32, "1"], e: In[Index["V"], "1"], x: In[f32, "V"]) -> None:
    a = e[0] % 1
    y[tp.where(tp.dim("V") > 2, a, a)] = 1.0


def test_an_entry_chosen_from_two_equal_ones_may_still_be_none() -> None:
    assert refused(choice_of_equals) == {"TP0821"}


@tp.kernel
def branch_on_a_shifted_tile(y: Out[f32, "N 2"], q: i32, *, B: int = 4) -> None:
    for n in tp.parallel(N=B):
        for r in range(2):
            s = n.shift(r)
            if s.stop - s.start > q:
                y[n, r] = 1.0
            else:
                y[n, 1 - r] = 2.0


def test_the_length_of_a_shifted_tile_differs_from_turn_to_turn() -> None:
    assert refused(branch_on_a_shifted_tile) == {"TP0821"}


@tp.kernel
def step_of_a_turn(y: Out[f32, "M"], x: In[f32, "M+1"]) -> None:
    for n in range(tp.dim("M") + 1):
        at = n - tp.where(x[n] > 0, 1, 0)
        if (at >= 0) & (at < tp.dim("M")):
            y[at] = 1.0


@tp.kernel
def step_of_a_tile(y: Out[f32, "M"], x: In[f32, "M+1"]) -> None:
    for n in tp.tiles(("M+1", tp.each)):
        step = 0
        if x[n] > 0:
            step = 1
        if (n - step >= 0) & (n - step < tp.dim("M")):
            y[n - step] = 1.0


@pytest.mark.parametrize("kernel", [step_of_a_turn, step_of_a_tile])
def test_no_turn_is_found_by_what_it_alone_knows(kernel: tp.Kernel) -> None:
    x = np.array([1, 1, -1, 1], np.float32)
    with pytest.raises(tp.Unwritten):
        tp.interpret(kernel, zeros(3), x)
    assert refused(kernel) == {"TP0821"}


@tp.kernel
def step_of_a_program(y: Out[f32, "N M"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        step = tp.where(x[n] > 0, 1, 0)
        for m in range(tp.dim("M") + 1):
            if (m - step >= 0) & (m - step < tp.dim("M")):
                y[n, m - step] = 1.0


def test_a_turn_is_found_by_what_its_program_knows() -> None:
    assert refused(step_of_a_program) == set()


# Index arithmetic that leaves 64 bits.


@tp.kernel
def product_of_rank_2(y: Out[i64, "N"]) -> None:
    for n in tp.parallel(N=4):
        r = ((n.elements + 2**40)[:, None] * (tp.arange(4) + 2**40)[None, :]).max(axis=1)
        y[n] = r.to(i64)


@tp.kernel
def twice_the_maximum(y: Out[i64, "N"], x: In[i64, "N K"], *, K: int) -> None:
    for n in tp.parallel(N=4):
        r = (x[n, :] + tp.dim("N")).max(axis=1)
        y[n] = (r + r).to(i64)


@tp.kernel
def sum_of_products(y: Out[i64, "N"], x: In[i32, "N K"], *, K: int) -> None:
    for n in tp.parallel(N=4):
        r = ((x[n, :] + tp.dim("N")) * 2**31).sum(axis=1)
        y[n] = r.to(i64)


@tp.kernel
def sum_of_rank_2(y: Out[f32, "N"], ids: In[i64, "N 4"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = (ids[n, :] + n.start).sum(axis=1).to(f32)


@tp.kernel
def running_sum(y: Out[f32, "N"], ids: In[i64, "N"]) -> None:
    for n in tp.parallel(N=8):
        y[n] = tp.cumsum(ids[n] + n.start).to(f32)


@tp.kernel
def maximum_of_nothing(y: Out[i64, "N"], *, B: int = 4) -> None:
    for n in tp.parallel(N=B):
        s = n.shift(n.stop - n.start)
        y[n] = (s.elements.max() - 5).to(i64)


@tp.kernel
def minimum_of_nothing(y: Out[f32, "N"], x: In[f32, "M"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = 0.0
        for m in tp.tiles(M=4):
            w = m.shift(m.stop - m.start)
            y[n] = (w.elements.min() + 5).to(f32)


def greater_from_here(a: Any, b: Any) -> Any:
    return tp.where(a + tp.dim("N") > b, a, b)


@tp.kernel
def cast_in_a_combiner(y: Out[i64, "1"], x: In[i64, "N K"], *, K: int) -> None:
    for z in tp.parallel(N=tp.split(4)):
        m = tp.join(x[z, 0].max(), over=z, by=greater_from_here)
        y[0] = m


@tp.kernel
def wide_side_by_side(y: Out[i64, "4"], s: i32) -> None:
    far = (tp.arange(2) + s) * (2**32 - 2)
    both = tp.cat((far, far))
    y[0:4] = (both + both).to(i64)


@tp.kernel
def wide_in_another_shape(y: Out[i64, "2"], s: i32) -> None:
    far = ((tp.arange(2) + s) * (2**32 - 2)).reshape(2, 1).reshape(2)
    y[0:2] = (far + far).to(i64)


@tp.kernel
def wide_and_filled(y: Out[i64, "N"], s: i32) -> None:
    for n in tp.parallel(N=4):
        far = (n.elements * 0 + s) * (2**32 - 2)
        y[n] = (far.fill(0) + far.fill(0)).to(i64)


@tp.kernel
def wide_branches_of_rank_2(y: Out[i64, "2 2"], s: i32) -> None:
    far = ((tp.arange(2) * 0 + s) * (2**32 - 2))[:, None] + tp.arange(2)[None, :]
    if s > 5:
        there = far
    else:
        there = far - 1
    y[0:2, 0:2] = (there + there).to(i64)


@tp.kernel
def wide_before_a_loop(y: Out[i64, "2 2"], s: i32) -> None:
    there = ((tp.arange(2) * 0 + s) * (2**32 - 2))[:, None] + tp.arange(2)[None, :]
    for _turn in range(s):
        there = tp.arange(2)[:, None] + tp.arange(2)[None, :]
    y[0:2, 0:2] = (there + there).to(i64)


TOO_WIDE = [
    product_of_rank_2,
    twice_the_maximum,
    sum_of_products,
    sum_of_rank_2,
    running_sum,
    maximum_of_nothing,
    minimum_of_nothing,
    cast_in_a_combiner,
    wide_side_by_side,
    wide_in_another_shape,
    wide_and_filled,
    wide_branches_of_rank_2,
    wide_before_a_loop,
]


@pytest.mark.parametrize("kernel", TOO_WIDE, ids=lambda kernel: kernel.name)
def test_an_index_that_may_not_fit_64_bits_is_refused(kernel: tp.Kernel) -> None:
    assert refused(kernel) == {"TP0813"}


@tp.kernel
def small_steps_from_far_out(y: Out[i64, "1"], s: i32) -> None:
    there = tp.maximum(tp.arange(1).sum() * 0 + s, 0) * 2**31 + (2**31 - 1)
    for _turn in range(3):
        there = there + 1
    y[0] = (there + there).to(i64)


def farther(a: Any, b: Any) -> Any:
    return tp.maximum(a, b)


@tp.kernel
def scan_of_wide_numbers(y: Out[i64, "2"], s: i32) -> None:
    far = tp.scan((tp.arange(2) + s) * (2**32 - 2), by=farther)
    y[0:2] = (far + far).to(i64)


@tp.kernel
def join_of_wide_numbers(y: Out[i64, "1"], s: i32, x: In[f32, "N"]) -> None:
    for z in tp.parallel(N=tp.split(2)):
        far = tp.join((z.start * 0 + s) * (2**32 - 2), over=z, by=farther)
        y[0] = (far + far).to(i64)


@tp.kernel
def ends_far_apart(y: Out[i64, "1"], s: i32) -> None:
    far = tp.maximum(s + tp.arange(1).sum(), 0) * (2**32 - 2)
    for k in range(-far - 1, far, 2**61):
        y[0] = k.to(i64)


@pytest.mark.parametrize(
    ("kernel", "elements", "others"),
    [
        (small_steps_from_far_out, 1, ()),
        (scan_of_wide_numbers, 2, ()),
        (join_of_wide_numbers, 1, (zeros(4),)),
        (ends_far_apart, 1, ()),
    ],
)
def test_an_index_that_a_scalar_makes_too_wide_is_seen_at_launch(
    kernel: tp.Kernel, elements: int, others: tuple[Any, ...]
) -> None:
    said = demanded(kernel, zeros(elements, dtype=np.int64), 2**31 - 1, *others)
    assert said == f"{kernel.name} computes an index that does not fit 64 bits"


@tp.kernel
def length_of_an_unnamed_axis(y: Out[f32, "N"], x: In[f32, "_"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = (x.shape[0] * 16 + n).to(f32)


def test_an_axis_without_a_name_has_the_limit_of_all_dimensions() -> None:
    endless = np.broadcast_to(np.float32(0), (2**60,))
    assert "no dimension may have 2**48 or more" in demanded(length_of_an_unnamed_axis, zeros(2), endless)


# A check that fails in the test of a `while` could neither end the loop nor guard what it stores.


@tp.kernel
def search(y: Out[f32, "N"], x: In[f32, "M"], p: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        k = p[n] + n
        while x[k] == 0.0:
            k = k + 1
        y[n] = x[k]


@tp.kernel
def stores_behind_a_test(y: InOut[f32, "N"], x: In[f32, "M"], p: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        k = 0
        while (k < 3) & (x[p[n] + k] == 0.0):
            y[n] = 7.0
            k = k + 1
        y[n] = 8.0


@tp.kernel
def store_proved_by_a_test(y: InOut[f32, "E"], off: In[Offsets["N"], "E+1"], x: In[f32, "N"], sel: In[u8, "1"]) -> None:
    j = sel[0] + tp.dim("N") * 0
    turns = 0
    while (off[j] == 0) & (turns < 1):
        if tp.dim("N") > 0:
            y[j] = 1.0
        turns = turns + 1


@pytest.mark.parametrize(
    "kernel", [search, stores_behind_a_test, store_proved_by_a_test], ids=lambda kernel: kernel.name
)
def test_the_test_of_a_while_holds_no_check(kernel: tp.Kernel) -> None:
    assert refused(kernel) == {"TP0812"}


@tp.kernel
def element_after_a_contract(y: Out[f32, "1"], x: In[f32, "V"], ids: In[i32, "N"]) -> None:
    tp.require(tp.dim("N") >= 2)
    a = ids[1]
    y[0] = x[a]


def test_a_contract_is_tested_before_what_it_proves() -> None:
    said = demanded(element_after_a_contract, zeros(1), zeros(3), ints(0))
    assert said == "element_after_a_contract demands something that does not hold"
