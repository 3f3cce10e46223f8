"""The value of every operation: the law that all backends are measured against.

Every operation has a value for all operands, and none depends on what numpy or the hardware leaves undefined.

- Integers wrap. x//0 = 0, x%0 = x, cdiv(x, 0) = 0; `//` and `%` floor. A shift by less than 0 or by the width
  or more gives 0 (-1 for `>>` of a negative number). A negative power is 0 but for the bases 1 and -1.
- `index` is exact: a result outside 64 bits raises `IndexOverflow`. An entry of an index tensor has `//` and `%` alone,
  which leave none, -1, as it is.
- Floats of 16 bits and less are computed in f32 and rounded once. Elementary functions of f32 and less are
  computed in f64 and rounded once. NaN propagates in max and min.
- Conversions to floats round to nearest even, once; f8 saturates at its largest finite value, infinities too.
  Conversions to integers truncate and saturate, NaN gives 0; to bool they are `!= 0`.
- An empty sum is 0, max the least and min the greatest value, mean NaN, any False, all True.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tileproof.backends.philox import philox
from tileproof.ir.ops import BinaryFn, ReduceFn, UnaryFn
from tileproof.language.dtypes import BOOL, ENTRY, F8E4M3, F8E5M2, F32, F64, INDEX, TF32, DType

Array: TypeAlias = npt.NDArray[Any]
Number: TypeAlias = bool | int | float | np.generic

_LEAST: Final = -(2**63)
_GREATEST: Final = 2**63 - 1
NONE: Final = -1
"""The entry of an index tensor that is no position."""
_LARGEST: Final = {F8E4M3: np.float32(448), F8E5M2: np.float32(57344)}


class IndexOverflow(Exception):
    """Arithmetic on `index` left 64 bits; `operands` are those of the first element that did."""

    def __init__(self, *operands: int) -> None:
        super().__init__(*operands)
        self.operands = operands


def storage(dtype: DType) -> np.dtype[Any]:
    """The numpy type that holds a tile: `tf32` is kept in f32, positions in i64."""
    if dtype.storage is not None:
        return dtype.storage
    return np.dtype(np.int64 if dtype.kind == "index" else np.float32)


@np.errstate(all="ignore")
def constant(value: Number, dtype: DType) -> Array:
    """A number as a scalar of `dtype`, rounded once."""
    if dtype.is_float:
        if isinstance(value, int) and not _LEAST <= value < 2**64:
            value = float(value)
        return _to_float(np.asarray(value), dtype)
    return np.asarray(value, storage(dtype))


def identity(fn: ReduceFn, dtype: DType) -> Array:
    """What an empty sum, max, min, any or all gives."""
    match fn:
        case ReduceFn.SUM | ReduceFn.ANY:
            return np.zeros((), storage(dtype))
        case ReduceFn.ALL:
            return np.ones((), storage(dtype))
        case ReduceFn.MAX | ReduceFn.MIN if dtype.is_float:
            return constant(-math.inf if fn is ReduceFn.MAX else math.inf, dtype)
        case ReduceFn.MAX | ReduceFn.MIN:
            limits = np.iinfo(storage(dtype))
            return constant(limits.min if fn is ReduceFn.MAX else limits.max, dtype)
        case _:
            raise TypeError(f"{fn} has no identity")


# Conversions.


@np.errstate(all="ignore")
def cast(value: Array, source: DType, target: DType) -> Array:
    """Conversion of value."""
    if source == target:
        return value
    wide = _widen(value, source)
    if target == BOOL:
        return np.asarray(wide != 0)
    if target.is_float:
        return _to_float(wide, target)
    if source.is_float:
        return _truncate(wide, storage(target))
    if source == BOOL:
        return wide.astype(storage(target))
    here, there = np.iinfo(wide.dtype), np.iinfo(storage(target))
    least, greatest = max(here.min, there.min), min(here.max, there.max)
    return np.clip(wide, wide.dtype.type(least), wide.dtype.type(greatest)).astype(storage(target))


def bitcast(value: Array, target: DType) -> Array:
    """The same bits as another type of the same width; any bit set is True."""
    return np.asarray(value.view(np.uint8) != 0) if target == BOOL else value.view(storage(target))


def _widen(value: Array, dtype: DType) -> Array:
    """Floats in a type numpy computes with: f32, or f64 for f64. Exact; other types stay as they are."""
    return value.astype(np.float32, copy=False) if dtype.is_float and dtype != F64 else value


def _to_float(value: Array, target: DType) -> Array:
    """Integers, f32 or f64, rounded once."""
    if target in (F32, F64):
        return value.astype(storage(target))
    single = _single_to_odd(value)
    if target == TF32:
        bits = single.view(np.uint32)
        even = (bits + np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1))) & np.uint32(0xFFFFE000)
        return np.where(np.isnan(single), single, np.asarray(even).view(np.float32))
    if target in _LARGEST:
        single = np.clip(single, -_LARGEST[target], _LARGEST[target])
    return np.asarray(single).astype(storage(target))


def _single_to_odd(value: Array) -> Array:
    """The value in f32; where inexact, cut and with the last bit set.

    Rounding that to fewer bits gives what rounding the original would; rounding twice to nearest does not.
    """
    if value.dtype == np.float32:
        return value
    double = value.astype(np.float64)
    if value.dtype.kind in "iu" and value.dtype.itemsize == 8:
        rest = value & 0xFFF
        inexact = (np.abs(double) >= 2.0**53) & (rest != 0)
        double = np.where(inexact, value ^ rest | 0x800, value).astype(np.float64)
    nearest = double.astype(np.float32)
    back = nearest.astype(np.float64)
    cut = np.asarray(nearest).view(np.uint32) - (np.abs(back) > np.abs(double))
    return np.where(back == double, nearest, np.asarray(cut | np.uint32(1)).view(np.float32))


def _truncate(value: Array, target: np.dtype[Any]) -> Array:
    """Floats to integers: toward zero, saturated, NaN to 0."""
    limits = np.iinfo(target)
    whole = np.trunc(value.astype(np.float64))
    below, above = whole < float(limits.min), whole >= float(limits.max + 1)
    inside = np.where(below | above | np.isnan(whole), 0.0, whole).astype(target)
    return np.where(below, target.type(limits.min), np.where(above, target.type(limits.max), inside))


# One operand.


@np.errstate(all="ignore")
def unary(fn: UnaryFn, value: Array, dtype: DType) -> Array:
    """`fn` of every element."""
    if dtype.is_float:
        return _float_unary(fn, _widen(value, dtype), dtype)
    if dtype == ENTRY:
        raise TypeError(f"{fn} of {dtype}")
    match fn:
        case UnaryFn.ISNAN:
            return np.zeros(value.shape, np.bool_)
        case UnaryFn.NOT:
            return np.asarray(np.invert(value))
        case UnaryFn.NEG | UnaryFn.ABS:
            if dtype == INDEX and (value == _LEAST).any():
                raise IndexOverflow(_LEAST)
            opposite = np.zeros_like(value) - value
            return np.asarray(opposite if fn is UnaryFn.NEG else np.where(value < 0, opposite, value))
        case UnaryFn.FLOOR | UnaryFn.CEIL | UnaryFn.ROUND:
            return value
        case _:
            raise TypeError(f"{fn} of {dtype}")


def _float_unary(fn: UnaryFn, value: Array, dtype: DType) -> Array:
    if fn is UnaryFn.ISNAN:
        return np.asarray(np.isnan(value))
    if fn in _PLAIN:
        return cast(np.asarray(_PLAIN[fn](value)), _computed(dtype), dtype)
    return cast(np.asarray(_ELEMENTARY[fn](value.astype(np.float64))), F64, dtype)


def _computed(dtype: DType) -> DType:
    """The type in which arithmetic on a float type is done."""
    return F64 if dtype == F64 else F32


def _sigmoid(x: Array) -> Array:
    """Never takes exp of a positive number, so it neither overflows nor loses the small values far left."""
    fade = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, fade) / (1.0 + fade))


_PLAIN: Final[dict[UnaryFn, Callable[[Array], Any]]] = {
    UnaryFn.NEG: np.negative,
    UnaryFn.ABS: np.abs,
    UnaryFn.FLOOR: np.floor,
    UnaryFn.CEIL: np.ceil,
    UnaryFn.ROUND: np.rint,
    UnaryFn.SQRT: np.sqrt,
}
_erf: Final = np.frompyfunc(math.erf, 1, 1)
_ELEMENTARY: Final[dict[UnaryFn, Callable[[Array], Any]]] = {
    UnaryFn.EXP: np.exp,
    UnaryFn.EXP2: np.exp2,
    UnaryFn.LOG: np.log,
    UnaryFn.LOG2: np.log2,
    UnaryFn.RSQRT: lambda x: 1.0 / np.sqrt(x),
    UnaryFn.TANH: np.tanh,
    UnaryFn.SIGMOID: _sigmoid,
    UnaryFn.SIN: np.sin,
    UnaryFn.COS: np.cos,
    UnaryFn.ERF: lambda x: np.asarray(_erf(x)).astype(np.float64),
}


# Two operands.

_COMPARISONS: Final[dict[BinaryFn, Callable[[Array, Array], Any]]] = {
    BinaryFn.EQ: np.equal,
    BinaryFn.NE: np.not_equal,
    BinaryFn.LT: np.less,
    BinaryFn.LE: np.less_equal,
    BinaryFn.GT: np.greater,
    BinaryFn.GE: np.greater_equal,
}


@np.errstate(all="ignore")
def binary(fn: BinaryFn, left: Array, right: Array, dtype: DType) -> Array:
    """`fn` of every pair of elements, both of type `dtype`."""
    if dtype.is_float:
        x, y = _widen(left, dtype), _widen(right, dtype)
        if fn.compares:
            return np.asarray(_COMPARISONS[fn](x, y))
        if fn is BinaryFn.POW:
            return cast(np.asarray(np.power(x.astype(np.float64), y.astype(np.float64))), F64, dtype)
        return cast(np.asarray(_FLOAT[fn](x, y)), _computed(dtype), dtype)
    if dtype == ENTRY:
        if fn not in (BinaryFn.FLOORDIV, BinaryFn.MOD):
            raise TypeError(f"{fn} of {dtype}")
        return np.where(left == NONE, left, _INTEGER[fn](left, right))
    if fn.compares:
        return np.asarray(_COMPARISONS[fn](left, right))
    return np.asarray(_exact(fn, left, right) if dtype == INDEX else _INTEGER[fn](left, right))


def _ceiling_divide(x: Array, y: Array) -> Any:
    return _floor_divide(x, y) + ((_remainder(x, y) != 0) & (y != 0))


def _floor_divide(x: Array, y: Array) -> Array:
    """x // y with x // 0 = 0. Dividing by -1 is negation, which wraps where division would trap."""
    minus = _is_minus_one(y)
    quotient = x // np.where((y == 0) | minus, y.dtype.type(1), y)
    return np.where(y == 0, np.zeros_like(x), np.where(minus, np.zeros_like(x) - x, quotient))


