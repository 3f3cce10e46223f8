"""The operations of a step: one frozen dataclass each.

Fields of the types `Written`, `Read` and `Scratch` are buffers of the step, all others are tensors that outlive it
(weights, caches, inputs) and numbers. `kernels` has the launch of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..models.weights import Weight
from .ir import Inputs, Op, Read, Scratch, Written

# Layers.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Embed(Op):
    """Rows of the embedding table."""

    out: Written
    tokens: Any
    table: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Norm(Op):
    """RMSNorm."""

    out: Written
    x: Read
    weight: Any
    eps: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Linear(Op):
    """GEMM or GEMV with a weight of either kind. Scratch holds int8 activations, which a CPU multiplies fastest."""

    out: Written
    x: Read
    weight: Weight
    scratch_activations: Scratch = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitRow(Op):
    """One row as int8 limbs and their scales, which tensor cores multiply with int8 weights."""

    limbs: Written
    scales: Written
    x: Read


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitLinear(Op):
    """GEMV of a split row with int8 weights."""

    out: Written
    limbs: Read
    scales: Read
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Add(Op):
    """The residual stream plus the output of a block."""

    out: Written
    residual: Read
    x: Read


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SiluMul(Op):
    """silu(gate) * up, of rows that hold both."""

    out: Written
    x: Read


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GatherRows(Op):
    """The rows that have logits."""

    out: Written
    x: Read
    rows: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rope:
    """The cos/sin table and the positions to rotate by."""

    cos: Any
    sin: Any
    positions: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LayerCache:
    """Keys and values of one layer, or of all: (..., pages, num_kv_heads, PAGE, head_dim)."""

    keys: Any
    values: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HeadNorms:
    """RMSNorm of each head of queries and keys."""

    q_norm: Any
    k_norm: Any
    eps: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NormHeads(Op):
    """Queries and keys normalized head by head; values copied."""

    out: Written
    qkv: Read
    norms: HeadNorms
    num_heads: int
    num_kv_heads: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AppendKV(Op):
    """Keys rotated, and written to their pages with the values."""

    qkv: Read
    rotated: Scratch
    cache: LayerCache
    rope: Rope
    slot_mapping: Any
    num_heads: int
    num_kv_heads: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RotateQueries(Op):
    """Queries rotated by their positions."""

    out: Written
    qkv: Read
    rope: Rope
    num_heads: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DecodeAttention(Op):
    """Attention of one row of each sequence to its pages."""

    out: Written
    q: Read
    cache: LayerCache
    block_table: Any
    context_lens: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PrefillAttention(Op):
    """Attention of rows in blocks of one sequence each, after `decode_rows` rows that are one of a sequence each."""

    out: Written
    q: Read
    cache: LayerCache
    decode_rows: int
    context_lens: Any
    block_table: Any
    query_blocks: Any
    query_block_sequences: Any
    positions: Any


# Sampling.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Penalize(Op):
    """Logits changed by the tokens of each sequence and by its biases."""

    out: Written
    logits: Read
    prompt: Any
    counts: Any
    bias: Any
    repetition: Any
    presence: Any
    frequency: Any
    rows: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MaskLogits(Op):
    """Logits of the tokens that a grammar allows, -inf for all others."""

    out: Written
    logits: Read
    masks: Any
    rows: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Greedy(Op):
    """The likeliest token of each row."""

    out: Written
    logits: Read
    vocabulary: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sample(Op):
    """A token of each row, drawn."""

    out: Written
    logits: Read
    seed: Any
    draw: Any
    temperature: Any
    top_k: Any
    top_p: Any
    min_p: Any
    vocabulary: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CountTokens(Op):
    """Counts the sampled tokens, for penalties."""

    sampled: Read
    counts: Any
    rows: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Advance(Op):
    """Moves each sequence on by its sampled token, for the next decode step, and copies that to `sampled_ids`."""

    sampled: Read
    inputs: Inputs
    sampled_ids: Any


# Fused.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NormLinear(Op):
    """A norm and a GEMV, of one row."""

    out: Written
    x: Read
    norm: Any
    eps: float
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NormLinearSilu(Op):
    """A norm, the GEMV with gate and up, and silu(gate) * up, of one row."""

    out: Written
    x: Read
    norm: Any
    eps: float
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NormSplitRow(Op):
    """A norm of one row, split."""

    limbs: Written
    scales: Written
    x: Read
    norm: Any
    eps: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinearAdd(Op):
    """A GEMV, added to the residual stream."""

    out: Written
    x: Read
    residual: Read
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitLinearAdd(Op):
    """The same of a split row."""

    out: Written
    limbs: Read
    scales: Read
    residual: Read
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinearSilu(Op):
    """The GEMV or GEMM with gate and up, and silu(gate) * up."""

    out: Written
    x: Read
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitLinearSilu(Op):
    """The same of a split row."""

    out: Written
    limbs: Read
    scales: Read
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitLinearSiluSplit(Op):
    """The same, split again."""

    out_limbs: Written
    out_scales: Written
    limbs: Read
    scales: Read
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitLinearAddNormSplit(Op):
    """A split-K GEMV of a split row, the residual stream plus its partial sums, and the norm of that, split."""

    out_limbs: Written
    out_scales: Written
    total: Written
    limbs: Read
    scales: Read
    residual: Read
    weight: Weight
    norm: Any
    eps: float
    partials: Scratch


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AddNorm(Op):
    """The residual stream plus the output of a block, and the norm of that."""

    out: Written
    total: Written
    residual: Read
    x: Read
    norm: Any
    eps: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RotateAppend(Op):
    """Queries and keys normalized (where a model does) and rotated; keys and values written to their pages."""

    out: Written
    qkv: Read
    cache: LayerCache
    rope: Rope
    slot_mapping: Any
    norms: HeadNorms | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NewTokenAttention(Op):
    """Attention of one row of each sequence that takes the new key and value from `qkv`, and appends nothing.

    The pass `append_at_end` writes those of all layers to the pages, at the end of the step.
    """

    out: Written
    qkv: Read
    cache: LayerCache
    rope: Rope
    slot_mapping: Any
    block_table: Any
    norms: HeadNorms | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AppendLayers(Op):
    """Keys and values of one row of each sequence, written to the pages of all layers."""

    qkv: Read
    cache: LayerCache
    rope: Rope
    slot_mapping: Any
    k_norms: Any
    eps: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PromptAttention(Op):
    """Attention of rows that are all of one sequence."""

    out: Written
    q: Read
    cache: LayerCache
    block_table: Any
    positions: Any


ATTENTION: Final = (DecodeAttention, PrefillAttention, NewTokenAttention, PromptAttention)
