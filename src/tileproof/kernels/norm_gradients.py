"""Gradients of the norms.

Those of weights are sums over all rows. They are added up in an order that follows from the sizes alone, so that the
same call gives the same bits every time: each piece of rows by a program, then the sums of the pieces in order. Short
rows are read once for both gradients; long ones, which no tile holds, once more for those of weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import tileproof as tp
from tileproof import In, Out, Schedule, T, U, f32, f64
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import chosen, element_of, matrix, new, view
from .norm_parts import (
    centred_and_scale,
    is_long,
    mean_and_scale,
    more_moments,
    no_moments,
    power_of_two,
    root_scale,
    root_scale_of_sum,
    wide,
)


def rms_norm_backward(dy: Any, x: Any, w: Any, eps: float = 1e-6) -> tuple[Any, Any]:
    """The gradients of x and w, from dy, that of y = rms_norm(x, w, eps).

    Example:
        dx, dw = tk.rms_norm_backward(dy, x, w)
    """
    return _rms_backward(RMS_NORM_BACKWARD, rms_norm_backward_loop_kernel, (matrix(dy), matrix(x)), x, w, eps)


def add_rms_norm_backward(dy: Any, dtotal: Any, total: Any, w: Any, eps: float = 1e-6) -> tuple[Any, Any]:
    """The gradient of both x and residual, and that of w, from those of y, total = add_rms_norm(x, residual, w, eps).

    `dtotal` is the gradient that comes from what total, the new residual, is used for next.

    Example:
        dx, dw = tk.add_rms_norm_backward(dy, dtotal, total, w)
    """
    given = matrix(dy), matrix(dtotal), matrix(total)
    return _rms_backward(ADD_RMS_NORM_BACKWARD, add_rms_norm_backward_loop_kernel, given, total, w, eps)


def layer_norm_backward(dy: Any, x: Any, w: Any, eps: float = 1e-5) -> tuple[Any, Any, Any]:
    """The gradients of x, w and b, from dy, that of y = layer_norm(x, w, b, eps).

    Example:
        dx, dw, db = tk.layer_norm_backward(dy, x, w)
    """
    dx, both, kind = new(x, x.shape), new(w, (2, *w.shape)), _sum_type(x)
    grad, rows = matrix(dy), matrix(x)
    count, length = rows.shape
    if is_long(length, arrays.target_of(x)):
        means, scales = new(x, (count,), kind), new(x, (count,), kind)
        layer_norm_backward_loop_kernel(matrix(dx), means, scales, grad, rows, w, eps)
        layer_norm_backward_weights_kernel(both[0], both[1], grad, rows, means, scales)
    else:
        choice = chosen(LAYER_NORM_BACKWARD, x, N=count, D=length)
        parts = new(x, (-(-count // choice.constants["SN"]), 2, length), kind)
        choice(matrix(dx), parts, grad, rows, w, eps)
        rms_norm_backward_columns_kernel(both, parts)
    return dx, both[0], both[1]


def _rms_backward(
    tunable: Tunable, loop: tp.Kernel, given: tuple[Any, ...], x: Any, w: Any, eps: float
) -> tuple[Any, Any]:
    dx, dw, kind = new(x, x.shape), new(w, w.shape), _sum_type(x)
    count, length = given[-1].shape
    if is_long(length, arrays.target_of(x)):
        scales = new(x, (count,), kind)
        loop(matrix(dx), scales, *given, w, eps)
        rms_norm_backward_weights_kernel(dw, given[0], given[-1], scales)
    else:
        choice = chosen(tunable, x, N=count, D=length)
        parts = new(x, (-(-count // choice.constants["SN"]), length), kind)
        choice(matrix(dx), parts, *given, w, eps)
        rms_norm_backward_columns_kernel(view(dw, (1, length)), view(parts, (parts.shape[0], 1, length)))
    return dx, dw


def _sum_type(x: Any) -> Any:
    return f64 if element_of(x) is f64 else f32


# Root mean square.


@tp.kernel(deny_checks=True)
def rms_norm_backward_kernel(
    dx: Out[T, "N D"], parts: Out[Any, "N/SN D"], dy: In[T, "N D"], x: In[T, "N D"], w: In[U, "D"], eps: f32, *,
    D: int, SN: int = 32, BN: int = 1,
) -> None:  # fmt: skip
    """The gradient of x, and of every SN rows what they add to that of w; whole rows in one tile."""
    for n in tp.parallel(N=SN):
        total = tp.zeros((BN, D), f64 if x.dtype == f64 else f32)
        for r in n.tiles(BN):
            slope, along = rms_slopes(wide(dy[r, :]), wide(x[r, :]), w[:], eps)
            dx[r, :] = slope
            total += along.fill(0)
        parts[n.number, :] = total.sum(axis=0)


@tp.kernel(deny_checks=True)
def add_rms_norm_backward_kernel(
    dx: Out[T, "N D"], parts: Out[Any, "N/SN D"], dy: In[T, "N D"], dtotal: In[T, "N D"], x: In[T, "N D"],
    w: In[U, "D"], eps: f32, *, D: int, SN: int = 32, BN: int = 1,
) -> None:  # fmt: skip
    """The same, with the gradient that comes along beside the norm."""
    for n in tp.parallel(N=SN):
        total = tp.zeros((BN, D), f64 if x.dtype == f64 else f32)
        for r in n.tiles(BN):
            slope, along = rms_slopes(wide(dy[r, :]), wide(x[r, :]), w[:], eps)
            dx[r, :] = slope + wide(dtotal[r, :])
            total += along.fill(0)
        parts[n.number, :] = total.sum(axis=0)


def rms_slopes(grad: Any, rows: Any, w: Any, eps: Any) -> tuple[Any, Any]:
    """The gradient of rows, and what each adds to that of w."""
    scale = root_scale(rows, eps)
    normed, inner = rows * scale, grad * w.to(rows.dtype)
    return (inner - normed * (inner * normed).mean(axis=1, keepdims=True)) * scale, grad * normed


@tp.kernel(deny_checks=True)
def rms_norm_backward_columns_kernel(
    total: Out[U, "K D"], parts: In[T, "Q K D"], *, BQ: int = 64, BD: int = 32
) -> None:
    """The sums of what Q pieces of rows add to K gradients of weights."""
    for k, d in tp.parallel(K=tp.each, D=BD):
        acc = tp.zeros((BQ, d), parts.dtype)
        for q in tp.tiles(Q=BQ):
            acc += parts[q, k, d].fill(0)
        total[k, d] = acc.sum(axis=0)


# Root mean square of long rows.


@tp.kernel(deny_checks=True, schedule=Schedule(occupancy=2))
def rms_norm_backward_loop_kernel(
    dx: Out[T, "N D"], scales: Out[Any, "N"], dy: In[T, "N D"], x: In[T, "N D"], w: In[U, "D"], eps: f32, *,
    BN: int = 1, BD: int = 2048,
) -> None:  # fmt: skip
    """The gradient of x, and what each row was multiplied by; rows are read twice."""
    for n in tp.parallel(N=BN):
        scale, along = rms_of_long(dy, x, w, n, eps, BD)
        scales[n] = scale.sum(axis=1)
        for d in tp.tiles(D=BD):
            dx[n, d] = (wide(dy[n, d]) * w[d].to(scale.dtype) - wide(x[n, d]) * along) * scale


@tp.kernel(deny_checks=True, schedule=Schedule(occupancy=2))
def add_rms_norm_backward_loop_kernel(
    dx: Out[T, "N D"], scales: Out[Any, "N"], dy: In[T, "N D"], dtotal: In[T, "N D"], x: In[T, "N D"], w: In[U, "D"],
    eps: f32, *, BN: int = 1, BD: int = 2048,
) -> None:  # fmt: skip
    """The same, with the gradient that comes along beside the norm."""
    for n in tp.parallel(N=BN):
        scale, along = rms_of_long(dy, x, w, n, eps, BD)
        scales[n] = scale.sum(axis=1)
        for d in tp.tiles(D=BD):
            slope = (wide(dy[n, d]) * w[d].to(scale.dtype) - wide(x[n, d]) * along) * scale
            dx[n, d] = slope + wide(dtotal[n, d])


def rms_of_long(dy: Any, x: Any, w: Any, n: Any, eps: Any, size: int) -> tuple[Any, Any]:
    """1 / the root mean square of each row, and how much of the row its gradient has."""
    kind = f64 if x.dtype == f64 else f32
    squares, products = tp.zeros((n, size), kind), tp.zeros((n, size), kind)
    for d in tp.tiles(D=size):
        part = wide(x[n, d])
        squares += (part * part).fill(0)
        products += (wide(dy[n, d]) * w[d].to(kind) * part).fill(0)
    scale = root_scale_of_sum(squares, eps)
    return scale, products.sum(axis=1, keepdims=True) / tp.dim("D").to(kind) * scale * scale


@tp.kernel(deny_checks=True)
def rms_norm_backward_weights_kernel(
    dw: Out[U, "D"], dy: In[T, "N D"], x: In[T, "N D"], scales: In[Any, "N"], *,
    SN: int = 1024, BN: int = 16, BD: int = 128,
) -> None:  # fmt: skip
    """The gradient of w, each SN rows by programs of their own."""
    for d, z in tp.parallel(D=BD, N=tp.split(SN)):
        total = tp.zeros((BN, d), scales.dtype)
        for n in z.tiles(BN):
            total += (wide(dy[n, d]) * wide(x[n, d]) * scales[n][:, None]).fill(0)
        dw[d] = tp.join(total.sum(axis=0), over=z)


# Mean and variance.


@tp.kernel(deny_checks=True)
def layer_norm_backward_kernel(
    dx: Out[T, "N D"], parts: Out[Any, "N/SN 2 D"], dy: In[T, "N D"], x: In[T, "N D"], w: In[U, "D"], eps: f32, *,
    D: int, SN: int = 32, BN: int = 1,
) -> None:  # fmt: skip
    """The gradient of x, and of every SN rows what they add to those of w and b; whole rows in one tile."""
    for n in tp.parallel(N=SN):
        kind = f64 if x.dtype == f64 else f32
        total, plain = tp.zeros((BN, D), kind), tp.zeros((BN, D), kind)
        for r in n.tiles(BN):
            centred, scale = centred_and_scale(wide(x[r, :]), eps)
            grad = wide(dy[r, :])
            normed, inner = centred * scale, grad * w[:].to(kind)
            along = (inner * normed).mean(axis=1, keepdims=True)
            dx[r, :] = (inner - inner.mean(axis=1, keepdims=True) - normed * along) * scale
            total += (grad * normed).fill(0)
            plain += grad.fill(0)
        parts[n.number, 0, :] = total.sum(axis=0)
        parts[n.number, 1, :] = plain.sum(axis=0)


@tp.kernel(deny_checks=True, schedule=Schedule(occupancy=2))
def layer_norm_backward_loop_kernel(
    dx: Out[T, "N D"], means: Out[Any, "N"], scales: Out[Any, "N"], dy: In[T, "N D"], x: In[T, "N D"], w: In[U, "D"],
    eps: f32, *, BN: int = 1, BD: int = 2048,
) -> None:  # fmt: skip
    """The gradient of x, and the mean and the factor of each row; rows are read three times."""
    for n in tp.parallel(N=BN):
        kind = f64 if x.dtype == f64 else f32
        seen = no_moments(n, kind)
        for d in tp.tiles(D=BD):
            seen = more_moments(seen, wide(x[n, d]), d)
        mean, scale = mean_and_scale(seen, eps)
        means[n], scales[n] = mean.sum(axis=1), scale.sum(axis=1)
        plain, products = tp.zeros((n, BD), kind), tp.zeros((n, BD), kind)
        for d in tp.tiles(D=BD):
            inner = wide(dy[n, d]) * w[d].to(kind)
            plain += inner.fill(0)
            products += (inner * ((wide(x[n, d]) - mean) * scale)).fill(0)
        length = tp.dim("D").to(kind)
        level, along = plain.sum(axis=1, keepdims=True) / length, products.sum(axis=1, keepdims=True) / length
        for d in tp.tiles(D=BD):
            normed = (wide(x[n, d]) - mean) * scale
            dx[n, d] = (wide(dy[n, d]) * w[d].to(kind) - level - normed * along) * scale


@tp.kernel(deny_checks=True)
def layer_norm_backward_weights_kernel(
    dw: Out[U, "D"], db: Out[U, "D"], dy: In[T, "N D"], x: In[T, "N D"], means: In[Any, "N"], scales: In[Any, "N"], *,
    SN: int = 1024, BN: int = 16, BD: int = 128,
) -> None:  # fmt: skip
    """The gradients of w and b, each SN rows by programs of their own."""
    for d, z in tp.parallel(D=BD, N=tp.split(SN)):
        total, plain = tp.zeros((BN, d), scales.dtype), tp.zeros((BN, d), scales.dtype)
        for n in z.tiles(BN):
            grad = wide(dy[n, d])
            total += (grad * (wide(x[n, d]) - means[n][:, None]) * scales[n][:, None]).fill(0)
            plain += grad.fill(0)
        dw[d], db[d] = tp.join((total.sum(axis=0), plain.sum(axis=0)), over=z)


# Which sizes.


def _piece(sizes: Sizes, target: str) -> int:
    """Rows of a piece: one or two pieces for each multiprocessor of a GPU, and up to 64 on a CPU."""
    pieces = 64 if target == "cpu" else 132 * _held(sizes)
    return power_of_two(-(-sizes["N"] // pieces))


def _held(sizes: Sizes) -> int:
    """How many programs a multiprocessor has registers for."""
    return 2 if sizes["D"] <= 4096 else 1


def _default(kernel: tp.Kernel, sizes: Sizes, target: str) -> Choice:
    piece = _piece(sizes, target)
    rows = min(max(4096 // power_of_two(sizes["D"]), 1), piece, 16)
    return Choice(kernel, {"SN": piece, "BN": rows}, Schedule(occupancy=_held(sizes), warps=8))


def _space(kernel: tp.Kernel, sizes: Sizes, target: str) -> Iterator[Choice]:
    """Pieces are the same for all, since what they add up to is an argument."""
    piece, length = _piece(sizes, target), power_of_two(sizes["D"])
    for rows in (1, 2, 4, 8, 16):
        if rows > piece or (rows > 1 and rows * length > 8192):
            return
        if target == "cpu":
            yield from choices(kernel, f"SN={piece},BN={rows}")
            continue
        plain = (Schedule(occupancy=count) for count in (1, 2, 4))
        yield from choices(kernel, f"SN={piece},BN={rows}", *plain)
        yield from choices(kernel, f"SN={piece},BN={rows}", *(Schedule(occupancy=c, warps=8) for c in (1, 2)))


def _backward(name: str, kernel: tp.Kernel) -> Tunable:
    default, space = partial(_default, kernel), partial(_space, kernel)
    return Tunable(name, (kernel,), default, space, exact=("D",), scalars={"eps": 1e-6})


RMS_NORM_BACKWARD: Final = _backward("rms_norm_backward", rms_norm_backward_kernel)
ADD_RMS_NORM_BACKWARD: Final = _backward("add_rms_norm_backward", add_rms_norm_backward_kernel)
LAYER_NORM_BACKWARD: Final = _backward("layer_norm_backward", layer_norm_backward_kernel)
