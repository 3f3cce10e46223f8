"""Attention of the rows of a step against float64, against `paged_attention`, and whatever else is in the step."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.paged_prefill import blocks_of, cases, one_by_one
from oracles.tile_ir_operations import has_assembler
from support.library import Case, assert_close, assert_right, results
from support.tiers import examples
from tileproof.kernels.kv_cache import paged_attention
from tileproof.kernels.paged_prefill import PROMPT, ROWS, WIDE_PROMPT, prefill_attention, ragged_attention
from tileproof.runtime.launch.ahead_of_time import Launch, compile_all, plan_launch, stand_in

CASES = cases()


def named(every: list[Case]) -> Any:
    return pytest.mark.parametrize("case", every, ids=[each.name for each in every])


def some(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def step_of(chunks: Any, size: int = 4) -> tuple[list[Any], Any]:
    """Arguments of a call with two sequences of up to five pages of 8 places, and an array for the result."""
    rows, sequence, positions, count = blocks_of(chunks, size)
    table = np.array([[3, 1, 6, 9, 0], [2, 8, 4, 5, 7]], np.int32)
    pages = some(10, 2, 8, 16, seed=1), some(10, 2, 8, 16, seed=2)
    return [some(count, 4, 16), *pages, table, rows, sequence, positions], np.zeros((count, 4, 16), np.float32)


@pytest.mark.sweep(3)
@named(CASES)
def test_a_step_gives_on_the_cpu_what_float64_says(case: Case) -> None:
    assert_right(case, "cpu")


@named([each for each in CASES if each.on_interpreter][::3])
def test_a_step_gives_on_the_interpreter_what_float64_says(case: Case) -> None:
    assert_right(case, "interpreter")


@pytest.mark.slow
def test_two_calls_give_the_same_bits() -> None:
    for case in CASES[:3]:
        assert [one.tobytes() for one in results(case, "cpu")] == [one.tobytes() for one in results(case, "cpu")]


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.integers(0, 39), min_size=1, max_size=6), st.integers(0, 1))
def test_blocks_of_one_row_give_what_paged_attention_gives(places: list[int], first: int) -> None:
    given_, out = step_of([((first + n) % 2, place, 1) for n, place in enumerate(places)], 1)
    q, keys, values, table, _, sequence, positions = given_
    found = ragged_attention(*given_, out=out)
    assert_close(found, paged_attention(q, keys, values, table[sequence], positions + 1).astype(np.float64))


def test_a_row_does_not_depend_on_other_blocks() -> None:
    chunks = [(0, 17, 6), (1, 30, 1), (0, 23, 2)]
    given_, out = step_of(chunks)
    together = ragged_attention(*given_, out=out).copy()
    q, rows, sequence, positions = given_[0], given_[4], given_[5], given_[6]
    for block in range(len(rows)):
        own = [q, *given_[1:4], rows[block : block + 1], sequence[block : block + 1], positions]
        alone = ragged_attention(*own, out=np.zeros_like(out))
        mine = rows[block][rows[block] >= 0]
        assert alone[mine].tobytes() == together[mine].tobytes()


def test_nan_stays_with_its_row_and_head_and_with_rows_that_see_it() -> None:
    given_, out = step_of([(0, 6, 4), (1, 3, 2)])
    q, values, table = given_[0], given_[2], given_[3]
    q[1, 0, 0] = np.nan
    values[table[1, 0], 1, 2, 5] = np.nan
    found = np.isnan(ragged_attention(*given_, out=out))
    assert found.any(axis=2).tolist() == [
        [False] * 4, [True, False, False, False], [False] * 4, [False] * 4, [False, False, True, True],
        [False, False, True, True],
    ]  # fmt: skip
    assert found[4, 2].sum() == 1


def test_a_graph_is_replayed_as_positions_move_on() -> None:
    given_, out = step_of([(0, 6, 4), (1, 3, 1)])
    tensors, made = [tp.from_numpy(each) for each in given_], tp.from_numpy(out)
    with tp.Graph() as graph:
        ragged_attention(*tensors, out=made)
    for ahead in (0, 9, 20):
        places = given_[6] + ahead
        tensors[6][:] = places
        graph.replay()
        assert_close(made.numpy().copy(), one_by_one(*given_[:6], places, out=out))


@pytest.mark.parametrize("tunable", [ROWS, PROMPT, WIDE_PROMPT], ids=lambda each: each.name)
def test_choices_are_of_its_kernel(tunable: Any) -> None:
    sizes = {"T": 512, "G": 8, "R": 2, "D": 128, "P": 64, "S": 64, "L": 32, "N": 8, "B": 16, "M": 32}
    for target in ("cpu", "sm_90"):
        every = [tunable.default(sizes, target), *tunable.space(sizes, target)]
        assert {each.kernel for each in every} == set(tunable.kernels)
        assert len({each.label for each in every[1:]}) == len(every) - 1


@settings(max_examples=examples(15), deadline=None)
@given(st.integers(0, 30), st.integers(1, 20))
def test_a_prompt_gives_what_its_rows_give_in_blocks(first: int, count: int) -> None:
    given_, out = step_of([(1, first, min(count, 40 - first))])
    q, keys, values, table, _, _, positions = given_
    found = prefill_attention(q, keys, values, table[1], positions)
    assert_close(found, ragged_attention(*given_, out=out).astype(np.float64))


def test_a_graph_of_a_prompt_is_replayed_for_the_next_piece() -> None:
    (q, keys, values, table, _, _, positions), out = step_of([(0, 0, 8)])
    given_ = [tp.from_numpy(each) for each in (q, keys, values, table[0], positions)]
    made = tp.from_numpy(out)
    with tp.Graph() as graph:
        prefill_attention(*given_, out=made)
    for first in (0, 8, 29):
        given_[4][:] = positions + first
        graph.replay()
        rows, sequence = np.arange(8)[None], np.zeros(1, int)
        want = one_by_one(q, keys, values, table[:1], rows, sequence, positions + first, out=out)
        assert_close(made.numpy().copy(), want)


def test_trials_of_the_tuner_are_launches_that_are_right() -> None:
    given_, out = step_of([(0, 6, 9), (1, 3, 4)])
    names = ("q", "k", "v", "table", "rows", "sequence", "positions")
    assert ROWS.inputs is not None
    ROWS.inputs(np.random.default_rng(0), dict(zip(names, given_, strict=True)))
    assert_close(ragged_attention(*given_, out=out), one_by_one(*given_, out=out))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({0: some(5, 1, 4, 16)}, "pass an array of 3 axes"),
        ({0: some(5, 3, 16)}, "pass as many query heads as key heads"),
        ({3: np.zeros(5, np.int32)}, "pass an array of 2 axes"),
        ({3: np.full((2, 5), 10, np.int32)}, "table"),
        ({4: np.array([[0, 0, 1, 2], [3, 4, -1, -1]], np.int32)}, "rows"),
        ({5: np.array([0, 2], np.int32)}, "sequence"),
        ({6: np.zeros(4, np.int32)}, "T"),
    ],
)
def test_a_refusal_names_what_is_wrong(change: dict[int, Any], word: str) -> None:
    given_, out = step_of([(0, 6, 4), (1, 3, 1)])
    for place, other in change.items():
        given_[place] = other
    with pytest.raises(tp.LaunchError) as caught:
        ragged_attention(*given_, out=np.zeros(given_[0].shape, np.float32) if 0 in change else out)
    assert word in str(caught.value)


@pytest.mark.slow
@pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
@pytest.mark.parametrize("rows", [64, 70])
def test_the_assembler_takes_prompts_of_any_number_of_rows(rows: int) -> None:
    narrow, whole = np.dtype(ml_dtypes.bfloat16), np.dtype(np.int32)
    rows_of, pages_of = (rows, 2, 4, 128), (40, 2, 64, 128)
    floats = [stand_in(shape, narrow) for shape in (rows_of, rows_of, pages_of, pages_of)]
    sizes = {"T": rows, "G": 2, "R": 4, "D": 128, "P": 40, "S": 64, "L": 20}
    choice = PROMPT.choose("sm_90", "bf16", sizes)
    given = [*floats, stand_in((20,), whole), stand_in((rows,), whole), 0.1]
    (made,) = compile_all([plan_launch(Launch("prompt", choice.launched, given, dict(choice.constants)), ["sm_90"])])
    assert hasattr(made.outcome, "resources"), made.outcome
