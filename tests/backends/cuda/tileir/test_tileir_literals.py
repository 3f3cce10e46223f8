"""Python numbers become the nearest pattern of an element type."""

from __future__ import annotations

import math
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileproof.backends.cuda.tileir.literals import bits_of, elements, number_of, payload
from tileproof.backends.cuda.tileir.types import BF16, F8E4M3, F8E5M2, F16, F32, F64, I1, I8, I64, TF32, Number, Tile

DTYPES = {F16: np.float16, F32: np.float32, F64: np.float64, F8E5M2: ml_dtypes.float8_e5m2}
SHORT = {F16: np.float16, BF16: ml_dtypes.bfloat16, F8E4M3: ml_dtypes.float8_e4m3fn, F8E5M2: ml_dtypes.float8_e5m2}


@given(st.floats(allow_nan=False))
@pytest.mark.parametrize("element", DTYPES, ids=str)
def test_a_float_is_rounded_as_numpy_rounds_it(element: Number, value: float) -> None:
    with np.errstate(all="ignore"):
        there = np.array(value).astype(DTYPES[element])
    assert bits_of(element, value) == int.from_bytes(there.tobytes(), "little")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("element", SHORT, ids=str)
def test_every_pattern_is_read_and_written_back(element: Number) -> None:
    patterns = np.arange(1 << element.bits).astype(f"u{element.bits // 8}")
    with np.errstate(all="ignore"):
        numbers = patterns.view(SHORT[element]).astype(np.float64)
    for pattern, number in zip(patterns.tolist(), numbers.tolist(), strict=True):
        ours = number_of(element, pattern)
        if math.isnan(number):
            assert math.isnan(ours)
            assert math.isnan(number_of(element, bits_of(element, math.nan)))
        else:
            assert (ours, math.copysign(1, ours)) == (number, math.copysign(1, number))
            assert bits_of(element, ours) == pattern


def test_a_number_is_rounded_once() -> None:
    """By way of f32, this would first become the exact half between two numbers, and then the even one."""
    assert bits_of(BF16, 1 + 2**-8 + 2**-40) == 0x3F81
    assert bits_of(F32, 2**60 + 2**36 + 1) == 0x5D800001


def test_the_format_without_infinity_overflows_to_nan() -> None:
    assert bits_of(F8E4M3, 448) == 0x7E
    assert bits_of(F8E4M3, 464) == 0x7E
    assert bits_of(F8E4M3, 465) == 0x7F
    assert bits_of(F8E4M3, -math.inf) == 0xFF


def test_tf32_has_the_range_of_f32_and_the_precision_of_f16() -> None:
    assert bits_of(TF32, 1 + 2**-10) == (127 << 10) + 1
    assert bits_of(TF32, 1 + 2**-11) == 127 << 10
    assert bits_of(TF32, -math.inf) == (1 << 18) + (255 << 10)
    assert number_of(TF32, bits_of(TF32, -3.25)) == -3.25


def test_integers_are_cut_to_the_width() -> None:
    assert payload(Tile(I8, (2,)), [-1, 256 + 7]) == b"\xff\x07"
    assert payload(Tile(I64), -2) == struct.pack("<q", -2)
    assert payload(Tile(I8), np.int64(-1)) == b"\xff"


def test_a_payload_is_read_back() -> None:
    assert elements(Tile(I8, (2,)), b"\xff\x07") == [-1, 7]
    assert elements(Tile(F32, (4,)), payload(Tile(F32, (4,)), np.array([[1, 2], [3, 0.5]], np.float32))) == [
        1,
        2,
        3,
        0.5,
    ]
    assert elements(Tile(I1, (16,)), payload(Tile(I1, (16,)), [1] * 3 + [0] * 13)) == [1] * 3 + [0] * 13
    assert elements(Tile(I1, (4,)), payload(Tile(I1, (4,)), True)) == [1]


def test_a_float_is_no_integer() -> None:
    with pytest.raises(TypeError, match=r"constant: 1\.5 is not an integer, as i8 needs"):
        payload(Tile(I8), 1.5)


def test_a_constant_needs_all_elements() -> None:
    with pytest.raises(TypeError, match=r"constant: tile<4xf32> has 4 elements, not 3"):
        payload(Tile(F32, (4,)), [1, 2, 3])
