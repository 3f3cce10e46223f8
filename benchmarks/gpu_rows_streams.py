"""Rows of the GPU book that go over memory: elementwise work, rows of a matrix, and reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .gpu_row import Args, Array, Element, Goal, Peer, Row, out, whole, wide


def rows(small: bool) -> Iterator[Row]:
    """All of them, small on the CPU."""
    yield from _elementwise(small)
    for r, c in ((6, 256),) if small else ((8192, 4096), (4096, 8192)):
        yield from _along_rows(r, c)
    yield from _reductions(small)


def _eager(way: Callable[[Any, Args], Any], name: str = "torch") -> Peer:
    return Peer("torch", name, way)


def _compiled(work: Callable[..., Any], *names: str) -> Peer:
    """What torch.compile makes of a function of the arguments with these names. It gets torch first."""
    return Peer(
        "torch.compile", "torch.compile",
        lambda t, a: t.compiled(work)(*(getattr(a, name) for name in names)),
    )  # fmt: skip


# Elementwise.


def _elementwise(small: bool) -> Iterator[Row]:
    n = 3000 if small else 1 << 28
    wide_goal = (Goal(1.0, "torch"),)

    def size(count: int, element: str) -> str:
        return f"2^{count.bit_length() - 1} {element}" if count & (count - 1) == 0 else f"{count} {element}"

    yield Row(
        "add", "elementwise", size(n, "f32"),
        {"out": out(n, element="f32"), "x": Array((n,), "f32"), "y": Array((n,), "f32")},
        lambda tk, a: tk.add(a.x, a.y, out=a.out), whole(lambda torch, a: wide(a.x) + wide(a.y)),
        (_eager(lambda t, a: t.torch.add(a.x, a.y, out=a.out)),
         Peer("Triton", "Triton", lambda t, a: t.triton.add(a.out, a.x, a.y)),
         Peer("cuTile", "cuTile", lambda t, a: t.cutile.add(a.out, a.x, a.y))),
        float(n), wide_goal, has_twin=True,
    )  # fmt: skip
    n //= 1 if small else 2
    yield Row(
        "mul", "elementwise", size(n, "bf16"), {"out": out(n), "x": Array((n,)), "y": Array((n,))},
        lambda tk, a: tk.mul(a.x, a.y, out=a.out), whole(lambda torch, a: wide(a.x) * wide(a.y)),
        (_eager(lambda t, a: t.torch.mul(a.x, a.y, out=a.out)),), float(n), wide_goal,
    )  # fmt: skip
    r, c = (6, 128) if small else (8192, 9728)
    yield Row(
        "silu_mul", "elementwise", f"{r} x 2 x {c} bf16", {"out": out(r, c), "x": Array((r, 2 * c))},
        lambda tk, a: tk.silu_mul(a.x, out=a.out),
        whole(lambda torch, a: _silu_mul(torch, wide(a.x))),
        (_eager(lambda t, a: _silu_mul(t.torch, a.x)), _compiled(_silu_mul, "x")), 5.0 * r * c,
        (*wide_goal, Goal(1.0, "torch.compile")), ("copy",),
    )  # fmt: skip
    yield Row(
        "gelu", "elementwise", size(n, "bf16"), {"out": out(n), "x": Array((n,))},
        lambda tk, a: tk.gelu(a.x, out=a.out), whole(lambda torch, a: torch.nn.functional.gelu(wide(a.x))),
        (_eager(lambda t, a: t.torch.ops.aten.gelu.out(a.x, out=a.out)),), 8.0 * n, wide_goal, ("copy",),
    )  # fmt: skip
    yield Row(
        "copy", "elementwise", size(n, "bf16"), {"out": out(n), "x": Array((n,))},
        lambda tk, a: tk.copy(a.x, out=a.out), whole(lambda torch, a: wide(a.x)),
        (_eager(lambda t, a: a.out.copy_(a.x)),), 0.0, wide_goal,
    )  # fmt: skip
    yield Row(
        "cast", "elementwise", size(n, "f32 to bf16"), {"out": out(n), "x": Array((n,), "f32")},
        lambda tk, a: tk.cast(a.x, _bf16(), out=a.out), whole(lambda torch, a: wide(a.x)),
        (_eager(lambda t, a: a.out.copy_(a.x)),), 0.0, wide_goal,
    )  # fmt: skip
    side = 96 if small else 8192
    yield Row(
        "transpose", "elementwise", f"{side} x {side} bf16", {"out": out(side, side), "x": Array((side, side))},
        lambda tk, a: tk.transpose(a.x, out=a.out), whole(lambda torch, a: wide(a.x).t()),
        (_eager(lambda t, a: a.out.copy_(a.x.t())),
         _compiled(lambda torch, x: x.t().contiguous(), "x")), 0.0, wide_goal, ("copy",),
    )  # fmt: skip


def _bf16() -> Any:
    import tileproof as tp

    return tp.bf16


def _silu_mul(torch: Any, x: Any) -> Any:
    gate, up = x.chunk(2, -1)
    return torch.nn.functional.silu(gate) * up


# Rows of a matrix.


def _along_rows(r: int, c: int) -> Iterator[Row]:
    goals = (Goal(1.0, "torch.compile"), Goal(0.9, "copy"))
    x, y = Array((r, c)), out(r, c)
    w, b = Array((c,)), Array((c,))

    def row(
        name: str, arrays: dict[str, Array], call: Any, right: Any, work: Any, taken: str, operations: float,
        *more: Peer, eager: Any = None, check: Any = None,
    ) -> Row:  # fmt: skip
        names = taken.split()
        plain = eager or (lambda t, a: work(t.torch, *(getattr(a, each) for each in names)))
        peers = (_eager(plain), _compiled(work, *names), *more)
        return Row(
            f"{name} {c}", "rows", f"{r} x {c} bf16", arrays, call, check or whole(right), peers,
            operations * r * c, goals, ("copy",), has_twin=name in ("softmax", "rms_norm"),
        )  # fmt: skip

    yield row(
        "softmax", {"out": y, "x": x}, lambda tk, a: tk.softmax(a.x, out=a.out),
        lambda torch, a: torch.softmax(wide(a.x), -1), lambda torch, x: torch.softmax(x, -1), "x", 5.0,
        Peer("Triton", "Triton", lambda t, a: t.triton.softmax(a.out, a.x)),
        Peer("cuTile", "cuTile", lambda t, a: t.cutile.softmax(a.out, a.x)),
    )  # fmt: skip
    yield row(
        "log_softmax", {"out": y, "x": x}, lambda tk, a: tk.log_softmax(a.x, out=a.out),
        lambda torch, a: torch.log_softmax(wide(a.x), -1), lambda torch, x: torch.log_softmax(x, -1), "x", 5.0,
        Peer("Triton", "Triton", lambda t, a: t.triton.log_softmax(a.out, a.x)),
    )  # fmt: skip
    yield row(
        "rms_norm", {"out": y, "x": x, "w": w}, lambda tk, a: tk.rms_norm(a.x, a.w, 1e-6, out=a.out),
        lambda torch, a: _rms_norm(torch, wide(a.x), wide(a.w)), _rms_norm_of, "x w", 4.0,
        Peer("Triton", "Triton", lambda t, a: t.triton.rms_norm(a.out, a.x, a.w, 1e-6)),
        Peer("cuTile", "cuTile", lambda t, a: t.cutile.rms_norm(a.out, a.x, a.w, 1e-6)),
    )  # fmt: skip

    def added(torch: Any, a: Args, got: Any) -> Iterator[tuple[Any, Any]]:
        """The norm is of the sum as it was rounded, and the sum itself is the second result."""
        total = a.x + a.residual
        yield got[0], _rms_norm(torch, wide(total), wide(a.w))
        yield got[1], wide(total)

    def add_norm(torch: Any, x: Any, residual: Any, w: Any) -> Any:
        total = x + residual
        return _rms_norm_of(torch, total, w), total

    yield row(
        "add_rms_norm", {"x": x, "residual": x, "w": w, "normed": y, "total": y},
        lambda tk, a: tk.add_rms_norm(a.x, a.residual, a.w, 1e-6, out=(a.normed, a.total)),
        None, add_norm, "x residual w", 5.0,
        Peer("Triton", "Triton",
             lambda t, a: t.triton.add_rms_norm(a.normed, a.total, a.x, a.residual, a.w, 1e-6)),
        check=added,
    )  # fmt: skip
    yield row(
        "layer_norm", {"out": y, "x": x, "w": w, "b": b}, lambda tk, a: tk.layer_norm(a.x, a.w, a.b, 1e-5, out=a.out),
        lambda torch, a: _layer_norm(torch, wide(a.x), wide(a.w), wide(a.b)), _layer_norm, "x w b", 7.0,
        Peer("Triton", "Triton", lambda t, a: t.triton.layer_norm(a.out, a.x, a.w, a.b, 1e-5)),
    )  # fmt: skip


def _rms_norm(torch: Any, x: Any, w: Any) -> Any:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w


def _rms_norm_of(torch: Any, x: Any, w: Any) -> Any:
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), w, 1e-6)


def _layer_norm(torch: Any, x: Any, w: Any, b: Any) -> Any:
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), w, b, 1e-5)


# Reductions.


def _reductions(small: bool) -> Iterator[Row]:
    r, c = (6, 300) if small else (8192, 8192)
    x = Array((r, c))

    def reduced(name: str, call: Any, work: Any, right: Any, element: Element = "bf16") -> Row:
        return Row(
            name, "reductions", f"{r} x {c} bf16", {"out": out(r, element=element), "x": x}, call, right,
            (_eager(lambda t, a: work(t.torch, a.x)), _compiled(work, "x")), float(r * c), (Goal(1.0, "torch"),),
            ("read",),
        )  # fmt: skip

    yield reduced(
        "sum", lambda tk, a: tk.sum(a.x, axis=-1, out=a.out), lambda torch, x: x.sum(-1),
        whole(lambda torch, a: wide(a.x).sum(-1)),
    )  # fmt: skip
    yield reduced(
        "max", lambda tk, a: tk.max(a.x, axis=-1, out=a.out), lambda torch, x: x.amax(-1),
        whole(lambda torch, a: wide(a.x).amax(-1)),
    )  # fmt: skip
    yield reduced("argmax", lambda tk, a: tk.argmax(a.x, out=a.out), lambda torch, x: x.argmax(-1), _greatest, "i32")
    n, m = (6, 300) if small else (8192, 4096)
    yield Row(
        "cumsum", "reductions", f"{n} x {m} f32", {"out": out(n, m, element="f32"), "x": Array((n, m), "f32")},
        lambda tk, a: tk.cumsum(a.x, out=a.out), whole(lambda torch, a: wide(a.x).cumsum(-1)),
        (_eager(lambda t, a: t.torch.cumsum(a.x, -1, out=a.out)),
         _compiled(lambda torch, x: x.cumsum(-1), "x")), float(n * m), (Goal(1.0, "torch"),), ("copy",),
    )  # fmt: skip
    tokens, words = (6, 500) if small else (4096, 151936)

    def entropy(torch: Any, a: Args, got: Any) -> Iterator[tuple[Any, Any]]:
        """Peers have no second result, the logarithms of sums."""
        loss, sums = got if isinstance(got, tuple) else (got, None)
        yield loss, _entropy(torch, a)
        if sums is not None:
            yield sums, torch.cat([torch.logsumexp(wide(some), -1) for some in a.x.split(256)])

    yield Row(
        "cross_entropy", "reductions", f"{tokens} x {words} bf16",
        {"loss": out(tokens, element="f32"), "sums": out(tokens, element="f32"), "x": Array((tokens, words)),
         "targets": Array((tokens,), "i64", below=words)},
        lambda tk, a: tk.cross_entropy(a.x, a.targets, out=(a.loss, a.sums)), entropy,
        (_eager(lambda t, a: _cross_entropy(t.torch, a.x, a.targets)), _compiled(_cross_entropy, "x", "targets")),
        5.0 * tokens * words, (Goal(1.0, "torch.compile"),), ("read",),
    )  # fmt: skip
    n, m, k = (4, 500, 8) if small else (128, 151936, 64)

    def top(torch: Any, a: Args, got: Any) -> Iterator[tuple[Any, Any]]:
        """Which of equal values is named is left open; the values are not."""
        right = a.x.topk(k, -1).values
        yield got[0], wide(right)
        yield a.x.gather(1, got[1].long()), wide(right)

    yield Row(
        "top_k", "reductions", f"{k} of {n} x {m} bf16",
        {"x": Array((n, m))}, lambda tk, a: tk.top_k(a.x, k), top,
        (_eager(lambda t, a: tuple(t.torch.topk(a.x, k, -1))),), 0.0, (Goal(1.0, "torch"),), ("read",),
    )  # fmt: skip
    n = 5000 if small else 1 << 26
    yield Row(
        "histogram", "reductions", f"{n} i32 into 256",
        {"out": out(256, element="i32"), "x": Array((n,), "i32", below=256)},
        lambda tk, a: tk.histogram(a.x, 256, out=a.out),
        whole(lambda torch, a: torch.bincount(a.x, minlength=256)),
        (_eager(lambda t, a: t.torch.histc(a.x, 256, 0, 255), "torch histc"),), 0.0, (Goal(1.0, "torch"),), ("read",),
    )  # fmt: skip


def _greatest(torch: Any, a: Args, got: Any) -> Iterator[tuple[Any, Any]]:
    """The first of the greatest."""
    top = a.x.amax(-1, keepdim=True)
    yield got, (a.x == top).int().argmax(-1)


def _cross_entropy(torch: Any, x: Any, targets: Any) -> Any:
    return torch.nn.functional.cross_entropy(x.float(), targets, reduction="none")


def _entropy(torch: Any, a: Args) -> Any:
    parts = zip(a.x.split(256), a.targets.split(256), strict=True)
    return torch.cat([torch.nn.functional.cross_entropy(wide(x), t.long(), reduction="none") for x, t in parts])
