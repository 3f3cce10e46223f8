"""What is asked of the engine is refused by name if it cannot be done, before anything is."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tileproof.llm import ModelError, SamplingParams


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("max_new_tokens", (0, -1, 2.5, "3", None, True)),
        ("temperature", (-1, math.nan, math.inf, 1e39, 10**400, "1", None)),
        ("top_k", (-2, 2**31, 1.5, "1", None)),
        ("top_p", (0, -0.1, 1.1, math.nan, "1", None)),
        ("min_p", (-0.1, 1.1, math.nan)),
        ("repetition_penalty", (0, -1, math.nan, math.inf, 1e39, 1e-39)),
        ("presence_penalty", (math.nan, math.inf, -math.inf, 1e39, -1e39)),
        ("frequency_penalty", (math.nan, math.inf, -math.inf, 1e39, -1e39)),
        ("seed", (2**63, -(2**63) - 1, 1.5, "a")),
        ("logprobs", (-1, 65, 1.5, "3")),
        ("stop", ("", (1,), ("a", ""), None, b"a", 3)),
        ("stop_token_ids", (5, ("a",), (-1,), None, "5")),
        ("logit_bias", ({"5": 1.0}, {-1: 1.0}, {1.5: 1.0}, {5: "x"}, {5: math.nan}, {5: math.inf}, {5: 1e39}, [5])),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(name: str, values: tuple[Any, ...]) -> None:
    for value in values:
        with pytest.raises(ModelError, match=name):
            SamplingParams(**{name: value})


def test_settings_at_the_edges_of_their_ranges_are_fine() -> None:
    SamplingParams(
        max_new_tokens=10**30, temperature=1e-300, top_k=2**31 - 1, top_p=1e-300, min_p=1, presence_penalty=-2,
        seed=-(2**63), stop_token_ids=(0,), logprobs=64, logit_bias={np.int64(3): -math.inf, 4: np.float32(1)},
    )  # fmt: skip
    SamplingParams(seed=2**63 - 1, stop=("\n", "é"), temperature=np.float32(0.5), top_k=np.int64(3))


def test_settings_of_other_engines_mean_the_same() -> None:
    assert SamplingParams(stop="ab", top_k=-1) == SamplingParams(stop=("ab",), top_k=0)
    assert SamplingParams(max_tokens=7) == SamplingParams(max_new_tokens=7)
    assert replace(SamplingParams(max_tokens=7), temperature=0.5).max_new_tokens == 7
    assert replace(SamplingParams(max_tokens=7), max_new_tokens=5).max_new_tokens == 5
    with pytest.raises(ModelError, match="max_new_tokens is 0"):
        SamplingParams(max_tokens=0)


def test_choices_of_a_prompt_have_seeds_in_a_row() -> None:
    params = SamplingParams(seed=2**63 - 1, temperature=1.0)
    assert [params.of_choice(number).seed for number in range(3)] == [2**63 - 1, -(2**63), -(2**63) + 1]
    assert SamplingParams().of_choice(2).seed is None


@pytest.mark.parametrize(
    "changes",
    [{"repetition_penalty": 1.1}, {"presence_penalty": -0.5}, {"frequency_penalty": 0.5}, {"logit_bias": {3: 1.0}}],
    ids=lambda changes: next(iter(changes)),
)
def test_what_changes_logits_is_a_penalty(changes: dict[str, Any]) -> None:
    assert SamplingParams(**changes).has_penalties
    assert not SamplingParams(temperature=0.7, top_k=5, top_p=0.9).has_penalties
