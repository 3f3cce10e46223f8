"""Tiles and schedules of attention of the rows of a prompt, for each of its kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import tileproof as tp
from tileproof import Schedule
from tileproof.tuning import Choice, Sizes, choices

from .weighing import covering

_LONG: Final = 4096
"""From so many places on, programs of a GPU take more rows each: what they read of the cache is what counts."""


def _rows(sizes: Sizes, rows: int) -> dict[str, int]:
    """As many rows as make so many with the heads that share keys."""
    return {"BT": max(rows // covering(sizes["R"], 1, 2, 4, 8, 16, 32, 64), 1)}


def prompt_default(kernel: tp.Kernel, sizes: Sizes, target: str) -> Choice:
    """Tiles of 64 rows, or of 128 with a long cache."""
    if target == "cpu":
        return Choice(kernel, _rows(sizes, 64))
    many, few = _rows(sizes, 128), _rows(sizes, 64)
    if sizes["L"] * sizes["S"] > _LONG and sizes["D"] <= 128 and sizes["T"] % many["BT"] == 0:
        return Choice(kernel, many, Schedule(warps=8, latency=2, reverse=True))
    if sizes["T"] % few["BT"] == 0:
        return Choice(kernel, few, Schedule(occupancy=2, reverse=True))
    # The assembler has no code for a last tile of fewer rows that the copy engine brings.
    return Choice(kernel, few, Schedule(tma=False, reverse=True))


def wide_prompt_default(kernel: tp.Kernel, sizes: Sizes, target: str) -> Choice:
    """The same for f32 and f64, whose tiles take more registers."""
    return Choice(kernel, _rows(sizes, 64 if target == "cpu" else 32))


def prompt_space(kernel: tp.Kernel, sizes: Sizes, target: str) -> Iterator[Choice]:
    """All that is worth a try."""
    for rows in (32, 64, 128):
        written = f"BT={_rows(sizes, rows)['BT']}"
        if target == "cpu":
            yield from choices(kernel, written)
        elif rows == 128:
            far = (Schedule(warps=8, latency=latency, reverse=True) for latency in (2, 4))
            yield from choices(kernel, written, *far, Schedule(warps=8, reverse=True))
        else:
            yield from choices(kernel, written, Schedule(occupancy=2, reverse=True), Schedule(occupancy=2))
