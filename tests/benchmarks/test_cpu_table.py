"""The CPU benchmark at tiny sizes, without torch: all it promises to write is there. Times are not looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks.book import cpu_slug  # noqa: E402

from benchmarks import cpu_report  # noqa: E402

CHOSEN = ("saxpy", "rms_norm", "matvec", "matmul_int8", "launch")
KERNELS = (
    "saxpy", "rms_norm", "add_rms_norm", "matmul int8", "matvec bf16 weights", "matvec int8 weights",
    "matvec int4 weights",
)  # fmt: skip


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The benchmark in a process of its own, where torch cannot be imported."""
    (folder / "torch.py").write_text("raise ImportError\n", encoding="utf-8")
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", "cpu", *options],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What a run printed, and the folder it saved into, where people had written something."""
    folder = tmp_path_factory.mktemp("bench")
    results = folder / "results"
    saved = results / cpu_slug()
    saved.mkdir(parents=True)
    (saved / "tried.md").write_text("# cpu\n\nNothing yet.\n", encoding="utf-8")
    options = ("--small", "--seconds", "0", "--threads", "1", "2", "--save", str(results), "--rows", *CHOSEN)
    done = run(folder, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, saved


def data(made: tuple[str, Path]) -> Any:
    return json.loads((made[1] / "cpu.json").read_text(encoding="utf-8"))


def test_every_chosen_kernel_has_a_line_for_each_number_of_threads(made: tuple[str, Path]) -> None:
    lines = [(row["kernel"], row["threads"]) for row in data(made)["rows"]]
    assert lines == [(name, threads) for name in KERNELS for threads in (1, 2)]
    for name in KERNELS:
        assert sum(line.startswith(name) for line in made[0].splitlines()) >= 2


def test_results_are_compared_with_the_right_ones(made: tuple[str, Path]) -> None:
    assert [row["problem"] for row in data(made)["rows"]] == [""] * 2 * len(KERNELS)


def test_without_torch_its_column_is_empty_and_the_limit_is_still_there(made: tuple[str, Path]) -> None:
    for row in data(made)["rows"]:
        assert row["torch"] is None
        assert row["against_torch"] is None
        assert row["of_limit"] > 0


def test_each_step_of_compiling_is_told(made: tuple[str, Path]) -> None:
    for row in data(made)["rows"]:
        assert set(row["compile"]) == {"front_end", "proof", "lowering", "llvm", "load"}
        assert min(row["compile"].values()) > 0


def test_each_row_says_what_it_launches(made: tuple[str, Path]) -> None:
    for row in data(made)["rows"]:
        assert row["how"]
    assert data(made)["rows"][2]["how"][0].startswith("rms_norm_kernel ")


def test_the_page_of_the_machine_tells_of_it(made: tuple[str, Path]) -> None:
    page = (made[1] / "README.md").read_text(encoding="utf-8")
    assert "### What was tried on the CPU\n\nNothing yet.\n" in page
    assert page.count("| rms_norm | 16 x 256 |") == 2


def test_a_run_of_some_rows_leaves_the_others(made: tuple[str, Path]) -> None:
    before = cpu_report.kept(made[1])
    assert before is not None
    one = replace(before.lines[0], size="another")
    after = before.joined(cpu_report.Found((one,), (), before.machine))
    assert [line.size for line in after.lines] == ["another", *(line.size for line in before.lines[1:])]
    assert after.launches == before.launches
    assert cpu_report.read(cpu_report.written(after)) == after


def test_launches_of_almost_nothing_are_timed(made: tuple[str, Path]) -> None:
    assert [(each["programs"], each["threads"]) for each in data(made)["launches"]] == [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_a_row_that_does_not_exist_is_refused_by_name(tmp_path: Path) -> None:
    done = run(tmp_path, "--rows", "sofmax")
    assert done.returncode == 1
    assert "no row has sofmax in its name; there are: add, saxpy" in done.stderr
