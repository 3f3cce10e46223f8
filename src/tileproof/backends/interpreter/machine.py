"""Executes blocks of the IR, one point after another.

A tile is a numpy array of its live elements and no others: an axis is as long as its tag says at this moment.

The join of a split walker: its pieces leave their values here, and the last to arrive makes the rest go on. What
follows the join knows no piece. It may use what was made before only where all pieces made the same of it. The verifier
sees to that; here the values themselves are compared, unless programs run unwatched and may race.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import assert_never

import numpy as np

from tileproof.backends.parallel_space import Order, Place, Space, tiles
from tileproof.diagnostics.errors import OutOfBounds
from tileproof.ir import ops
from tileproof.ir.ops import Join
from tileproof.ir.types import (
    Axis,
    Content,
    DimensionTag,
    Fixed,
    Length,
    Named,
    Tensor,
    Tile,
    TileType,
    Unnamed,
    Walker,
    WalkerTag,
    evaluate,
    size_of,
)
from tileproof.language.dtypes import ENTRY, INDEX
from tileproof.lowering.split_join import split_at_join

from . import regions, semantics
from .regions import Picked
from .reports import Reporter
from .sanitizer import Sanitizer
from .semantics import Array

_ELEMENTS_PER_STEP = 512


class Abandoned(Exception):
    """A run took more steps than were left."""


@dataclass(slots=True)
class Steps:
    """How many operations may still run. One on many elements counts as several."""

    left: int

    def take(self, count: int) -> None:
        """Counts some; raises if there were not so many."""
        self.left -= count
        if self.left < 0:
            raise Abandoned


class Machine:
    """The state of a run: what each value, walker and tensor is at this moment."""

    def __init__(
        self,
        tensors: Mapping[Tensor, Array],
        scalars: Mapping[Tile, Array],
        dimensions: Mapping[str, int],
        space: Space,
        order: Order,
        report: Reporter,
        sanitizer: Sanitizer | None,
        steps: Steps | None = None,
    ) -> None:
        self.tensors = dict(tensors)
        self.values: dict[Tile, Array] = dict(scalars)
        self.walkers: dict[Walker, Place] = {}
        self.dimensions = dimensions
        self.space = space
        self.order = order
        self.report = report
        self.sanitizer = sanitizer
        self.point: int | None = None if space.steps else 0
        self.steps = steps
        """What may still run; None for all."""
        self.failures: dict[int, OutOfBounds] = {}
        """For each program with a failed check, its report; -1 stands for all programs."""

    def block(self, block: ops.Block) -> None:
        """Runs the operations of a block in order."""
        if self.steps is not None:
            self.steps.take(len(block.ops) + 1)
        for op in block.ops:
            self.execute(op)

    def execute(self, op: ops.AnyOp) -> None:
        """Runs one operation."""
        match op:
            case ops.Load():
                self._define(op.result, self._load(op))
            case ops.Get():
                self._define(op.result, self._get(op))
            case ops.Store():
                self._store(op)
            case ops.Update():
                self._update(op)
            case ops.Check():
                self._define(op.result, np.asarray(self._passes(op)))
            case ops.SplitAt():
                self._split(op)
            case ops.Shift():
                self.walkers[op.result] = self._shifted(op)
            case ops.Print():
                print(self.report.formatted(op.label, self._take(op.values), self.point))
            case ops.Assume():
                if self.sanitizer is not None and not self.values[op.condition].all():
                    raise self.report.false_assumption(op.reason, self.point, op.span)
            case ops.Require():
                if not self.values[op.condition]:
                    raise self.report.broken_contract(op.span)
            case ops.Parallel():
                self._parallel(op)
            case ops.Fold():
                self._fold(op)
            case ops.Scan():
                self._scan(op)
            case ops.Join():
                raise TypeError(f"the join of {op.walker!r} is not at the top level of the parallel space")
            case ops.TilesLoop():
                self._assign(op.carried, self._take(op.inits))
                for place in self._tiles(op):
                    self.walkers[op.walker] = place
                    self._turn(op.carried, op.body)
                self.walkers.pop(op.walker, None)
                self._assign(op.results, self._take(op.carried))
            case ops.RangeLoop():
                self._assign(op.carried, self._take(op.inits))
                for number in self._range(op):
                    self._define(op.variable, np.asarray(number, np.int64))
                    self._turn(op.carried, op.body)
                self._assign(op.results, self._take(op.carried))
            case ops.While():
                self._assign(op.carried, self._take(op.inits))
                while self._holds(op.test):
                    self._turn(op.carried, op.body)
                self._assign(op.results, self._take(op.carried))
            case ops.If():
                chosen = op.then if self.values[op.condition] else op.orelse
                self.block(chosen)
                self._assign(op.results, self._take(chosen.yields))
            case _:
                self._define(op.result, self._compute(op))

    # Control flow.

    def _parallel(self, op: ops.Parallel) -> None:
        body = split_at_join(op)
        arrived: dict[int, list[Piece]] = {}
        for point in self.space.ordered(self.order):
            self.point = point
            self._enter(point)
            self.block(body.before)
            if body.join is not None:
                program = self.space.after_join(point)
                here = arrived.setdefault(program, [])
                here.append(self._piece(body.join, body.shared))
                if len(here) == self.space.pieces:
                    self.point = program
                    self._join(body.join, arrived.pop(program))
                    self.block(body.after)
        self.point = None

    def _enter(self, point: int) -> None:
        for step, place in self.space.places(point):
            self.walkers[step.walker] = step.places[place]
            if step.index is not None:
                self._define(step.index, np.asarray(step.segments[place], np.int64))

    def _piece(self, op: ops.Join, shared: Sequence[Tile]) -> Piece:
        values = {value: self.values[value] for value in shared}
        return Piece(self.walkers[op.walker].number, self._take(op.operands), values, dict(self.walkers))

    def _join(self, op: ops.Join, arrived: list[Piece]) -> None:
        """Combines the pieces of one combination of the other walkers, all of which have run."""
        pieces = sorted(arrived, key=lambda piece: piece.number)
        if self.sanitizer is not None:
            demand_agreement(pieces, op)
        self.walkers = agreed_walkers(pieces, op)
        *_, whole = self._combined(op.combiner, (piece.operands for piece in pieces))
        self._assign(op.results, whole)

    def _tiles(self, op: ops.TilesLoop) -> Iterable[Place]:
        start = 0 if op.start is None else int(self.values[op.start])
        stop = self.dimensions[op.walker.type.dimension]
        if op.stop is not None:
            stop = min(stop, int(self.values[op.stop]))
        if start < 0:
            raise self.report.starts_outside(op.walker, start, self.point, op.span)
        return tiles(start, stop, self._length(size_of(op.walker)))

    def _shifted(self, op: ops.Shift) -> Place:
        here, by = self.walkers[op.walker], int(self.values[op.by])
        extent = self.dimensions[op.walker.type.dimension]
        if not 0 <= here.start + by <= extent:
            raise self.report.shifted_outside(op.result, here.start + by, self.point, op.span)
        return Place(here.start + by, min(here.stop + by, extent), here.number)

    def _range(self, op: ops.RangeLoop) -> range:
        start, stop, step = (int(self.values[value]) for value in (op.start, op.stop, op.step))
        return range(start, stop, step) if step else range(0)

    def _holds(self, test: ops.Block) -> bool:
        self.block(test)
        (condition,) = self._take(test.yields)
        return bool(condition)

    def _turn(self, carried: Sequence[Tile], body: ops.Block) -> None:
        self.block(body)
        self._assign(carried, self._take(body.yields))

    def _take(self, values: Sequence[Tile]) -> list[Array]:
        return [self.values[value] for value in values]

    def _assign(self, targets: Sequence[Tile], values: Sequence[Array]) -> None:
        for target, value in zip(targets, values, strict=True):
            self._define(target, value)

    def _define(self, target: Tile, value: Array) -> None:
        """Gives a value its elements; IR that does not keep to its own types stops here."""
        shape, dtype = self._shape(target.type), semantics.storage(target.type.dtype)
        if value.shape != shape or value.dtype != dtype:
            raise TypeError(f"{target!r} is {value.dtype}{value.shape}, not {dtype}{shape}")
        if self.steps is not None:
            self.steps.take(value.size // _ELEMENTS_PER_STEP)
        self.values[target] = value

    # Combiners.

    def _combined(self, combiner: ops.Combiner, items: Iterable[list[Array]]) -> Iterator[list[Array]]:
        """The first item, the first two combined, then these with the third, and so on."""
        return accumulate(items, partial(self._combine, combiner))

    def _combine(self, combiner: ops.Combiner, left: list[Array], right: list[Array]) -> list[Array]:
        self._assign(combiner.left, left)
        self._assign(combiner.right, right)
        self.block(combiner.body)
        return self._take(combiner.body.yields)

    def _elements(self, operands: Sequence[Tile], axis: int) -> list[list[Array]]:
        """Place by place along an axis, what each operand has there."""
        values = self._take(operands)
        return [[np.asarray(np.take(value, place, axis)) for value in values] for place in range(values[0].shape[axis])]

    def _fold(self, op: ops.Fold) -> None:
        shape = self._shape(op.results[0].type)
        nothing = [np.broadcast_to(identity, shape) for identity in self._take(op.identities)]
        *_, whole = nothing, *self._combined(op.combiner, self._elements(op.operands, op.axis))
        self._assign(op.results, whole)

    def _scan(self, op: ops.Scan) -> None:
        whole = self._take(op.operands)
        parts = list(self._combined(op.combiner, self._elements(op.operands, op.axis)))
        if parts:
            whole = [np.stack(along, op.axis) for along in zip(*parts, strict=True)]
        self._assign(op.results, whole)

    # Shapes.

    def _length(self, length: Length) -> int:
        return evaluate(length, self.dimensions)

    def _live(self, axis: Axis) -> int:
        match axis.tag:
            case None:
                return self._length(axis.length)
            case WalkerTag(walker):
                place = self.walkers[walker]
                return place.stop - place.start
            case DimensionTag(name):
                return self.dimensions[name]

    def _shape(self, tile: TileType) -> tuple[int, ...]:
        return tuple(self._live(axis) for axis in tile.axes)

    def _broadcast(self, value: Array, source: TileType, target: TileType) -> Array:
        """Axes align at the right; an axis of 1 repeats, a full one keeps the live elements of its target."""
        shape = self._shape(target)
        kept = (
            slice(None) if axis.tag is not None or self._length(axis.length) == 1 else slice(live)
            for axis, live in zip(reversed(source.axes), reversed(shape), strict=False)
        )
        return np.broadcast_to(value[tuple(kept)[::-1]], shape)

    def _taken(self, op: ops.Take) -> Array:
        """What a tile has at one place; any element if a check that failed has reported the place."""
        value, place = self.values[op.operand], int(self.values[op.index])
        live = value.shape[op.axis]
        if 0 <= place < live:
            return np.asarray(np.take(value, place, op.axis))
        if self.failures.keys().isdisjoint((-1 if self.point is None else self.point, -1)):
            raise self.report.taken_outside(op.axis, place, live, self.point, op.span)
        return np.zeros(self._shape(op.result.type), value.dtype)

    # Memory.

    def _picks(self, op: ops.Load | ops.Get | ops.Store | ops.Update) -> list[Picked]:
        return [self._pick(pick, op.tensor, axis) for axis, pick in enumerate(op.picks)]

    def _pick(self, pick: ops.Pick, tensor: Tensor, axis: int) -> Picked:
        match pick:
            case ops.Along(walker):
                place = self.walkers[walker]
                return Picked(np.arange(place.start, place.stop), dropped=walker.type.is_each)
            case ops.At(index):
                return Picked(self.values[index].reshape(1), dropped=True, entries=index.type.dtype == ENTRY)
            case ops.Gather(indices):
                return Picked(self.values[indices], entries=indices.type.dtype == ENTRY)
            case ops.Whole():
                return Picked(np.arange(self._extent(tensor, axis)))
            case ops.Window(start, length):
                first = self._length(start)
                return Picked(np.arange(first, first + self._length(length)))

    def _extent(self, tensor: Tensor, axis: int) -> int:
        """How many elements `:` means. The past of a tensor may have fewer than the dimension it is cut from."""
        match tensor.type.dimensions[axis]:
            case Named(name):
                return self.dimensions[name]
            case Fixed(extent):
                return extent
            case Unnamed():
                return int(self.tensors[tensor].shape[axis])

    def _region(self, op: ops.Load | ops.Store | ops.Update, verb: str) -> regions.Region:
        find = regions.load_region if isinstance(op, ops.Load) else regions.store_region
        try:
            return find(self.tensors[op.tensor].shape, self._picks(op))
        except regions.Outside as fault:
            raise self.report.outside(op.tensor, fault, verb, self.point, op.span) from None

    def _load(self, op: ops.Load) -> Array:
        where = self._region(op, "reads")
        return self._read(op, where).reshape(where.shape)

    def _get(self, op: ops.Get) -> Array:
        where = regions.get_region(self.tensors[op.tensor].shape, self._picks(op))
        return regions.spread(self._read(op, where), where, self.values[op.fill])

    def _read(self, op: ops.Load | ops.Get, where: regions.Region) -> Array:
        if self.sanitizer is not None:
            self.sanitizer.read(op.tensor, where, self.point, op.span)
        elements = regions.load(self.tensors[op.tensor], where)
        return semantics.cast(elements, op.tensor.type.stored_as, op.result.type.dtype)

    def _passes(self, op: ops.Check) -> bool:
        """Whether a check and all before it hold; the first of a program that fails is remembered."""
        if op.ok is not None and not self.values[op.ok]:
            return False
        index, low, high = self._take((op.index, op.low, op.high))
        wrong = (index < low) | (index >= high)
        if op.index.type.dtype == ENTRY:
            wrong &= index != semantics.NONE
        if any(len(entry.reshape(-1)) and (entry == semantics.NONE).all() for entry in self._take(op.entries)):
            return True
        if not wrong.any():
            return True
        first = int(index.reshape(-1)[int(np.argmax(wrong))])
        key = -1 if self.point is None else self.point
        self.failures.setdefault(key, self.report.failed_check(op, first, int(low), int(high), self.point))
        return False

    def _is_barred(self, op: ops.Store | ops.Update) -> bool:
        """Whether a failed check keeps a program from storing."""
        return op.guard is not None and not self.values[op.guard]

    def _store(self, op: ops.Store) -> None:
        if self._is_barred(op):
            return
        where = self._region(op, "writes")
        if self.sanitizer is not None:
            self.sanitizer.write(op.tensor, where, self.point, op.span)
            self._demand_positions(op)
        value = semantics.cast(self.values[op.value], op.value.type.dtype, op.tensor.type.stored_as)
        regions.store(self.tensors[op.tensor], where, value)

    def _demand_positions(self, op: ops.Store) -> None:
        """What is stored into an index tensor is a position of its dimension, or none."""
        element = op.tensor.type.element
        if not isinstance(element, Content):
            return
        value, extent = self.values[op.value], self.dimensions[element.dimension]
        wrong = (value < semantics.NONE) | (value >= extent)
        if wrong.any():
            first = int(value[wrong].reshape(-1)[0])
            raise self.report.no_position(op.tensor, element.dimension, first, extent, self.point, op.span)

    def _split(self, op: ops.SplitAt) -> None:
        array, at = self.tensors[op.tensor], int(self.values[op.at])
        if not 0 <= at <= array.shape[op.axis]:
            raise self.report.split_outside(op.tensor, op.axis, at, array.shape[op.axis], op.span)
        past, fresh = ((*[slice(None)] * op.axis, part) for part in (slice(at), slice(at, None)))
        self.tensors[op.past], self.tensors[op.fresh] = array[past], array[fresh]
        if self.sanitizer is not None:
            self.sanitizer.split(op, past, fresh)

    def _update(self, op: ops.Update) -> None:
        if self._is_barred(op):
            return
        where = self._region(op, "updates")
        value = semantics.cast(self.values[op.value], op.value.type.dtype, op.tensor.type.stored_as)
        fn = ops.COMBINED_BY[op.tensor.type.access]
        regions.update(self.tensors[op.tensor], where, value, fn, op.tensor.type.stored_as)

    # Values.

    def _compute(self, op: ops.PureOp) -> Array:
        try:
            return self._value(op)
        except semantics.IndexOverflow as overflow:
            raise self.report.overflow(overflow.operands, self.point, op.span) from None

    def _value(self, op: ops.PureOp) -> Array:
        dtype = op.result.type.dtype
        match op:
            case ops.Constant():
                number = op.value if isinstance(op.value, (bool, int, float)) else self._length(op.value)
                return np.broadcast_to(semantics.constant(number, dtype), self._shape(op.result.type))
            case ops.Extents(dimension=str(name)):
                return np.asarray(self.dimensions[name], np.int64)
            case ops.Extents():
                assert op.tensor is not None, "an extent without a name is that of a tensor"
                return np.asarray(self._extent(op.tensor, op.axis), np.int64)
            case ops.Start():
                return np.asarray(self.walkers[op.walker].start, np.int64)
            case ops.Stop():
                return np.asarray(self.walkers[op.walker].stop, np.int64)
            case ops.Number():
                return np.asarray(self.walkers[op.walker].number, np.int64)
            case ops.Elements():
                return np.arange(self.walkers[op.walker].start, self.walkers[op.walker].stop)
            case ops.Iota():
                return np.arange(*self._shape(op.result.type)).astype(semantics.storage(dtype))
            case ops.Group():
                extent, into = (np.asarray(self.dimensions[name]) for name in (op.dimension, op.into))
                members = semantics.binary(ops.BinaryFn.FLOORDIV, extent, into, INDEX)
                return semantics.binary(ops.BinaryFn.FLOORDIV, self.values[op.index], members, INDEX)
            case ops.Unary():
                return semantics.unary(op.fn, self.values[op.operand], op.operand.type.dtype)
            case ops.Binary():
                return semantics.binary(op.fn, self.values[op.left], self.values[op.right], op.left.type.dtype)
            case ops.Select():
                return np.where(self.values[op.condition], self.values[op.yes], self.values[op.no])
            case ops.Cast():
                return semantics.cast(self.values[op.operand], op.operand.type.dtype, dtype)
            case ops.Bitcast():
                return semantics.bitcast(self.values[op.operand], dtype)
            case ops.Broadcast():
                return self._broadcast(self.values[op.operand], op.operand.type, op.result.type)
            case ops.Expand():
                return np.expand_dims(self.values[op.operand], op.axis)
            case ops.Take():
                return self._taken(op)
            case ops.Permute():
                return np.transpose(self.values[op.operand], op.order)
            case ops.Reshape():
                return self.values[op.operand].reshape(self._shape(op.result.type))
            case ops.Slice():
                start = self._length(op.start)
                window = slice(start, start + self._length(op.length))
                return self.values[op.operand][(slice(None),) * op.axis + (window,)]
            case ops.Cat():
                return np.concatenate(self._take(op.operands), axis=op.axis)
            case ops.Reduce():
                return self._reduce(op)
            case ops.CumSum():
                return semantics.cumsum(self.values[op.operand], op.axis, op.operand.type.dtype, dtype)
            case ops.Fill():
                operand = self.values[op.operand]
                full = np.full(self._shape(op.result.type), self.values[op.value])
                full[tuple(map(slice, operand.shape))] = operand
                return full
            case ops.Random():
                return semantics.uniform(self.values[op.seed], self.values[op.offset])
            case ops.Mma():
                left, right, acc = self._take((op.left, op.right, op.acc))
                return semantics.mma(left, right, acc, (op.left.type.dtype, op.right.type.dtype), dtype)
            case _:
                assert_never(op)

    def _reduce(self, op: ops.Reduce) -> Array:
        value = self.values[op.operand]
        if op.fn in (ops.ReduceFn.ARGMAX, ops.ReduceFn.ARGMIN) and not value.shape[op.axis]:
            raise self.report.empty_argmax(op.fn, self.point, op.span)
        return semantics.reduce(op.fn, value, op.axis, op.operand.type.dtype, op.result.type.dtype)


@dataclass(frozen=True, slots=True)
class Piece:
    """What a piece leaves at the join."""

    number: int
    operands: list[Array]
    shared: dict[Tile, Array]
    walkers: dict[Walker, Place]


def demand_agreement(pieces: Sequence[Piece], op: Join) -> None:
    """Stops IR that uses what differs between pieces after their join."""
    first, *others = pieces
    for value, array in first.shared.items():
        if not all(_same(array, other.shared[value]) for other in others):
            raise TypeError(f"{value!r} differs between the pieces {op.walker!r} and is used after their join")


def agreed_walkers(pieces: Sequence[Piece], op: Join) -> dict[Walker, Place]:
    """The walkers that are at one place in all pieces."""
    first, *others = pieces
    return {
        walker: place
        for walker, place in first.walkers.items()
        if walker is not op.walker and all(other.walkers.get(walker) == place for other in others)
    }


def _same(left: Array, right: Array) -> bool:
    return left.shape == right.shape and left.tobytes() == right.tobytes()
