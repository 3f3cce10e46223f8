"""Lanes of Tile IR values over numpy, and what every elementwise operation gives: half of `tile_ir`.

A lane may be *poison*: it holds something nasty that the program must not depend on. What is undefined raises
`Undefined`, in dead lanes too. Operations that are not exact (`full` division, `exp`, ...) are a unit off at random, so
that nothing comes to rely on more than they promise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tileproof.backends.cuda.tileir.types import (
    BF16,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I1,
    I8,
    I16,
    I32,
    I64,
    TF32,
    Element,
    Number,
    Ordering,
    Overflow,
    Pointer,
    Predicate,
    Rounding,
    Signedness,
    Tile,
)

Array = npt.NDArray[Any]
HELD: Final[Mapping[Number, np.dtype[Any]]] = {
    element: np.dtype(kind)
    for element, kind in {
        I1: np.bool_, I8: np.int8, I16: np.int16, I32: np.int32, I64: np.int64,
        F16: np.float16, BF16: ml_dtypes.bfloat16, F32: np.float32, TF32: np.float32, F64: np.float64,
        F8E4M3: ml_dtypes.float8_e4m3fn, F8E5M2: ml_dtypes.float8_e5m2,
    }.items()
}  # fmt: skip


class Undefined(Exception):
    """What Tile IR leaves undefined, or does not promise."""


def held(element: Element) -> np.dtype[Any]:
    """The numpy type that holds an element; a pointer is its address."""
    return np.dtype(np.int64) if isinstance(element, Pointer) else HELD[element]


@dataclass(frozen=True, slots=True)
class Lanes:
    """A tile: its elements, and which of them are poison (None if none is)."""

    data: Array
    poison: Array | None = None

    def mapped(self, move: Callable[[Array], Array]) -> Lanes:
        """The same motion of elements and poison."""
        return Lanes(move(self.data), None if self.poison is None else move(self.poison))

    def __getitem__(self, index: Any) -> Lanes:
        return self.mapped(lambda x: x[index])

    def known(self, what: str) -> Array:
        """The elements, none of which may be poison."""
        if self.poison is not None and self.poison.any():
            raise Undefined(f"{what} depends on a dead lane")
        return self.data


def poisoned(*operands: Lanes) -> Array | None:
    """Where any operand is poison."""
    results = [operand.poison for operand in operands if operand.poison is not None]
    shape = np.broadcast_shapes(*(operand.data.shape for operand in operands))
    return np.broadcast_to(np.any(np.broadcast_arrays(*results), axis=0), shape) if results else None


def garbage(kind: np.dtype[Any], shape: Sequence[int], random: np.random.Generator) -> Array:
    """Elements that programs choke on."""
    if kind == np.bool_:
        return random.integers(0, 2, shape).astype(np.bool_)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        numbers = np.array([0, 1, -1, limits.min, limits.max, 3, 100, limits.max // 3], np.int64)
        return random.choice(numbers, shape).astype(kind)
    numbers = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -3.5, 1e30, 1e-40, 65504.0])
    with np.errstate(all="ignore"):
        return random.choice(numbers, shape).astype(np.float32).astype(kind)


def select(condition: Lanes, yes: Lanes, no: Lanes) -> Lanes:
    """Poison where the condition is, or what it chooses."""
    data = np.where(condition.data, yes.data, no.data).astype(yes.data.dtype)
    shape = data.shape
    results = [np.zeros(shape, np.bool_) if one.poison is None else one.poison for one in (yes, no)]
    bad = np.where(condition.data, *results)
    if condition.poison is not None:
        bad = bad | condition.poison
    return Lanes(data, bad if bad.any() else None)


def logic(name: str, x: Lanes, y: Lanes) -> Lanes:
    """`and` and `or` of bools: a lane that decides the result by itself lets poison vanish."""
    both = np.broadcast_arrays(x.data, y.data)
    data = both[0] & both[1] if name == "andi" else both[0] | both[1]
    bad = poisoned(x, y)
    if bad is None:
        return Lanes(data)
    decides = name == "ori"
    clean = [np.zeros(data.shape, np.bool_) if one.poison is None else one.poison for one in (x, y)]
    settled = [(value == decides) & ~bad_one for value, bad_one in zip(both, clean, strict=True)]
    return Lanes(data, bad & ~settled[0] & ~settled[1])


class Elementwise:
    """The elementwise operations by name."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random

    def __call__(self, name: str, operands: Sequence[Array], attributes: Mapping[str, Any], result: Tile) -> Array:
        """What an operation gives; not for `select` and the logic of bools, which stop poison."""
        method = getattr(self, f"_{name}", None)
        with np.errstate(all="ignore"):
            if name in _INTEGERS:
                return np.asarray(self._integer(name, *operands, attributes))
            if name in _FLOATS:
                return np.asarray(self._float(name, operands, attributes))
            if method is None:
                raise NotImplementedError(name)
            return np.asarray(method(*operands, attributes, result))

    # Integers.

    def _integer(self, name: str, x: Array, y: Array, attributes: Mapping[str, Any]) -> Array:
        if x.dtype == np.bool_ and name not in ("andi", "ori", "xori"):
            raise Undefined(f"{name} of i1")
        if attributes.get("overflow", Overflow.NONE) is not Overflow.NONE:
            raise NotImplementedError(f"{name} that promises not to overflow")
        return np.asarray(_INTEGERS[name](x, y))

    def _mulhii(self, x: Array, y: Array, _: Any, result: Tile) -> Array:
        product = unsigned(x).astype(object) * unsigned(y).astype(object)
        return np.asarray(product >> x.dtype.itemsize * 8, object).astype(f"u{x.dtype.itemsize}").view(x.dtype)

    def _divi(self, x: Array, y: Array, attributes: Mapping[str, Any], _: Tile) -> Array:
        x, y = self._divisible("divi", x, y, attributes)
        quotient, rest = x // y, x % y
        match attributes["rounding"]:
            case Rounding.DOWN:
                return signed(quotient)
            case Rounding.UP:
                return signed(quotient + (rest != 0).astype(x.dtype))
            case _:
                crosses = (rest != 0) & ((x < 0) != (y < 0))
                return signed(quotient + crosses.astype(x.dtype))

    def _remi(self, x: Array, y: Array, attributes: Mapping[str, Any], _: Tile) -> Array:
        x, y = self._divisible("remi", x, y, attributes)
        return signed(np.fmod(x, y))

    def _divisible(self, name: str, x: Array, y: Array, attributes: Mapping[str, Any]) -> tuple[Array, Array]:
        if attributes["signedness"] is Signedness.UNSIGNED:
            x, y = unsigned(x), unsigned(y)
        elif ((x == np.iinfo(x.dtype).min) & (y == -1)).any():
            raise Undefined(f"{name} of the least number by -1")
        if (y == 0).any():
            raise Undefined(f"{name} by zero")
        return x, y

    def _negi(self, x: Array, _: Any, result: Tile) -> Array:
        return np.zeros_like(x) - x

    def _absi(self, x: Array, _: Any, result: Tile) -> Array:
        return np.where(x < 0, np.zeros_like(x) - x, x)

    def _mini(self, x: Array, y: Array, attributes: Mapping[str, Any], _: Tile) -> Array:
        return signed(np.minimum(*_read(attributes, x, y)))

    def _maxi(self, x: Array, y: Array, attributes: Mapping[str, Any], _: Tile) -> Array:
        return signed(np.maximum(*_read(attributes, x, y)))

    def _shli(self, x: Array, y: Array, _: Any, result: Tile) -> Array:
        return x << self._amount("shli", x, y)

    def _shri(self, x: Array, y: Array, attributes: Mapping[str, Any], _: Tile) -> Array:
        amount = self._amount("shri", x, y)
        if attributes["signedness"] is Signedness.SIGNED:
            return x >> amount
        return signed(unsigned(x) >> unsigned(amount))

    def _amount(self, name: str, x: Array, y: Array) -> Array:
        if (unsigned(y) >= x.dtype.itemsize * 8).any():
            raise Undefined(f"{name} by the width or more")
        return y

    def _cmpi(self, x: Array, y: Array, attributes: Mapping[str, Any], _: Tile) -> Array:
        return _PREDICATES[attributes["predicate"]](*_read(attributes, x, y))

    def _exti(self, x: Array, attributes: Mapping[str, Any], result: Tile) -> Array:
        if x.dtype == np.bool_:
            number = x.astype(held(result.element))
            return -number if attributes["signedness"] is Signedness.SIGNED else number
        (read,) = _read(attributes, x)
        return read.astype(held(result.element))

    def _trunci(self, x: Array, attributes: Mapping[str, Any], result: Tile) -> Array:
        if attributes.get("overflow", Overflow.NONE) is not Overflow.NONE:
            raise NotImplementedError("trunci that promises")
        return x & 1 == 1 if result.element == I1 else x.astype(held(result.element))

    # Floats.

    def _float(self, name: str, operands: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        """Computed wider, rounded once; operations that are not exact are off by a unit."""
        kind = operands[0].dtype
        rounding, ftz = attributes.get("rounding", Rounding.NEAREST), attributes.get("ftz", False)
        if rounding in (Rounding.ZERO, Rounding.DOWN, Rounding.UP):
            raise NotImplementedError(f"{name} rounded {rounding.name}")
        exact = name in _EXACT and rounding is Rounding.NEAREST
        plain = name in _EXACT and name != "fma"
        # The C library's `powl` is wrong for infinities.
        wide = np.longdouble if kind == np.float64 and name != "pow" else np.float64
        if plain:
            wide = np.float64 if kind == np.float64 else np.float32
        arguments = [_flushed(operand.astype(wide), kind) if ftz else operand.astype(wide) for operand in operands]
        value = np.asarray(_FLOATS[name](*arguments)).astype(kind)
        if name == "divf" and not exact:
            even = np.abs(np.frexp(arguments[1])[0]) == 0.5
            value = np.where(even, value, self._blurred(value, 1))
        elif not exact:
            value = self._blurred(value, 4096 if (name, rounding) == ("tanh", Rounding.APPROXIMATE) else 1)
        if (name, rounding) == ("divf", Rounding.APPROXIMATE):
            large = (np.abs(arguments[1]) > 2.0**126) & np.isfinite(arguments[1])
            value = np.where(large, np.float32(0), value)
        return _flushed(value, kind) if ftz else value

    def _blurred(self, value: Array, units: int) -> Array:
        """Some units up or down here and there; zeros, infinities and NaN stay."""
        usual = np.isfinite(value) & (value != 0)
        bits = np.array(value, order="C").view(f"i{value.dtype.itemsize}")
        moved = (bits + (units * self.random.integers(-1, 2, value.shape)).astype(bits.dtype)).view(value.dtype)
        return np.where(usual & np.isfinite(moved), moved, value).astype(value.dtype)

    def _minf(self, x: Array, y: Array, attributes: Mapping[str, Any], _: Tile) -> Array:
        return np.minimum(x, y) if attributes["propagate_nan"] else np.fmin(x, y)

    def _maxf(self, x: Array, y: Array, attributes: Mapping[str, Any], _: Tile) -> Array:
        return np.maximum(x, y) if attributes["propagate_nan"] else np.fmax(x, y)

    def _cmpf(self, x: Array, y: Array, attributes: Mapping[str, Any], _: Tile) -> Array:
        nan = np.isnan(x) | np.isnan(y)
        holds = _PREDICATES[attributes["predicate"]](x, y) & ~nan
        return holds if attributes["ordering"] is Ordering.ORDERED else holds | nan

    # Conversions.

    def _itof(self, x: Array, attributes: Mapping[str, Any], result: Tile) -> Array:
        (read,) = _read(attributes, x)
        kind = held(result.element)
        if result.element in (F32, F64):
            return read.astype(kind)
        value = read.astype(np.float64).astype(np.float32).astype(kind)
        if (value.astype(np.float64) != read.astype(np.float64)).any() or result.element == TF32:
            raise Undefined(f"itof to {result.element} may round twice")
        return value

    def _ftoi(self, x: Array, attributes: Mapping[str, Any], result: Tile) -> Array:
        kind = held(result.element)
        number = kind if attributes["signedness"] is Signedness.SIGNED else np.dtype(f"u{kind.itemsize}")
        limits = np.iinfo(number)
        whole = np.trunc(x.astype(np.float64))
        below, above, nan = whole < float(limits.min), whole >= float(limits.max + 1), np.isnan(whole)
        if not attributes.get("saturating", False) and (below | above | nan).any():
            raise Undefined("ftoi of what does not fit")
        inside = np.where(below | above | nan, 0.0, whole).astype(number)
        clamped = np.where(below, number.type(limits.min), np.where(above, number.type(limits.max), inside))
        return clamped.astype(number).view(kind)

    def _ftof(self, x: Array, attributes: Mapping[str, Any], result: Tile) -> Array:
        if attributes["rounding"] is not Rounding.NEAREST:
            raise NotImplementedError("ftof that is not to nearest")
        target, kind = result.element, held(result.element)
        if target == TF32:
            return self._of_tf32(x)
        if x.dtype == np.float64 and target not in (F32, F64):
            raise Undefined(f"ftof from f64 to {target} may round twice")
        value = x.astype(kind)
        if target in (F8E4M3, F8E5M2):
            most = float(ml_dtypes.finfo(kind).max)
            if (np.abs(x.astype(np.float64)) > most).any():
                raise Undefined(f"ftof to {target} of what does not fit")
        return value

    def _of_tf32(self, x: Array) -> Array:
        """One of the two neighbours: which one is not promised."""
        bits = np.array(x, order="C").view(np.int32)
        below = bits & ~np.int32(0x1FFF)
        up = ((bits & 0x1FFF) != 0) & self.random.integers(0, 2, x.shape).astype(np.bool_)
        near = (below + np.where(up, 0x2000, 0).astype(np.int32)).view(np.float32)
        return np.where(np.isfinite(x), near, x)

    def _bitcast(self, x: Array, _: Any, result: Tile) -> Array:
        return np.ascontiguousarray(x).reshape(x.shape).view(held(result.element))

    # Pointers.

    def _offset(self, x: Array, y: Array, _: Any, result: Tile) -> Array:
        assert isinstance(result.element, Pointer)
        return x + y.astype(np.int64) * held(result.element.to).itemsize

    def _int_to_ptr(self, x: Array, _: Any, result: Tile) -> Array:
        return x

    def _ptr_to_int(self, x: Array, _: Any, result: Tile) -> Array:
        return x


def unsigned(x: Array) -> Array:
    """The same bits read as unsigned."""
    return x if x.dtype.kind in "bu" else x.view(f"u{x.dtype.itemsize}")


def signed(x: Array) -> Array:
    """The same bits in the type that holds integers here."""
    return x.view(f"i{x.dtype.itemsize}") if x.dtype.kind == "u" else x


def _read(attributes: Mapping[str, Any], *operands: Array) -> list[Array]:
    if attributes["signedness"] is Signedness.SIGNED:
        return list(operands)
    return [unsigned(operand) for operand in operands]


def _flushed(x: Array, kind: np.dtype[Any]) -> Array:
    return np.where(np.abs(x) < float(ml_dtypes.finfo(kind).smallest_normal), x * 0, x).astype(x.dtype)


_PREDICATES: Final[Mapping[Predicate, Callable[[Array, Array], Any]]] = {
    Predicate.EQUAL: np.equal, Predicate.NOT_EQUAL: np.not_equal, Predicate.LESS: np.less,
    Predicate.LESS_EQUAL: np.less_equal, Predicate.GREATER: np.greater, Predicate.GREATER_EQUAL: np.greater_equal,
}  # fmt: skip
_INTEGERS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "addi": lambda x, y: x + y, "subi": lambda x, y: x - y, "muli": lambda x, y: x * y,
    "andi": lambda x, y: x & y, "ori": lambda x, y: x | y, "xori": lambda x, y: x ^ y,
}  # fmt: skip
_FLOATS: Final[Mapping[str, Callable[..., Any]]] = {
    "addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide, "fma": lambda x, y, z: x * y + z,
    "negf": np.negative, "absf": np.abs, "ceil": np.ceil, "floor": np.floor, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "exp": np.exp, "exp2": np.exp2, "tanh": np.tanh, "log": np.log,
    "log2": np.log2, "sin": np.sin, "cos": np.cos, "pow": np.power,
}  # fmt: skip
_EXACT: Final = frozenset(["addf", "subf", "mulf", "divf", "fma", "negf", "absf", "ceil", "floor", "sqrt"])
