"""Qwen3 and Llama in float64, written from their definition: the oracle of the engine.

Nothing here is shared with the package but the sizes of a model. Every head and every row is computed by itself; there
is no cache, no page, no merged matrix.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tileproof.llm.models.config import ModelConfig, RopeScaling

Array = npt.NDArray[Any]


def reference_logits(config: ModelConfig, weights: Mapping[str, Array], token_ids: Sequence[int]) -> Array:
    """Logits (n, vocabulary) after each of n tokens. `weights` are named as Hugging Face names them."""
    w = {name: np.asarray(array).astype(np.float64) for name, array in weights.items()}
    x = w["model.embed_tokens.weight"][list(token_ids)]
    cos, sin = reference_angles(config, len(token_ids))
    for number in range(config.num_hidden_layers):
        here = f"model.layers.{number}."
        x = x + _attention(config, w, here, _norm(x, w[f"{here}input_layernorm.weight"], config.rms_norm_eps), cos, sin)
        h = _norm(x, w[f"{here}post_attention_layernorm.weight"], config.rms_norm_eps)
        gate, up = h @ w[f"{here}mlp.gate_proj.weight"].T, h @ w[f"{here}mlp.up_proj.weight"].T
        x = x + (gate * _sigmoid(gate) * up) @ w[f"{here}mlp.down_proj.weight"].T
    head = w["model.embed_tokens.weight" if config.tie_word_embeddings else "lm_head.weight"]
    return _norm(x, w["model.norm.weight"], config.rms_norm_eps) @ head.T


def reference_last_logits(config: ModelConfig, weights: Mapping[str, Array], token_ids: Sequence[int]) -> Array:
    """Logits (vocabulary,) behind the last of many tokens, for a model of one layer: its keys and values are made of
    the tokens alone, so that no other row of attention is needed."""
    assert config.num_hidden_layers == 1
    assert not config.has_qk_norm
    assert config.rope_scaling is None
    w = {name: np.asarray(array).astype(np.float64) for name, array in weights.items()}
    n, here, depth = len(token_ids), "model.layers.0.", config.head_dim
    x = w["model.embed_tokens.weight"][list(token_ids)]
    h = _norm(x, w[f"{here}input_layernorm.weight"], config.rms_norm_eps)
    cos, sin = reference_angles(config, n)
    q = (h[-1:] @ w[f"{here}self_attn.q_proj.weight"].T).reshape(1, config.num_attention_heads, depth)
    k = (h @ w[f"{here}self_attn.k_proj.weight"].T).reshape(n, config.num_key_value_heads, depth)
    v = (h @ w[f"{here}self_attn.v_proj.weight"].T).reshape(n, config.num_key_value_heads, depth)
    q, k = _turned(q, cos[-1:], sin[-1:])[0], _turned(k, cos, sin)
    groups = [
        head // (config.num_attention_heads // config.num_key_value_heads) for head in range(config.num_attention_heads)
    ]
    mixed = [softmax(k[:, group] @ q[head] / math.sqrt(depth)) @ v[:, group] for head, group in enumerate(groups)]
    last = x[-1] + w[f"{here}self_attn.o_proj.weight"] @ np.concatenate(mixed)
    h = _norm(last, w[f"{here}post_attention_layernorm.weight"], config.rms_norm_eps)
    gate, up = w[f"{here}mlp.gate_proj.weight"] @ h, w[f"{here}mlp.up_proj.weight"] @ h
    last = last + w[f"{here}mlp.down_proj.weight"] @ (gate * _sigmoid(gate) * up)
    head = w["model.embed_tokens.weight" if config.tie_word_embeddings else "lm_head.weight"]
    return head @ _norm(last, w["model.norm.weight"], config.rms_norm_eps)


def _attention(
    config: ModelConfig, w: Mapping[str, Array], here: str, h: Array, cos: Array, sin: Array
) -> Array:  # fmt: skip
    n, depth = len(h), config.head_dim
    q = (h @ w[f"{here}self_attn.q_proj.weight"].T).reshape(n, config.num_attention_heads, depth)
    k = (h @ w[f"{here}self_attn.k_proj.weight"].T).reshape(n, config.num_key_value_heads, depth)
    v = (h @ w[f"{here}self_attn.v_proj.weight"].T).reshape(n, config.num_key_value_heads, depth)
    if config.has_qk_norm:
        q = _norm(q, w[f"{here}self_attn.q_norm.weight"], config.rms_norm_eps)
        k = _norm(k, w[f"{here}self_attn.k_norm.weight"], config.rms_norm_eps)
    q, k = _turned(q, cos, sin), _turned(k, cos, sin)
    future = np.triu(np.ones((n, n), bool), 1)
    mixed = np.empty((n, config.num_attention_heads, depth))
    for head in range(config.num_attention_heads):
        group = head // (config.num_attention_heads // config.num_key_value_heads)
        scores = q[:, head] @ k[:, group].T / math.sqrt(depth)
        scores[future] = -np.inf
        mixed[:, head] = softmax(scores) @ v[:, group]
    return mixed.reshape(n, -1) @ w[f"{here}self_attn.o_proj.weight"].T


def _norm(x: Array, g: Array, eps: float) -> Array:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * g


def _sigmoid(x: Array) -> Array:
    return 0.5 * (1 + np.tanh(x / 2))


def softmax(x: Array) -> Array:
    """Shares of the last axis."""
    shares = np.exp(x - x.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def _turned(x: Array, cos: Array, sin: Array) -> Array:
    """Turns element i of a head against element i + depth / 2."""
    low, high = np.split(x, 2, axis=-1)
    cos, sin = cos[:, None], sin[:, None]
    return np.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)


def reference_angles(config: ModelConfig, positions: int) -> tuple[Array, Array]:
    """Cosines and sines (positions, depth / 2)."""
    speeds = config.rope_theta ** -(np.arange(0, config.head_dim, 2) / config.head_dim)
    factor = 1.0
    if config.rope_scaling is not None:
        speeds, factor = _stretched(speeds, config.rope_scaling, config)
    angles = np.arange(positions)[:, None] * speeds
    return np.cos(angles) * factor, np.sin(angles) * factor


def _stretched(speeds: Array, scaling: RopeScaling, config: ModelConfig) -> tuple[Array, float]:
    """Slower speeds, and what cosines and sines are multiplied with."""
    match scaling.kind:
        case "linear":
            return speeds / scaling.factor, 1.0
        case "llama3":
            turns = scaling.trained * speeds / (2 * math.pi)
            plain = np.clip((turns - scaling.low) / (scaling.high - scaling.low), 0.0, 1.0)
            return speeds * (plain + (1 - plain) / scaling.factor), 1.0
        case "yarn":

            def place(turns: float) -> float:
                """Which pair of elements makes so many turns in the context of training."""
                return (
                    config.head_dim
                    * math.log(scaling.trained / (turns * 2 * math.pi))
                    / (2 * math.log(config.rope_theta))
                )

            first, last = (
                max(math.floor(place(scaling.high)), 0),
                min(math.ceil(place(scaling.low)), config.head_dim - 1),
            )
            slowed = np.clip((np.arange(len(speeds)) - first) / max(last - first, 1e-3), 0.0, 1.0)
            return speeds * (1 - slowed + slowed / scaling.factor), 0.1 * math.log(scaling.factor) + 1.0


# How near logits are.


@dataclass(frozen=True, slots=True)
class Nearness:
    """The worst row of logits against the reference."""

    distance: float
    """L2 of the difference, over L2 of the reference, of all rows together."""
    cosine: float
    divergence: float
    """KL of the two distributions, in nats."""

    @property
    def is_parity(self) -> bool:
        """As near as bf16 models are to float32."""
        return self.distance <= 1.5e-2 and self.cosine >= 0.9999 and self.divergence <= 1e-3


def nearness(actual: Array, expected: Array) -> Nearness:
    """Compares logits, in float64. NaN is infinitely far."""
    actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
    if not np.isfinite(actual).all():
        return Nearness(math.inf, -1.0, math.inf)
    norms = np.linalg.norm(actual, axis=-1) * np.linalg.norm(expected, axis=-1)
    cosines = (actual * expected).sum(axis=-1) / norms
    p, q = softmax(expected), softmax(actual)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)
    distance = np.linalg.norm(actual - expected) / np.linalg.norm(expected)
    return Nearness(float(distance), float(cosines.min()), float(terms.sum(axis=-1).max()))


def assert_as_near_as(actual: Array, expected: Array, rounded: Nearness, share: float = 1.2) -> None:
    """Logits err by at most `share` times as much as those of another engine in bf16."""
    mine = nearness(actual, expected)
    assert mine.distance <= share * rounded.distance, f"{mine} is further than {rounded}"
    assert 1 - mine.cosine <= share * (1 - rounded.cosine), f"{mine} is further than {rounded}"


def margins(logits: Array) -> Array:
    """By how much the likeliest token of each row beats the next."""
    top = np.sort(logits, axis=-1)[..., -2:]
    return top[..., 1] - top[..., 0]
