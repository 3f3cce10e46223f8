"""Constant folding: arithmetic on compile-time numbers, with the total semantics that operations have at run time."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import BinaryFn
from tileproof.ir.types import Extent, Undecided, names_in

from .entities import Known
from .signature import MOST_BITS
from .source import reject

_FUNCTIONS: dict[BinaryFn, Callable[[Any, Any], Any]] = {
    BinaryFn.ADD: operator.add,
    BinaryFn.SUB: operator.sub,
    BinaryFn.MUL: operator.mul,
    BinaryFn.FLOORDIV: lambda a, b: a // b if isinstance(b, Extent) or b else 0,
    BinaryFn.MOD: lambda a, b: a % b if isinstance(b, Extent) or b else a,
    BinaryFn.CDIV: lambda a, b: -(-a // b) if isinstance(b, Extent) or b else 0,
    BinaryFn.AND: operator.and_,
    BinaryFn.OR: operator.or_,
    BinaryFn.XOR: operator.xor,
    BinaryFn.SHL: lambda a, b: a << b if b >= 0 else 0,
    BinaryFn.SHR: lambda a, b: a >> b if b >= 0 else -int(a < 0),
    BinaryFn.MIN: min,
    BinaryFn.MAX: max,
    BinaryFn.LT: operator.lt,
    BinaryFn.LE: operator.le,
    BinaryFn.GT: operator.gt,
    BinaryFn.GE: operator.ge,
    BinaryFn.EQ: lambda a, b: _equal(a, b),
    BinaryFn.NE: lambda a, b: not _equal(a, b),
}
_LARGEST_POWER = 4096


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, Extent) or isinstance(right, Extent):
        difference = left - right
        if isinstance(difference, Extent):
            raise Undecided(difference.names)
        return bool(difference == 0)
    return bool(left == right)


def is_open_float(fn: BinaryFn, left: Known, right: Known) -> bool:
    """Whether a float depends on a dimension without a value, as in `D ** -0.5`, and is computed at run time."""
    values = (left.value, right.value)
    if not any(isinstance(value, Extent) for value in values):
        return False
    if any(isinstance(value, float) for value in values) or fn is BinaryFn.DIV:
        return True
    return fn is BinaryFn.POW and not (isinstance(right.value, int) and 0 <= right.value <= 4)


def fold(fn: BinaryFn, left: Known, right: Known, span: Span) -> Known | None:
    """The constant `left fn right`; None where the operands are no plain numbers, or a comparison is open."""
    a, b = left.value, right.value
    if not isinstance(a, bool | int | float | Extent) or not isinstance(b, bool | int | float | Extent):
        return None
    try:
        if fn is BinaryFn.DIV:
            return Known(_divide(a, b))
        if fn is BinaryFn.POW:
            return Known(limited(_power(a, b), span))
        if fn is BinaryFn.SHL and isinstance(b, int) and b > _LARGEST_POWER:
            raise OverflowError
        if isinstance(a, float) or isinstance(b, float):
            return _fold_floats(fn, a, b)
        return Known(limited(_FUNCTIONS[fn](a, b), span))
    except Undecided as undecided:
        if fn.compares:  # it is decided at run time
            return None
        raise undecided_at(undecided, span) from None
    except OverflowError:
        raise _too_large(span) from None
    except TypeError:
        return None


def limited(value: Any, span: Span) -> Any:
    """`value`; raises for an integer so large that printing it would take long."""
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise _too_large(span)
    return value


def _too_large(span: Span) -> Exception:
    return reject(Code.LITERAL_RANGE, "this constant is too large", span, help="no element type holds it")


def undecided_at(undecided: Undecided, span: Span) -> Exception:
    """The error for a decision that needs a number `tileproof check` was not given."""
    names = sorted(undecided.names)
    options = " ".join(f"--with {name}=128" for name in names)
    return reject(
        Code.UNDECIDED,
        f"this depends on the value of {' and '.join(names)}, which is not known here",
        span,
        notes=("a dimension bound as a constant has a value at launch; `tileproof check` keeps it open",),
        help=f"give it one: `tileproof check {options}`",
    )


def _divide(a: Any, b: Any) -> Any:
    if isinstance(a, Extent) or isinstance(b, Extent):
        raise Undecided(names_in(a, b))
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def _power(a: Any, b: Any) -> Any:
    if isinstance(a, Extent) and isinstance(b, int):
        return math.prod([a] * b, start=1)
    if isinstance(a, Extent) or isinstance(b, Extent):
        raise Undecided(names_in(a, b))
    if abs(b) > _LARGEST_POWER or (isinstance(a, int) and abs(b) * a.bit_length() > MOST_BITS):
        raise OverflowError
    if b < 0 and a == 0:
        return math.copysign(math.inf, a) if b % 2 == 1 else math.inf
    value = a**b
    return math.nan if isinstance(value, complex) else value


def _fold_floats(fn: BinaryFn, a: Any, b: Any) -> Known | None:
    if fn in (BinaryFn.FLOORDIV, BinaryFn.MOD, BinaryFn.CDIV):
        # IEEE, as at run time: Python raises on a zero divisor.
        quotient = _divide(float(a), float(b))
        floor = math.floor(quotient) if math.isfinite(quotient) else quotient
        return Known(float(floor)) if fn is BinaryFn.FLOORDIV else Known(a - floor * b) if fn is BinaryFn.MOD else None
    if fn in (BinaryFn.MIN, BinaryFn.MAX) and (a != a or b != b):
        return Known(math.nan)
    return Known(_FUNCTIONS[fn](a, b))
