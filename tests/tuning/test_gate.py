"""The correctness gate: planted wrong candidates are rejected, right ones that round otherwise are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tuned_kernels import APPEND, COUNTED, DOUBLE, SCALED, WRONG, planted, product_kernel, product_split_kernel

from tileproof.language.dtypes import BF16, F32, I32
from tileproof.tuning import Choice, Tunable, tune
from tileproof.tuning.gate import Gate, problem_of
from tileproof.tuning.inputs import TuningError
from tileproof.tuning.places import CpuPlace, Difference, Place


def gate_of(tunable: Tunable, element: str = "f32", n: int = 500, **sizes: int) -> Gate:
    given = sizes or {"N": n}
    default = tunable.default(given, "cpu")
    return Gate(tunable, given, element, CpuPlace(), default, np.random.default_rng(3))


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
    def spoil(rng: Any, given: dict[str, Any]) -> None:
        given["x"][3] = np.nan

    tunable = Tunable("spoiled", DOUBLE.kernels, DOUBLE.default, DOUBLE.space, inputs=spoil)
    with pytest.raises(TuningError, match=r"leaves NaN in `y`.*`inputs`"):
        gate_of(tunable)


@pytest.mark.parametrize(
    ("found", "dtype", "said"),
    [
        (Difference(0.0, 1.0, 0.0, 1.0, 0), F32, None),
        (Difference(1e-5, 1.0, 1e-6, 1.0, 0), F32, None),
        (Difference(1e-3, 1.0, 1e-6, 1.0, 0), F32, "greatest magnitude"),
        (Difference(1e-5, 1.0, 1e-5, 1.0, 0), F32, "on the whole"),
        (Difference(1e-2, 1.0, 1e-3, 1.0, 0), BF16, None),
        (Difference(0.0, 1.0, 0.0, 1.0, 1), BF16, "1 elements are NaN"),
        (Difference(0.0, 0.0, 0.0, 0.0, 2), I32, "2 elements differ"),
        (Difference(0.0, 0.0, 0.0, 0.0, 0), F32, None),
    ],
)
def test_how_far_results_may_be_apart(found: Difference, dtype: Any, said: str | None) -> None:
    problem = problem_of(found, dtype)
    assert (problem is None) if said is None else (problem is not None and said in problem)


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
