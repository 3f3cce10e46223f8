"""Attention that never stores its weights: tiles of keys and values meet an online softmax. With gradients.

Heads share keys in groups: H query heads and G key heads, where G divides H. Scores and weighted sums are computed in
f32 (f64 for f64); weights are rounded to the element type before they are multiplied with the values. A score of NaN
or +inf gives NaN in its query's row. A query that attends to no key, or has no score above -inf, gets zeros, and -inf
as its log-sum-exp.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np

import tileproof as tp
from tileproof import In, Kernel, Offsets, Out, Schedule, T, U, f64, i32
from tileproof.tuning import Choice, Sizes, Tunable, choices
from tileproof.tuning.choices import PLAIN

from . import arrays
from .arrays import choose, sum_type_of
from .heuristics import covering
from .online_softmax import (
    EVERY_KEY,
    LOG2_E,
    attention_sizes,
    extents_of,
    group_queries,
    initial_state,
    key_groups,
    keys_before,
    log_sum_exp,
    score_scale,
    softmax_step,
    visible_keys,
    weighted_mean,
    widen,
    with_batch,
)


def change_of(scores: Any, grad: Any, lse: Any, inner: Any, by: Any) -> Any:
    """Weights, and what the scores they come from change by, but for the scale."""
    weight = tp.exp2(scores * by - lse * LOG2_E)
    return weight, weight * (grad - inner)


@tp.kernel(deny_checks=True)
def attention_backward_kernel(
    dq: Out[T, "B G R S D"], inner: Out[U, "B G R S"], do: In[T, "B G R S D"], q: In[T, "B G R S D"],
    k: In[T, "B G C D"], v: In[T, "B G C D"], o: In[T, "B G R S D"], lse: In[U, "B G R S"], scale: f64, past: i32, *,
    D: int, BS: int = 64, BT: int = 64,
) -> None:  # fmt: skip
    """The gradient of the queries, and the inner product of each row of the result with its gradient."""
    for b, g, r, s in tp.parallel(B=tp.each, G=tp.each, R=tp.each, S=BS):
        query, grad, level = q[b, g, r, s, :], do[b, g, r, s, :], lse[b, g, r, s][:, None]
        dot = (widen(grad, q.dtype) * widen(o[b, g, r, s, :], q.dtype)).sum(axis=1)
        inner[b, g, r, s] = dot
        by, acc = widen(scale, q.dtype), initial_state(s, D, q.dtype)[2]
        edge = tp.maximum(past + s.start + 1, 0) // BT * BT
        for t in tp.tiles(C=BT, stop=edge):
            keys = k[b, g, t, :]
            _, change = change_of(query @ keys.T, grad @ v[b, g, t, :].T, level, dot[:, None], by * LOG2_E)
            acc = tp.mma(change.to(q.dtype), keys, acc)
        for t in tp.tiles(C=BT, start=edge, stop=tp.cdiv(past + s.stop, BT) * BT):
            keys, seen = k[b, g, t, :], past + s.elements[:, None] >= t.elements[None, :]
            _, change = change_of(query @ keys.T, grad @ v[b, g, t, :].T, level, dot[:, None], by * LOG2_E)
            acc = tp.mma(tp.where(seen, change, 0).to(q.dtype), keys, acc)
        dq[b, g, r, s, :] = acc * by


@tp.kernel(deny_checks=True)
def attention_backward_keys_kernel(
    dk: Out[T, "B G C D"], dv: Out[T, "B G C D"], do: In[T, "B G R S D"], q: In[T, "B G R S D"], k: In[T, "B G C D"],
    v: In[T, "B G C D"], lse: In[U, "B G R S"], inner: In[U, "B G R S"], scale: f64, past: i32, *,
    D: int, BS: int = 64, BT: int = 64,
) -> None:  # fmt: skip
    """The gradients of keys and values: each tile of keys meets all queries of the heads that share it."""
    for b, g, t in tp.parallel(B=tp.each, G=tp.each, C=BT):
        keys, values, by = k[b, g, t, :], v[b, g, t, :], widen(scale, q.dtype)
        to_keys, to_values = tp.zeros((t, D), by.dtype), tp.zeros((t, D), by.dtype)
        begin = tp.maximum(t.start - past, 0) // BS * BS
        edge = tp.cdiv(tp.maximum(t.stop - 1 - past, 0), BS) * BS
        for r in tp.tiles(R=tp.each):
            for s in tp.tiles(S=BS, start=begin, stop=edge):
                query, grad = q[b, g, r, s, :], do[b, g, r, s, :]
                seen = past + s.elements[None, :] >= t.elements[:, None]
                level, dot = lse[b, g, r, s][None, :], inner[b, g, r, s][None, :]
                weight, change = change_of(keys @ query.T, values @ grad.T, level, dot, by * LOG2_E)
                to_values = tp.mma(tp.where(seen, weight, 0).to(q.dtype), grad, to_values)
                to_keys = tp.mma(tp.where(seen, change, 0).to(q.dtype), query, to_keys)
            for s in tp.tiles(S=BS, start=edge):
                query, grad = q[b, g, r, s, :], do[b, g, r, s, :]
                level, dot = lse[b, g, r, s][None, :], inner[b, g, r, s][None, :]
                weight, change = change_of(keys @ query.T, values @ grad.T, level, dot, by * LOG2_E)
                to_values = tp.mma(weight.to(q.dtype), grad, to_values)
                to_keys = tp.mma(change.to(q.dtype), query, to_keys)
        dk[b, g, t, :], dv[b, g, t, :] = to_keys * by, to_values


def attention_backward(
    do: Any, q: Any, k: Any, v: Any, o: Any, lse: Any, *, causal: bool = True, scale: float | None = None,
    past: int | None = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The gradients of queries, keys and values, from that of the result and what `attention(..., lse=True)` gave.

    Keys and values that no query sees get zeros.

    Example:
        o, lse = tk.attention(q, k, v, lse=True)
        dq, dk, dv = tk.attention_backward(do, q, k, v, o, lse)
    """
    dq, dk, dv = (arrays.new(each, each.shape) for each in (q, k, v))
    queries, keys, values = group_queries(q, k), with_batch(k), with_batch(v)
    extents, shape = attention_sizes(queries, keys), tuple(queries.shape)
    inner = arrays.new(q, shape[:-1], sum_type_of(q))
    grads, levels = arrays.view(do, shape), arrays.view(lse, shape[:-1])
    rest = score_scale(scale, q), keys_before(past, causal, extents)
    is_wide = arrays.element_of(q).bits > 16
    of_queries = choose(WIDE_BACKWARD if is_wide else BACKWARD, q, **extents)
    of_keys = choose(WIDE_BACKWARD_KEYS if is_wide else BACKWARD_KEYS, q, **extents)
    seen = visible_keys(keys, rest[1] + shape[3]), visible_keys(values, rest[1] + shape[3])
    of_queries(arrays.view(dq, shape), inner, grads, queries, *seen, arrays.view(o, shape), levels, *rest)
    of_keys(with_batch(dk), with_batch(dv), grads, queries, keys, values, levels, inner, *rest)
    return dq, dk, dv


