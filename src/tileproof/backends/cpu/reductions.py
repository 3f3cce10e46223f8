"""Reductions along an axis.

Along the lanes, several rows are reduced at once and each by several sums at a time, which are then combined in a
fixed order. Across the lanes, a vector of sums goes down the axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tileproof.ir import ops
from tileproof.language.dtypes import BOOL, F32, F64, INDEX, DType

from . import elements, nests
from .arithmetic import binary, constant, fill_value, select
from .conversions import cast
from .emission import Operand, is_number
from .lanes import fold_lanes, splat
from .registers import register, vector
from .spots import Spot
from .state import Buffer, State, number

_COMBINES = {
    ops.ReduceFn.SUM: ops.BinaryFn.ADD, ops.ReduceFn.MEAN: ops.BinaryFn.ADD, ops.ReduceFn.MAX: ops.BinaryFn.MAX,
    ops.ReduceFn.MIN: ops.BinaryFn.MIN, ops.ReduceFn.ANY: ops.BinaryFn.OR, ops.ReduceFn.ALL: ops.BinaryFn.AND,
}  # fmt: skip
_ROWS = 4
"""How many rows are reduced at once."""
_SUMS = 8
"""How many vectors of sums are kept at once."""


def reduce(s: State, op: ops.Reduce) -> None:
    """Computes a reduction: a scalar, or a tile in scratch memory."""
    with s.e.nest():
        if op.result.type.rank == 0:
            s.scalars[op.result] = _rows(s, op, [()])[0]
            return
        buffer = s.destination(op.result)
        lane = _lane(s, op)
        if op.fn in (ops.ReduceFn.ARGMAX, ops.ReduceFn.ARGMIN) or lane == op.axis:
            _by_rows(s, op, lambda coords, value: nests.put(s, buffer, Spot(coords), value))
        else:
            inner = lane - (lane > op.axis)
            lives = s.lives(op.result.type)
            nests.sweep(s, lives, inner, lambda spot: nests.put(s, buffer, spot, _column(s, op, spot)))
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
        rows = [(*coords[:last], s.plus(coords[last], str(n))) for n in range(count)]
        for row, value in zip(rows, _rows(s, op, rows), strict=True):
            place(row, value)

    def walk(axis: int, coords: tuple[Operand, ...]) -> None:
        def turns(first: Operand, stop: Operand, count: int) -> None:
            def turn(here: Operand, _: list[Operand]) -> Sequence[Operand]:
                some((*coords, here), count)
                return ()

            s.e.loop(first, stop, count, turn)

        if axis < last:

            def outer(here: Operand, _: list[Operand]) -> Sequence[Operand]:
                walk(axis + 1, (*coords, here))
                return ()

            s.e.loop("0", lives[axis], 1, outer)
            return
        live = lives[last]
        if op.fn in (ops.ReduceFn.ARGMAX, ops.ReduceFn.ARGMIN):
            turns("0", live, 1)
            return
        whole = str(int(live) // _ROWS * _ROWS) if is_number(live) else s.e.op(f"and i64 {{}}, {-_ROWS}", live)
        turns("0", whole, _ROWS)
        turns(whole, live, 1)

    walk(0, ())


def _rows(
    s: State, op: ops.Reduce, rows: Sequence[tuple[Operand, ...]], keep: Buffer | None = None
) -> list[Operand]:
    """The reductions of rows, given by their coordinates without the reduced axis; what is reduced goes into `keep`."""
    if op.fn in (ops.ReduceFn.ARGMAX, ops.ReduceFn.ARGMIN):
        return [_extreme(s, op, row) for row in rows]
    axis, live = op.axis, s.live(op.operand.type.axes[op.axis])
    of, fn = _computed_in(op), _COMBINES[op.fn]
    w = _width(s, op)
    sums = max(1, (_SUMS if keep is None else nests.UNROLL) // len(rows)) if w == s.lanes else 1
    if is_number(live):
        sums = max(1, min(sums, int(live) // w))

    def spot(row: tuple[Operand, ...], here: Operand, mask: Operand | None = None) -> Spot:
        return Spot((*row[:axis], here, *row[axis:]), axis if w > 1 else None, w, mask)

    def value_at(place: Spot) -> Operand:
        if keep is not None:
            nests.put(s, keep, place, elements.at(s, op.operand, place))
        return _element(s, op, place)

    def turn(here: Operand, totals: list[Operand]) -> Sequence[Operand]:
        made = []
        for n, row in enumerate(rows):
            for m in range(sums):
                value = value_at(spot(row, s.plus(here, str(m * w))))
                made.append(binary(s.e, fn, totals[n * sums + m], value, of, w))
        return made

    def last(here: Operand, totals: list[Operand]) -> Sequence[Operand]:
        mask = nests.before(s, here, live, w) if w > 1 else None
        made = []
        for row, total in zip(rows, totals, strict=True):
            value = value_at(spot(row, here, mask))
            if mask is not None:
                value = select(s.e, mask, value, _start(op, w), of, w)
            made.append(binary(s.e, fn, total, value, of, w))
        return made

    many = w * sums
    whole = str(int(live) // many * many) if is_number(live) else s.e.op("sub i64 {}, {}", live, _rest(s, live, many))
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


def _rest(s: State, live: Operand, many: int) -> Operand:
    return s.e.op(f"urem i64 {{}}, {many}", live)


def _width(s: State, op: ops.Reduce) -> int:
    """Lanes for the rows: fewer where a row is shorter, one where it does not lie along the lanes."""
    if _lane(s, op) != op.axis:
        return 1
    w, length = s.lanes, number(op.operand.type.axes[op.axis].length)
    while w > 1 and w // 2 >= length:
        w //= 2
    return w


def _column(s: State, op: ops.Reduce, spot: Spot) -> Operand:
    """Reductions of neighbouring columns, one in each lane."""
    axis, live, w = op.axis, s.live(op.operand.type.axes[op.axis]), spot.lanes
    of, fn = _computed_in(op), _COMBINES[op.fn]
    lane = None if spot.lane is None else spot.lane + (spot.lane >= axis)

    def turn(here: Operand, totals: list[Operand]) -> Sequence[Operand]:
        coords = (*spot.coords[:axis], here, *spot.coords[axis:])
        value = _element(s, op, Spot(coords, lane, w, spot.mask))
        return [binary(s.e, fn, totals[0], value, of, w)]

    (total,) = s.e.loop("0", live, 1, turn, [(vector(register(of), w), _start(op, w))])
    return _finished(s, op, total, w)


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
