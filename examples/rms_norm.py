"""Root mean square normalisation: a whole row in one tile, because D is static."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32


@tp.kernel
def rms_norm(y: Out[T, "N D"], x: In[T, "N D"], w: In[T, "D"], eps: f32, *, D: int) -> None:
    """Each row of x divided by its root mean square, times w."""
    for n in tp.parallel(N=tp.each):
        row = x[n, :].to(f32)
        y[n, :] = row * tp.rsqrt((row * row).mean() + eps) * w[:].to(f32)


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, N: int = 7, D: int = 40
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and its constants; D is bound from the arguments."""
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((N, D)).astype(dtype), rng.standard_normal(D).astype(dtype)
    return [np.empty((N, D), dtype), x, w, 1e-6], {}


def reference(y: Any, x: Any, w: Any, eps: float) -> tuple[Any, ...]:
    """What the outputs should hold."""
    row = x.astype(np.float64)
    square = (row * row).sum(axis=1, keepdims=True) / max(row.shape[1], 1)
    return ((row / np.sqrt(square + eps) * w.astype(np.float64)).astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    rms_norm(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    error = np.abs(args[0] - expected).max()
    print(f"rms_norm: {args[0].shape} agrees with numpy, largest error {error:.1e}")
