"""Calls of sum, max, argmax, cumsum, top_k and histogram, with what float64 and integers say they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from support.library import LAYOUTS, Case, Made, random, wide_of
from tileproof.kernels.reductions import argmax, cumsum, histogram, max, sum, top_k

# References.


def sum_reference(x: Any, axis: int | None = -1, out: Any = None) -> Any:
    (wide,) = wide_of(x)
    return wide.sum(axis=axis)


def max_reference(x: Any, axis: int | None = -1, out: Any = None) -> Any:
    least = -np.inf if x.dtype.kind not in "iu" else np.iinfo(x.dtype).min
    return wide_of(x)[0].max(axis=axis, initial=least)


def argmax_reference(x: Any, out: Any = None) -> Any:
    (wide,) = wide_of(x)
    return wide.argmax(axis=-1) if x.shape[-1] else np.full(x.shape[:-1], -1)


def cumsum_reference(x: Any, out: Any = None) -> Any:
    return np.cumsum(wide_of(x)[0], axis=-1)


def top_k_reference(x: Any, k: int) -> tuple[Any, Any]:
    (wide,) = wide_of(x)
    is_nan = np.isnan(wide)
    order = np.lexsort((-np.where(is_nan, 0, wide), ~is_nan), axis=-1)[..., :k]
    return np.take_along_axis(wide, order, axis=-1), order


def histogram_reference(x: Any, bins: int, out: Any = None) -> Any:
    return np.bincount(x[x >= 0], minlength=bins)


# Cases.

SHAPES = ((5, 300), (1, 1), (0, 7), (7, 0), (3, 1), (1, 3000), (130, 17), (2, 9001))
KINDS = ("f16", "bf16", "f64", "i8", "i32", "i64", "u8")
FAR = {(5, 300), (7, 0), (2, 9001)}
"""Those that GPUs are asked for."""


def laid(shape: Sequence[int], dtype: str, layout: str, *more: Any) -> Made:
    """An array with many equal elements, and further arguments."""
    x = random(np.random.default_rng(sum_of(shape)), shape, dtype, layout)
    if x.dtype.kind not in "iu":
        np.multiply(x, 4, out=x)
        np.rint(x, out=x)
    return [x, *more], {}


def sum_of(shape: Sequence[int]) -> int:
    total = len(shape)
    for extent in shape:
        total += extent
    return total


def cases() -> list[Case]:
    """Every function over shapes, layouts and element types."""
    found: list[Case] = []

    def case(
        function: Callable[..., Any], reference: Callable[..., Any], shape: Sequence[int], dtype: str, layout: str,
        *more: Any, on_gpu: bool = False,
    ) -> None:  # fmt: skip
        words = [function.__name__, *map(str, more), "x".join(map(str, shape)), dtype, layout]
        made = partial(laid, tuple(shape), dtype, layout, *more)
        is_small = np.prod(shape) < 1 << 20
        found.append(Case(" ".join(words), function, made, reference, on_interpreter=bool(is_small), on_gpu=on_gpu))

    for function, reference in ((sum, sum_reference), (max, max_reference)):
        for axis in (-1, 0, None):
            for shape in SHAPES:
                case(function, reference, shape, "f32", "dense", axis, on_gpu=shape in FAR and axis is not None)
            for layout in LAYOUTS[1:]:
                on_gpu = layout == "transposed" and axis == 0
                case(function, reference, (70, 300), "f32", layout, axis, on_gpu=on_gpu)
        for dtype in KINDS:
            case(function, reference, (5, 300), dtype, "dense", -1, on_gpu=dtype in ("bf16", "i8"))
            case(function, reference, (5, 300), dtype, "dense", 0)
        for shape in ((2, 3, 50), (70,)):
            case(function, reference, shape, "f32", "dense", -1)
            case(function, reference, shape, "f32", "dense", None)
        case(function, reference, (9000, 3), "f32", "dense", 0, on_gpu=True)
    for function, reference in ((argmax, argmax_reference), (cumsum, cumsum_reference)):
        for shape in (*SHAPES, (2, 3, 50), (70,)):
            case(function, reference, shape, "f32", "dense", on_gpu=shape in FAR)
        for layout in LAYOUTS[1:]:
            case(function, reference, (70, 300), "f32", layout, on_gpu=layout == "wide")
        for dtype in KINDS:
            case(function, reference, (5, 300), dtype, "dense", on_gpu=dtype in ("bf16", "i32"))
    case(cumsum, cumsum_reference, (2, 20000), "f32", "dense", on_gpu=True)
    for k in (1, 2, 5, 17):
        case(top_k, top_k_reference, (5, 300), "f32", "dense", k, on_gpu=k in (1, 5))
    for shape, k in (((1, 1), 1), ((0, 7), 2), ((3, 17), 17), ((2, 3, 50), 4), ((70,), 3), ((3, 2500), 6), ((4, 9), 0)):
        case(top_k, top_k_reference, shape, "f32", "dense", k)
    for layout in LAYOUTS[1:]:
        case(top_k, top_k_reference, (70, 300), "f32", layout, 5, on_gpu=layout == "sliced")
    for dtype in ("f16", "bf16", "i8", "i32", "u8"):
        case(top_k, top_k_reference, (5, 300), dtype, "dense", 5, on_gpu=dtype in ("bf16", "i32"))
    case(top_k, top_k_reference, (2, 16500), "f32", "dense", 6, on_gpu=True)
    for function, reference in ((sum, sum_reference), (max, max_reference), (argmax, argmax_reference)):
        more = () if function is argmax else (-1,)
        case(function, reference, (300, 10000), "bf16", "dense", *more, on_gpu=True)
        case(function, reference, (600, 4096), "bf16", "dense", *more, on_gpu=True)
    for shape, bins, kind in (
        ((1000,), 7, np.int32),
        ((0,), 3, np.int32),
        ((7, 30), 300, np.int64),
        ((5000,), 1, np.int64),
        ((200000,), 5, np.int32),
    ):
        made = partial(_entries, shape, bins, kind)
        name = f"histogram {bins} {'x'.join(map(str, shape))} {np.dtype(kind).name}"
        found.append(Case(name, histogram, made, histogram_reference, tolerance=0, on_gpu=True))
    return found


def _entries(shape: tuple[int, ...], bins: int, kind: Any) -> Made:
    return [np.random.default_rng(bins).integers(-1, bins, shape).astype(kind), bins], {}
