"""Products of matrices.

Tensor cores multiply 16- and 8-bit numbers and tf32. They have no f32, and what the assembler makes of an f32 product
is slow; so f32 numbers are cut into two of tf32, and three products give what one of f32 would, but for its last bits.
Tiles too small for tensor cores are multiplied as they are. Sums of integers that may leave 32 bits are added outside
of the product: see `wrapping_sums`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tileproof.backends.cuda.tileir.types import F32 as F32_ELEMENT
from tileproof.backends.cuda.tileir.types import I8, I32, Predicate, Value
from tileproof.backends.cuda.tileir.types import TF32 as TF32_ELEMENT
from tileproof.ir import ops
from tileproof.ir.types import Tile
from tileproof.language.dtypes import F32, TF32

from .state import State
from .tiles import shape_of
from .wrapping_sums import most

_KEPT = ~0x1FFF & 0xFFFFFFFF
"""The bits of an f32 that a tf32 has."""


def product(s: State, op: ops.Mma) -> None:
    """`left @ right + acc`. Dead lanes of the inner axis are zero on both sides: 0 times anything else may be NaN."""
    b, dtype = s.b, op.left.type.dtype
    inner = op.left.type.rank - 1
    left, right, acc = s.cleaned(op.left, inner), s.cleaned(op.right, inner - 1), s.get(op.acc)
    if dtype.is_integer:
        s.put(op.result, _integers(s, op, left, right))
    elif dtype == TF32:
        s.put(op.result, b.mmaf(b.ftof(left, TF32_ELEMENT), b.ftof(right, TF32_ELEMENT), acc))
    elif dtype == F32 and _fills_cores(shape_of(left), shape_of(right)):
        s.put(op.result, _single(s, left, right, acc))
    else:
        s.put(op.result, b.mmaf(left, right, acc))


def _integers(s: State, op: ops.Mma, left: Value, right: Value) -> Value:
    """A product of integers, which wraps."""
    b, acc, dtype = s.b, s.get(op.acc), op.left.type.dtype
    signed = dtype.kind == "int"
    if _fits(s, op.result):
        return b.mmai(left, right, acc, signed_left=signed, signed_right=signed)
    zero = s.splat(I32, shape_of(acc), 0)
    for part in _short_parts(s, left, most(dtype)):
        acc = _apart(s, acc, b.mmai(part, right, zero, signed_left=signed, signed_right=signed))
    return acc


def sum_with_product(s: State, op: ops.Binary) -> Value | None:
    """A sum with what comes from a product of integers, if it may leave 32 bits; None for any other operation."""
    dtype = op.result.type.dtype
    if op.fn is not ops.BinaryFn.ADD or not dtype.is_integer or dtype.bits != 32 or s.sums is None:
        return None
    if s.sums.products.isdisjoint((op.left, op.right)) or _fits(s, op.result):
        return None
    acc, product = (op.left, op.right) if op.right in s.sums.products else (op.right, op.left)
    return _apart(s, s.get(acc), s.get(product))


def _fits(s: State, sum_: Tile) -> bool:
    assert s.sums is not None
    return s.sums.fits(sum_, lambda tile: s.numbers.get(tile) == 0)


def _apart(s: State, acc: Value, product: Value) -> Value:
    """Their sum. Written as one, the assembler would make it part of the product; but -x is ~x + 1."""
    b, shape = s.b, shape_of(product)
    return b.subi(b.subi(acc, b.xori(product, s.splat(I32, shape, -1))), s.splat(I32, shape, 1))


def _short_parts(s: State, left: Value, columns: int) -> Iterator[Value]:
    """Matrices that add up to one, each zero but for so many columns."""
    b, shape = s.b, shape_of(left)
    inner = len(shape) - 1
    if shape[inner] <= columns:
        yield left
        return
    lanes, zero = s.lanes(shape, inner), s.splat(I8, shape, 0)
    for start in range(0, shape[inner], columns):
        first, last = (s.splat(I32, shape, lane) for lane in (start, start + columns - 1))
        is_behind = b.cmpi(Predicate.GREATER_EQUAL, lanes, first, signed=True)
        is_before = b.cmpi(Predicate.LESS_EQUAL, lanes, last, signed=True)
        yield b.select(b.andi(is_behind, is_before), left, zero)


def _fills_cores(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether tiles are large enough for tensor cores: in smaller ones some warp would have nothing to multiply."""
    (*_, rows, inner), columns = left, right[-1]
    if inner < 8 or columns < 8:
        return False
    return rows >= 64 or (rows >= 16 and rows // 16 * (columns // 8) >= 4)


def _single(s: State, left: Value, right: Value, acc: Value) -> Value:
    b = s.b
    (one, one_finite, one_rest), (two, two_finite, two_rest) = _cut(s, left), _cut(s, right)
    acc = b.mmaf(one_rest, two_finite, acc)
    acc = b.mmaf(one_finite, two_rest, acc)
    return b.mmaf(one, two, acc)


def _cut(s: State, value: Value) -> tuple[Value, Value, Value]:
    """The upper bits of f32 numbers, those that are finite, and the rest.

    What is infinite has no rest, and does not meet the rest of the other side: infinity times 0 would be NaN.
    """
    b, shape = s.b, shape_of(value)
    kept = b.bitcast(b.andi(b.bitcast(value, I32), s.splat(I32, shape, _KEPT)), F32_ELEMENT)
    is_number = b.cmpf(Predicate.EQUAL, value, value)
    upper = b.select(is_number, kept, value)
    zero = s.splat(F32_ELEMENT, shape, 0.0)
    is_finite = b.cmpf(Predicate.LESS, b.absf(value), s.splat(F32_ELEMENT, shape, math.inf))
    finite = b.select(is_finite, kept, zero)
    rest = b.select(is_finite, b.subf(value, kept), zero)
    whole, some, little = (b.ftof(part, TF32_ELEMENT) for part in (upper, finite, rest))
    return whole, some, little
