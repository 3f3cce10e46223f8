"""Kernels built by hand, an operation a line, so that tests of the interpreter need no front end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tileproof.diagnostics.spans import Source, Span
from tileproof.ir import ops
from tileproof.ir.ops import BinaryFn
from tileproof.ir.types import (
    INDEX_SCALAR,
    Access,
    Axis,
    Content,
    Dimension,
    DimensionTag,
    Fixed,
    Named,
    Tensor,
    TensorType,
    Tile,
    TileType,
    Unnamed,
    Value,
    Walker,
    WalkerTag,
    WalkerType,
)  # fmt: skip
from tileproof.language.dtypes import DType

SOURCE = Source("kernel.py", tuple(f"line {number}\n" for number in range(1, 200)))


def span(line: int) -> Span:
    return Span(SOURCE, line, 1, line, 5)


class Builder:
    """Collects parameters and operations. The span of operation n is line n."""

    def __init__(self) -> None:
        self.parameters: list[ops.Parameter] = []
        self.ops: list[ops.AnyOp] = []
        self.line = 0
        self.names = 0

    def tensor(self, name: str, access: Access, element: DType | Content, dimensions: str) -> Tensor:
        """A parameter such as `tensor("x", Access.IN, F32, "M 4 _")`, on a line of its own."""
        results: list[Dimension] = []
        for word in dimensions.split():
            results.append(Fixed(int(word)) if word.isdigit() else Unnamed() if word == "_" else Named(word))
        value = Value(name, TensorType(access, element, tuple(results)))
        self.parameters.append(ops.Parameter(value, self._span()))
        return value

    def scalar(self, name: str, dtype: DType) -> Tile:
        value = Value(name, TileType(dtype))
        self.parameters.append(ops.Parameter(value, self._span()))
        return value

    def value(self, dtype: DType, *axes: Axis) -> Tile:
        self.names += 1
        return Value(f"v{self.names}", TileType(dtype, axes))

    def __call__(self, op: type[Any], result: TileType, *fields: Any) -> Tile:
        """Appends an operation with one result: `b(ops.Binary, type, fn, x, y)`."""
        value = self.value(result.dtype, *result.axes)
        self.do(op, value, *fields)
        return value

    def do(self, op: type[Any], *fields: Any) -> int:
        """Appends an operation and gives its line."""
        self.ops.append(op(self._span(), *fields))
        return self.line

    def constant(self, number: Any, dtype: DType | None = None) -> Tile:
        return self(ops.Constant, INDEX_SCALAR if dtype is None else TileType(dtype), number)

    def load(self, tensor: Tensor, *picks: ops.Pick) -> Tile:
        return self(ops.Load, _region(tensor, picks), tensor, picks)

    def get(self, tensor: Tensor, *picks: ops.Pick, fill: Tile) -> Tile:
        return self(ops.Get, _region(tensor, picks), tensor, picks, fill)

    def cast(self, value: Tile, dtype: DType) -> Tile:
        return self(ops.Cast, TileType(dtype, value.type.axes), value)

    def binary(self, fn: ops.BinaryFn, left: Tile, right: Tile) -> Tile:
        return self(ops.Binary, left.type, fn, left, right)

    @contextmanager
    def block(self) -> Iterator[list[ops.AnyOp]]:
        """Operations appended inside go to the list given, not to the kernel."""
        outer, self.ops = self.ops, []
        try:
            yield self.ops
        finally:
            self.ops = outer

    def combiner(self, *types: TileType, by: Callable[[Tile, Tile], Tile] | BinaryFn) -> ops.Combiner:
        """Combines values of these types, each with its own kind."""
        left, right = (tuple(self.value(of.dtype, *of.axes) for of in types) for _ in range(2))
        with self.block() as body:
            pairs = zip(left, right, strict=True)
            results = tuple(self.binary(by, *pair) if isinstance(by, BinaryFn) else by(*pair) for pair in pairs)
        return ops.Combiner(left, right, ops.Block(tuple(body), results))

    def shift(self, name: str, walked: Walker, by: Tile) -> Walker:
        moved = walker(name, walked.type.dimension, walked.type.size)
        self.do(ops.Shift, moved, walked, by)
        return moved

    def join(self, piece: Walker, *operands: Tile, by: Callable[[Tile, Tile], Tile] | BinaryFn) -> tuple[Tile, ...]:
        results = tuple(self.value(operand.type.dtype, *operand.type.axes) for operand in operands)
        combiner = self.combiner(*(operand.type for operand in operands), by=by)
        self.do(ops.Join, results, piece, operands, combiner)
        return results

    @contextmanager
    def parallel(self, *walkers: Walker, segments: tuple[ops.Segments, ...] = ()) -> Iterator[None]:
        with self.block() as body:
            yield
        self.do(ops.Parallel, walkers, ops.Block(tuple(body)), segments)

    def kernel(self) -> ops.KernelIR:
        return ops.KernelIR("kernel", tuple(self.parameters), {}, {}, {}, ops.Block(tuple(self.ops)), self._span())

    def _span(self) -> Span:
        self.line += 1
        return span(self.line)


def walker(name: str, dimension: str, size: int | None, is_piece: bool = False) -> Walker:
    return Value(name, WalkerType(dimension, size, is_piece))


def _region(tensor: Tensor, picks: tuple[ops.Pick, ...]) -> TileType:
    axes: tuple[Axis, ...] = ()
    for pick, dimension in zip(picks, tensor.type.dimensions, strict=True):
        axes += axis_of(pick, dimension)
    return TileType(tensor.type.read_as, axes)


def tagged(walked: Walker) -> Axis:
    """The axis of a walker's tile."""
    assert walked.type.size is not None
    return Axis(walked.type.size, WalkerTag(walked))


def axis_of(pick: ops.Pick, dimension: Dimension) -> tuple[Axis, ...]:
    """The axis a pick makes, if it makes one."""
    match pick:
        case ops.Along(walked):
            return () if walked.type.is_each else (tagged(walked),)
        case ops.At():
            return ()
        case ops.Gather(indices):
            return indices.type.axes
        case ops.Window(_, length):
            return (Axis(length),)
        case ops.Whole() if isinstance(dimension, Fixed):
            return (Axis(dimension.extent),)
        case ops.Whole():
            return (Axis(0, DimensionTag(str(dimension))),)
