"""Rows of the CPU book that multiply: matrices, vectors, weights of few bits, experts and attention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, pairwise
from typing import Any

import ml_dtypes
import numpy as np

from tileproof import kernels
from tileproof.backends.cpu.pool import cores
from tileproof.backends.cpu.target import host

from . import probes
from .cpu_row import (
    BYTES,
    FLOPS,
    OPERATIONS,
    Array,
    Call,
    Goal,
    Row,
    empty,
    example,
    integers,
    normal,
    taking_turns,
    tensor,
    torch,
)  # fmt: skip
from .probes import Probe


def wide(array: Array) -> Array:
    """In float64."""
    made: Array = array.astype(np.float64)
    return made


# Matrices.


def matmul_f32(small: bool) -> Row:
    """With the tile sizes that the library chooses."""
    return _matmul("matmul f32", small, None, np.float32, Goal(torch=1.0, only=2))


def matmul_gpu(small: bool) -> Row:
    """The same kernel with the tile sizes of a GPU."""
    return _matmul("matmul f32, GPU-sized tiles", small, (128, 128, 64), np.float32, Goal())


def matmul_bf16(small: bool) -> Row:
    """bf16 in and out, f32 between."""
    return _matmul("matmul bf16", small, None, ml_dtypes.bfloat16, Goal(torch=20.0))


def _matmul(name: str, small: bool, tiles: tuple[int, int, int] | None, dtype: Any, goal: Goal) -> Row:
    n = 128 if small else 1024
    a, b, c = normal(n, n, dtype=dtype), normal(n, n, dtype=dtype), empty(n, n, dtype=dtype)
    ta, tb, tc = map(tensor, (a, b, c))
    by_columns = None if torch is None else tb.t().contiguous().t()
    is_f32 = dtype is np.float32

    def call() -> None:
        if tiles is None:
            kernels.matmul(a, b, out=c)
        else:
            kernel = kernels.matmul_kernel
            kernel(c, a, b, **dict(zip(("BM", "BN", "BK"), tiles, strict=True)))

    return Row(
        name, f"{n}^3", 2.0 * n**3, FLOPS, call, lambda: (c[-4:], wide(a[-4:]) @ wide(b)),
        {
            "mm(out=)": lambda: torch.mm(ta, tb, out=tc),
            "mm(out=), b by columns": lambda: torch.mm(ta, by_columns, out=tc),
        },
        (lambda: np.matmul(a, b, out=c)) if is_f32 else None, numpy_threads=cores(),
        limit={"products in registers": probes.float_products()}, goal=goal,
    )  # fmt: skip


def matmul_int8(small: bool) -> Row:
    """Exact products of bytes."""
    n = 128 if small else 1024
    a, b = (integers(-128, 128, n, n, dtype=np.int8) for _ in range(2))
    c = empty(n, n, dtype=np.int32)
    ta, tb, tc = map(tensor, (a, b, c))
    by_columns = None if torch is None else tb.t().contiguous().t()
    return Row(
        "matmul int8", f"{n}^3", 2.0 * n**3, OPERATIONS, lambda: kernels.matmul(a, b, out=c),
        lambda: (c[-4:], a[-4:].astype(np.int64) @ b.astype(np.int64)),
        {
            "_int_mm(out=)": lambda: torch._int_mm(ta, tb, out=tc),
            "_int_mm(out=), b by columns": lambda: torch._int_mm(ta, by_columns, out=tc),
        },
        limit={"products in registers": probes.byte_products()}, goal=Goal(torch=20.0),
    )  # fmt: skip


def linear_few(small: bool) -> Row:
    """16 tokens by a layer of bf16 weights."""
    m, n, k = (16, 128, 128) if small else (16, 4096, 2048)
    kind = ml_dtypes.bfloat16
    x, w, y = normal(m, k, dtype=kind), normal(n, k, dtype=kind), empty(m, n, dtype=kind)
    tx, tw = map(tensor, (x, w))
    return Row(
        "linear bf16", f"{m} x {n} x {k}", 2.0 * m * n * k, FLOPS, lambda: kernels.linear(x, w, out=y),
        lambda: (y[-4:], wide(x[-4:]) @ wide(w).T), {"linear": lambda: torch.nn.functional.linear(tx, tw)},
        limit={"products in registers": probes.float_products()},
    )  # fmt: skip


def grouped_matmul(small: bool) -> Row:
    """Rows of 8 experts."""
    e, n, f, k = (4, 64, 64, 64) if small else (8, 1024, 512, 512)
    x, w, y = normal(n, k), normal(e, f, k), empty(n, f)
    borders = [n * place // e for place in range(e + 1)]
    offsets = np.array(borders, np.int32)
    tx, tw, ty = map(tensor, (x, w, y))

    def one_by_one() -> None:
        for number, (begin, end) in enumerate(pairwise(borders)):
            torch.mm(tx[begin:end], tw[number].t(), out=ty[begin:end])

    return Row(
        "grouped_matmul f32", f"{n} rows, {e} x {f} x {k}", 2.0 * n * f * k, FLOPS,
        lambda: kernels.grouped_matmul(x, w, offsets, out=y), lambda: (y[-4:], wide(x[-4:]) @ wide(w[-1]).T),
        {"mm(out=), one by one": one_by_one}, limit={"products in registers": probes.float_products()},
    )  # fmt: skip


# A matrix and a vector. Weights are in no cache: each call takes the next of several matrices.


def _amount(small: bool, nbytes: int) -> int:
    return 2 if small else max(4, -(-4 * host().caches.l3 // nbytes))


def matvec(small: bool) -> Row:
    """bf16 weights."""
    n = 256 if small else 4096
    weights = [normal(n, n, dtype=ml_dtypes.bfloat16) for _ in range(_amount(small, 2 * n * n))]
    x, y = normal(n), empty(n)
    given = cycle([tensor(w) for w in weights])
    small_x: Any = None if torch is None else tensor(x).bfloat16()
    return Row(
        "matvec bf16 weights", f"{n} x {n}, cold", 2.0 * n * n, BYTES,
        taking_turns([partial(kernels.matvec, w, x, out=y) for w in weights]),
        lambda: (y[-4:], wide(weights[-1][-4:]) @ x),
        {
            "mv": lambda: torch.mv(next(given), small_x),
            "linear": lambda: torch.nn.functional.linear(small_x[None], next(given)),
        },
        limit=_reading(weights), goal=Goal(limit=0.85), note="torch takes x in bf16, we in f32", turns=len(weights),
    )  # fmt: skip


def matvec_int8(small: bool) -> Row:
    """8-bit weights in groups of 64, and x rounded to integers too."""
    n, group = (256, 64) if small else (4096, 64)
    weights = [integers(-127, 128, n, n, dtype=np.int8) for _ in range(_amount(small, n * n))]
    scale = np.abs(normal(n, n // group)) * np.float32(0.01)
    x, y = normal(1, n), empty(1, n)
    calls: list[Call] = [partial(kernels.int8_linear, x, w, scale, out=y, activations="int8") for w in weights]
    return Row(
        "matvec int8 weights", f"{n} x {n}, cold", float(n * n + 4 * scale.size), BYTES, taking_turns(calls),
        lambda: (y[0, -64:], (wide(weights[-1][-64:]) * np.repeat(scale[-64:], group, 1)) @ x[0]),
        limit=_reading(weights), turns=len(weights), tolerance=2e-2, note="torch has no such function on CPUs",
    )  # fmt: skip


def matvec_int4(small: bool) -> Row:
    """4-bit weights in groups of 128."""
    n, group = (256, 128) if small else (4096, 128)
    packed = [
        integers(0, 255, n, n // group, group // 2, dtype=np.uint8) for _ in range(_amount(small, n * n // 2))
    ]  # fmt: skip
    scale = np.abs(normal(n, n // group)) * np.float32(0.01)
    x, y = normal(1, n), empty(1, n)

    def expected() -> tuple[Array, Array]:
        some = packed[-1][-64:].astype(np.int16)
        values = np.concatenate((some & 15, some >> 4), -1) - 8
        return y[0, -64:], (values * wide(scale[-64:])[..., None]).reshape(64, n) @ x[0]

    return Row(
        "matvec int4 weights", f"{n} x {n}, cold", float(n * n // 2 + 4 * scale.size), BYTES,
        taking_turns([partial(kernels.int4_linear, x, w, scale, out=y) for w in packed]), expected,
        limit=_reading(packed), turns=len(packed), tolerance=2e-2, note="torch has no such function on CPUs",
    )  # fmt: skip


def _reading(arrays: list[Array]) -> dict[str, Probe]:
    return {f"{places} streams": _each([probes.reading(each, places) for each in arrays]) for places in (1, 4, 8)}


@dataclass(frozen=True)
class _Rotating(Probe):
    turns: Iterator[Probe] = field(default_factory=lambda: iter(()))

    def __call__(self) -> None:
        next(self.turns)()


def _each(made: list[Probe]) -> Probe:
    """A probe that takes the next of several each time."""
    first = made[0]
    return _Rotating(first.code, first.words, first.items, first.work, turns=cycle(made))


# Attention.


def attention(small: bool) -> Row:
    """Causal."""
    return _attention("attention, causal", small, None, is_causal=True, goal=Goal(torch=1.0))


def attention_full(small: bool) -> Row:
    """Every query sees every key."""
    return _attention("attention, full", small, None, is_causal=False, goal=Goal(torch=1.0))


def attention_gpu(small: bool) -> Row:
    """Causal, with the tile sizes of a GPU."""
    return _attention("attention, causal, GPU-sized tiles", small, (64, 128), is_causal=True, goal=Goal())


def _attention(name: str, small: bool, tiles: tuple[int, int] | None, *, is_causal: bool, goal: Goal) -> Row:
    heads, length, depth = (2, 128, 32) if small else (8, 2048, 64)
    q, k, v, o = (normal(heads, length, depth) for _ in range(4))
    tq, tk, tv = (tensor(each.reshape(1, heads, length, depth)) for each in (q, k, v))
    scale = depth**-0.5
    seen = length * (length + 1) / 2 if is_causal else length**2

    def expected() -> tuple[Array, Array]:
        scores = (wide(q[-1]) @ wide(k[-1]).T) * scale
        if is_causal:
            scores[np.triu_indices(length, 1)] = -np.inf
        weight = np.exp(scores - scores.max(axis=1, keepdims=True))
        return o[-1], weight @ v[-1] / weight.sum(axis=1, keepdims=True)

    def call() -> None:
        if tiles is None:
            kernels.attention(q, k, v, causal=is_causal, out=o)
        else:
            example("attention")(o, q, k, v, scale, 0, BS=tiles[0], BT=tiles[1])

    def peer() -> None:
        torch.nn.functional.scaled_dot_product_attention(tq, tk, tv, is_causal=is_causal)

    return Row(
        name, f"{heads} x {length} x {depth}", 4.0 * heads * seen * depth, FLOPS, call, expected,
        {"scaled_dot_product_attention": peer}, limit={"products in registers": probes.float_products()}, goal=goal,
    )  # fmt: skip


def decode(small: bool) -> Row:
    """One token of two sequences to caches of bf16, 16 heads that share 8."""
    batch, h, g, length, depth = (2, 4, 2, 256, 32) if small else (2, 16, 8, 8192, 128)
    kind = ml_dtypes.bfloat16
    q, o = normal(batch, h, depth, dtype=kind), empty(batch, h, depth, dtype=kind)
    k, v = (normal(batch, g, length, depth, dtype=kind) for _ in range(2))
    used = np.full(batch, length, np.int32)
    tq, tk, tv = map(tensor, (q, k, v))

    def expected() -> tuple[Array, Array]:
        share = h // g
        scores = wide(q[-1, -share:]) @ wide(k[-1, -1]).T * depth**-0.5
        weight = np.exp(scores - scores.max(axis=1, keepdims=True))
        return o[-1, -share:], weight @ wide(v[-1, -1]) / weight.sum(axis=1, keepdims=True)

    def peer() -> None:
        torch.nn.functional.scaled_dot_product_attention(tq[:, :, None], tk, tv, enable_gqa=True)

    return Row(
        "decode_attention bf16", f"{batch} x {h}/{g} heads, {length} x {depth}", float(k.nbytes + v.nbytes), BYTES,
        lambda: kernels.decode_attention(q, k, v, used, out=o), expected, {"scaled_dot_product_attention": peer},
        limit={f"{places} streams": probes.reading(k.reshape(-1), places) for places in (1, 4, 8)},
    )  # fmt: skip
