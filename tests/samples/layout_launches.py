"""Launches whose arrays lie in memory in every way, are too large for 32 bits, or have more programs than a grid."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

import tileproof as tp
from samples.example_launches import OTHERS, other
from samples.launch import Made, Make
from tileproof import In, Out, T, i8


@tp.kernel
def one_more(y: Out[T, "M N"], x: In[T, "M N"], *, BM: int = 4, BN: int = 16) -> None:
    """Tiles in two axes."""
    for m, n in tp.parallel(M=BM, N=BN):
        y[m, n] = x[m, n] + 1


@tp.kernel
def far(y: Out[i8, "N"], x: In[i8, "N"], *, BN: int = 16384) -> None:
    """For a tensor with more elements than 32 bits count."""
    for n in tp.parallel(N=BN):
        y[n] = x[n] + 1


@tp.kernel
def many(y: Out[i8, "N"], x: In[i8, "N"]) -> None:
    """For more programs than a launch has blocks."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[n] + 1


FAR: Final = 2**31 + 1000
MANY: Final = 2**24 + 5


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    """Elements that differ, but for some that are 50 apart."""
    return (np.arange(int(np.prod(shape))) % 50).astype(dtype).reshape(shape)


LAYOUTS: Final[dict[str, Callable[[], Any]]] = {
    "plain": lambda: numbers(8, 32),
    "odd": lambda: numbers(7, 33),
    "late by one element": lambda: numbers(257)[1:].reshape(8, 32),
    "late by eight bytes": lambda: numbers(258)[2:].reshape(8, 32),
    "part of longer rows": lambda: numbers(8, 48)[:, :32],
    "part of odd rows": lambda: numbers(8, 33)[:, :32],
    "late in longer rows": lambda: numbers(8, 48)[:, 3:35],
    "every other row": lambda: numbers(16, 32)[::2],
    "every other element": lambda: numbers(8, 64)[:, ::2],
    "by columns": lambda: numbers(32, 8).T,
    "backwards": lambda: numbers(8, 32)[::-1, ::-1],
    "rows backwards": lambda: numbers(8, 32)[::-1],
    "one row many times": lambda: np.broadcast_to(numbers(32), (8, 32)),
    "one column many times": lambda: np.broadcast_to(numbers(8, 1), (8, 32)),
    "rows that overlap": lambda: np.lib.stride_tricks.as_strided(numbers(40), (8, 32), (4, 4)),
    "one row": lambda: numbers(1, 32),
    "one column": lambda: numbers(8, 1),
    "one element": lambda: numbers(1, 1),
    "one row with an odd stride": lambda: np.lib.stride_tricks.as_strided(numbers(32), (1, 32), (12, 4)),
    "no rows": lambda: numbers(0, 32),
    "no columns": lambda: numbers(8, 0),
}
"""Arrays of f32 that lie in memory as their names say."""
SHARED: Final = ("one row many times", "one column many times", "rows that overlap")
"""Layouts in which elements share memory, which those of a result must not."""


def of_layout(layout: str) -> Made:
    """Both arrays lie in the same way, if a result may."""
    x = LAYOUTS[layout]()
    y = np.zeros(x.shape, np.float32) if layout in SHARED else LAYOUTS[layout]()
    return one_more, [y, x], {}


def layouts() -> dict[str, Make]:
    """All of them, by name."""
    return {f"layout {name}": partial(of_layout, name) for name in LAYOUTS}


def large() -> dict[str, Make]:
    """Stand-ins whose memory is never touched: the tests make the real arrays on the GPU."""
    return {
        "far": lambda: (far, [np.empty(FAR, np.int8), np.empty(FAR, np.int8)], {}),
        "many": lambda: (many, [np.empty(MANY, np.int8), np.empty(MANY, np.int8)], {}),
    }


SCHEDULES: Final = {
    "persistent": tp.Schedule(persistent=True),
    "grouped": tp.Schedule(persistent=True, group=2, latency=3),
    "cluster": tp.Schedule(cluster=2),
    "dense": tp.Schedule(occupancy=2, group=8),
    "wide": tp.Schedule(warps=8, tma=False),
}


def scheduled(schedule: str) -> Made:
    """A product of matrices laid over the hardware in another way."""
    kernel, arguments, constants = other("matmul", OTHERS["matmul"][1])
    return kernel.with_schedule(SCHEDULES[schedule]), arguments, constants


def schedules() -> dict[str, Make]:
    """All of them, by name."""
    return {f"schedule {name}": partial(scheduled, name) for name in SCHEDULES}
