"""Which tensors supply premises: what a kernel does to memory depends on what they hold.

A premise is whatever an index, a guard, a bound of a loop or a check is computed from. A proof takes two loads of one
element as one value, and a check holds for the value it looked at. So a launch may read premises only from memory that
nobody writes meanwhile; where others could, it is given a copy of its own.

The index of `x.get(index, fill)` is no premise where x is only read: it is tested where it is used, and code sees to it
that the test and the access have one value (`from_memory`).

An entry that a kernel stores is no premise where its last operation alone keeps it in range, as a clip to the extent
does, or the choice between two such values: then it is in range whatever is read, and however often.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from tileproof.ir.ops import (
    Along,
    AnyOp,
    At,
    Binary,
    BinaryFn,
    Block,
    Broadcast,
    Cast,
    Check,
    Constant,
    Extents,
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
    Select,
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
from tileproof.ir.types import Access, AnyValue, Content, TensorType
from tileproof.ir.walk import walk
from tileproof.language.dtypes import INDEX

from .mints import mints

_MEMORY = (Load, Get, Store, Update, Check, SplitAt)


def premises_of(kernel: KernelIR) -> frozenset[str]:
    """The names of the tensors whose contents decide which memory a kernel touches."""
    sources: dict[AnyValue, tuple[AnyValue, ...]] = {}
    loaded: dict[AnyValue, AnyValue] = {}
    pending: list[AnyValue] = []
    stored: list[Store | Update] = []
    positions: set[AnyValue] = set()
    for op in walk(kernel.body):
        if isinstance(op, Load | Get):
            loaded[op.result] = op.tensor
        for value, made_of in _defined(op):
            sources[value] = tuple(made_of)
        pending += _decided_by(op)
        if isinstance(op, Store | Update) and isinstance(op.tensor.type.element, Content):
            stored.append(op)  # of which is promised what a position is
        if isinstance(op, Reduce) and op.fn in (ReduceFn.ARGMAX, ReduceFn.ARGMIN):
            positions.add(op.result)  # always that of a live element, whatever the elements are
    made = {value: op for op in walk(kernel.body) for value in results(op)} if stored else {}
    entries = [op.value for op in stored if not _Clipped(kernel, made).is_entry(op)]
    tensors = _reached(pending, sources, loaded, frozenset()) | _reached(entries, sources, loaded, positions)
    # What an index tensor holds is a contract of its own, which every launch tests.
    roots = {_root(tensor, sources) for tensor in loaded.values()}
    tensors |= {root for root in roots if isinstance(root.type, TensorType) and isinstance(root.type.element, Content)}
    return frozenset(tensor.name for tensor in tensors)


def from_memory(kernel: KernelIR) -> frozenset[AnyValue]:
    """The values that depend on what tensors hold. Where memory is shared, code may not read it twice for one of them:
    LLVM, for one, may load again what was loaded."""
    users: dict[AnyValue, list[AnyValue]] = {}
    pending: list[AnyValue] = []
    for op in walk(kernel.body):
        if isinstance(op, Load | Get):
            pending.append(op.result)
        for value, made_of in _defined(op):
            for each in made_of:
                users.setdefault(each, []).append(value)
    found = set[AnyValue]()
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            pending += users.get(value, ())
    return frozenset(found)


class _Clipped:
    """Values that are -1 or positions of a dimension by the operations that made them, whatever those were given."""

    def __init__(self, kernel: KernelIR, made: Mapping[AnyValue, AnyOp]) -> None:
        self.kernel, self.made = kernel, made

    def is_entry(self, op: Store | Update) -> bool:
        """Whether what is stored is such a value, and nothing more was proved of it."""
        element = op.tensor.type.element
        if not isinstance(op, Store) or not isinstance(element, Content) or element.kind != "Index":
            return False
        if not self._is_position(op.value, element.dimension):
            return False
        # Where a condition alone says that the entry is not -1, the proof may have used the condition.
        return not self._may_be_chosen_none(op.value) or mints(self.kernel).get(op.tensor.name) is not False

    def _is_position(self, value: AnyValue, dimension: str) -> bool:
        match self.made.get(value):
            case Broadcast(operand=operand):
                return self._is_position(operand, dimension)
            case Cast(result=result, operand=operand) if result.type.dtype is INDEX:  # exact
                return self._is_position(operand, dimension)
            case Select(yes=yes, no=no):
                return self._is_position(yes, dimension) and self._is_position(no, dimension)
            case Binary(fn=BinaryFn.MIN, left=one, right=other):
                return (self._is_last(other, dimension) and self._is_floored(one)) or (
                    self._is_last(one, dimension) and self._is_floored(other)
                )
            case _:
                return self._number(value) == -1

    def _may_be_chosen_none(self, value: AnyValue) -> bool:
        match self.made.get(value):
            case Cast(operand=operand) | Broadcast(operand=operand):
                return self._may_be_chosen_none(operand)
            case Select():
                return True
            case _:
                return False

    def _is_floored(self, value: AnyValue) -> bool:
        match self.made.get(value):
            case Broadcast(operand=operand):
                return self._is_floored(operand)
            case Binary(fn=BinaryFn.MAX, left=one, right=other):
                floors = self._number(one), self._number(other)
                return any(floor is not None and floor >= -1 for floor in floors)
            case _:
                return False

    def _is_last(self, value: AnyValue, dimension: str) -> bool:
        """Whether it is the extent less one, or less than that; of no elements -1."""
        match self.made.get(value):
            case Broadcast(operand=operand):
                return self._is_last(operand, dimension)
            case Binary(fn=BinaryFn.SUB, left=extent, right=one):
                number, whole = self._number(one), self.made.get(extent)
                return number == 1 and isinstance(whole, Extents) and whole.dimension == dimension
            case _:
                number, length = self._number(value), self.kernel.static.get(dimension)
                return number is not None and isinstance(length, int) and -1 <= number < length

    def _number(self, value: AnyValue) -> int | None:
        match self.made.get(value):
            case Broadcast(operand=operand):
                return self._number(operand)
            case Constant(value=bool()):
                return None
            case Constant(value=int() as number):
                return number
            case _:
                return None


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
        case Load(picks=picks):
            yield from _indices(picks)
        case Get(picks=picks, tensor=tensor) if tensor.type.access is not Access.IN:
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


__all__ = ["from_memory", "premises_of"]
