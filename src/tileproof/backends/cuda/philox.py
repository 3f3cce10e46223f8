"""Philox-4x32-10 for `tp.random`; the generator is described in `interpreter.philox`. Words are 32 bits here."""

from __future__ import annotations

from typing import Final

from .splats import like, shape_of, spread
from .tileir.builder import Builder
from .tileir.types import F32, I32, Value

_ROUNDS: Final = 10
_MULTIPLIERS: Final = 0xD2511F53, 0xCD9E8D57
_STEPS: Final = 0x9E3779B9, 0xBB67AE85


def uniform(b: Builder, seed: Value, offset: Value) -> Value:
    """f32 in [0, 1) in every lane: `seed` is one i64, `offset` a tile of i64."""
    left, right = _halves(b, seed)
    a, second = _halves(b, offset)
    c = d = like(b, a, 0)
    shape = shape_of(a)
    multipliers = [like(b, a, number) for number in _MULTIPLIERS]
    for turn in range(_ROUNDS):
        # The key is the same in all lanes, so its steps are taken on scalars.
        keys = [
            spread(b, b.addi(key, like(b, key, turn * step)) if turn else key, shape)
            for key, step in zip((left, right), _STEPS, strict=True)
        ]
        first, other = multipliers
        highs, lows = (b.mulhii(a, first), b.mulhii(c, other)), (b.muli(a, first), b.muli(c, other))
        a, second = b.xori(b.xori(highs[1], second), keys[0]), lows[1]
        c, d = b.xori(b.xori(highs[0], d), keys[1]), lows[0]
    number = b.itof(b.shri(a, like(b, a, 8), signed=False), F32, signed=False)
    return b.mulf(number, like(b, number, 2.0**-24))


def _halves(b: Builder, number: Value) -> tuple[Value, Value]:
    """The low and the high 32 bits."""
    high = b.shri(number, like(b, number, 32), signed=False)
    return b.trunci(number, I32), b.trunci(high, I32)
