"""Writers of operations on lanes of one element type: they know the LLVM types that a bare `Emitter` is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from tileproof.backends.integers import Integers, is_signed
from tileproof.ir.ops import BinaryFn
from tileproof.language.dtypes import F64, DType

from .emitter import Emitter, Operand, each, literal, register, suffix, vector, whole

PURE: Final = "nounwind willreturn memory(none)"
"""What LLVM may know of functions that only compute."""
L = TypeVar("L", bound="Lanes")


@dataclass(frozen=True, slots=True)
class Lanes:
    """Writes operations on `w` lanes of a type."""

    e: Emitter
    dtype: DType
    w: int

    @property
    def type(self) -> str:
        return vector(register(self.dtype), self.w)

    @property
    def logic(self) -> str:
        return vector("i1", self.w)

    def select(self, condition: Operand, x: Operand, y: Operand) -> Operand:
        return self.e.op(f"select {self.logic} {{}}, {self.type} {{}}, {self.type} {{}}", condition, x, y)

    def both(self, one: Operand, two: Operand) -> Operand:
        """Two conditions at once."""
        return self.e.op(f"and {self.logic} {{}}, {{}}", one, two)

    def either(self, one: Operand, two: Operand) -> Operand:
        return self.e.op(f"or {self.logic} {{}}, {{}}", one, two)

    def intrinsic(self, name: str, *operands: Operand, flags: str = "") -> Operand:
        """`llvm.NAME` of operands that all have this type."""
        of = suffix(register(self.dtype), self.w)
        declared = self.e.declare(f"llvm.{name}.{of}", self.type, *[self.type] * len(operands))
        places = ", ".join([f"{self.type} {{}}"] * len(operands))
        return self.e.op(f"call {flags}{self.type} @{declared}({places})", *operands)


def outlined(lanes: L, name: str, body: Callable[..., Operand], *operands: Operand) -> Operand:
    """What `body` writes for lanes of one type: a function that is written once in the module, and called here."""
    full = f"tileproof.{name}.{suffix(register(lanes.dtype), lanes.w)}"
    of = lanes.type

    def text() -> str:
        inner = replace(lanes, e=Emitter())
        names = [f"%x{number}" for number in range(len(operands))]
        result = body(inner, *names)
        for needed, written in inner.e.globals.items():
            lanes.e.globals.setdefault(needed, written)
        parameters = ", ".join(f"{of} {name}" for name in names)
        return inner.e.function(f"internal {of} @{full}({parameters}) {PURE}", f"ret {of} {result}")

    lanes.e.define(full, text)
    places = ", ".join([f"{of} {{}}"] * len(operands))
    return lanes.e.op(f"call {of} @{full}({places})", *operands)


@dataclass(frozen=True, slots=True)
class FloatLanes(Lanes):
    """Writes operations on lanes of a float type, and on integers of the same width."""

    @property
    def integer(self) -> str:
        return vector(f"i{self.dtype.bits}", self.w)

    def number(self, value: float) -> Operand:
        return literal(value, self.dtype, self.w)

    def whole(self, value: int) -> Operand:
        return each(self.w, str(value), f"i{self.dtype.bits}")

    def add(self, x: Operand, y: Operand) -> Operand:
        return self.e.op(f"fadd {self.type} {{}}, {{}}", x, y)

    def sub(self, x: Operand, y: Operand) -> Operand:
        return self.e.op(f"fsub {self.type} {{}}, {{}}", x, y)

    def mul(self, x: Operand, y: Operand) -> Operand:
        return self.e.op(f"fmul {self.type} {{}}, {{}}", x, y)

    def div(self, x: Operand, y: Operand) -> Operand:
        return self.e.op(f"fdiv {self.type} {{}}, {{}}", x, y)

    def neg(self, x: Operand) -> Operand:
        return self.e.op(f"fneg {self.type} {{}}", x)

    def fma(self, x: Operand, y: Operand, z: Operand) -> Operand:
        return self.intrinsic("fma", x, y, z)

    def polynomial(self, x: Operand, coefficients: Sequence[float]) -> Operand:
        """Horner's rule, the highest power first."""
        value, *rest = map(self.number, coefficients)
        for coefficient in rest:
            value = self.fma(value, x, coefficient)
        return value

    def test(self, predicate: str, x: Operand, y: Operand) -> Operand:
        """A comparison, as LLVM names it: `olt`, `une`, ..."""
        return self.e.op(f"fcmp {predicate} {self.type} {{}}, {{}}", x, y)

    def clamp(self, x: Operand, low: float, high: float) -> Operand:
        """NaN stays. Written so that each side is one instruction on x86."""
        least, greatest = self.number(low), self.number(high)
        x = self.select(self.test("ogt", least, x), least, x)
        return self.select(self.test("olt", greatest, x), greatest, x)

    def bits(self, x: Operand) -> Operand:
        return self.e.op(f"bitcast {self.type} {{}} to {self.integer}", x)

    def real(self, bits: Operand) -> Operand:
        return self.e.op(f"bitcast {self.integer} {{}} to {self.type}", bits)

    def whole_op(self, operation: str, x: Operand, y: Operand) -> Operand:
        """An operation on integers as wide as the floats."""
        return self.e.op(f"{operation} {self.integer} {{}}, {{}}", x, y)

    def to(self, dtype: DType) -> FloatLanes:
        """As many lanes of another type."""
        return FloatLanes(self.e, dtype, self.w)

    def widened(self, x: Operand) -> Operand:
        """f32 as f64."""
        return self.e.op(f"fpext {self.type} {{}} to {self.to(F64).type}", x)


