"""Decode in one kernel: norms, rotary embedding and paged attention of new tokens whose keys are not in pages yet.

A new token attends to the positions before its own, and to itself: its own key and value come from its row of qkv. So
nothing is written before attention, and the keys and values of all layers of a step can be appended together
afterwards: see `append_layers`. Numbers are computed and rounded as by `norm_rope_append` and `paged_attention`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, Out, Schedule, T, U, f32, f64
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import choose
from .heuristics import covering
from .kv_cache import rows_of, share_of, transposed
from .online_softmax import (
    LOG2_E,
    extents_of,
    initial_state,
    merge_states,
    score_scale,
    softmax_step_columns,
    weighted_mean,
    widen,
)
from .rotary import normalized, query_heads, rotated

# What the kernels are made of.


def halves(x: Any, spot: Any, rows: Any, half: Any) -> Any:
    """Both halves of some heads, with zeros for those that there are not."""
    b, g = spot
    heads = tp.arange(rows)
    return (
        widen(x.get((b, g, heads, tp.arange(half)), 0), x.dtype),
        widen(x.get((b, g, heads, tp.arange(half) + half), 0), x.dtype),
    )


def attend_itself(query: Any, key: Any, value: Any, by: Any, is_here: Any) -> Any:
    """What queries have seen when it is their own token, or, where that is not here, nothing; it lies on its side."""
    key = widen(key, query.dtype)
    rows, depth = query.shape
    top, total, acc = initial_state(rows, depth, query.dtype)
    scores = (widen(query, query.dtype) * key[None, :]).sum(axis=1) * by
    own = tp.where(is_here, scores, top), tp.where(is_here, total + 1, total), acc + widen(value, value.dtype)[None, :]
    return own[0], own[1], tp.where(is_here, own[2], acc).T


def attend_pages(
    state: Any, query: Any, spot: Any, length: Any, span: Any, keys: Any, values: Any, pages: Any, by: Any
) -> Any:
    """The same after a span of the pages that hold the places before; b, g and S are the spot."""
    b, g, size = spot
    query, whole = query.T, length // size
    for n in tp.tiles(("L", tp.each), start=span[0], stop=tp.minimum(span[1], whole)):
        page = tp.maximum(pages[b, n], 0)
        state = softmax_step_columns(state, keys[page, g, :, :] @ query, values[page, g, :, :], by)
    if (span[0] <= whole) & (whole < span[1]) & (whole < tp.dim("L")):
        page = tp.maximum(pages[b, whole], 0)
        for s in tp.tiles(("S", size), stop=length - whole * size):
            state = softmax_step_columns(state, keys[page, g, s, :] @ query, values[page, g, s, :], by)
    return transposed(state)


def page_of(pages: Any, b: Any, at: Any, spot: Any, length: Any, keys: Any, values: Any, query: Any, by: Any) -> Any:
    """Scores and values of one page, read whatever is in use of it, and which of its places are."""
    g, size = spot
    page = tp.maximum(pages[b, tp.minimum(at, tp.dim("L") - 1)], 0)
    is_live = (at * size + tp.arange(size) < length)[:, None]
    scores = tp.where(is_live, (keys[page, g, :, :] @ query) * by, tp.lowest)
    return scores, tp.where(is_live, values[page, g, :, :], 0), is_live


def weight_of(page: Any, top: Any) -> Any:
    """The weights of the places of a page."""
    return tp.where(page[2], tp.exp2(page[0] - top[None, :]), 0)


def with_page(state: Any, one: Any) -> Any:
    """A state after one page."""
    top, total, acc = state
    new = tp.maximum(top, one[0].max(axis=0))
    fade, weight = tp.exp2(top - new), weight_of(one, new)
    return new, total * fade + weight.sum(axis=0), acc * fade[None, :] + one[1].T @ weight.to(one[1].dtype)


def with_pages(state: Any, one: Any, two: Any) -> Any:
    """A state after two pages: a maximum of both takes as long as one of each."""
    top, total, acc = state
    new = tp.maximum(top, tp.maximum(one[0], two[0]).max(axis=0))
    fade, weight, other = tp.exp2(top - new), weight_of(one, new), weight_of(two, new)
    acc = acc * fade[None, :] + one[1].T @ weight.to(one[1].dtype)
    return new, total * fade + (weight + other).sum(axis=0), acc + two[1].T @ other.to(two[1].dtype)


def with_four(state: Any, one: Any, two: Any, three: Any, four: Any) -> Any:
    """A state after four pages."""
    top, total, acc = state
    highest = tp.maximum(tp.maximum(one[0], two[0]), tp.maximum(three[0], four[0]))
    new = tp.maximum(top, highest.max(axis=0))
    fade, first, second = tp.exp2(top - new), weight_of(one, new), weight_of(two, new)
    third, fourth = weight_of(three, new), weight_of(four, new)
    acc = acc * fade[None, :] + one[1].T @ first.to(one[1].dtype)
    acc = acc + two[1].T @ second.to(two[1].dtype)
    acc = acc + three[1].T @ third.to(three[1].dtype)
    acc = acc + four[1].T @ fourth.to(four[1].dtype)
    return new, total * fade + (first + second + third + fourth).sum(axis=0), acc


def attend_at_once(
    state: Any, query: Any, spot: Any, length: Any, start: Any, count: Any, keys: Any, values: Any, pages: Any, by: Any
) -> Any:
    """A state after 1, 2 or 4 pages, all of them read at once; b, g and S are the spot."""
    b, g, size = spot
    query, at = query.T, (g, size)
    one = page_of(pages, b, start, at, length, keys, values, query, by)
    if count == 1:
        found = with_page(state, one)
    else:
        two = page_of(pages, b, start + 1, at, length, keys, values, query, by)
        if count == 2:
            found = with_pages(state, one, two)
        else:
            three = page_of(pages, b, start + 2, at, length, keys, values, query, by)
            four = page_of(pages, b, start + 3, at, length, keys, values, query, by)
            found = with_four(state, one, two, three, four)
    return found


def rotated_head(pair: Any, cos_sin: Any, dtype: Any, axis: Any) -> Any:
    """Heads of two halves, rotated, and rounded as they are kept."""
    return tp.cat(rotated(pair[0], pair[1], cos_sin[0], cos_sin[1]), axis=axis).to(dtype)


def cos_sin_of(cos: Any, sin: Any, positions: Any, b: Any, dtype: Any) -> Any:
    """Cosines and sines of a token's position, as wide as heads of a type are computed."""
    return widen(cos[positions[b], :], dtype), widen(sin[positions[b], :], dtype)


