"""Reductions, folds, scans and sums up to each element, along an axis.

Reductions along an axis. Along the lanes, several rows are reduced at once and each by several sums at a time, which
are then combined in a fixed order. Across the lanes, a vector of sums goes down the axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tileproof.backends.cpu.gemm import integer_dots
from tileproof.ir import ops
from tileproof.ir.types import Tile, TileType, Value, number
from tileproof.language.dtypes import BOOL, F32, F64, INDEX, DType

from . import elements, nests
from .arithmetic import binary, constant, fill_value, select
from .conversions import cast
from .emitter import Operand, Spot, is_number, nbytes, register, vector
from .lanes import fold_lanes, splat
from .state import Buffer, Part, State

Turns = Callable[..., None]


def cumulate(s: State, op: ops.CumSum) -> None:
    """Sums of all elements up to each, along an axis."""
    of, source, axis = op.result.type.dtype, op.operand.type, op.axis
    lives = s.lives(source)
    buffer = s.destination(op.result)
    lane = nests.last_long(op.operand)
    others = [live for n, live in enumerate(lives) if n != axis]
    inner = None if lane == axis else lane - (lane > axis)

    def visit(spot: Spot) -> None:
        along = None if spot.lane is None else spot.lane + (spot.lane >= axis)

        def turn(here: Operand, total: list[Operand]) -> Sequence[Operand]:
            place = Spot((*spot.coords[:axis], here, *spot.coords[axis:]), along, spot.lanes, spot.mask)
            value = cast(s.e, elements.at(s, op.operand, place), source.dtype, of, spot.lanes)
            following = binary(s.e, ops.BinaryFn.ADD, total[0], value, of, spot.lanes)
            nests.put(s, buffer, place, following)
            return [following]

        start = (vector(register(of), spot.lanes), constant(0, of, spot.lanes))
        s.e.loop("0", lives[axis], 1, turn, [start])

    with s.e.nest():
        nests.sweep(s, others, inner, visit)
    s.buffers[op.result] = buffer


def fold(s: State, op: ops.Fold, turns: Turns) -> None:
    """Elements along an axis, which is dropped, combined in order; the identities where there are none."""
    live = s.live(op.operands[0].type.axes[op.axis])
    combiner = op.combiner
    firsts = [_first(s, operand, identity, result, live, op.axis) for operand, identity, result in
              zip(op.operands, op.identities, op.results, strict=True)]  # fmt: skip

    def enter(place: Operand) -> None:
        bind_parts(s, combiner.right, op.operands, op.axis, place)

    def drive(carried: Any, turn: Any) -> list[Operand]:
        return s.e.loop("1", live, 1, turn, carried)

    turns(s, combiner.left, firsts, op.results, drive, enter, combiner.body)


def _first(s: State, operand: Tile, identity: Tile, like: Tile, live: Operand, axis: int) -> Tile:
    """A value that is the operand's first part, or the identity if it has no part."""
    first = Value(f"{like.name}.first", like.type)
    exists = s.e.op("icmp sgt i64 {}, 0", live)
    if like.type.rank:
        buffer = s.buffer(like.type)
        s.lazy[first] = Part(operand, axis, "0")
        s.define(first)

        def present() -> None:
            nests.fill(s, buffer, first, nests.last_long(first), elements.natural_lane(s, first))

        def absent() -> None:
            with s.e.nest():
                nests.sweep(s, s.lives(like.type), nests.last_long(first),
                            lambda spot: nests.put(s, buffer, spot, elements.at(s, identity, spot)))  # fmt: skip

        s.e.when(exists, present, absent)
        s.buffers[first] = buffer
    else:
        with s.e.nest():
            value = elements.at(s, operand, Spot(("0",), when=exists))
            of = register(like.type.dtype)
            s.scalars[first] = s.e.op(f"select i1 {{}}, {of} {{}}, {of} {{}}", exists, value, s.scalars[identity])
    return first


