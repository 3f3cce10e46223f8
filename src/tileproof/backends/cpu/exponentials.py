"""exp, exp2, sigmoid and tanh in vectors of f32 and f64.

exp(x) = 2^n exp(r) with |r| <= ln 2 / 2. n is rounded by adding a number so large that the sum has no fraction; the
last bits of the sum are then n. 2^n itself may be no float, but for the two halves of n it is one, so multiplying by
both gives overflow and denormal numbers by the machine's own rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tileproof.language.dtypes import F32, F64

from .conversions import Floats
from .emission import Operand

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
        zero=-104.0,
        infinite=89.0,
        one=10.0,
        exp=(
            0.001381340203806758,
            0.00836857408285141,
            0.041668325662612915,
            0.166665181517601,
            0.4999999403953552,
        ),
        exp2=(
            0.00015352931222878397,
            0.0013399040326476097,
            0.009618449956178665,
            0.05550346150994301,
            0.24022650718688965,
            0.6931471824645996,
        ),
        tanh=(
            -0.00589438620954752,
            0.02079520933330059,
            -0.05378372222185135,
            0.13331931829452515,
            -0.33333298563957214,
        ),
        fraction=23,
        bias=127,
    ),
    F64: _Curves(
        zero=-746.0,
        infinite=710.0,
        one=20.0,
        exp=(
            2.0875332334972533e-09,
            2.5109107289665595e-08,
            2.755740299967903e-07,
            2.7557244036001998e-06,
            2.480158717168715e-05,
            0.00019841269886269005,
            0.0013888888888963025,
            0.008333333333321586,
            0.041666666666666505,
            0.16666666666666677,
            0.5,
        ),
        exp2=(
            4.434774528707342e-10,
            7.0737838597080265e-09,
            1.0178199554447361e-07,
            1.3215435279019327e-06,
            1.525273349315832e-05,
            0.00015403530457118052,
            0.0013333558146774603,
            0.009618129107594115,
            0.055504108664820084,
            0.2402265069591013,
            0.6931471805599453,
        ),
        tanh=(
            -1.717496141997178e-05,
            7.93068620565988e-05,
            -0.00023039106372981847,
            0.0005871857815674732,
            -0.0014552146221697162,
            0.0035920372456290438,
            -0.00886322676207704,
            0.02186948800147189,
            -0.05396825394925138,
            0.13333333333299574,
            -0.33333333333333126,
        ),
        fraction=52,
        bias=1023,
    ),
}


def exp(f: Floats, x: Operand) -> Operand:
    """e to the power x."""
    c = _CURVES[f.dtype]
    return _exp(f, f.clamp(x, c.zero, c.infinite))


def _exp(f: Floats, x: Operand) -> Operand:
    """exp where it is not far beyond the ends of the type."""
    moved, n = _rounded(f, x, _LOG2E)
    high, low = (f.number(-part) for part in LN2[f.dtype])
    r = f.fma(n, low, f.fma(n, high, x))
    return _scaled(f, f.polynomial(r, (*_CURVES[f.dtype].exp, 1.0, 1.0)), moved)


def exp2(f: Floats, x: Operand) -> Operand:
    """2 to the power x."""
    c = _CURVES[f.dtype]
    x = f.clamp(x, -c.bias - c.fraction - 1.0, c.bias + 2.0)
    moved, n = _rounded(f, x, 1.0)
    return _scaled(f, f.polynomial(f.sub(x, n), (*c.exp2, 1.0)), moved)


def sigmoid(f: Floats, x: Operand) -> Operand:
    """1 / (1 + exp(-x)), never with the exp of a positive number, which would lose the small values far left.

    With fade = exp(-|x|) and a = 1 right of 0, fade left of it, a / (1 + fade) is written as a - a (fade / (1 + fade)):
    where the quotient is small its error does not count.
    """
    down, least = f.neg(f.intrinsic("fabs", x)), f.number(_CURVES[f.dtype].zero)
    fade = _exp(f, f.select(f.test("ogt", least, down), least, down))
    above = f.select(f.test("oge", x, f.number(0)), f.number(1), fade)
    missing = f.div(fade, f.add(fade, f.number(1)))
    return f.fma(f.neg(above), missing, above)


def tanh(f: Floats, x: Operand) -> Operand:
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


def _rounded(f: Floats, x: Operand, scale: float) -> tuple[Operand, Operand]:
    """n, the whole number nearest to `x * scale`, as the last bits of a float and as a float."""
    magic = f.number(_CURVES[f.dtype].magic)
    moved = f.add(x, magic) if scale == 1.0 else f.fma(x, f.number(scale), magic)
    return moved, f.sub(moved, magic)


def _scaled(f: Floats, x: Operand, moved: Operand) -> Operand:
    """x 2^n by two multiplications: `moved` ends in n and twice the bias, so half of it in n / 2 and the bias."""
    bits = f.bits(moved)
    one = f.whole_op("lshr", bits, f.whole(1))
    for half in (one, f.whole_op("sub", bits, one)):
        x = f.mul(x, f.real(f.whole_op("shl", half, f.whole(_CURVES[f.dtype].fraction))))
    return x
