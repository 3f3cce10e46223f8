"""RMS norm, also fused with a residual addition, and layer norm; with gradients.

All compute in f32 (f64 for f64) and round once. Weights may have another element type than rows. A NaN makes its row
NaN and an infinity makes its row NaN or 0, as in IEEE arithmetic; other rows are not affected. Squares are f32: a row
with numbers beyond 1e19 becomes 0.

Gradients of weights are sums over all rows, added in an order that depends on the sizes alone, so that the same call
gives the same bits every time: each program sums a block of rows, then the blocks are summed in order. Short rows are
read once for both gradients; rows that fit no tile are read once more for those of weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import tileproof as tp
from tileproof import In, Out, Schedule, T, U, f32
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import as_matrix, choose, new, output_for, sum_type_of, view
from .heuristics import MULTIPROCESSORS, direct, is_long, norm_default, norm_space, occupied, power_of_two
from .numerics import accumulator, wide

# In kernels.


def root_scale(rows: Any, eps: Any) -> Any:
    """1 / the root mean square of each row."""
    return tp.rsqrt((rows * rows).mean(axis=1, keepdims=True) + eps.to(rows.dtype))


def centred_and_scale(rows: Any, eps: Any) -> Any:
    """Each row less its mean, and 1 / its deviation."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred, root_scale(centred, eps)


def root_scale_of_sum(squares: Any, eps: Any) -> Any:
    """1 / the root mean square of each row of D elements, from the squares of its lanes added up."""
    mean = squares.sum(axis=1, keepdims=True) / tp.dim("D").to(squares.dtype)
    return tp.rsqrt(mean + eps.to(mean.dtype))


def root_scale_of_two(one: Any, two: Any, eps: Any) -> Any:
    """1 / the root mean square of each row of D elements, from both windows of it: the sum of the first comes first."""
    squares = (one * one).sum(axis=1, keepdims=True) + (two * two).sum(axis=1, keepdims=True)
    return tp.rsqrt(squares / tp.dim("D").to(squares.dtype) + eps.to(squares.dtype))


def no_moments(rows: Any, kind: Any) -> Any:
    """Count, mean and squared distances from it of rows of which nothing was seen."""
    return tp.zeros((), kind), tp.zeros((rows, 1), kind), tp.zeros((rows, 1), kind)


def more_moments(seen: Any, part: Any, walker: Any) -> Any:
    """The same with one more tile of each row: means are merged, so that large ones cost no precision."""
    count, mean, squares = seen
    size = (walker.stop - walker.start).to(part.dtype)
    here = part.mean(axis=1, keepdims=True)
    away, step, total = part - here, here - mean, count + size
    added = (away * away).sum(axis=1, keepdims=True) + step * step * (count * size / total)
    return total, mean + step * (size / total), squares + added


def mean_and_scale(seen: Any, eps: Any) -> Any:
    """The mean of each row, and 1 / its deviation."""
    count, mean, squares = seen
    return mean, tp.rsqrt(squares / count + eps.to(mean.dtype))


# Gradients.


def rms_norm_backward(dy: Any, x: Any, w: Any, eps: float = 1e-6) -> tuple[Any, Any]:
    """The gradients of x and w, from dy, that of y = rms_norm(x, w, eps).

    Example:
        dx, dw = tk.rms_norm_backward(dy, x, w)
    """
    return _rms_backward(RMS_NORM_BACKWARD, as_matrix(dy), None, x, w, eps)


def add_rms_norm_backward(dy: Any, dtotal: Any, total: Any, w: Any, eps: float = 1e-6) -> tuple[Any, Any]:
    """The gradient of both x and residual, and that of w, from those of y, total = add_rms_norm(x, residual, w, eps).

    `dtotal` is the gradient that comes from what total, the new residual, is used for next.

    Example:
        dx, dw = tk.add_rms_norm_backward(dy, dtotal, total, w)
    """
    return _rms_backward(ADD_RMS_NORM_BACKWARD, as_matrix(dy), as_matrix(dtotal), total, w, eps)


