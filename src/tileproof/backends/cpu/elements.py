"""The elements of a tile at a spot. A tile is not computed as a whole: whoever needs it asks for its elements inside
its own loops, and this writes the operations that make them."""

from __future__ import annotations

from dataclasses import replace

from tileproof.ir import ops
from tileproof.ir.types import Dimension, Fixed, Named, Tile, TileType, WalkerTag
from tileproof.language.dtypes import ENTRY, INDEX

from . import access
from .arithmetic import binary, constant, select, unary
from .conversions import bitcast, cast, unpack
from .emission import Operand, is_number
from .lanes import iota, splat
from .philox import uniform
from .registers import memory, register, size, vector
from .spots import Spot
from .state import Buffer, Part, State, number


def at(s: State, tile: Tile, spot: Spot) -> Operand:
    """The elements of `tile` at `spot`, in registers."""
    if tile.type.rank == 0:
        return splat(s.e, s.scalars[tile], register(tile.type.dtype), spot.lanes)
    key = (tile, spot)
    found = s.e.recall(key)
    if found is None:
        found = s.e.remember(key, _made(s, tile, spot))
    return found


def scalar(s: State, op: ops.PureOp) -> Operand:
    """The value of an operation that gives a scalar of scalars."""
    return _computed(s, op, Spot(()))


def _made(s: State, tile: Tile, spot: Spot) -> Operand:
    if tile in s.buffers:
        return from_buffer(s, s.buffers[tile], spot)
    op = s.lazy[tile]
    match op:
        case Part(whole, axis, place):
            coords = (*spot.coords[:axis], place, *spot.coords[axis:])
            lane = spot.lane if spot.lane is None or spot.lane < axis else spot.lane + 1
            return at(s, whole, spot.moved(coords, lane))
        case ops.Load():
            return access.load(s, op, spot)
        case ops.Get():
            return access.get(s, op, spot)
        case _:
            return _computed(s, op, spot)  # type: ignore[arg-type]


def from_buffer(s: State, buffer: Buffer, spot: Spot) -> Operand:
    """Elements of a tile in scratch memory: of lanes that do not exist, what lies behind a row."""
    element, pointer = memory(buffer.dtype), s.element(buffer, spot.coords)
    if spot.when is not None:
        pointer = s.e.op("select i1 {}, ptr {}, ptr {}", spot.when, pointer, buffer.pointer)
    if spot.lanes == 1 or spot.lane is None:
        one = s.e.read(f"load {element}, ptr {{}}, align {size(buffer.dtype)}", pointer)
        return splat(s.e, unpack(s.e, one, buffer.dtype, 1), register(buffer.dtype), spot.lanes)
    of, step = vector(element, spot.lanes), buffer.strides[spot.lane]
    if step == 1:
        bits = s.e.read(f"load {of}, ptr {{}}, align {size(buffer.dtype)}", pointer)
        return unpack(s.e, bits, buffer.dtype, spot.lanes)
    bits = "poison"
    for lane in range(spot.lanes):
        place = s.e.op(f"getelementptr {element}, ptr {{}}, i64 {lane * step}", pointer)
        if spot.mask is not None:  # there is no row behind the last one: the first lane is always there
            exists = s.e.op(f"extractelement {vector('i1', spot.lanes)} {{}}, i64 {lane}", spot.mask)
            place = s.e.op("select i1 {}, ptr {}, ptr {}", exists, place, pointer)
        one = s.e.read(f"load {element}, ptr {{}}, align {size(buffer.dtype)}", place)
        bits = s.e.op(f"insertelement {of} {{}}, {element} {{}}, i64 {lane}", bits, one)
    return unpack(s.e, bits, buffer.dtype, spot.lanes)


