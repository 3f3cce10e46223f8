"""A matrix times a vector, the linear layers of a model that makes one token: plain, and added to something.

Weights have a row for each output. Sums are made in f32 (f64 for f64) and rounded once. NaN and infinity spread as IEEE
says; a matrix without columns gives 0. Split forms add up their pieces in the order of K, so the same choice gives the
same bits every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Out, Schedule, T, U
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .choosing import chosen
from .gated_vectors import MATVEC_SILU, matvec_silu, matvec_silu_kernel
from .normed_vectors import (
    NORM_MATVEC,
    NORM_MATVEC_SILU,
    norm_matvec,
    norm_matvec_kernel,
    norm_matvec_silu,
    norm_matvec_silu_kernel,
)
from .streaming import (
    by_cores,
    by_lanes,
    by_pieces,
    by_rows,
    core_sums,
    extents,
    lane_sums,
    on_cpu,
    operand_type,
    streaming,
    sum_type,
)

__all__ = [
    "TUNABLES", "matvec", "matvec_add", "matvec_add_kernel", "matvec_add_mma_kernel", "matvec_add_rows_kernel",
    "matvec_add_split_kernel", "matvec_kernel", "matvec_mma_kernel", "matvec_rows_kernel", "matvec_silu",
    "matvec_silu_kernel", "matvec_split_kernel", "matvec_swapped_kernel", "matvec_turns_kernel", "norm_matvec",
    "norm_matvec_kernel", "norm_matvec_silu",
    "norm_matvec_silu_kernel",
]  # fmt: skip


# A matrix times a vector.


@tp.kernel(deny_checks=True)
def matvec_kernel(y: Out[Any, "N"], w: In[T, "N K"], x: In[U, "K"], *, BN: int = 8, BK: int = 512) -> None:
    """y = w @ x."""
    for n in tp.parallel(N=BN):
        y[n] = lane_sums(w, x, n, BK)


@tp.kernel(deny_checks=True)
def matvec_turns_kernel(y: Out[Any, "N"], w: In[T, "N K"], x: In[U, "K"], *, BN: int = 16, BK: int = 256) -> None:
    """y = w @ x, where every turn of the loop adds up its tile: fewer registers, so more programs at once."""
    for n in tp.parallel(N=BN):
        kind = sum_type(w, x)
        acc = tp.zeros((n,), kind)
        for k in tp.tiles(K=BK):
            acc += (w[n, k].to(kind) * x[k].to(kind)).sum(axis=1)
        y[n] = acc


@tp.kernel(deny_checks=True)
def matvec_rows_kernel(y: Out[Any, "N"], w: In[T, "N K"], x: In[U, "K"], *, K: int, BN: int = 4) -> None:
    """y = w @ x, with whole rows in one tile: all of a program's loads are on their way at once."""
    for n in tp.parallel(N=BN):
        kind = sum_type(w, x)
        y[n] = (w[n, :].to(kind) * x[:].to(kind)).sum(axis=1)


@tp.kernel(deny_checks=True)
def matvec_mma_kernel(y: Out[Any, "N"], w: In[T, "N K"], x: In[U, "K"], *, BN: int = 64, BK: int = 256) -> None:
    """y = w @ x on tensor cores, w on the left."""
    for n in tp.parallel(N=BN):
        y[n] = core_sums(w, x, n, BK)


@tp.kernel(deny_checks=True)
def matvec_swapped_kernel(y: Out[Any, "N"], w: In[T, "N K"], x: In[U, "K"], *, BN: int = 32, BK: int = 256) -> None:
    """y = w @ x on tensor cores, x on the left as 16 equal rows: 32 rows of w are enough for a tile."""
    for n in tp.parallel(N=BN):
        kind = operand_type(w, x)
        acc = tp.zeros((16, n), sum_type(w, x))
        for k in tp.tiles(K=BK):
            acc = tp.mma(x[k].to(kind)[None, :] + tp.zeros((16, 1), kind), w[n, k].to(kind).T, acc)
        y[n] = acc.max(axis=0)


@tp.kernel(deny_checks=True)
def matvec_split_kernel(
    y: Out[Any, "N"], w: In[T, "N K"], x: In[U, "K"], *, BN: int = 16, SK: int = 2048, BK: int = 256
) -> None:
    """y = w @ x, each SK columns of w by programs of their own, for too few rows to fill a GPU."""
    for n, z in tp.parallel(N=BN, K=tp.split(SK)):
        kind = sum_type(w, x)
        acc = tp.zeros((n, BK), kind)
        for k in z.tiles(BK):
            acc += (w[n, k].to(kind) * x[k].to(kind)).fill(0)
        y[n] = tp.join(acc.sum(axis=1), over=z)


# The same, added to something.


@tp.kernel(deny_checks=True)
def matvec_add_kernel(
    y: Out[U, "N"], w: In[T, "N K"], x: In[U, "K"], residual: In[U, "N"], *, BN: int = 8, BK: int = 512
) -> None:
    """y = residual + w @ x."""
    for n in tp.parallel(N=BN):
        total = lane_sums(w, x, n, BK)
        y[n] = residual[n].to(total.dtype) + total