def _remainder(x: Array, y: Array) -> Array:
    """x % y with x % 0 = x. Division by -1, which may trap, leaves what division by 1 leaves."""
    minus = _is_minus_one(y)
    return np.where(y == 0, x, x % np.where((y == 0) | minus, y.dtype.type(1), y))


def _is_minus_one(x: Array) -> Array:
    """Nowhere for unsigned types, whose greatest value has the same bits."""
    return np.asarray((x < 0) & (np.invert(x) == 0))


def _shift_left(x: Array, y: Array) -> Array:
    inside, amount = _amount(y)
    return np.where(inside, x << amount, np.zeros_like(x))


def _shift_right(x: Array, y: Array) -> Array:
    inside, amount = _amount(y)
    return np.where(inside, x >> amount, np.zeros_like(x) - (x < 0))


def _amount(y: Array) -> tuple[Array, Array]:
    """Whether a shift stays inside the width, and an amount that does."""
    inside = np.asarray((y >= 0) & (y < y.dtype.type(y.dtype.itemsize * 8)))
    return inside, np.where(inside, y, np.zeros_like(y))


def _power(x: Array, y: Array) -> Array:
    """Squares and multiplies, wrapping. A base of 1 or -1 has negative powers, all others give 0."""
    one = np.ones_like(x)
    result, base, exponent = one, x, np.where(y < 0, np.zeros_like(y), y)
    while exponent.any():
        result = np.where(exponent & 1 == 1, result * base, result)
        base, exponent = base * base, exponent >> y.dtype.type(1)
    unit = np.where(y & 1 == 1, x, one)
    negative = np.where((x == one) | _is_minus_one(x), unit, np.zeros_like(x))
    return np.where(y < 0, negative, result)


