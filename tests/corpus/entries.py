"""Entries that may be none: loads behind a guard, and what is stored where there is a position."""

from __future__ import annotations

import numpy as np

import tileproof as tp
from tileproof import In, Index, InOut, Out, Sum, Unique, f32, i32

from .case import Case, blank, counts, floats, ints, one


@tp.kernel
def adapter(y: Out[f32, "N D"], x: In[f32, "N D"], w: In[f32, "E D"], of: In[Index["E"], "N"], *, D: int) -> None:
    """A sequence without an adapter has none to load."""
    for n in tp.parallel(N=tp.each):
        row, e = x[n, :], of[n]
        if e >= 0:
            row = row + w[e, :]
        y[n, :] = row


@tp.kernel
def null_blocks(
    y: Out[f32, "R"], cache: In[f32, "P S"], blocks: In[Index["P"], "R B"], *, S: int, B: int
) -> None:  # fmt: skip
    """A guard in a loop."""
    for r in tp.parallel(R=tp.each):
        total = 0.0
        for b in range(B):
            block = blocks[r, b]
            if block != -1:
                total += cache[block, :].sum()
        y[r] = total


@tp.kernel
def paged_slot(y: Out[f32, "N"], pages: In[f32, "P 4"], slots: In[Index["P*4"], "N"]) -> None:
    """A guarded slot, as its page and its place in it."""
    for n in tp.parallel(N=tp.each):
        slot, v = slots[n], 0.0
        if slot >= 0:
            v = pages[slot // 4, slot % 4]
        y[n] = v


@tp.kernel
def guard_lets_none_through(y: Out[f32, "N"], x: In[f32, "E"], of: In[Index["E"], "N"]) -> None:
    """-1 passes the guard."""
    for n in tp.parallel(N=tp.each):
        e, v = of[n], 0.0
        if e >= -1:
            v = x[e]
        y[n] = v


@tp.kernel
def guard_of_another(y: Out[f32, "N"], x: In[f32, "E"], of: In[Index["E"], "N"], and_: In[Index["E"], "N"]) -> None:
    """The guard looks at another entry."""
    for n in tp.parallel(N=tp.each):
        v = 0.0
        if and_[n] >= 0:
            v = x[of[n]]
        y[n] = v


@tp.kernel
def guard_after_the_load(y: Out[f32, "N"], x: In[f32, "E"], of: In[Index["E"], "N"]) -> None:
    """`tp.where` evaluates both sides."""
    for n in tp.parallel(N=tp.each):
        y[n] = tp.where(of[n] >= 0, x[of[n]], 0.0)


@tp.kernel
def guarded_once(y: Out[f32, "N"], x: In[f32, "E"], of: In[Index["E"], "N"]) -> None:
    """One load is guarded, the other is not."""
    for n in tp.parallel(N=tp.each):
        v, e = 0.0, of[n]
        if e >= 0:
            v = x[e]
        else:
            v = x[e] + 1.0
        y[n] = v


@tp.kernel
def masked_store(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """Only the lanes that are kept are written."""
    for n in tp.parallel(N=B):
        y[tp.where(x[n] > 2, n.elements, tp.none)] = x[n]


@tp.kernel
def masked_neighbour(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """The lane without a neighbour is masked."""
    for n in tp.parallel(N=B):
        y[tp.where(n.elements > 0, n.elements - 1, tp.none)] = x[n]


@tp.kernel
def counted_where(count: Sum[i32, "V"], ids: In[Index["V"], "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """Some entries count."""
    for n in tp.parallel(N=B):
        count[tp.where(x[n] > 2, ids[n], tp.none)] += 1


@tp.kernel
def one_or_none(at: Out[Index["K"], "N"], x: In[f32, "N K"], *, K: int) -> None:
    """A branch that gives no position."""
    tp.require(K >= 1)
    for n in tp.parallel(N=tp.each):
        at[n] = x[n, :].argmax() if x[n, :].max() > 3 else tp.none


@tp.kernel
def unique_or_none(y: InOut[f32, "V"], x: In[f32, "N"], rows: In[Unique["V"], "N"], *, B: int = 4) -> None:
    """A choice of distinct positions is distinct."""
    for n in tp.parallel(N=B):
        y[tp.where(x[n] > 2, rows[n], tp.none)] = x[n]


@tp.kernel
def masked_by_pattern(y: InOut[f32, "M N"], x: In[f32, "M"], much: i32, *, BM: int = 24, BN: int = 16) -> None:
    """A condition that says little of the positions."""
    for i, j in tp.parallel(M=BM, N=BN):
        y[i, tp.where(j.elements % 3 != much, j.elements, tp.none)] = x[i.shift(0)].min()


@tp.kernel
def masked_in_part(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """The other lanes of an Out are never written."""
    for n in tp.parallel(N=B):
        y[tp.where(x[n] > 2, n.elements, tp.none)] = x[n]


@tp.kernel
def masked_beyond(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """The mask lets a lane through that is outside."""
    for n in tp.parallel(N=B):
        y[tp.where(n.elements >= 0, n.elements - 1, tp.none)] = x[n]


@tp.kernel
def masked_after(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """The last lane that is written has no next."""
    for n in tp.parallel(N=B):
        y[tp.where(n.elements > 0, n.elements + 1, tp.none)] = x[n]


@tp.kernel
def masked_meeting(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """Two lanes are one position where both are kept."""
    for n in tp.parallel(N=B):
        y[tp.where(x[n] > 2, n.elements // 2, tp.none)] = x[n]


@tp.kernel
def none_but_covered(y: Out[f32, "M"], x: In[f32, "N"], rows: In[Unique["M"], "N"]) -> None:
    """As many writes as elements, if none were none."""
    for n in tp.parallel(N=tp.each):
        y[tp.where(n > 0, rows[n], tp.none)] = x[n]


@tp.kernel
def load_at_none(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """A load has no value at none."""
    for n in tp.parallel(N=B):
        y[n] = x[tp.where(n.elements > 1, n.elements, tp.none)]


@tp.kernel
def minus_one(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """-1 is a number."""
    for n in tp.parallel(N=B):
        y[tp.where(x[n] > 2, n.elements, -1)] = x[n]


@tp.kernel
def negative_entry(at: Out[Index["N"], "N"]) -> None:
    """What is negative is not none."""
    for n in tp.parallel(N=tp.each):
        at[n] = n - 2 if n > 0 else tp.none


NONES = ints(1, -1, 0)
SAFE = [
    Case(adapter, lambda: one(blank(3, 2), floats(3, 2), floats(2, 2), NONES)),
    Case(null_blocks, lambda: one(blank(2), floats(3, 4), np.array([[2, -1], [-1, -1]]))),
    Case(paged_slot, lambda: one(blank(3), floats(2, 4), ints(7, -1, 4))),
    Case(masked_store, lambda: one(blank(5), floats(5)) + one(blank(0), floats(0))),
    Case(masked_neighbour, lambda: one(blank(5), floats(5))),
    Case(counted_where, lambda: one(counts(3), ints(2, -1, 2, 0, 2), floats(5))),
    Case(one_or_none, lambda: one(counts(3), floats(3, 2))),
    Case(masked_by_pattern, lambda: one(blank(3, 20), floats(3), 1)),
    Case(unique_or_none, lambda: one(blank(9), floats(5), ints(8, -1, 2, 0, 4))),
]
UNSAFE = [
    Case(guard_lets_none_through, lambda: one(blank(3), floats(2), NONES), "contents"),
    Case(guard_of_another, lambda: one(blank(3), floats(2), NONES, ints(0, 1, 1)), "contents"),
    Case(guard_after_the_load, lambda: one(blank(3), floats(2), NONES), "contents"),
    Case(guarded_once, lambda: one(blank(3), floats(2), NONES), "contents"),
    Case(masked_in_part, lambda: one(blank(5), floats(5)), "coverage"),
    Case(masked_beyond, lambda: one(blank(5), floats(5)), "bounds"),
    Case(masked_after, lambda: one(blank(5), floats(5)), "bounds"),
    Case(masked_meeting, lambda: one(blank(5), floats(5)), "race"),
    Case(none_but_covered, lambda: one(blank(5), floats(5), ints(4, 3, 0, 1, 2)), "coverage"),
    Case(load_at_none, lambda: one(blank(5), floats(5)), "bounds"),
    Case(minus_one, lambda: one(blank(5), floats(5)), "dimension"),
    Case(negative_entry, lambda: one(counts(5)), "bounds"),
]
