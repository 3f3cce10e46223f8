"""The oracles agree with each other: the float64 reference, transformers (live, or its kept logits) and llama.cpp."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oracles.llama_peer import LlamaCpp, log_softmax
from oracles.reference_model import margins, nearness, reference_logits
from support.checkpoints import write_folder, write_gguf
from support.model_cases import CASES, COUNT, STORED, Case, by_name, kept, key


@pytest.mark.sweep(1)
@pytest.mark.parametrize("case", CASES, ids=key)
def test_the_reference_gives_the_kept_logits_of_transformers(case: Case) -> None:
    tokens = case.tokens(COUNT)
    got = reference_logits(case.config, case.weights, tokens)
    stored, _ = kept(case)
    assert np.abs(got[STORED] - stored).max() <= 1e-5 * np.abs(stored).max()
    assert len(set(got.argmax(axis=-1))) > 20, "such weights decide nothing"
    assert np.median(margins(got)) > 0.25


@pytest.mark.slow
@pytest.mark.parametrize("case", [by_name("qwen3, tied"), by_name("llama, llama3")], ids=key)
def test_the_reference_gives_the_logits_of_transformers(case: Case, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("torch")
    from oracles.hugging_face import logits_of

    tokens = case.tokens(40)
    got = logits_of(write_folder(tmp_path / "model", case.config, case.weights), tokens, "float32")
    assert nearness(got, reference_logits(case.config, case.weights, tokens)).distance < 1e-5


@pytest.mark.sweep(1)
@pytest.mark.parametrize("case", [by_name("qwen3, tied"), by_name("llama, untied"), by_name("llama, llama3")], ids=key)
def test_the_reference_gives_the_logprobs_of_llama_cpp(case: Case, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    tokens = case.tokens(80)
    peer = LlamaCpp(write_gguf(tmp_path / "model.gguf", case.config, case.weights, "F32"))
    got = peer.logprobs(tokens, case.config.vocab_size, first=60)
    expected = log_softmax(reference_logits(case.config, case.weights, tokens))[59:]
    assert np.abs(got - expected).max() < 1e-3


def test_nearness_tells_wrong_logits_from_rounded_ones() -> None:
    case = by_name("qwen3, calm")
    right = reference_logits(case.config, case.weights, case.tokens(20))
    noise = np.random.default_rng(0).standard_normal(right.shape)
    assert nearness(right * (1 + 1e-3 * noise), right).is_parity
    assert not nearness(right * (1 + 5e-2 * noise), right).is_parity
    assert not nearness(np.roll(right, 1, axis=0), right).is_parity
    assert not nearness(np.where(noise > 4, np.nan, right), right).is_parity or not (noise > 4).any()
