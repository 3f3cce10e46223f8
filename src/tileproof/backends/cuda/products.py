"""Products of matrices.

Tensor cores multiply 16- and 8-bit numbers and tf32. They have no f32, and what the assembler makes of an f32 product
is slow; so f32 numbers are cut into two of tf32, and three products give what one of f32 would, but for its last bits.
Tiles too small for tensor cores are multiplied as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tileproof.ir import ops
from tileproof.language.dtypes import F32, TF32

from .state import State, line_shape
from .tileir.enums import Predicate
from .tileir.module import Value
from .tileir.types import F32 as F32_ELEMENT
from .tileir.types import I32
from .tileir.types import TF32 as TF32_ELEMENT

_KEPT = ~0x1FFF & 0xFFFFFFFF
"""The bits of an f32 that a tf32 has."""


def product(s: State, op: ops.Mma) -> None:
    """`left @ right + acc`. Dead lanes of the inner axis are zero on both sides: 0 times anything else may be NaN."""
    b, dtype = s.b, op.left.type.dtype
    left, right, acc = s.cleaned(op.left, 1), s.cleaned(op.right, 0), s.get(op.acc)
    if dtype.is_integer:
        signed = dtype.kind == "int"
        s.put(op.result, b.mmai(left, right, acc, signed_left=signed, signed_right=signed))
    elif dtype == TF32:
        s.put(op.result, b.mmaf(b.ftof(left, TF32_ELEMENT), b.ftof(right, TF32_ELEMENT), acc))
    elif dtype == F32 and _fills_cores(line_shape(left), line_shape(right)):
        s.put(op.result, _single(s, left, right, acc))
    else:
        s.put(op.result, b.mmaf(left, right, acc))


def _fills_cores(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether tiles are large enough for tensor cores: in smaller ones some warp would have nothing to multiply."""
    (rows, inner), columns = left, right[1]
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
    b, shape = s.b, line_shape(value)
    kept = b.bitcast(b.andi(b.bitcast(value, I32), s.splat(I32, shape, _KEPT)), F32_ELEMENT)
    is_number = b.cmpf(Predicate.EQUAL, value, value)
    upper = b.select(is_number, kept, value)
    zero = s.splat(F32_ELEMENT, shape, 0.0)
    is_finite = b.cmpf(Predicate.LESS, b.absf(value), s.splat(F32_ELEMENT, shape, math.inf))
    finite = b.select(is_finite, kept, zero)
    rest = b.select(is_finite, b.subf(value, kept), zero)
    whole, some, little = (b.ftof(part, TF32_ELEMENT) for part in (upper, finite, rest))
    return whole, some, little
