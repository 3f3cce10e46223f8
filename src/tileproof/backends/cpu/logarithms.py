"""log, log2 and power in vectors of f32 and f64.

x = 2^e (1 + t) with 1 + t between the square roots of 1/2 and 2; log(1 + t) is t and a rest, which is small.
"""

from __future__ import annotations

from typing import Final

from tileproof.language.dtypes import F32, F64

from .conversions import Floats
from .emission import Operand
from .exponentials import LN2, exp2

_LOG2E_PARTS: Final = {
    F32: (1.4426950216293335, 1.925963033500011e-08),
    F64: (1.4426950408889634, 2.0355273740931033e-17),
}
"""The logarithm of e to the base 2 in two parts."""
_FRACTION: Final = {F32: 23, F64: 52}
_NORMAL: Final = {F32: 2.0**-126, F64: 2.0**-1022}
_ROOT: Final = {F32: 0x3F3504F3, F64: 0x3FE6A09E667F3BCD}
"""The bits of the square root of 1/2."""
_LOG_F32: Final = (
    0.06746156513690948,
    -0.11675386130809784,
    0.11888305097818375,
    -0.12405670434236526,
    0.1421952098608017,
    -0.16667994856834412,
    0.2000211626291275,
    -0.25000008940696716,
    0.3333331346511841,
    -0.5,
)
"""(log(1 + t) - t) / t^2 for f32."""
_LOG_F64: Final = (
    0.1325184893970333,
    0.13250061155059625,
    0.15387093276927855,
    0.18181775608034187,
    0.2222222264751378,
    0.28571428569081125,
    0.40000000000006264,
    0.6666666666666666,
)
"""(2 atanh(s) - 2 s) / s^3 by s^2 for f64."""


def log(f: Floats, x: Operand) -> Operand:
    """The natural logarithm."""
    e, t = _split(f, x)
    high, low = (f.number(part) for part in LN2[f.dtype])
    near = f.add(t, f.fma(e, low, _rest(f, t)))
    return _at_ends(f, x, f.fma(e, high, near))


def log2(f: Floats, x: Operand) -> Operand:
    """The logarithm to the base 2."""
    e, t = _split(f, x)
    high, low = (f.number(part) for part in _LOG2E_PARTS[f.dtype])
    if f.dtype == F32:
        small = f.mul(t, f.fma(_slope(f, t), high, low))
    else:
        small = f.fma(t, low, f.mul(_rest(f, t), high))
    return _at_ends(f, x, f.add(f.fma(t, high, small), e))


def _split(f: Floats, x: Operand) -> tuple[Operand, Operand]:
    """e as a float, and t. Denormal numbers are made normal first."""
    fraction = _FRACTION[f.dtype]
    denormal = f.test("olt", x, f.number(_NORMAL[f.dtype]))
    bits = f.bits(f.select(denormal, f.mul(x, f.number(2.0 ** (fraction + 1))), x))
    above = f.whole_op("sub", bits, f.whole(_ROOT[f.dtype]))
    exponent = f.whole_op("ashr", above, f.whole(fraction))
    mantissa = f.real(f.whole_op("sub", bits, f.whole_op("shl", exponent, f.whole(fraction))))
    e = f.e.op(f"sitofp {f.integer} {{}} to {f.type}", exponent)
    e = f.add(e, f.select(denormal, f.number(-fraction - 1), f.number(0)))
    return e, f.sub(mantissa, f.number(1))


def _rest(f: Floats, t: Operand) -> Operand:
    """log(1 + t) - t."""
    if f.dtype == F32:
        return f.mul(t, _slope(f, t))
    s, square = f.div(t, f.add(t, f.number(2))), f.mul(t, t)
    z, half = f.mul(s, s), f.mul(square, f.number(0.5))
    return f.fma(s, f.fma(z, f.polynomial(z, _LOG_F64), half), f.neg(half))


def _slope(f: Floats, t: Operand) -> Operand:
    """log(1 + t) / t - 1 in f32."""
    return f.mul(t, f.polynomial(t, _LOG_F32))


def _at_ends(f: Floats, x: Operand, value: Operand) -> Operand:
    """-inf at 0, inf at inf, NaN at NaN and below 0."""
    infinite, zero = f.number(float("inf")), f.number(0)
    value = f.select(f.test("oeq", x, infinite), infinite, value)
    value = f.select(f.test("oeq", x, zero), f.number(float("-inf")), value)
    return f.select(f.test("ult", x, zero), f.number(float("nan")), value)


# Powers.


def known_power(f: Floats, x: Operand, y: Operand) -> Operand | None:
    """x to a power that is written in the program and takes no more than two multiplications."""
    if y == f.number(2):
        return f.mul(x, x)
    return f.mul(f.mul(x, x), x) if y == f.number(3) else None


def single_power(f: Floats, x: Operand, y: Operand) -> Operand:
    """x to the power y in f32, computed as 2^(y log2 |x|) in f64, with the special cases of IEEE."""
    wide = f.to(F64)
    size = f.intrinsic("fabs", x)
    exponent = wide.mul(f.widened(y), log2(wide, f.widened(size)))
    value = f.e.op(f"fptrunc {wide.type} {{}} to {f.type}", exp2(wide, exponent))
    odd, broken = _odd(f, y), f.test("une", f.intrinsic("rint", y), y)
    value = f.select(odd, f.intrinsic("copysign", value, x), value)
    below = f.both(f.test("olt", x, f.number(0)), f.test("one", size, f.number(float("inf"))))
    value = f.select(f.both(below, broken), f.number(float("nan")), value)
    unit = f.both(f.test("oeq", size, f.number(1)), f.test("oeq", f.intrinsic("fabs", y), f.number(float("inf"))))
    for always in (unit, f.test("oeq", x, f.number(1)), f.test("oeq", y, f.number(0))):
        value = f.select(always, f.number(1), value)
    return value


def _odd(f: Floats, y: Operand) -> Operand:
    """Whether a number is whole and odd."""
    half = f.mul(y, f.number(0.5))
    whole = f.test("oeq", f.intrinsic("rint", y), y)
    return f.both(whole, f.test("one", f.intrinsic("rint", half), half))
