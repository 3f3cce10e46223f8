"""Rows of the CPU book that go over memory: elementwise work, rows of a matrix, and reductions."""

from __future__ import annotations

import numpy as np

from tileproof import kernels

from . import cpu_kernels, probes
from .cpu_row import BYTES, Array, Goal, Row, empty, integers, normal, tensor, torch
from .probes import Probe


def streams(reads: list[Array], write: Array) -> dict[str, Probe]:
    """Both ways to write a stream."""
    return {
        "stores passing by the caches": probes.stream(reads, write),
        "plain stores": probes.stream(reads, write, passing=False),
    }


def reads(array: Array) -> dict[str, Probe]:
    """A stream that is only read, at one or several places at once."""
    return {f"{places} streams": probes.reading(array, places) for places in (1, 4, 8)}


def millions(n: int) -> str:
    return f"{n >> 20}M" if n >= 1 << 20 else f"{n >> 10}K"


def wide(array: Array) -> Array:
    """In float64."""
    made: Array = array.astype(np.float64)
    return made


# Elementwise.


def add(small: bool) -> Row:
    """Two arrays of 64M."""
    n = 1 << 16 if small else 64 << 20
    x, y, z = normal(n), normal(n), empty(n)
    tx, ty, tz = map(tensor, (x, y, z))
    return Row(
        "add", millions(n), 12.0 * n, BYTES, lambda: kernels.add(x, y, out=z),
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
        "saxpy", millions(n), 12.0 * n, BYTES, lambda: cpu_kernels.saxpy(z, x, y, 2.5, BN=16384),
        lambda: (z[-4096:], 2.5 * x[-4096:] + y[-4096:]),
        {"add(alpha=, out=)": lambda: torch.add(ty, tx, alpha=2.5, out=tz)},
        lambda: np.add(np.multiply(x, np.float32(2.5), out=z), y, out=z),
        limit=streams([x, y], z), goal=Goal(torch=1.3, limit=0.95),
    )  # fmt: skip


def gelu_add(small: bool) -> Row:
    """Three steps of torch in one kernel."""
    n = 1 << 16 if small else 64 << 20
    x, y, z = normal(n), normal(n), empty(n)
    tx, ty, tz = map(tensor, (x, y, z))

    def steps() -> None:
        torch.add(tx, ty, out=tz)
        torch.ops.aten.gelu.out(tz, approximate="tanh", out=tz)
        torch.mul(tz, ty, out=tz)

    return Row(
        "gelu(x + y) * y", millions(n), 12.0 * n, BYTES, lambda: cpu_kernels.gelu(z, x, y, BN=16384),
        lambda: (z[-4096:], _gelu(wide(x[-4096:] + y[-4096:])) * y[-4096:]),
        {"add, gelu, mul (out=)": steps}, limit=streams([x, y], z),
    )  # fmt: skip


def _gelu(v: Array) -> Array:
    made: Array = 0.5 * v * (1 + np.tanh(0.7978845608028654 * (v + 0.044715 * v**3)))
    return made


def gelu(small: bool) -> Row:
    """In the form with tanh."""
    n = 1 << 16 if small else 32 << 20
    x, z = normal(n), empty(n)
    tx, tz = map(tensor, (x, z))
    return Row(
        "gelu", millions(n), 8.0 * n, BYTES, lambda: kernels.gelu(x, approximate="tanh", out=z),
        lambda: (z[-4096:], _gelu(wide(x[-4096:]))),
        {"gelu(out=)": lambda: torch.ops.aten.gelu.out(tx, approximate="tanh", out=tz)}, limit=streams([x], z),
    )  # fmt: skip


def silu_mul(small: bool) -> Row:
    """Gate and up next to each other."""
    rows, columns = (16, 128) if small else (4096, 2048)
    x, y = normal(rows, 2 * columns), empty(rows, columns)
    tx, ty = map(tensor, (x, y))

    def steps() -> None:
        gate, up = tx.chunk(2, 1)
        torch.ops.aten.silu.out(gate, out=ty)
        torch.mul(ty, up, out=ty)

    def expected() -> tuple[Array, Array]:
        gate, up = np.split(wide(x[-4:]), 2, axis=1)
        return y[-4:], gate / (1 + np.exp(-gate)) * up

    return Row(
        "silu_mul", f"{rows} x 2 x {columns}", 12.0 * y.size, BYTES, lambda: kernels.silu_mul(x, out=y), expected,
        {"silu, mul (out=)": steps}, limit=streams([x[:, :columns].copy(), x[:, columns:].copy()], y),
    )  # fmt: skip


