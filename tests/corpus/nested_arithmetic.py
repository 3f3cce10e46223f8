"""Indices computed from indices, again and again: clamps, mirrors, remainders, quotients, minima of minima."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, Out, f32, i32

from .case import Case, blank, floats, ints, one


@tp.kernel
def clipped_walk(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Each step ends inside."""
    for n in tp.parallel(N=tp.each):
        p, last = n, tp.dim("N") - 1
        p = tp.clip(p + 1, 0, last)
        p = tp.clip(p - 2, 0, last)
        p = tp.clip(p + 3, 0, last)
        p = tp.clip(p - 4, 0, last)
        p = tp.clip(p + 5, 0, last)
        p = tp.clip(p - 6, 0, last)
        p = tp.clip(p + 7, 0, last)
        p = tp.clip(p - 8, 0, last)
        y[n] = x[p]


@tp.kernel
def clipped_too_late(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The last step ends at N."""
    for n in tp.parallel(N=tp.each):
        p, last = n, tp.dim("N")
        p = tp.clip(p - 1, 0, last)
        p = tp.clip(p + 2, 0, last)
        p = tp.clip(p - 3, 0, last)
        p = tp.clip(p + 4, 0, last)
        p = tp.clip(p - 5, 0, last)
        p = tp.clip(p + 6, 0, last)
        y[n] = x[p]


@tp.kernel
def reflected_walk(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """A step to the left, and back from either end; one element has no other."""
    tp.require(tp.dim("N") >= 2)
    for n in tp.parallel(N=tp.each):
        p, twice = n, 2 * tp.dim("N") - 2
        p = abs(p - 1)
        p = tp.minimum(p, twice - p)
        p = abs(p - 1)
        p = tp.minimum(p, twice - p)
        p = abs(p - 1)
        p = tp.minimum(p, twice - p)
        p = abs(p - 1)
        p = tp.minimum(p, twice - p)
        y[n] = x[p]


@tp.kernel
def reflected_too_late(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """N is its own mirror image."""
    for n in tp.parallel(N=tp.each):
        p, twice = n, 2 * tp.dim("N")
        p = abs(p + 1)
        p = tp.minimum(p, twice - p)
        p = abs(p + 1)
        p = tp.minimum(p, twice - p)
        p = abs(p + 1)
        p = tp.minimum(p, twice - p)
        y[n] = x[p]


@tp.kernel
def congruential(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """A remainder is less than its divisor, whatever it is of."""
    for n in tp.parallel(N=tp.each):
        r = (n * n + 7) % tp.dim("N")
        r = (r * n + 7) % tp.dim("N")
        r = (r * n + 7) % tp.dim("N")
        r = (r * n + 7) % tp.dim("N")
        r = (r * n + 7) % tp.dim("N")
        r = (r * n + 7) % tp.dim("N")
        y[n] = x[r]


@tp.kernel
def congruential_of_another(y: Out[f32, "N"], x: In[f32, "N"], z: In[f32, "M"]) -> None:
    """Where M is larger, so may the remainder be."""
    for n in tp.parallel(N=tp.each):
        r = (n * n + 7) % tp.dim("M")
        r = (r * n + 7) % tp.dim("M")
        r = (r * n + 7) % tp.dim("M")
        r = (r * n + 7) % tp.dim("M")
        y[n] = x[r]


@tp.kernel
def least_of_many(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The least of what is not negative is none either, and it is no more than the first."""
    for n in tp.parallel(N=tp.each):
        p = n
        for k in range(1, 4):
            p = tp.minimum(tp.minimum(p, k * n), tp.minimum(n // k, n + k))
            p = tp.minimum(tp.minimum(p, k), tp.minimum(n * n, tp.dim("N") - 1 - n))
            p = tp.minimum(tp.minimum(p, n + 9), tp.minimum(n // 2, n // 3))
        y[n] = x[p]


@tp.kernel(deny_checks=True)
def least_of_one_below(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """One of them is negative."""
    for n in tp.parallel(N=tp.each):
        p = n
        for k in range(1, 4):
            p = tp.minimum(tp.minimum(p, k * n), tp.minimum(n // k, n - k))
            p = tp.minimum(tp.minimum(p, k), tp.minimum(n * n, tp.dim("N") - 1 - n))
            p = tp.minimum(tp.minimum(p, n + 9), tp.minimum(n // 2, n // 3))
        y[n] = x[p]


@tp.kernel(deny_checks=True)
def pieces_of_a_length(y: Out[f32, "N"], x: In[f32, "C S"], used: In[i32, "1"], *, P: int = 2) -> None:
    """A length in equal pieces: none begins before 0, for a quotient has the sign of what is divided."""
    for n in tp.parallel(N=tp.each):
        rows = tp.cdiv(tp.clip(used[0], 0, tp.dim("C") * tp.dim("S")), tp.dim("S"))
        total = 0.0
        for c in tp.tiles(C=tp.each, start=n * tp.cdiv(rows, tp.cdiv(tp.dim("N"), P)), stop=rows):
            total += x.get((c, 0), 0.0)
        y[n] = total


@tp.kernel(deny_checks=True)
def pieces_of_any_length(y: Out[f32, "N"], x: In[f32, "C S"], used: In[i32, "1"], *, P: int = 2) -> None:
    """A length below 0 has pieces that begin before 0."""
    for n in tp.parallel(N=tp.each):
        rows = tp.cdiv(tp.minimum(used[0], tp.dim("C") * tp.dim("S")), tp.dim("S"))
        total = 0.0
        for c in tp.tiles(C=tp.each, start=n * tp.cdiv(rows, tp.cdiv(tp.dim("N"), P)), stop=rows):
            total += x.get((c, 0), 0.0)
        y[n] = total


@tp.kernel
def quotient_of_one_before(y: Out[f32, "N"], x: In[f32, "N"], z: In[f32, "S"]) -> None:
    """-1 // S is -1."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[(n - 1) // tp.dim("S")]


@tp.kernel
def remainder_by_some(y: Out[f32, "N"], x: In[f32, "N"], z: In[f32, "M"]) -> None:
    """A remainder by a number above 0 is not negative."""
    tp.require(tp.dim("M") > 0)
    for n in tp.parallel(N=tp.each):
        y[n] = x[n + tp.minimum((n - 2) % tp.dim("M"), 0)]


@tp.kernel
def remainder_by_none(y: Out[f32, "N"], x: In[f32, "N"], z: In[f32, "M"]) -> None:
    """-2 % 0 is -2."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[n + tp.minimum((n - 2) % tp.dim("M"), 0)]


SAFE = [
    Case(remainder_by_some, lambda: one(blank(5), floats(5), floats(2))),
    Case(clipped_walk, lambda: [*one(blank(5), floats(5)), *one(blank(1), floats(1)), *one(blank(20), floats(20))]),
    Case(reflected_walk, lambda: [*one(blank(5), floats(5)), *one(blank(2), floats(2))]),
    Case(congruential, lambda: [*one(blank(5), floats(5)), *one(blank(1), floats(1))]),
    Case(least_of_many, lambda: [*one(blank(5), floats(5)), *one(blank(1), floats(1))]),
    Case(pieces_of_a_length, lambda: [*one(blank(5), floats(9, 2), ints(7)), *one(blank(3), floats(4, 3), ints(-3))]),
]
UNSAFE = [
    Case(remainder_by_none, lambda: one(blank(3), floats(3), floats(0)), "sizes"),
    Case(clipped_too_late, lambda: one(blank(5), floats(5)), "bounds"),
    Case(reflected_too_late, lambda: one(blank(5), floats(5)), "bounds"),
    Case(congruential_of_another, lambda: one(blank(2), floats(2), floats(9)), "bounds"),
    Case(least_of_one_below, lambda: one(blank(5), floats(5)), "bounds"),
    Case(pieces_of_any_length, lambda: one(blank(5), floats(9, 2), ints(-8)), "bounds"),
    Case(quotient_of_one_before, lambda: one(blank(3), floats(3), floats(2)), "bounds"),
]
