"""Cases of attention, its gradients, and attention within packed sequences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from support.library import Case, random, wide_of
from tileproof.kernels.flash_attention import attention, attention_backward, varlen_attention


def attended(
    q: Any, k: Any, v: Any, *, causal: bool = True, scale: float | None = None, past: int | None = None
) -> tuple[Any, Any]:
    """Attention and its log-sum-exp in float64; zeros and -inf where a query sees nothing."""
    q, k, v = wide_of(q, k, v)
    heads, (length, depth), keys = q.shape[-3] // k.shape[-3], q.shape[-2:], k.shape[-2]
    k, v = (np.repeat(each, heads, axis=-3) for each in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (max(depth, 1) ** -0.5 if scale is None else scale)
    if causal:
        seen = (keys - length if past is None else past) + np.arange(length)[:, None] >= np.arange(keys)
        scores = np.where(seen, scores, -np.inf)
    top = np.maximum(scores.max(axis=-1, keepdims=True, initial=-np.inf), np.finfo(np.float64).min)
    weight = np.exp(scores - top)
    total = weight.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (top + np.log(total))[..., 0]
    return weight @ v / np.where(total == 0, 1, total), lse


def _result(q: Any, k: Any, v: Any, *, lse: bool = False, out: Any = None, **named: Any) -> Any:
    found = attended(q, k, v, **named)
    return found if lse else found[0]


def gradients(
    do: Any, q: Any, k: Any, v: Any, o: Any, lse: Any, *, causal: bool = True, scale: float | None = None,
    past: int | None = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The gradients of attention, from the weights themselves."""
    do, q, k, v = wide_of(do, q, k, v)
    groups, heads, (length, depth), keys = k.shape[-3], q.shape[-3] // k.shape[-3], q.shape[-2:], k.shape[-2]
    by = max(depth, 1) ** -0.5 if scale is None else scale
    many_k, many_v = (np.repeat(each, heads, axis=-3) for each in (k, v))
    scores = q @ many_k.swapaxes(-1, -2) * by
    seen = np.full((length, keys), True)
    if causal:
        seen = (keys - length if past is None else past) + np.arange(length)[:, None] >= np.arange(keys)
    weight = np.where(seen, np.exp(scores - attended(q, k, v, causal=causal, scale=scale, past=past)[1][..., None]), 0)
    to_weight = do @ many_v.swapaxes(-1, -2)
    change = weight * (to_weight - (weight * to_weight).sum(axis=-1, keepdims=True)) * by

    def summed(each: Any) -> Any:
        return each.reshape(*each.shape[:-3], groups, heads, *each.shape[-2:]).sum(axis=-3)

    return change @ many_k, summed(change.swapaxes(-1, -2) @ q), summed(weight.swapaxes(-1, -2) @ do)


def forward(
    name: str, q: Sequence[int], k: Sequence[int], dtype: str = "f32", layout: str = "dense", *, seed: int = 0,
    on_gpu: bool = False, on_interpreter: bool = True, **named: Any,
) -> Case:  # fmt: skip
    """A call of `attention` with queries and keys of these shapes."""

    def make() -> tuple[list[Any], dict[str, Any]]:
        rng = np.random.default_rng(seed)
        return [random(rng, q, dtype, layout), *(random(rng, k, dtype, layout) for _ in range(2))], dict(named)

    called = f"attention {name} {dtype} {layout}"
    return Case(called, attention, make, _result, on_gpu=on_gpu, on_interpreter=on_interpreter)


def backward(
    name: str, q: Sequence[int], k: Sequence[int], dtype: str = "f32", layout: str = "dense", *, on_gpu: bool = False,
    tolerance: float | None = None, **named: Any,
) -> Case:  # fmt: skip
    """A call of `attention_backward` with queries and keys of these shapes."""

    def make() -> tuple[list[Any], dict[str, Any]]:
        rng = np.random.default_rng(1)
        do, queries = (random(rng, q, dtype, layout) for _ in range(2))
        keys, values = (random(rng, k, dtype, layout) for _ in range(2))
        o, lse = attended(queries, keys, values, **named)
        kept = o.astype(do.dtype), lse.astype("f8" if dtype == "f64" else "f4")
        return [do, queries, keys, values, *kept], dict(named)

    called = f"attention_backward {name} {dtype} {layout}"
    return Case(called, attention_backward, make, gradients, tolerance, on_gpu=on_gpu)


def _segments(offsets: Any) -> list[slice]:
    return [slice(int(one), int(other)) for one, other in pairwise(offsets)]


def packed(q: Any, k: Any, v: Any, q_offsets: Any, k_offsets: Any, **named: Any) -> Any:
    """Attention within each sequence."""
    found = np.zeros(q.shape)
    for rows, keys in zip(_segments(q_offsets), _segments(k_offsets), strict=True):
        mine, *theirs = (each.swapaxes(0, 1) for each in (q[rows], k[keys], v[keys]))
        found[rows] = attended(mine, *theirs, **named)[0].swapaxes(0, 1)
    return found


