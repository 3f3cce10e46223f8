"""Which tensors a model has, under the names that Hugging Face gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..models.config import ModelConfig

TABLE: Final = "model.embed_tokens.weight"
NORM: Final = "model.norm.weight"
HEAD: Final = "lm_head.weight"
_SPARE: Final = re.compile(r".*\.rotary_emb\.inv_freq")
"""What old files have beside: it follows from the sizes."""


def layer_prefix(number: int) -> str:
    """What the names of a layer's tensors begin with."""
    return f"model.layers.{number}."


def layer_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """The tensors of every layer, without the prefix."""
    width, inner = config.hidden_size, config.intermediate_size
    queries, keys = config.num_attention_heads * config.head_dim, config.num_key_value_heads * config.head_dim
    shapes: dict[str, tuple[int, ...]] = {
        "input_layernorm.weight": (width,),
        "self_attn.q_proj.weight": (queries, width),
        "self_attn.k_proj.weight": (keys, width),
        "self_attn.v_proj.weight": (keys, width),
        "self_attn.o_proj.weight": (width, queries),
        "post_attention_layernorm.weight": (width,),
        "mlp.gate_proj.weight": (inner, width),
        "mlp.up_proj.weight": (inner, width),
        "mlp.down_proj.weight": (width, inner),
    }
    if config.has_qk_norm:
        shapes |= {"self_attn.q_norm.weight": (config.head_dim,), "self_attn.k_norm.weight": (config.head_dim,)}
    return shapes


def model_shapes(config: ModelConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """All tensors of a model, in the order in which they are used. Damaged files speak of billions of layers."""
    yield TABLE, (config.vocab_size, config.hidden_size)
    layer = layer_shapes(config)
    for number in range(config.num_hidden_layers):
        yield from ((layer_prefix(number) + name, shape) for name, shape in layer.items())
    yield NORM, (config.hidden_size,)
    if not config.tie_word_embeddings:
        yield HEAD, (config.vocab_size, config.hidden_size)


def is_spare(name: str, config: ModelConfig) -> bool:
    """Whether a file may have a tensor that is not used: the head of a tied model is a second table."""
    return (config.tie_word_embeddings and name == HEAD) or _SPARE.fullmatch(name) is not None
