"""Random weights that all contestants of the suite share: made once on the GPU by torch, seen by everybody in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import torch

import tileproof as tp
from tileproof.llm.models.config import ModelConfig
from tileproof.llm.models.weights import GROUP, LayerWeights, ModelWeights, Weight

_ROWS: Final = 16384
"""Rows of a matrix that are quantised at a time."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer, merged as the engine wants it. Norms are bf16 numbers."""

    attention_norm: Any
    qkv: Any
    q_norm: Any
    k_norm: Any
    output: Any
    feed_norm: Any
    gate_up: Any
    down: Any

    @property
    def matrices(self) -> tuple[Any, Any, Any, Any]:
        """In the order in which a step reads them."""
        return self.qkv, self.output, self.gate_up, self.down


@dataclass(frozen=True, slots=True)
class Shared:
    """A model of torch tensors."""

    config: ModelConfig
    table: Any
    layers: tuple[Layer, ...]
    norm: Any
    head: Any
    """Where embeddings are tied, the table."""

    @property
    def device(self) -> Any:
        return self.table.device

    def ours(self) -> ModelWeights:
        """The same memory as the engine's weights."""
        return self._model(lambda matrix: Weight("bf16", tp.asarray(matrix)))

    def ours_int8(self) -> ModelWeights:
        """The same numbers in 8 bits, a scale for each group of neighbours: a copy, of half the size."""
        return self._model(_quantised)

    def _model(self, weight: Any) -> ModelWeights:
        def norm(of: Any) -> tp.Tensor:
            return tp.asarray(of)

        layers = tuple(
            LayerWeights(
                norm(layer.attention_norm), weight(layer.qkv), norm(layer.q_norm), norm(layer.k_norm),
                weight(layer.output), norm(layer.feed_norm), weight(layer.gate_up), weight(layer.down),
            )
            for layer in self.layers
        )  # fmt: skip
        table, head = tp.asarray(self.table), weight(self.head)
        if head.kind == "bf16" and self.head is self.table:
            head = Weight("bf16", table)
        if self.device.type == "cuda":
            torch.cuda.synchronize()  # what is made here is read on streams that torch knows nothing of
        return ModelWeights(table, layers, norm(self.norm), head)


def made(config: ModelConfig, device: str, seed: int = 0) -> Shared:
    """Weights with the spread 1 / sqrt(inputs), so that activations and logits keep to ordinary sizes."""
    torch.manual_seed(seed)
    width, inner, q, kv = (
        config.hidden_size,
        config.intermediate_size,
        config.num_attention_heads * config.head_dim,
        config.num_key_value_heads * config.head_dim,
    )

    def matrix(rows: int, columns: int) -> Any:
        return torch.empty(rows, columns, dtype=torch.bfloat16, device=device).normal_(0, columns**-0.5)

    def norm(size: int) -> Any:
        return torch.empty(size, dtype=torch.bfloat16, device=device).uniform_(0.5, 1.5)

    table = matrix(config.vocab_size, width)
    layers = tuple(
        Layer(
            norm(width), matrix(q + 2 * kv, width), norm(config.head_dim), norm(config.head_dim), matrix(width, q),
            norm(width), matrix(2 * inner, width), matrix(width, inner),
        )
        for _ in range(config.num_hidden_layers)
    )  # fmt: skip
    head = table if config.tie_word_embeddings else matrix(config.vocab_size, width)
    if device != "cpu":
        torch.cuda.synchronize()
    return Shared(config, table, layers, norm(width), head)


def _quantised(matrix: Any) -> Weight:
    rows, columns = matrix.shape
    values = torch.empty(rows, columns, dtype=torch.int8, device=matrix.device)
    scale = torch.empty(rows, columns // GROUP, dtype=torch.float32, device=matrix.device)
    for first in range(0, rows, _ROWS):
        part = slice(first, first + _ROWS)
        groups = matrix[part].float().view(-1, columns // GROUP, GROUP)
        scale[part] = groups.abs().amax(dim=2) / 127
        rounded = torch.round(groups / scale[part].clamp_min(1e-30)[:, :, None])
        values[part] = rounded.view(-1, columns).to(torch.int8)
    return Weight("int8", tp.asarray(values), tp.asarray(scale))
