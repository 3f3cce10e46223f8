"""The part of a builder that computes with elements: integers, floats, conversions and pointers."""

from __future__ import annotations

from typing import Final

from .builder_checks import INTEGERS, Emitter, alike, expect, floats, flushing, integers, pointers, tile, wrong
from .types import F32, I1, I64, Number, Ordering, Overflow, Pointer, Predicate, Rounding, Signedness, Tile, Value

_WRAPS: Final = {"overflow": Overflow.NONE}
_PROPAGATES: Final = {"propagate_nan": True, "ftz": False}


class Arithmetic(Emitter):
    """Operations on elements. Operands have equal shapes: nothing is broadcast."""

    # Integers wrap around.

    def addi(self, x: Value, y: Value) -> Value:
        """The sum."""
        return self.one("addi", (x, y), integers("addi", x, y), _WRAPS)

    def subi(self, x: Value, y: Value) -> Value:
        """The difference."""
        return self.one("subi", (x, y), integers("subi", x, y), _WRAPS)

    def muli(self, x: Value, y: Value) -> Value:
        """The lower half of the product."""
        return self.one("muli", (x, y), integers("muli", x, y), _WRAPS)

    def mulhii(self, x: Value, y: Value) -> Value:
        """The upper half of the product, of operands read as unsigned."""
        return self.one("mulhii", (x, y), integers("mulhii", x, y))

    def divi(self, x: Value, y: Value, *, signed: bool, rounding: Rounding = Rounding.ZERO) -> Value:
        """The quotient. A divisor of zero, and the lowest number by -1, are undefined."""
        kind = integers("divi", x, y)
        allowed = (Rounding.ZERO, Rounding.UP, Rounding.DOWN) if signed else (Rounding.ZERO, Rounding.UP)
        if rounding not in allowed:
            raise wrong("divi", f"there is no {'signed' if signed else 'unsigned'} rounding {rounding.name}", x, y)
        return self.one("divi", (x, y), kind, {"signedness": Signedness(signed), "rounding": rounding})

    def remi(self, x: Value, y: Value, *, signed: bool) -> Value:
        """The remainder, with the sign of `x`. It is undefined where the quotient is."""
        return self.one("remi", (x, y), integers("remi", x, y), {"signedness": Signedness(signed)})

    def negi(self, x: Value) -> Value:
        """The number negated."""
        return self.one("negi", (x,), integers("negi", x), _WRAPS)

    def absi(self, x: Value) -> Value:
        """The magnitude; that of the lowest number is itself."""
        return self.one("absi", (x,), integers("absi", x))

    def mini(self, x: Value, y: Value, *, signed: bool) -> Value:
        """The lesser."""
        return self.one("mini", (x, y), integers("mini", x, y), {"signedness": Signedness(signed)})

    def maxi(self, x: Value, y: Value, *, signed: bool) -> Value:
        """The greater."""
        return self.one("maxi", (x, y), integers("maxi", x, y), {"signedness": Signedness(signed)})

    def andi(self, x: Value, y: Value) -> Value:
        """The bits that both have."""
        return self.one("andi", (x, y), integers("andi", x, y))

    def ori(self, x: Value, y: Value) -> Value:
        """The bits that either has."""
        return self.one("ori", (x, y), integers("ori", x, y))

    def xori(self, x: Value, y: Value) -> Value:
        """The bits that exactly one has."""
        return self.one("xori", (x, y), integers("xori", x, y))

    def shli(self, x: Value, y: Value) -> Value:
        """The bits moved up by `y`, which must be less than the width."""
        return self.one("shli", (x, y), integers("shli", x, y), _WRAPS)

    def shri(self, x: Value, y: Value, *, signed: bool) -> Value:
        """The bits moved down by `y`, which must be less than the width; signed fills with the sign."""
        return self.one("shri", (x, y), integers("shri", x, y), {"signedness": Signedness(signed)})

    def cmpi(self, predicate: Predicate, x: Value, y: Value, *, signed: bool) -> Value:
        """Whether the predicate holds, as i1."""
        kind = integers("cmpi", x, y)
        attributes = {"predicate": predicate, "signedness": Signedness(signed)}
        return self.one("cmpi", (x, y), Tile(I1, kind.shape), attributes)

    def exti(self, x: Value, element: Number, *, signed: bool) -> Value:
        """The number in a wider type."""
        kind = self._converted("exti", x, element, x_in=INTEGERS, in_=INTEGERS)
        if _bits(x) >= element.bits:
            raise wrong("exti", f"{element} must be wider", x)
        return self.one("exti", (x,), kind, {"signedness": Signedness(signed)})

    def trunci(self, x: Value, element: Number) -> Value:
        """The lower bits of the number, in a narrower type."""
        kind = self._converted("trunci", x, element, x_in=INTEGERS, in_=INTEGERS)
        if _bits(x) <= element.bits:
            raise wrong("trunci", f"{element} must be narrower", x)
        return self.one("trunci", (x,), kind, _WRAPS)

    # Floats.

    def addf(self, x: Value, y: Value) -> Value:
        """The sum."""
        return self._rounded("addf", (x, y))

    def subf(self, x: Value, y: Value) -> Value:
        """The difference."""
        return self._rounded("subf", (x, y))

    def mulf(self, x: Value, y: Value) -> Value:
        """The product."""
        return self._rounded("mulf", (x, y))

    def divf(self, x: Value, y: Value, ftz: bool = False, rounding: Rounding = Rounding.NEAREST) -> Value:
        """The quotient; f32 may be approximate, or full: fast and within two units of the last place."""
        return self._rounded("divf", (x, y), ftz, rounding, Rounding.APPROXIMATE, Rounding.FULL)

    def fma(self, x: Value, y: Value, z: Value) -> Value:
        """The product plus `z`, rounded once."""
        return self._rounded("fma", (x, y, z))

    def sqrt(self, x: Value, rounding: Rounding = Rounding.NEAREST, ftz: bool = False) -> Value:
        """The square root; f32 may be approximate."""
        return self._rounded("sqrt", (x,), ftz, rounding, Rounding.APPROXIMATE)

    def negf(self, x: Value) -> Value:
        """The number negated."""
        return self.one("negf", (x,), floats("negf", x))

    def absf(self, x: Value) -> Value:
        """The magnitude."""
        return self.one("absf", (x,), floats("absf", x))

    def ceil(self, x: Value) -> Value:
        """The least integer that is not below."""
        return self.one("ceil", (x,), floats("ceil", x))

    def floor(self, x: Value) -> Value:
        """The greatest integer that is not above."""
        return self.one("floor", (x,), floats("floor", x))

    def minf(self, x: Value, y: Value) -> Value:
        """The lesser; NaN if either is."""
        return self.one("minf", (x, y), floats("minf", x, y), _PROPAGATES)

    def maxf(self, x: Value, y: Value) -> Value:
        """The greater; NaN if either is."""
        return self.one("maxf", (x, y), floats("maxf", x, y), _PROPAGATES)

    def rsqrt(self, x: Value, ftz: bool = False) -> Value:
        """One over the square root."""
        kind = floats("rsqrt", x)
        flushing("rsqrt", kind, ftz)
        return self.one("rsqrt", (x,), kind, {"ftz": ftz})

    def exp2(self, x: Value, ftz: bool = False) -> Value:
        """Two to the power of `x`."""
        kind = floats("exp2", x)
        flushing("exp2", kind, ftz)
        return self.one("exp2", (x,), kind, {"ftz": ftz})

    def exp(self, x: Value) -> Value:
        """e to the power of `x`."""
        return self.one("exp", (x,), floats("exp", x), {"rounding": Rounding.FULL})

    def tanh(self, x: Value, rounding: Rounding = Rounding.FULL) -> Value:
        """The hyperbolic tangent; f32 may be approximate."""
        kind = floats("tanh", x)
        if rounding is not Rounding.FULL and (rounding is not Rounding.APPROXIMATE or kind.element != F32):
            raise wrong("tanh", f"there is no rounding {rounding.name}", x)
        return self.one("tanh", (x,), kind, {"rounding": rounding})

    def log(self, x: Value) -> Value:
        """The natural logarithm."""
        return self.one("log", (x,), floats("log", x))

    def log2(self, x: Value) -> Value:
        """The logarithm to base two."""
        return self.one("log2", (x,), floats("log2", x))

    def sin(self, x: Value) -> Value:
        """The sine."""
        return self.one("sin", (x,), floats("sin", x))

    def cos(self, x: Value) -> Value:
        """The cosine."""
        return self.one("cos", (x,), floats("cos", x))

    def pow(self, x: Value, y: Value) -> Value:
        """`x` to the power of `y`."""
        return self.one("pow", (x, y), floats("pow", x, y))

    def cmpf(self, predicate: Predicate, x: Value, y: Value, ordered: bool = True) -> Value:
        """Whether the predicate holds, as i1; with a NaN, false if ordered and true if not."""
        kind = floats("cmpf", x, y)
        attributes = {"predicate": predicate, "ordering": Ordering(ordered)}
        return self.one("cmpf", (x, y), Tile(I1, kind.shape), attributes)

    # Conversions.

    def itof(self, x: Value, element: Number, *, signed: bool) -> Value:
        """The integer as a float, rounded to the nearest."""
        kind = self._converted("itof", x, element, x_in=INTEGERS)
        return self.one("itof", (x,), kind, {"signedness": Signedness(signed), "rounding": Rounding.NEAREST})

    def ftoi(self, x: Value, element: Number, *, signed: bool, saturating: bool = False) -> Value:
        """The float cut to an integer. What does not fit is undefined, or clamped (NaN to zero) if saturating."""
        kind = self._converted("ftoi", x, element, in_=INTEGERS)
        sign = Signedness(signed)
        attributes = {"signedness": sign, "rounding": Rounding.INTEGER, "saturating": saturating}
        return self.one("ftoi", (x,), kind, attributes)

    def ftof(self, x: Value, element: Number) -> Value:
        """The float in another float type, rounded to the nearest."""
        kind = self._converted("ftof", x, element)
        if tile("ftof", x).element == element:
            raise wrong("ftof", f"the type must differ from {element}", x)
        return self.one("ftof", (x,), kind, {"rounding": Rounding.NEAREST})

    def bitcast(self, x: Value, element: Number) -> Value:
        """The same bits as another type of equal width."""
        kind = tile("bitcast", x)
        if kind.element == element:
            return x
        if not isinstance(kind.element, Number) or kind.element.bits != element.bits:
            raise wrong("bitcast", f"the operand must be numbers of {element.bits} bits", x)
        return self.one("bitcast", (x,), Tile(element, kind.shape))

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """`yes` where the condition holds, and `no` elsewhere."""
        kind = alike("select", yes, no)
        expect("select", "the condition", condition, Tile(I1, kind.shape))
        return self.one("select", (condition, yes, no), kind)

    # Pointers.

    def offset(self, pointer: Value, by: Value) -> Value:
        """The pointers moved by a signed number of elements."""
        kind = pointers("offset", pointer)[0]
        if integers("offset", by).shape != kind.shape:
            raise wrong("offset", "the operands must have one shape", pointer, by)
        return self.one("offset", (pointer, by), kind)

    def int_to_ptr(self, x: Value, pointer: Pointer) -> Value:
        """Addresses as pointers."""
        kind = tile("int_to_ptr", x)
        expect("int_to_ptr", "the operand", x, Tile(I64, kind.shape))
        return self.one("int_to_ptr", (x,), Tile(pointer, kind.shape))

    def ptr_to_int(self, x: Value) -> Value:
        """Pointers as addresses."""
        return self.one("ptr_to_int", (x,), Tile(I64, pointers("ptr_to_int", x)[0].shape))

    # What several of the above share.

    def _rounded(
        self, op: str, values: tuple[Value, ...], ftz: bool = False, mode: Rounding = Rounding.NEAREST, *more: Rounding
    ) -> Value:
        kind = floats(op, *values)
        if mode is not Rounding.NEAREST and (mode not in more or kind.element != F32):
            raise wrong(op, f"there is no rounding {mode.name}", kind)
        flushing(op, kind, ftz)
        return self.one(op, values, kind, {"rounding": mode, "ftz": ftz})

    def _converted(
        self,
        op: str,
        x: Value,
        element: Number,
        *,
        x_in: frozenset[Number] | None = None,
        in_: frozenset[Number] | None = None,
    ) -> Tile:
        """The type of a conversion's result; without a set of types, any float will do."""
        kind = tile(op, x)
        source = kind.element
        if not isinstance(source, Number) or not (source in x_in if x_in else source.is_float):
            raise wrong(op, f"the operand must be {'integers' if x_in else 'floats'}", x)
        if not (element in in_ if in_ else element.is_float):
            raise wrong(op, f"the result must be {'integers' if in_ else 'floats'}", element)
        return Tile(element, kind.shape)


def _bits(x: Value) -> int:
    element = tile("conversion", x).element
    return element.bits if isinstance(element, Number) else 64
