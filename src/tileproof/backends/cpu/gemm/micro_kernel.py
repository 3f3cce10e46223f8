"""Matrix products: cut into blocks that fit the registers, with packed operands.

The left operand is packed row by row, the right one in panels as wide as a block. Steps along the inner axis are padded
with zeros to whole turns of the loop over them. Products of 8-bit integers take two or four elements of the inner axis
in a step, side by side in 32 bits.

Products of 8-bit integers: neighbours along the inner axis stand side by side in 32 bits and are multiplied at once. In
pairs they are 16-bit numbers. In fours the machine multiplies unsigned by signed bytes: a signed left operand is packed
with 128 added, and 128 times the sum of each column of the right one, which is kept after its panels, is taken off in
the end. All sums are exact, as they wrap like the sum they stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from tileproof.backends.cpu.codegen import elements, nests
from tileproof.backends.cpu.codegen.arithmetic import binary, constant, fma
from tileproof.backends.cpu.codegen.conversions import cast
from tileproof.backends.cpu.codegen.emitter import Operand, Spot, is_number, nbytes, register, vector
from tileproof.backends.cpu.codegen.lanes import splat
from tileproof.backends.cpu.codegen.state import Buffer, Part, State
from tileproof.ir import ops
from tileproof.ir.types import Tile, Value, number
from tileproof.language.dtypes import F32, F64, I8, I32, U8, DType

UNROLL = 4
"""Steps in a turn of the loop over the inner axis."""


@dataclass(frozen=True, slots=True)
class Shape:
    """`height` rows and `width` vectors of a block; the lengths of the axes as allocated."""

    height: int
    width: int
    lanes: int
    dtype: DType
    m: int
    n: int
    k: int
    group: int
    """How many neighbours along the inner axis are multiplied in a step."""
    shifted: bool = False
    """Whether the left operand is packed with 128 added, because the machine multiplies unsigned by signed."""

    @property
    def panel(self) -> int:
        """Columns of a panel."""
        return self.width * self.lanes

    @property
    def panels(self) -> int:
        return -(-self.n // self.panel)

    @property
    def steps(self) -> int:
        """Steps along the inner axis."""
        return -(-self.k // (self.group * UNROLL)) * UNROLL

    @property
    def row(self) -> int:
        """Elements from one packed row of the left operand to the next: no power of two, which would crowd a cache."""
        return -(-self.steps // self.lanes) * self.lanes + self.lanes

    @property
    def left_count(self) -> int:
        """Elements that the packed left operand takes."""
        return self.m * self.row + self.lanes

    @property
    def right_count(self) -> int:
        """Elements that the packed right operand takes: its panels, and after them what a shift of the left adds."""
        return self.panels * self.steps * self.panel + self.panels * self.panel + self.lanes

    @property
    def element(self) -> str:
        return register(self.dtype)

    @property
    def vector(self) -> str:
        return vector(self.element, self.lanes)


def shape_of(s: State, op: ops.Mma) -> Shape:
    """The blocks of a product, chosen for the registers of the target."""
    (m, k), n = (number(axis.length) for axis in op.left.type.axes), number(op.right.type.axes[1].length)
    dtype = op.result.type.dtype
    vectors = -(-n // s.lanes)
    room = (s.target.registers * 3 // 4) // (2 if dtype == F64 else 1)
    width = next(count for count in (4, 3, 2, 1) if count * 4 <= room and vectors % count == 0)
    height = min(room // width, 12)
    group, left = 1, op.left.type.dtype
    if dtype == I32 and {left, op.right.type.dtype} <= {I8, U8} and s.target.is_x86 and s.lanes >= 8:
        group = 4 if s.target.has_vnni and op.right.type.dtype == I8 else 2
    return Shape(height, width, s.lanes, dtype, m, n, k, group, group == 4 and left == I8)


def steps_of(s: State, shape: Shape, live: Operand) -> tuple[Operand, Operand]:
    """The steps along the inner axis that have elements, and those that there are with padding."""
    group = shape.group
    if is_number(live):
        steps = -(-int(live) // group)
        return str(steps), str(-(-steps // UNROLL) * UNROLL)
    steps_ = live if group == 1 else s.e.op(f"udiv i64 {{}}, {group}", s.plus(live, str(group - 1)))
    return steps_, s.e.op(f"and i64 {{}}, {-UNROLL}", s.plus(steps_, str(UNROLL - 1)))


def in_panel(s: State, shape: Shape, panel: Operand, step: Operand, within: Operand) -> list[Operand]:
    """Where in the packed right operand an element lies, as terms."""
    return [s.scaled(panel, str(shape.steps * shape.panel)), s.scaled(step, str(shape.panel)), within]


def behind_panels(s: State, shape: Shape, panel: Operand, within: Operand) -> list[Operand]:
    """The same for what a shift of the left operand adds to a column."""
    return [str(shape.panels * shape.steps * shape.panel), s.scaled(panel, str(shape.panel)), within]


def panels_of(s: State, shape: Shape, columns: Operand) -> Operand:
    """How many panels so many columns take."""
    if is_number(columns):
        return str(-(-int(columns) // shape.panel))
    return s.e.op(f"udiv i64 {{}}, {shape.panel}", s.plus(columns, str(shape.panel - 1)))


def over_panels(
    s: State, tile: Tile, shape: Shape, rows: Operand, visit: Callable[[Operand, Operand, bool], None]
) -> None:
    """For each row, the panels that are full, then the one that is not."""
    live = s.live(tile.type.axes[1])
    full = str(int(live) // shape.panel) if is_number(live) else s.e.op(f"udiv i64 {{}}, {shape.panel}", live)
    is_even = is_number(live) and int(live) % shape.panel == 0

    def row(k: Operand) -> None:
        s.e.each("0", full, 1, lambda p: visit(k, p, False))
        if not is_even:
            left = s.e.op(f"urem i64 {{}}, {shape.panel}", live)
            s.e.when(s.e.op("icmp ne i64 {}, 0", left), lambda: visit(k, full, True))

    s.e.each("0", rows, 1, row)


_128 = str(-0x7F7F7F80)
"""Four unsigned bytes of 128, as a signed number of 32 bits."""


def pack_left(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    """Row by row; zeros after the last element, up to a whole step."""
    rows, live = (s.live(axis) for axis in tile.type.axes)
    small = _small(shape)

    def row(i: Operand) -> None:
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

    s.e.each("0", rows, 1, row)


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
    """128 times the sum of each column of the packed right operand, after its panels."""
    if not shape.shifted:
        return
    depth, columns = (s.live(axis) for axis in tile.type.axes)
    _, padded = steps_of(s, shape, depth)
    w, ints = shape.lanes, shape.vector

    def panel(p: Operand) -> None:
        def turn(k: Operand, sums: list[Operand]) -> Sequence[Operand]:
            following = []
            for n, total in enumerate(sums):
                place = s.address(base, in_panel(s, shape, p, k, str(n * w)), "i32")
                wide = s.e.here(f"load {ints}, ptr {{}}, align 4", place)
                following.append(step(s, shape, splat(s.e, _128, "i32", w), wide, total))
            return following

        sums = s.e.loop("0", padded, 1, turn, [(ints, "zeroinitializer")] * shape.width)
        for n, total in enumerate(sums):
            place = s.address(base, behind_panels(s, shape, p, str(n * w)), "i32")
            s.e.do(f"store {ints} {{}}, ptr {{}}, align 4", total, place)

    s.e.each("0", panels_of(s, shape, columns), 1, panel)


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
    products = s.e.op(f"call {ints} @{name}({shorts} {{}}, {shorts} {{}})", x, y)
    return s.e.op(f"add {ints} {{}}, {{}}", total, products)


def product(s: State, op: ops.Mma) -> None:
    """Computes `left @ right + acc` into scratch memory."""
    if op.result.type.rank == 2:
        left, right = _packed(s, op, True), _packed(s, op, False)
        out, is_fresh = _accumulator(s, op)
        _multiply(s, op, left, right, out, is_fresh)
    else:
        out, is_fresh = _accumulator(s, op)
        s.e.each("0", s.live(op.result.type.axes[0]), 1, lambda place: _matrix(s, op, place, out, is_fresh))
    s.buffers[op.result] = out


def _matrix(s: State, op: ops.Mma, place: Operand, out: Buffer, is_fresh: bool) -> None:
    """One product of several."""

    def part(tile: Tile) -> Tile:
        matrix: Tile = Value(f"{tile.name} by itself", tile.type.without(0))
        s.lazy[matrix] = Part(tile, 0, place)
        s.define(matrix)
        return matrix

    one = replace(op, result=part(op.result), left=part(op.left), right=part(op.right), acc=part(op.acc))
    here = Buffer(s.element(out, (place, "0", "0")), out.strides[1:], out.dtype)
    _multiply(s, one, _packed(s, one, True), _packed(s, one, False), here, is_fresh)


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
    sum_columns(s, tile, shape, base)


def _packed(s: State, op: ops.Mma, is_left: bool) -> Operand:
    """Memory with a packed operand: filled before the launch, or before the loops that leave it as it is, or here."""
    shape = shape_of(s, op)
    if (op.result, is_left) in s.packed:
        return s.packed[op.result, is_left](s)
    tile, fill = (op.left, fill_left) if is_left else (op.right, fill_right)
    pointer = s.allocate((shape.left_count if is_left else shape.right_count) * nbytes(shape.dtype))
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
    s.e.do(f"store {vector(shape.element, lanes)} {{}}, ptr {{}}, align {nbytes(shape.dtype)}", value, pointer)


def _pack_left(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    """Row by row: [m][k]."""
    if shape.group > 1:
        pack_left(s, tile, shape, base)
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

    def row(i: Operand) -> None:
        def one(k: Operand) -> None:
            place = s.address(base, [s.scaled(i, str(shape.row)), k], shape.element)
            _put(s, shape, place, constant(0, shape.dtype, 1), 1)

        s.e.each(steps, padded, 1, one)

    s.e.each("0", rows, 1, row)


def _pad_right(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    live, columns = (s.live(axis) for axis in tile.type.axes)
    steps, padded = steps_of(s, shape, live)
    if steps == padded:
        return
    zeros = constant(0, shape.dtype, shape.lanes)

    def row(k: Operand) -> None:
        def panel(p: Operand) -> None:
            for n in range(shape.width):
                terms = in_panel(s, shape, p, k, str(n * shape.lanes))
                _put(s, shape, s.address(base, terms, shape.element), zeros, shape.lanes)

        s.e.each("0", panels_of(s, shape, columns), 1, panel)

    s.e.each(steps, padded, 1, row)


def _pack_right(s: State, tile: Tile, shape: Shape, base: Operand) -> None:
    """In panels: [n / panel][k][panel]."""
    if shape.group > 1:
        pack_right(s, tile, shape, base)
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


def _multiply(s: State, op: ops.Mma, left: Operand, right: Operand, out: Buffer, is_fresh: bool) -> None:
    shape = shape_of(s, op)
    rows, columns = s.lives(op.result.type)
    _, depth = steps_of(s, shape, s.live(op.left.type.axes[1]))
    panels = panels_of(s, shape, columns)

    def panel(p: Operand) -> None:
        first: Operand = "0"
        for height in _heights(shape, rows):
            if is_number(rows) and is_number(first):
                stop = str(int(first) + (int(rows) - int(first)) // height * height)
            else:
                rest = s.e.op("sub i64 {}, {}", rows, first)
                stop = s.plus(first, s.e.op("sub i64 {}, {}", rest, s.e.op(f"urem i64 {{}}, {height}", rest)))

            def block(i: Operand, height: int = height) -> None:
                _block(s, shape, left, right, out, (i, p), height, depth, is_fresh)

            s.e.each(first, stop, height, block)
            first = stop

    with s.e.nest():
        s.e.each("0", panels, 1, panel)


def _heights(shape: Shape, rows: Operand) -> list[int]:
    """Heights of blocks, the tall ones first: what is left of one is done by the next."""
    heights = [height for height in (shape.height, 4, 1) if height <= shape.height]
    if is_number(rows):
        needed, left = [], int(rows)
        for height in heights:
            if left >= height:
                needed.append(height)
                left %= height
        return needed
    return [height for height in heights if height <= shape.m]


def _block(
    s: State, shape: Shape, left: Operand, right: Operand, out: Buffer, at: tuple[Operand, Operand],
    height: int, depth: Operand, is_fresh: bool,
) -> None:  # fmt: skip
    """One block of the result: `height` rows of one panel."""
    (i, p), w, element = at, shape.lanes, shape.element
    bytes_ = nbytes(shape.dtype)
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
    """Sums so far. A single column has no room after its elements, so its sums are the first lanes only."""
    if shape.n > 1:
        return s.e.here(f"load {shape.vector}, ptr {{}}, align {nbytes(shape.dtype)}", place)
    one = s.e.here(f"load {shape.element}, ptr {{}}, align {nbytes(shape.dtype)}", place)
    return s.e.op(f"insertelement {shape.vector} zeroinitializer, {shape.element} {{}}, i64 0", one)


def _hold(s: State, shape: Shape, place: Operand, total: Operand) -> None:
    of = shape.vector
    if shape.n == 1:
        total, of = s.e.op(f"extractelement {of} {{}}, i64 0", total), shape.element
    s.e.do(f"store {of} {{}}, ptr {{}}, align {nbytes(shape.dtype)}", total, place)


def _step(s: State, shape: Shape, one: Operand, wide: Operand, total: Operand) -> Operand:
    if shape.dtype in (F32, F64) and s.target.has_fma:
        return fma(s.e, one, wide, total, shape.dtype, shape.lanes)
    if shape.group > 1:
        return step(s, shape, one, wide, total)
    product = binary(s.e, ops.BinaryFn.MUL, one, wide, shape.dtype, shape.lanes)
    return binary(s.e, ops.BinaryFn.ADD, total, product, shape.dtype, shape.lanes)
