"""The join of a split walker: its pieces leave their values here, and the last to arrive makes the rest go on.

What follows the join knows no piece. It may use what was made before only where all pieces made the same of it. The
verifier sees to that; here the values themselves are compared, unless programs run unwatched and may race.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileproof.ir.ops import Block, Join, Parallel, results
from tileproof.ir.types import Tile, TileType, Value, Walker
from tileproof.ir.walk import uses

from .points import Place
from .semantics import Array


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a parallel space, cut at its join."""

    before: Block
    join: Join | None
    after: Block
    shared: tuple[Tile, ...]
    """The values made before the join that are used by what comes after it, or by its combiner."""


def cut(space: Parallel) -> Body:
    """Where the body of a space is joined, if it is."""
    ops = space.body.ops
    for number, op in enumerate(ops):
        if isinstance(op, Join):
            before, after = Block(ops[:number]), Block(ops[number + 1 :])
            used = uses(after) | uses(op.combiner.body)
            shared = []
            for value in (result for earlier in before.ops for result in results(earlier)):
                match value:
                    case Value(type=TileType()) as tile if tile in used:
                        shared.append(tile)
            return Body(before, op, after, tuple(shared))
    return Body(space.body, None, Block(()), ())


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
