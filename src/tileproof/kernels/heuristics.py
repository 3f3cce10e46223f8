"""Tile sizes of kernels that reduce the rows or the columns of a matrix, whole or in pieces that are joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from tileproof.language.kernel import Kernel, Schedule
from tileproof.tuning import Choice, Sizes, choices

ENOUGH: Final = 264
"""Programs that fill a GPU."""
WHOLE: Final = 8192
"""Rows up to so long are held in the registers of a program."""
ALONE: Final = (
    Schedule(warps=8), Schedule(warps=8, latency=8), Schedule(occupancy=1), Schedule(occupancy=2),
    Schedule(tma=False, warps=8), Schedule(tma=False, occupancy=2),
)  # fmt: skip
"""For programs that have a multiprocessor to themselves: the copy engine loads ahead what they come to next."""


def power(number: int) -> int:
    """The next power of two."""
    return 1 << max(number - 1, 0).bit_length()


def tile(length: int, most: int) -> int:
    """The size of tiles for a dimension: a power of two that is no longer than need be."""
    return min(power(length), most)


def direct(occupancy: int, warps: int | None = None) -> Schedule:
    """Without the copy engine: rows go straight to registers, which an H200 was seen to like best."""
    return Schedule(tma=False, occupancy=occupancy, warps=warps)


def is_split(rows: int, columns: int) -> bool:
    """Whether so few rows of such a length would leave a GPU idle."""
    return rows < ENOUGH and columns > WHOLE


def piece(rows: int, columns: int, tile: int) -> int:
    """How much of a row a program takes, in whole tiles, so that its pieces fill a GPU four times."""
    return max(-(-rows * columns // (4 * ENOUGH * tile)), 1) * tile


def rows_of(rows: int, columns: int) -> int:
    """How many whole rows a program takes: 4096 elements, unless that leaves too few programs."""
    return max(1, min(4096 // power(columns), power(rows // ENOUGH), 64))


def rows_default(plain: Kernel, lanes: Kernel, whole: Kernel, split: Kernel) -> Callable[[Sizes, str], Choice]:
    """Whole rows on a GPU, or tiles of them if they are long; pieces where few rows would leave processors idle."""

    def default(sizes: Sizes, target: str) -> Choice:
        rows, columns = sizes["R"], sizes["C"]
        if target == "cpu":
            if rows < 4 and columns > 1 << 22:
                return Choice(split, {"BR": 1, "SC": 1 << 18, "BC": 256})
            return Choice(plain, {"BR": tile(rows // 16, 4 if columns > 64 else 64), "BC": tile(columns, 1024)})
        if is_split(rows, columns):
            return Choice(split, {"BR": 1, "SC": piece(rows, columns, 2048), "BC": 2048}, direct(8))
        if 1 <= columns <= WHOLE:
            return Choice(whole, {"BR": rows_of(rows, columns)}, direct(8))
        return Choice(lanes, {"BR": 1, "BC": 2048}, direct(8))

    return default


def rows_space(plain: Kernel, lanes: Kernel, whole: Kernel, split: Kernel) -> Callable[[Sizes, str], Iterator[Choice]]:
    """All that may be worth a try for rows."""

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        columns = sizes["C"]
        if target == "cpu":
            yield from choices(plain, "BR=1,BC=1024 BR=4,BC=256 BR=4,BC=1024 BR=4,BC=4096 BR=8,BC=1024 BR=16,BC=512")
            yield from choices(split, "BR=1,SC=16384,BC=256 BR=1,SC=65536,BC=256 BR=4,SC=16384,BC=256")
            if 1 <= columns <= 2 * WHOLE:
                yield from choices(whole, "BR=1 BR=4")
            return
        if 1 <= columns <= 2 * WHOLE:
            yield from choices(whole, "BR=1 BR=2", direct(4), direct(8), direct(16), direct(2, 8), direct(4, 8))
            yield from choices(whole, "BR=4 BR=8 BR=16", direct(4), direct(8))
        yield from choices(lanes, "BR=1,BC=1024 BR=1,BC=2048 BR=1,BC=4096 BR=2,BC=1024", direct(4), direct(8))
        yield from choices(plain, "BR=1,BC=4096 BR=4,BC=1024", Schedule(occupancy=4), direct(8))
        pieces = "BR=1,SC=4096,BC=2048 BR=1,SC=8192,BC=2048 BR=1,SC=16384,BC=2048 BR=1,SC=32768,BC=2048"
        yield from choices(split, pieces, direct(4), direct(8))

    return space


def columns_default(plain: Kernel, split: Kernel) -> Callable[[Sizes, str], Choice]:
    """Tiles as wide as memory likes them; pieces of the rows where few columns would leave processors idle."""

    def default(sizes: Sizes, target: str) -> Choice:
        rows, columns = sizes["R"], sizes["C"]
        if target == "cpu":
            if columns <= 1024 and rows * columns > 1 << 22:
                return Choice(split, {"SR": 4096, "BR": 4, "BC": tile(columns, 1024)})
            return Choice(plain, {"BR": tile(rows, 4), "BC": tile(columns, 1024)})
        across = tile(columns, 128)
        programs = -(-columns // across)
        if programs < ENOUGH and rows > 256:
            piece = max(128, power(rows * programs // (2 * ENOUGH)))
            return Choice(split, {"SR": piece, "BR": 32, "BC": across})
        return Choice(plain, {"BR": tile(rows, 32), "BC": across})

    return default


def columns_space(plain: Kernel, split: Kernel) -> Callable[[Sizes, str], Iterator[Choice]]:
    """All that may be worth a try for columns."""

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        if target == "cpu":
            yield from choices(plain, "BR=1,BC=1024 BR=4,BC=1024 BR=4,BC=512 BR=8,BC=512 BR=16,BC=256")
            yield from choices(split, "SR=1024,BR=4,BC=1024 SR=4096,BR=4,BC=1024 SR=1024,BR=8,BC=256")
            return
        tiles = "BR=16,BC=128 BR=32,BC=128 BR=64,BC=128 BR=16,BC=256 BR=32,BC=256 BR=32,BC=64 BR=64,BC=64"
        yield from choices(plain, tiles, Schedule(), Schedule(occupancy=4))
        pieces = "SR=128,BR=32,BC=128 SR=256,BR=32,BC=128 SR=512,BR=32,BC=128 SR=256,BR=16,BC=256 SR=512,BR=32,BC=256"
        yield from choices(split, pieces, Schedule(), Schedule(occupancy=4))

    return space
