"""Mistakes that engines are known for: each, made on purpose, must be seen by the comparison with the reference.

A mutant replaces an operation of the step, unfused and launched one by one, or a weight, or a function of the host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from engines import decoded_logits, engine_of, model_weights
from model_cases import Case, by_name, kept, key
from reference_model import assert_as_near_as, reference_logits

import tileproof as tp
import tileproof.kernels as tk
from tileproof.llm import LLM, SamplingParams, generating, ops

QWEN, LLAMA, FAINT = by_name("qwen3, tied"), by_name("llama, untied"), by_name("llama, faint")
SPLIT = 64
"""Places in a page."""
COUNT = 90
"""Tokens of a text: more than a page."""


@cache
def expected(case: Case) -> Any:
    return reference_logits(case.config, case.weights, case.tokens(COUNT))[:, : case.config.tokens]


def unfused(case: Case, device: str, change: Callable[[Any], Any] = lambda weights: weights) -> LLM:
    """An engine whose operations are those of `ops`, looked up when a step is made."""
    weights = change(model_weights(case.config, case.weights, device))
    return LLM.of(case.config, weights, device=device, max_seq_len=192, max_batch=1, fusions=(), is_graph=False)


def check(llm: LLM, case: Case, path: str) -> None:
    """The comparison that the engine itself passes."""
    tokens = case.tokens(COUNT)
    got = llm.logits(tokens) if path == "prompt" else decoded_logits(llm, tokens)
    assert_as_near_as(got, expected(case), kept(case)[1])


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("case", "path"), [(QWEN, "prompt"), (QWEN, "single tokens"), (LLAMA, "prompt"), (LLAMA, "single tokens"),
                       (FAINT, "prompt")],
    ids=lambda value: value if isinstance(value, str) else key(value),
)  # fmt: skip
def test_without_a_mutant_the_comparison_holds(case: Case, path: str, device: str) -> None:
    check(unfused(case, device), case, path)


# Mutants of operations: each takes what the operation takes.


def turned_by_one_more(q: Any, x: Any, cos: Any, sin: Any, positions: Any, heads: int) -> None:
    PLAIN["turn"](q, x, moved(cos), moved(sin), positions, heads)


def keys_turned_by_one_more(
    turned: Any, x: Any, keys: Any, values: Any, cos: Any, sin: Any, *rest: Any
) -> None:
    PLAIN["append"](turned, x, keys, values, moved(cos), moved(sin), *rest)


def moved(table: Any) -> Any:
    """Angles of the next position."""
    rows = table.numpy()
    return tp.asarray(np.concatenate([rows[1:], rows[-1:]]), table.device)


def without_eps(y: Any, x: Any, weight: Any, eps: float) -> None:
    PLAIN["norm"](y, x, weight, 0.0)


def without_norm_of_keys(y: Any, x: Any, q_norm: Any, k_norm: Any, eps: float, heads: int, groups: int) -> None:
    PLAIN["head_norms"](y, x, q_norm, k_norm, eps, heads, groups)
    depth = q_norm.shape[0]
    keys = slice(heads * depth, (heads + groups) * depth)
    tk.copy(x[:, keys], out=y[:, keys])


def norm_across_heads(y: Any, x: Any, q_norm: Any, k_norm: Any, eps: float, heads: int, groups: int) -> None:
    PLAIN["head_norms"](y, x, q_norm, k_norm, eps, heads, groups)
    depth = q_norm.shape[0]
    rows = x.numpy().astype(np.float32)[:, : heads * depth]
    rows = rows / np.sqrt((rows**2).mean(axis=1, keepdims=True) + eps) * np.tile(q_norm.numpy(), heads)
    y[:, : heads * depth].copy_from(rows.astype(ml_dtypes.bfloat16))


def heads_by_remainder(name: str) -> Callable[..., None]:
    """Head h reads group h % G, not h // (H / G)."""

    def mutant(o: Any, q: Any, keys: Any, values: Any, *rest: Any) -> None:
        depth, groups = keys.shape[3], keys.shape[1]
        rows = q.numpy()
        heads = rows.shape[1] // depth
        order = np.argsort(np.arange(heads) % groups, kind="stable")
        mixed = rows.reshape(-1, heads, depth)[:, order].reshape(rows.shape)
        PLAIN[name](o, tp.asarray(np.ascontiguousarray(mixed), q.device), keys, values, *rest)
        back = o.numpy().reshape(-1, heads, depth)[:, np.argsort(order)].reshape(rows.shape)
        o.copy_from(np.ascontiguousarray(back))

    return mutant


def blind_to_the_last(o: Any, q: Any, keys: Any, values: Any, table: Any, used: Any) -> None:
    """The cache is read up to one place too few."""
    PLAIN["attend"](o, q, keys, values, table, tp.asarray(np.maximum(used.numpy() - 1, 1), q.device))


def rows_blind_to_themselves(
    o: Any, q: Any, keys: Any, values: Any, table: Any, blocks: Any, owners: Any, positions: Any
) -> None:
    before = tp.asarray(np.maximum(positions.numpy() - 1, 0), q.device)
    PLAIN["attend_rows"](o, q, keys, values, table, blocks, owners, before)


