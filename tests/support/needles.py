"""A model that finds one token among thousands: a needle has a name, and the question at the end asks for it.

All tokens have names, so that who looks at anything but the needle finds another name, or all of them. The keys of
needles and the query of the question lie in a pair of elements that positions do not turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import ml_dtypes
import numpy as np

from support.checkpoints import Weights, tiny
from support.model_cases import Case

NAMES: Final = 16
QUESTION: Final = NAMES
_IS_NEEDLE, _IS_QUESTION, _NAME = 0, 1, 2
_ANSWER: Final = slice(_NAME + NAMES, _NAME + 2 * NAMES)
_STILL: Final = 15
"""The slowest of the 16 pairs of a head."""
_BETWEEN: Final = 34
"""The first element of an embedding that means nothing."""


@dataclass(frozen=True)
class Haystack(Case):
    """One layer of attention that looks for needles; the rest of the model is noise."""

    @property
    def weights(self) -> Weights:
        results = {name: array.astype(np.float32) for name, array in super().weights.items()}
        config, layer = self.config, "model.layers.0."
        table = results["model.embed_tokens.weight"]
        table[:] = np.random.default_rng(self.seed).standard_normal(table.shape)
        table[:, :_BETWEEN] = 0
        table[np.arange(len(table)), _NAME + np.arange(len(table)) % NAMES] = 4
        table[:NAMES, _IS_NEEDLE] = table[QUESTION, _IS_QUESTION] = 8
        for name in ("input_layernorm", "post_attention_layernorm"):
            results[f"{layer}{name}.weight"][:] = 1
        results["model.norm.weight"][:] = 1
        attention = f"{layer}self_attn."
        for part, count, flag in (
            ("q", config.num_attention_heads, _IS_QUESTION),
            ("k", config.num_key_value_heads, _IS_NEEDLE),
        ):
            by_head = results[f"{attention}{part}_proj.weight"].reshape(count, config.head_dim, config.hidden_size)
            by_head[:, _STILL] = 0
            by_head[:, _STILL, flag] = 1.6
        values = results[f"{attention}v_proj.weight"].reshape(
            config.num_key_value_heads, config.head_dim, config.hidden_size
        )
        values[:, :NAMES] = np.eye(NAMES, config.hidden_size, _NAME)
        down, head = results[f"{layer}mlp.down_proj.weight"], results["lm_head.weight"]
        answer = np.tile(np.eye(NAMES, config.head_dim), config.num_attention_heads)
        results[f"{attention}o_proj.weight"][_ANSWER] = answer
        down[_ANSWER] = head[:, _ANSWER] = 0
        head[:NAMES] = 0
        head[:NAMES, _ANSWER] = 4 * np.eye(NAMES)
        return {name: array.astype(ml_dtypes.bfloat16) for name, array in results.items()}

    def text(self, count: int, place: int, needle: int) -> list[int]:
        """So many tokens, a needle among them, with the question behind."""
        straw = np.random.default_rng([self.seed, place]).integers(QUESTION + 1, self.config.tokens, count)
        straw[place], straw[-1] = needle, QUESTION
        return straw.tolist()


def haystack(context: int) -> Haystack:
    """Such a model for a context."""
    return Haystack(
        "haystack", tiny("llama", num_hidden_layers=1, max_position_embeddings=context, rope_theta=1e12), is_calm=True
    )


def places(count: int) -> Sequence[int]:
    """Where needles are put: first, in the middle, and last before the question."""
    return 0, count // 2, count - 2
