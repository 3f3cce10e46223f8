"""However a text is cut into pieces, and whatever other texts are in the batch, its logits and tokens are the same."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from oracles.reference_model import margins, nearness, reference_logits
from support.engines import decoded_logits, engine_of, logits_in_pieces, poisoned
from support.model_cases import COUNT, by_name
from tileproof.llm import LLM, SamplingParams

_CALM = by_name("qwen3, calm")
CASE = replace(_CALM, config=replace(_CALM.config, max_position_embeddings=576))
LENGTHS = (1, 2, 15, 16, 17, 63, 64, 65, 127, 129, 511, 513)
LONGEST = {"cpu": 192, "cuda:0": 576}


@cache
def engine(device: str) -> LLM:
    """One engine for all of this file, whose pages hold NaN but for what was written."""
    return poisoned(engine_of(CASE, device, max_seq_len=LONGEST[device], max_batch=8, memory=64 * 65536))


def reference(tokens: list[int]) -> Any:
    return reference_logits(CASE.config, CASE.weights, tokens)[:, : CASE.config.tokens]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("sizes", [(1,), (7,), (63,), (64,), (65,), (100,), (7, 1, 64, 2, 63, 9)], ids=str)
def test_pieces_of_any_size_give_the_logits_of_one(sizes: tuple[int, ...], device: str) -> None:
    tokens = CASE.tokens(COUNT)
    whole = reference(tokens)
    got = logits_in_pieces(engine(device), tokens, sizes)
    assert nearness(got, whole).is_parity
    sure = margins(whole) > 0.1
    np.testing.assert_array_equal(got.argmax(axis=1)[sure], whole.argmax(axis=1)[sure])
    assert sure.mean() > 0.5


def test_one_token_at_a_time_gives_the_logits_of_a_prompt(device: str) -> None:
    tokens = CASE.tokens(COUNT)
    prompt = logits_in_pieces(engine(device), tokens, (COUNT,))
    assert nearness(decoded_logits(engine(device), tokens), prompt).distance < 1e-2


@pytest.mark.slow
def test_prompts_of_all_lengths_give_the_same_text_alone_and_together(device: str) -> None:
    """More texts than run at a time: pieces of prompts and single rows share steps, and pages change hands."""
    prompts = [CASE.tokens(length) for length in LENGTHS if length < LONGEST[device]]
    params = SamplingParams(max_new_tokens=12, ignore_eos=True)
    alone = [engine(device).generate(prompt, params) for prompt in prompts]
    together = engine(device).generate(prompts, params)
    for prompt, one, other in zip(prompts, alone, together, strict=True):
        text = [*prompt, *one.tokens]
        right = reference(text)[len(prompt) - 1 : -1]
        doubtful = np.flatnonzero(margins(right) < 0.1)
        end = int(doubtful[0]) if len(doubtful) else len(one.tokens)
        assert one.tokens[:end] == other.tokens[:end], f"a prompt of {len(prompt)}"
        assert list(one.tokens[:end]) == right.argmax(axis=1)[:end].tolist()
    assert engine(device).pool.free == engine(device).pool.count


def test_a_row_is_the_same_to_the_bit_whatever_is_in_the_pages_of_others(device: str) -> None:
    llm, tokens = engine(device), CASE.tokens(70)
    clean = logits_in_pieces(llm, tokens, (70,))
    params = SamplingParams(max_new_tokens=6, ignore_eos=True)
    prompts = [CASE.tokens(length) for length in (70, 20, 30)]
    before = llm.generate(prompts, params)
    poisoned(llm)
    after = llm.generate(prompts, params)
    assert [each.tokens for each in before] == [each.tokens for each in after]
    np.testing.assert_array_equal(logits_in_pieces(llm, tokens, (70,)), clean)


def test_a_beginning_that_was_cached_gives_the_same_logits(device: str) -> None:
    """Pages hold NaN but for what was written or copied."""
    llm = poisoned(engine_of(CASE, device, max_seq_len=192, max_batch=4, prefix_cache=True))
    params = SamplingParams(max_new_tokens=6, ignore_eos=True, logprobs=0)
    head = CASE.tokens(100)
    llm.generate([*head, 1], params)
    prompts = [[*head[:length], 2] for length in (100, 79, 64, 63, 8)]
    cached = llm.generate(prompts, params)
    assert [done.cached_tokens for done in cached] == [96, 72, 64, 56, 8]
    for prompt, done in zip(prompts, cached, strict=True):
        alone = engine(device).generate(prompt, params)
        assert done.tokens[0] == alone.tokens[0]
        assert abs(done.logprobs[0].logprob - alone.logprobs[0].logprob) < 0.03
    again = llm.generate([*prompts[0], *cached[0].tokens, 3], params)
    assert again.cached_tokens == 104, "what was generated is known too, up to the last token"
    assert llm.pool.free == llm.pool.count


@pytest.mark.parametrize("is_layer_by_layer", [False, True])
def test_a_page_is_copied_in_all_layers(is_layer_by_layer: bool, device: str) -> None:
    """GPUs copy layer by layer, and so can a CPU."""
    llm = engine_of(CASE, device, max_seq_len=192)
    cache = llm.runner.decoder.cache
    values = np.random.default_rng(0).standard_normal(cache.all_keys.shape).astype(np.float32)
    cache.all_keys.copy_from(values)
    cache.all_values.copy_from(-values)
    if is_layer_by_layer:
        llm.runner.decoder = replace(llm.runner.decoder, device="a GPU")
    before = cache.all_keys.numpy().copy(), cache.all_values.numpy().copy()
    llm.runner.copy_page(2, 1)
    for was, tensor in zip(before, (cache.all_keys, cache.all_values), strict=True):
        was[:, 1] = was[:, 2]
        np.testing.assert_array_equal(tensor.numpy(), was)


def test_nan_in_one_text_leaves_the_others_as_they_are(device: str) -> None:
    """The second text's own pages are poisoned while it runs: nobody else may notice."""
    from tileproof.llm.engine.scheduler import ScheduledChunk
    from tileproof.llm.request import Request

    llm = engine(device)
    texts = [Request(tuple(CASE.tokens(length)), SamplingParams()) for length in (30, 70, 65)]
    for text in texts:
        text.pages = llm.pool.take(text.pages_for(text.length)) or []
        llm.runner.logits(ScheduledChunk(text, 0, text.length - 1))

    def last() -> Any:
        step, _ = llm.runner.run([ScheduledChunk(text, text.length - 1, 1) for text in texts])
        return step.logits.numpy()[:3].copy()

    try:
        before = last()
        for cache_of in (llm.runner.decoder.cache.keys, llm.runner.decoder.cache.values):
            for layer in cache_of:
                layer[texts[1].pages[0]].copy_from(float("nan"))
        after = last()
    finally:
        for text in texts:
            llm.pool.give_back(text.pages)
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])
    assert np.isnan(after[1, : CASE.config.tokens]).all()
