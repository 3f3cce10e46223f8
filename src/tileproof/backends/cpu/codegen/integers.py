"""Arithmetic on integers, positions and bools: it wraps, and every operation has a value for all operands."""

from __future__ import annotations

from typing import Final

from tileproof.ir.ops import BinaryFn
from tileproof.language.dtypes import BOOL, DType

from .conversions import PURE
from .emission import Emitter, Operand, literal, register, suffix, vector, whole

_PREDICATES: Final = {
    BinaryFn.EQ: "eq",
    BinaryFn.NE: "ne",
    BinaryFn.LT: "{}lt",
    BinaryFn.LE: "{}le",
    BinaryFn.GT: "{}gt",
    BinaryFn.GE: "{}ge",
}
_PLAIN: Final = {
    BinaryFn.ADD: "add",
    BinaryFn.SUB: "sub",
    BinaryFn.MUL: "mul",
    BinaryFn.AND: "and",
    BinaryFn.OR: "or",
    BinaryFn.XOR: "xor",
}
_LOGIC: Final = {
    BinaryFn.ADD: "or",
    BinaryFn.MUL: "and",
    BinaryFn.MIN: "and",
    BinaryFn.MAX: "or",
    BinaryFn.AND: "and",
    BinaryFn.OR: "or",
    BinaryFn.XOR: "xor",
}


def integer_binary(e: Emitter, fn: BinaryFn, x: Operand, y: Operand, dtype: DType, w: int) -> Operand:
    """`fn` of every pair of lanes."""
    n = Integers(e, dtype, w)
    if fn.compares:
        return n.test(_PREDICATES[fn].format(n.sign), x, y)
    if dtype == BOOL:
        if fn not in _LOGIC:
            raise TypeError(f"{fn} of {dtype}")
        return n.op(_LOGIC[fn], x, y)
    if fn in _PLAIN:
        return n.op(_PLAIN[fn], x, y)
    match fn:
        case BinaryFn.MIN | BinaryFn.MAX:
            return n.extreme(fn, x, y)
        case BinaryFn.FLOORDIV:
            return _quotient(n, x, y)
        case BinaryFn.MOD:
            return _remainder(n, x, y)
        case BinaryFn.CDIV:
            return _ceiling(n, x, y)
        case BinaryFn.SHL | BinaryFn.SHR:
            return _shift(n, fn, x, y)
        case BinaryFn.POW:
            return _power(n, x, y)
        case _:
            raise TypeError(f"{fn} of {dtype}")


class Integers:
    """Writes operations on lanes of one integer type."""

    def __init__(self, e: Emitter, dtype: DType, w: int) -> None:
        self.e, self.dtype, self.w = e, dtype, w
        self.signed = dtype.kind in ("int", "index")
        self.sign = "s" if self.signed else "u"
        self.type, self.logic = vector(register(dtype), w), vector("i1", w)

    def number(self, value: int) -> Operand:
        return literal(value, self.dtype, self.w)

    def op(self, operation: str, x: Operand, y: Operand) -> Operand:
        return self.e.op(f"{operation} {self.type} {{}}, {{}}", x, y)

    def test(self, predicate: str, x: Operand, y: Operand) -> Operand:
        return self.e.op(f"icmp {predicate} {self.type} {{}}, {{}}", x, y)

    def both(self, one: Operand, two: Operand) -> Operand:
        return self.e.op(f"and {self.logic} {{}}, {{}}", one, two)

    def select(self, condition: Operand, x: Operand, y: Operand) -> Operand:
        return self.e.op(f"select {self.logic} {{}}, {self.type} {{}}, {self.type} {{}}", condition, x, y)

    def counted(self, condition: Operand, way: str) -> Operand:
        """A condition as a number: 1 by `zext`, -1 by `sext`."""
        return self.e.op(f"{way} {self.logic} {{}} to {self.type}", condition)

    def extreme(self, fn: BinaryFn, x: Operand, y: Operand) -> Operand:
        name = f"llvm.{self.sign}{fn}.{suffix(register(self.dtype), self.w)}"
        self.e.declare(name, self.type, self.type, self.type)
        return self.e.op(f"call {self.type} @{name}({self.type} {{}}, {self.type} {{}})", x, y)


# Division.


def _quotient(n: Integers, x: Operand, y: Operand) -> Operand:
    """x // y, with x // 0 = 0; the least number divided by -1 wraps."""
    known = whole(y)
    if known is not None and known > 0 and known & known - 1 == 0:
        return n.op("ashr" if n.signed else "lshr", x, n.number(known.bit_length() - 1))
    quotient, rest = _divided(n, x, y)
    if n.signed:
        quotient = n.op("add", quotient, n.counted(_crosses(n, rest, y), "sext"))
    return n.select(n.test("eq", y, n.number(0)), n.number(0), quotient)


