"""The decoder of the Llama family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tileproof.language.dtypes import BF16, F32

from ..step.ir import Buffer, Inputs, Step, StepClass
from ..step.ops import AppendKV, DecodeAttention, Embed, GatherRows, PrefillAttention, RotateQueries
from .decoder import Decoder
from .weights import LayerWeights

QueriesAndKeys = Callable[[Decoder, Step, Buffer, LayerWeights], Buffer]
"""What a family does to the rows of queries, keys and values before they are rotated."""


@dataclass(frozen=True, slots=True)
class Family:
    """A family of models: what its files call it, and how its steps are built."""

    name: str
    """In config.json (`model_type`) and in GGUF files (`general.architecture`)."""
    architecture: str
    """In config.json."""
    build_step: Callable[[Decoder, StepClass, Inputs], tuple[Step, Buffer]]
    """The operations of a step, and its logits."""
    has_qk_norm: bool = False
    """Whether each head of queries and keys is normalized before it is rotated."""
    is_interleaved_in_gguf: bool = False
    """Whether GGUF files store the rows of queries and keys for rotating neighbors, not halves."""


def llama_step(
    decoder: Decoder, kind: StepClass, inputs: Inputs, queries_and_keys: QueriesAndKeys | None = None
) -> tuple[Step, Buffer]:
    """Embedding; for each layer attention and MLP, each after a norm and added to the residual stream; the head."""
    weights, step = decoder.weights, Step(kind)
    shape = kind.rows, decoder.config.hidden_size
    x = step.add(Embed(out=Buffer(shape, BF16), tokens=inputs.tokens, table=weights.table)).out
    for number, layer in enumerate(weights.layers):
        qkv = decoder.linear(step, decoder.norm(step, x, layer.attention_norm), layer.qkv)
        if queries_and_keys is not None:
            qkv = queries_and_keys(decoder, step, qkv, layer)
        attended = attention(decoder, step, qkv, number, inputs)
        if number == len(weights.layers) - 1 and inputs.output_rows is not None:  # later rows need no more
            x, attended = output_rows(step, x, inputs), output_rows(step, attended, inputs)
        x = decoder.add(step, x, decoder.linear(step, attended, layer.output))
        x = decoder.add(step, x, decoder.mlp(step, decoder.norm(step, x, layer.feed_norm), layer))
    x = decoder.norm(step, x, weights.norm)
    return step, decoder.linear(step, x, weights.head, F32, is_output=True)


def attention(decoder: Decoder, step: Step, qkv: Buffer, number: int, inputs: Inputs) -> Buffer:
    """Keys and values to the cache, and attention of the queries to it."""
    config, kind, rope = decoder.config, step.kind, decoder.rope(inputs.positions)
    num_heads, num_kv_heads, head_dim = config.num_attention_heads, config.num_key_value_heads, config.head_dim
    cache = decoder.cache.layer(number)
    rotated = Buffer((kind.rows, num_kv_heads * head_dim), BF16)
    step.add(AppendKV(
        qkv=qkv, rotated=(rotated,), cache=cache, rope=rope, slot_mapping=inputs.slot_mapping, num_heads=num_heads,
        num_kv_heads=num_kv_heads,
    ))  # fmt: skip
    out = Buffer((kind.rows, num_heads * head_dim), BF16)
    q = step.add(RotateQueries(out=Buffer(out.shape, BF16), qkv=qkv, rope=rope, num_heads=num_heads)).out
    if kind.is_decode:
        return step.add(DecodeAttention(
            out=out, q=q, cache=cache, block_table=inputs.block_table, context_lens=inputs.context_lens
        )).out  # fmt: skip
    return step.add(PrefillAttention(
        out=out, q=q, cache=cache, decode_rows=kind.decode_rows, context_lens=inputs.context_lens,
        block_table=inputs.block_table, query_blocks=inputs.query_blocks,
        query_block_sequences=inputs.query_block_sequences, positions=inputs.positions,
    )).out  # fmt: skip


def output_rows(step: Step, x: Buffer, inputs: Inputs) -> Buffer:
    """The rows that have logits."""
    out = Buffer((step.kind.outputs, x.shape[1]), BF16)
    return step.add(GatherRows(out=out, x=x, rows=inputs.output_rows)).out


LLAMA = Family("llama", "LlamaForCausalLM", llama_step, is_interleaved_in_gguf=True)
