"""The tiny models that the engine is compared on, each with the tokens it is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from oracles.reference_model import Nearness
from support.checkpoints import Weights, random_weights, tiny
from tileproof.llm.models.config import ModelConfig, RopeScaling


@dataclass(frozen=True)
class Case:
    """A model, and how its random weights are scaled."""

    name: str
    config: ModelConfig
    seed: int = 3
    is_calm: bool = False
    """Whether no layer drowns the one before it, and logits are moderate, as in trained models."""
    is_faint: bool = False
    """Whether embeddings are so small that the eps of a norm counts."""

    @property
    def weights(self) -> Weights:
        weights = random_weights(self.config, self.seed)
        if self.is_calm:
            scales = {name: 0.25 for name, array in weights.items() if array.ndim == 2 and ".layers." in name}
            for name, scale in (
                scales if self.config.tie_word_embeddings else scales | {"lm_head.weight": 0.5}
            ).items():
                weights[name] = (weights[name].astype(np.float32) * scale).astype(weights[name].dtype)
        if self.is_faint:
            table = "model.embed_tokens.weight"
            weights[table] = (weights[table].astype(np.float32) / 1024).astype(weights[table].dtype)
        return weights

    def tokens(self, count: int) -> list[int]:
        """So many tokens to start with, equal for equal counts."""
        return np.random.default_rng([self.seed, count]).integers(0, self.config.tokens, count).tolist()


_LLAMA3: Final = RopeScaling("llama3", 8.0, trained=64)
_YARN: Final = RopeScaling("yarn", 4.0, low=1.0, high=32.0, trained=128)
CASES: Final = (
    Case("qwen3, tied", tiny("qwen3")),
    Case(
        "qwen3, untied, six heads of 64", tiny("qwen3", tie_word_embeddings=False, num_attention_heads=6, head_dim=64)
    ),
    Case("qwen3, yarn", tiny("qwen3", rope_scaling=_YARN)),
    Case("llama, untied", tiny("llama")),
    Case("llama, tied, one group", tiny("llama", tie_word_embeddings=True, num_key_value_heads=1)),
    Case("llama, llama3", tiny("llama", rope_scaling=_LLAMA3)),
    Case("qwen3, calm", tiny("qwen3", hidden_size=128, tie_word_embeddings=False), is_calm=True),
    Case("llama, calm", tiny("llama"), is_calm=True),
    Case("llama, faint", tiny("llama"), is_faint=True),
)
GOLDEN: Final = Path(__file__).resolve().parents[1] / "llm" / "data" / "golden.npz"
COUNT: Final = 150
"""Tokens of a case: more than two pages."""
STORED: Final = slice(None, None, 29)
"""Rows of logits that golden files keep."""


def by_name(name: str) -> Case:
    """The case with this name."""
    (result,) = [case for case in CASES if case.name == name]
    return result


def key(case: Case) -> str:
    """The name under which golden files keep it."""
    return case.name.replace(", ", "-").replace(" ", "-")


def kept(case: Case) -> tuple[Any, Nearness]:
    """Some rows of the logits of transformers in f32, and how near its bf16 is to the reference."""
    with np.load(GOLDEN) as golden:
        return golden[key(case)], Nearness(*golden[f"{key(case)}-bf16"].tolist())
