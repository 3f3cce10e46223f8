"""Masks of allowed tokens against a loop over their bits, and the tokens that are sampled under them."""

from __future__ import annotations

import numpy as np
import pytest

import tileproof as tp
from library_cases.masks import cases, mask_logits_reference
from oracles.cuda_programs import assert_simulated
from support.agreement import assert_alike
from support.library import Case, assert_right, each_choice, launches
from tileproof.kernels import arrays
from tileproof.kernels.sampling import MASK_LOGITS, greedy, mask_logits

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=[each.name for each in CASES])
def test_on_the_cpu_exactly_the_tokens_whose_bit_is_0_are_masked(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.parametrize("case", CASES, ids=[each.name for each in CASES])
def test_on_the_interpreter_with_the_choices_for_a_gpu_too(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter")


@pytest.mark.parametrize("case", [each for each in CASES if each.on_gpu], ids=lambda case: case.name)
def test_the_code_for_a_gpu_stores_what_the_interpreter_stores(case: Case) -> None:
    assert assert_simulated(lambda: next(launches(case)), assert_alike) == []


def test_choices_give_the_same_logits() -> None:
    given = CASES[0].make()[0]
    wanted = mask_logits_reference(*given)
    for _ in each_choice(MASK_LOGITS, "f32", {"R": 5, "S": 3, "V": 300}):
        np.testing.assert_array_equal(mask_logits(*given).astype(np.float64), wanted)


def test_a_row_of_which_nothing_is_allowed_has_no_token_and_a_masked_nan_does_no_harm() -> None:
    logits = np.array([[1, 2, np.nan], [1, 2, 3]], np.float32)
    masks = np.array([[0b011], [~0b111]], np.int32)
    assert greedy(mask_logits(logits, masks, np.array([0, 1], np.int32))).tolist() == [1, -1]


def test_masks_of_another_vocabulary_and_rows_that_are_not_there_are_rejected() -> None:
    logits, rows = np.zeros((2, 33), np.float32), np.array([0, -1], np.int32)
    for words in (1, 3):
        with pytest.raises(tp.LaunchError, match="TP0604"):
            mask_logits(logits, np.zeros((2, words), np.int32), rows)
    with pytest.raises(tp.LaunchError, match="TP0607"):
        mask_logits(logits, np.zeros((2, 2), np.int32), rows + 2)
