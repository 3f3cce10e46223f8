"""Kernels of peers in Triton, written for this comparison: simple ones that are good.

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


@triton.jit
def _log_softmax(y, x, length, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    start = tl.program_id(0).to(tl.int64) * length
    row = tl.load(x + start + at, mask=at < length, other=-float("inf")).to(tl.float32)
    row = row - tl.max(row, axis=0)
    tl.store(y + start + at, row - tl.log(tl.sum(tl.exp(row), axis=0)), mask=at < length)


def log_softmax(y: Any, x: Any) -> None:
    """One program for each row."""
    rows, length = x.shape
    _log_softmax[(rows,)](y, x, length, SIZE=triton.next_power_of_2(length), num_warps=8)


@triton.jit
def _add_rms_norm(y, total, x, residual, w, eps, length, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    inside = at < length
    start = tl.program_id(0).to(tl.int64) * length
    row = tl.load(x + start + at, mask=inside, other=0.0).to(tl.float32)
    row += tl.load(residual + start + at, mask=inside, other=0.0).to(tl.float32)
    rounded = row.to(tl.bfloat16)
    tl.store(total + start + at, rounded, mask=inside)
    row = rounded.to(tl.float32)
    weight = tl.load(w + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(row * row, axis=0) / length + eps)
    tl.store(y + start + at, row * scale * weight, mask=inside)


def add_rms_norm(y: Any, total: Any, x: Any, residual: Any, w: Any, eps: float) -> None:
    """One program for each row."""
    rows, length = x.shape
    _add_rms_norm[(rows,)](
        y, total, x, residual, w, eps, length, SIZE=triton.next_power_of_2(length), num_warps=8
    )  # fmt: skip


@triton.jit
def _layer_norm(y, x, w, b, eps, length, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    inside = at < length
    start = tl.program_id(0).to(tl.int64) * length
    row = tl.load(x + start + at, mask=inside, other=0.0).to(tl.float32)
    centred = tl.where(inside, row - tl.sum(row, axis=0) / length, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / length + eps)
    weight = tl.load(w + at, mask=inside, other=0.0).to(tl.float32)
    shift = tl.load(b + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + start + at, centred * scale * weight + shift, mask=inside)


def layer_norm(y: Any, x: Any, w: Any, b: Any, eps: float) -> None:
    """One program for each row."""
    rows, length = x.shape
    _layer_norm[(rows,)](y, x, w, b, eps, length, SIZE=triton.next_power_of_2(length), num_warps=8)


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


# One token of each sequence: pieces of a cache by programs of their own, and what they found merged.


@triton.jit
def _decode(
    part, lse, q, k, v, used, scale, groups, capacity, pieces, R: tl.constexpr, D: tl.constexpr, BT: tl.constexpr
):
    # Tensor cores want 16 rows: heads beyond the R that share keys are computed and not stored.
    piece, cache = tl.program_id(0), tl.program_id(1)
    length = tl.load(used + cache // groups)
    share = tl.cdiv(tl.cdiv(length, pieces), BT) * BT
    heads, depth = tl.arange(0, 16), tl.arange(0, D)
    query = tl.load(q + (cache * R + heads)[:, None] * D + depth[None, :], mask=(heads < R)[:, None], other=0.0)
    top = tl.full((16,), -float("inf"), tl.float32)
    total = tl.zeros((16,), tl.float32)
    acc = tl.zeros((16, D), tl.float32)
    start = cache.to(tl.int64) * capacity * D
    first = piece * share
    for at in range(first, tl.minimum(first + share, length), BT):
        places = at + tl.arange(0, BT)
        inside = places < length
        offsets = start + places[:, None] * D + depth[None, :]
        keys = tl.load(k + offsets, mask=inside[:, None], other=0.0)
        scores = tl.dot(query, tl.trans(keys)) * scale
        scores = tl.where(inside[None, :], scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, axis=1))
        weight, fade = tl.exp2(scores - new[:, None]), tl.exp2(top - new)
        total = total * fade + tl.sum(weight, axis=1)
        values = tl.load(v + offsets, mask=inside[:, None], other=0.0)
        acc = acc * fade[:, None] + tl.dot(weight.to(values.dtype), values)
        top = new
    row = (cache * pieces + piece) * 16 + heads
    found = total > 0
    mean = acc / tl.where(found, total, 1.0)[:, None]
    tl.store(part + row[:, None] * D + depth[None, :], mean)
    tl.store(lse + row, tl.where(found, top + tl.log2(tl.where(found, total, 1.0)), -float("inf")))


@triton.jit
def _merge(o, part, lse, R: tl.constexpr, D: tl.constexpr, PIECES: tl.constexpr):
    head, cache = tl.program_id(0), tl.program_id(1)
    pieces, depth = tl.arange(0, PIECES), tl.arange(0, D)
    row = (cache * PIECES + pieces) * 16 + head
    found = tl.load(lse + row)
    weight = tl.exp2(found - tl.max(found, axis=0))
    parts = tl.load(part + row[:, None] * D + depth[None, :])
    mean = tl.sum(parts * weight[:, None], axis=0) / tl.sum(weight, axis=0)
    tl.store(o + (cache * R + head) * D + depth, mean)


def decode(o: Any, q: Any, k: Any, v: Any, used: Any) -> None:
    """Attention of one token of each sequence to its cache, B G C D."""
    caches, capacity = q.shape[0] * k.shape[1], k.shape[2]
    pieces = max(min(triton.next_power_of_2(1056 // caches), capacity // 256, 128), 1)
    decode_pieces(o, q, k, v, used, pieces)


def decode_pieces(o: Any, q: Any, k: Any, v: Any, used: Any, pieces: int) -> None:
    """The same with caches in so many pieces, a power of two."""
    (batch, heads, depth), (_, groups, capacity, _) = q.shape, k.shape
    caches, share = batch * groups, heads // groups
    part = torch.empty((caches, pieces, 16, depth), dtype=torch.float32, device=q.device)
    lse = torch.empty((caches, pieces, 16), dtype=torch.float32, device=q.device)
    scale = depth**-0.5 * 1.4426950408889634
    _decode[(pieces, caches)](
        part, lse, q, k, v, used, scale, groups, capacity, pieces, R=share, D=depth, BT=64, num_warps=4, num_stages=3
    )  # fmt: skip
    _merge[(share, caches)](o, part, lse, R=share, D=depth, PIECES=pieces)


# The rate at which memory is read, for those who do little else.


@triton.jit
def _read(totals, x, count, SIZE: tl.constexpr, TURNS: tl.constexpr):
    here = tl.program_id(0)
    acc = tl.zeros((SIZE,), tl.int32)
    for turn in tl.static_range(TURNS):
        at = (here * TURNS + turn).to(tl.int64) * SIZE + tl.arange(0, SIZE)
        acc ^= tl.load(x + at, mask=at < count, other=0)
    tl.store(totals + here, tl.sum(acc, axis=0))


def reader(x: Any, size: int = 2048, turns: int = 8) -> Any:
    """A call that reads an array of i32, and next to nothing else."""
    programs = triton.cdiv(x.numel(), size * turns)
    totals = torch.empty(programs, dtype=torch.int32, device=x.device)
    return lambda: _read[(programs,)](totals, x, x.numel(), SIZE=size, TURNS=turns, num_warps=8)


def _workspace(size: int, alignment: int, stream: int | None) -> Any:
    """Where Triton puts the descriptors that a program makes."""
    return torch.empty(size, device="cuda", dtype=torch.int8)


triton.set_allocator(_workspace)
