"""Softmax of rows of any length, in one pass for maximum and total and one for the result."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32


@tp.kernel
def softmax(y: Out[T, "R C"], x: In[T, "R C"], *, BC: int = 1024) -> None:
    """exp(x) of each row, divided by its sum."""
    for r in tp.parallel(R=tp.each):
        top, total = tp.lowest, 0.0  # finite: a first tile of all -inf must not make NaN
        for c in tp.tiles(C=BC):
            v = x[r, c].to(f32)
            new = tp.maximum(top, v.max())
            total = total * tp.exp(top - new) + tp.exp(v - new).sum()
            top = new
        for c in tp.tiles(C=BC):
            y[r, c] = tp.exp(x[r, c].to(f32) - top) / total


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, R: int = 5, C: int = 37
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and a tile size that cuts rows into several tiles."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-20, 20, (R, C))
    x[rng.random((R, C)) < 0.2] = -np.inf
    x[:, -1:] = 0
    return [np.empty((R, C), dtype), x.astype(dtype)], {"BC": 8}


def reference(y: Any, x: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    row = x.astype(np.float64)
    weight = np.exp(row - row.max(axis=1, keepdims=True, initial=-np.inf))
    return ((weight / weight.sum(axis=1, keepdims=True)).astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    softmax(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-6)
    error = np.abs(args[0] - expected).max()
    print(f"softmax: {args[0].shape} agrees with numpy, largest error {error:.1e}")
