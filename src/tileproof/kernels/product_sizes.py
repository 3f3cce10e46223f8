"""Tile sizes and schedules of products: the good ones for some numbers of rows and columns, and those worth a try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tileproof import Kernel, Schedule, f64
from tileproof.tuning import Choice, Tunable, choices

from . import arrays
from .arrays import chosen

_PROCESSORS: Final = 132
"""How many programs fill the GPU that defaults are made for, an H200."""
_FEW: Final = 32
"""Up to so many rows, the weights are the better left operand: tensor cores take no less than 64 rows of it."""
_CPU: Final = ("16,64,256", "16,128,512", "64,64,256", "64,256,256", "128,128,128", "128,128,256", "128,256,256",
               "256,256,256")  # fmt: skip
_SHORT: Final = ("16,64,128", "16,64,256", "16,128,128", "32,64,128", "32,128,128", "64,64,128")
_SPREAD: Final = Schedule(), Schedule(occupancy=2), Schedule(occupancy=4)
_GROUPED: Final = Schedule(group=8, occupancy=2), Schedule(group=8), Schedule(group=8, persistent=True)
_WIDE: Final = Schedule(group=8, warps=8), Schedule(group=8, persistent=True, warps=8)
"""For accumulators that are too large for the registers of four warps."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """The tiles of a kernel that makes rows and columns of products, with an inner loop over BK elements."""

    kernel: Kernel
    rows: str
    """The constant that is the number of rows of a tile."""
    columns: str
    accumulators: int = 1
    """How many tiles of results a program keeps."""
    can_swap: bool = True
    """Whether the kernel has a constant SWAPPED, which makes the weights the left operand."""

    def default(self, rows: int, columns: int, target: str, times: int = 1) -> Choice:
        """The choice for `times` products of so many rows and columns."""
        if target == "cpu":
            # The caches hold these, and small products are still divided among some cores.
            width = 256 if rows * columns >= 1 << 20 else 64
            return self._choice(_fitted(rows, 16, 64, 128), width, 256)
        if rows <= _FEW:
            height = _fitted(rows, 16, 32)
            return self._choice(height, 64, 128, Schedule(occupancy=2), is_swapped=self.can_swap)
        programs = times * _parts(rows, 128) * _parts(columns, 128)
        if rows <= 64 or programs < _PROCESSORS // 2:
            return self._choice(64, 64, 64, Schedule(group=8, occupancy=2))
        if programs < _PROCESSORS:
            return self._choice(64, 128, 64, Schedule(group=8, occupancy=2))
        if self.accumulators > 1 or programs >= 12 * _PROCESSORS:
            return self._choice(128, 128, 64, Schedule(group=8, warps=8))
        return self._choice(128, 128, 64, Schedule(group=8, persistent=True))

    def choose(self, tunable: Tunable, like: Any, **sizes: int) -> Choice:
        """What the tunable says for work on arrays like this one; small tiles for f64 on a GPU.

        Tensor cores take no f64 from tiles, and tiles that suit them are far more than registers hold.
        """
        if arrays.element_of(like) is f64 and arrays.target_of(like) != "cpu":
            return self._choice(32, 32, 16)
        return chosen(tunable, like, **sizes)

    def space(self, rows: int, target: str) -> Iterator[Choice]:
        """What is worth a try."""
        if target == "cpu":
            yield from choices(self.kernel, self._written(_CPU))
            return
        if rows <= 2 * _FEW:
            yield from choices(self.kernel, self._written(_SHORT, is_swapped=self.can_swap), *_SPREAD)
            yield from choices(self.kernel, self._written(("64,64,64", "64,128,64")), *_GROUPED)
            return
        yield from choices(self.kernel, self._written(("64,64,64", "64,128,64", "128,64,64")), *_GROUPED)
        yield from choices(self.kernel, self._written(("128,128,64",)), *_WIDE)
        if self.accumulators == 1:
            yield from choices(self.kernel, self._written(("128,128,64",)), *_GROUPED)
            yield from choices(self.kernel, self._written(("128,256,64", "256,128,64")), *_WIDE)

    def _choice(
        self, rows: int, columns: int, inner: int, schedule: Schedule | None = None, is_swapped: bool = False
    ) -> Choice:
        text = self._written((f"{rows},{columns},{inner}",), is_swapped)
        return next(choices(self.kernel, text, schedule or Schedule()))

    def _written(self, sizes: tuple[str, ...], is_swapped: bool = False) -> str:
        """`BM=128,BN=64,BK=64,SWAPPED=0` for each of the sizes."""
        names = (self.rows, self.columns, "BK")
        ends = f",SWAPPED={int(is_swapped)}" if self.can_swap else ""
        return " ".join(
            ",".join(f"{name}={size}" for name, size in zip(names, each.split(","), strict=True)) + ends
            for each in sizes
        )


def _fitted(extent: int, *sizes: int) -> int:
    """The least of the sizes that holds the extent, or the greatest."""
    return next((size for size in sizes if size >= extent), sizes[-1])


def _parts(extent: int, size: int) -> int:
    return -(-extent // size)
