"""Arithmetic on integers, positions and bools: it wraps, and every operation has a value for all operands.

Tile IR leaves division by 0, the least number by -1 and long shifts undefined, and its assembler deletes code that
does them: the operands are made harmless first, and the result is chosen afterwards.
"""

from __future__ import annotations

from typing import Final

from tileproof.ir.ops import BinaryFn
from tileproof.language.dtypes import BOOL, ENTRY, DType

from .conversions import bounds, is_signed
from .positions import PREDICATES
from .splats import element_of, like
from .tileir.builder import Builder
from .tileir.types import I32, Predicate, Rounding, Tile, Value

_UNROLLED: Final = 64
"""Powers up to this are written as multiplications."""


def integer_binary(b: Builder, fn: BinaryFn, x: Value, y: Value, dtype: DType, right: int | None) -> Value:
    """`fn` of every pair of lanes; `right` is the number that `y` is everywhere, if that is known."""
    if dtype == BOOL:
        return _logic(b, fn, x, y)
    if right is not None:
        # The number in dead lanes too, which are then as safe as the others.
        y = like(b, y, right)
    signed = is_signed(dtype)
    if fn.compares:
        return b.cmpi(PREDICATES[fn], x, y, signed=signed)
    if dtype == ENTRY:
        none = b.cmpi(Predicate.EQUAL, x, like(b, x, -1), signed=True)
        divided = _quotient(b, x, y, dtype, right) if fn is BinaryFn.FLOORDIV else _remainder(b, x, y, dtype, right)
        return b.select(none, x, divided)
    match fn:
        case BinaryFn.ADD:
            return b.addi(x, y)
        case BinaryFn.SUB:
            return b.subi(x, y)
        case BinaryFn.MUL:
            return b.muli(x, y)
        case BinaryFn.AND:
            return b.andi(x, y)
        case BinaryFn.OR:
            return b.ori(x, y)
        case BinaryFn.XOR:
            return b.xori(x, y)
        case BinaryFn.MIN:
            return b.mini(x, y, signed=signed)
        case BinaryFn.MAX:
            return b.maxi(x, y, signed=signed)
        case BinaryFn.FLOORDIV:
            return _quotient(b, x, y, dtype, right)
        case BinaryFn.MOD:
            return _remainder(b, x, y, dtype, right)
        case BinaryFn.CDIV:
            return _divided(b, x, y, dtype, Rounding.UP, right)
        case BinaryFn.SHL | BinaryFn.SHR:
            return _shift(b, fn, x, y, dtype, right)
        case BinaryFn.POW:
            return _power(b, x, y, dtype, right)
        case _:
            raise TypeError(f"{fn} of {dtype}")


def _logic(b: Builder, fn: BinaryFn, x: Value, y: Value) -> Value:
    match fn:
        case BinaryFn.AND | BinaryFn.MIN:
            return b.andi(x, y)
        case BinaryFn.OR | BinaryFn.MAX:
            return b.ori(x, y)
        case BinaryFn.XOR | BinaryFn.NE:
            return b.xori(x, y)
        case BinaryFn.EQ:
            return b.xori(b.xori(x, y), like(b, x, True))
        case _:
            raise TypeError(f"{fn} of {BOOL}")


# Division.


def _is_power(number: int | None) -> bool:
    return number is not None and number > 0 and number & (number - 1) == 0


def _quotient(b: Builder, x: Value, y: Value, dtype: DType, right: int | None) -> Value:
    """x // y, with x // 0 = 0; the least number divided by -1 wraps."""
    if right is not None and _is_power(right):
        return x if right == 1 else b.shri(x, like(b, x, right.bit_length() - 1), signed=is_signed(dtype))
    return _divided(b, x, y, dtype, Rounding.DOWN if is_signed(dtype) else Rounding.ZERO, right)


def _remainder(b: Builder, x: Value, y: Value, dtype: DType, right: int | None) -> Value:
    """x % y with the sign of y, and x % 0 = x: what the quotient leaves, also where it is 0 or has wrapped."""
    if right is not None and _is_power(right):
        return b.andi(x, like(b, x, right - 1))
    return b.subi(x, b.muli(_quotient(b, x, y, dtype, right), y))