_OPERATIONS: Final = {
    BinaryFn.ADD: "add", BinaryFn.SUB: "sub", BinaryFn.MUL: "mul", BinaryFn.AND: "and", BinaryFn.OR: "or",
    BinaryFn.XOR: "xor", BinaryFn.SHL: "shl",
}  # fmt: skip
_PREDICATES: Final = {
    BinaryFn.EQ: "eq", BinaryFn.NE: "ne", BinaryFn.LT: "{}lt", BinaryFn.LE: "{}le", BinaryFn.GT: "{}gt",
    BinaryFn.GE: "{}ge",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class IntegerLanes(Lanes, Integers[Operand]):
    """Writes operations on lanes of one integer type, as `backends.integers` wants them."""

    def constant(self, value: int) -> Operand:
        return literal(value, self.dtype, self.w)

    def apply(self, fn: BinaryFn, x: Operand, y: Operand, *, signed: bool | None = None) -> Operand:
        if fn in (BinaryFn.MIN, BinaryFn.MAX):
            return self.intrinsic(f"{self._sign(signed)}{fn}", x, y)
        if fn is BinaryFn.SHR:
            return self.op("ashr" if self._sign(signed) == "s" else "lshr", x, y)
        return self.op(_OPERATIONS[fn], x, y)

    def compare(self, fn: BinaryFn, x: Operand, y: Operand, *, signed: bool | None = None) -> Operand:
        return self.op(f"icmp {_PREDICATES[fn].format(self._sign(signed))}", x, y)

    def divide(self, x: Operand, y: Operand, *, up: bool = False) -> Operand:
        quotient, rest = self._truncated(x, y)
        if is_signed(self.dtype):
            # Rounding toward zero was up where something remains whose sign is not that of the divisor.
            sign, zero = self.apply(BinaryFn.XOR, rest, y), self.constant(0)
            off = self.both(self._remains(rest), self.compare(BinaryFn.GE if up else BinaryFn.LT, sign, zero))
        elif up:
            off = self._remains(rest)
        else:
            return quotient
        by_one = self.e.op(f"{'zext' if up else 'sext'} {self.logic} {{}} to {self.type}", off)
        return self.apply(BinaryFn.ADD, quotient, by_one)

    def remainder(self, x: Operand, y: Operand) -> Operand:
        _, rest = self._truncated(x, y)
        if not is_signed(self.dtype):
            return rest
        sign, zero = self.apply(BinaryFn.XOR, rest, y), self.constant(0)
        off = self.both(self._remains(rest), self.compare(BinaryFn.LT, sign, zero))
        return self.apply(BinaryFn.ADD, rest, self.select(off, y, zero))

    def repeat(self, count: int, body: Callable[..., Sequence[Operand]], *carried: Operand) -> Sequence[Operand]:
        values = [(self.type, value) for value in carried]
        return self.e.loop("0", str(count), 1, lambda _, lanes: body(*lanes), values)

    def outlined(self, name: str, body: Callable[..., Operand], x: Operand, y: Operand) -> Operand:
        return outlined(self, f"{name}.{self._sign(None)}", body, x, y)

    def op(self, operation: str, x: Operand, y: Operand) -> Operand:
        return self.e.op(f"{operation} {self.type} {{}}, {{}}", x, y)

    def _sign(self, signed: bool | None) -> str:
        """How LLVM names what depends on the sign."""
        return "s" if (is_signed(self.dtype) if signed is None else signed) else "u"

    def _remains(self, rest: Operand) -> Operand:
        return self.compare(BinaryFn.NE, rest, self.constant(0))

    def _truncated(self, x: Operand, y: Operand) -> tuple[Operand, Operand]:
        """The quotient toward zero, and what it leaves."""
        sign = self._sign(None)
        quotient = self.op(f"{sign}div", x, y)
        if whole(y) is not None or sign == "u":
            return quotient, self.op(f"{sign}rem", x, y)
        return quotient, self.op("sub", x, self.op("mul", quotient, y))
