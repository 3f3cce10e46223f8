"""The model that tests of commands generate with: one for all of them, so that its kernels are compiled once."""

from __future__ import annotations

from pathlib import Path

from support.checkpoints import random_weights, tiny, write_folder
from tileproof.cli.chat import memory_rate

CONFIG = tiny("qwen3", max_position_embeddings=160, eos_token_ids=(319,))
"""Texts end by their length alone: the token of the end is a row of padding, which is never chosen."""


def write_model(path: Path) -> Path:
    """Writes the model as a folder of Hugging Face."""
    return write_folder(path, CONFIG, random_weights(CONFIG))


def quick_read_rate(device: str) -> float:
    """`read_rate`, in a moment, and not quite right."""
    return memory_rate.read_rate(device, tries=1, size=4 << 20)
