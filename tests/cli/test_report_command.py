"""`tileproof report`: what it finds out about a package, and how it says so on a terminal and as JSON."""

from __future__ import annotations

import json
import webbrowser
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from cli_samples import GOOD, Ran
from report_samples import JUNIT, make

from tileproof.cli.reporting import proving
from tileproof.cli.reporting.facts import KernelFacts, Library, Outcome, Report, read, written
from tileproof.cli.reporting.page import page

Run = Callable[..., Ran]
Write = Callable[[str, str], str]
_numbers = count()


@pytest.fixture
def package(write: Write) -> str:
    """A package of a name of its own, in a checkout of its own."""
    return make(write, f"shelves{next(_numbers)}")


@pytest.fixture
def report(tileproof: Run, package: str) -> Report:
    return reported(tileproof, package)


def reported(tileproof: Run, *arguments: str) -> Report:
    ran = tileproof("report", *arguments, "--format", "json")
    assert ran.code in (0, 1), ran.err
    return read(Report, json.loads(ran.out))


def kernel(report: Report, name: str) -> KernelFacts:
    return next(each for each in report.libraries[0].kernels if each.name == name)


# What it finds out.


def test_every_kernel_has_its_verdict(report: Report) -> None:
    states = {each.name: each.state for each in report.libraries[0].kernels}
    assert states == {
        "take_kernel": "checked",
        "pick_kernel": "proved",
        "permute_kernel": "unsafe",
        "turn_kernel": "refused",
    }
    assert kernel(report, "pick_kernel").proof.scope == "for all constants"
    assert "TP0301" in kernel(report, "turn_kernel").proof.findings[0]


def test_a_check_at_run_time_is_told_with_its_reason(report: Report) -> None:
    (check,) = kernel(report, "take_kernel").proof.checks
    assert (check.what, check.rung, check.by) == ("x[rows[n], d]", 5, "pre-check")
    assert check.reason.startswith("0 <= rows[n] < V")


def test_an_unsafe_block_is_told_with_its_reason_and_what_stands_in_it(report: Report) -> None:
    found = kernel(report, "permute_kernel")
    (block,) = found.unsafe
    assert (block.holder, block.reason) == ("kernel permute_kernel", "order is a permutation: the host sorted it")
    assert [each.partition(": ")[2] for each in found.proof.raw] == ["tp.raw.load(x, order[n])"]
    assert report.libraries[0].audited.blocks == (block,)


def test_what_a_launch_looks_at_is_told(report: Report) -> None:
    proof = kernel(report, "pick_kernel").proof
    assert [(each.tensor, each.type) for each in proof.contents] == [("ids", 'Index["V"]')]
    assert proof.contracts == ('`tp.require(tp.dim("V") >= 1)`',)
    assert any("ids holds" in each.reason and each.rung == 3 for each in proof.settled)


def test_functions_are_those_that_launch_kernels(report: Report) -> None:
    functions = {each.name: each for each in report.libraries[0].functions}
    assert set(functions) == {"taken", "picked", "picked_backward", "permuted"}
    assert functions["picked"].kernels == ("pick_kernel",)
    assert functions["picked"].gradient == "picked_backward"
    assert (functions["picked"].signature, functions["picked"].doc) == (
        "(y, x, ids, out=None)",
        "Rows of x, by numbers that are looked at first.",
    )
    assert kernel(report, "pick_kernel").functions[0] in ("picked", "picked_backward")


def test_a_kernel_made_inside_a_function_is_named_and_the_exit_code_says_so(tileproof: Run, package: str) -> None:
    ran = tileproof("report", package)
    assert ran.code == 1
    assert f"`hidden` ({package}/wrong.py:13) is made inside a function" in ran.out


def test_tests_are_found_through_cases_helpers_and_other_names(report: Report) -> None:
    found = {each.name: [test for one in each.tested for test in one.tests] for each in report.libraries[0].kernels}
    assert found == {
        "pick_kernel": ["test_cases_are_right"],
        "permute_kernel": ["test_permuted"],
        "take_kernel": ["test_through_a_helper"],
        "turn_kernel": [],
    }


def test_results_of_tests_come_from_a_junit_file(tileproof: Run, write: Write, package: str) -> None:
    report = reported(tileproof, package, "--junit", write("junit.xml", JUNIT))
    outcomes = {each.name: each.tested[0].outcome for each in report.libraries[0].functions if each.tested}
    assert outcomes == {"picked": Outcome(passed=1, skipped=1), "permuted": Outcome(failed=1)}


