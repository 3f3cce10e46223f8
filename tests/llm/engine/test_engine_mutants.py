"""Mistakes that engines are known for: each, made on purpose, must be seen by the comparison with the reference.

A mutant replaces an operation of the step, unfused and launched one by one, or a weight, or a function of the host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
import tileproof.kernels as tk
import tileproof.llm.llm as front
from oracles.reference_model import assert_as_near_as, reference_logits
from support.engines import decoded_logits, engine_of, model_weights
from support.model_cases import Case, by_name, kept, key
from tileproof.llm import LLM, SamplingParams
from tileproof.llm.request import end_tokens
from tileproof.llm.step.ir import Op
from tileproof.llm.step.kernels import KERNELS, Tensors
from tileproof.llm.step.ops import (
    Add,
    AppendKV,
    DecodeAttention,
    Norm,
    NormHeads,
    PrefillAttention,
    RotateQueries,
    SiluMul,
)

QWEN, LLAMA, FAINT = by_name("qwen3, tied"), by_name("llama, untied"), by_name("llama, faint")
SPLIT = 64
"""Places in a page."""
COUNT = 90
"""Tokens of a text: more than a page."""


@cache
def expected(case: Case) -> Any:
    return reference_logits(case.config, case.weights, case.tokens(COUNT))[:, : case.config.tokens]


def unfused(case: Case, device: str, change: Callable[[Any], Any] = lambda weights: weights) -> LLM:
    """An engine that launches the kernels of `KERNELS`, looked up when a step runs."""
    weights = change(model_weights(case.config, case.weights, device))
    return LLM.of(case.config, weights, device=device, max_seq_len=192, max_batch=1, fusions=(), is_graph=False)


def check(llm: LLM, case: Case, path: str) -> None:
    """The comparison that the engine itself passes."""
    tokens = case.tokens(COUNT)
    got = llm.logits(tokens) if path == "prompt" else decoded_logits(llm, tokens)
    assert_as_near_as(got, expected(case), kept(case)[1])


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("case", "path"), [(QWEN, "prompt"), (QWEN, "single tokens"), (LLAMA, "prompt"), (LLAMA, "single tokens"),
                       (FAINT, "prompt")],
    ids=lambda value: value if isinstance(value, str) else key(value),
)  # fmt: skip
def test_without_a_mutant_the_comparison_holds(case: Case, path: str, device: str) -> None:
    check(unfused(case, device), case, path)


# Mutants of operations: each takes the operation and the tensors of its buffers.


def rotated_by_one_more(op: RotateQueries | AppendKV, of: Tensors) -> None:
    PLAIN[type(op)](replace(op, rope=replace(op.rope, cos=moved(op.rope.cos), sin=moved(op.rope.sin))), of)


def moved(table: Any) -> Any:
    """The cos/sin table of the next position."""
    rows = table.numpy()
    return tp.asarray(np.concatenate([rows[1:], rows[-1:]]), table.device)


def without_eps(op: Norm, of: Tensors) -> None:
    PLAIN[Norm](replace(op, eps=0.0), of)


def without_norm_of_keys(op: NormHeads, of: Tensors) -> None:
    PLAIN[NormHeads](op, of)
    head_dim = op.norms.q_norm.shape[0]
    keys = slice(op.num_heads * head_dim, (op.num_heads + op.num_kv_heads) * head_dim)
    tk.copy(of[op.qkv][:, keys], out=of[op.out][:, keys])


def norm_across_heads(op: NormHeads, of: Tensors) -> None:
    PLAIN[NormHeads](op, of)
    q_norm = op.norms.q_norm
    width = op.num_heads * q_norm.shape[0]
    rows = of[op.qkv].numpy().astype(np.float32)[:, :width]
    rows = rows / np.sqrt((rows**2).mean(axis=1, keepdims=True) + op.norms.eps)
    of[op.out][:, :width].copy_from((rows * np.tile(q_norm.numpy(), op.num_heads)).astype(ml_dtypes.bfloat16))


def heads_by_remainder(op: DecodeAttention | PrefillAttention, of: Tensors) -> None:
    """Head h reads head h % G of the keys, not h // (H / G)."""
    groups, head_dim = op.cache.keys.shape[1], op.cache.keys.shape[3]
    rows, out = of[op.q].numpy(), of[op.out]
    heads = rows.shape[1] // head_dim
    order = np.argsort(np.arange(heads) % groups, kind="stable")
    mixed = rows.reshape(-1, heads, head_dim)[:, order].reshape(rows.shape)
    PLAIN[type(op)](op, {**of, op.q: tp.asarray(np.ascontiguousarray(mixed), out.device)})
    back = out.numpy().reshape(-1, heads, head_dim)[:, np.argsort(order)].reshape(rows.shape)
    out.copy_from(np.ascontiguousarray(back))


def like(values: Any, tensor: Any) -> Any:
    """An array where a tensor is."""
    return tp.asarray(np.ascontiguousarray(values), tensor.device)


def blind_to_the_last(op: DecodeAttention, of: Tensors) -> None:
    """The cache is read up to one place too few."""
    lens = like(np.maximum(op.context_lens.numpy() - 1, 1), op.context_lens)
    PLAIN[DecodeAttention](replace(op, context_lens=lens), of)


