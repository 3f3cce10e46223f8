"""Cases of attention of new tokens that are in no page yet, and of the append of those of all layers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from library_cases.kv_cache import in_pages
from library_cases.rotary import appended_reference
from support.library import Case, Made, random
from tileproof.kernels.fused_decode import fused_decode_attention
from tileproof.kernels.rotary import append_layers


def angles(places: int, length: int) -> tuple[Any, Any]:
    """Cosines and sines of so many positions, for heads of this length."""
    angle = np.arange(places)[:, None] * 10000.0 ** (-np.arange(length // 2) / max(length // 2, 1))
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def attended(
    qkv: Any, keys: Any, values: Any, table: Any, cos: Any, sin: Any, positions: Any, q_norm: Any = None,
    k_norm: Any = None, eps: float = 1e-6, *, scale: float | None = None,
) -> Any:  # fmt: skip
    """One token after the other: appended as by `norm_rope_append`, then attention in pages."""
    (_, groups, size, depth), found = keys.shape, []
    for b, position in enumerate(positions):
        row, slot = slice(b, b + 1), table[b, position // size] * size + position % size
        norms = () if q_norm is None else (q_norm, k_norm, eps)
        q, *pages = appended_reference(
            qkv[row], keys, values, cos, sin, positions[row], np.array([slot]), *norms
        )  # fmt: skip
        found.append(in_pages(q, *pages, table[row], positions[row] + 1, scale=scale))
    return np.concatenate(found) if found else np.zeros((0, qkv.shape[1] // depth - 2 * groups, depth))


def appended(
    qkv: Any, keys: Any, values: Any, cos: Any, sin: Any, positions: Any, slots: Any, k_norm: Any = None,
    eps: float = 1e-6,
) -> tuple[Any, Any]:  # fmt: skip
    """Layer by layer."""
    made = []
    for layer in range(len(qkv)):
        norms = () if k_norm is None else (k_norm[layer], k_norm[layer], eps)
        made.append(
            appended_reference(qkv[layer], keys[layer], values[layer], cos, sin, positions, slots, *norms)[1:]
        )  # fmt: skip
    return tuple(np.stack(each) for each in zip(*made, strict=True)) if made else (keys, values)  # type: ignore[return-value]


def attend(
    name: str, positions: Sequence[int], pages: int, size: int, length: int, heads: tuple[int, int] = (4, 2),
    depth: int = 16, dtype: str = "f32", layout: str = "dense", *, has_norm: bool = True, on_gpu: bool = False,
    on_interpreter: bool = True, **named: Any,
) -> Case:  # fmt: skip
    """A call of `fused_decode_attention`: NaN from its own position on, and -1 in the table behind it."""

    def make() -> Made:
        rng = np.random.default_rng(6)
        at = np.array(positions, np.int32).reshape(-1)
        qkv = random(rng, (len(at), (heads[0] + 2 * heads[1]) * depth), dtype, layout)
        k, v = (random(rng, (pages, heads[1], size, depth), dtype, layout) for _ in range(2))
        table = rng.permutation(pages)[: len(at) * length].reshape(len(at), length).astype(np.int32)
        for b, position in enumerate(at):
            for cache in (k, v):
                cache[table[b, position // size], :, position % size :] = np.nan
            table[b, position // size + 1 :] = -1
        norms = [random(rng, (depth,), "f32") for _ in range(2)] if has_norm else []
        return [qkv, k, v, table, *angles(length * size, depth), at, *norms], dict(named)

    called = f"fused_decode_attention {name} {dtype} {layout} {'norm' if has_norm else 'plain'}"
    return Case(called, fused_decode_attention, make, attended, on_gpu=on_gpu, on_interpreter=on_interpreter)


def _append(qkv: Any, keys: Any, values: Any, *rest: Any, **named: Any) -> tuple[Any, Any]:
    append_layers(qkv, keys, values, *rest, **named)
    return keys, values


def append(
    name: str, layers: int, tokens: int, pages: tuple[int, int, int, int], shared: int = 2, dtype: str = "f32",
    layout: str = "dense", *, has_norm: bool = True, on_gpu: bool = False,
) -> Case:  # fmt: skip
    """A call of `append_layers`, a third of the tokens without a slot."""
    count, groups, size, depth = pages

    def make() -> Made:
        rng = np.random.default_rng(7)
        keys, values = (random(rng, (layers, *pages), dtype, layout) for _ in range(2))
        qkv = random(rng, (layers, tokens, groups * (shared + 2) * depth), dtype, layout)
        slots = np.full(tokens, -1, np.int32)
        filled = rng.permutation(tokens)[: min(count * size, tokens - tokens // 3)]
        slots[filled] = rng.permutation(count * size)[: len(filled)]
        positions = rng.integers(0, 50, tokens).astype(np.int32)
        norms = [random(rng, (layers, depth), "f32")] if has_norm else []
        return [qkv, keys, values, *angles(50, depth), positions, slots, *norms], {}

    called = f"append_layers {name} {dtype} {layout} {'norm' if has_norm else 'plain'}"
    return Case(called, _append, make, appended, on_gpu=on_gpu)


def cases() -> list[Case]:
    """All, those for a GPU first."""
    return [*_attentions(), *_appends()]


def _attentions() -> Iterator[Case]:
    yield attend("pieces", (900, 64, 0), 50, 64, 16, (8, 2), 128, "bf16", on_gpu=True, on_interpreter=False)
    yield attend("pieces", (63, 65, 130), 40, 64, 8, (8, 2), 64, "bf16", has_norm=False, on_gpu=True)
    yield attend("short", (200, 1), 12, 64, 4, (8, 1), 128, "bf16", on_gpu=True, on_interpreter=False)
    yield attend("short", (128,), 4, 64, 4, (4, 2), 64, "f16", has_norm=False, on_gpu=True)
    yield attend("small pages", (33, 70), 40, 16, 8, (4, 2), 16, "f32", on_gpu=True)
    yield attend("layouts", (3, 12), 8, 5, 3, layout="sliced")
    for has_norm in (True, False):
        yield attend("pages of any size", (33, 4, 5, 0), 40, 5, 8, has_norm=has_norm)
        yield attend("layouts", (33, 12), 20, 5, 8, layout="transposed", has_norm=has_norm, scale=0.7)
        yield attend("one", (0,), 1, 1, 1, (1, 1), 2, has_norm=has_norm)
        yield attend("no sequence", (), 3, 4, 3, has_norm=has_norm)
    yield attend("long", (500, 30), 260, 4, 128, (4, 2), 16, on_interpreter=False)
    yield attend("many heads", (33, 12), 20, 5, 8, (36, 2))
    yield attend("f64", (33, 12), 20, 5, 8, dtype="f64")


def _appends() -> Iterator[Case]:
    for has_norm in (True, False):
        yield append("one token", 3, 1, (4, 8, 64, 128), 4, "bf16", has_norm=has_norm, on_gpu=True)
        yield append("tokens", 2, 7, (4, 2, 3, 8), has_norm=has_norm, on_gpu=True)
        yield append("layouts", 2, 7, (4, 3, 3, 8), layout="sliced", has_norm=has_norm)
        yield append("no token", 2, 0, (4, 2, 3, 8), has_norm=has_norm)
        yield append("no slot", 2, 3, (0, 2, 3, 8), has_norm=has_norm)
    yield append("f64", 2, 5, (4, 2, 3, 8), dtype="f64")
