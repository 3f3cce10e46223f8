"""Kernels that are several in one: optional parameters, splits of one piece, axes and loops of constants."""

from __future__ import annotations

import numpy as np

import tileproof as tp
from tileproof import In, Index, Out, Sum, T, U, f32

from .case import Case, blank, floats, ints, one


@tp.kernel
def biased(y: Out[T, "M N"], x: In[T, "M N"], bias: In[T, "N"] | None, top: Out[U, "M"] | None, *, B: int = 4) -> None:
    """What is not there is neither read nor written, and owes nothing."""
    for m in tp.parallel(M=tp.each):
        best = tp.lowest
        for n in tp.tiles(N=B):
            t = x[m, n]
            if bias is not None:
                t = t + bias[n]
            best = tp.maximum(best, t.max())
            y[m, n] = t
        if top is not None:
            top[m] = best


@tp.kernel
def looked_up(
    y: Out[f32, "N D"], x: In[f32, "N D"], table: In[f32, "V D"] | None, ids: In[Index["V"], "N"] | None,
    scale: f32 | None, *, D: int,
) -> None:  # fmt: skip
    """Two that come together, by a contract; V is a dimension of theirs alone."""
    tp.require((table is None) == (ids is None))
    for n in tp.parallel(N=tp.each):
        t = x[n, :]
        if table is not None and ids is not None:
            t += table[ids[n], :]
        y[n, :] = t if scale is None else t * scale


@tp.kernel
def rows_in_pieces(y: Out[f32, "M"], x: In[f32, "M N"], *, SN: int = 0, B: int = 4) -> None:
    """A split of one piece walks the whole axis, and its join is the value."""
    for m, z in tp.parallel(M=2, N=tp.split(SN)):
        total = tp.zeros((m, B))
        for n in z.tiles(B, start=z.start, stop=z.stop):
            total += x[m, n].fill(0)
        y[m] = tp.join(total.sum(axis=1), over=z)


@tp.kernel
def strided_sums(y: Out[f32, "N"], total: Sum[f32, "1"], x: In[f32, "N"], *, P: int = 3) -> None:
    """So many programs as a constant says, each with every P-th element."""
    for p in tp.parallel(P=tp.each):
        for q in range(tp.cdiv(tp.dim("N") - p, P)):
            y[q * P + p] = x[q * P + p]
            total[0] += x[q * P + p]


@tp.kernel
def of_any_rank(y: Out[T, "M... N"], x: In[T, "M... N"], w: In[T, "N"], *, BM: int = 2, BN: int = 4) -> None:
    """Leading axes are walked each by itself."""
    for m, n in tp.parallel(M=BM, N=BN):
        y[m, n] = x[m, n] * w[n]


@tp.kernel
def written_out(y: Out[f32, "N 8"], x: In[f32, "N 8"]) -> None:
    """Slices of a loop that is written out join up."""
    for n in tp.parallel(N=4):
        row = x[n, :]
        for g in tp.static_range(4):
            y[n, 2 * g : 2 * g + 2] = row[:, 6 - 2 * g : 8 - 2 * g]


CASES = [
    Case(
        biased,
        lambda: one(blank(3, 6), floats(3, 6), floats(6), blank(3)) + one(blank(0, 6), floats(0, 6), None, None)
        + one(blank(3, 6), floats(3, 6), None, blank(3)),
    ),
    Case(
        looked_up,
        lambda: one(blank(3, 4), floats(3, 4), floats(2, 4), ints(1, 0, 1), 2.0)
        + one(blank(3, 4), floats(3, 4), None, None, None),
    ),
    Case(
        rows_in_pieces,
        lambda: [(list(arguments), {"SN": size}) for size in (0, 4) for arguments in (
            (blank(3), floats(3, 9)), (blank(3), floats(3, 0)), (blank(0), np.zeros((0, 3), np.float32)))],
    ),
    Case(strided_sums, lambda: one(blank(8), blank(1), floats(8)) + one(blank(2), blank(1), floats(2), P=5)),
    Case(
        of_any_rank,
        lambda: [launch for shape in ((6,), (3, 6), (2, 3, 6), (2, 0, 6), (2, 1, 3, 6))
                 for launch in one(blank(*shape), floats(*shape), floats(6))],
    ),
    Case(written_out, lambda: one(blank(5, 8), floats(5, 8))),
]  # fmt: skip
