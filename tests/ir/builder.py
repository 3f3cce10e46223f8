"""A small way to write IR by hand: nothing is checked, so that broken IR can be written too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

import pytest

from tileproof.diagnostics.spans import Source, Span
from tileproof.ir.ops import (
    AnyOp,
    Binary,
    BinaryFn,
    Block,
    Broadcast,
    Cast,
    Combiner,
    Constant,
    Fold,
    Get,
    If,
    Join,
    KernelIR,
    Load,
    Parallel,
    Parameter,
    Pick,
    RangeLoop,
    Scan,
    Segments,
    Shift,
    SplitAt,
    Store,
    TilesLoop,
    While,
)
from tileproof.ir.types import (
    INDEX_SCALAR,
    Access,
    Axis,
    Content,
    Dimension,
    Fixed,
    Length,
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
)
from tileproof.ir.verifier import IRError, verify
from tileproof.language.dtypes import BOOL, ENTRY, F32, INDEX, TF32, DType

SOURCE = Source("kernel.py", ())


def along(walker: Walker) -> Axis:
    """The axis that a tile walker gives."""
    assert walker.type.size is not None
    return Axis(walker.type.size, WalkerTag(walker))


def each(name: str, dimension: str) -> Walker:
    """A walker of single elements."""
    return Value(name, WalkerType(dimension, None))


def tiles(name: str, dimension: str, size: Length) -> Walker:
    """A walker of tiles."""
    return Value(name, WalkerType(dimension, size))


def pieces(name: str, dimension: str, size: Length) -> Walker:
    """A walker of pieces, which a join puts together."""
    return Value(name, WalkerType(dimension, size, is_piece=True))


def _dimension(word: str) -> Dimension:
    if word == "_":
        return Unnamed()
    return Fixed(int(word)) if word.isdigit() else Named(word)


class Holding:
    """What `with` hands out for an operation with blocks: set `yields` inside, read `results` behind it."""

    def __init__(self, carried: tuple[Tile, ...] = ()) -> None:
        self.carried = carried
        self.tested: tuple[Tile, ...] = ()
        self.test_ops: tuple[AnyOp, ...] = ()
        self.yields: tuple[Tile, ...] = ()
        self.otherwise = Block(())
        self.results: tuple[Tile, ...] = ()


class Combining:
    """What `with` hands out for a combiner: set `yields` inside, read `combiner` behind it."""

    def __init__(self, left: tuple[Tile, ...], right: tuple[Tile, ...]) -> None:
        self.left = left
        self.right = right
        self.yields: tuple[Tile, ...] = ()
        self.combiner = Combiner(left, right, Block(()))


class Builder:
    """A kernel in the making."""

    def __init__(self, name: str = "kernel") -> None:
        self.name = name
        self.constants: Mapping[str, Any] = {}
        self.static: Mapping[str, Length] = {}
        self.parameters: list[Parameter] = []
        self.ops: list[AnyOp] = []
        self.yields: tuple[Tile, ...] = ()
        self.line = 1
        self.counts: dict[str, int] = {}

    def kernel(self) -> KernelIR:
        body = Block(tuple(self.ops), self.yields)
        return KernelIR(self.name, tuple(self.parameters), self.constants, self.static, {}, body, self.span)

    @property
    def span(self) -> Span:
        return Span(SOURCE, self.line, 5, self.line, 10)

    def value(self, of: TileType, name: str = "") -> Tile:
        """A value with a name of its own: `x`, then `x.1`, or `v0`, `v1` without a name."""
        count = self.counts.get(name, 0)
        self.counts[name] = count + 1
        return Value((f"{name}.{count}" if count else name) if name else f"v{count}", of)

    def tensor(self, name: str, access: Access, element: DType | Content, dimensions: str) -> Tensor:
        of = TensorType(access, element, tuple(map(_dimension, dimensions.split())))
        tensor: Tensor = Value(name, of)
        self.parameters.append(Parameter(tensor, self.span))
        return tensor

    def scalar(self, name: str, dtype: DType) -> Tile:
        tile = self.value(TileType(dtype), name)
        self.parameters.append(Parameter(tile, self.span))
        return tile

    def emit(self, op: AnyOp) -> None:
        self.ops.append(op)
        self.line += 1

    def op(self, kind: Any, of: TileType, name: str = "", **fields: Any) -> Tile:
        """An operation with one result of type `of`."""
        result = self.value(of, name)
        self.emit(kind(span=self.span, result=result, **fields))
        return result

    def number(self, value: Any, dtype: DType = INDEX) -> Tile:
        return self.op(Constant, TileType(dtype), value=value)

    def full(self, value: Any, of: TileType, name: str = "") -> Tile:
        return self.op(Broadcast, of, name, operand=self.number(value, of.dtype))

    def spread(self, tile: Tile, *axes: Axis) -> Tile:
        return self.op(Broadcast, TileType(tile.type.dtype, axes), operand=tile)

    def binary(self, fn: BinaryFn, left: Tile, right: Tile, name: str = "") -> Tile:
        of = TileType(BOOL, left.type.axes) if fn.compares else left.type
        return self.op(Binary, of, name, fn=fn, left=left, right=right)

    def add(self, left: Tile, right: Tile, name: str = "") -> Tile:
        return self.binary(BinaryFn.ADD, left, right, name)

    def load(self, tensor: Tensor, *picks: Pick, axes: tuple[Axis, ...] = (), name: str = "") -> Tile:
        return self.op(Load, TileType(tensor.type.read_as, axes), name, tensor=tensor, picks=picks)

    def get(self, tensor: Tensor, *picks: Pick, fill: Tile, axes: tuple[Axis, ...] = ()) -> Tile:
        return self.op(Get, TileType(tensor.type.read_as, axes), tensor=tensor, picks=picks, fill=fill)

    def shift(self, name: str, walker: Walker, by: Tile) -> Walker:
        shifted = Value(name, WalkerType(walker.type.dimension, walker.type.size))
        self.emit(Shift(self.span, shifted, walker, by))
        return shifted

    def split(self, tensor: Tensor, axis: int, at: Tile) -> tuple[Tensor, Tensor]:
        """The tensors `past` and `fresh`."""
        dimensions = tensor.type.dimensions
        counted = (*dimensions[:axis], Unnamed(), *dimensions[axis + 1 :])
        past: Tensor = Value("past", TensorType(Access.IN, tensor.type.element, dimensions))
        fresh: Tensor = Value("fresh", TensorType(Access.INOUT, tensor.type.element, counted))
        self.emit(SplitAt(self.span, past, fresh, tensor, axis, at))
        return past, fresh

    def store(self, tensor: Tensor, *picks: Pick, value: Tile) -> None:
        self.emit(Store(self.span, tensor, picks, value))

    @contextmanager
    def _gathering(self) -> Iterator[list[AnyOp]]:
        outer, self.ops = self.ops, []
        yield self.ops
        self.ops = outer

    @contextmanager
    def combining(self, *types: TileType) -> Iterator[Combining]:
        """A combiner of values of these types, which are called `left` and `right`."""
        left, right = (tuple(self.value(of, name) for of in types) for name in ("left", "right"))
        pair = Combining(left, right)
        with self._gathering() as ops:
            yield pair
        pair.combiner = Combiner(left, right, Block(tuple(ops), pair.yields))

    def adding(self, *types: TileType) -> Combiner:
        """The combiner that adds."""
        with self.combining(*types) as pair:
            pair.yields = tuple(map(self.add, pair.left, pair.right))
        return pair.combiner

    def fold(self, combiner: Combiner, *operands: Tile, identities: tuple[Tile, ...], axis: int) -> tuple[Tile, ...]:
        made = tuple(self.value(tile.type) for tile in combiner.left)
        self.emit(Fold(self.span, made, operands, identities, axis, combiner))
        return made

    def scan(self, combiner: Combiner, *operands: Tile, axis: int) -> tuple[Tile, ...]:
        made = tuple(map(self._again, operands))
        self.emit(Scan(self.span, made, operands, axis, combiner))
        return made

    def join(self, combiner: Combiner, *operands: Tile, over: Walker) -> tuple[Tile, ...]:
        made = tuple(map(self._again, operands))
        self.emit(Join(self.span, made, over, operands, combiner))
        return made

    @contextmanager
    def parallel(self, *walkers: Walker, segments: tuple[Segments, ...] = ()) -> Iterator[None]:
        span = self.span
        self.line += 1
        with self._gathering() as ops:
            yield
        self.ops.append(Parallel(span, walkers, Block(tuple(ops)), segments))

    def _carry(self, inits: tuple[Tile, ...]) -> Holding:
        return Holding(tuple(map(self._again, inits)))

    def _close(self, loop: Holding) -> tuple[Tile, ...]:
        loop.results = tuple(map(self._again, loop.carried))
        return loop.results

    def _again(self, tile: Tile) -> Tile:
        """Another value of the same type and under the same name."""
        name = tile.name.partition(".")[0]
        return self.value(tile.type, "" if name[1:].isdecimal() else name)

    @contextmanager
    def walking(
        self, walker: Walker, *inits: Tile, start: Tile | None = None, stop: Tile | None = None
    ) -> Iterator[Holding]:
        span, loop = self.span, self._carry(inits)
        self.line += 1
        with self._gathering() as ops:
            yield loop
        body = Block(tuple(ops), loop.yields)
        self.ops.append(TilesLoop(span, self._close(loop), walker, start, stop, inits, loop.carried, body))

    @contextmanager
    def counting(self, variable: str, start: Tile, stop: Tile, step: Tile, *inits: Tile) -> Iterator[Holding]:
        span, loop = self.span, self._carry(inits)
        self.line += 1
        counted = self.value(INDEX_SCALAR, variable)
        with self._gathering() as ops:
            yield loop
        body = Block(tuple(ops), loop.yields)
        made = self._close(loop)
        self.ops.append(RangeLoop(span, made, counted, start, stop, step, inits, loop.carried, body))

    @contextmanager
    def repeating(self, *inits: Tile) -> Iterator[Holding]:
        """A `while`; its test is what is emitted inside `testing`."""
        span, loop = self.span, self._carry(inits)
        self.line += 1
        with self._gathering() as ops:
            yield loop
        test, body = Block(loop.test_ops, loop.tested), Block(tuple(ops), loop.yields)
        self.ops.append(While(span, self._close(loop), inits, loop.carried, test, body))

    @contextmanager
    def testing(self, loop: Holding) -> Iterator[None]:
        with self._gathering() as ops:
            yield
        loop.test_ops = tuple(ops)

    @contextmanager
    def when(self, condition: Tile, *results: TileType) -> Iterator[Holding]:
        span, choice = self.span, Holding()
        self.line += 1
        with self._gathering() as ops:
            yield choice
        choice.results = tuple(map(self.value, results))
        then = Block(tuple(ops), choice.yields)
        self.ops.append(If(span, choice.results, condition, then, choice.otherwise))

    @contextmanager
    def otherwise(self, choice: Holding) -> Iterator[None]:
        """The other branch of `choice`; what it hands on is set in `choice.tested`."""
        with self._gathering() as ops:
            yield
        choice.otherwise = Block(tuple(ops), choice.tested)


Fill: TypeAlias = Callable[[Builder], None]


class Broken(list[tuple[Fill, str]]):
    """Functions that fill a kernel so that it breaks one rule, each with the message of that rule."""

    def rule(self, message: str) -> Callable[[Fill], Fill]:
        def mark(fill: Fill) -> Fill:
            self.append((fill, message))
            return fill

        return mark

    def __call__(self, test: Callable[[Fill, str], None]) -> Any:
        """Runs a test once for each of them."""
        names = [fill.__name__ for fill, _ in self]
        return pytest.mark.parametrize(("fill", "message"), list(self), ids=names)(test)


def of(dtype: DType, *axes: Any) -> TileType:
    """A tile type; a number stands for an untagged axis."""
    return TileType(dtype, tuple(axis if isinstance(axis, Axis) else Axis(axis) for axis in axes))


def tile(b: Builder, dtype: DType, *axes: Any) -> Tile:
    """Some tile of any element type."""
    if dtype in (INDEX, ENTRY):
        return b.full(1, of(dtype, *axes))
    if dtype == TF32:
        return b.op(Cast, of(dtype, *axes), operand=tile(b, F32, *axes))
    scalar = b.scalar(f"s{len(b.parameters)}_", dtype)
    return b.op(Broadcast, of(dtype, *axes), operand=scalar)


def refusal(b: Builder) -> str:
    """The first line of what the verifier says of a kernel; empty if it keeps every rule."""
    try:
        verify(b.kernel())
    except IRError as error:
        return str(error).splitlines()[0]
    return ""


def accepts(b: Builder) -> bool:
    return refusal(b) == ""