def rows_blind_to_themselves(op: PrefillAttention, of: Tensors) -> None:
    before = like(np.maximum(op.positions.numpy() - 1, 0), op.positions)
    PLAIN[PrefillAttention](replace(op, positions=before), of)


def of_length(op: DecodeAttention, length: int) -> DecodeAttention:
    """Attention to so many places of the cache of the one sequence."""
    return replace(op, context_lens=like(np.array([length], np.int32), op.context_lens))


def merged_without_weights(op: DecodeAttention, of: Tensors) -> None:
    """Two parts of the cache are averaged, whatever share of the attention each has."""
    (length,), out = op.context_lens.numpy().tolist(), of[op.out]
    PLAIN[DecodeAttention](of_length(op, min(length, SPLIT)), of)
    if length > SPLIT:
        first = out.numpy().astype(np.float32)
        rest = replace(op, block_table=like(op.block_table.numpy()[:, 1:], op.block_table))
        PLAIN[DecodeAttention](of_length(rest, length - SPLIT), of)
        out.copy_from(((first + out.numpy().astype(np.float32)) / 2).astype(ml_dtypes.bfloat16))


def without_the_last_part(op: DecodeAttention, of: Tensors) -> None:
    """One part of the cache too few."""
    (length,) = op.context_lens.numpy().tolist()
    parts = max(-(-length // SPLIT) - 1, 1)
    PLAIN[DecodeAttention](of_length(op, min(length, parts * SPLIT)), of)


def gate_and_up_swapped(op: SiluMul, of: Tensors) -> None:
    rows = of[op.x].numpy()
    half = rows.shape[1] // 2
    swapped = like(np.concatenate([rows[:, half:], rows[:, :half]], axis=1), of[op.x])
    PLAIN[SiluMul](op, {**of, op.x: swapped})


def residual_of_the_norm(op: Add, of: Tensors) -> None:
    """The output of a block is added to the normalized stream."""
    rows = of[op.residual].numpy().astype(np.float32)
    rows = rows / np.sqrt((rows**2).mean(axis=1, keepdims=True) + 1e-6)
    PLAIN[Add](op, {**of, op.residual: like(rows.astype(ml_dtypes.bfloat16), of[op.residual])})


PLAIN = dict(KERNELS)
BOTH = ("prompt", "single tokens")
MUTANTS = [
    (RotateQueries, rotated_by_one_more, QWEN, BOTH),
    (AppendKV, rotated_by_one_more, LLAMA, BOTH),
    (Norm, without_eps, FAINT, BOTH[:1]),
    (NormHeads, without_norm_of_keys, QWEN, BOTH[:1]),
    (NormHeads, norm_across_heads, QWEN, BOTH[:1]),
    (DecodeAttention, heads_by_remainder, LLAMA, BOTH[1:]),
    (PrefillAttention, heads_by_remainder, LLAMA, BOTH[:1]),
    (DecodeAttention, blind_to_the_last, QWEN, BOTH[1:]),
    (PrefillAttention, rows_blind_to_themselves, QWEN, BOTH[:1]),
    (DecodeAttention, merged_without_weights, QWEN, BOTH[1:]),
    (DecodeAttention, without_the_last_part, QWEN, BOTH[1:]),
    (SiluMul, gate_and_up_swapped, LLAMA, BOTH[:1]),
    (Add, residual_of_the_norm, QWEN, BOTH[:1]),
]


@pytest.mark.sweep(8)
@pytest.mark.parametrize(
    ("kind", "mutant", "case", "path"),
    [(kind, mutant, case, path) for kind, mutant, case, paths in MUTANTS for path in paths],
    ids=lambda value: getattr(value, "__name__", value if isinstance(value, str) else "case"),
)
def test_a_wrong_operation_is_seen(
    kind: type[Op], mutant: Callable[..., None], case: Case, path: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KERNELS, kind, mutant)
    llm = unfused(case, device)
    with pytest.raises(AssertionError, match="is further than"):
        check(llm, case, path)


# Mutants of weights and of the host.


def test_a_transposed_output_matrix_is_seen(device: str) -> None:
    def transposed(weights: Any) -> Any:
        layers = []
        for layer in weights.layers:
            rows = np.ascontiguousarray(layer.output.values.numpy().T)
            layers.append(replace(layer, output=replace(layer.output, values=tp.asarray(rows, device))))
        return replace(weights, layers=tuple(layers))

    assert LLAMA.config.num_attention_heads * LLAMA.config.head_dim == LLAMA.config.hidden_size, "the shapes would tell"
    with pytest.raises(AssertionError, match="is further than"):
        check(unfused(LLAMA, device, transposed), LLAMA, "prompt")


def test_an_engine_that_knows_one_end_token_is_seen(device: str, monkeypatch: pytest.MonkeyPatch) -> None:

    def ended(end: int) -> bool:
        llm = engine_of(QWEN, device, max_seq_len=192, max_batch=1)
        params = SamplingParams(max_new_tokens=2, logit_bias={end: 1e4})
        return llm.generate(QWEN.tokens(9), params).finish == "stop"

    assert all(ended(end) for end in QWEN.config.eos_token_ids)
    monkeypatch.setattr(front, "end_tokens", lambda params, eos: end_tokens(params, eos[:1]))
    assert not all(ended(end) for end in QWEN.config.eos_token_ids)
