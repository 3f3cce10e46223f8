"""Numbers as the language has them, written a second time: types, rounding, whole-number arithmetic, reductions.

Floats are kept as doubles that their type can hold, whole numbers as Python's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

Array = Any


@dataclass(frozen=True)
class Type:
    """An element type: for floats the digits of its significand, its least exponent and its greatest value."""

    name: str
    kind: str
    bits: int
    storage: Any
    digits: int = 0
    least: int = 0
    greatest: float = 0.0
    saturates: bool = False

    @property
    def tiny(self) -> float:
        """The least positive value."""
        return 2.0 ** (self.least - self.digits + 1)

    @property
    def limits(self) -> tuple[int, int]:
        if self.kind == "uint":
            return 0, 2**self.bits - 1
        return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1


def _float(name: str, bits: int, storage: Any, digits: int, least: int, greatest: float) -> Type:
    return Type(name, "float", bits, storage, digits, least, greatest, bits == 8)


TYPES = {
    result.name: result
    for result in (
        Type("bool", "bool", 8, np.bool_),
        *(Type(f"i{bits}", "int", bits, np.dtype(f"int{bits}")) for bits in (8, 16, 32, 64)),
        *(Type(f"u{bits}", "uint", bits, np.dtype(f"uint{bits}")) for bits in (8, 16, 32, 64)),
        Type("index", "index", 64, np.int64),
        _float("f8e4m3", 8, ml_dtypes.float8_e4m3fn, 4, -6, 448.0),
        _float("f8e5m2", 8, ml_dtypes.float8_e5m2, 3, -14, 57344.0),
        _float("f16", 16, np.float16, 11, -14, 65504.0),
        _float("bf16", 16, ml_dtypes.bfloat16, 8, -126, (2 - 2.0**-7) * 2.0**127),
        _float("tf32", 32, None, 11, -126, (2 - 2.0**-10) * 2.0**127),
        _float("f32", 32, np.float32, 24, -126, (2 - 2.0**-23) * 2.0**127),
        _float("f64", 64, np.float64, 53, -1022, float(np.finfo(np.float64).max)),
    )
}
BOOL, I32, INDEX, F32, F64 = (TYPES[name] for name in ("bool", "i32", "index", "f32", "f64"))


class Impossible(Exception):
    """The language refuses this, or gives no single value for it here."""


# Numbers.


@np.errstate(all="ignore")
def rounded(value: Array, to: Type) -> Array:
    """Doubles rounded to nearest even, as `to` has them."""
    value = np.asarray(value, np.float64)
    if to is F64:
        return value
    _, exponent = np.frexp(value)
    quantum = np.maximum(exponent - to.digits, to.least - to.digits + 1)
    near = np.ldexp(np.rint(np.ldexp(value, -quantum)), quantum)
    near = np.where(np.isfinite(value), near, value)
    beyond = math.inf if not to.saturates else to.greatest
    return np.where(np.abs(near) > to.greatest, np.copysign(beyond, near), near)


def whole_to_float(number: int, to: Type) -> float:
    """A whole number rounded to nearest even, once."""
    excess = max(abs(number).bit_length() - to.digits, 0)
    kept, rest = divmod(abs(number), 2**excess)
    half = 2**excess
    kept += 2 * rest > half or (2 * rest == half and kept % 2 == 1)
    value = math.ldexp(kept, excess)
    if value > to.greatest:
        value = to.greatest if to.saturates else math.inf
    return math.copysign(value, number)


def float_to_whole(number: float, to: Type) -> int:
    """Truncated, saturated; 0 for NaN."""
    if math.isnan(number):
        return 0
    least, greatest = to.limits
    return min(max(math.trunc(number), least), greatest) if math.isfinite(number) else least if number < 0 else greatest


def wrapped(number: int, to: Type) -> int:
    """As `to` keeps it: modulo its width. An index is exact, and a bool has two values."""
    least, greatest = to.limits
    if to is BOOL:
        return bool(number)
    if to is INDEX and not least <= number <= greatest:
        raise Impossible
    return (number - least) % 2**to.bits + least


def floor_divide(a: int, b: int) -> int:
    return a // b if b else 0


def whole_power(a: int, b: int, bits: int) -> int:
    if b >= 0:
        return pow(a, b, 2**bits)
    return (a if b % 2 else 1) if a in (1, -1) else 0


def shifted(a: int, b: int, bits: int, left: bool) -> int:
    if 0 <= b < bits:
        return a << b if left else a >> b
    return -1 if a < 0 and not left else 0


def power(a: float, b: float) -> float:
    """IEEE's: numpy takes a square root where the exponent is one half, which differs at -inf and -0.0."""
    try:
        return math.pow(a, b)
    except (OverflowError, ValueError) as problem:
        if isinstance(problem, ValueError) and a != 0:
            return math.nan
        return math.copysign(math.inf, a) if b % 2 == 1 else math.inf