def bind_parts(s: State, names: Sequence[Tile], operands: Sequence[Tile], axis: int, place: Operand) -> None:
    """Lets names stand for what operands have at one place along an axis."""
    for name, operand in zip(names, operands, strict=True):
        if name.type.rank:
            s.lazy[name] = Part(operand, axis, place)
            s.buffers.pop(name, None)
        else:
            with s.e.nest():
                s.scalars[name] = elements.at(s, operand, Spot((place,)))
        s.define(name)


def scan(s: State, op: ops.Scan, turns: Turns) -> None:
    """Elements up to each, along an axis, combined in order."""
    live = s.live(op.operands[0].type.axes[op.axis])
    combiner, axis = op.combiner, op.axis
    buffers = [s.destination(result) for result in op.results]
    firsts = [
        _first(s, operand, _zero(s, operand), left, live, axis)
        for operand, left in zip(op.operands, combiner.left, strict=True)
    ]

    def keep(values: Sequence[Tile], place: Operand) -> None:
        for value, buffer in zip(values, buffers, strict=True):
            def visit(spot: Spot, value: Tile = value, buffer: Any = buffer) -> None:
                coords = (*spot.coords[:axis], place, *spot.coords[axis:])
                lane = None if spot.lane is None else spot.lane + (spot.lane >= axis)
                target = Spot(coords, lane, spot.lanes, spot.mask)
                nests.put(s, buffer, target, elements.at(s, value, spot))

            with s.e.nest():
                lane = nests.last_long(value) if value.type.rank else None
                nests.sweep(s, s.lives(value.type), lane, visit)

    s.e.when(s.e.op("icmp sgt i64 {}, 0", live), lambda: keep(firsts, "0"))
    now = ["0"]

    def enter(place: Operand) -> None:
        now[0] = place
        bind_parts(s, combiner.right, op.operands, axis, place)

    def drive(carried: Any, turn: Any) -> list[Operand]:
        def kept(place: Operand, values: list[Operand]) -> list[Operand]:
            following: list[Operand] = turn(place, values)
            keep(combiner.body.yields, place)
            return following

        return s.e.loop("1", live, 1, kept, carried)

    ends = [Value(f"{left.name}.end", left.type) for left in combiner.left]
    turns(s, combiner.left, firsts, ends, drive, enter, combiner.body)
    s.buffers.update(zip(op.results, buffers, strict=True))


def _zero(s: State, like: Tile) -> Tile:
    zero = Value("zero", type(like.type)(like.type.dtype))
    s.scalars[zero] = constant(0, like.type.dtype, 1)
    return zero


_COMBINES = {
    ops.ReduceFn.SUM: ops.BinaryFn.ADD, ops.ReduceFn.MEAN: ops.BinaryFn.ADD, ops.ReduceFn.MAX: ops.BinaryFn.MAX,
    ops.ReduceFn.MIN: ops.BinaryFn.MIN, ops.ReduceFn.ANY: ops.BinaryFn.OR, ops.ReduceFn.ALL: ops.BinaryFn.AND,
}  # fmt: skip
_ROWS = 4
"""How many rows are reduced at once."""
_SUMS = 8
"""How many vectors of sums are kept at once."""
_COLUMNS = 8
"""How many vectors of columns are reduced at once, at most."""
_WIDTHS = {8: 3, 4: 4, 2: 4, 1: 4}
"""Where each row of one tile is multiplied with each of another: how many of the other are taken with how many of the
one. A sum for each pair fits the registers."""
_WIDTHS_OF_FEW = {4: 2, 2: 4, 1: 4}
"""The same for a target with few registers."""
_AHEAD = 4096
"""Bytes that are asked for ahead of where rows are read, at least; as whole groups of rows."""
_LINE = 64
"""Bytes that memory hands out at a time."""


