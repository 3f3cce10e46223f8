"""Tile sizes and schedules of work on rows: what is taken where nothing was tuned, and what is worth a try."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from tileproof import Kernel, Schedule
from tileproof.tuning import Choice, Sizes, Tunable, choices

_WHOLE: Final = 8192
"""Rows up to so long are held in the registers of a program."""
_SMALL: Final = 1 << 16
"""Up to so many elements on the CPU, one compiled form for rows of all lengths is worth more than speed."""
_MANY: Final = 264
"""So many programs give each multiprocessor two of them."""


def _occupied(*occupancies: int) -> list[Schedule]:
    return [Schedule(occupancy=each) for each in occupancies]


def _lasting(*occupancies: int) -> list[Schedule]:
    return [Schedule(persistent=True, occupancy=each) for each in occupancies]


def _direct(*occupancies: int) -> list[Schedule]:
    """Without the copy engine: rows then go straight to registers, which an H200 was seen to like best."""
    return [Schedule(tma=False, occupancy=each) for each in occupancies]


def rows(whole: Kernel, loop: Kernel) -> Tunable:
    """Of rows R of C columns: BR whole rows in a tile, or tile by tile with BC columns."""

    def default(sizes: Sizes, target: str) -> Choice:
        rows, columns = sizes["R"], sizes["C"]
        if target == "cpu":
            if columns <= 4 * _WHOLE and rows * columns > _SMALL:
                return Choice(whole, {"BR": 1})
            return Choice(loop, {"BR": 1, "BC": 1024 if columns <= _WHOLE else 4096})
        if not 1 <= columns <= _WHOLE:
            return Choice(loop, {"BR": 1, "BC": 4096}, Schedule(occupancy=2))
        if columns > 1024:
            return Choice(whole, {"BR": 1}, Schedule(tma=False, occupancy=8 if columns <= _WHOLE // 2 else 4))
        return Choice(whole, {"BR": 8 if columns <= 256 else 4}, Schedule(occupancy=4))

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        columns = sizes["C"]
        if target == "cpu":
            if 1 <= columns <= 16 * _WHOLE:
                yield from choices(whole, "BR=1 BR=4")
            yield from choices(loop, "BR=1,BC=512 BR=1,BC=1024 BR=1,BC=4096 BR=4,BC=1024")
            return
        if 1 <= columns <= _WHOLE:
            eight = [Schedule(tma=False, warps=8, occupancy=each) for each in (1, 2, 4)]
            yield from choices(whole, "BR=1", *_direct(1, 2, 4, 8, 16), *eight, *_occupied(2, 4, 8), *_lasting(2, 4, 8))
            yield from choices(whole, "BR=2", *_direct(2, 4, 8), *eight, *_occupied(2, 4), *_lasting(2, 4))
            yield from choices(whole, "BR=4 BR=8", *_direct(2, 4), *_occupied(2), *_lasting(1, 2))
        elif columns <= 4 * _WHOLE:
            wide = (Schedule(warps=8), Schedule(warps=8, occupancy=2), Schedule(warps=8, persistent=True))
            yield from choices(whole, "BR=1", Schedule(), *wide, *_direct(2))
        for size in (1024, 2048, 4096):
            if size < 2 * columns:
                yield from choices(loop, f"BR=1,BC={size}", *_occupied(2, 4, 8), *_lasting(4), *_direct(4))

    return Tunable(whole.name.removesuffix("_kernel"), (whole, loop), default, space, exact=("C",))


def labelled(loop: Kernel, lanes: Kernel, split: Kernel) -> Tunable:
    """Of rows N of V columns, each reduced to a number."""

    def default(sizes: Sizes, target: str) -> Choice:
        rows, columns = sizes["N"], sizes["V"]
        if target == "cpu":
            return Choice(loop, {"BV": 1024 if rows * columns <= _SMALL else 4096})
        if rows < _MANY and columns > _WHOLE:
            piece = -(-columns * max(rows, 1) // (2 * _MANY))
            return Choice(split, {"SV": max(4096, 1 << (piece - 1).bit_length()), "BV": 2048}, Schedule(occupancy=4))
        if columns > _WHOLE:
            return Choice(lanes, {"BV": 2048}, Schedule(tma=False, occupancy=8))
        return Choice(loop, {"BV": max(256, 1 << max(columns - 1, 0).bit_length())}, Schedule(occupancy=4))

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        columns = sizes["V"]
        if target == "cpu":
            yield from choices(loop, "BV=1024 BV=4096 BV=16384")
            yield from choices(lanes, "BV=256 BV=1024")
            yield from choices(split, "SV=16384,BV=4096")
            return
        for size in (1024, 2048, 4096, 8192):
            if size < 2 * columns:
                yield from choices(loop, f"BV={size}", *_occupied(4), *_direct(4, 8))
        if columns > 1024:
            yield from choices(lanes, "BV=512 BV=1024 BV=2048 BV=4096", *_occupied(4), *_lasting(4), *_direct(4, 8, 16))
        if columns > _WHOLE:
            sizes_of = "SV=4096,BV=2048 SV=8192,BV=2048 SV=8192,BV=4096 SV=16384,BV=4096 SV=32768,BV=4096"
            yield from choices(split, sizes_of, *_occupied(4), *_direct(8))

    return Tunable("cross_entropy", (loop, lanes, split), default, space, inputs=_give_labels)


def labelled_backward(kernel: Kernel) -> Tunable:
    """Of rows N of V columns, element by element."""

    def default(sizes: Sizes, target: str) -> Choice:
        rows, columns = sizes["N"], sizes["V"]
        if target == "cpu":
            return Choice(kernel, {"BN": 1, "BV": 1024 if rows * columns <= _SMALL else 8192})
        return Choice(kernel, {"BN": 1, "BV": 2048 if columns > 1024 else 512})

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        if target == "cpu":
            yield from choices(kernel, "BN=1,BV=1024 BN=1,BV=8192 BN=4,BV=4096")
            return
        one = "BN=1,BV=512 BN=1,BV=1024 BN=1,BV=2048 BN=1,BV=4096"
        yield from choices(kernel, one, Schedule(), *_occupied(4, 8), *_lasting(8), *_direct(8))
        yield from choices(kernel, "BN=2,BV=1024 BN=4,BV=512 BN=8,BV=256", Schedule(), *_occupied(8))

    return Tunable("cross_entropy_backward", (kernel,), default, space, inputs=_give_labels)


def _give_labels(rng: np.random.Generator, given: dict[str, Any]) -> None:
    """Labels that are positions in V."""
    given["labels"][...] = rng.integers(0, given["logits"].shape[1], given["labels"].shape)
