"""The tuner: what it chooses, what it writes, and that it goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tuned_kernels import APPEND, DOUBLE, FORMED, double_kernel, double_rows_kernel

from tileproof.tuning import Choice, Report, Tunable, choices, records, tune, tuner
from tileproof.tuning.inputs import TuningError
from tileproof.tuning.places import CpuPlace, Place
from tileproof.tuning.record_files import read

Told = Callable[[Callable[[str], float]], Any]
SHAPES = [{"N": 300}, {"N": 500}]
SECONDS = {"double_kernel B=64": 4e-3, "double_kernel B=128": 3e-3, "double_kernel B=256": 1e-3}


def seconds(label: str) -> float:
    return SECONDS.get(label, 2e-3)


def summary(report: Report) -> list[tuple[str, str | None, float, float]]:
    return [(each.shape, each.best and each.best.label, each.seconds, each.default_seconds) for each in report.results]


def test_the_fastest_is_chosen_and_recorded(told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tune(DOUBLE, SHAPES, place=told(seconds), into=tmp_path)
    assert report.is_finished
    assert summary(report) == [
        ("N=300 f32", "double_kernel B=256", 1e-3, 4e-3), ("N=500 f32", "double_kernel B=256", 1e-3, 4e-3)
    ]  # fmt: skip
    assert report.path is not None
    assert [each.constants for each in read(report.path, DOUBLE, report.target).entries] == [{"B": 256}] * 2
    monkeypatch.setenv(records.VARIABLE, str(tmp_path))
    DOUBLE.forget()
    assert DOUBLE.choose("cpu", "f32", {"N": 300}) == Choice(double_kernel, {"B": 256})
    table = list(report.lines())
    assert len(table) == 3
    assert "4.00" in table[1]


def test_the_default_stays_where_nothing_is_faster_by_more_than_noise(told: Told) -> None:
    near = {"double_kernel B=64": 1.005e-3, "double_kernel B=256": 1e-3}
    report = tune(DOUBLE, SHAPES[:1], place=told(lambda label: near.get(label, 2e-3)))
    (result,) = report.results
    assert result.best is not None
    assert (result.best.label, result.ratio) == ("double_kernel B=64", 1.0)


def test_the_final_is_paired_in_changing_order(told: Told) -> None:
    place = told(seconds)
    tune(DOUBLE, SHAPES[:1], place=place)
    last = place.timed[-16:]
    assert {*last} == {"double_kernel B=64", "double_kernel B=256"}
    assert [last[at] == last[0] for at in range(0, 16, 2)] == [True, False] * 4


@pytest.mark.parametrize("stop", range(1, 48, 5))
def test_an_interrupted_tuning_goes_on_and_gives_the_same(told: Told, tmp_path: Path, stop: int) -> None:
    whole = told(seconds)
    expected = summary(tune(DOUBLE, SHAPES, place=whole))
    log = tmp_path / "log"
    first = told(seconds)

    def stopping(label: str) -> float:
        if len(first.timed) >= stop:
            raise KeyboardInterrupt
        return seconds(label)

    first.seconds = stopping
    with pytest.raises(KeyboardInterrupt):
        tune(DOUBLE, SHAPES, place=first, log=log, into=tmp_path)
    settled = [json.loads(line) for line in log.read_text().splitlines()]
    second = told(seconds)
    report = tune(DOUBLE, SHAPES, place=second, log=log, into=tmp_path)
    assert summary(report) == expected
    done = sum("candidate" in each for each in settled)
    finals = sum("best" in each for each in settled)
    repeated = len(first.timed) + len(second.timed) - len(whole.timed)
    assert repeated <= 28, "more than the final of one shape was done again"
    assert len([each for each in log.read_text().splitlines() if '"candidate"' in each]) == 8
    assert done or stop <= 1
    third = told(seconds)
    assert summary(tune(DOUBLE, SHAPES, place=third, log=log)) == expected
    assert third.timed == []
    assert finals <= 2


def test_a_line_that_was_cut_off_is_passed_over(told: Told, tmp_path: Path) -> None:
    log = tmp_path / "log"
    expected = summary(tune(DOUBLE, SHAPES, place=told(seconds), log=log))
    text = log.read_text()
    log.write_text(text[:-20])
    place = told(seconds)
    assert summary(tune(DOUBLE, SHAPES, place=place, log=log)) == expected
    assert place.timed
    assert all(json.loads(line) for line in log.read_text().splitlines() if line.endswith("}"))


def test_a_log_of_other_kernels_is_refused(told: Told, tmp_path: Path) -> None:
    log = tmp_path / "log"
    tune(DOUBLE, SHAPES, place=told(seconds), log=log)
    other = Tunable("double", APPEND.kernels, APPEND.default, APPEND.space)
    with pytest.raises(TuningError, match=r"log of other kernels: remove it"):
        tune(other, SHAPES, place=told(seconds), log=log)


def test_one_log_serves_several_tunables(told: Told, tmp_path: Path) -> None:
    log = tmp_path / "log"
    for _ in range(2):
        place = told(seconds)
        for tunable in (DOUBLE, APPEND):
            tune(tunable, SHAPES, place=place, log=log)
    assert place.timed == []


def test_when_the_time_is_over_the_rest_is_left(told: Told, tmp_path: Path) -> None:
    report = tune(DOUBLE, SHAPES, place=told(seconds), minutes=0.0, log=tmp_path / "log")
    assert not report.is_finished
    assert [each.best for each in report.results] == [None, None]
    assert tune(DOUBLE, SHAPES, place=told(seconds), log=tmp_path / "log").is_finished


def test_a_candidate_that_raises_is_noted_and_ends_nothing(told: Told) -> None:
    def space(sizes: Any, target: str) -> Any:
        yield Choice(double_kernel, {"B": 0})
        yield Choice(double_kernel, {"C": 128})
        yield from choices(double_kernel, "B=256 B=512")

    def failing(label: str) -> float:
        if "B=512" in label:
            raise RuntimeError("out of luck")
        return seconds(label)

    tunable = Tunable("raising", (double_kernel,), DOUBLE.default, space)
    (result,) = tune(tunable, SHAPES[:1], place=told(failing)).results
    assert result.best == Choice(double_kernel, {"B": 256})
    assert set(result.struck) == {"double_kernel B=0", "double_kernel C=128"}
    assert result.problems == {"double_kernel B=512": "RuntimeError: out of luck"}


def test_a_kernel_that_takes_another_form_of_the_arguments_is_tried(told: Told) -> None:
    place = told(lambda label: 1e-3 if "P=50" in label else 2e-3)
    (result,) = tune(FORMED, [{"N": 500}], place=place).results
    assert result.best == Choice(double_rows_kernel, {"P": 50})
    assert list(result.struck) == ["double_rows_kernel P=64"], "500 elements are no rows of 64"
    assert result.problems == {}


def test_a_shape_that_cannot_be_tuned_is_no_end_of_the_others(told: Told) -> None:
    def inputs(rng: Any, given: dict[str, Any]) -> None:
        if len(given["x"]) == 300:
            given["x"][0] = np.nan

    tunable = Tunable("spoiled", DOUBLE.kernels, DOUBLE.default, DOUBLE.space, inputs=inputs)
    first, second = tune(tunable, SHAPES, place=told(seconds)).results
    assert first.best is None
    assert first.failure.startswith("`spoiled` by default leaves NaN in `y`")
    assert second.best is not None


def test_it_runs_on_the_clock_of_this_machine(tmp_path: Path) -> None:
    place: Place = CpuPlace()
    report = tune(DOUBLE, SHAPES[:1], place=place, into=tmp_path)
    assert report.is_finished
    (result,) = report.results
    assert result.seconds > 0
    assert result.problems == {}


def test_what_is_not_here_is_said() -> None:
    with pytest.raises(TuningError, match="there is no GPU of sm_75 here"):
        tuner.place_for("sm_75")
    with pytest.raises(TuningError, match="this processor is"):
        tuner.place_for("cpu-other")
    with pytest.raises(TuningError, match="--shapes"):
        tune(DOUBLE, [], place=CpuPlace())


def test_without_a_gpu_candidates_are_compiled_once_for_shapes_that_share_code() -> None:
    steps: list[tuple[str, int, int]] = []
    found = tuner.compile_only(
        DOUBLE, [{"N": 1024}, {"N": 2048}], target="sm_90", step=lambda *said: steps.append(said)
    )
    assert [len(made.facts) for _, made in found] == [4, 4]
    assert [len(made.refused) for _, made in found] == [0, 0]
    assert ("compiled", 4, 4) in steps
    assert ("proved", 8, 8) in steps
