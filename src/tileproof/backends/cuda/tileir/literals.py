"""Python numbers as the bits of an element, and tiles of numbers as the bytes of a constant."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import index
from typing import Final, SupportsFloat, SupportsIndex, TypeAlias

import numpy as np

from .types import BF16, F8E4M3, F8E5M2, F16, F32, F64, I1, TF32, Number, Tile

Scalar: TypeAlias = SupportsIndex | SupportsFloat
"""A Python or numpy number, or a bool."""

_FLOATS: Final = {
    F16: (5, 10),
    BF16: (8, 7),
    F32: (8, 23),
    TF32: (8, 10),
    F64: (11, 52),
    F8E4M3: (4, 3),
    F8E5M2: (5, 2),
}
"""Bits of the exponent and of the fraction."""

WRITABLE: Final = frozenset(_FLOATS) | {Number(name) for name in ("i1", "i8", "i16", "i32", "i64")}
"""The element types of which there are constants."""


def bits_of(element: Number, number: Scalar) -> int:
    """The pattern of a number: integers are cut to the width, floats are rounded to the nearest, ties to even."""
    if element.is_integer:
        if not isinstance(number, SupportsIndex):
            raise TypeError(f"constant: {number!r} is not an integer, as {element} needs")
        return index(number) & ((1 << element.bits) - 1)
    exponents, fraction = _FLOATS[element]
    value = _as_float(number, element)
    bias = (1 << exponents - 1) - 1
    sign = (1 << exponents + fraction) if math.copysign(1.0, value) < 0 else 0
    # The format with four bits of exponent has no infinity: its last pattern is NaN, and overflow goes there.
    infinity = 0x7F if element == F8E4M3 else ((1 << exponents) - 1) << fraction
    if math.isnan(value):
        return infinity if element == F8E4M3 else infinity | 1 << fraction - 1
    if math.isinf(value) or not value:
        return sign | infinity if value else sign
    exponent = max(math.frexp(value)[1] - 1, 1 - bias)
    steps = round(math.ldexp(abs(value), fraction - exponent))
    return sign | min((exponent + bias - 1 << fraction) + steps, infinity)


def _as_float(number: Scalar, element: Number) -> float:
    """The number as a float; a long integer keeps a bit for what is cut off, so that it is not rounded twice."""
    if not isinstance(number, int) or abs(number) < 1 << 53 or element == F64:
        return float(number)
    shift = abs(number).bit_length() - 53
    kept = abs(number) >> shift
    kept |= abs(number) != kept << shift
    try:
        return math.copysign(math.ldexp(kept, shift), number)
    except OverflowError:
        return math.copysign(math.inf, number)


def number_of(element: Number, bits: int) -> int | float:
    """The number that a pattern stands for; integers of more than one bit are read as signed."""
    if element.is_integer:
        return bits - (1 << element.bits) if element.bits > 1 and bits >> element.bits - 1 else bits
    exponents, fraction = _FLOATS[element]
    sign = -1.0 if bits >> exponents + fraction else 1.0
    bits &= (1 << exponents + fraction) - 1
    exponent, steps = bits >> fraction, bits & (1 << fraction) - 1
    if element == F8E4M3 and bits == 0x7F:
        return math.nan
    if exponent == (1 << exponents) - 1 and element != F8E4M3:
        return math.nan if steps else sign * math.inf
    bias = (1 << exponents - 1) - 1
    return sign * math.ldexp(steps + (1 << fraction if exponent else 0), max(exponent, 1) - bias - fraction)


def width_of(element: Number) -> int:
    """How many bytes an element takes in a constant."""
    return (element.bits + 7) // 8


def payload(tile: Tile, value: Scalar | Sequence[Scalar] | Iterable[Scalar]) -> bytes:
    """The bytes of a constant: of one element that all have, or of all elements.

    Elements of one bit are packed, the lowest bit first, and a single byte may be read either way: so one bit for all
    is written as eight.
    """
    element = tile.element
    if not isinstance(element, Number) or element not in WRITABLE:
        raise TypeError(f"constant: there are no constants of {element}")
    if isinstance(value, np.ndarray | np.generic):
        value = value.ravel().tolist() if value.ndim else value.item()
    if not isinstance(value, Iterable):
        bits = bits_of(element, value)
        return bytes((0xFF * bits,)) if element == I1 else bits.to_bytes(width_of(element), "little")
    numbers = list(value)
    if len(numbers) != tile.count:
        raise TypeError(f"constant: {tile} has {tile.count} elements, not {len(numbers)}")
    if element == I1:
        packed = sum(bits_of(I1, number) << place for place, number in enumerate(numbers))
        return packed.to_bytes((len(numbers) + 7) // 8, "little")
    return b"".join(bits_of(element, number).to_bytes(width_of(element), "little") for number in numbers)


def elements(tile: Tile, data: bytes) -> list[int | float]:
    """The numbers of a constant: one, if all are that one, or all."""
    element = tile.element
    assert isinstance(element, Number)
    if element == I1:
        if data in (b"\0", b"\xff"):
            return [data[0] & 1]
        return [data[place // 8] >> place % 8 & 1 for place in range(min(tile.count, 8 * len(data)))]
    width = width_of(element)
    return [number_of(element, int.from_bytes(data[at : at + width], "little")) for at in range(0, len(data), width)]