def varlen(
    name: str, queries: Sequence[int], keys: Sequence[int], heads: tuple[int, int] = (4, 2), depth: int = 16,
    dtype: str = "f32", layout: str = "dense", *, on_gpu: bool = False, **named: Any,
) -> Case:  # fmt: skip
    """A call of `varlen_attention` with sequences of these many queries and keys."""

    def make() -> tuple[list[Any], dict[str, Any]]:
        rng = np.random.default_rng(2)
        q = random(rng, (sum(queries), heads[0], depth), dtype, layout)
        k, v = (random(rng, (sum(keys), heads[1], depth), dtype, layout) for _ in range(2))
        return [q, k, v, *(np.cumsum([0, *each]).astype(np.int32) for each in (queries, keys))], dict(named)

    return Case(f"varlen_attention {name} {dtype} {layout}", varlen_attention, make, packed, on_gpu=on_gpu)


def cases() -> list[Case]:
    """All, those for a GPU first."""
    return [
        forward("one tile", (1, 4, 64, 64), (1, 2, 64, 64), "bf16", on_gpu=True, lse=True),
        forward("ragged", (2, 4, 70, 128), (2, 2, 150, 128), "bf16", on_gpu=True),
        forward("few queries, heads packed", (1, 8, 5, 64), (1, 2, 200, 64), "bf16", on_gpu=True, lse=True),
        forward("few queries of two heads", (2, 4, 17, 64), (2, 2, 40, 64), "f16", "sliced", on_gpu=True),
        forward("all keys", (1, 2, 130, 128), (1, 1, 136, 128), "bf16", on_gpu=True, causal=False),
        forward("depth 96", (3, 40, 96), (1, 40, 96), "bf16", on_gpu=True),
        forward("depth 256", (1, 2, 65, 256), (1, 2, 65, 256), "bf16", on_gpu=True, on_interpreter=False),
        forward("ragged", (2, 4, 37, 64), (2, 2, 61, 64), "f32", on_gpu=True, past=11, lse=True),
        forward("no key for some", (1, 2, 9, 16), (1, 1, 5, 16), "f32", on_gpu=True, past=-4, lse=True),
        forward("no key at all", (1, 2, 3, 16), (1, 1, 0, 16), "f32", on_gpu=True, past=0, lse=True),
        forward("f64", (1, 2, 33, 16), (1, 1, 40, 16), "f64", on_gpu=True, lse=True),
        *(
            forward("layouts", (2, 4, 13, 16), (2, 2, 31, 16), "f32", layout)
            for layout in ("transposed", "sliced", "wide", "reversed")
        ),
        forward("one", (1, 1, 1, 1), (1, 1, 1, 1)),
        forward("three axes", (4, 13, 16), (2, 31, 16), lse=True),
        forward("no query", (1, 2, 0, 16), (1, 1, 5, 16)),
        forward("no sequence", (0, 2, 3, 16), (0, 1, 5, 16), lse=True),
        forward("more queries than keys", (1, 2, 20, 16), (1, 2, 7, 16), lse=True),
        forward("past beyond the keys", (1, 2, 20, 16), (1, 2, 7, 16), past=100),
        forward("scale", (1, 2, 20, 16), (1, 2, 20, 16), scale=0.7),
        forward("several tiles", (1, 2, 200, 16), (1, 1, 600, 16), "f32", on_interpreter=False, lse=True),
        backward("ragged", (1, 4, 70, 64), (1, 2, 150, 64), "bf16", on_gpu=True, tolerance=3e-2),
        backward("tiles", (1, 2, 128, 128), (1, 1, 128, 128), "bf16", on_gpu=True, tolerance=3e-2),
        backward("all keys", (2, 4, 70, 64), (2, 2, 133, 64), "bf16", on_gpu=True, tolerance=3e-2, causal=False),
        backward("ragged", (1, 4, 37, 16), (1, 2, 61, 16), "f32", on_gpu=True, past=11),
        backward("no key for some", (1, 2, 9, 16), (1, 1, 5, 16), "f32", on_gpu=True, past=-4),
        backward("f64", (1, 2, 20, 16), (1, 1, 23, 16), "f64", on_gpu=True),
        backward("layouts", (2, 4, 13, 16), (2, 2, 31, 16), "f32", "transposed"),
        backward("layouts", (2, 4, 13, 16), (2, 2, 31, 16), "f32", "wide"),
        backward("keys that nobody sees", (3, 5, 16), (3, 20, 16), "f32", past=2),
        backward("no query", (1, 2, 0, 16), (1, 1, 5, 16)),
        backward("several tiles", (1, 2, 150, 16), (1, 1, 170, 16), "f32", scale=0.3),
        varlen("prompts", (70, 1, 0, 130), (70, 1, 0, 130), dtype="bf16", depth=128, on_gpu=True),
        varlen("prompts behind caches", (5, 64, 1), (100, 64, 201), dtype="bf16", depth=64, on_gpu=True),
        varlen("all keys", (5, 30, 1), (9, 3, 40), dtype="bf16", depth=64, on_gpu=True, causal=False),
        varlen("prompts", (7, 0, 16), (20, 3, 16), dtype="f32", on_gpu=True),
        varlen("more queries than keys", (7, 4, 2), (3, 0, 2)),
        varlen("one", (1,), (1,), heads=(1, 1)),
        varlen("no token", (0, 0), (0, 0)),
        varlen("layouts", (7, 0, 16), (20, 3, 16), layout="transposed"),
        varlen("layouts", (7, 0, 16), (20, 3, 16), layout="wide", scale=0.4),
        varlen("f64", (7, 5), (20, 6), dtype="f64"),
    ]
