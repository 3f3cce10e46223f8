"""Reductions: memory is read once, and little is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..harness.row import Args, Element, Goal, Peer, Place, Row, wide
from . import reference
from .peers import compiled, eager

TORCH = Goal(1.0, "torch")


def rows(at: Place) -> Iterator[Row]:
    """All of them."""
    r, c = at.of((8192, 8192), (4096, 4096), (6, 300))

    def reduced(name: str, call: Any, right: Any, eagerly: Any, work: Any, numpy: Any, element: Element) -> Row:
        return Row(
            name, "reductions", f"{r} x {c} {at.element}", {"out": at.out(r, element=element), "x": at.array(r, c)},
            call, right, ("x",), operations=float(r * c), goals=at.goals(gpu=[TORCH]), yardsticks=("read",),
            peers=(eager(eagerly), compiled(work, "x"), Peer("numpy", "numpy", numpy)),
        )  # fmt: skip

    yield reduced(
        "sum", lambda tk, a: tk.sum(a.x, axis=-1, out=a.out), lambda xp, a: wide(a.x).sum(axis=-1),
        lambda t, a: t.torch.sum(a.x, 1, out=a.out), lambda torch, x: x.sum(-1),
        lambda t, a: t.numpy.sum(a.x, axis=1, out=a.out), at.element,
    )  # fmt: skip
    yield reduced(
        "max", lambda tk, a: tk.max(a.x, axis=-1, out=a.out), lambda xp, a: xp.amax(wide(a.x), axis=-1),
        lambda t, a: t.torch.amax(a.x, 1, out=a.out), lambda torch, x: x.amax(-1),
        lambda t, a: t.numpy.max(a.x, axis=1, out=a.out), at.element,
    )  # fmt: skip
    yield reduced(
        "argmax", lambda tk, a: tk.argmax(a.x, out=a.out), lambda xp, a: reference.first_greatest(xp, a.x),
        lambda t, a: a.x.argmax(-1), lambda torch, x: x.argmax(-1), lambda t, a: a.x.argmax(axis=1), "i32",
    )  # fmt: skip
    n, m = at.of((8192, 4096), (4096, 4096), (6, 300))
    yield Row(
        "cumsum", "reductions", f"{n} x {m} f32",
        {"out": at.out(n, m, element="f32"), "x": at.array(n, m, element="f32")},
        lambda tk, a: tk.cumsum(a.x, out=a.out), lambda xp, a: xp.cumsum(wide(a.x), axis=-1), ("x",),
        peers=(eager(lambda t, a: t.torch.cumsum(a.x, -1, out=a.out)), compiled(lambda torch, x: x.cumsum(-1), "x"),
               Peer("numpy", "numpy", lambda t, a: t.numpy.cumsum(a.x, axis=1, out=a.out))),
        operations=float(n * m), goals=at.goals(gpu=[TORCH]),
    )  # fmt: skip
    yield _cross_entropy(at, *at.of((4096, 151936), (256, 151936), (6, 500)))
    yield _top_k(at, *at.of((128, 151936, 64), (32, 151936, 50), (4, 500, 8)))
    n = at.of(1 << 26, 16 << 20, 5000)
    yield Row(
        "histogram", "reductions", f"{n} i32 into 256",
        {"out": at.out(256, element="i32"), "x": at.array(n, element="i32", below=256)},
        lambda tk, a: tk.histogram(a.x, 256, out=a.out), lambda xp, a: xp.bincount(a.x, minlength=256),
        peers=(eager(lambda t, a: t.torch.histc(a.x, 256, 0, 255), "torch histc", only="gpu"),
               eager(lambda t, a: t.torch.bincount(a.x, minlength=256), "torch bincount", only="cpu"),
               Peer("numpy", "numpy", lambda t, a: t.numpy.bincount(a.x, minlength=256))),
        goals=at.goals(gpu=[TORCH]), yardsticks=("read",),
    )  # fmt: skip


def _cross_entropy(at: Place, tokens: int, words: int) -> Row:
    def check(xp: Any, a: Args, actual: Any) -> Iterator[tuple[Any, Any]]:
        """Peers have no second result, the logarithms of sums."""
        loss, sums = actual if isinstance(actual, tuple) else (actual, None)
        for begin in range(0, tokens, 256):
            part = slice(begin, begin + 256)
            x, label = wide(a.x[part]), reference.index(a.targets[part])
            right = reference.logsumexp(xp, x)
            yield loss[part], right - x[xp.arange(len(label)), label]
            if sums is not None:
                yield sums[part], right

    def work(torch: Any, x: Any, targets: Any) -> Any:
        return torch.nn.functional.cross_entropy(x.float(), targets, reduction="none")

    losses = at.out(tokens, element="f32")
    return Row(
        "cross_entropy", "reductions", f"{tokens} x {words} {at.element}",
        {"loss": losses, "sums": losses, "x": at.array(tokens, words),
         "targets": at.array(tokens, element="i64", below=words)},
        lambda tk, a: tk.cross_entropy(a.x, a.targets, out=(a.loss, a.sums)), check=check,
        peers=(eager(lambda t, a: work(t.torch, a.x, a.targets)), compiled(work, "x", "targets")),
        operations=5.0 * tokens * words, goals=at.goals(gpu=[Goal(1.0, "torch.compile")]), yardsticks=("read",),
    )  # fmt: skip


def _top_k(at: Place, n: int, m: int, k: int) -> Row:
    def check(xp: Any, a: Args, actual: Any) -> Iterator[tuple[Any, Any]]:
        """Which of equal values is named is left open; the values are not."""
        right = wide(reference.largest(xp, a.x, k))
        yield actual[0], right
        yield a.x[xp.arange(n)[:, None], reference.index(actual[1])], right

    def in_order(t: Any, a: Args) -> Any:
        np = t.numpy
        some = np.argpartition(a.x, -k, axis=1)[:, -k:]
        values = np.take_along_axis(a.x, some, 1)
        order = np.argsort(-values, axis=1)
        return np.take_along_axis(values, order, 1), np.take_along_axis(some, order, 1)

    return Row(
        "top_k", "reductions", f"{k} of {n} x {m} {at.element}", {"x": at.array(n, m)},
        lambda tk, a: tk.top_k(a.x, k), check=check,
        peers=(eager(lambda t, a: tuple(t.torch.topk(a.x, k, -1))), Peer("numpy", "numpy", in_order)),
        goals=at.goals(gpu=[TORCH]), yardsticks=("read",),
    )  # fmt: skip
