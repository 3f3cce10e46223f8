"""A matrix times a normed vector: layers that begin with a norm, for one token.

The norm takes no pass of its own: the sum of squares runs beside the products, and the root multiplies what they add up
to. Sums are made in f32 (f64 for f64) and rounded once. NaN and infinity spread as they would through the norm; a
matrix without columns gives 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Out, Schedule, T, U, f32
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import chosen
from .gated_vectors import half_of
from .streaming import (
    AHEAD,
    LASTING,
    by_rows,
    extents,
    on_cpu,
    streaming,
    streaming_space,
    sum_type,
)


def _inverse_root(squares: Any, eps: Any) -> Any:
    """What a vector is multiplied by to norm it, from the sum of its squares."""
    return tp.rsqrt(squares / tp.maximum(tp.dim("K"), 1).to(squares.dtype) + eps.to(squares.dtype))


def _root_of(v: Any, eps: Any) -> Any:
    """What a vector in one tile is multiplied by to norm it."""
    return tp.rsqrt((v * v).mean() + eps.to(v.dtype))


# One matrix.


@tp.kernel(deny_checks=True)
def norm_matvec_kernel(
    y: Out[Any, "N"], w: In[T, "N K"], x: In[U, "K"], g: In[Any, "K"], eps: f32, *, BN: int = 8, BK: int = 512
) -> None:
    """y = w @ (x / rms(x) * g)."""
    for n in tp.parallel(N=BN):
        kind = sum_type(w, x)
        acc, squares = tp.zeros((n, BK), kind), tp.zeros((BK,), kind)
        for k in tp.tiles(K=BK):
            v = x[k].to(kind)
            acc += (w[n, k].to(kind) * (v * g[k].to(kind))).fill(0)
            squares += (v * v).fill(0)
        y[n] = acc.sum(axis=1) * _inverse_root(squares.sum(), eps)


@tp.kernel(deny_checks=True)
def norm_matvec_rows_kernel(
    y: Out[Any, "N"], w: In[T, "N K"], x: In[U, "K"], g: In[Any, "K"], eps: f32, *, K: int, BN: int = 4
) -> None:
    """y = w @ (x / rms(x) * g), with whole rows in one tile."""
    for n in tp.parallel(N=BN):
        kind = sum_type(w, x)
        v = x[:].to(kind)
        y[n] = (w[n, :].to(kind) * (v * g[:].to(kind))).sum(axis=1) * _root_of(v, eps)


# A normed vector times two matrices, gate and up.


@tp.kernel(deny_checks=True)
def norm_matvec_silu_kernel(
    y: Out[U, "I"], w: In[T, "2 I K"], x: In[U, "K"], g: In[Any, "K"], eps: f32, *, BI: int = 8, BK: int = 256
) -> None:
    """y = silu(w[0] @ v) * (w[1] @ v), where v = x / rms(x) * g."""
    for i in tp.parallel(I=BI):
        kind = sum_type(w, x)
        gate, up, squares = tp.zeros((i, BK), kind), tp.zeros((i, BK), kind), tp.zeros((BK,), kind)
        for k in tp.tiles(K=BK):
            v = x[k].to(kind)
            scaled = v * g[k].to(kind)
            gate += (w[0, i, k].to(kind) * scaled).fill(0)
            up += (w[1, i, k].to(kind) * scaled).fill(0)
            squares += (v * v).fill(0)
        root = _inverse_root(squares.sum(), eps)
        open = gate.sum(axis=1) * root
        y[i] = open * tp.sigmoid(open) * (up.sum(axis=1) * root)


@tp.kernel(deny_checks=True)
def norm_matvec_silu_rows_kernel(
    y: Out[U, "I"], w: In[T, "2 I K"], x: In[U, "K"], g: In[Any, "K"], eps: f32, *, K: int, BI: int = 4
) -> None:
    """y = silu(w[0] @ v) * (w[1] @ v), where v = x / rms(x) * g, with whole rows in one tile."""
    for i in tp.parallel(I=BI):
        kind = sum_type(w, x)
        v = x[:].to(kind)
        scaled, root = v * g[:].to(kind), _root_of(v, eps)
        open = (w[0, i, :].to(kind) * scaled).sum(axis=1) * root
        y[i] = open * tp.sigmoid(open) * ((w[1, i, :].to(kind) * scaled).sum(axis=1) * root)


# Choices.


def _norm_default(sizes: Sizes, target: str) -> Choice:
    return streaming(norm_matvec_kernel, norm_matvec_rows_kernel, sizes["N"], sizes["K"], target)


def _norm_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    return streaming_space(norm_matvec_kernel, norm_matvec_rows_kernel, sizes["K"], target)


def _norm_silu_default(sizes: Sizes, target: str) -> Choice:
    return streaming(norm_matvec_silu_kernel, norm_matvec_silu_rows_kernel, sizes["I"], sizes["K"], target, "BI")


def _norm_silu_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    k = sizes["K"]
    if target == "cpu":
        yield from on_cpu("BI", norm_matvec_silu_kernel, norm_matvec_silu_rows_kernel, k)
        return
    lanes = norm_matvec_silu_kernel
    large = "BI=8,BK=256 BI=4,BK=512 BI=8,BK=512 BI=4,BK=1024 BI=16,BK=256"
    yield from choices(lanes, large, LASTING, Schedule(occupancy=2), *AHEAD)
    yield from choices(lanes, "BI=4,BK=256 BI=8,BK=256 BI=2,BK=1024", Schedule(occupancy=4))
    yield from by_rows("BI", norm_matvec_silu_rows_kernel, k)


NORM_MATVEC: Final = Tunable(
    "norm_matvec", (norm_matvec_kernel, norm_matvec_rows_kernel), _norm_default, _norm_space, exact=("N", "K"),
    scalars={"eps": 1e-6},
)  # fmt: skip
NORM_MATVEC_SILU: Final = Tunable(
    "norm_matvec_silu", (norm_matvec_silu_kernel, norm_matvec_silu_rows_kernel), _norm_silu_default, _norm_silu_space,
    exact=("I", "K"), scalars={"eps": 1e-6},
)  # fmt: skip


# Functions.


def norm_matvec(w: Any, x: Any, g: Any, eps: float = 1e-6, out: Any = None) -> Any:
    """w @ rms_norm(x, g), in one pass over w. The normed vector is not rounded in between.

    `out` may have another float type than x, for instance f32 for the logits of a vector in bf16.

    Example:
        y = tk.norm_matvec(w, x, g, eps=1e-6)
    """
    rows, columns = extents(w)
    y = arrays.result(out, x, (rows,))
    chosen(NORM_MATVEC, w, N=rows, K=columns)(y, w, x, g, eps)
    return y


def norm_matvec_silu(w: Any, x: Any, g: Any, eps: float = 1e-6, out: Any = None) -> Any:
    """silu(gate) * up, where gate and up are the first and the second half of w @ rms_norm(x, g).

    Example:
        y = tk.norm_matvec_silu(w, x, g, eps=1e-6)
    """
    rows, columns = extents(w)
    half = half_of(rows)
    y = arrays.result(out, x, (half,))
    chosen(NORM_MATVEC_SILU, w, I=half, K=columns)(y, arrays.view(w, (2, half, columns)), x, g, eps)
    return y
