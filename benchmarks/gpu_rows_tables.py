"""Rows of the GPU book: rows of tables by number, positions, and the choice of a token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .gpu_row import Args, Array, Element, Goal, Peer, Row, out, whole, wide


def rows(small: bool) -> Iterator[Row]:
    """All of them, small on the CPU."""
    n, v, d = (7, 50, 64) if small else (65536, 151936, 2560)
    yield _gather("embedding", n, v, d, lambda tk, a: tk.embedding(a.ids, a.table, out=a.out))
    n, v, d = (7, 50, 64) if small else (65536, 65536, 4096)
    yield _gather("gather_rows", n, v, d, lambda tk, a: tk.gather_rows(a.table, a.ids, out=a.out))
    yield _rope(*((2, 6, 4, 32) if small else (4, 4096, 32, 128)))
    yield _greedy(*((3, 500) if small else (64, 151936)))
    yield _sample(*((3, 500) if small else (64, 151936)))


def _gather(name: str, n: int, v: int, d: int, call: Any) -> Row:
    return Row(
        name, "tables", f"{n} of {v} x {d} bf16",
        {"out": out(n, d), "table": Array((v, d)), "ids": Array((n,), "i32", below=v)}, call,
        whole(lambda torch, a: wide(a.table[a.ids.long()])),
        (Peer("torch", "torch", lambda t, a: t.torch.index_select(a.table, 0, a.ids, out=a.out)),),
        0.0, (Goal(1.0, "torch"),), ("copy",), moved=2 * n * d * 2,
    )  # fmt: skip


def _rope(batch: int, length: int, heads: int, depth: int) -> Row:
    """Half-split: element i turns with element i + D/2, by the angles of the token's position."""

    def turned(torch: Any, x: Any, cos: Any, sin: Any, positions: Any) -> Any:
        first, second = x.chunk(2, -1)
        c, s = cos[positions][:, None], sin[positions][:, None]
        return torch.cat((first * c - second * s, second * c + first * s), -1)

    def rounded(torch: Any, x: Any, cos: Any, sin: Any, positions: Any) -> Any:
        return turned(torch, x, cos, sin, positions).to(x.dtype)

    tokens, angles = batch * length, (length, depth // 2)
    return Row(
        "rope", "tables", f"{tokens} x {heads} x {depth} bf16",
        {"out": out(tokens, heads, depth), "x": Array((tokens, heads, depth)), "cos": Array(angles, "f32"),
         "sin": Array(angles, "f32"), "positions": Array((tokens,), "i64", below=length)},
        lambda tk, a: tk.rope(a.x, a.cos, a.sin, a.positions, out=a.out),
        whole(lambda torch, a: turned(torch, wide(a.x), wide(a.cos), wide(a.sin), a.positions)),
        (Peer("torch", "torch", lambda t, a: rounded(t.torch, a.x, a.cos, a.sin, a.positions)),
         Peer("torch.compile", "torch.compile", lambda t, a: t.compiled(rounded)(a.x, a.cos, a.sin, a.positions))),
        3.0 * tokens * heads * depth, (Goal(1.0, "torch.compile"),), ("copy",),
    )  # fmt: skip


# The next token.


def _greedy(batch: int, words: int) -> Row:
    def check(torch: Any, a: Args, got: Any) -> Iterator[tuple[Any, Any]]:
        best = a.logits.amax(-1, keepdim=True)
        yield got.int(), (a.logits == best).int().argmax(-1).int()

    return Row(
        "greedy", "sampling", f"{batch} x {words} f32",
        {"out": out(batch, element="i32"), "logits": Array((batch, words), "f32")},
        lambda tk, a: tk.greedy(a.logits, out=a.out), check,
        (Peer("torch", "torch", lambda t, a: t.torch.argmax(a.logits, -1)),), 0.0, (Goal(1.0, "torch"),), ("read",),
    )  # fmt: skip


def _sample(batch: int, words: int) -> Row:
    """With a temperature, and of the 50 likeliest tokens those that make up 0.95."""
    k, p, temperature = 50, 0.95, 0.8

    def each(element: Element, value: float) -> Array:
        return Array((batch,), element, values=(value,) * batch, is_count=True)

    def check(torch: Any, a: Args, got: Any) -> Iterator[tuple[Any, Any]]:
        """Which token comes is chance; that it is one of the likeliest is not."""
        likeliest = a.logits.topk(min(k, words), -1).indices
        yield (likeliest == got.long()[:, None]).any(-1).int(), torch.ones_like(got, dtype=torch.int32)

    def sampled(torch: Any, logits: Any) -> Any:
        values, places = torch.topk(logits / temperature, min(k, words), -1)
        weights = torch.softmax(values, -1)
        weights = weights.masked_fill(weights.cumsum(-1) - weights > p, 0.0)
        # The greatest of weight over an exponential number comes up as often as its weight says.
        chances = weights / torch.empty_like(weights).exponential_()
        return places.gather(-1, chances.argmax(-1, keepdim=True))[:, 0]

    return Row(
        "sample", "sampling", f"{batch} x {words} f32, top 50, 0.95",
        {"out": out(batch, element="i32"), "logits": Array((batch, words), "f32"),
         "seed": each("i64", 7), "step": each("i32", 3), "temperature": each("f32", temperature),
         "top_k": each("i32", k), "top_p": each("f32", p), "min_p": each("f32", 0.0)},
        lambda tk, a: tk.sample(a.logits, a.seed, a.step, a.temperature, a.top_k, a.top_p, a.min_p, out=a.out), check,
        (Peer("torch", "torch", lambda t, a: sampled(t.torch, a.logits)),
         Peer("torch.compile", "torch.compile", lambda t, a: t.compiled(sampled)(a.logits))),
        0.0, (Goal(1.0, "torch"),), ("read",),
    )  # fmt: skip
