"""`python -m tools.report`: what it finds out about a package, and how it says so on a terminal and as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
import webbrowser
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from report_samples import JUNIT, make
from tools.report import facts, proving
from tools.report.facts import KernelFacts, Library, Outcome, Report, read, written
from tools.report.page import page

from support.cli_samples import GOOD, Ran

Run = Callable[..., Ran]
Write = Callable[[str, str], str]
_numbers = count()
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def package(write: Write) -> str:
    """A package of a name of its own, in a checkout of its own."""
    return make(write, f"shelves{next(_numbers)}")


@pytest.fixture
def report(run_report: Run, package: str) -> Report:
    return reported(run_report, package)


def reported(run_report: Run, *arguments: str) -> Report:
    ran = run_report(*arguments, "--format", "json")
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
    result = kernel(report, "permute_kernel")
    (block,) = result.unsafe
    assert (block.holder, block.reason) == ("kernel permute_kernel", "order is a permutation: the host sorted it")
    assert [each.partition(": ")[2] for each in result.proof.raw] == ["tp.raw.load(x, order[n])"]
    assert report.libraries[0].audited.blocks == (block,)


def test_what_a_launch_looks_at_is_told(report: Report) -> None:
    proof = kernel(report, "pick_kernel").proof
    assert [(content.tensor, content.type) for content in proof.contents] == [("ids", 'Index["V"]')]
    assert proof.contracts == ('`tp.require(tp.dim("V") >= 1)`',)
    assert any("ids holds" in each.reason and each.rung == 3 for each in proof.settled)


def test_functions_are_those_that_the_package_lists(report: Report) -> None:
    functions = {function.name: function for function in report.libraries[0].functions}
    assert set(functions) == {"take", "pick", "pick_backward", "permute"}
    assert functions["pick"].kernels == ("pick_kernel",)
    assert functions["pick"].gradient == "pick_backward"
    assert (functions["pick"].signature, functions["pick"].doc) == (
        "(y, x, ids, out=None)",
        "Rows of x, by numbers that are looked at first.",
    )
    assert kernel(report, "pick_kernel").function == "pick"
    assert kernel(report, "turn_kernel").function == ""
    assert [family.name for family in report.libraries[0].families] == ["shelf", "wrong"]


def test_what_a_package_lists_and_does_not_have_is_a_problem(run_report: Run, write: Write) -> None:
    name = f"lists{next(_numbers)}"
    write(f"{name}/__init__.py", 'FAMILIES = {"good": "double", "gone": "twice"}')
    write(f"{name}/good.py", GOOD)
    (library,) = reported(run_report, name).libraries
    assert library.problems == (
        f"`{name}.good` has no function `double`", f"`{name}` names a family `gone`, which is not there",
    )  # fmt: skip


def test_a_kernel_made_inside_a_function_is_named_and_the_exit_code_says_so(run_report: Run, package: str) -> None:
    ran = run_report(package)
    assert ran.code == 1
    assert f"`hidden` ({package}/wrong.py:13) is made inside a function" in ran.out


def test_tests_come_from_a_junit_file_and_are_those_that_name_a_kernel_or_its_function(
    run_report: Run, write: Write, package: str, report: Report
) -> None:
    assert not any(each.tested for each in (*report.libraries[0].kernels, *report.libraries[0].functions))
    report = reported(run_report, package, "--junit", write("junit.xml", JUNIT))
    file, cases = "tests/test_shelf.py", "test_cases_are_right"
    assert {each.name: each.tested for each in report.libraries[0].kernels} == {
        "take_kernel": (facts.Tested(file, (cases,), Outcome(passed=1)),),
        "pick_kernel": (facts.Tested(file, (cases,), Outcome(passed=1, skipped=1)),),
        "permute_kernel": (facts.Tested(file, ("test_permute",), Outcome(failed=1)),),
        "turn_kernel": (),
    }
    assert [function.name for function in report.libraries[0].functions if function.tested] == ["pick", "permute"]


def test_benchmarks_are_rows_that_launched_the_kernel(report: Report) -> None:
    rows = {each.row: each for each in kernel(report, "pick_kernel").measured}
    assert set(rows) == {"pick 4096", "pick"}
    gpu, cpu = rows["pick 4096"], rows["pick"]
    assert (gpu.ratio, gpu.peer, gpu.of_limit, gpu.device) == (1.25, "Triton", 0.91, "NVIDIA H200")
    assert (cpu.ratio, cpu.peer, cpu.date, cpu.size) == (0.5, "torch", "2026-11-14", "1M, 2 threads")
    assert cpu.verdict == "MISSED: 0.50 x torch, not 1"
    assert kernel(report, "take_kernel").measured == ()


def test_what_is_not_there_is_said_to_be_missing(run_report: Run, write: Write) -> None:
    ran = run_report(write("double.py", GOOD))
    assert ran.code == 0
    assert "double: The one kernel is proved safe before it runs." in ran.out
    assert "tests: no results were given; --junit" in ran.out
    assert "benchmarks: none are here; --results" in ran.out


def test_tuning_records_are_told_also_where_they_are_stale(
    run_report: Run, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write("tuned.py", TUNED)
    entry = {"element": "f32", "sizes": {"N": 64}, "kernel": "double", "constants": {"B": 64}, "schedule": {},
             "seconds": 1.0, "default_seconds": 2.0}  # fmt: skip
    messages = {"source": "0", "tileproof": "0", "assembler": "13.0", "device": "NVIDIA H200", "date": "2026-11-15"}
    record = {"format": 1, "tunable": "double", "target": "sm_90", "provenance": messages, "entries": [entry]}
    write("records/double.sm_90.json", json.dumps(record))
    write("records/double.sm_80.json", "{")
    monkeypatch.setenv("TILEPROOF_RECORDS_DIR", str(tmp_path / "records"))
    tuned = kernel(reported(run_report, "tuned.py"), "double").tuned
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


def test_the_table_has_a_line_for_every_kernel(run_report: Run, package: str) -> None:
    ran = run_report(package)
    lines = {
        line.split()[0]: line.split() for line in ran.out.splitlines() if line.startswith("  ") and "_kernel" in line
    }
    assert {"take_kernel", "pick_kernel", "permute_kernel", "turn_kernel"} <= set(lines)
    assert lines["turn_kernel"][1] == "refused"
    assert lines["permute_kernel"][1].startswith("unsafe")
    assert "1 of 4 kernels is proved, 1 keeps checks for run time, 1 is unsafe, 1 is refused." in ran.out
    assert "1 unsafe block in 3 files" in ran.out


def test_several_libraries_make_one_report(run_report: Run, write: Write, package: str) -> None:
    write("more/double.py", GOOD)
    report = reported(run_report, package, "more")
    assert [library.name for library in report.libraries] == [package, "more"]
    assert [each.name for each in report.libraries[1].kernels] == ["double"]


def test_versions_are_told(report: Report) -> None:
    assert {"tileproof", "Python", "assembler for GPUs", "z3-solver"} <= set(report.versions)


def test_the_machine_is_not_in_it(run_report: Run, package: str, tmp_path: Path) -> None:
    ran = run_report(package, "--format", "html")
    assert str(tmp_path) not in ran.out


def test_a_file_is_written_and_opened(
    run_report: Run, package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    ran = run_report(package, "--open")
    assert "written: tileproof-report.html" in ran.out
    assert opened == [(tmp_path / "tileproof-report.html").resolve().as_uri()]
    assert (tmp_path / "tileproof-report.html").read_text().startswith("<!DOCTYPE html>")


def test_the_name_of_the_file_chooses_the_format(run_report: Run, write: Write, tmp_path: Path) -> None:
    write("double.py", GOOD)
    for name, begins in (("r.html", "<!DOCTYPE"), ("r.json", "{"), ("r.txt", "double: The one kernel")):
        assert run_report("double.py", "--out", name).code == 0
        assert (tmp_path / name).read_text().startswith(begins)


def test_where_no_browser_starts_it_says_so(run_report: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    ran = run_report(write("double.py", GOOD), "--open", "--out", "r.html")
    assert "open the file yourself" in ran.out


# What is typed wrongly.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tileproof.kernel"], "did you mean `tileproof.kernels`?"),
        (["tileprof.kernels"], "did you mean `tileproof.kernels`?"),
        (["./shelf"], "there is no such file or folder; did you mean `shelf.py`?"),
        (["math"], "it is no Python file"),
        (["shelf.py", "--results", "nowhere"], "--results nowhere: there is no such folder"),
        (["shelf.py", "--junit", "nowhere.xml"], "--junit nowhere.xml: No such file"),
        (["shelf.py", "--junit", "shelf.py"], "--junit shelf.py: not XML"),
        (["shelf.py", "--out", "nowhere/r.html"], "there is no folder nowhere"),
        (["shelf.py", "--open", "--format", "json"], "--open shows a page"),
        (["shelf.py", "--jobs", "0"], "at least one must run"),
    ],
)
def test_a_wrong_command_says_what_is_right(run_report: Run, write: Write, arguments: list[str], message: str) -> None:
    write("shelf.py", GOOD)
    ran = run_report(*arguments)
    assert (ran.code, message in ran.err) == (2, True), ran.err


def test_a_file_that_cannot_be_imported_is_a_problem(run_report: Run, write: Write) -> None:
    name = f"halves{next(_numbers)}"
    write(f"{name}/__init__.py", "")
    write(f"{name}/good.py", GOOD)
    write(f"{name}/bad.py", "import nowhere_at_all  # a kernel\n")
    ran = run_report(name)
    assert ran.code == 1
    assert f"not looked at: importing `{name}.bad` raises ModuleNotFoundError" in ran.out
    assert "double" in ran.out


# What is kept.


def test_a_kernel_is_proved_once_and_anew_when_it_changes(
    run_report: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    proved: list[str] = []
    real = proving.proof_of
    monkeypatch.setattr(proving, "proof_of", lambda one, root: proved.append(one.name) or real(one, root))
    text = GOOD + "# kept by this test alone\n"
    first = reported(run_report, write("double.py", text))
    assert reported(run_report, "double.py").libraries == first.libraries
    assert proved == ["double"]
    write("double.py", text.replace("* 2", "* 3"))
    reported(run_report, "double.py")
    assert proved == ["double", "double"]


def test_a_captured_value_that_changes_is_proved_anew(
    run_report: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = GOOD.replace("import tileproof as tp", "import os\nimport tileproof as tp\nLOW = int(os.environ['LOW'])")
    write("double.py", text.replace("y[i] = x[i] * 2", "y[i] = x[i] * LOW"))
    proved: list[str] = []
    real = proving.proof_of
    monkeypatch.setattr(proving, "proof_of", lambda one, root: proved.append(one.name) or real(one, root))
    for low in ("3", "4", "3"):
        monkeypatch.setenv("LOW", low)
        reported(run_report, "double.py")
    assert proved == ["double", "double"]


@pytest.mark.slow
def test_many_kernels_are_proved_by_several_processes_alike(
    run_report: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def many(low: int) -> str:
        each = GOOD.partition("@tp.kernel")[2]
        return GOOD + "".join(f"@tp.kernel{each.replace('double', f'double_{number}')}" for number in range(low))

    write("many.py", many(11))
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", "off")
    several: Library = reported(run_report, "many.py", "--jobs", "2").libraries[0]
    alone: Library = reported(run_report, "many.py", "--jobs", "1").libraries[0]
    assert several == alone
    assert all(each.state == "proved" for each in several.kernels)


def test_it_runs_as_a_module_of_the_checkout(write: Write, tmp_path: Path) -> None:
    write("double.py", GOOD)
    command = [sys.executable, "-m", "tools.report"]
    ran = subprocess.run([*command, str(tmp_path / "double.py")], cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout.partition("\n")[0]) == (
        0, "double: The one kernel is proved safe before it runs."
    ), ran.stderr  # fmt: skip
    ran = subprocess.run([*command, "--help"], cwd=ROOT, capture_output=True, text=True)
    for word in ("--open", "--junit", "--results", "PACKAGE_OR_FOLDER", "examples:"):
        assert word in ran.stdout


@pytest.mark.parametrize("text", ["kernel = 1\0\n", "kernel = " + "(" * 300 + ")" * 300, "kernel = (\n"])
def test_a_file_that_is_not_python_is_listed(text: str, run_report: Run, write: Write) -> None:
    ran = run_report(write("odd.py", text))
    assert (ran.code, "odd.py" in ran.out) == (1, True)
