"""The correctness gate: planted wrong candidates are rejected, right ones that round otherwise are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from samples.tuned_kernels import APPEND, COUNTED, DOUBLE, SCALED, WRONG, planted, product_kernel, product_split_kernel
from tileproof.language.dtypes import BF16, BOOL, F32, I32, DType
from tileproof.tuning import Choice, Tunable, tune
from tileproof.tuning.gate import Gate, difference
from tileproof.tuning.inputs import TuningError
from tileproof.tuning.places import CpuPlace, Place


def gate_of(tunable: Tunable, element: str = "f32", n: int = 500, **sizes: int) -> Gate:
    arguments = sizes or {"N": n}
    default = tunable.default(arguments, "cpu")
    return Gate(tunable, arguments, element, CpuPlace(), default, np.random.default_rng(3))


@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_candidate_is_rejected(name: str, element: str) -> None:
    tunable = planted(name)
    gate = gate_of(tunable, element)
    problem = gate.problem(Choice(WRONG[name], {"B": 128}))
    assert problem is not None
    assert gate.problem(tunable.default({"N": 500}, "cpu")) is None, "it left the next one something wrong"


def test_a_candidate_that_accumulates_is_rejected_though_its_first_call_is_right() -> None:
    gate = gate_of(COUNTED)
    right, wrong = COUNTED.space({"N": 500}, "cpu")
    assert gate.problem(right) is None
    assert "`calls`" in (gate.problem(wrong) or "")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("element", ["f32", "bf16", "f16"])
def test_right_candidates_pass(element: str) -> None:
    for tunable in (DOUBLE, APPEND, SCALED):
        gate = gate_of(tunable, element)
        for choice in tunable.space({"N": 500}, "cpu"):
            assert gate.problem(choice) is None


def test_sums_in_another_order_pass() -> None:
    default = Choice(product_kernel, {"BM": 32, "BN": 32, "BK": 16})
    other = Choice(product_split_kernel, {"BM": 16, "BN": 64, "SK": 64, "BK": 32})
    tunable = Tunable("product", (product_kernel, product_split_kernel), lambda *_: default, lambda *_: (other,))
    for element in ("f32", "bf16"):
        assert gate_of(tunable, element, M=33, N=70, K=500).problem(other) is None


def test_inputs_differ_from_trial_to_trial() -> None:
    one, other = gate_of(DOUBLE).trials
    assert (one.arrays["x"] != other.arrays["x"]).any()


def test_a_default_that_leaves_nan_cannot_be_tuned_against() -> None:
    def spoil(rng: Any, values: dict[str, Any]) -> None:
        values["x"][3] = np.nan

    tunable = Tunable("spoiled", DOUBLE.kernels, DOUBLE.default, DOUBLE.space, inputs=spoil)
    with pytest.raises(TuningError, match=r"leaves NaN in `y`.*`inputs`"):
        gate_of(tunable)


RIGHT = np.linspace(-1, 1, 1000)
ONE, ALL = (np.arange(1000) == 7), np.ones(1000, bool)


@pytest.mark.parametrize(
    ("dtype", "where", "gap", "said"),
    [
        (F32, ALL, 0.0, None),
        (F32, ONE, 1e-5, None),
        (F32, ONE, 1e-3, "greatest magnitude"),
        (F32, ALL, 1e-5, "on the whole"),
        (BF16, ONE, 1e-2, None),
        (BF16, ONE, np.nan, "1 elements are NaN"),
        (BF16, ALL, np.inf, "1000 elements are NaN or infinite"),
        (I32, ONE, 1, "1 elements differ"),
        (BOOL, ALL, 1, "1000 elements differ"),
    ],
)
def test_how_far_results_may_be_apart(dtype: DType, where: Any, gap: float, said: str | None) -> None:
    right = RIGHT if dtype.is_float else np.zeros(1000)
    result, expected = (each.astype(dtype.storage) for each in (np.where(where, right + gap, right), right))
    problem = difference(result, expected, dtype)
    assert (problem is None) if said is None else (problem is not None and said in problem)


def test_zeros_of_either_sign_and_equal_infinities_are_no_difference() -> None:
    expected = np.array([0.0, np.inf, 1.0], np.float32)
    assert difference(np.array([-0.0, np.inf, 1.0], np.float32), expected, F32) is None
    assert "infinite" in (difference(np.array([0.0, -np.inf, 1.0], np.float32), expected, F32) or "")


def test_the_tuner_times_nothing_that_is_wrong(told: Callable[[Callable[[str], float]], Place]) -> None:
    place: Any = told(lambda label: 1e-3 if "wrong" in label else 2e-3)
    report = tune(planted(*WRONG), [{"N": 500}], place=place)
    (result,) = report.results
    assert {label.split()[0] for label in result.problems} == set(WRONG)
    assert all(text.startswith("wrong: ") for text in result.problems.values())
    assert not any(name in label for name in WRONG for label in place.timed)
    assert result.best is not None
    assert result.best.kernel.name not in WRONG


def test_a_candidate_that_goes_wrong_while_it_is_timed_is_rejected(
    told: Callable[[Callable[[str], float]], Place],
) -> None:
    place: Any = told(lambda label: 1e-3)
    launch = place.times

    def spoiling(launched: Any, *rest: Any) -> Any:
        taken = launch(launched, *rest)
        if "B=256" in launched.choice.label:
            launched.args[0][5] += 1
        return taken

    place.times = spoiling
    (result,) = tune(DOUBLE, [{"N": 500}], place=place).results
    assert list(result.problems) == ["double_kernel B=256"]
    assert result.problems["double_kernel B=256"].endswith("after many launches")
