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

    family: Literal["qwen3", "llama"]
    name: str
    layers: int
    width: int
    """Elements of the residual stream."""
    heads: int
    """Heads of queries."""
    groups: int
    """Heads of keys and values; heads // groups heads of queries share one."""
    depth: int
    """Elements of a head; heads * depth need not be the width."""
    inner: int
    """Elements between the two halves of the feed-forward layer."""
    vocabulary: int
    """Rows of the table of embeddings."""
    tokens: int
    """How many of these rows are tokens; the rest is padding, and is never sampled."""
    eps: float
    theta: float
    context: int
    """The most positions the model was made for."""
    scaling: RopeScaling | None = None
    is_tied: bool = True
    """Whether the table of embeddings is the head too."""
    has_head_norms: bool = False
    """Whether each head of queries and keys is normalised before it is turned (Qwen3)."""
    bos: int | None = None
    eos: tuple[int, ...] = ()
    """Every token that ends a text."""

    @property
    def shared(self) -> int:
        """How many heads of queries share one of keys."""
        return self.heads // self.groups

    @property
    def parameters(self) -> int:
        """How many weights the model has."""
        attention = self.width * (self.heads + 2 * self.groups) * self.depth + self.heads * self.depth * self.width
        norms = 2 * self.width + (2 * self.depth if self.has_head_norms else 0)
        layer = attention + 3 * self.width * self.inner + norms
        return self.layers * layer + (1 if self.is_tied else 2) * self.vocabulary * self.width + self.width
