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
    width, inner = config.width, config.inner
    queries, keys = config.heads * config.depth, config.groups * config.depth
    found: dict[str, tuple[int, ...]] = {
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
    if config.has_head_norms:
        found |= {"self_attn.q_norm.weight": (config.depth,), "self_attn.k_norm.weight": (config.depth,)}
    return found


def model_shapes(config: ModelConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """All tensors of a model, in the order in which they are used. Damaged files speak of billions of layers."""
    yield TABLE, (config.vocabulary, config.width)
    layer = layer_shapes(config)
    for number in range(config.layers):
        yield from ((layer_prefix(number) + name, shape) for name, shape in layer.items())
    yield NORM, (config.width,)
    if not config.is_tied:
        yield HEAD, (config.vocabulary, config.width)


def is_spare(name: str, config: ModelConfig) -> bool:
    """Whether a file may have a tensor that is not used: the head of a tied model is a second table."""
    return (config.is_tied and name == HEAD) or _SPARE.fullmatch(name) is not None
