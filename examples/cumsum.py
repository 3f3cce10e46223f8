"""Running totals of rows of any length: each program walks its row and carries the total from tile to tile."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T


@tp.kernel
def cumsum(y: Out[T, "R N"], x: In[T, "R N"], *, BN: int = 1024) -> None:
    """y[r, n] = x[r, 0] + ... + x[r, n]."""
    for r in tp.parallel(R=tp.each):
        total = 0
        for n in tp.tiles(N=BN):
            y[r, n] = total + x[r, n].cumsum()
            total += x[r, n].sum()


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, R: int = 5, N: int = 37
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and a tile size that cuts rows into several tiles."""
    x = np.random.default_rng(seed).uniform(-8, 8, (R, N)).astype(dtype)
    return [np.empty_like(x), x], {"BN": 8}


def reference(y: Any, x: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    exact = np.int64 if x.dtype.kind in "iu" else np.float64
    return (np.cumsum(x, axis=1, dtype=exact).astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    cumsum(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    error = np.abs(args[0] - expected).max()
    print(f"cumsum: {args[0].shape} agrees with numpy, largest error {error:.1e}")
