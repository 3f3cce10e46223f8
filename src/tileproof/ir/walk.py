"""Visiting and rebuilding IR: the few motions every pass shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from .ops import (
    AnyOp,
    At,
    Block,
    Combiner,
    Fold,
    Gather,
    If,
    Join,
    Parallel,
    RangeLoop,
    Scan,
    TilesLoop,
    While,
    blocks,
    operands,
)
from .types import AnyValue, Tile, Value


def walk(block: Block) -> Iterator[AnyOp]:
    """Every operation of a block in order, each before those of its own blocks."""
    for op in block.ops:
        yield op
        for inner in blocks(op):
            yield from walk(inner)


def uses(block: Block) -> set[AnyValue]:
    """Every value an operation inside the block uses or a block hands on."""
    used: set[AnyValue] = set(block.yields)
    for op in walk(block):
        used.update(operands(op))
        for inner in blocks(op):
            used.update(inner.yields)
    return used


def map_blocks(op: AnyOp, change: Callable[[Block], Block]) -> AnyOp:
    """The operation with each block it holds changed."""
    match op:
        case Parallel() | TilesLoop() | RangeLoop():
            return replace(op, body=change(op.body))
        case Fold() | Scan() | Join():
            return replace(op, combiner=replace(op.combiner, body=change(op.combiner.body)))
        case While():
            return replace(op, test=change(op.test), body=change(op.body))
        case If():
            return replace(op, then=change(op.then), orelse=change(op.orelse))
        case _:
            return op


def substitute(block: Block, values: Mapping[Tile, Tile]) -> Block:
    """The block with each key of `values` replaced at any depth; what defined a key is gone already."""
    ops = tuple(_substitute_op(op, values) for op in block.ops)
    return Block(ops, tuple(values.get(value, value) for value in block.yields))


def _substitute_op(op: AnyOp, values: Mapping[Tile, Tile]) -> AnyOp:
    changes = {field.name: _substituted(getattr(op, field.name), values) for field in fields(op)}
    return replace(op, **changes)


def _substituted(item: Any, values: Mapping[Tile, Tile]) -> Any:
    match item:
        case Value():
            return values.get(item, item)
        case At(index):
            return At(values.get(index, index))
        case Gather(indices):
            return Gather(values.get(indices, indices))
        case Block():
            return substitute(item, values)
        case Combiner():
            return replace(item, body=substitute(item.body, values))
        case tuple():
            return tuple(_substituted(part, values) for part in item)
        case _:
            return item