def query_and_key(q: Any, k: Any, spot: Any, rows: Any, half: Any, norms: Any, cos_sin: Any) -> Any:
    """The queries of a group and the key of the new token, rotated, after they are normalized if there are norms."""
    (b, g), (q_norm, k_norm, eps) = spot, norms
    pair = halves(q, spot, rows, half)
    if q_norm is not None:
        pair = normalized(pair[0], pair[1], q_norm[0:half], q_norm[half : 2 * half], eps)
    query = rotated_head(pair, cos_sin, q.dtype, 1)
    pair = widen(k[b, g, 0:half], q.dtype), widen(k[b, g, half : 2 * half], q.dtype)
    if k_norm is not None:
        pair = normalized(pair[0], pair[1], k_norm[0:half], k_norm[half : 2 * half], eps)
    return query, rotated_head(pair, cos_sin, q.dtype, 0)


# Attention.


@tp.kernel(deny_checks=True)
def fused_decode_attention_kernel(
    o: Out[T, "B G R D=2*E"], q: In[T, "B G R D=2*E"], k: In[T, "B G D=2*E"], v: In[T, "B G D=2*E"],
    q_norm: In[U, "D=2*E"] | None, k_norm: In[U, "D=2*E"] | None, cos: In[f32, "C E"], sin: In[f32, "C E"],
    positions: In[Index["C"], "B"], keys: In[T, "P G S D=2*E"], values: In[T, "P G S D=2*E"],
    table: In[Index["P"], "B L"], scale: f64, eps: f32 | None, *,
    R: int, S: int, D: int, E: int, BR: int = 8, SL: int = 0, NEAR: int = 0,
) -> None:  # fmt: skip
    """The R heads that share keys look at the pages of sequence b, each piece of SL at a share, and at their own token.

    Without pieces, for caches that are short or many, two pages are read at once. Near, for caches of few pages, the 1,
    2 or 4 of a piece are, whatever is in use of them.
    """
    tp.require((q_norm is None) == (k_norm is None) and (k_norm is None) == (eps is None))
    tp.require(R <= BR)
    tp.require(tp.dim("P") >= 1)
    if SL == 0 or NEAR == 1:
        tp.require(tp.dim("L") >= 1)
    for b, g, z in tp.parallel(B=tp.each, G=tp.each, L=tp.split(SL)):
        by = widen(scale, q.dtype) * LOG2_E
        cos_sin = cos_sin_of(cos, sin, positions, b, q.dtype)
        query, key = query_and_key(q, k, (b, g), BR, E, (q_norm, k_norm, eps), cos_sin)
        state = attend_itself(query, key, v[b, g, :], by, z.number == 0)
        length = tp.clip(positions[b], 0, tp.dim("L") * S)
        if SL == 0:
            for n in range(tp.cdiv(length, 2 * S)):
                state = attend_at_once(state, query, (b, g, S), length, 2 * n, 2, keys, values, table, by)
            state = transposed(state)
        elif NEAR == 1:
            state = attend_at_once(state, query, (b, g, S), length, z.start, SL, keys, values, table, by)
            state = transposed(state)
        else:
            span = share_of(tp.cdiv(length, S), z, tp.cdiv(tp.dim("L"), SL), 1)
            state = attend_pages(state, query, (b, g, S), length, span, keys, values, table, by)
        o[b, g, :, :] = weighted_mean(tp.join(rows_of(state, R), over=z, by=merge_states))


