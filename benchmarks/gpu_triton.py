"""Kernels of the GPU benchmark in Triton, written for this comparison: simple ones that are good.

Triton is imported here and nowhere else, so that everything else works without it. Tile sizes come from its own tuner,
which tries a few; that happens before anything is timed. It reads annotations of kernels in its own way, so theirs
are only for constants.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def _add(z, x, y, count, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    tl.store(z + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


def add(z: Any, x: Any, y: Any, size: int = 2048) -> None:
    """z = x + y."""
    _add[(triton.cdiv(z.numel(), size),)](z, x, y, z.numel(), SIZE=size)


@triton.jit
def _softmax(y, x, length, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    start = tl.program_id(0).to(tl.int64) * length
    row = tl.load(x + start + at, mask=at < length, other=-float("inf")).to(tl.float32)
    weight = tl.exp(row - tl.max(row, axis=0))
    tl.store(y + start + at, weight / tl.sum(weight, axis=0), mask=at < length)


def softmax(y: Any, x: Any) -> None:
    """One program for each row."""
    rows, length = x.shape
    _softmax[(rows,)](y, x, length, SIZE=triton.next_power_of_2(length), num_warps=8)


@triton.jit
def _rms_norm(y, x, w, eps, length, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    start = tl.program_id(0).to(tl.int64) * length
    row = tl.load(x + start + at, mask=at < length, other=0.0).to(tl.float32)
    weight = tl.load(w + at, mask=at < length, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(row * row, axis=0) / length + eps)
    tl.store(y + start + at, row * scale * weight, mask=at < length)


def rms_norm(y: Any, x: Any, w: Any, eps: float) -> None:
    """One program for each row."""
    rows, length = x.shape
    _rms_norm[(rows,)](y, x, w, eps, length, SIZE=triton.next_power_of_2(length), num_warps=8)


def _config(m: int, n: int, k: int, stages: int, warps: int) -> Any:
    return triton.Config({"BM": m, "BN": n, "BK": k}, num_stages=stages, num_warps=warps)


_PRODUCTS = ((128, 256, 64, 3, 8), (128, 256, 64, 4, 8), (128, 128, 64, 4, 4), (256, 128, 64, 3, 8))


@triton.autotune([_config(*each) for each in _PRODUCTS], key=["m", "n", "k"])
@triton.jit
def _matmul(c, a, b, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    # Rows of tiles are taken in groups, so that programs that run together read the same. All sizes are multiples.
    here = tl.program_id(0)
    across = n // BN
    first = here // (GROUP * across) * GROUP
    tall = min(m // BM - first, GROUP)
    i = first + here % (GROUP * across) % tall
    j = here % (GROUP * across) // tall
    left = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [k, n], [n, 1], [BK, BN])
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, k, BK):
        acc = tl.dot(left.load([i * BM, at]), right.load([at, j * BN]), acc)
    out = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    out.store([i * BM, j * BN], acc.to(tl.bfloat16))


def matmul(c: Any, a: Any, b: Any) -> None:
    """c = a @ b, by descriptors of the copy engine."""
    (m, k), (_, n) = a.shape, b.shape
    _matmul[lambda given: (m // given["BM"] * (n // given["BN"]),)](c, a, b, m, n, k, GROUP=8)


_VECTORS = ((4, 512, 4), (8, 512, 8), (16, 256, 8), (2, 1024, 4))


@triton.autotune([triton.Config({"BN": n, "BK": k}, num_warps=w) for n, k, w in _VECTORS], key=["n", "k"])
@triton.jit
def _matvec(y, w, x, n, k, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BN + tl.arange(0, BN)
    start = rows.to(tl.int64)[:, None] * k
    acc = tl.zeros((BN, BK), tl.float32)
    for first in range(0, k, BK):
        at = first + tl.arange(0, BK)
        inside = at < k
        weights = tl.load(w + start + at[None, :], mask=inside[None, :] & (rows < n)[:, None], other=0.0)
        acc += weights.to(tl.float32) * tl.load(x + at, mask=inside, other=0.0).to(tl.float32)[None, :]
    tl.store(y + rows, tl.sum(acc, axis=1), mask=rows < n)


def matvec(y: Any, w: Any, x: Any) -> None:
    """y = w @ x, some rows for each program."""
    n, k = w.shape
    _matvec[lambda given: (triton.cdiv(n, given["BN"]),)](y, w, x, n, k)


def _workspace(size: int, alignment: int, stream: int | None) -> Any:
    """Where Triton puts the descriptors that a program makes."""
    return torch.empty(size, device="cuda", dtype=torch.int8)


triton.set_allocator(_workspace)
