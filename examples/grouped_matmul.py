"""The products of a mixture of experts: rows sorted by expert, each expert with a matrix of its own."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Offsets, Out, T, f32


@tp.kernel
def grouped_matmul(
    y: Out[T, "N F"], x: In[T, "N K"], w: In[T, "E K F"], borders: In[Offsets["N"], "E+1"], *,
    BN: int = 64, BF: int = 128, BK: int = 64,
) -> None:  # fmt: skip
    """y[n] = x[n] @ w[e], where expert e has the rows from borders[e] to borders[e + 1]."""
    for (e, n), f in tp.parallel(tp.segments(borders, N=BN), F=BF):
        acc = tp.zeros((n, f), f32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(x[n, k], w[e, k, f], acc)
        y[n, f] = acc


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, E: int = 4, N: int = 23, K: int = 19, F: int = 13
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and tile sizes that cut them into several programs; without experts, without rows."""
    rng = np.random.default_rng(seed)
    rows = N if E else 0
    borders = np.concatenate(([0], np.sort(rng.integers(0, rows + 1, max(E - 1, 0))), [rows] * (E > 0)))
    x, w = rng.standard_normal((rows, K)).astype(dtype), rng.standard_normal((E, K, F)).astype(dtype)
    return [np.empty((rows, F), dtype), x, w, borders.astype(np.int32)], {"BN": 4, "BF": 8, "BK": 8}


def reference(y: Any, x: Any, w: Any, borders: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    expert = np.repeat(np.arange(len(w)), np.diff(borders))
    return (np.einsum("nk,nkf->nf", x.astype(np.float64), w[expert].astype(np.float64)).astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    grouped_matmul(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    error = np.abs(args[0] - expected).max()
    print(f"grouped_matmul: {args[0].shape} agrees with numpy, largest error {error:.1e}")
