"""Conversions between element types, as in `interpreter.semantics`: they round once, truncate and saturate.

From f64 or long integers to less than f32 the value first goes to f32 *to odd*: cut, its last bit set where something
was lost. Rounding that to nearest gives what rounding the original would; rounding twice to nearest does not.
Lanes may hold anything, so nothing here is undefined for any operand.
"""

from __future__ import annotations

from typing import Final

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.types import BF16, F16, I32, Number, Predicate, Value
from tileproof.backends.cuda.tileir.types import F32 as SINGLE
from tileproof.backends.cuda.tileir.types import F64 as DOUBLE
from tileproof.backends.integers import bounds, clamped, is_signed, rounded_bits, with_sticky_bit
from tileproof.language.dtypes import BOOL, F8E4M3, F8E5M2, F32, F64, TF32, U32, DType

from .state import ELEMENTS
from .tiles import IntegerTiles, element_of, like

LARGEST: Final = {F8E4M3: 448.0, F8E5M2: 57344.0}
"""Where f8 saturates."""
_PRECISION: Final = {SINGLE: 24, DOUBLE: 53}
_SATURATES: Final = (13, 4)
"""The first version of the bytecode that has conversions to integers which saturate."""


def cast(b: Builder, x: Value, source: DType, target: DType, version: tuple[int, int] = _SATURATES) -> Value:
    """Conversion of value."""
    if source == target:
        return x
    if target == BOOL:
        return _to_bool(b, x, source)
    if source == BOOL:
        element = ELEMENTS[target.name]
        if target.is_float:
            return b.select(x, like(b, x, 1.0, element), like(b, x, 0.0, element))
        return b.exti(x, element, signed=False)
    if source.is_float:
        if target.is_float:
            return _float_to_float(b, x, source, target)
        return _float_to_integer(b, widen(b, x), target, version)
    return _integer_to_float(b, x, source, target) if target.is_float else _integer_to_integer(b, x, source, target)


def bitcast(b: Builder, x: Value, source: DType, target: DType) -> Value:
    """The same bits as another type of the same width."""
    assert source.bits == target.bits
    return b.bitcast(x, ELEMENTS[target.name])


def widen(b: Builder, x: Value) -> Value:
    """Floats in the type they are computed in: f32, or f64 for f64. Exact."""
    return x if element_of(x) in (SINGLE, DOUBLE) else b.ftof(x, SINGLE)


def narrow(b: Builder, x: Value, dtype: DType) -> Value:
    """f32, or f64 for f64, rounded to a type that is computed in it."""
    if dtype in (F32, F64):
        return x
    if dtype == TF32:
        return _short(b, x)
    if dtype in LARGEST:
        # The assembler's own conversion does not promise what becomes of numbers that are too large.
        most = LARGEST[dtype]
        x = b.maxf(x, like(b, x, -most))
        x = b.minf(x, like(b, x, most))
    return b.ftof(x, ELEMENTS[dtype.name])


# Floats.


def _to_bool(b: Builder, x: Value, source: DType) -> Value:
    if source.is_float:
        x = widen(b, x)
        return b.cmpf(Predicate.NOT_EQUAL, x, like(b, x, 0.0), ordered=False)
    return b.cmpi(Predicate.NOT_EQUAL, x, like(b, x, 0), signed=False)


def _float_to_float(b: Builder, x: Value, source: DType, target: DType) -> Value:
    element = ELEMENTS[target.name]
    if source == F64:
        return b.ftof(x, SINGLE) if target == F32 else narrow(b, _single_to_odd(b, x), target)
    if target == F64:
        return b.ftof(widen(b, x), DOUBLE)
    if source in LARGEST and element == F16:
        return b.ftof(x, F16)
    # Whatever is narrower than f32 is tf32 already.
    single = widen(b, x)
    return single if target == F32 or (target == TF32 and source != F32) else narrow(b, single, target)


