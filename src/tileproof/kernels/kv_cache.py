"""Decode: attention of one new token per sequence to a KV cache, dense or paged, and appending to pages.

A new token has little to compute and a long cache to read, so several programs share a cache, and their results are
merged in order, so that they are the same every time. Each takes an equal share of the places in use, whatever the
capacity. Numbers are computed as in `flash_attention`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

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
    merge_states,
    score_scale,
    softmax_step,
    softmax_step_by_sums,
    softmax_step_columns,
    weighted_mean,
    widen,
)


def share_of(used: Any, piece: Any, pieces: Any, tile: Any) -> Any:
    """Where a piece of the first `used` places begins and ends: whole tiles, and as many for each piece."""
    share = tp.cdiv(used, pieces * tile) * tile
    return piece.number * share, piece.number * share + share


def transposed(state: Any) -> Any:
    """A state that lay on its side."""
    top, total, acc = state
    return top, total, acc.T


def rows_of(state: Any, rows: Any) -> Any:
    """What the first rows found: those after them are there because tensor cores want more."""
    top, total, acc = state
    return top[0:rows], total[0:rows], acc[0:rows]


# One new token of each sequence, and a cache of C places for each.


def first_state(q: Any, b: Any, g: Any, rows: Any, depth: Any, SWAPPED: int) -> Any:
    """The queries of a group, with rows of zeros after them, and what they have seen so far: nothing."""
    query = q.get((b, g, tp.arange(rows), tp.arange(depth)), 0)
    if SWAPPED == 1:
        query, state = query.T, transposed(initial_state(rows, depth, q.dtype))
    else:
        state = initial_state(rows, depth, q.dtype)
    return query, state


def step_to(state: Any, query: Any, k: Any, v: Any, spot: Any, by: Any, SWAPPED: int) -> Any:
    """A state after a tile of keys and values, which are the left operands if swapped."""
    b, g, t = spot
    if SWAPPED == 1:
        state = softmax_step_columns(state, k[b, g, t, :] @ query, v[b, g, t, :], by)
    else:
        state = softmax_step(state, query @ k[b, g, t, :].T, v[b, g, t, :], by)
    return state


@tp.kernel(deny_checks=True)
def decode_attention_kernel(
    o: Out[T, "B G R D"], q: In[T, "B G R D"], k: In[T, "B G C D"], v: In[T, "B G C D"], used: In[i32, "B"],
    scale: f64, *, R: int, D: int, BR: int = 16, SC: int = 512, BC: int = 64, SWAPPED: int = 0,
) -> None:  # fmt: skip
    """The R heads that share keys look at the first used[b] places; each piece is for SC places of the capacity.

    Swapped, keys and values are left operands, of which tensor cores take 64 rows from shared memory at once.
    """
    tp.require(R <= BR)
    for b, g, z in tp.parallel(B=tp.each, G=tp.each, C=tp.split(SC)):
        query, state = first_state(q, b, g, BR, D, SWAPPED)
        length, by = tp.clip(used[b], 0, tp.dim("C")), widen(scale, q.dtype) * LOG2_E
        first, last = share_of(length, z, tp.cdiv(tp.dim("C"), SC), BC)
        whole = length // BC * BC
        for t in tp.tiles(C=BC, start=first, stop=tp.minimum(last, whole)):
            state = step_to(state, query, k, v, (b, g, t), by, SWAPPED)
        if (first <= whole) & (whole < last):
            for t in tp.tiles(C=BC, start=whole, stop=length):
                state = step_to(state, query, k, v, (b, g, t), by, SWAPPED)
        if SWAPPED == 1:
            state = transposed(state)
        o[b, g, :, :] = weighted_mean(tp.join(rows_of(state, R), over=z, by=merge_states))


def decode_attention(q: Any, k: Any, v: Any, used: Any, *, scale: float | None = None, out: Any = None) -> Any:
    """Attention of one new token of each sequence (q: B H D) to the first used[b] places of its cache (B G C D).

    `used` is read where the arrays are, so that a graph may be replayed as the caches grow; numbers below 0 count as 0,
    above C as C. A sequence without places in use gets zeros. What lies after them may be anything, also NaN.

    Example:
        o = tk.decode_attention(q, keys, values, used)
    """
    output = arrays.output_for(out, q, q.shape)
    sequences, heads, depth = extents_of("q", q, "B H D")
    _, keys, capacity, _ = extents_of("k", k, "B G C D")
    groups, rows = key_groups(heads, keys)
    shape = (sequences, groups, rows, depth)
    choice = choose(DECODE, q, B=sequences, G=groups, R=rows, C=capacity, D=depth)
    choice(arrays.view(output, shape), arrays.view(q, shape), k, v, used, score_scale(scale, q))
    return output


# Caches in pages of S places, found by a table. An entry of the table is a number here, so that pages are loaded whole:
# what is behind the places in use may be -1, and is not looked at.


@tp.kernel(deny_checks=True)
def paged_attention_kernel(
    o: Out[T, "B G R D"], q: In[T, "B G R D"], k: In[T, "P G S D"], v: In[T, "P G S D"],
    table: In[Index["P"], "B L"], used: In[i32, "B"], scale: f64, *, R: int, S: int, D: int, BR: int = 16, SL: int = 8,
    SWAPPED: int = 0,
) -> None:  # fmt: skip
    """The R heads that share keys look at the pages of sequence b; a page is a tile, each piece is for SL pages."""
    tp.require(R <= BR)
    tp.require(tp.dim("P") >= 1)
    pages: Any = table  # to type checkers `table` is a string, which takes no pair
    for b, g, z in tp.parallel(B=tp.each, G=tp.each, L=tp.split(SL)):
        query, state = first_state(q, b, g, BR, D, SWAPPED)
        length, by = tp.clip(used[b], 0, tp.dim("L") * S), widen(scale, q.dtype) * LOG2_E
        first, last = share_of(tp.cdiv(length, S), z, tp.cdiv(tp.dim("L"), SL), 1)
        whole = length // S
        for n in tp.tiles(L=tp.each, start=first, stop=tp.minimum(last, whole)):
            page = tp.maximum(pages[b, n], 0)
            if SWAPPED == 1:
                state = softmax_step_columns(state, k[page, g, :, :] @ query, v[page, g, :, :], by)
            else:
                state = softmax_step(state, query @ k[page, g, :, :].T, v[page, g, :, :], by)
        if (first <= whole) & (whole < last) & (whole < tp.dim("L")):
            page = tp.maximum(pages[b, whole], 0)
            for s in tp.tiles(S=S, stop=length - whole * S):
                state = step_to(state, query, k, v, (page, g, s), by, SWAPPED)
        if SWAPPED == 1:
            state = transposed(state)
        o[b, g, :, :] = weighted_mean(tp.join(rows_of(state, R), over=z, by=merge_states))


def attend_pages(
    state: Any, queries: Any, spot: Any, length: Any, k: Any, v: Any, pages: Any, span: Any, by: Any
) -> Any:
    """What queries find on the pages of a sequence, of which a `span` is looked at; b, g and S are the spot."""
    b, g, size = spot
    whole = length // size
    for n in tp.tiles(("L", tp.each), start=span[0], stop=tp.minimum(span[1], whole)):
        page = tp.maximum(pages[b, n], 0)
        state = softmax_step_by_sums(state, queries, k[page, g, :, :], v[page, g, :, :], by)
    if (span[0] <= whole) & (whole < span[1]) & (whole < tp.dim("L")):
        page = tp.maximum(pages[b, whole], 0)
        for s in tp.tiles(("S", size), stop=length - whole * size):
            state = softmax_step_by_sums(state, queries, k[page, g, s, :], v[page, g, s, :], by)
    return state


@tp.kernel(deny_checks=True)
def paged_attention_near_kernel(
    o: Out[T, "B G R D"], q: In[T, "B G R D"], k: In[T, "P G S D"], v: In[T, "P G S D"],
    table: In[Index["P"], "B L"], used: In[i32, "B"], scale: f64, *, R: int, S: int, D: int, BR: int = 1,
) -> None:  # fmt: skip
    """The same by sums, BR heads at once, and without a join: for CPUs, and caches that are short or many."""
    tp.require(tp.dim("P") >= 1)
    pages: Any = table
    for b, g, r in tp.parallel(B=tp.each, G=tp.each, R=BR):
        length, by = tp.clip(used[b], 0, tp.dim("L") * S), widen(scale, q.dtype) * LOG2_E
        queries, state = widen(q[b, g, r, :], q.dtype), initial_state(r, D, q.dtype)
        state = attend_pages(state, queries, (b, g, S), length, k, v, pages, (0, tp.dim("L")), by)
        o[b, g, r, :] = weighted_mean(state)


@tp.kernel(deny_checks=True)
def paged_attention_far_kernel(
    o: Out[T, "B G R D"], q: In[T, "B G R D"], k: In[T, "P G S D"], v: In[T, "P G S D"],
    table: In[Index["P"], "B L"], used: In[i32, "B"], scale: f64, *, R: int, S: int, D: int, SL: int = 8,
) -> None:  # fmt: skip
    """The same in pieces: for CPUs, and few caches that are long."""
    tp.require(tp.dim("P") >= 1)
    pages: Any = table
    for b, g, z in tp.parallel(B=tp.each, G=tp.each, L=tp.split(SL)):
        length, by = tp.clip(used[b], 0, tp.dim("L") * S), widen(scale, q.dtype) * LOG2_E
        span = share_of(tp.cdiv(length, S), z, tp.cdiv(tp.dim("L"), SL), 1)
        queries, state = widen(q[b, g, :, :], q.dtype), initial_state(R, D, q.dtype)
        state = attend_pages(state, queries, (b, g, S), length, k, v, pages, span, by)
        o[b, g, :, :] = weighted_mean(tp.join(state, over=z, by=merge_states))


def paged_attention(
    q: Any, k: Any, v: Any, table: Any, used: Any, *, scale: float | None = None, out: Any = None
) -> Any:
    """Attention of one new token of each sequence (q: B H D) to a cache in pages (P G S D) that a table (B L) finds.

    Place c of sequence b is place c % S of page table[b, c // S]; the first used[b] places are looked at. Entries of
    the table after them are not used, and may be -1. Sequences may share pages. `used` and the table are read where
    the arrays are. A sequence without places in use gets zeros.

    Example:
        o = tk.paged_attention(q, key_pages, value_pages, table, used)
    """
    output = arrays.output_for(out, q, q.shape)
    sequences, heads, depth = extents_of("q", q, "B H D")
    held, keys, size, _ = extents_of("k", k, "P G S D")
    pages = extents_of("table", table, "B L")[1]
    groups, rows = key_groups(heads, keys)
    shape = (sequences, groups, rows, depth)
    tunable = PAGED_ALONE if arrays.target_of(q) == "cpu" else PAGED
    choice = choose(tunable, q, B=sequences, G=groups, R=rows, L=pages, S=size, D=depth, P=held)
    choice(arrays.view(output, shape), arrays.view(q, shape), k, v, table, used, score_scale(scale, q))
    return output


@tp.kernel(deny_checks=True)
def paged_append_kernel(
    keys: InOut[T, "P G S D"], values: InOut[T, "P G S D"], k: In[T, "N G D"], v: In[T, "N G D"],
    slots: In[Unique["P*S"], "N"], *, S: int, D: int,
) -> None:  # fmt: skip
    """Puts token n into place slots[n] % S of page slots[n] // S; a slot of -1 skips the token."""
    for n, g in tp.parallel(N=tp.each, G=tp.each):
        slot: Any = slots[n]
        keys[slot // S, g, slot % S, :] = k[n, g, :]
        values[slot // S, g, slot % S, :] = v[n, g, :]


def paged_append(keys: Any, values: Any, k: Any, v: Any, slots: Any) -> None:
    """Puts keys and values of new tokens (N G D) into caches in pages (P G S D), each token into a slot of its own.

    Slot x is place x % S of page x // S; -1 skips the token. That no two tokens share a slot is tested at launch.

    Example:
        tk.paged_append(key_pages, value_pages, k, v, slots)
    """
    paged_append_kernel(keys, values, k, v, slots)


# Which kernel is launched.


def _rows(sizes: Sizes, least: int) -> int:
    return covering(sizes["R"], *(tile for tile in (1, 2, 4, 8, 16, 32, 64, 128, 256) if tile >= least))


def _piece(sizes: Sizes, tiles: int, target: str) -> int:
    """How many tiles a piece is for, of a cache of so many.

    There are enough pieces to give each multiprocessor four, or a CPU all its cores, and not more than are merged
    quickly.
    """
    wanted = (16 if target == "cpu" else 528) // max(sizes["B"] * sizes["G"], 1)
    return covering(-(-tiles // max(min(wanted, 32), 1)), 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def _default(sizes: Sizes, target: str) -> Choice:
    tile = covering(sizes["C"], 32, 256) if target == "cpu" else 64
    piece = tile * _piece(sizes, -(-sizes["C"] // tile), target)
    constants = {"BR": _rows(sizes, 1 if target == "cpu" else 16), "SC": piece, "BC": tile}
    return Choice(decode_attention_kernel, constants, Schedule(occupancy=None if target == "cpu" else 2))


def _space(sizes: Sizes, target: str) -> Iterator[Choice]:
    if target == "cpu":
        tiles = " ".join(f"BR={_rows(sizes, 1)},SC={tile * 8},BC={tile}" for tile in (64, 128, 256, 512))
        yield from choices(decode_attention_kernel, tiles)
        return
    pieces = [piece for piece in (256, 512, 1024, 2048, 4096) if piece < 2 * sizes["C"]] or [256]
    for rows, swapped in ((_rows(sizes, 16), ""), (_rows(sizes, 8), ",SWAPPED=1")):
        twice = " ".join(f"BR={rows},SC={piece},BC={tile}{swapped}" for piece in pieces for tile in (64, 128))
        yield from choices(decode_attention_kernel, twice, Schedule(occupancy=2))
        once = " ".join(f"BR={rows},SC={piece},BC=64{swapped}" for piece in pieces[:3])
        held = Schedule(occupancy=1), Schedule(occupancy=2, persistent=True)
        yield from choices(decode_attention_kernel, once, *held)


def _filled(rng: Any, arguments: dict[str, Any]) -> None:
    """Caches in use to the end."""
    arguments["used"][...] = arguments["k"].shape[2]


DECODE: Final = Tunable(
    "decode_attention", (decode_attention_kernel,), _default, _space, exact=("R", "D"), scalars={"scale": 0.1},
    inputs=_filled,
)  # fmt: skip


def _paged_default(sizes: Sizes, target: str) -> Choice:
    piece = _piece(sizes, sizes["L"], target)
    if target == "cpu":
        return Choice(paged_attention_kernel, {"BR": _rows(sizes, 1), "SL": piece})
    if sizes["S"] < 64:
        return Choice(paged_attention_kernel, {"BR": _rows(sizes, 16), "SL": piece}, Schedule(occupancy=2))
    constants = {"BR": _rows(sizes, 8), "SL": piece, "SWAPPED": 1}
    return Choice(paged_attention_kernel, constants, Schedule(occupancy=2))


def _paged_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    if target == "cpu":
        yield from choices(
            paged_attention_kernel, " ".join(f"BR={_rows(sizes, 1)},SL={piece}" for piece in (4, 16, 64))
        )
        return
    pieces = [piece for piece in (4, 8, 16, 32, 64) if piece < 2 * sizes["L"]] or [4]
    for rows, swapped in ((_rows(sizes, 16), ""), (_rows(sizes, 8), ",SWAPPED=1")):
        tiles = " ".join(f"BR={rows},SL={piece}{swapped}" for piece in pieces)
        yield from choices(paged_attention_kernel, tiles, Schedule(occupancy=2), Schedule(occupancy=1))


def _scattered(rng: Any, arguments: dict[str, Any]) -> None:
    """Caches in use to the end, on pages that lie anywhere."""
    table, (pages, _, size, _) = arguments["table"], arguments["k"].shape
    table[...] = rng.integers(0, pages, table.shape)
    arguments["used"][...] = table.shape[1] * size


PAGED: Final = Tunable(
    "paged_attention", (paged_attention_kernel,), _paged_default, _paged_space, exact=("R", "S", "D"),
    scalars={"scale": 0.1}, inputs=_scattered,
)  # fmt: skip


def _alone_default(sizes: Sizes, target: str) -> Choice:
    """A program for each group of heads; with few of them each head has its own, or, where caches are long, pieces."""
    programs, piece = max(sizes["B"] * sizes["G"], 1), _piece(sizes, sizes["L"], target)
    if sizes["L"] * sizes["S"] <= 512 or sizes["L"] <= piece:
        return Choice(paged_attention_near_kernel, {"BR": max(sizes["R"], 1) if programs >= 4 else 1})
    return Choice(paged_attention_far_kernel, {"SL": piece})


def _alone_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    yield from choices(paged_attention_near_kernel, " ".join(f"BR={rows}" for rows in {1, max(sizes["R"], 1)}))
    yield from choices(paged_attention_far_kernel, "SL=4 SL=16 SL=64")


PAGED_ALONE: Final = Tunable(
    "paged_attention_alone", (paged_attention_near_kernel, paged_attention_far_kernel), _alone_default, _alone_space,
    exact=("R", "S", "D"), scalars={"scale": 0.1}, inputs=_scattered,
)  # fmt: skip
"""For CPUs."""
TUNABLES: Final = (DECODE, PAGED, PAGED_ALONE)