@tp.kernel(deny_checks=True)
def matvec_add_rows_kernel(
    y: Out[U, "N"], w: In[T, "N K"], x: In[U, "K"], residual: In[U, "N"], *, K: int, BN: int = 4
) -> None:
    """y = residual + w @ x, with whole rows in one tile."""
    for n in tp.parallel(N=BN):
        kind = sum_type(w, x)
        y[n] = residual[n].to(kind) + (w[n, :].to(kind) * x[:].to(kind)).sum(axis=1)


@tp.kernel(deny_checks=True)
def matvec_add_mma_kernel(
    y: Out[U, "N"], w: In[T, "N K"], x: In[U, "K"], residual: In[U, "N"], *, BN: int = 64, BK: int = 256
) -> None:
    """y = residual + w @ x on tensor cores."""
    for n in tp.parallel(N=BN):
        total = core_sums(w, x, n, BK)
        y[n] = residual[n].to(total.dtype) + total


@tp.kernel(deny_checks=True)
def matvec_add_split_kernel(
    y: Out[U, "N"], w: In[T, "N K"], x: In[U, "K"], residual: In[U, "N"], *, BN: int = 16, SK: int = 2048, BK: int = 256
) -> None:
    """y = residual + w @ x, each SK columns of w by programs of their own."""
    for n, z in tp.parallel(N=BN, K=tp.split(SK)):
        kind = sum_type(w, x)
        acc = tp.zeros((n, BK), kind)
        for k in z.tiles(BK):
            acc += (w[n, k].to(kind) * x[k].to(kind)).fill(0)
        total = tp.join(acc.sum(axis=1), over=z)
        y[n] = residual[n].to(kind) + total


# Choices.


def _matvec_default(sizes: Sizes, target: str) -> Choice:
    return streaming(matvec_kernel, matvec_rows_kernel, matvec_mma_kernel, sizes["N"], sizes["K"], target)


def _matvec_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    n, k = sizes["N"], sizes["K"]
    if target == "cpu":
        yield from on_cpu("BN", matvec_kernel, matvec_rows_kernel, k)
        return
    yield from by_lanes(matvec_kernel)
    yield from choices(
        matvec_turns_kernel, "BN=16,BK=256 BN=8,BK=512", Schedule(occupancy=4), Schedule(occupancy=4, latency=6)
    )
    yield from by_rows("BN", matvec_rows_kernel, k)
    yield from by_cores(matvec_mma_kernel)
    yield from choices(matvec_swapped_kernel, "BN=32,BK=256", Schedule(occupancy=2), Schedule(occupancy=4))
    yield from by_pieces(matvec_split_kernel, n, k)


def _add_default(sizes: Sizes, target: str) -> Choice:
    return streaming(matvec_add_kernel, matvec_add_rows_kernel, matvec_add_mma_kernel, sizes["N"], sizes["K"], target)


def _add_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    n, k = sizes["N"], sizes["K"]
    if target == "cpu":
        yield from on_cpu("BN", matvec_add_kernel, matvec_add_rows_kernel, k)
        return
    yield from by_lanes(matvec_add_kernel)
    yield from by_rows("BN", matvec_add_rows_kernel, k)
    yield from by_cores(matvec_add_mma_kernel)
    yield from by_pieces(matvec_add_split_kernel, n, k)


MATVEC: Final = Tunable(
    "matvec",
    (matvec_kernel, matvec_turns_kernel, matvec_rows_kernel, matvec_mma_kernel, matvec_swapped_kernel,
     matvec_split_kernel),
    _matvec_default, _matvec_space, exact=("N", "K"),
)  # fmt: skip
MATVEC_ADD: Final = Tunable(
    "matvec_add", (matvec_add_kernel, matvec_add_rows_kernel, matvec_add_mma_kernel, matvec_add_split_kernel),
    _add_default, _add_space, exact=("N", "K"),
)  # fmt: skip
TUNABLES: Final = (MATVEC, MATVEC_ADD, MATVEC_SILU, NORM_MATVEC, NORM_MATVEC_SILU)


# Functions.


def matvec(w: Any, x: Any, out: Any = None) -> Any:
    """w @ x, of a matrix with a row for each output and a vector.

    Weights may be of another type than x, for instance bf16 beside f32. The result has the type of x, or that of `out`.

    Example:
        y = tk.matvec(w, x)
    """
    rows, columns = extents(w)
    y = arrays.result(out, x, (rows,))
    chosen(MATVEC, w, N=rows, K=columns)(y, w, x)
    return y


def matvec_add(w: Any, x: Any, residual: Any, out: Any = None) -> Any:
    """residual + w @ x, added before the result is rounded. `out` is another array than the residual.

    Example:
        y = tk.matvec_add(w, x, residual)
    """
    rows, columns = extents(w)
    y = arrays.result(out, x, (rows,))
    chosen(MATVEC_ADD, w, N=rows, K=columns)(y, w, x, residual)
    return y
