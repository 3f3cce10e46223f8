"""The launch of each operation of a step, by calls of the kernel library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import tileproof.kernels as tk

from . import ir
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


@launches(ir.Embed)
def _embed(op: ir.Embed, of: Tensors) -> None:
    tk.embedding(op.tokens, op.table, out=of[op.out])


@launches(ir.Norm)
def _norm(op: ir.Norm, of: Tensors) -> None:
    tk.rms_norm(of[op.x], op.weight, op.eps, out=of[op.out])


@launches(ir.Linear)
def _linear(op: ir.Linear, of: Tensors) -> None:
    x, y, weight = of[op.x], of[op.out], op.weight
    if weight.kind == "int8":
        workspace = tuple(of[each] for each in op.scratch)
        activations: Any = {"activations": "int8", "workspace": workspace} if workspace else {}
        tk.int8_linear(x, weight.values, weight.scale, out=y, **activations)
    elif x.shape[0] == 1:
        tk.matvec(weight.values, x[0], out=y[0])
    else:
        tk.linear(x, weight.values, out=y)


@launches(ir.SplitRow)
def _split_row(op: ir.SplitRow, of: Tensors) -> None:
    tk.int8_parts(of[op.x][0], out=(of[op.limbs], of[op.scales]))


@launches(ir.SplitLinear)
def _split_linear(op: ir.SplitLinear, of: Tensors) -> None:
    tk.parts_matvec(op.weight.values, op.weight.scale, (of[op.limbs], of[op.scales]), out=of[op.out][0])


@launches(ir.Add)
def _add(op: ir.Add, of: Tensors) -> None:
    tk.add(of[op.residual], of[op.x], out=of[op.out])


@launches(ir.SiluMul)
def _silu_mul(op: ir.SiluMul, of: Tensors) -> None:
    tk.silu_mul(of[op.x], out=of[op.out])


@launches(ir.GatherRows)
def _gather_rows(op: ir.GatherRows, of: Tensors) -> None:
    tk.gather_rows(of[op.x], op.rows, out=of[op.out])


@launches(ir.NormHeads)
def _norm_heads(op: ir.NormHeads, of: Tensors) -> None:
    norms, head_dim = op.norms, op.norms.q_norm.shape[0]
    x, y = by_heads(of[op.qkv], head_dim), by_heads(of[op.out], head_dim)
    for head in range(op.num_heads + 2 * op.num_kv_heads):
        if head < op.num_heads + op.num_kv_heads:
            weight = norms.q_norm if head < op.num_heads else norms.k_norm
            tk.rms_norm(x[:, head], weight, norms.eps, out=y[:, head])
        else:
            tk.copy(x[:, head], out=y[:, head])


@launches(ir.AppendKV)
def _append_kv(op: ir.AppendKV, of: Tensors) -> None:
    cache, rope, first_value = op.cache, op.rope, op.num_heads + op.num_kv_heads
    (scratch,) = op.rotated
    head_dim = cache.keys.shape[3]
    x, rotated = by_heads(of[op.qkv], head_dim), by_heads(of[scratch], head_dim)
    tk.rope(x[:, op.num_heads : first_value], rope.cos, rope.sin, rope.positions, out=rotated)
    tk.paged_append(cache.keys, cache.values, rotated, x[:, first_value:], op.slot_mapping)


@launches(ir.RotateQueries)
def _rotate_queries(op: ir.RotateQueries, of: Tensors) -> None:
    rope, head_dim = op.rope, 2 * op.rope.cos.shape[1]
    queries = by_heads(of[op.qkv], head_dim)[:, : op.num_heads]
    tk.rope(queries, rope.cos, rope.sin, rope.positions, out=by_heads(of[op.out], head_dim))


@launches(ir.DecodeAttention)
def _decode_attention(op: ir.DecodeAttention, of: Tensors) -> None:
    cache, head_dim = op.cache, op.cache.keys.shape[3]
    queries, out = by_heads(of[op.q], head_dim), by_heads(of[op.out], head_dim)
    tk.paged_attention(queries, cache.keys, cache.values, op.block_table, op.context_lens, out=out)


@launches(ir.PrefillAttention)
def _prefill_attention(op: ir.PrefillAttention, of: Tensors) -> None:
    cache, head_dim = op.cache, op.cache.keys.shape[3]
    queries, out = by_heads(of[op.q], head_dim), by_heads(of[op.out], head_dim)
    tk.attend_rows(
        queries, cache.keys, cache.values, op.block_table, op.query_blocks, op.query_block_sequences, op.positions,
        out=out,
    )  # fmt: skip


# Sampling.


@launches(ir.Penalize)
def _penalize(op: ir.Penalize, of: Tensors) -> None:
    tk.penalised(
        of[op.logits], op.prompt, op.counts, op.bias, op.repetition, op.presence, op.frequency, slots=op.rows,
        out=of[op.out],
    )  # fmt: skip


@launches(ir.Greedy)
def _greedy(op: ir.Greedy, of: Tensors) -> None:
    tk.greedy(of[op.logits], vocabulary=op.vocabulary, out=of[op.out])


@launches(ir.Sample)
def _sample(op: ir.Sample, of: Tensors) -> None:
    tk.sample(
        of[op.logits], op.seed, op.draw, op.temperature, op.top_k, op.top_p, op.min_p, vocabulary=op.vocabulary,
        out=of[op.out],
    )  # fmt: skip


@launches(ir.CountTokens)
def _count_tokens(op: ir.CountTokens, of: Tensors) -> None:
    tk.count_tokens(op.counts, of[op.sampled], slots=op.rows)


@launches(ir.Advance)
def _advance(op: ir.Advance, of: Tensors) -> None:
    to = op.inputs
    tk.advance(
        to.tokens, to.positions, to.context_lens, to.slot_mapping, to.draw, of[op.sampled], to.block_table, page=PAGE,
        out=op.sampled_ids,
    )  # fmt: skip


# Fused.


@launches(ir.NormLinear)
def _norm_linear(op: ir.NormLinear, of: Tensors) -> None:
    x, y, weight = of[op.x][0], of[op.out][0], op.weight
    if weight.kind == "bf16":
        tk.norm_matvec(weight.values, x, op.norm, op.eps, out=y)
    else:
        tk.norm_int8_matvec(weight.values, weight.scale, x, op.norm, op.eps, out=y)


@launches(ir.NormLinearSilu)
def _norm_linear_silu(op: ir.NormLinearSilu, of: Tensors) -> None:
    x, y, weight = of[op.x][0], of[op.out][0], op.weight
    if weight.kind == "bf16":
        tk.norm_matvec_silu(weight.values, x, op.norm, op.eps, out=y)
    else:
        tk.norm_int8_matvec_silu(weight.values, weight.scale, x, op.norm, op.eps, out=y)


@launches(ir.NormSplitRow)
def _norm_split_row(op: ir.NormSplitRow, of: Tensors) -> None:
    tk.norm_int8_parts(of[op.x][0], op.norm, op.eps, out=(of[op.limbs], of[op.scales]))


@launches(ir.LinearAdd)
def _linear_add(op: ir.LinearAdd, of: Tensors) -> None:
    x, residual, y, weight = of[op.x][0], of[op.residual][0], of[op.out][0], op.weight
    if weight.kind == "bf16":
        tk.matvec_add(weight.values, x, residual, out=y)
    else:
        tk.int8_matvec_add(weight.values, weight.scale, x, residual, out=y)


@launches(ir.SplitLinearAdd)
def _split_linear_add(op: ir.SplitLinearAdd, of: Tensors) -> None:
    row = of[op.limbs], of[op.scales]
    tk.parts_matvec_add(op.weight.values, op.weight.scale, row, of[op.residual][0], out=of[op.out][0])


@launches(ir.LinearSilu)
def _linear_silu(op: ir.LinearSilu, of: Tensors) -> None:
    x, y = of[op.x], of[op.out]
    if x.shape[0] == 1:
        tk.matvec_silu(op.weight.values, x[0], out=y[0])
    else:
        tk.silu_linear(x, op.weight.values, out=y)


@launches(ir.SplitLinearSilu)
def _split_linear_silu(op: ir.SplitLinearSilu, of: Tensors) -> None:
    tk.parts_matvec_silu(op.weight.values, op.weight.scale, (of[op.limbs], of[op.scales]), out=of[op.out][0])


@launches(ir.SplitLinearSiluSplit)
def _split_linear_silu_split(op: ir.SplitLinearSiluSplit, of: Tensors) -> None:
    row, out = (of[op.limbs], of[op.scales]), (of[op.out_limbs], of[op.out_scales])
    tk.parts_silu_parts(op.weight.values, op.weight.scale, row, out=out)


@launches(ir.SplitLinearAddNormSplit)
def _split_linear_add_norm_split(op: ir.SplitLinearAddNormSplit, of: Tensors) -> None:
    (partials,) = (of[each] for each in op.partials)
    row, out = (of[op.limbs], of[op.scales]), (of[op.out_limbs], of[op.out_scales], of[op.total][0])
    tk.parts_matvec_pieces(op.weight.values, op.weight.scale, row, partials.shape[0], out=partials)
    tk.add_norm_int8_parts(of[op.residual][0], partials, op.norm, op.eps, out=out)


@launches(ir.AddNorm)
def _add_norm(op: ir.AddNorm, of: Tensors) -> None:
    tk.add_rms_norm(of[op.residual], of[op.x], op.norm, op.eps, out=(of[op.out], of[op.total]))


@launches(ir.RotateAppend)
def _rotate_append(op: ir.RotateAppend, of: Tensors) -> None:
    cache, rope = op.cache, op.rope
    tk.norm_rope_append(
        of[op.qkv], cache.keys, cache.values, rope.cos, rope.sin, rope.positions, op.slot_mapping, *_of_norms(op.norms),
        out=by_heads(of[op.out], cache.keys.shape[3]),
    )  # fmt: skip


@launches(ir.NewTokenAttention)
def _new_token_attention(op: ir.NewTokenAttention, of: Tensors) -> None:
    cache, rope = op.cache, op.rope
    tk.attend_new(
        of[op.qkv], cache.keys, cache.values, op.block_table, rope.cos, rope.sin, rope.positions, *_of_norms(op.norms),
        out=by_heads(of[op.out], cache.keys.shape[3]),
    )  # fmt: skip


@launches(ir.AppendLayers)
def _append_layers(op: ir.AppendLayers, of: Tensors) -> None:
    cache, rope = op.cache, op.rope
    tk.append_layers(
        of[op.qkv], cache.keys, cache.values, rope.cos, rope.sin, rope.positions, op.slot_mapping, op.k_norms, op.eps
    )


@launches(ir.PromptAttention)
def _prompt_attention(op: ir.PromptAttention, of: Tensors) -> None:
    cache, head_dim = op.cache, op.cache.keys.shape[3]
    queries, out = by_heads(of[op.q], head_dim), by_heads(of[op.out], head_dim)
    tk.attend_prompt(queries, cache.keys, cache.values, op.block_table[0], op.positions, out=out)


def _of_norms(norms: ir.HeadNorms | None) -> tuple[Any, ...]:
    return () if norms is None else (norms.q_norm, norms.k_norm, norms.eps)
