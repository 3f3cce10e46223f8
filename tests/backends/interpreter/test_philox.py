"""Philox-4x32-10 against known answers, and against the same rounds written down for words of any width."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileproof.backends.interpreter.semantics import random_words, uniform

pytestmark = pytest.mark.filterwarnings("error")

WORD = st.integers(0, 2**32 - 1)
SIGNED = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), -1, 0, 1, 2**32 - 1, 2**32, 2**63 - 1])


def rounds(counter: list[int], key: list[int], bits: int, multipliers: list[int], steps: list[int]) -> list[int]:
    """Ten rounds on Python's integers."""
    (a, b, c, d), (left, right), mask = counter, key, 2**bits - 1
    for _ in range(10):
        high, low = divmod(a * multipliers[0], 2**bits)
        other_high, other_low = divmod(c * multipliers[1], 2**bits)
        a, b, c, d = other_high ^ b ^ left, other_low, high ^ d ^ right, low
        left, right = (left + steps[0]) & mask, (right + steps[1]) & mask
    return [a, b, c, d]


def narrow(counter: list[int], key: list[int]) -> list[int]:
    return rounds(counter, key, 32, [0xD2511F53, 0xCD9E8D57], [0x9E3779B9, 0xBB67AE85])


def words(numbers: list[int]) -> Any:
    return tuple(np.asarray(number, np.uint64) for number in numbers)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_the_answers_of_its_authors(counter: list[int], key: list[int], expected: str) -> None:
    assert " ".join(f"{int(word):08x}" for word in random_words(words(counter), words(key))) == expected


@given(st.integers(0, 2**256 - 2), st.integers(0, 2**128 - 1))
def test_with_words_of_64_bits_the_rounds_are_those_of_numpy(counter: int, key: int) -> None:
    multipliers, steps = [0xD2E7470EE14C6C93, 0xCA5A826395121157], [0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B]
    split = [(counter + 1) >> 64 * place & (2**64 - 1) for place in range(4)]  # numpy counts before it draws
    drawn = np.random.Philox(counter=counter, key=key).random_raw(4)
    assert drawn.tolist() == rounds(split, [key & (2**64 - 1), key >> 64], 64, multipliers, steps)


@given(st.lists(WORD, min_size=4, max_size=4), st.lists(WORD, min_size=2, max_size=2))
def test_with_words_of_32_bits_they_are_ours(counter: list[int], key: list[int]) -> None:
    assert [int(word) for word in random_words(words(counter), words(key))] == narrow(counter, key)


@given(SIGNED, st.lists(SIGNED, max_size=4))
def test_numbers_are_the_upper_bits_of_the_first_word(seed: int, offsets: list[int]) -> None:
    result = uniform(np.asarray(seed, np.int64), np.array(offsets, np.int64))
    assert result.dtype == np.float32
    assert result.shape == (len(offsets),)
    for number, offset in zip(result.tolist(), offsets, strict=True):
        low, high = offset & 0xFFFFFFFF, offset >> 32 & 0xFFFFFFFF
        first, *_ = narrow([low, high, 0, 0], [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF])
        assert number == (first >> 8) / 2**24
        assert 0 <= number < 1
