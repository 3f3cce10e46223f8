"""Launches of kernels that follow one another, each in two forms: one waits its turn, one may begin early."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
from launching import Made, Make

import tileproof as tp
from tileproof import In, InOut, Out, f32

EXTENT: Final = 2048


@tp.kernel(schedule=tp.Schedule(persistent=True))
def matvec(y: Out[f32, "N"], w: In[f32, "N K"], x: In[f32, "K"], *, BN: int = 8, BK: int = 256) -> None:
    for n in tp.parallel(N=BN):
        total = tp.zeros((n,))
        for k in tp.tiles(K=BK):
            total += (w[n, k] * x[k]).sum(axis=1)
        y[n] = total


@tp.kernel(schedule=tp.Schedule(persistent=True))
def mixed(y: InOut[f32, "N"], x: In[f32, "N"], *, BN: int = 16) -> None:
    """Reads and writes in place what others read and write."""
    for n in tp.parallel(N=BN):
        y[n] = y[n] * 0.8 + x[n] * 0.6


def early(kernel: tp.Kernel) -> tp.Kernel:
    """The same kernel, which may begin before the one ahead of it has ended."""
    return kernel.with_schedule(tp.Schedule(persistent=True, dependent=True))


def _made(kernel: tp.Kernel) -> Made:
    ends: list[Any] = [np.zeros(EXTENT, np.float32) for _ in range(2)]
    if kernel.name == "mixed":
        return kernel, ends, {}
    return kernel, [ends[0], np.zeros((EXTENT, EXTENT), np.float32), ends[1]], {}


def chains() -> dict[str, Make]:
    """All of them, by name."""
    forms = {"": lambda kernel: kernel, ", early": early}
    return {
        f"{kernel.name}{form}": partial(_made, make(kernel))
        for kernel in (matvec, mixed)
        for form, make in forms.items()
    }
