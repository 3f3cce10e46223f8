"""Logits of the engine against the float64 reference: as near to it as transformers is in bf16, or nearer."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from oracles.reference_model import assert_as_near_as, nearness, reference_angles, reference_logits
from support.checkpoints import tiny, write_folder
from support.engines import decoded_logits, engine_of, engine_with, in_8_bits, model_weights, op_by_op, poisoned
from support.model_cases import CASES, COUNT, Case, by_name, kept, key
from tileproof.llm import LLM, SamplingParams
from tileproof.llm.models.rope import rope_angles
from tileproof.llm.step.fusion import fusions_of
from tileproof.llm.step.ops import ATTENTION, AppendKV, DecodeAttention, RotateAppend


@cache
def expected(case: Case, count: int = COUNT) -> Any:
    """Reference logits of the rows that are tokens."""
    return reference_logits(case.config, case.weights, case.tokens(count))[:, : case.config.tokens]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("case", CASES, ids=key)
def test_logits_are_as_near_to_the_reference_as_those_of_transformers(case: Case, device: str) -> None:
    llm = poisoned(engine_of(case, device, max_seq_len=192))
    _, rounded = kept(case)
    got = llm.logits(case.tokens(COUNT))
    assert got.shape == (COUNT, case.config.tokens)
    assert got.dtype == np.float32
    assert_as_near_as(got, expected(case), rounded)
    assert_as_near_as(decoded_logits(llm, case.tokens(COUNT)), expected(case), rounded)
    if case.is_calm:
        assert nearness(got, expected(case)).is_parity


@pytest.mark.slow
@pytest.mark.parametrize("case", [by_name("qwen3, tied"), by_name("llama, calm")], ids=key)
def test_logits_are_as_near_to_those_of_transformers_in_f32_as_its_own_in_bf16(
    case: Case, device: str, tmp_path: Path
) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("torch")
    from oracles.hugging_face import logits_of

    path = write_folder(tmp_path / "model", case.config, case.weights)
    tokens, count = case.tokens(70), case.config.tokens
    exact, rounded = (logits_of(path, tokens, dtype)[:, :count] for dtype in ("float32", "bfloat16"))
    got = LLM(path, device=device, max_seq_len=128).logits(tokens)
    assert_as_near_as(got, exact, nearness(rounded, exact))


def test_a_folder_of_shards_gives_the_logits_of_the_weights_it_was_written_from(device: str, tmp_path: Path) -> None:
    case = by_name("qwen3, tied")
    llm = LLM(write_folder(tmp_path / "model", case.config, case.weights, shards=3), device=device, max_seq_len=192)
    tokens = case.tokens(33)
    np.testing.assert_array_equal(llm.logits(tokens), engine_of(case, device, max_seq_len=192).logits(tokens))


def test_attention_sees_differences_of_positions_and_nothing_else(device: str) -> None:
    case = by_name("llama, untied")
    llm, tokens = engine_of(case, device, max_seq_len=192), case.tokens(70)
    plain = llm.logits(tokens)
    cos, sin = rope_angles(replace(case.config, max_position_embeddings=8192), 5192)
    caches = llm.runner.decoder.cache
    caches.cos.copy_from(cos[5000:].copy())
    caches.sin.copy_from(sin[5000:].copy())
    shifted = llm.logits(tokens)
    assert np.abs(shifted - plain).max() > 0, "the positions did not move"
    assert nearness(shifted, plain).distance < 5e-2
    caches.sin.copy_from(-sin[5000:].copy())
    assert nearness(llm.logits(tokens), plain).distance > 0.5


def test_angles_are_exact_at_far_positions() -> None:
    config = tiny("qwen3", head_dim=128, rope_theta=1e6, max_position_embeddings=40960)
    cos, sin = rope_angles(config, 40960)
    far = [0, 1, 63, 64, 255, 256, 257, 4095, 40959]
    for got, right in zip((cos, sin), reference_angles(config, 40960), strict=True):
        assert np.abs(got[far] - right[far]).max() < 1e-5


@pytest.mark.parametrize("is_decode", [True, False])
def test_each_head_of_queries_reads_its_own_group_of_values(is_decode: bool, device: str) -> None:
    case = Case("six heads of three groups", tiny("qwen3", num_attention_heads=6, num_key_value_heads=3))
    # Attention that takes the newest value from elsewhere cannot be told another one here.
    fusions = [each for each in fusions_of(device) if DecodeAttention not in each.pattern]
    llm = engine_of(case, device, max_seq_len=192, fusions=fusions, is_graph=False)
    seen = []
    for op, tensors in op_by_op(llm, case.tokens(70), is_decode):
        if isinstance(op, ATTENTION):
            seen.append(tensors[op.out].numpy().astype(np.float32))
        elif isinstance(op, RotateAppend | AppendKV):
            # The cache holds the number of its group instead of what was written.
            number = len(seen)
            values = llm.runner.decoder.cache.values[number]
            numbers = np.arange(3, dtype=np.float32)[None, :, None, None]
            values.wait().copy_from(np.broadcast_to(numbers, values.shape).astype(ml_dtypes.bfloat16))
    assert len(seen) == case.config.num_hidden_layers
    rows = 1 if is_decode else 70
    for each in seen:
        heads = each[:rows].reshape(rows, 6, 32)
        np.testing.assert_array_equal(heads, np.broadcast_to(np.arange(6)[None, :, None] // 2, heads.shape))


def test_activations_of_a_hundred_thousand_stay_finite(device: str) -> None:
    case = by_name("qwen3, calm")
    weights = case.weights
    for name in ("model.embed_tokens.weight", "model.layers.0.mlp.down_proj.weight"):
        loud = weights[name].astype(np.float32)
        loud[:, 5] *= 1e5 if "embed" in name else 1.0
        loud[7] *= 1e5 if "down" in name else 1.0
        weights[name] = loud.astype(ml_dtypes.bfloat16)
    llm = engine_with(case, weights, device, max_seq_len=192)
    got = llm.logits(case.tokens(40))
    right = reference_logits(case.config, weights, case.tokens(40))[:, : case.config.tokens]
    assert np.isfinite(got).all()
    assert nearness(got, right).distance < 5e-2


@pytest.mark.slow
def test_a_wider_model_is_as_near(device: str) -> None:
    """Sizes of a real model but for the layers: 1024 wide, 16 heads of 128 elements that share 8 groups."""
    config = tiny(
        "qwen3", num_hidden_layers=1, hidden_size=1024, num_attention_heads=16, num_key_value_heads=8, head_dim=128,
        intermediate_size=3072, tie_word_embeddings=False,
    )  # fmt: skip
    case = Case("wide", config, is_calm=True)
    llm = engine_of(case, device, max_seq_len=128)
    got = llm.logits(case.tokens(66))
    assert nearness(got, expected(case, 66)).is_parity


@pytest.mark.slow
def test_weights_of_8_bits_give_nearly_the_same_logits(device: str) -> None:
    case = Case(
        "8 bits", tiny("qwen3", hidden_size=128, intermediate_size=256, tie_word_embeddings=False), is_calm=True
    )
    weights = in_8_bits(model_weights(case.config, case.weights, device))
    llm = LLM.of(case.config, weights, device=device, max_seq_len=192, max_batch=2)
    right, tokens = expected(case, 40), case.tokens(40)
    for got in (llm.logits(tokens), decoded_logits(llm, tokens)):
        assert 1e-3 < nearness(got, right).distance < 5e-2
    texts = llm.generate([tokens, tokens[:9]], SamplingParams(max_new_tokens=24, ignore_eos=True))
    assert [len(text.tokens) for text in texts] == [24, 24]


def test_perplexity_is_that_of_the_logits(device: str) -> None:
    case = by_name("llama, calm")
    llm, tokens = engine_of(case, device, max_seq_len=192), case.tokens(COUNT)
    logits = expected(case)[:-1]
    shifted = logits - logits.max(axis=1, keepdims=True)
    own = shifted[np.arange(COUNT - 1), tokens[1:]] - np.log(np.exp(shifted).sum(axis=1))
    assert llm.perplexity(tokens) == pytest.approx(np.exp(-own.mean()), rel=1e-2)
