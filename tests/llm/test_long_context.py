"""Long texts: one token among thousands is found wherever it is, by a prompt and by a single row."""

from __future__ import annotations

from functools import cache

import pytest

from oracles.reference_model import nearness, reference_last_logits
from support.engines import engine_of, last_logits, poisoned
from support.needles import haystack, places
from tileproof.llm import LLM, SamplingParams

CASE = haystack(32768)
COUNT = {"cpu": 1000, "cuda:0": 32700}
"""Tokens of a text."""


@cache
def engine(device: str) -> LLM:
    longest = -(-COUNT[device] // 64) * 64
    return poisoned(engine_of(CASE, device, max_seq_len=longest, max_batch=1))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("which", range(3), ids=["first", "middle", "last"])
def test_a_needle_is_found_wherever_it_is(which: int, device: str) -> None:
    llm, count, needle = engine(device), COUNT[device], 5 * which + 2
    tokens = CASE.text(count, places(count)[which], needle)
    assert llm.generate(tokens, SamplingParams(max_new_tokens=1)).tokens == (needle,)
    right = reference_last_logits(CASE.config, CASE.weights, tokens)[None, : CASE.config.tokens]
    assert right.argmax() == needle
    assert nearness(last_logits(llm, tokens), right).is_parity
    llm.pool.give_back(llm.pool.take(llm.pool.count) or [])
