"""Kernels of the CPU rows that the library does not have: what fusing by hand gives."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, Out, T, f32


@tp.kernel
def saxpy(z: Out[T, "N"], x: In[T, "N"], y: In[T, "N"], a: f32, *, BN: int = 4096) -> None:
    """z = a * x + y."""
    for n in tp.parallel(N=BN):
        z[n] = a * x[n] + y[n]


@tp.kernel
def gelu(z: Out[T, "N"], x: In[T, "N"], y: In[T, "N"], *, BN: int = 4096) -> None:
    """z = gelu(x + y) * y, in the form with tanh."""
    for n in tp.parallel(N=BN):
        v = x[n] + y[n]
        z[n] = 0.5 * v * (1.0 + tp.tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))) * y[n]
