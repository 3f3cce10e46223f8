"""The host benchmark with tiny counts: all it promises to write is there. Only times that are made up are judged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.harness import result
from benchmarks.harness.device import cpu_slug
from benchmarks.harness.result import Line, Results
from benchmarks.host import command, places, ways

import tileproof as tp
from tileproof.runtime.stream.cpu_streams import CpuStream

ROOT = Path(__file__).resolve().parents[2]
TINY = ("--operations", "1", "3", "--rounds", "2", "--turn", "0", "--batch", "4")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Results]:
    """What a run without torch printed, the folder it saved into, and its data."""
    folder = tmp_path_factory.mktemp("host")
    (folder / "torch.py").write_text("raise ImportError\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "host", *TINY, "--save", str(folder / "results"), "--note", "A trial."],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "src")])},
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    saved = folder / "results" / cpu_slug()
    return done.stdout, saved, result.kept(saved / "host_cpu.json")


def test_every_part_and_every_number_of_operations_is_timed(made: tuple[str, Path, Results]) -> None:
    lines = {line.name: line for line in made[2].lines}
    for name in (
        "launch, 1024 elements", "launch, the stream held", "leases of a launch, two streams",
        "await of a chain of 3 over its run, each", "replay, each of 3 nodes", "tp.empty", "tp.copy, 4 KiB",
        *(f"{what} {count}" for what in ways.COUNTED for count in (1, 3)),
    ):  # fmt: skip
        ours = lines[name].tileproof
        assert ours is not None
        assert len(ours.rounds) == 2
        assert (lines[name].peers, [*lines[name].yardsticks]) == ({}, ["Python call"])
        assert any(line.startswith(name) for line in made[0].splitlines())
    judged = {line.name for line in made[2].lines if line.goals}
    assert judged == {"launch, 1024 elements", "launch, the stream held", "replay, each of 3 nodes"}


def test_the_page_of_the_machine_shows_it(made: tuple[str, Path, Results]) -> None:
    page = (made[1] / "README.md").read_text(encoding="utf-8")
    for text in ("## What the host costs on the CPU", "| note | A trial. |", "|  | 1 | 3 |"):
        assert text in page


def test_torch_takes_part_where_it_is() -> None:
    pytest.importorskip("torch")
    result = ways.Ways(places.place_of("cpu", places.torch_or_none("cpu")), [2], batch=2)
    try:
        theirs = [way for way in result.all() if way.who == "torch"]
        assert {way.what for way in theirs} == {"sync each", "chained", "launch", "empty", "zeros", "copy"}
        assert command.checked(theirs) == []
    finally:
        result.close()


def test_a_wrong_result_is_found() -> None:
    wrong = ways.Way("nothing", "nobody", 1, lambda: 1e-6, tp.zeros(4))
    assert command.checked([wrong]) == ["nobody, nothing, 1 operations: 1 + 2 is not 3 everywhere"]


def test_leases_are_left_out_only_meanwhile() -> None:
    place, args = places.OnCpu(None), tuple(tp.full(8, value) for value in (0, 1, 2))
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


def test_what_cannot_run_is_rejected_before_anything_is_timed() -> None:
    with pytest.raises(SystemExit, match="at least 1"):
        command.main(["--operations", "0"])


def lines(device: str, load: float = 0.0, **times: tuple[float, ...]) -> dict[str, Line]:
    """Lines if these were the microseconds of each round, by `what` or `torch_what`."""
    results = {}
    for name, rounds in times.items():
        who = "torch" if name.startswith("torch_") else "tileproof"
        results[name.removeprefix("torch_").replace("_", " "), who, 10] = tuple(1e-6 * each for each in rounds)
    return {line.name: line for line in command.lines_of(results, device, load)}


def test_a_launch_on_a_gpu_is_judged_by_torch_and_one_on_the_cpu_by_the_clock() -> None:
    times: dict[str, Any] = {"launch": (4.0, 5.0, 4.5), "torch_launch": (9.0, 9.0, 9.0)}
    name = "launch, 1024 elements"
    assert lines("cuda", **times)[name].verdict == "met: 0.50 for <= 0.60 x torch"
    assert lines("cpu", **times)[name].verdict == "met: 4.50 us for <= 8.00 us"
    times["launch"] = (8.5, 8.5, 8.5)
    assert lines("cuda", **times)[name].verdict == "MISSED: 0.94 for <= 0.60 x torch"
    assert lines("cpu", **times)[name].verdict == "MISSED: 8.50 us for <= 8.00 us"
    assert lines("cuda", launch=(4.0,))[name].verdict == "not judged: <= 0.60 x torch"
    assert lines("cpu", load=0.7, launch=(9.0,))[name].verdict == "not judged, loaded: <= 8.00 us"


def test_differences_are_taken_round_by_round() -> None:
    parts = lines(
        "cuda", leases=(5.0, 15.0, 6.0), no_leases=(4.5, 14.5, 5.5), chained=(2.0, 2.0, 2.0),
        run_chain=(3.0, 3.0, 3.0), awaited_chain=(5.0, 7.0, 6.5),
    )  # fmt: skip
    leases = parts["leases of a launch, one stream"]
    assert leases.tileproof is not None
    assert leases.tileproof.rounds == pytest.approx((0.5e-6,) * 3)
    assert leases.verdict == "met: 0.50 us for <= 1.00 us"
    assert parts["await of a chain of 10 over its run, each"].verdict == "MISSED: 3.50 us for <= 3.00 us"
    assert parts["run of a chain of 10 over plain launches, each"].tileproof.value == pytest.approx(1e-6)  # type: ignore[union-attr]
