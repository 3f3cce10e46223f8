"""Kernels that race through index tensors, positions in memory, pieces of a split, segments and views."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, Index, InOut, Offsets, Out, T, Unique, f32, i32

from .case import Case, blank, counts, floats, ints, one


@tp.kernel
def scatter_any(y: InOut[f32, "V"], x: In[f32, "N"], at: In[i32, "N"]) -> None:
    """Plain integers may name one place twice."""
    for n in tp.parallel(N=tp.each):
        y[at[n]] = x[n]


@tp.kernel
def scatter_index(y: InOut[T, "V D"], x: In[T, "N D"], rows: In[Index["V"], "N"], *, BD: int = 4) -> None:
    """Index, unlike Unique, may name one place twice."""
    for n, d in tp.parallel(N=tp.each, D=BD):
        y[rows[n], d] = x[n, d]


@tp.kernel
def mark_seen(seen: InOut[i32, "B"], x: In[Index["B"], "N"]) -> None:
    """A histogram that sets instead of adding: lanes of one store meet."""
    for n in tp.parallel(N=4):
        seen[x[n]] = 1


@tp.kernel
def halved_slot(y: InOut[f32, "V"], x: In[f32, "N"], slots: In[Unique["V"], "N"]) -> None:
    """Half of a unique number is not unique."""
    for n in tp.parallel(N=tp.each):
        y[slots[n] // 2] = x[n]


@tp.kernel
def slot_and_next(y: InOut[f32, "V"], x: In[f32, "N"], slots: In[Unique["V"], "N"]) -> None:
    """The slot of the next program is its own."""
    for n in tp.parallel(N=tp.each):
        y[slots[n]] = x[n]
        if n + 1 < tp.dim("N"):
            y[slots[n + 1]] = -x[n]


@tp.kernel
def slot_and_self(y: InOut[f32, "N"], x: In[f32, "N"], slots: In[Unique["N"], "N"]) -> None:
    """A permutation and the identity collide."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[n]
        y[slots[n]] = -x[n]


@tp.kernel
def two_tables(y: InOut[f32, "V"], x: In[f32, "N"], first: In[Unique["V"], "N"], second: In[Unique["V"], "N"]) -> None:
    """Each tensor is unique; nothing keeps the two apart."""
    for n in tp.parallel(N=tp.each):
        y[first[n]] = x[n]
        y[second[n]] = x[n]