def _remainder(n: Integers, x: Operand, y: Operand) -> Operand:
    """x % y with the sign of y, and x % 0 = x."""
    known = whole(y)
    if known is not None and known > 0 and known & known - 1 == 0:
        return n.op("and", x, n.number(known - 1))
    _, rest = _divided(n, x, y)
    if n.signed:
        rest = n.op("add", rest, n.select(_crosses(n, rest, y), y, n.number(0)))
    return n.select(n.test("eq", y, n.number(0)), x, rest)


def _ceiling(n: Integers, x: Operand, y: Operand) -> Operand:
    """The quotient rounded up: the floor, and one more where something remains."""
    quotient, rest = _quotient(n, x, y), _remainder(n, x, y)
    more = n.both(n.test("ne", rest, n.number(0)), n.test("ne", y, n.number(0)))
    return n.op("add", quotient, n.counted(more, "zext"))


def _divided(n: Integers, x: Operand, y: Operand) -> tuple[Operand, Operand]:
    """Quotient toward zero and what remains. Division by 0 is by 1 instead, and by -1 it is negation: both trap."""
    known = whole(y)
    if known is not None and known not in (0, -1):
        return n.op(f"{n.sign}div", x, y), n.op(f"{n.sign}rem", x, y)
    trap = n.test("eq", y, n.number(0))
    if not n.signed:
        divisor = n.select(trap, n.number(1), y)
        return n.op("udiv", x, divisor), n.op("urem", x, divisor)
    minus = n.test("eq", y, n.number(-1))
    either = n.e.op(f"or {n.logic} {{}}, {{}}", trap, minus)
    divisor = n.select(either, n.number(1), y)
    quotient = n.op("sdiv", x, divisor)
    rest = n.op("sub", x, n.op("mul", quotient, divisor))
    return n.select(minus, n.op("sub", n.number(0), x), quotient), rest


def _crosses(n: Integers, rest: Operand, y: Operand) -> Operand:
    """Where rounding toward zero was not rounding down: something remains, and its sign is not that of `y`."""
    opposite = n.test("slt", n.op("xor", rest, y), n.number(0))
    return n.both(n.test("ne", rest, n.number(0)), opposite)


# Shifts and powers.


def _shift(n: Integers, fn: BinaryFn, x: Operand, y: Operand) -> Operand:
    """A shift by less than 0 or by the width or more gives 0, and -1 for `>>` of a negative number."""
    bits = n.dtype.bits
    inside = n.test("ult", y, n.number(bits))
    if fn is BinaryFn.SHR and n.signed:
        return n.op("ashr", x, n.select(inside, y, n.number(bits - 1)))
    amount = n.select(inside, y, n.number(0))
    return n.select(inside, n.op("shl" if fn is BinaryFn.SHL else "lshr", x, amount), n.number(0))


_UNROLLED: Final = 64
"""Powers up to this are written as multiplications."""


def _power(n: Integers, x: Operand, y: Operand) -> Operand:
    """Squares and multiplies, wrapping. A base of 1 or -1 has negative powers, all others give 0."""
    known = whole(y)
    if known is not None and 0 <= known <= _UNROLLED:
        return _known_power(n, x, known)
    name = f"tileproof.power.{n.sign}.{suffix(register(n.dtype), n.w)}"
    n.e.define(name, lambda: _power_function(n, name))
    return n.e.op(f"call {n.type} @{name}({n.type} {{}}, {n.type} {{}})", x, y)


def _known_power(n: Integers, x: Operand, exponent: int) -> Operand:
    result: Operand | None = None
    while exponent:
        if exponent & 1:
            result = x if result is None else n.op("mul", result, x)
        exponent >>= 1
        if exponent:
            x = n.op("mul", x, x)
    return n.number(1) if result is None else result


def _power_function(outer: Integers, name: str) -> str:
    """One turn for each bit of the exponent: there are no more turns than bits, and fewer do not pay in lanes."""
    e = Emitter()
    n = Integers(e, outer.dtype, outer.w)
    x, y, one, zero = "%x", "%y", n.number(1), n.number(0)

    def turn(_: Operand, carried: list[Operand]) -> list[Operand]:
        result, base, exponent = carried
        odd = n.test("ne", n.op("and", exponent, one), zero)
        return [
            n.select(odd, n.op("mul", result, base), result),
            n.op("mul", base, base),
            n.op("lshr", exponent, one),
        ]

    result, _, _ = e.loop("0", str(n.dtype.bits), 1, turn, [(n.type, one), (n.type, x), (n.type, y)])
    if n.signed:
        odd = n.test("ne", n.op("and", y, one), zero)
        minus = n.test("eq", x, n.number(-1))
        unit = e.op(f"or {n.logic} {{}}, {{}}", n.test("eq", x, one), minus)
        inverse = n.select(unit, n.select(odd, x, one), zero)
        result = n.select(n.test("slt", y, zero), inverse, result)
    for needed, written in e.globals.items():
        outer.e.globals.setdefault(needed, written)
    return e.function(f"internal {n.type} @{name}({n.type} {x}, {n.type} {y}) {PURE}", f"ret {n.type} {result}")
