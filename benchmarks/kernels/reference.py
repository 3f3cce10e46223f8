"""What is right, in float64: functions of `xp`, which is torch or numpy, and of arrays of its kind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def index(x: Any) -> Any:
    """Integers as both take them for indices."""
    return x.long() if hasattr(x, "long") else x.astype(np.int64)


def softmax(xp: Any, x: Any) -> Any:
    weight = xp.exp(x - xp.amax(x, axis=-1, keepdims=True))
    return weight / weight.sum(axis=-1, keepdims=True)


def logsumexp(xp: Any, x: Any) -> Any:
    top = xp.amax(x, axis=-1, keepdims=True)
    return top[..., 0] + xp.log(xp.exp(x - top).sum(axis=-1))


def gelu(xp: Any, x: Any, approximate: str) -> Any:
    if approximate == "tanh":
        return 0.5 * x * (1 + xp.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))
    erf = np.vectorize(math.erf) if xp is np else xp.erf
    return 0.5 * x * (1 + erf(x * 0.5**0.5))


def silu_mul(xp: Any, x: Any) -> Any:
    half = x.shape[-1] // 2
    gate = x[..., :half]
    return gate / (1 + xp.exp(-gate)) * x[..., half:]


def rms_norm(xp: Any, x: Any, w: Any) -> Any:
    return x / xp.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6) * w


def layer_norm(xp: Any, x: Any, w: Any, b: Any) -> Any:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / xp.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5) * w + b


def rope(xp: Any, x: Any, cos: Any, sin: Any, positions: Any) -> Any:
    """Half-split: element i is rotated with element i + D/2, by the angles of the token's position."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    c, s = cos[index(positions)][:, None], sin[index(positions)][:, None]
    return xp.concatenate((first * c - second * s, second * c + first * s), axis=-1)


def attention(xp: Any, q: Any, k: Any, v: Any, is_causal: bool = False) -> Any:
    """One head of queries."""
    scores = q @ k.T * q.shape[-1] ** -0.5
    if is_causal:
        scores[xp.triu(xp.ones_like(scores), 1) > 0] = -math.inf
    return softmax(xp, scores) @ v


def first_greatest(xp: Any, x: Any) -> Any:
    """Where each row is greatest, the first of equals."""
    return xp.argmax((x == xp.amax(x, axis=-1, keepdims=True)) * xp.arange(x.shape[-1], 0, -1, **_beside(x)), axis=-1)


def largest(xp: Any, x: Any, k: int) -> Any:
    """The greatest of each row, in order."""
    return x.topk(k, -1).values if hasattr(x, "topk") else np.sort(x, axis=-1)[:, : -k - 1 : -1]


def _beside(x: Any) -> dict[str, Any]:
    return {"device": x.device} if hasattr(x, "topk") else {}
