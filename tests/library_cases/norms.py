"""Calls of the norms and what float64 says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from support.library import FLOATS, LAYOUTS, Case, Made, random, wide_of
from tileproof.kernels.norms import (
    add_rms_norm,
    add_rms_norm_backward,
    layer_norm,
    layer_norm_backward,
    rms_norm,
    rms_norm_backward,
)

Reference = Callable[..., Any]
EPS = 2**-6
"""Large, so that gradients of rows of one element are no difference of equal numbers; exact in f32."""


def mean(rows: Any) -> Any:
    """Of each row; 0 of one without elements."""
    return rows.sum(axis=-1, keepdims=True) / max(rows.shape[-1], 1)


def column_sum(rows: Any) -> Any:
    """Over all axes but the last."""
    return rows.reshape(-1, rows.shape[-1]).sum(axis=0) if rows.shape[-1] else np.zeros(0)


def rms_reference(x: Any, w: Any, eps: float = 1e-6, out: Any = None) -> Any:
    x, w = wide_of(x, w)
    return x / np.sqrt(mean(x * x) + eps) * w


def add_reference(x: Any, residual: Any, w: Any, eps: float = 1e-6) -> tuple[Any, Any]:
    total = (x.astype(np.float64) + residual.astype(np.float64)).astype(x.dtype)
    return rms_reference(total, w, eps), total.astype(np.float64)


def layer_reference(x: Any, w: Any, b: Any, eps: float = 1e-5, out: Any = None) -> Any:
    x, w, b = wide_of(x, w, b)
    centred = x - mean(x)
    return centred / np.sqrt(mean(centred * centred) + eps) * w + b


def rms_backward_reference(dy: Any, x: Any, w: Any, eps: float = 1e-6) -> tuple[Any, Any]:
    dy, x, w = wide_of(dy, x, w)
    scale = 1 / np.sqrt(mean(x * x) + eps)
    normed, inner = x * scale, dy * w
    return (inner - normed * mean(inner * normed)) * scale, column_sum(dy * normed)


def add_backward_reference(dy: Any, dtotal: Any, total: Any, w: Any, eps: float = 1e-6) -> tuple[Any, Any]:
    dx, dw = rms_backward_reference(dy, total, w, eps)
    return dx + dtotal.astype(np.float64), dw


def layer_backward_reference(dy: Any, x: Any, w: Any, eps: float = 1e-5) -> tuple[Any, Any, Any]:
    dy, x, w = wide_of(dy, x, w)
    centred = x - mean(x)
    scale = 1 / np.sqrt(mean(centred * centred) + eps)
    normed, inner = centred * scale, dy * w
    return (inner - mean(inner) - normed * mean(inner * normed)) * scale, column_sum(dy * normed), column_sum(dy)


FORWARD: tuple[tuple[Any, Reference, str], ...] = (
    (rms_norm, rms_reference, "x w"),
    (add_rms_norm, add_reference, "x x w"),
    (layer_norm, layer_reference, "x w w"),
)
BACKWARD: tuple[tuple[Any, Reference, str], ...] = (
    (rms_norm_backward, rms_backward_reference, "x x w"),
    (add_rms_norm_backward, add_backward_reference, "x x x w"),
    (layer_norm_backward, layer_backward_reference, "x x w"),
)
SHAPES: tuple[Sequence[int], ...] = (
    (1, 1), (1, 40), (7, 40), (33, 40), (300, 40), (5, 128), (2, 3, 40), (40,), (0, 40), (3, 0), (9, 257)
)  # fmt: skip
"""Ragged, with one element, with none, and of other ranks."""
LARGE: tuple[Sequence[int], ...] = ((600, 128), (64, 2560), (300, 4096), (3, 9001))
"""For GPUs: several programs for each multiprocessor, rows that fill a tile or not, and a row that no tile holds."""
TWO: tuple[Sequence[int], ...] = ((64, 2560), (300, 2560), (97, 5120))
"""For GPUs: rows of two windows."""


def cases() -> list[Case]:
    """All of them."""
    return list(_cases())


def _cases() -> Iterator[Case]:
    for function, reference, kinds in (*FORWARD, *BACKWARD):
        for shape in SHAPES:
            if function is not layer_norm_backward or shape[-1] != 1:  # all slopes of a row of one element are 0
                yield _case(function, reference, kinds, shape, on_gpu=shape in ((33, 40), (9, 257)))
        for dtype in FLOATS[1:]:
            yield _case(function, reference, kinds, (33, 40), dtype, on_gpu=dtype == "bf16")
        for layout in LAYOUTS[1:]:
            yield _case(function, reference, kinds, (33, 40), layout=layout, on_gpu=layout in ("sliced", "transposed"))
        yield _case(function, reference, kinds, (7, 40), "bf16", weights="f32")
        yield _case(function, reference, kinds, (3, 70001), on_interpreter=False)
        for shape in LARGE:
            yield _case(function, reference, kinds, shape, "bf16", on_interpreter=False, on_gpu=True)
    for shape in TWO:
        yield _case(add_rms_norm, add_reference, "x x w", shape, on_interpreter=False, on_gpu=True)
        yield _case(
            add_rms_norm, add_reference, "x x w", shape, "bf16", weights="f32", on_interpreter=False, on_gpu=True
        )


def _case(
    function: Any, reference: Reference, kinds: str, shape: Sequence[int], dtype: str = "f32", layout: str = "dense",
    weights: str | None = None, *, on_interpreter: bool = True, on_gpu: bool = False,
) -> Case:  # fmt: skip
    def make() -> Made:
        rng = np.random.default_rng(len(shape) + sum(shape))
        rows = [random(rng, shape, dtype, layout) for each in kinds.split() if each == "x"]
        scales = [random(rng, shape[-1:], weights or dtype, layout) for each in kinds.split() if each == "w"]
        return [*rows, *scales], {"eps": EPS}

    name = " ".join(filter(None, (function.__name__, "x".join(map(str, shape)), dtype, layout, weights)))
    return Case(name, function, make, reference, on_interpreter=on_interpreter, on_gpu=on_gpu)
