"""The tuner: what it chooses, what it writes, and that it goes on where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samples.tuned_kernels import DOUBLE, FORMED, double_kernel, double_rows_kernel, planted
from tileproof.tuning import Choice, Report, Tunable, choices, records, tune, tuner
from tileproof.tuning.inputs import TuningError
from tileproof.tuning.places import CpuPlace, Place, place_for
from tileproof.tuning.records import read, write

Told = Callable[[Callable[[str], float]], Any]
SHAPES = [{"N": 300}, {"N": 500}]
SECONDS = {"double_kernel B=64": 4e-3, "double_kernel B=128": 3e-3, "double_kernel B=256": 1e-3}


def seconds(label: str) -> float:
    return SECONDS.get(label, 2e-3)


def summary(report: Report) -> list[tuple[str, str | None, float, float]]:
    return [(it.shape, it.best and it.best.label, it.seconds, it.default_seconds) for it in report.results]


def test_the_fastest_is_chosen_and_recorded(told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tune(DOUBLE, SHAPES, place=told(seconds), into=tmp_path)
    assert report.is_finished
    assert summary(report) == [
        ("N=300 f32", "double_kernel B=256", 1e-3, 4e-3), ("N=500 f32", "double_kernel B=256", 1e-3, 4e-3)
    ]  # fmt: skip
    assert report.path is not None
    assert [entry.constants for entry in read(report.path, DOUBLE.kernels).entries] == [{"B": 256}] * 2
    monkeypatch.setenv(records.VARIABLE, str(tmp_path))
    DOUBLE.forget()
    assert DOUBLE.choose("cpu", "f32", {"N": 300}) == Choice(double_kernel, {"B": 256})
    assert list(report.lines()) == [
        f"N={n} f32: double_kernel B=256: 1 ms, 4.00 times as fast as the default, 4 ms" for n in (300, 500)
    ]


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
    first = told(seconds)

    def stopping(label: str) -> float:
        if len(first.timed) >= stop:
            raise KeyboardInterrupt
        return seconds(label)

    first.seconds = stopping
    with pytest.raises(KeyboardInterrupt):
        tune(DOUBLE, SHAPES, place=first, into=tmp_path)
    second = told(seconds)
    assert summary(tune(DOUBLE, SHAPES, place=second, into=tmp_path)) == expected
    per_shape = len(whole.timed) // 2
    assert len(second.timed) == len(whole.timed) - per_shape * (len(first.timed) // per_shape)
    third = told(seconds)
    assert summary(tune(DOUBLE, SHAPES, place=third, into=tmp_path)) == expected
    assert third.timed == []


def test_a_recorded_shape_is_tuned_again_if_that_is_said(told: Told, tmp_path: Path) -> None:
    tune(DOUBLE, SHAPES[:1], place=told(seconds), into=tmp_path)
    place = told(lambda label: 1e-3 if "B=128" in label else 2e-3)
    report = tune(DOUBLE, SHAPES[:1], place=place, into=tmp_path, again=True)
    assert report.path is not None
    (entry,) = read(report.path, DOUBLE.kernels).entries
    assert (entry.constants, bool(place.timed)) == ({"B": 128}, True)


def test_shapes_that_are_not_tuned_keep_their_entries_and_notes(told: Told, tmp_path: Path) -> None:
    path = tune(DOUBLE, SHAPES, place=told(seconds), into=tmp_path).path
    assert path is not None
    record = read(path, DOUBLE.kernels)
    write(path, replace(record, entries=tuple(replace(entry, note="put in by hand") for entry in record.entries)))
    tune(DOUBLE, [*SHAPES[:1], {"N": 700}], place=told(seconds), into=tmp_path, again=True)
    notes = {entry.sizes["N"]: entry.note for entry in read(path, DOUBLE.kernels).entries}
    assert notes == {300: "", 500: "put in by hand", 700: ""}


@pytest.mark.parametrize("changed", [{"source": "other"}, {"device": "another"}])
def test_what_other_kernels_or_another_device_took_is_tuned_anew(
    told: Told, tmp_path: Path, changed: dict[str, str]
) -> None:
    path = tune(DOUBLE, SHAPES, place=told(seconds), into=tmp_path).path
    assert path is not None
    record = read(path, DOUBLE.kernels)
    write(path, replace(record, provenance=replace(record.provenance, **changed)))
    place = told(seconds)
    tune(DOUBLE, SHAPES[:1], place=place, into=tmp_path)
    assert place.timed
    assert len(read(path, DOUBLE.kernels).entries) == (1 if "source" in changed else 2)


def test_when_the_time_is_over_the_rest_is_left(told: Told, tmp_path: Path) -> None:
    report = tune(DOUBLE, SHAPES, place=told(seconds), minutes=0.0, into=tmp_path)
    assert not report.is_finished
    assert [result.best for result in report.results] == [None, None]
    assert list(report.lines()) == ["N=300 f32: not finished", "N=500 f32: not finished"]
    assert tune(DOUBLE, SHAPES, place=told(seconds), into=tmp_path).is_finished


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
    assert set(result.problems) == {"double_kernel B=0", "double_kernel C=128", "double_kernel B=512"}
    assert result.problems["double_kernel B=512"] == "RuntimeError: out of luck"


def test_a_kernel_that_takes_another_form_of_the_arguments_is_tried(told: Told) -> None:
    place = told(lambda label: 1e-3 if "P=50" in label else 2e-3)
    (result,) = tune(FORMED, [{"N": 500}], place=place).results
    assert result.best == Choice(double_rows_kernel, {"P": 50})
    assert list(result.problems) == ["double_rows_kernel P=64"], "500 elements are no rows of 64"


def test_a_shape_that_cannot_be_tuned_is_no_end_of_the_others(told: Told) -> None:
    def inputs(rng: Any, values: dict[str, Any]) -> None:
        if len(values["x"]) == 300:
            values["x"][0] = np.nan

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
        place_for("sm_75")
    with pytest.raises(TuningError, match="this processor is"):
        place_for("cpu-other")
    with pytest.raises(TuningError, match="--shapes"):
        tune(DOUBLE, [], place=CpuPlace())


def test_without_a_gpu_candidates_are_compiled_once_for_shapes_that_share_code() -> None:
    steps: list[tuple[str, int, int]] = []
    shapes = [{"N": 1024}, {"N": 2048}]
    results = tuner.results_of(planted("unwritten_kernel"), shapes, None, "sm_90")
    odd = Choice(double_kernel, {"B": 0})
    for result in results:
        result.candidates = {**result.candidates, odd.label: odd}
    tuner.compile_candidates(DOUBLE, results, "sm_90", None, lambda *message: steps.append(message))
    assert [set(result.problems) for result in results] == [{"double_kernel B=0"}] * 2
    assert ("compiled", 5, 5) in steps
    assert ("proved", 12, 12) in steps
