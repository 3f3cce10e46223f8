"""GEMV: the linear layers of a model that decodes one sequence, plain, added to a residual, gated, and after an RMS
norm.

Weights have a row per output. Sums are computed in f32 (f64 for f64) and rounded once. NaN and infinity propagate as
in IEEE arithmetic; a matrix without columns gives 0. The same choice gives the same bits every time.

A norm before the layer needs no pass of its own: the sum of squares is computed along with the dot products, and its
inverse root scales their sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Out, Schedule, T, U, f32
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import choose, half_of, weight_shape
from .heuristics import AHEAD, LASTING, LONGEST, direct, gemv, gemv_by_rows, gemv_on_cpu, rows_per_core, tile_size
from .numerics import silu, sum_type


def _inverse_root(squares: Any, eps: Any) -> Any:
    """What a vector is multiplied by to norm it, from the sum of its squares."""
    return tp.rsqrt(squares / tp.maximum(tp.dim("K"), 1).to(squares.dtype) + eps.to(squares.dtype))


def _root_of(v: Any, eps: Any) -> Any:
    """What a vector in one tile is multiplied by to norm it."""
    return tp.rsqrt((v * v).mean() + eps.to(v.dtype))


# A vector times two matrices, gate and up. With a norm the vector is x / rms(x) * g.


@tp.kernel(deny_checks=True)
def matvec_silu_kernel(
    y: Out[U, "I"], w: In[T, "2 I K"], x: In[U, "K"], g: In[Any, "K"] | None, eps: f32 | None, *,
    BI: int = 4, BK: int = 512,
) -> None:  # fmt: skip
    """y = silu(w[0] @ v) * (w[1] @ v), where v is x, or x normalized."""
    tp.require((g is None) == (eps is None))
    for i in tp.parallel(I=BI):
        kind = sum_type(w, x)
        gate, up = tp.zeros((i, BK), kind), tp.zeros((i, BK), kind)
        squares: Any = 0.0 if g is None else tp.zeros((BK,), kind)
        for k in tp.tiles(K=BK):
            v = x[k].to(kind)
            scaled = v if g is None else v * g[k].to(kind)
            gate += (w[0, i, k].to(kind) * scaled).fill(0)
            up += (w[1, i, k].to(kind) * scaled).fill(0)
            if g is not None:
                squares += (v * v).fill(0)
        if g is None:
            y[i] = silu(gate.sum(axis=1)) * up.sum(axis=1)
        else:
            root = _inverse_root(squares.sum(), eps)
            y[i] = silu(gate.sum(axis=1) * root) * (up.sum(axis=1) * root)


@tp.kernel(deny_checks=True)
def matvec_silu_rows_kernel(
    y: Out[U, "I"], w: In[T, "2 I K"], x: In[U, "K"], g: In[Any, "K"] | None, eps: f32 | None, *, K: int, BI: int = 1
) -> None:
    """The same with whole rows in one tile."""
    tp.require((g is None) == (eps is None))
    for i in tp.parallel(I=BI):
        kind = sum_type(w, x)
        v = x[:].to(kind)
        if g is None:
            y[i] = silu((w[0, i, :].to(kind) * v).sum(axis=1)) * (w[1, i, :].to(kind) * v).sum(axis=1)
        else:
            scaled, root = v * g[:].to(kind), _root_of(v, eps)
            gate = (w[0, i, :].to(kind) * scaled).sum(axis=1) * root
            y[i] = silu(gate) * ((w[1, i, :].to(kind) * scaled).sum(axis=1) * root)


_SILU, _SILU_ROWS = matvec_silu_kernel.without("g", "eps"), matvec_silu_rows_kernel.without("g", "eps")


@tp.kernel(deny_checks=True)
def matvec_silu_pair_kernel(y: Out[U, "I"], w: In[T, "2 I K"], x: In[U, "K"], *, K: int) -> None:
    """The same of x, with a row of gate and one of up in one tile, whose sums are made together."""
    for i in tp.parallel(I=tp.each):
        kind = sum_type(w, x)
        both = (w[:, i, :].to(kind) * x[:].to(kind)).sum(axis=1)
        y[i] = silu(both[:1].sum()) * both[1:].sum()


def _silu_default(sizes: Sizes, target: str) -> Choice:
    i, k = sizes["I"], sizes["K"]
    if target == "cpu":
        if 512 <= k <= LONGEST:
            return Choice(_SILU_ROWS, {"BI": rows_per_core(i)})
        return Choice(_SILU, {"BI": 16, "BK": tile_size(k, 512, 32)})
    schedule = direct(8 if k <= 4096 else 4)  # two rows at once have to fit the registers
    if 1 <= k <= 8192:
        return Choice(matvec_silu_pair_kernel, {}, schedule)
    return Choice(_SILU, {"BI": 1, "BK": tile_size(k, 512, 32)}, schedule)


def _silu_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    k = sizes["K"]
    if target == "cpu":
        yield from gemv_on_cpu("BI", _SILU, _SILU_ROWS, k)
        return
    yield from gemv_by_rows("BI", _SILU_ROWS, k)
    yield from choices(_SILU, "BI=4,BK=512 BI=8,BK=256 BI=8,BK=512", LASTING, Schedule(occupancy=2))
    if 1 <= k <= 8192:
        yield from choices(matvec_silu_pair_kernel, "", direct(4), direct(8))
    yield from choices(_SILU, "BI=1,BK=1024 BI=2,BK=1024 BI=1,BK=2048", direct(4), direct(8))


MATVEC_SILU: Final = Tunable(
    "matvec_silu", (_SILU, _SILU_ROWS, matvec_silu_pair_kernel), _silu_default, _silu_space, exact=("I", "K")
)


def matvec_silu(w: Any, x: Any, out: Any = None) -> Any:
    """silu(gate) * up, where gate and up are the first and the second half of w @ x.

    Example:
        y = tk.matvec_silu(w, x)
    """
    rows, columns = weight_shape(w)
    half = half_of(rows)
    y = arrays.output_for(out, x, (half,))
    choose(MATVEC_SILU, w, I=half, K=columns)(y, arrays.view(w, (2, half, columns)), x)
    return y


# A vector times one matrix.


@tp.kernel(deny_checks=True)
def matvec_kernel(
    y: Out[Any, "N"], w: In[T, "N K"], x: In[U, "K"], g: In[Any, "K"] | None, eps: f32 | None,
    residual: In[U, "N"] | None, *, BN: int = 8, BK: int = 512,
) -> None:  # fmt: skip
    """y = w @ x, of x / rms(x) * g with a norm, and added to a residual if there is one."""
    tp.require((g is None) == (eps is None))
    for n in tp.parallel(N=BN):
        kind = sum_type(w, x)
        acc = tp.zeros((n, BK), kind)
        squares: Any = 0.0 if g is None else tp.zeros((BK,), kind)
        for k in tp.tiles(K=BK):
            if g is None:
                acc += (w[n, k].to(kind) * x[k].to(kind)).fill(0)
            else:
                v = x[k].to(kind)
                acc += (w[n, k].to(kind) * (v * g[k].to(kind))).fill(0)
                squares += (v * v).fill(0)
        total = acc.sum(axis=1)
        if g is not None:
            total *= _inverse_root(squares.sum(), eps)
        y[n] = total if residual is None else residual[n].to(kind) + total


@tp.kernel(deny_checks=True)
def matvec_rows_kernel(
    y: Out[Any, "N"], w: In[T, "N K"], x: In[U, "K"], g: In[Any, "K"] | None, eps: f32 | None,
    residual: In[U, "N"] | None, *, K: int, BN: int = 4,
) -> None:  # fmt: skip
    """The same with whole rows in one tile: all of a program's loads are on their way at once."""
    tp.require((g is None) == (eps is None))
    for n in tp.parallel(N=BN):
        kind = sum_type(w, x)
        if g is not None:
            v = x[:].to(kind)
            total = (w[n, :].to(kind) * (v * g[:].to(kind))).sum(axis=1) * _root_of(v, eps)
            y[n] = total if residual is None else residual[n].to(kind) + total
        elif residual is not None:
            y[n] = residual[n].to(kind) + (w[n, :].to(kind) * x[:].to(kind)).sum(axis=1)
        else:
            y[n] = (w[n, :].to(kind) * x[:].to(kind)).sum(axis=1)


