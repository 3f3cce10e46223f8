"""What is the same for all programs is computed once for those that a thread takes at a time, before the first of them.

Such operations follow from tensors that are only read, taken whole, and from scalars: a vector that every program
multiplies its rows with, its norm, its conversion. What programs ask of them is kept in scratch memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tileproof.ir import ops
from tileproof.ir.types import Access, AnyValue, Axis, Tile, TileType, WalkerTag, number
from tileproof.language.dtypes import BF16, F16, F32, F64

from .emission import size

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
    made = {*of_program, *(value for op in body.ops for value in ops.results(op))}
    same: list[ops.AnyOp] = []
    rest: list[ops.AnyOp] = []
    for op in body.ops:
        if _is_same(op) and made.isdisjoint(ops.operands(op)):
            same.append(op)
            made.difference_update(ops.results(op))
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


def kept(same: ops.Block, rest: ops.Block, most: int) -> set[AnyValue]:
    """The tiles that programs ask for and that cost more than a load, of at most so many bytes each."""
    made = {value: op for op in same.ops for value in ops.results(op)}
    found: set[AnyValue] = set()
    for op in _all(rest):
        for value in () if isinstance(op, ops.Mma) else ops.operands(op):  # products lay out what they take themselves
            while (source := made.get(value)) is not None and isinstance(source, _VIEWS):
                value = source.operand
            if _is_costly(made.get(value)) and _bytes(value) <= most:  # type: ignore[arg-type]
                found.add(value)
    return found


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
    return math.prod(number(axis.length) for axis in tile.type.axes) * size(tile.type.dtype)