def reduce(s: State, op: ops.Reduce) -> None:
    """Computes a reduction: a scalar, or a tile in scratch memory."""
    dots = integer_dots.match_dots(s, op)
    with s.e.nest():
        if op.result.type.rank == 0:
            s.scalars[op.result] = _rows(s, op, [()])[0] if dots is None else integer_dots.alone(s, dots)
            return
        buffer = s.destination(op.result)
        lane = _lane(s, op)
        if dots is not None:
            integer_dots.reduce(s, op, dots, buffer)
        elif op.fn in (ops.ReduceFn.ARGMAX, ops.ReduceFn.ARGMIN) or lane == op.axis:
            _by_rows(s, op, lambda coords, value: nests.put(s, buffer, Spot(coords), value))
        else:
            _by_columns(s, op, buffer, lane - (lane > op.axis))
    s.buffers[op.result] = buffer


def reduce_and_keep(s: State, op: ops.Reduce) -> None:
    """Computes a tile of one axis into scratch memory and reduces it on the way: one pass for both."""
    buffer = s.destination(op.operand)
    with s.e.nest():
        s.scalars[op.result] = _rows(s, op, [()], buffer)[0]
    s.buffers[op.operand] = buffer


def _lane(s: State, op: ops.Reduce) -> int:
    """The axis of the operand along which it is asked for."""
    natural = elements.natural_lane(s, op.operand)
    if natural is not None and number(op.operand.type.axes[natural].length) > 1:
        return natural
    return nests.last_long(op.operand)


def _computed_in(op: ops.Reduce) -> DType:
    match op.fn:
        case ops.ReduceFn.SUM:
            return op.result.type.dtype
        case ops.ReduceFn.MEAN:
            return F64 if op.result.type.dtype == F64 else F32
        case ops.ReduceFn.ANY | ops.ReduceFn.ALL:
            return BOOL
        case _:
            return op.operand.type.dtype


def _element(s: State, op: ops.Reduce, spot: Spot) -> Operand:
    value = elements.at(s, op.operand, spot)
    return cast(s.e, value, op.operand.type.dtype, _computed_in(op), spot.lanes)


def _start(op: ops.Reduce, w: int) -> Operand:
    fn = ops.ReduceFn.SUM if op.fn is ops.ReduceFn.MEAN else op.fn
    return fill_value(fn, _computed_in(op), w)


def _finished(s: State, op: ops.Reduce, total: Operand, w: int) -> Operand:
    if op.fn is ops.ReduceFn.MEAN:
        of = _computed_in(op)
        count = cast(s.e, s.live(op.operand.type.axes[op.axis]), INDEX, of, 1)
        total = binary(s.e, ops.BinaryFn.DIV, total, splat(s.e, count, register(of), w), of, w)
        return cast(s.e, total, of, op.result.type.dtype, w)
    return total


