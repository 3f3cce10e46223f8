"""Rows of the GPU book: attention of many queries, and of one token to a long cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .gpu_row import Args, Array, Goal, Peer, Row, out, wide

HEADS: Final = (32, 8)
"""Of queries, and of keys and values."""
DEPTH: Final = 128
PAGE: Final = 64
"""Places of a page of a cache."""


def rows(small: bool) -> Iterator[Row]:
    """All of them, small on the CPU."""
    if small:
        yield _prefill(64, 1, is_causal=True, heads=(4, 2), depth=32)
        yield _prefill(64, 2, is_causal=False, heads=(4, 2), depth=32)
        yield _decode(2, 256, heads=(4, 2), depth=32)
        yield _paged(2, 256, heads=(4, 2), depth=32)
        return
    yield _prefill(2048, 1, is_causal=True, goal=1.0)
    yield _prefill(8192, 1, is_causal=True, goal=0.97)
    yield _prefill(4096, 4, is_causal=False)
    for length in (8192, 32768):
        for batch in (1, 8):
            yield _decode(batch, length)
    for batch in (1, 8):
        yield _paged(batch, 8192)


def _prefill(
    length: int, batch: int, *, is_causal: bool, goal: float | None = None, heads: tuple[int, int] = HEADS,
    depth: int = DEPTH,
) -> Row:  # fmt: skip
    """A causal mask leaves half of the products."""
    h, g = heads
    q, k = (batch, h, length, depth), (batch, g, length, depth)
    seen = length**2 / 2 if is_causal else length**2
    word = "causal" if is_causal else "full"

    def peer(name: str, backend: str) -> Peer:
        return Peer("torch", name, lambda t, a: t.attention(backend, a.q, a.k, a.v, is_causal=is_causal))

    def check(torch: Any, a: Args, got: Any) -> Iterator[tuple[Any, Any]]:
        """Some heads in float64, and all by torch."""
        share = h // g
        for b, head in {(0, 0), (batch - 1, int(torch.randint(0, h, ()))), (batch - 1, h - 1)}:
            yield got[b, head], _attended(torch, a.q[b, head], a.k[b, head // share], a.v[b, head // share], is_causal)
        yield got, torch.nn.functional.scaled_dot_product_attention(a.q, a.k, a.v, is_causal=is_causal, enable_gqa=True)

    return Row(
        f"attention {word} {length}", "attention", f"{batch} x {h}/{g} heads, S {length}, D {depth}",
        {"out": out(*q), "q": Array(q), "k": Array(k), "v": Array(k)},
        lambda tk, a: tk.attention(a.q, a.k, a.v, causal=is_causal, out=a.out), check,
        (peer("cuDNN", "CUDNN"), peer("flash", "FLASH"),
         Peer("cuTile", "cuTile", lambda t, a: t.cutile.attention(a.out, a.q, a.k, a.v, is_causal))),
        4.0 * batch * h * seen * depth, () if goal is None else (Goal(goal, "cuDNN"),), rotated=150 << 20,
        has_twin=is_causal and length == 2048,
    )  # fmt: skip


def _attended(torch: Any, q: Any, k: Any, v: Any, is_causal: bool) -> Any:
    """One head, in float64."""
    scores = wide(q) @ wide(k).t() * q.shape[-1] ** -0.5
    if is_causal:
        scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu_(1), -float("inf"))
    return torch.softmax(scores, -1) @ wide(v)


# One token of each sequence.


def _decode(batch: int, length: int, *, heads: tuple[int, int] = HEADS, depth: int = DEPTH) -> Row:
    h, g = heads
    cache = (batch, g, length, depth)

    def check(torch: Any, a: Args, got: Any) -> Iterator[tuple[Any, Any]]:
        yield got, _of_caches(torch, a.q, a.k, a.v)

    def torchs(t: Any, a: Args) -> Any:
        return t.torch.nn.functional.scaled_dot_product_attention(
            a.q[:, :, None], a.k, a.v, enable_gqa=True
        )[:, :, 0]  # fmt: skip

    return Row(
        f"decode {batch} x {length}", "decode", f"{batch} sequences of {length}, {h}/{g} heads, D {depth}",
        {"out": out(batch, h, depth), "q": Array((batch, h, depth)), "k": Array(cache), "v": Array(cache),
         "used": Array((batch,), "i32", values=(length,) * batch, is_count=True)},
        lambda tk, a: tk.decode_attention(a.q, a.k, a.v, a.used, out=a.out), check,
        (Peer("torch", "torch", torchs),
         Peer("Triton", "Triton", lambda t, a: t.triton.decode(a.out, a.q, a.k, a.v, a.used))),
        4.0 * batch * h * length * depth, (Goal(0.85, "read"),) if batch == 8 else (), ("read",),
    )  # fmt: skip


def _of_caches(torch: Any, q: Any, k: Any, v: Any) -> Any:
    """Each token to all places of its cache, in float64."""
    batch, h, depth = q.shape
    g = k.shape[1]
    made = []
    for b in range(batch):
        queries = wide(q[b]).reshape(g, h // g, depth)
        scores = queries @ wide(k[b]).transpose(1, 2) * depth**-0.5
        made.append((torch.softmax(scores, -1) @ wide(v[b])).reshape(h, depth))
    return torch.stack(made)


def _paged(batch: int, length: int, *, heads: tuple[int, int] = HEADS, depth: int = DEPTH) -> Row:
    """The same cache in pages that lie in any order."""
    h, g = heads
    per = length // PAGE
    count = batch * per
    pages = (count, g, PAGE, depth)

    def check(torch: Any, a: Args, got: Any) -> Iterator[tuple[Any, Any]]:
        k, v = (each[a.table.long()].transpose(1, 2).reshape(batch, g, length, depth) for each in (a.k, a.v))
        yield got, _of_caches(torch, a.q, k, v)

    return Row(
        f"paged {batch} x {length}", "decode", f"{batch} sequences of {length} in pages of {PAGE}, {h}/{g} heads",
        {"out": out(batch, h, depth), "q": Array((batch, h, depth)), "k": Array(pages), "v": Array(pages),
         "table": Array((batch, per), "i32", below=count, is_unique=True),
         "used": Array((batch,), "i32", values=(length,) * batch, is_count=True)},
        lambda tk, a: tk.paged_attention(a.q, a.k, a.v, a.table, a.used, out=a.out), check, (),
        4.0 * batch * h * length * depth, (Goal(0.85, "read"),) if batch == 8 else (), ("read",),
    )  # fmt: skip
