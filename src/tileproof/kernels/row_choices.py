"""Tile sizes of kernels that reduce the rows or the columns of a matrix, whole or in pieces that are joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from tileproof.language.kernel import Kernel
from tileproof.language.schedule import Schedule
from tileproof.tuning import Choice, Sizes, choices

ENOUGH: Final = 264
"""Programs that fill a GPU."""


def power(number: int) -> int:
    """The next power of two."""
    return 1 << max(number - 1, 0).bit_length()


def tile(length: int, most: int) -> int:
    """The size of tiles for a dimension: a power of two that is no longer than need be."""
    return min(power(length), most)


def rows_default(plain: Kernel, split: Kernel) -> Callable[[Sizes, str], Choice]:
    """Rows in tiles of some thousand elements; pieces of them where few rows would leave processors idle."""

    def default(sizes: Sizes, target: str) -> Choice:
        rows, columns = sizes["R"], sizes["C"]
        if target == "cpu":
            if rows < 4 and columns > 1 << 22:
                return Choice(split, {"BR": 1, "SC": 1 << 18, "BC": 1024})
            return Choice(plain, {"BR": tile(rows // 16, 4 if columns > 64 else 64), "BC": tile(columns, 1024)})
        across = tile(columns, 4096)
        if rows < ENOUGH and columns > 8192:
            piece = max(8192, power(rows * columns // (4 * ENOUGH)))
            return Choice(split, {"BR": 1, "SC": piece, "BC": across})
        return Choice(plain, {"BR": tile(rows, max(1, 4096 // across)), "BC": across})

    return default


def rows_space(plain: Kernel, split: Kernel) -> Callable[[Sizes, str], Iterator[Choice]]:
    """All that may be worth a try for rows."""

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        if target == "cpu":
            yield from choices(plain, "BR=1,BC=1024 BR=4,BC=256 BR=4,BC=1024 BR=4,BC=4096 BR=8,BC=1024 BR=16,BC=512")
            yield from choices(split, "BR=1,SC=16384,BC=1024 BR=1,SC=65536,BC=1024 BR=4,SC=16384,BC=1024")
            return
        tiles = "BR=1,BC=2048 BR=1,BC=4096 BR=1,BC=8192 BR=2,BC=4096 BR=4,BC=1024 BR=4,BC=2048 BR=8,BC=512 BR=16,BC=256"
        yield from choices(plain, tiles, Schedule(), Schedule(occupancy=4), Schedule(persistent=True, occupancy=4))
        yield from choices(
            split, "BR=1,SC=8192,BC=4096 BR=1,SC=16384,BC=4096 BR=1,SC=4096,BC=4096 BR=4,SC=4096,BC=1024"
        )

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