# Which kernel is launched.


def _backward(name: str, kernel: Kernel, elements: int) -> Tunable:
    """What is launched for elements of so many bytes, at most: tiles of f32 take more registers."""

    def default(sizes: Sizes, target: str) -> Choice:
        tile = 64 if target == "cpu" or (elements == 2 and sizes["D"] <= 128) else 32
        tiles = {"BS": covering(sizes["S"], 16, tile), "BT": covering(sizes["C"], 16, tile)}
        return Choice(kernel, tiles, Schedule(occupancy=2 if elements == 2 and sizes["D"] <= 128 else None))

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        if target == "cpu":
            yield from choices(kernel, "BS=64,BT=64 BS=32,BT=64 BS=64,BT=32 BS=64,BT=128 BS=128,BT=64")
        elif elements == 2:
            yield from choices(kernel, "BS=64,BT=64", *(Schedule(occupancy=each) for each in (1, 2)))
            yield from choices(kernel, "BS=64,BT=64", Schedule(occupancy=2, reverse=True))
            yield from choices(kernel, "BS=64,BT=128 BS=128,BT=64 BS=64,BT=64", Schedule(warps=8))
            yield from choices(kernel, "BS=32,BT=64 BS=64,BT=32 BS=32,BT=32", Schedule(), Schedule(occupancy=2))
        else:
            yield from choices(kernel, "BS=32,BT=32 BS=16,BT=32 BS=32,BT=16 BS=16,BT=16")

    return Tunable(name, (kernel,), default, space, exact=("R", "D"), scalars={"scale": 0.1, "past": 0})


