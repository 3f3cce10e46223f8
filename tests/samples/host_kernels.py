"""Kernels for tests of the host model: each is small, and together they use memory in every way there is."""

from __future__ import annotations

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Index, InOut, Offsets, Out, Sum, T, Unique, f32, i32


@tp.kernel
def add(c: Out[T, "N"], a: In[T, "N"], b: In[T, "N"], *, BN: int = 256) -> None:
    for n in tp.parallel(N=BN):
        c[n] = a[n] + b[n]


@tp.kernel
def double(x: InOut[T, "N"], *, BN: int = 256) -> None:
    for n in tp.parallel(N=BN):
        x[n] = x[n] + x[n]


@tp.kernel
def fill(x: Out[f32, "N"], value: f32, *, BN: int = 256) -> None:
    for n in tp.parallel(N=BN):
        x[n] = tp.full((BN,), value, f32)


@tp.kernel
def columns(total: Sum[T, "N"], x: In[T, "M N"], *, BM: int = 4, BN: int = 8) -> None:
    """More than one job, so that a stream calls Python for it."""
    for m, n in tp.parallel(M=BM, N=BN):
        total[n] += x[m, n].sum(axis=0).to(x.dtype)


@tp.kernel
def looked_up(y: Out[T, "N"], table: In[T, "V"], ids: In[i32, "N"]) -> None:
    """Entries of `ids` are tested while it runs."""
    for n in tp.parallel(N=tp.each):
        y[n] = table[ids[n]]


@tp.kernel
def taken(y: Out[T, "N"], table: In[T, "V"], ids: In[Index["V"], "N"], *, BN: int = 64) -> None:
    """Entries of `ids` are tested before it runs."""
    for n in tp.parallel(N=BN):
        y[n] = table[ids[n]]


@tp.kernel
def scattered(y: InOut[T, "V"], x: In[T, "N"], to: In[Unique["V"], "N"], *, BN: int = 64) -> None:
    for n in tp.parallel(N=BN):
        y[to[n]] = x[n]


@tp.kernel
def ragged(y: Out[f32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    for e, n in tp.parallel(tp.segments(off, N=2)):
        y[n] = e.to(f32)


@tp.kernel
def places(ids: Out[Index["V"], "N"], table: In[T, "V"], *, BN: int = 64) -> None:
    """An index tensor that the kernel vouches for."""
    for n in tp.parallel(N=BN):
        ids[n] = 0


def whole(*values: int) -> tp.Tensor:
    """Whole numbers as a tensor."""
    return tp.from_numpy(np.array(values, np.int32))


def numbers(*values: float) -> tp.Tensor:
    """Numbers as a tensor."""
    return tp.from_numpy(np.array(values, np.float32))


def errors_of(stream: Any = None) -> list[str]:
    """What a wait for a stream raises: the first line of it, or nothing."""
    try:
        (stream or tp.current_stream()).synchronize()
    except tp.TileproofError as error:
        return [diagnostic.message for diagnostic in error.diagnostics]
    return []
