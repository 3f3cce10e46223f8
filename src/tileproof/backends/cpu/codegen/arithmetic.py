"""The value of every elementwise operation, as in `interpreter.semantics`.

Nothing here traps or is undefined, whatever the operands: lanes beyond the end of a tile hold anything.
Floats of 16 bits and less are computed in f32 and rounded after every operation. Sums and products of f32 and f64 may
be fused with each other (`contract`).
"""

from __future__ import annotations

from typing import Final

from tileproof.backends.integers import integer_binary
from tileproof.backends.interpreter import semantics
from tileproof.ir.ops import BinaryFn, ReduceFn, UnaryFn
from tileproof.language.dtypes import BOOL, F32, F64, DType

from .conversions import narrow
from .elementary import elementary, power
from .emitter import Emitter, Operand, each, literal, register, suffix, vector, whole
from .typed_lanes import FloatLanes, IntegerLanes


def constant(value: bool | int | float, dtype: DType, w: int) -> str:
    """A number in every lane, rounded once."""
    return literal(value, dtype, w)


def fill_value(fn: ReduceFn, dtype: DType, w: int) -> str:
    """What an empty sum, max, min, any or all gives."""
    return literal(semantics.identity(fn, dtype).item(), dtype, w)


def select(e: Emitter, c: Operand, x: Operand, y: Operand, dtype: DType, w: int) -> Operand:
    """`x` where `c` holds, else `y`."""
    lanes = vector(register(dtype), w)
    return e.op(f"select {vector('i1', w)} {{}}, {lanes} {{}}, {lanes} {{}}", c, x, y)


def fma(e: Emitter, x: Operand, y: Operand, z: Operand, dtype: DType, w: int) -> Operand:
    """`x * y + z`: floats rounded once."""
    if not dtype.is_float:
        return binary(e, BinaryFn.ADD, binary(e, BinaryFn.MUL, x, y, dtype, w), z, dtype, w)
    return narrow(e, FloatLanes(e, _computed(dtype), w).fma(x, y, z), dtype, w)


# One operand.


def unary(e: Emitter, fn: UnaryFn, x: Operand, dtype: DType, w: int) -> Operand:
    """`fn` of every lane."""
    if dtype.is_float:
        return _float_unary(FloatLanes(e, _computed(dtype), w), fn, x, dtype)
    lanes = vector(register(dtype), w)
    match fn:
        case UnaryFn.ISNAN:
            return each(w, "false", "i1")
        case UnaryFn.NOT:
            return e.op(f"xor {lanes} {{}}, {each(w, 'true' if dtype == BOOL else '-1', register(dtype))}", x)
        case UnaryFn.NEG:
            return e.op(f"sub {lanes} {literal(0, dtype, w)}, {{}}", x)
        case UnaryFn.ABS if dtype.kind in ("uint", "bool"):
            return x
        case UnaryFn.ABS:
            name = e.declare(f"llvm.abs.{suffix(register(dtype), w)}", lanes, lanes, "i1")
            return e.op(f"call {lanes} @{name}({lanes} {{}}, i1 false)", x)
        case UnaryFn.FLOOR | UnaryFn.CEIL | UnaryFn.ROUND:
            return x
        case _:
            raise TypeError(f"{fn} of {dtype}")


_EXACT: Final = {
    UnaryFn.ABS: "fabs",
    UnaryFn.FLOOR: "floor",
    UnaryFn.CEIL: "ceil",
    UnaryFn.ROUND: "rint",
}
"""Functions whose value every type has that has the operand."""


def _float_unary(f: FloatLanes, fn: UnaryFn, x: Operand, dtype: DType) -> Operand:
    if fn is UnaryFn.ISNAN:
        return f.test("uno", x, x)
    if fn is UnaryFn.NEG:
        return _kept(f, f.neg(x), dtype)
    if fn in _EXACT:
        return _kept(f, f.intrinsic(_EXACT[fn], x), dtype)
    value = f.intrinsic("sqrt", x) if fn is UnaryFn.SQRT else elementary(f, fn, x)
    return narrow(f.e, value, dtype, f.w)


def _kept(f: FloatLanes, x: Operand, dtype: DType) -> Operand:
    """A value that needs no rounding; but f8, even where it has infinities, gives its largest number instead."""
    return narrow(f.e, x, dtype, f.w) if dtype.is_storage_only else x


def _computed(dtype: DType) -> DType:
    """The type in which arithmetic on a float type is done."""
    return F64 if dtype == F64 else F32


# Two operands.

_ORDERED: Final = {
    BinaryFn.EQ: "oeq",
    BinaryFn.NE: "une",
    BinaryFn.LT: "olt",
    BinaryFn.LE: "ole",
    BinaryFn.GT: "ogt",
    BinaryFn.GE: "oge",
}


def binary(e: Emitter, fn: BinaryFn, x: Operand, y: Operand, dtype: DType, w: int) -> Operand:
    """`fn` of every pair of lanes, both of type `dtype`. Comparisons give bools."""
    if dtype.is_float:
        f = FloatLanes(e, _computed(dtype), w)
        if fn.compares:
            return f.test(_ORDERED[fn], x, y)
        if fn in (BinaryFn.MIN, BinaryFn.MAX):
            return _kept(f, _extreme(f, fn, x, y), dtype)
        return narrow(e, _float_binary(f, fn, x, y, dtype), dtype, w)
    return integer_binary(IntegerLanes(e, dtype, w), fn, x, y, whole(y))


def _extreme(f: FloatLanes, fn: BinaryFn, x: Operand, y: Operand) -> Operand:
    """NaN if either is. With `nsz` this is one instruction on ARM and three on x86."""
    return f.intrinsic("maximum" if fn is BinaryFn.MAX else "minimum", x, y, flags="nsz ")


def _float_binary(f: FloatLanes, fn: BinaryFn, x: Operand, y: Operand, dtype: DType) -> Operand:
    fused = "contract " if dtype in (F32, F64) else ""
    match fn:
        case BinaryFn.ADD | BinaryFn.SUB | BinaryFn.MUL:
            return f.e.op(f"f{fn} {fused}{f.type} {{}}, {{}}", x, y)
        case BinaryFn.DIV:
            return f.div(x, y)
        case BinaryFn.FLOORDIV:
            return f.intrinsic("floor", f.div(x, y))
        case BinaryFn.CDIV:
            return f.intrinsic("ceil", f.div(x, y))
        case BinaryFn.MOD:
            return f.sub(x, f.mul(f.intrinsic("floor", f.div(x, y)), y))
        case BinaryFn.POW:
            return power(f, x, y)
        case _:
            raise TypeError(f"{fn} of {dtype}")
