"""Sums of products of 8-bit integers along the last axis of a tile, with the instructions that machines have for them.

The machine multiplies bytes in fours and adds each four to a lane of 32 bits. x86 has this for unsigned by signed bytes
only: 128 is added to one operand, and 128 times each four of the other is taken off; before that it has products of
16-bit pairs, for which bytes are taken apart into even and odd ones. A row ends as a vector of partial sums. Several
rows are added up at once into one vector, in less than the steps that each would take alone. All sums are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileproof.backends.cpu.codegen import elements, nests
from tileproof.backends.cpu.codegen.emitter import Operand, Spot, each, is_number, vector
from tileproof.backends.cpu.codegen.lanes import fold_lanes, shuffle
from tileproof.backends.cpu.codegen.state import Buffer, State
from tileproof.ir import ops
from tileproof.ir.types import Tile, number
from tileproof.language.dtypes import I8, I32

_UNROLLED = 4
"""Rows of so many vectors are written without a loop, and then as many rows at once as there are lanes."""
_LONG_ROWS = 4
"""How many longer rows are added up at once."""
_AHEAD = 8192
"""Bytes that are asked for ahead of where rows are read, at least."""


@dataclass(frozen=True, slots=True)
class Dots:
    """Products of bytes of two tiles, `lanes` sums of four of them at a time, `steps` times for each row."""

    one: Tile
    two: Tile
    """The operand that fewer rows differ in."""
    axis: int
    lanes: int
    steps: int

    @property
    def ahead(self) -> int:
        """How many rows further on memory is asked for what is read there soon."""
        return -(-_AHEAD // (4 * self.lanes * self.steps))


def match_dots(s: State, op: ops.Reduce) -> Dots | None:
    """Recognizes a sum of products of bytes; None if it is not one, or the processor has no instruction for it."""
    if op.fn is not ops.ReduceFn.SUM or op.result.type.dtype != I32 or op.operand in s.buffers:
        return None
    if not s.target.is_x86 and not s.target.has_dot:
        return None
    axis, live = op.axis, s.live(op.operand.type.axes[op.axis])
    match s.lazy.get(op.operand):
        case ops.Binary(fn=ops.BinaryFn.MUL, left=left, right=right) if axis == op.operand.type.rank - 1:
            if not is_number(live) or not (_is_of_bytes(s, left) and _is_of_bytes(s, right)):
                return None
            if any(elements.natural_lane(s, side) != axis for side in (left, right)):
                return None
        case _:
            return None
    length, lanes = int(live), s.lanes
    while lanes > 4 and length % (4 * lanes):
        lanes //= 2
    if length == 0 or length % (4 * lanes):
        return None
    one, two = (right, left) if isinstance(s.lazy.get(left), ops.Broadcast) else (left, right)
    return Dots(one, two, axis, lanes, length // (4 * lanes))


def _is_of_bytes(s: State, tile: Tile) -> bool:
    """Whether a tile of 32 bits is one of signed bytes, perhaps repeated; products of bytes as bytes wrap before they
    are added."""
    if tile.type.rank == 0 or tile.type.dtype != I32:
        return False
    match s.lazy.get(tile):
        case ops.Cast(operand=operand):
            return operand.type.rank > 0 and operand.type.dtype == I8
        case ops.Broadcast(operand=operand) | ops.Expand(operand=operand):
            return tile not in s.buffers and _is_of_bytes(s, operand)
        case _:
            return False


def reduce(s: State, op: ops.Reduce, dots: Dots, buffer: Buffer) -> None:
    """The sums of all rows, into scratch memory."""
    lives = s.lives(op.result.type)
    last, length = len(lives) - 1, number(op.result.type.axes[-1].length)
    many = min(dots.lanes, length) if dots.steps <= _UNROLLED else min(_LONG_ROWS, length)

    def walk(axis: int, coords: tuple[Operand, ...]) -> None:
        def some(first: Operand, stop: Operand, count: int) -> None:
            s.e.each(first, stop, count, lambda here: _some(s, dots, buffer, (*coords, here), count))

        live = lives[axis]
        if axis < last:
            s.e.each("0", live, 1, lambda here: walk(axis + 1, (*coords, here)))
        elif is_number(live):
            whole = int(live) // many * many
            some("0", str(whole), many)
            if whole < int(live):
                some(str(whole), live, int(live) - whole)
        else:
            rest = s.e.op(f"urem i64 {{}}, {many}", live)
            split = s.e.op("sub i64 {}, {}", live, rest)
            some("0", split, many)
            some(split, live, 1)

    walk(0, ())


def alone(s: State, dots: Dots) -> Operand:
    """The sum of the only row there is."""
    (total,) = _sums(s, dots, [()])
    return fold_lanes(s.e, ops.BinaryFn.ADD, total, I32, dots.lanes)


def _some(s: State, dots: Dots, buffer: Buffer, first: tuple[Operand, ...], count: int) -> None:
    *outer, here = first
    sums = _sums(s, dots, [(*outer, s.plus(here, str(n))) for n in range(count)])
    w = dots.lanes
    if count == 1:
        nests.put(s, buffer, Spot(first), fold_lanes(s.e, ops.BinaryFn.ADD, sums[0], I32, w))
        return
    together, wide = _together(s, sums, w), 1 << (count - 1).bit_length()
    if wide < w:
        together = shuffle(s.e, together, "poison", "i32", w, list(range(wide)))
    nests.put(s, buffer, Spot(first, len(outer), wide), together)


# The sums of rows.


def _sums(s: State, dots: Dots, rows: Sequence[tuple[Operand, ...]]) -> list[Operand]:
    """A vector for each row, the lanes of which add up to its sum."""
    ints, size = vector("i32", dots.lanes), 4 * dots.lanes

    def turn(here: Operand, totals: list[Operand]) -> list[Operand]:
        following = []
        for row, total in zip(rows, totals, strict=True):
            spot = Spot((*row, here), dots.axis, size)
            two = _bytes(s, dots.two, spot)
            s.ahead = dots.ahead
            one = _bytes(s, dots.one, spot)
            s.ahead = 0
            following.append(_step(s, dots.lanes, total, one, two))
        return following

    totals: list[Operand] = ["zeroinitializer"] * len(rows)
    if dots.steps <= _UNROLLED:
        for step in range(dots.steps):
            totals = turn(str(step * size), totals)
        return totals
    return s.e.loop("0", str(dots.steps * size), size, turn, [(ints, total) for total in totals])


def _bytes(s: State, tile: Tile, spot: Spot) -> Operand:
    """The bytes that a tile is made of."""
    match s.lazy[tile]:
        case ops.Cast(operand=operand):
            return elements.at(s, operand, spot)
        case ops.Broadcast(operand=operand):
            return _bytes(s, operand, elements.before_broadcast(operand.type, tile.type, spot))
        case ops.Expand(operand=operand, axis=axis):
            return _bytes(s, operand, elements.before_expand(axis, spot))
        case other:
            raise AssertionError(f"{type(other).__name__} is not of bytes")


def _step(s: State, w: int, total: Operand, one: Operand, two: Operand) -> Operand:
    """`total` with the products of four bytes added in each lane."""
    ints, chars = vector("i32", w), vector("i8", 4 * w)
    if s.target.has_dot:
        name = s.e.declare("llvm.aarch64.neon.sdot.v4i32.v16i8", ints, ints, chars, chars)
        return s.e.op(f"call {ints} @{name}({ints} {{}}, {chars} {{}}, {chars} {{}})", total, one, two)
    if s.target.has_vnni:
        shifted = s.e.op(f"xor {chars} {{}}, {each(4 * w, '-128', 'i8')}", one)
        left, right = (s.e.op(f"bitcast {chars} {{}} to {ints}", side) for side in (shifted, two))
        name = s.e.declare(f"llvm.x86.avx512.vpdpbusd.{32 * w}", ints, ints, ints, ints)
        call = f"call {ints} @{name}({ints} {{}}, {ints} {{}}, {ints} {{}})"
        more = s.e.op(call, "zeroinitializer", each(w, "-2139062144", "i32"), right)  # four unsigned bytes of 128
        return s.e.op(call, s.e.op(f"sub {ints} {{}}, {{}}", total, more), left, right)
    shorts = vector("i16", 2 * w)
    name = {16: "llvm.x86.avx512.pmaddw.d.512", 8: "llvm.x86.avx2.pmadd.wd", 4: "llvm.x86.sse2.pmadd.wd"}[w]
    s.e.declare(name, ints, shorts, shorts)
    for x, y in zip(_halves(s, one, w), _halves(s, two, w), strict=True):
        products = s.e.op(f"call {ints} @{name}({shorts} {{}}, {shorts} {{}})", x, y)
        total = s.e.op(f"add {ints} {{}}, {{}}", total, products)
    return total


def _halves(s: State, chars: Operand, w: int) -> tuple[Operand, Operand]:
    """The even and the odd bytes, as 16-bit numbers."""
    shorts, eight = vector("i16", 2 * w), each(2 * w, "8", "i16")
    pairs = s.e.op(f"bitcast {vector('i8', 4 * w)} {{}} to {shorts}", chars)
    even = s.e.op(f"ashr {shorts} {{}}, {eight}", s.e.op(f"shl {shorts} {{}}, {eight}", pairs))
    return even, s.e.op(f"ashr {shorts} {{}}, {eight}", pairs)


# Several sums at once.


def _together(s: State, sums: list[Operand], w: int) -> Operand:
    """A vector with the sum of the lanes of each vector.

    Neighbouring lanes are added up inside blocks of 16 bytes first, then neighbouring blocks; each time the halves of
    two vectors become one.
    """
    rows = [*sums, *["poison"] * (w - len(sums))]
    for size, block in [(1, 4)] * 2 + [(4, w)] * (w.bit_length() - 3):
        places = [
            base + source + start + lane
            for base in range(0, w, block) for source in (0, w) for start in range(0, block, 2 * size)
            for lane in range(size)
        ]  # fmt: skip
        rows = [_paired(s, x, y, w, size, places) for x, y in zip(rows[::2], rows[1::2], strict=True)]
    return rows[0]


def _paired(s: State, x: Operand, y: Operand, w: int, size: int, places: list[int]) -> Operand:
    if x == "poison":
        return x
    low = shuffle(s.e, x, y, "i32", w, places)
    high = shuffle(s.e, x, y, "i32", w, [place + size for place in places])
    return s.e.op(f"add {vector('i32', w)} {{}}, {{}}", low, high)
