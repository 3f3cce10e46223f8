"""Bytes that make no sense are rejected with a word about what is wrong, whatever they are."""

from __future__ import annotations

import random

import pytest
from tileir_samples import SAMPLES, encoded, module, written

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.decode import decode
from tileproof.backends.cuda.tileir.encode import encode


def smallest() -> bytearray:
    """The module that has nothing but an entry that returns."""
    b = Builder("k", [])
    b.return_()
    return bytearray(encoded(b, (13, 3)))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_module_that_is_cut_off_is_refused(name: str) -> None:
    data = encode(module(name))
    for length in random.Random(name).sample(range(len(data)), 40):
        with pytest.raises(ValueError, match="bad bytecode: "):
            decode(data[:length])


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", SAMPLES)
def test_damaged_bytes_are_refused_or_read_but_never_crash(name: str) -> None:
    chance = random.Random(name)
    data = encode(module(name), written(name)[0])
    rejected = 0
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 3)):
            damaged[chance.randrange(12, len(data))] = chance.randrange(256)
        try:
            decode(bytes(damaged))
        except ValueError as error:
            assert "bad bytecode: " in str(error)  # noqa: PT017
            rejected += 1
    assert rejected > 30


@pytest.mark.parametrize(
    ("place", "byte", "message"),
    [
        (0, 0x7E, "it does not begin as Tile IR does"),
        (9, 0x05, r"version 13\.5 cannot be read"),
        (10, 0x01, "preview features cannot be read"),
        (12, 0x8F, "15 is no Section"),
        (17, 0x07, "there is no string 7"),
        (18, 0x07, "there is no type 7"),
        (19, 0x00, "k is not a kernel"),
        (20, 0x01, "there is no debug list 1"),
        (21, 0x02, r"the bytes end too early in the body of k, at byte 2 of 2"),
        (22, 0x7F, "there is no operation 0x7f in this version"),
        (22, 0x77, "there is no operation 0x77 in this version"),
        (23, 0x01, "return has 0 results, not 1"),
        (24, 0x01, "1 things are announced, but fewer bytes follow"),
        (52, 0xFF, "a string is not UTF-8"),
        (53, 0x01, "the bytes end too early"),
    ],
)
def test_the_message_says_what_is_wrong(place: int, byte: int, message: str) -> None:
    data = smallest()
    assert data[place] != byte
    data[place] = byte
    with pytest.raises(ValueError, match=message):
        decode(bytes(data))


def test_nothing_may_follow_the_end() -> None:
    with pytest.raises(ValueError, match="something follows the end"):
        decode(bytes(smallest()) + b"\0")


def test_a_module_without_functions_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no section of functions"):
        decode(bytes(smallest()[:12]) + b"\0")


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(ValueError, match="it does not begin as Tile IR does"):
        decode(b"")
