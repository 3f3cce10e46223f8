"""The gated half of a feed-forward layer: two products share the loads of x and end in silu(gate) * up."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32


@tp.kernel
def silu_mul(
    y: Out[T, "N I"], x: In[T, "N K"], w: In[T, "2 I K"], *, BN: int = 64, BI: int = 64, BK: int = 64
) -> None:
    """y = silu(x @ w[0].T) * (x @ w[1].T), where silu(t) = t * sigmoid(t)."""
    for n, i in tp.parallel(N=BN, I=BI):
        gate, up = tp.zeros((n, i), f32), tp.zeros((n, i), f32)
        for k in tp.tiles(K=BK):
            gate = tp.mma(x[n, k], w[0, i, k].T, gate)
            up = tp.mma(x[n, k], w[1, i, k].T, up)
        y[n, i] = gate * tp.sigmoid(gate) * up


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, N: int = 11, I: int = 21, K: int = 19  # noqa: E741
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and tile sizes that cut them into several programs."""
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((N, K)).astype(dtype), rng.standard_normal((2, I, K)).astype(dtype)
    return [np.empty((N, I), dtype), x, w], {"BN": 4, "BI": 8, "BK": 8}


def reference(y: Any, x: Any, w: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    gate, up = (x.astype(np.float64) @ part.astype(np.float64).T for part in w)
    return ((gate / (1 + np.exp(-gate)) * up).astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    silu_mul(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-4, atol=1e-4)
    error = np.abs(args[0] - expected).max()
    print(f"silu_mul: {args[0].shape} agrees with numpy, largest error {error:.1e}")