def layer_norm_backward(dy: Any, x: Any, w: Any, eps: float = 1e-5) -> tuple[Any, Any, Any]:
    """The gradients of x, w and b, from dy, that of y = layer_norm(x, w, b, eps).

    Example:
        dx, dw, db = tk.layer_norm_backward(dy, x, w)
    """
    dx, both, kind = new(x, x.shape), new(w, (2, *w.shape)), sum_type_of(x)
    grad, rows = as_matrix(dy), as_matrix(x)
    count, length = rows.shape
    if is_long(length, arrays.target_of(x)):
        means, scales = new(x, (count,), kind), new(x, (count,), kind)
        layer_norm_backward_loop_kernel(as_matrix(dx), means, scales, grad, rows, w, eps)
        layer_norm_backward_weights_kernel(both[0], both[1], grad, rows, means, scales)
    else:
        choice = choose(LAYER_NORM_BACKWARD, x, N=count, D=length)
        parts = new(x, (-(-count // choice.constants["SN"]), 2, length), kind)
        choice(as_matrix(dx), parts, grad, rows, w, eps)
        rms_norm_backward_columns_kernel(both, parts)
    return dx, both[0], both[1]


def _rms_backward(tunable: Tunable, dy: Any, dtotal: Any, x: Any, w: Any, eps: float) -> tuple[Any, Any]:
    dx, dw, kind, rows = new(x, x.shape), new(w, w.shape), sum_type_of(x), as_matrix(x)
    count, length = rows.shape
    if is_long(length, arrays.target_of(x)):
        scales = new(x, (count,), kind)
        rms_norm_backward_loop_kernel(as_matrix(dx), scales, dy, dtotal, rows, w, eps)
        rms_norm_backward_weights_kernel(dw, dy, rows, scales)
    else:
        choice = choose(tunable, x, N=count, D=length)
        parts = new(x, (-(-count // choice.constants["SN"]), length), kind)
        choice(*arrays.present(as_matrix(dx), parts, dy, dtotal, rows, w, eps))
        rms_norm_backward_columns_kernel(view(dw, (1, length)), view(parts, (parts.shape[0], 1, length)))
    return dx, dw


# Root mean square.


@tp.kernel(deny_checks=True)
def rms_norm_backward_kernel(
    dx: Out[T, "N D"], parts: Out[Any, "N/SN D"], dy: In[T, "N D"], dtotal: In[T, "N D"] | None, x: In[T, "N D"],
    w: In[U, "D"], eps: f32, *, D: int, SN: int = 32, BN: int = 1,
) -> None:  # fmt: skip
    """The gradient of x, and of every SN rows what they add to that of w; whole rows in one tile.

    `dtotal` is a gradient that comes along beside the norm.
    """
    for n in tp.parallel(N=SN):
        total = tp.zeros((BN, D), accumulator(x.dtype))
        for r in n.tiles(BN):
            slope, along = rms_slopes(wide(dy[r, :]), wide(x[r, :]), w[:], eps)
            dx[r, :] = slope if dtotal is None else slope + wide(dtotal[r, :])
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
    dx: Out[T, "N D"], scales: Out[Any, "N"], dy: In[T, "N D"], dtotal: In[T, "N D"] | None, x: In[T, "N D"],
    w: In[U, "D"], eps: f32, *, BN: int = 1, BD: int = 2048,
) -> None:  # fmt: skip
    """The same, and what each row was multiplied by; rows are read twice."""
    for n in tp.parallel(N=BN):
        scale, along = rms_of_long(dy, x, w, n, eps, BD)
        scales[n] = scale.sum(axis=1)
        for d in tp.tiles(D=BD):
            slope = (wide(dy[n, d]) * w[d].to(scale.dtype) - wide(x[n, d]) * along) * scale
            dx[n, d] = slope if dtotal is None else slope + wide(dtotal[n, d])


def rms_of_long(dy: Any, x: Any, w: Any, n: Any, eps: Any, size: int) -> tuple[Any, Any]:
    """1 / the root mean square of each row, and how much of the row its gradient has."""
    kind = accumulator(x.dtype)
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
        kind = accumulator(x.dtype)
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
        kind = accumulator(x.dtype)
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
    pieces = 64 if target == "cpu" else MULTIPROCESSORS * _held(sizes)
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
        yield from choices(kernel, f"SN={piece},BN={rows}", *occupied(1, 2, 4), *occupied(1, 2, warps=8))


def _backward(name: str, kernel: tp.Kernel) -> Tunable:
    default, space = partial(_default, kernel), partial(_space, kernel)
    return Tunable(name, (kernel,), default, space, exact=("D",), scalars={"eps": 1e-6})


RMS_NORM_BACKWARD: Final = _backward("rms_norm_backward", rms_norm_backward_kernel.without("dtotal"))
ADD_RMS_NORM_BACKWARD: Final = _backward("add_rms_norm_backward", rms_norm_backward_kernel)
LAYER_NORM_BACKWARD: Final = _backward("layer_norm_backward", layer_norm_backward_kernel)


def rms_norm(x: Any, w: Any, eps: float = 1e-6, out: Any = None) -> Any:
    """Each row of the last axis divided by its root mean square, times w: x / sqrt(mean(x * x) + eps) * w.

    Example:
        y = tk.rms_norm(x, w)
    """
    y, rows = output_for(out, x, x.shape), as_matrix(x)
    count, length = rows.shape
    choose(RMS_NORM, x, N=count, D=length)(as_matrix(y), rows, w, eps)
    return y


def add_rms_norm(x: Any, residual: Any, w: Any, eps: float = 1e-6, out: tuple[Any, Any] | None = None) -> Any:
    """The pair of rms_norm(x + residual) and x + residual, which is rounded to the type of x before it is normalized.

    `out` is a pair of arrays for these two.

    Example:
        y, residual = tk.add_rms_norm(x, residual, w)
    """
    y, total = (output_for(each, x, x.shape) for each in out or (None, None))
    rows = as_matrix(x)
    count, length = rows.shape
    choose(ADD_RMS_NORM, x, N=count, D=length)(as_matrix(y), as_matrix(total), rows, as_matrix(residual), w, eps)
    return y, total


def layer_norm(x: Any, w: Any, b: Any, eps: float = 1e-5, out: Any = None) -> Any:
    """Each row of the last axis less its mean, divided by its deviation, times w, plus b.

    Example:
        y = tk.layer_norm(x, w, b)
    """
    y, rows = output_for(out, x, x.shape), as_matrix(x)
    count, length = rows.shape
    choose(LAYER_NORM, x, N=count, D=length)(as_matrix(y), rows, w, b, eps)
    return y


@tp.kernel(deny_checks=True)
def rms_norm_kernel(
    y: Out[T, "N D"], total: Out[T, "N D"] | None, x: In[T, "N D"], residual: In[T, "N D"] | None, w: In[U, "D"],
    eps: f32, *, D: int, BN: int = 2,
) -> None:  # fmt: skip
    """Each row of x divided by its root mean square, times w; whole rows in one tile.

    With a residual, that is added first, and the sum is `total`.
    """
    tp.require((total is None) == (residual is None))
    for n in tp.parallel(N=BN):
        added = x[n, :]
        if total is not None and residual is not None:
            added = added + residual[n, :]
            total[n, :] = added
        rows = wide(added)
        y[n, :] = rows * root_scale(rows, eps) * w[:].to(rows.dtype)


@tp.kernel(deny_checks=True)
def rms_norm_loop_kernel(
    y: Out[T, "N D"], total: Out[T, "N D"] | None, x: In[T, "N D"], residual: In[T, "N D"] | None, w: In[U, "D"],
    eps: f32, *, BN: int = 1, BD: int = 4096,
) -> None:  # fmt: skip
    """The same for rows that are too long for one tile: they are read, and added up, twice."""
    tp.require((total is None) == (residual is None))
    for n in tp.parallel(N=BN):
        squares = tp.zeros((n, BD), accumulator(x.dtype))
        for d in tp.tiles(D=BD):
            added = x[n, d]
            if total is not None and residual is not None:
                added = added + residual[n, d]
                total[n, d] = added
            part = wide(added)
            squares += (part * part).fill(0)
        scale = root_scale_of_sum(squares, eps)
        for d in tp.tiles(D=BD):
            part = wide(x[n, d] if residual is None else x[n, d] + residual[n, d])
            y[n, d] = part * scale * w[d].to(part.dtype)


@tp.kernel(deny_checks=True)
def add_rms_norm_two_kernel(
    y: Out[T, "N D"], total: Out[T, "N D"], x: In[T, "N D"], residual: In[T, "N D"], w: In[U, "D"], eps: f32, *,
    D: int, D0: int = 2048, BN: int = 1,
) -> None:  # fmt: skip
    """The same by two windows of a row, D0 elements and the rest, with a residual.

    Where both are powers of two, no lane is idle.
    """
    for n in tp.parallel(N=BN):
        first, rest = x[n, 0:D0] + residual[n, 0:D0], x[n, D0:D] + residual[n, D0:D]
        total[n, 0:D0], total[n, D0:D] = first, rest
        one, two = wide(first), wide(rest)
        scale = root_scale_of_two(one, two, eps)
        y[n, 0:D0], y[n, D0:D] = one * scale * w[0:D0].to(one.dtype), two * scale * w[D0:D].to(two.dtype)


@tp.kernel(deny_checks=True)
def layer_norm_kernel(
    y: Out[T, "N D"], x: In[T, "N D"], w: In[U, "D"], b: In[U, "D"], eps: f32, *, D: int, BN: int = 2
) -> None:
    """Each row of x with mean 0 and variance 1, times w, plus b; whole rows in one tile."""
    for n in tp.parallel(N=BN):
        centred, scale = centred_and_scale(wide(x[n, :]), eps)
        y[n, :] = centred * scale * w[:].to(scale.dtype) + b[:].to(scale.dtype)


@tp.kernel(deny_checks=True)
def layer_norm_loop_kernel(
    y: Out[T, "N D"], x: In[T, "N D"], w: In[U, "D"], b: In[U, "D"], eps: f32, *, BN: int = 1, BD: int = 4096
) -> None:
    """The same for rows that are too long for one tile: they are read twice."""
    for n in tp.parallel(N=BN):
        seen = no_moments(n, accumulator(x.dtype))
        for d in tp.tiles(D=BD):
            seen = more_moments(seen, wide(x[n, d]), d)
        mean, scale = mean_and_scale(seen, eps)
        for d in tp.tiles(D=BD):
            y[n, d] = (wide(x[n, d]) - mean) * scale * w[d].to(scale.dtype) + b[d].to(scale.dtype)


def _forward(name: str, whole: tp.Kernel, loop: tp.Kernel) -> Tunable:
    default, space = partial(norm_default, whole, loop, 8192), partial(norm_space, whole, loop)
    return Tunable(name, (whole, loop), default, space, exact=("D",), scalars={"eps": 1e-6})


# Which form of add_rms_norm.

_LEAST_WINDOW: Final = 2048
_LEAST_ROWS: Final = 64
"""Fewer rows, as of decoding, are taken whole."""
_SEEN: Final = {
    4096: (2048, 16384, direct(8, 8)), 8192: (1024, 8192, direct(1))
}  # fmt: skip
"""By the length of rows, what an H200 was seen to like best for more than so many of them, and at most so many."""


def _window(sizes: Sizes, target: str) -> int | None:
    """How much of a row is the first of two windows; None where rows are taken whole, or walked."""
    # Of a length that is the sum of two powers of two, the larger.
    first = 1 << sizes["D"].bit_length() - 1 if sizes["D"].bit_count() == 2 else None
    is_two = target == "sm_90" and sizes["N"] >= _LEAST_ROWS and not is_long(sizes["D"], target)
    return first if is_two and first is not None and first >= _LEAST_WINDOW else None


def _add_default(sizes: Sizes, target: str) -> Choice:
    first = _window(sizes, target)
    if first is not None:  # one tile would be padded to the next power of two
        return Choice(add_rms_norm_two_kernel, {"D0": first, "BN": 1}, direct(4, 8))
    least, most, schedule = _SEEN.get(sizes["D"], (0, 0, Schedule()))
    if target == "sm_90" and least < sizes["N"] <= most:
        return Choice(rms_norm_kernel, {"BN": 1}, schedule)
    return norm_default(rms_norm_kernel, rms_norm_loop_kernel, 4096, sizes, target)


def _add_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    first = _window(sizes, target)
    if first is not None:
        straight = *occupied(4, 8, tma=False), *occupied(4, 8, tma=False, warps=8)
        yield from choices(add_rms_norm_two_kernel, f"D0={first},BN=1", *straight, Schedule(occupancy=4))
    yield from norm_space(rms_norm_kernel, rms_norm_loop_kernel, sizes, target)


RMS_NORM: Final = _forward(
    "rms_norm", rms_norm_kernel.without("total", "residual"), rms_norm_loop_kernel.without("total", "residual")
)
ADD_RMS_NORM: Final = Tunable(
    "add_rms_norm", (rms_norm_kernel, rms_norm_loop_kernel, add_rms_norm_two_kernel), _add_default, _add_space,
    exact=("D",), scalars={"eps": 1e-6},
)  # fmt: skip
LAYER_NORM: Final = _forward("layer_norm", layer_norm_kernel, layer_norm_loop_kernel)
TUNABLES: Final = (
    RMS_NORM, RMS_NORM_BACKWARD, ADD_RMS_NORM, ADD_RMS_NORM_BACKWARD, LAYER_NORM, LAYER_NORM_BACKWARD
)  # fmt: skip
