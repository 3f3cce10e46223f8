"""What came of a tuning: for each shape the best and the default."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .choices import Choice
from .records import key_of
from .tunables import Sizes


@dataclass(slots=True)
class Result:
    """A shape to tune for, and what came of it."""

    element: str
    sizes: Sizes
    default: Choice
    candidates: Mapping[str, Choice]
    """By label, the default first."""
    problems: dict[str, str] = field(default_factory=dict)
    """Candidates that are wrong, or cannot be launched."""
    best: Choice | None = None
    """None if it is not finished, or cannot be tuned."""
    seconds: float = math.nan
    default_seconds: float = math.nan
    failure: str = ""
    """Why it cannot be tuned."""

    @property
    def key(self) -> tuple[Any, ...]:
        """As that of an entry in a record."""
        return key_of(self.element, self.sizes)

    @property
    def ratio(self) -> float:
        """How many times as fast as the default."""
        return self.default_seconds / self.seconds

    @property
    def shape(self) -> str:
        """`M=512 N=6144 K=2560 bf16`."""
        return " ".join((*(f"{name}={extent}" for name, extent in self.sizes.items()), self.element))


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a tuning."""

    tunable: str
    target: str
    device: str
    results: Sequence[Result]
    path: Path | None = None
    """The file of records, if there is one."""

    @property
    def is_finished(self) -> bool:
        """Whether every shape was settled; if not, the same call goes on."""
        return all(each.best is not None or each.failure for each in self.results)

    def lines(self) -> Iterator[str]:
        """A line for each shape."""
        for each in self.results:
            if each.best is None:
                yield f"{each.shape}: {each.failure or 'not finished'}"
                continue
            ratio = f"{each.ratio:.2f} times as fast as the default, {shown(each.default_seconds)}"
            yield f"{each.shape}: {each.best.label}: {shown(each.seconds)}, {ratio}"


def shown(seconds: float) -> str:
    """A time in the unit that suits it."""
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{seconds * factor:.4g} {unit}"
