"""Softmax and log-softmax along the last axis, the cross entropy of rows with labels, and their gradients.

Everything is computed in f32 (f64 for f64) and rounded once. A row whose elements are all -inf, or one with NaN or
+inf, gives NaN throughout, as in torch. Elements of -inf in other rows have weight 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

import tileproof as tp
from tileproof import In, Index, Kernel, Out, Schedule, T, U, f32, f64
from tileproof.tuning import Choice, Sizes, Tunable, choices, with_constants

from .arrays import as_matrix, new, output_for, shape_error, sum_type_of, view
from .elementwise import launch
from .heuristics import FULL, SMALL, WHOLE, direct, occupied, power_of_two, row_softmax
from .numerics import wide


def cross_entropy_rows(loop: Kernel, lanes: Kernel) -> Tunable:
    """Of rows N of V columns, each reduced to a number."""

    def default(sizes: Sizes, target: str) -> Choice:
        rows, columns = sizes["N"], sizes["V"]
        if target == "cpu":
            return Choice(loop, {"BV": 1024 if rows * columns <= SMALL else 4096})
        if rows < FULL and columns > WHOLE:
            piece = -(-columns * max(rows, 1) // (2 * FULL))
            return Choice(loop, {"SV": max(4096, power_of_two(piece)), "BV": 2048}, Schedule(occupancy=4))
        if columns > WHOLE:
            return Choice(lanes, {"BV": 2048}, direct(8))
        return Choice(loop, {"BV": max(256, power_of_two(columns))}, Schedule(occupancy=4))

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        columns = sizes["V"]
        if target == "cpu":
            yield from choices(loop, "BV=1024 BV=4096 BV=16384")
            yield from choices(lanes, "BV=256 BV=1024")
            yield from choices(loop, "SV=16384,BV=4096")
            return
        for size in (1024, 2048, 4096, 8192):
            if size < 2 * columns:
                yield from choices(loop, f"BV={size}", Schedule(occupancy=4), direct(4), direct(8))
        if columns > 1024:
            once = [*occupied(4), *occupied(4, persistent=True), *occupied(4, 8, 16, tma=False)]
            yield from choices(lanes, "BV=512 BV=1024 BV=2048 BV=4096", *once)
        if columns > WHOLE:
            sizes_of = "SV=4096,BV=2048 SV=8192,BV=2048 SV=8192,BV=4096 SV=16384,BV=4096 SV=32768,BV=4096"
            yield from choices(loop, sizes_of, Schedule(occupancy=4), direct(8))

    return Tunable("cross_entropy", (loop, lanes), default, space, inputs=_give_labels)


def cross_entropy_gradient(kernel: Kernel) -> Tunable:
    """Of rows N of V columns, element by element."""

    def default(sizes: Sizes, target: str) -> Choice:
        rows, columns = sizes["N"], sizes["V"]
        if target == "cpu":
            return Choice(kernel, {"BN": 1, "BV": 1024 if rows * columns <= SMALL else 8192})
        return Choice(kernel, {"BN": 1, "BV": 2048 if columns > 1024 else 512})

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        if target == "cpu":
            yield from choices(kernel, "BN=1,BV=1024 BN=1,BV=8192 BN=4,BV=4096")
            return
        one = "BN=1,BV=512 BN=1,BV=1024 BN=1,BV=2048 BN=1,BV=4096"
        yield from choices(kernel, one, Schedule(), *occupied(4, 8), *occupied(8, persistent=True), direct(8))
        yield from choices(kernel, "BN=2,BV=1024 BN=4,BV=512 BN=8,BV=256", Schedule(), *occupied(8))

    return Tunable("cross_entropy_backward", (kernel,), default, space, inputs=_give_labels)


def _give_labels(rng: np.random.Generator, arguments: dict[str, Any]) -> None:
    """Labels that are positions in V."""
    arguments["labels"][...] = rng.integers(0, arguments["logits"].shape[1], arguments["labels"].shape)


_TWOS: Final = math.log2(math.e)


# What is computed of rows.


def exponential(t: Any, element: Any) -> Any:
    """e to the power t. Powers of 2 take fewer steps, and are exact enough where results become 16-bit floats."""
    return tp.exp(t) if t.dtype == f64 or element == f32 else tp.exp2(t * _TWOS)


def row_step(state: Any, part: Any, element: Any) -> Any:
    """The maximum of rows, and the sum of exp(x - maximum), with the columns of one more tile."""
    top, total = state
    higher = tp.maximum(top, part.max(axis=1))
    weights = exponential(part - higher[:, None], element).sum(axis=1)
    return higher, total * exponential(top - higher, element) + weights


def merge_rows(one: Any, other: Any) -> Any:
    """The same of two pieces of a row."""
    (top, total), (rival, more) = one, other
    higher = tp.maximum(top, rival)
    return higher, total * tp.exp(top - higher) + more * tp.exp(rival - higher)


def row_loss(label: Any, picked: Any, top: Any, total: Any) -> Any:
    """The loss of a row with this label and the logit there; 0 where the label is none."""
    return tp.where(label >= 0, top - picked + tp.log(total), 0)


def row_gradient(weight: Any, columns: Any, label: Any, grad: Any) -> Any:
    """The gradient of some columns from the softmax there and that of the losses; 0 where the label is none."""
    slope = tp.where(columns == label[:, None], weight - 1.0, weight)
    return tp.where(label[:, None] >= 0, slope * grad[:, None], 0)


# Rows that fit a tile.


@tp.kernel(deny_checks=True)
def softmax_kernel(y: Out[T, "R C"], x: In[T, "R C"], *, C: int, BR: int = 1, LOG: int = 0) -> None:
    """exp(x) of each row, divided by its sum; or the logarithm of that."""
    for r in tp.parallel(R=BR):
        row = wide(x[r, :])
        low = row - row.max(axis=1, keepdims=True)
        weight = exponential(low, x.dtype)
        if LOG == 1:
            y[r, :] = low - tp.log(weight.sum(axis=1, keepdims=True))
        else:
            y[r, :] = weight * (1.0 / weight.sum(axis=1, keepdims=True))


@tp.kernel(deny_checks=True)
def softmax_backward_kernel(
    dx: Out[T, "R C"], dy: In[T, "R C"], y: In[T, "R C"], *, C: int, BR: int = 1, LOG: int = 0
) -> None:
    """From dy, the gradient of y = softmax(x) or its logarithm, that of x."""
    for r in tp.parallel(R=BR):
        grad = wide(dy[r, :])
        if LOG == 1:
            dx[r, :] = grad - exponential(wide(y[r, :]), y.dtype) * grad.sum(axis=1, keepdims=True)
        else:
            weight = wide(y[r, :])
            dx[r, :] = weight * (grad - (grad * weight).sum(axis=1, keepdims=True))


# Rows of any length, tile by tile: once for what the whole row gives, and once for the result.


@tp.kernel(deny_checks=True)
def softmax_loop_kernel(y: Out[T, "R C"], x: In[T, "R C"], *, BR: int = 1, BC: int = 1024, LOG: int = 0) -> None:
    """exp(x) of each row, divided by its sum; or the logarithm of that."""
    for r in tp.parallel(R=BR):
        state: Any = tp.lowest, 0.0  # finite: a first tile of all -inf must not make NaN
        for c in tp.tiles(C=BC):
            state = row_step(state, wide(x[r, c]), x.dtype)
        top, total = state
        for c in tp.tiles(C=BC):
            low = wide(x[r, c]) - top[:, None]
            if LOG == 1:
                y[r, c] = low - tp.log(total)[:, None]
            else:
                y[r, c] = exponential(low, x.dtype) * (1.0 / total)[:, None]


@tp.kernel(deny_checks=True)
def softmax_backward_loop_kernel(
    dx: Out[T, "R C"], dy: In[T, "R C"], y: In[T, "R C"], *, BR: int = 1, BC: int = 1024, LOG: int = 0
) -> None:
    """From dy, the gradient of y = softmax(x) or its logarithm, that of x."""
    for r in tp.parallel(R=BR):
        along = 0.0
        for c in tp.tiles(C=BC):
            part = wide(dy[r, c]) if LOG == 1 else wide(dy[r, c]) * wide(y[r, c])
            along = along + part.sum(axis=1, keepdims=True)
        for c in tp.tiles(C=BC):
            if LOG == 1:
                dx[r, c] = wide(dy[r, c]) - exponential(wide(y[r, c]), y.dtype) * along
            else:
                dx[r, c] = wide(y[r, c]) * (wide(dy[r, c]) - along)


# Rows with labels. The launch makes sure that labels are positions in V, or none; what none picks is 0.


@tp.kernel(deny_checks=True)
def cross_entropy_kernel(
    loss: Out[U, "N"], lse: Out[U, "N"], logits: In[T, "N V"], labels: In[Index["V"], "N"], *,
    SV: int = 0, BV: int = 2048,
) -> None:  # fmt: skip
    """lse = log(sum(exp(logits))) of each row, and loss = lse minus the logit of its label; 0 without one.

    Each SV columns may be taken by programs of their own, for rows too few to fill a GPU.
    """
    for n, z in tp.parallel(N=tp.each, V=tp.split(SV)):
        top, total = tp.lowest, 0.0
        for v in z.tiles(BV):
            part = wide(logits[n, v])
            higher = tp.maximum(top, part.max())
            total = total * tp.exp(top - higher) + exponential(part - higher, logits.dtype).sum()
            top = higher
        top, total = tp.join((top, total), over=z, by=merge_rows)
        lse[n] = top + tp.log(total)
        picked = wide(logits.get((n, labels[n]), 0))
        loss[n] = row_loss(labels[n], picked, top, total)


@tp.kernel(deny_checks=True)
def cross_entropy_lanes_kernel(
    loss: Out[U, "N"], lse: Out[U, "N"], logits: In[T, "N V"], labels: In[Index["V"], "N"], *, BV: int = 2048
) -> None:
    """The same. Each lane keeps a maximum and a sum of its own, and they are joined once, after the loop.

    Of a lane's old maximum and its new element one is the new maximum, so one exponential is enough for both.
    """
    for n in tp.parallel(N=tp.each):
        top, total = tp.lowest, 0.0
        for v in tp.tiles(V=BV):
            part = wide(logits[n, v]).fill(-tp.inf)
            fade = exponential(-tp.abs(top - part), logits.dtype)
            total = tp.where(part > top, total * fade + 1.0, total + fade)
            top = tp.maximum(top, part)
        higher = tp.max(top)
        whole = tp.sum(total * tp.exp(top - higher))
        lse[n] = higher + tp.log(whole)
        picked = wide(logits.get((n, labels[n]), 0))
        loss[n] = row_loss(labels[n], picked, higher, whole)


@tp.kernel(deny_checks=True)
def cross_entropy_backward_kernel(
    dlogits: Out[T, "N V"], dloss: In[U, "N"], logits: In[T, "N V"], labels: In[Index["V"], "N"], lse: In[U, "N"], *,
    BN: int = 1, BV: int = 2048,
) -> None:  # fmt: skip
    """From dloss, the gradient of logits: softmax(logits), minus 1 at the label; 0 without one."""
    for n, v in tp.parallel(N=BN, V=BV):
        weight = exponential(wide(logits[n, v]) - wide(lse[n])[:, None], logits.dtype)
        dlogits[n, v] = row_gradient(weight, v.elements[None, :], labels[n], wide(dloss[n]))


# How each is cut into tiles.

_SOFTMAX: Final = row_softmax("softmax", softmax_kernel, softmax_loop_kernel)
_LOG_SOFTMAX: Final = with_constants("log_softmax", _SOFTMAX, LOG=1)
_SOFTMAX_BACKWARD: Final = row_softmax("softmax_backward", softmax_backward_kernel, softmax_backward_loop_kernel)
_LOG_SOFTMAX_BACKWARD: Final = with_constants("log_softmax_backward", _SOFTMAX_BACKWARD, LOG=1)
_CROSS_ENTROPY: Final = cross_entropy_rows(cross_entropy_kernel, cross_entropy_lanes_kernel)
_CROSS_ENTROPY_BACKWARD: Final = cross_entropy_gradient(cross_entropy_backward_kernel)

TUNABLES: Final[tuple[Tunable, ...]] = (
    _SOFTMAX, _SOFTMAX_BACKWARD, _LOG_SOFTMAX, _LOG_SOFTMAX_BACKWARD, _CROSS_ENTROPY, _CROSS_ENTROPY_BACKWARD,
)  # fmt: skip


# Functions.


def softmax(x: Any, out: Any = None) -> Any:
    """exp(x) along the last axis, divided by its sum.

    A row that is all -inf, or has NaN or +inf in it, becomes NaN.

    Example:
        y = tk.softmax(x)
    """
    return _rows(_SOFTMAX, output_for(out, x, x.shape), x)


def softmax_backward(dy: Any, y: Any, out: Any = None) -> Any:
    """The gradient of x from dy, that of y = `softmax(x)`.

    Example:
        dx = tk.softmax_backward(dy, y)
    """
    return _rows(_SOFTMAX_BACKWARD, output_for(out, y, y.shape), dy, y)


def log_softmax(x: Any, out: Any = None) -> Any:
    """The logarithm of the softmax along the last axis, -inf where x is.

    A row that is all -inf, or has NaN or +inf in it, becomes NaN.

    Example:
        y = tk.log_softmax(x)
    """
    return _rows(_LOG_SOFTMAX, output_for(out, x, x.shape), x)


def log_softmax_backward(dy: Any, y: Any, out: Any = None) -> Any:
    """The gradient of x from dy, that of y = `log_softmax(x)`.

    Example:
        dx = tk.log_softmax_backward(dy, y)
    """
    return _rows(_LOG_SOFTMAX_BACKWARD, output_for(out, y, y.shape), dy, y)


def cross_entropy(logits: Any, labels: Any, out: tuple[Any, Any] | None = None) -> tuple[Any, Any]:
    """The loss of each row of logits, and the logarithm of its sum of exponentials, which the gradient needs.

    The loss is minus the log_softmax at the label. Labels are positions in the last axis of logits, or -1: such a row
    is ignored, its loss is 0. Both results are f32 (f64 for logits of f64). Rows that are all -inf have a loss of NaN,
    as do those with NaN or +inf; a label at -inf has one of inf.

    Example:
        loss, lse = tk.cross_entropy(logits, labels)
    """
    shape, element = tuple(logits.shape[:-1]), sum_type_of(logits)
    if out is None:
        loss, lse = new(logits, shape, element), new(logits, shape, element)
    else:
        loss, lse = (output_for(each, logits, shape) for each in out)
    seen = as_matrix(logits)
    count, columns = seen.shape
    arguments = _line(loss, shape), _line(lse, shape), seen, _line(labels, shape)
    launch(_CROSS_ENTROPY, logits, *arguments, N=count, V=columns)
    return loss, lse


def cross_entropy_backward(dloss: Any, logits: Any, labels: Any, lse: Any, out: Any = None) -> Any:
    """The gradient of logits from dloss, that of the loss of each row, and from the lse that `cross_entropy` gave.

    Example:
        dlogits = tk.cross_entropy_backward(dloss, logits, labels, lse)
    """
    shape = tuple(logits.shape[:-1])
    dlogits = output_for(out, logits, logits.shape)
    seen = as_matrix(logits)
    count, columns = seen.shape
    arguments = as_matrix(dlogits), _line(dloss, shape), seen, _line(labels, shape), _line(lse, shape)
    launch(_CROSS_ENTROPY_BACKWARD, logits, *arguments, N=count, V=columns)
    return dlogits


def _rows(work: Tunable, output: Any, *inputs: Any) -> Any:
    """Does work on the rows of arrays of one shape, and returns the output."""
    for each in inputs:
        if tuple(each.shape) != tuple(output.shape):
            raise shape_error(each.shape, output.shape)
    arguments = tuple(map(as_matrix, (output, *inputs)))
    count, columns = arguments[0].shape
    launch(work, output, *arguments, R=count, C=columns)
    return output


def _line(array: Any, shape: tuple[int, ...]) -> Any:
    """An array with a number for each row, as a vector."""
    if tuple(array.shape) != shape:
        raise shape_error(array.shape, shape)
    return array if len(shape) == 1 else view(array, (math.prod(shape),))
