"""What came of a tuning: for each shape the best, the default, and how near the machine's limit that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .choices import Choice

_HEADS: Final = ("shape", "best", "time", "default", "ratio", "tried", "rate", "limit")


@dataclass(frozen=True, slots=True)
class Peak:
    """What a datasheet allows in a second."""

    bytes: float
    operations: float
    """On bf16, dense."""


PEAKS: Final = {"H200": Peak(4.8e12, 989e12), "H100": Peak(3.35e12, 989e12), "A100": Peak(2.0e12, 312e12)}
"""By what the name of a GPU has in it."""
_OPERATIONS: Final = {"bf16": 1.0, "f16": 1.0, "f8e4m3": 2.0, "f8e5m2": 2.0, "i8": 2.0}
"""How many times as many operations as on bf16."""


@dataclass(frozen=True, slots=True)
class Result:
    """What was found for one shape."""

    element: str
    sizes: Mapping[str, int]
    candidates: int
    best: Choice | None = None
    """None if it is not finished, or cannot be tuned."""
    seconds: float = math.nan
    default_seconds: float = math.nan
    struck: Mapping[str, str] = field(default_factory=dict)
    """Candidates that were not tried, and why."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Candidates that were tried and are wrong, or cannot be launched."""
    failure: str = ""
    """Why there is no best."""
    operations: float | None = None
    bytes: int = 0

    @property
    def ratio(self) -> float:
        """How many times as fast as the default."""
        return self.default_seconds / self.seconds

    @property
    def shape(self) -> str:
        """`M=512 N=6144 K=2560 bf16`."""
        return " ".join((*(f"{name}={extent}" for name, extent in self.sizes.items()), self.element))

    def share(self, device: str) -> float | None:
        """How much of the datasheet's limit is reached; None where that is not known."""
        peak = next((peak for name, peak in PEAKS.items() if name in device), None)
        if peak is None or self.best is None:
            return None
        least = self.bytes / peak.bytes
        if self.operations is not None and self.element in _OPERATIONS:
            least = max(least, self.operations / (peak.operations * _OPERATIONS[self.element]))
        return least / self.seconds


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a tuning."""

    tunable: str
    target: str
    device: str
    results: Sequence[Result]
    is_finished: bool
    """Whether every shape was settled; if not, the same call with the same log goes on."""
    path: Path | None = None
    """The file of records, if one was written."""

    def lines(self) -> Iterator[str]:
        """A table for people."""
        rows = [_HEADS, *(self._row(each) for each in self.results)]
        widths = [max(len(row[place]) for row in rows) for place in range(len(_HEADS))]
        for row in rows:
            cells = (
                f"{cell:<{width}}" if place < 2 else f"{cell:>{width}}"
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            yield "  ".join(cells).rstrip()

    def _row(self, result: Result) -> tuple[str, ...]:
        tried = f"{result.candidates - len(result.struck)}/{result.candidates}"
        if result.best is None:
            return (result.shape, result.failure or "not finished", "-", "-", "-", tried, "-", "-")
        share = result.share(self.device)
        if result.operations is not None:
            rate = f"{result.operations / result.seconds / 1e12:.4g} TFLOP/s"
        else:
            rate = f"{result.bytes / result.seconds / 1e9:.4g} GB/s"
        return (
            result.shape, result.best.label, shown(result.seconds), shown(result.default_seconds),
            f"{result.ratio:.2f}", tried, rate, "-" if share is None else f"{share:.0%}",
        )  # fmt: skip


def shown(seconds: float) -> str:
    """A time in the unit that suits it."""
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{seconds * factor:.4g} {unit}"
