"""What is chosen by shape: tile sizes and schedules by default, and those worth a try when a kernel is tuned.

Defaults for GPUs were measured on an H200 (132 multiprocessors), those for CPUs on processors with AVX2 and AVX-512. A
family of kernels that differ in how they tile a row or a matrix shares one heuristic here; what concerns a single
kernel is in the file of that kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Final

from tileproof.language.dtypes import F64
from tileproof.language.kernel import Kernel, Schedule
from tileproof.tuning import Choice, Sizes, Tunable, choices
from tileproof.tuning.choices import PLAIN

from . import arrays

MULTIPROCESSORS: Final = 132
FULL: Final = 2 * MULTIPROCESSORS
"""Programs that fill a GPU: two for each multiprocessor."""
WHOLE: Final = 8192
"""Rows up to this length are held in the registers of a program."""
LONGEST: Final = 1 << 15
"""Rows of weights up to this length are worth a try as one tile."""


# Sizes and schedules.


def power_of_two(number: int) -> int:
    """The smallest power of two that is not below a number."""
    return 1 << max(number - 1, 0).bit_length()


def tile_size(extent: int, most: int, least: int = 1) -> int:
    """A tile size for an extent: `most`, halved while half of it still covers the extent and is at least `least`."""
    while most > least and most // 2 >= extent:
        most //= 2
    return most


def covering(extent: int, *tiles: int) -> int:
    """The first of some tile sizes, in rising order, that covers an extent, else the last: so few are compiled."""
    return next((tile for tile in tiles if extent <= tile), tiles[-1])


def occupied(*counts: int, tma: bool = True, persistent: bool = False, warps: int | None = None) -> list[Schedule]:
    """A schedule for each number of programs per multiprocessor."""
    return [Schedule(occupancy=count, tma=tma, persistent=persistent, warps=warps) for count in counts]


def direct(occupancy: int, warps: int | None = None) -> Schedule:
    """Loads go straight to registers, without the copy engine: the fastest for rows on an H200."""
    return Schedule(tma=False, occupancy=occupancy, warps=warps)


ALONE: Final = (
    Schedule(warps=8), Schedule(warps=8, latency=8), *occupied(1, 2), Schedule(tma=False, warps=8), direct(2)
)  # fmt: skip
"""For programs that have a multiprocessor to themselves: the copy engine prefetches their next tiles."""


def lane_choice(kernel: Kernel, axis: str, columns: int, most: int, schedule: Schedule, **constants: int) -> Choice:
    """Of a kernel whose lanes each keep their greatest element of a row, and look for the next one BL at a time."""
    lanes = tile_size(columns, most)
    return Choice(kernel, {f"B{axis}": lanes, **constants, "BL": tile_size(-(-columns // lanes), 512)}, schedule)


def lane_space(kernel: Kernel, axis: str, columns: int, target: str) -> Iterator[Choice]:
    """What is worth a try."""
    schedules = (PLAIN,) if target == "cpu" else ALONE
    for lanes in sorted({tile_size(columns, most) for most in (256, 512, 1024, 2048, 4096)}):
        yield from (lane_choice(kernel, axis, columns, lanes, each) for each in schedules)


# Reductions of rows and of columns.


def is_split(rows: int, columns: int) -> bool:
    """Whether rows are so few and so long that several programs must share a row to fill a GPU."""
    return rows < FULL and columns > WHOLE


def split_size(rows: int, columns: int, tile: int) -> int:
    """The share of a row that a program takes, in whole tiles, so that all programs fill a GPU four times."""
    return max(-(-rows * columns // (4 * FULL * tile)), 1) * tile


def rows_per_program(rows: int, columns: int) -> int:
    """How many whole rows a program takes: 4096 elements, unless that leaves too few programs."""
    return max(1, min(4096 // power_of_two(columns), power_of_two(rows // FULL), 64))


def row_reduction(name: str, plain: Kernel, lanes: Kernel, whole: Kernel) -> Tunable:
    """Of rows R of C columns: whole rows on a GPU, tiles of long ones, and shares of few rows."""

    def default(sizes: Sizes, target: str) -> Choice:
        rows, columns = sizes["R"], sizes["C"]
        if target == "cpu":
            if rows < 4 and columns > 1 << 22:
                return Choice(lanes, {"BR": 1, "SC": 1 << 18, "BC": 256})
            few = tile_size(rows // 16, 4 if columns > 64 else 64)
            return Choice(plain, {"BR": few, "BC": tile_size(columns, 1024)})
        if is_split(rows, columns):
            return Choice(lanes, {"BR": 1, "SC": split_size(rows, columns, 2048), "BC": 2048}, direct(8))
        if 1 <= columns <= WHOLE:
            return Choice(whole, {"BR": rows_per_program(rows, columns)}, direct(8))
        return Choice(lanes, {"BR": 1, "BC": 2048}, direct(8))

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        columns = sizes["C"]
        if target == "cpu":
            yield from choices(plain, "BR=1,BC=1024 BR=4,BC=256 BR=4,BC=1024 BR=4,BC=4096 BR=8,BC=1024 BR=16,BC=512")
            yield from choices(lanes, "BR=1,SC=16384,BC=256 BR=1,SC=65536,BC=256 BR=4,SC=16384,BC=256")
            if 1 <= columns <= 2 * WHOLE:
                yield from choices(whole, "BR=1 BR=4")
            return
        if 1 <= columns <= 2 * WHOLE:
            yield from choices(whole, "BR=1 BR=2", direct(4), direct(8), direct(16), direct(2, 8), direct(4, 8))
            yield from choices(whole, "BR=4 BR=8 BR=16", direct(4), direct(8))
        yield from choices(lanes, "BR=1,BC=1024 BR=1,BC=2048 BR=1,BC=4096 BR=2,BC=1024", direct(4), direct(8))
        yield from choices(plain, "BR=1,BC=4096 BR=4,BC=1024", Schedule(occupancy=4), direct(8))
        shares = "BR=1,SC=4096,BC=2048 BR=1,SC=8192,BC=2048 BR=1,SC=16384,BC=2048 BR=1,SC=32768,BC=2048"
        yield from choices(lanes, shares, direct(4), direct(8))

    return Tunable(name, (plain, lanes, whole), default, space, exact=("C",))


def column_reduction(name: str, kernel: Kernel) -> Tunable:
    """Of columns C of R rows: tiles as wide as memory likes them, and shares of the rows where columns are few."""

    def default(sizes: Sizes, target: str) -> Choice:
        rows, columns = sizes["R"], sizes["C"]
        if target == "cpu":
            if columns <= 1024 and rows * columns > 1 << 22:
                return Choice(kernel, {"SR": 4096, "BR": 4, "BC": tile_size(columns, 1024)})
            return Choice(kernel, {"BR": tile_size(rows, 4), "BC": tile_size(columns, 1024)})
        across = tile_size(columns, 128)
        programs = -(-columns // across)
        if programs < FULL and rows > 256:
            share = max(128, power_of_two(rows * programs // (2 * FULL)))
            return Choice(kernel, {"SR": share, "BR": 32, "BC": across})
        return Choice(kernel, {"BR": tile_size(rows, 32), "BC": across})

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        if target == "cpu":
            yield from choices(kernel, "BR=1,BC=1024 BR=4,BC=1024 BR=4,BC=512 BR=8,BC=512 BR=16,BC=256")
            yield from choices(kernel, "SR=1024,BR=4,BC=1024 SR=4096,BR=4,BC=1024 SR=1024,BR=8,BC=256")
            return
        tiles = "BR=16,BC=128 BR=32,BC=128 BR=64,BC=128 BR=16,BC=256 BR=32,BC=256 BR=32,BC=64 BR=64,BC=64"
        yield from choices(kernel, tiles, Schedule(), Schedule(occupancy=4))
        shares = "SR=128,BR=32,BC=128 SR=256,BR=32,BC=128 SR=512,BR=32,BC=128 SR=256,BR=16,BC=256 SR=512,BR=32,BC=256"
        yield from choices(kernel, shares, Schedule(), Schedule(occupancy=4))

    return Tunable(name, (kernel,), default, space)


# Rows that give rows: logits, softmax and norms.


def row_tiles(name: str, kernel: Kernel, **more: Any) -> Tunable:
    """Of rows of V logits that are changed one by one: BV of a row for each program."""

    def default(sizes: Sizes, target: str) -> Choice:
        return Choice(kernel, {"BV": tile_size(sizes["V"], 8192 if target == "cpu" else 1024)})

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        if target == "cpu":
            return choices(kernel, "BV=1024 BV=4096 BV=8192 BV=16384")
        return choices(kernel, "BV=512 BV=1024 BV=2048 BV=4096", Schedule(), Schedule(occupancy=4), direct(8))

    return Tunable(name, (kernel,), default, space, **more)


SMALL: Final = 1 << 16
"""Up to so many elements on the CPU, one compiled form for rows of all lengths is worth more than speed."""


def row_softmax(name: str, whole: Kernel, loop: Kernel) -> Tunable:
    """Of rows R of C columns: BR whole rows in a tile, or tile by tile with BC columns."""

    def default(sizes: Sizes, target: str) -> Choice:
        rows, columns = sizes["R"], sizes["C"]
        if target == "cpu":
            if columns <= 4 * WHOLE and rows * columns > SMALL:
                return Choice(whole, {"BR": 1})
            return Choice(loop, {"BR": 1, "BC": 1024 if columns <= WHOLE else 4096})
        if not 1 <= columns <= WHOLE:
            return Choice(loop, {"BR": 1, "BC": 4096}, Schedule(occupancy=2))
        if columns > 1024:
            return Choice(whole, {"BR": 1}, direct(8 if columns <= WHOLE // 2 else 4))
        return Choice(whole, {"BR": 8 if columns <= 256 else 4}, Schedule(occupancy=4))

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        columns = sizes["C"]
        if target == "cpu":
            if 1 <= columns <= 16 * WHOLE:
                yield from choices(whole, "BR=1 BR=4")
            yield from choices(loop, "BR=1,BC=512 BR=1,BC=1024 BR=1,BC=4096 BR=4,BC=1024")
            return
        if 1 <= columns <= WHOLE:
            eight, lasting = occupied(1, 2, 4, tma=False, warps=8), occupied(2, 4, 8, persistent=True)
            one = [*occupied(1, 2, 4, 8, 16, tma=False), *eight, *occupied(2, 4, 8), *lasting]
            yield from choices(whole, "BR=1", *one)
            yield from choices(whole, "BR=2", *occupied(2, 4, 8, tma=False), *eight, *occupied(2, 4), *lasting[:2])
            few = [*occupied(2, 4, tma=False), *occupied(2), *occupied(1, 2, persistent=True)]
            yield from choices(whole, "BR=4 BR=8", *few)
        elif columns <= 4 * WHOLE:
            eight = [Schedule(warps=8), Schedule(warps=8, occupancy=2), Schedule(warps=8, persistent=True)]
            yield from choices(whole, "BR=1", Schedule(), *eight, direct(2))
        usual = [*occupied(2, 4, 8), *occupied(4, persistent=True), direct(4)]
        for size in (1024, 2048, 4096):
            if size < 2 * columns:
                yield from choices(loop, f"BR=1,BC={size}", *usual)

    return Tunable(name, (whole, loop), default, space, exact=("C",))


def is_long(columns: int, target: str) -> bool:
    """Whether the rows of a norm are too long for one tile."""
    return columns > (1 << 16 if target == "cpu" else WHOLE)


def norm_default(whole: Kernel, loop: Kernel, elements: int, sizes: Sizes, target: str) -> Choice:
    """Whole rows, about so many elements unless that leaves too few programs; a loop if a row does not fit."""
    if is_long(sizes["D"], target):
        return Choice(loop, {"BN": 1, "BD": 4096}, Schedule(occupancy=2))
    length, programs = power_of_two(sizes["D"]), 16 if target == "cpu" else FULL
    if target != "cpu" and length >= 2048:
        return Choice(whole, {"BN": 1}, direct(4, 8))
    rows = min(max(elements // length, 1), power_of_two(-(-sizes["N"] // programs)), 64)
    return Choice(whole, {"BN": rows}, Schedule(occupancy=4 if length <= 4096 else 2))


def norm_space(whole: Kernel, loop: Kernel, sizes: Sizes, target: str) -> Iterator[Choice]:
    """One to eight rows for each tile, one program for each tile or as many as the GPU holds, with and without TMA."""
    if is_long(sizes["D"], target):
        yield from choices(loop, "BN=1,BD=1024 BN=1,BD=2048 BN=1,BD=4096 BN=2,BD=2048", *occupied(1, 2, 4))
        return
    plain = [*occupied(1, 2, 4, 8), *occupied(1, 2, 4, persistent=True)]
    few = [*occupied(2, 4, warps=8), *occupied(1, 2, 4, 8, tma=False), *occupied(1, 2, 4, 8, tma=False, warps=8)]
    for rows in (1, 2, 4, 8):
        if rows > 1 and rows * power_of_two(sizes["D"]) > 16384:
            return
        if target == "cpu":
            yield from choices(whole, f"BN={rows}")
        else:
            yield from choices(whole, f"BN={rows}", *plain, *(few if rows <= 2 else ()))


# GEMV: weights are streamed once.

LASTING: Final = Schedule(persistent=True, occupancy=2)
AHEAD: Final = (Schedule(occupancy=2, latency=6), Schedule(persistent=True, latency=8))


def gemv(name: str, lanes: Kernel, rows: Kernel, axis: str = "N", space: Any = None, **more: Any) -> Tunable:
    """Of a matrix with rows N (or another axis) of K columns, and a vector: lanes of tiles, or whole rows in a tile."""
    block = f"B{axis}"

    def default(sizes: Sizes, target: str) -> Choice:
        n, k = sizes[axis], sizes["K"]
        if target == "cpu":
            if 512 <= k <= LONGEST:
                return Choice(rows, {block: rows_per_core(n)})
            return Choice(lanes, {block: 16, "BK": tile_size(k, 512, 32)})
        if 1 <= k <= 8192:
            # Two rows at once, unless that makes so few programs that the last of them run alone.
            return Choice(rows, {block: 2 if k <= 4096 <= n and axis == "N" else 1}, direct(8))
        return Choice(lanes, {block: 2, "BK": tile_size(k, 1024, 32)}, direct(8))

    def usual(sizes: Sizes, target: str) -> Iterator[Choice]:
        if target == "cpu":
            yield from gemv_on_cpu(block, lanes, rows, sizes["K"])
            return
        large = "BN=8,BK=512 BN=16,BK=256 BN=4,BK=1024 BN=8,BK=1024"
        yield from choices(lanes, large, LASTING, Schedule(occupancy=2), *AHEAD)
        yield from choices(lanes, "BN=2,BK=1024 BN=4,BK=1024 BN=2,BK=2048", direct(4), direct(8))
        deep = Schedule(occupancy=4), Schedule(occupancy=4, latency=6)
        yield from choices(lanes, "BN=8,BK=256 BN=4,BK=512 BN=4,BK=256", *deep)
        yield from choices(lanes, "BN=32,BK=128 BN=2,BK=2048", LASTING)
        yield from choices(lanes, "BN=16,BK=512", Schedule(occupancy=2, cluster=2))
        yield from gemv_by_rows(block, rows, sizes["K"])

    return Tunable(name, (lanes, rows), default, space or usual, exact=(axis, "K"), **more)


def rows_per_core(n: int) -> int:
    """Rows of weights for each program of a CPU: what is prefetched at the end of its rows is wasted on others."""
    return max(min(n // 8 // 8 * 8, 256), 16)


def gemv_on_cpu(block: str, lanes: Kernel, rows: Kernel, k: int) -> Iterator[Choice]:
    """What is worth a try on a CPU."""
    yield from choices(lanes, f"{block}=16,BK=512 {block}=8,BK=1024 {block}=4,BK=4096")
    if 1 <= k <= LONGEST:
        yield from choices(rows, " ".join(f"{block}={size}" for size in (4, 8, 16, 32, 64)))


def gemv_by_rows(block: str, kernel: Kernel, k: int) -> Iterator[Choice]:
    """Whole rows on a GPU: so many programs at once that nothing has to be prefetched."""
    for size in (1, 2, 4):
        if k and 2048 <= size * power_of_two(k) <= 16384:
            few = *occupied(4, 8, 16, tma=False), Schedule(occupancy=4), direct(2, 8)
            yield from choices(kernel, f"{block}={size}", *few)


# Linear layers whose weights are unpacked on their way to the tensor cores.

_WIDE: Final = Schedule(group=8, warps=8)
"""For accumulators and operands that are too large for the registers of four warps."""


def linear_default(kernel: Kernel, m: int, n: int, target: str, **constants: int) -> Choice:
    """Tiles that fit the rows, and leave enough programs for a GPU."""
    if target == "cpu":
        return Choice(kernel, {"BM": tile_size(m, 256, 8), "BN": tile_size(n, 64, 16), **constants})
    if m <= 16:
        return Choice(kernel, {"BM": 16, "BN": tile_size(n, 64, 32), **constants}, Schedule(occupancy=4))
    if m <= 64 or n <= 4096:
        tiles = {"BM": tile_size(m, 64, 16), "BN": tile_size(n, 64, 32)}
        return Choice(kernel, {**tiles, **constants}, Schedule(occupancy=2))
    return Choice(kernel, {"BM": 128, "BN": 128, **constants}, _WIDE)


def linear_space(kernel: Kernel, m: int, target: str, constants: str = "") -> Iterator[Choice]:
    """What is worth a try; `constants` are those that all choices share, as `,G=64`."""

    def tried(tiles: str, *schedules: Schedule) -> Iterator[Choice]:
        return choices(kernel, " ".join(each + constants for each in tiles.split()), *schedules)

    if target == "cpu":
        yield from tried("BM=8,BN=64 BM=32,BN=64 BM=64,BN=64 BM=256,BN=64 BM=128,BN=128 BM=256,BN=256")
    elif m <= 16:
        deep = Schedule(occupancy=2, latency=4), Schedule(occupancy=2, latency=6)
        yield from tried("BM=16,BN=32 BM=16,BN=64 BM=16,BN=128", *occupied(2, 4), *deep)
    elif m <= 128:
        few = Schedule(occupancy=2), Schedule(occupancy=2, group=8), Schedule(warps=8)
        yield from tried("BM=32,BN=64 BM=64,BN=64 BM=64,BN=128 BM=32,BN=128", *few)
    else:
        grouped = Schedule(group=8), Schedule(group=8, occupancy=2), _WIDE
        yield from tried("BM=128,BN=128 BM=64,BN=128 BM=128,BN=64", *grouped)
        yield from tried("BM=64,BN=256 BM=128,BN=256", _WIDE)


# GEMM, ranked by an estimate of its time.

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
class GemmTile:
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
        waves = -(-self.programs(sizes) // MULTIPROCESSORS)
        inner = sizes["K"] / self.pieces
        area = self.rows * _padded(self.columns)
        # Small tiles load more for each product.
        rate = 5.9e6 * min(1.0, area / (self.rows + self.columns) / 75)
        moved = 2.0 * (sizes["N"] * sizes["K"] + sizes["M"] * (sizes["N"] + sizes["K"])) / 4.2e6
        busy = min(1.0, self.programs(sizes) / MULTIPROCESSORS + 0.15)
        joined = _JOIN + 8.0 * self.pieces * sizes["M"] * sizes["N"] / 4.2e6 if self.pieces > 1 else 0.0
        return max(waves * 2.0 * area * inner / rate, moved / busy) + joined + 3.0


@dataclass(frozen=True, slots=True)
class GemmVariants:
    """The kernels of one product; the plain one has a constant SK."""

    plain: Kernel
    wide: Kernel
    splits_wide: bool = False
    """Whether the wide one has a constant SK too."""
    swaps: bool = False
    """Whether the plain one has a constant SWAPPED, which makes the weights the left operand."""

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return self.plain, self.wide

    def default(self, sizes: Sizes, target: str) -> Choice:
        """The best by the estimate."""
        if target == "cpu":
            return Choice(self.plain, {f"B{name}": tile_size(sizes[name], 256, 16) for name in "MNK"})
        if max(sizes.values()) <= 128:
            return Choice(self.plain, {f"B{name}": tile_size(sizes[name], 64, 16) for name in "MNK"})
        if self.swaps and sizes["M"] <= 32:
            inner = 256 if sizes["K"] >= 4096 else 128
            size = {"BM": tile_size(sizes["M"], 32, 16), "BN": 64, "BK": tile_size(sizes["K"], inner, 16)}
            return Choice(self.plain, {**size, "SWAPPED": 1}, Schedule(occupancy=2 if inner == 128 else None))
        best = min(self._tiles(sizes), key=lambda tile: (tile.cost(sizes), tile.pieces))
        return next(iter(self._of_tile(best, sizes)))

    def space(self, sizes: Sizes, target: str) -> Iterable[Choice]:
        """What the estimate puts in front, with every schedule that was seen to win somewhere."""
        if target == "cpu":
            return {each.label: each for each in self._cpu_space(sizes)}.values()
        ranked = sorted(self._tiles(sizes), key=lambda tile: tile.cost(sizes))
        whole, shared = ([tile for tile in ranked if (tile.pieces > 1) is split] for split in (False, True))
        near = [tile for tile in whole if tile.cost(sizes) <= 1.6 * whole[0].cost(sizes)]
        split = [tile for tile in shared if tile.cost(sizes) <= 1.2 * whole[0].cost(sizes)]
        return [
            *islice((each for tile in near for each in self._of_tile(tile, sizes)), _SHOWN),
            *islice((each for tile in split for each in islice(self._of_tile(tile, sizes), 2)), _SHOWN // 2),
            *(self._few(sizes) if sizes["M"] <= 64 else ()),
        ]

    def _tiles(self, sizes: Sizes) -> list[GemmTile]:
        wide = [columns for columns in _WIDTHS if sizes["N"] % columns == 0]
        tiles = []
        for rows in _HEIGHTS:
            if rows > max(sizes["M"], 64):
                continue
            for columns in (64, 128, 256, *wide):
                if not 64 * 48 <= rows * columns <= _LARGEST:
                    continue
                tiles += [GemmTile(rows, columns, pieces) for pieces in self._pieces(GemmTile(rows, columns), sizes)]
        return tiles

    def _pieces(self, tile: GemmTile, sizes: Sizes) -> Iterator[int]:
        yield 1
        if tile.is_wide and not self.splits_wide:
            return
        if tile.rows * tile.columns > 128 * 160:  # what follows the join would spill
            return
        for pieces in (2, 3, 4, 5, 6, 8):
            programs = tile.programs(sizes) * pieces
            waves = -(-programs // MULTIPROCESSORS)
            if programs <= 2 * MULTIPROCESSORS and programs >= 0.75 * waves * MULTIPROCESSORS:
                yield pieces

    def _of_tile(self, tile: GemmTile, sizes: Sizes) -> Iterator[Choice]:
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
                yield Choice(self.wide if tile.is_wide else self.plain, {**size, "BK": inner}, schedule)

    def _few(self, sizes: Sizes) -> Iterator[Choice]:
        """Weights as the left operand."""
        if not self.swaps:
            return
        rows = tile_size(sizes["M"], 64, 16)
        for columns, inner in ((64, 128), (64, 256), (128, 128)):
            tiles = -(-sizes["M"] // rows) * -(-sizes["N"] // columns)
            size = {"BM": rows, "BN": columns, "BK": inner, "SWAPPED": 1}
            for occupancy in (None, 2, 4):
                yield Choice(self.plain, size, Schedule(occupancy=occupancy))
            if tiles < MULTIPROCESSORS:
                yield Choice(self.plain, size, Schedule(cluster=2))
            for pieces in (2, 3, 4, 6) if inner == 128 else ():
                if 100 <= tiles * pieces <= 2 * MULTIPROCESSORS:
                    piece = -(-sizes["K"] // (pieces * inner)) * inner
                    yield Choice(self.plain, {**size, "SK": piece}, Schedule(occupancy=2))

    def _cpu_space(self, sizes: Sizes) -> Iterator[Choice]:
        for rows, columns, inner in ((256, 256, 256), (128, 256, 256), (64, 256, 256), (128, 128, 256), (64, 64, 512)):
            fits = {"BM": tile_size(sizes["M"], rows, 16), "BN": tile_size(sizes["N"], columns, 16)}
            yield Choice(self.plain, {**fits, "BK": tile_size(sizes["K"], inner, 16)})


def gemm_on_cpu(kernel: Kernel, sizes: Sizes) -> Choice:
    """Tiles of a CPU for weights by rows: they divide the axes where they can, and leave an even number of programs."""
    rows, inner = tile_size(sizes["M"], 256, 16), sizes["K"]
    depths = [depth for depth in (256, 320, 288, 304, 272, 240, 224, 208, 192, 176, 160) if inner % depth == 0]
    bands = -(-sizes["M"] // rows)
    widths = [width for width in (256, 192, 128, 96, 64) if sizes["N"] % width == 0]
    even = [width for width in widths if (programs := bands * sizes["N"] // width) >= 16 or programs % 2 == 0]
    width = next(iter(even or widths), tile_size(sizes["N"], 256, 16))
    depth = next(iter(depths), tile_size(inner, 256, 16)) if inner else 16
    return Choice(kernel, {"BM": rows, "BN": width, "BK": depth})


def _schedules(tile: GemmTile, sizes: Sizes) -> Iterator[Schedule]:
    area, programs = tile.rows * tile.columns, tile.programs(sizes)
    if area >= 128 * 160:
        plain, lasting = Schedule(group=8, warps=8), Schedule(group=8, warps=8, persistent=True)
        if programs > MULTIPROCESSORS:
            yield from (plain, lasting) if tile.is_wide else (lasting, plain)
            yield Schedule(group=16, warps=8, persistent=not tile.is_wide)
        else:
            yield plain
        if tile.rows == 64:
            yield Schedule(group=8)
        return
    if programs > MULTIPROCESSORS:
        yield Schedule(group=8, persistent=True)
    yield Schedule(group=8)
    yield Schedule(group=8, occupancy=2)
    if area >= 128 * 80:
        yield Schedule(group=8, warps=8)
        if tile.rows == 64:
            # Without it the assembler waits for each product of some of them.
            yield Schedule(group=8, latency=4)
    elif programs <= MULTIPROCESSORS:
        yield Schedule(group=8, latency=8)
    if programs < MULTIPROCESSORS // 2:
        yield Schedule(group=8, cluster=4 if programs * 4 <= 2 * MULTIPROCESSORS else 2)


def _padded(columns: int) -> int:
    """What tensor cores compute for a width: each of its parts is a power of two there."""
    if columns not in _WIDTHS:
        return columns
    rest = columns - _WIDTHS[columns]
    return _WIDTHS[columns] + (1 << (rest - 1).bit_length())


# GEMM with an epilogue, batched or grouped, by rules.

_FEW: Final = 32
"""Up to so many rows, the weights are the better left operand: tensor cores take at least 64 rows of it."""
_GROUPED: Final = Schedule(group=8, occupancy=2), Schedule(group=8), Schedule(group=8, persistent=True)
_EIGHT: Final = Schedule(group=8, warps=8), Schedule(group=8, persistent=True, warps=8)
"""For accumulators that are too large for the registers of four warps."""


@dataclass(frozen=True, slots=True)
class GemmTiles:
    """The tiles of a kernel that computes a GEMM, with an inner loop over BK elements."""

    kernel: Kernel
    rows: str
    """The constant that is the number of rows of a tile."""
    columns: str
    accumulators: int = 1
    """How many tiles of results a program keeps."""
    can_swap: bool = True
    """Whether the kernel has a constant SWAPPED, which makes the weights the left operand."""

    def default(self, rows: int, columns: int, target: str, times: int = 1) -> Choice:
        """The choice for `times` results of so many rows and columns."""
        if target == "cpu":
            # The caches hold these, and small results are still divided among some cores.
            width = 256 if rows * columns >= 1 << 20 else 64
            return self._choice((covering(rows, 16, 64, 128), width, 256))
        if rows <= _FEW:
            tile = covering(rows, 16, 32), 64, 128
            return self._choice(tile, Schedule(occupancy=2), is_swapped=self.can_swap)
        programs = times * -(-rows // 128) * -(-columns // 128)
        if rows <= 64 or programs < MULTIPROCESSORS // 2:
            return self._choice((64, 64, 64), _GROUPED[0])
        if programs < MULTIPROCESSORS:
            return self._choice((64, 128, 64), _GROUPED[0])
        if self.accumulators > 1 or programs >= 12 * MULTIPROCESSORS:
            return self._choice((128, 128, 64), _EIGHT[0])
        return self._choice((128, 128, 64), _GROUPED[2])

    def choose(self, tunable: Tunable, like: Any, **sizes: int) -> Choice:
        """What the tunable chooses for work on arrays like this one; small tiles for f64 on a GPU.

        Tensor cores take no f64 from tiles, and tiles that suit them are far more than registers hold.
        """
        if arrays.element_of(like) is F64 and arrays.target_of(like) != "cpu":
            return self._choice((32, 32, 16))
        return arrays.choose(tunable, like, **sizes)

    def space(self, rows: int, target: str) -> Iterator[Choice]:
        """What is worth a try."""
        if target == "cpu":
            yield from self._choices("16,64,256 16,128,512 64,64,256 64,256,256 128,128,128 128,128,256")
            yield from self._choices("128,256,256 256,256,256")
            return
        if rows <= 2 * _FEW:
            short = "16,64,128 16,64,256 16,128,128 32,64,128 32,128,128 64,64,128"
            yield from self._choices(short, Schedule(), *occupied(2, 4), is_swapped=self.can_swap)
            yield from self._choices("64,64,64 64,128,64", *_GROUPED)
            return
        yield from self._choices("64,64,64 64,128,64 128,64,64", *_GROUPED)
        yield from self._choices("128,128,64", *_EIGHT)
        if self.accumulators == 1:
            yield from self._choices("128,128,64", *_GROUPED)
            yield from self._choices("128,256,64 256,128,64", *_EIGHT)

    def _choices(self, tiles: str, *schedules: Schedule, is_swapped: bool = False) -> Iterator[Choice]:
        for tile, schedule in product(tiles.split(), schedules or (PLAIN,)):
            rows, columns, inner = map(int, tile.split(","))
            yield self._choice((rows, columns, inner), schedule, is_swapped=is_swapped)

    def _choice(self, tile: tuple[int, int, int], schedule: Schedule = PLAIN, *, is_swapped: bool = False) -> Choice:
        constants = dict(zip((self.rows, self.columns, "BK"), tile, strict=True))
        return Choice(self.kernel, constants | ({"SWAPPED": int(is_swapped)} if self.can_swap else {}), schedule)
