"""The part of a builder that computes with elements: integers, floats, conversions and pointers."""

from __future__ import annotations

from .checks import INTEGERS, Emitter, alike, expect, floats, flushing, integers, pointers, rounding, tile, wrong
from .types import (
    BF16,
    F4E2M1,
    F8E8M0,
    F16,
    F32,
    I1,
    I4,
    I64,
    TF32,
    Number,
    Ordering,
    Overflow,
    Pointer,
    Predicate,
    Rounding,
    Signedness,
    Tile,
    Value,
)


class Arithmetic(Emitter):
    """Operations on elements. Operands have equal shapes: nothing is broadcast."""

    # Integers wrap around unless the writer promises that they do not.

    def addi(self, x: Value, y: Value, *, overflow: Overflow = Overflow.NONE) -> Value:
        """The sum."""
        return self.one("addi", (x, y), integers("addi", x, y), {"overflow": overflow})

    def subi(self, x: Value, y: Value, *, overflow: Overflow = Overflow.NONE) -> Value:
        """The difference."""
        return self.one("subi", (x, y), integers("subi", x, y), {"overflow": overflow})

    def muli(self, x: Value, y: Value, *, overflow: Overflow = Overflow.NONE) -> Value:
        """The lower half of the product."""
        return self.one("muli", (x, y), integers("muli", x, y), {"overflow": overflow})

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

    def negi(self, x: Value, *, overflow: Overflow = Overflow.NONE) -> Value:
        """The number with its sign turned."""
        kind = integers("negi", x)
        if overflow is Overflow.NO_UNSIGNED:
            raise wrong("negi", f"overflow cannot be {overflow.name}", x)
        return self.one("negi", (x,), kind, {"overflow": overflow})

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

    def shli(self, x: Value, y: Value, *, overflow: Overflow = Overflow.NONE) -> Value:
        """The bits moved up by `y`, which must be less than the width."""
        return self.one("shli", (x, y), integers("shli", x, y), {"overflow": overflow})

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
        kind = self._converted("exti", x, element, x_in=INTEGERS | {I4}, in_=INTEGERS | {I4})
        if _bits(x) >= element.bits:
            raise wrong("exti", f"{element} must be wider", x)
        return self.one("exti", (x,), kind, {"signedness": Signedness(signed)})

    def trunci(self, x: Value, element: Number, *, overflow: Overflow = Overflow.NONE) -> Value:
        """The lower bits of the number, in a narrower type."""
        kind = self._converted("trunci", x, element, x_in=INTEGERS | {I4}, in_=INTEGERS | {I4})
        if _bits(x) <= element.bits:
            raise wrong("trunci", f"{element} must be narrower", x)
        return self.one("trunci", (x,), kind, {"overflow": overflow})

    # Floats.

    def addf(self, x: Value, y: Value, ftz: bool = False, rounding: Rounding = Rounding.NEAREST) -> Value:
        """The sum."""
        return self._rounded("addf", (x, y), ftz, rounding)

    def subf(self, x: Value, y: Value, ftz: bool = False, rounding: Rounding = Rounding.NEAREST) -> Value:
        """The difference."""
        return self._rounded("subf", (x, y), ftz, rounding)

    def mulf(self, x: Value, y: Value, ftz: bool = False, rounding: Rounding = Rounding.NEAREST) -> Value:
        """The product."""
        return self._rounded("mulf", (x, y), ftz, rounding)

    def divf(self, x: Value, y: Value, ftz: bool = False, rounding: Rounding = Rounding.NEAREST) -> Value:
        """The quotient; f32 may be approximate, or full: fast and within two units of the last place."""
        return self._rounded("divf", (x, y), ftz, rounding, Rounding.APPROXIMATE, Rounding.FULL)

    def fma(self, x: Value, y: Value, z: Value, ftz: bool = False, rounding: Rounding = Rounding.NEAREST) -> Value:
        """The product plus `z`, rounded once."""
        return self._rounded("fma", (x, y, z), ftz, rounding)

    def sqrt(self, x: Value, rounding: Rounding = Rounding.NEAREST, ftz: bool = False) -> Value:
        """The square root; f32 may be approximate."""
        return self._rounded("sqrt", (x,), ftz, rounding, Rounding.APPROXIMATE)

    def negf(self, x: Value) -> Value:
        """The number with its sign turned."""
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

    def minf(self, x: Value, y: Value, *, propagate_nan: bool, ftz: bool = False) -> Value:
        """The lesser. With a NaN, the other one, or NaN if that is to be propagated."""
        return self._chosen("minf", x, y, propagate_nan, ftz)

    def maxf(self, x: Value, y: Value, *, propagate_nan: bool, ftz: bool = False) -> Value:
        """The greater. With a NaN, the other one, or NaN if that is to be propagated."""
        return self._chosen("maxf", x, y, propagate_nan, ftz)

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

    def exp(self, x: Value, rounding: Rounding = Rounding.FULL) -> Value:
        """e to the power of `x`; f32 may be approximate."""
        return self._elementary("exp", x, rounding)

    def tanh(self, x: Value, rounding: Rounding = Rounding.FULL) -> Value:
        """The hyperbolic tangent; f32 may be approximate."""
        return self._elementary("tanh", x, rounding)

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
        if element == F8E8M0:
            raise wrong("itof", f"there is no conversion to {element}", x)
        return self.one("itof", (x,), kind, {"signedness": Signedness(signed), "rounding": Rounding.NEAREST})

    def ftoi(self, x: Value, element: Number, *, signed: bool, saturating: bool = False) -> Value:
        """The float cut to an integer. What does not fit is undefined, or clamped (NaN to zero) if saturating."""
        kind = self._converted("ftoi", x, element, in_=INTEGERS)
        sign = Signedness(signed)
        attributes = {"signedness": sign, "rounding": Rounding.INTEGER, "saturating": saturating}
        return self.one("ftoi", (x,), kind, attributes)

    def ftof(self, x: Value, element: Number, rounding: Rounding = Rounding.NEAREST) -> Value:
        """The float in another float type; from f32 to f16, bf16 and tf32 it may be cut off instead of rounded."""
        kind, source = self._converted("ftof", x, element), tile("ftof", x).element
        if source == element:
            raise wrong("ftof", f"the type must differ from {element}", x)
        cut = source == F32 and element in (F16, BF16, TF32)
        allowed = (Rounding.NEAREST, Rounding.ZERO) if cut else (Rounding.NEAREST,)
        if rounding not in ((Rounding.ZERO, Rounding.UP) if element == F8E8M0 else allowed):
            raise wrong("ftof", f"there is no rounding {rounding.name} to {element}", x)
        return self.one("ftof", (x,), kind, {"rounding": rounding})

    def bitcast(self, x: Value, element: Number) -> Value:
        """The same bits as another type of equal width."""
        kind = tile("bitcast", x)
        if kind.element == element:
            return x
        if not isinstance(kind.element, Number) or kind.element.bits != element.bits or element.bits == 4:
            raise wrong("bitcast", f"the operand must be numbers of {element.bits} bits", x)
        return self.one("bitcast", (x,), Tile(element, kind.shape))

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """`yes` where the condition holds, and `no` elsewhere."""
        kind = alike("select", yes, no)
        if kind.element in (I4, F4E2M1):
            raise wrong("select", "elements must fill whole bytes", yes)
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

    def _rounded(self, op: str, values: tuple[Value, ...], ftz: bool, mode: Rounding, *more: Rounding) -> Value:
        kind = floats(op, *values)
        rounding(op, kind, mode, more)
        flushing(op, kind, ftz)
        return self.one(op, values, kind, {"rounding": mode, "ftz": ftz})

    def _chosen(self, op: str, x: Value, y: Value, propagate_nan: bool, ftz: bool) -> Value:
        kind = floats(op, x, y)
        flushing(op, kind, ftz)
        return self.one(op, (x, y), kind, {"propagate_nan": propagate_nan, "ftz": ftz})

    def _elementary(self, op: str, x: Value, mode: Rounding) -> Value:
        kind = floats(op, x)
        if mode is not Rounding.FULL and (mode is not Rounding.APPROXIMATE or kind.element != F32):
            raise wrong(op, f"there is no rounding {mode.name}", x)
        return self.one(op, (x,), kind, {"rounding": mode})

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
