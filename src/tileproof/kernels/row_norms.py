"""The root mean square norm of one row: a program asks for the weights before it adds up the squares.

In a model that makes one token this kernel is launched again and again, and does nothing but wait for memory: twice
where the weights are asked for last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import tileproof as tp
from tileproof import In, Out, Schedule, T, U, f32
from tileproof.tuning import Choice, Sizes, Tunable, choices

from .norm_parts import wide

LONGEST: Final = 8192
"""The longest row that one program takes as a whole."""


@tp.kernel(deny_checks=True)
def rms_norm_row_kernel(y: Out[T, "D"], x: In[T, "D"], w: In[U, "D"], eps: f32, *, D: int) -> None:
    """x divided by its root mean square, times w."""
    row = wide(x[:])
    weights = w[:].to(row.dtype)
    y[:] = row * tp.rsqrt((row * row).mean() + eps.to(row.dtype)) * weights


def _default(sizes: Sizes, target: str) -> Choice:
    return Choice(rms_norm_row_kernel, {}, Schedule(tma=False, warps=8))


def _space(sizes: Sizes, target: str) -> Iterator[Choice]:
    schedules = Schedule(tma=False, warps=8), Schedule(tma=False), Schedule(tma=False, warps=8, occupancy=4)
    yield from choices(rms_norm_row_kernel, "", *schedules, Schedule(warps=8))


RMS_NORM_ROW: Final = Tunable("rms_norm_row", (rms_norm_row_kernel,), _default, _space, scalars={"eps": 1e-6})
