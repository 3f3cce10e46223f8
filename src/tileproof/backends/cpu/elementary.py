"""Elementary functions in vectors, without calls of a library but for sin, cos, erf and pow of f64.

Largest errors of f32, in units in the last place: exp 0.92 (all were tried), exp2 0.81, log 0.9, log2 0.99, tanh 1.4,
sigmoid 1.7, erf 1.3, rsqrt 1.5, and 0.51 for sin, cos and pow. Those of f64 are hardly larger. f16 and bf16 are
computed in f32 and rounded once more. All are right at infinities, NaN, zeros and denormal numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tileproof.ir.ops import UnaryFn
from tileproof.language.dtypes import F64

from .conversions import Floats, outlined
from .emission import Operand
from .exponentials import exp, exp2, sigmoid, tanh
from .logarithms import known_power, log, log2, single_power
from .trigonometry import cos, sin


def elementary(f: Floats, fn: UnaryFn, x: Operand) -> Operand:
    """`fn` of lanes of f32 or f64. What is short is written in place, what is long becomes a function."""
    if f.dtype == F64 and fn in _LIBRARY:
        return _library(f, _LIBRARY[fn], x)
    if fn in _SHORT:
        return _SHORT[fn](f, x)
    if fn in _LONG:
        return outlined(f, fn.value, lambda inner, names: _LONG[fn](inner, names[0]), x)
    raise TypeError(f"{fn} of {f.dtype}")


def power(f: Floats, x: Operand, y: Operand) -> Operand:
    """x to the power y."""
    known = known_power(f, x, y)
    if known is not None:
        return known
    if f.dtype == F64:
        return _library(f, "pow", x, y)
    return outlined(f, "pow", lambda inner, names: single_power(inner, *names), x, y)


def _rsqrt(f: Floats, x: Operand) -> Operand:
    return f.div(f.number(1), f.intrinsic("sqrt", x))


_NEAR: Final = 0.96
_ONE: Final = 3.95
_ODD: Final = (
    -0.0005816141492687166,
    0.004957934375852346,
    -0.026741957291960716,
    0.11281120777130127,
    -0.3761242628097534,
    0.12837913632392883,
)
"""erf(x) / x - 1 by x^2 below `_NEAR`."""
_FADE: Final = (
    0.00019182365213055164,
    -0.0030025572050362825,
    0.022063473239541054,
    -0.10358940064907074,
    -0.6375760436058044,
    -1.127439260482788,
    -0.00025353790260851383,
)
"""log(1 - erf(x)) from `_NEAR` to `_ONE`."""


def _erf(f: Floats, x: Operand) -> Operand:
    """The error function of f32: an odd polynomial near 0, and what is missing to 1 as an exponential further out."""
    size = f.intrinsic("fabs", x)
    near = f.fma(x, f.polynomial(f.mul(x, x), _ODD), x)
    greatest = f.number(_ONE)
    far = f.select(f.test("olt", greatest, size), greatest, size)
    far = f.sub(f.number(1), exp(f, f.polynomial(far, _FADE)))
    return f.select(f.test("olt", size, f.number(_NEAR)), near, f.intrinsic("copysign", far, x))


def _library(f: Floats, name: str, *operands: Operand) -> Operand:
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
_SHORT: Final[dict[UnaryFn, Callable[[Floats, Operand], Operand]]] = {
    UnaryFn.EXP: exp,
    UnaryFn.EXP2: exp2,
    UnaryFn.SIGMOID: sigmoid,
    UnaryFn.TANH: tanh,
    UnaryFn.RSQRT: _rsqrt,
}
_LONG: Final[dict[UnaryFn, Callable[[Floats, Operand], Operand]]] = {
    UnaryFn.LOG: log,
    UnaryFn.LOG2: log2,
    UnaryFn.SIN: sin,
    UnaryFn.COS: cos,
    UnaryFn.ERF: _erf,
}
