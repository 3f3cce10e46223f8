"""Rows of the CPU book: rows of tables by number, positions, and the choice of a token."""

from __future__ import annotations

from typing import Any

import numpy as np

from tileproof import kernels

from .cpu_row import BYTES, Array, Row, empty, integers, normal, tensor, torch
from .cpu_rows_streams import reads, streams, wide


def embedding(small: bool) -> Row:
    """Rows of a table by number."""
    n, v, d = (32, 64, 128) if small else (16384, 32768, 1024)
    table, ids, y = normal(v, d), integers(0, v, n, dtype=np.int32), empty(n, d)
    tt, ti, ty = map(tensor, (table, ids, y))
    return Row(
        "embedding", f"{n} of {v} x {d}", 8.0 * y.size, BYTES, lambda: kernels.embedding(ids, table, out=y),
        lambda: (y[-4:], table[ids[-4:]]),
        {
            "embedding(out=)": lambda: torch.ops.aten.embedding.out(tt, ti, out=ty),
            "index_select(out=)": lambda: torch.index_select(tt, 0, ti, out=ty),
        },
        lambda: np.take(table, ids, axis=0, out=y, mode="clip"), limit=streams([y], empty(n, d)),
    )  # fmt: skip


def rope(small: bool) -> Row:
    """Heads turned by the angles of their positions, half-split."""
    n, h, d = (6, 4, 32) if small else (2048, 16, 128)
    x, y, cos, sin = normal(n, h, d), empty(n, h, d), normal(n, d // 2), normal(n, d // 2)
    positions = integers(0, n, n, dtype=np.int64)
    tx, tc, ts, tp_ = map(tensor, (x, cos, sin, positions))

    def theirs() -> Any:
        first, second = tx.chunk(2, -1)
        c, s = tc[tp_][:, None], ts[tp_][:, None]
        return torch.cat((first * c - second * s, second * c + first * s), -1)

    def expected() -> tuple[Array, Array]:
        first, second = np.split(wide(x[-4:]), 2, axis=-1)
        c, s = (each[positions[-4:]][:, None] for each in (cos, sin))
        return y[-4:], np.concatenate((first * c - second * s, second * c + first * s), -1)

    return Row(
        "rope", f"{n} x {h} x {d}", 8.0 * x.size, BYTES, lambda: kernels.rope(x, cos, sin, positions, out=y), expected,
        {"chunk, mul, cat": theirs}, limit=streams([x], y),
    )  # fmt: skip


def sample(small: bool) -> Row:
    """A token of each row by chance: temperature 0.8, of the 50 likeliest those that make up 0.95."""
    rows, columns, k = (4, 500, 50) if small else (8, 151936, 50)
    logits, token = normal(rows, columns), empty(rows, dtype=np.int32)
    settings: list[Array] = [
        np.full(rows, 7, np.int64), np.zeros(rows, np.int32), np.full(rows, 0.8, np.float32),
        np.full(rows, k, np.int32), np.full(rows, 0.95, np.float32), np.zeros(rows, np.float32),
    ]  # fmt: skip
    tl = tensor(logits)

    def theirs() -> Any:
        values, places = torch.topk(tl / 0.8, k, -1)
        weights = torch.softmax(values, -1)
        weights = weights.masked_fill(weights.cumsum(-1) - weights > 0.95, 0.0)
        return places.gather(-1, torch.multinomial(weights, 1))

    def expected() -> tuple[Array, Array]:
        """That it is one of the likeliest; which one is chance."""
        likeliest = np.argpartition(logits, -k, axis=1)[:, -k:]
        return (likeliest == token[:, None]).any(axis=1).astype(np.int32), np.ones(rows)

    return Row(
        "sample", f"{rows} x {columns}", 4.0 * logits.size, BYTES, lambda: kernels.sample(logits, *settings, out=token),
        expected, {"topk, softmax, multinomial": theirs}, limit=reads(logits),
    )  # fmt: skip
