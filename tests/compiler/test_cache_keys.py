"""Keys of the kernel cache: equal for equal parts, in every process, and different for all others."""

from __future__ import annotations

import enum
import struct
import subprocess
import sys
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tiers import examples
from tileproof.compiler.cache import digest

SIMPLE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.binary(max_size=4)
PARTS = st.recursive(
    SIMPLE,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(SIMPLE, inner, max_size=3),
    max_leaves=8,
)


def spelled(part: object) -> object:
    """A part in words that differ where parts do: an independent account of what a key tells apart."""
    match part:
        case float():
            return f"float {struct.pack('<d', part).hex()}"
        case tuple():
            return ("tuple", *map(spelled, part))
        case dict():
            return ("dict", *sorted(repr(spelled(item)) for item in part.items()))
        case _:
            return f"{type(part).__name__} {part!r}"


@settings(max_examples=examples(150), deadline=None, database=None, derandomize=True)
@given(st.lists(PARTS, max_size=3), st.lists(PARTS, max_size=3))
def test_parts_have_equal_keys_if_they_are_equal_and_only_then(one: list[object], two: list[object]) -> None:
    same = [spelled(part) for part in one] == [spelled(part) for part in two]
    assert (digest(*one) == digest(*two)) is same
    assert digest(*deepcopy(one)) == digest(*one)


ALIKE: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = [
    ((0.0,), (-0.0,)),
    ((1,), (True,)),
    ((0,), (False,)),
    ((0,), (None,)),
    ((1,), (1.0,)),
    ((1,), ("1",)),
    (("a",), (b"a",)),
    (("ab", "c"), ("a", "bc")),
    (("ab",), ("a", "b")),
    ((("a", "b"),), ("a", "b")),
    (((),), ()),
    (((), ()), (((),),)),
    (({},), ((),)),
    (({"a": "b"},), ((("a", "b"),),)),
    (({"a": 1, "b": 2},), ({"a": 2, "b": 1},)),
    ((127,), (-129,)),
    ((255,), (-1,)),
    ((1 << 14_000,), (1 << 14_008,)),
    ((float("nan"),), (struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_0000_0001))[0],)),
    (("é",), ("e\u0301",)),
]  # fmt: skip


@pytest.mark.parametrize(("one", "two"), ALIKE, ids=lambda parts: ascii(parts)[:24])
def test_parts_that_look_alike_have_different_keys(one: tuple[Any, ...], two: tuple[Any, ...]) -> None:
    assert digest(*one) != digest(*two)


def test_the_order_of_a_dict_does_not_count() -> None:
    assert digest({"a": 1, 2: None}) == digest({2: None, "a": 1})


def test_a_key_is_the_same_in_every_process() -> None:
    script = "from tileproof.compiler.cache import digest; print(digest('cpu', 1, {'B': 0.5, 2: b'x'}))"
    there = subprocess.check_output([sys.executable, "-c", script], text=True)
    assert there.strip() == digest("cpu", 1, {2: b"x", "B": 0.5})


class Color(enum.IntEnum):
    RED = 1


OTHER_THINGS = ([1], {1}, np.float64(1), np.int64(1), Color.RED, object(), bytearray(b"a"), 1j)


@pytest.mark.parametrize("part", OTHER_THINGS, ids=lambda part: type(part).__name__)
def test_other_things_have_no_key(part: object) -> None:
    for parts in ((part,), ((part,),), ({"a": part},)):
        with pytest.raises(TypeError, match=f"a key cannot be made of a {type(part).__name__}"):
            digest(*parts)
