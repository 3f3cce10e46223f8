"""Calls of softmax, log_softmax and cross_entropy and of their gradients, with what float64 says they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from support.library import FLOATS, LAYOUTS, Case, Made, random, wide_of
from tileproof.kernels.softmaxes import (
    cross_entropy,
    cross_entropy_backward,
    log_softmax,
    log_softmax_backward,
    softmax,
    softmax_backward,
)

# References.


def parts(x: Any) -> tuple[Any, Any]:
    """The maximum of rows, or something finite below all of them, and log(sum(exp(x - maximum)))."""
    top = np.maximum(x.max(axis=-1, keepdims=True, initial=-np.inf), np.finfo(np.float64).min)
    with np.errstate(divide="ignore", invalid="ignore"):
        return top, np.log(np.exp(x - top).sum(axis=-1, keepdims=True))


def sums(x: Any) -> Any:
    """log(sum(exp(x))) of rows; -inf of those that are all -inf."""
    top, rest = parts(x)
    return top + rest


def log_softmax_reference(x: Any, out: Any = None) -> Any:
    (wide,) = wide_of(x)
    top, rest = parts(wide)
    return wide - top - rest


def softmax_reference(x: Any, out: Any = None) -> Any:
    return np.exp(log_softmax_reference(x))


def softmax_backward_reference(dy: Any, y: Any, out: Any = None) -> Any:
    grad, weight = wide_of(dy, y)
    return weight * (grad - (grad * weight).sum(axis=-1, keepdims=True))


def log_softmax_backward_reference(dy: Any, y: Any, out: Any = None) -> Any:
    grad, low = wide_of(dy, y)
    return grad - np.exp(low) * grad.sum(axis=-1, keepdims=True)


def picked(wide: Any, labels: Any) -> Any:
    """The logits at the labels; 0 without one."""
    padded = np.concatenate([wide, np.zeros((*wide.shape[:-1], 1))], axis=-1)
    return np.take_along_axis(padded, labels[..., None].astype(np.int64), axis=-1)[..., 0]


def cross_entropy_reference(logits: Any, labels: Any, out: Any = None) -> Any:
    (wide,) = wide_of(logits)
    lse = sums(wide)[..., 0]
    return np.where(labels >= 0, lse - picked(wide, labels), 0), lse


def cross_entropy_backward_reference(dloss: Any, logits: Any, labels: Any, lse: Any, out: Any = None) -> Any:
    grad, wide, total = wide_of(dloss, logits, lse)
    hit = np.arange(logits.shape[-1]) == labels[..., None]
    return np.where(labels[..., None] >= 0, (np.exp(wide - total[..., None]) - hit) * grad[..., None], 0)


# Cases.


def cases() -> list[Case]:
    """All of them."""
    return [*_forward(softmax, softmax_reference), *_forward(log_softmax, log_softmax_reference),
            *_backward(softmax_backward, softmax_backward_reference, is_log=False),
            *_backward(log_softmax_backward, log_softmax_backward_reference, is_log=True), *_entropies()]  # fmt: skip


SHAPES: list[tuple[int, ...]] = [
    (), (1,), (9,), (1, 1), (5, 37), (0, 7), (4, 0), (3, 1100), (2, 3, 65), (64, 1), (2, 0, 3),
]  # fmt: skip
LONG: list[tuple[int, ...]] = [(80, 1024), (300, 257), (5, 9001), (2, 40000)]
"""Too much for the interpreter: whole rows in a tile, and rows that need several."""


def _forward(function: Callable[..., Any], reference: Callable[..., Any]) -> list[Case]:
    def case(shape: tuple[int, ...], dtype: str = "f32", layout: str = "dense", out: str = "", **more: Any) -> Case:
        def make() -> Made:
            rng = np.random.default_rng(len(shape))
            x = random(rng, shape, dtype, layout)
            x[rng.random(shape) < 0.1] = -np.inf
            if shape:
                x[..., :1] = 0
            return [x], {"out": random(rng, shape, dtype, out)} if out else {}

        name = f"{function.__name__} {'x'.join(map(str, shape))} {dtype} {layout}"
        return Case(f"{name}{f' into {out}' if out else ''}", function, make, reference, **more)

    return [
        *(case(shape, on_gpu=shape in ((5, 37), (4, 0), (3, 1100))) for shape in SHAPES),
        *(case(shape, on_interpreter=False, on_gpu=True) for shape in LONG[2:]),
        *(case(shape, on_interpreter=False) for shape in LONG[:2]),
        *(case((17, 45), layout=layout, on_gpu=layout in ("wide", "transposed")) for layout in LAYOUTS),
        *(case((6, 70), dtype) for dtype in FLOATS[1:]),
        case((3, 5, 70), layout="wide"),
        case((70, 2560), "bf16", on_interpreter=False, on_gpu=True),
        case((9, 70), "bf16", "sliced", "wide", on_gpu=True),
    ]


def _backward(function: Callable[..., Any], reference: Callable[..., Any], is_log: bool) -> list[Case]:
    def case(shape: tuple[int, ...], dtype: str = "f32", layout: str = "dense", **more: Any) -> Case:
        def make() -> Made:
            rng = np.random.default_rng(len(shape))
            dy, y = random(rng, shape, dtype, layout), random(rng, shape, dtype)
            if shape and y.size:
                low = log_softmax_reference(y)
                y[...] = (low if is_log else np.exp(low)).astype(y.dtype)
            return [dy, y], {}

        return Case(
            f"{function.__name__} {'x'.join(map(str, shape))} {dtype} {layout}", function, make, reference, **more
        )

    return [
        *(case(shape, on_gpu=shape in ((5, 37), (4, 0))) for shape in SHAPES),
        *(case(shape, on_interpreter=False, on_gpu=len(LONG) and shape == LONG[2]) for shape in LONG),
        *(case((17, 45), layout=layout, on_gpu=layout == "transposed") for layout in LAYOUTS),
        *(case((6, 70), dtype) for dtype in FLOATS[1:]),
        case((70, 2560), "bf16", on_interpreter=False, on_gpu=True),
    ]  # fmt: skip


def _entropies() -> list[Case]:
    def case(
        shape: tuple[int, ...], dtype: str = "f32", layout: str = "dense", kind: Any = np.int64, **more: Any
    ) -> list[Case]:
        def forward() -> Made:
            rng = np.random.default_rng(len(shape))
            logits = random(rng, shape, dtype, layout)
            labels = rng.integers(-1, shape[-1], shape[:-1]).astype(kind)
            return [logits, labels], {}

        def backward() -> Made:
            (logits, labels), _ = forward()
            lse = sums(*wide_of(logits))[..., 0].astype(np.float64 if dtype == "f64" else np.float32)
            grad = np.random.default_rng(1).standard_normal(lse.shape).astype(lse.dtype)
            return [grad, logits, labels, lse], {}

        name = f"{'x'.join(map(str, shape))} {dtype} {layout}"
        return [
            Case(f"cross_entropy {name}", cross_entropy, forward, cross_entropy_reference, **more),
            Case(f"cross_entropy_backward {name}", cross_entropy_backward, backward, cross_entropy_backward_reference,
                 **more),
        ]  # fmt: skip

    return [
        *case((1, 1)), *case((7, 5), on_gpu=True), *case((0, 5), on_gpu=True), *case((4, 0)), *case((5, 2100)),
        *case((2, 3, 65), kind=np.int32), *case((11,)),
        *(each for layout in LAYOUTS for each in case((17, 45), layout=layout, on_gpu=layout == "transposed")),
        *(each for dtype in FLOATS[1:] for each in case((6, 70), dtype, on_gpu=dtype == "bf16")),
        *case((9, 40001), "bf16", on_interpreter=False, on_gpu=True),
        *case((300, 9000), "bf16", on_interpreter=False, on_gpu=True),
        *case((70, 1000), "bf16", kind=np.int32, on_interpreter=False, on_gpu=True),
    ]  # fmt: skip
