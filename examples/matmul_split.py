"""A matrix product with few tiles and a long inner dimension: programs share each tile and join their parts."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32


@tp.kernel
def matmul_split(
    c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "K N"], *, BM: int = 128, BN: int = 128, SK: int = 1024, BK: int = 64
) -> None:
    """c = a @ b, where each program sums over SK elements of the inner dimension."""
    for i, j, z in tp.parallel(M=BM, N=BN, K=tp.split(SK)):
        acc = tp.zeros((i, j), f32)
        for k in z.tiles(BK):
            acc = tp.mma(a[i, k], b[k, j], acc)
        c[i, j] = tp.join(acc, over=z)


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, M: int = 19, N: int = 13, K: int = 91
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and sizes that cut the inner dimension into several pieces."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((M, K)).astype(dtype), rng.standard_normal((K, N)).astype(dtype)
    return [np.empty((M, N), dtype), a, b], {"BM": 16, "BN": 8, "SK": 20, "BK": 8}


def reference(c: Any, a: Any, b: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    return ((a.astype(np.float64) @ b.astype(np.float64)).astype(c.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    matmul_split(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    error = np.abs(args[0] - expected).max()
    print(f"matmul_split: {args[0].shape} agrees with numpy, largest error {error:.1e}")
