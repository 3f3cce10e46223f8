"""Arithmetic on integers, positions and bools, written once for all code generators.

It wraps, and every operation has a value for all operands, as in `interpreter.semantics`. Processors and assemblers
leave division by 0, the least number by -1 and long shifts undefined, and delete code that does them: the operands are
made safe first, and the result is selected afterwards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from tileproof.ir.ops import BinaryFn
from tileproof.language.dtypes import BOOL, ENTRY, DType

V = TypeVar("V")
_LOGIC: Final = {
    BinaryFn.ADD: BinaryFn.OR, BinaryFn.MUL: BinaryFn.AND, BinaryFn.MIN: BinaryFn.AND, BinaryFn.MAX: BinaryFn.OR,
    BinaryFn.AND: BinaryFn.AND, BinaryFn.OR: BinaryFn.OR, BinaryFn.XOR: BinaryFn.XOR,
}  # fmt: skip
_UNROLLED: Final = 64
"""Powers up to this are written as multiplications."""


class Integers(ABC, Generic[V]):
    """The operations of a target on lanes of one integer type. `signed` says how lanes are read; None: as the type."""

    dtype: DType

    @abstractmethod
    def constant(self, value: int) -> V:
        """A number in every lane."""

    @abstractmethod
    def apply(self, fn: BinaryFn, x: V, y: V, *, signed: bool | None = None) -> V:
        """ADD, SUB, MUL, AND, OR, XOR, MIN, MAX, and SHL and SHR by less than the width."""

    @abstractmethod
    def compare(self, fn: BinaryFn, x: V, y: V, *, signed: bool | None = None) -> V:
        """A condition in every lane."""

    @abstractmethod
    def select(self, condition: V, yes: V, no: V) -> V:
        """`yes` where the condition holds, else `no`."""

    @abstractmethod
    def both(self, one: V, two: V) -> V:
        """Where both conditions hold."""

    @abstractmethod
    def either(self, one: V, two: V) -> V:
        """Where one of two conditions holds."""

    @abstractmethod
    def divide(self, x: V, y: V, *, up: bool = False) -> V:
        """The quotient rounded down, or up. Undefined for y = 0, and for the least number by -1."""

    @abstractmethod
    def remainder(self, x: V, y: V) -> V:
        """What the quotient rounded down leaves; undefined where that is."""

    @abstractmethod
    def repeat(self, count: int, body: Callable[..., Sequence[V]], *carried: V) -> Sequence[V]:
        """Lanes after `count` steps; `body` maps those before a step to those after it."""

    @abstractmethod
    def outlined(self, name: str, body: Callable[[Integers[V], V, V], V], x: V, y: V) -> V:
        """What a long `body` computes, where possible by a function that is written once."""


def is_signed(dtype: DType) -> bool:
    """Whether integers of a type, or positions, may be negative."""
    return dtype.kind in ("int", "index")


def bounds(dtype: DType) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    return (-(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1) if is_signed(dtype) else (0, 2**dtype.bits - 1)


def integer_binary(n: Integers[V], fn: BinaryFn, x: V, y: V, known: int | None) -> V:
    """`fn` of every pair of lanes; `known` is the number that `y` is in every lane, if the program says so."""
    if fn.compares:
        return n.compare(fn, x, y)
    if n.dtype == BOOL:
        if fn not in _LOGIC:
            raise TypeError(f"{fn} of {n.dtype}")
        return n.apply(_LOGIC[fn], x, y)
    match fn:
        case BinaryFn.FLOORDIV | BinaryFn.MOD if n.dtype == ENTRY:
            is_none = n.compare(BinaryFn.EQ, x, n.constant(-1))
            return n.select(is_none, x, (_quotient if fn is BinaryFn.FLOORDIV else _remainder)(n, x, y, known))
        case BinaryFn.FLOORDIV:
            return _quotient(n, x, y, known)
        case BinaryFn.MOD:
            return _remainder(n, x, y, known)
        case BinaryFn.CDIV:
            return _divide(n, x, y, known, up=True)
        case BinaryFn.SHL | BinaryFn.SHR:
            return _shift(n, fn, x, y, known)
        case BinaryFn.POW if known is not None and 0 <= known <= _UNROLLED:
            return known_power(lambda a, b: n.apply(BinaryFn.MUL, a, b), x, known) if known else n.constant(1)
        case BinaryFn.POW:
            return n.outlined("power", _power, x, y)
        case BinaryFn.DIV:
            raise TypeError(f"{fn} of {n.dtype}")
        case _:
            return n.apply(fn, x, y)


# Division.


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _quotient(n: Integers[V], x: V, y: V, known: int | None) -> V:
    """x // y, with x // 0 = 0; the least number divided by -1 wraps."""
    if known is not None and _is_power(known):
        return x if known == 1 else n.apply(BinaryFn.SHR, x, n.constant(known.bit_length() - 1))
    return _divide(n, x, y, known)


def _remainder(n: Integers[V], x: V, y: V, known: int | None) -> V:
    """x % y with the sign of y, and x % 0 = x."""
    if known is not None and _is_power(known):
        return n.apply(BinaryFn.AND, x, n.constant(known - 1))
    if known not in (None, 0, -1):
        return n.remainder(x, y)
    is_zero, safe = _safe_divisor(n, x, y)
    return n.select(is_zero, x, n.remainder(x, safe))


