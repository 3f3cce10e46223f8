"""Penalties against float64, rows of tables found by slots, and counts of tokens; NaN, bans and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from library_cases.penalties import cases, penalized_reference
from support.library import Case, assert_right, each_choice
from tileproof.kernels import arrays
from tileproof.kernels.sampling import PENALIZED, PENALIZED_SLOTS, count_tokens, greedy, penalized

CASES = cases()


def named(every: list[Case]) -> Any:
    return pytest.mark.parametrize("case", every, ids=[each.name for each in every])


@named(CASES)
def test_a_function_gives_on_the_cpu_what_float64_says(case: Case) -> None:
    assert_right(case, "cpu")


@named([each for each in CASES if each.on_gpu])
def test_the_choices_for_a_gpu_give_what_float64_says(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter")


def test_choices_give_the_same_logits() -> None:
    plain, table = (next(each for each in CASES if each.name == name).make()[0] for name in NAMES)
    for given, tunable, sizes in (
        (plain, PENALIZED, {"R": 5, "V": 300}),
        (table, PENALIZED_SLOTS, {"R": 5, "S": 4, "V": 300}),
    ):
        wanted = penalized_reference(*given)
        for _ in each_choice(tunable, "f32", sizes):
            np.testing.assert_allclose(penalized(*given).astype(np.float64), wanted, rtol=1e-5, atol=1e-5)


NAMES = ("penalized 5x300", "penalized slots f32 transposed")


# What stays, what is banned.


def plain(rows: int, columns: int) -> list[Any]:
    """Tables and settings that change nothing."""
    shape = rows, columns
    tables = [np.zeros(shape, np.uint8), np.zeros(shape, np.int32), np.zeros(shape, np.float32)]
    return [*tables, np.ones(rows, np.float32), np.zeros(rows, np.float32), np.zeros(rows, np.float32)]


def test_settings_that_change_nothing_leave_every_bit() -> None:
    logits = np.random.default_rng(0).standard_normal((3, 77)).astype(np.float32)
    given = plain(3, 77)
    given[1][:] = 4
    assert (penalized(logits, *given) == logits).all()
    harsh = [np.full(3, 9, np.float32)] * 3
    nowhere = np.full(3, -1, np.int32)
    assert (penalized(logits, *given[:3], *harsh, nowhere) == logits).all()


def test_nan_stays_in_its_row_and_a_ban_wins() -> None:
    logits = np.zeros((3, 6), np.float32)
    logits[1, 2] = np.nan
    logits[2] = [1, 5, 3, 4, 2, -np.inf]
    given = plain(3, 6)
    given[2][2, 1] = -np.inf
    given[1][:] = 1
    given[3][:] = 2
    found = penalized(logits, *given)
    assert np.isnan(found).tolist() == np.isnan(logits).tolist()
    assert found[2].tolist() == [0.5, -np.inf, 1.5, 2, 1, -np.inf]
    assert greedy(found).tolist() == [0, -1, 3]


# In a graph, as texts come and go.


def test_texts_keep_their_slots_while_batches_change() -> None:
    """A text is penalized alike alone, beside others and in another row; the graph counts what it has chosen."""
    rng = np.random.default_rng(5)
    steps, columns, slots = 6, 33, 4
    logits = rng.standard_normal((steps, slots, columns)).astype(np.float32)
    wanted = []
    for text in range(slots):
        counts, chosen = np.zeros((1, columns), np.int32), []
        for step in range(steps):
            given = plain(1, columns)
            given[1], given[3][:], given[4][:] = counts, 1.3, 0.5
            chosen.append(int(greedy(penalized(logits[step, text : text + 1], *given))[0]))
            counts[0, chosen[-1]] += 1
        wanted.append(chosen)
    assert any(len(set(each)) > 2 for each in wanted)
    tables = [tp.from_numpy(each) for each in plain(slots, columns)[:3]]
    settings = [tp.from_numpy(np.full(3, value, np.float32)) for value in (1.3, 0.5, 0)]
    at, rows = tp.from_numpy(np.full(3, -1, np.int32)), tp.empty((3, columns))
    changed, token = tp.empty((3, columns)), tp.empty(3, tp.i32)
    with tp.Graph() as graph:
        penalized(rows, *tables, *settings, at, out=changed)
        greedy(changed, out=token)
        count_tokens(tables[1], token, at)
    done: list[list[int]] = [[] for _ in range(slots)]
    while min(map(len, done)) < steps:
        left = [text for text in range(slots) if len(done[text]) < steps]
        batch = rng.permutation(left)[:3].tolist()
        batch += [-1] * (3 - len(batch))
        held = [logits[len(done[text]), text] if text >= 0 else np.full(columns, np.nan) for text in batch]
        tp.copy(rows, np.stack(held).astype(np.float32))
        tp.copy(at, np.array(batch, np.int32))
        graph.replay()
        for text, found in zip(batch, token.tolist(), strict=True):
            assert (text < 0) == (found < 0)
            if text >= 0:
                done[text].append(found)
    assert done == wanted


# Refusals.


def test_a_slot_twice_or_outside_is_refused() -> None:
    counts = np.zeros((4, 9), np.int32)
    for tokens, slots in (([1, 2], [3, 3]), ([1, 2], [3, 4]), ([9, 2], [0, 1])):
        with pytest.raises(tp.LaunchError, match="TP0607"):
            count_tokens(counts, np.array(tokens, np.int32), np.array(slots, np.int32))
    assert (counts == 0).all()
    given = [np.zeros((2, 9), np.float32), *plain(4, 9)[:3], *plain(2, 9)[3:]]
    with pytest.raises(tp.LaunchError, match="TP0607"):
        penalized(*given, np.array([0, 4]))
    with pytest.raises(tp.LaunchError, match="TP0604"):
        penalized(*given)
    with pytest.raises(tp.LaunchError, match="TP0610"):
        penalized(*given, np.array([0, 1]), out=given[0])
