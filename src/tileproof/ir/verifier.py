"""The law of the IR: `verify` raises for the first rule that a kernel breaks.

- A value is defined once, under a name of its own, before its uses and in a block that encloses them.
- Types follow from operands (`rules`, `regions`); a tag's walker is in scope wherever a tile that has it is
  defined, so no tile of an iteration leaves the loop or enters the next iteration.
- A tensor that is split is not used afterwards; its two parts are.
- A space with a split walker has one join, at the top level of its body. After it nothing of a single piece is
  used: neither the walker nor what may differ between pieces (`regions`).
- Initial values, carried values, yields and results of a loop have one type; so have both branches of an `If`.
- `In` and `InOut` are loaded, `Out` and `InOut` stored, `Sum`, `Max` and `Min` updated, nothing else. Where
  there is a parallel space, it is one, at the top level; all writing happens in it, and outside it only `In`
  is loaded.
- `index?` is divided by positive constants only: that keeps none.
- A contract is at the top level and depends on what is known at launch.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from itertools import takewhile
from typing import assert_never

from tileproof.language.dtypes import BOOL, ENTRY

from . import ops
from .printer import print_op
from .regions import check_access, check_combining, check_segments, check_split, of_one_piece
from .rules import (
    Broken,
    Dimensions,
    check_pure,
    check_shift,
    check_tensor_type,
    check_tile_type,
    check_walker_type,
    demand,
)
from .types import (
    INDEX_SCALAR,
    Access,
    AnyValue,
    Extent,
    Length,
    Named,
    TensorType,
    Tile,
    TileType,
    WalkerTag,
    WalkerType,
    at_least,
)
from .walk import walk

_TRUTH = TileType(BOOL)


class IRError(AssertionError):
    """The IR breaks one of its own rules: a fault of tileproof, never of the user."""


def verify(kernel: ops.KernelIR) -> None:
    """Raises `IRError`, naming the operation and the rule, unless the kernel keeps every rule of the IR."""
    _Verifier(kernel).check()


class _Place(Enum):
    """The position of a block in the kernel."""

    TOP = auto()
    OUTSIDE = auto()
    """Below the top, outside the parallel space."""
    SPACE = auto()
    """At the top level of the parallel space."""
    INSIDE = auto()
    """Below that."""


class _Verifier:
    def __init__(self, kernel: ops.KernelIR) -> None:
        self.kernel = kernel
        tensors = [p.value.type for p in kernel.parameters if isinstance(p.value.type, TensorType)]
        names = {d.name for tensor in tensors for d in tensor.dimensions if isinstance(d, Named)}
        for name, length in kernel.computed.items():
            names |= {name, *(length.names if isinstance(length, Extent) else ())}
        names |= kernel.static.keys() & kernel.constants.keys()  # a constant may be walked that no tensor has
        self.dimensions = Dimensions(frozenset(names), kernel.static)
        self.is_parallel = any(isinstance(op, ops.Parallel) for op in walk(kernel.body))
        self.space: ops.Parallel | None = None
        """The parallel space, once it was entered."""
        self.is_joined = False
        self.names: set[str] = set()
        self.scope: set[AnyValue] = set()
        self.gone: dict[AnyValue, str] = {}
        """Values in scope that may not be used any more, and why."""
        self.known_at_launch: set[AnyValue] = set()
        self.numbers: dict[AnyValue, bool | int | float | Length] = {}
        """Constants, and what is one constant everywhere."""

    def check(self) -> None:
        try:
            for name in self.kernel.static:
                self.dimensions.check_named(name)
            for parameter in self.kernel.parameters:
                self._check_parameter(parameter.value)
            demand(self.kernel.body.yields == (), "a kernel yields nothing")
        except Broken as broken:
            raise IRError(f"kernel {self.kernel.name}: {broken}") from None
        for op in self.kernel.body.ops:
            self._op(op, _Place.TOP)

    def _check_parameter(self, value: AnyValue) -> None:
        match value.type:
            case TensorType():
                pass
            case TileType():
                demand(value.type.rank == 0, "the parameter {!r} has axes", value)
                demand(value.type.dtype.storage is not None, "the parameter {!r} has no storage type", value)
            case WalkerType():
                raise Broken(f"the parameter {value!r} is a walker")
            case _:
                assert_never(value.type)
        self._define(value)
        self.known_at_launch.add(value)

    # Scope.

    def _define(self, value: AnyValue) -> None:
        demand(value.name not in self.names, "{} is defined twice", value.name)
        self.names.add(value.name)
        match value.type:
            case TileType():
                check_tile_type(value.type, self.dimensions)
                for tag in (axis.tag for axis in value.type.axes):
                    is_here = not isinstance(tag, WalkerTag) or self._is_usable(tag.walker)
                    demand(is_here, "the tag {} of {!r} is out of scope", tag, value)
            case WalkerType():
                check_walker_type(value.type, self.dimensions)
            case TensorType():
                check_tensor_type(value.type, self.dimensions)
            case _:
                assert_never(value.type)
        self.scope.add(value)

    def _is_usable(self, value: AnyValue) -> bool:
        return value in self.scope and value not in self.gone

    def _use(self, values: Iterable[AnyValue]) -> None:
        for value in values:
            demand(value in self.scope, "{} is not defined here", value.name)
            demand(value not in self.gone, "{} {}", value.name, self.gone.get(value))

    def _block(self, block: ops.Block, place: _Place, defines: Iterable[AnyValue] = ()) -> None:
        outer = set(self.scope)
        for value in defines:
            self._define(value)
        for op in block.ops:
            self._op(op, place)
        self._use(block.yields)
        self.scope = outer

    # Operations.

    def _op(self, op: ops.AnyOp, place: _Place) -> None:
        try:
            self._use(ops.operands(op))
            match op:
                case ops.Load() | ops.Get() | ops.Store() | ops.Update():
                    check_access(op, self.dimensions)
                    self._check_rights(op, place)
                    guard = op.guard if isinstance(op, ops.Store | ops.Update) else None
                    demand(guard is None or guard.type == _TRUTH, "a guard is a bool, not {!r}", guard)
                case ops.Check():
                    _check_check(op)
                case ops.Require():
                    self._check_contract(op, place)
                case ops.Assume(condition=condition, reason=reason):
                    demand(condition.type == _TRUTH, "an assumption is a bool, not {}", condition.type)
                    demand(reason != "", "an assumption has a reason")
                case ops.Print():
                    pass
                case ops.Shift():
                    check_shift(op)
                case ops.SplitAt():
                    demand(place is _Place.TOP, "a tensor is split at the top level")
                    check_split(op)
                    self.gone[op.tensor] = "is split; its parts stand for it"
                case ops.Fold() | ops.Scan():
                    check_combining(op)
                    self._block(op.combiner.body, _below(place), (*op.combiner.left, *op.combiner.right))
                case ops.Join():
                    self._check_join(op, place)
                case ops.Parallel():
                    self._check_parallel(op, place)
                case ops.TilesLoop() | ops.RangeLoop() | ops.While():
                    self._check_loop(op, _below(place))
                case ops.If():
                    self._check_branches(op, _below(place))
                case _:
                    check_pure(op, self.dimensions)
                    self._check_entries(op)
                    self._learn(op)
            for result in ops.results(op):
                self._define(result)
        except Broken as broken:
            where = f"kernel {self.kernel.name}, {op.span.place}"
            raise IRError(f"{where}: {type(op).__name__}: {broken}\n    {print_op(op)}") from None

    def _check_entries(self, op: ops.PureOp) -> None:
        if isinstance(op, ops.Binary) and op.left.type.dtype == ENTRY:
            number = self.numbers.get(op.right)
            is_length = isinstance(number, int | Extent) and at_least(number, 0) is not False
            demand(is_length, "{} is divided by a constant of at least 0, not {!r}", ENTRY, op.right)

    def _learn(self, op: ops.PureOp) -> None:
        """Notes values that a launch knows: those computed from scalars, dimensions and constants alone."""
        if self.known_at_launch.issuperset(ops.operands(op)):
            self.known_at_launch.add(op.result)
        match op:
            case ops.Constant(value=value):
                self.numbers[op.result] = value
            case ops.Broadcast(operand=operand) if operand in self.numbers:
                self.numbers[op.result] = self.numbers[operand]
            case _:
                pass

    def _check_rights(self, op: ops.Load | ops.Get | ops.Store | ops.Update, place: _Place) -> None:
        access = op.tensor.type.access
        is_outside = self.is_parallel and place in (_Place.TOP, _Place.OUTSIDE)
        match op:
            case ops.Load() | ops.Get():
                demand(access.reads, "{!r} is not read", op.tensor)
                demand(not is_outside or access is Access.IN, "outside the parallel space only In is read")
            case ops.Store():
                demand(access.writes, "{!r} is not stored to", op.tensor)
                demand(not is_outside, "writing happens in the parallel space")
            case ops.Update():
                demand(access.combines, "{!r} is not updated", op.tensor)
                demand(not is_outside, "writing happens in the parallel space")
            case _:
                assert_never(op)

    def _check_contract(self, op: ops.Require, place: _Place) -> None:
        demand(op.condition.type == _TRUTH, "a contract is a bool, not {}", op.condition.type)
        demand(place is _Place.TOP, "a contract stands at the top level")
        demand(op.condition in self.known_at_launch, "a contract is about what is known at launch")

    def _check_parallel(self, op: ops.Parallel, place: _Place) -> None:
        demand(place is _Place.TOP, "the parallel space stands at the top level")
        demand(self.space is None, "a kernel has one parallel space")
        demand(op.walkers != (), "the parallel space walks no dimension")
        demand(op.body.yields == (), "the parallel space yields nothing")
        pieces = [walker for walker in op.walkers if walker.type.is_piece]
        demand(len(pieces) <= 1, "the parallel space splits one dimension")
        cut = [segments.walker for segments in op.segments]
        for segments in op.segments:
            demand(segments.walker in op.walkers, "{!r} is cut into segments and not walked", segments.walker)
            demand(cut.count(segments.walker) == 1, "{!r} is cut into segments twice", segments.walker)
            check_segments(segments)
        self.space = op
        self._block(op.body, _Place.SPACE, (*op.walkers, *(segments.index for segments in op.segments)))
        demand(self.is_joined or not pieces, "the pieces of the parallel space are not joined")

    def _check_join(self, op: ops.Join, place: _Place) -> None:
        if self.space is None or place is not _Place.SPACE:
            raise Broken("a join stands at the top level of the parallel space")
        is_piece = op.walker in self.space.walkers and op.walker.type.is_piece
        demand(is_piece, "{!r} is no piece of the parallel space", op.walker)
        check_combining(op)
        self.is_joined = True
        before = tuple(takewhile(lambda other: not isinstance(other, ops.Join), self.space.body.ops))
        for value in of_one_piece(before, op.walker):
            self.gone[value] = "belongs to one piece; this is done once for all of them"
        self._block(op.combiner.body, _below(place), (*op.combiner.left, *op.combiner.right))

    def _check_loop(self, op: ops.TilesLoop | ops.RangeLoop | ops.While, place: _Place) -> None:
        _same_types(op.inits, op.carried, "what enters the loop and what is carried")
        match op:
            case ops.TilesLoop(walker=walker, start=start, stop=stop):
                demand(not walker.type.is_piece, "a loop walks tiles, not pieces")
                _indices(bound for bound in (start, stop) if bound is not None)
                self._block(op.body, place, (op.walker, *op.carried))
            case ops.RangeLoop():
                _indices((op.variable, op.start, op.stop, op.step))
                self._block(op.body, place, (op.variable, *op.carried))
            case ops.While(test=test):
                outer = set(self.scope)
                for value in op.carried:
                    self._define(value)
                self._block(test, place)
                is_truth = len(test.yields) == 1 and test.yields[0].type == _TRUTH
                demand(is_truth, "the test of a loop yields one bool")
                self._block(op.body, place)
                self.scope = outer
            case _:
                assert_never(op)
        _same_types(op.carried, op.body.yields, "what is carried and what an iteration yields")
        _same_types(op.carried, op.results, "what is carried and what comes out")

    def _check_branches(self, op: ops.If, place: _Place) -> None:
        demand(op.condition.type == _TRUTH, "a condition is a bool, not {}", op.condition.type)
        for block in (op.then, op.orelse):
            self._block(block, place)
            _same_types(block.yields, op.results, "what a branch yields and what comes out")


def _check_check(op: ops.Check) -> None:
    demand(op.result.type == _TRUTH, "a check gives a bool, not {}", op.result.type)
    demand(op.ok is None or op.ok.type == _TRUTH, "a check goes on from a bool, not {!r}", op.ok)
    for value in (op.index, op.low, op.high):
        whole = value.type.dtype.kind == "index" or value.type.dtype.is_integer
        demand(whole, "a check compares whole numbers, not {!r}", value)


def _below(place: _Place) -> _Place:
    """The position of the blocks of an operation."""
    return _Place.OUTSIDE if place in (_Place.TOP, _Place.OUTSIDE) else _Place.INSIDE


def _indices(values: Iterable[Tile]) -> None:
    for value in values:
        demand(value.type == INDEX_SCALAR, "a loop counts in indices, not {!r}", value)


def _same_types(left: tuple[Tile, ...], right: tuple[Tile, ...], what: str) -> None:
    demand(len(left) == len(right), "{} differ in number", what)
    for one, other in zip(left, right, strict=True):
        demand(one.type == other.type, "{} differ: {!r} and {!r}", what, one, other)
