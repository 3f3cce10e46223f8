"""Small kernels of the suite's proxy in Triton, written for this comparison: what stands between two matrix products.

Triton is imported here and in `gpu_triton` alone. It reads annotations of kernels in its own way, so theirs are only
for constants.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl


@triton.jit
def _heads(
    q, keys, values, qkv, q_norm, k_norm, cos, sin, position, eps, capacity, HEADS: tl.constexpr, GROUPS: tl.constexpr,
    HALF: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(0)
    at = tl.arange(0, HALF)
    place = tl.load(position)
    low = tl.load(qkv + head * 2 * HALF + at).to(tl.float32)
    high = tl.load(qkv + head * 2 * HALF + HALF + at).to(tl.float32)
    if head < HEADS + GROUPS:
        norm = q_norm if head < HEADS else k_norm
        scale = tl.rsqrt((tl.sum(low * low, axis=0) + tl.sum(high * high, axis=0)) / (2 * HALF) + eps)
        low = low * scale * tl.load(norm + at).to(tl.float32)
        high = high * scale * tl.load(norm + HALF + at).to(tl.float32)
        c, s = tl.load(cos + place * HALF + at), tl.load(sin + place * HALF + at)
        turned = low * c - high * s
        high = high * c + low * s
        low = turned
    if head < HEADS:
        tl.store(q + head * 2 * HALF + at, low.to(tl.bfloat16))
        tl.store(q + head * 2 * HALF + HALF + at, high.to(tl.bfloat16))
    elif head < HEADS + GROUPS:
        row = ((head - HEADS) * capacity + place) * 2 * HALF
        tl.store(keys + row + at, low.to(tl.bfloat16))
        tl.store(keys + row + HALF + at, high.to(tl.bfloat16))
    else:
        row = ((head - HEADS - GROUPS) * capacity + place) * 2 * HALF
        tl.store(values + row + at, low.to(tl.bfloat16))
        tl.store(values + row + HALF + at, high.to(tl.bfloat16))


def heads(
    q: Any, keys: Any, values: Any, qkv: Any, q_norm: Any, k_norm: Any, cos: Any, sin: Any, position: Any, eps: float
) -> None:
    """Queries and keys normalised and turned; keys and values put into caches of G C D."""
    groups, capacity, depth = keys.shape
    count = q.numel() // depth
    _heads[(count + 2 * groups,)](
        q, keys, values, qkv, q_norm, k_norm, cos, sin, position, eps, capacity, HEADS=count, GROUPS=groups,
        HALF=depth // 2, num_warps=1,
    )  # fmt: skip


@triton.jit
def _silu_mul(y, x, inner, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = at < inner
    gate = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(x + inner + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + at, (gate * tl.sigmoid(gate) * up).to(tl.bfloat16), mask=inside)


def silu_mul(y: Any, x: Any) -> None:
    """The gate, through silu, times the other half, of one row."""
    inner = y.shape[1]
    _silu_mul[(triton.cdiv(inner, 512),)](y, x, inner, SIZE=512, num_warps=4)
