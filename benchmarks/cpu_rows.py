"""The rows of the CPU benchmark: for each a kernel, its arguments, the same work in torch and numpy, and a limit.

Everybody works on the same memory, which is aligned as torch aligns its own. Where torch has a form that writes into
memory it is given, that is used; where it has several ways, all race and the fastest counts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tileproof.backends.cpu.target import host
from tileproof.backends.cpu.threads import cores

from . import cpu_kernels as kernels
from . import probes
from .cpu_row import BYTES, FLOPS, OPERATIONS, Array, Goal, Row, empty, integers, normal, tensor, torch
from .probes import Probe

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import add as adding
import attention as attending
import cumsum as summing
import embedding as embedding_
import histogram as counting
import layer_norm as layer_norm_
import matmul as multiplying
import rms_norm as rms_norm_


def streams(reads: list[Array], write: Array) -> dict[str, Probe]:
    """Both ways to write a stream."""
    return {
        "stores passing by the caches": probes.stream(reads, write),
        "plain stores": probes.stream(reads, write, passing=False),
    }


def reads(array: Array) -> dict[str, Probe]:
    return {f"{streams} streams": probes.reading(array, streams) for streams in (1, 4, 8)}


# Rows: elementwise.


def add(small: bool) -> Row:
    """Two arrays of 64M."""
    n = 1 << 16 if small else 64 << 20
    x, y, z = normal(n), normal(n), empty(n)
    tx, ty, tz = map(tensor, (x, y, z))
    return Row(
        "add", _millions(n), 12.0 * n, BYTES, adding.add, [z, x, y], {"BN": 16384},
        lambda: (z[-4096:], x[-4096:] + y[-4096:]),
        {"add(out=)": lambda: torch.add(tx, ty, out=tz)},
        lambda: np.add(x, y, out=z), limit=streams([x, y], z), goal=Goal(torch=1.3, limit=0.95),
    )  # fmt: skip


def saxpy(small: bool) -> Row:
    """A scaled array plus another."""
    n = 1 << 16 if small else 64 << 20
    x, y, z = normal(n), normal(n), empty(n)
    tx, ty, tz = map(tensor, (x, y, z))
    return Row(
        "saxpy", _millions(n), 12.0 * n, BYTES, kernels.saxpy, [z, x, y, 2.5], {"BN": 16384},
        lambda: (z[-4096:], 2.5 * x[-4096:] + y[-4096:]),
        {"add(alpha=, out=)": lambda: torch.add(ty, tx, alpha=2.5, out=tz)},
        lambda: np.add(np.multiply(x, np.float32(2.5), out=z), y, out=z),
        limit=streams([x, y], z), goal=Goal(torch=1.3, limit=0.95),
    )  # fmt: skip


def gelu(small: bool) -> Row:
    """Three steps of torch in one kernel."""
    n = 1 << 16 if small else 64 << 20
    x, y, z = normal(n), normal(n), empty(n)
    tx, ty, tz = map(tensor, (x, y, z))

    def steps() -> None:
        torch.add(tx, ty, out=tz)
        torch.ops.aten.gelu.out(tz, approximate="tanh", out=tz)
        torch.mul(tz, ty, out=tz)

    def expected() -> tuple[Array, Array]:
        v = (x[-4096:] + y[-4096:]).astype(np.float64)
        return z[-4096:], 0.5 * v * (1 + np.tanh(0.7978845608028654 * (v + 0.044715 * v**3))) * y[-4096:]

    return Row(
        "gelu(x + y) * y", _millions(n), 12.0 * n, BYTES, kernels.gelu, [z, x, y], {"BN": 16384}, expected,
        {"add, gelu, mul (out=)": steps}, limit=streams([x, y], z),
    )  # fmt: skip


# Rows: rows of a matrix.


def rms_norm(small: bool) -> Row:
    """Whole rows in one tile."""
    rows, columns = (16, 256) if small else (4096, 4096)
    x, w, y = normal(rows, columns), normal(columns), empty(rows, columns)
    tx, tw, ty = map(tensor, (x, w, y))
    scale = tensor(empty(rows, 1))

    def steps() -> None:
        torch.mul(tx, tx, out=ty)
        torch.mean(ty, 1, keepdim=True, out=scale)
        scale.add_(1e-6).rsqrt_()
        torch.mul(tx, scale, out=ty)
        torch.mul(ty, tw, out=ty)

    return Row(
        "rms_norm", f"{rows} x {columns}", 8.0 * x.size, BYTES, rms_norm_.rms_norm, [y, x, w, 1e-6], {},
        lambda: (y[-4:], rms_norm_.reference(y[-4:], x[-4:], w, 1e-6)[0]),
        {"rms_norm": lambda: torch.nn.functional.rms_norm(tx, (columns,), tw, 1e-6), "five steps (out=)": steps},
        lambda: np.multiply(x * (1 / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6)), w, out=y),
        limit=streams([x], y), goal=Goal(torch=1.4), note="torch's rms_norm allocates its result",
    )  # fmt: skip


def layer_norm(small: bool) -> Row:
    """Mean and variance of whole rows."""
    rows, columns = (16, 256) if small else (4096, 4096)
    x, w, b, y = normal(rows, columns), normal(columns), normal(columns), empty(rows, columns)
    tx, tw, tb, ty, mean, scale = map(tensor, (x, w, b, y, empty(rows, 1), empty(rows, 1)))

    def given() -> None:
        torch.ops.aten.native_layer_norm.out(tx, [columns], tw, tb, 1e-5, out0=ty, out1=mean, out2=scale)

    return Row(
        "layer_norm", f"{rows} x {columns}", 8.0 * x.size, BYTES, layer_norm_.layer_norm, [y, x, w, b, 1e-5], {},
        lambda: (y[-4:], layer_norm_.reference(y[-4:], x[-4:], w, b, 1e-5)[0]),
        {"layer_norm (out=)": given, "layer_norm": lambda: torch.nn.functional.layer_norm(tx, (columns,), tw, tb)},
        limit=streams([x], y),
    )  # fmt: skip


def softmax(small: bool) -> Row:
    """Whole rows in one tile."""
    rows, columns = (16, 256) if small else (4096, 4096)
    x, y = normal(rows, columns), empty(rows, columns)
    tx, ty = map(tensor, (x, y))

    def expected() -> tuple[Array, Array]:
        weight = np.exp(x[-4:].astype(np.float64))
        return y[-4:], weight / weight.sum(axis=1, keepdims=True)

    def numpy() -> None:
        np.exp(np.subtract(x, x.max(axis=1, keepdims=True), out=y), out=y)
        np.divide(y, y.sum(axis=1, keepdims=True), out=y)

    return Row(
        "softmax", f"{rows} x {columns}", 8.0 * x.size, BYTES, kernels.softmax_row, [y, x], {}, expected,
        {"_softmax(out=)": lambda: torch.ops.aten._softmax.out(tx, 1, False, out=ty)}, numpy,
        limit=streams([x], y), goal=Goal(torch=1.4),
    )  # fmt: skip


def cumsum(small: bool) -> Row:
    """Running totals along rows."""
    rows, columns = (16, 256) if small else (4096, 4096)
    x, y = normal(rows, columns), empty(rows, columns)
    tx, ty = map(tensor, (x, y))
    return Row(
        "cumsum", f"{rows} x {columns}", 8.0 * x.size, BYTES, summing.cumsum, [y, x], {"BN": 1024},
        lambda: (y[-4:], np.cumsum(x[-4:], axis=1, dtype=np.float64)),
        {"cumsum(out=)": lambda: torch.cumsum(tx, 1, out=ty)}, lambda: np.cumsum(x, axis=1, out=y),
        limit=streams([x], y),
    )  # fmt: skip


def embedding(small: bool) -> Row:
    """Rows of a table by number."""
    n, v, d = (32, 64, 128) if small else (16384, 32768, 1024)
    table, ids, y = normal(v, d), integers(0, v, n, dtype=np.int32), empty(n, d)
    tt, ti, ty = map(tensor, (table, ids, y))
    return Row(
        "embedding", f"{n} of {v} x {d}", 8.0 * y.size, BYTES, embedding_.embedding, [y, table, ids], {"BD": d},
        lambda: (y[-4:], table[ids[-4:]]),
        {
            "embedding(out=)": lambda: torch.ops.aten.embedding.out(tt, ti, out=ty),
            "index_select(out=)": lambda: torch.index_select(tt, 0, ti, out=ty),
        },
        lambda: np.take(table, ids, axis=0, out=y, mode="clip"), limit=streams([y], empty(n, d)),
    )  # fmt: skip


def histogram(small: bool) -> Row:
    """Counts into 256 buckets."""
    n = 1 << 16 if small else 16 << 20
    x, count = integers(0, 256, n, dtype=np.int32), empty(256, dtype=np.int32)
    tx = tensor(x)
    return Row(
        "histogram", f"{_millions(n)} into 256", 4.0 * n, BYTES, counting.histogram, [count, x], {"BN": 16384},
        lambda: (count, np.bincount(x, minlength=256)),
        {"bincount": lambda: torch.bincount(tx, minlength=256)}, lambda: np.bincount(x, minlength=256),
        limit=reads(x),
    )  # fmt: skip


# Rows: products.


def matmul_f32(small: bool) -> Row:
    """The tile sizes that fit the caches."""
    return _matmul("matmul f32", small, (256, 256, 256), np.float32, Goal(torch=1.0, only=2))


def matmul_gpu(small: bool) -> Row:
    """The same with the tile sizes of a GPU."""
    return _matmul("matmul f32, GPU-sized tiles", small, (128, 128, 64), np.float32, Goal())


def matmul_bf16(small: bool) -> Row:
    """bf16 in and out, f32 between."""
    return _matmul("matmul bf16", small, (256, 256, 256), ml_dtypes.bfloat16, Goal(torch=20.0))


def _matmul(name: str, small: bool, tiles: tuple[int, int, int], dtype: Any, goal: Goal) -> Row:
    n = 128 if small else 1024
    a, b, c = normal(n, n, dtype=dtype), normal(n, n, dtype=dtype), empty(n, n, dtype=dtype)
    ta, tb, tc = map(tensor, (a, b, c))
    by_columns = None if torch is None else tb.t().contiguous().t()
    is_f32 = dtype is np.float32
    return Row(
        name, f"{n}^3", 2.0 * n**3, FLOPS, multiplying.matmul, [c, a, b],
        dict(zip(("BM", "BN", "BK"), tiles, strict=True)),
        lambda: (c[-4:], a[-4:].astype(np.float64) @ b.astype(np.float64)),
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
        "matmul int8", f"{n}^3", 2.0 * n**3, OPERATIONS, kernels.int8_matmul,
        [c, a, b], {"BM": 128, "BN": 256, "BK": 256},
        lambda: (c[-4:], a[-4:].astype(np.int64) @ b.astype(np.int64)),
        {
            "_int_mm(out=)": lambda: torch._int_mm(ta, tb, out=tc),
            "_int_mm(out=), b by columns": lambda: torch._int_mm(ta, by_columns, out=tc),
        },
        limit={"products in registers": probes.byte_products()}, goal=Goal(torch=20.0),
    )  # fmt: skip


def matvec(small: bool) -> Row:
    """Weights that are in no cache: each launch takes the next of several matrices."""
    n = 256 if small else 4096
    amount = 2 if small else max(4, -(-4 * host().caches.l3 // (2 * n * n)))
    weights = [normal(n, n, dtype=ml_dtypes.bfloat16) for _ in range(amount)]
    x, y = normal(n), empty(n)
    turns = [[y, w, x] for w in weights]
    given = cycle([tensor(w) for w in weights])
    small_x: Any = None if torch is None else tensor(x).bfloat16()
    read = {f"{places} streams": _each([probes.reading(w, places) for w in weights]) for places in (1, 4, 8)}
    return Row(
        "matvec bf16 weights", f"{n} x {n}, cold", 2.0 * n * n, BYTES, kernels.matvec, turns[0], {"BN": 16},
        lambda: (y[-4:], weights[-1][-4:].astype(np.float64) @ x),
        {
            "mv": lambda: torch.mv(next(given), small_x),
            "linear": lambda: torch.nn.functional.linear(small_x[None], next(given)),
        },
        limit=read, goal=Goal(limit=0.85), note="torch takes x in bf16, we in f32", turns=turns,
    )  # fmt: skip


@dataclass(frozen=True)
class _Rotating(Probe):
    turns: Iterator[Probe] = field(default_factory=lambda: iter(()))

    def __call__(self) -> None:
        next(self.turns)()


def _each(made: list[Probe]) -> Probe:
    """A probe that takes the next of several each time."""
    first = made[0]
    return _Rotating(first.code, first.words, first.items, first.work, turns=cycle(made))


# Rows: attention.


def attention(small: bool) -> Row:
    """Causal."""
    return _attention("attention, causal", small, (64, 256), is_causal=True, goal=Goal(torch=1.0))


def attention_full(small: bool) -> Row:
    """Every query sees every key."""
    return _attention("attention, full", small, (64, 256), is_causal=False, goal=Goal(torch=1.0))


def attention_gpu(small: bool) -> Row:
    """Causal, with the tile sizes of a GPU."""
    return _attention("attention, causal, GPU-sized tiles", small, (64, 128), is_causal=True, goal=Goal())


def _attention(name: str, small: bool, tiles: tuple[int, int], *, is_causal: bool, goal: Goal) -> Row:
    heads, length, depth = (2, 128, 32) if small else (8, 2048, 64)
    q, k, v, o = (normal(heads, length, depth) for _ in range(4))
    tq, tk, tv = (tensor(each.reshape(1, heads, length, depth)) for each in (q, k, v))
    scale = depth**-0.5
    seen = length * (length + 1) / 2 if is_causal else length**2

    def expected() -> tuple[Array, Array]:
        scores = (q[-1].astype(np.float64) @ k[-1].astype(np.float64).T) * scale
        if is_causal:
            scores[np.triu_indices(length, 1)] = -np.inf
        weight = np.exp(scores - scores.max(axis=1, keepdims=True))
        return o[-1], weight @ v[-1] / weight.sum(axis=1, keepdims=True)

    def peer() -> None:
        torch.nn.functional.scaled_dot_product_attention(tq, tk, tv, is_causal=is_causal)

    return Row(
        name, f"{heads} x {length} x {depth}", 4.0 * heads * seen * depth, FLOPS,
        attending.attention if is_causal else kernels.full_attention,
        [o, q, k, v, scale, *([0] if is_causal else [])], {"BS": tiles[0], "BT": tiles[1]}, expected,
        {"scaled_dot_product_attention": peer},
        limit={"products in registers": probes.float_products()}, goal=goal,
    )  # fmt: skip


def _millions(n: int) -> str:
    return f"{n >> 20}M" if n >= 1 << 20 else f"{n >> 10}K"


ROWS: dict[str, Callable[[bool], Row]] = {
    made.__name__: made
    for made in (
        add, saxpy, gelu, rms_norm, layer_norm, softmax, cumsum, embedding, histogram, matmul_f32, matmul_gpu,
        matmul_bf16, matmul_int8, matvec, attention, attention_full, attention_gpu,
    )
}  # fmt: skip
"""How to make each row, small for a trial or in full."""
EXAMPLE = adding.add
"""The smallest kernel, to time its launch."""
