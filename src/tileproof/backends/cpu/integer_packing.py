"""Products of 8-bit integers: neighbours along the inner axis stand side by side in 32 bits and are multiplied at once.

In pairs they are 16-bit numbers. In fours the machine multiplies unsigned by signed bytes: a signed left operand is
packed with 128 added, and 128 times the sum of each column of the right one, which is kept behind its panels, is taken
off in the end. All sums are exact, as they wrap like the sum they stand for.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileproof.ir.types import Tile
from tileproof.language.dtypes import U8

from . import elements, nests
from .blocking import Shape, behind_panels, in_panel, over_panels, panels_of, steps_of
from .emission import Operand, Spot, vector
from .lanes import splat
from .state import State

_128 = str(-0x7F7F7F80)
"""Four unsigned bytes of 128, as a signed number of 32 bits."""


def pack_left(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    """Row by row; zeros behind the last element, up to a whole step."""
    rows, live = (s.live(axis) for axis in tile.type.axes)
    small = _small(shape)

    def row(i: Operand, _: list[Operand]) -> Sequence[Operand]:
        start = s.address(base, [s.scaled(i, str(shape.row))], "i32")

        def step(k: Operand, w: int, mask: Operand | None) -> None:
            value = _element(s, tile, shape, Spot((i, k), 1 if w > 1 else None, w, mask))
            if shape.shifted:
                value = s.e.op(f"xor {vector('i8', w)} {{}}, {_every(w, '-128')}", value)
            place = s.address(start, [k], small)
            s.e.do(f"store {vector(small, w)} {{}}, ptr {{}}, align 1", value, place)

        nests.run(s, live, step)
        for past in range(shape.group - 1):
            s.e.do(f"store {small} 0, ptr {{}}, align 1", s.address(start, [s.plus(live, str(past))], small))
        return ()

    s.e.loop("0", rows, 1, row)


def _small(shape: Shape) -> str:
    return "i16" if shape.group == 2 else "i8"


def _every(w: int, number: str) -> str:
    return number if w == 1 else f"splat (i8 {number})"


def _element(s: State, tile: Tile, shape: Shape, spot: Spot) -> Operand:
    value = elements.at(s, tile, spot)
    if shape.group == 4:
        return value
    grow = "zext" if tile.type.dtype == U8 else "sext"
    return s.e.op(f"{grow} {vector('i8', spot.lanes)} {{}} to {vector('i16', spot.lanes)}", value)


def pack_right(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    """In panels: what the rows of a step have in a column side by side; zeros for rows that are missing."""
    if elements.natural_lane(s, tile) == 0 and tile not in s.buffers:
        with nests.laid_out(s, tile):
            pack_right(s, tile, shape, base)
        return
    depth, w = s.live(tile.type.axes[0]), shape.lanes
    steps, _ = steps_of(s, shape, depth)
    small = vector(_small(shape), w)

    def vectors(step: Operand, panel: Operand, is_edge: bool) -> None:
        live = s.live(tile.type.axes[1])
        for n in range(shape.width):
            column = s.plus(s.scaled(panel, str(shape.panel)), str(n * w))
            mask = nests.before(s, column, live, w) if is_edge else None
            rows = []
            for within in range(shape.group):
                here = s.plus(s.scaled(step, str(shape.group)), str(within))
                exists = None if within == 0 else s.e.op("icmp slt i64 {}, {}", here, depth)
                value = _element(s, tile, shape, Spot((here, column), 1, w, mask, exists))
                if exists is not None:
                    value = s.e.op(f"select i1 {{}}, {small} {{}}, {small} zeroinitializer", exists, value)
                rows.append(value)
            place = s.address(base, in_panel(s, shape, panel, step, str(n * w)), "i32")
            s.e.do(f"store {vector('i32', w)} {{}}, ptr {{}}, align 4", _side_by_side(s, rows, w), place)

    over_panels(s, tile, shape, steps, vectors)


def _side_by_side(s: State, rows: list[Operand], w: int) -> Operand:
    """Numbers of 32 bits, made of what all rows have in each lane, the first row lowest."""
    bits = 32 // len(rows)
    while len(rows) > 1:
        of, double = vector(f"i{bits}", w), vector(f"i{bits}", 2 * w)
        order = ", ".join(f"i32 {n}, i32 {n + w}" for n in range(w))
        paired = []
        for one, two in zip(rows[::2], rows[1::2], strict=True):
            both = s.e.op(f"shufflevector {of} {{}}, {of} {{}}, <{2 * w} x i32> <{order}>", one, two)
            paired.append(s.e.op(f"bitcast {double} {{}} to {vector(f'i{2 * bits}', w)}", both))
        rows, bits = paired, 2 * bits
    return rows[0]


def sum_columns(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    """128 times the sum of each column of the packed right operand, behind its panels."""
    if not shape.shifted:
        return
    depth, columns = (s.live(axis) for axis in tile.type.axes)
    _, padded = steps_of(s, shape, depth)
    w, ints = shape.lanes, shape.vector

    def panel(p: Operand, _: list[Operand]) -> Sequence[Operand]:
        def turn(k: Operand, sums: list[Operand]) -> Sequence[Operand]:
            found = []
            for n, total in enumerate(sums):
                place = s.address(base, in_panel(s, shape, p, k, str(n * w)), "i32")
                wide = s.e.here(f"load {ints}, ptr {{}}, align 4", place)
                found.append(step(s, shape, splat(s.e, _128, "i32", w), wide, total))
            return found

        sums = s.e.loop("0", padded, 1, turn, [(ints, "zeroinitializer")] * shape.width)
        for n, total in enumerate(sums):
            place = s.address(base, behind_panels(s, shape, p, str(n * w)), "i32")
            s.e.do(f"store {ints} {{}}, ptr {{}}, align 4", total, place)
        return ()

    s.e.loop("0", panels_of(s, shape, columns), 1, panel)


def step(s: State, shape: Shape, one: Operand, wide: Operand, total: Operand) -> Operand:
    """`total` with the products of a step added."""
    w, ints = shape.lanes, shape.vector
    bits = 32 * w
    if shape.group == 4 or (w == 16 and s.target.has_vnni):
        kind = "busd" if shape.group == 4 else "wssd"
        name = s.e.declare(f"llvm.x86.avx512.vpdp{kind}.{bits}", ints, ints, ints, ints)
        return s.e.op(f"call {ints} @{name}({ints} {{}}, {ints} {{}}, {ints} {{}})", total, one, wide)
    shorts = vector("i16", 2 * w)
    name = "llvm.x86.avx512.pmaddw.d.512" if w == 16 else "llvm.x86.avx2.pmadd.wd"
    s.e.declare(name, ints, shorts, shorts)
    x, y = (s.e.op(f"bitcast {ints} {{}} to {shorts}", value) for value in (one, wide))
    made = s.e.op(f"call {ints} @{name}({shorts} {{}}, {shorts} {{}})", x, y)
    return s.e.op(f"add {ints} {{}}, {{}}", total, made)
