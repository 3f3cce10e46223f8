"""What a kernel computes of each element on the GPU: integers, floats, elementary functions and Philox.

Elementary functions of f32 and f64; f16 and bf16 go through f32 and are rounded once more. Nearly all are Tile IR's
own. Their largest distance from the nearest float, in units in the last place, measured on a GPU of sm_90 for every
number of f32: exp 1.5, exp2 1.8, log 1, log2 1, sin 1, cos 1.1, tanh 1.9, rsqrt 1.1, sqrt 1, erf 1, sigmoid 2.4; pow
1.1 and division 1.6 for random numbers. Those of f64 are at most 1. All are right at infinities, NaN, zeros and
subnormal numbers. What becomes f16 or bf16 has a tenth of the digits, so shorter ones will do; what becomes f16 was
f16, and has no numbers that would be subnormal in f32.

The value of every elementwise operation, as in `interpreter.semantics`. Nothing here is undefined, whatever the
operands: dead lanes hold anything. Floats of 16 bits are computed in f32 and rounded once; for sums, differences and
products that is what their own operations give, since f32 has more than twice their digits. Division in f32 is the
assembler's `full` one, which is within two units and a quarter as long as the exact one; where a quotient is rounded to
a whole number it is exact, since there a unit may become a one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.literals import bits_of, number_of
from tileproof.backends.cuda.tileir.types import F32, F64, I32, I64, Predicate, Rounding, Tile, Value
from tileproof.backends.cuda.tileir.types import TF32 as SHORT
from tileproof.backends.integers import integer_binary, known_power
from tileproof.backends.philox import philox
from tileproof.ir.ops import BinaryFn, UnaryFn
from tileproof.language.dtypes import BF16, BOOL, ENTRY, F16, TF32, DType

from .conversions import LARGEST, narrow, widen
from .state import ELEMENTS
from .tiles import PREDICATES, IntegerTiles, element_of, like, shape_of, spread


def uniform(b: Builder, seed: Value, offset: Value) -> Value:
    """f32 in [0, 1) in every lane: `seed` is one i64, `offset` a tile of i64."""
    low, high = _halves(b, offset)
    halves, zero, shape = _halves(b, seed), like(b, low, 0), shape_of(low)

    def key(half: int, number: int) -> Value:
        # The key is the same in all lanes, so its steps are taken on scalars.
        word = halves[half]
        return spread(b, b.addi(word, like(b, word, number)) if number else word, shape)

    def product(x: Value, factor: int) -> tuple[Value, Value]:
        other = like(b, x, factor)
        return b.mulhii(x, other), b.muli(x, other)

    word, *_ = philox((low, high, zero, zero), key, product, b.xori)
    number = b.itof(b.shri(word, like(b, word, 8), signed=False), F32, signed=False)
    return b.mulf(number, like(b, number, 2.0**-24))


def _halves(b: Builder, number: Value) -> tuple[Value, Value]:
    """The low and the high 32 bits."""
    high = b.shri(number, like(b, number, 32), signed=False)
    return b.trunci(number, I32), b.trunci(high, I32)


def elementary(b: Builder, fn: UnaryFn, x: Value, dtype: DType) -> Value:
    """`fn` of lanes of f32 or f64; `dtype` is what they were, and what the result will be rounded to."""
    is_half, is_short, is_single = dtype == F16, dtype in (F16, BF16), element_of(x) == F32
    match fn:
        case UnaryFn.EXP:
            return _exp(b, x, dtype)
        case UnaryFn.EXP2:
            return b.exp2(x, ftz=is_half)
        case UnaryFn.LOG:
            return b.log(x)
        case UnaryFn.LOG2:
            return b.log2(x)
        case UnaryFn.SQRT:
            return b.sqrt(x, rounding=Rounding.APPROXIMATE if is_single else Rounding.NEAREST, ftz=is_half)
        case UnaryFn.RSQRT:
            return b.rsqrt(x, ftz=is_half)
        case UnaryFn.TANH:
            return b.tanh(x, rounding=Rounding.APPROXIMATE if is_short else Rounding.FULL)
        case UnaryFn.SIGMOID:
            return _sigmoid(b, x, dtype)
        case UnaryFn.SIN:
            return b.sin(x)
        case UnaryFn.COS:
            return b.cos(x)
        case UnaryFn.ERF:
            return _erf(b, x, dtype)
        case _:
            raise TypeError(f"{fn} of {dtype}")


def quotient(b: Builder, x: Value, y: Value, dtype: DType) -> Value:
    """x / y of f32 or f64, which will be rounded to `dtype`.

    The assembler's `full` division is right for all numbers; its shorter one is if the divisor is not very large.
    """
    if element_of(x) == F64:
        return b.divf(x, y)
    if dtype == F16:
        return b.divf(x, y, ftz=True, rounding=Rounding.APPROXIMATE)
    return b.divf(x, y, rounding=Rounding.FULL)


def _exp(b: Builder, x: Value, dtype: DType) -> Value:
    """e to the power x; by a power of 2 where its argument needs few digits."""
    if dtype in (F16, BF16):
        return b.exp2(b.mulf(x, like(b, x, math.log2(math.e))), ftz=dtype == F16)
    return b.exp(x)


def _sigmoid(b: Builder, x: Value, dtype: DType) -> Value:
    """1 / (1 + exp(-x)), never with the exp of a positive number, which would lose the small values far left."""
    fade = _exp(b, b.negf(b.absf(x)), dtype)
    above = b.select(b.cmpf(Predicate.GREATER_EQUAL, x, like(b, x, 0.0)), like(b, x, 1.0), fade)
    below = b.addf(like(b, x, 1.0), fade)
    if element_of(x) == F64:
        return b.divf(above, below)
    # The divisor is between 1 and 2.
    return b.divf(above, below, ftz=dtype == F16, rounding=Rounding.APPROXIMATE)


# The error function.


@dataclass(frozen=True, slots=True)
class _Erf:
    """Polynomials, the highest power first.

    `near` is erf(x) / x - 1 by x^2 up to `_NEAR`. `far` is log(1 - erf(x)) + x^2 by x - 2 from there to `one`, where
    erf is 1 in this type.
    """

    near: tuple[float, ...]
    far: tuple[float, ...]
    one: float


_NEAR: Final = 0.9
_ERF: Final = {
    F32: _Erf(
        near=(
            -0.0006090140668675303, 0.005011918023228645, -0.026778876781463623, 0.11282140016555786,
            -0.3761252462863922, 0.12837915122509003,
        ),
        far=(
            0.00020054586639162153, -0.000681353616528213, 0.003556604031473398, -0.016497690230607986,
            0.07623899728059769, -0.41816020011901855, -1.364940881729126,
        ),
        one=3.95,
    ),
    F64: _Erf(
        near=(
            -8.481754554245337e-10, 1.4046004422495438e-08, -1.6275467789471592e-07, 1.645521301795453e-06,
            -1.4925299677123301e-05, 0.0001205532103945587, -0.0008548326754842237, 0.005223977621601852,
            -0.026866170644806495, 0.11283791670953704, -0.37612638903183726, 0.1283791670955126,
        ),
        far=(
            1.435251151151317e-12, -1.2211444105613318e-11, 3.7972337601377764e-11, -3.163283528991468e-11,
            -2.8319618137571066e-10, 2.5104812916046145e-09, -1.3929596196612426e-08, 5.783937762969807e-08,
            -1.7322550032023592e-07, 2.036052964250426e-07, 1.9522015444584128e-06, -2.070641447435288e-05,
            0.0001353093348808032, -0.0007323993898930126, 0.0035707563455911243, -0.016465118136522412,
            0.07624915817625737, -0.41816080599442257, -1.3649412646166381,
        ),
        one=5.93,
    ),
}  # fmt: skip


def _erf(b: Builder, x: Value, dtype: DType) -> Value:
    """An odd polynomial near 0; further out what is missing to 1, as an exponential."""
    curve, size = _ERF[element_of(x)], b.absf(x)
    near = b.fma(x, _polynomial(b, b.mulf(x, x), curve.near), x)
    far = b.minf(size, like(b, x, curve.one))
    exponent = b.fma(b.negf(far), far, _polynomial(b, b.subf(far, like(b, x, 2.0)), curve.far))
    far = b.subf(like(b, x, 1.0), _exp(b, exponent, dtype))
    return b.select(b.cmpf(Predicate.LESS, size, like(b, x, _NEAR)), near, signed_like(b, far, x))


def _polynomial(b: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    """Horner's rule, the highest power first."""
    value, *rest = (like(b, x, coefficient) for coefficient in coefficients)
    for coefficient in rest:
        value = b.fma(value, x, coefficient)
    return value


def signed_like(b: Builder, size: Value, x: Value) -> Value:
    """A number that is not negative, with the sign of another."""
    integer = I32 if element_of(x) == F32 else I64
    bits = b.bitcast(x, integer)
    sign = b.andi(bits, like(b, bits, -(2 ** (integer.bits - 1))))
    return b.bitcast(b.ori(b.bitcast(size, integer), sign), element_of(x))


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


def binary(b: Builder, fn: BinaryFn, x: Value, y: Value, dtype: DType, right: int | float | None = None) -> Value:
    """`fn` of every pair of lanes, both of type `dtype`; comparisons give bools.

    `right` is the number that `y` is in every lane, if the program says so: some operations are then shorter.
    """
    if not dtype.is_float:
        if right is not None and dtype != BOOL:
            # The number in dead lanes too, which are then as safe as the others.
            y = like(b, y, right)
        return integer_binary(IntegerTiles(b, dtype, x), fn, x, y, None if right is None else int(right))
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
            return b.minf(x, y)
        case BinaryFn.MAX:
            return b.maxf(x, y)
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
            return known_power(b.mulf, x, int(right))
        case BinaryFn.POW:
            return b.pow(x, y)
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
