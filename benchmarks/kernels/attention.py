"""Attention: prefill, and one token of each sequence to a long cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any, Final

from ..harness.examples import example
from ..harness.row import Args, Array, Goal, Peer, Place, Row, wide
from . import reference
from .peers import eager

_PAGE: Final = 64
"""Places of a page of a cache."""


def rows(at: Place) -> Iterator[Row]:
    """All of them."""
    if at.device == "cpu":
        shape = at.of((0, 0, 0, 0), (8, 8, 2048, 64), (2, 2, 128, 32))
        causal = _prefill(at, "attention, causal", 1, *shape, is_causal=True, goal=Goal(1.0, "torch"))
        yield causal
        yield _prefill(at, "attention, full", 1, *shape, is_causal=False, goal=Goal(1.0, "torch"))

        def of_gpu_tiles(tk: Any, a: Args) -> None:
            flat = (each[0] for each in (a.out, a.q, a.k, a.v))
            example("attention")(*flat, a.q.shape[3] ** -0.5, 0, BS=64, BT=128)

        yield replace(causal, name="attention, causal, GPU-sized tiles", call=of_gpu_tiles, goals=())
        shape = at.of((0, 0, 0, 0), (16, 8, 8192, 128), (4, 2, 256, 32))
        yield _decode(at, "decode_attention bf16", 2, *shape)
        yield _paged(at, "paged_attention bf16", 2, *shape)
        return
    h, g, depth = at.of((32, 8, 128), (0, 0, 0), (4, 2, 32))
    for length, goal in at.of(((2048, 1.0), (8192, 0.97)), (), ((64, 1.0),)):
        name = f"attention causal {length}"
        yield _prefill(at, name, 1, h, g, length, depth, is_causal=True, goal=Goal(goal, "cuDNN"))
    batch, length = at.of((4, 4096), (0, 0), (2, 64))
    yield _prefill(at, f"attention full {length}", batch, h, g, length, depth, is_causal=False)
    for length, batch in at.of([*product((8192, 32768), (1, 8))], [], [(256, 2)]):
        yield _decode(at, f"decode {batch} x {length}", batch, h, g, length, depth)
    for length, batch in at.of([(8192, 1), (8192, 8)], [], [(256, 2)]):
        yield _paged(at, f"paged {batch} x {length}", batch, h, g, length, depth)


def _prefill(at: Place, name: str, batch: int, h: int, g: int, length: int, depth: int, *, is_causal: bool,
             goal: Goal | None = None) -> Row:  # fmt: skip
    """A causal mask leaves half of the products."""
    q, k = (batch, h, length, depth), (batch, g, length, depth)
    seen = at.of(length**2 / 2, length * (length + 1) / 2) if is_causal else float(length**2)

    def peer(name: str, backend: str) -> Peer:
        way = lambda t, a: t.attention(backend, a.q, a.k, a.v, is_causal=is_causal)  # noqa: E731
        return Peer("torch", name, way, only="gpu")

    def whole(torch: Any, a: Args) -> Any:
        functional = torch.nn.functional
        return functional.scaled_dot_product_attention(a.q, a.k, a.v, is_causal=is_causal, enable_gqa=h != g)

    def check(xp: Any, a: Args, actual: Any) -> Iterator[tuple[Any, Any]]:
        """Some heads in float64, and on a GPU all by torch."""
        share = h // g
        for b, head in {(0, 0), (batch - 1, h // 2), (batch - 1, h - 1)}:
            k, v = wide(a.k[b, head // share]), wide(a.v[b, head // share])
            yield actual[b, head], reference.attention(xp, wide(a.q[b, head]), k, v, is_causal)
        if at.device == "gpu":
            yield actual, whole(xp, a)

    return Row(
        name, "attention", f"{batch} x {h}/{g} heads, S {length}, D {depth}",
        {"out": at.out(*q), "q": at.array(*q), "k": at.array(*k), "v": at.array(*k)},
        lambda tk, a: tk.attention(a.q, a.k, a.v, causal=is_causal, out=a.out), check=check,
        peers=(peer("cuDNN", "CUDNN"), peer("flash", "FLASH"),
               eager(lambda t, a: whole(t.torch, a), "torch sdpa", only="cpu"),
               Peer("cuTile", "cuTile", lambda t, a: t.cutile.attention(a.out, a.q, a.k, a.v, is_causal))),
        operations=4.0 * batch * h * seen * depth, goals=() if goal is None else (goal,), yardsticks=("arithmetic",),
        unit="FLOP/s", rotated=150 << 20, has_twin=is_causal and length == 2048 and at.device == "gpu",
    )  # fmt: skip


# One token of each sequence.


def _heads_of(xp: Any, a: Args, actual: Any, k: Any, v: Any, b: int, group: int) -> tuple[Any, Any]:
    """What the heads that share some keys give, and what is right."""
    share = a.q.shape[1] // k.shape[0]
    heads = slice(group * share, (group + 1) * share)
    return actual[b, heads], reference.attention(xp, wide(a.q[b, heads]), wide(k[group]), wide(v[group]))


def _decode(at: Place, name: str, batch: int, h: int, g: int, length: int, depth: int) -> Row:
    cache = Array((batch, g, length, depth))

    def check(xp: Any, a: Args, actual: Any) -> Iterator[tuple[Any, Any]]:
        for b, group in product(range(batch), range(g)):
            yield _heads_of(xp, a, actual, a.k[b], a.v[b], b, group)

    def torchs(t: Any, a: Args) -> Any:
        return t.torch.nn.functional.scaled_dot_product_attention(
            a.q[:, :, None], a.k, a.v, enable_gqa=True
        )[:, :, 0]  # fmt: skip

    return Row(
        name, "decode", f"{batch} sequences of {length}, {h}/{g} heads, D {depth}",
        {"out": at.out(batch, h, depth, element="bf16"), "q": Array((batch, h, depth)), "k": cache, "v": cache,
         "used": Array((batch,), "i32", values=(length,) * batch, is_count=True)},
        lambda tk, a: tk.decode_attention(a.q, a.k, a.v, a.used, out=a.out), check=check,
        peers=(eager(torchs), Peer("Triton", "Triton", lambda t, a: t.triton.decode(a.out, a.q, a.k, a.v, a.used))),
        operations=4.0 * batch * h * length * depth, goals=at.goals(gpu=[Goal(0.85, "read")] if batch == 8 else []),
        yardsticks=("read",),
    )  # fmt: skip


def _paged(at: Place, name: str, batch: int, h: int, g: int, length: int, depth: int) -> Row:
    """The same cache in pages that lie in any order."""
    per = length // _PAGE
    pages = Array((batch * per, g, _PAGE, depth))

    def gathered(a: Args, b: int) -> tuple[Any, Any]:
        return tuple(each[reference.index(a.table[b])].swapaxes(0, 1).reshape(g, length, depth) for each in (a.k, a.v))

    def check(xp: Any, a: Args, actual: Any) -> Iterator[tuple[Any, Any]]:
        for b in range(batch):
            k, v = gathered(a, b)
            yield from (_heads_of(xp, a, actual, k, v, b, group) for group in range(g))

    def torchs(t: Any, a: Args) -> Any:
        """It has no such function: pages are gathered, then attended to."""
        k, v = (t.torch.stack(each) for each in zip(*(gathered(a, b) for b in range(batch)), strict=True))
        return t.torch.nn.functional.scaled_dot_product_attention(a.q[:, :, None], k, v, enable_gqa=True)[:, :, 0]

    return Row(
        name, "decode", f"{batch} sequences of {length} in pages of {_PAGE}, {h}/{g} heads",
        {"out": at.out(batch, h, depth, element="bf16"), "q": Array((batch, h, depth)), "k": pages, "v": pages,
         "table": Array((batch, per), "i32", below=batch * per, is_unique=True),
         "used": Array((batch,), "i32", values=(length,) * batch, is_count=True)},
        lambda tk, a: tk.paged_attention(a.q, a.k, a.v, a.table, a.used, out=a.out), check=check,
        peers=(eager(torchs, "torch gather, sdpa"),), operations=4.0 * batch * h * length * depth,
        goals=at.goals(gpu=[Goal(0.85, "read")] if batch == 8 else []), yardsticks=("read",),
    )  # fmt: skip
