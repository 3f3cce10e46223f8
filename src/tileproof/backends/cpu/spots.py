"""Places in a tile at which elements are asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .emission import Operand


@dataclass(frozen=True, slots=True)
class Spot:
    """A coordinate for each axis. Along axis `lane` it stands for `lanes` neighbours; without one, for one element.

    Elements that do not exist are never touched: where `mask` (lane by lane) or `when` (for all) is false, what is
    asked for may be anything.
    """

    coords: tuple[Operand, ...]
    lane: int | None = None
    lanes: int = 1
    mask: Operand | None = None
    when: Operand | None = None

    def moved(self, coords: tuple[Operand, ...], lane: int | None) -> Spot:
        """The same elements in a tile with other axes; a single one if it has no axis for the lanes."""
        if lane is None:
            return Spot(coords, when=self.when)
        return replace(self, coords=coords, lane=lane)
