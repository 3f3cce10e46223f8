"""Cases of attention of rows that follow each other, as they are and as they come from their product."""

from __future__ import annotations

from typing import Any

import numpy as np
from library import Case, Made, random
from new_tokens_cases import angles
from positions_cases import appended_reference
from ragged_cases import one_by_one, step

from tileproof.kernels.chunks import attend_chunk, norm_rope_attend


def row_by_row(
    q: Any, keys: Any, values: Any, table: Any, start: Any, used: Any, *, scale: float | None = None, out: Any = None
) -> Any:
    """Each row by itself, with the places it sees."""
    positions = np.minimum(start[0] + np.arange(len(q)), used[0] - 1)
    rows, sequence = np.arange(len(q))[:, None], np.zeros(len(q), int)
    return one_by_one(
        q, keys, values, table[None], rows, sequence, positions, scale=scale, out=np.zeros(q.shape)
    )  # fmt: skip


def turned_row_by_row(
    qkv: Any, keys: Any, values: Any, table: Any, cos: Any, sin: Any, start: Any, used: Any, q_norm: Any = None,
    eps: float = 1e-6, *, scale: float | None = None,
) -> Any:  # fmt: skip
    """The same behind what stands between the product and attention; row t has the angles of row t."""
    norms = () if q_norm is None else (q_norm, q_norm, eps)
    rows = np.arange(len(qkv))
    q, *_ = appended_reference(qkv, keys, values, cos, sin, rows, np.full(len(qkv), -1), *norms)
    return row_by_row(q.astype(qkv.dtype), keys, values, table, start, used, scale=scale)


def chunk(
    name: str, first: int, count: int, size: int = 64, heads: tuple[int, int] = (4, 2), depth: int = 16,
    dtype: str = "f32", layout: str = "dense", *, pages: int = 4, behind: int = 0, on_gpu: bool = False,
    on_interpreter: bool = True, **named: Any,
) -> Case:  # fmt: skip
    """Rows of one sequence from some place on, and some `behind` what is in use; NaN wherever no row looks."""
    with_rows = step(name, ((0, first, count),), 8, size, heads, depth, dtype, layout, pages=pages, extra=behind)

    def make() -> Made:
        (q, keys, values, table, *_), _ = with_rows.make()
        numbers = (np.array([each], np.int32) for each in (first, first + count))
        return [q, keys, values, table[0], *numbers], dict(named)

    called = f"attend_chunk {name} {dtype} {layout}"
    return Case(called, attend_chunk, make, row_by_row, on_gpu=on_gpu, on_interpreter=on_interpreter)


def turned(
    name: str, first: int, count: int, size: int = 64, heads: tuple[int, int] = (4, 2), depth: int = 16,
    dtype: str = "f32", layout: str = "dense", *, pages: int = 4, behind: int = 0, has_norm: bool = True,
    on_gpu: bool = False, on_interpreter: bool = True, **named: Any,
) -> Case:  # fmt: skip
    """The same from rows of the product, whose keys and values are NaN: they are in their pages."""
    plain = chunk(name, first, count, size, heads, depth, dtype, layout, pages=pages, behind=behind)

    def make() -> Made:
        rng = np.random.default_rng(7)
        (_, keys, values, table, start, used), _ = plain.make()
        qkv = random(rng, (count + behind, heads[0] + 2 * heads[1], depth), dtype, layout)
        qkv[:, heads[0] :] = np.nan
        own = (each[first:] for each in angles(first + count + behind, depth))
        norm = [random(rng, (depth,), "f32")] if has_norm else []
        return [qkv, keys, values, table, *own, start, used, *norm], dict(named)

    called = f"norm_rope_attend {name} {dtype} {layout} {'norm' if has_norm else 'plain'}"
    return Case(called, norm_rope_attend, make, turned_row_by_row, on_gpu=on_gpu, on_interpreter=on_interpreter)


def cases() -> list[Case]:
    """All, those for a GPU first."""
    return [
        chunk("piece", 70, 130, 64, (8, 2), 128, "bf16", on_gpu=True, on_interpreter=False),
        chunk("whole tiles", 32, 64, 64, (8, 2), 128, "bf16", behind=32, on_gpu=True, on_interpreter=False),
        chunk("many pages", 4084, 12, 64, (4, 1), 128, "bf16", pages=65, behind=20, on_gpu=True, on_interpreter=False),
        chunk("three heads", 0, 100, 64, (9, 3), 64, "bf16", behind=3, on_gpu=True, on_interpreter=False),
        turned("piece", 70, 130, 64, (8, 2), 128, "bf16", on_gpu=True, on_interpreter=False),
        turned("whole tiles", 32, 64, 64, (8, 2), 128, "bf16", behind=32, on_gpu=True, on_interpreter=False),
        turned("eight heads", 3, 96, 64, (8, 1), 128, "bf16", has_norm=False, on_gpu=True, on_interpreter=False),
        turned("seven heads, depth 96", 20, 5, 32, (7, 1), 96, "f16", on_gpu=True),
        chunk("small pages", 3, 14, 5, on_gpu=True),
        *(chunk(f"edge {first} {count}", first, count, 8) for first, count in ((7, 1), (8, 1), (0, 1), (6, 20))),
        *(chunk(f"before {first}", first, 9, 4, behind=2) for first in (-3, -9)),
        chunk("above the capacity", 14, 4, 4),
        chunk("no row", 0, 0, 4),
        chunk("layouts", 3, 9, 4, layout="transposed", scale=0.7),
        chunk("f64", 3, 9, 4, dtype="f64", behind=1),
        *(turned(f"edge {first} {count}", first, count, 8) for first, count in ((7, 1), (8, 1), (6, 20))),
        turned("none in use", 0, 0, 4, behind=3),
        turned("no row", 0, 0, 4),
        turned("layouts", 3, 9, 4, layout="transposed", scale=0.7, has_norm=False),
        turned("f64", 3, 9, 4, dtype="f64", behind=1),
    ]
