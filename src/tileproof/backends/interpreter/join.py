"""The join of a split walker: its pieces leave their values here, and the last to arrive makes the rest go on.

What follows the join knows no piece. It may use what was made before only where all pieces made the same of it. The
verifier sees to that; here the values themselves are compared, unless programs run unwatched and may race.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileproof.backends.points import Place
from tileproof.ir.ops import Join
from tileproof.ir.types import Tile, Walker

from .semantics import Array


@dataclass(frozen=True, slots=True)
class Piece:
    """What a piece leaves at the join."""

    number: int
    operands: list[Array]
    shared: dict[Tile, Array]
    walkers: dict[Walker, Place]


def demand_agreement(pieces: Sequence[Piece], op: Join) -> None:
    """Stops IR that uses what differs between pieces after their join."""
    first, *others = pieces
    for value, array in first.shared.items():
        if not all(_same(array, other.shared[value]) for other in others):
            raise TypeError(f"{value!r} differs between the pieces {op.walker!r} and is used after their join")


def agreed_walkers(pieces: Sequence[Piece], op: Join) -> dict[Walker, Place]:
    """The walkers that are at one place in all pieces."""
    first, *others = pieces
    return {
        walker: place
        for walker, place in first.walkers.items()
        if walker is not op.walker and all(other.walkers.get(walker) == place for other in others)
    }


def _same(left: Array, right: Array) -> bool:
    return left.shape == right.shape and left.tobytes() == right.tobytes()
