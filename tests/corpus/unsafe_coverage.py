"""Kernels that leave elements of an Out unwritten: a part of an axis, one side of a branch, every other element."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, Offsets, Out, T, Unique, f32, i32

from .case import Case, blank, floats, ints, one


@tp.kernel
def first_of_two(y: Out[f32, "N 2"], x: In[f32, "N"]) -> None:
    """The second half of each pair is left out."""
    for n in tp.parallel(N=4):
        y[n, 0] = x[n]


@tp.kernel
def short_slice(y: Out[f32, "N 4"], x: In[f32, "N"]) -> None:
    """Three of four columns."""
    for n in tp.parallel(N=4):
        y[n, 0:3] = x[n][:, None]


@tp.kernel
def slices_with_a_gap(y: Out[f32, "N 8"], x: In[f32, "N"]) -> None:
    """Columns 3 and 4 lie between the slices."""
    for n in tp.parallel(N=tp.each):
        y[n, 0:3] = x[n]
        y[n, 5:8] = -x[n]


@tp.kernel
def lower_triangle(g: Out[f32, "N N"], x: In[f32, "N"]) -> None:
    """The other triangle is not written."""
    for i, j in tp.parallel(("N", tp.each), ("N", tp.each)):
        if i >= j:
            g[i, j] = x[i] * x[j]


@tp.kernel
def diagonal(g: Out[f32, "N N"], x: In[f32, "N"]) -> None:
    """The diagonal of a matrix."""
    for n in tp.parallel(N=tp.each):
        g[n, n] = x[n]


@tp.kernel
def late_start(y: Out[T, "R C"], x: In[T, "R C"], *, BC: int = 4) -> None:
    """The walk begins at the second element."""
    for r in tp.parallel(R=tp.each):
        for c in tp.tiles(C=BC, start=1):
            y[r, c] = x[r, c]


@tp.kernel
def early_stop(y: Out[T, "R C"], x: In[T, "R C"], *, BC: int = 4) -> None:
    """The walk ends before the last element."""
    for r in tp.parallel(R=tp.each):
        for c in tp.tiles(C=BC, stop=tp.dim("C") - 1):
            y[r, c] = x[r, c]


@tp.kernel
def whole_tiles_only(y: Out[T, "R C"], x: In[T, "R C"], *, BC: int = 4) -> None:
    """The ragged end is left out."""
    for r in tp.parallel(R=tp.each):
        for c in tp.tiles(C=BC, stop=tp.dim("C") // BC * BC):
            y[r, c] = x[r, c]


@tp.kernel
def sub_tiles_late(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Each program skips the first element of its tile."""
    for i in tp.parallel(N=8):
        for s in i.tiles(4, start=i.start + 1):
            y[s] = x[s]


