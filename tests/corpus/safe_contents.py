"""Kernels that are safe through contents of tensors, reductions, pieces, segments and views; some leave a check."""

from __future__ import annotations

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Index, InOut, Max, Min, Offsets, Out, Sum, T, Unique, f32, i32, u8

from .case import Case, blank, counts, floats, ints, one


@tp.kernel
def gathered_rows(y: Out[T, "N D"], table: In[T, "V D"], ids: In[Index["V"], "N"], *, BN: int = 4, D: int) -> None:
    """A tile of entries picks rows."""
    for n in tp.parallel(N=BN):
        y[n, :] = table[ids[n], :]


@tp.kernel
def gathered_or_zero(y: Out[f32, "N"], table: In[f32, "V"], ids: In[Index["V"], "N"]) -> None:
    """An entry that is none reads the fill."""
    for n in tp.parallel(N=4):
        y[n] = table.get(ids[n], 0.0)


@tp.kernel
def any_gather(y: Out[f32, "N"], table: In[f32, "V"], at: In[i32, "N"]) -> None:
    """Plain integers from memory: a check is left."""
    for n in tp.parallel(N=4):
        y[n] = table[at[n]]


@tp.kernel
def filled_gather(y: Out[f32, "N"], table: In[f32, "V"], at: In[i32, "N"]) -> None:
    """Plain integers from memory, and a get: none is left."""
    for n in tp.parallel(N=4):
        y[n] = table.get(at[n], 0.0)


@tp.kernel
def clamped_gather(y: Out[f32, "N"], table: In[f32, "V"], at: In[i32, "N"]) -> None:
    """Clamped to the table, which has an element."""
    tp.require(tp.dim("V") >= 1)
    for n in tp.parallel(N=4):
        y[n] = table[tp.clip(at[n], 0, tp.dim("V") - 1)]


@tp.kernel
def guarded_gather(y: Out[f32, "N"], table: In[f32, "V"], at: In[i32, "N"]) -> None:
    """A guard on what was read from memory."""
    for n in tp.parallel(N=tp.each):
        place, v = at[n], 0.0
        if (place >= 0) & (place < tp.dim("V")):
            v = table[place]
        y[n] = v


@tp.kernel
def two_levels(y: Out[f32, "N"], table: In[f32, "V"], names: In[Index["V"], "W"], ids: In[Index["W"], "N"]) -> None:
    """The entries of one table point into the next."""
    for n in tp.parallel(N=4):
        y[n] = table[names[ids[n]]]


@tp.kernel
def unique_rows(y: InOut[T, "V"], x: In[T, "N"], rows: In[Unique["V"], "N"]) -> None:
    """No place is named twice, none is skipped."""
    for n in tp.parallel(N=tp.each):
        y[rows[n]] = x[n]


@tp.kernel
def unique_grid(
    y: InOut[f32, "V W"], x: In[f32, "M N"], rows: In[Unique["V"], "M"], columns: In[Unique["W"], "N"]
) -> None:
    """The product of two unique tensors names no place twice."""
    for i, j in tp.parallel(M=2, N=2):
        y[rows[i], columns[j]] = x[i, j]


@tp.kernel
def unique_and_next(y: InOut[f32, "V 2"], x: In[f32, "N"], rows: In[Unique["V"], "N"]) -> None:
    """Two stores through one unique tensor, into different columns."""
    for n in tp.parallel(N=tp.each):
        y[rows[n], 0] = x[n]
        y[rows[n], 1] = -x[n]