def transpose(small: bool) -> Row:
    """Rows become columns."""
    n = 128 if small else 4096
    x, y = normal(n, n), empty(n, n)
    tx, ty = map(tensor, (x, y))
    return Row(
        "transpose", f"{n} x {n}", 8.0 * x.size, BYTES, lambda: kernels.transpose(x, out=y), lambda: (y[-4:], x.T[-4:]),
        {"copy_": lambda: ty.copy_(tx.t())}, lambda: np.copyto(y, x.T), limit=streams([x], y),
    )  # fmt: skip


# Rows of a matrix.


def rms_norm(small: bool) -> Row:
    """Divided by their root mean square."""
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
        "rms_norm", f"{rows} x {columns}", 8.0 * x.size, BYTES, lambda: kernels.rms_norm(x, w, 1e-6, out=y),
        lambda: (y[-4:], _rms_norm(wide(x[-4:]), w)),
        {"rms_norm": lambda: torch.nn.functional.rms_norm(tx, (columns,), tw, 1e-6), "five steps (out=)": steps},
        lambda: np.multiply(x * (1 / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6)), w, out=y),
        limit=streams([x], y), goal=Goal(torch=1.4), note="torch's rms_norm allocates its result",
    )  # fmt: skip


def _rms_norm(x: Array, w: Array) -> Array:
    made: Array = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * w
    return made


def add_rms_norm(small: bool) -> Row:
    """The norm of a sum, and the sum."""
    rows, columns = (16, 256) if small else (4096, 4096)
    x, r, w = normal(rows, columns), normal(rows, columns), normal(columns)
    y, total = empty(rows, columns), empty(rows, columns)
    tx, tr, tw, ttotal = map(tensor, (x, r, w, total))

    def steps() -> None:
        torch.add(tx, tr, out=ttotal)
        torch.nn.functional.rms_norm(ttotal, (columns,), tw, 1e-6)

    return Row(
        "add_rms_norm", f"{rows} x {columns}", 16.0 * x.size, BYTES,
        lambda: kernels.add_rms_norm(x, r, w, 1e-6, out=(y, total)),
        lambda: (y[-4:], _rms_norm(wide(x[-4:]) + wide(r[-4:]), w)), {"add(out=), rms_norm": steps},
        limit=streams([x, r], y), note="the limit writes one result, not two",
    )  # fmt: skip


def layer_norm(small: bool) -> Row:
    """Mean and variance of whole rows."""
    rows, columns = (16, 256) if small else (4096, 4096)
    x, w, b, y = normal(rows, columns), normal(columns), normal(columns), empty(rows, columns)
    tx, tw, tb, ty, mean, scale = map(tensor, (x, w, b, y, empty(rows, 1), empty(rows, 1)))

    def given() -> None:
        torch.ops.aten.native_layer_norm.out(tx, [columns], tw, tb, 1e-5, out0=ty, out1=mean, out2=scale)

    def expected() -> tuple[Array, Array]:
        v = wide(x[-4:])
        centred = v - v.mean(axis=1, keepdims=True)
        return y[-4:], centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * w + b

    return Row(
        "layer_norm", f"{rows} x {columns}", 8.0 * x.size, BYTES, lambda: kernels.layer_norm(x, w, b, 1e-5, out=y),
        expected,
        {"layer_norm (out=)": given, "layer_norm": lambda: torch.nn.functional.layer_norm(tx, (columns,), tw, tb)},
        limit=streams([x], y),
    )  # fmt: skip


def _weights(x: Array) -> tuple[Array, Array]:
    """Exponentials of rows, and their sums."""
    weight = np.exp(wide(x) - x.max(axis=1, keepdims=True))
    return weight, weight.sum(axis=1, keepdims=True)


def softmax(small: bool) -> Row:
    """Exponentials of rows over their sums."""
    rows, columns = (16, 256) if small else (4096, 4096)
    x, y = normal(rows, columns), empty(rows, columns)
    tx, ty = map(tensor, (x, y))

    def expected() -> tuple[Array, Array]:
        weight, total = _weights(x[-4:])
        return y[-4:], weight / total

    def numpy() -> None:
        np.exp(np.subtract(x, x.max(axis=1, keepdims=True), out=y), out=y)
        np.divide(y, y.sum(axis=1, keepdims=True), out=y)

    return Row(
        "softmax", f"{rows} x {columns}", 8.0 * x.size, BYTES, lambda: kernels.softmax(x, out=y), expected,
        {"_softmax(out=)": lambda: torch.ops.aten._softmax.out(tx, 1, False, out=ty)}, numpy,
        limit=streams([x], y), goal=Goal(torch=1.4),
    )  # fmt: skip


