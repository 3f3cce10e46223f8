"""Kernels that go wrong where few look: entries that are none, empty tiles, numbers that wrap, turns that differ."""

from __future__ import annotations

import numpy as np

import tileproof as tp
from tileproof import In, Index, InOut, Offsets, Out, Unique, f32, i32, i64

from .case import Case, blank, counts, floats, ints, one


@tp.kernel
def mark_for_none(flag: InOut[f32, "1"], slots: In[Unique["N"], "N"], x: In[f32, "N"]) -> None:
    """Entries differ, but any number of them may be none."""
    for n in tp.parallel(N=tp.each):
        if slots[n] < 0:
            flag[0] = x[n]


@tp.kernel
def mirrored_by_value(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """One program goes one way and another the other: what they decide by is each one's own."""
    for n in tp.parallel(N=tp.each):
        if x[n] > 1:
            y[n] = x[n]
        else:
            y[tp.dim("N") - 1 - n] = x[n]


@tp.kernel
def row_mirrored_by_value(y: Out[f32, "R N"], x: In[f32, "R N"]) -> None:
    """One turn writes an element twice, and its mirror is left out."""
    for r in tp.parallel(R=tp.each):
        for n in tp.tiles(N=tp.each):
            if x[r, n] > 1:
                y[r, n] = x[r, n]
            else:
                y[r, tp.dim("N") - 1 - n] = x[r, n]


@tp.kernel
def turns_mirrored_by_value(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """One program alone: what it decides by differs from turn to turn."""
    for n in tp.tiles(N=tp.each):
        if x[n] > 1:
            y[n] = x[n]
        else:
            y[tp.dim("N") - 1 - n] = x[n]


@tp.kernel
def every_other_column(y: Out[f32, "R N"], x: In[f32, "R N"]) -> None:
    """The steps of the loop leave out odd columns."""
    for r in tp.parallel(R=tp.each):
        for n in range(0, tp.dim("N"), 2):
            y[r, n] = x[r, n]


@tp.kernel
def none_of_one(y: Out[f32, "N 1"], x: In[f32, "N"], ids: In[Index["N"], "N"]) -> None:
    """There is one column to choose, and none is none of it."""
    for n in tp.parallel(N=tp.each):
        if n > 0:
            y[n, ids[n] % 1] = x[n]
        else:
            y[n, ids[n] % 1] = -x[n]


@tp.kernel
def as_many_entries(y: Out[f32, "N"], x: In[f32, "N"], order: In[Index["N"], "N"]) -> None:
    """As many writes as elements, but an Index may name one place twice, or none."""
    for n in tp.parallel(N=tp.each):
        y[order[n]] = x[n]


@tp.kernel(deny_checks=True)
def argmax_of_some(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """Where the shifted tile is empty there is no argmax, and its start is no element."""
    for i in tp.parallel(N=B):
        s = i.shift(1)
        at = i.start * 0
        if s.stop > s.start:
            at = x[s].argmax()
        y[i] = x[s.start + at]


@tp.kernel(deny_checks=True)
def wrapped_quotient(y: Out[f32, "N"], x: In[f32, "N"], at: In[i64, "N"]) -> None:
    """Eight times a large number is 0 in 64 bits."""
    for n in tp.parallel(N=tp.each):
        v = 0.0
        if at[n] // 2 * 8 == 0:
            v = x[at[n] // 2 + n]
        y[n] = v


@tp.kernel(deny_checks=True)
def large_quotient(y: Out[f32, "N"], x: In[f32, "N"], at: In[i64, "N"]) -> None:
    """A number that becomes an index is small, and so must be one that was divided and moved."""
    for n in tp.parallel(N=tp.each):
        place, v = n + (at[n] // 2 + 1), 0.0
        if (place - n) * 4 == 0:
            v = x[place]
        y[n] = v


@tp.kernel
def either_guard(y: InOut[f32, "1"], x: In[f32, "N"]) -> None:
    """Either of two programs comes through."""
    for n in tp.parallel(N=tp.each):
        if (n == 0) | (n == 2):
            y[0] = x[n]


@tp.kernel
def guard_in_a_guard(y: InOut[f32, "1"], x: In[f32, "N"]) -> None:
    """Two ways through the second part of a guard whose first part lets nobody in."""
    for n in tp.parallel(N=tp.each):
        if (n < 0) | ((n < 3) & ((n == 0) | (n == 2))):
            y[0] = x[n]


@tp.kernel
def all_but_one(y: InOut[f32, "1"], x: In[f32, "N"]) -> None:
    """The guard leaves out program 1, not those on its other side."""
    for n in tp.parallel(N=tp.each):
        if n != 1:
            y[0] = x[n]


@tp.kernel
def flag_of_two(y: InOut[f32, "1"], x: In[f32, "N"]) -> None:
    """One side of the branch picks one program, the other side several."""
    for n in tp.parallel(N=tp.each):
        if x[n] > 3:
            flag = n == 0
        else:
            flag = n < 9
        if flag:
            y[0] = x[n]


@tp.kernel
def read_again(y: InOut[f32, "1"], state: InOut[i32, "N"]) -> None:
    """What is read again after a store is another value."""
    for n in tp.parallel(N=tp.each):
        if state[n] == 0:
            state[n] = 1
            if state[n] == 1:
                y[0] = 1.0


@tp.kernel
def own_argmax(y: InOut[f32, "N+4"], x: In[f32, "N 4"]) -> None:
    """Each program has an argmax of its own, so adding n keeps nothing apart."""
    for n in tp.parallel(N=tp.each):
        y[n + x[n, :].argmax()] = 1.0


@tp.kernel
def mark_borders(y: InOut[f32, "N+1"], off: In[Offsets["N"], "E+1"], x: In[f32, "E"]) -> None:
    """An empty segment begins where the next one does."""
    for e in tp.parallel(E=tp.each):
        y[off[e.start]] = x[e]


@tp.kernel
def spilling_rows(y: InOut[f32, "N*D+1"], x: In[f32, "N D"]) -> None:
    """Each row is one longer than the stride."""
    for n in tp.parallel(N=tp.each):
        for d in range(tp.dim("D") + 1):
            y[n * tp.dim("D") + d] = 0.0


@tp.kernel(deny_checks=True)
def second_border(y: Out[f32, "1"], x: In[f32, "1"], off: In[Offsets["N"], "E+1"], z: In[f32, "N"]) -> None:
    """The first segment has any length."""
    tp.require(tp.dim("E") >= 1)
    y[0] = x[off[1]]


@tp.kernel
def upper_lanes(y: Out[f32, "4"], x: In[f32, "4"]) -> None:
    """The second half of eight positions."""
    y[:] = x[tp.arange(8)[4:8]]


@tp.kernel
def argmax_of_a_piece(y: Out[i32, "1"], x: In[f32, "N"]) -> None:
    """An empty axis has one empty piece; the launch must have an element."""
    for z in tp.parallel(N=tp.split(4)):
        y[0] = tp.join(x[z].argmax().to(i32), over=z)


@tp.kernel
def around(y: Out[f32, "N"], x: In[f32, "M"]) -> None:
    """A remainder of 0 is the number itself; the launch must have an M."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[n % tp.dim("M")]


@tp.kernel
def filled_by_slots(y: Out[f32, "V"], x: In[f32, "N"], slots: In[Unique["V"], "N"]) -> None:
    """All elements are written if there are as many slots; the launch compares."""
    for n in tp.parallel(N=tp.each):
        y[slots[n]] = x[n]


CASES = [
    Case(mark_for_none, lambda: one(blank(1), ints(2, -1, -1), floats(3)), "race"),
    Case(mirrored_by_value, lambda: one(blank(3), floats(3)), "race"),
    Case(row_mirrored_by_value, lambda: one(blank(2, 3), floats(2, 3)), "coverage"),
    Case(turns_mirrored_by_value, lambda: one(blank(3), floats(3)), "coverage"),
    Case(every_other_column, lambda: one(blank(2, 3), floats(2, 3)), "coverage"),
    Case(none_of_one, lambda: one(blank(2, 1), floats(2), ints(1, -1)), "coverage"),
    Case(as_many_entries, lambda: one(blank(3), floats(3), ints(2, -1, 0)), "coverage"),
    Case(argmax_of_some, lambda: one(blank(1), floats(1)), "bounds"),
    Case(wrapped_quotient, lambda: one(blank(2), floats(2), np.array([0, 1 << 62])), "bounds"),
    Case(large_quotient, lambda: one(blank(2), floats(2), np.array([0, (1 << 63) - 2])), "bounds"),
    Case(either_guard, lambda: one(blank(1), floats(3)), "race"),
    Case(guard_in_a_guard, lambda: one(blank(1), floats(3)), "race"),
    Case(all_but_one, lambda: one(blank(1), floats(3)), "race"),
    Case(flag_of_two, lambda: one(blank(1), floats(3)), "race"),
    Case(read_again, lambda: one(blank(1), ints(0, 0)), "race"),
    Case(own_argmax, lambda: one(blank(6), np.eye(4, dtype=np.float32)[[1, 0]]), "race"),
    Case(mark_borders, lambda: one(blank(4), ints(0, 0, 3), floats(2)), "race"),
    Case(spilling_rows, lambda: one(blank(7), floats(3, 2)), "race"),
    Case(second_border, lambda: one(blank(1), floats(1), ints(0, 2, 3), floats(3)), "bounds"),
    Case(upper_lanes, lambda: one(blank(4), floats(4)), "bounds"),
    Case(argmax_of_a_piece, lambda: one(counts(1), floats(0)), "sizes"),
    Case(around, lambda: one(blank(2), floats(0)), "sizes"),
    Case(filled_by_slots, lambda: one(blank(3), floats(2), ints(2, 0)), "sizes"),
]
