"""Philox 4x32-10, the counter-based generator behind `tp.random`, written once for the interpreter and all targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

V = TypeVar("V")
_ROUNDS: Final = 10
_MULTIPLIERS: Final = 0xD2511F53, 0xCD9E8D57
_STEPS: Final = 0x9E3779B9, 0xBB67AE85


def philox(
    counter: tuple[V, V, V, V],
    key: Callable[[int, int], V],
    product: Callable[[V, int], tuple[V, V]],
    xor: Callable[[V, V], V],
) -> tuple[V, V, V, V]:
    """The four random words of a counter, lane by lane.

    `key(half, number)` is a half of the key with a number added, `product` the high and the low word of a product.
    """
    a, b, c, d = counter
    for turn in range(_ROUNDS):
        left, right = (key(half, turn * step) for half, step in enumerate(_STEPS))
        (high, low), (other_high, other_low) = product(a, _MULTIPLIERS[0]), product(c, _MULTIPLIERS[1])
        a, b, c, d = xor(xor(other_high, b), left), other_low, xor(xor(high, d), right), low
    return a, b, c, d
