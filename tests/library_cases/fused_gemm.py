"""Calls of `batched_matmul`, `fused_linear`, `silu_linear` and `grouped_matmul`, with what float64 says they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import erf
from typing import Any

import numpy as np

from support.library import DTYPES, FLOATS, Case, Made, random, wide_of
from tileproof.kernels.gemm import batched_matmul, fused_linear, grouped_matmul, silu_linear

TF32 = 4e-3
"""How far products of f32 may be off on a GPU, where the operands are cut to tf32."""

# References.


def batched_reference(a: Any, b: Any, out: Any = None) -> Any:
    a, b = wide_of(a, b)
    return a @ b


def silu(t: Any) -> Any:
    return t / (1 + np.exp(-t))


def gelu(t: Any) -> Any:
    return 0.5 * t * (1 + np.vectorize(erf, otypes=[float])(t / np.sqrt(2)))


ACTIVATIONS: dict[str | None, Callable[[Any], Any]] = {
    None: lambda t: t, "relu": lambda t: np.maximum(t, 0), "silu": silu, "gelu": gelu
}  # fmt: skip


def fused_reference(
    x: Any, w: Any, bias: Any = None, activation: str | None = None, residual: Any = None, out: Any = None
) -> Any:
    x, w, bias, residual = wide_of(x, w, bias, residual)
    made = x @ w.T + (0 if bias is None else bias)
    return ACTIVATIONS[activation](made) + (0 if residual is None else residual)


def silu_reference(x: Any, w: Any, out: Any = None) -> Any:
    x, w = wide_of(x, w)
    gate, up = np.split(w, 2) if w.ndim == 2 else w
    return silu(x @ gate.T) * (x @ up.T)


def grouped_reference(x: Any, w: Any, offsets: Any, out: Any = None) -> Any:
    x, w = wide_of(x, w)
    parts = [x[first:last] @ each.T for first, last, each in zip(offsets[:-1], offsets[1:], w, strict=True)]
    return np.concatenate([np.zeros((0, w.shape[1])), *parts])


# Cases.


def cases() -> list[Case]:
    """All of them."""
    return [*batched_cases(), *fused_cases(), *silu_cases(), *grouped_cases()]


def batched_cases() -> list[Case]:
    """Sizes, layouts and element types of stacks of matrices."""

    def case(
        b: int, m: int, n: int, k: int, dtype: str = "f32", left: str = "dense", right: str = "dense", **more: Any
    ) -> Case:
        def make() -> Made:
            rng = np.random.default_rng(b + m + n + k)
            return [random(rng, (b, m, k), dtype, left), random(rng, (b, k, n), dtype, right)], {}

        name = f"batched_matmul {b}x{m}x{n}x{k} {dtype} {left} {right}"
        return Case(name, batched_matmul, make, batched_reference, **more)

    sizes = [(1, 1, 1, 1), (3, 5, 7, 9), (2, 33, 65, 17), (5, 1, 40, 30), (2, 70, 1, 100), (2, 64, 64, 64)]
    empty = [(0, 4, 5, 6), (2, 0, 5, 6), (2, 4, 0, 6), (2, 4, 5, 0)]
    layouts = [("transposed", "dense"), ("dense", "transposed"), ("transposed", "transposed"), ("sliced", "sliced"),
               ("wide", "transposed"), ("reversed", "wide")]  # fmt: skip
    return [
        *(case(*each) for each in (*sizes, *empty)),
        *(case(3, 18, 35, 20, "f32", *each) for each in layouts),
        *(case(2, 19, 21, 34, dtype, "dense", "transposed") for dtype in FLOATS if dtype != "f32"),
        case(2, 150, 300, 270, on_interpreter=False),
        *(
            case(3, 24, 40, 72, "bf16", *each, on_gpu=True)
            for each in (("dense", "dense"), *layouts[:3], ("sliced", "sliced"))
        ),
        case(2, 130, 200, 96, "bf16", on_gpu=True),
        case(2, 17, 33, 40, "f32", tolerance=TF32, on_gpu=True),
        case(2, 17, 33, 40, "f64", on_gpu=True),
        case(2, 4, 5, 0, "bf16", on_gpu=True),
    ]


def fused_cases() -> list[Case]:
    """Every form of what follows a product."""

    def case(
        x: Sequence[int], n: int, form: str = "", activation: str | None = None, dtype: str = "f32",
        layouts: tuple[str, str, str] = ("dense", "dense", "dense"), **more: Any,
    ) -> Case:  # fmt: skip
        def make() -> Made:
            rng = np.random.default_rng(sum(x) + n)
            named: dict[str, Any] = {}
            if "b" in form:
                named["bias"] = random(rng, (n,), dtype, "sliced")
            if "r" in form:
                named["residual"] = random(rng, (*x[:-1], n), dtype, layouts[2])
            if activation is not None:
                named["activation"] = activation
            return [random(rng, x, dtype, layouts[0]), random(rng, (n, x[-1]), dtype, layouts[1])], named

        shown = "x".join(map(str, x))
        name = f"fused_linear {shown} {n} {form or '-'} {activation} {dtype} {' '.join(layouts)}"
        return Case(name, fused_linear, make, fused_reference, **more)

    forms = [("", None), ("", "gelu"), ("b", None), ("b", "relu"), ("r", None), ("r", "silu"), ("br", "gelu")]
    empty = [((0, 6), 5), ((4, 6), 0), ((4, 0), 5), ((0, 3, 6), 5)]
    return [
        *(case((5, 40), 37, *each) for each in forms),
        *(case(*each, "br", "silu") for each in (((1, 1), 1), ((3, 1, 9), 17), ((70, 30), 66), ((2, 3, 4, 20), 3))),
        *(case(*each, "br", "gelu") for each in empty),
        *(
            case((11, 21), 13, "br", "gelu", "f32", each)
            for each in (
                ("transposed", "transposed", "transposed"), ("sliced", "sliced", "sliced"), ("wide", "wide", "wide"),
                ("reversed", "reversed", "reversed"),
            )
        ),
        *(case((7, 50), 33, "br", "gelu", dtype) for dtype in FLOATS if dtype != "f32"),
        case((300, 270), 200, "b", "silu", on_interpreter=False),
        *(
            case((24, 72), 40, form, activation, "bf16", on_gpu=True)
            for form, activation in (("", None), ("b", "silu"), ("r", "gelu"), ("br", "relu"))
        ),
        case((9, 40), 37, "br", "silu", "bf16", ("sliced", "wide", "transposed"), on_gpu=True),
        case((2, 65, 64), 130, "br", "gelu", "bf16", on_gpu=True),
        case((24, 40), 37, "br", "gelu", "f32", tolerance=TF32, on_gpu=True),
        case((24, 40), 37, "br", "gelu", "f64", on_gpu=True),
        case((1500, 40), 1504, "b", "silu", "bf16", on_interpreter=False, on_gpu=True),
        case((4, 0), 5, "br", "gelu", "bf16", on_gpu=True),
    ]  # fmt: skip


def silu_cases() -> list[Case]:
    """Weights as a matrix and as a stack of two."""

    def case(
        x: Sequence[int], i: int, dtype: str = "f32", left: str = "dense", right: str = "dense", stacked: bool = False,
        **more: Any,
    ) -> Case:  # fmt: skip
        def make() -> Made:
            rng = np.random.default_rng(sum(x) + i)
            shape = (2, i, x[-1]) if stacked else (2 * i, x[-1])
            return [random(rng, x, dtype, left), random(rng, shape, dtype, right)], {}

        name = f"silu_linear {'x'.join(map(str, x))} {i} {dtype} {left} {right}{' stacked' * stacked}"
        return Case(name, silu_linear, make, silu_reference, **more)

    return [
        *(case(*each) for each in (((1, 1), 1), ((5, 40), 37), ((70, 33), 65), ((2, 3, 9), 4), ((33, 1), 20))),
        *(case(*each) for each in (((0, 6), 5), ((4, 6), 0), ((4, 0), 5))),
        *(case((11, 21), 13, "f32", *each) for each in (("transposed", "wide"), ("sliced", "sliced"))),
        case((11, 21), 13, "f32", "reversed", "transposed", True),
        *(case((7, 50), 33, dtype) for dtype in FLOATS if dtype != "f32"),
        case((200, 270), 150, on_interpreter=False),
        case((9, 72), 40, "bf16", on_gpu=True),
        case((9, 72), 40, "bf16", "sliced", "sliced", True, on_gpu=True),
        case((40, 72), 70, "bf16", on_gpu=True),
        case((2, 70, 64), 130, "bf16", "wide", on_gpu=True),
        case((24, 40), 37, "f32", tolerance=TF32, on_gpu=True),
        case((24, 40), 37, "f64", on_gpu=True),
        case((1500, 40), 1504, "bf16", on_interpreter=False, on_gpu=True),
        *(case((rows, 192), 384, "bf16", on_interpreter=False, on_gpu=True) for rows in (100, 300)),
        *(case((rows, 128), 9728, "bf16", on_interpreter=False, on_gpu=True) for rows in (200, 256)),
        case((4, 0), 5, "bf16", on_gpu=True),
    ]


def grouped_cases() -> list[Case]:
    """Experts with many rows, one and none."""

    def case(
        counts: Sequence[int], f: int, k: int, dtype: str = "f32", left: str = "dense", right: str = "dense",
        offsets: str = "i32", **more: Any,
    ) -> Case:  # fmt: skip
        def make() -> Made:
            rng = np.random.default_rng(sum(counts) + f + k)
            x, w = random(rng, (sum(counts), k), dtype, left), random(rng, (len(counts), f, k), dtype, right)
            return [x, w, np.cumsum([0, *counts]).astype(DTYPES[offsets])], {}

        name = f"grouped_matmul {','.join(map(str, counts)) or '-'} {f}x{k} {dtype} {left} {right} {offsets}"
        return Case(name, grouped_matmul, make, grouped_reference, **more)

    return [
        *(
            case(*each)
            for each in (
                ([1], 1, 1), ([3, 0, 5], 7, 9), ([0, 0, 20, 1, 0], 33, 40), ([17, 16, 15, 1], 66, 30), ([70, 3], 5, 20),
            )
        ),
        *(case(*each) for each in (([], 5, 6), ([0, 0], 5, 6), ([2, 3], 0, 6), ([2, 3], 5, 0))),
        *(
            case([4, 0, 9, 2], 13, 21, "f32", *each)
            for each in (("transposed", "transposed"), ("sliced", "sliced"), ("wide", "wide"), ("reversed", "reversed"))
        ),
        case([4, 0, 9, 2], 13, 21, offsets="i64"),
        *(case([7, 0, 30], 33, 50, dtype) for dtype in FLOATS if dtype != "f32"),
        case([130, 0, 270, 1], 150, 270, on_interpreter=False),
        case([4, 0, 9, 2], 40, 72, "bf16", on_gpu=True),
        case([30, 0, 70, 1], 72, 64, "bf16", on_gpu=True),
        case([200, 0, 70, 129], 136, 64, "bf16", offsets="i64", on_gpu=True),
        case([4, 0, 9, 2], 13, 21, "bf16", "sliced", "transposed", on_gpu=True),
        case([4, 0, 9, 2], 40, 24, "f32", tolerance=TF32, on_gpu=True),
        case([4, 0, 9, 2], 40, 24, "f64", on_gpu=True),
        case([0, 0], 40, 24, "bf16", on_gpu=True),
    ]  # fmt: skip
