"""Products of 8-bit integers whose sums leave 32 bits: they wrap, whatever tensor cores do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

import tileproof as tp
from samples.launch import Made, Make
from tileproof import In, Out, T, i8, i32, u8, u32

LIMITS: Final = np.iinfo(np.int32)


@tp.kernel
def onto(
    y: Out[i32, "M N"], c: In[i32, "M N"], a: In[T, "M K"], b: In[T, "N K"], *, BM: int = 64, BN: int = 16, BK: int = 32
) -> None:
    """Sums that begin anywhere."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = c[i, j]
        for k in tp.tiles(K=BK):
            acc = tp.mma(a[i, k], b[j, k].T, acc)
        y[i, j] = acc


@tp.kernel
def from_zero(
    y: Out[i32, "M N"], a: In[T, "M K"], b: In[T, "N K"], *, BM: int = 64, BN: int = 16, BK: int = 1024
) -> None:
    """Sums as long as K is."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), i32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(a[i, k], b[j, k].T, acc)
        y[i, j] = acc


@tp.kernel
def once(y: Out[i32, "M N"], c: In[i32, "M N"], a: In[T, "M 64"], b: In[T, "N 64"], *, BM: int = 64) -> None:
    """One product, twice: from zero and onto what was there."""
    for i, j in tp.parallel(M=BM, N=16):
        y[i, j] = tp.mma(a[i, :], b[j, :].T, c[i, j]) - a[i, :] @ b[j, :].T


@tp.kernel
def in_steps(
    y: Out[i32, "M N"], a: In[T, "M K"], b: In[T, "N K"], *, BM: int = 64, BN: int = 16, BK: int = 512
) -> None:
    """Sums of products that are added to by themselves."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), i32)
        for k in tp.tiles(K=BK):
            acc = a[i, k] @ b[j, k].T + acc
        y[i, j] = acc


@tp.kernel
def filled(y: Out[i32, "M N"], a: In[T, "M K"], b: In[T, "N K"], *, BM: int = 64, BN: int = 16, BK: int = 512) -> None:
    """The same, with something in between that does nothing where tiles are whole."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), i32)
        for k in tp.tiles(K=BK):
            acc += (a[i, k] @ b[j, k].T).fill(0)
        y[i, j] = acc


@tp.kernel
def nested(
    y: Out[i32, "M N"], a: In[T, "M J K"], b: In[T, "N J K"], *, BM: int = 64, BN: int = 16, BK: int = 1024
) -> None:
    """Sums along two dimensions, neither of which is long."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), i32)
        for outer in tp.tiles(J=tp.each):
            for k in tp.tiles(K=BK):
                acc = tp.mma(a[i, outer, k], b[j, outer, k].T, acc)
        y[i, j] = acc


@tp.kernel
def again(
    y: Out[i32, "M N"], a: In[T, "M 64"], b: In[T, "N 64"], times: i32, *, BM: int = 64, BN: int = 16
) -> None:
    """A product that is added as often as a number says."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), i32)
        for _ in range(times):
            acc = tp.mma(a[i, :], b[j, :].T, acc)
        y[i, j] = acc


@tp.kernel
def doubled(
    y: Out[i32, "M N"], a: In[T, "M K"], b: In[T, "N K"], *, BM: int = 64, BN: int = 16, BK: int = 64
) -> None:
    """Sums that are doubled at every turn, and so grow faster than their products."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), i32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(a[i, k], b[j, k].T, acc + acc)
        y[i, j] = acc


@tp.kernel
def both_types(
    y: Out[i32, "M N"], a: In[u8, "M K"], b: In[u8, "N K"], c: In[i8, "M J"], d: In[i8, "N J"], *, BM: int = 64,
    BN: int = 16, BK: int = 512,
) -> None:  # fmt: skip
    """Products of either type in one sum."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), i32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(a[i, k], b[j, k].T, acc)
        for k in tp.tiles(J=BK):
            acc = tp.mma(c[i, k], d[j, k].T, acc)
        y[i, j] = acc


@tp.kernel
def one_turn(
    y: Out[i32, "M N"], c: In[i32, "M N"], a: In[T, "M K"], b: In[T, "N K"], *, K: int, BM: int = 64, BN: int = 16
) -> None:
    """A loop that the assembler knows to have one turn, and a sum behind it."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), i32)
        for k in tp.tiles(K=64):
            acc = tp.mma(a[i, k], b[j, k].T, acc)
        y[i, j] = acc + c[i, j]


