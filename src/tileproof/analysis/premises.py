"""Which tensors supply premises: what a kernel does to memory depends on what they hold.

A premise is whatever an index, a guard, a bound of a loop or a check is computed from. A proof takes two loads of one
element as one value, and a check holds for the value it looked at. So a launch may read premises only from memory that
nobody writes meanwhile; where others could, it is given a copy of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from tileproof.ir.ops import (
    Along,
    AnyOp,
    At,
    Block,
    Check,
    Fold,
    Gather,
    Get,
    If,
    Join,
    KernelIR,
    Load,
    Parallel,
    Pick,
    RangeLoop,
    Reduce,
    ReduceFn,
    Require,
    Scan,
    Shift,
    SplitAt,
    Store,
    TilesLoop,
    Update,
    While,
    blocks,
    operands,
    results,
)
from tileproof.ir.types import AnyValue, Content, TensorType
from tileproof.ir.walk import walk

_MEMORY = (Load, Get, Store, Update, Check, SplitAt)


def premises_of(kernel: KernelIR) -> frozenset[str]:
    """The names of the tensors whose contents decide which memory a kernel touches."""
    sources: dict[AnyValue, tuple[AnyValue, ...]] = {}
    loaded: dict[AnyValue, AnyValue] = {}
    pending: list[AnyValue] = []
    entries: list[AnyValue] = []
    positions: set[AnyValue] = set()
    for op in walk(kernel.body):
        if isinstance(op, Load | Get):
            loaded[op.result] = op.tensor
        for value, made_of in _defined(op):
            sources[value] = tuple(made_of)
        pending += _decided_by(op)
        if isinstance(op, Store | Update) and isinstance(op.tensor.type.element, Content):
            entries.append(op.value)  # of which is promised what a position is
        if isinstance(op, Reduce) and op.fn in (ReduceFn.ARGMAX, ReduceFn.ARGMIN):
            positions.add(op.result)  # always that of a live element, whatever the elements are
    tensors = _reached(pending, sources, loaded, frozenset()) | _reached(entries, sources, loaded, positions)
    return frozenset(tensor.name for tensor in tensors)


def _reached(
    values: Iterable[AnyValue], sources: Mapping[AnyValue, Sequence[AnyValue]], loaded: Mapping[AnyValue, AnyValue],
    stops: Set[AnyValue],
) -> set[AnyValue]:  # fmt: skip
    """The parameters from which some values are computed, not looking beyond `stops`."""
    pending, found, seen = list(values), set[AnyValue](), set(stops)
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value.type, TensorType):
            found.add(_root(value, sources))
        elif value in loaded:
            found.add(_root(loaded[value], sources))
        else:
            # Of a tensor only its extents are used here.
            pending += (each for each in sources.get(value, ()) if not isinstance(each.type, TensorType))
    return found


def _defined(op: AnyOp) -> Iterator[tuple[AnyValue, Iterable[AnyValue]]]:
    """The values that an operation defines, each with those that it depends on."""
    match op:
        case Parallel(segments=segments):
            for segment in segments:
                yield segment.walker, ()
                yield segment.index, ()
        case TilesLoop() | RangeLoop():
            step = (op.step,) if isinstance(op, RangeLoop) else ()
            ends = (*(each for each in (op.start, op.stop) if each is not None), *step)
            variable: AnyValue = op.variable if isinstance(op, RangeLoop) else op.walker
            yield variable, ends
            for result, carried, init, last in zip(op.results, op.carried, op.inits, op.body.yields, strict=True):
                yield carried, (init, last)
                yield result, (init, last, *ends)
        case While():
            for result, carried, init, last in zip(op.results, op.carried, op.inits, op.body.yields, strict=True):
                yield carried, (init, last)
                yield result, (init, last, *op.test.yields)
        case If():
            for made, one, other in zip(op.results, op.then.yields, op.orelse.yields, strict=True):
                yield made, (op.condition, one, other)
        case _:
            made_of = (*operands(op), *(value for block in blocks(op) for value in block.yields))
            for value in results(op):
                yield value, made_of
            if isinstance(op, Fold | Scan | Join):
                for value in (*op.combiner.left, *op.combiner.right):
                    yield value, made_of


def _root(tensor: AnyValue, sources: Mapping[AnyValue, Sequence[AnyValue]]) -> AnyValue:
    """The parameter that a view belongs to."""
    while tensor in sources:
        tensor = next(each for each in sources[tensor] if isinstance(each.type, TensorType))
    return tensor


def _decided_by(op: AnyOp) -> Iterator[AnyValue]:
    """The values by which an operation decides what memory is touched, and the tensors by whose contents it does."""
    match op:
        case Load(picks=picks) | Get(picks=picks):
            yield from _indices(picks)
        case Store(picks=picks, guard=guard) | Update(picks=picks, guard=guard):
            yield from _indices(picks)
            if guard is not None:
                yield guard
        case Check() | Require():
            yield from operands(op)
        case SplitAt(at=at):
            yield at
        case Shift(by=by):
            yield by
        case Parallel(segments=segments):
            yield from (segment.offsets for segment in segments)
        case If(condition=condition) if any(map(_touches, blocks(op))):
            yield condition
        case TilesLoop(start=start, stop=stop, body=body) if _touches(body):
            yield from (bound for bound in (start, stop) if bound is not None)
        case RangeLoop(start=start, stop=stop, step=step, body=body) if _touches(body):
            yield from (start, stop, step)
        case While(test=test, body=body) if _touches(body) or _touches(test):
            yield from test.yields
        case _:
            pass


def _indices(picks: Sequence[Pick]) -> Iterator[AnyValue]:
    for pick in picks:
        match pick:
            case Along(value) | At(value) | Gather(value):
                yield value
            case _:
                pass


def _touches(block: Block) -> bool:
    return any(isinstance(op, _MEMORY) for op in walk(block))


__all__ = ["premises_of"]
