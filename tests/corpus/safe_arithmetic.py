"""Kernels that are safe by arithmetic: guards, clamps, mirrors, strides, quotients and remainders, extents compared."""

from __future__ import annotations

import numpy as np

import tileproof as tp
from tileproof import In, InOut, Out, T, f32, i32, i64, u8

from .case import Case, blank, counts, floats, one


@tp.kernel
def mirrored_load(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """N - 1 - n stays inside."""
    for n in tp.parallel(N=4):
        y[n] = x[tp.dim("N") - 1 - n.elements]


@tp.kernel
def mirrored_store(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """As many elements as programs, and no two the same: all are written."""
    for n in tp.parallel(N=tp.each):
        y[tp.dim("N") - 1 - n] = x[n]


@tp.kernel
def mirrored_lanes(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """The lanes of a tile, mirrored, are apart from those of another."""
    for n in tp.parallel(N=4):
        y[tp.dim("N") - 1 - n.elements] = x[n]


@tp.kernel
def slope(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The guard leaves out the element that has none before it."""
    for n in tp.parallel(N=tp.each):
        v = x[n]
        if n > 0:
            v = v - x[n - 1]
        y[n] = v


@tp.kernel
def guarded_next(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The guard leaves out the element that has no next."""
    for n in tp.parallel(N=tp.each):
        v = x[n]
        if n + 1 < tp.dim("N"):
            v = v + x[n + 1]
        y[n] = v


@tp.kernel
def clamped_neighbours(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The ends are their own neighbours."""
    for n in tp.parallel(N=4):
        at, last = n.elements, tp.dim("N") - 1
        y[n] = x[tp.maximum(at - 1, 0)] + x[n] + x[tp.minimum(at + 1, last)]


@tp.kernel
def filled_neighbours(y: Out[f32, "H W"], x: In[f32, "H W"], *, BW: int = 4) -> None:
    """A get owes nothing."""
    for h, w in tp.parallel(H=tp.each, W=BW):
        total = tp.zeros((w,))
        for d in range(-1, 2):
            total += x.get((h + d, w), 0.0) + x.get((h, w.elements + d), 0.0)
        y[h, w] = total


@tp.kernel
def shifted_load(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """A tile moved by less than its length begins inside."""
    for i in tp.parallel(N=B):
        y[i] = x[i.shift(1)].fill(0) - x[i]


@tp.kernel
def shifted_back(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """The guard leaves out the first tile."""
    for i in tp.parallel(N=B):
        before = tp.zeros((B,))
        if i.start > 0:
            before = x[i.shift(-1)].fill(0)
        y[i] = x[i] - before


@tp.kernel
def full_window(y: InOut[f32, "N/4"], x: In[f32, "N"]) -> None:
    """Four elements from the start of the tile, where there are four."""
    for n in tp.parallel(N=4):
        if n.start + 4 <= tp.dim("N"):
            y[n.number] = x[n.start + tp.arange(4)].sum()


@tp.kernel
def pooled(y: Out[f32, "N"], x: In[f32, "2*N"]) -> None:
    """Two elements for each."""
    for n in tp.parallel(N=4):
        y[n] = tp.maximum(x[n.elements * 2], x[n.elements * 2 + 1])


@tp.kernel
def interleaved(y: InOut[f32, "2*N"], a: In[f32, "N"], b: In[f32, "N"]) -> None:
    """Even and odd elements never meet."""
    for n in tp.parallel(N=tp.each):
        y[2 * n] = a[n]
        y[2 * n + 1] = b[n]


@tp.kernel
def upsampled(y: Out[f32, "W=2*N"], x: In[f32, "N"]) -> None:
    """Half of a position below 2 N is below N."""
    for w in tp.parallel(W=4):
        y[w] = x[w.elements // 2]


@tp.kernel
def pairs_of_steps(y: Out[f32, "R"], x: In[f32, "R N"]) -> None:
    """Steps of two, and a guard for the odd end."""
    for r in tp.parallel(R=tp.each):
        total = 0.0
        for j in range(0, tp.dim("N"), 2):
            total += x[r, j]
            if j + 1 < tp.dim("N"):
                total -= x[r, j + 1]
        y[r] = total


@tp.kernel
def half_as_many(y: Out[f32, "R"], x: In[f32, "R N"]) -> None:
    """2 j + 1 for j below half of N."""
    for r in tp.parallel(R=tp.each):
        total = 0.0
        for j in range(tp.dim("N") // 2):
            total += x[r, 2 * j + 1]
        y[r] = total


@tp.kernel
def unflattened(y: Out[f32, "A 4"], x: In[f32, "P=A*4"]) -> None:
    """Quotient and remainder: one pair for each position."""
    for p in tp.parallel(P=tp.each):
        y[p // 4, p % 4] = x[p]


@tp.kernel
def flattened(y: Out[f32, "N*4"], x: In[f32, "N 4"]) -> None:
    """Rows of 4 at a stride of 4."""
    for n in tp.parallel(N=tp.each):
        y[n * 4 + tp.arange(4)] = x[n, :]


@tp.kernel
def concatenated(y: Out[f32, "N=H+G"], a: In[f32, "H"], b: In[f32, "G"]) -> None:
    """One of two, each inside under its guard."""
    for n in tp.parallel(N=tp.each):
        if n < tp.dim("H"):
            y[n] = a[n.start]
        else:
            y[n] = b[n - tp.dim("H")]


@tp.kernel
def separated(a: Out[f32, "H"], b: Out[f32, "G"], x: In[f32, "N=H+G"]) -> None:
    """Each output is covered by one side of the branch."""
    for n in tp.parallel(N=tp.each):
        if n < tp.dim("H"):
            a[n.start] = x[n]
        else:
            b[n - tp.dim("H")] = x[n]


@tp.kernel
def grouped_heads(y: Out[T, "H D"], x: In[T, "G D"], *, D: int) -> None:
    """The group of a head is a group."""
    for h in tp.parallel(H=tp.each):
        y[h, :] = x[tp.group(h, "G"), :]


@tp.kernel
def position_in_group(y: InOut[f32, "G R"], x: In[f32, "H=G*R"], *, R: int) -> None:
    """A head is its group and its place in the group; the two together are its own."""
    for h in tp.parallel(H=tp.each):
        y[h // R, h % R] = x[h]


@tp.kernel
def other_dimension(y: Out[f32, "N"], x: In[f32, "M"]) -> None:
    """The launch compares N with M."""
    for n in tp.parallel(N=4):
        y[n] = x[n.elements]


@tp.kernel
def nameless_axis(y: Out[f32, "N"], x: In[f32, "_"]) -> None:
    """An axis without a name takes any walker; the launch compares."""
    for n in tp.parallel(N=4):
        y[n] = x[n]


@tp.kernel
def scalar_offset(y: Out[f32, "N"], x: In[f32, "M"], past: i32) -> None:
    """The launch compares past + N with M."""
    for n in tp.parallel(N=4):
        y[n] = x[past + n.elements]


@tp.kernel
def required_room(y: InOut[f32, "C"], x: In[f32, "N"], past: i32) -> None:
    """The contract gives the room."""
    tp.require(past >= 0)
    tp.require(past + tp.dim("N") <= tp.dim("C"))
    for n in tp.parallel(N=tp.each):
        y[past + n] = x[n]


@tp.kernel
def wrapped_then_reduced(y: Out[f32, "N"], x: In[f32, "4"]) -> None:
    """Whatever the product wraps to, its remainder is below 4."""
    for n in tp.parallel(N=4):
        y[n] = x[(n.elements.to(i32) * 1000000007) % 4]


@tp.kernel
def looked_up_bytes(y: Out[f32, "N"], table: In[f32, "256"], x: In[u8, "N"]) -> None:
    """A byte is always below 256."""
    for n in tp.parallel(N=4):
        y[n] = table[x[n]]


@tp.kernel
def exact_product(y: Out[i64, "N"]) -> None:
    """Positions times a hundred fit 64 bits."""
    for n in tp.parallel(N=4):
        y[n] = (n.elements * 100 + n.start).to(i64)


@tp.kernel
def reassigned_inside(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """After the branch the position is one of two, and both are inside."""
    for n in tp.parallel(N=tp.each):
        at = n + 0
        if n > 1:
            at = n - 1
        y[n] = x[at]


@tp.kernel
def causal_in_two_loops(y: Out[f32, "S"], x: In[f32, "T"], past: i32, *, BS: int = 4, BT: int = 4) -> None:
    """Whole tiles first, then the rest."""
    tp.require(past >= 0)
    tp.require(past + tp.dim("S") <= tp.dim("T"))
    for s in tp.parallel(S=BS):
        full, total = (past + s.start) // BT * BT, tp.zeros((s,))
        for t in tp.tiles(T=BT, stop=full):
            total = total + x[t].sum()
        for t in tp.tiles(T=BT, start=full, stop=past + s.stop):
            seen = past + s.elements[:, None] >= t.elements[None, :]
            total = total + tp.where(seen, x[t], 0.0).sum(axis=1)
        y[s] = total


@tp.kernel
def first_and_last(y: Out[f32, "2"], x: In[f32, "N"]) -> None:
    """The contract says that both exist."""
    tp.require(tp.dim("N") >= 1)
    y[0] = x[0]
    y[1] = x[tp.dim("N") - 1]


@tp.kernel
def window_of_three(y: Out[f32, "N"], x: In[f32, "N+2"]) -> None:
    """Two elements more than there are results."""
    for n in tp.parallel(N=4):
        at = n.elements
        y[n] = x[at] + x[at + 1] + x[at + 2]


@tp.kernel
def halved_guard(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """Two programs share an element, and the guard lets one of them in."""
    for n in tp.parallel(N=tp.each):
        if n % 2 == 0:
            y[n // 2] = x[n]


@tp.kernel
def noise_of_a_plane(y: Out[f32, "M N"], x: In[f32, "M N"], *, B: int = 2) -> None:
    """The number of an element, counted row by row, in a tile of two axes: the launch looks whether it fits."""
    for i, j in tp.parallel(M=B, N=B):
        place = i.elements[:, None] * tp.dim("N") + j.elements
        y[i, j] = x[i, j] + tp.random(7, place)


@tp.kernel
def cubed_places(y: Out[f32, "M"], x: In[f32, "R N"], *, B: int = 2) -> None:
    """Numbers that grow with the square of an extent: they fit for those that arrays usually have."""
    for i in tp.parallel(M=B):
        place = (i.elements[:, None] * tp.dim("N") + tp.arange(2)) * tp.dim("N")
        y[i] = tp.random(7, place).sum(axis=1)


@tp.kernel
def three_copies(y: Out[f32, "3*N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """Copy after copy: which one holds an element, a division by the length of one of them tells."""
    for n in tp.parallel(N=B):
        for copy in range(3):
            y[copy * tp.dim("N") + n.elements] = x[n]


CASES = [
    Case(mirrored_load, lambda: one(blank(6), floats(6))),
    Case(mirrored_store, lambda: one(blank(6), floats(6))),
    Case(mirrored_lanes, lambda: one(blank(6), floats(6))),
    Case(slope, lambda: one(blank(6), floats(6))),
    Case(guarded_next, lambda: one(blank(6), floats(6))),
    Case(clamped_neighbours, lambda: one(blank(6), floats(6)) + one(blank(1), floats(1))),
    Case(filled_neighbours, lambda: one(blank(3, 5), floats(3, 5))),
    Case(shifted_load, lambda: one(blank(9), floats(9)) + one(blank(8), floats(8))),
    Case(shifted_back, lambda: one(blank(9), floats(9))),
    Case(full_window, lambda: one(blank(3), floats(10)) + one(blank(1), floats(3))),
    Case(pooled, lambda: one(blank(5), floats(10))),
    Case(interleaved, lambda: one(blank(10), floats(5), floats(5))),
    Case(upsampled, lambda: one(blank(10), floats(5))),
    Case(pairs_of_steps, lambda: one(blank(2), floats(2, 5)) + one(blank(2), floats(2, 4))),
    Case(half_as_many, lambda: one(blank(2), floats(2, 5)) + one(blank(2), floats(2, 4))),
    Case(unflattened, lambda: one(blank(3, 4), floats(12))),
    Case(flattened, lambda: one(blank(12), floats(3, 4))),
    Case(concatenated, lambda: one(blank(5), floats(3), floats(2)) + one(blank(2), floats(0), floats(2))),
    Case(separated, lambda: one(blank(3), blank(2), floats(5)) + one(blank(3), blank(0), floats(3))),
    Case(grouped_heads, lambda: one(blank(6, 2), floats(3, 2)) + one(blank(0, 2), floats(3, 2))),
    Case(position_in_group, lambda: one(blank(3, 2), floats(6))),
    Case(other_dimension, lambda: one(blank(5), floats(5)) + one(blank(5), floats(7))),
    Case(nameless_axis, lambda: one(blank(5), floats(5)) + one(blank(5), floats(7))),
    Case(scalar_offset, lambda: one(blank(5), floats(7), 2) + one(blank(5), floats(9), 0)),
    Case(required_room, lambda: one(blank(9), floats(5), 4)),
    Case(wrapped_then_reduced, lambda: one(blank(9), floats(4))),
    Case(looked_up_bytes, lambda: one(blank(5), floats(256), np.array([0, 255, 3, 3, 9], np.uint8))),
    Case(exact_product, lambda: one(counts(5).astype(np.int64))),
    Case(reassigned_inside, lambda: one(blank(6), floats(6))),
    Case(causal_in_two_loops, lambda: one(blank(6), floats(13), 5) + one(blank(6), floats(6), 0)),
    Case(first_and_last, lambda: one(blank(2), floats(5)) + one(blank(2), floats(1))),
    Case(window_of_three, lambda: one(blank(6), floats(8))),
    Case(halved_guard, lambda: one(blank(6), floats(6))),
    Case(three_copies, lambda: one(blank(15), floats(5)) + one(blank(0), floats(0))),
    Case(cubed_places, lambda: one(blank(3), floats(2, 5))),
    Case(noise_of_a_plane, lambda: one(blank(3, 5), floats(3, 5))),
]
