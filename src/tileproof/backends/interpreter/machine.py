"""Executes blocks of the IR, one point after another.

A tile is a numpy array of its live elements and no others: an axis is as long as its tag says at this moment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

import numpy as np

from tileproof.ir import ops
from tileproof.ir.extent import Length
from tileproof.ir.types import Axis, Content, DimensionTag, Tensor, Tile, TileType, Walker, WalkerTag
from tileproof.language.dtypes import INDEX, DType

from . import memory, semantics
from .points import Interval, Order, Space, evaluate, size_of
from .reports import Reporter
from .sanitizer import Sanitizer
from .semantics import Array

COMBINES = {"Sum": ops.BinaryFn.ADD, "Max": ops.BinaryFn.MAX, "Min": ops.BinaryFn.MIN}


def stored(tensor: Tensor) -> DType:
    """The element type a tensor has in memory."""
    element = tensor.type.element
    return element.storage if isinstance(element, Content) else element


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
    ) -> None:
        self.tensors = tensors
        self.values: dict[Tile, Array] = dict(scalars)
        self.walkers: dict[Walker, Interval] = {}
        self.dimensions = dimensions
        self.space = space
        self.order = order
        self.report = report
        self.sanitizer = sanitizer
        self.point: int | None = None if space.steps else 0

    def block(self, block: ops.Block) -> None:
        """Runs the operations of a block in order."""
        for op in block.ops:
            self.execute(op)

    def execute(self, op: ops.AnyOp) -> None:
        """Runs one operation."""
        match op:
            case ops.Load():
                self._define(op.result, self._load(op))
            case ops.Store():
                self._store(op)
            case ops.Update():
                self._update(op)
            case ops.Require():
                if not self.values[op.condition]:
                    raise self.report.broken_contract(op.span)
            case ops.Parallel():
                self._parallel(op)
            case ops.TilesLoop():
                self._assign(op.carried, self._take(op.inits))
                for interval in self._tiles(op):
                    self.walkers[op.walker] = interval
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
        for point in self.space.ordered(self.order):
            self.point = point
            self.walkers.update(self.space.intervals(point))
            self.block(op.body)
        self.point = None

    def _tiles(self, op: ops.TilesLoop) -> Iterator[Interval]:
        start = 0 if op.start is None else int(self.values[op.start])
        stop = self.dimensions[op.walker.type.dimension]
        if op.stop is not None:
            stop = min(stop, int(self.values[op.stop]))
        if start < 0:
            raise self.report.starts_outside(op.walker, start, self.point, op.span)
        size = self._length(size_of(op.walker))
        for place in range(start, stop, size):
            yield place, min(place + size, stop)

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
        self.values[target] = value

    # Shapes.

    def _length(self, length: Length) -> int:
        return evaluate(length, self.dimensions)

    def _live(self, axis: Axis) -> int:
        match axis.tag:
            case None:
                return self._length(axis.length)
            case WalkerTag(walker):
                start, stop = self.walkers[walker]
                return stop - start
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

    # Memory.

    def _region(self, op: ops.Load | ops.Store | ops.Update, verb: str) -> memory.Region:
        shape = self.tensors[op.tensor].shape
        picked = [self._pick(pick, extent) for pick, extent in zip(op.picks, shape, strict=True)]
        try:
            return memory.region(shape, picked)
        except memory.Outside as fault:
            raise self.report.outside(op.tensor, fault, verb, self.point, op.span) from None

    def _pick(self, pick: ops.Pick, extent: int) -> int | Array:
        match pick:
            case ops.Along(walker):
                start, stop = self.walkers[walker]
                return start if walker.type.is_each else np.arange(start, stop)
            case ops.At(index):
                return int(self.values[index])
            case ops.Gather(indices):
                return self.values[indices]
            case ops.Whole():
                return np.arange(extent)
            case ops.Window(start, length):
                first = self._length(start)
                return np.arange(first, first + self._length(length))

    def _load(self, op: ops.Load) -> Array:
        where = self._region(op, "reads")
        if self.sanitizer is not None:
            self.sanitizer.read(op.tensor, where, self.point, op.span)
        return semantics.cast(memory.load(self.tensors[op.tensor], where), stored(op.tensor), op.result.type.dtype)

    def _store(self, op: ops.Store) -> None:
        where = self._region(op, "writes")
        if self.sanitizer is not None:
            self.sanitizer.write(op.tensor, where, self.point, op.span)
        value = semantics.cast(self.values[op.value], op.value.type.dtype, stored(op.tensor))
        memory.store(self.tensors[op.tensor], where, value)

    def _update(self, op: ops.Update) -> None:
        where = self._region(op, "updates")
        value = semantics.cast(self.values[op.value], op.value.type.dtype, stored(op.tensor))
        fn = COMBINES[op.tensor.type.access]
        memory.update(self.tensors[op.tensor], where, value, fn, stored(op.tensor))

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
                return np.asarray(self.tensors[op.tensor].shape[op.axis], np.int64)
            case ops.Start():
                return np.asarray(self.walkers[op.walker][0], np.int64)
            case ops.Stop():
                return np.asarray(self.walkers[op.walker][1], np.int64)
            case ops.Elements():
                return np.arange(*self.walkers[op.walker])
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
