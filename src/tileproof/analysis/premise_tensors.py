"""Premises: the tensors whose contents decide which memory a kernel accesses.

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

from tileproof.ir import ops
from tileproof.ir.types import Access, AnyValue, Content, TensorType
from tileproof.ir.walk import dataflow, walk
from tileproof.language.dtypes import INDEX

from .index_entries import proved_entries

_MEMORY = (ops.Load, ops.Get, ops.Store, ops.Update, ops.Check, ops.SplitAt)


def premises_of(kernel: ops.KernelIR) -> frozenset[str]:
    """The names of the tensors whose contents decide which memory a kernel touches."""
    sources: dict[AnyValue, tuple[AnyValue, ...]] = {}
    loaded: dict[AnyValue, AnyValue] = {}
    pending: list[AnyValue] = []
    stored: list[ops.Store | ops.Update] = []
    positions: set[AnyValue] = set()
    for op in walk(kernel.body):
        if isinstance(op, ops.Load | ops.Get):
            loaded[op.result] = op.tensor
        for value, made_of in dataflow(op):
            sources[value] = tuple(made_of)
        pending += _decided_by(op)
        if isinstance(op, ops.Store | ops.Update) and isinstance(op.tensor.type.element, Content):
            stored.append(op)  # of which is promised what a position is
        if isinstance(op, ops.Reduce) and op.fn in (ops.ReduceFn.ARGMAX, ops.ReduceFn.ARGMIN):
            positions.add(op.result)  # always that of a live element, whatever the elements are
    makers = {value: op for op in walk(kernel.body) for value in ops.results(op)} if stored else {}
    entries = [op.value for op in stored if not _Clipped(kernel, makers).is_entry(op)]
    tensors = _reached(pending, sources, loaded, frozenset()) | _reached(entries, sources, loaded, positions)
    # What an index tensor holds is a contract of its own, which every launch tests.
    roots = {_root(tensor, sources) for tensor in loaded.values()}
    tensors |= {root for root in roots if isinstance(root.type, TensorType) and isinstance(root.type.element, Content)}
    return frozenset(tensor.name for tensor in tensors)


def from_memory(kernel: ops.KernelIR) -> frozenset[AnyValue]:
    """The values that depend on what tensors hold. Where memory is shared, code may not read it twice for one of them:
    LLVM, for one, may load again what was loaded."""
    users: dict[AnyValue, list[AnyValue]] = {}
    pending: list[AnyValue] = []
    for op in walk(kernel.body):
        if isinstance(op, ops.Load | ops.Get):
            pending.append(op.result)
        for value, made_of in dataflow(op):
            for source in made_of:
                users.setdefault(source, []).append(value)
    dependent = set[AnyValue]()
    while pending:
        value = pending.pop()
        if value not in dependent:
            dependent.add(value)
            pending += users.get(value, ())
    return frozenset(dependent)


class _Clipped:
    """Values that are -1 or positions of a dimension by the operations that made them, whatever those were given."""

    def __init__(self, kernel: ops.KernelIR, makers: Mapping[AnyValue, ops.AnyOp]) -> None:
        self.kernel, self.makers = kernel, makers

    def is_entry(self, op: ops.Store | ops.Update) -> bool:
        """Whether what is stored is such a value, and nothing more was proved of it."""
        element = op.tensor.type.element
        if not isinstance(op, ops.Store) or not isinstance(element, Content) or element.kind != "Index":
            return False
        if not self._is_position(op.value, element.dimension):
            return False
        # Where a condition alone says that the entry is not -1, the proof may have used the condition.
        return not self._may_be_chosen_none(op.value) or proved_entries(self.kernel).get(op.tensor.name) is not False

    def _is_position(self, value: AnyValue, dimension: str) -> bool:
        match self.makers.get(value):
            case ops.Broadcast(operand=operand):
                return self._is_position(operand, dimension)
            case ops.Cast(result=result, operand=operand) if result.type.dtype is INDEX:  # exact
                return self._is_position(operand, dimension)
            case ops.Select(yes=yes, no=no):
                return self._is_position(yes, dimension) and self._is_position(no, dimension)
            case ops.Binary(fn=ops.BinaryFn.MIN, left=one, right=other):
                return (self._is_last(other, dimension) and self._is_floored(one)) or (
                    self._is_last(one, dimension) and self._is_floored(other)
                )
            case _:
                return self._number(value) == -1

    def _may_be_chosen_none(self, value: AnyValue) -> bool:
        match self.makers.get(value):
            case ops.Cast(operand=operand) | ops.Broadcast(operand=operand):
                return self._may_be_chosen_none(operand)
            case ops.Select():
                return True
            case _:
                return False

    def _is_floored(self, value: AnyValue) -> bool:
        match self.makers.get(value):
            case ops.Broadcast(operand=operand):
                return self._is_floored(operand)
            case ops.Binary(fn=ops.BinaryFn.MAX, left=one, right=other):
                floors = self._number(one), self._number(other)
                return any(floor is not None and floor >= -1 for floor in floors)
            case _:
                return False

    def _is_last(self, value: AnyValue, dimension: str) -> bool:
        """Whether it is at most the extent minus 1, and at least -1."""
        match self.makers.get(value):
            case ops.Broadcast(operand=operand):
                return self._is_last(operand, dimension)
            case ops.Binary(fn=ops.BinaryFn.SUB, left=extent, right=one):
                number, whole = self._number(one), self.makers.get(extent)
                return number == 1 and isinstance(whole, ops.Extents) and whole.dimension == dimension
            case _:
                number, length = self._number(value), self.kernel.static.get(dimension)
                return number is not None and isinstance(length, int) and -1 <= number < length

    def _number(self, value: AnyValue) -> int | None:
        match self.makers.get(value):
            case ops.Broadcast(operand=operand):
                return self._number(operand)
            case ops.Constant(value=bool()):
                return None
            case ops.Constant(value=int() as number):
                return number
            case _:
                return None


def _reached(
    values: Iterable[AnyValue], sources: Mapping[AnyValue, Sequence[AnyValue]], loaded: Mapping[AnyValue, AnyValue],
    stops: Set[AnyValue],
) -> set[AnyValue]:  # fmt: skip
    """The parameters from which some values are computed, not looking beyond `stops`."""
    pending, parameters, seen = list(values), set[AnyValue](), set(stops)
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value.type, TensorType):
            parameters.add(_root(value, sources))
        elif value in loaded:
            parameters.add(_root(loaded[value], sources))
        else:
            # Of a tensor only its extents are used here.
            pending += (source for source in sources.get(value, ()) if not isinstance(source.type, TensorType))
    return parameters


def _root(tensor: AnyValue, sources: Mapping[AnyValue, Sequence[AnyValue]]) -> AnyValue:
    """The parameter that a view belongs to."""
    while tensor in sources:
        tensor = next(source for source in sources[tensor] if isinstance(source.type, TensorType))
    return tensor


def _decided_by(op: ops.AnyOp) -> Iterator[AnyValue]:
    """The values by which an operation decides what memory is touched, and the tensors by whose contents it does."""
    match op:
        case ops.Load(picks=picks):
            yield from ops.picked_values(picks)
        case ops.Get(picks=picks, tensor=tensor) if tensor.type.access is not Access.IN:
            yield from ops.picked_values(picks)
        case ops.Store(picks=picks, guard=guard) | ops.Update(picks=picks, guard=guard):
            yield from ops.picked_values(picks)
            if guard is not None:
                yield guard
        case ops.Check() | ops.Require():
            yield from ops.operands(op)
        case ops.SplitAt(at=at):
            yield at
        case ops.Take(index=index):
            yield index
        case ops.Shift(by=by):
            yield by
        case ops.Parallel(segments=segments):
            yield from (segment.offsets for segment in segments)
        case ops.If(condition=condition) if any(map(_touches, ops.blocks(op))):
            yield condition
        case ops.TilesLoop(start=start, stop=stop, body=body) if _touches(body):
            yield from (bound for bound in (start, stop) if bound is not None)
        case ops.RangeLoop(start=start, stop=stop, step=step, body=body) if _touches(body):
            yield from (start, stop, step)
        case ops.While(test=test, body=body) if _touches(body) or _touches(test):
            yield from test.yields
        case _:
            pass


def _touches(block: ops.Block) -> bool:
    return any(isinstance(op, _MEMORY) for op in walk(block))
