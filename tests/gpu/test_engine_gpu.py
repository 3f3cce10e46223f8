"""What of the engine is looked at on a GPU alone: models of real sizes, many draws, long contexts in parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
import tileproof.kernels as tk
from oracles.reference_model import assert_as_near_as, margins, nearness, softmax
from support.draws import assert_as_often, chances
from support.engines import decoded_logits, logits_in_pieces, model_weights
from tileproof.kernels.kv_cache import paged_attention_kernel
from tileproof.llm import LLM
from tileproof.llm.models.shapes import shape

pytestmark = pytest.mark.gpu
DRAWS = 100_000
DEVICE = "cuda:0"


@pytest.mark.parametrize(("name", "layers"), [("qwen3-4b", 4), ("qwen3-32b", 1), ("qwen3-0.6b", 28)])
def test_logits_of_models_of_real_sizes_are_as_near_to_f32_as_those_of_transformers(name: str, layers: int) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from oracles.hugging_face import random_model as random_peer

    config = replace(shape(name), num_hidden_layers=layers)
    tokens = np.random.default_rng(4).integers(0, config.tokens, 66).tolist()
    weights, exact, rounded = random_peer(config, tokens, DEVICE)
    exact, rounded = exact[:, : config.tokens], rounded[:, : config.tokens]
    peer, sure = nearness(rounded, exact), margins(exact) > max(0.25, 6 * float(np.std(rounded - exact)))
    llm = LLM.of(config, model_weights(config, weights, DEVICE), device=DEVICE, max_seq_len=512, max_batch=2)
    for found in (llm.logits(tokens), logits_in_pieces(llm, tokens, (66,)), decoded_logits(llm, tokens)):
        assert_as_near_as(found, exact, peer)
        if layers < 10:  # more layers of random weights are too much for bf16, whoever computes
            assert nearness(found, exact).is_parity
            assert sure.sum() > 20
        np.testing.assert_array_equal(found.argmax(axis=1)[sure], exact.argmax(axis=1)[sure])


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p", "min_p"),
    [(0.7, 0, 1.0, 0.0), (1.8, 0, 1.0, 0.0), (1.0, 7, 1.0, 0.0), (1.0, 0, 0.8, 0.0), (1.0, 0, 1.0, 0.1)],
)
def test_tokens_are_drawn_as_often_as_they_should_be(
    temperature: float, top_k: int, top_p: float, min_p: float
) -> None:
    row = (np.random.default_rng(11).standard_normal(50) * 2).astype(np.float32)
    settings = [
        np.full(DRAWS, value, dtype)
        for value, dtype in ((temperature, np.float32), (top_k, np.int32), (top_p, np.float32), (min_p, np.float32))
    ]
    given = [np.tile(row, (DRAWS, 1)), np.full(DRAWS, 5, np.int64), np.arange(DRAWS, dtype=np.int64), *settings]
    tokens = tk.sample(*(tp.asarray(each, DEVICE) for each in given)).numpy()
    chance = chances(row.astype(np.float64), temperature, top_k, float(np.float32(top_p)), float(np.float32(min_p)))
    assert_as_often(np.bincount(tokens, minlength=50), chance)


def test_attention_is_the_same_however_many_programs_share_a_long_context() -> None:
    pages, groups, heads, depth, rng = 512, 2, 4, 64, np.random.default_rng(1)

    def some(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32).astype(ml_dtypes.bfloat16)

    q, k, v = some(1, groups, heads, depth), *(some(pages, groups, 64, depth) for _ in range(2))
    table, used = rng.permutation(pages).astype(np.int32)[None], np.array([32700], np.int32)
    on_gpu = [tp.asarray(each, DEVICE) for each in (q, k, v, table, used)]
    wide_k, wide_v = (
        each[table[0]].astype(np.float64).transpose(1, 0, 2, 3).reshape(groups, -1, depth)[:, : used[0]]
        for each in (k, v)
    )
    right = softmax(q[0].astype(np.float64) @ wide_k.transpose(0, 2, 1) / depth**0.5) @ wide_v
    for parts in (1, 4, 16, 32):
        out = tp.zeros(q.shape, tp.bf16, DEVICE)
        paged_attention_kernel(out, *on_gpu, depth**-0.5, R=heads, S=64, D=depth, SL=pages // parts)
        found = out.numpy()[0].astype(np.float64)
        assert np.abs(found - right).max() <= 5e-3 * np.abs(right).max(), f"in {parts} parts"
