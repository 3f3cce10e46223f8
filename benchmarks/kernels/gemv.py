"""GEMV: bf16 and quantized weights, and all GEMVs of a decode step. Reading memory is the limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

import tileproof as tp
from tileproof import kernels

from ..harness.row import Args, Array, Goal, Peer, Place, Row, wide
from .models import HEADS, LAYERS, MODELS
from .peers import eager

_GOALS: Final = {"4B": 2.25e-3, "32B": 15.6e-3}
"""Seconds of all GEMVs of a decode step."""


def rows(at: Place) -> Iterator[Row]:
    """All of them."""
    if at.device == "cpu":
        yield _matvec(at, "matvec bf16 weights", *at.of((0, 0), (4096, 4096), (256, 256)))
    for model, matrices in MODELS.items() if at.device == "gpu" else ():
        for what, (n, k) in {**matrices, "head": HEADS[model]}.items():
            if not at.small or (model, what) == ("4B", "qkv"):
                yield _matvec(at, f"matvec {model} {what}", *at.of((n, k), (n, k), (96, 256)))
    for n, k in at.of(((19456, 2560), (51200, 5120)), ((4096, 4096),), ((64, 256),)):
        yield _int8(at, n, k)
        if at.device == "gpu":
            yield _fp8(at, n, k)
        yield _int4(at, n, k)
    if at.device == "gpu":
        tiny = {"qkv": (96, 64), "o": (64, 64), "gate_up": (128, 64), "down": (64, 64)}
        for model in MODELS:
            if at.small:
                yield _chain(at, model, tiny, (160, 64), 2)
            else:
                yield _chain(at, model, MODELS[model], HEADS[model], LAYERS[model])


def _matvec(at: Place, name: str, n: int, k: int) -> Row:
    """On the CPU x is f32, and torch's, which takes no two element types, is rounded to bf16."""

    def half(t: Any, a: Args) -> Any:
        return t.kept("x in bf16", a, a.x.bfloat16)

    own = at.of((
        Peer("torch", "cuBLAS mv", lambda t, a: t.torch.mv(a.w, a.x, out=a.out)),
        Peer("torch", "cuBLAS linear", lambda t, a: t.torch.nn.functional.linear(a.x[None], a.w)[0]),
    ), (
        Peer("torch", "torch mv", lambda t, a: t.torch.mv(a.w, half(t, a))),
        Peer("torch", "torch linear", lambda t, a: t.torch.nn.functional.linear(half(t, a)[None], a.w)[0]),
    ))  # fmt: skip
    return Row(
        name, "matvec", f"{n} x {k}", {"out": at.out(n), "w": Array((n, k)), "x": at.array(k)},
        lambda tk, a: tk.matvec(a.w, a.x, out=a.out), lambda xp, a: _product(xp, a.w, wide(a.x)), at.of((), ("w",)),
        peers=(*own, Peer("Triton", "Triton", lambda t, a: t.triton.matvec(a.out, a.w, a.x)),
               Peer("cuTile", "cuTile", lambda t, a: t.cutile.matvec(a.out, a.w, a.x))),
        operations=2.0 * n * k, goals=at.goals(gpu=[Goal(1.0, "cuBLAS")], cpu=[Goal(0.85, "limit")]),
        yardsticks=("read",), tolerance=at.of(None, 1e-2), has_twin=name.endswith("gate_up"), is_cold=True,
    )  # fmt: skip


def _product(xp: Any, w: Any, x: Any) -> Any:
    """Some rows of the weights at a time."""
    return xp.concatenate([wide(w[begin : begin + 8192]) @ x for begin in range(0, w.shape[0], 8192)])


# Weights of few bits, for one row: the fewer bytes, the faster. torch has bf16 weights of the same size.


def _quantized(at: Place, name: str, n: int, k: int, arrays: Mapping[str, Array], call: Any, weights: Any) -> Row:
    def right(xp: Any, a: Args) -> Any:
        return wide(a.x) @ weights(xp, a).T

    def peer(t: Any, a: Args) -> Any:
        kept = t.kept("bf16 weights", a, lambda: weights(t.torch, a).bfloat16())
        return t.torch.nn.functional.linear(a.x.bfloat16(), kept)

    return Row(
        at.of(f"{name} {n}", f"matvec {name.removesuffix('_linear')} weights"), "quantized", f"1 x {n} x {k}",
        {"out": at.out(1, n), "x": at.array(1, k), **arrays}, call, right,
        peers=(eager(peer, at.of("cuBLAS bf16", "torch bf16 weights")),), operations=2.0 * n * k, yardsticks=("read",),
        tolerance=at.of(None, 2e-2), is_cold=True,
    )  # fmt: skip