def fused_decode_attention(
    qkv: Any, keys: Any, values: Any, table: Any, cos: Any, sin: Any, positions: Any, q_norm: Any = None,
    k_norm: Any = None, eps: float = 1e-6, *, scale: float | None = None, out: Any = None,
) -> Any:  # fmt: skip
    """Attention of one new token of each sequence, from its row of qkv, to itself and to all before it; gives "B H D".

    A row of qkv, "B (H+2*G)*D" or "B H+2*G D", has H heads of queries, G of keys and G of values. Queries and keys are
    normalized, if norms are given, and rotated, as by `norm_rope_append`. Token b is at positions[b]; the keys and
    values of the positions before it are in pages, "P G S D": place c is place c % S of page table[b, c // S], "B L".
    Nothing is written there: that is done by `append_layers`, or `norm_rope_append`.

    Example:
        o = tk.fused_decode_attention(qkv, keys, values, table, cos, sin, positions, q_norm, k_norm)
    """
    held, groups, size, depth = extents_of("keys", keys, "P G S D")
    pages = extents_of("table", table, "B L")[1]
    sequences, *rest = qkv.shape
    heads = query_heads(rest, groups, depth)
    rows = heads // max(groups, 1)
    split = arrays.view(qkv, (sequences, heads + 2 * groups, depth))
    shape = (sequences, groups, rows, depth)
    output = arrays.output_for(out, qkv, (sequences, heads, depth))
    arguments = (
        arrays.view(output, shape), arrays.view(split[:, :heads], shape), split[:, heads : heads + groups],
        split[:, heads + groups :],
    )  # fmt: skip
    by = score_scale(scale, split)
    tunable = FUSED_DECODE_ATTENTION_PLAIN if q_norm is None else FUSED_DECODE_ATTENTION
    choice = choose(
        tunable, qkv, B=sequences, G=groups, R=rows, L=pages, S=size, D=depth, P=held, C=cos.shape[0]
    )  # fmt: skip
    rest = cos, sin, positions, keys, values, table, by, None if q_norm is None else eps
    choice(*arrays.present(*arguments, q_norm, k_norm, *rest))
    return output


# Which kernel is launched.


def _rows(sizes: Sizes, target: str) -> int:
    least = 1 if target == "cpu" else 8
    return covering(sizes["R"], *(tile for tile in (1, 2, 4, 8, 16, 32, 64, 128, 256) if tile >= least))


def _default(kernel: tp.Kernel, sizes: Sizes, target: str) -> Choice:
    """About as many programs as an H200 has multiprocessors; where a few pages are all, no join, which costs 3 us."""
    programs, rows, pages = max(sizes["B"] * sizes["G"], 1), _rows(sizes, target), sizes["L"]
    pieces = min(128 // programs, 16)
    if pages and (target == "cpu" or pages <= 4 or pieces < 2):
        return Choice(kernel, {"BR": rows}, Schedule(occupancy=None if target == "cpu" else 1))
    if 0 < pages <= 32 and pieces >= 8:
        return Choice(kernel, {"BR": rows, "SL": 2 if pages <= 16 else 4, "NEAR": 1}, Schedule(occupancy=1))
    piece = covering(-(-pages // max(pieces, 1)), 1, 2, 4, 8, 16, 32, 64, 128, 256)
    return Choice(kernel, {"BR": rows, "SL": piece}, Schedule(occupancy=None if target == "cpu" else 1))


def _space(kernel: tp.Kernel, sizes: Sizes, target: str) -> Iterator[Choice]:
    rows, pages = _rows(sizes, target), max(sizes["L"], 1)
    if target == "cpu":
        yield from choices(kernel, f"BR={rows}")
        return
    held = Schedule(occupancy=1), Schedule(occupancy=2)
    yield from choices(kernel, f"BR={rows}", *held)
    near = (f"BR={rows},SL={piece},NEAR=1" for piece in (1, 2, 4) if pages <= 32 * piece)
    yield from choices(kernel, " ".join(near), *held)
    pieces = [piece for piece in (1, 2, 4, 8, 16, 32) if piece <= pages <= 32 * piece]
    yield from choices(kernel, " ".join(f"BR={rows},SL={piece}" for piece in pieces), *held)


def _scattered(rng: Any, arguments: dict[str, Any]) -> None:
    """Caches in use to the end, on pages that lie anywhere."""
    table, (pages, _, size, _) = arguments["table"], arguments["keys"].shape
    table[...] = rng.integers(0, pages, table.shape)
    arguments["positions"][...] = min(table.shape[1] * size, arguments["cos"].shape[0]) - 1


def _tunable(name: str, kernel: tp.Kernel) -> Tunable:
    return Tunable(
        name, (kernel,), partial(_default, kernel), partial(_space, kernel), exact=("G", "R", "S", "D"),
        scalars={"scale": 0.1, "eps": 1e-6}, inputs=_scattered,
    )  # fmt: skip


FUSED_DECODE_ATTENTION: Final = _tunable("fused_decode_attention", fused_decode_attention_kernel)
FUSED_DECODE_ATTENTION_PLAIN: Final = _tunable(
    "fused_decode_attention_plain", fused_decode_attention_kernel.without("q_norm", "k_norm", "eps")
)
TUNABLES: Final = (FUSED_DECODE_ATTENTION, FUSED_DECODE_ATTENTION_PLAIN)
