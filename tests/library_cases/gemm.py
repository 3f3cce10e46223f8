"""Calls of `matmul` and `linear`, with what float64 says they give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from support.library import FLOATS, Case, Made, random, wide_of
from tileproof.kernels.gemm import linear, matmul

TF32 = 4e-3
"""How far products of f32 may be off on a GPU, where the operands are cut to tf32."""


def matmul_reference(a: Any, b: Any, out: Any = None) -> Any:
    a, b = wide_of(a, b)
    return a @ b


def linear_reference(x: Any, w: Any, out: Any = None) -> Any:
    x, w = wide_of(x, w)
    return x @ w.T


def cases() -> list[Case]:
    """All of them."""
    return [*matmul_cases(), *linear_cases()]


def matmul_cases() -> list[Case]:
    """Sizes, layouts and element types."""

    def case(
        m: int, n: int, k: int, dtype: str = "f32", left: str = "dense", right: str = "dense", **more: Any
    ) -> Case:
        def make() -> Made:
            rng = np.random.default_rng(m + n + k)
            return [random(rng, (m, k), dtype, left), random(rng, (k, n), dtype, right)], {}

        return Case(f"matmul {m}x{n}x{k} {dtype} {left} {right}", matmul, make, matmul_reference, **more)

    sizes = [(1, 1, 1), (5, 7, 9), (33, 65, 17), (1, 40, 30), (70, 1, 100), (64, 64, 64), (130, 200, 70), (3, 5, 600)]
    empty = [(0, 5, 6), (4, 0, 6), (4, 5, 0), (0, 0, 0)]
    turned = [("transposed", "dense"), ("dense", "transposed"), ("transposed", "transposed")]
    layouts = [*turned, ("sliced", "sliced"), ("wide", "wide"), ("reversed", "reversed")]
    return [
        *(case(*each) for each in (*sizes, *empty)),
        *(case(18, 35, 20, "f32", *each) for each in layouts),
        *(case(19, 21, 34, dtype) for dtype in ("f16", "bf16", "f64", "i8")),
        *(case(18, 35, 20, "bf16", *each) for each in turned),
        case(18, 35, 20, "i8", "transposed", "transposed"),
        case(4, 5, 0, "i8"),
        case(300, 270, 520, on_interpreter=False),
        *(case(24, 40, 72, "bf16", *each, on_gpu=True) for each in (("dense", "dense"), *layouts[:4])),
        case(130, 200, 96, "bf16", on_gpu=True),
        case(16, 72, 4104, "bf16", on_gpu=True),
        case(1500, 1504, 40, "bf16", on_interpreter=False, on_gpu=True),
        case(24, 40, 72, "f32", tolerance=TF32, on_gpu=True),
        case(24, 40, 72, "f64", on_gpu=True),
        case(24, 48, 64, "i8", on_gpu=True),
        case(4, 5, 0, "bf16", on_gpu=True),
    ]


def linear_cases() -> list[Case]:
    """Few rows and many, and inputs of any rank."""

    def case(
        x: Sequence[int], n: int, dtype: str = "f32", left: str = "dense", right: str = "dense", **more: Any
    ) -> Case:
        def make() -> Made:
            rng = np.random.default_rng(sum(x) + n)
            return [random(rng, x, dtype, left), random(rng, (n, x[-1]), dtype, right)], {}

        name = f"linear {'x'.join(map(str, x))} {n} {dtype} {left} {right}"
        return Case(name, linear, make, linear_reference, **more)

    sizes = [((1, 1), 1), ((5, 40), 37), ((70, 33), 65), ((2, 3, 9), 4), ((1, 300), 130), ((2, 1, 4, 20), 3)]
    empty = [((0, 6), 5), ((4, 6), 0), ((4, 0), 5), ((2, 0, 6), 5)]
    layouts = [("transposed", "transposed"), ("sliced", "sliced"), ("wide", "wide"), ("reversed", "reversed")]
    return [
        *(case(*each) for each in (*sizes, *empty)),
        *(case((11, 21), 13, "f32", *each) for each in layouts),
        *(case((7, 50), 33, dtype) for dtype in FLOATS if dtype != "f32"),
        case((200, 270), 150, on_interpreter=False),
        case((1, 72), 40, "bf16", on_gpu=True),
        case((9, 72), 40, "bf16", on_gpu=True),
        case((9, 72), 40, "bf16", "sliced", "wide", on_gpu=True),
        case((9, 72), 40, "bf16", "dense", "transposed", on_gpu=True),
        case((16, 4104), 72, "bf16", on_gpu=True),
        case((2, 70, 64), 130, "bf16", on_gpu=True),
        case((1500, 40), 1504, "bf16", on_interpreter=False, on_gpu=True),
        case((24, 72), 40, "f32", tolerance=TF32, on_gpu=True),
        case((24, 72), 40, "f64", on_gpu=True),
        case((4, 0), 5, "bf16", on_gpu=True),
    ]
