"""Rows of tables by number, and positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..harness.row import Array, Goal, Peer, Place, Row, wide
from . import reference
from .peers import compiled, eager

TORCH = Goal(1.0, "torch")


def rows(at: Place) -> Iterator[Row]:
    """All of them."""
    shape = at.of((65536, 151936, 2560), (16384, 32768, 1024), (7, 50, 64))
    yield _gather(at, "embedding", *shape, lambda tk, a: tk.embedding(a.ids, a.table, out=a.out))
    shape = at.of((65536, 65536, 4096), (16384, 32768, 1024), (7, 50, 64))
    yield _gather(at, "gather_rows", *shape, lambda tk, a: tk.gather_rows(a.table, a.ids, out=a.out))
    yield _rope(at, *at.of((4, 4096, 32, 128), (1, 2048, 16, 128), (2, 6, 4, 32)))


def _gather(at: Place, name: str, n: int, v: int, d: int, call: Any) -> Row:
    out, table = at.out(n, d), at.array(v, d)
    return Row(
        name, "tables", f"{n} of {v} x {d} {at.element}",
        {"out": out, "table": table, "ids": Array((n,), "i32", below=v)}, call,
        lambda xp, a: wide(a.table[reference.index(a.ids)]), ("ids",),
        peers=(eager(lambda t, a: t.torch.index_select(a.table, 0, a.ids, out=a.out)),
               eager(lambda t, a: t.torch.ops.aten.embedding.out(a.table, a.ids, out=a.out), "torch embedding",
                     only="cpu"),
               Peer("numpy", "numpy", lambda t, a: t.numpy.take(a.table, a.ids, axis=0, out=a.out, mode="clip"))),
        goals=at.goals(gpu=[TORCH]), moved=2 * out.nbytes,
    )  # fmt: skip


def _rope(at: Place, batch: int, length: int, heads: int, depth: int) -> Row:
    def rounded(torch: Any, x: Any, cos: Any, sin: Any, positions: Any) -> Any:
        return reference.rope(torch, x, cos, sin, positions).to(x.dtype)

    tokens, angles = batch * length, Array((length, depth // 2), "f32")
    return Row(
        "rope", "tables", f"{tokens} x {heads} x {depth} {at.element}",
        {"out": at.out(tokens, heads, depth), "x": at.array(tokens, heads, depth), "cos": angles, "sin": angles,
         "positions": Array((tokens,), "i64", below=length)},
        lambda tk, a: tk.rope(a.x, a.cos, a.sin, a.positions, out=a.out),
        lambda xp, a: reference.rope(xp, wide(a.x), wide(a.cos), wide(a.sin), a.positions), ("x", "positions"),
        peers=(eager(lambda t, a: rounded(t.torch, a.x, a.cos, a.sin, a.positions)),
               compiled(rounded, "x", "cos", "sin", "positions")),
        operations=3.0 * tokens * heads * depth, goals=at.goals(gpu=[Goal(1.0, "torch.compile")]),
    )  # fmt: skip
