"""Rows along the rows of a matrix: softmax and norms."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ..harness.row import Args, Goal, Peer, Place, Row, wide
from . import reference
from .peers import compiled, eager


def rows(at: Place) -> Iterator[Row]:
    """All of them, at each shape."""
    for r, c in at.of([(8192, 4096), (4096, 8192)], [(4096, 4096)], [(6, 256)]):
        yield from _along_rows(at, r, c)


def _along_rows(at: Place, r: int, c: int) -> Iterator[Row]:
    x, y, w = at.array(r, c), at.out(r, c), at.array(c)

    def row(name: str, call: Any, right: Any, work: Any, taken: str, operations: float, *more: Peer,
            arrays: Any = None, goal: float | None = None, along: tuple[str, ...] = ("x",)) -> Row:  # fmt: skip
        """torch's own way, what torch.compile makes of it, and more; `taken` are the names of arguments."""
        arguments = {"out": y, "x": x, **({"w": w} if "w" in taken else {}), **({"b": w} if " b" in taken else {})}
        goals = at.goals(gpu=[Goal(1.0, "torch.compile"), Goal(0.9, "copy")],
                         cpu=[] if goal is None else [Goal(goal, "torch")])  # fmt: skip
        peers = (eager(lambda t, a: work(t.torch, *(getattr(a, part) for part in taken.split()))),
                 compiled(work, *taken.split()), *more)  # fmt: skip
        return Row(
            at.named(name, c), "rows", f"{r} x {c} {at.element}", arrays or arguments, call, right, along, peers=peers,
            operations=operations * r * c, goals=goals, has_twin=name in ("softmax", "rms_norm"),
        )  # fmt: skip

    def out(way: Any, name: str = "torch") -> Peer:
        """Of torch on the CPU, into memory that it is given."""
        return eager(way, f"{name} (out=)", only="cpu")

    def by(column: str, way: Any) -> Peer:
        return Peer(column, column, lambda t, a: way(getattr(t, column.lower()), a))

    def softmax_of_numpy(t: Any, a: Args) -> None:
        np = t.numpy
        np.exp(np.subtract(a.x, a.x.max(axis=1, keepdims=True), out=a.out), out=a.out)
        np.divide(a.out, a.out.sum(axis=1, keepdims=True), out=a.out)

    yield row(
        "softmax", lambda tk, a: tk.softmax(a.x, out=a.out), lambda xp, a: reference.softmax(xp, wide(a.x)),
        lambda torch, x: torch.softmax(x, -1), "x", 5.0, by("Triton", lambda m, a: m.softmax(a.out, a.x)),
        by("cuTile", lambda m, a: m.softmax(a.out, a.x)), Peer("numpy", "numpy", softmax_of_numpy),
        out(lambda t, a: t.torch.ops.aten._softmax.out(a.x, 1, False, out=a.out)), goal=1.4,
    )  # fmt: skip
    yield row(
        "log_softmax", lambda tk, a: tk.log_softmax(a.x, out=a.out),
        lambda xp, a: wide(a.x) - reference.logsumexp(xp, wide(a.x))[:, None],
        lambda torch, x: torch.log_softmax(x, -1), "x", 5.0, by("Triton", lambda m, a: m.log_softmax(a.out, a.x)),
        out(lambda t, a: t.torch.ops.aten._log_softmax.out(a.x, 1, False, out=a.out)),
    )  # fmt: skip

    def steps(t: Any, a: Args) -> None:
        """torch's rms_norm allocates its result; five steps do not."""
        torch = t.torch
        scale = t.kept("scale", a, lambda: torch.empty(a.x.shape[0], 1))
        torch.mul(a.x, a.x, out=a.out)
        torch.mean(a.out, 1, keepdim=True, out=scale)
        scale.add_(1e-6).rsqrt_()
        torch.mul(a.x, scale, out=a.out)
        torch.mul(a.out, a.w, out=a.out)

    def of_numpy(t: Any, a: Args) -> None:
        np = t.numpy
        np.multiply(a.x * (1 / np.sqrt((a.x * a.x).mean(1, keepdims=True) + 1e-6)), a.w, out=a.out)

    yield row(
        "rms_norm", lambda tk, a: tk.rms_norm(a.x, a.w, 1e-6, out=a.out),
        lambda xp, a: reference.rms_norm(xp, wide(a.x), wide(a.w)), _rms_norm, "x w", 4.0,
        by("Triton", lambda m, a: m.rms_norm(a.out, a.x, a.w, 1e-6)),
        by("cuTile", lambda m, a: m.rms_norm(a.out, a.x, a.w, 1e-6)), out(steps, "torch five steps"),
        Peer("numpy", "numpy", of_numpy), goal=1.4,
    )  # fmt: skip

    def summed(xp: Any, a: Args) -> Any:
        """The norm is of the sum as it was rounded, and the sum itself is the second result."""
        total = a.x + a.residual
        return reference.rms_norm(xp, wide(total), wide(a.w)), wide(total)

    def add_norm(torch: Any, x: Any, residual: Any, w: Any) -> Any:
        total = x + residual
        return _rms_norm(torch, total, w), total

    yield row(
        "add_rms_norm", lambda tk, a: tk.add_rms_norm(a.x, a.residual, a.w, 1e-6, out=(a.normed, a.total)), summed,
        add_norm, "x residual w", 5.0,
        by("Triton", lambda m, a: m.add_rms_norm(a.normed, a.total, a.x, a.residual, a.w, 1e-6)),
        arrays={"x": x, "residual": x, "w": w, "normed": y, "total": y}, along=("x", "residual"),
    )  # fmt: skip
    yield row(
        "layer_norm", lambda tk, a: tk.layer_norm(a.x, a.w, a.b, 1e-5, out=a.out),
        lambda xp, a: reference.layer_norm(xp, wide(a.x), wide(a.w), wide(a.b)), _layer_norm, "x w b", 7.0,
        by("Triton", lambda m, a: m.layer_norm(a.out, a.x, a.w, a.b, 1e-5)), out(partial(_native_layer_norm, r)),
    )  # fmt: skip


def _rms_norm(torch: Any, x: Any, w: Any) -> Any:
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), w, 1e-6)


def _layer_norm(torch: Any, x: Any, w: Any, b: Any) -> Any:
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), w, b, 1e-5)


def _native_layer_norm(r: int, t: Any, a: Args) -> None:
    mean, scale = t.kept("mean", a, lambda: (t.torch.empty(r, 1), t.torch.empty(r, 1)))
    t.torch.ops.aten.native_layer_norm.out(a.x, list(a.w.shape), a.w, a.b, 1e-5, out0=a.out, out1=mean, out2=scale)