_FLOAT: Final[dict[BinaryFn, Callable[[Array, Array], Any]]] = {
    BinaryFn.ADD: np.add,
    BinaryFn.SUB: np.subtract,
    BinaryFn.MUL: np.multiply,
    BinaryFn.DIV: np.divide,
    BinaryFn.FLOORDIV: lambda x, y: np.floor(x / y),
    BinaryFn.CDIV: lambda x, y: np.ceil(x / y),
    BinaryFn.MOD: lambda x, y: x - np.floor(x / y) * y,
    BinaryFn.MIN: np.minimum,
    BinaryFn.MAX: np.maximum,
}
_INTEGER: Final[dict[BinaryFn, Callable[[Array, Array], Any]]] = {
    BinaryFn.ADD: np.add,
    BinaryFn.SUB: np.subtract,
    BinaryFn.MUL: np.multiply,
    BinaryFn.FLOORDIV: _floor_divide,
    BinaryFn.CDIV: _ceiling_divide,
    BinaryFn.MOD: _remainder,
    BinaryFn.POW: _power,
    BinaryFn.MIN: np.minimum,
    BinaryFn.MAX: np.maximum,
    BinaryFn.AND: np.bitwise_and,
    BinaryFn.OR: np.bitwise_or,
    BinaryFn.XOR: np.bitwise_xor,
    BinaryFn.SHL: _shift_left,
    BinaryFn.SHR: _shift_right,
}
"""Arithmetic that wraps, and the logic of bools."""


