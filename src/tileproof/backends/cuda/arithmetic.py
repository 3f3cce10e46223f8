"""The value of every elementwise operation, as in `interpreter.semantics`.

Nothing here is undefined, whatever the operands: dead lanes hold anything. Floats of 16 bits are computed in f32 and
rounded once; for sums, differences and products that is what their own operations give, since f32 has more than twice
their digits. Division in f32 is the assembler's `full` one, which is within two units and a quarter as long as the
exact one; where a quotient is rounded to a whole number it is exact, since there a unit may become a one.
"""

from __future__ import annotations

from typing import Final

from tileproof.ir.ops import BinaryFn, UnaryFn
from tileproof.language.dtypes import BOOL, ENTRY, TF32, DType

from .conversions import LARGEST, narrow, widen
from .elementary import elementary, power, quotient, signed_like
from .integers import integer_binary, known_power
from .positions import PREDICATES
from .splats import element_of, like
from .state import ELEMENTS
from .tileir.builder import Builder
from .tileir.literals import bits_of, number_of
from .tileir.types import F32, F64, Predicate, Tile, Value
from .tileir.types import TF32 as SHORT

_WHOLE: Final = {F32: 2.0**23, F64: 2.0**52}
"""From here on all numbers are whole."""


def constant(b: Builder, dtype: DType, shape: tuple[int, ...], value: bool | int | float) -> Value:
    """A number in every lane of a shape, rounded once; f8 saturates."""
    if dtype.is_float:
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            value = float(value)
        if dtype in LARGEST and value == value:
            value = max(-LARGEST[dtype], min(LARGEST[dtype], value))
        if dtype == TF32:
            value = number_of(SHORT, bits_of(SHORT, value))
    return b.constant(Tile(ELEMENTS[dtype.name], shape), value)


def select(b: Builder, condition: Value, yes: Value, no: Value) -> Value:
    """`yes` where `condition`, else `no`."""
    return b.select(condition, yes, no)


def binary(b: Builder, fn: BinaryFn, x: Value, y: Value, dtype: DType, right: int | float | None = None) -> Value:
    """`fn` of every pair of lanes, both of type `dtype`; comparisons give bools.

    `right` is the number that `y` is in every lane, if the program says so: some operations are then shorter.
    """
    if not dtype.is_float:
        return integer_binary(b, fn, x, y, dtype, None if right is None else int(right))
    if fn.compares:
        return b.cmpf(PREDICATES[fn], x, y, ordered=fn is not BinaryFn.NE)
    match fn:
        case BinaryFn.ADD:
            return b.addf(x, y)
        case BinaryFn.SUB:
            return b.subf(x, y)
        case BinaryFn.MUL:
            return b.mulf(x, y)
        case BinaryFn.MIN:
            return b.minf(x, y, propagate_nan=True)
        case BinaryFn.MAX:
            return b.maxf(x, y, propagate_nan=True)
        case _:
            return narrow(b, _wide_binary(b, fn, widen(b, x), widen(b, y), dtype, right), dtype)


def _wide_binary(b: Builder, fn: BinaryFn, x: Value, y: Value, dtype: DType, right: float | None) -> Value:
    """What f16 and bf16 compute in f32."""
    match fn:
        case BinaryFn.DIV:
            return quotient(b, x, y, dtype)
        case BinaryFn.FLOORDIV:
            return b.floor(b.divf(x, y))
        case BinaryFn.CDIV:
            return b.ceil(b.divf(x, y))
        case BinaryFn.MOD:
            return b.subf(x, b.mulf(b.floor(b.divf(x, y)), y))
        case BinaryFn.POW if right in (1, 2, 3, 4):
            return known_power(b, x, int(right))
        case BinaryFn.POW:
            return power(b, x, y)
        case _:
            raise TypeError(f"{fn} of {dtype}")


def unary(b: Builder, fn: UnaryFn, x: Value, dtype: DType) -> Value:
    """`fn` of every lane."""
    if dtype.is_float:
        return _float_unary(b, fn, x, dtype)
    if dtype == ENTRY:
        raise TypeError(f"{fn} of {dtype}")
    match fn:
        case UnaryFn.ISNAN:
            return b.xori(x, x) if dtype == BOOL else b.cmpi(Predicate.NOT_EQUAL, x, x, signed=False)
        case UnaryFn.NOT:
            return b.xori(x, like(b, x, True if dtype == BOOL else -1))
        case UnaryFn.NEG:
            return b.negi(x)
        case UnaryFn.ABS:
            return x if dtype.kind in ("uint", "bool") else b.absi(x)
        case UnaryFn.FLOOR | UnaryFn.CEIL | UnaryFn.ROUND:
            return x
        case _:
            raise TypeError(f"{fn} of {dtype}")


def _float_unary(b: Builder, fn: UnaryFn, x: Value, dtype: DType) -> Value:
    match fn:
        case UnaryFn.ISNAN:
            return b.cmpf(Predicate.NOT_EQUAL, x, x, ordered=False)
        case UnaryFn.NEG:
            return b.negf(x)
        case UnaryFn.ABS:
            return b.absf(x)
        case UnaryFn.FLOOR:
            return narrow(b, b.floor(widen(b, x)), dtype)
        case UnaryFn.CEIL:
            return narrow(b, b.ceil(widen(b, x)), dtype)
        case UnaryFn.ROUND:
            return narrow(b, _rounded(b, widen(b, x)), dtype)
        case UnaryFn.NOT:
            raise TypeError(f"{fn} of {dtype}")
        case _:
            return narrow(b, elementary(b, fn, widen(b, x), dtype), dtype)


def _rounded(b: Builder, x: Value) -> Value:
    """To the nearest whole number, ties to even, by adding a number so large that the sum has no fraction."""
    size, large = b.absf(x), like(b, x, _WHOLE[element_of(x)])
    near = signed_like(b, b.subf(b.addf(size, large), large), x)
    return b.select(b.cmpf(Predicate.LESS, size, large), near, x)
