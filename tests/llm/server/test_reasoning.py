"""Thoughts and answers apart: where tags are, where they are missing, and whatever pieces the text comes in."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tiers import examples
from tileproof.llm.server.reasoning import ReasoningSplitter, is_thinking


def split(pieces: list[str], is_open: bool) -> tuple[str, str]:
    splitter = ReasoningSplitter(is_open)
    found = [*map(splitter.push, pieces), splitter.finish()]
    return "".join(each[0] for each in found), "".join(each[1] for each in found)


@pytest.mark.parametrize(
    ("text", "is_open", "reasoning", "content"),
    [
        ("<think>\nhm <b>\n</think>\n\n 42 ", False, "hm <b>", "42 "),
        ("\n<think>a</think>b</think>c<think>d", False, "a", "b</think>c<think>d"),
        ("  plain\n", False, "", "  plain\n"),
        ("plain <think>a</think>", False, "", "plain <think>a</think>"),
        ("<thin air", False, "", "<thin air"),
        ("<think>\n\n</think>\n\nyes", False, "", "yes"),
        ("hm\n</think>\nyes", True, "hm", "yes"),
        ("<think>hm</think>yes", True, "hm", "yes"),
        ("hm, and </thi", True, "hm, and </thi", ""),
        ("<think>never closed \n", False, "never closed", ""),
        ("a  b </think>", True, "a  b", ""),
        ("", True, "", ""),
        (" ", False, "", " "),
        ("<think>", False, "", ""),
    ],
)
def test_what_is_thought_ends_with_the_tag_and_the_answer_begins_after_it(
    text: str, is_open: bool, reasoning: str, content: str
) -> None:
    assert split([text], is_open) == (reasoning, content)
    assert split(list(text), is_open) == (reasoning, content)


PARTS = st.sampled_from(["<think>", "</think>", "<", "</th", "ink>", " ", "\n", "a", "b c", ">"])


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(PARTS, max_size=8), st.lists(st.integers(0, 40)), st.booleans())
def test_pieces_make_no_difference_and_nothing_but_tags_and_blanks_is_lost(
    parts: list[str], cuts: list[int], is_open: bool
) -> None:
    text = "".join(parts)
    borders = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:stop] for start, stop in pairwise(borders)]
    whole = split([text], is_open)
    assert split(pieces, is_open) == whole
    left = "".join("".join(whole).split())
    assert left in ["".join(text.replace("<think>", "", n).replace("</think>", "", m).split()) for n, m in COUNTS]


COUNTS = [(0, 0), (1, 0), (0, 1), (1, 1)]


def test_text_comes_as_soon_as_it_is_known_to_be_no_tag() -> None:
    splitter = ReasoningSplitter()
    pushed = ["<thi", "nk>a", "b </", "b> c</think", ">", "\n", "d ", "e"]
    assert list(map(splitter.push, pushed)) == [
        ("", ""), ("a", ""), ("b", ""), (" </b> c", ""), ("", ""), ("", ""), ("", "d "), ("", "e")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "thinks"),
    [
        ("<|im_start|>assistant\n<think>\n", True),
        ("<|im_start|>assistant\n", False),
        ("<think>\n\n</think>\n\n", False),
    ],
)
def test_a_prompt_leaves_a_model_thinking_where_its_template_opened_the_tag(prompt: str, thinks: bool) -> None:
    assert is_thinking(prompt) is thinks
