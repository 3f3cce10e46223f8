"""The greatest of rows: where it is, and the k greatest. Elements are compared as they are, or as unsigned integers.

NaN is greater than everything, and of equal elements the earlier wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, Out, Schedule, T, bf16, f16, f32, f64, i32, i64, u8, u16, u32, u64
from tileproof.diagnostics.codes import Code
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import chosen
from .row_choices import ALONE, ENOUGH, direct, is_split, piece, rows_of, tile

TOP: Final = 1 << 31
LOW: Final = (1 << 32) - 1
FAR: Final = 1 << 61
"""Behind every position."""

# Lanes: each keeps the greatest of the elements that come to it, and they are compared once, behind the loop.


def least(x: Any) -> Any:
    """What is below every element."""
    return -tp.inf if x.dtype == f16 or x.dtype == bf16 or x.dtype == f32 or x.dtype == f64 else tp.lowest


def better(lanes: Any, value: Any, turn: Any) -> Any:
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


def greater(left: Any, right: Any) -> Any:
    """The greater of two pairs of value and position: NaN wins, then the left one."""
    (best, position), (value, other) = left, right
    wins = ~(value <= best) & (best == best)
    return tp.where(wins, value, best), tp.where(wins, other, position)


# Positions of maxima.


@tp.kernel(deny_checks=True)
def argmax_kernel(y: Out[Index["C"], "R"], x: In[T, "R C"], *, BC: int = 1024) -> None:
    """Where each row is greatest: NaN wins, then the first. None where a row is empty: the clip makes it -1."""
    for r in tp.parallel(R=tp.each):
        lanes: Any = tp.full((BC,), least(x), x.dtype), tp.zeros((BC,), i32)
        for c in tp.tiles(C=BC):
            lanes = better(lanes, x[r, c].fill(least(x)), c.number)
        _, first = first_of(lanes, BC)
        y[r] = tp.clip(first, 0, tp.dim("C") - 1)  # type: ignore[index]


@tp.kernel(deny_checks=True)
def argmax_whole_kernel(y: Out[Index["C"], "R"], x: In[T, "R C"], *, C: int, BR: int = 1) -> None:
    """The same, with whole rows in one tile."""
    for i in tp.parallel(R=BR):
        row = x[i, :]
        is_top = (row == row.max(axis=1, keepdims=True)) | (row != row)
        first = tp.where(is_top, tp.arange(C, i32), TOP - 1).min(axis=1)
        y[i] = tp.clip(first.to(i64), 0, C - 1)  # type: ignore[index]


@tp.kernel(deny_checks=True)
def argmax_split_kernel(y: Out[Index["C"], "R"], x: In[T, "R C"], *, SC: int = 8192, BC: int = 1024) -> None:
    """The same, pieces of a row searched by programs of their own."""
    for r, z in tp.parallel(R=tp.each, C=tp.split(SC)):
        lanes: Any = tp.full((BC,), least(x), x.dtype), tp.zeros((BC,), i32)
        for c in z.tiles(BC):
            lanes = better(lanes, x[r, c].fill(least(x)), c.number)
        best, first = first_of(lanes, BC)
        _, position = tp.join((best, z.start + first), over=z, by=greater)
        y[r] = tp.clip(position, 0, tp.dim("C") - 1)  # type: ignore[index]


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


# Elements in order, as unsigned integers.


def ordered(x: Any) -> Any:
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


def keyed(x: Any, positions: Any) -> Any:
    """One number for element and position: the greater, then the earlier, is greater. None is 0, no two are equal."""
    return (ordered(x).to(u64) << 32) | (LOW - positions).to(u64)


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
    return tp.where(tp.arange(size) < length, keyed(best, positions_of(turns, size)), 0)


def without(keys: Any, key: Any, row: Any, size: Any) -> Any:
    """Keys of lanes, where the greatest was taken away: the next of its lane is found in the row, as some type."""
    x, r, dtype = row
    lane, length, top = position_of(key) % keys.shape[0], x.shape[1], tp.zeros((), u64)
    for turn in range(0, tp.cdiv(length, keys.shape[0]), size):
        positions = lane + (turn + tp.arange(size)) * keys.shape[0]
        rest = keyed(x.get((r, positions), 0).to(dtype), positions)
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
            lanes = better(lanes, x[r, c].fill(least(x)), c.number)
        keys = keys_of(lanes, BC, tp.dim("C"))
        for k in tp.tiles(K=tp.each):
            best = keys.max()
            value[r, k] = element_of(best, x)
            at[r, k] = tp.where(best == 0, -1, tp.clip(position_of(best), 0, tp.dim("C") - 1))  # type: ignore[index]
            keys = without(keys, best, (x, r, x.dtype), BL)


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
        raise arrays.refused(
            Code.ARGUMENT_DTYPE, f"top_k takes elements of up to 32 bits, not {element.name}", "cast x to f32 first"
        )
    rows = arrays.matrix(x)
    count, length = rows.shape
    if not 0 <= k <= length:
        raise arrays.refused(
            Code.DIMENSION_DIFFERS, f"the {k} greatest of rows of {length} elements", f"take a k from 0 to {length}"
        )
    shape, given = (*tuple(x.shape)[:-1], k), (None, None) if out is None else out
    value, at = (arrays.result(each, x, shape, kind) for each, kind in zip(given, (element, i32), strict=True))
    if k:
        results = arrays.view(value, (count, k)), arrays.view(at, (count, k))
        chosen(TOP_K, x, R=count, C=length, K=k)(*results, rows)
    return value, at


# Choices.


def _argmax_default(sizes: Sizes, target: str) -> Choice:
    rows, columns = sizes["R"], sizes["C"]
    if target == "cpu":
        if rows < 4 and columns > 1 << 22:
            return Choice(argmax_split_kernel, {"SC": 1 << 18, "BC": 256})
        return Choice(argmax_kernel, {"BC": tile(columns, 256)})
    if is_split(rows, columns):
        return Choice(argmax_split_kernel, {"SC": piece(rows, columns, 2048), "BC": 2048}, direct(8))
    if 1 <= columns <= 8192:
        return Choice(argmax_whole_kernel, {"BR": rows_of(rows, columns)}, direct(8 if columns <= 4096 else 4))
    return Choice(argmax_kernel, {"BC": 2048}, direct(8))


def _argmax_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    columns = sizes["C"]
    if target == "cpu":
        yield from choices(argmax_kernel, "BC=64 BC=128 BC=256 BC=512 BC=1024")
        yield from choices(argmax_split_kernel, "SC=16384,BC=256 SC=65536,BC=256 SC=262144,BC=256")
        if 1 <= columns <= 16384:
            yield from choices(argmax_whole_kernel, "BR=1 BR=4")
        return
    if 1 <= columns <= 16384:
        yield from choices(argmax_whole_kernel, "BR=1 BR=2", direct(4), direct(8), direct(2, 8), direct(4, 8))
        yield from choices(argmax_whole_kernel, "BR=4 BR=8", direct(4), direct(8))
    yield from choices(argmax_kernel, "BC=1024 BC=2048 BC=4096", direct(4), direct(8), direct(4, 8))
    pieces = "SC=4096,BC=1024 SC=4096,BC=2048 SC=8192,BC=2048 SC=16384,BC=2048 SC=32768,BC=2048 SC=16384,BC=4096"
    yield from choices(argmax_split_kernel, pieces, direct(4), direct(8))


def _top_k(columns: int, most: int, schedule: Schedule) -> Choice:
    lanes = tile(columns, most)
    return Choice(top_k_kernel, {"BC": lanes, "BL": tile(-(-columns // lanes), 512)}, schedule)


def _top_k_default(sizes: Sizes, target: str) -> Choice:
    if target == "cpu":
        return _top_k(sizes["C"], 1024, Schedule())
    return _top_k(sizes["C"], 2048, Schedule(warps=8) if sizes["R"] < ENOUGH else Schedule(occupancy=2))


def _top_k_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    columns, held = sizes["C"], [Schedule()] if target == "cpu" else ALONE
    for lanes in sorted({tile(columns, most) for most in (256, 512, 1024, 2048, 4096)}):
        yield from (_top_k(columns, lanes, each) for each in held)


ARGMAX: Final = Tunable(
    "argmax", (argmax_kernel, argmax_whole_kernel, argmax_split_kernel), _argmax_default, _argmax_space, exact=("C",)
)
TOP_K: Final = Tunable("top_k", (top_k_kernel,), _top_k_default, _top_k_space, exact=("K",))
