"""Cases of attention to caches, dense and in pages, and of appending to pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from library_cases.flash_attention import attended
from support.library import Case, random
from tileproof.kernels.kv_cache import decode_attention, paged_append, paged_attention


def one_by_one(q: Any, keys: Sequence[Any], values: Sequence[Any], scale: float | None) -> Any:
    """Attention of each sequence to all of its own keys (G C D)."""
    found = np.zeros(q.shape)
    for b, (k, v) in enumerate(zip(keys, values, strict=True)):
        found[b] = attended(q[b][:, None], k, v, causal=False, scale=scale)[0][:, 0]
    return found


def dense(q: Any, k: Any, v: Any, used: Any, *, scale: float | None = None) -> Any:
    """Attention to the places in use."""
    lengths = np.clip(used, 0, k.shape[2])
    keys, values = ([each[b, :, :length] for b, length in enumerate(lengths)] for each in (k, v))
    return one_by_one(q, keys, values, scale)


def in_pages(q: Any, k: Any, v: Any, table: Any, used: Any, *, scale: float | None = None) -> Any:
    """Attention to the places in use, page after page."""

    def cache(pages: Any, b: int) -> Any:
        found = pages[np.maximum(table[b], 0)].swapaxes(0, 1)
        return found.reshape(found.shape[0], -1, found.shape[3])[:, : max(used[b], 0)]

    keys, values = ([cache(each, b) for b in range(len(q))] for each in (k, v))
    return one_by_one(q, keys, values, scale)


def appended(keys: Any, values: Any, k: Any, v: Any, slots: Any) -> tuple[Any, Any]:
    """Pages with the new tokens in their slots."""
    page, place = np.divmod(slots[slots >= 0], max(keys.shape[2], 1))
    found = keys.astype(np.float64), values.astype(np.float64)
    for cache, new in zip(found, (k, v), strict=True):
        cache[page, :, place] = new[slots >= 0]
    return found


def decode(
    name: str, used: Sequence[int], capacity: int, heads: tuple[int, int] = (4, 2), depth: int = 16,
    dtype: str = "f32", layout: str = "dense", *, on_gpu: bool = False, on_interpreter: bool = True, **named: Any,
) -> Case:  # fmt: skip
    """A call of `decode_attention`, with NaN behind the places in use."""

    def make() -> tuple[list[Any], dict[str, Any]]:
        rng = np.random.default_rng(3)
        q = random(rng, (len(used), heads[0], depth), dtype, layout)
        k, v = (random(rng, (len(used), heads[1], capacity, depth), dtype, layout) for _ in range(2))
        for b, length in enumerate(used):
            k[b, :, max(length, 0) :], v[b, :, max(length, 0) :] = np.nan, np.nan
        return [q, k, v, np.array(used, np.int32)], dict(named)

    called = f"decode_attention {name} {dtype} {layout}"
    return Case(called, decode_attention, make, dense, on_gpu=on_gpu, on_interpreter=on_interpreter)


def paged(
    name: str, used: Sequence[int], pages: int, size: int, length: int, heads: tuple[int, int] = (4, 2),
    depth: int = 16, dtype: str = "f32", layout: str = "dense", *, on_gpu: bool = False, on_interpreter: bool = True,
    **named: Any,
) -> Case:  # fmt: skip
    """A call of `paged_attention` with tables that find pages anywhere, and -1 behind the places in use."""

    def make() -> tuple[list[Any], dict[str, Any]]:
        rng = np.random.default_rng(4)
        q = random(rng, (len(used), heads[0], depth), dtype, layout)
        k, v = (random(rng, (pages, heads[1], size, depth), dtype, layout) for _ in range(2))
        table = rng.integers(0, pages, (len(used), length)).astype(np.int32)
        counts = np.array(used, np.int32).reshape(-1)
        table[np.arange(length) * size >= counts[:, None]] = -1
        return [q, k, v, table, counts], dict(named)

    called = f"paged_attention {name} {dtype} {layout}"
    return Case(called, paged_attention, make, in_pages, on_gpu=on_gpu, on_interpreter=on_interpreter)


def _append(keys: Any, values: Any, k: Any, v: Any, slots: Any) -> tuple[Any, Any]:
    paged_append(keys, values, k, v, slots)
    return keys, values


def append(
    name: str, pages: tuple[int, int, int, int], tokens: int, dtype: str = "f32", layout: str = "dense", *,
    on_gpu: bool = False,
) -> Case:  # fmt: skip
    """A call of `paged_append`, about a quarter of the tokens without a slot."""

    def make() -> tuple[list[Any], dict[str, Any]]:
        rng = np.random.default_rng(5)
        keys, values = (random(rng, pages, dtype, layout) for _ in range(2))
        k, v = (random(rng, (tokens, pages[1], pages[3]), dtype, layout) for _ in range(2))
        slots = np.full(tokens, -1, np.int32)
        filled = rng.permutation(tokens)[: min(pages[0] * pages[2], tokens - tokens // 4)]
        slots[filled] = rng.permutation(pages[0] * pages[2])[: len(filled)]
        return [keys, values, k, v, slots], {}

    return Case(f"paged_append {name} {dtype} {layout}", _append, make, appended, tolerance=0, on_gpu=on_gpu)


def cases() -> list[Case]:
    """All, those for a GPU first."""
    return [
        decode("pieces", (2048, 700, 0), 2048, (8, 2), 128, "bf16", on_gpu=True, on_interpreter=False),
        decode("pieces that end anywhere", (1900, 1), 1999, (8, 2), 64, "bf16", on_gpu=True),
        decode("one head", (100, 64), 128, (2, 2), 128, "bf16", on_gpu=True),
        decode("many heads", (70,), 128, (40, 2), 64, "f16", on_gpu=True),
        decode("seven heads, depth 96", (40, 70), 96, (7, 1), 96, "bf16", on_gpu=True),
        decode("depth 256", (70,), 128, (4, 1), 256, "bf16", on_gpu=True),
        decode("pieces", (1100, 30), 1100, (4, 2), 64, "f32", on_gpu=True),
        decode("below 0 and above the capacity", (-5, 90), 64, (4, 2), 16, "f32", "sliced", on_gpu=True),
        decode("f64", (33, 2), 40, dtype="f64", on_gpu=True),
        decode("layouts", (33, 20), 40, layout="transposed"),
        decode("layouts", (33, 20), 40, layout="wide", scale=0.7),
        decode("one", (1,), 1, (1, 1), 1),
        decode("no sequence", (), 5),
        decode("no place", (0, 3), 0),
        paged("pieces", (1024, 700, 0), 40, 64, 16, (8, 2), 128, "bf16", on_gpu=True, on_interpreter=False),
        paged("pieces that end anywhere", (1900, 1), 33, 64, 32, (8, 2), 64, "bf16", on_gpu=True),
        paged("small pages", (33, 80), 9, 16, 5, (2, 2), 128, "bf16", on_gpu=True),
        paged("seven heads, depth 96", (40, 64), 3, 32, 3, (7, 1), 96, "f16", on_gpu=True),
        paged("small pages", (33, 80, 17), 9, 16, 5, (4, 2), 16, "f32", on_gpu=True),
        paged("pages of any size", (33, -1), 9, 5, 7, (4, 2), 16, "f32", "wide", on_gpu=True),
        paged("layouts", (33, 12), 9, 5, 7, layout="transposed", scale=0.7),
        paged("f64", (33, 12), 9, 8, 5, dtype="f64"),
        paged("one", (1,), 1, 1, 1, (1, 1), 1),
        paged("no sequence", (), 2, 4, 3),
        paged("no place", (0, 3), 2, 4, 0),
        append("pages", (9, 2, 16, 128), 40, "bf16", on_gpu=True),
        append("pages", (4, 2, 3, 5), 7, "f32", "sliced", on_gpu=True),
        append("layouts", (4, 2, 3, 5), 7, "f16", "transposed", on_gpu=True),
        append("full", (2, 1, 4, 3), 11, "f64"),
        append("no token", (4, 2, 3, 5), 0),
        append("no page", (0, 2, 3, 5), 3),
    ]
