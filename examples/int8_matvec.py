"""A matrix of 8-bit integers times a vector: each group of weights along a row has a scale of its own."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32, i8


@tp.kernel
def int8_matvec(
    y: Out[T, "N"], w: In[i8, "N G S"], scale: In[T, "N G"], x: In[T, "G S"], *, S: int, BN: int = 16, BG: int = 8
) -> None:
    """y = W @ x, where w holds each row of W as G groups of S, divided by their scale."""
    for n in tp.parallel(N=BN):
        acc = tp.zeros((n,))
        for g in tp.tiles(G=BG):
            dot = (w[n, g, :].to(f32) * x[g, :].to(f32)).sum(axis=2)
            acc += (dot * scale[n, g].to(f32)).sum(axis=1)
        y[n] = acc


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, N: int = 13, G: int = 5, S: int = 32
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and tile sizes that cut them into several programs and turns."""
    rng = np.random.default_rng(seed)
    w = rng.integers(-127, 128, (N, G, S), dtype=np.int8)
    scale = rng.uniform(0.5, 1.5, (N, G)) / 127
    x = rng.standard_normal((G, S))
    return [np.empty(N, dtype), w, scale.astype(dtype), x.astype(dtype)], {"BN": 4, "BG": 2}


def reference(y: Any, w: Any, scale: Any, x: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    weights = w.astype(np.float64) * scale.astype(np.float64)[:, :, None]
    return (np.einsum("ngs,gs->n", weights, x.astype(np.float64)).astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    int8_matvec(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-4, atol=1e-4)
    error = np.abs(args[0] - expected).max()
    print(f"int8_matvec: {args[1].shape} agrees with numpy, largest error {error:.1e}")