def _single_to_odd(b: Builder, x: Value) -> Value:
    """f64 as f32; where inexact, cut and with the last bit set."""
    nearest = b.ftof(x, SINGLE)
    back = b.ftof(nearest, DOUBLE)
    over = b.cmpf(Predicate.GREATER, b.absf(back), b.absf(x))
    inexact = b.cmpf(Predicate.NOT_EQUAL, back, x, ordered=False)
    cut = b.addi(b.bitcast(nearest, I32), b.exti(over, I32, signed=True))
    return b.bitcast(b.ori(cut, b.exti(inexact, I32, signed=False)), SINGLE)


def _short(b: Builder, x: Value) -> Value:
    """f32 to nearest even with 13 bits less; NaN stays."""
    bits = b.bitcast(x, I32)
    cut = b.bitcast(rounded_bits(IntegerTiles(b, U32, bits), bits, 13), SINGLE)
    return b.select(b.cmpf(Predicate.NOT_EQUAL, x, x, ordered=False), x, cut)


# Integers.


def _integer_to_float(b: Builder, x: Value, source: DType, target: DType) -> Value:
    """Straight where one rounding is sure: to f32 and f64, and where nothing is rounded. Else through f32."""
    element, signed = ELEMENTS[target.name], is_signed(source)
    if target in (F32, F64) or (source.bits == 8 and element in (F16, BF16)):
        return b.itof(x, element, signed=signed)
    if source.bits == 64:
        double = b.itof(with_sticky_bit(IntegerTiles(b, source, x), x, 53), DOUBLE, signed=signed)
        return narrow(b, _single_to_odd(b, double), target)
    if source.bits == 32:
        x = with_sticky_bit(IntegerTiles(b, source, x), x, 24)
    return narrow(b, b.itof(x, SINGLE, signed=signed), target)


def _float_to_integer(b: Builder, x: Value, target: DType, version: tuple[int, int]) -> Value:
    """Toward zero, saturated, NaN to 0."""
    element, signed = ELEMENTS[target.name], is_signed(target)
    if element.bits < 32:
        # Cut in 32 bits: numbers between those limits and the target's own are then clamped as integers.
        wide = _cut(b, x, I32, True, version)
        least, greatest = bounds(target)
        wide = b.maxi(wide, like(b, wide, least), signed=True)
        return b.trunci(b.mini(wide, like(b, wide, greatest), signed=True), element)
    return _cut(b, x, element, signed, version)


def _cut(b: Builder, x: Value, element: Number, signed: bool, version: tuple[int, int]) -> Value:
    """To 32 or 64 bits; where the bytecode cannot say that it saturates, operands are clamped first.

    The least integer is a float; the greatest lies between two, and stands for all above the lower of them. In f64 that
    is so for 64 bits alone.
    """
    if version >= _SATURATES:
        return b.ftoi(x, element, signed=signed, saturating=True)
    width = element.bits - signed
    greatest, precision = 2**width - 1, _PRECISION[element_of(x)]
    high = greatest if width <= precision else 2**width - 2 ** (width - precision)
    is_number = b.cmpf(Predicate.EQUAL, x, x)
    inside = b.select(is_number, x, like(b, x, 0.0))
    inside = b.maxf(inside, like(b, x, -float(2**width) if signed else 0.0))
    inside = b.minf(inside, like(b, x, float(high)))
    result = b.ftoi(inside, element, signed=signed)
    if high == greatest:
        return result
    over = b.cmpf(Predicate.GREATER, x, like(b, x, float(high)))
    return b.select(over, like(b, result, greatest), result)


def _integer_to_integer(b: Builder, x: Value, source: DType, target: DType) -> Value:
    """Saturates."""
    x, element = clamped(IntegerTiles(b, source, x), x, target), ELEMENTS[target.name]
    if source.bits == target.bits:
        return x
    return b.trunci(x, element) if source.bits > target.bits else b.exti(x, element, signed=is_signed(source))
