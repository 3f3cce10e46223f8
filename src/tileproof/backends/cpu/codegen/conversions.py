"""Conversions between element types, and between the bits in memory and the form in registers.

A conversion rounds once.
From f64 or long integers to less than f32 the value first goes to f32 *to odd*: cut, its last bit set where something
was lost. Rounding that to nearest gives what rounding the original would.
"""

from __future__ import annotations

import math
from typing import Final

from tileproof.backends.integers import bounds, clamped, rounded_bits, with_sticky_bit
from tileproof.language.dtypes import BF16, BOOL, F8E4M3, F8E5M2, F16, F32, F64, TF32, U32, DType

from .emitter import FORMATS, Emitter, Operand, each, literal, memory, register, suffix, vector
from .typed_lanes import FloatLanes, IntegerLanes

_ENDLESS: Final = 65520.0
"""From here on numbers round to infinity."""


def software_f16() -> dict[str, str]:
    """The functions by name, for a module of a processor without `has_f16c`."""
    functions = {"__truncsfhf2": _to_half(), "__extendhfsf2": _from_half()}
    needed = FloatLanes(Emitter(), F32, 1)
    needed.intrinsic("fabs", "0.0")
    return {**needed.e.globals, **functions}


def _to_half() -> str:
    """To nearest even: adding a power of two whose last bit is the step wanted rounds to that step."""
    e = Emitter()
    f = FloatLanes(e, F32, 1)
    form, bits, size = FORMATS[F16], f.bits("%x"), f.intrinsic("fabs", "%x")
    least = f.whole((form.step + form.precision - 1 + 127) << 23)
    exponent = f.whole_op("and", f.bits(size), f.whole(0x7F800000))
    small = e.op(f"icmp ult i32 {{}}, {least}", exponent)
    exponent = e.op(f"select i1 {{}}, i32 {least}, i32 {{}}", small, exponent)
    magic = f.real(f.whole_op("add", exponent, f.whole((24 - form.precision) << 23)))
    near = f.sub(f.add(size, magic), magic)
    normal = f.whole_op("lshr", f.whole_op("sub", f.bits(near), f.whole(112 << 23)), f.whole(13))
    denormal = e.op("fptosi float {} to i32", f.clamp(f.mul(near, f.number(2.0**24)), 0, 2048))
    value = _select(e, f.test("olt", near, f.number(2.0**-14)), denormal, normal)
    value = _select(e, f.test("oge", size, f.number(_ENDLESS)), f.whole(0x7C00), value)
    value = _select(e, f.test("uno", "%x", f.number(0)), f.whole(0x7E00), value)
    sign = f.whole_op("and", f.whole_op("lshr", bits, f.whole(16)), f.whole(0x8000))
    short = e.op("trunc i32 {} to i16", f.whole_op("or", value, sign))
    result = e.op("bitcast i16 {} to half", short)
    return e.function("internal half @__truncsfhf2(float %x) nounwind", f"ret half {result}")


def _from_half() -> str:
    """The bits of f16 in the place they have in f32 are 2^112 times too small."""
    e = Emitter()
    f = FloatLanes(e, F32, 1)
    bits = e.op("zext i16 {} to i32", e.op("bitcast half %x to i16"))
    placed = f.whole_op("shl", f.whole_op("and", bits, f.whole(0x7FFF)), f.whole(13))
    value = f.bits(f.mul(f.real(placed), f.number(2.0**112)))
    endless = e.op("icmp uge i32 {}, {}", placed, f.whole(0x7C00 << 13))
    value = _select(e, endless, f.whole_op("or", placed, f.whole(0x7F800000)), value)
    sign = f.whole_op("shl", f.whole_op("and", bits, f.whole(0x8000)), f.whole(16))
    result = f.real(f.whole_op("or", value, sign))
    return e.function("internal float @__extendhfsf2(half %x) nounwind", f"ret float {result}")


