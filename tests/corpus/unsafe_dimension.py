"""Kernels whose dimensions and tags do not agree: the front end refuses them."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, InOut, Offsets, Out, T, f32

from .case import Case, blank, floats, ints, one


@tp.kernel
def matmul_swapped(c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "K N"], *, B: int = 4) -> None:
    """`a[k, i]` for `a[i, k]`."""
    for i, j in tp.parallel(M=B, N=B):
        acc = tp.zeros((i, j), f32)
        for k in tp.tiles(K=B):
            acc = tp.mma(a[k, i], b[k, j], acc)
        c[i, j] = acc


@tp.kernel
def matmul_inner(c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "N K"], *, B: int = 4) -> None:
    """The second operand is not transposed: K meets N."""
    for i, j in tp.parallel(M=B, N=B):
        acc = tp.zeros((i, j), f32)
        for k in tp.tiles(K=B):
            acc = tp.mma(a[i, k], b[j, k], acc)
        c[i, j] = acc


@tp.kernel
def missing_axis(y: Out[f32, "M N"], x: In[f32, "M N"]) -> None:
    """A row is stored where a tile is."""
    for i, j in tp.parallel(M=4, N=4):
        y[i] = x[i, j]


@tp.kernel
def tile_plus_one(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """A sized walker has no arithmetic: one element, or one tile?"""
    for i in tp.parallel(N=4):
        y[i] = x[i + 1]


@tp.kernel
def up_half(y: Out[f32, "I"], w: In[f32, "2*I K"]) -> None:
    """A walker plus an extent: the unit is not said, and the axis is another dimension."""
    for i in tp.parallel(I=4):
        y[i] = w[i + tp.dim("I"), 0]


@tp.kernel
def store_of_another_tile(y: InOut[f32, "M"], x: In[f32, "N"]) -> None:
    """A tile of N goes into M."""
    for i, j in tp.parallel(M=4, N=4):
        y[i] = x[j]


@tp.kernel
def square_bias(y: Out[f32, "M N"], x: In[f32, "M N"], b: In[f32, "M"]) -> None:
    """With square tiles numpy would add the bias along the wrong axis."""
    for i, j in tp.parallel(M=4, N=4):
        y[i, j] = x[i, j] + b[i]


@tp.kernel
def open_colon(y: Out[f32, "N"], x: In[f32, "N D"]) -> None:
    """All of a dimension whose extent is not known."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[n, :].sum()


