"""Rotary position embedding: the two halves of each head, seen as an axis of 2, turn as pairs."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32


@tp.kernel
def rope(
    y: Out[T, "N H 2 D"], x: In[T, "N H 2 D"], cos: In[f32, "N D"], sin: In[f32, "N D"], *, D: int
) -> None:
    """Element d of both halves, as a point of the plane, turned by the angle of position n."""
    for n, h in tp.parallel(N=tp.each, H=tp.each):
        first, second = x[n, h, 0, :].to(f32), x[n, h, 1, :].to(f32)
        y[n, h, 0, :] = first * cos[n, :] - second * sin[n, :]
        y[n, h, 1, :] = second * cos[n, :] + first * sin[n, :]


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, N: int = 5, H: int = 3, D: int = 6
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and its constants; D, half of a head, is bound from the arguments."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((N, H, 2, D)).astype(dtype)
    angle = np.arange(N)[:, None] * 10000.0 ** (-np.arange(D) / max(D, 1))
    return [np.empty_like(x), x, np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)], {}


def reference(y: Any, x: Any, cos: Any, sin: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    first, second = x[:, :, 0].astype(np.float64), x[:, :, 1].astype(np.float64)
    c, s = cos[:, None].astype(np.float64), sin[:, None].astype(np.float64)
    return (np.stack((first * c - second * s, second * c + first * s), axis=2).astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    rope(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    error = np.abs(args[0] - expected).max()
    print(f"rope: {args[0].shape} agrees with numpy, largest error {error:.1e}")
