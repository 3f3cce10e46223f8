"""Operations that hold blocks: the parallel space, loops, branches, and what combines values by a function.

A block is a list of operations and the values it hands on (`yields`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .computing import Op
from .types import Tensor, Tile, Walker

if TYPE_CHECKING:
    from .ops import AnyOp


@dataclass(frozen=True, slots=True)
class Block:
    """Operations in order, and the values handed to whoever holds the block."""

    ops: tuple[AnyOp, ...]
    yields: tuple[Tile, ...] = ()


@dataclass(frozen=True, slots=True)
class Combiner:
    """How two values of a kind make one: `body` sees `left` and `right` and yields as many values of the same types."""

    left: tuple[Tile, ...]
    right: tuple[Tile, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Fold(Op):
    """Live elements along `axis`, which is dropped, combined in order; `identities` (scalars) where there are none."""

    results: tuple[Tile, ...]
    operands: tuple[Tile, ...]
    identities: tuple[Tile, ...]
    axis: int
    combiner: Combiner


@dataclass(frozen=True, slots=True)
class Scan(Op):
    """Live elements up to each, along `axis`, combined in order."""

    results: tuple[Tile, ...]
    operands: tuple[Tile, ...]
    axis: int
    combiner: Combiner


@dataclass(frozen=True, slots=True)
class Join(Op):
    """The values of all pieces of a split walker, combined in index order. What follows runs once for all of them."""

    results: tuple[Tile, ...]
    walker: Walker
    operands: tuple[Tile, ...]
    combiner: Combiner


@dataclass(frozen=True, slots=True)
class Segments:
    """A walker of a parallel space whose tiles never cross a border in an `Offsets` tensor; `index` is the segment."""

    walker: Walker
    offsets: Tensor
    index: Tile


@dataclass(frozen=True, slots=True)
class Parallel(Op):
    """The parallel space: `body` runs once for each point, in any order."""

    walkers: tuple[Walker, ...]
    body: Block
    segments: tuple[Segments, ...] = ()


@dataclass(frozen=True, slots=True)
class TilesLoop(Op):
    """A sequential walk along a dimension from `start` (0 if None), clipped at `stop` and at the axis."""

    results: tuple[Tile, ...]
    walker: Walker
    start: Tile | None
    stop: Tile | None
    inits: tuple[Tile, ...]
    carried: tuple[Tile, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class RangeLoop(Op):
    """Python's `range`; a step of 0 is refused by the front end or runs no turn."""

    results: tuple[Tile, ...]
    variable: Tile
    start: Tile
    stop: Tile
    step: Tile
    inits: tuple[Tile, ...]
    carried: tuple[Tile, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class While(Op):
    """`test` yields one bool; while it is true `body` runs. Both see `carried`."""

    results: tuple[Tile, ...]
    inits: tuple[Tile, ...]
    carried: tuple[Tile, ...]
    test: Block
    body: Block


@dataclass(frozen=True, slots=True)
class If(Op):
    results: tuple[Tile, ...]
    condition: Tile
    then: Block
    orelse: Block
