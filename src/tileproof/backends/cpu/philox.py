"""Philox-4x32-10 in vectors, for `tp.random`; the generator is described in `interpreter.philox`."""

from __future__ import annotations

from typing import Final

from tileproof.language.dtypes import I64

from .conversions import PURE
from .emission import Emitter, Operand, each, suffix, vector
from .integers import Integers
from .lanes import splat

_ROUNDS: Final = 10
_MULTIPLIERS: Final = 0xD2511F53, 0xCD9E8D57
_STEPS: Final = 0x9E3779B9, 0xBB67AE85
_LOW: Final = 0xFFFFFFFF


def uniform(e: Emitter, seed: Operand, offset: Operand, w: int) -> Operand:
    """f32 in [0, 1) in every lane: `seed` is one i64, `offset` lanes of i64."""
    name, lanes = f"tileproof.uniform.{suffix('i64', w)}", vector("i64", w)
    e.define(name, lambda: _function(name, w))
    return e.op(f"call {vector('float', w)} @{name}(i64 {{}}, {lanes} {{}})", seed, offset)


def _function(name: str, w: int) -> str:
    e = Emitter()
    word = _first_word(e, "%seed", "%offset", w)
    integer, single = vector("i32", w), vector("float", w)
    short = e.op(f"trunc {vector('i64', w)} {{}} to {integer}", word)
    number = e.op(f"sitofp {integer} {{}} to {single}", short)
    result = e.op(f"fmul {single} {{}}, {each(w, repr(2.0**-24), 'float')}", number)
    signature = f"internal {single} @{name}(i64 %seed, {vector('i64', w)} %offset) {PURE}"
    return e.function(signature, f"ret {single} {result}")


def _first_word(e: Emitter, seed: Operand, offset: Operand, w: int) -> Operand:
    """The upper 24 bits of the first word. Words are 32 bits, kept in 64 so that products are exact."""
    scalars, n = Integers(e, I64, 1), Integers(e, I64, w)
    low, width = n.number(_LOW), n.number(32)
    key = [scalars.op("and", seed, str(_LOW)), scalars.op("lshr", seed, "32")]
    a, b, c, d = n.op("and", offset, low), n.op("lshr", offset, width), n.number(0), n.number(0)
    for _ in range(_ROUNDS):
        left, right = (splat(e, half, "i64", w) for half in key)
        first, second = n.op("mul", a, n.number(_MULTIPLIERS[0])), n.op("mul", c, n.number(_MULTIPLIERS[1]))
        a = n.op("xor", n.op("xor", n.op("lshr", second, width), b), left)
        c = n.op("xor", n.op("xor", n.op("lshr", first, width), d), right)
        b, d = n.op("and", second, low), n.op("and", first, low)
        key = [
            scalars.op("and", scalars.op("add", half, str(step)), str(_LOW))
            for half, step in zip(key, _STEPS, strict=True)
        ]
    return n.op("lshr", a, n.number(8))
