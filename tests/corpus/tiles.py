"""Parts of tiles, products of several matrices, and sums that go on from what is there."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, InOut, Max, Out, Sum, T, f32

from .case import Case, blank, floats, one


@tp.kernel
def products(
    c: Out[f32, "G M N"], a: In[T, "G M K"], b: In[T, "G K N"], *, BG: int = 2, BM: int = 4, BN: int = 4, BK: int = 2
) -> None:
    """A product for each place of an axis, the last tile of which may be short."""
    for g, i, j in tp.parallel(G=BG, M=BM, N=BN):
        acc = tp.zeros((g, i, j))
        for k in tp.tiles(K=BK):
            acc = tp.mma(a[g, i, k], b[g, k, j], acc)
        c[g, i, j] = acc


@tp.kernel
def scores(s: Out[f32, "H M C"], q: In[f32, "M H D"], k: In[f32, "C H D"], *, H: int, D: int, BM: int = 4) -> None:
    """Queries and keys of all heads, their axes permuted."""
    for i, c in tp.parallel(M=BM, C=4):
        s[:, i, c] = q[i, :, :].permute(1, 0, 2) @ tp.permute(k[c, :, :], (1, 2, 0))


@tp.kernel
def relative_to_first(y: Out[f32, "N D"], x: In[f32, "N D"], *, D: int, B: int = 4) -> None:
    """A tile has a first row."""
    for n in tp.parallel(N=B):
        t = x[n, :]
        y[n, :] = t - t[0, :]


@tp.kernel
def second_of_each_tile(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """A second element, where there is one."""
    for n in tp.parallel(N=B):
        t, second = x[n], 0.0
        if n.stop - n.start >= 2:
            second = t[1]
        y[n] = t + second


@tp.kernel
def rows_in_turn(y: Out[f32, "D"], x: In[f32, "D D"], *, D: int) -> None:
    """A loop over the rows of a tile."""
    t, total = x[:, :], tp.zeros((D,))
    for k in range(D):
        total += t[k, :] * t[k, D - 1 - k]
    y[:] = total


@tp.kernel
def place_of_a_lane(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """A position that is taken of a tile of them is the program's own."""
    for n in tp.parallel(N=B):
        y[n.elements[0]] = x[n].sum()


@tp.kernel
def gradient(grad: Sum[f32, "N", "keep"], most: Max[f32, "1", "keep"], x: In[f32, "M N"]) -> None:
    """Added to what is there."""
    for i, j in tp.parallel(M=2, N=4):
        grad[j] += x[i, j].sum(axis=0)
        tp.update(most, 0, x[i, j].max())


@tp.kernel
def second_of_any_tile(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """The last tile may have one element."""
    for n in tp.parallel(N=B):
        y[n] = x[n] + x[n][1]


@tp.kernel
def one_past_the_tile(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """There is no element at the live length."""
    for n in tp.parallel(N=B):
        y[n] = x[n] + x[n][n.stop - n.start]


@tp.kernel
def place_of_every_lane(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """The first position of the dimension, not of the tile."""
    for n in tp.parallel(N=B):
        y[(n.elements - n.start)[0]] = x[n].sum()


@tp.kernel
def products_across(c: Out[f32, "G M N"], a: In[f32, "G M K"], b: In[f32, "H K N"], *, K: int) -> None:
    """Matrices of one axis times those of another."""
    for g, h, i, j in tp.parallel(G=2, H=2, M=4, N=4):
        c[g, i, j] = a[g, i, :] @ b[h, :, j]


@tp.kernel
def turned(y: Out[f32, "M N 2"], x: In[f32, "M N 2"]) -> None:
    """Axes that were permuted do not fit where they came from."""
    for i, j in tp.parallel(M=4, N=4):
        y[i, j, :] = x[i, j, :].permute(1, 0, 2)


@tp.kernel
def read_total(total: Sum[f32, "1", "keep"], y: Out[f32, "N"]) -> None:
    """What is combined is not read, whatever it starts from."""
    for n in tp.parallel(N=4):
        total[0] += 1.0
        y[n] = tp.zeros((n,)) + total[0]


SAFE = [
    Case(products, lambda: one(blank(3, 5, 6), floats(3, 5, 3), floats(3, 3, 6))),
    Case(scores, lambda: one(blank(2, 5, 6), floats(5, 2, 3), floats(6, 2, 3))),
    Case(relative_to_first, lambda: one(blank(6, 3), floats(6, 3)) + one(blank(0, 3), floats(0, 3))),
    Case(second_of_each_tile, lambda: one(blank(5), floats(5))),
    Case(rows_in_turn, lambda: one(blank(5), floats(5, 5))),
    Case(place_of_a_lane, lambda: one(blank(7), floats(7))),
    Case(gradient, lambda: one(floats(6), floats(1), floats(5, 6)) + one(floats(6), floats(1), floats(0, 6))),
]
UNSAFE = [
    Case(second_of_any_tile, lambda: one(blank(5), floats(5)), "bounds"),
    Case(one_past_the_tile, lambda: one(blank(5), floats(5)), "bounds"),
    Case(place_of_every_lane, lambda: one(blank(5), floats(5)), "race"),
    Case(products_across, lambda: one(blank(3, 5, 6), floats(3, 5, 3), floats(3, 3, 6)), "dimension"),
    Case(turned, lambda: one(blank(4, 4, 2), floats(4, 4, 2)), "dimension"),
    Case(read_total, lambda: one(floats(1), blank(4)), "access"),
]
