"""The weights of a model where they are used: merged, in the element types that kernels read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import tileproof as tp

Kind = Literal["bf16", "int8"]
GROUP = 64
"""Neighbours along a row of 8-bit weights that share a scale."""
SPLIT_COLUMNS = 512
"""Columns of int8 weights that tensor cores multiply at once with a split row."""


@dataclass(frozen=True, slots=True)
class Weight:
    """A matrix with a row for each output: bf16, or 8-bit integers with a scale for each group of a row."""

    kind: Kind
    values: tp.Tensor
    """(N, K): bf16 or i8."""
    scale: tp.Tensor | None = None
    """(N, K / GROUP), f32, for i8."""

    @property
    def rows(self) -> int:
        return self.values.shape[0]

    @property
    def columns(self) -> int:
        return self.values.shape[1]

    @property
    def nbytes(self) -> int:
        """What one product with it reads."""
        return self.values.nbytes + (self.scale.nbytes if self.scale is not None else 0)


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """One layer. Heads are split in halves, as `tileproof.kernels.rope` turns them."""

    attention_norm: tp.Tensor
    """(width,). Norms are bf16, which a GPU loads as it loads the rows they meet; f32 if a file has numbers between."""
    qkv: Weight
    """((heads + 2 * groups) * depth, width): queries, keys, values."""
    q_norm: tp.Tensor | None
    """(depth,)"""
    k_norm: tp.Tensor | None
    output: Weight
    """(width, heads * depth)"""
    feed_norm: tp.Tensor
    gate_up: Weight
    """(2 * inner, width): gate, then up."""
    down: Weight
    """(width, inner)"""


@dataclass(frozen=True, slots=True)
class ModelWeights:
    """All of a model."""

    table: tp.Tensor
    """(vocabulary, width), bf16: the embeddings."""
    layers: tuple[LayerWeights, ...]
    norm: tp.Tensor
    head: Weight
    """(vocabulary, width): of bf16 models with tied embeddings the table itself."""

    @property
    def nbytes(self) -> int:
        """Memory of all weights."""
        sizes = {id(tensor): tensor.nbytes for tensor in self._tensors()}
        return sum(sizes.values())

    @property
    def streamed(self) -> int:
        """Bytes that one step of one row reads: everything but the table, of which it takes a row."""
        layers = sum(w.nbytes for layer in self.layers for w in (layer.qkv, layer.output, layer.gate_up, layer.down))
        return layers + self.head.nbytes

    def _tensors(self) -> list[tp.Tensor]:
        tensors = [self.table, self.norm]
        for layer in self.layers:
            tensors += [layer.attention_norm, layer.feed_norm]
            tensors += [norm for norm in (layer.q_norm, layer.k_norm) if norm is not None]
        for weight in (self.head, *(w for la in self.layers for w in (la.qkv, la.output, la.gate_up, la.down))):
            tensors.append(weight.values)
            tensors += [weight.scale] if weight.scale is not None else []
        return tensors
