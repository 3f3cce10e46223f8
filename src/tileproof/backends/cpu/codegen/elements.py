"""The elements of a tile at a spot. A tile is not computed as a whole: whoever needs it asks for its elements inside
its own loops, and this writes the operations that make them, or load them."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from tileproof.ir import ops
from tileproof.ir.types import Dimension, Fixed, Named, Tensor, Tile, TileType, WalkerTag, number
from tileproof.language.dtypes import ENTRY, INDEX, DType

from .arithmetic import binary, constant, select, unary
from .conversions import bitcast, cast, unpack
from .emitter import Operand, Spot, each, is_number, memory, nbytes, register, suffix, vector
from .lanes import iota, splat, uniform
from .state import Buffer, Part, State, View


def at(s: State, tile: Tile, spot: Spot) -> Operand:
    """The elements of `tile` at `spot`, in registers."""
    if tile.type.rank == 0:
        return splat(s.e, s.scalars[tile], register(tile.type.dtype), spot.lanes)
    key = (tile, spot)
    value = s.e.recall(key)
    if value is None:
        value = s.e.remember(key, _elements_at(s, tile, spot))
    return value


def scalar(s: State, op: ops.PureOp) -> Operand:
    """The value of an operation that gives a scalar of scalars."""
    return _computed(s, op, Spot(()))


def _elements_at(s: State, tile: Tile, spot: Spot) -> Operand:
    if tile in s.buffers:
        return from_buffer(s, s.buffers[tile], spot)
    op = s.lazy[tile]
    match op:
        case Part(whole, axis, place):
            coords = (*spot.coords[:axis], place, *spot.coords[axis:])
            lane = spot.lane if spot.lane is None or spot.lane < axis else spot.lane + 1
            return at(s, whole, spot.moved(coords, lane))
        case ops.Load():
            return load(s, op, spot)
        case ops.Get():
            return get(s, op, spot)
        case _:
            return _computed(s, op, spot)  # type: ignore[arg-type]


def from_buffer(s: State, buffer: Buffer, spot: Spot) -> Operand:
    """Elements of a tile in scratch memory: of lanes that do not exist, what lies behind a row."""
    element, pointer = memory(buffer.dtype), s.element(buffer, spot.coords)
    if spot.when is not None:
        pointer = s.e.op("select i1 {}, ptr {}, ptr {}", spot.when, pointer, buffer.pointer)
    if spot.lanes == 1 or spot.lane is None:
        one = s.e.read(f"load {element}, ptr {{}}, align {nbytes(buffer.dtype)}", pointer)
        return splat(s.e, unpack(s.e, one, buffer.dtype, 1), register(buffer.dtype), spot.lanes)
    of, step = vector(element, spot.lanes), buffer.strides[spot.lane]
    if step == 1:
        bits = s.e.read(f"load {of}, ptr {{}}, align {nbytes(buffer.dtype)}", pointer)
        return unpack(s.e, bits, buffer.dtype, spot.lanes)
    bits = "poison"
    for lane in range(spot.lanes):
        place = s.e.op(f"getelementptr {element}, ptr {{}}, i64 {lane * step}", pointer)
        if spot.mask is not None:  # there is no row behind the last one: the first lane is always there
            exists = s.e.op(f"extractelement {vector('i1', spot.lanes)} {{}}, i64 {lane}", spot.mask)
            place = s.e.op("select i1 {}, ptr {}, ptr {}", exists, place, pointer)
        one = s.e.read(f"load {element}, ptr {{}}, align {nbytes(buffer.dtype)}", place)
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
        case ops.Take(operand=operand, axis=axis, index=index):
            return _taken(s, operand, axis, s.scalars[index], spot)
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
    value = at(s, tile, spot)
    return value if spot.lanes == lanes else splat(s.e, value, register(tile.type.dtype), lanes)


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


def _taken(s: State, operand: Tile, axis: int, place: Operand, spot: Spot) -> Operand:
    """Elements at one place along an axis; any if there is no such place, as where a check has failed."""
    lane = None if spot.lane is None else spot.lane + (spot.lane >= axis)
    here, live = spot.moved((*spot.coords[:axis], place, *spot.coords[axis:]), lane), s.live(operand.type.axes[axis])
    if not (is_number(place) and is_number(live) and 0 <= int(place) < int(live)):
        here = replace(here, when=both(s, here.when, s.e.op("icmp ult i64 {}, {}", place, live), 1))
    return _repeated(s, operand, here, spot.lanes)


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
            mask = both(s, mask, exists, spot.lanes)
        else:
            one = s.e.op("icmp slt i64 {}, {}", coord, live)
            exists_for_all = both(s, exists_for_all, one, 1)
            when = both(s, when, one, 1)
    inside = at(s, operand, replace(spot, mask=mask, when=when))
    condition = everywhere(s, exists, exists_for_all, spot.lanes)
    if condition is None:
        return inside
    return select(s.e, condition, inside, at(s, value, spot), value.type.dtype, spot.lanes)


# Loads: from the picks of an access to addresses, and from bits to registers. A mask keeps lanes away from memory.
# Where an element is asked for alone and may not exist, a zero is read instead.


def load(s: State, op: ops.Load, spot: Spot) -> Operand:
    """Elements of a region of a tensor."""
    view, positions = s.tensors[op.tensor], _positions(s, op.picks, spot)
    if s.ahead and s.ahead_of in (None, op.tensor):
        _fetch_ahead(s, op, view, positions, spot)
    return _read(s, view, positions, spot, op.result.type.dtype)


def _fetch_ahead(s: State, op: ops.Load, view: View, positions: list[Position], spot: Spot) -> None:
    """Asks for the elements of a row some rows further on, where each row is read by lanes that are neighbours.

    What lies there belongs to the next rows, or to the next program, or to nobody: to ask never fails.
    """
    last, before = len(positions) - 1, op.picks[:-1]
    if last < 1 or positions[last].lanes != "run" or view.strides[last] != "1":
        return
    if spot.lane is None or spot.lane < 1 or not isinstance(before[-1], ops.Along | ops.Whole | ops.Window):
        return
    if isinstance(before[-1], ops.Along) and before[-1].walker.type.is_each:
        return
    terms = [s.scaled(term, view.strides[n]) for n, position in enumerate(positions) for term in position.terms]
    far = s.scaled(view.strides[last - 1], str(s.ahead))
    pointer = s.address(view.pointer, [*terms, far], memory(view.dtype))
    if s.e.recall(("ahead", pointer)) is not None:  # another row at hand is made of the same
        return
    s.e.remember(("ahead", pointer), pointer)
    s.e.declare("llvm.prefetch.p0", "void", "ptr", "i32 immarg", "i32 immarg", "i32 immarg")
    s.e.do("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 3, i32 1)", pointer)


def get(s: State, op: ops.Get, spot: Spot) -> Operand:
    """Elements of a region of a tensor, and `fill` outside of it."""
    view, positions = s.tensors[op.tensor], _positions(s, op.picks, spot)
    when, mask = spot.when, spot.mask
    for axis, pick in enumerate(op.picks):
        if _is_inside(s, pick, op.tensor, axis):
            continue
        if isinstance(pick, ops.At | ops.Gather) and _index_of(pick) in s.from_memory:
            positions[axis] = _fetched_once(s, positions[axis], spot.lanes)
        position = positions[axis]
        if position.lanes:
            lanes = vector("i64", spot.lanes)
            extent = splat(s.e, view.extents[axis], "i64", spot.lanes)
            inside = s.e.op(f"icmp ult {lanes} {{}}, {{}}", _along(s, position, spot.lanes), extent)
            mask = both(s, mask, inside, spot.lanes)
        else:
            when = both(s, when, s.e.op("icmp ult i64 {}, {}", position.sum(s), view.extents[axis]), 1)
    read = _read(s, view, positions, replace(spot, when=when, mask=mask), op.result.type.dtype)
    condition = everywhere(s, mask, when, spot.lanes)
    if condition is None:
        return read
    fill = at(s, op.fill, spot)
    return select(s.e, condition, read, fill, op.result.type.dtype, spot.lanes)


def _index_of(pick: ops.At | ops.Gather) -> Tile:
    return pick.index if isinstance(pick, ops.At) else pick.indices


def _fetched_once(s: State, position: Position, lanes: int) -> Position:
    """The same position by way of scratch memory, which nobody else writes: LLVM may fetch what others write once for
    the test and once more for the access. What is volatile it fetches as often as it is written here."""
    type_ = vector("i64", lanes) if position.lanes == "each" else "i64"
    value = position.terms[0] if position.lanes == "each" else position.sum(s)
    slot = s.allocate(8 * lanes)
    s.e.do(f"store volatile {type_} {{}}, ptr {{}}, align 8", value, slot)
    return Position(s.e.here(f"load volatile {type_}, ptr {{}}, align 8", slot), lanes=position.lanes)


def _is_inside(s: State, pick: ops.Pick, tensor: Tensor, axis: int) -> bool:
    """Whether a pick stays inside by construction. What lies before a cut ends sooner than its dimension."""
    if not s.is_parameter(tensor):
        return False
    match pick:
        case ops.Along(walker):
            return tensor.type.dimensions[axis] == Named(walker.type.dimension)
        case ops.Whole():
            return True
        case _:
            return False


class Position:
    """Where along an axis: a sum of terms. `lanes`: one position for each lane; "run": neighbours from there on."""

    def __init__(self, *terms: Operand, lanes: str = "") -> None:
        self.terms = terms
        self.lanes = lanes

    def sum(self, s: State) -> Operand:
        total = "0"
        for term in sorted(self.terms, key=s.e.depth):
            total = s.plus(total, term)
        return total


def _positions(s: State, picks: tuple[ops.Pick, ...], spot: Spot) -> list[Position]:
    """For each axis of a tensor, where a spot of the tile lies."""
    positions, axis = [], 0
    for pick in picks:
        if isinstance(pick, ops.At) or (isinstance(pick, ops.Along) and pick.walker.type.is_each):
            index = s.scalars[pick.index] if isinstance(pick, ops.At) else s.places[pick.walker].start
            positions.append(Position(index))
            continue
        coord, lanes = spot.coords[axis], "run" if spot.lane == axis and spot.lanes > 1 else ""
        match pick:
            case ops.Along(walker):
                positions.append(Position(s.places[walker].start, coord, lanes=lanes))
            case ops.Gather(indices):
                positions.append(_gathered(s, indices, spot, axis, lanes))
            case ops.Whole():
                positions.append(Position(coord, lanes=lanes))
            case ops.Window(start):
                positions.append(Position(str(number(start)), coord, lanes=lanes))
            case ops.At():
                raise AssertionError("drops its axis")
            case _:
                assert_never(pick)
        axis += 1
    return positions


def _gathered(s: State, indices: Tile, spot: Spot, axis: int, lanes: str) -> Position:
    if not lanes:
        return Position(at(s, indices, Spot((spot.coords[axis],), when=spot.when)))
    if is_run(s, indices):
        return Position(at(s, indices, Spot((spot.coords[axis],), when=spot.when)), lanes="run")
    here = Spot((spot.coords[axis],), 0, spot.lanes, spot.mask, spot.when)
    return Position(at(s, indices, here), lanes="each")


def _along(s: State, position: Position, lanes: int) -> Operand:
    """The position of each lane."""
    if position.lanes == "each":
        (each_lane,) = position.terms
        return each_lane
    first = splat(s.e, position.sum(s), "i64", lanes)
    return s.e.op(f"add {vector('i64', lanes)} {{}}, {iota(lanes)}", first)


def _read(s: State, view: View, positions: list[Position], spot: Spot, dtype: DType) -> Operand:
    element, lanes = memory(view.dtype), spot.lanes
    spread = [n for n, position in enumerate(positions) if position.lanes]
    terms = [
        s.scaled(term, view.strides[n])
        for n, position in enumerate(positions) if n not in spread for term in position.terms
    ]  # fmt: skip
    if lanes == 1:
        bits = _read_one(s, s.address(view.pointer, terms, element), element, view.dtype, spot)
    elif not spread:
        one = _read_one(s, s.address(view.pointer, terms, element), element, view.dtype, spot)
        bits = splat(s.e, one, element, lanes)
    else:
        (axis,) = spread
        if positions[axis].lanes == "run" and view.strides[axis] == "1":
            pointer = s.address(view.pointer, [*terms, *positions[axis].terms], element)
            bits = _read_run(s, pointer, element, view.dtype, spot)
        else:
            base = s.address(view.pointer, terms, element)
            bits = _read_each(s, base, _steps(s, view, axis, positions[axis], lanes), element, view.dtype, spot)
    value = unpack(s.e, bits, view.dtype, lanes)
    return cast(s.e, value, view.dtype, dtype, lanes)


def _steps(s: State, view: View, axis: int, position: Position, lanes: int) -> Operand:
    """How far from the base each lane lies."""
    here, stride = _along(s, position, lanes), view.strides[axis]
    if stride == "1":
        return here
    return s.e.op(f"mul {vector('i64', lanes)} {{}}, {{}}", here, splat(s.e, stride, "i64", lanes))


def _read_one(s: State, pointer: Operand, element: str, dtype: DType, spot: Spot) -> Operand:
    if spot.when is not None:
        s.e.define("zero", lambda: "@zero = private constant [64 x i8] zeroinitializer, align 64")
        pointer = s.e.op("select i1 {}, ptr {}, ptr @zero", spot.when, pointer)
    return s.e.read(f"load {element}, ptr {{}}, align {nbytes(dtype)}", pointer)


def _read_run(s: State, pointer: Operand, element: str, dtype: DType, spot: Spot) -> Operand:
    of, align = vector(element, spot.lanes), nbytes(dtype)
    condition = everywhere(s, spot.mask, spot.when, spot.lanes)
    if condition is None:
        return s.e.read(f"load {of}, ptr {{}}, align {align}", pointer)
    truths = vector("i1", spot.lanes)
    name = s.e.declare(
        f"llvm.masked.load.{suffix(element, spot.lanes)}.p0", of, "ptr", "i32 immarg", truths, of
    )
    template = f"call {of} @{name}(ptr {{}}, i32 {align}, {truths} {{}}, {of} zeroinitializer)"
    return s.e.read(template, pointer, condition)


def _read_each(s: State, base: Operand, steps: Operand, element: str, dtype: DType, spot: Spot) -> Operand:
    of, align, lanes = vector(element, spot.lanes), nbytes(dtype), spot.lanes
    pointers, truths = vector("ptr", lanes), vector("i1", lanes)
    where = s.e.op(f"getelementptr {element}, ptr {{}}, {vector('i64', lanes)} {{}}", base, steps)
    condition = everywhere(s, spot.mask, spot.when, lanes) or each(lanes, "true", "i1")
    name = s.e.declare(
        f"llvm.masked.gather.{suffix(element, lanes)}.{suffix('ptr', lanes)}", of, pointers, "i32 immarg", truths, of
    )
    template = f"call {of} @{name}({pointers} {{}}, i32 {align}, {truths} {{}}, {of} zeroinitializer)"
    return s.e.read(template, where, condition)


# Conditions.


def both(s: State, left: Operand | None, right: Operand, lanes: int) -> Operand:
    """Two conditions at once."""
    return right if left is None else s.e.op(f"and {vector('i1', lanes)} {{}}, {{}}", left, right)


def everywhere(s: State, mask: Operand | None, when: Operand | None, lanes: int) -> Operand | None:
    """A condition for each lane and one for all, as one for each lane."""
    if when is None:
        return mask
    return both(s, mask, splat(s.e, when, "i1", lanes), lanes)


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
        case Part(whole, axis) | ops.Take(operand=whole, axis=axis):
            inner = natural_lane(s, whole)
            return None if inner is None or inner == axis else inner - (inner > axis)
        case ops.Constant() | ops.Elements() | ops.Iota():
            return None
        case _:
            for asked in ops.operands(op):
                if isinstance(asked.type, TileType) and asked.type.rank == tile.type.rank:
                    inner = natural_lane(s, asked)  # type: ignore[arg-type]
                    if inner is not None:
                        return inner
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
