"""A matrix of 4-bit integers times a vector: two weights in a byte, taken apart where they are used."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32, u8


@tp.kernel
def int4_matvec(
    y: Out[T, "N"], w: In[u8, "N G S"], scale: In[T, "N G"], x: In[T, "G 2 S"], *, S: int, BN: int = 16, BG: int = 8
) -> None:
    """y = W @ x, where each group of 2 S weights is S bytes: its first half in the low bits, its second in the high.

    A weight is its 4 bits, less 8, times the scale of its group.
    """
    for n in tp.parallel(N=BN):
        acc = tp.zeros((n,))
        for g in tp.tiles(G=BG):
            byte = w[n, g, :]
            low, high = (byte & 15).to(f32) - 8, (byte >> 4).to(f32) - 8
            dot = (low * x[g, 0, :].to(f32) + high * x[g, 1, :].to(f32)).sum(axis=2)
            acc += (dot * scale[n, g].to(f32)).sum(axis=1)
        y[n] = acc


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, N: int = 13, G: int = 5, S: int = 16
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and tile sizes that cut them into several programs and turns."""
    rng = np.random.default_rng(seed)
    w = rng.integers(0, 256, (N, G, S), dtype=np.uint8)
    scale = rng.uniform(0.5, 1.5, (N, G)) / 8
    x = rng.standard_normal((G, 2, S))
    return [np.empty(N, dtype), w, scale.astype(dtype), x.astype(dtype)], {"BN": 4, "BG": 2}


def reference(y: Any, w: Any, scale: Any, x: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    nibbles = np.stack((w % 16, w // 16), axis=2).astype(np.float64)
    weights = (nibbles - 8) * scale.astype(np.float64)[:, :, None, None]
    return (np.einsum("nghs,ghs->n", weights, x.astype(np.float64)).astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    int4_matvec(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-4, atol=1e-4)
    error = np.abs(args[0] - expected).max()
    print(f"int4_matvec: {args[1].shape} agrees with numpy, largest error {error:.1e}")