BACKWARD: Final = _backward("attention_backward", attention_backward_kernel, 2)
BACKWARD_KEYS: Final = _backward("attention_backward_keys", attention_backward_keys_kernel, 2)
WIDE_BACKWARD: Final = _backward("wide_attention_backward", attention_backward_kernel, 8)
WIDE_BACKWARD_KEYS: Final = _backward("wide_attention_backward_keys", attention_backward_keys_kernel, 8)


# Forward.


def attend_keys(place: Any, query: Any, at: Any, k: Any, v: Any, span: Any, by: Any, tile: Any) -> Any:
    """What queries at some positions find among keys up to their own; the first and the last of them are a `span`.

    Keys up to that of the first query are seen by all, so only the tiles behind need a mask. Both walks begin and end
    at multiples of the tile: where it divides C, none of their tiles is short.
    """
    b, g = place
    state = initial_state(query.shape[0], query.shape[1], query.dtype)
    edge = tp.maximum(span[0] + 1, 0) // tile * tile
    for t in tp.tiles(("C", tile), stop=edge):
        state = softmax_step(state, query @ k[b, g, t, :].T, v[b, g, t, :], by)
    for t in tp.tiles(("C", tile), start=edge, stop=tp.cdiv(span[1], tile) * tile):
        seen = at[:, None] >= t.elements[None, :]
        state = softmax_step(state, tp.where(seen, query @ k[b, g, t, :].T, -tp.inf), v[b, g, t, :], by)
    return state


@tp.kernel(deny_checks=True)
def attention_kernel(
    o: Out[T, "B G R S D"], lse: Out[U, "B G R S"] | None, q: In[T, "B G R S D"], k: In[T, "B G C D"],
    v: In[T, "B G C D"], scale: f64, past: i32, *, D: int, BS: int = 64, BT: int = 128,
) -> None:  # fmt: skip
    """Query s of each of the R heads that share keys looks at the first past + s + 1 of them.

    `lse` is the log-sum-exp of the scores of each query.
    """
    for b, g, r, s in tp.parallel(B=tp.each, G=tp.each, R=tp.each, S=BS):
        at, by = past + s.elements, widen(scale, q.dtype) * LOG2_E
        state = attend_keys((b, g), q[b, g, r, s, :], at, k, v, (past + s.start, past + s.stop), by, BT)
        if lse is None:
            o[b, g, r, s, :] = weighted_mean(state)
        else:
            o[b, g, r, s, :], lse[b, g, r, s] = weighted_mean(state), log_sum_exp(state)


_PLAIN: Final = attention_kernel.without("lse")


@tp.kernel(deny_checks=True)
def attention_packed_kernel(
    o: Out[T, "B G R S D"], q: In[T, "B G R S D"], k: In[T, "B G C D"], v: In[T, "B G C D"], scale: f64, past: i32, *,
    R: int, D: int, BS: int = 16, BT: int = 128,
) -> None:  # fmt: skip
    """The same with the queries of all R heads that share keys as rows of one tile: for few queries."""
    for b, g, s in tp.parallel(B=tp.each, G=tp.each, S=BS):
        query, by = q[b, g, :, s, :].fill(0).reshape(R * BS, D), widen(scale, q.dtype) * LOG2_E
        at = past + s.start + tp.arange(R * BS) % BS
        state = attend_keys((b, g), query, at, k, v, (past + s.start, past + s.stop), by, BT)
        o[b, g, :, s, :] = weighted_mean(state).reshape(R, BS, D)


