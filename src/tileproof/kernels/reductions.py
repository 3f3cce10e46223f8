"""Sums, maxima and their positions along an axis, running totals, the k greatest, and counts.

Floats are added up in f32 (f64 for f64) and rounded once. Truth values and integers of 8 and 16 bits add up to i32,
wider ones to their own type, and wrap. NaN is greater than everything: it wins in `max`, `argmax` and `top_k`, and
spreads in `sum` and `cumsum`. The same choice gives the same bits every time.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, Out, Schedule, Sum, T, U, bf16, f16, f32, f64, i32
from tileproof.diagnostics.codes import Code
from tileproof.language.dtypes import DType
from tileproof.language.kernel import Kernel
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .choosing import chosen
from .ordering import top_k, top_k_kernel, top_k_merge_kernel, top_k_pieces_kernel
from .row_choices import ENOUGH, columns_default, columns_space, power, rows_default, rows_space, tile

__all__ = [
    "argmax", "argmax_kernel", "argmax_split_kernel", "cumsum", "cumsum_kernel", "cumsum_resume_kernel",
    "cumsum_totals_kernel", "histogram", "histogram_kernel", "max", "max_columns_kernel", "max_columns_split_kernel",
    "max_kernel", "max_split_kernel", "sum", "sum_columns_kernel", "sum_columns_split_kernel", "sum_kernel",
    "sum_split_kernel", "top_k", "top_k_kernel", "top_k_merge_kernel", "top_k_pieces_kernel",
]  # fmt: skip

_NARROW: Final = {"f16": f32, "bf16": f32, "bool": i32, "i8": i32, "i16": i32, "u8": i32, "u16": i32}

# Sums.


@tp.kernel(deny_checks=True)
def sum_kernel(y: Out[U, "R"], x: In[T, "R C"], *, BR: int = 4, BC: int = 1024) -> None:
    """The sum of each row."""
    for i in tp.parallel(R=BR):
        total = tp.zeros((i, 1), x.dtype).sum(axis=1)
        for c in tp.tiles(C=BC):
            total += x[i, c].sum(axis=1)
        y[i] = total


@tp.kernel(deny_checks=True)
def sum_split_kernel(y: Out[U, "R"], x: In[T, "R C"], *, BR: int = 1, SC: int = 8192, BC: int = 4096) -> None:
    """The sum of each row, pieces of it by programs of their own."""
    for i, z in tp.parallel(R=BR, C=tp.split(SC)):
        total = tp.zeros((i, 1), x.dtype).sum(axis=1)
        for c in z.tiles(BC):
            total += x[i, c].sum(axis=1)
        y[i] = tp.join(total, over=z)


@tp.kernel(deny_checks=True)
def sum_columns_kernel(y: Out[U, "C"], x: In[T, "R C"], *, BR: int = 4, BC: int = 1024) -> None:
    """The sum of each column."""
    for c in tp.parallel(C=BC):
        total = tp.zeros((1, c), x.dtype).sum(axis=0)
        for i in tp.tiles(R=BR):
            total += x[i, c].sum(axis=0)
        y[c] = total


@tp.kernel(deny_checks=True)
def sum_columns_split_kernel(y: Out[U, "C"], x: In[T, "R C"], *, SR: int = 512, BR: int = 32, BC: int = 128) -> None:
    """The sum of each column, pieces of it by programs of their own."""
    for c, z in tp.parallel(C=BC, R=tp.split(SR)):
        total = tp.zeros((1, c), x.dtype).sum(axis=0)
        for i in z.tiles(BR):
            total += x[i, c].sum(axis=0)
        y[c] = tp.join(total, over=z)


def sum(x: Any, axis: int | None = -1, out: Any = None) -> Any:
    """The sum along the last axis, along axis 0 of a matrix, or of everything (`axis=None`).

    Floats keep their type. The sum of nothing is 0.

    Example:
        >>> tk.sum(np.ones((2, 3), np.float32)).tolist()
        [3.0, 3.0]
    """
    element = arrays.element_of(x)
    total: DType = _NARROW.get(element.name, element)
    kept = element if element.is_float else total
    return _reduced(x, axis, out, kept, total, SUM, SUM_COLUMNS)


# Maxima.


def least(x: Any) -> Any:
    """What is below every element."""
    return -tp.inf if x.dtype == f16 or x.dtype == bf16 or x.dtype == f32 or x.dtype == f64 else tp.lowest


@tp.kernel(deny_checks=True)
def max_kernel(y: Out[T, "R"], x: In[T, "R C"], *, BR: int = 4, BC: int = 1024) -> None:
    """The greatest of each row: NaN if there is one."""
    for i in tp.parallel(R=BR):
        top = tp.full((i,), least(x), x.dtype)
        for c in tp.tiles(C=BC):
            top = tp.maximum(top, x[i, c].max(axis=1))
        y[i] = top


@tp.kernel(deny_checks=True)
def max_split_kernel(y: Out[T, "R"], x: In[T, "R C"], *, BR: int = 1, SC: int = 8192, BC: int = 4096) -> None:
    """The greatest of each row, pieces of it by programs of their own."""
    for i, z in tp.parallel(R=BR, C=tp.split(SC)):
        top = tp.full((i,), least(x), x.dtype)
        for c in z.tiles(BC):
            top = tp.maximum(top, x[i, c].max(axis=1))
        y[i] = tp.join(top, over=z, by=tp.maximum)


@tp.kernel(deny_checks=True)
def max_columns_kernel(y: Out[T, "C"], x: In[T, "R C"], *, BR: int = 4, BC: int = 1024) -> None:
    """The greatest of each column: NaN if there is one."""
    for c in tp.parallel(C=BC):
        top = tp.full((c,), least(x), x.dtype)
        for i in tp.tiles(R=BR):
            top = tp.maximum(top, x[i, c].max(axis=0))
        y[c] = top


@tp.kernel(deny_checks=True)
def max_columns_split_kernel(y: Out[T, "C"], x: In[T, "R C"], *, SR: int = 512, BR: int = 32, BC: int = 128) -> None:
    """The greatest of each column, pieces of it by programs of their own."""
    for c, z in tp.parallel(C=BC, R=tp.split(SR)):
        top = tp.full((c,), least(x), x.dtype)
        for i in z.tiles(BR):
            top = tp.maximum(top, x[i, c].max(axis=0))
        y[c] = tp.join(top, over=z, by=tp.maximum)


def max(x: Any, axis: int | None = -1, out: Any = None) -> Any:
    """The greatest along the last axis, along axis 0 of a matrix, or of everything (`axis=None`).

    NaN where there is one. The greatest of nothing is -inf, or the least integer.

    Example:
        >>> tk.max(np.array([[1, 5], [7, 2]], np.float32), axis=0).tolist()
        [7.0, 5.0]
    """
    element = arrays.element_of(x)
    return _reduced(x, axis, out, element, element, MAX, MAX_COLUMNS)


def _reduced(x: Any, axis: int | None, out: Any, kept: DType, between: DType, rows: Tunable, columns: Tunable) -> Any:
    """A reduction by the kernels of two tunables; `between` is the type that nothing is lost in."""
    shape = tuple(x.shape)
    if axis is None:
        y = arrays.result(out, x, (), kept)
        flat = arrays.matrix(x)
        if flat.shape[0] != 1:  # rows first: they need not follow each other in memory
            parts = arrays.new(x, (flat.shape[0],), between)
            _rows(rows, parts, flat)
            flat = arrays.view(parts, (1, flat.shape[0]))
        _rows(rows, arrays.view(y, (1,)), flat)
        return y
    if axis == 0 and len(shape) == 2:
        y = arrays.result(out, x, shape[1:], kept)
        chosen(columns, x, R=shape[0], C=shape[1])(y, x)
        return y
    if axis not in (-1, len(shape) - 1) or not shape:
        raise arrays.refused(
            Code.ARGUMENT_RANK,
            f"axis {axis} of an array of shape {arrays.shown(shape)} is not reduced",
            "use axis=-1, axis=0 of a matrix, or axis=None for everything",
        )
    y = arrays.result(out, x, shape[:-1], kept)
    _rows(rows, arrays.view(y, (math.prod(shape[:-1]),)), arrays.matrix(x))
    return y


def _rows(tunable: Tunable, y: Any, x: Any) -> None:
    chosen(tunable, x, R=x.shape[0], C=x.shape[1])(y, x)


# Positions of maxima.


def beats(value: Any, best: Any) -> Any:
    """Whether a value is greater than the best so far: NaN is greater than all but NaN."""
    return (value > best) | ((value != value) & (best == best))


def greater(left: Any, right: Any) -> Any:
    """The greater of two pairs of value and position: NaN wins, then the left one."""
    (best, position), (value, other) = left, right
    wins = beats(value, best)
    return tp.where(wins, value, best), tp.where(wins, other, position)


@tp.kernel(deny_checks=True)
def argmax_kernel(y: Out[Index["C"], "R"], x: In[T, "R C"], *, BC: int = 2048) -> None:
    """Where each row is greatest: NaN wins, then the first. None where a row is empty: the clip makes it -1."""
    for r in tp.parallel(R=tp.each):
        best, position = tp.full((), least(x), x.dtype), 0
        for c in tp.tiles(C=BC):
            top = x[r, c].max()
            if beats(top, best):  # few tiles do, and only there a position is looked for
                best, position = top, c.start + x[r, c].argmax()
        y[r] = tp.clip(position, 0, tp.dim("C") - 1)  # type: ignore[index]


@tp.kernel(deny_checks=True)
def argmax_split_kernel(y: Out[Index["C"], "R"], x: In[T, "R C"], *, SC: int = 8192, BC: int = 2048) -> None:
    """Where each row is greatest, pieces of it searched by programs of their own."""
    for r, z in tp.parallel(R=tp.each, C=tp.split(SC)):
        best, position = tp.full((), least(x), x.dtype), z.start
        for c in z.tiles(BC):
            top = x[r, c].max()
            if beats(top, best):
                best, position = top, c.start + x[r, c].argmax()
        _, first = tp.join((best, position), over=z, by=greater)
        y[r] = tp.clip(first, 0, tp.dim("C") - 1)  # type: ignore[index]


def argmax(x: Any, out: Any = None) -> Any:
    """Where the last axis is greatest, as i32 (`out` may be i64): at the first NaN, else at the first of equals.

    -1 where that axis is empty.

    Example:
        >>> tk.argmax(np.array([[1, 5, 5], [7, 2, 0]], np.float32)).tolist()
        [1, 0]
    """
    rows = arrays.matrix(x)
    y = arrays.result(out, x, tuple(x.shape)[:-1], i32)
    chosen(ARGMAX, x, R=rows.shape[0], C=rows.shape[1])(arrays.view(y, (rows.shape[0],)), rows)
    return y


# Running totals.


@tp.kernel(deny_checks=True)
def cumsum_kernel(y: Out[U, "R C"], x: In[T, "R C"], *, BR: int = 1, BC: int = 1024) -> None:
    """y[r, c] = x[r, 0] + ... + x[r, c]."""
    for i in tp.parallel(R=BR):
        total = tp.zeros((i, 1), x.dtype).cumsum(axis=1)
        for c in tp.tiles(C=BC):
            y[i, c] = total + x[i, c].cumsum(axis=1)
            total += x[i, c].sum(axis=1, keepdims=True)


@tp.kernel(deny_checks=True)
def cumsum_totals_kernel(total: Out[U, "R C/SC"], x: In[T, "R C"], *, SC: int = 4096) -> None:
    """The sum of each piece of a row."""
    for r, c in tp.parallel(R=tp.each, C=SC):
        total[r, c.number] = x[r, c].sum()


@tp.kernel(deny_checks=True)
def cumsum_resume_kernel(y: Out[Any, "R C"], x: In[T, "R C"], before: In[U, "R C/SC"], *, SC: int = 4096) -> None:
    """Running totals of rows, given those of whole pieces: every piece by a program of its own."""
    for r, c in tp.parallel(R=tp.each, C=SC):
        y[r, c] = before.get((r, c.number - 1), 0) + x[r, c].cumsum()


def cumsum(x: Any, out: Any = None) -> Any:
    """Running totals along the last axis. Floats keep their type.

    Example:
        >>> tk.cumsum(np.array([1, 2, 3], np.float32)).tolist()
        [1.0, 3.0, 6.0]
    """
    element = arrays.element_of(x)
    between: DType = _NARROW.get(element.name, element)
    rows = arrays.matrix(x)
    y = arrays.result(out, x, tuple(x.shape), element if element.is_float else between)
    count, length = rows.shape
    piece = 4096
    if arrays.target_of(x) == "cpu" or count >= ENOUGH // 2 or length <= 4 * piece:
        chosen(CUMSUM, x, R=count, C=length)(arrays.matrix(y), rows)
        return y
    totals, before = (arrays.new(x, (count, -(-length // piece)), between) for _ in range(2))
    cumsum_totals_kernel(totals, rows, SC=piece)
    chosen(CUMSUM, totals, R=count, C=totals.shape[1])(before, totals)
    cumsum_resume_kernel(arrays.matrix(y), rows, before, SC=piece)
    return y


# Counts.


@tp.kernel(deny_checks=True)
def histogram_kernel(count: Sum[i32, "B"], x: In[Index["B"], "N"], *, BN: int = 1024) -> None:
    """How often each bin occurs in x; -1 is none and is skipped."""
    for n in tp.parallel(N=BN):
        count[x[n]] += 1


def histogram(x: Any, bins: int, out: Any = None) -> Any:
    """How often each of the numbers 0 to bins - 1 occurs in x (i32 or i64), as i32. -1 is not counted.

    Example:
        >>> tk.histogram(np.array([2, 0, 2, -1], np.int32), 4).tolist()
        [1, 0, 2, 0]
    """
    count = arrays.result(out, x, (bins,), i32)
    flat = arrays.view(x, (math.prod(x.shape),))
    chosen(HISTOGRAM, x, N=flat.shape[0], B=bins)(count, flat)
    return count


# Choices.


def _argmax_default(sizes: Sizes, target: str) -> Choice:
    rows, columns = sizes["R"], sizes["C"]
    most = 1024 if target == "cpu" else 2048
    if rows < (4 if target == "cpu" else ENOUGH) and columns > (1 << 22 if target == "cpu" else 2 * most):
        piece = 1 << 18 if target == "cpu" else builtins.max(most, power(rows * columns // (4 * ENOUGH)))
        return Choice(argmax_split_kernel, {"SC": piece, "BC": most})
    return Choice(argmax_kernel, {"BC": tile(columns, most)})


def _argmax_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    yield from choices(argmax_kernel, "BC=512 BC=1024 BC=2048 BC=4096 BC=8192")
    pieces = "SC=2048,BC=2048 SC=4096,BC=4096 SC=8192,BC=2048 SC=8192,BC=8192 SC=16384,BC=4096 SC=32768,BC=1024"
    yield from choices(argmax_split_kernel, pieces)


def _cumsum_default(sizes: Sizes, target: str) -> Choice:
    if target == "cpu":
        return Choice(cumsum_kernel, {"BR": 1, "BC": tile(sizes["C"], 1024)})
    columns = tile(sizes["C"], 2048)
    return Choice(cumsum_kernel, {"BR": tile(sizes["R"], builtins.max(1, 1024 // columns)), "BC": columns})


def _cumsum_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    tiles = "BR=1,BC=512 BR=1,BC=1024 BR=1,BC=2048 BR=1,BC=4096 BR=2,BC=1024 BR=4,BC=256 BR=4,BC=512 BR=16,BC=64"
    yield from choices(cumsum_kernel, tiles, *(() if target == "cpu" else (Schedule(), Schedule(occupancy=4))))


def _histogram_default(sizes: Sizes, target: str) -> Choice:
    return Choice(histogram_kernel, {"BN": tile(sizes["N"], 4096 if target == "cpu" else 1024)})


def _histogram_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    yield from choices(histogram_kernel, "BN=256 BN=512 BN=1024 BN=2048 BN=4096 BN=16384")


def _bins(rng: Any, arguments: dict[str, Any]) -> None:
    """Random bins."""
    x = arguments["x"]
    x[...] = rng.integers(0, len(arguments["count"]), x.shape)


def _tunable(name: str, plain: Kernel, split: Kernel, default: Any, space: Any) -> Tunable:
    return Tunable(name, (plain, split), default(plain, split), space(plain, split))


SUM: Final = _tunable("sum", sum_kernel, sum_split_kernel, rows_default, rows_space)
SUM_COLUMNS: Final = _tunable(
    "sum_columns", sum_columns_kernel, sum_columns_split_kernel, columns_default, columns_space
)
MAX: Final = _tunable("max", max_kernel, max_split_kernel, rows_default, rows_space)
MAX_COLUMNS: Final = _tunable(
    "max_columns", max_columns_kernel, max_columns_split_kernel, columns_default, columns_space
)
ARGMAX: Final = Tunable("argmax", (argmax_kernel, argmax_split_kernel), _argmax_default, _argmax_space)
CUMSUM: Final = Tunable("cumsum", (cumsum_kernel,), _cumsum_default, _cumsum_space)
HISTOGRAM: Final = Tunable("histogram", (histogram_kernel,), _histogram_default, _histogram_space, inputs=_bins)
TUNABLES: Final = (SUM, SUM_COLUMNS, MAX, MAX_COLUMNS, ARGMAX, CUMSUM, HISTOGRAM)
