"""The body of a parallel space, split at its join: what each piece runs, and what runs once for all pieces."""

from __future__ import annotations

from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.ir import ops
from tileproof.ir.types import AnyValue, Tile, TileType, Value
from tileproof.ir.walk import map_blocks, uses, walkers


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a parallel space, split at its join."""

    before: ops.Block
    join: ops.Join | None
    after: ops.Block
    shared: tuple[Tile, ...]
    """The values made before the join that are used by what comes after it, or by its combiner."""


def split_at_join(space: ops.Parallel) -> Body:
    """The body of a space before and after its join; all of it is before if there is none."""
    body = space.body.ops
    for number, op in enumerate(body):
        if isinstance(op, ops.Join):
            before, after = ops.Block(body[:number]), ops.Block(body[number + 1 :])
            used = uses(after) | uses(op.combiner.body)
            shared = []
            for value in (result for earlier in before.ops for result in ops.results(earlier)):
                match value:
                    case Value(type=TileType()) as tile if tile in used:
                        shared.append(tile)
            return Body(before, op, after, tuple(shared))
    return Body(space.body, None, ops.Block(()), ())


def recomputed(before: ops.Block, *used: ops.Block) -> ops.Block:
    """The operations of `before` that blocks after the join use, to be run again, without stores."""
    wanted: set[AnyValue] = set().union(*map(uses, used))
    kept: list[ops.AnyOp] = []
    for op in reversed(before.ops):
        if not wanted.isdisjoint(ops.results(op)):
            op = _without_effects(op)
            kept.append(op)
            wanted.update(ops.operands(op), *map(uses, ops.blocks(op)))
    return ops.Block(tuple(reversed(kept)))


def _without_effects(op: ops.AnyOp) -> ops.AnyOp:
    def cleaned(block: ops.Block) -> ops.Block:
        kept = (inner for inner in block.ops if not isinstance(inner, ops.Store | ops.Update | ops.Print))
        return ops.Block(tuple(map(_without_effects, kept)), block.yields)

    return map_blocks(op, cleaned)


def tile_sizes(kernel: ops.KernelIR) -> tuple[tuple[str, int], ...]:
    """Every dimension that is walked by tiles of more than one element, and their size."""
    types = [walker.type for walker in walkers(kernel.body)]
    return tuple(dict.fromkeys((of.dimension, of.size) for of in types if isinstance(of.size, int) and of.size > 1))
