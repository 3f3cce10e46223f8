"""The host benchmark with tiny counts: all it promises to write is there. Only times that are made up are judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks.book import cpu_slug  # noqa: E402
from benchmarks.host_report import Figure, Found  # noqa: E402

import tileproof as tp  # noqa: E402
from benchmarks import host, host_places, host_report, host_ways  # noqa: E402
from tileproof.runtime.cpu_streams import CpuStream  # noqa: E402

TINY = ("--operations", "1", "3", "--rounds", "2", "--turn", "0", "--batch", "4")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What a run without torch printed, and the folder it saved into, where people had written something."""
    folder = tmp_path_factory.mktemp("host")
    results = folder / "results"
    saved = results / cpu_slug()
    saved.mkdir(parents=True)
    (saved / "tried.md").write_text("# host_cpu\n\nNothing yet.\n", encoding="utf-8")
    (folder / "torch.py").write_text("raise ImportError\n", encoding="utf-8")
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "host", *TINY, "--save", str(results), "--note", "A trial."],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, saved


# A run.


def test_every_way_is_timed_for_every_number_of_operations(made: tuple[str, Path]) -> None:
    found = host_report.read((made[1] / "host_cpu.json").read_text(encoding="utf-8"))
    assert found.counts == [1, 3]
    for what in host_ways.COUNTED:
        for count in (1, 3):
            figure = found.of(what, "tileproof", count)
            assert figure is not None
            assert len(figure.rounds) == 2
    assert {who for _, who, _ in found.figures} == {"tileproof"}


def test_what_each_part_costs_is_told_with_its_goal(made: tuple[str, Path]) -> None:
    parts = json.loads((made[1] / "host_cpu.json").read_text(encoding="utf-8"))["lines"]
    names = [each["what"] for each in parts]
    for name in (
        "launch, 1024 elements", "launch, the stream held", "leases of a launch, two streams",
        "await of a chain of 3 over its run", "replay, each of 3 nodes", "tp.empty", "tp.copy, 4 KiB",
    ):  # fmt: skip
        assert name in names
        assert any(line.startswith(name) for line in made[0].splitlines())
    judged = {each["what"] for each in parts if each["verdict"]}
    assert judged == {"launch, 1024 elements", "launch, the stream held", "replay, each of 3 nodes"}


def test_the_page_of_the_machine_tells_of_it(made: tuple[str, Path]) -> None:
    page = (made[1] / "README.md").read_text(encoding="utf-8")
    assert "## What the host costs on the CPU" in page
    assert "### What was tried for the host\n\nNothing yet.\n" in page
    assert "**A trial." in page
    assert "| load of other processes |" in page


def test_there_is_a_picture_where_it_can_be_drawn(made: tuple[str, Path]) -> None:
    pytest.importorskip("matplotlib")
    assert (made[1] / "host_cpu.png").read_bytes().startswith(b"\x89PNG")


def test_the_data_say_all_that_was_found(made: tuple[str, Path]) -> None:
    text = (made[1] / "host_cpu.json").read_text(encoding="utf-8")
    assert host_report.written(host_report.read(text)) == text


def test_torch_takes_part_where_it_is() -> None:
    pytest.importorskip("torch")
    ways = host_ways.Ways(host_places.place_of("cpu", host_places.torch_or_none("cpu")), [2], batch=2)
    try:
        theirs = [way for way in ways.all() if way.who == "torch"]
        assert {way.what for way in theirs} == {"sync each", "chained", "launch", "empty", "zeros", "copy"}
        assert host.checked(theirs) == []
    finally:
        ways.close()


def test_a_wrong_result_is_found() -> None:
    wrong = host_ways.Way("nothing", "nobody", 1, lambda: 1e-6, tp.zeros(4))
    assert host.checked([wrong]) == ["nobody, nothing, 1 operations: 1 + 2 is not 3 everywhere"]