@tp.kernel
def slope_of_tiles(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """A shifted tile has a length of its own."""
    for i in tp.parallel(N=4):
        y[i] = x[i.shift(1)] - x[i]


@tp.kernel
def carried_tile(y: Out[f32, "M"], x: In[f32, "M K"]) -> None:
    """The short last tile would meet a full one."""
    for i in tp.parallel(M=4):
        kept = 0.0
        for k in tp.tiles(K=4):
            kept = kept + x[i, k]
        y[i] = kept.sum(axis=1)


@tp.kernel
def reshaped_edge(y: Out[f32, "N/4"], x: In[f32, "N"]) -> None:
    """A tile that may be short has no pairs."""
    for n in tp.parallel(N=4):
        y[n.number] = x[n].reshape(2, 2).sum()


@tp.kernel
def seventh_of_four(y: Out[f32, "N"], x: In[f32, "4 N"]) -> None:
    """A constant index outside a fixed axis."""
    for n in tp.parallel(N=4):
        y[n] = x[7, n]


@tp.kernel
def last_of_python(y: Out[f32, "N"], x: In[f32, "K N"]) -> None:
    """A negative position does not count from the end."""
    for n in tp.parallel(N=4):
        y[n] = x[-1, n]


@tp.kernel
def row_as_column(y: Out[f32, "M N"], x: In[f32, "M N"]) -> None:
    """The row that was handed out, used on the other axis."""
    for i in tp.parallel(M=tp.each):
        for j in tp.tiles(N=4):
            y[i, j] = x[i, i]


@tp.kernel
def sums_in_another_order(y: Out[f32, "A+B"], a: In[f32, "A"], b: In[f32, "B"], x: In[f32, "B+A"]) -> None:
    """Equal by arithmetic, not by name."""
    for n in tp.parallel(("A+B", 4)):
        y[n] = x[n]


@tp.kernel
def borders_of_another(y: Out[f32, "N"], x: In[f32, "K"], off: In[Offsets["K"], "E+1"]) -> None:
    """The segments divide K, and N is walked."""
    for _, n in tp.parallel(tp.segments(off, N=4)):
        y[n] = 1.0


@tp.kernel
def wrong_table(y: Out[f32, "N"], table: In[f32, "V"], other: In[f32, "W"]) -> None:
    """A walker of one table in another."""
    for n in tp.parallel(N=tp.each):
        total = 0.0
        for v in tp.tiles(V=4):
            total += (table[v] * other[v]).sum()
        y[n] = total


@tp.kernel
def transposed_store(y: Out[f32, "N M"], x: In[f32, "M N"]) -> None:
    """The tile is transposed, its place is not."""
    for i, j in tp.parallel(M=4, N=4):
        y[i, j] = x[i, j].T


@tp.kernel
def long_slice(y: Out[f32, "N 4"], x: In[f32, "N 8"]) -> None:
    """Eight columns into four."""
    for n in tp.parallel(N=4):
        y[n, :] = x[n, :]


@tp.kernel
def unknown_dimension(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """No argument has an axis K."""
    for n in tp.parallel(N=4):
        y[n] = x[n] / tp.dim("K").to(f32)


@tp.kernel
def tile_of_two_turns(y: Out[f32, "N"], x: In[f32, "M N"]) -> None:
    """Two walks of one dimension are two tags."""
    for i in tp.parallel(N=4):
        total = 0.0
        for m in tp.tiles(M=tp.each):
            for j in tp.tiles(N=4):
                total += (x[m, i] * x[m, j]).sum()
        y[i] = total


CASES = [
    Case(matmul_swapped, lambda: one(blank(5, 6), floats(5, 3), floats(3, 6)), "dimension"),
    Case(matmul_inner, lambda: one(blank(5, 6), floats(5, 3), floats(6, 3)), "dimension"),
    Case(missing_axis, lambda: one(blank(5, 6), floats(5, 6)), "dimension"),
    Case(tile_plus_one, lambda: one(blank(5), floats(5)), "dimension"),
    Case(up_half, lambda: one(blank(5), floats(10, 2)), "dimension"),
    Case(store_of_another_tile, lambda: one(blank(5), floats(5)), "dimension"),
    Case(square_bias, lambda: one(blank(5, 5), floats(5, 5), floats(5)), "dimension"),
    Case(open_colon, lambda: one(blank(5), floats(5, 4)), "dimension"),
    Case(slope_of_tiles, lambda: one(blank(5), floats(5)), "dimension"),
    Case(carried_tile, lambda: one(blank(5), floats(5, 6)), "dimension"),
    Case(reshaped_edge, lambda: one(blank(2), floats(8)), "dimension"),
    Case(seventh_of_four, lambda: one(blank(5), floats(4, 5)), "dimension"),
    Case(last_of_python, lambda: one(blank(5), floats(4, 5)), "dimension"),
    Case(row_as_column, lambda: one(blank(5, 5), floats(5, 5)), "dimension"),
    Case(sums_in_another_order, lambda: one(blank(5), floats(2), floats(3), floats(5)), "dimension"),
    Case(borders_of_another, lambda: one(blank(5), floats(5), ints(0, 2, 5)), "dimension"),
    Case(wrong_table, lambda: one(blank(2), floats(5), floats(5)), "dimension"),
    Case(transposed_store, lambda: one(blank(5, 5), floats(5, 5)), "dimension"),
    Case(long_slice, lambda: one(blank(5, 4), floats(5, 8)), "dimension"),
    Case(unknown_dimension, lambda: one(blank(5), floats(5)), "dimension"),
    Case(tile_of_two_turns, lambda: one(blank(5), floats(2, 5)), "dimension"),
]
