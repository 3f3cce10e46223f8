"""The k greatest elements of each row, found by bisection: nothing is sorted, and rows have any length."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32, i32, u8, u32

TOP = 1 << 31


def rank(x: Any) -> Any:
    """Floats of up to 32 bits as integers of the same order: -0 equals 0, and NaN is above all."""
    bits = tp.bitcast(x.to(f32), u32)
    key = tp.where(bits < TOP, bits | TOP, ~bits)
    return tp.where(tp.isnan(x), 0xFFFFFFFF, tp.where(x == 0, TOP, key))


@tp.kernel
def top_k(keep: Out[u8, "R V"], x: In[T, "R V"], k: i32, *, BV: int = 1024) -> None:
    """1 for the k greatest elements of each row, or all if it has fewer: NaN wins, then the first; 0 elsewhere."""
    for r in tp.parallel(R=tp.each):
        bar, bit = tp.zeros((), u32), tp.full((), TOP, u32)
        while bit > 0:  # bit by bit, the highest bar that k elements reach
            reach = 0
            for v in tp.tiles(V=BV):
                reach += (rank(x[r, v]) >= (bar | bit)).sum()
            bar, bit = tp.where(reach >= k, bar | bit, bar), bit >> 1
        room = tp.maximum(k, 0)
        for v in tp.tiles(V=BV):
            room -= (rank(x[r, v]) > bar).sum()
        for v in tp.tiles(V=BV):
            key = rank(x[r, v])
            level = key == bar
            keep[r, v] = ((key > bar) | (level & (level.cumsum() <= room))).to(u8)
            room -= level.sum()


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, R: int = 4, V: int = 37, k: int = 9
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch with many equal elements, infinities and NaN, and a tile size that cuts rows."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-6, 6, (R, V)) * rng.choice((0.5, -1e-3), (R, V))
    odd = rng.random((R, V)) < 0.2
    x[odd] = rng.choice((np.inf, -np.inf, np.nan, -np.nan), odd.sum())
    return [np.empty((R, V), np.uint8), x.astype(dtype), k], {"BV": 16}


def reference(keep: Any, x: Any, k: int) -> tuple[Any, ...]:
    """What the outputs should hold."""
    value = np.where(np.isnan(x), np.inf, x.astype(np.float64))
    order = np.lexsort((-value, ~np.isnan(x)), axis=1)
    expected = np.zeros_like(keep)
    np.put_along_axis(expected, order[:, : max(k, 0)], 1, axis=1)
    return (expected,)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    top_k(*args, **constants)
    np.testing.assert_array_equal(args[0], expected)
    print(f"top_k: {args[1].shape} agrees with numpy, {args[0].sum(axis=1).tolist()} kept")