def _divided(b: Builder, x: Value, y: Value, dtype: DType, rounding: Rounding, right: int | None) -> Value:
    """The quotient, 0 where the divisor is 0. The least number by -1 wraps to itself, which is what 1 gives."""
    signed = is_signed(dtype)
    if right == 0:
        return like(b, x, 0)
    if right not in (None, -1):
        return b.divi(x, y, signed=signed, rounding=rounding)
    zero = b.cmpi(Predicate.EQUAL, y, like(b, y, 0), signed=False)
    unsafe = zero
    if signed:
        least = b.cmpi(Predicate.EQUAL, x, like(b, x, bounds(dtype)[0]), signed=False)
        minus = b.cmpi(Predicate.EQUAL, y, like(b, y, -1), signed=False)
        unsafe = b.ori(zero, b.andi(least, minus))
    quotient = b.divi(x, b.select(unsafe, like(b, y, 1), y), signed=signed, rounding=rounding)
    return b.select(zero, like(b, x, 0), quotient)


# Shifts and powers.


def _shift(b: Builder, fn: BinaryFn, x: Value, y: Value, dtype: DType, right: int | None) -> Value:
    """A shift by less than 0 or by the width or more gives 0, and -1 for `>>` of a negative number."""
    signed, bits = is_signed(dtype), element_of(x).bits
    if right is not None and 0 <= right < bits:
        return b.shli(x, y) if fn is BinaryFn.SHL else b.shri(x, y, signed=signed)
    # Read as unsigned, an amount below 0 is too long too.
    amount = b.mini(y, like(b, y, bits - 1), signed=False)
    if fn is BinaryFn.SHR and signed:
        return b.shri(x, amount, signed=True)
    shifted = b.shli(x, amount) if fn is BinaryFn.SHL else b.shri(x, amount, signed=False)
    inside = b.cmpi(Predicate.LESS, y, like(b, y, bits), signed=False)
    return b.select(inside, shifted, like(b, x, 0))


def _power(b: Builder, x: Value, y: Value, dtype: DType, right: int | None) -> Value:
    """Squares and multiplies, wrapping. A base of 1 or -1 has negative powers, all others give 0."""
    if right is not None and 0 <= right <= _UNROLLED:
        return known_power(b, x, right)
    result = _squared(b, x, y)
    if not is_signed(dtype):
        return result
    one, zero = like(b, x, 1), like(b, x, 0)
    odd = b.cmpi(Predicate.NOT_EQUAL, b.andi(y, one), zero, signed=False)
    minus = b.cmpi(Predicate.EQUAL, x, like(b, x, -1), signed=False)
    unit = b.ori(b.cmpi(Predicate.EQUAL, x, one, signed=False), minus)
    inverse = b.select(unit, b.select(odd, x, one), zero)
    return b.select(b.cmpi(Predicate.LESS, y, zero, signed=True), inverse, result)


def known_power(b: Builder, x: Value, exponent: int) -> Value:
    """A power that is not negative, by multiplications alone; of floats too."""
    times = b.muli if element_of(x).is_integer else b.mulf
    result: Value | None = None
    while exponent:
        if exponent & 1:
            result = x if result is None else times(result, x)
        exponent >>= 1
        if exponent:
            x = times(x, x)
    return like(b, x, 1) if result is None else result


def _squared(b: Builder, x: Value, y: Value) -> Value:
    """One turn for each bit of the exponent, read as unsigned."""
    one, zero = like(b, x, 1), like(b, x, 0)
    lower, upper, step = (b.constant(Tile(I32), number) for number in (0, element_of(x).bits, 1))
    loop = b.for_(lower, upper, step, (one, x, y))
    with b.inside(loop.block):
        _, result, base, exponent = loop.arguments
        odd = b.cmpi(Predicate.NOT_EQUAL, b.andi(exponent, one), zero, signed=False)
        result = b.select(odd, b.muli(result, base), result)
        b.continue_(result, b.muli(base, base), b.shri(exponent, one, signed=False))
    return loop.results[0]
