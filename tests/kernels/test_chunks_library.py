"""Attention of rows that follow each other against float64, against `attend_prompt`, and from their product."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from chunks_cases import cases, row_by_row, turned_row_by_row
from hypothesis import given, settings
from hypothesis import strategies as st
from library import Case, assert_close, assert_right, results
from new_tokens_cases import angles
from tileir_computing import has_assembler

import tileproof as tp
import tileproof.kernels as tk
from tileproof.kernels import arrays
from tileproof.kernels.chunks import TUNABLES, attend_chunk, norm_rope_attend
from tileproof.kernels.positions import append_layers
from tileproof.kernels.ragged import attend_prompt
from tileproof.runtime.ahead import Launch, compile_all, plan_launch, stand_in

CASES = cases()


def named(every: list[Case]) -> Any:
    return pytest.mark.parametrize("case", every, ids=[each.name for each in every])


def some(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def number(value: int) -> Any:
    return np.array([value], np.int32)


def piece(first: int, count: int) -> list[Any]:
    """Rows of a sequence of five pages of 8 places."""
    table = np.array([3, 1, 6, 9, 0], np.int32)
    pages = some(10, 2, 8, 16, seed=1), some(10, 2, 8, 16, seed=2)
    return [some(count, 4, 16), *pages, table, number(first), number(first + count)]


def product(first: int, count: int) -> list[Any]:
    """The same as they come from their product, normalised."""
    _, *rest, start, used = piece(first, count)
    own = (each[first:] for each in angles(first + count, 16))
    return [some(count, 8 * 16), *rest, *own, start, used, some(16, seed=3)]


@named(CASES)
def test_rows_get_on_the_cpu_what_float64_says(case: Case) -> None:
    assert_right(case, "cpu")


@named([each for each in CASES if each.on_interpreter][::3])
def test_rows_get_on_the_interpreter_what_float64_says(case: Case) -> None:
    assert_right(case, "interpreter")


@named([each for each in CASES if each.on_gpu and each.on_interpreter])
def test_the_choices_for_a_gpu_give_what_float64_says(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter")


def test_two_calls_give_the_same_bits() -> None:
    for case in (CASES[1], CASES[5]):
        assert [one.tobytes() for one in results(case, "cpu")] == [one.tobytes() for one in results(case, "cpu")]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 30), st.integers(1, 20))
def test_rows_that_follow_each_other_get_what_a_prompt_gets(first: int, count: int) -> None:
    q, keys, values, table, start, used = piece(first, min(count, 40 - first))
    positions = first + np.arange(len(q), dtype=np.int32)
    found = attend_chunk(q, keys, values, table, start, used)
    assert_close(found, attend_prompt(q, keys, values, table, positions).astype(np.float64))


def test_rows_behind_what_is_in_use_see_all_of_it_and_nothing_else() -> None:
    q, keys, values, table, start, _ = piece(13, 12)
    q[:], used = q[0], number(17)
    for pages in (keys, values):
        pages[table[2], :, 1:] = pages[table[3:]] = np.nan
    found = attend_chunk(q, keys, values, table, start, used)
    assert (found[4:] == found[3]).all()
    assert not (found[2] == found[3]).all()


@pytest.mark.parametrize("has_norm", [True, False])
def test_queries_from_a_product_are_what_an_append_of_all_gives(has_norm: bool) -> None:
    qkv, keys, values, table, cos, sin, start, used, norm = product(9, 20)
    norms = (norm, some(16, seed=4)) if has_norm else ()
    positions, slots = np.arange(20, dtype=np.int32), table[np.arange(9, 29) // 8] * 8 + np.arange(9, 29) % 8
    own_keys, own_values = keys.copy(), values.copy()
    q = tk.norm_rope_append(qkv, own_keys, own_values, cos, sin, positions, slots, *norms)
    append_layers(qkv[None], keys[None], values[None], cos, sin, positions, slots, *(each[None] for each in norms[1:]))
    np.testing.assert_array_equal(keys, own_keys)
    found = norm_rope_attend(qkv, keys, values, table, cos, sin, start, used, *norms[:1])
    assert_close(found, attend_chunk(q, keys, values, table, start, used).astype(np.float64))


def test_a_graph_is_replayed_for_the_next_piece() -> None:
    own, turned = piece(0, 8), product(0, 8)
    one, two = [tp.from_numpy(each) for each in own], [tp.from_numpy(each) for each in turned]
    made, other = tp.empty((8, 4, 16)), tp.empty((8, 4, 16))
    with tp.Graph() as graph:
        attend_chunk(*one, out=made)
        norm_rope_attend(*two, out=other)
    for first in (0, 8, 29):
        for tensors, given_, at in ((one, own, 4), (two, turned, 6)):
            tensors[at][:], tensors[at + 1][:] = number(first), number(first + 8)
            given_[at : at + 2] = number(first), number(first + 8)
        graph.replay()
        assert_close(made.numpy().copy(), row_by_row(*own))
        assert_close(other.numpy().copy(), turned_row_by_row(*turned))


def test_nan_stays_with_its_row_and_head_and_with_rows_that_see_it() -> None:
    q, keys, values, table, start, used = piece(6, 4)
    q[1, 0, 0], values[table[0], 1, 2, 5] = np.nan, np.nan
    found = np.isnan(attend_chunk(q, keys, values, table, start, used))
    assert found[:, 2:].sum(axis=2).tolist() == [[1, 1]] * 4
    assert found[:, :2].any(axis=2).tolist() == [[False, False], [True, False], [False, False], [False, False]]


def test_out_is_written_and_returned() -> None:
    out = np.empty((4, 4, 16), np.float32)
    assert attend_chunk(*piece(6, 4), out=out) is out
    assert_close(out, row_by_row(*piece(6, 4)))
    assert norm_rope_attend(*product(6, 4), out=out) is out
    assert_close(out, turned_row_by_row(*product(6, 4)))


@pytest.mark.parametrize("tunable", TUNABLES, ids=lambda each: each.name)
def test_choices_are_of_its_kernel(tunable: Any) -> None:
    sizes = {"T": 512, "G": 8, "R": 2, "D": 128, "P": 64, "S": 64, "L": 32}
    for target in ("cpu", "sm_90"):
        every = [tunable.default(sizes, target), *tunable.space(sizes, target)]
        assert {each.kernel for each in every} == set(tunable.kernels)
        assert len({each.label for each in every[1:]}) == len(every) - 1


def test_trials_of_the_tuner_use_whole_caches() -> None:
    names = ("q", "k", "v", "table", "start", "used")
    arguments = dict(zip(names, piece(0, 4), strict=True))
    assert TUNABLES[0].inputs is not None
    TUNABLES[0].inputs(np.random.default_rng(0), arguments)
    assert (arguments["start"][0], arguments["used"][0]) == (36, 40)
    assert ((arguments["table"] >= 0) & (arguments["table"] < 10)).all()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({0: some(5, 1, 4, 16)}, "pass an array of 3 axes"),
        ({0: some(5, 3, 16)}, "pass as many query heads as key heads"),
        ({3: np.zeros((1, 5), np.int32)}, "pass an array of 1 axes"),
        ({3: np.full(5, 10, np.int32)}, "table"),
        ({4: np.zeros(2, np.int32)}, "start"),
        ({5: np.zeros(1, np.int64)}, "used"),
    ],
)
def test_a_refusal_names_what_is_wrong(change: dict[int, Any], word: str) -> None:
    given_ = piece(6, 5)
    for place, other in change.items():
        given_[place] = other
    with pytest.raises(tp.LaunchError) as caught:
        attend_chunk(*given_)
    assert word in str(caught.value)


@pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
def test_the_assembler_keeps_tiles_of_prompts_in_registers() -> None:
    rows, pages, sharing = 512, 8, 4
    narrow, whole, single = np.dtype(ml_dtypes.bfloat16), np.dtype(np.int32), np.dtype(np.float32)
    rows_of, pages_of = (rows, 8, sharing, 128), (pages, 8, 64, 128)
    o, q, k, v = (stand_in(shape, narrow) for shape in (rows_of, rows_of, pages_of, pages_of))
    turning = [stand_in((128,), narrow), *(stand_in((rows, 64), single) for _ in range(2))]
    rest = [k, v, stand_in((pages,), whole), stand_in((1,), whole), stand_in((1,), whole), 0.1]
    sizes = {"T": rows, "G": 8, "R": sharing, "D": 128, "P": pages, "S": 64, "L": pages}
    given = {"attend_chunk": [o, q, *rest], "norm_rope_attend": [o, q, *turning, *rest, 1e-6]}
    plans = []
    for tunable in TUNABLES:
        if tunable.name in given:
            choice = tunable.choose("sm_90", "bf16", sizes)
            launch = Launch(tunable.name, choice.launched, given[tunable.name], dict(choice.constants))
            plans.append(plan_launch(launch, ["sm_90"]))
    for made in compile_all(plans):
        assert hasattr(made.outcome, "resources"), made.outcome
        assert [each.spill_bytes for each in made.outcome.resources] == [0]
