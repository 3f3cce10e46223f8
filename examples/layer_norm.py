"""Layer normalisation: mean and variance of a row, both over the elements that exist."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32


@tp.kernel
def layer_norm(
    y: Out[T, "N D"], x: In[T, "N D"], w: In[T, "D"], b: In[T, "D"], eps: f32, *, D: int
) -> None:
    """Each row of x with mean 0 and variance 1, times w, plus b."""
    for n in tp.parallel(N=tp.each):
        row = x[n, :].to(f32)
        centred = row - row.mean()
        scaled = centred * tp.rsqrt((centred * centred).mean() + eps)
        y[n, :] = scaled * w[:].to(f32) + b[:].to(f32)


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, N: int = 7, D: int = 40
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and its constants; D is bound from the arguments."""
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal((N, D)) + 3).astype(dtype)
    w, b = (rng.standard_normal(D).astype(dtype) for _ in range(2))
    return [np.empty((N, D), dtype), x, w, b, 1e-5], {}


def reference(y: Any, x: Any, w: Any, b: Any, eps: float) -> tuple[Any, ...]:
    """What the outputs should hold."""
    row, count = x.astype(np.float64), max(x.shape[1], 1)
    centred = row - row.sum(axis=1, keepdims=True) / count
    variance = (centred * centred).sum(axis=1, keepdims=True) / count
    scaled = centred / np.sqrt(variance + eps)
    return ((scaled * w.astype(np.float64) + b.astype(np.float64)).astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    layer_norm(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-4, atol=1e-4)
    error = np.abs(args[0] - expected).max()
    print(f"layer_norm: {args[0].shape} agrees with numpy, largest error {error:.1e}")
