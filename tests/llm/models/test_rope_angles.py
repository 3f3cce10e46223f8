"""Angles of positions are those of the models' own code, also where contexts are stretched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.checkpoints import rope_json, tiny
from tileproof.llm.models.config import ModelConfig, RopeScaling
from tileproof.llm.models.rope import rope_angles, rope_speeds

CASES: dict[str, ModelConfig] = {
    "plain": tiny(head_dim=128, rope_theta=1e6, max_position_embeddings=40960),
    "linear": tiny(head_dim=64, rope_theta=1e4, max_position_embeddings=8192, rope_scaling=RopeScaling("linear", 4.0)),
    "llama3": tiny(
        head_dim=64,
        rope_theta=5e5,
        max_position_embeddings=131072,
        rope_scaling=RopeScaling("llama3", 32.0, 1.0, 4.0, 8192),
    ),
    "yarn": tiny(
        head_dim=128,
        rope_theta=1e6,
        max_position_embeddings=131072,
        rope_scaling=RopeScaling("yarn", 4.0, 1.0, 32.0, 32768),
    ),
}
GOLDEN = {
    "plain": [(9, 0.3511544, -0.9363176), (17, 0.9392952, 0.3431102), (25, -0.1798217, -0.9836992)],
    "linear": [(0, 0.2409883, -0.9705280), (17, -0.2992812, 0.9541650), (25, 0.9824783, 0.1863773)],
    "llama3": [(9, 0.9843177, -0.1764052), (17, 0.9952912, 0.0969304), (25, 0.9999994, 0.0011029)],
    "yarn": [(9, 0.3998348, -1.0661187), (25, -0.6246159, -0.9520147), (63, 1.1386293, 0.0003532)],
}
"""Pair, cosine and sine at position 1000, as transformers 5.22 has them; its f32 speeds are good for 1e-4 there."""


@pytest.mark.parametrize("name", CASES)
def test_angles_are_those_that_transformers_computed(name: str) -> None:
    cos, sin = rope_angles(CASES[name], 1001)
    assert cos.dtype == sin.dtype == np.float32
    assert cos.shape == sin.shape == (1001, CASES[name].head_dim // 2)
    for pair, cosine, sine in GOLDEN[name]:
        assert abs(cos[1000, pair] - cosine) < 1e-4
        assert abs(sin[1000, pair] - sine) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_angles_are_those_that_transformers_computes(name: str) -> None:
    torch: Any = pytest.importorskip("torch")
    llama: Any = pytest.importorskip("transformers.models.llama.modeling_llama")
    from transformers import LlamaConfig

    config = CASES[name]
    sizes = {"hidden_size": 4 * config.head_dim, "num_attention_heads": 4, "head_dim": config.head_dim}
    made = LlamaConfig(
        max_position_embeddings=config.max_position_embeddings, rope_parameters=rope_json(config), **sizes
    )
    positions = [0, 1, 2, 63, 64, 1000, 4095, 40959]
    there = llama.LlamaRotaryEmbedding(made)(torch.zeros(1), torch.tensor([positions]))
    here = rope_angles(config, 40960)
    speeds, _ = rope_speeds(config.head_dim, config.rope_theta, config.rope_scaling)
    # transformers has its speeds and angles in f32, some roundings of which are much at far positions.
    allowed = 1e-5 + np.array(positions)[:, None] * speeds * 2.0**-22
    for ours, theirs in zip(here, there, strict=True):
        off = np.abs(ours[positions] - theirs[0, :, : config.head_dim // 2].numpy())
        assert (off <= allowed).all()


def test_far_positions_keep_their_digits() -> None:
    cos, _ = rope_angles(CASES["plain"], 40960)
    assert abs(float(cos[40959, 0]) - np.cos(40959.0)) < 1e-7