def counted(places: int, like: Any) -> Any:
    """How many places of the cache the one text uses."""
    return tp.asarray(np.array([places], np.int32), like.device)


def merged_without_weights(o: Any, q: Any, keys: Any, values: Any, table: Any, used: Any) -> None:
    """Two parts of the cache are averaged, whatever share of the attention each has."""
    (count,) = used.numpy().tolist()
    PLAIN["attend"](o, q, keys, values, table, counted(min(count, SPLIT), q))
    if count > SPLIT:
        first = o.numpy().astype(np.float32)
        rest = tp.asarray(np.ascontiguousarray(table.numpy()[:, 1:]), q.device)
        PLAIN["attend"](o, q, keys, values, rest, counted(count - SPLIT, q))
        o.copy_from(((first + o.numpy().astype(np.float32)) / 2).astype(ml_dtypes.bfloat16))


def without_the_last_part(o: Any, q: Any, keys: Any, values: Any, table: Any, used: Any) -> None:
    """One part of the cache too few."""
    (count,) = used.numpy().tolist()
    parts = max(-(-count // SPLIT) - 1, 1)
    PLAIN["attend"](o, q, keys, values, table, counted(min(count, parts * SPLIT), q))


def gate_and_up_swapped(y: Any, x: Any) -> None:
    rows = x.numpy()
    half = rows.shape[1] // 2
    PLAIN["silu_mul"](y, tp.asarray(np.concatenate([rows[:, half:], rows[:, :half]], axis=1), x.device))


def residual_of_the_norm(z: Any, x: Any, y: Any) -> None:
    """What a layer adds goes to the normalised stream."""
    rows = x.numpy().astype(np.float32)
    rows = rows / np.sqrt((rows**2).mean(axis=1, keepdims=True) + 1e-6)
    PLAIN["add"](z, tp.asarray(rows.astype(ml_dtypes.bfloat16), x.device), y)


PLAIN: dict[str, Callable[..., None]] = {
    name: getattr(ops, name)
    for name in ("norm", "head_norms", "append", "turn", "attend", "attend_rows", "add", "silu_mul")
}
BOTH = ("prompt", "single tokens")
MUTANTS = [
    ("turn", turned_by_one_more, QWEN, BOTH),
    ("append", keys_turned_by_one_more, LLAMA, BOTH),
    ("norm", without_eps, FAINT, BOTH[:1]),
    ("head_norms", without_norm_of_keys, QWEN, BOTH[:1]),
    ("head_norms", norm_across_heads, QWEN, BOTH[:1]),
    ("attend", heads_by_remainder("attend"), LLAMA, BOTH[1:]),
    ("attend_rows", heads_by_remainder("attend_rows"), LLAMA, BOTH[:1]),
    ("attend", blind_to_the_last, QWEN, BOTH[1:]),
    ("attend_rows", rows_blind_to_themselves, QWEN, BOTH[:1]),
    ("attend", merged_without_weights, QWEN, BOTH[1:]),
    ("attend", without_the_last_part, QWEN, BOTH[1:]),
    ("silu_mul", gate_and_up_swapped, LLAMA, BOTH[:1]),
    ("add", residual_of_the_norm, QWEN, BOTH[:1]),
]


@pytest.mark.sweep(8)
@pytest.mark.parametrize(
    ("name", "mutant", "case", "path"),
    [(name, mutant, case, path) for name, mutant, case, paths in MUTANTS for path in paths],
    ids=lambda value: getattr(value, "__name__", value if isinstance(value, str) else "case"),
)
def test_a_wrong_operation_is_seen(
    name: str, mutant: Callable[..., None], case: Case, path: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ops, name, mutant)
    llm = unfused(case, device)
    with pytest.raises(AssertionError, match="is further than"):
        check(llm, case, path)


# Mutants of weights and of the host.


def test_a_transposed_output_matrix_is_seen(device: str) -> None:
    def transposed(weights: Any) -> Any:
        layers = []
        for layer in weights.layers:
            rows = np.ascontiguousarray(layer.output.values.numpy().T)
            layers.append(replace(layer, output=replace(layer.output, values=tp.asarray(rows, device))))
        return replace(weights, layers=tuple(layers))

    assert LLAMA.config.heads * LLAMA.config.depth == LLAMA.config.width, "the shapes would tell"
    with pytest.raises(AssertionError, match="is further than"):
        check(unfused(LLAMA, device, transposed), LLAMA, "prompt")


def test_an_engine_that_knows_one_end_token_is_seen(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = generating.ends_of

    def ended(end: int) -> bool:
        llm = engine_of(QWEN, device, max_seq_len=192, max_batch=1)
        params = SamplingParams(max_new_tokens=2, logit_bias={end: 1e4})
        return llm.generate(QWEN.tokens(9), params).finish == "stop"

    assert all(ended(end) for end in QWEN.config.eos)
    monkeypatch.setattr(generating, "ends_of", lambda params, ends: plain(params, ends[:1]))
    assert not all(ended(end) for end in QWEN.config.eos)