@tp.kernel
def page_only(
    pages: InOut[f32, "P D"], x: In[f32, "N D"], slots: In[Unique["P*S"], "N"], *, D: int, S: int = 2
) -> None:
    """The page of a slot alone is shared by S slots."""
    for n in tp.parallel(N=tp.each):
        pages[slots[n] // S, :] = x[n, :]


@tp.kernel
def unique_row_shared(y: InOut[f32, "V"], x: In[f32, "N D"], rows: In[Unique["V"], "N"]) -> None:
    """The rows differ, but D is walked in parallel too and is no axis of y."""
    for n, d in tp.parallel(N=tp.each, D=2):
        y[rows[n]] = x[n, d].sum()


@tp.kernel
def shifted_unique(y: InOut[f32, "V"], x: In[f32, "N"], slots: In[Unique["V"], "N"]) -> None:
    """All programs use the entry of the first."""
    for n in tp.parallel(N=tp.each):
        y[slots[0]] = x[n]


@tp.kernel
def own_position(cache: InOut[f32, "C"], new: In[f32, "N"], pos: In[i32, "N"]) -> None:
    """The position differs from program to program, so adding n keeps nothing apart."""
    for n in tp.parallel(N=tp.each):
        cache[pos[n] + n] = new[n]


@tp.kernel
def forgot_the_token(cache: InOut[T, "G C D"], new: In[T, "G N D"], pos: In[i32, "1"], *, D: int) -> None:
    """An append without the number of the token."""
    for g, n in tp.parallel(G=tp.each, N=tp.each):
        cache[g, pos[0], :] = new[g, n, :]


@tp.kernel
def ring(cache: InOut[f32, "8"], new: In[f32, "N"], pos: In[i32, "1"]) -> None:
    """More than 8 tokens go around."""
    for n in tp.parallel(N=tp.each):
        cache[(pos[0] + n) % 8] = new[n]


@tp.kernel
def gather_in_place(x: InOut[f32, "N"], order: In[Unique["N"], "N"]) -> None:
    """A permutation in place reads what another program writes."""
    for n in tp.parallel(N=tp.each):
        x[n] = x[order[n]]


@tp.kernel
def argmax_of_the_tile(hits: InOut[i32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """argmax is a position in the tile: without the start of the tile all programs mark the first one."""
    for i in tp.parallel(N=B):
        hits[x[i].argmax()] = 1


@tp.kernel
def counted_by_data(y: InOut[f32, "N"], x: In[f32, "N"], much: In[i32, "1"]) -> None:
    """The stride comes from memory and may be 0."""
    for n in tp.parallel(N=tp.each):
        y[n * much[0]] = x[n]


@tp.kernel
def store_before_join(c: Out[f32, "M"], a: In[f32, "M K"], *, SK: int = 4) -> None:
    """Every piece stores; only after the join there is one program."""
    for i, z in tp.parallel(M=2, K=tp.split(SK)):
        part = a[i, z].sum(axis=1)
        c[i] = part
        c[i] = tp.join(part, over=z)


@tp.kernel
def read_after_join(y: InOut[f32, "N"], total: Out[f32, "1"], x: In[f32, "N"], *, SN: int = 4) -> None:
    """What follows the join reads what a piece wrote."""
    tp.require(tp.dim("N") >= 1)
    for z in tp.parallel(N=tp.split(SN)):
        y[z] = x[z] * 2
        total[0] = tp.join(x[z].sum(), over=z) + y[tp.dim("N") - 1]


@tp.kernel
def joined_over_one_axis(c: Out[f32, "M"], a: In[f32, "M N K"], *, SK: int = 4) -> None:
    """The join ends K; N is still walked in parallel."""
    for i, n, z in tp.parallel(M=2, N=tp.each, K=tp.split(SK)):
        c[i] = tp.join(a[i, n, z].sum(axis=1), over=z)


@tp.kernel
def segment_total(y: InOut[f32, "E"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    """A long segment has several tiles."""
    for e, n in tp.parallel(tp.segments(off, N=2)):
        y[e] = x[n].sum()


@tp.kernel
def number_in_segment(y: InOut[f32, "N"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    """The first tile of every segment has number 0."""
    for _, n in tp.parallel(tp.segments(off, N=2)):
        y[n.number] = x[n].sum()


@tp.kernel
def segment_spills(y: InOut[f32, "N"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    """Two whole rows from the start of a tile, where the segment may end after one."""
    for _, n in tp.parallel(tp.segments(off, N=2)):
        at = n.start + tp.arange(2)
        if n.start + 2 <= tp.dim("N"):
            y[at] = x[at]


@tp.kernel
def fresh_collides(cache: InOut[f32, "C"], new: In[f32, "N"], pos: In[i32, "1"]) -> None:
    """All programs append to one place."""
    _, fresh = tp.split_at(cache, "C", pos[0])
    for n in tp.parallel(N=tp.each):
        fresh[0] = new[n]


@tp.kernel
def fresh_is_read(o: Out[f32, "N"], cache: InOut[f32, "C"], new: In[f32, "N"], pos: In[i32, "1"]) -> None:
    """A token looks at what the token before it appends."""
    past, fresh = tp.split_at(cache, "C", pos[0])
    for n in tp.parallel(N=tp.each):
        fresh[n] = new[n]
        total = new[n]
        for t in tp.tiles(C=2, stop=pos[0]):
            total += past[t].sum()
        for t in range(n):
            total += fresh[t]
        o[n] = total


@tp.kernel
def guard_by_data(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """The guard speaks of values, not of programs."""
    for n in tp.parallel(N=tp.each):
        if x[n] > 1:
            y[0] = x[n]
        else:
            y[n] = x[n]


@tp.kernel
def second_of_two(y: InOut[f32, "V"], x: In[f32, "N"], slots: In[Index["V"], "2"]) -> None:
    """That the first entry is none says nothing of the second, which all programs write to."""
    for n in tp.parallel(N=tp.each):
        two = slots[0:2]
        if slots[0] < 0:
            y[two[1:2]] = x[n]


def places(*values: int) -> list[object]:
    """Memory, values and places for a scatter."""
    return [blank(9), floats(len(values)), ints(*values)]


CASES = [
    Case(scatter_any, lambda: one(*places(3, 1, 3)), "race"),
    Case(scatter_index, lambda: one(blank(6, 5), floats(3, 5), ints(2, -1, 2)), "race"),
    Case(mark_seen, lambda: one(counts(5), ints(1, 1, 0, 3)), "race"),
    Case(halved_slot, lambda: one(*places(3, 0, 2)), "race"),
    Case(slot_and_next, lambda: one(*places(3, 0, 2)), "race"),
    Case(slot_and_self, lambda: one(blank(3), floats(3), ints(2, 0, 1)), "race"),
    Case(two_tables, lambda: one(*places(3, 0, 2), ints(1, 3, 4)), "race"),
    Case(page_only, lambda: one(blank(3, 2), floats(3, 2), ints(4, 0, 5)), "race"),
    Case(unique_row_shared, lambda: one(blank(9), floats(3, 4), ints(4, 0, 5)), "race"),
    Case(shifted_unique, lambda: one(*places(3, 0, 2)), "race"),
    Case(own_position, lambda: one(*places(3, 2, 4)), "race"),
    Case(forgot_the_token, lambda: one(blank(2, 5, 3), floats(2, 2, 3), ints(1)), "race"),
    Case(ring, lambda: one(blank(8), floats(9), ints(3)), "race"),
    Case(gather_in_place, lambda: one(floats(3), ints(2, 0, 1)), "race"),
    Case(argmax_of_the_tile, lambda: one(counts(9), -floats(9)), "race"),
    Case(counted_by_data, lambda: one(blank(5), floats(5), ints(0)), "race"),
    Case(store_before_join, lambda: one(blank(3), floats(3, 9)), "race"),
    Case(read_after_join, lambda: one(blank(9), blank(1), floats(9)), "race"),
    Case(joined_over_one_axis, lambda: one(blank(3), floats(3, 2, 5)), "race"),
    Case(segment_total, lambda: one(blank(2), floats(6), ints(0, 5, 6)), "race"),
    Case(number_in_segment, lambda: one(blank(6), floats(6), ints(0, 4, 6)), "race"),
    Case(segment_spills, lambda: one(blank(6), floats(6), ints(0, 3, 6)), "race"),
    Case(fresh_collides, lambda: one(*places(3, 0)[:2], ints(3)), "race"),
    Case(fresh_is_read, lambda: one(blank(3), blank(9), floats(3), ints(4)), "race"),
    Case(guard_by_data, lambda: one(blank(4), floats(4)), "race"),
    Case(second_of_two, lambda: one(blank(4), floats(3), ints(-1, 2)), "race"),
]
