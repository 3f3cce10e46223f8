"""Launches for tests of work in flight on a GPU: plain ones, one that writes in place, one whose check may fail."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

import tileproof as tp
from samples.example_launches import example
from samples.index_launches import Copy, on_arrays
from samples.launch import Made, Make
from tileproof import In, Index, InOut, Out, Sum, f32, i32
from tileproof.runtime.memory.contents import Wanted

EXTENT: Final = 4096
"""Whole tiles, so that code is the same whatever the streams do."""


@tp.kernel
def mixed(y: Out[f32, "N"], a: In[f32, "N"], b: In[f32, "N"], *, BN: int = 256) -> None:
    for n in tp.parallel(N=BN):
        y[n] = a[n] * 0.5 + b[n]


@tp.kernel
def raised(y: InOut[f32, "N"], *, BN: int = 256) -> None:
    for n in tp.parallel(N=BN):
        y[n] = y[n] * 0.5 + 1.0


@tp.kernel
def picked(y: Out[f32, "N"], x: In[f32, "C"], places: In[i32, "N"]) -> None:
    """Its check is made while it runs."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[places[n]]


@tp.kernel
def taken(y: Out[f32, "N"], x: In[f32, "V"], ids: In[Index["V"], "N"], *, BN: int = 256) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[ids[n]]


@tp.kernel
def counted(total: Sum[f32, "1"], x: In[f32, "N"], *, BN: int = 256) -> None:
    for n in tp.parallel(N=BN):
        total[0:1] += x[n].sum()[None]


def _mixed() -> Made:
    arrays: list[Any] = [np.zeros(EXTENT, np.float32) for _ in range(3)]
    return mixed, arrays, {}


def _raised() -> Made:
    return raised, [np.zeros(EXTENT, np.float32)], {}


def _picked() -> Made:
    floats: list[Any] = [np.zeros(EXTENT, np.float32) for _ in range(2)]
    return picked, [*floats, np.zeros(EXTENT, np.int32)], {}


def _taken() -> Made:
    floats: list[Any] = [np.zeros(EXTENT, np.float32) for _ in range(2)]
    return taken, [*floats, np.zeros(EXTENT, np.int32)], {}


def _counted() -> Made:
    return counted, [np.zeros(1, np.float32), np.zeros(EXTENT, np.float32)], {}


def joined() -> Made:
    """A product whose programs share each tile and join their parts."""
    arrays: list[Any] = [np.zeros(shape, np.float32) for shape in ((96, 64), (96, 1024), (1024, 64))]
    return example("matmul_split").matmul_split, arrays, {"BM": 32, "BN": 32, "SK": 128, "BK": 32}


def _checked() -> Made:
    """The copy of the index tensor that a graph makes."""
    source = np.zeros(EXTENT, np.int32)
    (launch,) = Copy(Wanted("Index", EXTENT, holes_allowed=False), True, source).launches
    return on_arrays(launch)


def in_flight() -> dict[str, Make]:
    """All of them, by name."""
    results = {
        "mixed": _mixed, "raised": _raised, "picked": _picked, "taken": _taken, "counted": _counted,
        "joined": joined, "checked": _checked,
    }  # fmt: skip
    return {f"{name} in flight": make for name, make in results.items()}
