"""Tiles and schedules of matrix products: an estimate ranks them, measurements of the tuner decide.

On a GPU of 132 multiprocessors the enemy is not the peak but the last, half-empty wave. So tiles have widths between
the powers of two (320 = 256 + 64), and where even those leave it empty, programs share the inner dimension. The worth
of a tile is what was seen on an H200, as a part of the best.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from tileproof import Schedule
from tileproof.language.kernel import Kernel
from tileproof.tuning import Choice, Sizes

_MULTIPROCESSORS: Final = 132
_WIDTHS: Final = {48: 32, 80: 64, 96: 64, 152: 128, 160: 128, 192: 128, 200: 128, 304: 256, 320: 256, 384: 256}
"""Widths of two parts, and the first part: both are powers of two, or nearly so."""
_HEIGHTS: Final = (64, 128, 256)
_LARGEST: Final = 128 * 384
"""Elements of a tile whose sums still fit the registers."""
_JOIN: Final = 3.0
"""Microseconds that a join takes beside the work."""
_SHOWN: Final = 24
"""The most choices of a space that do not share the inner dimension, and twice as many as do."""


@dataclass(frozen=True, slots=True)
class Tile:
    """Rows and columns of the result for one program, and how many programs share the inner dimension."""

    rows: int
    columns: int
    pieces: int = 1

    @property
    def is_wide(self) -> bool:
        return self.columns in _WIDTHS

    def programs(self, sizes: Sizes) -> int:
        return -(-sizes["M"] // self.rows) * -(-sizes["N"] // self.columns) * self.pieces

    def cost(self, sizes: Sizes) -> float:
        """Microseconds, roughly: waves of programs, each at the rate its tile allows, and memory at its own."""
        waves = -(-self.programs(sizes) // _MULTIPROCESSORS)
        inner = sizes["K"] / self.pieces
        area = self.rows * _padded(self.columns)
        # Small tiles load more for each product.
        rate = 5.9e6 * min(1.0, area / (self.rows + self.columns) / 75)
        moved = 2.0 * (sizes["N"] * sizes["K"] + sizes["M"] * (sizes["N"] + sizes["K"])) / 4.2e6
        busy = min(1.0, self.programs(sizes) / _MULTIPROCESSORS + 0.15)
        joined = _JOIN + 8.0 * self.pieces * sizes["M"] * sizes["N"] / 4.2e6 if self.pieces > 1 else 0.0
        return max(waves * 2.0 * area * inner / rate, moved / busy) + joined + 3.0


@dataclass(frozen=True, slots=True)
class Forms:
    """The kernels of one product; those that it has not are None."""

    plain: Kernel
    wide: Kernel
    split: Kernel
    wide_split: Kernel | None = None
    swapped: Kernel | None = None
    swapped_split: Kernel | None = None

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        every = (self.plain, self.wide, self.split, self.wide_split, self.swapped, self.swapped_split)
        return tuple(each for each in every if each is not None)

    def default(self, sizes: Sizes, target: str) -> Choice:
        """The best by the estimate."""
        if target == "cpu":
            return Choice(self.plain, {f"B{name}": fitting(sizes[name], 256) for name in "MNK"})
        if max(sizes.values()) <= 128:
            return Choice(self.plain, {f"B{name}": fitting(sizes[name], 64) for name in "MNK"})
        if self.swapped is not None and sizes["M"] <= 32:
            inner = 256 if sizes["K"] >= 4096 else 128
            size = {"BM": fitting(sizes["M"], 32), "BN": 64, "BK": fitting(sizes["K"], inner)}
            return Choice(self.swapped, size, Schedule(occupancy=2 if inner == 128 else None))
        best = min(self._tiles(sizes), key=lambda tile: (tile.cost(sizes), tile.pieces))
        return next(iter(self._of_tile(best, sizes)))

    def space(self, sizes: Sizes, target: str) -> Iterable[Choice]:
        """What the estimate puts in front, with every schedule that was seen to win somewhere."""
        if target == "cpu":
            return {each.label: each for each in self._on_cpu(sizes)}.values()
        ranked = sorted(self._tiles(sizes), key=lambda tile: tile.cost(sizes))
        whole, shared = ([tile for tile in ranked if (tile.pieces > 1) is split] for split in (False, True))
        near = [tile for tile in whole if tile.cost(sizes) <= 1.6 * whole[0].cost(sizes)]
        split = [tile for tile in shared if tile.cost(sizes) <= 1.2 * whole[0].cost(sizes)]
        return [
            *islice((each for tile in near for each in self._of_tile(tile, sizes)), _SHOWN),
            *islice((each for tile in split for each in islice(self._of_tile(tile, sizes), 2)), _SHOWN // 2),
            *(self._few(sizes) if sizes["M"] <= 64 else ()),
        ]

    def _tiles(self, sizes: Sizes) -> list[Tile]:
        wide = [columns for columns in _WIDTHS if sizes["N"] % columns == 0]
        found = []
        for rows in _HEIGHTS:
            if rows > max(sizes["M"], 64):
                continue
            for columns in (64, 128, 256, *wide):
                if not 64 * 48 <= rows * columns <= _LARGEST:
                    continue
                found += [Tile(rows, columns, pieces) for pieces in self._pieces(Tile(rows, columns), sizes)]
        return found

    def _pieces(self, tile: Tile, sizes: Sizes) -> Iterator[int]:
        yield 1
        if tile.is_wide and self.wide_split is None:
            return
        if tile.rows * tile.columns > 128 * 160:  # what follows the join would spill
            return
        for pieces in (2, 3, 4, 5, 6, 8):
            programs = tile.programs(sizes) * pieces
            waves = -(-programs // _MULTIPROCESSORS)
            if programs <= 2 * _MULTIPROCESSORS and programs >= 0.75 * waves * _MULTIPROCESSORS:
                yield pieces

    def _of_tile(self, tile: Tile, sizes: Sizes) -> Iterator[Choice]:
        """A tile under each schedule, the one that wins most first."""
        area = tile.rows * tile.columns
        inners = (64,) if area > 128 * 96 or sizes["M"] > 512 else (128, 64) if area > 128 * 80 else (128, 64, 256)
        for schedule in _schedules(tile, sizes):
            for inner in inners:
                size = {"BM": tile.rows}
                if tile.is_wide:
                    size = {"P": tile.columns, "P0": _WIDTHS[tile.columns], **size}
                else:
                    size["BN"] = tile.columns
                if tile.pieces > 1:
                    size["SK"] = -(-sizes["K"] // (tile.pieces * inner)) * inner
                kernel = (self.wide_split if tile.pieces > 1 else self.wide) if tile.is_wide else None
                if kernel is None:
                    kernel = self.split if tile.pieces > 1 else self.plain
                yield Choice(kernel, {**size, "BK": inner}, schedule)

    def _few(self, sizes: Sizes) -> Iterator[Choice]:
        """Weights as the left operand."""
        if self.swapped is None or self.swapped_split is None:
            return
        rows = fitting(sizes["M"], 64)
        for columns, inner in ((64, 128), (64, 256), (128, 128)):
            tiles = -(-sizes["M"] // rows) * -(-sizes["N"] // columns)
            size = {"BM": rows, "BN": columns, "BK": inner}
            for occupancy in (None, 2, 4):
                yield Choice(self.swapped, size, Schedule(occupancy=occupancy))
            if tiles < _MULTIPROCESSORS:
                yield Choice(self.swapped, size, Schedule(cluster=2))
            for pieces in (2, 3, 4, 6) if inner == 128 else ():
                if 100 <= tiles * pieces <= 2 * _MULTIPROCESSORS:
                    piece = -(-sizes["K"] // (pieces * inner)) * inner
                    size = {"BM": rows, "BN": columns, "SK": piece, "BK": inner}
                    yield Choice(self.swapped_split, size, Schedule(occupancy=2))

    def _on_cpu(self, sizes: Sizes) -> Iterator[Choice]:
        for rows, columns, inner in ((256, 256, 256), (128, 256, 256), (64, 256, 256), (128, 128, 256), (64, 64, 512)):
            fits = {"BM": fitting(sizes["M"], rows), "BN": fitting(sizes["N"], columns)}
            yield Choice(self.plain, {**fits, "BK": fitting(sizes["K"], inner)})


def on_cpu(kernel: Kernel, sizes: Sizes) -> Choice:
    """Tiles of a CPU for weights by rows: they divide the axes where they can, and leave an even number of programs."""
    rows, inner = fitting(sizes["M"], 256), sizes["K"]
    depths = [depth for depth in (256, 320, 288, 304, 272, 240, 224, 208, 192, 176, 160) if inner % depth == 0]
    bands = -(-sizes["M"] // rows)
    widths = [width for width in (256, 192, 128, 96, 64) if sizes["N"] % width == 0]
    even = [width for width in widths if (programs := bands * sizes["N"] // width) >= 16 or programs % 2 == 0]
    width = next(iter(even or widths), fitting(sizes["N"], 256))
    depth = next(iter(depths), fitting(inner, 256)) if inner else 16
    return Choice(kernel, {"BM": rows, "BN": width, "BK": depth})


def _schedules(tile: Tile, sizes: Sizes) -> Iterator[Schedule]:
    area, programs = tile.rows * tile.columns, tile.programs(sizes)
    if area >= 128 * 160:
        plain, lasting = Schedule(group=8, warps=8), Schedule(group=8, warps=8, persistent=True)
        if programs > _MULTIPROCESSORS:
            yield from (plain, lasting) if tile.is_wide else (lasting, plain)
            yield Schedule(group=16, warps=8, persistent=not tile.is_wide)
        else:
            yield plain
        if tile.rows == 64:
            yield Schedule(group=8)
        return
    if programs > _MULTIPROCESSORS:
        yield Schedule(group=8, persistent=True)
    yield Schedule(group=8)
    yield Schedule(group=8, occupancy=2)
    if area >= 128 * 80:
        yield Schedule(group=8, warps=8)
        if tile.rows == 64:
            # Without it the assembler waits for each product of some of them.
            yield Schedule(group=8, latency=4)
    elif programs <= _MULTIPROCESSORS:
        yield Schedule(group=8, latency=8)
    if programs < _MULTIPROCESSORS // 2:
        yield Schedule(group=8, cluster=4 if programs * 4 <= 2 * _MULTIPROCESSORS else 2)


def fitting(extent: int, most: int) -> int:
    """The size of a tile that holds an extent: a power of two of at least 16, and at most so many."""
    return min(max(1 << max(extent - 1, 0).bit_length(), 16), most)


def _padded(columns: int) -> int:
    """What tensor cores compute for a width: each of its parts is a power of two there."""
    if columns not in _WIDTHS:
        return columns
    rest = columns - _WIDTHS[columns]
    return _WIDTHS[columns] + (1 << (rest - 1).bit_length())
