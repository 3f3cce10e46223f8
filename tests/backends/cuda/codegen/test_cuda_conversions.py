"""Conversions in Tile IR code round once, truncate and saturate as the interpreter does."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.tile_ir_operations import Array, computed
from support.cpu_values import anything, corners
from tileproof.backends.cuda.codegen.conversions import bitcast, cast
from tileproof.backends.interpreter import semantics
from tileproof.language.dtypes import ALL, BF16, BOOL, ENTRY, F16, F32, F64, I32, INDEX, TF32, U64, DType

VERSIONS = ((13, 3), (13, 4))


@np.errstate(invalid="ignore")
def check(actual: Array, expected: Array, x: Array) -> None:
    right = (actual == expected) | ((actual != actual) & (expected != expected))
    if expected.dtype.kind not in "biu":
        right &= np.isnan(expected) | (np.signbit(actual) == np.signbit(expected))
    if not right.all():
        wrong = int(np.argmin(right))
        pytest.fail(f"{(~right).sum()} wrong, first {x[wrong]!r} gives {actual[wrong]!r}, not {expected[wrong]!r}")


def becomes(source: DType, target: DType) -> bool:
    """Whether the language has a conversion."""
    exact = source in (INDEX, ENTRY) or (source.is_integer and source != U64)
    return target != ENTRY and source != target and (target != INDEX or exact)


def hard(source: DType, count: int = 3000) -> Array:
    """Numbers of all magnitudes; with those that rounding twice would get wrong."""
    x = anything(source, count)
    if source.bits <= 16:
        return x[:: 5 if source.bits == 16 else 1]
    generator = np.random.default_rng(2)
    if not source.is_float:
        far = range(12, min(source.bits, 63))
        ends = [(1 << n) + (1 << n - m) + k for n in far for m in (8, 9, 11, 12, 24, 25) if m <= n for k in (-1, 0, 1)]
        more = np.array(ends)
        x = np.concatenate([x, more.astype(x.dtype), (-more).astype(x.dtype)])
    elif source == F64:
        with np.errstate(invalid="ignore"):
            base = np.concatenate([anything(dtype)[::7].astype(np.float64) for dtype in (F16, BF16)])
        chosen = base[generator.integers(0, len(base), 2000)]
        with np.errstate(all="ignore"):
            ties = chosen * (1 + 2.0 ** generator.choice([-9, -12, -11, -4], 2000).astype(np.float64))
            near = ties * (1 + generator.choice([-1, 0, 1], 2000) * 2.0 ** generator.choice([-26, -40, -52], 2000))
        x = np.concatenate([x, ties, near])
    return x


@pytest.mark.parametrize("source", [*ALL, INDEX, ENTRY], ids=str)
def test_values_become_those_of_another_type(source: DType) -> None:
    x = hard(source)
    for target in (*ALL, INDEX):
        if becomes(source, target):
            expected = semantics.cast(x, source, target)
            for version in VERSIONS if source.is_float and not target.is_float else VERSIONS[-1:]:
                actual = computed(lambda b, x, t=target, v=version: cast(b, x, source, t, v), [(x, source)], target)
                check(actual, expected, x)


def test_infinite_floats_become_the_ends_of_integers() -> None:
    x = np.array([np.inf, -np.inf, np.nan, 3e9, -3e9], np.float32)
    for version in VERSIONS:
        actual = computed(lambda b, x, v=version: cast(b, x, F32, I32, v), [(x, F32)], I32)
        assert actual.tolist() == [2**31 - 1, -(2**31), 0, 2**31 - 1, -(2**31)]


@pytest.mark.parametrize("source", [dtype for dtype in ALL if dtype not in (BOOL, TF32)], ids=str)
def test_bits_stay(source: DType) -> None:
    x = corners(source)
    for target in ALL:
        if target.bits == source.bits and target not in (BOOL, TF32):
            actual = computed(lambda b, x, t=target: bitcast(b, x, source, t), [(x, source)], target)
            assert actual.tobytes() == semantics.bitcast(x, target).tobytes()