def _exact(fn: BinaryFn, x: Array, y: Array) -> Any:
    """Arithmetic on `index`: what `_INTEGER` gives where no element leaves 64 bits."""
    match fn:
        case BinaryFn.ADD | BinaryFn.SUB | BinaryFn.MUL:
            scalar = _EXACT[fn]
            if not x.size or _fits(scalar(a, b) for a in _ends(x) for b in _ends(y)):
                return _INTEGER[fn](x, y)
            return _elementwise(scalar, x, y)
        case BinaryFn.POW | BinaryFn.SHL:
            return _elementwise(_EXACT[fn], x, y)
        case BinaryFn.FLOORDIV | BinaryFn.CDIV if ((x == _LEAST) & (y == -1)).any():
            raise IndexOverflow(_LEAST, -1)
        case _:
            return _INTEGER[fn](x, y)


def _ends(x: Array) -> tuple[int, int]:
    return int(x.min()), int(x.max())


def _fits(numbers: Iterable[int]) -> bool:
    return all(_LEAST <= number <= _GREATEST for number in numbers)


def _elementwise(scalar: Callable[[int, int], int], x: Array, y: Array) -> Array:
    """Python's integers, element by element."""

    def checked(a: int, b: int) -> int:
        value = scalar(a, b)
        if not _fits((value,)):
            raise IndexOverflow(a, b)
        return value

    return np.asarray(np.frompyfunc(checked, 2, 1)(x.astype(object), y.astype(object))).astype(np.int64)


def _exact_power(base: int, exponent: int) -> int:
    if base in (1, -1):
        return base if exponent % 2 else 1
    if exponent < 0:
        return 0
    return int(base ** min(exponent, 64))  # 2 ** 64 is outside already


_EXACT: Final[dict[BinaryFn, Callable[[int, int], int]]] = {
    BinaryFn.ADD: operator.add,
    BinaryFn.SUB: operator.sub,
    BinaryFn.MUL: operator.mul,
    BinaryFn.POW: _exact_power,
    BinaryFn.SHL: lambda number, amount: number << amount if 0 <= amount < 64 else 0,
}


# Along an axis.


