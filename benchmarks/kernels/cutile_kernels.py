"""Kernels of peers in cuTile Python, written for this comparison, with the tiles and hints found best for ours.

It goes the same way to machine code as ours, and proves nothing. cuTile is imported here and nowhere else.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import cuda.tile as ct
import torch

Size = ct.Constant[int]


@ct.kernel
def _add(z, x, y, BN: Size):
    n = ct.bid(0)
    ct.store(z, (n,), ct.load(x, (n,), (BN,)) + ct.load(y, (n,), (BN,)))


@ct.kernel
def _softmax(y, x, BR: Size, C: Size):
    r = ct.bid(0)
    row = ct.astype(ct.load(x, (r, 0), (BR, C)), ct.float32)
    weight = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(y, (r, 0), ct.astype(weight / ct.sum(weight, axis=1, keepdims=True), y.dtype))


@ct.kernel
def _rms_norm(y, x, w, eps, BR: Size, C: Size):
    r = ct.bid(0)
    row = ct.astype(ct.load(x, (r, 0), (BR, C)), ct.float32)
    scale = ct.rsqrt(ct.sum(row * row, axis=1, keepdims=True) / C + eps)
    weight = ct.reshape(ct.astype(ct.load(w, (0,), (C,)), ct.float32), (1, C))
    ct.store(y, (r, 0), ct.astype(row * scale * weight, y.dtype))


def _place(at, rows, across, group):
    """Some rows of tiles together, column by column."""
    first = at // (group * across) * group
    tall = min(rows - first, group)
    within = at % (group * across)
    return first + within % tall, within // tall


@ct.kernel
def _matmul(c, a, b, BM: Size, BN: Size, BK: Size, GROUP: Size):
    rows, across = ct.cdiv(c.shape[0], BM), ct.cdiv(c.shape[1], BN)
    for at in range(ct.bid(0), rows * across, ct.num_blocks(0)):
        i, j = _place(at, rows, across, GROUP)
        acc = ct.zeros((BM, BN), ct.float32)
        for k in range(ct.num_tiles(a, 1, (BM, BK))):
            left = ct.load(a, (i, k), (BM, BK))
            acc = ct.mma(left, ct.load(b, (k, j), (BK, BN)), acc)
        ct.store(c, (i, j), ct.astype(acc, c.dtype))


@ct.kernel
def _matvec(y, w, x, BN: Size, BK: Size):
    for n in range(ct.bid(0), ct.num_tiles(y, 0, (BN,)), ct.num_blocks(0)):
        acc = ct.zeros((BN, BK), ct.float32)
        for k in range(ct.num_tiles(w, 1, (BN, BK))):
            weights = ct.astype(ct.load(w, (n, k), (BN, BK)), ct.float32)
            acc += weights * ct.reshape(ct.astype(ct.load(x, (k,), (BK,)), ct.float32), (1, BK))
        ct.store(y, (n,), ct.astype(ct.sum(acc, axis=1), y.dtype))


@ct.kernel
def _attention(o, q, k, v, scale, SHARE: Size, BS: Size, BT: Size, D: Size, CAUSAL: Size):
    s, h = ct.bid(0), ct.bid(1)
    g = h // SHARE
    query = ct.reshape(ct.load(q, (h, s, 0), (1, BS, D)), (BS, D))
    top = ct.full((BS, 1), -float("inf"), ct.float32)
    total = ct.zeros((BS, 1), ct.float32)
    acc = ct.zeros((BS, D), ct.float32)
    stop = ct.num_tiles(k, 1, (1, BT, D))
    if CAUSAL:
        stop = ct.cdiv((s + 1) * BS, BT)
    for t in range(stop):
        keys = ct.reshape(ct.load(k, (g, 0, t), (1, D, BT), order=(0, 2, 1)), (D, BT))
        scores = ct.mma(query, keys, ct.zeros((BS, BT), ct.float32))
        if CAUSAL and (t + 1) * BT > s * BS:
            rows = ct.reshape(s * BS + ct.arange(BS, dtype=ct.int32), (BS, 1))
            columns = ct.reshape(t * BT + ct.arange(BT, dtype=ct.int32), (1, BT))
            scores = ct.where(rows >= columns, scores, -float("inf"))
        new = ct.maximum(top, ct.max(scores, axis=1, keepdims=True) * scale)
        weight = ct.exp2(scores * scale - new, flush_to_zero=True)
        fade = ct.exp2(top - new, flush_to_zero=True)
        total = total * fade + ct.sum(weight, axis=1, keepdims=True)
        values = ct.reshape(ct.load(v, (g, t, 0), (1, BT, D)), (BT, D))
        acc = ct.mma(ct.astype(weight, v.dtype), values, acc * fade)
        top = new
    ct.store(o, (h, s, 0), ct.astype(ct.reshape(acc / total, (1, BS, D)), o.dtype))


# How each is launched.


@cache
def _hinted(kernel: Any, **hints: int) -> Any:
    return kernel.replace_hints(**hints) if hints else kernel


def _launch(kernel: Any, grid: tuple[int, ...], *values: Any) -> None:
    ct.launch(torch.cuda.current_stream(), grid, kernel, values)


@cache
def _processors() -> int:
    return int(torch.cuda.get_device_properties(0).multi_processor_count)


def add(z: Any, x: Any, y: Any) -> None:
    """z = x + y."""
    _launch(_add, (-(-z.numel() // 1024),), z, x, y, 1024)


def softmax(y: Any, x: Any) -> None:
    """Whole rows."""
    _launch(_hinted(_softmax, occupancy=4), (y.shape[0],), y, x, 1, y.shape[1])


def rms_norm(y: Any, x: Any, w: Any, eps: float) -> None:
    """Whole rows, two at a time."""
    _launch(_hinted(_rms_norm, occupancy=4), (-(-y.shape[0] // 2),), y, x, w, eps, 2, y.shape[1])


def matmul(c: Any, a: Any, b: Any) -> None:
    """c = a @ b."""
    (m, n), (bm, bn) = c.shape, (256, 128) if c.shape[0] <= 2048 else (128, 128)
    count = -(-m // bm) * -(-n // bn)
    lasts = m <= 4096
    hinted = _matmul if m == 4096 else _hinted(_matmul, num_worker_warps=8)
    _launch(hinted, (min(count, _processors()) if lasts else count,), c, a, b, bm, bn, 64, 8)


def matvec(y: Any, w: Any, x: Any) -> None:
    """y = w @ x."""
    n, k = w.shape
    bn, bk = (4, 1024) if k % 1024 == 0 and k > 5000 else (8, 512) if k % 512 == 0 else (8, 256)
    blocks = min(-(-n // bn), 2 * _processors())
    _launch(_hinted(_matvec, occupancy=2), (blocks,), y, w, x, bn, bk)


def attention(o: Any, q: Any, k: Any, v: Any, is_causal: bool) -> None:
    """Heads that share keys; o and q are B H S D."""
    batch, heads, length, depth = q.shape
    share, (bs, bt) = heads // k.shape[1], (64, 128) if is_causal else (128, 128)
    hinted = _hinted(_attention, occupancy=2) if is_causal else _hinted(_attention, num_ctas=2, occupancy=2)
    scale = depth**-0.5 * 1.4426950408889634
    flat = (each.flatten(0, 1) for each in (o, q, k, v))
    _launch(hinted, (-(-length // bs), batch * heads), *flat, scale, share, bs, bt, depth, int(is_causal))