def _divide(n: Integers[V], x: V, y: V, known: int | None, *, up: bool = False) -> V:
    if known not in (None, 0, -1):
        return n.divide(x, y, up=up)
    is_zero, safe = _safe_divisor(n, x, y)
    quotient = n.divide(x, safe, up=up)
    return n.select(is_zero, n.constant(0), quotient)


def _safe_divisor(n: Integers[V], x: V, y: V) -> tuple[V, V]:
    """Where the divisor is 0, and the divisor, or 1 where it is unsafe: the least number by 1 is itself, as by -1."""
    is_zero = n.compare(BinaryFn.EQ, y, n.constant(0), signed=False)
    unsafe = is_zero
    if is_signed(n.dtype):
        least = n.compare(BinaryFn.EQ, x, n.constant(bounds(n.dtype)[0]), signed=False)
        minus = n.compare(BinaryFn.EQ, y, n.constant(-1), signed=False)
        unsafe = n.either(is_zero, n.both(least, minus))
    return is_zero, n.select(unsafe, n.constant(1), y)


# Shifts and powers.


def _shift(n: Integers[V], fn: BinaryFn, x: V, y: V, known: int | None) -> V:
    """A shift by less than 0 or by the width or more gives 0, and -1 for `>>` of a negative number."""
    bits = n.dtype.bits
    if known is not None and 0 <= known < bits:
        return n.apply(fn, x, y)
    longest = n.constant(bits - 1)
    if fn is BinaryFn.SHR and is_signed(n.dtype):
        # Read as unsigned, an amount below 0 is too long too.
        return n.apply(fn, x, n.apply(BinaryFn.MIN, y, longest, signed=False))
    is_short = n.compare(BinaryFn.LT, y, n.constant(bits), signed=False)
    return n.select(is_short, n.apply(fn, x, n.apply(BinaryFn.AND, y, longest)), n.constant(0))


def known_power(multiply: Callable[[V, V], V], x: V, exponent: int) -> V:
    """x to a power of at least 1, by multiplications alone."""
    result: V | None = None
    while True:
        if exponent & 1:
            result = x if result is None else multiply(result, x)
        exponent >>= 1
        if not exponent:
            assert result is not None
            return result
        x = multiply(x, x)


def _power(n: Integers[V], x: V, y: V) -> V:
    """Squares and multiplies, wrapping. A base of 1 or -1 has negative powers, all others give 0."""
    one, zero = n.constant(1), n.constant(0)

    def is_odd(exponent: V) -> V:
        return n.compare(BinaryFn.NE, n.apply(BinaryFn.AND, exponent, one), zero, signed=False)

    def step(result: V, base: V, exponent: V) -> Sequence[V]:
        """For one bit of the exponent, read as unsigned: there are no more steps than bits."""
        result = n.select(is_odd(exponent), n.apply(BinaryFn.MUL, result, base), result)
        return result, n.apply(BinaryFn.MUL, base, base), n.apply(BinaryFn.SHR, exponent, one, signed=False)

    result = n.repeat(n.dtype.bits, step, one, x, y)[0]
    if not is_signed(n.dtype):
        return result
    minus = n.compare(BinaryFn.EQ, x, n.constant(-1), signed=False)
    is_unit = n.either(n.compare(BinaryFn.EQ, x, one, signed=False), minus)
    inverse = n.select(is_unit, n.select(is_odd(y), x, one), zero)
    return n.select(n.compare(BinaryFn.LT, y, zero, signed=True), inverse, result)


# Parts of conversions.


def clamped(n: Integers[V], x: V, target: DType) -> V:
    """Integers brought into the range of another type."""
    (low, high), (least, greatest) = bounds(n.dtype), bounds(target)
    if least > low:
        x = n.apply(BinaryFn.MAX, x, n.constant(least))
    if greatest < high:
        x = n.apply(BinaryFn.MIN, x, n.constant(greatest))
    return x


def with_sticky_bit(n: Integers[V], x: V, precision: int) -> V:
    """Integers whose last bits, where a float of so many bits would round them, are one that says if any was set."""
    end, last = 1 << precision, 1 << (n.dtype.bits - precision)
    moved = n.apply(BinaryFn.ADD, x, n.constant(end)) if is_signed(n.dtype) else x
    limit = n.constant(2 * end if is_signed(n.dtype) else end)
    is_long = n.compare(BinaryFn.GT, moved, limit, signed=False)
    rest = n.apply(BinaryFn.AND, x, n.constant(2 * last - 1))
    inexact = n.both(is_long, n.compare(BinaryFn.NE, rest, n.constant(0), signed=False))
    kept = n.apply(BinaryFn.AND, x, n.constant(-2 * last))
    return n.select(inexact, n.apply(BinaryFn.OR, kept, n.constant(last)), x)


def rounded_bits(n: Integers[V], bits: V, dropped: int) -> V:
    """The bits of floats without the last of their significands, rounded to nearest even; not for NaN."""
    last = n.apply(BinaryFn.AND, n.apply(BinaryFn.SHR, bits, n.constant(dropped), signed=False), n.constant(1))
    almost = n.apply(BinaryFn.ADD, bits, n.constant(2 ** (dropped - 1) - 1))
    return n.apply(BinaryFn.AND, n.apply(BinaryFn.ADD, almost, last), n.constant(-(2**dropped)))
