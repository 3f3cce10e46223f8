"""Powers of two that a program takes as 0 where they are below the normal numbers of f32.

`tp.where(x < -126, 0, tp.exp2(x))` is what a GPU has one instruction for; a power with results below as well takes
three more: a comparison, and a product ahead of it and behind it.
"""

from __future__ import annotations

from typing import Final

from tileproof.ir import ops
from tileproof.ir.types import AnyValue, Tile
from tileproof.ir.walk import walk
from tileproof.language.dtypes import F32

_LEAST: Final = -126
"""The exponent of the least normal number of f32."""


def flushed(kernel: ops.KernelIR) -> dict[Tile, Tile]:
    """For the result of each such choice, what 2 is raised to."""
    makers: dict[AnyValue, ops.AnyOp] = {}
    for op in walk(kernel.body):
        makers.update(dict.fromkeys(ops.results(op), op))
    found: dict[Tile, Tile] = {}
    for op in makers.values():
        if isinstance(op, ops.Select) and op.result.type.dtype == F32 and _number(makers, op.yes) == 0:
            match makers.get(op.no), makers.get(op.condition):
                case ops.Unary(fn=ops.UnaryFn.EXP2, operand=x), ops.Binary(fn=ops.BinaryFn.LT, left=y, right=least):
                    if x is y and _number(makers, least) == _LEAST:
                        found[op.result] = x
                case _:
                    pass
    return found


def _number(makers: dict[AnyValue, ops.AnyOp], tile: Tile) -> bool | int | float | None:
    """The number that a tile is in every lane, if the program says so."""
    match makers.get(tile):
        case ops.Constant(value=bool() | int() | float() as value):
            return value
        case ops.Broadcast(operand=operand) | ops.Expand(operand=operand):
            return _number(makers, operand)
        case _:
            return None
