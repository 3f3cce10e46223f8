"""Tiles whose elements stand in another order: one after another, or in another shape."""

from __future__ import annotations

from tileproof.ir import ops
from tileproof.ir.types import Tile, number

from . import elements, nests
from .emission import Spot
from .state import Buffer, State


def rearrange(s: State, op: ops.Cat | ops.Reshape) -> None:
    """Writes a tile into scratch memory in its new order."""
    if isinstance(op, ops.Cat):
        _cat(s, op)
    else:
        _reshape(s, op)


def _cat(s: State, op: ops.Cat) -> None:
    buffer, begin = s.destination(op.result), 0
    for operand in op.operands:
        def visit(spot: Spot, operand: Tile = operand, begin: int = begin) -> None:
            moved = s.plus(spot.coords[op.axis], str(begin))
            coords = (*spot.coords[: op.axis], moved, *spot.coords[op.axis + 1 :])
            target = Spot(coords, spot.lane, spot.lanes, spot.mask)
            nests.put(s, buffer, target, elements.at(s, operand, spot))

        lane = nests.last_long(op.result)
        with s.e.nest():
            nests.sweep(s, s.lives(operand.type), lane, visit)
        begin += number(operand.type.axes[op.axis].length)
    s.buffers[op.result] = buffer


def _reshape(s: State, op: ops.Reshape) -> None:
    """All axes are full: the elements are laid out row by row without padding, and read in the new shape."""
    tile = op.operand.type
    count = 1
    for axis in tile.axes:
        count *= number(axis.length)
    amount = (count + s.lanes) * (tile.dtype.bits // 8)
    packed = Buffer(s.allocate(amount), _steps([number(axis.length) for axis in tile.axes]), tile.dtype)
    if tile.rank == 0:
        nests.put(s, packed, Spot(()), s.scalars[op.operand])
    else:
        lane = tile.rank - 1 if number(tile.axes[-1].length) > 1 else None
        with s.e.nest():
            nests.sweep(
                s, s.lives(tile), lane, lambda spot: nests.put(s, packed, spot, elements.at(s, op.operand, spot))
            )
    target = op.result.type
    reshaped = Buffer(packed.pointer, _steps([number(axis.length) for axis in target.axes]), tile.dtype)
    if target.rank == 0:
        with s.e.nest():
            s.scalars[op.result] = elements.from_buffer(s, reshaped, Spot(()))
    else:
        s.buffers[op.result] = reshaped


def _steps(lengths: list[int]) -> tuple[int, ...]:
    steps, step = [], 1
    for length in reversed(lengths):
        steps.append(step)
        step *= max(length, 1)
    return tuple(reversed(steps))


