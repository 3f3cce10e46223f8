"""Logprobs of tokens and of the likeliest against float64; NaN, infinities and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from library_cases.logprobs import cases, token_logprobs_reference, top_logprobs_reference
from support.library import Case, assert_right, each_choice
from tileproof.kernels import arrays
from tileproof.kernels.sampling import TOKEN_LOGPROBS, TOP_LOGPROBS, token_logprobs, top_logprobs

CASES = cases()


def named(every: list[Case]) -> Any:
    return pytest.mark.parametrize("case", every, ids=[each.name for each in every])


@pytest.mark.sweep(5)
@named(CASES)
def test_a_function_gives_on_the_cpu_what_float64_says(case: Case) -> None:
    assert_right(case, "cpu")


@named([each for each in CASES if each.on_gpu])
def test_the_choices_for_a_gpu_give_what_float64_says(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter")


@pytest.mark.slow
def test_choices_give_the_same_logprobs() -> None:
    logits = np.random.default_rng(1).standard_normal((3, 700)).astype(np.float32) * 5
    tokens = np.array([0, 699, 5], np.int32)
    for _ in each_choice(TOKEN_LOGPROBS, "f32", {"R": 3, "V": 700}):
        np.testing.assert_allclose(token_logprobs(logits, tokens), token_logprobs_reference(logits, tokens), rtol=1e-5)
    wanted, order = top_logprobs_reference(logits, 4)
    for _ in each_choice(TOP_LOGPROBS, "f32", {"R": 3, "V": 700, "K": 4}):
        found, at = top_logprobs(logits, 4)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
        assert (at == order).all()


def test_both_functions_give_a_token_the_same_logprob_and_all_add_up_to_one() -> None:
    logits = np.random.default_rng(2).standard_normal((4, 40)).astype(np.float32) * 4
    found, tokens = top_logprobs(logits, 40)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, rtol=1e-5)
    assert (np.sort(tokens, axis=1) == np.arange(40)).all()
    for rank in (0, 7):
        again = token_logprobs(logits, np.ascontiguousarray(tokens[:, rank]))
        np.testing.assert_allclose(again, found[:, rank], rtol=1e-5, atol=1e-6)


def test_odd_rows_are_nan_and_what_is_banned_has_no_chance() -> None:
    logits = np.zeros((5, 6), np.float32)
    logits[0, 2] = np.nan
    logits[1] = -np.inf
    logits[2, 3] = np.inf
    logits[3, 1] = -np.inf
    logits[4] = [3e38, -3e38, 3e38, 0, 0, 0]
    found = token_logprobs(logits, np.array([1, 1, 1, 1, 2], np.int32))
    assert np.isnan(found[:3]).all()
    assert found[3] == -np.inf
    assert abs(found[4] + np.log(2)) < 1e-6
    top, tokens = top_logprobs(logits, 2)
    assert np.isnan(top[:3]).all()
    assert tokens[3:].tolist() == [[0, 2], [0, 2]]
    np.testing.assert_allclose(top[3:], -np.log([[5, 5], [2, 2]]), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda x: top_logprobs(x, 7), "TP0604"),
        (lambda x: top_logprobs(x, 6, vocabulary=5), "TP0604"),
        (lambda x: top_logprobs(x.astype(np.float64), 1), "TP0603"),
        (lambda x: token_logprobs(x, np.array([0, 6])), "TP0607"),
        (lambda x: token_logprobs(x, np.array([0, 5]), vocabulary=5), "TP0607"),
    ],
)
def test_what_there_is_no_logprob_of_is_refused(call: Any, code: str) -> None:
    with pytest.raises(tp.LaunchError, match=code):
        call(np.zeros((2, 6), np.float32))
