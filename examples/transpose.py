"""A transposed copy, tile by tile."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T


@tp.kernel
def transpose(y: Out[T, "N M"], x: In[T, "M N"], *, BM: int = 64, BN: int = 64) -> None:
    """y = x.T."""
    for i, j in tp.parallel(M=BM, N=BN):
        y[j, i] = x[i, j].T


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, M: int = 21, N: int = 13
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and tile sizes that cut them into several programs."""
    rng = np.random.default_rng(seed)
    return [np.empty((N, M), dtype), rng.uniform(-8, 8, (M, N)).astype(dtype)], {"BM": 8, "BN": 4}


def reference(y: Any, x: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    return (x.T,)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    transpose(*args, **constants)
    np.testing.assert_array_equal(args[0], expected)
    print(f"transpose: {args[0].shape} agrees with numpy")