def test_leases_are_left_out_only_meanwhile() -> None:
    place, args = host_places.OnCpu(None), tuple(tp.full(8, value) for value in (0, 1, 2))
    submit = CpuStream.submit
    stream = tp.current_stream()
    with place.without_leases(args) as launch, place.held(stream):
        launch()
        assert not args[0].is_in_flight
    with place.with_leases(args) as launch, place.held(stream):
        launch()
        assert args[0].is_in_flight
    assert CpuStream.submit is submit
    assert args[0].tolist() == [3.0] * 8


def test_what_cannot_run_is_refused_before_anything_is_timed() -> None:
    with pytest.raises(SystemExit, match="at least 1"):
        host.main(["--operations", "0"])


# What figures say.


def found(device: str, load: float = 0.0, **times: tuple[float, ...]) -> Found:
    """What was found if these were the times, by `what` or `torch_what`."""
    figures = {}
    for name, rounds in times.items():
        who = "torch" if name.startswith("torch_") else "tileproof"
        figures[name.removeprefix("torch_").replace("_", " "), who, 10] = Figure(rounds)
    return Found(device, figures, {"machine": "made up"}, load=load)


def verdicts(told: Found) -> dict[str, str]:
    return {line.what: line.verdict for line in host_report.lines(told)}


def test_a_launch_on_a_gpu_is_judged_by_torch_and_one_on_the_cpu_by_the_clock() -> None:
    times: dict[str, Any] = {"launch": (4.0, 5.0, 4.5), "torch_launch": (9.0, 9.0, 9.0)}
    assert verdicts(found("cuda", **times))["launch, 1024 elements"] == "met: <= 0.6 x torch"
    assert verdicts(found("cpu", **times))["launch, 1024 elements"] == "met: <= 8 us"
    times["launch"] = (8.5, 8.5, 8.5)
    assert verdicts(found("cuda", **times))["launch, 1024 elements"] == "MISSED: <= 0.6 x torch"
    assert verdicts(found("cpu", **times))["launch, 1024 elements"] == "MISSED: <= 8 us"
    assert "MISSED: launch, 1024 elements: 8.50 (8.50 to 8.50) us" in host_report.summary(found("cpu", **times))


def test_without_torch_a_goal_against_it_is_not_judged() -> None:
    told = found("cuda", launch=(4.0,))
    assert verdicts(told)["launch, 1024 elements"] == "not judged: <= 0.6 x torch"
    assert host_report.summary(told) == "0 of 0 goals met"


def test_on_a_busy_machine_no_goal_is_judged() -> None:
    told = found("cpu", load=0.7, launch=(9.0,))
    assert verdicts(told)["launch, 1024 elements"] == "loaded, not judged: <= 8 us"
    assert host_report.summary(told).splitlines()[1].startswith("loaded: other processes kept 0.7 cores busy")


def test_differences_are_of_the_same_round() -> None:
    told = found(
        "cuda", leases=(5.0, 15.0, 6.0), no_leases=(4.5, 14.5, 5.5), chained=(2.0, 2.0, 2.0),
        run_chain=(3.0, 3.0, 3.0), awaited_chain=(5.0, 7.0, 6.5),
    )  # fmt: skip
    parts = {line.what: line for line in host_report.lines(told)}
    assert parts["leases of a launch, one stream"].ours.rounds == (0.5, 0.5, 0.5)
    assert parts["leases of a launch, one stream"].verdict == "met: <= 1 us"
    assert parts["await of a chain of 10 over its run"].ours.rounds == (20.0, 40.0, 35.0)
    assert parts["await of a chain of 10 over its run"].verdict == "MISSED: <= 30 us"
    assert parts["run of a chain of 10 over plain launches"].ours.median == 10.0


def test_the_spread_leaves_out_a_tenth_at_each_end() -> None:
    figure = Figure((100.0, *map(float, range(1, 19)), 0.0))
    assert figure.spread == (2.0, 17.0)
    assert figure.median == 9.5
