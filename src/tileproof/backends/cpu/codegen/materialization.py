"""Which tiles are worth computing once, into scratch memory, instead of again by everyone who asks.

Costs are counted in cheap operations for each element. A tile is kept if what it saves is more than the store and the
loads it takes, or if it must be: what is read from a tensor that the kernel writes is read where the program says so.

What is the same for all programs is computed once for those that a thread takes at a time, before the first of them.
Such operations follow from tensors that are only read, taken whole, and from scalars: a vector that every program
multiplies its rows with, its norm, its conversion. What programs ask of them is kept in scratch memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from tileproof.ir import ops
from tileproof.ir.types import Access, AnyValue, Axis, Tile, TileType, WalkerTag, number
from tileproof.language.dtypes import BF16, F16, F32, F64, I8, I16, I32, U8

from .emitter import nbytes

_WHOLE = (ops.Reduce, ops.CumSum, ops.Mma, ops.Cat, ops.Reshape, ops.Fold, ops.Scan, ops.Join)
"""Operations that need all elements of a tile at once."""
_COSTLY = {
    ops.UnaryFn.EXP: 12, ops.UnaryFn.EXP2: 10, ops.UnaryFn.LOG: 14, ops.UnaryFn.LOG2: 14, ops.UnaryFn.SQRT: 8,
    ops.UnaryFn.RSQRT: 12, ops.UnaryFn.TANH: 20, ops.UnaryFn.SIGMOID: 18, ops.UnaryFn.SIN: 25, ops.UnaryFn.COS: 25,
    ops.UnaryFn.ERF: 25,
}  # fmt: skip
_WORTH = 8
_WORTH_IN_LOOP = 4
_TURNS = 4
"""How often a loop is taken to turn, and an outer axis to repeat what does not depend on it."""


@dataclass
class Uses:
    """What is asked of each tile of a kernel."""

    kept: set[AnyValue] = field(default_factory=set)
    """Tiles that are computed once."""
    counts: dict[AnyValue, int] = field(default_factory=dict)
    """How many operations and blocks use a value."""
    reduced: dict[AnyValue, ops.Reduce] = field(default_factory=dict)
    """Of kept tiles of one axis, a reduction that can be made on the way."""


@dataclass
class _Reading:
    costs: dict[AnyValue, int] = field(default_factory=dict)
    depths: dict[AnyValue, int] = field(default_factory=dict)
    asked: dict[AnyValue, int] = field(default_factory=dict)
    deep: set[AnyValue] = field(default_factory=set)
    uses: Uses = field(default_factory=Uses)


def uses_of(body: ops.Block) -> Uses:
    """The tiles of a block, at any depth, that are to be kept."""
    reading = _Reading()
    _price(reading, body, 0)
    _count(reading, body, 0)
    _pair(reading.uses, body)
    return reading.uses


def _pair(uses: Uses, block: ops.Block) -> None:
    """Finds reductions that stand in the same block as the kept tile they reduce."""
    here = {value for op in block.ops for value in ops.results(op)}
    for op in block.ops:
        for inner in ops.blocks(op):
            _pair(uses, inner)
        match op:
            case ops.Reduce(fn=ops.ReduceFn.SUM | ops.ReduceFn.MAX | ops.ReduceFn.MIN, operand=operand):
                if operand in uses.kept and operand in here and operand.type.rank == 1:
                    uses.reduced.setdefault(operand, op)
            case _:
                pass


def _price(r: _Reading, block: ops.Block, depth: int) -> None:
    for op in block.ops:
        for inner in ops.blocks(op):
            _price(r, inner, depth + _is_loop(op))
        for value in ops.results(op):
            r.depths[value] = depth
            if _is_tile(value):
                r.costs[value] = 1 if _is_whole(op) else _own(op) + sum(_asked_cost(r, op))


def _asked_cost(r: _Reading, op: ops.AnyOp) -> list[int]:
    return [r.costs.get(value, 0) for value in ops.operands(op) if isinstance(value.type, TileType)]


def _own(op: ops.AnyOp) -> int:
    match op:
        case ops.Unary(fn=fn):
            return _COSTLY.get(fn, 1)
        case ops.Binary(fn=ops.BinaryFn.DIV):
            return 5
        case ops.Binary(fn=ops.BinaryFn.FLOORDIV | ops.BinaryFn.CDIV | ops.BinaryFn.MOD | ops.BinaryFn.POW):
            return 20
        case ops.Random():
            return 40
        case ops.Get():
            return 3
        case ops.Load(picks=picks):
            return 6 if any(isinstance(pick, ops.Gather) for pick in picks) else 1
        case ops.Constant() | ops.Elements() | ops.Iota():
            return 0
        case ops.Broadcast() | ops.Expand() | ops.Permute() | ops.Slice() | ops.Take():
            return 0
        case _:
            return 1


def _is_whole(op: ops.AnyOp) -> bool:
    return isinstance(op, _WHOLE) or bool(ops.blocks(op))


def _is_tile(value: AnyValue) -> bool:
    return isinstance(value.type, TileType) and value.type.rank > 0


def _is_loop(op: ops.AnyOp) -> int:
    return isinstance(op, ops.TilesLoop | ops.RangeLoop | ops.While | ops.Fold | ops.Scan | ops.Join)


def _count(r: _Reading, block: ops.Block, depth: int) -> None:
    for value in block.yields:
        _ask(r, value, 1, depth)
    for op in reversed(block.ops):
        for inner in ops.blocks(op):
            _count(r, inner, depth + _is_loop(op))
        _keep(r, op)
        times, depth_asked = 1, depth
        results = ops.results(op)
        if results and not _is_whole(op) and results[0] not in r.uses.kept and _is_tile(results[0]):
            times = r.asked.get(results[0], 0)
            depth_asked = depth + (results[0] in r.deep)
        for operand in ops.operands(op):
            again = _TURNS if isinstance(op, ops.Broadcast) and _repeats(op, operand) else 1
            _ask(r, operand, times * again, depth_asked)


def _ask(r: _Reading, value: AnyValue, times: int, depth: int) -> None:
    r.uses.counts[value] = r.uses.counts.get(value, 0) + 1
    if depth > r.depths.get(value, 0):
        r.deep.add(value)
        times *= _TURNS
    r.asked[value] = r.asked.get(value, 0) + times


def _repeats(op: ops.Broadcast, operand: AnyValue) -> bool:
    """Whether each row of the result asks for the same elements of the operand again."""
    assert isinstance(operand.type, TileType)
    if not operand.type.rank:
        return False
    source, target = operand.type.axes, op.result.type.axes
    return source[-1].length == target[-1].length and (
        len(target) > len(source) or any(a.length != b.length for a, b in zip(source, target, strict=True))
    )


def _keep(r: _Reading, op: ops.AnyOp) -> None:
    for value in ops.results(op):
        if not _is_tile(value) or _is_whole(op) or _is_widening(op):
            continue
        cost, asked = r.costs[value], r.asked.get(value, 0)
        is_worth = (asked > 1 and cost >= _WORTH) or (value in r.deep and cost >= _WORTH_IN_LOOP)
        if is_worth or _must(op):
            r.uses.kept.add(value)


def _is_widening(op: ops.AnyOp) -> bool:
    """Whether bytes become longer integers, which is done again for less than their longer form takes in memory."""
    return isinstance(op, ops.Cast) and op.operand.type.dtype in (I8, U8) and op.result.type.dtype in (I16, I32)


def _must(op: ops.AnyOp) -> bool:
    return isinstance(op, ops.Load | ops.Get) and op.tensor.type.access is not Access.IN


_MOVED = (
    ops.Constant, ops.Extents, ops.Iota, ops.Unary, ops.Binary, ops.Select, ops.Cast, ops.Broadcast, ops.Expand,
    ops.Permute, ops.Slice, ops.Reduce,
)  # fmt: skip
_VIEWS = ops.Broadcast | ops.Expand | ops.Permute | ops.Slice
"""Operations that show the elements of another tile."""


def hoisted(body: ops.Block, of_program: Iterable[AnyValue] = ()) -> tuple[ops.Block, ops.Block]:
    """The operations of a program that are the same for all programs, and the rest.

    `of_program` are scalars that differ from program to program: the numbers of segments.
    """
    own = {*of_program, *(value for op in body.ops for value in ops.results(op))}
    same: list[ops.AnyOp] = []
    rest: list[ops.AnyOp] = []
    for op in body.ops:
        if _is_same(op) and own.isdisjoint(ops.operands(op)):
            same.append(op)
            own.difference_update(ops.results(op))
        else:
            rest.append(op)
    if not any(isinstance(op, ops.Load) for op in same):
        return ops.Block(()), body
    return ops.Block(tuple(same)), ops.Block(tuple(rest), body.yields)


def _is_same(op: ops.AnyOp) -> bool:
    """Whether an operation would be the same in every program if what it takes is."""
    match op:
        case ops.Load(picks=picks):
            is_whole = all(isinstance(pick, ops.Whole | ops.Window) for pick in picks)
            return op.tensor.type.access is Access.IN and is_whole and op.result.type.rank > 0
        case _ if isinstance(op, _MOVED):
            return not any(isinstance(axis.tag, WalkerTag) for value in ops.results(op) for axis in _axes(value))
        case _:
            return False


def _axes(value: AnyValue) -> tuple[Axis, ...]:
    return value.type.axes if isinstance(value.type, TileType) else ()


def reused_tiles(same: ops.Block, rest: ops.Block, most: int) -> set[AnyValue]:
    """Tiles that `rest` uses and that cost more than a load to compute again, of at most `most` bytes each."""
    producers = {value: op for op in same.ops for value in ops.results(op)}
    tiles: set[AnyValue] = set()
    for op in _all(rest):
        for value in () if isinstance(op, ops.Mma) else ops.operands(op):  # products lay out what they take themselves
            while (source := producers.get(value)) is not None and isinstance(source, _VIEWS):
                value = source.operand
            if _is_costly(producers.get(value)) and _bytes(value) <= most:  # type: ignore[arg-type]
                tiles.add(value)
    return tiles


def _all(block: ops.Block) -> list[ops.AnyOp]:
    return [each for op in block.ops for each in (op, *(inner for body in ops.blocks(op) for inner in _all(body)))]


def _is_costly(op: ops.AnyOp | None) -> bool:
    match op:
        case ops.Cast(operand=operand):
            return operand.type.rank > 0 and operand.type.dtype in (BF16, F16) and op.result.type.dtype in (F32, F64)
        case ops.Unary() | ops.Binary() | ops.Select():
            return op.result.type.rank > 0
        case _:
            return False


def _bytes(tile: Tile) -> int:
    return math.prod(number(axis.length) for axis in tile.type.axes) * nbytes(tile.type.dtype)