@tp.kernel
def by_groups(
    y: Out[i32, "M N"], c: In[i32, "M N"], a: In[T, "M K"], b: In[T, "N K"], *, SCALE: int = 1, BM: int = 64,
    BN: int = 16,
) -> None:  # fmt: skip
    """Products that are scaled, and added up one group at a time."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = c[i, j]
        for k in tp.tiles(K=64):
            acc += SCALE * (a[i, k] @ b[j, k].T)
        y[i, j] = acc


@tp.kernel
def in_disguise(
    y: Out[i32, "W M N"], c: In[i32, "M N"], a: In[T, "M 64"], b: In[T, "N 64"], *, W: int, BM: int = 64, BN: int = 16
) -> None:
    """Products that are what they were when all is done that is done to them."""
    for i, j in tp.parallel(M=BM, N=BN):
        product, other = a[i, :] @ b[j, :].T, c[i, j]
        y[0, i, j] = (product | product) + other
        y[1, i, j] = other + product.T.T
        y[2, i, j] = tp.where(other > 0, product, product) + other
        y[3, i, j] = ~~product + other
        y[4, i, j] = tp.bitcast(tp.bitcast(product, u32) + tp.bitcast(other, u32), i32)
        y[5, i, j] = tp.maximum(product, -(2**31)) + other
        y[6, i, j] = (product << 0) + (other + product)
        chosen = product
        if a.shape[0] < 0:
            chosen = other
        y[7, i, j] = chosen + other


@tp.kernel
def combined(y: Out[i32, "3 B 16 16"], c: In[i32, "B 16 16"], a: In[i32, "B L 16 16"], *, L: int) -> None:
    """Products that are made while a reduction combines, and sums that are made of products by one."""
    for b in tp.parallel(B=tp.each):
        made = tp.reduce(a[b, :, :, :], by=lambda u, v: u.to(i8) @ v.to(i8), identity=0, axis=0)
        y[0, b, :, :] = made + c[b, :, :]
        both = tp.cat((made[None, :, :], c[b, :, :][None, :, :]), axis=0)
        y[1, b, :, :] = tp.reduce(both, by=lambda u, v: (u | 0) + v, identity=0, axis=0)
        y[2, b, :, :] = tp.scan(both, by=lambda u, v: (u | 0) + v, axis=0)[1:2, :, :].reshape(16, 16)


def _limits_and_between() -> Any:
    """Sums to begin with: at both limits, near them, and small."""
    near = [LIMITS.max, LIMITS.max - 1000, LIMITS.min, LIMITS.min + 1000, 0, 7]
    return np.resize(np.array(near, np.int32), (70, 20))


def _factors(shape: Sequence[int], dtype: Any, seed: int) -> Any:
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max + 1, shape).astype(dtype)


def _onto(dtype: Any) -> Made:
    result = np.zeros((70, 20), np.int32)
    return onto, [result, _limits_and_between(), _factors((70, 100), dtype, 1), _factors((20, 100), dtype, 2)], {}


def _once(dtype: Any) -> Made:
    result = np.zeros((70, 20), np.int32)
    return once, [result, _limits_and_between(), _factors((70, 64), dtype, 3), _factors((20, 64), dtype, 4)], {}


def _more(kernel: tp.Kernel, columns: int, dtype: Any, constants: dict[str, int], ways: int = 0) -> Made:
    result = np.zeros((ways, 70, 20) if ways else (70, 20), np.int32)
    factors = _factors((70, columns), dtype, 7), _factors((20, columns), dtype, 8)
    return kernel, [result, _limits_and_between(), *factors], constants


def _combined() -> Made:
    sums = np.resize(_limits_and_between(), (2, 16, 16))
    return combined, [np.zeros((3, 2, 16, 16), np.int32), sums, _factors((2, 2, 16, 16), np.int32, 9)], {"L": 2}


def _both_types() -> Made:
    most, few = 32767, 1100
    unsigned = [np.full((rows, most), 255, np.uint8) for rows in (3, 2)]
    signed = [np.full((rows, few), -128, np.int8) for rows in (3, 2)]
    return both_types, [np.zeros((3, 2), np.int32), *unsigned, *signed], {}


def _along(kernel: tp.Kernel, shape: Sequence[int], dtype: Any, value: int, rows: Sequence[int] = (3, 2)) -> Made:
    return kernel, [np.zeros(rows, np.int32), *(np.full((count, *shape), value, dtype) for count in rows)], {}


def _doubled(dtype: Any) -> Made:
    result = np.zeros((70, 20), np.int32)
    return doubled, [result, _factors((70, 1500), dtype, 5), _factors((20, 1500), dtype, 6)], {}


def _again(dtype: Any, value: int, times: int) -> Made:
    kernel, arguments, constants = _along(again, (64,), dtype, value)
    return kernel, [*arguments, times], constants


def limits() -> dict[str, Make]:
    """Sums that come to the limits of 32 bits, and go beyond."""
    results: dict[str, Make] = {}
    for dtype, value in ((np.int8, -128), (np.uint8, 255)):
        name = np.dtype(dtype).name
        results[f"onto {name}"] = partial(_onto, dtype)
        results[f"once {name}"] = partial(_once, dtype)
        for count in (32767, 32768, 33100, 131071, 131072, 140000):
            results[f"from zero {name} {count}"] = partial(_along, from_zero, (count,), dtype, value)
        for count in (32000, 34000, 140000):
            results[f"in steps {name} {count}"] = partial(_along, in_steps, (count,), dtype, value)
        results[f"nested {name}"] = partial(_along, nested, (9, 16000), dtype, value)
        results[f"doubled {name}"] = partial(_doubled, dtype)
        results[f"one turn {name}"] = partial(_more, one_turn, 64, dtype, {"K": 64})
        results[f"by groups {name}"] = partial(_more, by_groups, 100, dtype, {})
        results[f"in disguise {name}"] = partial(_more, in_disguise, 64, dtype, {}, ways=8)
    results["both types"] = _both_types
    results["combined"] = _combined
    results["again"] = partial(_again, np.uint8, 255, 550)
    results["filled"] = partial(_along, filled, (34000,), np.uint8, 255, rows=(64, 16))
    return results
