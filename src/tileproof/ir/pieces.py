"""What differs between the pieces of a split walker: the values that a join must combine before they can be used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .ops import AnyOp, Block, Fold, Get, If, Load, RangeLoop, Scan, TilesLoop, While, operands, results
from .types import Access, AnyValue, TileType, Walker, WalkerTag
from .walk import walk


def of_one_piece(ops: Sequence[AnyOp], piece: Walker) -> set[AnyValue]:
    """The walker `piece` and every value of `ops`, which stand before the join, that may differ between pieces.

    It depends on the piece, has its tag, or was read from memory that programs write.
    """
    found: set[AnyValue] = {piece}
    before = 0
    while len(found) != before:
        before = len(found)
        for op in walk(Block(tuple(ops))):
            for value, sources in _sources(op):
                if not found.isdisjoint(sources) or has_tag_in(value, found) or _reads_written(op):
                    found.add(value)
    return found


def _sources(op: AnyOp) -> Iterator[tuple[AnyValue, tuple[AnyValue, ...]]]:
    """Each value an operation defines, for what follows or for its blocks, with the values it depends on."""
    match op:
        case TilesLoop() | RangeLoop() | While():
            yield from _loop_sources(op)
        case If(condition=condition):
            for result, *ways in zip(op.results, op.then.yields, op.orelse.yields, strict=True):
                yield result, (condition, *ways)
        case Fold(combiner=combiner) | Scan(combiner=combiner):
            given = operands(op)
            for made in (*combiner.left, *combiner.right, *op.results):
                yield made, (*given, *combiner.body.yields)
        case _:
            given = operands(op)
            for value in results(op):
                yield value, given


def _loop_sources(op: TilesLoop | RangeLoop | While) -> Iterator[tuple[AnyValue, tuple[AnyValue, ...]]]:
    """How often a loop turns decides what it makes, so its bounds or its test are a source of every value."""
    turns = _turns(op)
    match op:
        case TilesLoop(walker=walker):
            yield walker, turns
        case RangeLoop(variable=variable):
            yield variable, turns
        case While():
            pass
    for carried, result, init, handed_on in zip(op.carried, op.results, op.inits, op.body.yields, strict=True):
        yield carried, (*turns, init, handed_on)
        yield result, (*turns, init, handed_on)


def _turns(op: TilesLoop | RangeLoop | While) -> tuple[AnyValue, ...]:
    match op:
        case TilesLoop(start=start, stop=stop):
            return tuple(bound for bound in (start, stop) if bound is not None)
        case RangeLoop(start=start, stop=stop, step=step):
            return (start, stop, step)
        case While(test=Block(yields=yields)):
            return yields


def _reads_written(op: AnyOp) -> bool:
    return isinstance(op, Load | Get) and op.tensor.type.access is not Access.IN


def has_tag_in(value: AnyValue, walkers: set[AnyValue]) -> bool:
    """Whether an axis of a tile is tagged by one of the walkers."""
    if not isinstance(value.type, TileType):
        return False
    tags = (axis.tag for axis in value.type.axes)
    return any(isinstance(tag, WalkerTag) and tag.walker in walkers for tag in tags)
