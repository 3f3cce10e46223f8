"""Normalisation of rows: by their root mean square, also behind a sum, and by mean and variance; with gradients.

All compute in f32 (f64 for f64) and round once. Weights may have another element type than rows. A NaN makes its row
NaN and an infinity makes NaN or 0 of its row, as IEEE says; other rows are not touched. Squares are f32: a row with
numbers beyond 1e19 becomes 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import tileproof as tp
from tileproof import In, Out, Schedule, T, U, f32, f64
from tileproof.tuning import Choice, Sizes, Tunable, choices

from .arrays import chosen, matrix, result
from .norm_gradients import (
    ADD_RMS_NORM_BACKWARD,
    LAYER_NORM_BACKWARD,
    RMS_NORM_BACKWARD,
    add_rms_norm_backward,
    add_rms_norm_backward_kernel,
    add_rms_norm_backward_loop_kernel,
    layer_norm_backward,
    layer_norm_backward_kernel,
    layer_norm_backward_loop_kernel,
    layer_norm_backward_weights_kernel,
    rms_norm_backward,
    rms_norm_backward_columns_kernel,
    rms_norm_backward_kernel,
    rms_norm_backward_loop_kernel,
    rms_norm_backward_weights_kernel,
)
from .norm_parts import (
    centred_and_scale,
    first_window,
    is_long,
    mean_and_scale,
    more_moments,
    no_moments,
    root_scale,
    root_scale_of_sum,
    root_scale_of_two,
    rows_default,
    rows_space,
    wide,
)

__all__ = [
    "add_rms_norm", "add_rms_norm_backward", "add_rms_norm_backward_kernel", "add_rms_norm_backward_loop_kernel",
    "add_rms_norm_kernel", "add_rms_norm_loop_kernel", "add_rms_norm_two_kernel", "layer_norm", "layer_norm_backward",
    "layer_norm_backward_kernel", "layer_norm_backward_loop_kernel", "layer_norm_backward_weights_kernel",
    "layer_norm_kernel", "layer_norm_loop_kernel", "rms_norm", "rms_norm_backward",
    "rms_norm_backward_columns_kernel", "rms_norm_backward_kernel", "rms_norm_backward_loop_kernel",
    "rms_norm_backward_weights_kernel", "rms_norm_kernel", "rms_norm_loop_kernel",
]  # fmt: skip


def rms_norm(x: Any, w: Any, eps: float = 1e-6, out: Any = None) -> Any:
    """Each row of the last axis divided by its root mean square, times w: x / sqrt(mean(x * x) + eps) * w.

    Example:
        y = tk.rms_norm(x, w)
    """
    y, rows = result(out, x, x.shape), matrix(x)
    count, length = rows.shape
    chosen(RMS_NORM, x, N=count, D=length)(matrix(y), rows, w, eps)
    return y


def add_rms_norm(x: Any, residual: Any, w: Any, eps: float = 1e-6, out: tuple[Any, Any] | None = None) -> Any:
    """The pair of rms_norm(x + residual) and x + residual, which is rounded to the type of x before it is normalised.

    `out` is a pair of arrays for these two.

    Example:
        y, residual = tk.add_rms_norm(x, residual, w)
    """
    y, total = (result(each, x, x.shape) for each in out or (None, None))
    rows = matrix(x)
    count, length = rows.shape
    chosen(ADD_RMS_NORM, x, N=count, D=length)(matrix(y), matrix(total), rows, matrix(residual), w, eps)
    return y, total


def layer_norm(x: Any, w: Any, b: Any, eps: float = 1e-5, out: Any = None) -> Any:
    """Each row of the last axis less its mean, divided by its deviation, times w, plus b.

    Example:
        y = tk.layer_norm(x, w, b)
    """
    y, rows = result(out, x, x.shape), matrix(x)
    count, length = rows.shape
    chosen(LAYER_NORM, x, N=count, D=length)(matrix(y), rows, w, b, eps)
    return y


@tp.kernel(deny_checks=True)
def rms_norm_kernel(y: Out[T, "N D"], x: In[T, "N D"], w: In[U, "D"], eps: f32, *, D: int, BN: int = 2) -> None:
    """Each row of x divided by its root mean square, times w; whole rows in one tile."""
    for n in tp.parallel(N=BN):
        rows = wide(x[n, :])
        y[n, :] = rows * root_scale(rows, eps) * w[:].to(rows.dtype)


@tp.kernel(deny_checks=True)
def rms_norm_loop_kernel(
    y: Out[T, "N D"], x: In[T, "N D"], w: In[U, "D"], eps: f32, *, BN: int = 1, BD: int = 4096
) -> None:
    """The same for rows that are too long for one tile: they are read twice."""
    for n in tp.parallel(N=BN):
        squares = tp.zeros((n, BD), f64 if x.dtype == f64 else f32)
        for d in tp.tiles(D=BD):
            part = wide(x[n, d])
            squares += (part * part).fill(0)
        scale = root_scale_of_sum(squares, eps)
        for d in tp.tiles(D=BD):
            part = wide(x[n, d])
            y[n, d] = part * scale * w[d].to(part.dtype)


@tp.kernel(deny_checks=True)
def add_rms_norm_kernel(
    y: Out[T, "N D"], total: Out[T, "N D"], x: In[T, "N D"], residual: In[T, "N D"], w: In[U, "D"], eps: f32, *,
    D: int, BN: int = 2,
) -> None:  # fmt: skip
    """total = x + residual, and y = its rows divided by their root mean square, times w."""
    for n in tp.parallel(N=BN):
        added = x[n, :] + residual[n, :]
        total[n, :] = added
        rows = wide(added)
        y[n, :] = rows * root_scale(rows, eps) * w[:].to(rows.dtype)


@tp.kernel(deny_checks=True)
def add_rms_norm_loop_kernel(
    y: Out[T, "N D"], total: Out[T, "N D"], x: In[T, "N D"], residual: In[T, "N D"], w: In[U, "D"], eps: f32, *,
    BN: int = 1, BD: int = 4096,
) -> None:  # fmt: skip
    """The same for rows that are too long for one tile: they are read, and added up, twice."""
    for n in tp.parallel(N=BN):
        squares = tp.zeros((n, BD), f64 if x.dtype == f64 else f32)
        for d in tp.tiles(D=BD):
            added = x[n, d] + residual[n, d]
            total[n, d] = added
            part = wide(added)
            squares += (part * part).fill(0)
        scale = root_scale_of_sum(squares, eps)
        for d in tp.tiles(D=BD):
            part = wide(x[n, d] + residual[n, d])
            y[n, d] = part * scale * w[d].to(part.dtype)


@tp.kernel(deny_checks=True)
def add_rms_norm_two_kernel(
    y: Out[T, "N D"], total: Out[T, "N D"], x: In[T, "N D"], residual: In[T, "N D"], w: In[U, "D"], eps: f32, *,
    D: int, D0: int = 2048, BN: int = 1,
) -> None:  # fmt: skip
    """The same by two windows of a row, D0 elements and the rest: where both are powers of two, no lane is idle."""
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
        seen = no_moments(n, f64 if x.dtype == f64 else f32)
        for d in tp.tiles(D=BD):
            seen = more_moments(seen, wide(x[n, d]), d)
        mean, scale = mean_and_scale(seen, eps)
        for d in tp.tiles(D=BD):
            y[n, d] = (wide(x[n, d]) - mean) * scale * w[d].to(scale.dtype) + b[d].to(scale.dtype)


def _forward(name: str, whole: tp.Kernel, loop: tp.Kernel, tile: int) -> Tunable:
    default, space = partial(rows_default, whole, loop, tile), partial(rows_space, whole, loop)
    return Tunable(name, (whole, loop), default, space, exact=("D",), scalars={"eps": 1e-6})


# Which form of add_rms_norm.

_LEAST_WINDOW: Final = 2048
_LEAST_ROWS: Final = 64
"""Fewer rows, as of decoding, are taken whole."""
_SEEN: Final = {
    4096: (2048, 16384, Schedule(occupancy=8, tma=False, warps=8)), 8192: (1024, 8192, Schedule(occupancy=1, tma=False))
}  # fmt: skip
"""By the length of rows, what an H200 was seen to like best for more than so many of them, and at most so many."""


def _window(sizes: Sizes, target: str) -> int | None:
    """How much of a row is the first of two windows; None where rows are taken whole, or walked."""
    first = first_window(sizes["D"])
    is_two = target == "sm_90" and sizes["N"] >= _LEAST_ROWS and not is_long(sizes["D"], target)
    return first if is_two and first is not None and first >= _LEAST_WINDOW else None


def _add_default(sizes: Sizes, target: str) -> Choice:
    first = _window(sizes, target)
    if first is not None:  # one tile would be padded to the next power of two
        return Choice(add_rms_norm_two_kernel, {"D0": first, "BN": 1}, Schedule(occupancy=4, tma=False, warps=8))
    least, most, schedule = _SEEN.get(sizes["D"], (0, 0, Schedule()))
    if target == "sm_90" and least < sizes["N"] <= most:
        return Choice(add_rms_norm_kernel, {"BN": 1}, schedule)
    return rows_default(add_rms_norm_kernel, add_rms_norm_loop_kernel, 4096, sizes, target)


def _add_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    first = _window(sizes, target)
    if first is not None:
        direct = [Schedule(occupancy=count, tma=False, warps=warps) for warps in (None, 8) for count in (4, 8)]
        yield from choices(add_rms_norm_two_kernel, f"D0={first},BN=1", *direct, Schedule(occupancy=4))
    yield from rows_space(add_rms_norm_kernel, add_rms_norm_loop_kernel, sizes, target)


RMS_NORM: Final = _forward("rms_norm", rms_norm_kernel, rms_norm_loop_kernel, 8192)
ADD_RMS_NORM: Final = Tunable(
    "add_rms_norm", (add_rms_norm_kernel, add_rms_norm_loop_kernel, add_rms_norm_two_kernel), _add_default, _add_space,
    exact=("D",), scalars={"eps": 1e-6},
)  # fmt: skip
LAYER_NORM: Final = _forward("layer_norm", layer_norm_kernel, layer_norm_loop_kernel, 8192)
TUNABLES: Final = (
    RMS_NORM, RMS_NORM_BACKWARD, ADD_RMS_NORM, ADD_RMS_NORM_BACKWARD, LAYER_NORM, LAYER_NORM_BACKWARD
)  # fmt: skip
