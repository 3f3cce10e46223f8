"""The angles by which positions turn queries and keys, stretched for long contexts where a model asks for it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .config import ModelConfig, RopeScaling


def rope_angles(config: ModelConfig, positions: int) -> tuple[Any, Any]:
    """Cosines and sines of all angles of the first positions, f32, of shape (positions, depth / 2).

    They are computed in f64: an angle of some ten thousand in f32 has only three digits behind the point. Models with
    yarn want their scores scaled, and have the factor in both tables, as transformers does it.
    """
    speeds, factor = rope_speeds(config.head_dim, config.rope_theta, config.rope_scaling)
    angles = np.arange(positions, dtype=np.float64)[:, None] * speeds
    return (np.cos(angles) * factor).astype(np.float32), (np.sin(angles) * factor).astype(np.float32)


def rope_speeds(depth: int, theta: float, scaling: RopeScaling | None) -> tuple[Any, float]:
    """By how much one position turns each pair of a head, in f64, and the factor of cosines and sines."""
    speeds = theta ** -(np.arange(0, depth, 2, dtype=np.float64) / depth)
    if scaling is None:
        return speeds, 1.0
    match scaling.kind:
        case "linear":
            return speeds / scaling.factor, 1.0
        case "llama3":
            return _blended(speeds, _llama3_share(speeds, scaling), scaling.factor), 1.0
        case "yarn":
            return _blended(speeds, _yarn_share(depth, theta, scaling), scaling.factor), yarn_factor(scaling.factor)


def yarn_factor(factor: float) -> float:
    """What yarn multiplies cosines and sines with, so that scores keep their spread over a longer context."""
    return 1.0 if factor <= 1 else 0.1 * math.log(factor) + 1.0


def _blended(speeds: Any, share: Any, factor: float) -> Any:
    """Speeds of which a share is kept as it is, and the rest is slowed."""
    return speeds * share + speeds / factor * (1 - share)


def _llama3_share(speeds: Any, scaling: RopeScaling) -> Any:
    """How much of a speed is kept: by how many turns it makes in the context of training."""
    turns = scaling.trained * speeds / (2 * math.pi)
    return np.clip((turns - scaling.low) / (scaling.high - scaling.low), 0, 1)


def _yarn_share(depth: int, theta: float, scaling: RopeScaling) -> Any:
    """The same, falling in a line between the pairs that make `high` and `low` turns."""

    def pair(turns: float) -> float:
        return depth * math.log(scaling.trained / (turns * 2 * math.pi)) / (2 * math.log(theta))

    first = max(math.floor(pair(scaling.high)), 0)
    last = min(math.ceil(pair(scaling.low)), depth - 1)
    width = last - first or 0.001
    return 1 - np.clip((np.arange(depth // 2) - first) / width, 0, 1)
