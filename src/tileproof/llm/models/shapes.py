"""Models by the sizes they are published with, and random weights for them: for measuring, where there is no model."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np

import tileproof as tp
from tileproof.diagnostics.codes import Code

from ..errors import refused
from ..loader.blocks import Blocks
from ..loader.load import Quantize, weights_nbytes, weights_sizes
from ..memory import formatted_bytes, free_memory
from .config import ModelConfig, RopeScaling
from .weights import GROUP, Kind, LayerWeights, ModelWeights, Weight

_POOL = 1 << 20
"""Random numbers that are drawn; larger tensors have them again and again, each row from another place."""
_PIECE = 1 << 26
"""Elements written at a time."""


def _qwen3(size: str, layers: int, width: int, heads: int, inner: int, *, is_tied: bool) -> ModelConfig:
    return ModelConfig(
        family="qwen3", name=f"qwen3-{size}", num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads,
        num_key_value_heads=8, head_dim=128, intermediate_size=inner,
        vocab_size=151936, tokens=151669, rms_norm_eps=1e-6, rope_theta=1e6, max_position_embeddings=40960,
        tie_word_embeddings=is_tied, has_qk_norm=True,
        eos_token_ids=(151645, 151643),
    )  # fmt: skip


SHAPES: Final[dict[str, ModelConfig]] = {
    config.name: config
    for config in (
        ModelConfig(
            family="llama", name="smollm2-135m", num_hidden_layers=30, hidden_size=576, num_attention_heads=9,
            num_key_value_heads=3, head_dim=64, intermediate_size=1536,
            vocab_size=49152, tokens=49152, rms_norm_eps=1e-5, rope_theta=1e5, max_position_embeddings=8192,
            bos_token_id=1, eos_token_ids=(2, 0),
        ),
        _qwen3("0.6b", 28, 1024, 16, 3072, is_tied=True),
        ModelConfig(
            family="llama", name="llama-3.2-1b", num_hidden_layers=16, hidden_size=2048, num_attention_heads=32,
            num_key_value_heads=8, head_dim=64, intermediate_size=8192,
            vocab_size=128256, tokens=128256, rms_norm_eps=1e-5, rope_theta=5e5, max_position_embeddings=131072,
            bos_token_id=128000,
            eos_token_ids=(128001, 128008, 128009), rope_scaling=RopeScaling("llama3", 32.0, 1.0, 4.0, 8192),
        ),
        _qwen3("1.7b", 28, 2048, 16, 6144, is_tied=True),
        _qwen3("4b", 36, 2560, 32, 9728, is_tied=True),
        _qwen3("8b", 36, 4096, 32, 12288, is_tied=False),
        _qwen3("14b", 40, 5120, 40, 17408, is_tied=False),
        _qwen3("32b", 64, 5120, 64, 25600, is_tied=False),
    )
}  # fmt: skip
"""Sizes as the published config.json have them, the smallest first."""


def shape(name: str) -> ModelConfig:
    """The sizes of a published model, by name."""
    config = SHAPES.get(name.lower())
    if config is None:
        close = difflib.get_close_matches(name.lower(), SHAPES, n=1)
        near = f"did you mean {close[0]}? " if close else ""
        raise refused(Code.MODEL_KIND, f"there is no shape {name}", f"{near}there are {', '.join(SHAPES)}")
    return config


def random_model(
    name: str | ModelConfig, device: str = "cpu", quantize: Quantize = None, *, seed: int = 0
) -> tuple[ModelConfig, ModelWeights]:
    """A model of a published shape, or of any, with random weights: what it says means nothing, how fast it is does.

    Weights have the spread 1 / sqrt(inputs), so that activations and logits keep to ordinary sizes.
    """
    config = shape(name) if isinstance(name, str) else name
    kind: Kind = "int8" if quantize == "int8" else "bf16"
    needed, free = weights_nbytes(config, quantize), free_memory(device)
    if needed > free:
        cure = "use a smaller shape" if quantize else 'use quantize="int8" or a smaller shape'
        message = f"{config.name} takes {formatted_bytes(needed)} on {device}, and {formatted_bytes(free)} are free"
        raise refused(Code.MODEL_MEMORY, message, cure)
    make = _Maker(Blocks(device, weights_sizes(config, quantize)), device, kind, seed)
    width, inner, q, kv = (
        config.hidden_size,
        config.intermediate_size,
        config.num_attention_heads * config.head_dim,
        config.num_key_value_heads * config.head_dim,
    )
    table = make.bf16(config.vocab_size, width)
    layers = tuple(
        LayerWeights(
            attention_norm=make.norm(width),
            qkv=make.weight(q + 2 * kv, width),
            q_norm=make.norm(config.head_dim) if config.has_qk_norm else None,
            k_norm=make.norm(config.head_dim) if config.has_qk_norm else None,
            output=make.weight(width, q),
            feed_norm=make.norm(width),
            gate_up=make.weight(2 * inner, width),
            down=make.weight(width, inner),
        )
        for _ in range(config.num_hidden_layers)
    )
    head = (
        Weight("bf16", table)
        if config.tie_word_embeddings and kind == "bf16"
        else make.weight(config.vocab_size, width)
    )
    return config, ModelWeights(table, layers, make.norm(width), head)


@dataclass(slots=True)
class _Maker:
    """Makes random tensors on a device."""

    blocks: Blocks
    device: str
    kind: Kind
    seed: int

    def weight(self, rows: int, columns: int) -> Weight:
        if self.kind == "bf16":
            return Weight("bf16", self.bf16(rows, columns))
        values = self._filled((rows, columns), tp.i8, lambda rng, n: rng.integers(-127, 128, n, np.int8))
        spread = 127 / np.sqrt(3)  # of whole numbers from -127 to 127
        scale = np.full((rows, -(-columns // GROUP)), 1 / (spread * np.sqrt(columns)), np.float32)
        return Weight("int8", values, tp.from_numpy(scale, self.device))

    def bf16(self, rows: int, columns: int) -> tp.Tensor:
        deviation = np.float32(1 / np.sqrt(columns))

        def draw(rng: np.random.Generator, n: int) -> Any:
            return (rng.standard_normal(n, dtype=np.float32) * deviation).astype(ml_dtypes.bfloat16)

        return self._filled((rows, columns), tp.bf16, draw)

    def norm(self, size: int) -> tp.Tensor:
        self.seed += 1
        values = np.random.default_rng(self.seed).uniform(0.5, 1.5, size).astype(ml_dtypes.bfloat16)
        return tp.from_numpy(values, self.device)

    def _filled(self, shape: tuple[int, int], dtype: Any, draw: Callable[[np.random.Generator, int], Any]) -> tp.Tensor:
        """A tensor of numbers from a pool, written piece by piece: there is no second copy of it."""
        self.seed += 1
        rows, columns = shape
        # A prime more than the pool's size keeps rows from being equal.
        pool = draw(np.random.default_rng(self.seed), min(rows * columns, _POOL + 7))
        tensor = self.blocks.empty(shape, dtype)
        step = max(1, _PIECE // columns)
        for first in range(0, rows, step):
            last = min(first + step, rows)
            piece = np.resize(np.roll(pool, -(first * columns) % pool.size), (last - first) * columns)
            tp.copy(tensor[first:last], piece.reshape(last - first, columns))
        return tensor
