"""The engine on a GPU: the logits of the reference, the same bits from graphs and launches, and real text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from checkpoints import tiny
from engines import decoded_logits, logits_in_pieces, model_weights, poisoned
from model_cases import CASES, Case
from reference_model import reference_logits

import tileproof.kernels as tk
from tileproof.llm import LLM, Message, ModelError, SamplingParams
from tileproof.llm.shapes import random_model, shape
from tileproof.llm.weights import ModelWeights, Weight

pytestmark = pytest.mark.gpu
SOME = [CASES[0], CASES[1], CASES[3], CASES[5]]
GREEDY = SamplingParams(max_new_tokens=24, ignore_eos=True)


def on_gpu(case: Case, **options: Any) -> LLM:
    weights = model_weights(case.config, case.weights, "cuda:0")
    return LLM.of(case.config, weights, device="cuda:0", max_seq_len=256, max_batch=4, memory=16 << 20, **options)


@pytest.mark.parametrize("case", SOME, ids=lambda case: case.name)
def test_logits_are_those_of_the_reference(case: Case) -> None:
    tokens = case.tokens(100)
    llm = poisoned(on_gpu(case))
    wanted = reference_logits(case.config, case.weights, tokens)[:, : case.config.tokens]
    for found in (logits_in_pieces(llm, tokens, (7, 64)), decoded_logits(llm, tokens)):
        assert np.linalg.norm(found - wanted) <= 2.5e-2 * np.linalg.norm(wanted)
        top = np.sort(wanted, axis=1)
        is_clear = top[:, -1] - top[:, -2] >= 0.05 * np.abs(wanted).max()
        assert (found.argmax(axis=1) == wanted.argmax(axis=1))[is_clear].all()


def test_a_graph_computes_what_its_launches_do_to_the_bit() -> None:
    case = SOME[0]
    tokens = case.tokens(100)
    one, two = (logits_in_pieces(on_gpu(case, is_graph=is_graph), tokens, (64,)) for is_graph in (True, False))
    assert one.tobytes() == two.tobytes()
    one, two = (decoded_logits(on_gpu(case, is_graph=is_graph), tokens[:40]) for is_graph in (True, False))
    assert one.tobytes() == two.tobytes()


def test_two_runs_give_the_same_text_and_the_same_logits() -> None:
    llm = on_gpu(SOME[2])
    prompts = [SOME[2].tokens(count) for count in (3, 70, 15, 33)]
    chance = SamplingParams(max_new_tokens=16, temperature=0.8, top_p=0.9, seed=4, ignore_eos=True)
    for params in (GREEDY, chance):
        first, again = (llm.generate(prompts, params) for _ in range(2))
        assert [each.tokens for each in first] == [each.tokens for each in again]
    assert llm.logits(prompts[1]).tobytes() == llm.logits(prompts[1]).tobytes()
    assert llm.pool.free == llm.pool.count


def test_penalties_and_biases_reach_the_tokens() -> None:
    llm = on_gpu(SOME[0])
    prompt = SOME[0].tokens(9)
    forced = llm.generate(prompt, SamplingParams(max_new_tokens=5, logit_bias={7: 1000.0}, ignore_eos=True))
    assert forced.tokens == (7,) * 5
    varied = SamplingParams(max_new_tokens=12, presence_penalty=1000.0, ignore_eos=True)
    assert len(set(llm.generate(prompt, varied).tokens)) == 12


def test_weights_of_8_bits_give_nearly_the_same_logits() -> None:
    config, exact = random_model(tiny("qwen3", width=128, inner=256), "cuda:0")
    options = {"device": "cuda:0", "max_seq_len": 256, "max_batch": 2, "memory": 16 << 20}
    plain = LLM.of(config, exact, **options)
    rounded = LLM.of(config, quantised(exact), **options)
    tokens = np.random.default_rng(2).integers(0, config.tokens, 40).tolist()
    one, two = plain.logits(tokens), rounded.logits(tokens)
    assert np.linalg.norm(one - two) < 5e-2 * np.linalg.norm(one)
    assert np.linalg.norm(one - decoded_logits(rounded, tokens)) < 5e-2 * np.linalg.norm(one)
    assert len(rounded.generate([tokens, tokens[:9]], GREEDY)[1].tokens) == GREEDY.max_new_tokens


def quantised(weights: ModelWeights) -> ModelWeights:
    """The same weights in 8 bits."""

    def small(weight: Weight) -> Weight:
        return Weight("int8", *tk.quantise_int8(weight.values, group=64))

    names = "qkv", "output", "gate_up", "down"
    layers = [replace(layer, **{name: small(getattr(layer, name)) for name in names}) for layer in weights.layers]
    return replace(weights, layers=tuple(layers), head=small(weights.head))


def test_smollm2_says_what_the_capital_of_france_is() -> None:
    try:
        llm = LLM("smollm2", device="cuda", max_batch=2, max_seq_len=512)
    except ModelError as error:
        pytest.skip(f"SmolLM2 is not installed: {error.line}")
    assert llm.config.layers == shape("smollm2-135m").layers
    answer = llm.chat([Message("user", "What is the capital of France?")], SamplingParams(max_new_tokens=20))
    assert "Paris" in answer.text
    assert llm.generate("The capital of France is", SamplingParams(max_new_tokens=2)).text.startswith(" Paris")
