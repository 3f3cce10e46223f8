"""Elementwise rows: everybody goes over memory once, so a copy of as many bytes is the limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tileproof as tp

from ..harness.row import Array, Goal, Peer, Place, Row, wide
from . import fused, reference
from .peers import compiled, eager

TORCH = Goal(1.0, "torch")


def rows(at: Place) -> Iterator[Row]:
    """All of them."""
    n = at.of(1 << 28, 64 << 20, 3000)
    f32 = at.array(n, element="f32")
    xyz = {"out": at.out(n, element="f32"), "x": f32, "y": f32}
    goals = at.goals(gpu=[TORCH], cpu=[Goal(1.3, "torch"), Goal(0.95, "limit")])
    yield Row(
        "add", "elementwise", _size(n, "f32"), xyz, lambda tk, a: tk.add(a.x, a.y, out=a.out),
        lambda xp, a: wide(a.x) + wide(a.y), ("x", "y"),
        peers=(eager(lambda t, a: t.torch.add(a.x, a.y, out=a.out)),
               Peer("Triton", "Triton", lambda t, a: t.triton.add(a.out, a.x, a.y)),
               Peer("cuTile", "cuTile", lambda t, a: t.cutile.add(a.out, a.x, a.y)),
               Peer("numpy", "numpy", lambda t, a: t.numpy.add(a.x, a.y, out=a.out))),
        operations=float(n), goals=goals, has_twin=True,
    )  # fmt: skip
    if at.device == "cpu":
        yield from _fused(at, n, xyz)
    n = at.of(1 << 27, 32 << 20, 3000)
    x = at.array(n)
    yield Row(
        "mul", "elementwise", _size(n, at.element), {"out": at.out(n), "x": x, "y": x},
        lambda tk, a: tk.mul(a.x, a.y, out=a.out), lambda xp, a: wide(a.x) * wide(a.y), ("x", "y"),
        peers=(eager(lambda t, a: t.torch.mul(a.x, a.y, out=a.out)),), operations=float(n), goals=at.goals(gpu=[TORCH]),
    )  # fmt: skip
    r, c = at.of((8192, 9728), (4096, 2048), (6, 128))
    yield Row(
        "silu_mul", "elementwise", f"{r} x 2 x {c} {at.element}", {"out": at.out(r, c), "x": at.array(r, 2 * c)},
        lambda tk, a: tk.silu_mul(a.x, out=a.out), lambda xp, a: reference.silu_mul(xp, wide(a.x)), ("x",),
        peers=(eager(lambda t, a: _silu_mul(t.torch, a.x), only="gpu"), eager(_silu_mul_out, only="cpu"),
               compiled(_silu_mul, "x")),
        operations=5.0 * r * c, goals=at.goals(gpu=[TORCH, Goal(1.0, "torch.compile")]),
    )  # fmt: skip
    form: Any = at.of("none", "tanh")
    yield Row(
        "gelu", "elementwise", _size(n, at.element), {"out": at.out(n), "x": x},
        lambda tk, a: tk.gelu(a.x, approximate=form, out=a.out),
        lambda xp, a: reference.gelu(xp, wide(a.x), form), ("x",),
        peers=(eager(lambda t, a: t.torch.ops.aten.gelu.out(a.x, approximate=form, out=a.out)),),
        operations=8.0 * n, goals=at.goals(gpu=[TORCH]),
    )  # fmt: skip
    yield _copied("copy", n, at, x, lambda tk, a: tk.copy(a.x, out=a.out))
    yield _copied("cast", n, at, at.array(n, element="f32"), lambda tk, a: tk.cast(a.x, tp.bf16, out=a.out))
    n = at.of(8192, 4096, 96)
    yield Row(
        "transpose", "elementwise", f"{n} x {n} {at.element}", {"out": at.out(n, n), "x": at.array(n, n)},
        lambda tk, a: tk.transpose(a.x, out=a.out), lambda xp, a: wide(a.x).T,
        peers=(eager(lambda t, a: a.out.copy_(a.x.t())), compiled(lambda torch, x: x.t().contiguous(), "x"),
               Peer("numpy", "numpy", lambda t, a: t.numpy.copyto(a.out, a.x.T))),
        goals=at.goals(gpu=[TORCH]),
    )  # fmt: skip


def _size(count: int, element: str) -> str:
    return f"2^{count.bit_length() - 1} {element}" if count & (count - 1) == 0 else f"{count} {element}"


def _copied(name: str, n: int, at: Place, x: Array, call: Any) -> Row:
    element = "bf16" if name == "cast" else x.element
    return Row(
        name, "elementwise", _size(n, element if name == "copy" else "f32 to bf16"),
        {"out": at.out(n, element=element), "x": x}, call, lambda xp, a: wide(a.x), ("x",),
        peers=(eager(lambda t, a: a.out.copy_(a.x)),), goals=at.goals(gpu=[TORCH]),
    )  # fmt: skip


def _silu_mul(torch: Any, x: Any) -> Any:
    gate, up = x.chunk(2, -1)
    return torch.nn.functional.silu(gate) * up


def _silu_mul_out(t: Any, a: Any) -> None:
    gate, up = a.x.chunk(2, 1)
    t.torch.ops.aten.silu.out(gate, out=a.out)
    t.torch.mul(a.out, up, out=a.out)


def _fused(at: Place, n: int, xyz: dict[str, Array]) -> Iterator[Row]:
    """Kernels of a user: on the CPU alone."""
    yield Row(
        "saxpy", "elementwise", _size(n, "f32"), xyz, lambda tk, a: fused.saxpy(a.out, a.x, a.y, 2.5, BN=16384),
        lambda xp, a: 2.5 * wide(a.x) + wide(a.y), ("x", "y"),
        peers=(eager(lambda t, a: t.torch.add(a.y, a.x, alpha=2.5, out=a.out)),
               Peer("numpy", "numpy", lambda t, a: t.numpy.add(t.numpy.multiply(a.x, t.numpy.float32(2.5), out=a.out),
                                                              a.y, out=a.out))),
        operations=2.0 * n, goals=(Goal(1.3, "torch"), Goal(0.95, "limit")),
    )  # fmt: skip

    def steps(t: Any, a: Any) -> None:
        t.torch.add(a.x, a.y, out=a.out)
        t.torch.ops.aten.gelu.out(a.out, approximate="tanh", out=a.out)
        t.torch.mul(a.out, a.y, out=a.out)

    yield Row(
        "gelu(x + y) * y", "elementwise", _size(n, "f32"), xyz, lambda tk, a: fused.gelu(a.out, a.x, a.y, BN=16384),
        lambda xp, a: reference.gelu(xp, wide(a.x) + wide(a.y), "tanh") * wide(a.y), ("x", "y"),
        peers=(eager(steps, "torch add, gelu, mul"),), operations=10.0 * n,
    )  # fmt: skip
