"""What kernels that normalise rows are made of, and how their tiles are chosen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import Schedule, f32, f64
from tileproof.language.kernel import Kernel
from tileproof.tuning import Choice, Sizes, choices

_ON_CPUS: Final = {"longest": 1 << 16, "programs": 16}
_ON_GPUS: Final = {"longest": 8192, "programs": 264}
"""The longest row that is taken as one tile, and how many programs there are before a tile has several rows."""


# In kernels.


def wide(t: Any) -> Any:
    """Floats in the type they are computed in: f64 as they are, all others in f32."""
    return t.to(f64 if t.dtype == f64 else f32)


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


# On the host.


def power_of_two(least: int) -> int:
    """The least power of two that is not below."""
    return 1 << max(least - 1, 0).bit_length()


def first_window(columns: int) -> int | None:
    """The larger of the two powers of two that a length is the sum of; None for other lengths."""
    return 1 << columns.bit_length() - 1 if columns.bit_count() == 2 else None


def is_long(columns: int, target: str) -> bool:
    """Whether rows are too long for one tile."""
    return columns > (_ON_CPUS if target == "cpu" else _ON_GPUS)["longest"]


def rows_default(whole: Kernel, loop: Kernel, tile: int, sizes: Sizes, target: str) -> Choice:
    """Whole rows, about `tile` elements of them unless that leaves too few programs; a loop if a row does not fit."""
    if is_long(sizes["D"], target):
        return Choice(loop, {"BN": 1, "BD": 4096}, Schedule(occupancy=2))
    length, programs = power_of_two(sizes["D"]), (_ON_CPUS if target == "cpu" else _ON_GPUS)["programs"]
    if target != "cpu" and length >= 2048:  # straight to registers, which an H200 was seen to like best
        return Choice(whole, {"BN": 1}, Schedule(tma=False, warps=8, occupancy=4))
    rows = min(max(tile // length, 1), power_of_two(-(-sizes["N"] // programs)), 64)
    return Choice(whole, {"BN": rows}, Schedule(occupancy=4 if length <= 4096 else 2))


def rows_space(whole: Kernel, loop: Kernel, sizes: Sizes, target: str) -> Iterator[Choice]:
    """One to eight rows for each tile, one program for each tile or as many as the GPU holds, with and without TMA."""
    if is_long(sizes["D"], target):
        held = [Schedule(occupancy=count) for count in (1, 2, 4)]
        yield from choices(loop, "BN=1,BD=1024 BN=1,BD=2048 BN=1,BD=4096 BN=2,BD=2048", *held)
        return
    plain = [Schedule(occupancy=count) for count in (1, 2, 4, 8)]
    lasting = [Schedule(persistent=True, occupancy=count) for count in (1, 2, 4)]
    wide = [Schedule(occupancy=count, warps=8) for count in (2, 4)]
    direct = [Schedule(occupancy=count, tma=False, warps=warps) for warps in (None, 8) for count in (1, 2, 4, 8)]
    for rows in (1, 2, 4, 8):
        if rows > 1 and rows * power_of_two(sizes["D"]) > 16384:
            return
        if target == "cpu":
            yield from choices(whole, f"BN={rows}")
        else:
            yield from choices(whole, f"BN={rows}", *plain, *lasting, *(wide + direct if rows <= 2 else ()))
