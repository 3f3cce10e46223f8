"""Elementary functions in vectors, without calls of a library but for sin, cos, erf and pow of f64.

Largest errors of f32, in units in the last place: exp 0.92 (all were tried), exp2 0.81, log 0.9, log2 0.99, tanh 1.4,
sigmoid 1.7, erf 1.3, rsqrt 1.5, and 0.51 for sin, cos and pow. Those of f64 are hardly larger. f16 and bf16 are
computed in f32 and rounded once more. All are right at infinities, NaN, zeros and denormal numbers.

exp, exp2, sigmoid and tanh in vectors of f32 and f64. exp(x) = 2^n exp(r) with |r| <= ln 2 / 2. n is rounded by adding
a number so large that the sum has no fraction; the last bits of the sum are then n. 2^n itself may be no float, but for
the two halves of n it is one, so multiplying by both gives overflow and denormal numbers by the machine's own rounding.

log, log2 and power in vectors of f32 and f64. x = 2^e (1 + t) with 1 + t between the square roots of 1/2 and 2; log(1 +
t) is t and a rest, which is small.

sin and cos in vectors of f32, computed in f64. x = n pi/2 + r with |r| <= pi/4. Up to 2^48 two parts of pi/2 give r
exactly enough, since the product of a fused multiplication is exact. Beyond, where a number of f32 is a multiple of
2^25, the bits of 2/pi that matter are multiplied as integers, lane by lane, in a branch that other numbers do not take.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tileproof.ir.ops import UnaryFn
from tileproof.language.dtypes import F32, F64

from .emitter import Operand, suffix
from .typed_lanes import FloatLanes, outlined


def elementary(f: FloatLanes, fn: UnaryFn, x: Operand) -> Operand:
    """`fn` of lanes of f32 or f64. What is short is written in place, what is long becomes a function."""
    if f.dtype == F64 and fn in _LIBRARY:
        return _library(f, _LIBRARY[fn], x)
    if fn in _SHORT:
        return _SHORT[fn](f, x)
    if fn in _LONG:
        return outlined(f, fn.value, _LONG[fn], x)
    raise TypeError(f"{fn} of {f.dtype}")


def power(f: FloatLanes, x: Operand, y: Operand) -> Operand:
    """x to the power y."""
    known = known_power(f, x, y)
    if known is not None:
        return known
    if f.dtype == F64:
        return _library(f, "pow", x, y)
    return outlined(f, "pow", single_power, x, y)


def _rsqrt(f: FloatLanes, x: Operand) -> Operand:
    return f.div(f.number(1), f.intrinsic("sqrt", x))


_NEAR: Final = 0.96
_ONE: Final = 3.95
_ODD: Final = (
    -0.0005816141492687166, 0.004957934375852346, -0.026741957291960716, 0.11281120777130127, -0.3761242628097534,
    0.12837913632392883,
)  # fmt: skip
"""erf(x) / x - 1 by x^2 below `_NEAR`."""
_FADE: Final = (
    0.00019182365213055164, -0.0030025572050362825, 0.022063473239541054, -0.10358940064907074, -0.6375760436058044,
    -1.127439260482788, -0.00025353790260851383,
)  # fmt: skip
"""log(1 - erf(x)) from `_NEAR` to `_ONE`."""


def _erf(f: FloatLanes, x: Operand) -> Operand:
    """The error function of f32: an odd polynomial near 0, and what is missing to 1 as an exponential further out."""
    size = f.intrinsic("fabs", x)
    near = f.fma(x, f.polynomial(f.mul(x, x), _ODD), x)
    greatest = f.number(_ONE)
    far = f.select(f.test("olt", greatest, size), greatest, size)
    far = f.sub(f.number(1), exp(f, f.polynomial(far, _FADE)))
    return f.select(f.test("olt", size, f.number(_NEAR)), near, f.intrinsic("copysign", far, x))


def _library(f: FloatLanes, name: str, *operands: Operand) -> Operand:
    """A function of the C library, lane by lane."""
    f.e.declare(name, "double", *["double"] * len(operands))
    places = ", ".join(["double {}"] * len(operands))
    if f.w == 1:
        return f.e.op(f"call double @{name}({places})", *operands)
    result = "poison"
    for lane in range(f.w):
        singles = [f.e.op(f"extractelement {f.type} {{}}, i64 {lane}", operand) for operand in operands]
        value = f.e.op(f"call double @{name}({places})", *singles)
        result = f.e.op(f"insertelement {f.type} {{}}, double {{}}, i64 {lane}", result, value)
    return result


_LIBRARY: Final = {UnaryFn.SIN: "sin", UnaryFn.COS: "cos", UnaryFn.ERF: "erf"}


LN2: Final = {
    F32: (0.6931471824645996, -1.9046542121259336e-09),
    F64: (0.6931471805599453, 2.3190468138462996e-17),
}
"""ln 2 in two parts, the second the rest of the first."""
_LOG2E: Final = 1.4426950408889634
_SMALL: Final = 0.6
"""Up to here tanh is a polynomial."""


@dataclass(frozen=True, slots=True)
class _Curves:
    """Where exp is 0 and infinite, where tanh is 1, and polynomials, the highest power first.

    `exp` is (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2, `exp2` is (2^r - 1) / r for |r| <= 1/2, and `tanh` is
    (tanh(r) - r) / r^3 by r^2 up to `_SMALL`. `fraction` and `bias` are those of the float type.
    """

    zero: float
    infinite: float
    one: float
    exp: tuple[float, ...]
    exp2: tuple[float, ...]
    tanh: tuple[float, ...]
    fraction: int
    bias: int

    @property
    def magic(self) -> float:
        """What rounds to whole numbers when added; its last bits are the bias of two powers."""
        return 1.5 * 2.0**self.fraction + 2 * self.bias


_CURVES: Final = {
    F32: _Curves(
        zero=-104.0, infinite=89.0, one=10.0,
        exp=(
            0.001381340203806758, 0.00836857408285141, 0.041668325662612915, 0.166665181517601, 0.4999999403953552,
        ),
        exp2=(
            0.00015352931222878397, 0.0013399040326476097, 0.009618449956178665, 0.05550346150994301,
            0.24022650718688965, 0.6931471824645996,
        ),
        tanh=(
            -0.00589438620954752, 0.02079520933330059, -0.05378372222185135, 0.13331931829452515,
            -0.33333298563957214,
        ),
        fraction=23, bias=127,
    ),
    F64: _Curves(
        zero=-746.0, infinite=710.0, one=20.0,
        exp=(
            2.0875332334972533e-09, 2.5109107289665595e-08, 2.755740299967903e-07, 2.7557244036001998e-06,
            2.480158717168715e-05, 0.00019841269886269005, 0.0013888888888963025, 0.008333333333321586,
            0.041666666666666505, 0.16666666666666677, 0.5,
        ),
        exp2=(
            4.434774528707342e-10, 7.0737838597080265e-09, 1.0178199554447361e-07, 1.3215435279019327e-06,
            1.525273349315832e-05, 0.00015403530457118052, 0.0013333558146774603, 0.009618129107594115,
            0.055504108664820084, 0.2402265069591013, 0.6931471805599453,
        ),
        tanh=(
            -1.717496141997178e-05, 7.93068620565988e-05, -0.00023039106372981847, 0.0005871857815674732,
            -0.0014552146221697162, 0.0035920372456290438, -0.00886322676207704, 0.02186948800147189,
            -0.05396825394925138, 0.13333333333299574, -0.33333333333333126,
        ),
        fraction=52, bias=1023,
    ),
}  # fmt: skip


def exp(f: FloatLanes, x: Operand) -> Operand:
    """e to the power x."""
    c = _CURVES[f.dtype]
    return _exp(f, f.clamp(x, c.zero, c.infinite))


def _exp(f: FloatLanes, x: Operand) -> Operand:
    """exp where it is not far beyond the ends of the type."""
    moved, n = _rounded(f, x, _LOG2E)
    high, low = (f.number(-part) for part in LN2[f.dtype])
    r = f.fma(n, low, f.fma(n, high, x))
    return _scaled(f, f.polynomial(r, (*_CURVES[f.dtype].exp, 1.0, 1.0)), moved)


def exp2(f: FloatLanes, x: Operand) -> Operand:
    """2 to the power x."""
    c = _CURVES[f.dtype]
    x = f.clamp(x, -c.bias - c.fraction - 1.0, c.bias + 2.0)
    moved, n = _rounded(f, x, 1.0)
    return _scaled(f, f.polynomial(f.sub(x, n), (*c.exp2, 1.0)), moved)


def sigmoid(f: FloatLanes, x: Operand) -> Operand:
    """1 / (1 + exp(-x)), never with the exp of a positive number, which would lose the small values far left.

    With fade = exp(-|x|) and a = 1 right of 0, fade left of it, a / (1 + fade) is written as a - a (fade / (1 + fade)):
    where the quotient is small its error does not count.
    """
    down, least = f.neg(f.intrinsic("fabs", x)), f.number(_CURVES[f.dtype].zero)
    fade = _exp(f, f.select(f.test("ogt", least, down), least, down))
    above = f.select(f.test("oge", x, f.number(0)), f.number(1), fade)
    missing = f.div(fade, f.add(fade, f.number(1)))
    return f.fma(f.neg(above), missing, above)


def tanh(f: FloatLanes, x: Operand) -> Operand:
    """An odd polynomial near 0, and 1 - 2 / (exp(2x) + 1) further out."""
    c = _CURVES[f.dtype]
    size, greatest = f.intrinsic("fabs", x), f.number(c.one)
    square = f.mul(x, x)
    near = f.fma(f.mul(square, f.polynomial(square, c.tanh)), size, size)
    far = f.select(f.test("olt", greatest, size), greatest, size)
    grown = f.add(_exp(f, f.add(far, far)), f.number(1))
    far = f.sub(f.number(1), f.div(f.number(2), grown))
    value = f.select(f.test("olt", size, f.number(_SMALL)), near, far)
    return f.intrinsic("copysign", value, x)


def _rounded(f: FloatLanes, x: Operand, scale: float) -> tuple[Operand, Operand]:
    """n, the whole number nearest to `x * scale`, as the last bits of a float and as a float."""
    magic = f.number(_CURVES[f.dtype].magic)
    moved = f.add(x, magic) if scale == 1.0 else f.fma(x, f.number(scale), magic)
    return moved, f.sub(moved, magic)


def _scaled(f: FloatLanes, x: Operand, moved: Operand) -> Operand:
    """x 2^n by two multiplications: `moved` ends in n and twice the bias, so half of it in n / 2 and the bias."""
    bits = f.bits(moved)
    one = f.whole_op("lshr", bits, f.whole(1))
    for half in (one, f.whole_op("sub", bits, one)):
        x = f.mul(x, f.real(f.whole_op("shl", half, f.whole(_CURVES[f.dtype].fraction))))
    return x


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
    0.06746156513690948, -0.11675386130809784, 0.11888305097818375, -0.12405670434236526, 0.1421952098608017,
    -0.16667994856834412, 0.2000211626291275, -0.25000008940696716, 0.3333331346511841, -0.5,
)  # fmt: skip
"""(log(1 + t) - t) / t^2 for f32."""
_LOG_F64: Final = (
    0.1325184893970333, 0.13250061155059625, 0.15387093276927855, 0.18181775608034187, 0.2222222264751378,
    0.28571428569081125, 0.40000000000006264, 0.6666666666666666,
)  # fmt: skip
"""(2 atanh(s) - 2 s) / s^3 by s^2 for f64."""


def log(f: FloatLanes, x: Operand) -> Operand:
    """The natural logarithm."""
    e, t = _split(f, x)
    high, low = (f.number(part) for part in LN2[f.dtype])
    near = f.add(t, f.fma(e, low, _rest(f, t)))
    return _at_ends(f, x, f.fma(e, high, near))


def log2(f: FloatLanes, x: Operand) -> Operand:
    """The logarithm to the base 2."""
    e, t = _split(f, x)
    high, low = (f.number(part) for part in _LOG2E_PARTS[f.dtype])
    if f.dtype == F32:
        small = f.mul(t, f.fma(_slope(f, t), high, low))
    else:
        small = f.fma(t, low, f.mul(_rest(f, t), high))
    return _at_ends(f, x, f.add(f.fma(t, high, small), e))


def _split(f: FloatLanes, x: Operand) -> tuple[Operand, Operand]:
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


def _rest(f: FloatLanes, t: Operand) -> Operand:
    """log(1 + t) - t."""
    if f.dtype == F32:
        return f.mul(t, _slope(f, t))
    s, square = f.div(t, f.add(t, f.number(2))), f.mul(t, t)
    z, half = f.mul(s, s), f.mul(square, f.number(0.5))
    return f.fma(s, f.fma(z, f.polynomial(z, _LOG_F64), half), f.neg(half))


def _slope(f: FloatLanes, t: Operand) -> Operand:
    """log(1 + t) / t - 1 in f32."""
    return f.mul(t, f.polynomial(t, _LOG_F32))


def _at_ends(f: FloatLanes, x: Operand, value: Operand) -> Operand:
    """-inf at 0, inf at inf, NaN at NaN and below 0."""
    infinite, zero = f.number(float("inf")), f.number(0)
    value = f.select(f.test("oeq", x, infinite), infinite, value)
    value = f.select(f.test("oeq", x, zero), f.number(float("-inf")), value)
    return f.select(f.test("ult", x, zero), f.number(float("nan")), value)


# Powers.


def known_power(f: FloatLanes, x: Operand, y: Operand) -> Operand | None:
    """x to a power that is written in the program and takes no more than two multiplications."""
    if y == f.number(2):
        return f.mul(x, x)
    return f.mul(f.mul(x, x), x) if y == f.number(3) else None


def single_power(f: FloatLanes, x: Operand, y: Operand) -> Operand:
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


def _odd(f: FloatLanes, y: Operand) -> Operand:
    """Whether a number is whole and odd."""
    half = f.mul(y, f.number(0.5))
    whole = f.test("oeq", f.intrinsic("rint", y), y)
    return f.both(whole, f.test("one", f.intrinsic("rint", half), half))


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


def sin(f: FloatLanes, x: Operand) -> Operand:
    """The sine of f32."""
    return _sine(f, x, 0)


def cos(f: FloatLanes, x: Operand) -> Operand:
    """The cosine of f32: the sine a quarter turn further."""
    return _sine(f, x, 1)


def _sine(f: FloatLanes, x: Operand, quarters: int) -> Operand:
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


def _reduced(f: FloatLanes, x: Operand) -> tuple[Operand, Operand]:
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


def _any(f: FloatLanes, condition: Operand) -> Operand:
    if f.w == 1:
        return condition
    name = f.e.declare(f"llvm.vector.reduce.or.{suffix('i1', f.w)}", "i1", f.logic)
    return f.e.op(f"call i1 @{name}({f.logic} {{}})", condition)


def _reduced_far(f: FloatLanes, wide: Operand, far: Operand, n: Operand, r: Operand) -> list[Operand]:
    """`n` and `r` with those of the lanes that are far replaced."""
    d, e = f.to(F64), f.e
    if f.w == 1:
        return list(_reduced_exactly(d, wide))

    def turn(lane: Operand, carried: list[Operand]) -> list[Operand]:
        one = e.op(f"extractelement {d.type} {{}}, i64 {{}}", wide, lane)
        values = _reduced_exactly(FloatLanes(e, F64, 1), one)
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


def _reduced_exactly(d: FloatLanes, x: Operand) -> tuple[Operand, Operand]:
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


_SHORT: Final[dict[UnaryFn, Callable[[FloatLanes, Operand], Operand]]] = {
    UnaryFn.EXP: exp,
    UnaryFn.EXP2: exp2,
    UnaryFn.SIGMOID: sigmoid,
    UnaryFn.TANH: tanh,
    UnaryFn.RSQRT: _rsqrt,
}
_LONG: Final[dict[UnaryFn, Callable[[FloatLanes, Operand], Operand]]] = {
    UnaryFn.LOG: log,
    UnaryFn.LOG2: log2,
    UnaryFn.SIN: sin,
    UnaryFn.COS: cos,
    UnaryFn.ERF: _erf,
}
