"""Launches for tests of work in flight on a GPU: plain ones, one that writes in place, one whose check may fail."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from launching import Made, Make

import tileproof as tp
from tileproof import In, InOut, Out, f32, i32

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


def _mixed() -> Made:
    arrays: list[Any] = [np.zeros(EXTENT, np.float32) for _ in range(3)]
    return mixed, arrays, {}


def _raised() -> Made:
    return raised, [np.zeros(EXTENT, np.float32)], {}


def _picked() -> Made:
    floats: list[Any] = [np.zeros(EXTENT, np.float32) for _ in range(2)]
    return picked, [*floats, np.zeros(EXTENT, np.int32)], {}


def in_flight() -> dict[str, Make]:
    """All of them, by name."""
    return {"mixed in flight": _mixed, "raised in flight": _raised, "picked in flight": _picked}