def _norm_silu_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    k = sizes["K"]
    if target == "cpu":
        yield from gemv_on_cpu("BI", matvec_silu_kernel, matvec_silu_rows_kernel, k)
        return
    lanes = matvec_silu_kernel
    large = "BI=8,BK=256 BI=4,BK=512 BI=8,BK=512 BI=4,BK=1024 BI=16,BK=256"
    yield from choices(lanes, large, LASTING, Schedule(occupancy=2), *AHEAD)
    yield from choices(lanes, "BI=4,BK=256 BI=8,BK=256 BI=2,BK=1024", Schedule(occupancy=4))
    yield from gemv_by_rows("BI", matvec_silu_rows_kernel, k)


def _matvec(name: str, *absent: str, **more: Any) -> Tunable:
    return gemv(name, matvec_kernel.without(*absent), matvec_rows_kernel.without(*absent), **more)


MATVEC: Final = _matvec("matvec", "g", "eps", "residual")
MATVEC_ADD: Final = _matvec("matvec_add", "g", "eps")
NORM_MATVEC: Final = _matvec("norm_matvec", "residual", scalars={"eps": 1e-6})
NORM_MATVEC_SILU: Final = gemv(
    "norm_matvec_silu", matvec_silu_kernel, matvec_silu_rows_kernel, "I", _norm_silu_space, scalars={"eps": 1e-6}
)
TUNABLES: Final = (MATVEC, MATVEC_ADD, MATVEC_SILU, NORM_MATVEC, NORM_MATVEC_SILU)


