"""Launches whose tiles end with their tensor, in memory that goes on behind it with NaN: what the copy engine moves."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import ml_dtypes
import numpy as np

import tileproof as tp
from samples.launch import Made, Make
from tileproof import In, Out, T, f32

DTYPES: Final = {"f32": np.float32, "bf16": ml_dtypes.bfloat16}


@tp.kernel
def product(c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "K N"], *, BM: int = 64, BN: int = 64, BK: int = 64) -> None:
    """A matrix product in tiles that tensor cores take."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), f32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(a[i, k], b[k, j], acc)
        c[i, j] = acc


@tp.kernel
def row_sums(y: Out[T, "N"], x: In[T, "N K"], *, BN: int = 4, BK: int = 32) -> None:
    """A short tile of sums for each program, which is stored whole but for the last."""
    for n in tp.parallel(N=BN):
        acc = tp.zeros((n,))
        for k in tp.tiles(K=BK):
            acc += x[n, k].to(f32).sum(axis=1)
        y[n] = acc


def in_longer_rows(rows: int, columns: int, dtype: Any) -> Any:
    """Rows that begin at multiples of 64 elements, with NaN between them."""
    base = np.full((rows, -(-columns // 64) * 64 + 64), np.nan, dtype)
    part = base[:, :columns]
    part[...] = (np.arange(rows * columns) % 7 - 3).reshape(rows, columns).astype(dtype)
    return part


def a_product(rows: int, columns: int, inner: int, dtype: Any) -> Made:
    arrays = [in_longer_rows(*shape, dtype) for shape in ((rows, columns), (rows, inner), (inner, columns))]
    return product, arrays, {}


def some_sums(rows: int, columns: int, dtype: Any) -> Made:
    return row_sums, [np.zeros(rows, dtype), in_longer_rows(rows, columns, dtype)], {}


def edges() -> dict[str, Make]:
    """Extents that are multiples of 16 bytes, and others."""
    results: dict[str, Make] = {}
    for name, dtype in DTYPES.items():
        for sizes in ((64, 64, 64), (70, 72, 40), (70, 45, 37), (64, 61, 64), (64, 64, 61)):
            results[f"product {name} {'x'.join(map(str, sizes))}"] = partial(a_product, *sizes, dtype)
        for count in (12, 13, 16):
            results[f"sums {name} {count}"] = partial(some_sums, count, 37, dtype)
    return results
