"""The gradients of attention. Nothing is added up by several programs, so results repeat exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Kernel, Out, Schedule, T, U, f64, i32
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import chosen
from .weighing import LOG2_E, batched, blank, covering, first, grouped, scale_of, seen_before, sizes_of, wide, wide_type


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
        dot = (wide(grad, q.dtype) * wide(o[b, g, r, s, :], q.dtype)).sum(axis=1)
        inner[b, g, r, s] = dot
        by, acc = wide(scale, q.dtype), blank(s, D, q.dtype)[2]
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
        keys, values, by = k[b, g, t, :], v[b, g, t, :], wide(scale, q.dtype)
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
    queries, keys, values = grouped(q, k), batched(k), batched(v)
    extents, shape = sizes_of(queries, keys), tuple(queries.shape)
    inner = arrays.new(q, shape[:-1], wide_type(q))
    grads, levels = arrays.view(do, shape), arrays.view(lse, shape[:-1])
    rest = scale_of(scale, q), seen_before(past, causal, extents)
    is_wide = arrays.element_of(q).bits > 16
    of_queries = chosen(WIDE_BACKWARD if is_wide else BACKWARD, q, **extents)
    of_keys = chosen(WIDE_BACKWARD_KEYS if is_wide else BACKWARD_KEYS, q, **extents)
    seen = first(keys, rest[1] + shape[3]), first(values, rest[1] + shape[3])
    of_queries(arrays.view(dq, shape), inner, grads, queries, *seen, arrays.view(o, shape), levels, *rest)
    of_keys(batched(dk), batched(dv), grads, queries, keys, values, levels, inner, *rest)
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
