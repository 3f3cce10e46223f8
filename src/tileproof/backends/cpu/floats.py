"""Lanes of f32 or f64 and what can be done with them: an emitter that knows its types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tileproof.language.dtypes import F64, DType

from .emission import Emitter, Operand, each, literal, register, suffix, vector

PURE: Final = "nounwind willreturn memory(none)"
"""What LLVM may know of functions that only compute."""


@dataclass(frozen=True, slots=True)
class Floats:
    """Writes operations on `w` lanes of a float type, `dtype`, and on integers of the same width."""

    e: Emitter
    dtype: DType
    w: int

    @property
    def type(self) -> str:
        return vector(register(self.dtype), self.w)

    @property
    def integer(self) -> str:
        return vector(f"i{self.dtype.bits}", self.w)

    @property
    def logic(self) -> str:
        return vector("i1", self.w)

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

    def intrinsic(self, name: str, *operands: Operand, flags: str = "") -> Operand:
        """`llvm.NAME` of operands that all have this type."""
        of = suffix(register(self.dtype), self.w)
        declared = self.e.declare(f"llvm.{name}.{of}", self.type, *[self.type] * len(operands))
        places = ", ".join([f"{self.type} {{}}"] * len(operands))
        return self.e.op(f"call {flags}{self.type} @{declared}({places})", *operands)

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

    def select(self, condition: Operand, x: Operand, y: Operand) -> Operand:
        return self.e.op(f"select {self.logic} {{}}, {self.type} {{}}, {self.type} {{}}", condition, x, y)

    def both(self, one: Operand, two: Operand) -> Operand:
        """Two conditions at once."""
        return self.e.op(f"and {self.logic} {{}}, {{}}", one, two)

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

    def to(self, dtype: DType) -> Floats:
        """As many lanes of another type."""
        return Floats(self.e, dtype, self.w)

    def widened(self, x: Operand) -> Operand:
        """f32 as f64."""
        return self.e.op(f"fpext {self.type} {{}} to {self.to(F64).type}", x)


def outlined(f: Floats, name: str, body: Callable[[Floats, list[Operand]], Operand], *operands: Operand) -> Operand:
    """A function of lanes of one type that is written once in the module, and called here."""
    full = f"tileproof.{name}.{suffix(register(f.dtype), f.w)}"

    def text() -> str:
        inner = Floats(Emitter(), f.dtype, f.w)
        names = [f"%x{number}" for number in range(len(operands))]
        result = body(inner, names)
        for needed, written in inner.e.globals.items():
            f.e.globals.setdefault(needed, written)
        parameters = ", ".join(f"{f.type} {name}" for name in names)
        return inner.e.function(f"internal {f.type} @{full}({parameters}) {PURE}", f"ret {f.type} {result}")

    f.e.define(full, text)
    places = ", ".join([f"{f.type} {{}}"] * len(operands))
    return f.e.op(f"call {f.type} @{full}({places})", *operands)
