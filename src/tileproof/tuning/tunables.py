"""Tunables: pieces of work that several kernels, sizes and schedules can do, and how one of them is chosen.

A choice never changes what comes out beyond rounding: every choice of a tunable takes the same arguments and computes
the same. What was found fastest is kept in records; where none fits, `default` decides from the sizes alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import records
from .choices import Choice
from .work import Sizes, Work

__all__ = ["Sizes", "Tunable"]


@dataclass(frozen=True, slots=True, eq=False)
class Tunable(Work):
    """Work whose way is chosen: what records say is fastest, or the default. What was chosen once is remembered."""

    _chosen: dict[tuple[Any, ...], Choice] = field(default_factory=dict, init=False, repr=False)

    def choose(self, target: str, element: str, sizes: Sizes) -> Choice:
        """The choice for arguments of these sizes and this element type ("bf16") on a target."""
        key = (target, element, *sizes.values())
        found = self._chosen.get(key)
        if found is None:
            found = records.found(self, target, element, sizes) or self.default(sizes, target)
            self._chosen[key] = found
        return found

    def forget(self) -> None:
        """Chooses anew from now on: records may have changed."""
        self._chosen.clear()
