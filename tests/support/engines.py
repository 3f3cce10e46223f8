"""Engines of tiny models, made of weights that are in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

import tileproof as tp
import tileproof.kernels as tk
from oracles.reference_model import margins, reference_logits
from support.checkpoints import Weights
from support.model_cases import Case
from tileproof.llm import LLM, ModelConfig, SamplingParams
from tileproof.llm.engine.scheduler import ScheduledChunk
from tileproof.llm.models.weights import LayerWeights, ModelWeights, Weight
from tileproof.llm.request import Request
from tileproof.llm.step.ir import Buffer, Op
from tileproof.llm.step.kernels import launch


def model_weights(config: ModelConfig, weights: Weights, device: str) -> ModelWeights:
    """Weights under Hugging Face names, merged as the engine wants them."""

    def matrix(*names: str) -> Weight:
        rows = np.concatenate([weights[name] for name in names])
        return Weight("bf16", tp.asarray(np.ascontiguousarray(rows.astype(ml_dtypes.bfloat16)), device))

    def norm(name: str) -> Any:
        return tp.asarray(weights[name].astype(np.float32), device)

    layers = []
    for number in range(config.num_hidden_layers):
        here = f"model.layers.{number}."
        attention, feed = f"{here}self_attn.", f"{here}mlp."
        has_norms = config.has_qk_norm
        layers.append(LayerWeights(
            norm(f"{here}input_layernorm.weight"),
            matrix(*(f"{attention}{part}_proj.weight" for part in "qkv")),
            norm(f"{attention}q_norm.weight") if has_norms else None,
            norm(f"{attention}k_norm.weight") if has_norms else None,
            matrix(f"{attention}o_proj.weight"),
            norm(f"{here}post_attention_layernorm.weight"),
            matrix(f"{feed}gate_proj.weight", f"{feed}up_proj.weight"),
            matrix(f"{feed}down_proj.weight"),
        ))  # fmt: skip
    table = matrix("model.embed_tokens.weight")
    head = table if config.tie_word_embeddings else matrix("lm_head.weight")
    return ModelWeights(table.values, tuple(layers), norm("model.norm.weight"), head)


def engine_of(case: Case, device: str, **options: Any) -> LLM:
    """The engine of a case."""
    return engine_with(case, case.weights, device, **options)


def engine_with(case: Case, weights: Weights, device: str, **options: Any) -> LLM:
    """The same with other weights."""
    return LLM.of(case.config, model_weights(case.config, weights, device), device=device, **options)


def in_8_bits(weights: ModelWeights) -> ModelWeights:
    """The same weights in 8 bits."""

    def small(weight: Weight) -> Weight:
        return Weight("int8", *tk.quantize_int8(weight.values, group=64))

    names = "qkv", "output", "gate_up", "down"
    layers = [replace(layer, **{name: small(getattr(layer, name)) for name in names}) for layer in weights.layers]
    return replace(weights, layers=tuple(layers), head=small(weights.head))


def poisoned(llm: LLM) -> LLM:
    """The same engine with NaN everywhere in its cache: what no token wrote must not be read."""
    cache = llm.runner.decoder.cache
    for tensor in (*cache.keys, *cache.values):
        tensor.copy_from(float("nan"))
    return llm


def request_of(llm: LLM, tokens: Sequence[int]) -> Request:
    """A request that is not scheduled, with pages for all its tokens."""
    request = Request(tuple(tokens), SamplingParams())
    request.pages = llm.pool.take(request.pages_for(len(tokens))) or []
    return request


def logits_in_pieces(llm: LLM, tokens: Sequence[int], sizes: Sequence[int]) -> Any:
    """Logits after every token, of a prompt in chunks of these sizes, the last one again and again."""
    request = request_of(llm, tokens)
    rows, left = [], list(sizes)
    try:
        while request.uncomputed:
            size = left.pop(0) if len(left) > 1 else left[0]
            chunk = ScheduledChunk(request, request.computed, min(size, request.uncomputed))
            rows.append(llm.runner.logits(chunk).copy())
    finally:
        llm.pool.give_back(request.pages)
    return np.concatenate(rows)


def decoded_logits(llm: LLM, tokens: Sequence[int]) -> Any:
    """Logits after every token, each by a decode step."""
    request = Request(tuple(tokens[:1]), SamplingParams())
    rows = []
    try:
        for end in range(1, len(tokens) + 1):
            request.prompt = tuple(tokens[:end])
            request.pages += llm.pool.take(request.pages_for(end)) or []
            step, _ = llm.runner.run([ScheduledChunk(request, end - 1, 1)])
            rows.append(step.logits.numpy()[:1, : llm.config.tokens].copy())
    finally:
        llm.pool.give_back(request.pages)
    return np.concatenate(rows)


def last_logits(llm: LLM, tokens: Sequence[int]) -> Any:
    """Logits after the last token, by a decode step after chunks of what is before it."""
    request = request_of(llm, tokens)
    try:
        while request.uncomputed > 1:
            llm.runner.run([ScheduledChunk(request, request.computed, min(512, request.uncomputed - 1))])
        step, _ = llm.runner.run([ScheduledChunk(request, request.computed, 1)])
        return step.logits.numpy()[:1, : llm.config.tokens].copy()
    finally:
        llm.pool.give_back(request.pages)


def op_by_op(llm: LLM, tokens: Sequence[int], is_decode: bool) -> Iterator[tuple[Op, dict[Buffer, Any]]]:
    """Runs a prompt as one chunk, or but for its last token as one chunk and then that token; gives each operation of
    the last step when it has run, with the tensors of its buffers."""
    request = request_of(llm, tokens)
    try:
        before = len(tokens) - 1 if is_decode else 0
        if before:
            llm.runner.logits(ScheduledChunk(request, 0, before))
        chunk = ScheduledChunk(request, before, len(tokens) - before)
        kind = llm.runner.class_of([chunk], "greedy" if is_decode else "none", has_penalties=False)
        step = llm.runner.step_of(kind)
        llm.runner._write_inputs(step, [chunk])
        step.inputs.send()
        for op in step.ops:
            launch(op, step.tensors)
            yield op, step.tensors
    finally:
        llm.pool.give_back(request.pages)


def page_bytes(config: ModelConfig, count: int) -> int:
    """Bytes of so many pages of the cache."""
    return count * config.num_hidden_layers * 2 * config.num_key_value_heads * 64 * config.head_dim * 2


def sure_beginning(case: Case, prompt: Sequence[int], tokens: Sequence[int], margin: float) -> int:
    """How many tokens of a text no rounding turns over: up to the first that beats the next by less than a margin."""
    logits = reference_logits(case.config, case.weights, [*prompt, *tokens])
    clear = margins(logits[len(prompt) - 1 : -1, : case.config.tokens]) > margin
    return len(tokens) if clear.all() else int(np.flatnonzero(~clear)[0])