def attention(
    q: Any, k: Any, v: Any, *, causal: bool = True, scale: float | None = None, past: int | None = None,
    out: Any = None, lse: Any = False,
) -> Any:  # fmt: skip
    """Attention of queries (B H S D, or H S D) to keys and values (B G C D, or G C D), as q has its shape.

    With `causal`, query s sees the first past + s + 1 keys; `past` is C - S unless given, so that the last query sees
    all. Keys and values after those of the last query may be anything. Scores are multiplied by `scale`, 1 / sqrt(D)
    unless given. With `lse` the result is a pair: the logarithm of the sum of exp(score) of each query comes second, in
    f32 (f64 for f64), which `attention_backward` wants. `lse` is true or an array (B H S) to put it into.

    Example:
        o = tk.attention(q, k, v)
        o, lse = tk.attention(q, k, v, causal=False, lse=True)
    """
    output, queries = arrays.output_for(out, q, q.shape), group_queries(q, k)
    keys, values = with_batch(k), with_batch(v)
    shape, seen = tuple(queries.shape), keys_before(past, causal, attention_sizes(queries, keys))
    keys, values = visible_keys(keys, seen + shape[3]), visible_keys(values, seen + shape[3])
    extents, rest = attention_sizes(queries, keys), (queries, keys, values, score_scale(scale, q), seen)
    if lse is False:
        tunable = WIDE if arrays.element_of(q).bits > 16 else CAUSAL if causal else FULL
        choose(tunable, q, **extents)(arrays.view(output, shape), *rest)
        return output
    kept = arrays.output_for(None if lse is True else lse, q, q.shape[:-1], sum_type_of(q))
    tunable = WIDE_LSE if arrays.element_of(q).bits > 16 else LSE
    choose(tunable, q, **extents)(arrays.view(output, shape), arrays.view(kept, shape[:-1]), *rest)
    return output, kept


# Sequences that are packed one behind the other.


@tp.kernel(deny_checks=True)
def varlen_attention_kernel(
    o: Out[T, "T G R D"], q: In[T, "T G R D"], k: In[T, "U G D"], v: In[T, "U G D"],
    q_offsets: In[Offsets["T"], "N+1"], k_offsets: In[Offsets["U"], "N+1"], scale: f64, ahead: i32, *,
    D: int, BS: int = 64, BT: int = 128,
) -> None:  # fmt: skip
    """Sequence n has the queries from q_offsets[n] on and the keys from k_offsets[n] on; its last query sees all keys.

    The one before it sees one key less, and so on, and each sees `ahead` keys more.
    """
    for (n, t), g, r in tp.parallel(tp.segments(q_offsets, T=BS), G=tp.each, R=tp.each):
        query, state = q[t, g, r, :], initial_state(t, D, q.dtype)
        by, first = widen(scale, q.dtype) * LOG2_E, k_offsets[n]
        last: Any = k_offsets[n + 1]  # to type checkers entries are strings
        shift = last - q_offsets[n + 1] + ahead
        edge = first + tp.maximum(tp.minimum(t.start + shift + 1, last) - first, 0) // BT * BT
        for u in tp.tiles(U=BT, start=first, stop=edge):
            state = softmax_step(state, query @ k[u, g, :].T, v[u, g, :], by)
        for u in tp.tiles(U=BT, start=edge, stop=tp.minimum(t.stop + shift, last)):
            seen = t.elements[:, None] + shift >= u.elements[None, :]
            state = softmax_step(state, tp.where(seen, query @ k[u, g, :].T, -tp.inf), v[u, g, :], by)
        o[t, g, r, :] = weighted_mean(state)


