"""Tokens against float64: which stay, how often each is drawn, what decides a draw; NaN, ties and refusals."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.token_sampling import cases, greedy_reference, sample_reference, settings_of
from support.draws import assert_as_often, chances
from support.library import Case, assert_right, each_choice
from support.tiers import examples
from tileproof.kernels import arrays, sampling
from tileproof.kernels.sampling import GREEDY, SAMPLE, greedy, sample

CASES = cases()
WAYS = 50
LOGITS = (np.random.default_rng(11).standard_normal(WAYS) * 2).astype(np.float32)
DRAWS = 100_000
SMALL = sampling.sample_kernel, {"BV": 16, "KEPT": 8, "BL": 2}
SMALL_GATHERED = sampling.sample_gathered_kernel, {"BV": 16, "LANES": 16, "KEPT": 8, "BL": 4}
"""Kernels with tiles that a row of 50 fills several times, and room for few tokens."""


def named(every: list[Case]) -> Any:
    return pytest.mark.parametrize("case", every, ids=[each.name for each in every])


def drawn(row: Any, count: int, **given: Any) -> Any:
    """So many tokens of one row, which lies in memory once."""
    return sample(np.broadcast_to(row, (count, len(row))), *settings_of(count, **given))


@pytest.mark.sweep(3)
@named(CASES)
def test_a_function_gives_on_the_cpu_the_tokens_of_float64(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(3)
@named([each for each in CASES if each.on_gpu])
def test_a_function_gives_on_the_interpreter_the_tokens_of_float64(case: Case) -> None:
    assert_right(case, "interpreter")


@pytest.mark.sweep(1)
@named([each for each in CASES if each.on_gpu])
def test_the_choices_for_a_gpu_give_the_tokens_of_float64(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter")


# How often.


MIXTURE = {"temperature": 1.3, "top_k": 20, "top_p": 0.9, "min_p": 0.05}


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("chosen", "keyed"),
    [
        ({}, "seed"), ({}, "step"), ({"temperature": 0.7}, "seed"), ({"temperature": 1.8}, "seed"),
        ({"top_k": 7}, "seed"), ({"top_p": 0.8}, "step"), ({"min_p": 0.1}, "seed"), (MIXTURE, "seed"),
    ],
    ids=str,
)  # fmt: skip
def test_tokens_are_drawn_as_often_as_they_should_be(chosen: dict[str, float], keyed: str) -> None:
    plain = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0} | chosen
    chance = chances(LOGITS.astype(np.float64), **{name: np.float32(value) for name, value in plain.items()})
    keys = {"seed": 5, "step": 0} | {keyed: np.arange(DRAWS) + 1_000_000}
    counts = np.bincount(drawn(LOGITS, DRAWS, **keys, **chosen), minlength=WAYS)
    assert_as_often(counts, chance)


# Which.


@settings(max_examples=examples(30), deadline=None)
@given(
    st.integers(0, 10**6), st.sampled_from([0, 1, 2, 7, 30, 49, 50, 99]),
    st.sampled_from([-1, 0, 0.03, 0.37, 0.81, 0.997, 1]), st.sampled_from([0, 0.011, 0.23, 1, 3]), st.booleans(),
)  # fmt: skip
def test_the_tokens_that_stay_are_those_of_float64(seed: int, k: int, p: float, least: float, has_ties: bool) -> None:
    rng = np.random.default_rng(seed)
    row = (rng.integers(-4, 4, WAYS) if has_ties else rng.standard_normal(WAYS) * 2).astype(np.float32)
    row[rng.random(WAYS) < 0.1] = -np.inf
    row[seed % WAYS] = 4
    chance = chances(row.astype(np.float64), 1.0, k, float(np.float32(p)), float(np.float32(least)))
    tokens = np.unique(drawn(row, 3000, seed=np.arange(3000) + seed, top_k=k, top_p=p, min_p=least))
    assert (chance[tokens] > 0).all()
    assert np.isin(np.flatnonzero(chance > 0.01), tokens).all()


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 10**6))
def test_every_row_gives_the_token_of_float64(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.standard_normal((40, WAYS)).astype(np.float32) * 3
    chosen = settings_of(
        40, seed=rng.integers(-(2**63), 2**63 - 1, 40), step=rng.integers(0, 2**40, 40),
        temperature=rng.choice([0, 0.4, 1, 2], 40), top_k=rng.integers(-1, 60, 40),
        top_p=rng.uniform(0, 1.2, 40), min_p=rng.choice([0, 0.05], 40),
    )  # fmt: skip
    found, wanted = sample(logits, *chosen), sample_reference(logits, *chosen)
    assert (found != wanted).sum() <= 1  # a draw may fall on the border of two tokens, to the last bits of f32


def test_of_equal_logits_the_lower_tokens_stay() -> None:
    flat = np.zeros(WAYS, np.float32)
    assert np.unique(drawn(flat, 500, top_k=7)).tolist() == list(range(7))
    assert np.unique(drawn(flat, 500, top_p=0.21)).tolist() == list(range(11))
    assert np.unique(drawn(flat, 500, top_k=10, top_p=0.45)).tolist() == list(range(5))
    row = flat.copy()
    row[[40, 41]] = 1
    assert np.unique(drawn(row, 500, top_k=4)).tolist() == [0, 1, 40, 41]
    assert set(drawn(flat, 9, temperature=0)) == {0}
    assert set(drawn(row, 9, temperature=0)) == {40}


@pytest.mark.slow
def test_ties_that_end_behind_a_tile_are_told_apart() -> None:
    row = np.zeros(40, np.float32)
    logits = np.broadcast_to(row, (300, 40))
    token = np.empty(300, np.int32)
    for (kernel, constants), k in product((SMALL, SMALL_GATHERED), (5, 21)):
        kernel(token, logits, *settings_of(300, top_k=k), **constants)
        assert np.unique(token).tolist() == list(range(k))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("small", [SMALL, SMALL_GATHERED], ids=lambda small: small[0].name)
@pytest.mark.parametrize("has_ties", [False, True])
def test_tokens_are_the_same_however_many_are_taken_out(small: Any, has_ties: bool) -> None:
    rng = np.random.default_rng(8)
    logits = (rng.integers(-4, 4, (400, WAYS)) if has_ties else rng.standard_normal((400, WAYS)) * 2).astype(np.float32)
    logits[rng.random(logits.shape) < 0.1] = -np.inf
    logits[:5, 3] = np.inf
    logits[5, 3] = np.nan
    chosen = settings_of(
        400, seed=rng.integers(0, 10**9, 400), temperature=rng.choice([0, 0.4, 1, 2], 400),
        top_k=rng.choice([-1, 0, 1, 7, 8, 9, 49, 50, 90], 400), top_p=rng.choice([-1, 0, 0.1, 0.5, 0.9, 1, 2], 400),
        min_p=rng.choice([0, 0.05, 1], 400),
    )  # fmt: skip
    token = np.empty(400, np.int32)
    kernel, constants = small
    kernel(token, logits, *chosen, **constants)
    wrong = token != sample_reference(logits, *chosen)
    assert wrong.sum() <= 1
    assert not wrong[:6].any()


@pytest.mark.parametrize("padding", [[1e30, np.inf, np.nan], [np.nan] * 9, [3e38]], ids=str)
def test_columns_that_are_no_tokens_are_never_given(padding: list[float]) -> None:
    row = np.concatenate([LOGITS, padding]).astype(np.float32)
    logits = np.broadcast_to(row, (2000, len(row)))
    tokens = sample(logits, *settings_of(2000, temperature=3), vocabulary=WAYS)
    assert (tokens == sample(logits[:, :WAYS], *settings_of(2000, temperature=3))).all()
    assert tokens.max() < WAYS
    assert tokens.min() >= 0
    assert greedy(logits[:3], vocabulary=WAYS).tolist() == [LOGITS.argmax()] * 3
    kept = drawn(LOGITS, 2000, top_k=5)
    assert (sample(logits, *settings_of(2000, top_k=5), vocabulary=WAYS) == kept).all()


# What decides.


def test_a_draw_depends_on_seed_and_step_alone() -> None:
    rng = np.random.default_rng(3)
    logits = rng.standard_normal((60, WAYS)).astype(np.float32)
    chosen = settings_of(60, seed=rng.integers(0, 9, 60), step=rng.integers(0, 9, 60), top_p=rng.uniform(0.5, 1, 60))
    tokens = sample(logits, *chosen)
    assert (tokens == sample(logits, *chosen)).all()
    for order in (rng.permutation(60), np.arange(7), np.array([33]), np.repeat(np.arange(60), 6)):
        assert (sample(logits[order], *(each[order] for each in chosen)) == tokens[order]).all()
    other = sample(logits, chosen[0] + 1, *chosen[1:]), sample(logits, chosen[0], chosen[1] + 1, *chosen[2:])
    assert all((each != tokens).any() for each in other)
    narrow = sample(logits, chosen[0], chosen[1].astype(np.int32), *chosen[2:])
    assert (narrow == tokens).all()


# Odd values.


def test_a_row_without_a_distribution_has_no_token() -> None:
    logits = np.zeros((6, WAYS), np.float32)
    logits[0, 7] = np.nan
    logits[1] = -np.inf
    logits[2, [3, 8]] = np.inf
    logits[3, 1:] = -np.inf
    logits[4] = 3e38
    logits[5, 9] = -np.inf
    assert greedy(logits).tolist() == [-1, -1, 3, 0, 0, 0]
    for heat in (0, 1, 1e-30, np.inf, np.nan, -1):
        tokens = np.stack([sample(logits, *settings_of(6, step=step, temperature=heat)) for step in range(60)])
        assert (tokens[:, :2] == -1).all()
        assert set(tokens[:, 2]) == ({3, 8} if heat > 0 else {3})
        assert set(tokens[:, 3]) == {0}
        assert (tokens[:, 4:] >= 0).all()
        assert (tokens[:, 5] != 9).all()


def test_settings_that_are_nan_let_every_token_stay() -> None:
    plain = drawn(LOGITS, 200)
    assert (drawn(LOGITS, 200, top_p=np.nan, min_p=np.nan) == plain).all()


def test_an_empty_vocabulary_has_no_token() -> None:
    assert greedy(np.zeros((2, 4), np.float32), vocabulary=0).tolist() == [-1, -1]
    assert sample(np.zeros((2, 0), np.float32), *settings_of(2)).tolist() == [-1, -1]


# Choices.


@pytest.mark.slow
def test_choices_give_the_same_tokens() -> None:
    logits = np.random.default_rng(1).standard_normal((5, 700)).astype(np.float32)
    for _ in each_choice(GREEDY, "f32", {"R": 5, "V": 700}):
        assert (greedy(logits) == greedy_reference(logits)).all()
    chosen = settings_of(5, temperature=[1, 0.5, 1, 1, 0], top_k=[0, 9, 0, 30, 0], top_p=[1, 1, 0.83, 0.5, 1])
    wanted = sample_reference(logits, *chosen)
    for number, _ in enumerate(each_choice(SAMPLE, "f32", {"V": 700})):
        if number % 5 == 0:  # a proof of each takes a second
            assert (sample(logits, *chosen) == wanted).all()


# Arrays.


def test_tensors_go_in_and_come_out() -> None:
    logits = np.random.default_rng(2).standard_normal((4, WAYS)).astype(np.float32)
    chosen = settings_of(4, top_k=9)
    token = sample(tp.from_numpy(logits), *map(tp.from_numpy, chosen))
    assert isinstance(token, tp.Tensor)
    assert (token.numpy() == sample(logits, *chosen)).all()
    assert (greedy(tp.from_numpy(logits), vocabulary=20).numpy() == greedy_reference(logits, 20)).all()


@pytest.mark.slow
def test_tensors_of_torch_go_in_and_come_out() -> None:
    torch = pytest.importorskip("torch")
    logits = torch.randn(4, WAYS)
    chosen = settings_of(4, top_k=9)
    token = sample(logits, *map(torch.from_numpy, chosen))
    assert torch.equal(token, torch.from_numpy(sample(logits.numpy(), *chosen)))
    assert torch.equal(greedy(logits), logits.argmax(dim=1).int())


def test_out_is_written_and_returned() -> None:
    logits, out = np.zeros((3, 9), np.float32), np.empty(3, np.int64)
    assert greedy(logits, out=out) is out
    tokens = out.astype(np.int32)
    assert sample(logits, *settings_of(3, top_k=1), out=tokens) is tokens
    assert out.tolist() == tokens.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("position", "wrong", "code"),
    [
        (1, np.zeros(3, np.int32), "TP0603"),
        (3, np.zeros(3, np.float64), "TP0603"),
        (4, np.zeros(4, np.int32), "TP0604"),
        (5, np.zeros((3, 1), np.float32), "TP0602"),
    ],
)
def test_settings_of_another_type_or_shape_are_refused(position: int, wrong: Any, code: str) -> None:
    args = [np.zeros((3, 9), np.float32), *settings_of(3)]
    args[position] = wrong
    with pytest.raises(tp.LaunchError) as caught:
        sample(*args)
    assert caught.value.diagnostics[0].code.id == code