@np.errstate(all="ignore")
def reduce(fn: ReduceFn, value: Array, axis: int, dtype: DType, result: DType) -> Array:
    """Elements combined along an axis, which is dropped. The caller rejects argmax of an empty one."""
    match fn:
        case ReduceFn.SUM:
            return _sum(value, axis, dtype, result)
        case ReduceFn.MEAN:
            total = _sum(value, axis, dtype, _computed(result))
            return cast(np.asarray(total / total.dtype.type(value.shape[axis])), _computed(result), result)
        case ReduceFn.MAX | ReduceFn.MIN:
            extreme = np.maximum if fn is ReduceFn.MAX else np.minimum
            start = _widen(identity(fn, dtype), dtype)[()]
            reduced = np.asarray(extreme.reduce(_widen(value, dtype), axis=axis, initial=start))
            return cast(reduced, _computed(dtype), dtype) if dtype.is_float else reduced
        case ReduceFn.ARGMAX | ReduceFn.ARGMIN:
            wide = _widen(value, dtype)
            position = np.argmax(wide, axis=axis) if fn is ReduceFn.ARGMAX else np.argmin(wide, axis=axis)
            if dtype.is_float:
                nan = np.isnan(wide)
                position = np.where(nan.any(axis=axis), np.argmax(nan, axis=axis), position)
            return np.asarray(position, np.int64)
        case ReduceFn.ANY:
            return np.asarray(np.any(value, axis=axis))
        case ReduceFn.ALL:
            return np.asarray(np.all(value, axis=axis))


def _sum(value: Array, axis: int, dtype: DType, result: DType) -> Array:
    if result == INDEX and not _sums_fit(value, axis):
        return _whole(np.sum(value.astype(object), axis=axis))
    return np.asarray(np.sum(cast(value, dtype, result), axis=axis, dtype=storage(result)))


@np.errstate(all="ignore")
def cumsum(value: Array, axis: int, dtype: DType, result: DType) -> Array:
    """Sums of all elements up to each, accumulated in the type of the result."""
    if result == INDEX and not _sums_fit(value, axis):
        return _whole(np.cumsum(value.astype(object), axis=axis))
    return np.asarray(np.cumsum(cast(value, dtype, result), axis=axis, dtype=storage(result)))


def _sums_fit(value: Array, axis: int) -> bool:
    """Whether no sum of elements along the axis can leave 64 bits."""
    return not value.size or _fits(end * value.shape[axis] for end in _ends(value))


def _whole(sums: Any) -> Array:
    exact = np.asarray(sums, dtype=object)
    for number in exact.flat:
        if not _fits((number,)):
            raise IndexOverflow(number)
    return exact.astype(np.int64)


@np.errstate(all="ignore")
def mma(left: Array, right: Array, acc: Array, dtypes: tuple[DType, DType], result: DType) -> Array:
    """`left @ right + acc`: operands converted to the type of `acc`, products and sums in it."""
    product = np.matmul(cast(left, dtypes[0], result), cast(right, dtypes[1], result))
    return np.asarray(product + acc)


Words: TypeAlias = npt.NDArray[np.uint64]
"""32-bit words, kept in 64 bits so that products are exact."""

_LOW: Final = np.uint64(0xFFFFFFFF)
_WIDTH: Final = np.uint64(32)


def random_words(counter: tuple[Words, Words, Words, Words], key: tuple[Words, Words]) -> tuple[Words, ...]:
    """The four words of a counter under a key, element by element."""

    def product(x: Words, factor: int) -> tuple[Words, Words]:
        wide = x * np.uint64(factor)
        return wide >> _WIDTH, wide & _LOW

    return philox(counter, lambda half, number: key[half] + np.uint64(number) & _LOW, product, operator.xor)


def uniform(seed: npt.NDArray[np.int64], offset: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """f32 in [0, 1): the upper 24 bits of the first word, the offset as the counter, the seed as the key."""
    low, high = _halves(offset)
    zero = np.zeros_like(low)
    word, *_ = random_words((low, high, zero, zero), _halves(seed))
    return (word >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24)


def _halves(number: npt.NDArray[Any]) -> tuple[Words, Words]:
    """The low and the high 32 bits of a two's complement number."""
    bits = number.astype(np.int64).view(np.uint64)
    return bits & _LOW, bits >> _WIDTH