def varlen_attention(
    q: Any, k: Any, v: Any, q_offsets: Any, k_offsets: Any, *, causal: bool = True, scale: float | None = None,
    out: Any = None,
) -> Any:  # fmt: skip
    """Attention within each of N sequences that are packed without padding: queries T H D, keys and values U G D.

    The queries of sequence n are those from q_offsets[n] to q_offsets[n + 1], its keys likewise; offsets begin with 0
    and end with T and U. With `causal` the last query of a sequence sees all its keys, the one before one less.

    Example:
        o = tk.varlen_attention(q, k, v, offsets, offsets)
    """
    output = arrays.output_for(out, q, q.shape)
    tokens, heads, depth = extents_of("q", q, "T H D")
    groups, rows = key_groups(heads, extents_of("k", k, "U G D")[1])
    shape = (tokens, groups, rows, depth)
    sizes = {"T": tokens, "G": groups, "R": rows, "D": depth, "U": int(k.shape[0]), "N": int(q_offsets.shape[0]) - 1}
    choice = choose(WIDE_VARLEN if arrays.element_of(q).bits > 16 else VARLEN, q, **sizes)
    ahead = 0 if causal else EVERY_KEY
    choice(arrays.view(output, shape), arrays.view(q, shape), k, v, q_offsets, k_offsets, score_scale(scale, q), ahead)
    return output


# Which kernel is launched.


def _tiles(kernel: Kernel, sizes: Sizes, rows: int, keys: int, schedule: Schedule = PLAIN) -> Choice:
    """Tiles of so many queries and keys, or less where there are fewer."""
    tiles = {"BS": covering(sizes["S"], 16, rows), "BT": covering(sizes["C"], 32, keys)}
    return Choice(kernel, tiles, schedule)


def _plain(kernel: Kernel, sizes: Sizes, target: str) -> Choice:
    if target == "cpu":  # the last tile of keys is computed whole: longer ones are mostly behind the queries
        return _tiles(kernel, sizes, 128, 128)
    if sizes["D"] > 128:
        return _tiles(kernel, sizes, 128, 64, Schedule(warps=8))
    return _tiles(kernel, sizes, 64, 128, Schedule(occupancy=2, persistent=sizes["S"] <= 2048))


