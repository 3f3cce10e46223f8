"""Numbers to try operations on: the ends and corners of every element type, and random ones between."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tileproof.backends.interpreter import semantics
from tileproof.language.dtypes import BOOL, F32, F64, DType

Array = npt.NDArray[Any]
_FLOATS = (
    *(0.0, 1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 7.0, 9.0, 100.0, 0.1, 1 / 3, 1e-3, 448.0, 464.0, 65504.0, 65519.0, 65520.0),
    *(57344.0, 61440.0, 2.0**-6, 2.0**-9, 2.0**-10, 2.0**-14, 2.0**-16, 2.0**-24, 2.0**-25, 2.0**-126, 2.0**-149),
    *(127.0, 128.0, 255.0, 256.0, 32767.5, 2.0**31, 2.0**32, 2.0**63, 2.0**64, 3e38, float("inf"), float("nan")),
)
_WHOLE = (0, 1, 2, 3, 4, 5, 7, 8, 10, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 32767, 32768, 65535)


@cache
def corners(dtype: DType) -> Array:
    """Values where something changes."""
    if dtype == BOOL:
        return np.array([False, True])
    if dtype.is_float:
        numbers = np.array([*_FLOATS, *(-x for x in _FLOATS)])
        return semantics.cast(numbers, F64, dtype)
    limits = np.iinfo(semantics.storage(dtype))
    exact = [sign * 2**53 + more for sign in (-1, 1) for more in (-1, 0, 1)]
    far = [limits.min, limits.min + 1, limits.max - 1, limits.max, *exact]
    inside = {x for x in (*_WHOLE, *(-x for x in _WHOLE), *far) if limits.min <= x <= limits.max}
    return np.array(sorted(inside), semantics.storage(dtype))


@cache
def anything(dtype: DType, count: int = 20000) -> Array:
    """Values of all magnitudes, with the corners; all there are where they are few."""
    kept = semantics.storage(dtype)
    if dtype == BOOL:
        return corners(dtype)
    if dtype.bits <= 16:
        return np.arange(2**dtype.bits, dtype=f"u{dtype.bits // 8}").view(kept)
    generator = np.random.default_rng(dtype.bits)
    bits = generator.integers(0, 2**64, count, dtype=np.uint64)
    if dtype.is_float:
        patterns, usual = bits.astype(f"u{dtype.bits // 8}").view(kept), generator.normal(size=count).astype(kept)
        values = np.concatenate([patterns, usual])
        return np.concatenate([corners(dtype), semantics.cast(values, F32, dtype) if kept == np.float32 else values])
    wide = (bits >> (bits & np.uint64(63))).astype(np.uint64).view(np.int64)
    return np.concatenate([corners(dtype), wide.astype(kept), (-wide).astype(kept)])


def pairs(dtype: DType, count: int = 4000) -> tuple[Array, Array]:
    """Two operands: every corner with every other, and random pairs."""
    few, many = corners(dtype), anything(dtype)
    left, right = np.meshgrid(few, few)
    generator = np.random.default_rng(7)
    chosen = [many[generator.integers(0, len(many), count)] for _ in range(2)]
    return np.concatenate([left.ravel(), chosen[0]]), np.concatenate([right.ravel(), chosen[1]])