def _select(e: Emitter, condition: Operand, x: Operand, y: Operand) -> Operand:
    return e.op("select i1 {}, i32 {}, i32 {}", condition, x, y)


def cast(e: Emitter, x: Operand, source: DType, target: DType, w: int) -> Operand:
    """Conversion of value."""
    here = vector(register(source), w)
    if source == target:
        return x
    if target == BOOL:
        zero = literal(0, source, w)
        return e.op(f"{'fcmp une' if source.is_float else 'icmp ne'} {here} {{}}, {zero}", x)
    if target.is_float:
        return _float_to_float(e, x, source, target, w) if source.is_float else _to_float(e, x, source, target, w)
    if source.is_float:
        return _float_to_integer(e, x, source, target, w)
    if source == BOOL:
        return e.op(f"zext {here} {{}} to {vector(register(target), w)}", x)
    return _integer_to_integer(e, x, source, target, w)


def bitcast(e: Emitter, x: Operand, source: DType, target: DType, w: int) -> Operand:
    """The same bits as another type of the same width. Which NaN a NaN is may change."""
    bits = pack(e, x, source, w)
    here, there = memory(source), memory(target)
    if here != there:
        bits = e.op(f"bitcast {vector(here, w)} {{}} to {vector(there, w)}", bits)
    return unpack(e, bits, target, w)


def unpack(e: Emitter, bits: Operand, dtype: DType, w: int) -> Operand:
    """What was read from memory, in the form of registers."""
    if dtype == BOOL:
        return e.op(f"icmp ne {vector('i8', w)} {{}}, {each(w, '0', 'i8')}", bits)
    if dtype == F16:
        return e.op(f"fpext {vector('half', w)} {{}} to {vector('float', w)}", bits)
    if dtype == BF16:
        wide = e.op(f"zext {vector('i16', w)} {{}} to {vector('i32', w)}", bits)
        high = e.op(f"shl {vector('i32', w)} {{}}, {each(w, '16', 'i32')}", wide)
        return FloatLanes(e, F32, w).real(high)
    if dtype == F8E5M2:
        wide = e.op(f"zext {vector('i8', w)} {{}} to {vector('i16', w)}", bits)
        return _half_to_float(e, e.op(f"shl {vector('i16', w)} {{}}, {each(w, '8', 'i16')}", wide), w)
    return _unpack_e4m3(e, bits, w) if dtype == F8E4M3 else bits


def pack(e: Emitter, x: Operand, dtype: DType, w: int) -> Operand:
    """What is written to memory, from the form of registers; `x` is a value of `dtype`."""
    if dtype == BOOL:
        return e.op(f"zext {vector('i1', w)} {{}} to {vector('i8', w)}", x)
    if dtype == F16:
        return e.op(f"fptrunc {vector('float', w)} {{}} to {vector('half', w)}", x)
    if dtype == BF16:
        high = e.op(f"lshr {vector('i32', w)} {{}}, {each(w, '16', 'i32')}", FloatLanes(e, F32, w).bits(x))
        return e.op(f"trunc {vector('i32', w)} {{}} to {vector('i16', w)}", high)
    if dtype == F8E5M2:
        high = e.op(f"lshr {vector('i16', w)} {{}}, {each(w, '8', 'i16')}", _float_to_half(e, x, w))
        return e.op(f"trunc {vector('i16', w)} {{}} to {vector('i8', w)}", high)
    return _pack_e4m3(e, x, w) if dtype == F8E4M3 else x


def narrow(e: Emitter, x: Operand, dtype: DType, w: int) -> Operand:
    """f32, or f64 for f64, rounded to a type that is computed in it. The result stays in register form."""
    if dtype in (F32, F64):
        return x
    if dtype == F16:
        return unpack(e, pack(e, x, F16, w), F16, w)
    return _drop_bits(e, x, dtype, w) if dtype in (BF16, TF32) else _round_f8(e, x, dtype, w)


