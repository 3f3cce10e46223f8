"""Philox-4x32-10, the counter-based generator behind `tp.random` (Salmon et al., "Parallel random numbers: as easy as
1, 2, 3", 2011): a number is a function of its counter and a key, whoever computes it and when."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.uint64]
"""32-bit words, kept in 64 bits so that products are exact."""

_ROUNDS: Final = 10
_MULTIPLIERS: Final = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_STEPS: Final = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW: Final = np.uint64(0xFFFFFFFF)
_WIDTH: Final = np.uint64(32)


def philox(counter: tuple[Words, Words, Words, Words], key: tuple[Words, Words]) -> tuple[Words, Words, Words, Words]:
    """The four words of a counter under a key, element by element."""
    a, b, c, d = counter
    left, right = key
    for _ in range(_ROUNDS):
        first, second = a * _MULTIPLIERS[0], c * _MULTIPLIERS[1]
        a, b, c, d = second >> _WIDTH ^ b ^ left, second & _LOW, first >> _WIDTH ^ d ^ right, first & _LOW
        left, right = left + _STEPS[0] & _LOW, right + _STEPS[1] & _LOW
    return a, b, c, d


def uniform(seed: npt.NDArray[np.int64], offset: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """f32 in [0, 1): the upper 24 bits of the first word, the offset as the counter, the seed as the key."""
    low, high = _halves(offset)
    zero = np.zeros_like(low)
    word, *_ = philox((low, high, zero, zero), _halves(seed))
    return (word >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24)


def _halves(number: npt.NDArray[Any]) -> tuple[Words, Words]:
    """The low and the high 32 bits of a two's complement number."""
    bits = number.astype(np.int64).view(np.uint64)
    return bits & _LOW, bits >> _WIDTH
