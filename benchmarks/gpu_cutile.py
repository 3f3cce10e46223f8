"""Kernels of the GPU benchmark in cuTile Python, written for this comparison, with the tiles and hints of our own.

It goes the same way to machine code as ours, and proves nothing. cuTile is imported here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import cuda.tile as ct
import torch

Size = ct.Constant[int]
KINDS = ("add", "softmax", "rms_norm", "matmul", "matmul_nt", "matvec", "attention", "full_attention")
"""Of which there is a kernel here."""


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
def _matmul(c, a, b, BM: Size, BN: Size, BK: Size, GROUP: Size, TURNED: Size):
    rows, across = ct.cdiv(c.shape[0], BM), ct.cdiv(c.shape[1], BN)
    for at in range(ct.bid(0), rows * across, ct.num_blocks(0)):
        i, j = _place(at, rows, across, GROUP)
        acc = ct.zeros((BM, BN), ct.float32)
        for k in range(ct.num_tiles(a, 1, (BM, BK))):
            left = ct.load(a, (i, k), (BM, BK))
            if TURNED:
                right = ct.load(b, (k, j), (BK, BN), order="F")
            else:
                right = ct.load(b, (k, j), (BK, BN))
            acc = ct.mma(left, right, acc)
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


# How each is launched. Arguments are those of our kernels, and so are the tiles; `hints` are of our schedule.


@cache
def _hinted(kernel: Any, hints: tuple[tuple[str, int], ...]) -> Any:
    return kernel.replace_hints(**dict(hints)) if hints else kernel


def launched(kind: str, args: list[Any], tiles: Mapping[str, int], schedule: Any) -> Any:
    """A call that launches the work of a kind on tensors of torch."""
    said = {"num_ctas": schedule.cluster, "occupancy": schedule.occupancy, "num_worker_warps": schedule.warps}
    hints = tuple((name, value) for name, value in said.items() if value is not None)
    processors = torch.cuda.get_device_properties(0).multi_processor_count * (schedule.occupancy or 1)
    out, sizes = args[0], tuple(tiles.values())

    def blocks(count: int) -> int:
        return min(count, processors) if schedule.persistent else count

    match kind:
        case "add":
            kernel, grid, given = _add, (-(-out.numel() // sizes[0]),), (*args, *sizes)
        case "softmax" | "rms_norm":
            kernel = _softmax if kind == "softmax" else _rms_norm
            grid, given = (-(-out.shape[0] // sizes[0]),), (*args, *sizes, out.shape[1])
        case "matmul" | "matmul_nt":
            count = -(-out.shape[0] // sizes[0]) * -(-out.shape[1] // sizes[1])
            kernel, grid = _matmul, (blocks(count),)
            given = (*args, *sizes, schedule.group, int(kind == "matmul_nt"))
        case "matvec":
            kernel, grid, given = _matvec, (blocks(-(-out.shape[0] // sizes[0])),), (*args, *sizes)
        case "attention" | "full_attention":
            heads, length, depth = out.shape
            share = heads // args[2].shape[0]
            kernel, grid = _attention, (-(-length // sizes[0]), heads)
            given = (*args, share, *sizes, depth, int(kind == "attention"))
        case _:
            raise ValueError(f"there is no kernel of {kind}")
    hinted = _hinted(kernel, hints)
    return lambda: ct.launch(torch.cuda.current_stream(), grid, hinted, given)
