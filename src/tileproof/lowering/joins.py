"""The body of a parallel space, cut at its join: what each piece does, and what is done once for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from tileproof.diagnostics.records import dataclass
from tileproof.ir.ops import AnyOp, Block, Join, KernelIR, Parallel, Print, Store, TilesLoop, Update, operands, results
from tileproof.ir.types import AnyValue, Tile, TileType, Value
from tileproof.ir.walk import map_blocks, uses, walk


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


def again(before: Block, *used: Block) -> Block:
    """The operations of `before` that what comes after it needs, done once more and without writing anything."""
    wanted: set[AnyValue] = set().union(*map(uses, used))
    kept: list[AnyOp] = []
    for op in reversed(before.ops):
        if not wanted.isdisjoint(results(op)):
            op = _without_effects(op)
            kept.append(op)
            wanted.update(operands(op), *map(uses, _blocks(op)))
    return Block(tuple(reversed(kept)))


def _blocks(op: AnyOp) -> Sequence[Block]:
    found: list[Block] = []

    def note(block: Block) -> Block:
        found.append(block)
        return block

    map_blocks(op, note)
    return found


def _without_effects(op: AnyOp) -> AnyOp:
    def cleaned(block: Block) -> Block:
        kept = (inner for inner in block.ops if not isinstance(inner, Store | Update | Print))
        return Block(tuple(map(_without_effects, kept)), block.yields)

    return map_blocks(op, cleaned)


def walks(kernel: KernelIR) -> tuple[tuple[str, int], ...]:
    """Every dimension that is walked by tiles of more than one element, and their size."""
    found: dict[tuple[str, int], None] = {}
    for op in walk(kernel.body):
        walkers = op.walkers if isinstance(op, Parallel) else (op.walker,) if isinstance(op, TilesLoop) else ()
        for walker in walkers:
            of = walker.type
            if isinstance(of.size, int) and of.size > 1:
                found[of.dimension, of.size] = None
    return tuple(found)
