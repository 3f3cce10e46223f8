"""Text as it comes: pieces are whole characters and together the whole text; stop strings end it wherever they lie."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.checkpoints import SPECIALS, tokenizer
from support.tiers import examples
from tileproof.llm.tokenizer.detokenizer import Detokenizer, StopStrings
from tileproof.llm.tokenizer.text import Text

TOKENS = 300
TEXT = Text(tokenizer("qwen3", TOKENS))
LONE = [token for token in range(TOKENS) if "\ufffd" in TEXT.token(token)]
"""Tokens that are no whole characters."""


def streamed(tokens: list[int], text: Text = TEXT) -> list[str]:
    detokeniser = Detokenizer(text)
    return [*map(detokeniser.push, tokens), detokeniser.finish()]


def byte(value: int) -> int:
    (token,) = (token for token in LONE if TEXT.piece(token) == bytes([value]))
    return token


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.one_of(st.integers(0, TOKENS + 20), st.sampled_from(LONE)), max_size=30))
def test_the_pieces_together_are_the_text_of_all_tokens(tokens: list[int]) -> None:
    assert "".join(streamed(tokens)) == TEXT.decode(tokens)


@settings(max_examples=examples(100), deadline=None)
@given(st.text(max_size=20))
def test_no_piece_of_a_text_holds_half_a_character(text: str) -> None:
    pieces = streamed(TEXT.encode(text, special=False))
    assert "".join(pieces) == text
    assert pieces[-1] == ""
    assert text.count("\ufffd") == sum(piece.count("\ufffd") for piece in pieces)


def test_a_character_comes_with_its_last_byte() -> None:
    assert streamed([byte(each) for each in "🙂".encode()]) == ["", "", "", "🙂", ""]


def test_bytes_that_are_no_character_come_as_soon_as_nothing_can_complete_them() -> None:
    assert streamed([byte(0xF0), byte(0x9F), *TEXT.encode("a"), byte(0xC3)]) == ["", "", "\ufffda", "", "\ufffd"]


def test_special_tokens_and_rows_beyond_the_vocabulary_have_no_text() -> None:
    half, rest = byte(0xC3), byte(0xA9)
    end = TOKENS - len(SPECIALS)
    assert streamed([half, end, TOKENS + 5, rest]) == ["", "", "", "é", ""]


def test_without_a_tokenizer_there_is_no_text() -> None:
    detokeniser = Detokenizer(None)
    assert (detokeniser.push(3), detokeniser.finish()) == ("", "")


def test_a_piece_costs_the_same_behind_any_text() -> None:
    """Each token is looked at once: the decoder keeps at most three bytes, whatever came before."""
    detokeniser = Detokenizer(TEXT)
    for token in [byte(0xA9), byte(0xC3)] * 500:
        detokeniser.push(token)
        held, _ = detokeniser._decoder.getstate()
        assert len(held) <= 3


def test_words_keep_the_space_in_front_of_them_with_a_tokenizer_of_words() -> None:
    """A decoder of words drops the space in front of a text, and a piece of a text is not its beginning."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    vocabulary = {"<unk>": 0, "▁": 1, "a": 2, "b": 3, "▁a": 4, "▁b": 5, "<0xC3>": 6, "<0xA9>": 7}
    made = Tokenizer(models.BPE(vocabulary, [("▁", "a"), ("▁", "b")], unk_token="<unk>", byte_fallback=True))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    text = Text(made)
    assert streamed([4, 5, 3, 6, 7], text) == [" a", " b", "b", "", "é", ""]


def reference(stops: list[str], text: str) -> str:
    """The text before the stop string that is whole first."""
    ends = [(text.find(stop) + len(stop), text.find(stop)) for stop in stops if stop in text]
    return text[: min(ends)[1]] if ends else text


ALPHABET = "ab é🙂"
STOPS = st.lists(st.text(ALPHABET, min_size=1, max_size=4), max_size=3)


@settings(max_examples=examples(400), deadline=None)
@given(STOPS, st.lists(st.text(ALPHABET, max_size=5), max_size=8))
def test_a_text_ends_before_its_first_stop_string_wherever_its_pieces_end(stops: list[str], pieces: list[str]) -> None:
    watching = StopStrings(stops)
    shown = ""
    for piece in pieces:
        safe, is_stopped = watching.push(piece)
        shown += safe
        if is_stopped:
            assert watching.push("more") == ("", True)
            break
    shown += watching.finish()
    whole = "".join(pieces)
    assert shown == reference(stops, whole)
    assert is_stopped_in(stops, whole) == (watching.push("")[1])


def is_stopped_in(stops: list[str], text: str) -> bool:
    return any(stop in text for stop in stops)


@given(st.text(ALPHABET, min_size=1, max_size=4), st.text(ALPHABET, max_size=12))
def test_for_one_stop_string_that_is_what_find_finds(stop: str, text: str) -> None:
    watching = StopStrings([stop])
    shown = "".join(watching.push(each)[0] for each in text) + watching.finish()
    assert shown == (text if (at := text.find(stop)) < 0 else text[:at])


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["one\n", "\ntwo"], ["one", ""]),  # across two pieces
        (["one\n", "two"], ["one", "\ntwo"]),  # not one after all: shown as soon as that is known
        (["é", "ん\n\n"], ["é", "ん"]),
    ],
)
def test_only_what_may_become_a_stop_string_is_held_back(pieces: list[str], shown: list[str]) -> None:
    watching = StopStrings(["\n\n"])
    assert [watching.push(piece)[0] for piece in pieces] == shown