def _causal(sizes: Sizes, target: str) -> Choice:
    if target == "cpu" or sizes["S"] > 32 or sizes["D"] > 128 or not _packs(sizes):
        return _plain(_PLAIN, sizes, target)
    rows = max(covering(sizes["R"] * sizes["S"], 16, 64) // sizes["R"], 1)
    tiles = {"BS": rows, "BT": covering(sizes["C"], 32, 128)}
    return Choice(attention_packed_kernel, tiles, Schedule(occupancy=2))


def _full(sizes: Sizes, target: str) -> Choice:
    if target == "cpu":
        return _tiles(_PLAIN, sizes, 64, 256)
    if sizes["D"] > 128 or sizes["S"] < 128:
        return _causal(sizes, target)
    return _tiles(_PLAIN, sizes, 128, 128, Schedule(cluster=2, occupancy=2))


def _wide(kernel: Kernel, sizes: Sizes, target: str) -> Choice:
    return _plain(kernel, sizes, target) if target == "cpu" else _tiles(kernel, sizes, 32, 32)


def _packs(sizes: Sizes) -> bool:
    """Whether several heads that share keys fill a tile together: powers of two do."""
    return sizes["R"] in (2, 4, 8, 16, 32, 64)


def _space(kernel: Kernel, sizes: Sizes, target: str) -> Iterator[Choice]:
    if target == "cpu":
        yield from choices(kernel, "BS=64,BT=256 BS=64,BT=128 BS=32,BT=256 BS=128,BT=256 BS=64,BT=512")
        return
    twice = Schedule(occupancy=2), Schedule(occupancy=2, persistent=True), Schedule(occupancy=2, reverse=True)
    eight = Schedule(warps=8), Schedule(warps=8, persistent=True), Schedule(warps=8, reverse=True)
    yield from choices(kernel, "BS=64,BT=128 BS=64,BT=64", *twice)
    yield from choices(kernel, "BS=128,BT=128 BS=128,BT=64", *eight)
    yield from choices(kernel, "BS=128,BT=128", Schedule(cluster=2, occupancy=2))
    if kernel is _PLAIN and _packs(sizes):
        for rows, schedules in ((64, twice), (128, eight)):
            yield from choices(attention_packed_kernel, f"BS={rows // sizes['R']},BT=128", *schedules)


def _wide_space(kernel: Kernel, sizes: Sizes, target: str) -> Iterator[Choice]:
    if target == "cpu":
        yield from _space(kernel, sizes, target)
    else:
        yield from choices(kernel, "BS=32,BT=32 BS=64,BT=32 BS=32,BT=64 BS=16,BT=32")


def _tunable(name: str, default: Any, space: Any, *kernels: Kernel, past: int = 0) -> Tunable:
    """One that is tuned with as many keys as queries."""
    return Tunable(name, kernels, default, space, exact=("R", "D"), scalars={"scale": 0.1, "past": past})


_BOTH: Final = (_PLAIN, attention_packed_kernel)
CAUSAL: Final = _tunable("attention", _causal, partial(_space, _PLAIN), *_BOTH)
FULL: Final = _tunable("full_attention", _full, partial(_space, _PLAIN), *_BOTH, past=EVERY_KEY)
WIDE: Final = _tunable("wide_attention", partial(_wide, _PLAIN), partial(_wide_space, _PLAIN), _PLAIN)
"""For f32 and f64, whose tiles take more registers."""
LSE: Final = _tunable(
    "attention_lse", partial(_plain, attention_kernel), partial(_space, attention_kernel), attention_kernel
)
WIDE_LSE: Final = _tunable(
    "wide_attention_lse", partial(_wide, attention_kernel), partial(_wide_space, attention_kernel), attention_kernel
)


def _varlen_default(sizes: Sizes, target: str) -> Choice:
    if target == "cpu":
        return _packed_tiles(sizes, 64, 256)
    return _packed_tiles(sizes, 64, 128 if sizes["D"] <= 128 else 64, Schedule(occupancy=2))


def _wide_varlen_default(sizes: Sizes, target: str) -> Choice:
    return _varlen_default(sizes, target) if target == "cpu" else _packed_tiles(sizes, 32, 32)


def _packed_tiles(sizes: Sizes, rows: int, keys: int, schedule: Schedule = PLAIN) -> Choice:
    tiles = {"BS": covering(sizes["T"], 16, rows), "BT": covering(sizes["U"], 32, keys)}
    return Choice(varlen_attention_kernel, tiles, schedule)


def _varlen_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    if target == "cpu":
        yield from choices(varlen_attention_kernel, "BS=64,BT=256 BS=64,BT=128 BS=32,BT=256")
        return
    yield from choices(
        varlen_attention_kernel, "BS=64,BT=128 BS=64,BT=64", Schedule(), Schedule(occupancy=2), Schedule(warps=8)
    )
    yield from choices(varlen_attention_kernel, "BS=128,BT=128 BS=128,BT=64", Schedule(warps=8))
    yield from choices(varlen_attention_kernel, "BS=32,BT=32 BS=32,BT=64")


def _alike(rng: Any, arguments: dict[str, Any]) -> None:
    """Sequences of equal lengths, about."""
    for name, tensor in (("q_offsets", "q"), ("k_offsets", "k")):
        borders = arguments[name]
        borders[...] = np.linspace(0, arguments[tensor].shape[0], len(borders)).astype(borders.dtype)


VARLEN: Final = Tunable(
    "varlen_attention", (varlen_attention_kernel,), _varlen_default, _varlen_space, exact=("R", "D"),
    scalars={"scale": 0.1, "ahead": 0}, inputs=_alike,
)  # fmt: skip
WIDE_VARLEN: Final = Tunable(
    "wide_varlen_attention", (varlen_attention_kernel,), _wide_varlen_default, _varlen_space, exact=("R", "D"),
    scalars={"scale": 0.1, "ahead": 0}, inputs=_alike,
)  # fmt: skip
TUNABLES: Final = (
    CAUSAL, FULL, WIDE, LSE, WIDE_LSE, VARLEN, WIDE_VARLEN,
    BACKWARD, BACKWARD_KEYS, WIDE_BACKWARD, WIDE_BACKWARD_KEYS,
)  # fmt: skip
