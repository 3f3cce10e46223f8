"""Matrix products: both operands are packed into scratch memory, then a block of the result that fits into registers
is summed over the whole inner axis at a time.

The left operand is packed row by row, the right one in panels as wide as a block. Whatever makes the elements of an
operand (conversions, scales, exponentials) is done while packing; operands that do not change in a loop are packed
before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from tileproof.ir import ops
from tileproof.ir.types import Tile
from tileproof.language.dtypes import F32, F64

from . import elements, integer_packing, nests
from .arithmetic import binary, constant, fma
from .blocking import (
    UNROLL,
    Shape,
    behind_panels,
    in_panel,
    over_panels,
    panels_of,
    shape_of,
    steps_of,
)
from .conversions import cast
from .emission import Operand, Spot, is_number, size, vector
from .lanes import splat
from .state import Buffer, State


def product(s: State, op: ops.Mma) -> None:
    """Computes `left @ right + acc` into scratch memory."""
    shape = shape_of(s, op)
    left = _packed(s, op, True, shape)
    right = _packed(s, op, False, shape)
    out, is_fresh = _accumulator(s, op)
    _multiply(s, op, shape, left, right, out, is_fresh)
    s.buffers[op.result] = out


def _accumulator(s: State, op: ops.Mma) -> tuple[Buffer, bool]:
    """Where the product is summed, and whether it begins from zero. A loop's sum is added to in place."""
    if s.slots.get(op.result) is op.acc and s.uses.counts.get(op.acc) == 1:
        s.destinations.pop(op.result, None)
        return s.buffers[op.acc], False
    out = s.destination(op.result)
    if _is_zero(s, op.acc):
        return out, True
    nests.fill(s, out, op.acc, nests.last_long(op.acc), elements.natural_lane(s, op.acc))
    return out, False


def _is_zero(s: State, tile: Tile) -> bool:
    match s.lazy.get(tile):
        case ops.Constant(value=value):
            return value == 0
        case ops.Broadcast(operand=operand):
            return _is_zero(s, operand)
        case _:
            return False


# Packing.


