"""A matrix product: one program for each tile of the result, a loop over the inner dimension."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32


@tp.kernel
def matmul(
    c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "K N"], *, BM: int = 128, BN: int = 128, BK: int = 64
) -> None:
    """c = a @ b."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), f32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(a[i, k], b[k, j], acc)
        c[i, j] = acc


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, M: int = 37, N: int = 29, K: int = 43
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and tile sizes that cut them into several programs."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((M, K)).astype(dtype), rng.standard_normal((K, N)).astype(dtype)
    return [np.empty((M, N), dtype), a, b], {"BM": 16, "BN": 8, "BK": 16}


def reference(c: Any, a: Any, b: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    return ((a.astype(np.float64) @ b.astype(np.float64)).astype(c.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    matmul(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    error = np.abs(args[0] - expected).max()
    print(f"matmul: {args[0].shape} agrees with numpy, largest error {error:.1e}")
