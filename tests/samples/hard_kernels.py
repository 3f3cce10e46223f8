"""Small kernels that once made the CPU backend touch what is not there, or read what was never written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Index, InOut, Out, Sum, f32, i8, i32, u8


@tp.kernel
def stored_in_an_arm(y: InOut[f32, "M N"], z: Out[f32, "M N"], x: In[f32, "N M"], much: i32) -> None:
    """A turned tile is laid out for a store that may not happen, then asked for again."""
    for i, j in tp.parallel(M=8, N=8):
        t = x[j, i].T * 2
        if much > 1:
            y[i, j] = t
        for _ in range(much):
            y[i, j] = t
        z[i, j] = t


@tp.kernel
def product_in_one_turn(y: Out[f32, "8 8"], x: In[f32, "8 8"]) -> None:
    """A loop of one turn outside of any space, with nothing before it to put packed operands into."""
    acc = tp.zeros((8, 8))
    for _ in range(1):
        acc = tp.mma(x[:, :], x[:, :], acc)
    y[:, :] = acc


@tp.kernel
def guarded_window(y: Out[f32, "M 8"], x: In[f32, "M N"], much: i32) -> None:
    """A slice that exists only where the guard holds is not packed before the loop."""
    for i in tp.parallel(M=8):
        acc = tp.zeros((i, 8))
        for _ in range(much):
            if tp.dim("N") >= 8:
                acc = tp.mma(x[i, 0:8], tp.full((8, 8), 1.0), acc)
        y[i, :] = acc


@tp.kernel
def guarded_rows(y: Out[f32, "M 8"], x: In[f32, "_ 8"], much: i32) -> None:
    """The same of rows by a walker of another dimension."""
    for i in tp.parallel(M=4):
        acc = tp.zeros((i, 8))
        for _ in range(much):
            if tp.dim("M") <= x.shape[0]:
                acc = tp.mma(x[i, :], tp.full((8, 8), 1.0), acc)
        y[i, :] = acc


@tp.kernel
def longer_axes(y: Out[f32, "M N"], a: In[f32, "_ _"], b: In[f32, "K N"]) -> None:
    """Operands that many programs share, of axes that go on behind the last tile."""
    for i, j in tp.parallel(M=4, N=4):
        acc = tp.zeros((i, j))
        for k in tp.tiles(K=8):
            acc = tp.mma(a[i, k], b[k, j], acc)
        y[i, j] = acc


@tp.kernel
def before_the_cut(y: Out[f32, "C"], cache: InOut[f32, "C"], at: i32) -> None:
    """The walkers of a dimension go on where the part of a tensor before a cut has ended."""
    tp.require(at >= 0)
    tp.require(at <= tp.dim("C"))
    past, fresh = tp.split_at(cache, "C", at)
    for c in tp.parallel(C=4):
        y[c] = past.get(c, 9.0) - fresh.get(c, 5.0)


@tp.kernel
def shifted_out(y: Out[f32, "M"], x: In[f32, "M"], w: In[f32, "8"]) -> None:
    """A tile of one element that may have none."""
    for i in tp.parallel(M=1):
        y[i] = (x[i.shift(1)][:, None] + w[:][None, :]).sum()


@tp.kernel
def narrow_positions(y: Out[f32, "200"], z: Out[f32, "100"], x: In[f32, "128"]) -> None:
    """Positions that saturate or wrap do not count up by one."""
    y[:] = x[tp.arange(200, i8)]
    z[:] = x.get(tp.arange(100, u8) + 200, 0.0)


@tp.kernel
def one_column(y: Out[f32, "M 1"], a: In[f32, "M K"], b: In[f32, "K 1"]) -> None:
    """The sums of a single column lie side by side."""
    for i in tp.parallel(M=32):
        acc = tp.full((i, 1), 1.0)
        for k in tp.tiles(K=8):
            acc = tp.mma(a[i, k], tp.exp(b[k, 0:1]), acc)
        y[i, 0:1] = acc


@tp.kernel
def product_in_a_while(y: Out[f32, "M"], x: In[f32, "D M"], much: i32, *, D: int) -> None:
    """Operands are packed before the turns of a while."""
    for i in tp.parallel(M=2):
        total, n = 0.0, 0
        while n < much:
            total = total + tp.mma(x[:, i], x[:, i].T, tp.zeros((D, D))).sum()
            n = n + 1
        y[i] = total


@tp.kernel
def gathered_steps(
    y: Out[f32, "M D"], x: In[f32, "M K"], w: In[f32, "V D"], ids: In[Index["V"], "K"], *, D: int
) -> None:
    """Steps of a product that are made deeper, of rows that an index tensor names."""
    for i in tp.parallel(M=4):
        acc = tp.zeros((i, D))
        for k in tp.tiles(K=3):
            acc = tp.mma(x[i, k], w[ids[k], :], acc)
        y[i, :] = acc


@tp.kernel
def rows_of_columns(y: Out[f32, "M"], x: In[f32, "M N S"], *, S: int) -> None:
    """Sums made side by side along an axis that the result does not hold side by side."""
    for i in tp.parallel(M=4):
        total = tp.zeros((i,))
        for j in tp.tiles(N=2):
            total += x[i, j, :].sum(axis=2).sum(axis=1)
        y[i] = total


@tp.kernel
def spread_sum(s: Sum[f32, "N"], x: In[f32, "N"]) -> None:
    """A sum into memory with gaps, by one program or by several."""
    for i in tp.parallel(N=32):
        s[i] += x[i]


@tp.kernel
def long_rows(y: Out[f32, "M N"], x: In[f32, "M N"]) -> None:
    """Rows so long that stores may pass by the caches."""
    for i, j in tp.parallel(M=2, N=300):
        y[i, j] = x[i, j] + 1.0


def floats(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).integers(-4, 5, shape).astype(np.float32)


def nan_behind(array: Any, rows: int, columns: int) -> Any:
    """An array whose first rows and columns alone are numbers."""
    array[rows:], array[:, columns:] = np.nan, np.nan
    return array


CASES: dict[tp.Kernel, Callable[[], list[list[Any]]]] = {
    stored_in_an_arm: lambda: [[floats(9, 11), floats(9, 11), floats(11, 9), much] for much in (0, 1, 2)],
    product_in_one_turn: lambda: [[floats(8, 8), floats(8, 8)]],
    guarded_window: lambda: [[floats(9, 8), floats(9, n), 2] for n in (3, 8, 9)],
    guarded_rows: lambda: [[floats(8, 8), floats(m, 8), 2] for m in (3, 8, 9)],
    longer_axes: lambda: [
        [floats(m, 64), nan_behind(floats(10, 17), m, k), floats(k, 64)] for m in (6, 8) for k in (5, 16)
    ],
    before_the_cut: lambda: [[floats(11), floats(11), at] for at in (0, 3, 8, 11)],
    shifted_out: lambda: [[floats(n), floats(n), floats(8)] for n in (1, 3, 17)],
    narrow_positions: lambda: [[floats(200), floats(100), floats(128)]],
    one_column: lambda: [[floats(m, 1), floats(m, 21), floats(21, 1) / 4] for m in (5, 32, 37)],
    product_in_a_while: lambda: [[floats(5), floats(7, 5), much] for much in (0, 1, 3)],
    gathered_steps: lambda: [[floats(5, 6), floats(5, 23), floats(7, 6), np.arange(23, dtype=np.int32) % 7]],
    rows_of_columns: lambda: [[floats(13), floats(13, 5, 16)]],
    long_rows: lambda: [[floats(3, n), floats(3, n)] for n in (1, 7, 300, 333, 1000)],
    spread_sum: lambda: [[floats(n), floats(n)] for n in (20, 200)],
}  # fmt: skip
"""Launches of each kernel."""
