"""Launches of kernels that tests make operators of torch of."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import tileproof as tp
from samples.launch import Made, Make
from tileproof import In, Out, T

SIZES = {"f32": (1000, 33, 1 << 20), "f64": (9,)}
"""How many elements the tests have, of each type."""


@tp.kernel
def cube(y: Out[T, "N"], x: In[T, "N"], *, BN: int = 256) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[n] * x[n] * x[n]


@tp.kernel
def cube_backward(dx: Out[T, "N"], x: In[T, "N"], dy: In[T, "N"], *, BN: int = 256) -> None:
    for n in tp.parallel(N=BN):
        dx[n] = dy[n] * x[n] * x[n] + dy[n] * x[n] * x[n] + dy[n] * x[n] * x[n]


def _made(kernel: tp.Kernel, arrays: int, size: int, dtype: Any) -> Made:
    return kernel, [np.zeros(size, dtype) for _ in range(arrays)], {}


def torch_operators() -> dict[str, Make]:
    """All of them, by name."""
    return {
        f"{kernel.name}, {size} of {name}": partial(_made, kernel, arrays, size, {"f32": "f4", "f64": "f8"}[name])
        for kernel, arrays in ((cube, 2), (cube_backward, 3))
        for name, sizes in SIZES.items()
        for size in sizes
    }
