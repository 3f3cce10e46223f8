"""Kernels of the tuner for arrays that are too large to go through the host: random contents, and comparisons.

They are proved like all others, with no check left for run time. Comparisons give one figure for each tile, which the
host adds up: so they come out the same every time.
"""

from __future__ import annotations

from typing import Any

import tileproof as tp
from tileproof import In, Out, T, f32, f64, i32


@tp.kernel(deny_checks=True)
def normal_numbers(y: Out[T, "N"], seed: i32, scale: f32, *, B: int = 2048) -> None:
    """Normal numbers that the seed decides."""
    for n in tp.parallel(N=B):
        size = tp.sqrt(-2.0 * tp.log(1.0 - tp.random(seed, 2 * n.elements)))
        angle = tp.cos(6.2831853 * tp.random(seed, 2 * n.elements + 1))
        y[n] = (size * angle * scale).to(y.dtype)


@tp.kernel(deny_checks=True)
def whole_numbers(y: Out[T, "N"], seed: i32, low: i32, count: i32, *, B: int = 2048) -> None:
    """Whole numbers from `low` on, `count` different ones."""
    for n in tp.parallel(N=B):
        steps = tp.floor(tp.random(seed, n.elements) * count.to(f32))
        y[n] = (steps.to(i32) + low).to(y.dtype)


def wide(tile: Any) -> Any:
    """Floats as the type that differences are taken in."""
    return tile if tile.dtype == f64 else tile.to(f32)


@tp.kernel(deny_checks=True)
def compare_floats(
    worst: Out[f32, "N/B"], top: Out[f32, "N/B"], gaps: Out[f32, "N/B"], sizes: Out[f32, "N/B"], wrong: Out[i32, "N/B"],
    x: In[T, "N"], y: In[T, "N"], *, B: int = 2048,
) -> None:  # fmt: skip
    """For each tile of x beside y: the greatest difference, the greatest magnitude of y, the squares of both added up,
    and in how many places one is not finite and the other not the same."""
    for n in tp.parallel(N=B):
        one, other = wide(x[n]), wide(y[n])
        is_finite = (tp.abs(one) < tp.inf) & (tp.abs(other) < tp.inf)
        gap = tp.where(is_finite, tp.abs(one - other), 0.0).to(f32)
        size = tp.where(is_finite, tp.abs(other), 0.0).to(f32)
        worst[n.number] = gap.max()
        top[n.number] = size.max()
        gaps[n.number] = (gap * gap).sum()
        sizes[n.number] = (size * size).sum()
        wrong[n.number] = tp.where(is_finite | (one == other), 0, 1).to(i32).sum()


@tp.kernel(deny_checks=True)
def compare_exactly(wrong: Out[i32, "N/B"], x: In[T, "N"], y: In[T, "N"], *, B: int = 2048) -> None:
    """In how many places of each tile two arrays differ."""
    for n in tp.parallel(N=B):
        wrong[n.number] = tp.where(x[n] == y[n], 0, 1).to(i32).sum()
