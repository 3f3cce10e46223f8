"""Cases of attention of the rows of a step to caches in pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from library_cases.flash_attention import attended
from support.library import Case, random
from tileproof.kernels.paged_prefill import prefill_attention, ragged_attention

Chunk = tuple[int, int, int]
"""Of a sequence: its number, the position of the first row, and how many rows follow each other."""


def one_by_one(
    q: Any, keys: Any, values: Any, table: Any, rows: Any, sequence: Any, positions: Any, *,
    scale: float | None = None, out: Any,
) -> Any:  # fmt: skip
    """Each row by itself, with the places it sees."""
    found = out.astype(np.float64)
    for block, number in zip(rows, sequence, strict=True):
        for row in block[block >= 0] if number >= 0 else ():
            count = min(int(positions[row]) + 1, table.shape[1] * keys.shape[2])
            k, v = (_cache(pages, table[number])[:, : max(count, 0)] for pages in (keys, values))
            found[row] = attended(q[row][:, None], k, v, causal=False, scale=scale)[0][:, 0]
    return found


def _cache(pages: Any, entries: Any) -> Any:
    found = pages[np.maximum(entries, 0)].swapaxes(0, 1)
    return found.reshape(found.shape[0], -1, found.shape[3])


def blocks_of(chunks: Sequence[Chunk], size: int, spare: int = 0) -> tuple[Any, Any, Any, int]:
    """Rows, sequences and positions of chunks cut into blocks, with blocks behind them that are not in use; and how
    many rows there are."""
    rows, sequence, positions = [], [], []
    for number, first, count in chunks:
        for begin in range(0, count, size):
            length = min(size, count - begin)
            rows.append([*range(len(positions) + begin, len(positions) + begin + length), *[-1] * (size - length)])
            sequence.append(number)
        positions += range(first, first + count)
    rows += [[-1] * size] * spare
    sequence += [-1] * spare
    shape = np.array(rows, np.int32).reshape(len(rows), size)
    return shape, np.array(sequence, np.int32), np.array(positions, np.int32), len(positions)


def step(
    name: str, chunks: Sequence[Chunk], block: int, size: int = 64, heads: tuple[int, int] = (4, 2), depth: int = 16,
    dtype: str = "f32", layout: str = "dense", *, pages: int = 4, spare: int = 0, extra: int = 0, shared: bool = False,
    on_gpu: bool = False, on_interpreter: bool = True, **named: Any,
) -> Case:  # fmt: skip
    """A step of chunks in blocks, with NaN wherever no row looks, `extra` rows in no block, and perhaps a first page
    that all sequences share."""

    def make() -> tuple[list[Any], dict[str, Any]]:
        rng = np.random.default_rng(6)
        rows, sequence, positions, count = blocks_of(chunks, block, spare)
        sequences = max((number for number, _, _ in chunks), default=0) + 1
        held = sequences * pages + 1
        q = random(rng, (count + extra, heads[0], depth), dtype, layout)
        keys, values = (random(rng, (held, heads[1], size, depth), dtype, layout) for _ in range(2))
        table = rng.permutation(held)[: sequences * pages].reshape(sequences, pages).astype(np.int32)
        if shared:
            table[:, 0] = table[0, 0]
        used = np.zeros(sequences, int)
        for number, first, length in chunks:
            used[number] = max(used[number], first + length)
        is_used = np.zeros((held, size), bool)
        for number, length in enumerate(used):
            for place in range(min(length, pages * size)):
                is_used[table[number, place // size], place % size] = True
        table[np.arange(pages) * size >= used[:, None]] = -1
        for cache in (keys, values):
            cache.swapaxes(1, 2)[~is_used] = np.nan
        out = random(rng, (count + extra, heads[0], depth), dtype)
        places = np.concatenate([positions, np.full(extra, 5, np.int32)]).astype(np.int32)
        return [q, keys, values, table, rows, sequence, places], {"out": out, **named}

    called = f"ragged_attention {name} {dtype} {layout}"
    return Case(called, ragged_attention, make, one_by_one, on_gpu=on_gpu, on_interpreter=on_interpreter)


def prompt(
    name: str, first: int, count: int, size: int = 64, heads: tuple[int, int] = (4, 2), depth: int = 16,
    dtype: str = "f32", layout: str = "dense", *, pages: int = 4, behind: int = 0, on_gpu: bool = False,
    on_interpreter: bool = True, **named: Any,
) -> Case:  # fmt: skip
    """Rows of one sequence from some position on, and some `behind` them at no position; NaN wherever no row looks."""
    with_rows = step(name, ((0, first, count),), 8, size, heads, depth, dtype, layout, pages=pages, extra=behind)

    def make() -> tuple[list[Any], dict[str, Any]]:
        (q, keys, values, table, _, _, positions), _ = with_rows.make()
        positions[count:] = -1
        return [q, keys, values, table[0], positions], dict(named)

    def reference(q: Any, keys: Any, values: Any, table: Any, positions: Any, **named: Any) -> Any:
        rows, sequence = np.arange(len(q))[:, None], np.zeros(len(q), int)
        given = q, keys, values, table[None], rows, sequence, positions
        return one_by_one(*given, **{"out": np.zeros(q.shape), **named})

    called = f"prefill_attention {name} {dtype} {layout}"
    return Case(called, prefill_attention, make, reference, on_gpu=on_gpu, on_interpreter=on_interpreter)


def prompts() -> list[Case]:
    """Rows of one sequence, those for a GPU first."""
    return [
        prompt("chunk", 70, 130, 64, (8, 2), 128, "bf16", on_gpu=True, on_interpreter=False),
        prompt("many pages", 4090, 12, 64, (4, 1), 128, "bf16", pages=65, on_gpu=True, on_interpreter=False),
        prompt("three heads", 0, 100, 64, (9, 3), 64, "bf16", behind=3, on_gpu=True, on_interpreter=False),
        prompt("seven heads, depth 96", 20, 5, 32, (7, 1), 96, "f16", on_gpu=True),
        prompt("small pages", 3, 14, 5, on_gpu=True),
        *(prompt(f"edge {first} {count}", first, count, 8) for first, count in ((7, 1), (8, 1), (0, 1), (6, 20))),
        prompt("above the capacity", 14, 4, 4),
        prompt("no row", 0, 0, 4),
        prompt("layouts", 3, 9, 4, layout="transposed", scale=0.7),
        prompt("f64", 3, 9, 4, dtype="f64", behind=1),
    ]


def cases() -> list[Case]:
    """All, those for a GPU first."""
    mixed = ((0, 100, 1), (1, 0, 40), (2, 63, 1), (3, 30, 70))
    return [
        step("mixed", mixed, 16, 64, (8, 2), 128, "bf16", spare=2, extra=1, on_gpu=True, on_interpreter=False),
        step("three heads", mixed, 16, 64, (9, 3), 64, "bf16", on_gpu=True, on_interpreter=False),
        step("long blocks", ((1, 0, 130), (0, 64, 64)), 64, 64, (4, 2), 64, "bf16", on_gpu=True, on_interpreter=False),
        step("single rows", ((0, 200, 1), (1, 64, 1), (2, 0, 1)), 1, 64, (4, 2), 64, "bf16", on_gpu=True),
        step("seven heads, depth 96", ((0, 20, 5), (1, 0, 3)), 4, 32, (7, 1), 96, "f16", on_gpu=True),
        step("small pages", ((0, 3, 9), (1, 10, 2)), 4, 5, (4, 2), 16, "f32", on_gpu=True),
        *(
            step(f"edge {first} {count}", ((0, first, count),), 8, 64, (2, 1), 16, "f32")
            for first, count in ((62, 1), (63, 1), (64, 1), (60, 8), (56, 8), (57, 8), (0, 1))
        ),
        step("sharing a page", ((0, 4, 3), (1, 5, 2), (2, 4, 1)), 2, 4, shared=True),
        step("rows in no block", ((0, 3, 5),), 2, 4, extra=3, spare=1),
        step("above the capacity", ((0, 14, 4),), 4, 4),
        step("nothing in use", (), 4, 4, spare=2, extra=2),
        step("no block", (), 4, 4, extra=2),
        step("no row", (), 4, 4, spare=1),
        step("layouts", ((0, 3, 5), (1, 2, 2)), 4, 4, layout="transposed", scale=0.7),
        step("layouts", ((0, 3, 5), (1, 2, 2)), 4, 4, layout="sliced"),
        step("f64", ((0, 3, 5), (1, 2, 2)), 4, 4, dtype="f64"),
        *prompts(),
    ]  # fmt: skip