WHOLE: dict[str, Callable[[int, int, int], int]] = {
    "+": lambda a, b, _: a + b,
    "-": lambda a, b, _: a - b,
    "*": lambda a, b, _: a * b,
    "//": lambda a, b, _: floor_divide(a, b),
    "%": lambda a, b, _: a % b if b else a,
    "cdiv": lambda a, b, _: -floor_divide(-a, b),
    "**": whole_power,
    "&": lambda a, b, _: a & b,
    "|": lambda a, b, _: a | b,
    "^": lambda a, b, _: a ^ b,
    "<<": lambda a, b, bits: shifted(a, b, bits, left=True),
    ">>": lambda a, b, bits: shifted(a, b, bits, left=False),
    "maximum": lambda a, b, _: max(a, b),
    "minimum": lambda a, b, _: min(a, b),
}
COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
ELEMENTARY: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "tanh": np.tanh,
    "sigmoid": lambda x: np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x))),
    "sin": np.sin,
    "cos": np.cos,
    "erf": lambda x: np.asarray(np.frompyfunc(math.erf, 1, 1)(x), np.float64),
}
STEPS: dict[str, Callable[[Array], Array]] = {"floor": np.floor, "ceil": np.ceil, "round": np.rint, "sqrt": np.sqrt}


# Which types an operation works on, and what it gives.


def stored_only(type_: Type) -> bool:
    """Types without arithmetic."""
    return type_.kind == "float" and (type_.bits == 8 or type_.name == "tf32")


def check_operator(name: str, type_: Type) -> None:
    """Which element types an operator works on."""
    kinds = {
        "/": {"float"}, "cdiv": {"int", "uint", "index"}, "**": {"float", "int", "uint"},
        "&": {"bool", "int", "uint"}, "|": {"bool", "int", "uint"}, "^": {"bool", "int", "uint"},
        "<<": {"int", "uint"}, ">>": {"int", "uint"},
        "==": {"bool", "int", "uint", "index", "float"}, "!=": {"bool", "int", "uint", "index", "float"},
    }  # fmt: skip
    if stored_only(type_) or type_.kind not in kinds.get(name, {"int", "uint", "index", "float"}):
        raise Impossible


def check_reduction(name: str, type_: Type) -> None:
    if stored_only(type_):
        raise Impossible
    allowed = {"any": {"bool"}, "all": {"bool"}, "mean": {"float"}, "sum": {"bool", "int", "uint", "index", "float"}}
    if type_.kind not in allowed.get(name, {"int", "uint", "index", "float"}):
        raise Impossible


def widened(type_: Type) -> Type:
    if type_.kind == "float":
        return F32 if type_.bits < 32 else type_
    return I32 if type_ is BOOL or type_.bits < 32 else type_


def accumulator(type_: Type) -> Type | None:
    if type_.kind == "float":
        return F64 if type_ is F64 else F32
    return I32 if type_.kind in ("int", "uint") and type_.bits == 8 else None


def positions(name: str, data: Array) -> Array:
    """Where the greatest or least is: NaN first, then the first."""
    values = np.asarray(data, np.float64) if data.dtype != object else data
    array = np.empty(values.shape[:-1], object)
    for place in np.ndindex(array.shape):
        row = list(values[place])
        missing = [number for number, value in enumerate(row) if value != value]
        array[place] = missing[0] if missing else row.index(max(row) if name == "argmax" else min(row))
    return array


def summed(name: str, data: Array, err: Array, total: Type) -> tuple[Array, Array]:
    """The sum or mean along the last axis."""
    if total.kind != "float":
        flat = np.empty(data.shape[:-1], object)
        for place in np.ndindex(flat.shape):
            flat[place] = wrapped(sum(int(number) for number in data[place]), total)
        return flat, np.zeros(flat.shape)
    count, data = data.shape[-1], np.asarray(data, np.float64)
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(data), data, 0)
        size = np.abs(finite).sum(-1)
        value = data.sum(-1)
        fine = np.all(np.rint(finite * 1024) == finite * 1024, -1) & (size * 1024 < 2.0**total.digits)
        bound = np.where(fine, 0.0, size * (count + 2) * 2.0**-total.digits * 2 + count * total.tiny) + err.sum(-1)
        zeros = (value == 0) & ((data == 0) & np.signbit(data)).any(-1)
        bound = np.where(zeros | (size > total.greatest / 4), np.inf, bound)
        bound = np.where(np.isnan(bound), np.inf, bound)
        value = rounded(value, total)
        if name == "mean":
            exact = bound == 0
            value = rounded(value / count, total) if count else np.full(value.shape, np.nan)
            bound = np.where(exact, 0.0, bound / max(count, 1) + np.abs(value) * 2.0 ** (1 - total.digits) + total.tiny)
    return value, np.where(np.isfinite(value) | np.isinf(bound), bound, 0.0)


def extreme(name: str, data: Array, err: Array, type_: Type) -> tuple[Array, Array]:
    """max, min, any, all along the last axis."""
    if name in ("any", "all"):
        values = np.asarray(data, bool)
        return np.asarray(values.any(-1) if name == "any" else values.all(-1)), np.zeros(values.shape[:-1])
    if type_.kind == "float":
        start = -math.inf if name == "max" else math.inf
        reduce = np.maximum if name == "max" else np.minimum
        value = reduce.reduce(np.asarray(data, np.float64), -1, initial=start)
        zero = data == 0
        unsure = (value == 0) & (zero & np.signbit(data)).any(-1) & (zero & ~np.signbit(data)).any(-1)
        worst = err.max(-1, initial=0.0)
        return value, np.where(unsure, np.inf, worst)
    array = np.empty(data.shape[:-1], object)
    least, greatest = type_.limits
    for place in np.ndindex(array.shape):
        row = [int(number) for number in data[place]]
        array[place] = max([*row, least]) if name == "max" else min([*row, greatest])
    return array, np.zeros(array.shape)
