"""What a model is: its sizes, and the few ways in which families differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class RopeScaling:
    """How the angles of rotary positions are stretched for contexts longer than those of training."""

    kind: Literal["linear", "llama3", "yarn"]
    factor: float
    low: float = 1.0
    """llama3: wavelengths longer than `trained / low` are stretched by the whole factor. yarn: beta_slow."""
    high: float = 4.0
    """llama3: those shorter than `trained / high` are not stretched. yarn: beta_fast."""
    trained: int = 8192
    """The context of training."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Sizes and constants of a decoder of the Llama or Qwen3 family."""

    family: str
    name: str
    num_hidden_layers: int
    hidden_size: int
    """Elements of the residual stream."""
    num_attention_heads: int
    """Heads of queries."""
    num_key_value_heads: int
    """Heads of keys and values; heads // groups heads of queries share one."""
    head_dim: int
    """Elements of a head; heads * depth need not be the width."""
    intermediate_size: int
    """Elements between the two halves of the feed-forward layer."""
    vocab_size: int
    """Rows of the table of embeddings."""
    tokens: int
    """How many of these rows are tokens; the rest is padding, and is never sampled."""
    rms_norm_eps: float
    rope_theta: float
    max_position_embeddings: int
    """The most positions the model was made for."""
    rope_scaling: RopeScaling | None = None
    tie_word_embeddings: bool = True
    """Whether the table of embeddings is the head too."""
    has_qk_norm: bool = False
    """Whether each head of queries and keys is normalized before it is rotated (Qwen3)."""
    bos_token_id: int | None = None
    eos_token_ids: tuple[int, ...] = ()
    """Every token that ends a sequence."""

    @property
    def queries_per_kv_head(self) -> int:
        """How many heads of queries share one of keys."""
        return self.num_attention_heads // self.num_key_value_heads

    @property
    def parameters(self) -> int:
        """How many weights the model has."""
        attention = (
            self.hidden_size * (self.num_attention_heads + 2 * self.num_key_value_heads) * self.head_dim
            + self.num_attention_heads * self.head_dim * self.hidden_size
        )
        norms = 2 * self.hidden_size + (2 * self.head_dim if self.has_qk_norm else 0)
        layer = attention + 3 * self.hidden_size * self.intermediate_size + norms
        return (
            self.num_hidden_layers * layer
            + (1 if self.tie_word_embeddings else 2) * self.vocab_size * self.hidden_size
            + self.hidden_size
        )
