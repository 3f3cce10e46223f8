"""Online softmax: what the kernels of attention share as tiles of keys and values come by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import tileproof as tp
from tileproof.diagnostics.codes import Code

from . import arrays
from .numerics import accumulator, wide

LN_2: Final = 0.6931471805599453
LOG2_E: Final = 1.4426950408889634
EVERY_KEY: Final = 1 << 30
"""A number of keys before the first query with which every query sees all."""


# In kernels.


def widen(x: Any, dtype: Any) -> Any:
    """A number in the type that results of an element type are computed in."""
    return x.to(accumulator(dtype))


def initial_state(rows: Any, depth: Any, dtype: Any) -> Any:
    """Nothing seen yet: greatest score, total weight and weighted sum of the values.

    The greatest is not -inf: two that have seen nothing would make NaN of their difference.
    """
    kind = accumulator(dtype)
    return tp.full((rows,), tp.lowest, kind), tp.zeros((rows,), kind), tp.zeros((rows, depth), kind)


def softmax_step(state: Any, scores: Any, values: Any, scale: Any) -> Any:
    """The state after one more tile of keys. `scale` is for powers of 2, and above 0."""
    top, total, acc = state
    new = tp.maximum(top, scores.max(axis=1) * scale)
    weight, fade = tp.exp2(scores * scale - new[:, None]), tp.exp2(top - new)
    return new, total * fade + weight.sum(axis=1), acc * fade[:, None] + weight.to(values.dtype) @ values


def weighted_mean(state: Any) -> Any:
    """The weighted mean of the values. One quotient for each row: a tile of them takes two more products each."""
    _, total, acc = state
    return acc * tp.where(total == 0, 0, 1.0 / total)[:, None]


def log_sum_exp(state: Any) -> Any:
    """The logarithm of the sum of exp(score)."""
    top, total, _ = state
    return (top + tp.log2(total)) * LN_2


def softmax_step_columns(state: Any, scores: Any, values: Any, scale: Any) -> Any:
    """`softmax_step` of a state that lies on its side: a column for each query."""
    top, total, acc = state
    new = tp.maximum(top, scores.max(axis=0) * scale)
    weight, fade = tp.exp2(scores * scale - new[None, :]), tp.exp2(top - new)
    return new, total * fade + weight.sum(axis=0), acc * fade[None, :] + values.T @ weight.to(values.dtype)


def softmax_step_by_sums(state: Any, queries: Any, keys: Any, values: Any, scale: Any) -> Any:
    """`softmax_step` for few queries, by sums instead of products, which pack what they multiply.

    Weights are not rounded. Values stand before weights, whose neighbours are not neighbours in memory.
    """
    top, total, acc = state
    scores = (wide(keys)[None, :, :] * queries[:, None, :]).sum(axis=2)
    new = tp.maximum(top, scores.max(axis=1) * scale)
    weight, fade = tp.exp2(scores * scale - new[:, None]), tp.exp2(top - new)
    found = (wide(values)[None, :, :] * weight[:, :, None]).sum(axis=1)
    return new, total * fade + weight.sum(axis=1), acc * fade[:, None] + found


def merge_states(one: Any, two: Any) -> Any:
    """The state of two pieces together."""
    (top_one, total_one, acc_one), (top_two, total_two, acc_two) = one, two
    top = tp.maximum(top_one, top_two)
    fade_one, fade_two = tp.exp2(top_one - top), tp.exp2(top_two - top)
    total = total_one * fade_one + total_two * fade_two
    return top, total, acc_one * fade_one[:, None] + acc_two * fade_two[:, None]


# On the host.


def score_scale(scale: float | None, q: Any) -> float:
    """What scores are multiplied by. It is above 0: kernels take the greatest score before they multiply."""
    if scale is None:
        return 1.0 / math.sqrt(max(int(q.shape[-1]), 1))
    if not scale > 0:
        raise arrays.launch_error(
            Code.CONTRACT, f"`scale` is {scale}, and scores are multiplied by something above 0", "negate `q` instead"
        )
    return float(scale)


def key_groups(heads: int, groups: int) -> tuple[int, int]:
    """How many groups of heads share keys, and how many heads each has."""
    if groups == 0 or heads % groups:
        raise arrays.launch_error(
            Code.DIMENSION_DIFFERS,
            f"{heads} heads of queries cannot share {groups} heads of keys equally",
            "pass as many query heads as key heads, or a multiple",
        )
    return groups, heads // groups


def with_batch(array: Any) -> Any:
    """Keys or values with an axis of sequences."""
    return arrays.view(array, (1, *array.shape)) if len(array.shape) == 3 else array


def group_queries(q: Any, k: Any) -> Any:
    """Queries as B G R S D: the R heads that share keys lie next to each other."""
    if len(q.shape) not in (3, 4) or len(k.shape) != len(q.shape):
        raise arrays.launch_error(
            Code.ARGUMENT_RANK,
            f"queries of shape {tuple(q.shape)} do not look at keys of shape {tuple(k.shape)}",
            "pass both as B H S D (sequences, heads, positions, depth), or both as H S D",
        )
    *batch, heads, length, depth = q.shape
    return arrays.view(q, (batch[0] if batch else 1, *key_groups(heads, k.shape[-3]), length, depth))


def attention_sizes(queries: Any, keys: Any) -> dict[str, int]:
    """The extents by which a kernel is chosen."""
    extents = dict(zip("BGRSD", map(int, queries.shape), strict=True))
    return {**extents, "C": int(keys.shape[2])}


def keys_before(past: int | None, causal: bool, extents: Mapping[str, int]) -> int:
    """How many keys the first query sees besides its own."""
    if not causal:
        return EVERY_KEY
    return extents["C"] - extents["S"] if past is None else past


def visible_keys(array: Any, keys: int) -> Any:
    """Keys or values (B G C D) without those that no query sees: whatever they are, they would spoil a sum."""
    return array if keys >= array.shape[2] else array[:, :, : max(keys, 0)]


def extents_of(name: str, array: Any, axes: str) -> tuple[int, ...]:
    """The extents of an array that must have these axes."""
    if len(array.shape) != len(axes.split()):
        raise arrays.launch_error(
            Code.ARGUMENT_RANK,
            f"`{name}` has shape {tuple(array.shape)}, and its axes are {axes}",
            f"pass an array of {len(axes.split())} axes",
        )
    return tuple(map(int, array.shape))