def _by_rows(s: State, op: ops.Reduce, place: Callable[[tuple[Operand, ...], Operand], None]) -> None:
    """Loops over all axes but the reduced one; along the last of them, several rows at once."""
    lives = s.lives(op.result.type)
    last = len(lives) - 1

    def some(coords: tuple[Operand, ...], count: int) -> None:
        block([(*coords[:last], s.plus(coords[last], str(n))) for n in range(count)])

    def block(rows: Sequence[tuple[Operand, ...]], sums: int = _SUMS) -> None:
        for row, value in zip(rows, _rows(s, op, rows, most=sums), strict=True):
            place(row, value)

    def walk(axis: int, coords: tuple[Operand, ...]) -> None:
        def turns(first: Operand, stop: Operand, count: int) -> None:
            s.e.each(first, stop, count, lambda here: some((*coords, here), count))

        if axis == last - 1 and _is_outer(s, op):
            # One sum for each row, so that what a row gives does not depend on how many are taken at once.
            _blocks(s, coords, lives[axis:], partial(block, sums=1))
            return
        if axis < last:
            s.e.each("0", lives[axis], 1, lambda here: walk(axis + 1, (*coords, here)))
            return
        live = lives[last]
        if op.fn in (ops.ReduceFn.ARGMAX, ops.ReduceFn.ARGMIN):
            turns("0", live, 1)
            return
        whole = str(int(live) // _ROWS * _ROWS) if is_number(live) else s.e.op(f"and i64 {{}}, {-_ROWS}", live)
        turns("0", whole, _ROWS)
        turns(whole, live, 1)

    walk(0, ())


def _is_outer(s: State, op: ops.Reduce) -> bool:
    """Whether what is reduced are products of each row of one tile with each row of another."""
    axis = op.axis
    if op.fn is not ops.ReduceFn.SUM or axis != op.operand.type.rank - 1 or op.operand in s.buffers:
        return False
    match s.lazy.get(op.operand):
        case ops.Binary(fn=ops.BinaryFn.MUL, left=left, right=right):
            return {_repeated_along(s, left, axis), _repeated_along(s, right, axis)} == {axis - 1, axis - 2}
        case _:
            return False


def _repeated_along(s: State, tile: Tile, last: int) -> int | None:
    """The one of the two axes before the last along which a tile repeats itself, if it is one of them."""
    op = s.lazy.get(tile)
    if tile in s.buffers or not isinstance(op, ops.Broadcast):
        return None
    before = [number(axis.length) for axis in op.operand.type.axes]
    lengths = [1] * (tile.type.rank - len(before)) + before
    repeated = [axis for axis in (last - 1, last - 2) if lengths[axis] == 1 < number(tile.type.axes[axis].length)]
    return repeated[0] if len(repeated) == 1 else None


def _blocks(
    s: State, coords: tuple[Operand, ...], lives: Sequence[Operand], block: Callable[..., None]
) -> None:
    """Loops over two axes by blocks of rows along both, so that what makes a row is there for several others."""
    tall, wide = lives

    def over(live: Operand, sizes: Sequence[int], body: Callable[[Operand, int], None]) -> None:
        first: Operand = "0"
        for count in sizes:
            if is_number(live) and is_number(first):
                stop = str(int(first) + (int(live) - int(first)) // count * count)
            else:
                stop = s.plus(first, _whole(s, s.e.op("sub i64 {}, {}", live, first), count))

            def turn(here: Operand, count: int = count) -> None:
                body(here, count)

            s.e.each(first, stop, count, turn)
            first = stop

    def rows(i: Operand, height: int) -> None:
        def columns(j: Operand, width: int) -> None:
            places = ((s.plus(i, str(n)), s.plus(j, str(m))) for n in range(height) for m in range(width))
            block([(*coords, *place) for place in places])

        over(wide, (widths[height], 1), columns)

    widths = _WIDTHS if s.target.registers >= 32 else _WIDTHS_OF_FEW
    over(tall, tuple(widths), rows)


def _rows(
    s: State, op: ops.Reduce, rows: Sequence[tuple[Operand, ...]], keep: Buffer | None = None, most: int = _SUMS
) -> list[Operand]:
    """The reductions of rows, given by their coordinates without the reduced axis; what is reduced goes into `keep`.

    Each has several sums, which are added up behind it; all rows together about as many as `most`."""
    if op.fn in (ops.ReduceFn.ARGMAX, ops.ReduceFn.ARGMIN):
        return [_extreme(s, op, row) for row in rows]
    axis, live = op.axis, s.live(op.operand.type.axes[op.axis])
    of, fn = _computed_in(op), _COMBINES[op.fn]
    w = _width(s, op)
    sums = max(1, (most if keep is None else nests.UNROLL) // len(rows)) if w == s.lanes else 1
    if is_number(live):
        sums = max(1, min(sums, int(live) // w))
    streamed = _streamed(s, op, op.operand)
    tensor = None if streamed is None else streamed.tensor
    count = len({row[-1:] for row in rows})
    ahead, apart = (0, 1) if streamed is None or count < 2 else _ahead(s, op, streamed, count, w)

    def spot(row: tuple[Operand, ...], here: Operand, mask: Operand | None = None) -> Spot:
        return Spot((*row[:axis], here, *row[axis:]), axis if w > 1 else None, w, mask)

    def value_at(place: Spot) -> Operand:
        if keep is not None:
            nests.put(s, keep, place, elements.at(s, op.operand, place))
        return _element(s, op, place)

    def turn(here: Operand, totals: list[Operand]) -> Sequence[Operand]:
        following = []
        for n, row in enumerate(rows):
            for m in range(sums):
                s.ahead, s.ahead_of = ahead if m % apart == 0 else 0, tensor
                value = value_at(spot(row, s.plus(here, str(m * w))))
                following.append(binary(s.e, fn, totals[n * sums + m], value, of, w))
        s.ahead, s.ahead_of = 0, None
        return following

    def last(here: Operand, totals: list[Operand]) -> Sequence[Operand]:
        mask = nests.before(s, here, live, w) if w > 1 else None
        following = []
        for row, total in zip(rows, totals, strict=True):
            value = value_at(spot(row, here, mask))
            if mask is not None:
                value = select(s.e, mask, value, _start(op, w), of, w)
            following.append(binary(s.e, fn, total, value, of, w))
        return following

    many = w * sums
    whole = _whole(s, live, many)
    start = (vector(register(of), w), _start(op, w))
    totals = s.e.loop("0", whole, many, turn, [start] * (len(rows) * sums))
    firsts = []
    for n in range(len(rows)):
        parts = totals[n * sums : (n + 1) * sums]
        while len(parts) > 1:
            pairs = [binary(s.e, fn, x, y, of, w) for x, y in zip(parts[::2], parts[1::2], strict=False)]
            parts = [*pairs, parts[-1]] if len(parts) % 2 else pairs
        firsts.append((start[0], parts[0]))
    ends = s.e.loop(whole, live, w, last, firsts)
    return [_finished(s, op, fold_lanes(s.e, fn, end, of, w), 1) for end in ends]


def _ahead(s: State, op: ops.Reduce, streamed: ops.Load, rows: int, w: int) -> tuple[int, int]:
    """How many rows ahead of those at hand memory is asked for, and after how many vectors there is more to ask for.

    What fetches ahead by itself follows few streams, and each of them only to the end of its page.
    """
    width = nbytes(s.tensors[streamed.tensor].dtype)
    row = number(op.operand.type.axes[op.axis].length) * width
    return rows * -(-_AHEAD // max(rows * row, 1)), max(1, _LINE // (w * width))


def _streamed(s: State, op: ops.Reduce, tile: Tile) -> ops.Load | None:
    """The load that rows come from which are reduced one after another, if there is one."""
    if tile in s.buffers or tile.type.rank < 2 or op.result.type.rank == 0:
        return None
    match s.lazy.get(tile):
        case ops.Load(picks=picks) as load:
            row = op.result.type.axes[-1].tag
            is_row = row is not None and len(picks) > 1 and tile.type.axes[-2].tag == row
            return load if is_row else None
        case None | Part():
            return None
        case producer:
            asked = (value for value in ops.operands(producer) if isinstance(value.type, TileType))
            loads = (_streamed(s, op, value) for value in asked)  # type: ignore[arg-type]
            return next((each for each in loads if each is not None), None)


def _width(s: State, op: ops.Reduce) -> int:
    """Lanes for the rows: fewer where a row is shorter, one where it does not lie along the lanes."""
    if _lane(s, op) != op.axis:
        return 1
    w, length = s.lanes, number(op.operand.type.axes[op.axis].length)
    while w > 1 and w // 2 >= length:
        w //= 2
    return w


def _by_columns(s: State, op: ops.Reduce, buffer: Buffer, lane: int) -> None:
    """Loops over the columns, several vectors at once: a sum waits for the one before it, but not for others.

    So do several rows of the axis before the lanes: what they share is read and converted once.
    """
    lives = s.lives(op.result.type)
    live, others = lives[lane], [each for axis, each in enumerate(lives) if axis != lane]
    rows = max(min(int(others[-1]), _ROWS), 1) if others and is_number(others[-1]) else 1
    count = max(min(s.target.registers // (2 * rows), _COLUMNS), 1)

    def visit(outer: tuple[Operand, ...], rows: int) -> None:
        above = [(*outer[:-1], s.plus(outer[-1], str(n))) for n in range(rows)] if rows > 1 else [outer]

        def some(here: Operand, count: int, w: int, mask: Operand | None = None) -> None:
            places = [s.plus(here, str(n * w)) for n in range(count)]
            columns = [(*row[:lane], place, *row[lane:]) for row in above for place in places]
            spots = [Spot(coords, lane if w > 1 else None, w, mask) for coords in columns]
            for spot, value in zip(spots, _columns(s, op, spots), strict=True):
                nests.put(s, buffer, spot, value)

        many = s.lanes * count
        whole = _whole(s, live, many)
        s.e.each("0", whole, many, lambda here: some(here, count, s.lanes))
        if is_number(live) and (left := (int(live) - int(whole)) // s.lanes):
            some(whole, left, s.lanes)
            whole = str(int(whole) + left * s.lanes)
        nests.run(s, live, lambda here, w, mask: some(here, 1, w, mask), 1, first=whole)

    def group(outer: tuple[Operand, ...]) -> None:
        whole = int(others[-1]) // rows * rows
        s.e.each("0", str(whole), rows, lambda here: visit((*outer, here), rows))
        if whole < int(others[-1]):
            visit((*outer, str(whole)), int(others[-1]) - whole)

    if rows > 1:
        nests.sweep(s, others[:-1], None, lambda spot: group(spot.coords))
    else:
        nests.sweep(s, others, None, lambda spot: visit(spot.coords, 1))


def _whole(s: State, live: Operand, many: int) -> Operand:
    """The elements that come in steps of so many."""
    if is_number(live):
        return str(int(live) // many * many)
    return s.e.op("sub i64 {}, {}", live, s.e.op(f"urem i64 {{}}, {many}", live))


def _columns(s: State, op: ops.Reduce, spots: Sequence[Spot]) -> list[Operand]:
    """Reductions of neighbouring columns, one in each lane of each spot."""
    axis, live, w = op.axis, s.live(op.operand.type.axes[op.axis]), spots[0].lanes
    of, fn = _computed_in(op), _COMBINES[op.fn]

    def turn(here: Operand, totals: list[Operand]) -> Sequence[Operand]:
        following = []
        for spot, total in zip(spots, totals, strict=True):
            lane = None if spot.lane is None else spot.lane + (spot.lane >= axis)
            coords = (*spot.coords[:axis], here, *spot.coords[axis:])
            following.append(binary(s.e, fn, total, _element(s, op, Spot(coords, lane, w, spot.mask)), of, w))
        return following

    totals = s.e.loop("0", live, 1, turn, [(vector(register(of), w), _start(op, w))] * len(spots))
    return [_finished(s, op, total, w) for total in totals]


def _extreme(s: State, op: ops.Reduce, row: tuple[Operand, ...]) -> Operand:
    """The position of the largest or smallest element of a row: NaN before all, then the first."""
    axis, live, of = op.axis, s.live(op.operand.type.axes[op.axis]), op.operand.type.dtype
    fn = ops.BinaryFn.GT if op.fn is ops.ReduceFn.ARGMAX else ops.BinaryFn.LT

    def turn(here: Operand, best: list[Operand]) -> Sequence[Operand]:
        value = elements.at(s, op.operand, Spot((*row[:axis], here, *row[axis:])))
        better = binary(s.e, fn, value, best[0], of, 1)
        if of.is_float:
            element = register(of)
            is_nan = s.e.op(f"fcmp uno {element} {{}}, {{}}", value, value)
            was_nan = s.e.op(f"fcmp uno {element} {{}}, {{}}", best[0], best[0])
            new_nan = s.e.op("and i1 {}, {}", is_nan, s.e.op("xor i1 {}, true", was_nan))
            better = s.e.op("or i1 {}, {}", better, new_nan)
        first = s.e.op("icmp eq i64 {}, 0", here)
        better = s.e.op("or i1 {}, {}", better, first)
        return [
            select(s.e, better, value, best[0], of, 1),
            s.e.op("select i1 {}, i64 {}, i64 {}", better, here, best[1]),
        ]

    zero = constant(0, of, 1)
    _, position = s.e.loop("0", live, 1, turn, [(register(of), zero), ("i64", "0")])
    return position
