"""Where trials run: arrays with fresh contents, comparisons, and times with cold caches. This one is the CPU."""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tileproof.backends.cpu.target import host
from tileproof.backends.cpu.threads import threads
from tileproof.language.dtypes import by_storage

from .inputs import Argument, numbers
from .provenance import device_name

FEWEST: Final = 5
"""Launches that make a time, at least."""
_PIECE: Final = 1 << 20
_PHYSICAL: Final = ("SC_PHYS_PAGES", "SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Difference:
    """How far an array is from another."""

    worst: float
    """The greatest difference of two finite elements."""
    top: float
    """The greatest magnitude in the other."""
    gap: float
    """The root of the mean square of differences."""
    size: float
    """The same of the other's elements."""
    wrong: int
    """Elements that are not finite and not the same; of whole numbers, those that differ."""

    @staticmethod
    def of(worst: float, top: float, gaps: float, sizes: float, wrong: int, count: int) -> Difference:
        """From sums of squares over `count` elements."""
        every = max(count, 1)
        return Difference(worst, top, math.sqrt(gaps / every), math.sqrt(sizes / every), wrong)


class Place(ABC):
    """A machine that trials run on."""

    target: str
    """As tunables know it: "cpu", or an architecture."""
    name: str
    """As it is sold."""
    units: int
    """How many programs it runs side by side at least: threads, or multiprocessors."""

    @abstractmethod
    def make(self, argument: Argument, rng: np.random.Generator) -> Any:
        """An array with fresh contents."""

    @abstractmethod
    def empty(self, argument: Argument) -> Any:
        """An array that is to be written."""

    @abstractmethod
    def bring(self, array: np.ndarray[Any, Any]) -> Any:
        """An array of the host, here."""

    @abstractmethod
    def copy(self, to: Any, source: Any) -> None:
        """Copies all elements."""

    def wait(self) -> None:
        """Until all that was given is done: only then may the host write."""
        return

    @abstractmethod
    def poison(self, array: Any, byte: int) -> None:
        """Fills an array with one byte: 0xFF makes every float NaN."""

    @abstractmethod
    def compare(self, found: Any, expected: Any) -> Difference:
        """How far an array is from what is expected."""

    @abstractmethod
    def times(
        self, launch: Callable[[], object], before: Callable[[], object], seconds: float, hopeless: float = math.inf
    ) -> list[float]:
        """Seconds of each launch, for so long and at least `FEWEST` times, with cold caches. `before` is not timed.
        Ends early where launches take longer than `hopeless`."""

    @property
    @abstractmethod
    def free_bytes(self) -> int:
        """Memory for arguments."""


class CpuPlace(Place):
    """The CPU, with arrays of numpy."""

    def __init__(self) -> None:
        self.target = "cpu"
        self.name = device_name("cpu")
        self.units = threads()
        self._cache = host().caches.l3
        self._flushed: np.ndarray[Any, Any] | None = None

    def make(self, argument: Argument, rng: np.random.Generator) -> Any:
        return numbers(rng, argument)

    def empty(self, argument: Argument) -> Any:
        return np.empty(argument.shape, argument.storage)

    def bring(self, array: np.ndarray[Any, Any]) -> Any:
        return array

    def copy(self, to: Any, source: Any) -> None:
        np.copyto(to, source)

    def poison(self, array: Any, byte: int) -> None:
        array.reshape(-1).view(np.uint8)[...] = byte

    def compare(self, found: Any, expected: Any) -> Difference:
        is_float = by_storage()[expected.dtype].is_float
        one, other = found.reshape(-1), expected.reshape(-1)
        if not is_float:
            kind = f"u{expected.dtype.itemsize}"  # a poisoned bool is neither True nor False
            return Difference.of(0.0, 0.0, 0.0, 0.0, int((one.view(kind) != other.view(kind)).sum()), one.size)
        worst = top = gaps = sizes = 0.0
        wrong = 0
        for start in range(0, one.size, _PIECE):
            mine = one[start : start + _PIECE].astype(np.float64)
            theirs = other[start : start + _PIECE].astype(np.float64)
            is_finite = np.isfinite(mine) & np.isfinite(theirs)
            wrong += int((~is_finite & (mine != theirs)).sum())
            gap, size = np.abs(mine[is_finite] - theirs[is_finite]), np.abs(theirs[is_finite])
            worst, top = max(worst, float(gap.max(initial=0.0))), max(top, float(size.max(initial=0.0)))
            gaps, sizes = gaps + float((gap * gap).sum()), sizes + float((size * size).sum())
        return Difference.of(worst, top, gaps, sizes, wrong, one.size)

    def times(
        self, launch: Callable[[], object], before: Callable[[], object], seconds: float, hopeless: float = math.inf
    ) -> list[float]:
        taken: list[float] = []
        end = time.perf_counter() + seconds
        while len(taken) < FEWEST or time.perf_counter() < end:
            before()
            self._flush()
            began = time.perf_counter()
            launch()
            taken.append(time.perf_counter() - began)
            if len(taken) >= 2 and min(taken) > hopeless:
                break
        return taken

    def _flush(self) -> None:
        """Leaves nothing of the arguments in the caches."""
        if self._flushed is None:
            self._flushed = np.zeros(max(2 * self._cache, 1 << 20), np.uint8)
        self._flushed += 1

    @property
    def free_bytes(self) -> int:
        try:
            return os.sysconf(_PHYSICAL[0]) * os.sysconf(_PHYSICAL[1]) // 2
        except (OSError, ValueError):
            return 1 << 31
