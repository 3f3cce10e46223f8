"""Shapes of Qwen3-4B and Qwen3-32B that rows are of."""

from __future__ import annotations

from typing import Final

MODELS: Final = {
    "4B": {"qkv": (6144, 2560), "o": (2560, 4096), "gate_up": (19456, 2560), "down": (2560, 9728)},
    "32B": {"qkv": (10240, 5120), "o": (5120, 8192), "gate_up": (51200, 5120), "down": (5120, 25600)},
}
"""The matrices of a layer: outputs and inputs."""
HEADS: Final = {"4B": (151936, 2560), "32B": (151936, 5120)}
LAYERS: Final = {"4B": 36, "32B": 64}
ROWS_AT: Final = (16, 64, 128, 256, 512, 1024, 2048, 4096)
"""How many tokens at a time."""
