"""Operations on indices: walkers' places, extents, and arithmetic that keeps what is known of a position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tileproof.backends.cuda.tileir.types import I32, I64, Rounding, Value
from tileproof.ir import ops
from tileproof.ir.types import INDEX_LIMIT, Tile, Walker
from tileproof.language.dtypes import ENTRY, INDEX

from . import positions
from .arithmetic import binary
from .positions import Position, base_value, known, narrow_value
from .state import Place, State, View, number
from .tiles import shape_of


def source(s: State, op: ops.Extents | ops.Start | ops.Stop | ops.Elements | ops.Number | ops.Iota | ops.Group) -> None:
    """Defines what a walker, a dimension or counting gives."""
    match op:
        case ops.Extents(dimension=str(name)):
            s.put_position(op.result, s.dimensions[name])
        case ops.Extents(tensor=tensor, axis=axis):
            assert tensor is not None
            s.put_position(op.result, s.tensors[tensor].extents[axis])
        case ops.Start(walker=walker):
            s.put_position(op.result, s.places[walker].start)
        case ops.Stop(walker=walker):
            s.put_position(op.result, s.places[walker].stop)
        case ops.Number(walker=walker):
            s.put_position(op.result, s.places[walker].number)
        case ops.Elements(walker=walker):
            s.put_position(op.result, _counted(s, s.places[walker].start, op.result))
        case ops.Iota():
            s.put_position(op.result, _counted(s, known(0), op.result))
        case ops.Group(index=index, dimension=dimension, into=into):
            members = _divided(s, s.dimensions[dimension], s.dimensions[into])
            s.put_position(op.result, _divided(s, s.scalar(index), members))


def _counted(s: State, start: Position, like: Tile) -> Position:
    (length,) = s.padded(like.type)
    return replace(start, lanes=s.b.iota(length, I32), low=0, high=length - 1)


def _divided(s: State, left: Position, right: Position) -> Position:
    """The quotient of two positions of at least 0; 0 where nothing is divided by."""
    if isinstance(left.base, int) and isinstance(right.base, int):
        return known(left.base // right.base if right.base else 0)
    if right.base == 1:
        return left
    return Position(binary(s.b, ops.BinaryFn.FLOORDIV, base_value(s.b, left), base_value(s.b, right), INDEX))


def arithmetic(s: State, op: ops.Binary) -> bool:
    """Defines sums, differences, products and comparisons of indices by what is known of them; False for others."""
    if op.left.type.dtype != INDEX or s.scalar_region:
        return False
    left, right = s.position(op.left), s.position(op.right)
    if left is None or right is None:
        return False
    if op.fn.compares:
        s.put(op.result, positions.compared(s.b, op.fn, left, right, s.padded(op.left.type)))
        return True
    result: Position | None = None
    is_scalar = left.lanes is None and right.lanes is None
    match op.fn:
        case ops.BinaryFn.ADD:
            result = positions.plus(s.b, left, right)
        case ops.BinaryFn.SUB:
            result = positions.minus(s.b, left, right)
        case ops.BinaryFn.MUL:
            result = positions.times(s.b, left, right)
        case ops.BinaryFn.MIN if is_scalar:
            result = positions.least(s.b, left, right)
        case ops.BinaryFn.MAX if is_scalar:
            result = positions.greatest(s.b, left, right)
        case _:
            return False
    if result is None:
        return False
    s.put_position(op.result, result)
    return True


def reshaped(s: State, op: ops.Broadcast | ops.Expand) -> bool:
    """Defines a stretched tile of indices by what is known of it; False where nothing is."""
    position = s.positions.get(op.operand)
    if position is None or s.scalar_region:
        return False
    shape = s.padded(op.result.type)
    if position.lanes is None:
        s.put_position(op.result, position)
        return True
    old = shape_of(position.lanes)
    if isinstance(op, ops.Expand):
        lanes = s.b.reshape(position.lanes, shape)
    else:
        aligned = (1,) * (len(shape) - len(old)) + old
        lanes = position.lanes if aligned == old else s.b.reshape(position.lanes, aligned)
        lanes = lanes if aligned == shape else s.b.broadcast(lanes, shape)
    s.put_position(op.result, replace(position, lanes=lanes))
    return True


def cast(s: State, op: ops.Cast) -> bool:
    """An integer or entry that becomes an index is the same number; so is an index that stays one."""
    source_, target = op.operand.type.dtype, op.result.type.dtype
    if target != INDEX or s.scalar_region:
        return False
    if source_ == INDEX and op.operand in s.positions:
        s.put_position(op.result, s.positions[op.operand])
        return True
    if s.padded(op.operand.type) or not ((source_.kind in ("int", "uint") and source_.bits <= 32) or source_ == ENTRY):
        return False
    value = s.get(op.operand)
    if source_ == ENTRY:
        s.put_position(op.result, Position(value))
        return True
    narrow = value if source_.name == "i32" else None
    wide = s.b.exti(value, I64, signed=source_.kind == "int")
    s.put_position(op.result, Position(wide, narrow=narrow, reach=1 << source_.bits))
    return True


# Walkers.


def shift(s: State, op: ops.Shift) -> None:
    """A walker moved by some elements, clipped at the end of the axis."""
    here, by = s.places[op.walker], s.scalar(op.by)
    extent = s.dimensions[op.walker.type.dimension]
    start, stop = positions.plus(s.b, here.start, by), positions.plus(s.b, here.stop, by)
    assert start is not None
    assert stop is not None
    if op.walker.type.size is None:
        s.places[op.result] = Place(start, stop, here.number, 1, None)
        return
    stop = positions.least(s.b, stop, extent)
    live = _live(s, start, stop, number(op.walker.type.size))
    s.places[op.result] = Place(start, stop, here.number, live, None, is_inside=False)


def tile_place(
    s: State, walker: Walker, turn: Value, start: Position, stop: Position, *, is_even: bool, is_edge: bool
) -> Place:
    """The tile of a walk that begins at `start`, after `turn` others; `turn` counts in coordinates."""
    size = 1 if walker.type.size is None else number(walker.type.size)
    wide = turn if s.coordinate == I64 else s.b.exti(turn, I64, signed=True)
    gone = Position(wide, narrow=turn if s.coordinate == I32 else None, reach=INDEX_LIMIT)
    moved = positions.times(s.b, gone, known(size))
    assert moved is not None
    here = moved
    if start.base != 0:
        total = positions.plus(s.b, start, moved)
        assert total is not None
        here = total
    if size == 1 and start.base == 0:
        here = gone
    if walker.type.size is None:
        end = positions.plus(s.b, here, known(1))
        assert end is not None
        return Place(here, end, gone, 1, turn if start.base == 0 else None)
    end = positions.plus(s.b, here, known(size))
    assert end is not None
    tile: Value | int | None = None
    if start.is_multiple_of(size):
        tile = turn if start.base == 0 else _tiles_before(s, start, size, turn)
    if is_even:
        return Place(here, end, gone, size, tile)
    return Place(
        here, positions.least(s.b, end, stop), gone, _live(s, here, stop, size), tile, is_edge=is_edge
    )


def _tiles_before(s: State, start: Position, size: int, turn: Value) -> Value:
    """The number of a tile on an axis, for a walk that starts at a multiple of its size."""
    if isinstance(start.base, int):
        first = s.splat(s.coordinate, (), start.base // size)
    else:
        value = narrow_value(s.b, start) if s.coordinate == I32 else base_value(s.b, start)
        first = s.b.divi(value, s.splat(s.coordinate, (), size), signed=True, rounding=Rounding.ZERO)
    return s.b.addi(first, turn)


def _live(s: State, start: Position, stop: Position, size: int) -> Value | int:
    """How many lanes of a tile exist."""
    left = positions.minus(s.b, stop, start)
    assert left is not None
    bounded = positions.least(s.b, positions.greatest(s.b, left, known(0)), known(size))
    return bounded.base if isinstance(bounded.base, int) else narrow_value(s.b, bounded)


def turns(s: State, start: Position, stop: Position, size: int) -> Value:
    """How many tiles a walk has, as a coordinate."""
    length = stop if start.base == 0 else positions.minus(s.b, stop, start)
    assert length is not None
    if isinstance(length.base, int):
        return s.splat(s.coordinate, (), max(-(-length.base // size), 0))
    some = positions.greatest(s.b, length, known(0))
    value = narrow_value(s.b, some) if s.coordinate == I32 else base_value(s.b, some)
    if size == 1:
        return value
    of = s.coordinate
    # Rounded up without a sum that may be too large: (x - 1) // size + 1, and 0 of nothing.
    if length.is_multiple_of(size):
        return s.b.divi(value, s.splat(of, (), size), signed=True, rounding=Rounding.ZERO)
    return s.b.divi(value, s.splat(of, (), size), signed=True, rounding=Rounding.UP)


def split(s: State, op: ops.SplitAt) -> None:
    """Two views of a tensor: before and from a position on."""
    whole, at, axis = s.tensors[op.tensor], s.scalar(op.at), op.axis
    rest = positions.minus(s.b, whole.extents[axis], at)
    assert rest is not None
    limit = narrow_value(s.b, at) if s.coordinate == I32 else base_value(s.b, at)

    def changed(items: Sequence[object], new: object) -> tuple[object, ...]:
        return (*items[:axis], new, *items[axis + 1 :])

    s.tensors[op.past] = View(
        whole.pointer, changed(whole.extents, at), whole.strides, whole.dtype, whole.is_plain,  # type: ignore[arg-type]
        changed(whole.lengths, limit), whole.origin,  # type: ignore[arg-type]
    )  # fmt: skip
    s.tensors[op.fresh] = View(
        whole.pointer, changed(whole.extents, rest), whole.strides, whole.dtype, whole.is_plain,  # type: ignore[arg-type]
        whole.lengths, changed(whole.origin, at),  # type: ignore[arg-type]
    )  # fmt: skip

