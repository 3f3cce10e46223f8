"""Launches of kernels that follow one another, each in two forms: one waits its turn, one may begin early."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

import tileproof as tp
from samples.launch import Made, Make
from tileproof import In, InOut, Out, f32, i32

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


PROGRAMS: Final = 2048
"""More than a GPU holds at once, with eight to a multiprocessor."""
SHORT: Final = tp.Schedule(occupancy=8, tma=False)


@tp.kernel(deny_checks=True, schedule=SHORT)
def counted(x: InOut[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        x[n] = x[n] + 1


@tp.kernel(deny_checks=True, schedule=SHORT)
def looked(seen: Out[i32, "N"], x: In[i32, "1"]) -> None:
    """Every program says what it sees; nothing else is read, so that no cache forgets."""
    for n in tp.parallel(N=tp.each):
        seen[n] = x[0]


@tp.kernel(deny_checks=True, schedule=SHORT)
def looked_twice(seen: Out[i32, "N"], x: In[i32, "1"], other: In[i32, "1"]) -> None:
    """The same of two numbers."""
    for n in tp.parallel(N=tp.each):
        seen[n] = x[0] + other[0]


@tp.kernel(deny_checks=True, schedule=SHORT)
def rows(y: Out[f32, "N"], w: In[f32, "N K"], x: In[f32, "K"], *, K: int) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = (w[n, :] * x[:]).sum()


@tp.kernel(deny_checks=True, schedule=SHORT)
def pieces(y: Out[f32, "N"], w: In[f32, "N K"], x: In[f32, "K"], *, BN: int = 16, SK: int = 512, BK: int = 256) -> None:
    for n, z in tp.parallel(N=BN, K=tp.split(SK)):
        total = tp.zeros((n,))
        for k in z.tiles(BK):
            total += (w[n, k] * x[k]).sum(axis=1)
        y[n] = tp.join(total, over=z)


def early(kernel: tp.Kernel) -> tp.Kernel:
    """The same kernel, which may begin before the one ahead of it has ended."""
    if kernel.schedule == SHORT:
        return kernel.with_schedule(tp.Schedule(occupancy=8, tma=False, dependent=True))
    return kernel.with_schedule(tp.Schedule(persistent=True, dependent=True))


def _made(kernel: tp.Kernel) -> Made:
    ends: list[Any] = [np.zeros(EXTENT, np.float32) for _ in range(2)]
    if kernel.name == "mixed":
        return kernel, ends, {}
    one: Any = np.zeros(1, np.int32)
    numbers: dict[str, list[Any]] = {
        "counted": [one], "looked": [np.zeros(PROGRAMS, np.int32), one],
        "looked_twice": [np.zeros(PROGRAMS, np.int32), one, one],
    }  # fmt: skip
    if kernel.name in numbers:
        return kernel, numbers[kernel.name], {}
    return kernel, [ends[0], np.zeros((EXTENT, EXTENT), np.float32), ends[1]], {}


def chains() -> dict[str, Make]:
    """All of them, by name."""
    forms = {"": lambda kernel: kernel, ", early": early}
    return {
        f"{kernel.name}{form}": partial(_made, make(kernel))
        for kernel in (matvec, mixed, counted, looked, looked_twice, rows, pieces)
        for form, make in forms.items()
    }
