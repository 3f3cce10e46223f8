"""Numbers as LLVM text, rounded once to the type they stand for."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from tileproof.language.dtypes import BF16, F8E4M3, F8E5M2, F16, F32, F64, TF32, DType

from .registers import each, register


@dataclass(frozen=True, slots=True)
class Format:
    """A float type: bits of its significand, exponent of its least step, largest finite value, what lies beyond."""

    precision: int
    step: int
    largest: float
    saturates: bool = False

    def holds(self, other: Format) -> bool:
        """Whether every value of another type is one of this."""
        finer = self.precision >= other.precision and self.step <= other.step
        return finer and self.largest >= other.largest and not self.saturates


FORMATS: Final = {
    F64: Format(53, -1074, (2.0 - 2.0**-52) * 2.0**1023),
    F32: Format(24, -149, (2.0 - 2.0**-23) * 2.0**127),
    TF32: Format(11, -136, (2.0 - 2.0**-10) * 2.0**127),
    BF16: Format(8, -133, (2.0 - 2.0**-7) * 2.0**127),
    F16: Format(11, -24, 65504.0),
    F8E4M3: Format(4, -9, 448.0, saturates=True),
    F8E5M2: Format(3, -16, 57344.0, saturates=True),
}


def rounded(value: float, dtype: DType) -> float:
    """The number of a float type nearest to a number, ties to even."""
    form = FORMATS[dtype]
    beyond = form.largest if form.saturates else math.inf
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        value = float(value)
    if value != value or value == 0:
        return float(value)
    if abs(value) == math.inf:
        return math.copysign(beyond, value)
    nearest = _nearest(abs(value), form)
    return math.copysign(beyond if nearest > form.largest else float(nearest), value)


@lru_cache(maxsize=4096)
def _nearest(value: float, form: Format) -> Fraction:
    """The multiple of a format's steps nearest to a number above 0. Kernels write the same few numbers often."""
    exact = Fraction(value)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    exponent -= exact < Fraction(2) ** exponent
    step = Fraction(2) ** max(exponent - form.precision + 1, form.step)
    return round(exact / step) * step


def literal(value: float, dtype: DType, lanes: int) -> str:
    """A number in every lane, in the register form of a type."""
    element = register(dtype)
    if dtype.is_float:
        (bits,) = struct.unpack(">Q", struct.pack(">d", rounded(value, dtype)))
        return each(lanes, f"0x{bits:016X}", element)
    if element == "i1":
        return each(lanes, "true" if value else "false", element)
    return each(lanes, str(int(value)), element)


_WHOLE: Final = re.compile(r"(?:splat \(i\d+ )?(-?\d+)\)?")


def whole(operand: str) -> int | None:
    """The whole number that a literal has in every lane, if it is one."""
    found = _WHOLE.fullmatch(operand)
    return int(found.group(1)) if found else None
