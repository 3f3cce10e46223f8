"""Prefill: attention of the tokens of a step, of one sequence or of several, to their paged KV caches.

The tokens of a step come from prefill and from decode: many of one sequence, and one each of others. They are taken in
blocks, each of one sequence, and the query heads of a block that share keys are the rows of one MMA. Numbers are
computed as in `flash_attention`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

import tileproof as tp
from tileproof import In, Index, InOut, Out, Schedule, T, Unique, f64, i32
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import choose
from .heuristics import covering
from .online_softmax import (
    LOG2_E,
    extents_of,
    initial_state,
    key_groups,
    score_scale,
    softmax_step,
    weighted_mean,
    widen,
)


@tp.kernel(deny_checks=True)
def ragged_attention_kernel(
    o: InOut[T, "T G R D"], q: In[T, "T G R D"], k: In[T, "P G S D"], v: In[T, "P G S D"],
    table: In[Index["P"], "N L"], rows: In[Unique["T"], "B M"], sequence: In[Index["N"], "B"],
    positions: In[i32, "T"], scale: f64, *, R: int, S: int, D: int, M: int,
) -> None:  # fmt: skip
    """Block b looks at the pages of its sequence, up to the last position of its rows; a page is a tile.

    Pages that all rows see whole need no mask. In the others values behind the last position are taken as 0, because
    what was never written may be NaN, which a weight of 0 does not remove.
    """
    tp.require(tp.dim("P") >= 1)
    tp.require(tp.dim("N") >= 1)
    tp.require(tp.dim("T") >= 1)
    pages: Any = table
    block: Any = rows
    for b, g in tp.parallel(B=tp.each, G=tp.each):
        which: Any = sequence[b]
        if which >= 0:
            at, by = block[b, :], widen(scale, q.dtype) * LOG2_E
            row = tp.maximum(at, 0)
            query = q[row, g, :, :].reshape(M * R, D)
            place = tp.where(at >= 0, tp.clip(positions[row], -1, (tp.dim("L") * S).to(i32) - 1), -1)
            stop, number = place.max() + 1, tp.maximum(which, 0)
            whole = tp.minimum(tp.where(at >= 0, place + 1, stop).min(), stop) // S
            last = (place[:, None] + tp.zeros((1, R), i32)).reshape(M * R)
            state = initial_state(M * R, D, q.dtype)
            for n in tp.tiles(L=tp.each, stop=whole):
                page = tp.maximum(pages[number, n], 0)
                state = softmax_step(state, query @ k[page, g, :, :].T, v[page, g, :, :], by)
            for n in tp.tiles(L=tp.each, start=tp.maximum(whole, 0), stop=tp.cdiv(stop, S)):
                page, here = tp.maximum(pages[number, n], 0), n.to(i32) * S + tp.arange(S, i32)
                scores = tp.where(last[:, None] >= here[None, :], query @ k[page, g, :, :].T, -tp.inf)
                state = softmax_step(state, scores, tp.where(here[:, None] < stop, v[page, g, :, :], 0), by)
            o[at, g, :, :] = weighted_mean(state).reshape(M, R, D)


def ragged_attention(
    q: Any, keys: Any, values: Any, table: Any, rows: Any, sequence: Any, positions: Any, *,
    scale: float | None = None, out: Any,
) -> Any:  # fmt: skip
    """Attention of T rows (q: T H D) of some sequences to their caches in pages (P G S D), which a table (N L) finds.

    Block b is the rows of q that `rows[b]` names, -1 for none; all are of sequence `sequence[b]`, and -1 there leaves
    the block out. Row t sees the places up to positions[t] of its sequence, its own among them: place c is place c % S
    of page table[n, c // S]. Entries of the table after them may be -1, and what lies behind the last position of a
    block may be anything. No row may be in two blocks; rows in none keep what `out` holds. The result of a row does not
    depend on other blocks.

    Example:
        tk.ragged_attention(q, key_pages, value_pages, table, rows, sequence, positions, out=o)
    """
    tokens, heads, depth = extents_of("q", q, "T H D")
    held, count, size, _ = extents_of("keys", keys, "P G S D")
    sequences, pages = extents_of("table", table, "N L")
    blocks, length = extents_of("rows", rows, "B M")
    groups, sharing = key_groups(heads, count)
    output, shape = arrays.output_for(out, q, q.shape), (tokens, groups, sharing, depth)
    if tokens == 0:
        return output
    sizes = {"T": tokens, "G": groups, "R": sharing, "D": depth, "P": held, "S": size, "L": pages, "N": sequences}
    choice = choose(ROWS, q, **sizes, B=blocks, M=length)
    arguments = arrays.view(output, shape), arrays.view(q, shape), keys, values, table, rows, sequence, positions
    choice(*arguments, score_scale(scale, q))
    return output


# Rows of one sequence.


@tp.kernel(deny_checks=True)
def prefill_attention_kernel(
    o: Out[T, "T G R D"], q: In[T, "T G R D"], k: In[T, "P G S D"], v: In[T, "P G S D"], table: In[Index["P"], "L"],
    positions: In[i32, "T"], scale: f64, *, R: int, S: int, D: int, BT: int = 16,
) -> None:  # fmt: skip
    """The same for rows that lie as they are computed, BT at a time: nothing is gathered, so pages come ahead of time.

    Heads stand behind rows in the space, so that in reverse the rows that see most come first, for all heads. What was
    never written is taken as 0, which costs a walk of the values through registers. A page that some row sees to its
    end has nothing of the kind: such a row is looked for where it is if rows follow each other.
    """
    tp.require(tp.dim("P") >= 1)
    pages: Any = table
    for t, g in tp.parallel(T=BT, G=tp.each):
        by = widen(scale, q.dtype) * LOG2_E
        query = q[t, g, :, :].fill(0).reshape(BT * R, D)
        place = tp.clip(positions[t].fill(-1), -1, (tp.dim("L") * S).to(i32) - 1)
        stop, whole = place.max() + 1, (place.min() + 1) // S
        count = tp.cdiv(stop, S)
        is_seen = positions.get(t.stop - 1 + count * S - stop, -1) >= count * S - 1
        full = tp.where(is_seen, count, tp.maximum(tp.minimum(stop // S, count), whole))
        last = (place[:, None] + tp.zeros((1, R), i32)).reshape(BT * R)
        state = initial_state(BT * R, D, q.dtype)
        for n in tp.tiles(L=tp.each, stop=whole):
            page = tp.maximum(pages[n], 0)
            state = softmax_step(state, query @ k[page, g, :, :].T, v[page, g, :, :], by)
        for n in tp.tiles(L=tp.each, start=tp.maximum(whole, 0), stop=full):
            page, here = tp.maximum(pages[n], 0), n.to(i32) * S + tp.arange(S, i32)
            scores = tp.where(last[:, None] >= here[None, :], query @ k[page, g, :, :].T, -tp.inf)
            state = softmax_step(state, scores, v[page, g, :, :], by)
        for n in tp.tiles(L=tp.each, start=tp.maximum(full, 0), stop=count):
            page, here = tp.maximum(pages[n], 0), n.to(i32) * S + tp.arange(S, i32)
            scores = tp.where(last[:, None] >= here[None, :], query @ k[page, g, :, :].T, -tp.inf)
            state = softmax_step(state, scores, tp.where(here[:, None] < stop, v[page, g, :, :], 0), by)
        o[t, g, :, :] = weighted_mean(state).reshape(BT, R, D)


def prefill_attention(
    q: Any, keys: Any, values: Any, table: Any, positions: Any, *, scale: float | None = None, out: Any = None
) -> Any:
    """`ragged_attention` for rows (q: T H D) that are all of one sequence, whose pages the table (L) names in order.

    Row t sees the places up to positions[t]; below 0 it sees none, and gets zeros. Rows next to each other should have
    positions next to each other: they look at pages together. What lies behind the last position of all rows may be
    anything; entries of the table there may be -1.

    Example:
        o = tk.prefill_attention(q, key_pages, value_pages, table[0], positions)
    """
    tokens, heads, depth = extents_of("q", q, "T H D")
    held, count, size, _ = extents_of("keys", keys, "P G S D")
    (pages,) = extents_of("table", table, "L")
    groups, sharing = key_groups(heads, count)
    output, shape = arrays.output_for(out, q, q.shape), (tokens, groups, sharing, depth)
    sizes = {"T": tokens, "G": groups, "R": sharing, "D": depth, "P": held, "S": size, "L": pages}
    choice = choose(WIDE_PROMPT if arrays.element_of(q).bits > 16 else PROMPT, q, **sizes)
    choice(arrays.view(output, shape), arrays.view(q, shape), keys, values, table, positions, score_scale(scale, q))
    return output


# Which sizes and schedules.


def _default(sizes: Sizes, target: str) -> Choice:
    if target == "cpu":
        return Choice(ragged_attention_kernel, {})
    schedule = Schedule(warps=8) if sizes["M"] * sizes["R"] > 64 else Schedule(occupancy=1)
    return Choice(ragged_attention_kernel, {}, schedule)


def _space(sizes: Sizes, target: str) -> Iterator[Choice]:
    if target == "cpu":
        yield from choices(ragged_attention_kernel, "")
        return
    schedules = (*(Schedule(occupancy=count) for count in (1, 2, 4)), Schedule(warps=8))
    yield from choices(ragged_attention_kernel, "", *schedules)


_LONG: Final = 4096
"""From so many places on, programs of a GPU take more rows of a prompt each: what they read of the cache counts."""


def _rows(sizes: Sizes, rows: int) -> dict[str, int]:
    """As many rows as make so many with the heads that share keys."""
    return {"BT": max(rows // covering(sizes["R"], 1, 2, 4, 8, 16, 32, 64), 1)}


def _prompt_default(sizes: Sizes, target: str) -> Choice:
    """Tiles of 64 rows, or of 128 with a long cache."""
    if target == "cpu":
        return Choice(prefill_attention_kernel, _rows(sizes, 64))
    many, few = _rows(sizes, 128), _rows(sizes, 64)
    if sizes["L"] * sizes["S"] > _LONG and sizes["D"] <= 128 and sizes["T"] % many["BT"] == 0:
        return Choice(prefill_attention_kernel, many, Schedule(warps=8, latency=2, reverse=True))
    if sizes["T"] % few["BT"] == 0:
        return Choice(prefill_attention_kernel, few, Schedule(occupancy=2, reverse=True))
    # The assembler has no code for a last tile of fewer rows that the copy engine brings.
    return Choice(prefill_attention_kernel, few, Schedule(tma=False, reverse=True))


def _wide_default(sizes: Sizes, target: str) -> Choice:
    """The same for f32 and f64, whose tiles take more registers."""
    return Choice(prefill_attention_kernel, _rows(sizes, 64 if target == "cpu" else 32))


def _prompt_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    for rows in (32, 64, 128):
        written = f"BT={_rows(sizes, rows)['BT']}"
        if target == "cpu":
            yield from choices(prefill_attention_kernel, written)
        elif rows == 128:
            far = (Schedule(warps=8, latency=latency, reverse=True) for latency in (2, 4))
            yield from choices(prefill_attention_kernel, written, *far, Schedule(warps=8, reverse=True))
        else:
            near = Schedule(occupancy=2, reverse=True), Schedule(occupancy=2)
            yield from choices(prefill_attention_kernel, written, *near)


def _full(rng: Any, arguments: dict[str, Any]) -> None:
    """Blocks without holes, of sequences that fill their caches."""
    table, rows, sequence = arguments["table"], arguments["rows"], arguments["sequence"]
    table[...] = rng.integers(0, arguments["k"].shape[0], table.shape)
    sequence[...] = rng.integers(0, len(table), sequence.shape)
    rows[...] = -1
    count = min(rows.size, len(arguments["q"]))
    rows.reshape(-1)[:count] = rng.permutation(count)
    arguments["positions"][...] = table.shape[1] * arguments["k"].shape[2] - 1


def _from_the_start(rng: Any, arguments: dict[str, Any]) -> None:
    """The last rows of a sequence that fills its pages."""
    table, positions = arguments["table"], arguments["positions"]
    table[...] = rng.integers(0, arguments["k"].shape[0], table.shape)
    held = len(table) * arguments["k"].shape[2]
    positions[...] = np.arange(len(positions)) + max(held - len(positions), 0)


ROWS: Final = Tunable(
    "ragged_attention", (ragged_attention_kernel,), _default, _space, exact=("R", "S", "D", "M"),
    scalars={"scale": 0.1}, inputs=_full,
)  # fmt: skip
PROMPT: Final = Tunable(
    "prefill_attention", (prefill_attention_kernel,), _prompt_default, _prompt_space, exact=("R", "S", "D"),
    scalars={"scale": 0.1}, inputs=_from_the_start,
)  # fmt: skip
WIDE_PROMPT: Final = Tunable(
    "wide_prefill_attention", (prefill_attention_kernel,), _wide_default, _prompt_space, exact=("R", "S", "D"),
    scalars={"scale": 0.1}, inputs=_from_the_start,
)  # fmt: skip
TUNABLES: Final = (ROWS, PROMPT, WIDE_PROMPT)
