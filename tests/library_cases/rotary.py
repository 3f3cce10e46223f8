"""Calls of rotations, and of what an engine does between its product and attention, and what float64 says of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from support.library import DTYPES, FLOATS, LAYOUTS, Case, Made, random, wide_of
from tileproof.kernels.rotary import norm_rope_append, rope, rope_backward

PLACES = 50
"""Positions that there are angles for."""


def angles(length: int) -> tuple[Any, Any]:
    """Cosines and sines of all positions, for heads of this length."""
    angle = np.arange(PLACES)[:, None] * 10000.0 ** (-np.arange(length // 2) / max(length // 2, 1))
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def turned(x: Any, cos: Any, sin: Any, positions: Any, out: Any = None) -> Any:
    """The two halves of a head as complex numbers, times others."""
    x, cos, sin, positions = wide_of(x, cos, sin, positions)
    first, second = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    c, s = cos[positions][:, None], sin[positions][:, None]
    return np.concatenate((first * c - second * s, second * c + first * s), axis=-1)


def turned_back(dy: Any, cos: Any, sin: Any, positions: Any) -> Any:
    return turned(dy, cos, -sin, positions)


def appended(qkv: Any, keys: Any, values: Any, *rest: Any, **named: Any) -> tuple[Any, Any, Any]:
    """Queries, and the pages that were written."""
    return norm_rope_append(qkv, keys, values, *rest, **named), keys, values


def appended_reference(
    qkv: Any, keys: Any, values: Any, cos: Any, sin: Any, positions: Any, slots: Any, q_norm: Any = None,
    k_norm: Any = None, eps: float = 1e-6,
) -> tuple[Any, Any, Any]:  # fmt: skip
    _, groups, size, length = keys.shape
    count = qkv.shape[1] // length if qkv.ndim == 2 else qkv.shape[1]
    rows, heads = wide_of(qkv)[0].reshape(len(qkv), count, length), count - 2 * groups
    q, k, v = np.split(rows, (heads, heads + groups), axis=1)
    if q_norm is not None:
        q, k = (
            each / np.sqrt((each * each).sum(axis=-1, keepdims=True) / max(length, 1) + eps) * norm.astype(np.float64)
            for each, norm in ((q, q_norm), (k, k_norm))
        )
    new_keys, new_values = wide_of(keys.copy(), values.copy())
    is_put = slots >= 0
    page, entry = np.divmod(slots[is_put], max(size, 1))
    new_keys[page, :, entry] = turned(k, cos, sin, positions)[is_put]
    new_values[page, :, entry] = v[is_put]
    return turned(q, cos, sin, positions), new_keys, new_values


def cases() -> list[Case]:
    """All of them."""
    return [*_rotations(), *_appends()]


def _rotations() -> Iterator[Case]:
    for function, reference in ((rope, turned), (rope_backward, turned_back)):
        for shape in ((7, 3, 8), (1, 1, 2), (0, 3, 8), (5, 0, 8), (200, 5, 16), (3, 40, 16), (6, 2, 0)):
            yield _rotation(function, reference, shape, on_gpu=shape in ((7, 3, 8), (200, 5, 16)))
        for dtype in FLOATS[1:]:
            yield _rotation(function, reference, (7, 3, 8), dtype)
        for layout in LAYOUTS[1:]:
            yield _rotation(function, reference, (7, 3, 8), layout=layout, on_gpu=layout == "sliced")
        yield _rotation(function, reference, (7, 3, 8), kind="i64")
        yield _rotation(function, reference, (2, 32, 128), "bf16", on_gpu=True)
        yield _rotation(function, reference, (150, 28, 128), "bf16", on_gpu=True, on_interpreter=False)


def _rotation(
    function: Any, reference: Any, shape: tuple[int, int, int], dtype: str = "f32", layout: str = "dense",
    kind: str = "i32", *, on_gpu: bool = False, on_interpreter: bool = True,
) -> Case:  # fmt: skip
    def make() -> Made:
        rng = np.random.default_rng(sum(shape))
        positions = rng.integers(0, PLACES, shape[0]).astype(DTYPES[kind])
        return [random(rng, shape, dtype, layout), *angles(shape[-1]), positions], {}

    name = f"{function.__name__} {'x'.join(map(str, shape))} {dtype} {layout} {kind}"
    return Case(name, function, make, reference, on_gpu=on_gpu, on_interpreter=on_interpreter)


def _appends() -> Iterator[Case]:
    for has_norm in (True, False):
        yield _append(7, 2, 3, has_norm=has_norm, on_gpu=True)
        yield _append(1, 1, 1, has_norm=has_norm)
        yield _append(0, 2, 3, has_norm=has_norm)
        yield _append(13, 3, 1, has_norm=has_norm)
        yield _append(13, 2, 0, has_norm=has_norm)
        yield _append(7, 2, 3, is_merged=False, has_norm=has_norm, layout="sliced", on_gpu=True)
        yield _append(5, 2, 3, has_norm=has_norm, layout="wide")
        yield _append(7, 2, 3, "bf16", has_norm=has_norm)
        yield _append(1, 8, 4, "bf16", length=128, size=64, has_norm=has_norm, on_gpu=True)
        yield _append(150, 8, 5, "bf16", length=128, size=64, has_norm=has_norm, on_gpu=True, on_interpreter=False)
    yield _append(7, 2, 3, "f64")
    yield _append(7, 2, 3, "f16")
    yield _append(7, 2, 3, "bf16", weights="f32")


def _append(
    rows: int, groups: int, shared: int, dtype: str = "f32", layout: str = "dense", weights: str | None = None, *,
    length: int = 8, size: int = 4, has_norm: bool = True, is_merged: bool = True, on_gpu: bool = False,
    on_interpreter: bool = True,
) -> Case:  # fmt: skip
    heads = groups * (shared + 2)
    pages = rows // size + 2

    def make() -> Made:
        rng = np.random.default_rng(rows + heads)
        shape = (rows, heads * length) if is_merged else (rows, heads, length)
        keys, values = (random(rng, (pages, groups, size, length), dtype, layout) for _ in range(2))
        positions = rng.integers(0, PLACES, rows).astype(np.int32)
        slots = rng.permutation(pages * size)[:rows].astype(np.int32)
        slots[rows // 3 : rows // 2] = -1
        norms = [random(rng, (length,), weights or dtype) for _ in range(2)] if has_norm else []
        return [random(rng, shape, dtype, layout), keys, values, *angles(length), positions, slots, *norms], {}

    norm = "norm" if has_norm else "plain"
    name = f"norm_rope_append {rows}x{groups}x{shared}x{length} {dtype} {layout} {norm} {is_merged} {weights}"
    return Case(name, appended, make, appended_reference, on_gpu=on_gpu, on_interpreter=on_interpreter)