def _computed(s: State, op: ops.PureOp, spot: Spot) -> Operand:
    e, w, dtype = s.e, spot.lanes, op.result.type.dtype
    match op:
        case ops.Constant(value=value):
            return constant(value, dtype, w)  # type: ignore[arg-type]
        case ops.Extents(dimension=str(name)):
            return s.dimensions[name]
        case ops.Extents(tensor=tensor, axis=axis):
            assert tensor is not None, "an extent without a name is that of a tensor"
            return s.tensors[tensor].extents[axis]
        case ops.Start(walker=walker):
            return s.places[walker].start
        case ops.Stop(walker=walker):
            return s.places[walker].stop
        case ops.Number(walker=walker):
            return s.places[walker].number
        case ops.Elements(walker=walker):
            return _counted(s, s.plus(s.places[walker].start, spot.coords[0]), spot)
        case ops.Iota():
            return cast(e, _counted(s, spot.coords[0], spot), INDEX, dtype, w)
        case ops.Group(index=index, dimension=dimension, into=into):
            fn = ops.BinaryFn.FLOORDIV
            members = binary(e, fn, s.dimensions[dimension], s.dimensions[into], INDEX, 1)
            return binary(e, fn, at(s, index, spot), splat(e, members, "i64", w), INDEX, w)
        case ops.Unary(fn=fn1, operand=operand):
            return unary(e, fn1, at(s, operand, spot), operand.type.dtype, w)
        case ops.Binary(fn=fn2, left=left, right=right):
            return binary(e, fn2, at(s, left, spot), at(s, right, spot), left.type.dtype, w)
        case ops.Select(condition=condition, yes=yes, no=no):
            return select(e, at(s, condition, spot), at(s, yes, spot), at(s, no, spot), dtype, w)
        case ops.Cast(operand=operand):
            return cast(e, at(s, operand, spot), operand.type.dtype, dtype, w)
        case ops.Bitcast(operand=operand):
            return bitcast(e, at(s, operand, spot), operand.type.dtype, dtype, w)
        case ops.Broadcast(operand=operand):
            return _repeated(s, operand, before_broadcast(operand.type, op.result.type, spot), w)
        case ops.Expand(operand=operand, axis=axis):
            return _repeated(s, operand, before_expand(axis, spot), w)
        case ops.Permute(operand=operand, order=order):
            places = [order.index(axis) for axis in range(len(order))]
            lane = None if spot.lane is None else order[spot.lane]
            return at(s, operand, spot.moved(tuple(spot.coords[place] for place in places), lane))
        case ops.Slice(operand=operand, axis=axis, start=start):
            moved = s.plus(spot.coords[axis], str(number(start)))
            return at(s, operand, replace(spot, coords=(*spot.coords[:axis], moved, *spot.coords[axis + 1 :])))
        case ops.Fill(operand=operand, value=value):
            return _filled(s, operand, value, spot)
        case ops.Random(seed=seed, offset=offset):
            return uniform(e, s.scalars[seed], at(s, offset, spot), w)
        case _:
            raise AssertionError(f"{type(op).__name__} is computed as a whole")


def _counted(s: State, first: Operand, spot: Spot) -> Operand:
    """`first`, and the numbers after it in the lanes after the first."""
    if spot.lanes == 1 or spot.lane is None:
        return splat(s.e, first, "i64", spot.lanes)
    numbers = iota(spot.lanes)
    return s.e.op(f"add {vector('i64', spot.lanes)} {{}}, {numbers}", splat(s.e, first, "i64", spot.lanes))


def _repeated(s: State, tile: Tile, spot: Spot, lanes: int) -> Operand:
    """Elements of a tile, a single one in every lane."""
    found = at(s, tile, spot)
    return found if spot.lanes == lanes else splat(s.e, found, register(tile.type.dtype), lanes)


def before_expand(axis: int, spot: Spot) -> Spot:
    """Where a spot lies in a tile that was given a new axis."""
    lane = None if spot.lane is None or spot.lane == axis else spot.lane - (spot.lane > axis)
    return spot.moved((*spot.coords[:axis], *spot.coords[axis + 1 :]), lane)


def before_broadcast(operand: TileType, target: TileType, spot: Spot) -> Spot:
    """Where a spot lies in a tile that was repeated."""
    offset = target.rank - operand.rank
    coords, lane = [], None
    for number_, axis in enumerate(operand.axes):
        there = number_ + offset
        if number(axis.length) == 1 != number(target.axes[there].length):
            coords.append("0")
            continue
        coords.append(spot.coords[there])
        if there == spot.lane:
            lane = number_
    return spot.moved(tuple(coords), lane)


def _filled(s: State, operand: Tile, value: Tile, spot: Spot) -> Operand:
    """The operand where it has elements, `value` where it has none."""
    mask, when = spot.mask, spot.when
    exists: Operand | None = None
    exists_for_all: Operand | None = None
    for number_, (axis, coord) in enumerate(zip(operand.type.axes, spot.coords, strict=True)):
        live = s.live(axis)
        if is_number(live) and int(live) == number(axis.length):
            continue
        if number_ == spot.lane and spot.lanes > 1:
            here = _counted(s, coord, spot)
            limit = splat(s.e, live, "i64", spot.lanes)
            exists = s.e.op(f"icmp slt {vector('i64', spot.lanes)} {{}}, {{}}", here, limit)
            mask = access.both(s, mask, exists, spot.lanes)
        else:
            one = s.e.op("icmp slt i64 {}, {}", coord, live)
            exists_for_all = access.both(s, exists_for_all, one, 1)
            when = access.both(s, when, one, 1)
    inside = at(s, operand, replace(spot, mask=mask, when=when))
    condition = access.everywhere(s, exists, exists_for_all, spot.lanes)
    if condition is None:
        return inside
    return select(s.e, condition, inside, at(s, value, spot), value.type.dtype, spot.lanes)


# What is known of a tile without computing it.


