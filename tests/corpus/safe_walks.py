"""Kernels that are safe by their walkers: own tiles, slices that join up, guards that pick one program."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import tileproof as tp
from tileproof import In, InOut, Out, Sum, T, f8e4m3, f32, i32

from .case import Case, blank, floats, one


@tp.kernel
def scale_rows(y: Out[T, "M N"], x: In[T, "M N"], by: In[T, "M"], *, BN: int = 4) -> None:
    """One walker of single elements, one of tiles."""
    for i, j in tp.parallel(M=tp.each, N=BN):
        y[i, j] = x[i, j] * by[i]


@tp.kernel
def odd_tiles(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 6) -> None:
    """Parts of 4 do not divide a tile of 6, and are clipped at its end."""
    for i in tp.parallel(N=B):
        for s in i.tiles(4):
            y[s] = x[s] * 2


@tp.kernel
def parts_of_one_element(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 1) -> None:
    """A tile of one element has one part, whatever the size of parts."""
    for i in tp.parallel(N=B):
        for s in i.tiles(2):
            y[s] = -x[s]


@tp.kernel
def joined_slices(y: Out[f32, "N 8"], x: In[f32, "N"]) -> None:
    """Three slices make the whole axis."""
    for n in tp.parallel(N=4):
        y[n, 0:3] = x[n][:, None]
        y[n, 3:5] = -x[n][:, None]
        y[n, 5:8] = 0.0


@tp.kernel
def part_of_a_row(y: InOut[f32, "N 8"], x: In[f32, "N 8"]) -> None:
    """A slice that ends inside the axis writes nothing behind it."""
    for n in tp.parallel(N=4):
        y[n, 0:3] = x[n, 5:8]


@tp.kernel
def column_by_column(y: Out[f32, "N 2"], x: In[f32, "N"]) -> None:
    """Constant positions make the whole axis."""
    for n in tp.parallel(N=4):
        y[n, 0] = x[n]
        y[n, 1] = -x[n]


@tp.kernel
def prefix_and_rest(y: InOut[f32, "R C"], x: In[f32, "R C"], much: i32, *, BC: int = 4) -> None:
    """Two walks meet at a scalar: the tiles of the second count from there."""
    for r in tp.parallel(R=tp.each):
        cut = tp.clip(much, 0, tp.dim("C"))
        for c in tp.tiles(C=BC, stop=cut):
            y[r, c] = x[r, c]
        for c in tp.tiles(C=BC, start=cut):
            y[r, c] = -x[r, c]


@tp.kernel
def prefix_only(y: InOut[f32, "R C"], x: In[f32, "R C"], much: i32, *, BC: int = 4) -> None:
    """A walk that ends inside its axis leaves the rest as it was."""
    for r in tp.parallel(R=tp.each):
        for c in tp.tiles(C=BC, stop=much):
            y[r, c] = x[r, c]


@tp.kernel
def partial_sums(parts: Out[f32, "N/B"], x: In[f32, "N"], *, B: int = 4) -> None:
    """One element for each tile."""
    for i in tp.parallel(N=B):
        parts[i.number] = x[i].sum()


@tp.kernel
def partial_rows(parts: Out[f32, "M/BM N"], x: In[f32, "M N"], *, BM: int = 2, BN: int = 4) -> None:
    """A row for each tile of rows."""
    for i, j in tp.parallel(M=BM, N=BN):
        parts[i.number, j] = x[i, j].sum(axis=0)


@tp.kernel
def add_partials(y: Out[f32, "N"], x: In[f32, "N"], parts: In[f32, "N/B"], *, B: int = 4) -> None:
    """A running total from the totals of the tiles before."""
    for i in tp.parallel(N=B):
        before = 0.0
        for p in range(i.number):
            before += parts[p]
        y[i] = before + x[i].cumsum()


@tp.kernel
def guarded_total(y: Out[f32, "H S D"], lse: Out[f32, "H S"], x: In[f32, "H S D"], *, BS: int = 2, BD: int = 4) -> None:
    """The second output is written by the first tile of the axis it lacks; the launch must have one."""
    for h, s, d in tp.parallel(H=tp.each, S=BS, D=BD):
        y[h, s, d] = x[h, s, d]
        if d.start == 0:
            lse[h, s] = x[h, s, d].max(axis=1)


@tp.kernel
def required_witness(top: Out[f32, "M"], x: In[f32, "M N"]) -> None:
    """The contract says that there is a first element."""
    tp.require(tp.dim("N") >= 1)
    for i, j in tp.parallel(M=2, N=tp.each):
        if j == 0:
            top[i] = x[i, j]


@tp.kernel
def last_witness(last: Out[f32, "M"], x: In[f32, "M N"]) -> None:
    """The last element writes instead of the first."""
    tp.require(tp.dim("N") >= 1)
    for i, j in tp.parallel(M=2, N=tp.each):
        if j == tp.dim("N") - 1:
            last[i] = x[i, j]


@tp.kernel
def both_branches(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Each side of the branch stores."""
    for n in tp.parallel(N=tp.each):
        if n % 2 == 0:
            y[n] = x[n]
        else:
            y[n] = -x[n]


