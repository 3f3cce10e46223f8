"""Attention of rows of one sequence that follow each other: a prompt, or a piece of one.

Where they stand is two numbers, the place of the first row and how many places are in use, so nothing is looked up or
compared but numbers of rows: on a GPU a tile of `attend_prompt` spends as long on that as on some pages. Numbers are
computed as in `attention`; queries that come from their product are normalised and turned as by `norm_rope_append`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, Out, T, U, f32, f64, i32
from tileproof.tuning import Tunable

from . import arrays
from .choosing import chosen
from .positions import normed, query_heads, turned
from .prompt_sizes import prompt_default, prompt_space, wide_prompt_default
from .weighing import LOG2_E, axes_of, blank, mean_of, scale_of, shared, wide

__all__ = [
    "attend_chunk", "attend_chunk_kernel", "norm_rope_attend", "norm_rope_attend_kernel",
    "norm_rope_attend_plain_kernel",
]  # fmt: skip


# What the kernels are made of.


def weighed_flushed(state: Any, scores: Any, values: Any, scale: Any) -> Any:
    """As `weighed`, but weights below 2**-126 are 0: beside the greatest, which is 1, no sum sees them, and for the
    others a GPU has one instruction then."""
    top, total, acc = state
    new = tp.maximum(top, scores.max(axis=1) * scale)
    power, fade = scores * scale - new[:, None], tp.exp2(top - new)
    weight = tp.where(power < -126, 0, tp.exp2(power))
    return new, total * fade + weight.sum(axis=1), acc * fade[:, None] + weight.to(values.dtype) @ values


def seen_by_rows(query: Any, spot: Any, span: Any, sizes: Any, k: Any, v: Any, pages: Any, by: Any) -> Any:
    """What a tile of rows finds in the pages up to its last place; its first row and its group of heads are the spot.

    The span is the place of row 0 and how many places are in use. Pages that every row sees whole need no mask. Of the
    others, one that is in use to its end needs none for its values; what was never written may be NaN, which a weight
    of 0 does not remove.
    """
    (first, g), (start, held), (rows, sharing, size) = spot, span, sizes
    used = tp.clip(held, 0, (tp.dim("L") * size).to(i32))
    begin = tp.minimum(start, used) + first.to(i32)
    count, whole = tp.cdiv(tp.minimum(begin + rows, used), size), tp.minimum(begin + 1, used) // size
    full = tp.where(used >= count * size, count, tp.maximum(count - 1, whole))
    place = tp.arange(rows * sharing, i32) // sharing
    state = blank(rows * sharing, query.shape[1], query.dtype)
    for n in tp.tiles(("L", tp.each), stop=whole):
        page = tp.maximum(pages[n], 0)
        state = weighed_flushed(state, query @ k[page, g, :, :].T, v[page, g, :, :], by)
    for n in tp.tiles(("L", tp.each), start=tp.maximum(whole, 0), stop=full):
        page, ahead = tp.maximum(pages[n], 0), n.to(i32) * size - begin
        is_seen = place[:, None] >= ahead + tp.arange(size, i32)[None, :]
        state = weighed_flushed(state, tp.where(is_seen, query @ k[page, g, :, :].T, -tp.inf), v[page, g, :, :], by)
    for n in tp.tiles(("L", tp.each), start=tp.maximum(full, 0), stop=count):
        page, here = tp.maximum(pages[n], 0), n.to(i32) * size + tp.arange(size, i32)
        is_seen = (place[:, None] + begin >= here[None, :]) & (here[None, :] < used)
        values = tp.where(here[:, None] < used, v[page, g, :, :], 0)
        state = weighed_flushed(state, tp.where(is_seen, query @ k[page, g, :, :].T, -tp.inf), values, by)
    return state


def angles_of(table: Any, t: Any, sharing: Any, dtype: Any) -> Any:
    """Cosines or sines of some rows, once for each of the heads that share a key."""
    rows, half = table[t, :].shape
    found = wide(table[t, :].fill(0), dtype)
    return (found[:, None, :] + tp.zeros((1, sharing, 1), found.dtype)).reshape(rows * sharing, half)


# Kernels.


@tp.kernel(deny_checks=True)
def attend_chunk_kernel(
    o: Out[T, "T G R D"], q: In[T, "T G R D"], k: In[T, "P G S D"], v: In[T, "P G S D"], table: In[Index["P"], "L"],
    start: In[i32, "1"], used: In[i32, "1"], scale: f64, *, R: int, S: int, D: int, BT: int = 16,
) -> None:  # fmt: skip
    """Row t is at place start[0] + t of used[0]; the heads that share keys are rows of one product.

    Heads stand behind rows in the space, so that in reverse the rows that see most come first, for all heads.
    """
    tp.require(tp.dim("P") >= 1)
    for t, g in tp.parallel(T=BT, G=tp.each):
        query, by = q[t, g, :, :].fill(0).reshape(BT * R, D), wide(scale, q.dtype) * LOG2_E
        state = seen_by_rows(query, (t.start, g), (start[0], used[0]), (BT, R, S), k, v, table, by)
        o[t, g, :, :] = mean_of(state).reshape(BT, R, D)


@tp.kernel(deny_checks=True)
def norm_rope_attend_kernel(
    o: Out[T, "T G R D=2*E"], q: In[T, "T G R D=2*E"], q_norm: In[U, "D=2*E"], cos: In[f32, "T E"],
    sin: In[f32, "T E"], k: In[T, "P G S D=2*E"], v: In[T, "P G S D=2*E"], table: In[Index["P"], "L"],
    start: In[i32, "1"], used: In[i32, "1"], scale: f64, eps: f32, *, R: int, S: int, D: int, E: int, BT: int = 16,
) -> None:  # fmt: skip
    """The same, with queries that are normalised, and turned by the angles of their rows, on their way.

    Each query is looked at by one program alone, so nothing is computed twice, and no queries are written. Angles lie
    by rows: a GPU does not read pages ahead of time in a kernel that gathers.
    """
    tp.require(tp.dim("P") >= 1)
    for t, g in tp.parallel(T=BT, G=tp.each):
        one = wide(q[t, g, :, 0:E].fill(0).reshape(BT * R, E), q.dtype)
        two = wide(q[t, g, :, E:D].fill(0).reshape(BT * R, E), q.dtype)
        one, two = normed(one, two, q_norm[0:E], q_norm[E:D], eps)
        one, two = turned(one, two, angles_of(cos, t, R, q.dtype), angles_of(sin, t, R, q.dtype))
        query, by = tp.cat((one, two), axis=1).to(q.dtype), wide(scale, q.dtype) * LOG2_E
        state = seen_by_rows(query, (t.start, g), (start[0], used[0]), (BT, R, S), k, v, table, by)
        o[t, g, :, :] = mean_of(state).reshape(BT, R, D)


@tp.kernel(deny_checks=True)
def norm_rope_attend_plain_kernel(
    o: Out[T, "T G R D=2*E"], q: In[T, "T G R D=2*E"], cos: In[f32, "T E"], sin: In[f32, "T E"],
    k: In[T, "P G S D=2*E"], v: In[T, "P G S D=2*E"], table: In[Index["P"], "L"], start: In[i32, "1"],
    used: In[i32, "1"], scale: f64, *, R: int, S: int, D: int, E: int, BT: int = 16,
) -> None:  # fmt: skip
    """The same without norms."""
    tp.require(tp.dim("P") >= 1)
    for t, g in tp.parallel(T=BT, G=tp.each):
        one = wide(q[t, g, :, 0:E].fill(0).reshape(BT * R, E), q.dtype)
        two = wide(q[t, g, :, E:D].fill(0).reshape(BT * R, E), q.dtype)
        one, two = turned(one, two, angles_of(cos, t, R, q.dtype), angles_of(sin, t, R, q.dtype))
        query, by = tp.cat((one, two), axis=1).to(q.dtype), wide(scale, q.dtype) * LOG2_E
        state = seen_by_rows(query, (t.start, g), (start[0], used[0]), (BT, R, S), k, v, table, by)
        o[t, g, :, :] = mean_of(state).reshape(BT, R, D)


# Functions.


def attend_chunk(
    q: Any, keys: Any, values: Any, table: Any, start: Any, used: Any, *, scale: float | None = None, out: Any = None
) -> Any:
    """Attention of T rows (q: T H D) of one sequence that follow each other, to its cache in pages (P G S D).

    Row t is at place start[0] + t, and sees the places up to its own, as far as they are in use: the first used[0].
    Place c is place c % S of page table[c // S], of "L". Both numbers are arrays of one i32, read where they are, so
    that a graph may be replayed for the next piece. What is not in use may be anything, also NaN; entries of the table
    there may be -1. A row before place 0 sees nothing, and gets zeros.

    Example:
        o = tk.attend_chunk(q, key_pages, value_pages, table[0], positions[:1], used[:1])
    """
    tokens, heads, depth = axes_of("q", q, "T H D")
    sizes, shape = _sizes(heads, tokens, depth, keys, table)
    made = arrays.result(out, q, q.shape)
    choice = chosen(WIDE_CHUNK if arrays.element_of(q).bits > 16 else CHUNK, q, **sizes)
    choice(arrays.view(made, shape), arrays.view(q, shape), keys, values, table, start, used, scale_of(scale, q))
    return made


def norm_rope_attend(
    qkv: Any, keys: Any, values: Any, table: Any, cos: Any, sin: Any, start: Any, used: Any, q_norm: Any = None,
    eps: float = 1e-6, *, scale: float | None = None, out: Any = None,
) -> Any:  # fmt: skip
    """`attend_chunk` for queries as they come from the product with merged weights; gives "T H D".

    Each row of qkv, "T (H+2*G)*D" or "T H+2*G D", begins with H heads of queries. They are normalised by their root
    mean square, times `q_norm`, if it is given, and turned: row t by the angles whose cosines and sines are row t of
    cos and sin, "T D/2". Keys and values of these rows are not looked at: they are in their pages by now, as
    `append_layers` puts them there.

    Example:
        o = tk.norm_rope_attend(qkv, keys, values, table[0], row_cos, row_sin, positions[:1], used[:1], q_norm)
    """
    groups, depth = axes_of("keys", keys, "P G S D")[1], int(keys.shape[3])
    tokens, *rest = qkv.shape
    heads = query_heads(rest, groups, depth)
    sizes, shape = _sizes(heads, int(tokens), depth, keys, table)
    q = arrays.view(arrays.view(qkv, (tokens, heads + 2 * groups, depth))[:, :heads], shape)
    made = arrays.result(out, qkv, (tokens, heads, depth))
    narrow, wider = (PLAIN_TURNED, WIDE_PLAIN_TURNED) if q_norm is None else (TURNED, WIDE_TURNED)
    choice = chosen(wider if arrays.element_of(qkv).bits > 16 else narrow, qkv, **sizes)
    pages, by = (keys, values, table, start, used), scale_of(scale, keys)
    if q_norm is None:
        choice(arrays.view(made, shape), q, cos, sin, *pages, by)
    else:
        choice(arrays.view(made, shape), q, q_norm, cos, sin, *pages, by, eps)
    return made


def _sizes(heads: int, tokens: int, depth: int, keys: Any, table: Any) -> tuple[dict[str, int], tuple[int, ...]]:
    """The extents by which a kernel is chosen, and the shape of queries with an axis of groups."""
    held, count, size, _ = axes_of("keys", keys, "P G S D")
    (pages,) = axes_of("table", table, "L")
    groups, sharing = shared(heads, count)
    sizes = {"T": tokens, "G": groups, "R": sharing, "D": depth, "P": held, "S": size, "L": pages}
    return sizes, (tokens, groups, sharing, depth)


# Which sizes and schedules.


def _at_the_end(rng: Any, arguments: dict[str, Any]) -> None:
    """The last rows of a sequence that fills its pages."""
    table = arguments["table"]
    table[...] = rng.integers(0, arguments["k"].shape[0], table.shape)
    held = len(table) * arguments["k"].shape[2]
    arguments["used"][...], arguments["start"][...] = held, max(held - len(arguments["q"]), 0)


def _tunable(name: str, kernel: tp.Kernel, default: Any) -> Tunable:
    return Tunable(
        name, (kernel,), partial(default, kernel), partial(prompt_space, kernel), exact=("R", "S", "D"),
        scalars={"scale": 0.1, "eps": 1e-6}, inputs=_at_the_end,
    )  # fmt: skip


CHUNK: Final = _tunable("attend_chunk", attend_chunk_kernel, prompt_default)
WIDE_CHUNK: Final = _tunable("wide_attend_chunk", attend_chunk_kernel, wide_prompt_default)
"""For f32 and f64, whose tiles take more registers."""
TURNED: Final = _tunable("norm_rope_attend", norm_rope_attend_kernel, prompt_default)
WIDE_TURNED: Final = _tunable("wide_norm_rope_attend", norm_rope_attend_kernel, wide_prompt_default)
PLAIN_TURNED: Final = _tunable("norm_rope_attend_plain", norm_rope_attend_plain_kernel, prompt_default)
WIDE_PLAIN_TURNED: Final = _tunable("wide_norm_rope_attend_plain", norm_rope_attend_plain_kernel, wide_prompt_default)
TUNABLES: Final = (CHUNK, WIDE_CHUNK, TURNED, WIDE_TURNED, PLAIN_TURNED, WIDE_PLAIN_TURNED)
