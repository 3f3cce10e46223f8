"""All products of pairs of rows: one dimension walked twice, by tiles that are told apart."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T


@tp.kernel
def gram(g: Out[T, "N N"], x: In[T, "N K"], *, B: int = 64, BK: int = 64) -> None:
    """g = x @ x.T."""
    for i, j in tp.parallel(("N", B), ("N", B)):
        acc = tp.zeros((i, j))
        for k in tp.tiles(K=BK):
            acc = tp.mma(x[i, k], x[j, k].T, acc)
        g[i, j] = acc


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, N: int = 19, K: int = 23
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and tile sizes that cut them into several programs."""
    x = np.random.default_rng(seed).standard_normal((N, K)).astype(dtype)
    return [np.empty((N, N), dtype), x], {"B": 8, "BK": 16}


def reference(g: Any, x: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    rows = x.astype(np.float64)
    return ((rows @ rows.T).astype(g.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    gram(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    error = np.abs(args[0] - expected).max()
    print(f"gram: {args[0].shape} agrees with numpy, largest error {error:.1e}")