def log_softmax(small: bool) -> Row:
    """Its logarithm."""
    rows, columns = (16, 256) if small else (4096, 4096)
    x, y = normal(rows, columns), empty(rows, columns)
    tx, ty = map(tensor, (x, y))

    def expected() -> tuple[Array, Array]:
        weight, total = _weights(x[-4:])
        return y[-4:], np.log(weight / total)

    return Row(
        "log_softmax", f"{rows} x {columns}", 8.0 * x.size, BYTES, lambda: kernels.log_softmax(x, out=y), expected,
        {"_log_softmax(out=)": lambda: torch.ops.aten._log_softmax.out(tx, 1, False, out=ty)}, limit=streams([x], y),
    )  # fmt: skip


def cross_entropy(small: bool) -> Row:
    """The loss of each row of logits."""
    rows, columns = (16, 500) if small else (256, 151936)
    x, labels = normal(rows, columns), integers(0, columns, rows, dtype=np.int64)
    loss, sums = empty(rows), empty(rows)
    tx, tl = map(tensor, (x, labels))

    def expected() -> tuple[Array, Array]:
        weight, total = _weights(x[-4:])
        return loss[-4:], -np.log(weight[np.arange(4), labels[-4:]] / total[:, 0])

    return Row(
        "cross_entropy", f"{rows} x {columns}", 4.0 * x.size, BYTES,
        lambda: kernels.cross_entropy(x, labels, out=(loss, sums)), expected,
        {"cross_entropy": lambda: torch.nn.functional.cross_entropy(tx, tl, reduction="none")}, limit=reads(x),
    )  # fmt: skip


# Reductions.


def total(small: bool) -> Row:
    """The sums of rows."""
    rows, columns = (16, 256) if small else (4096, 4096)
    x, y = normal(rows, columns), empty(rows)
    tx, ty = map(tensor, (x, y))
    return Row(
        "sum", f"{rows} x {columns}", 4.0 * x.size, BYTES, lambda: kernels.sum(x, axis=-1, out=y),
        lambda: (y[-4:], wide(x[-4:]).sum(axis=1)), {"sum(out=)": lambda: torch.sum(tx, 1, out=ty)},
        lambda: np.sum(x, axis=1, out=y), limit=reads(x),
    )  # fmt: skip


def argmax(small: bool) -> Row:
    """Where rows are greatest."""
    rows, columns = (16, 256) if small else (4096, 4096)
    x, y = normal(rows, columns), empty(rows, dtype=np.int32)
    tx = tensor(x)
    return Row(
        "argmax", f"{rows} x {columns}", 4.0 * x.size, BYTES, lambda: kernels.argmax(x, out=y),
        lambda: (y, x.argmax(axis=1)), {"argmax": lambda: torch.argmax(tx, 1)}, lambda: np.argmax(x, axis=1),
        limit=reads(x),
    )  # fmt: skip


def cumsum(small: bool) -> Row:
    """Running totals along rows."""
    rows, columns = (16, 256) if small else (4096, 4096)
    x, y = normal(rows, columns), empty(rows, columns)
    tx, ty = map(tensor, (x, y))
    return Row(
        "cumsum", f"{rows} x {columns}", 8.0 * x.size, BYTES, lambda: kernels.cumsum(x, out=y),
        lambda: (y[-4:], np.cumsum(x[-4:], axis=1, dtype=np.float64)),
        {"cumsum(out=)": lambda: torch.cumsum(tx, 1, out=ty)}, lambda: np.cumsum(x, axis=1, out=y),
        limit=streams([x], y),
    )  # fmt: skip


def top_k(small: bool) -> Row:
    """The greatest of each row, in order."""
    rows, columns, k = (4, 500, 8) if small else (32, 151936, 50)
    x = normal(rows, columns)
    tx, kept = tensor(x), []

    def call() -> None:
        kept[:] = kernels.top_k(x, k)

    return Row(
        "top_k", f"{k} of {rows} x {columns}", 4.0 * x.size, BYTES, call,
        lambda: (kept[0], np.sort(x, axis=1)[:, : -k - 1 : -1]), {"topk": lambda: torch.topk(tx, k, 1)},
        lambda: np.argpartition(x, -k, axis=1), limit=reads(x), note="numpy's are not in order",
    )  # fmt: skip


def histogram(small: bool) -> Row:
    """Counts into 256 buckets."""
    n = 1 << 16 if small else 16 << 20
    x, count = integers(0, 256, n, dtype=np.int32), empty(256, dtype=np.int32)
    tx = tensor(x)
    return Row(
        "histogram", f"{millions(n)} into 256", 4.0 * n, BYTES, lambda: kernels.histogram(x, 256, out=count),
        lambda: (count, np.bincount(x, minlength=256)),
        {"bincount": lambda: torch.bincount(tx, minlength=256)}, lambda: np.bincount(x, minlength=256),
        limit=reads(x),
    )  # fmt: skip
