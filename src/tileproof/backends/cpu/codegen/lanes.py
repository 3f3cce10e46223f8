"""Lanes of vectors: one value in all, all into one, and the transpose of a square."""

from __future__ import annotations

from typing import Final

from tileproof.backends.philox import philox
from tileproof.ir.ops import BinaryFn
from tileproof.language.dtypes import I64, DType

from .arithmetic import binary
from .emitter import Emitter, Operand, each, register, suffix, vector
from .typed_lanes import PURE, IntegerLanes


def splat(e: Emitter, x: Operand, element: str, w: int) -> Operand:
    """A scalar in every lane."""
    if w == 1:
        return x
    if not x.startswith("%"):
        return each(w, x, element)
    many = vector(element, w)
    first = e.op(f"insertelement {many} poison, {element} {{}}, i64 0", x)
    return e.op(f"shufflevector {many} {{}}, {many} poison, <{w} x i32> zeroinitializer", first)


def iota(w: int, element: str = "i64") -> str:
    """The numbers of the lanes."""
    return "0" if w == 1 else f"<{', '.join(f'{element} {lane}' for lane in range(w))}>"


def shuffle(e: Emitter, x: Operand, y: Operand, element: str, w: int, lanes: list[int]) -> Operand:
    """Lanes picked from two vectors, those of the second numbered after those of the first."""
    many, mask = vector(element, w), ", ".join(f"i32 {lane}" for lane in lanes)
    return e.op(f"shufflevector {many} {{}}, {many} {{}}, <{len(lanes)} x i32> <{mask}>", x, y)


def extract(e: Emitter, x: Operand, element: str, w: int, lane: int) -> Operand:
    """One lane."""
    return x if w == 1 else e.op(f"extractelement {vector(element, w)} {{}}, i64 {lane}", x)


def fold_lanes(e: Emitter, fn: BinaryFn, x: Operand, dtype: DType, w: int) -> Operand:
    """All lanes in one: the upper half onto the lower, again and again, so always in the same order."""
    element = register(dtype)
    while w > 2:
        low, high = (shuffle(e, x, "poison", element, w, list(half)) for half in (range(w // 2), range(w // 2, w)))
        w //= 2
        x = binary(e, fn, low, high, dtype, w)
    if w == 2:
        x = binary(e, fn, extract(e, x, element, 2, 0), extract(e, x, element, 2, 1), dtype, 1)
    return x


def transpose(e: Emitter, rows: list[Operand], element: str, w: int) -> list[Operand]:
    """Columns of a square of lanes.

    Pairs of rows are first interleaved inside blocks of 16 bytes, which machines do in one instruction, then blocks
    are exchanged. Interleaving leaves the columns of a block in the order of their numbers' reversed bits.
    """
    block = min(w, 16 // _bytes(element))
    distance = 1
    while distance < w:
        rows = _stage(e, rows, element, w, distance, block)
        distance *= 2
    bits = block.bit_length() - 1
    return [rows[column - column % block + _reversed(column % block, bits)] for column in range(w)]


def _stage(e: Emitter, rows: list[Operand], element: str, w: int, distance: int, block: int) -> list[Operand]:
    low, high = _interleaved(w, distance, block) if distance < block else _exchanged(w, distance)
    result = list(rows)
    for row in range(w):
        if not row & distance:
            one, two = rows[row], rows[row + distance]
            result[row] = shuffle(e, one, two, element, w, low)
            result[row + distance] = shuffle(e, one, two, element, w, high)
    return result


def _interleaved(w: int, size: int, block: int) -> tuple[list[int], list[int]]:
    """Runs of `size` lanes from two vectors in turn: from the lower halves of their blocks, and from the upper."""
    halves: tuple[list[int], list[int]] = ([], [])
    for start in range(0, w, block):
        for half, lanes in enumerate(halves):
            first = start + half * block // 2
            for run in range(first, first + block // 2, size):
                lanes += [*range(run, run + size), *range(w + run, w + run + size)]
    return halves


def _exchanged(w: int, size: int) -> tuple[list[int], list[int]]:
    """Of each two neighbouring runs of `size` lanes, the first of both vectors, and the second of both."""
    low = [lane if not lane & size else w + lane - size for lane in range(w)]
    high = [lane + size if not lane & size else w + lane for lane in range(w)]
    return low, high


def _reversed(number: int, bits: int) -> int:
    return sum((number >> bit & 1) << (bits - 1 - bit) for bit in range(bits))


def _bytes(element: str) -> int:
    sizes = {"double": 8, "float": 4, "half": 2, "ptr": 8}
    return sizes[element] if element in sizes else max(1, int(element[1:]) // 8)


_LOW: Final = 0xFFFFFFFF


def uniform(e: Emitter, seed: Operand, offset: Operand, w: int) -> Operand:
    """f32 in [0, 1) in every lane: `seed` is one i64, `offset` lanes of i64."""
    name, lanes = f"tileproof.uniform.{suffix('i64', w)}", vector("i64", w)
    e.define(name, lambda: _uniform_function(name, w))
    return e.op(f"call {vector('float', w)} @{name}(i64 {{}}, {lanes} {{}})", seed, offset)


def _uniform_function(name: str, w: int) -> str:
    """The upper 24 bits of the first word as a fraction. Words are 32 bits, kept in 64 so that products are exact."""
    e = Emitter()
    scalars, n = IntegerLanes(e, I64, 1), IntegerLanes(e, I64, w)
    low = n.constant(_LOW)
    halves = scalars.op("and", "%seed", str(_LOW)), scalars.op("lshr", "%seed", "32")

    def key(half: int, number: int) -> Operand:
        # The key is the same in all lanes, so its steps are taken on scalars.
        moved = scalars.op("and", scalars.op("add", halves[half], str(number)), str(_LOW)) if number else halves[half]
        return splat(e, moved, "i64", w)

    def product(x: Operand, factor: int) -> tuple[Operand, Operand]:
        wide = n.op("mul", x, n.constant(factor))
        return n.op("lshr", wide, n.constant(32)), n.op("and", wide, low)

    counter = n.op("and", "%offset", low), n.op("lshr", "%offset", n.constant(32)), n.constant(0), n.constant(0)
    word, *_ = philox(counter, key, product, lambda x, y: n.op("xor", x, y))
    integer, single = vector("i32", w), vector("float", w)
    short = e.op(f"trunc {vector('i64', w)} {{}} to {integer}", n.op("lshr", word, n.constant(8)))
    number = e.op(f"sitofp {integer} {{}} to {single}", short)
    result = e.op(f"fmul {single} {{}}, {each(w, repr(2.0**-24), 'float')}", number)
    signature = f"internal {single} @{name}(i64 %seed, {vector('i64', w)} %offset) {PURE}"
    return e.function(signature, f"ret {single} {result}")