@tp.kernel
def branch_by_value(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """What decides is a value; both sides store."""
    for n in tp.parallel(N=4):
        if x[n].max() > 3:
            y[n] = x[n]
        else:
            y[n] = 0.0


@tp.kernel
def square_either_way(g: Out[f32, "N N"], x: In[f32, "N"], *, B: int = 2) -> None:
    """Transposed stores: the tile at (j, i) has one writer too."""
    for i, j in tp.parallel(("N", B), ("N", B)):
        g[j, i] = x[j][:, None] * x[i]


@tp.kernel
def upper_and_lower(g: InOut[f32, "N N"], x: In[f32, "N"]) -> None:
    """Half of the programs write both elements of a pair."""
    for i, j in tp.parallel(("N", tp.each), ("N", tp.each)):
        if i <= j:
            v = x[i] * x[j]
            g[i, j] = v
            g[j, i] = v


@tp.kernel
def residual(x: InOut[T, "N D"], more: In[T, "N D"], *, BD: int = 4) -> None:
    """In place, each its own."""
    for n, d in tp.parallel(N=tp.each, D=BD):
        x[n, d] += more[n, d]


@tp.kernel
def softmax_in_place(x: InOut[f32, "R C"], *, BC: int = 4) -> None:
    """Three walks over a row that is the program's own."""
    for r in tp.parallel(R=tp.each):
        top, total = tp.lowest, 0.0
        for c in tp.tiles(C=BC):
            top = tp.maximum(top, x[r, c].max())
        for c in tp.tiles(C=BC):
            x[r, c] = tp.exp(x[r, c] - top)
        for c in tp.tiles(C=BC):
            total += x[r, c].sum()
        for c in tp.tiles(C=BC):
            x[r, c] = x[r, c] / total


@tp.kernel
def take_and_clear(y: Out[f32, "N"], x: InOut[f32, "N"]) -> None:
    """Within a program, accesses happen in order: what was read stays read."""
    for i in tp.parallel(N=4):
        a = x[i]
        x[i] = 0.0
        y[i] = a


@tp.kernel
def scan_row_in_place(x: InOut[f32, "R C"]) -> None:
    """Neighbours along an axis that one program owns."""
    for r in tp.parallel(R=tp.each):
        for c in range(1, tp.dim("C")):
            x[r, c] = x[r, c] + x[r, c - 1]


@tp.kernel
def one_program(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """Without a space there is nobody to race with."""
    total = 0.0
    for n in tp.tiles(N=B):
        y[n] = total + x[n].cumsum()
        total += x[n].sum()


@tp.kernel
def one_program_in_place(x: InOut[f32, "N"]) -> None:
    """One program may read what it wrote anywhere."""
    for n in tp.tiles(N=tp.each):
        if n > 0:
            x[n] = x[n] + x[n - 1]


@tp.kernel
def total_of_all(y: Out[f32, ""], x: In[f32, "N"]) -> None:
    """A tensor without axes."""
    total = 0.0
    for n in tp.tiles(N=4):
        total += x[n].sum()
    y[()] = total


def put(y: Any, at: Any, value: Any) -> None:
    """A store of the caller."""
    y[at] = value


@tp.kernel
def helper_stores(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """A store in a helper is as good as one in place."""
    for n in tp.parallel(N=4):
        put(y, n, x[n])


@tp.kernel
def store_in_loop(y: Out[f32, "M"], x: In[f32, "M K"]) -> None:
    """Every turn stores the total so far; the contract says that there is a turn."""
    tp.require(tp.dim("K") >= 1)
    for i in tp.parallel(M=2):
        acc = tp.zeros((i,))
        for k in tp.tiles(K=4):
            acc = acc + x[i, k].sum(axis=1)
            y[i] = acc


@tp.kernel
def moved_store_in_place(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """Shifted tiles are as far apart as the tiles."""
    for i in tp.parallel(N=4):
        s = i.shift(1)
        y[s] = x[s]


@tp.kernel
def two_outputs(low: Out[f32, "N"], high: Out[f32, "N"], x: In[f32, "N 4"]) -> None:
    """Each output is covered by a store of its own."""
    for n in tp.parallel(N=4):
        low[n], high[n] = x[n, :].min(axis=1), x[n, :].max(axis=1)


@tp.kernel
def twice_written(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """A program may write its element again."""
    for n in tp.parallel(N=4):
        y[n] = 0.0
        if x[n].max() > 3:
            y[n] = x[n]


@tp.kernel
def matmul_added(c: Sum[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, B: int = 4) -> None:
    """The inner dimension is walked in parallel, and the parts are added in memory."""
    for i, j, k in tp.parallel(M=B, N=B, K=B):
        c[i, j] += a[i, k] @ b[k, j]


@tp.kernel
def matmul_bytes(c: Out[f8e4m3, "M N"], a: In[f8e4m3, "M K"], b: In[f8e4m3, "N K"], *, B: int = 4) -> None:
    """A product of 8-bit floats, one to a byte, so neighbours never share one."""
    for i, j in tp.parallel(M=B, N=B):
        acc = tp.zeros((i, j))
        for k in tp.tiles(K=B):
            acc = tp.mma(a[i, k], b[j, k].T, acc)
        c[i, j] = acc


@tp.kernel
def group_by_group(y: Out[f32, "C"], means: Out[f32, "G"], x: In[f32, "C"], *, B: int = 2) -> None:
    """A program for each group, which walks the channels of its own."""
    tp.require(tp.dim("C") % tp.dim("G") == 0)
    size = tp.dim("C") // tp.dim("G")
    for g in tp.parallel(G=tp.each):
        total = 0.0
        for c in tp.tiles(C=B, start=g * size, stop=(g + 1) * size):
            total += x[c].sum()
        means[g] = total / size.to(f32)
        for c in tp.tiles(C=B, start=g * size, stop=(g + 1) * size):
            y[c] = x[c] - total / size.to(f32)


@tp.kernel
def from_the_last_tile(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """Tiles are walked from the end to the start, and what lies behind is carried along."""
    total, tiles = 0.0, tp.cdiv(tp.dim("N"), B)
    for turn in range(tiles):
        first = (tiles - 1 - turn) * B
        for n in tp.tiles(N=B, start=first, stop=first + B):
            behind = x[n].sum() - x[n].cumsum()
            y[n] = total + behind
            total += x[n].sum()


CASES = [
    Case(scale_rows, lambda: one(blank(3, 6), floats(3, 6), floats(3)) + one(blank(0, 6), floats(0, 6), floats(0))),
    Case(odd_tiles, lambda: one(blank(16), floats(16)) + one(blank(1), floats(1))),
    Case(parts_of_one_element, lambda: one(blank(5), floats(5)) + one(blank(0), floats(0))),
    Case(joined_slices, lambda: one(blank(5, 8), floats(5))),
    Case(part_of_a_row, lambda: one(blank(5, 8), floats(5, 8))),
    Case(column_by_column, lambda: one(blank(5, 2), floats(5))),
    Case(
        prefix_and_rest,
        lambda: [launch for cut in (-1, 0, 3, 9) for launch in one(blank(2, 6), floats(2, 6), cut)],
    ),
    Case(prefix_only, lambda: one(blank(2, 6), floats(2, 6), 3) + one(blank(2, 6), floats(2, 6), 9)),
    Case(partial_sums, lambda: one(blank(2), floats(6)) + one(blank(0), floats(0))),
    Case(partial_rows, lambda: one(blank(2, 5), floats(3, 5))),
    Case(add_partials, lambda: one(blank(10), floats(10), floats(3))),
    Case(guarded_total, lambda: one(blank(2, 3, 5), blank(2, 3), floats(2, 3, 5))),
    Case(required_witness, lambda: one(blank(3), floats(3, 4)) + one(blank(3), floats(3, 1))),
    Case(last_witness, lambda: one(blank(3), floats(3, 4)) + one(blank(3), floats(3, 1))),
    Case(both_branches, lambda: one(blank(5), floats(5))),
    Case(branch_by_value, lambda: one(blank(6), -floats(6)) + one(blank(6), floats(6))),
    Case(square_either_way, lambda: one(blank(5, 5), floats(5))),
    Case(upper_and_lower, lambda: one(blank(4, 4), floats(4))),
    Case(residual, lambda: one(floats(3, 6), floats(3, 6))),
    Case(softmax_in_place, lambda: one(floats(2, 6))),
    Case(take_and_clear, lambda: one(blank(6), floats(6))),
    Case(scan_row_in_place, lambda: one(floats(3, 4)) + one(floats(3, 0))),
    Case(one_program, lambda: one(blank(6), floats(6))),
    Case(one_program_in_place, lambda: one(floats(5))),
    Case(total_of_all, lambda: one(blank(), floats(6))),
    Case(helper_stores, lambda: one(blank(6), floats(6))),
    Case(store_in_loop, lambda: one(blank(3), floats(3, 6))),
    Case(moved_store_in_place, lambda: one(blank(10), floats(10)) + one(blank(9), floats(9))),
    Case(two_outputs, lambda: one(blank(6), blank(6), floats(6, 4))),
    Case(twice_written, lambda: one(blank(6), floats(6))),
    Case(matmul_added, lambda: one(blank(5, 6), floats(5, 7), floats(7, 6))),
    Case(matmul_bytes, lambda: one(*(np.ones(shape, ml_dtypes.float8_e4m3fn) for shape in ((5, 6), (5, 3), (6, 3))))),
    Case(group_by_group, lambda: one(blank(12), blank(3), floats(12)) + one(blank(0), blank(2), floats(0))),
    Case(from_the_last_tile, lambda: one(blank(9), floats(9)) + one(blank(0), floats(0))),
]