@tp.kernel
def slots_apart(pages: InOut[f32, "P 4"], x: In[f32, "N"], slots: In[Unique["P*4"], "N"]) -> None:
    """A slot is its page and its place in the page."""
    for n in tp.parallel(N=tp.each):
        pages[slots[n] // 4, slots[n] % 4] = x[n]


@tp.kernel
def unique_in_place(x: InOut[f32, "V"], rows: In[Unique["V"], "N"]) -> None:
    """Reads and writes at the program's own unique place."""
    for n in tp.parallel(N=tp.each):
        at = rows[n]
        x[at] = x[at] + 1.0


@tp.kernel
def append_tile(cache: InOut[T, "C D"], new: In[T, "N D"], pos: In[i32, "1"], *, BN: int = 4, D: int) -> None:
    """The position is the same for all, so tiles behind it stay apart."""
    for n in tp.parallel(N=BN):
        cache[pos[0] + n.elements, :] = new[n, :]


@tp.kernel
def append_ring(cache: InOut[f32, "8"], new: In[f32, "N"], pos: In[i32, "1"]) -> None:
    """Around a ring, and no further than once."""
    tp.require(tp.dim("N") <= 8)
    for n in tp.parallel(N=tp.each):
        cache[(pos[0] + n) % 8] = new[n]


@tp.kernel
def append_by_request(cache: InOut[f32, "B C"], new: In[f32, "B"], pos: In[i32, "B"]) -> None:
    """Each request has a position of its own, in a row of its own."""
    for b in tp.parallel(B=tp.each):
        cache[b, pos[b]] = new[b]


@tp.kernel
def look_and_append(o: Out[f32, "N"], cache: InOut[f32, "C"], new: In[f32, "N"], pos: In[i32, "1"]) -> None:
    """The past is read by all, the rest is written by one each."""
    past, fresh = tp.split_at(cache, "C", pos[0])
    for n in tp.parallel(N=2):
        total = 0.0
        for c in tp.tiles(C=4, stop=pos[0]):
            total += past[c].sum()
        fresh[n] = new[n]
        o[n] = total + new[n]


@tp.kernel
def halves_of_a_cache(cache: InOut[f32, "C"]) -> None:
    """The first half is copied over the second."""
    half = tp.dim("C") // 2
    past, fresh = tp.split_at(cache, "C", half)
    for c in tp.parallel(C=tp.each):
        if c < half:
            fresh[c] = past[c]


@tp.kernel
def extremes(low: Min[f32, "V"], high: Max[f32, "V"], x: In[f32, "N"], ids: In[Index["V"], "N"]) -> None:
    """Many programs lower and raise one element."""
    for n in tp.parallel(N=4):
        tp.update(low, ids[n], x[n])
        tp.update(high, ids[n], x[n])


@tp.kernel
def any_negative(flag: Max[i32, "1"], x: In[f32, "N"]) -> None:
    """A word that many programs set."""
    for n in tp.parallel(N=4):
        if (x[n] < 0).any():
            tp.update(flag, 0, 1)


@tp.kernel
def flags_of_tiles(flags: Out[u8, "N/B"], x: In[f32, "N"], *, B: int = 4) -> None:
    """A word for each program."""
    for n in tp.parallel(N=B):
        flags[n.number] = (x[n] < 0).any().to(u8)


@tp.kernel
def column_sums(y: Sum[f32, "N"], x: In[f32, "M N"], *, BM: int = 2, BN: int = 4) -> None:
    """Updates may meet."""
    for i, j in tp.parallel(M=BM, N=BN):
        y[j] += x[i, j].sum(axis=0)


@tp.kernel
def folded_sums(y: Sum[f32, "4"], x: In[f32, "N"]) -> None:
    """Lanes of one update may meet too."""
    for n in tp.parallel(N=4):
        y[n.elements % 4] += x[n]


@tp.kernel
def joined_columns(y: Out[f32, "N"], x: In[f32, "M N"], *, SM: int = 4, BN: int = 4) -> None:
    """Pieces of the columns, added in order."""
    for j, z in tp.parallel(N=BN, M=tp.split(SM)):
        part = tp.zeros((j,))
        for i in z.tiles(2):
            part += x[i, j].sum(axis=0)
        y[j] = tp.join(part, over=z)


@tp.kernel
def pieces_and_total(y: Out[f32, "N"], total: Out[f32, "1"], x: In[f32, "N"], *, SN: int = 4) -> None:
    """Each piece stores its own, and what follows the join another tensor."""
    for z in tp.parallel(N=tp.split(SN)):
        y[z] = x[z] * 2
        total[0] = tp.join(x[z].sum(), over=z)


def later(one: Any, other: Any) -> Any:
    """The greater of two pairs of value and position."""
    (top, at), (rival, there) = one, other
    return tp.where(rival > top, rival, top), tp.where(rival > top, there, at)


@tp.kernel
def joined_argmax(y: Out[i32, "1"], x: In[f32, "N"], *, SN: int = 4) -> None:
    """Value and position, joined by a combiner."""
    tp.require(tp.dim("N") >= 1)
    for z in tp.parallel(N=tp.split(SN)):
        _, at = tp.join((x[z].max(), z.start + x[z].argmax()), over=z, by=later)
        y[0] = at.to(i32)


@tp.kernel
def name_of_the_best(y: Out[f32, "R"], x: In[f32, "R V"], names: In[f32, "V"], *, V: int) -> None:
    """argmax is a position whatever the row holds, NaN too."""
    tp.require(tp.dim("V") >= 1)
    for r in tp.parallel(R=tp.each):
        y[r] = names[x[r, :].argmax()]


@tp.kernel
def best_of_each_tile(hits: InOut[i32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """The start of the tile and argmax make a place of the program's own."""
    for i in tp.parallel(N=B):
        hits[i.start + x[i].argmax()] = 1


@tp.kernel
def bisection(y: Out[i32, "N"], borders: In[f32, "V"], x: In[f32, "N"]) -> None:
    """A search in a while loop: what it reads depends on what it has read."""
    for n in tp.parallel(N=tp.each):
        low, high = 0, tp.dim("V") + 0
        while low < high:
            middle = (low + high) // 2
            above = borders[middle] <= x[n]
            low, high = tp.where(above, middle + 1, low), tp.where(above, high, middle)
        y[n] = low.to(i32)


@tp.kernel
def numbered_segments(y: Out[i32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    """Every element lies in one segment."""
    for e, n in tp.parallel(tp.segments(off, N=4)):
        y[n] = e.to(i32)


@tp.kernel
def segment_heads(y: InOut[f32, "E"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    """One tile of a segment is its first."""
    for e, n in tp.parallel(tp.segments(off, N=2)):
        if n.number == 0:
            y[e] = x[n].sum()


@tp.kernel
def segment_means(y: Out[f32, "E"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    """A program for each segment, walking from border to border."""
    for e in tp.parallel(E=tp.each):
        total, first, last = 0.0, off[e.start], off[e + 1]
        for n in tp.tiles(N=2, start=first, stop=last):
            total += x[n].sum()
        y[e] = total / (last - first).to(f32)


@tp.kernel
def sparse_rows(
    y: Out[f32, "R F"], off: In[Offsets["Z"], "R+1"], columns: In[Index["C"], "Z"], w: In[f32, "Z"], x: In[f32, "C F"],
) -> None:  # fmt: skip
    """Where an entry is read is a turn of a loop, which no launch knows; what it is, the launch has seen."""
    for r, f in tp.parallel(R=tp.each, F=2):
        total = tp.zeros((f,))
        for z in range(off[r.start], off[r + 1]):
            total += w[z] * x[columns[z], f]
        y[r, f] = total


@tp.kernel
def scaled_by_expert(y: Out[f32, "N D"], x: In[f32, "N D"], w: In[f32, "E D"], off: In[Offsets["N"], "E+1"]) -> None:
    """The number of a segment is less than E."""
    for (e, n), d in tp.parallel(tp.segments(off, N=tp.each), D=4):
        y[n, d] = x[n, d] * w[e, d]


@tp.kernel
def permuted(y: Out[f32, "N"], x: In[f32, "N"], order: In[Index["N"], "N"]) -> None:
    """A permutation by loads needs no unique entries."""
    for n in tp.parallel(N=4):
        y[n] = x[order[n]]


@tp.kernel
def permuting(y: Out[f32, "N"], x: In[f32, "N"], order: In[Unique["N"], "N"]) -> None:
    """A permutation by stores: as many unique places as elements, so all are written."""
    for n in tp.parallel(N=tp.each):
        y[order[n]] = x[n]


@tp.kernel
def copied(y: Out[f32, "M N"], x: In[f32, "M N"], *, B: int = 2) -> None:
    """For launches with unusual strides."""
    for i, j in tp.parallel(M=B, N=B):
        y[i, j] = x[i, j]


def strided_copies() -> Any:
    """Inputs may overlap themselves and be negative or zero strided; outputs may be any disjoint part of a frame."""
    frame, other = blank(3, 8), blank(4, 6)
    lanes = np.lib.stride_tricks.as_strided(floats(6), (3, 4), (4, 4))
    return [
        *one(blank(3, 4), np.broadcast_to(floats(4), (3, 4))),
        *one(blank(3, 4), floats(3, 4)[::-1, ::-1]),
        *one(blank(3, 4), lanes),
        *one(blank(4, 3).T, floats(3, 4)),
        *one(blank(3, 4)[:, ::-1], floats(3, 4)),
        *one(frame[:, :4], frame[:, 4:]),
        *one(other[:, 0::2], other[:, 1::2]),
    ]


CASES = [
    Case(gathered_rows, lambda: one(blank(5, 2), floats(3, 2), ints(2, 0, 2, 1, 1))),
    Case(gathered_or_zero, lambda: one(blank(5), floats(3), ints(2, -1, 2, 1, -1))),
    Case(any_gather, lambda: one(blank(5), floats(3), ints(2, 0, 2, 1, 1)), data=True),
    Case(filled_gather, lambda: one(blank(5), floats(3), ints(2, -9, 2, 7, 1))),
    Case(clamped_gather, lambda: one(blank(5), floats(3), ints(2, -9, 2, 7, 1))),
    Case(guarded_gather, lambda: one(blank(5), floats(3), ints(2, -9, 2, 7, 1)), data=True),
    Case(two_levels, lambda: one(blank(3), floats(4), ints(3, 0), ints(1, 1, 0))),
    Case(unique_rows, lambda: one(blank(6), floats(3), ints(5, -1, 2)) + one(blank(6), floats(2), ints(-1, -1))),
    Case(unique_grid, lambda: one(blank(4, 5), floats(3, 3), ints(3, 0, 1), ints(4, 2, -1))),
    Case(unique_and_next, lambda: one(blank(6, 2), floats(3), ints(5, -1, 2))),
    Case(slots_apart, lambda: one(blank(2, 4), floats(3), ints(7, -1, 4))),
    Case(unique_in_place, lambda: one(floats(6), ints(5, 0, 2))),
    Case(append_tile, lambda: one(blank(9, 2), floats(5, 2), ints(4)), data=True),
    Case(append_ring, lambda: one(blank(8), floats(8), ints(5)) + one(blank(8), floats(3), ints(-2))),
    Case(append_by_request, lambda: one(blank(3, 4), floats(3), ints(3, 0, 3)), data=True),
    Case(look_and_append, lambda: one(blank(3), floats(9), floats(3), ints(6)), data=True),
    Case(halves_of_a_cache, lambda: one(floats(9)) + one(floats(8))),
    Case(extremes, lambda: one(blank(3), blank(3), floats(5), ints(2, 0, 2, -1, 2))),
    Case(any_negative, lambda: one(counts(1), -floats(9))),
    Case(flags_of_tiles, lambda: one(np.zeros(3, np.uint8), -floats(9))),
    Case(column_sums, lambda: one(blank(5), floats(3, 5))),
    Case(folded_sums, lambda: one(blank(4), floats(9))),
    Case(joined_columns, lambda: one(blank(5), floats(9, 5)) + one(blank(5), floats(0, 5))),
    Case(pieces_and_total, lambda: one(blank(9), blank(1), floats(9)) + one(blank(0), blank(1), floats(0))),
    Case(joined_argmax, lambda: one(counts(1), floats(9))),
    Case(name_of_the_best, lambda: one(blank(2), floats(2, 5) * np.float32(np.nan), floats(5))),
    Case(best_of_each_tile, lambda: one(counts(9), floats(9))),
    Case(bisection, lambda: one(counts(4), floats(5), floats(4)) + one(counts(4), floats(0), floats(4)), data=True),
    Case(numbered_segments, lambda: one(counts(9), ints(0, 5, 5, 9))),
    Case(segment_heads, lambda: one(blank(3), floats(9), ints(0, 5, 5, 9))),
    Case(segment_means, lambda: one(blank(3), floats(9), ints(0, 5, 6, 9))),
    Case(sparse_rows, lambda: one(blank(3, 3), ints(0, 2, 2, 3), ints(1, 0, 1), floats(3), floats(2, 3))),
    Case(scaled_by_expert, lambda: one(blank(5, 6), floats(5, 6), floats(2, 6), ints(0, 2, 5))),
    Case(permuted, lambda: one(blank(5), floats(5), ints(3, 3, 0, 1, 1))),
    Case(permuting, lambda: one(blank(5), floats(5), ints(3, 4, 0, 1, 2))),
    Case(copied, strided_copies),
]
