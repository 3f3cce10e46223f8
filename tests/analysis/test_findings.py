"""What a refusal says: on what its counter-example depends, and a cure that cures."""

from __future__ import annotations

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Index, InOut, Offsets, Out, Unique, f32, i32, i64
from tileproof.diagnostics.errors import Diagnostic


def refusal(kernel: tp.Kernel) -> Diagnostic:
    """The one finding of a kernel."""
    (found,) = tp.check(kernel)
    return found


@tp.kernel
def scattered(y: InOut[f32, "V"], x: In[f32, "N"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[ids[n]] = x[n]


@tp.kernel
def scattered_apart(y: InOut[f32, "V"], x: In[f32, "N"], ids: In[Unique["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[ids[n]] = x[n]


def test_a_race_through_entries_shows_them_and_asks_for_unique_ones() -> None:
    found = refusal(scattered)
    assert found.notes[-2:] == ("with N=2, V=1", "where ids holds [0, 0]")
    assert found.help.startswith('declare ids Unique["V"] if no two of its entries are equal, or y Sum, Max or Min')
    assert tp.check(scattered_apart) == []


@tp.kernel
def halved(y: InOut[f32, "V"], ids: In[Index["2*V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[ids[n] // 2] = 1.0


def test_unique_entries_are_asked_for_only_where_that_would_do() -> None:
    assert "Unique" not in refusal(halved).help


@tp.kernel
def filled(y: InOut[f32, "N"], off: In[i32, "E+1"]) -> None:
    for e in tp.parallel(E=tp.each):
        for n in range(off[e.start], off[e + 1]):
            y[n] = e.to(f32)


@tp.kernel
def filled_by_segments(y: InOut[f32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    for e in tp.parallel(E=tp.each):
        for n in range(off[e.start], off[e + 1]):
            y[n] = e.to(f32)


def test_segments_that_meet_are_asked_for_borders_that_never_fall() -> None:
    assert refusal(filled).help == "declare off Offsets of what is walked, if it holds borders: these never fall"
    assert tp.check(filled_by_segments) == []


@tp.kernel
def copies_in_turn(y: Out[f32, "R"], x: In[f32, "N"], to: In[Unique["R"], "N K"]) -> None:
    for n in tp.parallel(N=tp.each):
        for k in tp.tiles(K=tp.each):
            y[to[n, k]] = x[n]


@tp.kernel
def copies_at_once(y: Out[f32, "R"], x: In[f32, "N"], to: In[Unique["R"], "N K"]) -> None:
    for n, k in tp.parallel(N=tp.each, K=tp.each):
        y[to[n, k]] = x[n]


def test_entries_in_a_loop_are_told_to_be_walked_by_programs() -> None:
    assert refusal(copies_in_turn).help.startswith("entries cover y where each program stores once")
    assert tp.check(copies_at_once) == []


@tp.kernel
def behind(y: Out[f32, "N"], x: In[f32, "N"], first: i32) -> None:
    tp.require(first >= 1)
    for n in tp.parallel(N=tp.each):
        if n < first:
            y[n] = x[n]


def test_a_counter_example_names_its_scalars() -> None:
    assert refusal(behind).notes[-1].startswith("where first is ")


@tp.kernel
def counted_from_the_start(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n.start + tp.arange(B)].sum()


@tp.kernel
def counted_to_the_end(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n.elements].sum()


def test_a_full_tile_of_positions_is_told_of_the_walkers_own() -> None:
    assert refusal(counted_from_the_start).help.startswith("write `n`, or `n.elements`")
    assert tp.check(counted_to_the_end) == []


@tp.kernel
def normalized_unless_zero(y: Out[f32, "R C"], x: In[f32, "R C"], *, B: int = 64) -> None:
    for r in tp.parallel(R=tp.each):
        total = 0.0
        for c in tp.tiles(C=B):
            total += (x[r, c] * x[r, c]).sum()
        if total > 0:
            for c in tp.tiles(C=B):
                y[r, c] = x[r, c] / tp.sqrt(total)


@tp.kernel
def clipped_from_the_end(y: Out[f32, "R N"], x: In[f32, "R N"]) -> None:
    for r in tp.parallel(R=tp.each):
        n = tp.dim("N")
        while n > 0:
            n -= 1
            if x[r, n] > 0:
                y[r, n] = x[r, n]
            else:
                y[r, n] = 0.0


def test_a_gap_without_a_counter_example_names_the_branch_that_may_leave_it() -> None:
    found = refusal(normalized_unless_zero)
    assert found.code.id == "TP0822"
    assert [(each.span.text, each.text) for each in found.labels] == [
        ("total > 0", "one branch writes y, the other does not")
    ]


def test_of_a_while_around_two_branches_that_write_the_while_is_named() -> None:
    found = refusal(clipped_from_the_end)
    assert found.code.id == "TP0822"
    assert [each.span.text for each in found.labels] == ["n > 0"]


@tp.kernel
def hashed_on(y: Out[i64, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        at = n * 0x5851F42D4C957F2D
        near = at + n
        for _ in range(3):
            near = near // 7 * 9 - at
        y[n] = (near + 1).to(i64)


def test_what_follows_from_an_index_that_does_not_fit_is_not_told_again() -> None:
    assert refusal(hashed_on).span.text == "n * 0x5851F42D4C957F2D"


@tp.kernel
def of_no_axis(y: Out[f32, "R*N"]) -> None:
    for r in tp.parallel(R=tp.each):
        y[r * tp.dim("N")] = 1.0


def test_an_extent_that_follows_from_no_arguments_is_refused_before_a_launch_is() -> None:
    assert (refusal(of_no_axis).code.id, refusal(of_no_axis).span.text) == ("TP0604", '"R*N"')  # type: ignore[union-attr]


@tp.kernel
def odd_place(y: Out[f32, "1"], x: In[f32, "N"], n: i32) -> None:
    y[0] = x[2 * n + 1]


def test_a_scalar_index_is_compared_at_launch_however_it_is_computed() -> None:
    assert tp.check(odd_place) == []
    y, x = np.zeros(1, np.float32), np.arange(6, dtype=np.float32)
    odd_place(y, x, 2)
    assert y[0] == 5
    with pytest.raises(tp.LaunchError, match=r"needs 2\*n \+ 2 <= N"):
        odd_place(y, x, 3)


@tp.kernel
def first_three(y: Out[f32, "S"], x: In[f32, "S"], *, S: int) -> None:
    tp.require(S >= 3)
    row = x[:]
    y[:] = row + row[0:3].sum()


def test_a_contract_is_broken_before_what_it_rules_out_is_wrong() -> None:
    with pytest.raises(tp.LaunchError) as raised:
        first_three(np.zeros(2, np.float32), np.zeros(2, np.float32))
    assert raised.value.diagnostics[0].code.id == "TP0605"


@tp.kernel
def scaled_remainders(x: In[f32, "N"], m: In[f32, "M"], y: Out[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x.get(n % tp.dim("M") * tp.dim("M") * tp.dim("M"), 0.0)


def test_remainders_of_nothing_by_nothing_are_nothing() -> None:
    nothing = np.zeros(0, np.float32)
    scaled_remainders(nothing, nothing, nothing.copy())
