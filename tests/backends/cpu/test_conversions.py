"""Conversions give what the interpreter's do, and what is in memory survives registers."""

from __future__ import annotations

import numpy as np
import pytest

from support.cpu_elements import Array, Case, compiled, same
from support.cpu_values import anything
from tileproof.backends.cpu.codegen.conversions import bitcast, cast
from tileproof.backends.cpu.target import host, named
from tileproof.backends.interpreter import semantics
from tileproof.language.dtypes import ALL, BF16, BOOL, ENTRY, F16, F32, F64, I32, I64, INDEX, TF32, U64, DType

TYPES = (*ALL, INDEX, ENTRY)


def differing(actual: Array, expected: Array) -> Array:
    """Where results differ, also in the sign of zero."""
    right = same(actual, expected)
    if actual.dtype.kind not in "biu":
        right &= nans(expected) | (np.signbit(actual) == np.signbit(expected))
    return np.flatnonzero(~right)


def nans(values: Array) -> Array:
    """numpy warns of a bf16 that is NaN and is asked whether it is."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.isnan(values))


def between(values: Array, source: DType) -> Array:
    """Values of a wide type, and those halfway between two of a narrow one and a little beside."""
    if source not in (F64, F32, I64, U64, I32):
        return values
    with np.errstate(invalid="ignore"):
        near = np.concatenate([anything(dtype)[::37].astype(np.float64) for dtype in (F16, BF16)])
    near = np.abs(near[np.isfinite(near)])
    beside = (2.0**-12, 2.0**-9, 2.0**-9 + 2.0**-30, 2.0**-12 - 2.0**-40)
    return np.concatenate([values, *(semantics.cast(near * (1 + part), F64, source) for part in beside)])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("source", TYPES, ids=str)
def test_casts_to_all_types(source: DType) -> None:
    values = between(anything(source), source)
    targets = [dtype for dtype in TYPES if dtype != source]
    for w in (1, 2, 4, 8, 16, 32):
        few = values if w == 8 else values[:: max(1, len(values) // 3000)]
        cases = {
            f"to{number}": Case([source], target, lambda e, x, w, target=target: cast(e, x, source, target, w))
            for number, target in enumerate(targets)
        }
        ran = compiled(cases, w)
        for number, target in enumerate(targets):
            actual, expected = ran[f"to{number}"](few), semantics.cast(few, source, target)
            wrong = differing(actual, expected)
            assert not wrong.size, (w, target, few[wrong[0]], actual[wrong[0]], expected[wrong[0]])


def test_long_integers_are_rounded_once() -> None:
    """The nearest f64 of these is halfway between two numbers of f16 or bf16; they are not."""
    values = np.array([2**62 + 2**54 + 1, 2**62 + 2**54 - 1, 2**62 + 2**54, -(2**62) - 2**54 - 1, 2**53 + 2**45 + 1])
    run = compiled({"cast": Case([I64], BF16, lambda e, x, w: cast(e, x, I64, BF16, w))}, 4)["cast"]
    expected = [2.0**62 + 2.0**55, 2.0**62, 2.0**62, -(2.0**62) - 2.0**55, 2.0**53 + 2.0**46]
    assert run(values).astype(np.float64).tolist() == expected


@pytest.mark.sweep(5)
@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype != TF32], ids=str)
def test_what_is_loaded_can_be_stored(dtype: DType) -> None:
    values = anything(dtype)
    for w in (1, 2, 4, 8, 16, 32):
        actual = compiled({"copy": Case([dtype], dtype, lambda e, x, w: x)}, w)["copy"](values)
        numbers = np.full(len(values), True) if dtype == BOOL else ~nans(values)
        kept = f"u{dtype.bits // 8}"
        assert (actual.view(kept) == values.view(kept))[numbers].all()
        assert same(actual, values).all()


@pytest.mark.sweep(5)
@pytest.mark.parametrize("source", [dtype for dtype in ALL if dtype != TF32], ids=str)
def test_bits_as_another_type(source: DType) -> None:
    values = anything(source)
    if source.is_float:
        values = values[~nans(values)]
    targets = [dtype for dtype in ALL if dtype.bits == source.bits and dtype not in (source, TF32)]
    for w in (1, 8, 32):
        for target in targets:
            case = Case([source], target, lambda e, x, w, target=target: bitcast(e, x, source, target, w))
            assert same(compiled({"as": case}, w)["as"](values), semantics.bitcast(values, target)).all(), (w, target)


@pytest.mark.skipif(not host().is_x86, reason="other processors convert f16")
def test_f16_on_a_processor_that_does_not_convert_it() -> None:
    cases = {
        "widen": Case([F16], F32, lambda e, x, w: cast(e, x, F16, F32, w)),
        "narrow": Case([F32], F16, lambda e, x, w: cast(e, x, F32, F16, w)),
    }
    for w in (1, 4, 8):
        ran = compiled(cases, w, named("sse2"))
        short, long = anything(F16), between(anything(F32), F32)
        assert not differing(ran["widen"](short), semantics.cast(short, F16, F32)).size
        assert not differing(ran["narrow"](long), semantics.cast(long, F32, F16)).size
