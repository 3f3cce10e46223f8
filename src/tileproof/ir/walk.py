"""Traversal and rewriting of IR, as every pass needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from . import ops
from .types import AnyValue, Value, Walker


def walk(block: ops.Block) -> Iterator[ops.AnyOp]:
    """Every operation of a block in order, each before those of its own blocks."""
    for op in block.ops:
        yield op
        for inner in ops.blocks(op):
            yield from walk(inner)


def walkers(block: ops.Block) -> Iterator[Walker]:
    """Every walker of a parallel space or of a loop over tiles."""
    for op in walk(block):
        if isinstance(op, ops.Parallel):
            yield from op.walkers
        elif isinstance(op, ops.TilesLoop):
            yield op.walker


def uses(block: ops.Block) -> set[AnyValue]:
    """Every value that an operation of the block uses or that a block in it yields."""
    used: set[AnyValue] = set(block.yields)
    for op in walk(block):
        used.update(ops.operands(op))
        for inner in ops.blocks(op):
            used.update(inner.yields)
    return used


def dataflow(op: ops.AnyOp) -> Iterator[tuple[AnyValue, tuple[AnyValue, ...]]]:
    """Each value that an operation defines, for its blocks or for what follows, and the values it is computed from.

    The result of a loop also depends on what decides the number of iterations; a carried value does not.
    """
    match op:
        case ops.Parallel(segments=segments):
            for walker in op.walkers:
                yield walker, ()
            for segment in segments:
                yield segment.index, ()
        case ops.TilesLoop() | ops.RangeLoop() | ops.While():
            bounds = _loop_bounds(op)
            if not isinstance(op, ops.While):
                yield (op.walker if isinstance(op, ops.TilesLoop) else op.variable), bounds
            for result, carried, init, last in zip(op.results, op.carried, op.inits, op.body.yields, strict=True):
                yield carried, (init, last)
                yield result, (init, last, *bounds)
        case ops.If(condition=condition):
            for result, *branches in zip(op.results, op.then.yields, op.orelse.yields, strict=True):
                yield result, (condition, *branches)
        case _:
            sources = (*ops.operands(op), *(value for block in ops.blocks(op) for value in block.yields))
            combiner = (*op.combiner.left, *op.combiner.right) if isinstance(op, ops.Fold | ops.Scan | ops.Join) else ()
            for value in (*ops.results(op), *combiner):
                yield value, sources


def _loop_bounds(op: ops.TilesLoop | ops.RangeLoop | ops.While) -> tuple[AnyValue, ...]:
    match op:
        case ops.TilesLoop(start=start, stop=stop):
            return tuple(bound for bound in (start, stop) if bound is not None)
        case ops.RangeLoop(start=start, stop=stop, step=step):
            return (start, stop, step)
        case ops.While(test=test):
            return test.yields


def map_blocks(op: ops.AnyOp, change: Callable[[ops.Block], ops.Block]) -> ops.AnyOp:
    """The operation with `change` applied to each of its blocks."""
    match op:
        case ops.Parallel() | ops.TilesLoop() | ops.RangeLoop():
            return replace(op, body=change(op.body))
        case ops.Fold() | ops.Scan() | ops.Join():
            return replace(op, combiner=replace(op.combiner, body=change(op.combiner.body)))
        case ops.While():
            return replace(op, test=change(op.test), body=change(op.body))
        case ops.If():
            return replace(op, then=change(op.then), orelse=change(op.orelse))
        case _:
            return op


def substitute(block: ops.Block, values: Mapping[Any, Any]) -> ops.Block:
    """The block with each value that is a key of `values` replaced, at any depth. Nothing in it defines a key."""
    kept = tuple(substitute_op(op, values) for op in block.ops)
    return ops.Block(kept, tuple(values.get(value, value) for value in block.yields))


def substitute_op(op: ops.AnyOp, values: Mapping[Any, Any]) -> ops.AnyOp:
    """The operation with each value that is a key of `values` replaced: operands, results and blocks."""
    changes = {field.name: _substituted(getattr(op, field.name), values) for field in fields(op)}
    return replace(op, **changes)


def _substituted(item: Any, values: Mapping[Any, Any]) -> Any:
    match item:
        case Value():
            return values.get(item, item)
        case ops.At(index):
            return ops.At(values.get(index, index))
        case ops.Gather(indices):
            return ops.Gather(values.get(indices, indices))
        case ops.Block():
            return substitute(item, values)
        case ops.Combiner():
            return replace(item, body=substitute(item.body, values))
        case tuple():
            return tuple(_substituted(part, values) for part in item)
        case _:
            return item