def is_run(s: State, tile: Tile) -> bool:
    """Whether a one-axis tile of positions counts up by one, so that its lanes are neighbours."""
    if tile.type.rank != 1 or tile in s.buffers or tile not in s.lazy:
        return False
    match s.lazy[tile]:
        case ops.Elements():
            return True
        case ops.Iota():
            return tile.type.dtype == INDEX
        case _ if tile.type.dtype not in (INDEX, ENTRY):
            return False  # narrow numbers saturate and wrap
        case ops.Cast(operand=operand):
            return is_run(s, operand)
        case ops.Binary(fn=ops.BinaryFn.ADD, left=left, right=right):
            return (is_run(s, left) and is_same(s, right)) or (is_same(s, left) and is_run(s, right))
        case ops.Binary(fn=ops.BinaryFn.SUB, left=left, right=right):
            return is_run(s, left) and is_same(s, right)
        case _:
            return False


def is_same(s: State, tile: Tile) -> bool:
    """Whether all elements of a one-axis tile are the same."""
    if tile.type.rank == 0:
        return True
    match s.lazy.get(tile):
        case ops.Constant():
            return True
        case ops.Broadcast(operand=operand) | ops.Cast(operand=operand):
            return operand.type.rank == 0 or is_same(s, operand)
        case _:
            return False


def natural_lane(s: State, tile: Tile) -> int | None:
    """The axis along which the elements of a tile are best asked for: neighbours in memory; None if all are alike."""
    if tile.type.rank == 0:
        return None
    if tile in s.buffers:
        return s.buffers[tile].strides.index(1)
    op = s.lazy[tile]
    match op:
        case ops.Load() | ops.Get():
            return _axis_in_memory(s, op)
        case ops.Permute(operand=operand, order=order):
            inner = natural_lane(s, operand)
            return None if inner is None else order.index(inner)
        case ops.Broadcast(operand=operand):
            inner = natural_lane(s, operand)
            if inner is None or number(operand.type.axes[inner].length) == 1:
                return None
            return inner + tile.type.rank - operand.type.rank
        case ops.Expand(operand=operand, axis=axis):
            inner = natural_lane(s, operand)
            return None if inner is None else inner + (inner >= axis)
        case Part(whole, axis):
            inner = natural_lane(s, whole)
            return None if inner is None or inner == axis else inner - (inner > axis)
        case ops.Constant() | ops.Elements() | ops.Iota():
            return None
        case _:
            for asked in ops.operands(op):
                if isinstance(asked.type, TileType) and asked.type.rank == tile.type.rank:
                    found = natural_lane(s, asked)  # type: ignore[arg-type]
                    if found is not None:
                        return found
            return None


def _axis_in_memory(s: State, op: ops.Load | ops.Get) -> int | None:
    axis = 0
    for pick, stride in zip(op.picks, s.tensors[op.tensor].strides, strict=True):
        if isinstance(pick, ops.At) or (isinstance(pick, ops.Along) and pick.walker.type.is_each):
            continue
        if stride == "1" and not (isinstance(pick, ops.Gather) and not is_run(s, pick.indices)):
            return axis
        axis += 1
    return None


def is_outside(s: State, tile: Tile, depth: int) -> bool:
    """Whether a tile can be made before level `depth + 1` begins: all it is made of is there, and its loads cannot
    be wrong where they have not been reached."""
    if tile.type.rank == 0 or tile in s.buffers or isinstance(s.lazy[tile], Part):
        return s.depths.get(tile, len(s.e.levels)) <= depth
    op = s.lazy[tile]
    assert not isinstance(op, Part)
    match op:
        case ops.Load(picks=picks):
            axes = zip(picks, op.tensor.type.dimensions, strict=True)
            return s.is_parameter(op.tensor) and all(_is_outside_pick(s, pick, of, depth) for pick, of in axes)
        case ops.Get() | ops.Random():
            return False
        case ops.Elements(walker=walker):
            return s.depths[walker] <= depth
        case _:
            return all(
                is_outside(s, asked, depth)  # type: ignore[arg-type]
                for asked in ops.operands(op)
            ) and all(s.depths[axis.tag.walker] <= depth for axis in tile.type.axes if isinstance(axis.tag, WalkerTag))


def _is_outside_pick(s: State, pick: ops.Pick, dimension: Dimension, depth: int) -> bool:
    match pick:
        case ops.Along(walker):
            # Of another dimension, or of none, the axis is long enough only where the access is reached.
            return s.depths[walker] <= depth and dimension == Named(walker.type.dimension)
        case ops.Whole():
            return True
        case ops.Window(start, length):
            extent = dimension.extent if isinstance(dimension, Fixed) else s.kernel.static.get(str(dimension))
            return isinstance(extent, int) and number(start) + number(length) <= extent
        case _:
            return False
