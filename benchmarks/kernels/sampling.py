"""The next token, and what the host needs for a launch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..harness.row import Args, Array, Element, Goal, Peer, Place, Row
from ..host.add import add
from . import reference
from .peers import compiled, eager


def rows(at: Place) -> Iterator[Row]:
    """All of them."""
    batch, words = at.of((64, 151936), (8, 151936), (3, 500))
    yield _greedy(at, batch, words)
    yield _sample(at, batch, words)
    for n in at.of((1 << 20,), (64, 128), (64,)):
        x = Array((n,), "f32")
        ours = at.of(lambda tk, a: tk.add(a.x, a.y, out=a.out), lambda tk, a: add(a.out, a.x, a.y, BN=64))
        yield Row(
            at.of("launch", f"launch, {n // 64} program{'s' * (n > 64)}"), "launch", f"add of {n} f32, host",
            {"out": at.out(n, element="f32"), "x": x, "y": x}, ours, lambda xp, a: (a.x + a.y) * 1.0,
            peers=(eager(lambda t, a: t.torch.add(a.x, a.y, out=a.out)),
                   Peer("Triton", "Triton", lambda t, a: t.triton.add(a.out, a.x, a.y))),
            goals=at.goals(gpu=[Goal(0.6, "torch", is_part=True)]), yardsticks=("Python call",), unit="s", is_host=True,
        )  # fmt: skip


def _greedy(at: Place, batch: int, words: int) -> Row:
    return Row(
        "greedy", "sampling", f"{batch} x {words} f32",
        {"out": at.out(batch, element="i32"), "logits": Array((batch, words), "f32")},
        lambda tk, a: tk.greedy(a.logits, out=a.out), lambda xp, a: reference.first_greatest(xp, a.logits), ("logits",),
        peers=(eager(lambda t, a: t.torch.argmax(a.logits, -1)),), goals=at.goals(gpu=[Goal(1.0, "torch")]),
        yardsticks=("read",),
    )  # fmt: skip


def _sample(at: Place, batch: int, words: int) -> Row:
    """With a temperature, and of the 50 likeliest tokens those that make up 0.95."""
    k, p, temperature = 50, 0.95, 0.8

    def each(element: Element, value: float) -> Array:
        return Array((batch,), element, values=(value,) * batch, is_count=True)

    def check(xp: Any, a: Args, actual: Any) -> Iterator[tuple[Any, Any]]:
        """Which token comes is chance; that it is one of the likeliest is not."""
        least = reference.largest(xp, a.logits, min(k, words))[:, -1]
        chosen = a.logits[xp.arange(batch), reference.index(actual)]
        yield chosen >= least, xp.ones_like(chosen) > 0

    def sampled(torch: Any, logits: Any) -> Any:
        values, places = torch.topk(logits / temperature, min(k, words), -1)
        weights = torch.softmax(values, -1)
        weights = weights.masked_fill(weights.cumsum(-1) - weights > p, 0.0)
        # The greatest of weight over an exponential number comes up as often as its weight says.
        chances = weights / torch.empty_like(weights).exponential_()
        return places.gather(-1, chances.argmax(-1, keepdim=True))[:, 0]

    return Row(
        "sample", "sampling", f"{batch} x {words} f32, top 50, 0.95",
        {"out": at.out(batch, element="i32"), "logits": Array((batch, words), "f32"),
         "seed": each("i64", 7), "step": each("i32", 3), "temperature": each("f32", temperature),
         "top_k": each("i32", k), "top_p": each("f32", p), "min_p": each("f32", 0.0)},
        lambda tk, a: tk.sample(a.logits, a.seed, a.step, a.temperature, a.top_k, a.top_p, a.min_p, out=a.out),
        check=check, peers=(eager(lambda t, a: sampled(t.torch, a.logits)), compiled(sampled, "logits")),
        goals=at.goals(gpu=[Goal(1.0, "torch")]), yardsticks=("read",),
    )  # fmt: skip
