"""Every launch of the benchmarks of GPU and host, with stand-ins for arguments: what is compiled before they run.

A stand-in has the shape, strides and element type of an array on a GPU, and no memory behind it.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

import ml_dtypes
import numpy as np

import tileproof as tp

from .gpu_kernels import Candidate
from .gpu_rows import LAUNCH, NAMES, ROWS, Array, Row
from .host_kernels import SMALL, add

_DTYPES: Final[dict[str, Any]] = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i32": np.int32}
_PAGE: Final = 4096
_ROOM: Final = 1 << 36
"""More than all arguments of any launch take."""


def launches(*, sweep: bool = True) -> Iterator[tuple[str, tp.Kernel, Sequence[Any], dict[str, int]]]:
    """Name, kernel, arguments and constants of every launch; without `sweep`, of the chosen candidates only."""
    for row, each in row_launches(sweep=sweep):
        yield f"{row.name}: {each.label}", each.scheduled, stand_ins(row.arguments), dict(each.tiles)
    # Of the host benchmark; with 2^20 elements it is the same code.
    yield "host: add", add, stand_ins([Array((SMALL,), "f32")] * 3), {}


def row_launches(*, sweep: bool = True, names: Sequence[str] = NAMES) -> Iterator[tuple[Row, Candidate]]:
    """Which candidates of which rows are launched, the chosen one of a row first."""
    for name in names:
        row = ROWS.get(name, LAUNCH)
        yield row, row.chosen
        if sweep and row is not LAUNCH:
            yield from ((row, each) for each in row.candidates if each is not row.chosen)


def stand_ins(arguments: Sequence[Array | float]) -> list[Any]:
    """Arrays that lie apart from each other, each at the start of a page, and scalars as they are."""
    made: list[Any] = []
    start = 0
    for argument in arguments:
        if isinstance(argument, Array):
            made.append(np.ndarray(argument.shape, _DTYPES[argument.element], _nothing(), start))
            start += -(-argument.nbytes // _PAGE) * _PAGE
        else:
            made.append(argument)
    return made


@cache
def _nothing() -> mmap.mmap:
    """Addresses without memory: the system gives a page when it is touched, and nobody does."""
    return mmap.mmap(-1, _ROOM, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000))
