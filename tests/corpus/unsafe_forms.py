"""Twins of `safe_forms` with a fault that one form, one piece or one turn has."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, Index, InOut, Out, T, U, f32

from .case import Case, blank, floats, one


@tp.kernel
def untested(y: Out[T, "M N"], x: In[T, "M N"], bias: In[T, "N"] | None, *, B: int = 4) -> None:
    """Read whether or not it is there."""
    for m, n in tp.parallel(M=tp.each, N=B):
        y[m, n] = x[m, n] + bias[n]


@tp.kernel
def covered_with_a_bias(y: Out[T, "M N"], x: In[T, "M N"], bias: In[T, "N"] | None, *, B: int = 4) -> None:
    """Without a bias nothing is written."""
    for m, n in tp.parallel(M=tp.each, N=B):
        if bias is not None:
            y[m, n] = x[m, n] + bias[n]


@tp.kernel
def apart_with_ids(y: InOut[f32, "N"], x: In[f32, "M N"], ids: In[Index["N"], "M"] | None) -> None:
    """Without ids all programs write one element."""
    for m in tp.parallel(M=tp.each):
        if ids is None:
            y[0] = x[m, 0]


@tp.kernel
def size_of_nothing(y: Out[f32, "N"], x: In[f32, "N"], w: In[U, "N K"] | None) -> None:
    """K is a dimension of what may not be there."""
    for n in tp.parallel(N=4):
        y[n] = x[n] / tp.dim("K").to(f32)


@tp.kernel
def every_piece_stores(y: InOut[f32, "M"], x: In[f32, "M N"], *, SN: int = 0, B: int = 4) -> None:
    """In one piece no two programs meet, but all rows write the first element."""
    for m, z in tp.parallel(M=tp.each, N=tp.split(SN)):
        total = 0.0
        for n in z.tiles(B):
            total += x[m, n].sum()
        y[z.start] = tp.join(total, over=z)


@tp.kernel
def behind_the_end(y: Out[f32, "M"], x: In[f32, "M N"], *, SN: int = 0) -> None:
    """The end of the only piece is the end of the axis."""
    for m, z in tp.parallel(M=tp.each, N=tp.split(SN)):
        y[m] = tp.join(x[m, z.stop], over=z)


@tp.kernel
def all_of_it_each(y: Out[f32, "N"], x: In[f32, "N"], *, P: int = 3) -> None:
    """Programs that a constant counts all write everything."""
    for _ in tp.parallel(P=tp.each):
        for n in tp.tiles(N=4):
            y[n] = x[n]


@tp.kernel
def beyond_the_programs(y: Out[f32, "N"], x: In[f32, "N"], *, P: int = 3) -> None:
    """P is a dimension of its own: there may be more programs than elements."""
    for p in tp.parallel(P=tp.each):
        y[p] = x[p]


@tp.kernel
def rows_on_one_another(y: InOut[T, "N"], x: In[T, "M... N"], *, B: int = 4) -> None:
    """Without leading axes no two programs meet; with one they do."""
    for m, n in tp.parallel(M=tp.each, N=B):
        y[n] = x[m, n]


@tp.kernel
def planes_on_one_another(y: InOut[T, "B N"], x: In[T, "M... N"]) -> None:
    """Of two leading axes the first is left out."""
    for m, n in tp.parallel(M=tp.each, N=4):
        y[0, n] = x[m, n]


@tp.kernel
def one_turn_short(y: Out[f32, "N 8"], x: In[f32, "N 8"]) -> None:
    """Three slices of four."""
    for n in tp.parallel(N=4):
        for g in tp.static_range(3):
            y[n, 2 * g : 2 * g + 2] = x[n, 2 * g : 2 * g + 2]


@tp.kernel
def one_turn_too_far(y: Out[f32, "N"], x: In[f32, "N 8"]) -> None:
    """The fifth slice of four."""
    for n in tp.parallel(N=4):
        total = tp.zeros((n,))
        for g in tp.static_range(5):
            total += x[n, 2 * g]
        y[n] = total


CASES = [
    Case(untested.without("bias"), lambda: one(blank(3, 6), floats(3, 6)), fault="access"),
    Case(covered_with_a_bias.without("bias"), lambda: one(blank(3, 6), floats(3, 6)), fault="coverage"),
    Case(apart_with_ids.without("ids"), lambda: one(blank(6), floats(3, 6)), fault="race"),
    Case(size_of_nothing.without("w"), lambda: one(blank(6), floats(6)), fault="access"),
    Case(every_piece_stores, lambda: one(blank(3), floats(3, 6)), fault="race"),
    Case(behind_the_end, lambda: one(blank(3), floats(3, 6)), fault="bounds"),
    Case(all_of_it_each, lambda: one(blank(6), floats(6)), fault="race"),
    Case(beyond_the_programs, lambda: one(blank(2), floats(2)), fault="dimension"),
    Case(rows_on_one_another, lambda: one(blank(6), floats(3, 6)), fault="race"),
    Case(planes_on_one_another.with_leading(2), lambda: one(blank(1, 6), floats(2, 3, 6)), fault="race"),
    Case(one_turn_short, lambda: one(blank(3, 8), floats(3, 8)), fault="coverage"),
    Case(one_turn_too_far, lambda: one(blank(3), floats(3, 8)), fault="dimension"),
]
