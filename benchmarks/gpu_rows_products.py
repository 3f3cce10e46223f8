"""Rows of the GPU book: products of matrices, of matrices and vectors, of quantised weights, and of experts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from .gpu_row import Args, Array, Goal, Peer, Row, out, whole, wide

MODELS: Final = {
    "4B": {"qkv": (6144, 2560), "o": (2560, 4096), "gate_up": (19456, 2560), "down": (2560, 9728)},
    "32B": {"qkv": (10240, 5120), "o": (5120, 8192), "gate_up": (51200, 5120), "down": (5120, 25600)},
}
"""The matrices of a layer of Qwen3-4B and Qwen3-32B: outputs and inputs."""
HEADS: Final = {"4B": (151936, 2560), "32B": (151936, 5120)}
ROWS_AT: Final = (16, 64, 128, 256, 512, 1024, 2048, 4096)
"""How many tokens at a time."""
TABLE: Final = ("matmul", "linear")
"""The groups whose geometric mean is judged."""
_SQUARES: Final = ((2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (16384, 8192, 8192))
_ROTATED: Final = 150 << 20
"""Bytes of operands that products go through in turn: three times the cache."""
_FEW: Final = 64
"""Rows of a product that are compared with float64; all others with those of cuBLAS."""


def rows(small: bool) -> Iterator[Row]:
    """All of them, small on the CPU."""
    for m, n, k in ((128, 96, 160),) if small else _SQUARES:
        yield _matmul(m, n, k)
    for model, matrices in MODELS.items():
        for what, (n, k) in matrices.items():
            for m in ROWS_AT:
                if not small:
                    yield _linear(model, what, m, n, k)
                elif (model, what, m) == ("4B", "qkv", 16):
                    yield _linear(model, what, m, 192, 128)
    for model, matrices in MODELS.items():
        for what, (n, k) in {**matrices, "head": HEADS[model]}.items():
            if not small or (model, what) == ("4B", "qkv"):
                yield _matvec(model, what, *((96, 256) if small else (n, k)))
    for n, k in ((64, 256),) if small else ((19456, 2560), (51200, 5120)):
        yield from (_int8(n, k), _fp8(n, k), _int4(n, k))
    yield _grouped(*((8, 96, 64, 128) if small else (16, 8192, 2048, 4096)))


def _matmul(m: int, n: int, k: int) -> Row:
    return Row(
        f"matmul {m}", "matmul", f"{m}^3" if m == n == k else f"{m} x {n} x {k}",
        {"out": out(m, n), "a": Array((m, k)), "b": Array((k, n))},
        lambda tk, a: tk.matmul(a.a, a.b, out=a.out),
        lambda torch, a, got: _product(torch, a.a, a.b, got),
        (
            Peer("torch", "cuBLAS", lambda t, a: t.torch.mm(a.a, a.b, out=a.out)),
            Peer("Triton", "Triton", lambda t, a: t.triton.matmul(a.out, a.a, a.b)),
            Peer("cuTile", "cuTile", lambda t, a: t.cutile.matmul(a.out, a.a, a.b)),
        ),
        2.0 * m * n * k, (Goal(0.9, "cuBLAS"),), rounds=3, rotated=_ROTATED, has_twin=m == 4096,
    )  # fmt: skip


def _linear(model: str, what: str, m: int, n: int, k: int) -> Row:
    return Row(
        f"linear {model} {what} {m}", "linear", f"{m} x {n} x {k}",
        {"out": out(m, n), "x": Array((m, k)), "w": Array((n, k))},
        lambda tk, a: tk.linear(a.x, a.w, out=a.out),
        lambda torch, a, got: _product(torch, a.x, a.w.t(), got),
        (Peer("torch", "cuBLAS", lambda t, a: t.torch.nn.functional.linear(a.x, a.w)),),
        2.0 * m * n * k, (Goal(0.9, "cuBLAS"),), rounds=3, rotated=_ROTATED,
    )  # fmt: skip


def _product(torch: Any, a: Any, b: Any, got: Any) -> Iterator[tuple[Any, Any]]:
    """Some rows in float64, and all of it by another library."""
    some = torch.randint(0, a.shape[0], (min(_FEW, a.shape[0]),), device=a.device)
    yield got[some], wide(a[some]) @ wide(b)
    yield got, torch.mm(a, b)


def _matvec(model: str, what: str, n: int, k: int) -> Row:
    def right(torch: Any, a: Args) -> Any:
        return torch.cat([wide(some) @ wide(a.x) for some in a.w.split(8192)])

    return Row(
        f"matvec {model} {what}", "matvec", f"{n} x {k}",
        {"out": out(n), "w": Array((n, k)), "x": Array((k,))},
        lambda tk, a: tk.matvec(a.w, a.x, out=a.out), whole(right),
        (
            Peer("torch", "cuBLAS mv", lambda t, a: t.torch.mv(a.w, a.x, out=a.out)),
            Peer("torch", "cuBLAS linear", lambda t, a: t.torch.nn.functional.linear(a.x[None], a.w)[0]),
            Peer("Triton", "Triton", lambda t, a: t.triton.matvec(a.out, a.w, a.x)),
            Peer("cuTile", "cuTile", lambda t, a: t.cutile.matvec(a.out, a.w, a.x)),
        ),
        2.0 * n * k, (Goal(1.0, "cuBLAS"),), has_twin=what == "gate_up",
    )  # fmt: skip


# Weights of few bits, for one row: the fewer bytes, the faster. cuBLAS has bf16 weights of the same size.


def _quantised(name: str, n: int, k: int, arrays: dict[str, Array], call: Any, weights: Any) -> Row:
    def right(torch: Any, a: Args) -> Any:
        return wide(a.x) @ weights(torch, a).t()

    def peer(t: Any, a: Args) -> Any:
        kept = t.kept("bf16 weights", a, lambda: weights(t.torch, a).to(a.x.dtype))
        return t.torch.nn.functional.linear(a.x, kept)

    return Row(
        f"{name} {n}", "quantised", f"1 x {n} x {k}",
        {"out": out(1, n), "x": Array((1, k)), **arrays}, call, whole(right),
        (Peer("torch", "cuBLAS bf16", peer),), 2.0 * n * k, yardsticks=("read",),
    )  # fmt: skip


def _int8(n: int, k: int, group: int = 64) -> Row:
    return _quantised(
        "int8_linear", n, k,
        {"w": Array((n, k), "i8", below=128, low=-127), "scales": Array((n, k // group), "f32", scale=0.01)},
        lambda tk, a: tk.int8_linear(a.x, a.w, a.scales, out=a.out),
        lambda torch, a: wide(a.w) * wide(a.scales).repeat_interleave(group, 1),
    )  # fmt: skip


def _fp8(n: int, k: int) -> Row:
    return _quantised(
        "fp8_linear", n, k, {"w": Array((n, k), "f8e4m3"), "scales": Array((n,), "f32", scale=0.1)},
        lambda tk, a: tk.fp8_linear(a.x, a.w, a.scales, out=a.out),
        lambda torch, a: wide(a.w.float()) * wide(a.scales)[:, None],
    )  # fmt: skip


def _int4(n: int, k: int, group: int = 128) -> Row:
    """The first half of a group is in the low bits of its bytes, the second in the high ones, both with 8 added."""

    def weights(torch: Any, a: Args) -> Any:
        values = torch.cat(((a.w & 15).to(torch.int16), (a.w >> 4).to(torch.int16)), -1) - 8
        return (wide(values) * wide(a.scales)[..., None]).reshape(n, k)

    return _quantised(
        "int4_linear", n, k,
        {"w": Array((n, k // group, group // 2), "u8", below=256), "scales": Array((n, k // group), "f32", scale=0.01)},
        lambda tk, a: tk.int4_linear(a.x, a.w, a.scales, out=a.out), weights,
    )  # fmt: skip


def _grouped(experts: int, tokens: int, features: int, inner: int) -> Row:
    # Uneven, as routing is: the first experts have three times the rows of the last ones.
    shares = [3] * (experts // 2) + [1] * (experts - experts // 2)
    borders = [tokens * sum(shares[:place]) // sum(shares) for place in range(experts + 1)]

    def right(torch: Any, a: Args) -> Any:
        parts = [a.x[begin:end] @ a.w[e].t() for e, (begin, end) in enumerate(pairwise(borders))]
        return torch.cat(parts)

    def each(t: Any, a: Args) -> None:
        for e, (begin, end) in enumerate(pairwise(borders)):
            t.torch.mm(a.x[begin:end], a.w[e].t(), out=a.out[begin:end])

    def grouped(t: Any, a: Args) -> Any:
        return t.torch._grouped_mm(a.x, a.w.transpose(1, 2), a.offsets[1:])

    return Row(
        "grouped_matmul", "experts", f"{tokens} rows, {experts} experts, {features} x {inner}",
        {"out": out(tokens, features), "x": Array((tokens, inner)), "w": Array((experts, features, inner)),
         "offsets": Array((experts + 1,), "i32", values=tuple(borders))},
        lambda tk, a: tk.grouped_matmul(a.x, a.w, a.offsets, out=a.out), whole(right),
        (Peer("torch", "cuBLAS one by one", each), Peer("torch", "torch grouped_mm", grouped)),
        2.0 * tokens * features * inner, (Goal(1.0, "cuBLAS"),), rotated=_ROTATED,
    )  # fmt: skip
