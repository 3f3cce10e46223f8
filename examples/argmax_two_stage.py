"""The position of the greatest element of a long row: pieces of it are searched by programs of their own."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, i32


def greater(left: Any, right: Any) -> Any:
    """The greater of two pairs of value and position: NaN wins, then the left one."""
    (best, position), (value, other) = left, right
    wins = (value > best) | (tp.isnan(value) & ~tp.isnan(best))
    return tp.where(wins, value, best), tp.where(wins, other, position)


@tp.kernel
def argmax_two_stage(y: Out[i32, "R"], x: In[T, "R V"], *, SV: int = 8192, BV: int = 1024) -> None:
    """Where each row of x is greatest: NaN wins, then the first."""
    tp.require(tp.dim("V") >= 1)
    for r, z in tp.parallel(R=tp.each, V=tp.split(SV)):
        found = tp.full((), -tp.inf, x.dtype), z.start
        for v in z.tiles(BV):
            row = x[r, v]
            found = greater(found, (row.max(), v.start + row.argmax()))
        _, position = tp.join(found, over=z, by=greater)
        y[r] = position.to(i32)


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, R: int = 6, V: int = 45
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, one row all -inf and one with NaN, and sizes that make pieces of several tiles."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-9, 9, (R, V)).astype(np.float64)
    x[1:2] = -np.inf
    x[2:3, V // 2 :: 3] = np.nan
    return [np.empty(R, np.int32), x.astype(dtype)], {"SV": 16, "BV": 4}


def reference(y: Any, x: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    return (x.astype(np.float64).argmax(axis=1).astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    argmax_two_stage(*args, **constants)
    np.testing.assert_array_equal(args[0], expected)
    print(f"argmax_two_stage: {args[1].shape} agrees with numpy, positions {args[0].tolist()}")
