"""The launch of each operation of a step, by calls of the kernel library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import tileproof.kernels as tk

from . import ops
from .ir import PAGE, Buffer, Op

Tensors = Mapping[Buffer, Any]
"""The tensor of each buffer of a step."""
KERNELS: Final[dict[type[Op], Callable[[Any, Tensors], None]]] = {}
"""What launches an operation on the tensors of its buffers. A model with an operation of its own adds to it."""
_Op = TypeVar("_Op", bound=Op)
_Launch = Callable[[_Op, Tensors], None]


def launches(kind: type[_Op]) -> Callable[[_Launch[_Op]], _Launch[_Op]]:
    """Names the function that launches a kind of operation."""

    def enter(function: _Launch[_Op]) -> _Launch[_Op]:
        KERNELS[kind] = function
        return function

    return enter


def launch(op: Op, tensors: Tensors) -> None:
    """Launches one operation."""
    KERNELS[type(op)](op, tensors)


def by_heads(x: Any, head_dim: int) -> Any:
    """Rows of heads next to each other, with an axis of heads."""
    return x.reshape(x.shape[0], x.shape[1] // head_dim, head_dim)


# Layers.


@launches(ops.Embed)
def _embed(op: ops.Embed, of: Tensors) -> None:
    tk.embedding(op.tokens, op.table, out=of[op.out])


@launches(ops.Norm)
def _norm(op: ops.Norm, of: Tensors) -> None:
    tk.rms_norm(of[op.x], op.weight, op.eps, out=of[op.out])


@launches(ops.Linear)
def _linear(op: ops.Linear, of: Tensors) -> None:
    x, y, weight = of[op.x], of[op.out], op.weight
    if weight.kind == "int8":
        workspace = tuple(of[buffer] for buffer in op.scratch)
        activations: Any = {"activations": "int8", "workspace": workspace} if workspace else {}
        tk.int8_linear(x, weight.values, weight.scale, out=y, **activations)
    elif x.shape[0] == 1:
        tk.matvec(weight.values, x[0], out=y[0])
    else:
        tk.linear(x, weight.values, out=y)


@launches(ops.SplitRow)
def _split_row(op: ops.SplitRow, of: Tensors) -> None:
    tk.int8_parts(of[op.x][0], out=(of[op.limbs], of[op.scales]))


@launches(ops.SplitLinear)
def _split_linear(op: ops.SplitLinear, of: Tensors) -> None:
    tk.parts_matvec(op.weight.values, op.weight.scale, (of[op.limbs], of[op.scales]), out=of[op.out][0])


@launches(ops.Add)
def _add(op: ops.Add, of: Tensors) -> None:
    tk.add(of[op.residual], of[op.x], out=of[op.out])


@launches(ops.SiluMul)
def _silu_mul(op: ops.SiluMul, of: Tensors) -> None:
    tk.silu_mul(of[op.x], out=of[op.out])


@launches(ops.GatherRows)
def _gather_rows(op: ops.GatherRows, of: Tensors) -> None:
    tk.gather_rows(of[op.x], op.rows, out=of[op.out])


@launches(ops.NormHeads)
def _norm_heads(op: ops.NormHeads, of: Tensors) -> None:
    norms, head_dim = op.norms, op.norms.q_norm.shape[0]
    x, y = by_heads(of[op.qkv], head_dim), by_heads(of[op.out], head_dim)
    for head in range(op.num_heads + 2 * op.num_kv_heads):
        if head < op.num_heads + op.num_kv_heads:
            weight = norms.q_norm if head < op.num_heads else norms.k_norm
            tk.rms_norm(x[:, head], weight, norms.eps, out=y[:, head])
        else:
            tk.copy(x[:, head], out=y[:, head])


@launches(ops.AppendKV)
def _append_kv(op: ops.AppendKV, of: Tensors) -> None:
    cache, rope, first_value = op.cache, op.rope, op.num_heads + op.num_kv_heads
    (scratch,) = op.rotated
    head_dim = cache.keys.shape[3]
    x, rotated = by_heads(of[op.qkv], head_dim), by_heads(of[scratch], head_dim)
    tk.rope(x[:, op.num_heads : first_value], rope.cos, rope.sin, rope.positions, out=rotated)
    tk.paged_append(cache.keys, cache.values, rotated, x[:, first_value:], op.slot_mapping)


@launches(ops.RotateQueries)
def _rotate_queries(op: ops.RotateQueries, of: Tensors) -> None:
    rope, head_dim = op.rope, 2 * op.rope.cos.shape[1]
    queries = by_heads(of[op.qkv], head_dim)[:, : op.num_heads]
    tk.rope(queries, rope.cos, rope.sin, rope.positions, out=by_heads(of[op.out], head_dim))


@launches(ops.DecodeAttention)
def _decode_attention(op: ops.DecodeAttention, of: Tensors) -> None:
    cache, head_dim = op.cache, op.cache.keys.shape[3]
    queries, out = by_heads(of[op.q], head_dim), by_heads(of[op.out], head_dim)
    tk.paged_attention(queries, cache.keys, cache.values, op.block_table, op.context_lens, out=out)


@launches(ops.PrefillAttention)
def _prefill_attention(op: ops.PrefillAttention, of: Tensors) -> None:
    cache, head_dim = op.cache, op.cache.keys.shape[3]
    queries, out = by_heads(of[op.q], head_dim), by_heads(of[op.out], head_dim)
    if op.decode_rows:
        first = slice(op.decode_rows)
        tk.paged_attention(
            queries[first], cache.keys, cache.values, op.block_table[first], op.context_lens[first], out=out[first]
        )
    tk.ragged_attention(
        queries, cache.keys, cache.values, op.block_table, op.query_blocks, op.query_block_sequences, op.positions,
        out=out,
    )  # fmt: skip


# Sampling.


@launches(ops.Penalize)
def _penalize(op: ops.Penalize, of: Tensors) -> None:
    tk.penalized(
        of[op.logits], op.prompt, op.counts, op.bias, op.repetition, op.presence, op.frequency, slots=op.rows,
        out=of[op.out],
    )  # fmt: skip


@launches(ops.MaskLogits)
def _mask_logits(op: ops.MaskLogits, of: Tensors) -> None:
    tk.mask_logits(of[op.logits], op.masks, op.rows, out=of[op.out])


@launches(ops.Greedy)
def _greedy(op: ops.Greedy, of: Tensors) -> None:
    tk.greedy(of[op.logits], vocabulary=op.vocabulary, out=of[op.out])


@launches(ops.Sample)
def _sample(op: ops.Sample, of: Tensors) -> None:
    tk.sample(
        of[op.logits], op.seed, op.draw, op.temperature, op.top_k, op.top_p, op.min_p, vocabulary=op.vocabulary,
        out=of[op.out],
    )  # fmt: skip


@launches(ops.CountTokens)
def _count_tokens(op: ops.CountTokens, of: Tensors) -> None:
    tk.count_tokens(op.counts, of[op.sampled], slots=op.rows)


@launches(ops.Advance)
def _advance(op: ops.Advance, of: Tensors) -> None:
    to = op.inputs
    tk.advance(
        to.tokens, to.positions, to.context_lens, to.slot_mapping, to.draw, of[op.sampled], to.block_table, page=PAGE,
        out=op.sampled_ids,
    )  # fmt: skip


# Fused.


@launches(ops.NormLinear)
def _norm_linear(op: ops.NormLinear, of: Tensors) -> None:
    x, y, weight = of[op.x][0], of[op.out][0], op.weight
    if weight.kind == "bf16":
        tk.norm_matvec(weight.values, x, op.norm, op.eps, out=y)
    else:
        tk.norm_int8_matvec(weight.values, weight.scale, x, op.norm, op.eps, out=y)


@launches(ops.NormLinearSilu)
def _norm_linear_silu(op: ops.NormLinearSilu, of: Tensors) -> None:
    x, y, weight = of[op.x][0], of[op.out][0], op.weight
    if weight.kind == "bf16":
        tk.norm_matvec_silu(weight.values, x, op.norm, op.eps, out=y)
    else:
        tk.norm_int8_matvec_silu(weight.values, weight.scale, x, op.norm, op.eps, out=y)


@launches(ops.NormSplitRow)
def _norm_split_row(op: ops.NormSplitRow, of: Tensors) -> None:
    tk.norm_int8_parts(of[op.x][0], op.norm, op.eps, out=(of[op.limbs], of[op.scales]))


@launches(ops.LinearAdd)
def _linear_add(op: ops.LinearAdd, of: Tensors) -> None:
    x, residual, y, weight = of[op.x][0], of[op.residual][0], of[op.out][0], op.weight
    if weight.kind == "bf16":
        tk.matvec_add(weight.values, x, residual, out=y)
    else:
        tk.int8_matvec_add(weight.values, weight.scale, x, residual, out=y)


@launches(ops.SplitLinearAdd)
def _split_linear_add(op: ops.SplitLinearAdd, of: Tensors) -> None:
    row = of[op.limbs], of[op.scales]
    tk.parts_matvec_add(op.weight.values, op.weight.scale, row, of[op.residual][0], out=of[op.out][0])


@launches(ops.LinearSilu)
def _linear_silu(op: ops.LinearSilu, of: Tensors) -> None:
    x, y = of[op.x], of[op.out]
    if x.shape[0] == 1:
        tk.matvec_silu(op.weight.values, x[0], out=y[0])
    else:
        tk.silu_linear(x, op.weight.values, out=y)


@launches(ops.SplitLinearSilu)
def _split_linear_silu(op: ops.SplitLinearSilu, of: Tensors) -> None:
    tk.parts_matvec_silu(op.weight.values, op.weight.scale, (of[op.limbs], of[op.scales]), out=of[op.out][0])


@launches(ops.SplitLinearSiluSplit)
def _split_linear_silu_split(op: ops.SplitLinearSiluSplit, of: Tensors) -> None:
    row, out = (of[op.limbs], of[op.scales]), (of[op.out_limbs], of[op.out_scales])
    tk.parts_silu_parts(op.weight.values, op.weight.scale, row, out=out)


@launches(ops.SplitLinearAddNormSplit)
def _split_linear_add_norm_split(op: ops.SplitLinearAddNormSplit, of: Tensors) -> None:
    (partials,) = (of[buffer] for buffer in op.partials)
    row, out = (of[op.limbs], of[op.scales]), (of[op.out_limbs], of[op.out_scales], of[op.total][0])
    tk.parts_matvec_pieces(op.weight.values, op.weight.scale, row, partials.shape[0], out=partials)
    tk.add_norm_int8_parts(of[op.residual][0], partials, op.norm, op.eps, out=out)


@launches(ops.AddNorm)
def _add_norm(op: ops.AddNorm, of: Tensors) -> None:
    tk.add_rms_norm(of[op.residual], of[op.x], op.norm, op.eps, out=(of[op.out], of[op.total]))


@launches(ops.RotateAppend)
def _rotate_append(op: ops.RotateAppend, of: Tensors) -> None:
    cache, rope = op.cache, op.rope
    tk.norm_rope_append(
        of[op.qkv], cache.keys, cache.values, rope.cos, rope.sin, rope.positions, op.slot_mapping, *_of_norms(op.norms),
        out=by_heads(of[op.out], cache.keys.shape[3]),
    )  # fmt: skip


@launches(ops.NewTokenAttention)
def _new_token_attention(op: ops.NewTokenAttention, of: Tensors) -> None:
    cache, rope = op.cache, op.rope
    tk.fused_decode_attention(
        of[op.qkv], cache.keys, cache.values, op.block_table, rope.cos, rope.sin, rope.positions, *_of_norms(op.norms),
        out=by_heads(of[op.out], cache.keys.shape[3]),
    )  # fmt: skip


@launches(ops.AppendLayers)
def _append_layers(op: ops.AppendLayers, of: Tensors) -> None:
    cache, rope = op.cache, op.rope
    tk.append_layers(
        of[op.qkv], cache.keys, cache.values, rope.cos, rope.sin, rope.positions, op.slot_mapping, op.k_norms, op.eps
    )


@launches(ops.PromptAttention)
def _prompt_attention(op: ops.PromptAttention, of: Tensors) -> None:
    cache, head_dim = op.cache, op.cache.keys.shape[3]
    queries, out = by_heads(of[op.q], head_dim), by_heads(of[op.out], head_dim)
    tk.prefill_attention(queries, cache.keys, cache.values, op.block_table[0], op.positions, out=out)


def _of_norms(norms: ops.HeadNorms | None) -> tuple[Any, ...]:
    return () if norms is None else (norms.q_norm, norms.k_norm, norms.eps)
