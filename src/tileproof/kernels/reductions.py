"""Reductions along an axis: sum, max, argmax, top-k; scans, and histograms.

Floats are summed in f32 (f64 for f64) and rounded once. Booleans and integers of 8 and 16 bits are summed in i32,
wider ones in their own type, and wrap. NaN is greater than everything: it wins in `max`, `argmax` and `top_k`, and
propagates in `sum` and `cumsum`. Of equal elements the earlier wins. The same choice gives the same bits every time.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, Out, Schedule, Sum, T, U, bf16, f16, f32, f64, i32, i64, u8, u16, u32, u64
from tileproof.diagnostics.codes import Code
from tileproof.language.dtypes import DType
from tileproof.tuning import Choice, Sizes, Tunable, choices, with_constants

from . import arrays
from .arrays import choose
from .heuristics import (
    FULL,
    column_reduction,
    direct,
    is_split,
    lane_choice,
    lane_space,
    power_of_two,
    row_reduction,
    rows_per_program,
    split_size,
    tile_size,
)

TOP: Final = 1 << 31
LOW: Final = (1 << 32) - 1
FAR: Final = 1 << 61
"""After every position."""

# Lanes: each keeps the greatest of the elements that come to it, and they are compared once, after the loop.


def least(x: Any) -> Any:
    """What is below every element."""
    return -tp.inf if x.dtype == f16 or x.dtype == bf16 or x.dtype == f32 or x.dtype == f64 else tp.lowest


def lane_step(lanes: Any, value: Any, turn: Any) -> Any:
    """Lanes, as their greatest values and the turns these came in, with those of one more turn."""
    best, turns = lanes
    wins = ~(value <= best) & (best == best)
    return tp.maximum(best, value), tp.where(wins, turn.to(i32), turns)


def positions_of(turns: Any, size: Any) -> Any:
    """The positions that came to each lane in these turns."""
    return turns.to(i64) * size + tp.arange(size, i64)


def first_of(lanes: Any, size: Any) -> Any:
    """The greatest of all lanes, and where it was first."""
    best, turns = lanes
    top = best.max()
    first = tp.where((best == top) | (best != best), positions_of(turns, size), FAR).min()
    return top, tp.clip(first, 0, FAR)


def merge_greatest(left: Any, right: Any) -> Any:
    """The greater of two pairs of value and position: NaN wins, then the left one."""
    (best, position), (value, other) = left, right
    wins = ~(value <= best) & (best == best)
    return tp.where(wins, value, best), tp.where(wins, other, position)


# Positions of maxima.


@tp.kernel(deny_checks=True)
def argmax_kernel(y: Out[Index["C"], "R"], x: In[T, "R C"], *, SC: int = 0, BC: int = 1024) -> None:
    """Where each row is greatest: NaN wins, then the first. None where a row is empty: the clip makes it -1.

    Each SC columns may be searched by programs of their own.
    """
    for r, z in tp.parallel(R=tp.each, C=tp.split(SC)):
        lanes: Any = tp.full((BC,), least(x), x.dtype), tp.zeros((BC,), i32)
        for c in z.tiles(BC):
            lanes = lane_step(lanes, x[r, c].fill(least(x)), c.number)
        best, first = first_of(lanes, BC)
        _, position = tp.join((best, first if SC == 0 else z.start + first), over=z, by=merge_greatest)
        y[r] = tp.clip(position, 0, tp.dim("C") - 1)  # type: ignore[index]


@tp.kernel(deny_checks=True)
def argmax_whole_kernel(y: Out[Index["C"], "R"], x: In[T, "R C"], *, C: int, BR: int = 1) -> None:
    """The same, with whole rows in one tile."""
    for i in tp.parallel(R=BR):
        row = x[i, :]
        is_top = (row == row.max(axis=1, keepdims=True)) | (row != row)
        first = tp.where(is_top, tp.arange(C, i32), TOP - 1).min(axis=1)
        y[i] = tp.clip(first.to(i64), 0, C - 1)  # type: ignore[index]


def argmax(x: Any, out: Any = None) -> Any:
    """Where the last axis is greatest, as i32 (`out` may be i64): at the first NaN, else at the first of equals.

    -1 where that axis is empty.

    Example:
        >>> tk.argmax(np.array([[1, 5, 5], [7, 2, 0]], np.float32)).tolist()
        [1, 0]
    """
    rows = arrays.as_matrix(x)
    y = arrays.output_for(out, x, tuple(x.shape)[:-1], i32)
    choose(ARGMAX, x, R=rows.shape[0], C=rows.shape[1])(arrays.view(y, (rows.shape[0],)), rows)
    return y


# Elements in order, as unsigned integers.


def sort_key(x: Any) -> Any:
    """Elements of up to 32 bits as u32 of the same order: -0 equals 0, and NaN is above all."""
    if x.dtype == f32 or x.dtype == f16 or x.dtype == bf16:
        bits = tp.bitcast(x.to(f32), u32)
        key = tp.where(bits < TOP, bits | TOP, ~bits)
        found = tp.where(tp.isnan(x), LOW, tp.where(x == 0, TOP, key))
    elif x.dtype == u8 or x.dtype == u16 or x.dtype == u32:
        found = x.to(u32)
    else:
        found = tp.bitcast(x.to(i32), u32) ^ TOP
    return found


def element_at(place: Any, x: Any) -> Any:
    """What has this place in the order of elements like those of x."""
    if x.dtype == f32 or x.dtype == f16 or x.dtype == bf16:
        found = tp.bitcast(tp.where(place >= TOP, place ^ TOP, ~place), f32).to(x.dtype)
    elif x.dtype == u8 or x.dtype == u16 or x.dtype == u32:
        found = place.to(x.dtype)
    else:
        found = tp.bitcast(place ^ TOP, i32).to(x.dtype)
    return found


def key_of(x: Any, positions: Any) -> Any:
    """One number for element and position: the greater, then the earlier, is greater. None is 0, no two are equal."""
    return (sort_key(x).to(u64) << 32) | (LOW - positions).to(u64)


def element_of(key: Any, x: Any) -> Any:
    """The element in a key of elements like those of x."""
    return element_at((key >> 32).to(u32), x)


def position_of(key: Any) -> Any:
    """The position in a key."""
    return (LOW - (key & LOW)).to(u32)


# The k greatest.


def keys_of(lanes: Any, size: Any, length: Any) -> Any:
    """The keys of lanes in a row of some length, 0 where nothing came to a lane."""
    best, turns = lanes
    return tp.where(tp.arange(size) < length, key_of(best, positions_of(turns, size)), 0)


def without_key(keys: Any, key: Any, row: Any, size: Any) -> Any:
    """Keys of lanes, where the greatest was taken away: the next of its lane is found in the row, as some type."""
    x, r, dtype = row
    lane, length, top = position_of(key) % keys.shape[0], x.shape[1], tp.zeros((), u64)
    for turn in range(0, tp.cdiv(length, keys.shape[0]), size):
        positions = lane + (turn + tp.arange(size)) * keys.shape[0]
        rest = key_of(x.get((r, positions), 0).to(dtype), positions)
        top = tp.maximum(top, tp.where((positions < length) & (rest < key), rest, 0).max())
    return tp.where(keys == key, top, keys)


@tp.kernel(deny_checks=True)
def top_k_kernel(
    value: Out[T, "R K"], at: Out[Index["C"], "R K"], x: In[T, "R C"], *, K: int, BC: int = 1024, BL: int = 256
) -> None:
    """The K greatest of each row in falling order, and where they are: NaN first, then the earlier of equals.

    Each of BC lanes keeps its greatest, and when that was taken it finds its next one in memory, among the elements BC
    apart, of which it looks through BL at a time. A row of fewer elements is followed by NaN, or the least integer, at
    none.
    """
    for r in tp.parallel(R=tp.each):
        lanes: Any = tp.full((BC,), least(x), x.dtype), tp.zeros((BC,), i32)
        for c in tp.tiles(C=BC):
            lanes = lane_step(lanes, x[r, c].fill(least(x)), c.number)
        keys = keys_of(lanes, BC, tp.dim("C"))
        for k in tp.tiles(K=tp.each):
            best = keys.max()
            value[r, k] = element_of(best, x)
            at[r, k] = tp.where(best == 0, -1, tp.clip(position_of(best), 0, tp.dim("C") - 1))  # type: ignore[index]
            keys = without_key(keys, best, (x, r, x.dtype), BL)


def top_k(x: Any, k: int, out: tuple[Any, Any] | None = None) -> tuple[Any, Any]:
    """The k greatest along the last axis in falling order, and their positions as i32 (in `out` also i64).

    NaN comes first; of equal elements the earlier. Elements have up to 32 bits; zeros come as 0, never as -0.

    Example:
        >>> value, at = tk.top_k(np.array([3, 9, 4, 9], np.float32), 3)
        >>> value.tolist(), at.tolist()
        ([9.0, 9.0, 4.0], [1, 3, 2])
    """
    element = arrays.element_of(x)
    if element.bits > 32 or element.kind == "bool":
        raise arrays.launch_error(
            Code.ARGUMENT_DTYPE, f"top_k takes elements of up to 32 bits, not {element.name}", "cast x to f32 first"
        )
    rows = arrays.as_matrix(x)
    count, length = rows.shape
    if not 0 <= k <= length:
        raise arrays.launch_error(
            Code.DIMENSION_DIFFERS, f"the {k} greatest of rows of {length} elements", f"take a k from 0 to {length}"
        )
    shape, arguments = (*tuple(x.shape)[:-1], k), (None, None) if out is None else out
    value, at = (arrays.output_for(each, x, shape, kind) for each, kind in zip(arguments, (element, i32), strict=True))
    if k:
        results = arrays.view(value, (count, k)), arrays.view(at, (count, k))
        choose(TOP_K, x, R=count, C=length, K=k)(*results, rows)
    return value, at


# Choices.


def _argmax_default(sizes: Sizes, target: str) -> Choice:
    rows, columns = sizes["R"], sizes["C"]
    if target == "cpu":
        if rows < 4 and columns > 1 << 22:
            return Choice(argmax_kernel, {"SC": 1 << 18, "BC": 256})
        return Choice(argmax_kernel, {"BC": tile_size(columns, 256)})
    if is_split(rows, columns):
        return Choice(argmax_kernel, {"SC": split_size(rows, columns, 2048), "BC": 2048}, direct(8))
    if 1 <= columns <= 8192:
        return Choice(argmax_whole_kernel, {"BR": rows_per_program(rows, columns)}, direct(8 if columns <= 4096 else 4))
    return Choice(argmax_kernel, {"BC": 2048}, direct(8))


def _argmax_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    columns = sizes["C"]
    if target == "cpu":
        yield from choices(argmax_kernel, "BC=64 BC=128 BC=256 BC=512 BC=1024")
        yield from choices(argmax_kernel, "SC=16384,BC=256 SC=65536,BC=256 SC=262144,BC=256")
        if 1 <= columns <= 16384:
            yield from choices(argmax_whole_kernel, "BR=1 BR=4")
        return
    if 1 <= columns <= 16384:
        yield from choices(argmax_whole_kernel, "BR=1 BR=2", direct(4), direct(8), direct(2, 8), direct(4, 8))
        yield from choices(argmax_whole_kernel, "BR=4 BR=8", direct(4), direct(8))
    yield from choices(argmax_kernel, "BC=1024 BC=2048 BC=4096", direct(4), direct(8), direct(4, 8))
    pieces = "SC=4096,BC=1024 SC=4096,BC=2048 SC=8192,BC=2048 SC=16384,BC=2048 SC=32768,BC=2048 SC=16384,BC=4096"
    yield from choices(argmax_kernel, pieces, direct(4), direct(8))


def _top_k_default(sizes: Sizes, target: str) -> Choice:
    few = Schedule(warps=8) if sizes["R"] < FULL else Schedule(occupancy=2)
    most, schedule = (1024, Schedule()) if target == "cpu" else (2048, few)
    return lane_choice(top_k_kernel, "C", sizes["C"], most, schedule)


ARGMAX: Final = Tunable(
    "argmax", (argmax_kernel, argmax_whole_kernel), _argmax_default, _argmax_space, exact=("C",)
)
TOP_K: Final = Tunable(
    "top_k", (top_k_kernel,), _top_k_default,
    lambda sizes, target: lane_space(top_k_kernel, "C", sizes["C"], target), exact=("K",),
)  # fmt: skip


_NARROW: Final = {"f16": f32, "bf16": f32, "bool": i32, "i8": i32, "i16": i32, "u8": i32, "u16": i32}

# Sums.


def none_of(shape: Any, axis: int, x: Any, MAX: int) -> Any:
    """What a sum or a maximum over an axis is of nothing; the shape of a maximum lacks the axis."""
    return tp.full(shape, least(x), x.dtype) if MAX == 1 else tp.zeros(shape, x.dtype).sum(axis=axis)


def with_part(total: Any, part: Any, axis: int, MAX: int) -> Any:
    """A sum or a maximum with one more tile."""
    return tp.maximum(total, part.max(axis=axis)) if MAX == 1 else total + part.sum(axis=axis)


@tp.kernel(deny_checks=True)
def sum_kernel(y: Out[U, "R"], x: In[T, "R C"], *, BR: int = 4, BC: int = 1024, MAX: int = 0) -> None:
    """The sum of each row; or the greatest, which is NaN if there is one."""
    for i in tp.parallel(R=BR):
        total = none_of((i,) if MAX == 1 else (i, 1), 1, x, MAX)
        for c in tp.tiles(C=BC):
            total = with_part(total, x[i, c], 1, MAX)
        y[i] = total


@tp.kernel(deny_checks=True)
def sum_whole_kernel(y: Out[U, "R"], x: In[T, "R C"], *, C: int, BR: int = 1, MAX: int = 0) -> None:
    """The same, with whole rows in one tile."""
    for i in tp.parallel(R=BR):
        y[i] = x[i, :].max(axis=1) if MAX == 1 else x[i, :].sum(axis=1)


@tp.kernel(deny_checks=True)
def sum_lanes_kernel(
    y: Out[U, "R"], x: In[T, "R C"], *, BR: int = 1, SC: int = 0, BC: int = 2048, MAX: int = 0
) -> None:
    """The same; sums of lanes are carried through the loop and added up once, after it.

    Each SC columns may be taken by programs of their own.
    """
    for i, z in tp.parallel(R=BR, C=tp.split(SC)):
        if MAX == 1:
            top = tp.full((i, BC), least(x), x.dtype)
            for c in z.tiles(BC):
                top = tp.maximum(top, x[i, c].fill(least(x)))
            y[i] = tp.join(top.max(axis=1), over=z, by=tp.maximum)
        else:
            kind = tp.zeros((1,), x.dtype).sum().dtype
            total = tp.zeros((i, BC), kind)
            for c in z.tiles(BC):
                total += x[i, c].to(kind).fill(0)
            y[i] = tp.join(total.sum(axis=1), over=z)


@tp.kernel(deny_checks=True)
def sum_columns_kernel(
    y: Out[U, "C"], x: In[T, "R C"], *, SR: int = 0, BR: int = 4, BC: int = 1024, MAX: int = 0
) -> None:
    """The sum of each column; or the greatest. Each SR rows may be taken by programs of their own."""
    for c, z in tp.parallel(C=BC, R=tp.split(SR)):
        total = none_of((c,) if MAX == 1 else (1, c), 0, x, MAX)
        for i in z.tiles(BR):
            total = with_part(total, x[i, c], 0, MAX)
        y[c] = tp.join(total, over=z, by=tp.maximum) if MAX == 1 else tp.join(total, over=z)


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
        y = arrays.output_for(out, x, (), kept)
        flat = arrays.as_matrix(x)
        if flat.shape[0] != 1:  # rows first: they need not follow each other in memory
            parts = arrays.new(x, (flat.shape[0],), between)
            _rows(rows, parts, flat)
            flat = arrays.view(parts, (1, flat.shape[0]))
        _rows(rows, arrays.view(y, (1,)), flat)
        return y
    if axis == 0 and len(shape) == 2:
        y = arrays.output_for(out, x, shape[1:], kept)
        choose(columns, x, R=shape[0], C=shape[1])(y, x)
        return y
    if axis not in (-1, len(shape) - 1) or not shape:
        raise arrays.launch_error(
            Code.ARGUMENT_RANK,
            f"axis {axis} of an array of shape {tuple(shape)} is not reduced",
            "use axis=-1, axis=0 of a matrix, or axis=None for everything",
        )
    y = arrays.output_for(out, x, shape[:-1], kept)
    _rows(rows, arrays.view(y, (math.prod(shape[:-1]),)), arrays.as_matrix(x))
    return y


def _rows(tunable: Tunable, y: Any, x: Any) -> None:
    choose(tunable, x, R=x.shape[0], C=x.shape[1])(y, x)


# Running totals.


@tp.kernel(deny_checks=True)
def cumsum_kernel(y: Out[U, "R C"], x: In[T, "R C"], *, BR: int = 1, BC: int = 1024) -> None:
    """y[r, c] = x[r, 0] + ... + x[r, c]."""
    for i in tp.parallel(R=BR):
        total = tp.zeros((i, 1), x.dtype).cumsum(axis=1)
        for c in tp.tiles(C=BC):
            part = x[i, c]
            y[i, c] = total + part.cumsum(axis=1)
            total += part.sum(axis=1, keepdims=True)


@tp.kernel(deny_checks=True)
def cumsum_whole_kernel(y: Out[U, "R C"], x: In[T, "R C"], *, C: int, BR: int = 1) -> None:
    """The same, with whole rows in one tile."""
    for i in tp.parallel(R=BR):
        y[i, :] = x[i, :].cumsum(axis=1)


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
    rows = arrays.as_matrix(x)
    y = arrays.output_for(out, x, tuple(x.shape), element if element.is_float else between)
    count, length = rows.shape
    piece = 4096
    if arrays.target_of(x) == "cpu" or count >= FULL // 2 or length <= 4 * piece:
        choose(CUMSUM, x, R=count, C=length)(arrays.as_matrix(y), rows)
        return y
    totals, before = (arrays.new(x, (count, -(-length // piece)), between) for _ in range(2))
    cumsum_totals_kernel(totals, rows, SC=piece)
    choose(CUMSUM, totals, R=count, C=totals.shape[1])(before, totals)
    cumsum_resume_kernel(arrays.as_matrix(y), rows, before, SC=piece)
    return y


# Counts.


@tp.kernel(deny_checks=True)
def histogram_kernel(count: Sum[i32, "P B"], x: In[Index["B"], "N"], *, BN: int = 1024) -> None:
    """How often each bin occurs in x, as P counts that add up to it; -1 is none and is skipped.

    Programs take the counts in turn: where many add to one number at a time, they wait for each other.
    """
    for n in tp.parallel(N=BN):
        count[n.number % tp.dim("P"), x[n]] += 1


def histogram(x: Any, bins: int, out: Any = None) -> Any:
    """How often each of the numbers 0 to bins - 1 occurs in x (i32 or i64), as i32. -1 is not counted.

    Example:
        >>> tk.histogram(np.array([2, 0, 2, -1], np.int32), 4).tolist()
        [1, 0, 2, 0]
    """
    count = arrays.output_for(out, x, (bins,), i32)
    flat = arrays.view(x, (math.prod(x.shape),))
    copies = _copies(flat.shape[0], bins, arrays.target_of(x))
    parts = arrays.view(count, (1, bins)) if copies == 1 else arrays.new(x, (copies, bins), i32)
    choose(HISTOGRAM, x, N=flat.shape[0], B=bins, P=copies)(parts, flat)
    return count if copies == 1 else sum(parts, axis=0, out=count)


def _copies(length: int, bins: int, target: str) -> int:
    """How many counts of bins are made apart: on a GPU one for each 64 thousand elements, up to 16 MB of them."""
    if target == "cpu":
        return 1
    return builtins.max(1, builtins.min(power_of_two(length >> 16), 1024, (1 << 22) // power_of_two(bins)))


# Choices.


def _cumsum_default(sizes: Sizes, target: str) -> Choice:
    if target == "cpu":
        return Choice(cumsum_kernel, {"BR": 1, "BC": tile_size(sizes["C"], 1024)})
    if 1024 < sizes["C"] <= 8192:
        return Choice(cumsum_whole_kernel, {"BR": 1}, direct(4 if sizes["C"] <= 4096 else 2, 8))
    columns = tile_size(sizes["C"], 2048)
    return Choice(cumsum_kernel, {"BR": tile_size(sizes["R"], builtins.max(1, 1024 // columns)), "BC": columns})


def _cumsum_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    tiles = "BR=1,BC=512 BR=1,BC=1024 BR=1,BC=2048 BR=1,BC=4096 BR=2,BC=1024 BR=4,BC=256 BR=4,BC=512 BR=16,BC=64"
    if target == "cpu":
        yield from choices(cumsum_kernel, tiles)
        return
    yield from choices(cumsum_kernel, tiles, Schedule(), Schedule(occupancy=4), direct(8))
    if 1 <= sizes["C"] <= 8192:
        yield from choices(cumsum_whole_kernel, "BR=1 BR=2", direct(4), direct(8), direct(2, 8), direct(4, 8))


def _histogram_default(sizes: Sizes, target: str) -> Choice:
    most, schedule = (4096, Schedule()) if target == "cpu" else (1024, direct(8))
    return Choice(histogram_kernel, {"BN": tile_size(sizes["N"], most)}, schedule)


def _histogram_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    held = [Schedule()] if target == "cpu" else [Schedule(), direct(4), direct(8), direct(16)]
    yield from choices(histogram_kernel, "BN=256 BN=512 BN=1024 BN=2048 BN=4096 BN=16384", *held)


def _bins(rng: Any, arguments: dict[str, Any]) -> None:
    """Random bins."""
    x = arguments["x"]
    x[...] = rng.integers(0, arguments["count"].shape[1], x.shape)


SUM: Final = row_reduction("sum", sum_kernel, sum_lanes_kernel, sum_whole_kernel)
SUM_COLUMNS: Final = column_reduction("sum_columns", sum_columns_kernel)
MAX: Final = with_constants("max", SUM, MAX=1)
MAX_COLUMNS: Final = with_constants("max_columns", SUM_COLUMNS, MAX=1)
CUMSUM: Final = Tunable("cumsum", (cumsum_kernel, cumsum_whole_kernel), _cumsum_default, _cumsum_space, exact=("C",))
HISTOGRAM: Final = Tunable("histogram", (histogram_kernel,), _histogram_default, _histogram_space, inputs=_bins)
TUNABLES: Final = (SUM, SUM_COLUMNS, MAX, MAX_COLUMNS, ARGMAX, CUMSUM, TOP_K, HISTOGRAM)
