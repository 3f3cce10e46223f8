"""sin and cos in vectors of f32, computed in f64.

x = n pi/2 + r with |r| <= pi/4. Up to 2^48 two parts of pi/2 give r exactly enough, since the product of a fused
multiplication is exact. Beyond, where a number of f32 is a multiple of 2^25, the bits of 2/pi that matter are
multiplied as integers, lane by lane, in a branch that other numbers do not take.
"""

from __future__ import annotations

from typing import Final

from tileproof.language.dtypes import F64

from .conversions import Floats
from .emission import Operand, suffix

_LIMIT: Final = 2.0**48
_HALF_PI: Final = 1.5707963267948966, 6.123233995736766e-17
_TWO_OVER_PI: Final = 0.6366197723675814
_TWO_OVER_PI_BITS: Final = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE
"""2/pi as a whole number of steps of 2^-200."""
_MAGIC: Final = 1.5 * 2.0**52
_SIN: Final = 2.718112553224351e-06, -0.00019839311322225495, 0.008333329301914818, -0.16666666640772002, 1.0
"""sin(r) / r by r^2."""
_COS: Final = -2.7205669846380803e-07, 2.4799459131266214e-05, -0.0013888883496184134, 0.04166666661944598, -0.5, 1.0
"""cos(r) by r^2."""


def sin(f: Floats, x: Operand) -> Operand:
    """The sine of f32."""
    return _turned(f, x, 0)


def cos(f: Floats, x: Operand) -> Operand:
    """The cosine of f32: the sine a quarter turn further."""
    return _turned(f, x, 1)


def _turned(f: Floats, x: Operand, quarters: int) -> Operand:
    """The sine of `x` and so many quarter turns."""
    d = f.to(F64)
    n, r = _reduced(f, x)
    n = d.whole_op("add", n, d.whole(quarters))
    square = d.mul(r, r)
    sine = d.mul(r, d.polynomial(square, _SIN))
    even = d.e.op(f"icmp eq {d.integer} {{}}, {d.whole(0)}", d.whole_op("and", n, d.whole(1)))
    value = d.select(even, sine, d.polynomial(square, _COS))
    flip = d.whole_op("shl", d.whole_op("and", n, d.whole(2)), d.whole(62))
    value = d.real(d.whole_op("xor", d.bits(value), flip))
    infinite = f.test("oeq", f.intrinsic("fabs", x), f.number(float("inf")))
    narrow = f.e.op(f"fptrunc {d.type} {{}} to {f.type}", value)
    return f.select(infinite, f.number(float("nan")), narrow)


def _reduced(f: Floats, x: Operand) -> tuple[Operand, Operand]:
    """n, in the last bits of an i64, and r."""
    d = f.to(F64)
    wide = f.widened(x)
    moved = d.fma(wide, d.number(_TWO_OVER_PI), d.number(_MAGIC))
    count = d.sub(moved, d.number(_MAGIC))
    high, low = (d.number(-part) for part in _HALF_PI)
    n, r = d.bits(moved), d.fma(count, low, d.fma(count, high, wide))
    far = f.test("oge", f.intrinsic("fabs", x), f.number(_LIMIT))
    types = [d.integer, d.type]
    n, r = f.e.branch(_any(f, far), lambda: _reduced_far(f, wide, far, n, r), lambda: [n, r], types)
    return n, r


def _any(f: Floats, condition: Operand) -> Operand:
    if f.w == 1:
        return condition
    name = f.e.declare(f"llvm.vector.reduce.or.{suffix('i1', f.w)}", "i1", f.logic)
    return f.e.op(f"call i1 @{name}({f.logic} {{}})", condition)


def _reduced_far(f: Floats, wide: Operand, far: Operand, n: Operand, r: Operand) -> list[Operand]:
    """`n` and `r` with those of the lanes that are far replaced."""
    d, e = f.to(F64), f.e
    if f.w == 1:
        return list(_reduced_exactly(d, wide))

    def turn(lane: Operand, carried: list[Operand]) -> list[Operand]:
        one = e.op(f"extractelement {d.type} {{}}, i64 {{}}", wide, lane)
        values = _reduced_exactly(Floats(e, F64, 1), one)
        return [
            e.op(f"insertelement {of} {{}}, {element} {{}}, i64 {{}}", kept, value, lane)
            for of, element, kept, value in zip(types, ("i64", "double"), carried, values, strict=True)
        ]

    types = [d.integer, d.type]
    exact = e.loop("0", str(f.w), 1, turn, [(of, "poison") for of in types])
    return [
        e.op(f"select {f.logic} {{}}, {of} {{}}, {of} {{}}", far, new, old)
        for of, new, old in zip(types, exact, (n, r), strict=True)
    ]


def _reduced_exactly(d: Floats, x: Operand) -> tuple[Operand, Operand]:
    """n and r of one number of f32, kept in f64, from 2^48 on.

    x = m 2^k with m of 24 bits, so x 2/pi in steps of 2^-96 is m times 2/pi in steps of 2^-(96+k), of which
    98 bits matter: two for the quarter, the others for the fraction.
    """
    e, bits = d.e, d.bits(x)
    raised = e.op("lshr i64 {}, 52", bits)
    exponent = e.op("and i64 {}, 2047", raised)
    mantissa = e.op("lshr i64 {}, 29", e.op("or i64 {}, 4503599627370496", e.op("and i64 {}, 4503599627370495", bits)))
    shift = e.op("sub i64 {}, {}", str(1023 + 23 + 104), exponent)
    inside = e.op("icmp ult i64 {}, 104", shift)
    amount = e.op("zext i64 {} to i256", e.op("select i1 {}, i64 {}, i64 0", inside, shift))
    window = e.op("trunc i256 {} to i128", e.op(f"lshr i256 {_TWO_OVER_PI_BITS}, {{}}", amount))
    turns = e.op("mul i128 {}, {}", window, e.op("zext i64 {} to i128", mantissa))
    nearest = e.op("add i128 {}, 39614081257132168796771975168", turns)
    n = e.op("trunc i128 {} to i64", e.op("lshr i128 {}, 96", nearest))
    fraction = e.op("trunc i128 {} to i64", e.op("lshr i128 {}, 32", turns))
    scale = d.number(_HALF_PI[0] * 2.0**-64)
    r = d.mul(e.op("sitofp i64 {} to double", fraction), scale)
    negative = e.op("icmp slt i64 {}, 0", bits)
    back = e.op("sub i64 0, {}", n)
    return e.op("select i1 {}, i64 {}, i64 {}", negative, back, n), d.select(negative, d.neg(r), r)