def _int8(at: Place, n: int, k: int, group: int = 64) -> Row:
    """8-bit weights in groups of 64; on the CPU x is rounded to integers too."""

    def weights(xp: Any, a: Args) -> Any:
        return (wide(a.w).reshape(n, k // group, group) * wide(a.scales)[..., None]).reshape(n, k)

    activations: Any = at.of("float", "int8")
    return _quantized(
        at, "int8_linear", n, k,
        {"w": Array((n, k), "i8", below=128, low=-127), "scales": Array((n, k // group), "f32", scale=0.01)},
        lambda tk, a: tk.int8_linear(a.x, a.w, a.scales, out=a.out, activations=activations), weights,
    )  # fmt: skip


def _fp8(at: Place, n: int, k: int) -> Row:
    return _quantized(
        at, "fp8_linear", n, k, {"w": Array((n, k), "f8e4m3"), "scales": Array((n,), "f32", scale=0.1)},
        lambda tk, a: tk.fp8_linear(a.x, a.w, a.scales, out=a.out),
        lambda xp, a: wide(a.w.float()) * wide(a.scales)[:, None],
    )  # fmt: skip


def _int4(at: Place, n: int, k: int, group: int = 128) -> Row:
    """The first half of a group is in the low bits of its bytes, the second in the high ones, both with 8 added."""
    half = group // 2

    def weights(xp: Any, a: Args) -> Any:
        values = xp.concatenate((wide(a.w & 15), wide(a.w >> 4)), axis=-1) - 8
        return (values * wide(a.scales)[..., None]).reshape(n, k)

    return _quantized(
        at, "int4_linear", n, k,
        {"w": Array((n, k // group, half), "u8", below=256), "scales": Array((n, k // group), "f32", scale=0.01)},
        lambda tk, a: tk.int4_linear(a.x, a.w, a.scales, out=a.out), weights,
    )  # fmt: skip


# All GEMVs of a decode step, each reading what the one before wrote: nothing is found in a cache.


@cache
def early() -> tp.Kernel:
    """The kernel beneath `matvec`, with as many programs as there are multiprocessors, as a dependent launch."""
    kernel: tp.Kernel = kernels.matvec_kernel.without("g", "eps", "residual")
    return kernel.with_schedule(tp.Schedule(persistent=True, dependent=True))


def _chain(at: Place, model: str, matrices: Mapping[str, tuple[int, int]], head: tuple[int, int], layers: int) -> Row:
    arrays = {name: at.out(n) for name, (n, _) in matrices.items()} | {"out": at.out(head[0])}
    arrays["x"] = Array((matrices["qkv"][1],))
    steps: list[tuple[str, str, str, int]] = []
    source = "x"
    for layer in range(layers):
        for name, (n, k) in matrices.items():
            arrays[f"{name}{layer}"] = Array((n, k), scale=k**-0.5)
            steps.append((name, f"{name}{layer}", source, k))
            source = name
    arrays["head"] = Array(head, scale=head[1] ** -0.5)
    steps.append(("out", "head", source, head[1]))

    def chained(launch: Any) -> Any:
        def run(t: Any, a: Args) -> Any:
            for out, matrix, x, k in steps:
                launch(t, getattr(a, out), getattr(a, matrix), getattr(a, x)[:k], out)
            return a.out

        return run

    def plainly(tk: Any, y: Any, w: Any, x: Any, name: str) -> None:
        tk.matvec(w, x, out=y)

    def dependently(tk: Any, y: Any, w: Any, x: Any, name: str) -> None:
        """`down` and the head have more or fewer rows than it pays for."""
        if name in ("qkv", "o", "gate_up"):
            early()(y, w, x, BN=16, BK=256)
        else:
            plainly(tk, y, w, x, name)

    by_torch = chained(lambda t, y, w, x, name: t.torch.mv(w, x, out=y))

    def check(xp: Any, a: Args, actual: Any) -> Iterator[tuple[Any, Any]]:
        """Roundings to bf16 add up over the products of all layers."""
        kept = (actual[-1] if isinstance(actual, tuple) else actual).clone()
        yield kept, wide(by_torch(Args(torch=xp), a))

    forms = {"plain launches": chained(plainly), "dependent launches": chained(dependently)}
    weights = [arrays[matrix] for _, matrix, _, _ in steps]
    return Row(
        f"chain {model}", "chain", f"{layers} layers and head", arrays, forms["plain launches"], check=check,
        peers=(Peer("torch", "cuBLAS", by_torch),), operations=sum(2.0 * weight.size for weight in weights),
        goals=(Goal(_GOALS[model], "at most"), Goal(1.0, "cuBLAS")), yardsticks=(), tolerance=0.1, forms=forms,
        moved=sum(2 * (weight.size + sum(weight.shape)) for weight in weights),
    )  # fmt: skip