@tp.kernel
def positive_only(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Whether an element is written depends on its value."""
    for n in tp.parallel(N=tp.each):
        if x[n] > 2:
            y[n] = x[n]


@tp.kernel
def even_positions(y: Out[f32, "2*N"], x: In[f32, "N"]) -> None:
    """Injective and half as many as there are elements."""
    for n in tp.parallel(N=tp.each):
        y[2 * n] = x[n]


@tp.kernel
def even_programs(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Every other program stores."""
    for n in tp.parallel(N=tp.each):
        if n % 2 == 0:
            y[n] = x[n]


@tp.kernel
def moved_store(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """As many tiles as there are, each moved by one: nothing stores element 0."""
    for i in tp.parallel(N=4):
        s = i.shift(1)
        y[s] = x[s]


@tp.kernel
def two_of_three(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """An elif without an else."""
    for n in tp.parallel(N=tp.each):
        if n < 1:
            y[n] = x[n]
        elif n > 1:
            y[n] = -x[n]


@tp.kernel
def queries_but_one(q: Out[f32, "H"], k: Out[f32, "G"], x: In[f32, "N=H+G"]) -> None:
    """The guard of the first part ends one too early, and that row goes nowhere."""
    queries = tp.dim("H")
    for n in tp.parallel(N=tp.each):
        if n < queries - 1:
            q[n.start] = x[n]
        elif n >= queries:
            k[n - queries] = x[n]


@tp.kernel
def first_tile_of_segment(y: Out[f32, "E"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    """An empty segment has no tile, so no program writes its total."""
    for e, n in tp.parallel(tp.segments(off, N=4)):
        if n.number == 0:
            y[e] = x[n].sum()


@tp.kernel
def never_the_guard(y: Out[f32, "M"], x: In[f32, "M N"]) -> None:
    """No tile of 4 starts at 1."""
    for i, j in tp.parallel(M=2, N=4):
        if j.start == 1:
            y[i] = x[i, j].sum(axis=1)


@tp.kernel
def untouched(y: Out[f32, "N"], z: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The second output is forgotten."""
    for n in tp.parallel(N=4):
        y[n] = x[n]


@tp.kernel
def first_piece(y: Out[f32, "N"], total: Out[f32, "1"], x: In[f32, "N"], *, SN: int = 4) -> None:
    """One piece of several stores its part."""
    for z in tp.parallel(N=tp.split(SN)):
        if z.number == 0:
            y[z] = x[z]
        total[0] = tp.join(x[z].sum(), over=z)


@tp.kernel
def halved_rows(y: Out[f32, "N 4"], x: In[f32, "N 4"]) -> None:
    """Programs of a dimension stop half way."""
    for n in tp.parallel(N=tp.each):
        if n < (tp.dim("N") + 1) // 2:
            y[n, :] = x[n, :]


@tp.kernel
def zero_turns(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The loop of the first program runs no turn."""
    for n in tp.parallel(N=tp.each):
        for _ in range(n):
            y[n] = x[n]


@tp.kernel
def both_halves_low(y: Out[f32, "N 2 D"], x: In[f32, "N D"], *, D: int) -> None:
    """Rotary halves: both go to half 0."""
    for n in tp.parallel(N=tp.each):
        y[n, 0, :] = x[n, :]
        y[n, 0, :] = -x[n, :]


@tp.kernel
def product_below_its_factor(y: Out[f32, "100"], x: In[f32, "K"]) -> None:
    """From the 21st element on the quotient is negative, and less for being multiplied."""
    tp.require(tp.dim("K") >= 2)
    for n in range(100):
        turn = (20 - n) // tp.dim("K")
        if turn * tp.dim("K") >= turn:
            y[n] = x[0]


@tp.kernel
def first_group(y: Out[f32, "H"], x: In[f32, "G"]) -> None:
    """Only without elements is no element left: there are never more groups."""
    for h in tp.parallel(H=tp.each):
        if tp.group(h, "G") == 0:
            y[h] = x[0]


@tp.kernel
def two_groups(y: Out[f32, "G*N"], x: In[f32, "N"], w: In[f32, "G"]) -> None:
    """Two groups are written, however many there are; that there be no more is not for a launch to demand."""
    for n in tp.parallel(N=tp.each):
        for g in range(2):
            y[g * tp.dim("N") + n] = x[n]


@tp.kernel
def one_copy_short(y: Out[f32, "3*N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """Two copies of three."""
    for n in tp.parallel(N=B):
        for copy in range(2):
            y[copy * tp.dim("N") + n.elements] = x[n]


@tp.kernel
def without_the_last_of_a_group(y: Out[f32, "C"], x: In[f32, "C"], w: In[f32, "G"], *, B: int = 2) -> None:
    """Each program stops one short of the next one's channels."""
    tp.require(tp.dim("C") % tp.dim("G") == 0)
    size = tp.dim("C") // tp.dim("G")
    for g in tp.parallel(G=tp.each):
        for c in tp.tiles(C=B, start=g * size, stop=(g + 1) * size - 1):
            y[c] = x[c] * w[g]


@tp.kernel
def not_to_the_first_tile(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """From the last tile on, as many as are full: a short one more is left."""
    for turn in range(tp.dim("N") // B):
        first = (tp.cdiv(tp.dim("N"), B) - 1 - turn) * B
        for n in tp.tiles(N=B, start=first, stop=first + B):
            y[n] = x[n]


@tp.kernel
def one_or_the_other(y: Out[f32, "N"], z: Out[f32, "N"], x: In[f32, "N"], which: i32) -> None:
    """Each is written for some scalars, and no scalar is there that both are written for."""
    for n in tp.parallel(N=4):
        if which >= 2:
            y[n] = x[n]
        if which < 2:
            z[n] = x[n]


@tp.kernel
def steps_of_any_length(y: Out[f32, "N"], x: In[f32, "N"], step: i32, *, B: int = 2) -> None:
    """No turn is taken by steps of 0 or less; of other steps nothing is known, and none is to be demanded."""
    for n in range(0, tp.dim("N"), step):
        for i in tp.tiles(N=B, start=n, stop=n + step):
            y[i] = x[i]


@tp.kernel
def as_many_and_fewer(y: Out[f32, "N"], x: In[f32, "N"], to: In[Unique["N"], "M"]) -> None:
    """As many entries as elements would write all of them, and fewer are there: each program reads one further."""
    for m in tp.parallel(M=tp.each):
        y[to[m]] = x[m + 1]


CASES = [
    Case(first_of_two, lambda: one(blank(5, 2), floats(5)), "coverage"),
    Case(short_slice, lambda: one(blank(5, 4), floats(5)), "coverage"),
    Case(slices_with_a_gap, lambda: one(blank(3, 8), floats(3)), "coverage"),
    Case(lower_triangle, lambda: one(blank(3, 3), floats(3)), "coverage"),
    Case(diagonal, lambda: one(blank(3, 3), floats(3)), "coverage"),
    Case(late_start, lambda: one(blank(2, 6), floats(2, 6)), "coverage"),
    Case(early_stop, lambda: one(blank(2, 6), floats(2, 6)), "coverage"),
    Case(whole_tiles_only, lambda: one(blank(2, 8), floats(2, 8)) + one(blank(2, 6), floats(2, 6)), "coverage"),
    Case(sub_tiles_late, lambda: one(blank(10), floats(10)), "coverage"),
    Case(positive_only, lambda: one(blank(5), floats(5)), "coverage"),
    Case(even_positions, lambda: one(blank(6), floats(3)), "coverage"),
    Case(even_programs, lambda: one(blank(5), floats(5)), "coverage"),
    Case(moved_store, lambda: one(blank(6), floats(6)), "coverage"),
    Case(two_of_three, lambda: one(blank(5), floats(5)), "coverage"),
    Case(queries_but_one, lambda: one(blank(3), blank(2), floats(5)), "coverage"),
    Case(
        first_tile_of_segment,
        lambda: one(blank(2), floats(6), ints(0, 4, 6)) + one(blank(3), floats(6), ints(0, 6, 6, 6)),
        "coverage",
    ),
    Case(never_the_guard, lambda: one(blank(3), floats(3, 6)), "coverage"),
    Case(untouched, lambda: one(blank(5), blank(5), floats(5)), "coverage"),
    Case(first_piece, lambda: one(blank(3), blank(1), floats(3)) + one(blank(9), blank(1), floats(9)), "coverage"),
    Case(halved_rows, lambda: one(blank(1, 4), floats(1, 4)) + one(blank(5, 4), floats(5, 4)), "coverage"),
    Case(zero_turns, lambda: one(blank(3), floats(3)), "coverage"),
    Case(both_halves_low, lambda: one(blank(2, 2, 3), floats(2, 3)), "coverage"),
    Case(product_below_its_factor, lambda: one(blank(100), floats(3)), "coverage"),
    Case(first_group, lambda: one(blank(4), floats(2)), "coverage"),
    Case(two_groups, lambda: one(blank(9), floats(3), floats(3)), "coverage"),
    Case(one_copy_short, lambda: one(blank(9), floats(3)), "coverage"),
    Case(without_the_last_of_a_group, lambda: one(blank(6), floats(6), floats(2)), "coverage"),
    Case(not_to_the_first_tile, lambda: one(blank(9), floats(9)), "coverage"),
    Case(one_or_the_other, lambda: one(blank(3), blank(3), floats(3), 2), "coverage"),
    Case(as_many_and_fewer, lambda: one(blank(3), floats(3), ints(2, 0)), "coverage"),
    Case(steps_of_any_length, lambda: one(blank(3), floats(3), 0), "coverage"),
]