def fill_left(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    """Packs a left operand."""
    _pack_left(s, tile, shape, base)
    _pad_left(s, tile, shape, base)


def fill_right(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    """Packs a right operand."""
    _pack_right(s, tile, shape, base)
    _pad_right(s, tile, shape, base)
    integer_packing.sum_columns(s, tile, shape, base)


def _packed(s: State, op: ops.Mma, is_left: bool, shape: Shape) -> Operand:
    """Memory with a packed operand: filled before the launch, or before the loops that leave it as it is, or here."""
    if (op.result, is_left) in s.packed:
        return s.packed[op.result, is_left](s)
    tile, fill = (op.left, fill_left) if is_left else (op.right, fill_right)
    pointer = s.allocate((shape.left_count if is_left else shape.right_count) * size(shape.dtype))
    with _earliest(s, tile), s.e.nest():
        fill(s, tile, shape, pointer)
    return pointer


def _earliest(s: State, tile: Tile) -> AbstractContextManager[None]:
    for level in s.loops:
        if elements.is_outside(s, tile, level - 1):
            return s.e.outside(level - 1)
    return nullcontext()


def _value(s: State, tile: Tile, shape: Shape, spot: Spot) -> Operand:
    return cast(s.e, elements.at(s, tile, spot), tile.type.dtype, shape.dtype, spot.lanes)


def _put(s: State, shape: Shape, pointer: Operand, value: Operand, lanes: int) -> None:
    s.e.do(f"store {vector(shape.element, lanes)} {{}}, ptr {{}}, align {size(shape.dtype)}", value, pointer)


def _pack_left(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    """Row by row: [m][k]."""
    if shape.group > 1:
        integer_packing.pack_left(s, tile, shape, base)
        return

    def place(row: Operand, column: Operand) -> Operand:
        return s.address(base, [s.scaled(row, str(shape.row)), column], shape.element)

    natural = elements.natural_lane(s, tile)
    if natural == 0 and shape.m > 1:
        def write(coords: tuple[Operand, ...], row: Operand) -> None:
            value = cast(s.e, row, tile.type.dtype, shape.dtype, s.lanes)
            _put(s, shape, place(*coords), value, s.lanes)

        nests.squares(s, tile, 0, 1, write)
        return

    def visit(spot: Spot) -> None:
        _put(s, shape, place(*spot.coords), _value(s, tile, shape, spot), spot.lanes)

    nests.sweep(s, s.lives(tile.type), 1, visit)


def _pad_left(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    rows, live = (s.live(axis) for axis in tile.type.axes)
    steps, padded = steps_of(s, shape, live)
    if steps == padded:
        return

    def row(i: Operand, _: list[Operand]) -> Sequence[Operand]:
        def one(k: Operand, _: list[Operand]) -> Sequence[Operand]:
            place = s.address(base, [s.scaled(i, str(shape.row)), k], shape.element)
            _put(s, shape, place, constant(0, shape.dtype, 1), 1)
            return ()

        s.e.loop(steps, padded, 1, one)
        return ()

    s.e.loop("0", rows, 1, row)


def _pad_right(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    live, columns = (s.live(axis) for axis in tile.type.axes)
    steps, padded = steps_of(s, shape, live)
    if steps == padded:
        return
    zeros = constant(0, shape.dtype, shape.lanes)

    def row(k: Operand, _: list[Operand]) -> Sequence[Operand]:
        def panel(p: Operand, _: list[Operand]) -> Sequence[Operand]:
            for n in range(shape.width):
                terms = in_panel(s, shape, p, k, str(n * shape.lanes))
                _put(s, shape, s.address(base, terms, shape.element), zeros, shape.lanes)
            return ()

        s.e.loop("0", panels_of(s, shape, columns), 1, panel)
        return ()

    s.e.loop(steps, padded, 1, row)


def _pack_right(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    """In panels: [n / panel][k][panel]."""
    if shape.group > 1:
        integer_packing.pack_right(s, tile, shape, base)
        return
    if elements.natural_lane(s, tile) == 0 and shape.k > 1:
        def write(coords: tuple[Operand, ...], row: Operand) -> None:
            k, column = coords
            panel = s.e.op(f"udiv i64 {{}}, {shape.panel}", column)
            within = s.e.op(f"urem i64 {{}}, {shape.panel}", column)
            terms = in_panel(s, shape, panel, k, within)
            value = cast(s.e, row, tile.type.dtype, shape.dtype, s.lanes)
            _put(s, shape, s.address(base, terms, shape.element), value, s.lanes)

        nests.squares(s, tile, 0, 1, write)
        return

    def vectors(k: Operand, panel: Operand, is_edge: bool) -> None:
        live = s.live(tile.type.axes[1])
        for n in range(shape.width):
            column = s.plus(s.scaled(panel, str(shape.panel)), str(n * shape.lanes))
            mask = nests.before(s, column, live, shape.lanes) if is_edge else None
            value = _value(s, tile, shape, Spot((k, column), 1, shape.lanes, mask))
            terms = in_panel(s, shape, panel, k, str(n * shape.lanes))
            _put(s, shape, s.address(base, terms, shape.element), value, shape.lanes)

    over_panels(s, tile, shape, s.live(tile.type.axes[0]), vectors)


# Multiplying.


def _multiply(
    s: State, op: ops.Mma, shape: Shape, left: Operand, right: Operand, out: Buffer, is_fresh: bool
) -> None:
    rows, columns = s.lives(op.result.type)
    _, depth = steps_of(s, shape, s.live(op.left.type.axes[1]))
    panels = panels_of(s, shape, columns)

    def panel(p: Operand, _: list[Operand]) -> Sequence[Operand]:
        first: Operand = "0"
        for height in _heights(shape, rows):
            if is_number(rows) and is_number(first):
                stop = str(int(first) + (int(rows) - int(first)) // height * height)
            else:
                rest = s.e.op("sub i64 {}, {}", rows, first)
                stop = s.plus(first, s.e.op("sub i64 {}, {}", rest, s.e.op(f"urem i64 {{}}, {height}", rest)))

            def block(i: Operand, _: list[Operand], height: int = height) -> Sequence[Operand]:
                _block(s, shape, left, right, out, (i, p), height, depth, is_fresh)
                return ()

            s.e.loop(first, stop, height, block)
            first = stop
        return ()

    with s.e.nest():
        s.e.loop("0", panels, 1, panel)


def _heights(shape: Shape, rows: Operand) -> list[int]:
    """Heights of blocks, the tall ones first: what is left of one is done by the next."""
    heights = [height for height in (shape.height, 4, 1) if height <= shape.height]
    if is_number(rows):
        found, left = [], int(rows)
        for height in heights:
            if left >= height:
                found.append(height)
                left %= height
        return found
    return [height for height in heights if height <= shape.m]


def _block(
    s: State, shape: Shape, left: Operand, right: Operand, out: Buffer, at: tuple[Operand, Operand],
    height: int, depth: Operand, is_fresh: bool,
) -> None:  # fmt: skip
    """One block of the result: `height` rows of one panel."""
    (i, p), w, element = at, shape.lanes, shape.element
    bytes_ = size(shape.dtype)
    column = s.scaled(p, str(shape.panel))
    places = [
        s.address(s.element(out, (i, column)), [str(row * out.strides[0] + n * w)], element)
        for row in range(height)
        for n in range(shape.width)
    ]
    if is_fresh:
        sums = [constant(0, shape.dtype, w)] * len(places)
    else:
        sums = [_held(s, shape, place) for place in places]
    a = s.address(left, [s.scaled(i, str(shape.row))], element)
    b = s.address(right, [s.scaled(p, str(shape.steps * shape.panel))], element)

    def steps(k: Operand, totals: list[Operand]) -> Sequence[Operand]:
        totals = list(totals)
        row_a = s.address(a, [k], element)
        row_b = s.address(b, [s.scaled(k, str(shape.panel))], element)
        for step in range(UNROLL):
            wide = [
                s.e.read(
                    f"load {shape.vector}, ptr {{}}, align {w * bytes_}",
                    s.address(row_b, [str(step * shape.panel + n * w)], element),
                )
                for n in range(shape.width)
            ]
            for row in range(height):
                place = s.address(row_a, [str(row * shape.row + step)], element)
                one = s.e.read(f"load {element}, ptr {{}}, align {bytes_}", place)
                for n in range(shape.width):
                    total = row * shape.width + n
                    totals[total] = _step(s, shape, splat(s.e, one, element, w), wide[n], totals[total])
        return totals

    sums = s.e.loop("0", depth, UNROLL, steps, [(shape.vector, total) for total in sums])
    if shape.shifted:
        extra = [s.address(right, behind_panels(s, shape, p, str(n * w)), element) for n in range(shape.width)]
        added = [s.e.here(f"load {shape.vector}, ptr {{}}, align {bytes_}", place) for place in extra] * height
        sums = [s.e.op(f"sub {shape.vector} {{}}, {{}}", total, more) for total, more in zip(sums, added, strict=True)]
    for place, total in zip(places, sums, strict=True):
        _hold(s, shape, place, total)


def _held(s: State, shape: Shape, place: Operand) -> Operand:
    """Sums so far. A single column has no room behind its elements, so its sums are the first lanes only."""
    if shape.n > 1:
        return s.e.here(f"load {shape.vector}, ptr {{}}, align {size(shape.dtype)}", place)
    one = s.e.here(f"load {shape.element}, ptr {{}}, align {size(shape.dtype)}", place)
    return s.e.op(f"insertelement {shape.vector} zeroinitializer, {shape.element} {{}}, i64 0", one)


def _hold(s: State, shape: Shape, place: Operand, total: Operand) -> None:
    of = shape.vector
    if shape.n == 1:
        total, of = s.e.op(f"extractelement {of} {{}}, i64 0", total), shape.element
    s.e.do(f"store {of} {{}}, ptr {{}}, align {size(shape.dtype)}", total, place)


def _step(s: State, shape: Shape, one: Operand, wide: Operand, total: Operand) -> Operand:
    if shape.dtype in (F32, F64) and s.target.has_fma:
        return fma(s.e, one, wide, total, shape.dtype, shape.lanes)
    if shape.group > 1:
        return integer_packing.step(s, shape, one, wide, total)
    made = binary(s.e, ops.BinaryFn.MUL, one, wide, shape.dtype, shape.lanes)
    return binary(s.e, ops.BinaryFn.ADD, total, made, shape.dtype, shape.lanes)
