"""The decoder of the Qwen3 family: that of Llama, with norms of the heads of queries and keys."""

from __future__ import annotations

from tileproof.language.dtypes import BF16

from ..step.ir import Buffer, Inputs, Step, StepClass
from ..step.ops import HeadNorms, NormHeads
from .decoder import Decoder
from .llama import Family, llama_step
from .weights import LayerWeights


def qwen3_step(decoder: Decoder, kind: StepClass, inputs: Inputs) -> tuple[Step, Buffer]:
    """The step of Llama, with norms before queries and keys are rotated."""
    return llama_step(decoder, kind, inputs, _normalized)


def _normalized(decoder: Decoder, step: Step, qkv: Buffer, layer: LayerWeights) -> Buffer:
    config = decoder.config
    norms = HeadNorms(q_norm=layer.q_norm, k_norm=layer.k_norm, eps=config.rms_norm_eps)
    return step.add(NormHeads(
        out=Buffer(qkv.shape, BF16), qkv=qkv, norms=norms, num_heads=config.num_attention_heads,
        num_kv_heads=config.num_key_value_heads,
    )).out  # fmt: skip


QWEN3 = Family("qwen3", "Qwen3ForCausalLM", qwen3_step, has_qk_norm=True)
