"""Async decode generates the same tokens as step by step, whatever finishes, leaves, comes or waits in between."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.reference_model import reference_logits
from support.engines import engine_of, page_bytes
from support.model_cases import CASES
from tileproof.llm import LLM, SamplingParams
from tileproof.llm.engine.async_decode import DEPTH, AsyncDecode
from tileproof.llm.engine.loop import Loop
from tileproof.runtime.memory.ledger import ledger_of

CASE = CASES[0]
LONG = SamplingParams(max_new_tokens=140, ignore_eos=True)
CHANCE = SamplingParams(max_new_tokens=70, temperature=1.0, top_k=20, seed=5, ignore_eos=True)
COUNTED = replace(CHANCE, temperature=0.0, repetition_penalty=1.3, presence_penalty=0.5)


@pytest.fixture(scope="module")
def plain(device: str) -> LLM:
    """Step by step."""
    llm = engine_of(CASE, device, max_batch=4, max_seq_len=256)
    llm.runner.depth, llm.runner.decode_steps = 1, 1
    return llm


def ahead_of(device: str, decode_steps: int, **options: Any) -> LLM:
    llm = engine_of(CASE, device, **{"max_batch": 4, "max_seq_len": 256} | options)
    llm.runner.depth, llm.runner.decode_steps = DEPTH, decode_steps
    return llm


@pytest.fixture(scope="module", params=[1, 3])
def ahead(device: str, request: pytest.FixtureRequest) -> LLM:
    return ahead_of(device, request.param)


def assert_likeliest(prompt: list[int], found: tuple[int, ...]) -> None:
    """Every token is the likeliest behind those before it, or as likely as rounding can tell."""
    logits = reference_logits(CASE.config, CASE.weights, [*prompt, *found])[len(prompt) - 1 : -1, : CASE.config.tokens]
    gaps = logits.max(axis=1) - logits[np.arange(len(found)), list(found)]
    assert gaps.max() < 0.02 * np.abs(logits).max()


@pytest.mark.sweep(2)
@pytest.mark.parametrize("params", [LONG, CHANCE, COUNTED], ids=["greedy", "chance", "penalties"])
def test_a_text_is_the_same(plain: LLM, ahead: LLM, params: SamplingParams) -> None:
    prompt = CASE.tokens(60)  # it crosses pages, and ends within one
    assert ahead.generate(prompt, params).tokens == plain.generate(prompt, params).tokens
    assert ahead.pool.free == ahead.pool.count


def test_a_decode_step_is_few_calls(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the engine's thread does in Python from one decode step to the next, delivery and commands included."""
    if device != "cpu":
        pytest.skip("on a GPU steps are queued ahead")
    package, steps, between = str(Path(tp.__file__).parent), list[list[str]](), list[int]()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(package):
            return
        is_step = code is Loop.step.__code__
        if event == "call":
            if is_step:
                steps.append([])
            if len(between) < len(steps):
                steps[-1].append(code.co_filename)
            elif steps:
                between[-1] += 1
        elif event == "return" and is_step:
            between.append(0)

    monkeypatch.setattr(ledger_of(None), "poisoned", [])  # without what other tests left
    llm = engine_of(CASE, device, max_seq_len=256)
    threading.setprofile(note)  # of threads that begin from here on: the engine's does with the first request
    try:
        llm.generate(CASE.tokens(4), replace(LONG, max_new_tokens=12))
    finally:
        threading.setprofile(None)
    assert len(steps) == len(between) == 12
    fewest = min(steps[3:], key=len)  # the first ones compile
    assert len(fewest) + min(between) <= 60
    assert len(set(fewest)) <= 8


def test_texts_of_different_lengths_are_the_same_together(plain: LLM, ahead: LLM) -> None:
    prompts = [CASE.tokens(count) for count in (3, 40, 64, 65)]
    params = [replace(LONG, max_new_tokens=count) for count in (2, 90, 41, 1)]
    wanted = [each.tokens for each in plain.generate(prompts, params)]
    found = [each.tokens for each in ahead.generate(prompts, params)]
    assert [len(each) for each in found] == [2, 90, 41, 1]
    assert found == wanted


def test_a_text_that_ends_by_a_token_has_nothing_behind_it(plain: LLM, ahead: LLM) -> None:
    prompt = CASE.tokens(20)
    said = plain.generate(prompt, replace(LONG, max_new_tokens=30)).tokens
    end = next(token for place, token in enumerate(said) if place > 4 and token not in said[:place])
    params = replace(LONG, stop_token_ids=(end,))
    found = ahead.generate(prompt, params)
    assert found.finish == "stop"
    assert found.tokens == said[: said.index(end) + 1]
    # What was begun behind the end is dropped, and the next text is not touched by it.
    assert ahead.generate(prompt, replace(LONG, max_new_tokens=30)).tokens == said


def test_texts_go_on_when_one_leaves_and_another_comes(ahead: LLM) -> None:
    prompts = [CASE.tokens(count) for count in (10, 30, 50)]
    first, second, third = (ahead.stream(prompt, replace(LONG, max_new_tokens=40)) for prompt in prompts)
    found: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for _ in range(9):
        found[0] += next(first).tokens
        found[1] += next(second).tokens
    first.close()
    for chunk in third:
        found[2] += chunk.tokens
    for chunk in second:
        found[1] += chunk.tokens
    assert len(found[1]) == len(found[2]) == 40
    for place, prompt in enumerate(prompts):
        assert_likeliest(prompt, tuple(found[place]))
    assert ahead.pool.free == ahead.pool.count


def test_pages_that_run_out_send_a_text_back(device: str) -> None:
    llm = ahead_of(device, 1, memory=page_bytes(CASE.config, 5), max_seq_len=256)
    prompts = [CASE.tokens(count) for count in (60, 62)]
    for prompt, found in zip(prompts, llm.generate(prompts, LONG), strict=True):
        assert len(found.tokens) == 140
        assert_likeliest(prompt, found.tokens)
    assert llm.scheduler.preemptions > 0
    assert llm.pool.free == llm.pool.count


def test_a_context_is_filled_to_its_last_place(device: str) -> None:
    llm = ahead_of(device, 1, max_seq_len=128)
    found = llm.generate(CASE.tokens(100), replace(LONG, max_new_tokens=500))
    assert found.finish == "length"
    assert len(found.tokens) == 28


def test_no_more_is_queued_than_may(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    llm = ahead_of(device, 1)
    queued = []
    read = AsyncDecode.read

    def counted(self: AsyncDecode) -> Any:
        queued.append(self.tokens_queued)
        return read(self)

    monkeypatch.setattr(AsyncDecode, "read", counted)
    llm.generate(CASE.tokens(10), LONG)
    assert max(queued) == DEPTH