# Floats.


def _float_to_float(e: Emitter, x: Operand, source: DType, target: DType, w: int) -> Operand:
    single, double = vector("float", w), vector("double", w)
    if target == F64:
        return e.op(f"fpext {single} {{}} to {double}", x)
    if source == F64:
        if target == F32:
            return e.op(f"fptrunc {double} {{}} to {single}", x)
        return narrow(e, _single_to_odd(e, x, w), target, w)
    return x if FORMATS[target].holds(FORMATS[source]) else narrow(e, x, target, w)


def _single_to_odd(e: Emitter, x: Operand, w: int) -> Operand:
    """f64 as f32; where inexact, cut and with the last bit set."""
    f, d = FloatLanes(e, F32, w), FloatLanes(e, F64, w)
    nearest = e.op(f"fptrunc {d.type} {{}} to {f.type}", x)
    back = f.widened(nearest)
    over = d.test("ogt", d.intrinsic("fabs", back), d.intrinsic("fabs", x))
    less = e.op(f"sext {f.logic} {{}} to {f.integer}", over)
    odd = e.op(f"zext {f.logic} {{}} to {f.integer}", d.test("une", back, x))
    return f.real(f.whole_op("or", f.whole_op("add", f.bits(nearest), less), odd))


def _drop_bits(e: Emitter, x: Operand, dtype: DType, w: int) -> Operand:
    """f32 to nearest even with a shorter significand and the same exponents; all NaN become one."""
    f = FloatLanes(e, F32, w)
    bits = rounded_bits(IntegerLanes(e, U32, w), f.bits(x), FORMATS[F32].precision - FORMATS[dtype].precision)
    return f.select(f.test("uno", x, f.number(0)), f.number(math.nan), f.real(bits))


def _round_f8(e: Emitter, x: Operand, dtype: DType, w: int) -> Operand:
    """f32 to nearest even, saturated.

    Adding a power of two whose last bit is the step wanted rounds to that step; the power follows from the exponent.
    """
    f, form = FloatLanes(e, F32, w), FORMATS[dtype]
    size, largest = f.intrinsic("fabs", x), f.number(form.largest)
    size = f.select(f.test("olt", largest, size), largest, size)
    exponent = f.whole_op("and", f.bits(size), f.whole(0x7F800000))
    least = f.whole((form.step + form.precision - 1 + 127) << 23)
    greater = e.declare(f"llvm.umax.{suffix('i32', w)}", f.integer, f.integer, f.integer)
    exponent = e.op(f"call {f.integer} @{greater}({f.integer} {{}}, {f.integer} {least})", exponent)
    magic = f.real(f.whole_op("add", exponent, f.whole((24 - form.precision) << 23)))
    return f.intrinsic("copysign", f.sub(f.add(size, magic), magic), x)


def _unpack_e4m3(e: Emitter, bits: Operand, w: int) -> Operand:
    """The same bits in the place they have in f16 are 256 times too small. All ones but the sign is NaN."""
    whole = vector("i16", w)
    wide = e.op(f"sext {vector('i8', w)} {{}} to {whole}", bits)
    moved = e.op(f"shl {whole} {{}}, {each(w, '7', 'i16')}", wide)
    placed = e.op(f"and {whole} {{}}, {each(w, str(0xBF80 - 2**16), 'i16')}", moved)
    size = e.op(f"and {whole} {{}}, {each(w, str(0x3F80), 'i16')}", moved)
    nan = e.op(f"icmp eq {whole} {{}}, {each(w, str(0x3F80), 'i16')}", size)
    ones = e.op(f"sext {vector('i1', w)} {{}} to {whole}", nan)
    small = _half_to_float(e, e.op(f"or {whole} {{}}, {{}}", placed, ones), w)
    f = FloatLanes(e, F32, w)
    return f.mul(small, f.number(256))


