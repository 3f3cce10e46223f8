"""Kernels that race by their walkers alone: a dropped axis, a shift, a fold, a neighbour, windows that overlap."""

from __future__ import annotations

from typing import Any

import tileproof as tp
from tileproof import In, InOut, Out, T, f32, i8, i32

from .case import Case, blank, counts, floats, ints, one


@tp.kernel
def all_pairs(x: InOut[f32, "N"], *, B: int = 2) -> None:
    """A program reads what all others write."""
    for i in tp.parallel(N=B):
        total = 0.0
        for j in tp.tiles(N=B):
            total += x[j].sum()
        x[i] = x[i] + total


@tp.kernel
def two_stores(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """Each store is injective; together they collide."""
    for t in tp.parallel(N=tp.each):
        y[t] = x[t]
        if t + 1 < tp.dim("N"):
            y[t + 1] = -x[t]


@tp.kernel
def loop_of_stores(y: InOut[f32, "N+3"], x: In[f32, "N"]) -> None:
    """Injective in t for each k, but k differs between programs."""
    for t in tp.parallel(N=tp.each):
        for k in range(4):
            y[t + k] = x[t]


@tp.kernel
def half_windows(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """Windows of 8 at a stride of 4: the starts differ, the elements overlap."""
    for n in tp.parallel(N=4):
        if n.start + 8 <= tp.dim("N"):
            at = n.start + tp.arange(8)
            y[at] = x[at] * 2


@tp.kernel
def spilling_slabs(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 6) -> None:
    """Slabs of 4 in a tile of 6, not clipped at its end: the second one spills into the next tile."""
    for i in tp.parallel(N=B):
        for k in range(2):
            at = i.start + k * 4 + tp.arange(4)
            if i.start + k * 4 + 4 <= tp.dim("N"):
                y[at] = x[at]


@tp.kernel
def group_store(kept: InOut[T, "G D"], x: In[T, "H D"], *, D: int) -> None:
    """All heads of a group write its row."""
    for h in tp.parallel(H=tp.each):
        kept[tp.group(h, "G"), :] = x[h, :]


@tp.kernel
def advancing_position(cache: InOut[f32, "C"], pos: InOut[i32, "1"], new: In[f32, "N"]) -> None:
    """One program moves the position that the others read: it is not uniform."""
    for n in tp.parallel(N=tp.each):
        cache[pos[0] + n] = new[n]
        if n == 0:
            pos[0] = pos[0] + 1


@tp.kernel
def unguarded_total(y: Out[f32, "M N"], top: Out[f32, "M"], x: In[f32, "M N"], *, BM: int = 2, BN: int = 2) -> None:
    """The second output lacks an axis of the space, and no guard picks one program."""
    for i, j in tp.parallel(M=BM, N=BN):
        y[i, j] = x[i, j]
        top[i] = x[i, j].max(axis=1)


@tp.kernel
def matmul_dropped_axis(c: Out[T, "M 4"], a: In[T, "M K"], b: In[T, "K N"], *, BM: int = 2, BN: int = 4) -> None:
    """The column of the result does not depend on j."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), f32)
        for k in tp.tiles(K=4):
            acc = tp.mma(a[i, k], b[k, j], acc)
        c[i, 0:4] = acc.fill(0)


@tp.kernel
def halved_index(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """Two programs share each element."""
    for n in tp.parallel(N=tp.each):
        y[n // 2] = x[n]


@tp.kernel
def folded_index(y: InOut[f32, "4"], x: In[f32, "N"]) -> None:
    """Program 4 comes back to element 0."""
    for n in tp.parallel(N=tp.each):
        y[n % 4] = x[n]


@tp.kernel
def mirrored_pair(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """Both ends are written by both programs."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[n]
        y[tp.dim("N") - 1 - n] = -x[n]


@tp.kernel
def symmetric_store(g: Out[f32, "N N"], x: In[f32, "N"], *, B: int = 2) -> None:
    """Tile (i, j) and tile (j, i) are both written by both programs."""
    for i, j in tp.parallel(("N", B), ("N", B)):
        v = x[i][:, None] * x[j]
        g[i, j] = v
        g[j, i] = v.T


@tp.kernel
def in_place_transpose(x: InOut[f32, "N N"]) -> None:
    """Reads the element that another program writes."""
    for i, j in tp.parallel(("N", tp.each), ("N", tp.each)):
        x[i, j] = x[j, i]


@tp.kernel
def in_place_stencil(x: InOut[f32, "N"]) -> None:
    """Reads the element before its own, which the program before it writes."""
    for n in tp.parallel(N=tp.each):
        if n > 0:
            x[n] = x[n] + x[n - 1]


@tp.kernel
def in_place_blur(x: InOut[f32, "N"]) -> None:
    """A get is a read too."""
    for n in tp.parallel(N=4):
        x[n] = x.get(n.elements + 1, 0.0)


@tp.kernel
def in_place_shift(x: InOut[f32, "N"], *, B: int = 4) -> None:
    """The last element of a shifted tile is the first of the next program."""
    for i in tp.parallel(N=B):
        moved = x[i.shift(1)].fill(0)
        x[i] = moved


@tp.kernel
def shifted_store(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """A tile and the same tile one further are both written."""
    for i in tp.parallel(N=4):
        s = i.shift(1)
        y[i] = x[i]
        y[s] = x[s]


@tp.kernel
def one_walker_of_two(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 2) -> None:
    """The space walks N twice; the store uses one of the walkers."""
    for i, j in tp.parallel(("N", B), ("N", B)):
        y[i] = x[i] * x[j].sum()


@tp.kernel
def halved_number(y: InOut[f32, "N/B"], x: In[f32, "N"], *, B: int = 2) -> None:
    """Two tiles share one partial sum."""
    for i in tp.parallel(N=B):
        y[i.number // 2] = x[i].sum()


@tp.kernel
def clamped_store(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """Clamping keeps it inside, and folds programs 0 and 1 together."""
    for n in tp.parallel(N=tp.each):
        y[tp.maximum(n - 1, 0)] = x[n]


@tp.kernel
def wrapped_product(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """As an i32 the product wraps to 0 for every n, though it looks injective."""
    for n in tp.parallel(N=tp.each):
        y[n.to(i32) * 65536 * 65536] = x[n]


@tp.kernel
def saturated_cast(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """The cast saturates: 127 and 128 are one."""
    for n in tp.parallel(N=tp.each):
        y[n.to(i8)] = x[n]


@tp.kernel
def error_word(flag: InOut[i32, "1"], x: In[f32, "N"]) -> None:
    """Equal values race as well."""
    for n in tp.parallel(N=tp.each):
        if x[n] < 0:
            flag[0] = 1


@tp.kernel
def wide_guard(y: InOut[f32, "1"], x: In[f32, "N"]) -> None:
    """The guard lets two programs through."""
    for n in tp.parallel(N=tp.each):
        if n < 2:
            y[0] = x[n]


@tp.kernel
def first_tiles(y: InOut[f32, "M"], x: In[f32, "M N"]) -> None:
    """The guard asks about the wrong axis: every j has such an i."""
    for i, j in tp.parallel(M=2, N=2):
        if i.start == 0:
            y[i] = x[i, j].sum(axis=1)


@tp.kernel
def lanes_meet(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """Two lanes of one store go to one element, though there is one program."""
    for n in tp.tiles(N=4):
        y[n.elements // 2] = x[n]


@tp.kernel
def columns_meet(y: InOut[f32, "M 2"], x: In[f32, "M 4"]) -> None:
    """The columns 0 1 0 1 are written at once."""
    for i in tp.parallel(M=tp.each):
        y[i, tp.arange(4) % 2] = x[i, :]


def put(y: Any, at: Any, value: Any) -> None:
    """A store of the caller."""
    y[at] = value


@tp.kernel
def helper_collides(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """The helper is asked for the same element by all."""
    for n in tp.parallel(N=tp.each):
        put(y, tp.dim("N") - 1, x[n])


@tp.kernel
def row_loop(y: Out[f32, "M N"], x: In[f32, "M N"]) -> None:
    """Each program walks all rows, not its own."""
    for _ in tp.parallel(M=tp.each):
        for i in tp.tiles(M=tp.each):
            for n in tp.tiles(N=4):
                y[i, n] = x[i, n]


@tp.kernel
def flat_overlap(y: InOut[f32, "4*N"], x: In[f32, "N 4"]) -> None:
    """Rows of 4 laid down at a stride of 3."""
    for n in tp.parallel(N=tp.each):
        y[n * 3 + tp.arange(4)] = x[n, :]


@tp.kernel
def scan_across(y: Out[f32, "N"], carry: InOut[f32, "N/B"], x: In[f32, "N"], *, B: int = 2) -> None:
    """Look-back: a program reads the total of the tile before it."""
    for i in tp.parallel(N=B):
        before = carry.get(i.number - 1, 0.0)
        carry[i.number] = before + x[i].sum()
        y[i] = before + x[i].cumsum()


@tp.kernel
def branches_meet(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """Even programs write their own element, odd ones that of the even program before."""
    for n in tp.parallel(N=tp.each):
        if n % 2 == 0:
            y[n] = x[n]
        else:
            y[n - 1] = x[n]


@tp.kernel
def stale_join(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """After the branch the position is no longer the program's own."""
    for n in tp.parallel(N=tp.each):
        at = n + 0
        if n > 0:
            at = n - 1
        y[at] = x[n]


CASES = [
    Case(all_pairs, lambda: one(floats(5)), "race"),
    Case(two_stores, lambda: one(blank(5), floats(5)), "race"),
    Case(loop_of_stores, lambda: one(blank(8), floats(5)), "race"),
    Case(half_windows, lambda: one(blank(16), floats(16)), "race"),
    Case(spilling_slabs, lambda: one(blank(14), floats(14)), "race"),
    Case(group_store, lambda: one(blank(2, 3), floats(4, 3)), "race"),
    Case(advancing_position, lambda: one(blank(9), ints(2), floats(3)), "race"),
    Case(unguarded_total, lambda: one(blank(3, 5), blank(3), floats(3, 5)), "race"),
    Case(matmul_dropped_axis, lambda: one(blank(3, 4), floats(3, 5), floats(5, 8)), "race"),
    Case(halved_index, lambda: one(blank(5), floats(5)), "race"),
    Case(folded_index, lambda: one(blank(4), floats(6)), "race"),
    Case(mirrored_pair, lambda: one(blank(5), floats(5)), "race"),
    Case(symmetric_store, lambda: one(blank(4, 4), floats(4)), "race"),
    Case(in_place_transpose, lambda: one(floats(3, 3)), "race"),
    Case(in_place_stencil, lambda: one(floats(5)), "race"),
    Case(in_place_blur, lambda: one(floats(9)), "race"),
    Case(in_place_shift, lambda: one(floats(9)), "race"),
    Case(shifted_store, lambda: one(blank(9), floats(9)), "race"),
    Case(one_walker_of_two, lambda: one(blank(5), floats(5)), "race"),
    Case(halved_number, lambda: one(blank(4), floats(7)), "race"),
    Case(clamped_store, lambda: one(blank(5), floats(5)), "race"),
    Case(wrapped_product, lambda: one(blank(5), floats(5)), "race"),
    Case(saturated_cast, lambda: one(blank(130), floats(130)), "race"),
    Case(error_word, lambda: one(counts(1), -floats(3)), "race"),
    Case(wide_guard, lambda: one(blank(1), floats(3)), "race"),
    Case(first_tiles, lambda: one(blank(3), floats(3, 5)), "race"),
    Case(lanes_meet, lambda: one(blank(5), floats(5)), "race"),
    Case(columns_meet, lambda: one(blank(3, 2), floats(3, 4)), "race"),
    Case(helper_collides, lambda: one(blank(5), floats(5)), "race"),
    Case(row_loop, lambda: one(blank(3, 5), floats(3, 5)), "race"),
    Case(flat_overlap, lambda: one(blank(20), floats(5, 4)), "race"),
    Case(scan_across, lambda: one(blank(7), blank(4), floats(7)), "race"),
    Case(branches_meet, lambda: one(blank(5), floats(5)), "race"),
    Case(stale_join, lambda: one(blank(5), floats(5)), "race"),
]