# Functions.


def norm_matvec(w: Any, x: Any, g: Any, eps: float = 1e-6, out: Any = None) -> Any:
    """w @ rms_norm(x, g), in one pass over w. The normed vector is not rounded in between.

    `out` may have another float type than x, for instance f32 for the logits of a vector in bf16.

    Example:
        y = tk.norm_matvec(w, x, g, eps=1e-6)
    """
    rows, columns = weight_shape(w)
    y = arrays.output_for(out, x, (rows,))
    choose(NORM_MATVEC, w, N=rows, K=columns)(y, w, x, g, eps)
    return y


def norm_matvec_silu(w: Any, x: Any, g: Any, eps: float = 1e-6, out: Any = None) -> Any:
    """silu(gate) * up, where gate and up are the first and the second half of w @ rms_norm(x, g).

    Example:
        y = tk.norm_matvec_silu(w, x, g, eps=1e-6)
    """
    rows, columns = weight_shape(w)
    half = half_of(rows)
    y = arrays.output_for(out, x, (half,))
    choose(NORM_MATVEC_SILU, w, I=half, K=columns)(y, arrays.view(w, (2, half, columns)), x, g, eps)
    return y


def matvec(w: Any, x: Any, out: Any = None) -> Any:
    """w @ x, of a matrix with a row for each output and a vector.

    Weights may be of another type than x, for instance bf16 beside f32. The result has the type of x, or that of `out`.

    Example:
        y = tk.matvec(w, x)
    """
    rows, columns = weight_shape(w)
    y = arrays.output_for(out, x, (rows,))
    choose(MATVEC, w, N=rows, K=columns)(y, w, x)
    return y


def matvec_add(w: Any, x: Any, residual: Any, out: Any = None) -> Any:
    """residual + w @ x, added before the result is rounded. `out` is another array than the residual.

    Example:
        y = tk.matvec_add(w, x, residual)
    """
    rows, columns = weight_shape(w)
    y = arrays.output_for(out, x, (rows,))
    choose(MATVEC_ADD, w, N=rows, K=columns)(y, w, x, residual)
    return y