def _pack_e4m3(e: Emitter, x: Operand, w: int) -> Operand:
    """The way of `_unpack_e4m3` back; 480 stands where NaN does."""
    f, whole = FloatLanes(e, F32, w), vector("i16", w)
    number = f.select(f.test("uno", x, f.number(0)), f.number(480), x)
    half = _float_to_half(e, f.mul(number, f.number(2.0**-8)), w)
    low = e.op(f"lshr {whole} {{}}, {each(w, '7', 'i16')}", half)
    sign = e.op(f"lshr {whole} {{}}, {each(w, '8', 'i16')}", half)
    sign = e.op(f"and {whole} {{}}, {each(w, '128', 'i16')}", sign)
    size = e.op(f"and {whole} {{}}, {each(w, '127', 'i16')}", low)
    return e.op(f"trunc {whole} {{}} to {vector('i8', w)}", e.op(f"or {whole} {{}}, {{}}", sign, size))


def _half_to_float(e: Emitter, bits: Operand, w: int) -> Operand:
    half = e.op(f"bitcast {vector('i16', w)} {{}} to {vector('half', w)}", bits)
    return unpack(e, half, F16, w)


def _float_to_half(e: Emitter, x: Operand, w: int) -> Operand:
    return e.op(f"bitcast {vector('half', w)} {{}} to {vector('i16', w)}", pack(e, x, F16, w))


# Integers.


def _to_float(e: Emitter, x: Operand, source: DType, target: DType, w: int) -> Operand:
    """Integers and bools: straight where f32 or f64 hold them or are asked for, else through f64 and f32 to odd."""
    through = target if target in (F32, F64) else F32 if source.bits <= 16 else F64
    if source.bits == 64 and target not in (F32, F64):
        x = with_sticky_bit(IntegerLanes(e, source, w), x, FORMATS[F64].precision)
    there = vector(register(through), w)
    number = e.op(f"{_sign(source)}itofp {vector(register(source), w)} {{}} to {there}", x)
    return number if through == target else _float_to_float(e, number, through, target, w)


def _float_to_integer(e: Emitter, x: Operand, source: DType, target: DType, w: int) -> Operand:
    """Toward zero, saturated, NaN to 0. LLVM has this as one operation, which on x86 it does lane by lane.

    The least integer is a float; the greatest may lie between two, and then stands for all above the lower of them.
    """
    f = FloatLanes(e, F64 if source == F64 else F32, w)
    least, greatest = bounds(target)
    rounds = greatest.bit_length() > FORMATS[f.dtype].precision
    high = greatest + 1 - 2 ** (greatest.bit_length() - FORMATS[f.dtype].precision) if rounds else greatest
    number = f.select(f.test("ord", x, f.number(0)), x, f.number(0))
    wide = vector(f"i{max(target.bits, 32)}", w)
    way = "s" if target.bits < 32 else _sign(target)
    result = e.op(f"fpto{way}i {f.type} {{}} to {wide}", f.clamp(number, least, high))
    if target.bits < 32:
        result = e.op(f"trunc {wide} {{}} to {vector(register(target), w)}", result)
    if not rounds:
        return result
    over = f.test("ogt", x, f.number(high))
    return e.op(f"select {f.logic} {{}}, {wide} {literal(greatest, target, w)}, {wide} {{}}", over, result)


def _integer_to_integer(e: Emitter, x: Operand, source: DType, target: DType, w: int) -> Operand:
    """Saturates."""
    here, there = vector(register(source), w), vector(register(target), w)
    x = clamped(IntegerLanes(e, source, w), x, target)
    if source.bits == target.bits:
        return x
    way = "trunc" if source.bits > target.bits else "zext" if source.kind == "uint" else "sext"
    return e.op(f"{way} {here} {{}} to {there}", x)


def _sign(dtype: DType) -> str:
    """How LLVM names what depends on the sign."""
    return "u" if dtype.kind in ("uint", "bool") else "s"
