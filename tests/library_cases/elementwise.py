"""Calls of the elementwise functions, with what float64 says they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import erf
from typing import Any

import numpy as np

import tileproof as tp
from support.library import DTYPES, FLOATS, LAYOUTS, Case, Made, random, wide_of
from tileproof.kernels.elementwise import (
    add,
    cast,
    copy,
    dropout,
    gelu,
    gelu_backward,
    mul,
    silu_mul,
    silu_mul_backward,
    transpose,
)

# References.


def uniform(seed: int, position: Any) -> Any:
    """Numbers in [0, 1): 24 bits of what Philox 4x32-10 makes of a counter and a key of 64 bits each."""
    low = np.uint64(0xFFFFFFFF)
    position = position.astype(np.uint64)
    a, b = position & low, position >> np.uint64(32)
    c = d = np.zeros_like(position)
    first, second = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    for _ in range(10):
        one, two = np.uint64(0xD2511F53) * a, np.uint64(0xCD9E8D57) * c
        a, b, c, d = (
            two >> np.uint64(32) ^ b ^ np.uint64(first), two & low, one >> np.uint64(32) ^ d ^ np.uint64(second),
            one & low,
        )  # fmt: skip
        first, second = first + 0x9E3779B9 & 0xFFFFFFFF, second + 0xBB67AE85 & 0xFFFFFFFF
    return (a >> np.uint64(8)).astype(np.float64) / 2**24


def dropout_reference(x: Any, p: float, seed: int, offset: int = 0, out: Any = None) -> Any:
    """Elements are counted row by row, however they lie."""
    (wide,) = wide_of(x)
    kept = uniform(seed, offset + np.arange(x.size).reshape(x.shape)) >= np.float32(p)
    return np.where(kept, wide / (1 - p) if p < 1 else 0, 0)


def share(v: Any) -> Any:
    """The part of the normal distribution below v."""
    return 0.5 * (1 + np.vectorize(erf, otypes=[np.float64])(v / np.sqrt(2)))


def tanh_of(v: Any) -> Any:
    return np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))


def gelu_reference(x: Any, approximate: str = "none", out: Any = None) -> Any:
    (v,) = wide_of(x)
    return v * share(v) if approximate == "none" else 0.5 * v * (1 + tanh_of(v))


def gelu_backward_reference(dy: Any, x: Any, approximate: str = "none", out: Any = None) -> Any:
    grad, v = wide_of(dy, x)
    if approximate == "none":
        return grad * (share(v) + v * np.exp(-v * v / 2) / np.sqrt(2 * np.pi))
    inner = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * v * v)
    return grad * (0.5 * (1 + tanh_of(v)) + 0.5 * v * (1 - tanh_of(v) ** 2) * inner)


def silu_mul_reference(x: Any, out: Any = None) -> Any:
    gate, up = np.split(*wide_of(x), 2, axis=-1)
    return gate / (1 + np.exp(-gate)) * up


def silu_mul_backward_reference(dy: Any, x: Any, out: Any = None) -> Any:
    grad, wide = wide_of(dy, x)
    gate, up = np.split(wide, 2, axis=-1)
    half = 1 / (1 + np.exp(-gate))
    return np.concatenate([grad * up * half * (1 + gate * (1 - half)), grad * gate * half], axis=-1)


LIMITS = {"f8e4m3": 448.0, "f8e5m2": 57344.0}


def cast_reference(x: Any, dtype: Any, out: Any = None) -> Any:
    """What does not fit an integer or an 8-bit float becomes the nearest that does."""
    kind = DTYPES[dtype.name]
    if dtype.name in LIMITS:
        return np.clip(x.astype(np.float32), -LIMITS[dtype.name], LIMITS[dtype.name]).astype(kind).astype(np.float64)
    if kind.kind not in "iu":
        return x.astype(kind).astype(np.float64)
    held = np.iinfo(kind)
    wide = np.trunc(x.astype(np.float64)) if x.dtype.kind not in "iu" else x.astype(np.int64)
    return np.clip(wide, held.min, held.max).astype(kind)


# Cases.

SHAPES: list[tuple[int, ...]] = [(), (0,), (1,), (7,), (1000,), (3, 5), (0, 5), (5, 0), (2, 3, 4), (2, 1, 3, 5)]
PLANE = (37, 53)


def cases() -> list[Case]:
    """All of them."""
    return [
        *_of("add", add, 2, lambda x, y, out=None: np.add(*wide_of(x, y)), (*FLOATS, "i8", "u8", "i32", "i64")),
        *_of("mul", mul, 2, lambda x, y, out=None: np.multiply(*wide_of(x, y)), (*FLOATS, "i32")),
        *_of("gelu", gelu, 1, gelu_reference, FLOATS),
        *_of("gelu", gelu, 1, gelu_reference, FLOATS, {"approximate": "tanh"}),
        *_of("gelu_backward", gelu_backward, 2, gelu_backward_reference, FLOATS),
        *_of("gelu_backward", gelu_backward, 2, gelu_backward_reference, FLOATS, {"approximate": "tanh"}),
        *_of("dropout", dropout, 1, dropout_reference, FLOATS, {"p": 0.3, "seed": -5, "offset": 1 << 32}),
        *_of("copy", copy, 1, lambda x, out=None: wide_of(x)[0], ("f32", "bf16", "i8", "f8e4m3"), tolerance=0.0),
        *_copies(), *_casts(), *_transposes(), *_gated(),
    ]  # fmt: skip


def _of(
    name: str,
    function: Callable[..., Any],
    count: int,
    reference: Callable[..., Any],
    dtypes: Sequence[str],
    named: dict[str, Any] | None = None,
    tolerance: float | None = None,
) -> list[Case]:
    """Cases of a function of so many arrays of one shape."""
    given = named or {}
    label = " ".join([name, *(str(each) for each in given.values() if isinstance(each, str))])

    def case(shape: tuple[int, ...], dtype: str = "f32", layout: str = "dense", out: str = "", **more: Any) -> Case:
        def make() -> Made:
            rng = np.random.default_rng(len(shape))
            arrays = [random(rng, shape, dtype, layout), *(random(rng, shape, dtype) for _ in range(count - 1))]
            return arrays, {**given, **({"out": random(rng, shape, dtype, out)} if out else {})}

        words = [label, "x".join(map(str, shape)), dtype, layout, *([f"into {out}"] if out else [])]
        return Case(" ".join(words), function, make, reference, tolerance, **more)

    return [
        *(case(shape, on_gpu=shape in ((1000,), (0, 5))) for shape in SHAPES),
        *(case(PLANE, layout=layout, on_gpu=layout != "dense") for layout in LAYOUTS),
        *(case((129,), dtype, on_gpu=dtype == "bf16") for dtype in dtypes[1:]),
        case((31,), layout="reversed"),
        case((3, 5, 7), layout="wide"),
        case(PLANE, layout="transposed", out="sliced", on_gpu=True),
        case(PLANE, "bf16", "wide"),
        case((4096, 130), "bf16", on_interpreter=False, on_gpu=True),
    ]


def _copies() -> list[Case]:
    """Layouts that are no matrices, in three and four axes."""

    def case(name: str, shape: tuple[int, ...], order: tuple[int, ...], dtype: str = "f32", **more: Any) -> Case:
        def make() -> Made:
            return [random(np.random.default_rng(1), shape, dtype).transpose(order)], {}

        return Case(f"copy {name}", copy, make, lambda x: wide_of(x)[0], 0.0, **more)

    return [
        case("heads before positions", (2, 9, 3, 20), (0, 2, 1, 3), "bf16", on_gpu=True),
        case("columns first", (3, 17, 33), (0, 2, 1), on_gpu=True),
        case("all reversed", (2, 3, 4, 5), (3, 2, 1, 0)),
        case("axes that become one", (2, 3, 4, 5, 6), (3, 4, 0, 1, 2)),
        case("an axis of one", (2, 1, 3, 4), (3, 1, 2, 0)),
        case("none", (2, 0, 3), (2, 1, 0)),
    ]


def _casts() -> list[Case]:
    def case(source: str, target: str, shape: tuple[int, ...] = (300,), layout: str = "dense", **more: Any) -> Case:
        def make() -> Made:
            x = random(np.random.default_rng(2), shape, source, layout)
            if x.dtype.kind not in "iu" and source not in LIMITS:
                x[...] = (x.astype(np.float32) * np.float32(100)).astype(x.dtype)
            elif source in ("i32", "i64"):
                x *= 37
            return [x, getattr(tp, target)], {}

        return Case(f"cast {source} to {target} {layout}", cast, make, cast_reference, 0.0, **more)

    pairs = (
        "f32 bf16", "bf16 f32", "f32 f16", "f16 bf16", "f64 f32", "f32 f64", "f32 i8", "f32 u8", "bf16 i32", "i32 f32",
        "i64 i8", "u8 f16", "i8 i64", "f32 f8e4m3", "bf16 f8e5m2", "f8e4m3 bf16", "f8e5m2 f32", "f32 f32",
    )  # fmt: skip
    chosen = ("f32 bf16", "f32 i8", "f32 f8e4m3", "f8e4m3 bf16")
    return [
        *(case(*pair.split(), on_gpu=pair in chosen) for pair in pairs),
        *(case("f32", "bf16", PLANE, layout, on_gpu=layout == "transposed") for layout in LAYOUTS),
        case("f32", "bf16", ()),
        case("f32", "bf16", (0, 3)),
    ]


def _transposes() -> list[Case]:
    def case(shape: tuple[int, int], dtype: str = "f32", layout: str = "dense", **more: Any) -> Case:
        def make() -> Made:
            return [random(np.random.default_rng(3), shape, dtype, layout)], {}

        name = f"transpose {shape[0]}x{shape[1]} {dtype} {layout}"
        return Case(name, transpose, make, lambda x: wide_of(x)[0].T, 0.0, **more)

    shapes = [(1, 1), (1, 70), (70, 1), (0, 5), (5, 0), (64, 128), (65, 130), (200, 3)]
    return [
        *(case(shape, on_gpu=shape in ((65, 130), (0, 5), (64, 128))) for shape in shapes),
        *(case(PLANE, layout=layout, on_gpu=layout in ("sliced", "transposed")) for layout in LAYOUTS),
        *(case((65, 33), dtype, on_gpu=dtype == "bf16") for dtype in ("bf16", "f64", "i8")),
        case((515, 600), on_interpreter=False),
    ]


def _gated() -> list[Case]:
    def case(*shape: int, dtype: str = "f32", layout: str = "dense", **more: Any) -> list[Case]:
        def forward() -> Made:
            return [random(np.random.default_rng(4), shape, dtype, layout)], {}

        def backward() -> Made:
            rng = np.random.default_rng(5)
            grad = random(rng, (*shape[:-1], shape[-1] // 2), dtype)
            return [grad, random(rng, shape, dtype, layout)], {}

        name = f"{'x'.join(map(str, shape))} {dtype} {layout}"
        return [
            Case(f"silu_mul {name}", silu_mul, forward, silu_mul_reference, **more),
            Case(f"silu_mul_backward {name}", silu_mul_backward, backward, silu_mul_backward_reference, **more),
        ]

    return [
        *case(1, 2), *case(5, 14, on_gpu=True), *case(40), *case(0, 6), *case(6, 0), *case(2, 3, 10),
        *case(3, 2600, dtype="bf16", on_gpu=True), *case(300, 2048, dtype="bf16", on_interpreter=False, on_gpu=True),
        *(each for layout in LAYOUTS[1:] for each in case(11, 62, layout=layout, on_gpu=layout == "transposed")),
        *(each for dtype in ("f16", "f64") for each in case(7, 66, dtype=dtype)),
    ]  # fmt: skip
