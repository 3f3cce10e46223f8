"""The position of the greatest element of each row, which may be longer than a tile."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, i32


@tp.kernel
def argmax(y: Out[i32, "R"], x: In[T, "R V"], *, BV: int = 1024) -> None:
    """Where each row of x is greatest: NaN wins, then the first."""
    tp.require(tp.dim("V") >= 1)
    for r in tp.parallel(R=tp.each):
        best, position = tp.full((), -tp.inf, x.dtype), tp.zeros((), i32)
        for v in tp.tiles(V=BV):
            row = x[r, v]
            top = row.max()
            if (top > best) | (tp.isnan(top) & ~tp.isnan(best)):
                best, position = top, (v.start + row.argmax()).to(i32)
        y[r] = position


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, R: int = 6, V: int = 45
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, one row all -inf and one with NaN, and a tile size that cuts rows into tiles."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-9, 9, (R, V)).astype(np.float64)
    x[1:2] = -np.inf
    x[2:3, V // 2 :: 3] = np.nan
    return [np.empty(R, np.int32), x.astype(dtype)], {"BV": 8}


def reference(y: Any, x: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    return (x.astype(np.float64).argmax(axis=1).astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    argmax(*args, **constants)
    np.testing.assert_array_equal(args[0], expected)
    print(f"argmax: {args[1].shape} agrees with numpy, positions {args[0].tolist()}")