def test_benchmarks_are_rows_that_launched_the_kernel(report: Report) -> None:
    rows = {each.row: each for each in kernel(report, "pick_kernel").measured}
    assert set(rows) == {"picked 4096", "picked"}
    gpu, cpu = rows["picked 4096"], rows["picked"]
    assert (gpu.ratio, gpu.peer, gpu.of_limit, gpu.device) == (1.25, "Triton", 0.91, "NVIDIA H200")
    assert (cpu.ratio, cpu.peer, cpu.date, cpu.size) == (0.5, "torch", "2026-11-14", "1M, 2 threads")
    assert cpu.verdict == "MISSED: 0.50 x torch, not 1"
    assert kernel(report, "take_kernel").measured == ()


def test_what_is_not_there_is_said_to_be_missing(tileproof: Run, write: Write) -> None:
    ran = tileproof("report", write("double.py", GOOD))
    assert ran.code == 0
    assert "double: The one kernel is proved safe before it runs." in ran.out
    assert "tests: not in this installation" in ran.out
    assert "benchmarks: not in this installation" in ran.out


def test_tuning_records_are_told_also_where_they_are_stale(
    tileproof: Run, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write("tuned.py", TUNED)
    entry = {"element": "f32", "sizes": {"N": 64}, "kernel": "double", "constants": {"B": 64}, "schedule": {},
             "seconds": 1.0, "default_seconds": 2.0}  # fmt: skip
    told = {"source": "0", "tileproof": "0", "assembler": "13.0", "device": "NVIDIA H200", "date": "2026-11-15"}
    record = {"format": 1, "tunable": "double", "target": "sm_90", "provenance": told, "entries": [entry]}
    write("records/double.sm_90.json", json.dumps(record))
    write("records/double.sm_80.json", "{")
    monkeypatch.setenv("TILEPROOF_RECORDS_DIR", str(tmp_path / "records"))
    tuned = kernel(reported(tileproof, "tuned.py"), "double").tuned
    assert [(each.target, each.shapes, each.device) for each in tuned] == [
        ("sm_80", 0, ""),
        ("sm_90", 1, "NVIDIA H200"),
    ]
    assert "is damaged" in tuned[0].stale
    assert tuned[1].stale.startswith("the kernels of `double` have changed since")


TUNED = (
    GOOD
    + """
from tileproof.tuning import Choice, Tunable

TUNABLES = (Tunable("double", (double,), lambda sizes, target: Choice(double), lambda sizes, target: ()),)
"""
)


# How it says so.


def test_json_makes_the_same_page(report: Report) -> None:
    again = read(Report, json.loads(json.dumps(written(report))))
    assert again == report
    assert page(again) == page(report)


def test_the_table_has_a_line_for_every_kernel(tileproof: Run, package: str) -> None:
    ran = tileproof("report", package)
    lines = {
        line.split()[0]: line.split() for line in ran.out.splitlines() if line.startswith("  ") and "_kernel" in line
    }
    assert {"take_kernel", "pick_kernel", "permute_kernel", "turn_kernel"} <= set(lines)
    assert lines["turn_kernel"][1] == "refused"
    assert lines["permute_kernel"][1].startswith("unsafe")
    assert "1 of 4 kernels is proved, 1 keeps checks for run time, 1 is unsafe, 1 is refused." in ran.out
    assert "1 unsafe block in 3 files" in ran.out


def test_several_libraries_make_one_report(tileproof: Run, write: Write, package: str) -> None:
    write("more/double.py", GOOD)
    report = reported(tileproof, package, "more")
    assert [each.name for each in report.libraries] == [package, "more"]
    assert [each.name for each in report.libraries[1].kernels] == ["double"]


def test_versions_are_told(report: Report) -> None:
    assert {"tileproof", "Python", "assembler for GPUs", "z3-solver"} <= set(report.versions)


def test_the_machine_is_not_in_it(tileproof: Run, package: str, tmp_path: Path) -> None:
    ran = tileproof("report", package, "--format", "html")
    assert str(tmp_path) not in ran.out


def test_a_file_is_written_and_opened(
    tileproof: Run, package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    ran = tileproof("report", package, "--open")
    assert "written: tileproof-report.html" in ran.out
    assert opened == [(tmp_path / "tileproof-report.html").resolve().as_uri()]
    assert (tmp_path / "tileproof-report.html").read_text().startswith("<!DOCTYPE html>")


def test_the_name_of_the_file_chooses_the_format(tileproof: Run, write: Write, tmp_path: Path) -> None:
    write("double.py", GOOD)
    for name, begins in (("r.html", "<!DOCTYPE"), ("r.json", "{"), ("r.txt", "double: The one kernel")):
        assert tileproof("report", "double.py", "--out", name).code == 0
        assert (tmp_path / name).read_text().startswith(begins)


def test_where_no_browser_starts_it_says_so(tileproof: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    ran = tileproof("report", write("double.py", GOOD), "--open", "--out", "r.html")
    assert "open the file yourself" in ran.out


# What is typed wrongly.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tileproof.kernel"], "did you mean `tileproof.kernels`?"),
        (["tileprof.kernels"], "did you mean `tileproof.kernels`?"),
        (["./shelf"], "there is no such file or folder; did you mean `shelf.py`?"),
        (["math"], "it is no Python file"),
        (["shelf.py", "--tests", "nowhere"], "--tests nowhere: there is no such folder"),
        (["shelf.py", "--results", "nowhere"], "--results nowhere: there is no such folder"),
        (["shelf.py", "--junit", "nowhere.xml"], "say with --tests where the tests are"),
        (["shelf.py", "--junit", "nowhere.xml", "--tests", "."], "--junit nowhere.xml: No such file"),
        (["shelf.py", "--junit", "shelf.py", "--tests", "."], "--junit shelf.py: not XML"),
        (["shelf.py", "--out", "nowhere/r.html"], "there is no folder nowhere"),
        (["shelf.py", "--open", "--format", "json"], "--open shows a page"),
        (["shelf.py", "--jobs", "0"], "at least one must run"),
    ],
)
def test_a_wrong_command_says_what_is_right(tileproof: Run, write: Write, arguments: list[str], said: str) -> None:
    write("shelf.py", GOOD)
    ran = tileproof("report", *arguments)
    assert (ran.code, said in ran.err) == (2, True), ran.err


def test_a_file_that_cannot_be_imported_is_a_problem(tileproof: Run, write: Write) -> None:
    name = f"halves{next(_numbers)}"
    write(f"{name}/__init__.py", "")
    write(f"{name}/good.py", GOOD)
    write(f"{name}/bad.py", "import nowhere_at_all  # a kernel\n")
    ran = tileproof("report", name)
    assert ran.code == 1
    assert f"not looked at: importing `{name}.bad` raises ModuleNotFoundError" in ran.out
    assert "double" in ran.out


# What is kept.


def test_a_kernel_is_proved_once_and_anew_when_it_changes(
    tileproof: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    proved: list[str] = []
    real = proving.proof_of
    monkeypatch.setattr(proving, "proof_of", lambda one, root: proved.append(one.name) or real(one, root))
    text = GOOD + "# kept by this test alone\n"
    first = reported(tileproof, write("double.py", text))
    assert reported(tileproof, "double.py").libraries == first.libraries
    assert proved == ["double"]
    write("double.py", text.replace("* 2", "* 3"))
    reported(tileproof, "double.py")
    assert proved == ["double", "double"]


def test_a_captured_value_that_changes_is_proved_anew(
    tileproof: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = GOOD.replace("import tileproof as tp", "import os\nimport tileproof as tp\nLOW = int(os.environ['LOW'])")
    write("double.py", text.replace("y[i] = x[i] * 2", "y[i] = x[i] * LOW"))
    proved: list[str] = []
    real = proving.proof_of
    monkeypatch.setattr(proving, "proof_of", lambda one, root: proved.append(one.name) or real(one, root))
    for low in ("3", "4", "3"):
        monkeypatch.setenv("LOW", low)
        reported(tileproof, "double.py")
    assert proved == ["double", "double"]


def test_many_kernels_are_proved_by_several_processes_alike(
    tileproof: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def many(low: int) -> str:
        each = GOOD.partition("@tp.kernel")[2]
        return GOOD + "".join(f"@tp.kernel{each.replace('double', f'double_{number}')}" for number in range(low))

    write("many.py", many(11))
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", "off")
    several: Library = reported(tileproof, "many.py", "--jobs", "2").libraries[0]
    alone: Library = reported(tileproof, "many.py", "--jobs", "1").libraries[0]
    assert several == alone
    assert all(each.state == "proved" for each in several.kernels)


def test_help_names_the_options(tileproof: Run) -> None:
    ran = tileproof("report", "--help")
    assert ran.code == 0
    for word in ("--open", "--junit", "--tests", "--results", "PACKAGE_OR_FOLDER", "examples:"):
        assert word in ran.out


@pytest.mark.parametrize("text", ["kernel = 1\0\n", "kernel = " + "(" * 300 + ")" * 300, "kernel = (\n"])
def test_a_file_that_is_not_python_is_listed(text: str, tileproof: Run, write: Write) -> None:
    ran = tileproof("report", write("odd.py", text))
    assert (ran.code, "odd.py" in ran.out) == (1, True)
