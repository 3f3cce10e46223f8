"""A matrix times a vector, the linear layers of a model that makes one token: plain, and added to something.

Weights have a row for each output. Sums are made in f32 (f64 for f64) and rounded once. NaN and infinity spread as IEEE
says; a matrix without columns gives 0. Split forms add up their pieces in the order of K, so the same choice gives the
same bits every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Out, T, U
from tileproof.tuning import Choice, Sizes, Tunable

from . import arrays
from .arrays import chosen
from .gated_vectors import MATVEC_SILU
from .normed_vectors import (
    NORM_MATVEC,
    NORM_MATVEC_SILU,
)
from .streaming import (
    extents,
    lane_sums,
    streaming,
    streaming_space,
    sum_type,
)

# A matrix times a vector.


@tp.kernel(deny_checks=True)
def matvec_kernel(y: Out[Any, "N"], w: In[T, "N K"], x: In[U, "K"], *, BN: int = 8, BK: int = 512) -> None:
    """y = w @ x."""
    for n in tp.parallel(N=BN):
        y[n] = lane_sums(w, x, n, BK)


@tp.kernel(deny_checks=True)
def matvec_rows_kernel(y: Out[Any, "N"], w: In[T, "N K"], x: In[U, "K"], *, K: int, BN: int = 4) -> None:
    """y = w @ x, with whole rows in one tile: all of a program's loads are on their way at once."""
    for n in tp.parallel(N=BN):
        kind = sum_type(w, x)
        y[n] = (w[n, :].to(kind) * x[:].to(kind)).sum(axis=1)


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


# Choices.


def _matvec_default(sizes: Sizes, target: str) -> Choice:
    return streaming(matvec_kernel, matvec_rows_kernel, sizes["N"], sizes["K"], target)


def _matvec_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    return streaming_space(matvec_kernel, matvec_rows_kernel, sizes["K"], target)


def _add_default(sizes: Sizes, target: str) -> Choice:
    return streaming(matvec_add_kernel, matvec_add_rows_kernel, sizes["N"], sizes["K"], target)


def _add_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    return streaming_space(matvec_add_kernel, matvec_add_rows_kernel, sizes["K"], target)


MATVEC: Final = Tunable("matvec", (matvec_kernel, matvec_rows_kernel), _matvec_default, _matvec_space, exact=("N", "K"))
MATVEC_ADD: Final = Tunable(
    "matvec_add", (matvec_add_kernel, matvec_add_rows_kernel), _add_default, _add_space, exact=("N", "K")
)
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
