"""Greedy texts against the reference, every step of them: it is asked about the text that the engine made, so that one
close call does not hide what comes behind it."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.reference_model import margins, reference_logits
from support.engines import engine_of
from support.model_cases import by_name
from tileproof.llm import SamplingParams

LENGTHS = (3, 9, 17, 33, 50, 64, 65, 66, 15, 16, 24, 32, 40, 63, 80, 90)


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("name", "sure"), [("qwen3, tied", 0.25), ("llama, untied", 0.7)])
def test_every_token_of_a_greedy_text_is_the_likeliest(name: str, sure: float, device: str) -> None:
    """Where it beats the next one by more than five times the error of a logit."""
    case = by_name(name)
    count, lengths, varied = (100, LENGTHS[:8], 20) if device == "cpu" else (256, LENGTHS, 10)
    llm = engine_of(case, device, max_seq_len=count + 92, max_batch=8)
    prompts = [case.tokens(length) for length in lengths]
    made = llm.generate(prompts, SamplingParams(max_new_tokens=count, ignore_eos=True))
    judged = 0
    assert min(len(set(completion.tokens)) for completion in made) > varied, "such a text proves nothing"
    assert len({token for completion in made for token in completion.tokens}) > 100
    for prompt, completion in zip(prompts, made, strict=True):
        assert len(completion.tokens) == count
        logits = reference_logits(case.config, case.weights, [*prompt, *completion.tokens])
        logits = logits[len(prompt) - 1 : -1, : case.config.tokens]
        clear = margins(logits) > sure
        judged += int(clear.sum())
        np.testing.assert_array_equal(np.array(completion.tokens)[clear], logits.argmax(axis=1)[clear])
    assert judged > 0.375 * count * len(prompts)


def test_logprobs_are_those_of_the_reference(device: str) -> None:
    case = by_name("qwen3, calm")
    llm, prompt = engine_of(case, device, max_seq_len=192), case.tokens(20)
    done = llm.generate(prompt, SamplingParams(max_new_tokens=10, ignore_eos=True, logprobs=5))
    logits = reference_logits(case.config, case.weights, [*prompt, *done.tokens])[len(prompt) - 1 : -1]
    logits = logits[:, : case.config.tokens]
    logprobs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    assert len(done.logprobs) == 10
    for told, token, right in zip(done.logprobs, done.tokens, logprobs, strict=True):
        assert told.token == token
        assert told.logprob == pytest.approx(right[token], abs=0.05)
        assert [value for _, value in told.top] == pytest.approx(np.sort(right)[::-1][:5], abs=0.05)
        assert told.top[0] == (token, told.logprob)
