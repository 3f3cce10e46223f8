"""Segments that end before their dimension does."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, InOut, Offsets, Out, Unique, f32

from .case import Case, blank, floats, ints, one


@tp.kernel
def padded_segments(y: InOut[f32, "N"], x: In[f32, "N"], off: In[Offsets["<=N"], "E+1"]) -> None:
    """What is behind the last border keeps its value."""
    for _e, i in tp.parallel(tp.segments(off, N=2)):
        y[i] = x[i]


@tp.kernel
def filled_rest(y: Out[f32, "N"], x: In[f32, "N"], w: In[f32, "E"], off: In[Offsets["<=N"], "E+1"]) -> None:
    """The program of the last segment fills what is behind it."""
    tp.require(tp.dim("E") >= 1)
    for e in tp.parallel(E=tp.each):
        for n in tp.tiles(N=2, start=off[e.start], stop=off[e + 1]):
            y[n] = x[n] * w[e]
        if e == tp.dim("E") - 1:
            for n in tp.tiles(N=4, start=off[e + 1]):
                y[n] = tp.zeros((n,))


@tp.kernel
def last_of_each(y: Out[f32, "E"], x: In[f32, "N"], off: In[Offsets["<=N"], "E+1"]) -> None:
    """A segment that is not empty has a last element."""
    for e in tp.parallel(E=tp.each):
        v = 0.0
        if off[e.start] < off[e + 1]:
            v = x[off[e + 1] - 1]
        y[e] = v


@tp.kernel
def segments_alone(y: Out[f32, "N"], x: In[f32, "N"], off: In[Offsets["<=N"], "E+1"]) -> None:
    """Nobody writes what is behind the last border."""
    for _e, i in tp.parallel(tp.segments(off, N=2)):
        y[i] = x[i]


@tp.kernel
def loops_alone(y: Out[f32, "N"], x: In[f32, "N"], w: In[f32, "E"], off: In[Offsets["<=N"], "E+1"]) -> None:
    """Nor here."""
    for e in tp.parallel(E=tp.each):
        for n in tp.tiles(N=2, start=off[e.start], stop=off[e + 1]):
            y[n] = x[n] * w[e]


@tp.kernel
def filled_too_late(y: Out[f32, "N"], x: In[f32, "N"], w: In[f32, "E"], off: In[Offsets["<=N"], "E+1"]) -> None:
    """The first element behind the last border is left out."""
    tp.require(tp.dim("E") >= 1)
    for e in tp.parallel(E=tp.each):
        for n in tp.tiles(N=2, start=off[e.start], stop=off[e + 1]):
            y[n] = x[n] * w[e]
        if e == tp.dim("E") - 1:
            for n in tp.tiles(N=4, start=off[e + 1] + 1):
                y[n] = tp.zeros((n,))


@tp.kernel
def filled_by_all(y: InOut[f32, "N"], x: In[f32, "E"], off: In[Offsets["<=N"], "E+1"]) -> None:
    """Every program fills the rest."""
    for e in tp.parallel(E=tp.each):
        for n in tp.tiles(N=4, start=off[tp.dim("E")]):
            y[n] = tp.zeros((n,)) + x[e]


@tp.kernel
def counted_segments(y: Out[f32, "M"], off: In[Offsets["<=N"], "E+1"], slots: In[Unique["M"], "N"]) -> None:
    """As many entries as elements, of which the segments need not have all."""
    for _e, i in tp.parallel(tp.segments(off, N=tp.each)):
        y[slots[i]] = 1.0


@tp.kernel
def up_to_the_last(y: Out[f32, "N"], x: In[f32, "N"], off: In[Offsets["<=N"], "E+1"]) -> None:
    """One program, from the beginning to the last border."""
    for n in tp.tiles(N=4, stop=off[tp.dim("E")]):
        y[n] = x[n]


SAFE = [
    Case(padded_segments, lambda: one(blank(7), floats(7), ints(0, 2, 2, 5)) + one(blank(3), floats(3), ints(0))),
    Case(filled_rest, lambda: one(blank(7), floats(7), floats(3), ints(0, 2, 2, 5))),
    Case(last_of_each, lambda: one(blank(3), floats(7), ints(0, 2, 2, 5))),
]
UNSAFE = [
    Case(segments_alone, lambda: one(blank(7), floats(7), ints(0, 2, 5)), "coverage"),
    Case(loops_alone, lambda: one(blank(7), floats(7), floats(2), ints(0, 2, 5)), "coverage"),
    Case(filled_too_late, lambda: one(blank(7), floats(7), floats(2), ints(0, 2, 5)), "coverage"),
    Case(filled_by_all, lambda: one(blank(7), floats(2), ints(0, 2, 5)), "race"),
    Case(counted_segments, lambda: one(blank(5), ints(0, 2, 4), ints(4, 3, 2, 1, 0)), "coverage"),
    Case(up_to_the_last, lambda: one(blank(7), floats(7), ints(0, 2, 5)), "coverage"),
]
