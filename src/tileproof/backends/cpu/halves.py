"""f16 on processors that do not convert it: the functions LLVM then calls, which no library here is sure to have."""

from __future__ import annotations

from typing import Final

from tileproof.language.dtypes import F16, F32

from .emission import FORMATS, Emitter, Operand
from .floats import Floats

_ENDLESS: Final = 65520.0
"""From here on numbers round to infinity."""


def software_f16() -> dict[str, str]:
    """The functions by name, for a module of a processor without `has_f16c`."""
    texts = {"__truncsfhf2": _to_half(), "__extendhfsf2": _from_half()}
    needed = Floats(Emitter(), F32, 1)
    needed.intrinsic("fabs", "0.0")
    return {**needed.e.globals, **texts}


def _to_half() -> str:
    """To nearest even: adding a power of two whose last bit is the step wanted rounds to that step."""
    e = Emitter()
    f = Floats(e, F32, 1)
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
    f = Floats(e, F32, 1)
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
