"""GEMM: squares, linear layers, and a mixture of experts. Arithmetic is the limit of most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from tileproof.backends.cpu.device.pool import cores

from ..harness.row import Args, Array, Element, Goal, Peer, Place, Row, wide
from .models import MODELS, ROWS_AT
from .peers import eager

_ROTATED: Final = 150 << 20
"""Bytes of operands that a GPU goes through in turn: three times its cache."""
_FEW: Final = 64
"""Rows that are compared with float64."""


def rows(at: Place) -> Iterator[Row]:
    """All of them."""
    if at.device == "cpu":
        yield from _on_cpu(at)
    else:
        squares = ((2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (16384, 8192, 8192))
        for m, n, k in at.of(squares, squares, ((128, 96, 160),)):
            yield _matmul(at, f"matmul {m}", m, n, k, goals=(Goal(0.9, "cuBLAS"),), has_twin=m == 4096)
        for model, matrices in MODELS.items():
            for what, (n, k) in matrices.items():
                for m in ROWS_AT:
                    if not at.small:
                        yield _linear(at, f"linear {model} {what} {m}", m, n, k, "linear")
                    elif (model, what, m) == ("4B", "qkv", 16):
                        yield _linear(at, f"linear {model} {what} {m}", m, 192, 128, "linear")
    yield _grouped(at, *at.of((16, 8192, 2048, 4096), (8, 1024, 512, 512), (8, 96, 64, 128)))


def _matmul(at: Place, name: str, m: int, n: int, k: int, element: Element = "bf16", **more: Any) -> Row:
    def by_columns(t: Any, a: Args) -> Any:
        b = t.kept("b by columns", a, lambda: a.b.t().contiguous().t())
        return t.torch.mm(a.a, b, out=a.out)

    row = Row(
        name, "matmul", f"{m}^3" if m == n == k else f"{m} x {n} x {k}",
        {"out": at.out(m, n, element=element), "a": Array((m, k), element), "b": Array((k, n), element)},
        lambda tk, a: tk.matmul(a.a, a.b, out=a.out), lambda xp, a: wide(a.a) @ wide(a.b), ("a",),
        peers=(eager(lambda t, a: t.torch.mm(a.a, a.b, out=a.out), at.of("cuBLAS", "torch mm")),
               eager(by_columns, "torch mm, b by columns", only="cpu"),
               Peer("Triton", "Triton", lambda t, a: t.triton.matmul(a.out, a.a, a.b)),
               Peer("cuTile", "cuTile", lambda t, a: t.cutile.matmul(a.out, a.a, a.b))),
        operations=2.0 * m * n * k, yardsticks=("arithmetic",), few=_FEW, rounds=3, unit="FLOP/s", rotated=_ROTATED,
    )  # fmt: skip
    return replace(row, **more)


def _on_cpu(at: Place) -> Iterator[Row]:
    from tileproof import kernels

    n = at.of(0, 1024, 128)
    numpy = Peer("numpy", "numpy", lambda t, a: t.numpy.matmul(a.a, a.b, out=a.out), cores())
    plain = _matmul(at, "matmul f32", n, n, n, "f32")
    plain = replace(plain, peers=(*plain.peers, numpy))
    yield replace(plain, goals=(Goal(1.0, "torch", threads=2),))

    def of_gpu_tiles(tk: Any, a: Args) -> None:
        kernels.matmul_kernel(a.out, a.a, a.b, BM=128, BN=128, BK=64)

    yield replace(plain, name="matmul f32, GPU-sized tiles", call=of_gpu_tiles)
    yield _matmul(at, "matmul bf16", n, n, n, goals=(Goal(20.0, "torch"),))

    def exact(t: Any, a: Args, b: Any) -> Any:
        return t.torch._int_mm(a.a, b, out=a.out)

    some = Array((n, n), "i8", below=128, low=-128)
    yield _matmul(
        at, "matmul int8", n, n, n, arrays={"out": at.out(n, n, element="i32"), "a": some, "b": some}, unit="OP/s",
        peers=(eager(lambda t, a: exact(t, a, a.b), "torch _int_mm"),
               eager(lambda t, a: exact(t, a, t.kept("by columns", a, lambda: a.b.t().contiguous().t())),
                     "torch _int_mm, b by columns")),
        yardsticks=("int8 arithmetic",), goals=(Goal(20.0, "torch"),),
    )  # fmt: skip
    yield _linear(at, "linear bf16", *at.of((0, 0, 0), (16, 4096, 2048), (16, 128, 128)), "linear")


def _linear(at: Place, name: str, m: int, n: int, k: int, group: str) -> Row:
    return Row(
        name, group, f"{m} x {n} x {k}",
        {"out": at.out(m, n, element="bf16"), "x": Array((m, k)), "w": Array((n, k))},
        lambda tk, a: tk.linear(a.x, a.w, out=a.out), lambda xp, a: wide(a.x) @ wide(a.w).T, ("x",),
        peers=(eager(lambda t, a: t.torch.nn.functional.linear(a.x, a.w), at.of("cuBLAS", "torch linear")),),
        operations=2.0 * m * n * k, goals=at.goals(gpu=[Goal(0.9, "cuBLAS")]), yardsticks=("arithmetic",), few=_FEW,
        rounds=3, unit="FLOP/s", rotated=_ROTATED,
    )  # fmt: skip


def _grouped(at: Place, experts: int, tokens: int, features: int, inner: int) -> Row:
    # On a GPU uneven, as routing is: the first experts have three times the rows of the last ones.
    shares = [at.of(3, 1)] * (experts // 2) + [1] * (experts - experts // 2)
    borders = [tokens * sum(shares[:place]) // sum(shares) for place in range(experts + 1)]
    spans = list(enumerate(pairwise(borders)))

    def right(xp: Any, a: Args) -> Any:
        """In float64 on the CPU; on a GPU by the sums of cuBLAS, which are of f32."""
        of = wide if at.device == "cpu" or at.small else lambda x: x
        return xp.concatenate([of(a.x[begin:end]) @ of(a.w[e]).T for e, (begin, end) in spans])

    def each(t: Any, a: Args) -> None:
        for e, (begin, end) in spans:
            t.torch.mm(a.x[begin:end], a.w[e].t(), out=a.out[begin:end])

    return Row(
        at.of("grouped_matmul", "grouped_matmul f32"), "experts",
        f"{tokens} rows, {experts} experts, {features} x {inner}",
        {"out": at.out(tokens, features), "x": at.array(tokens, inner), "w": at.array(experts, features, inner),
         "offsets": at.array(experts + 1, element="i32", values=tuple(borders))},
        lambda tk, a: tk.grouped_matmul(a.x, a.w, a.offsets, out=a.out), right,
        peers=(eager(each, at.of("cuBLAS one by one", "torch mm, one by one")),
               eager(lambda t, a: t.torch._grouped_mm(a.x, a.w.transpose(1, 2), a.offsets[1:]), "torch grouped_mm",
                     only="gpu")),
        operations=2.0 * tokens * features * inner, goals=at.goals(gpu=[Goal(1.0, "cuBLAS")]),
        yardsticks=("arithmetic",), unit="FLOP/s", rotated=_ROTATED,
    )  # fmt: skip
