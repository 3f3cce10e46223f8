"""z3 is a rung of its own, below all that ships: without it a kernel that it would prove is rejected, and says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tileproof as tp
from corpus import SAFE
from support.source_files import load_file
from tileproof.analysis import smt
from tileproof.compiler.compile import verdict
from tileproof.diagnostics.codes import Code
from tileproof.llm import ModelError
from tileproof.llm.loader.find import resolve

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if "@tp.kernel" in path.read_text())
NOTE = "z3, which might prove it, is not installed: `pip install z3-solver`"


@pytest.fixture
def without_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt, "installed", lambda: None)


def by_z3(kernel: tp.Kernel) -> list[str]:
    """What of a kernel z3 discharges."""
    return [each.what for each in verdict(kernel).discharged if each.reason.endswith("z3")]


def test_z3_still_proves_what_linear_arithmetic_does_not() -> None:
    cases = {case.kernel.name: case.kernel for case in SAFE}
    assert by_z3(cases["leader_append"]) == ["fresh[g, 0, :]"]


def test_without_z3_a_race_that_is_not_proved_away_is_reported_with_a_note(without_z3: None) -> None:
    cases = {case.kernel.name: case.kernel for case in SAFE}
    (finding,) = verdict(cases["leader_append"]).findings
    assert finding.code is Code.DISJOINT_OPEN
    assert NOTE in finding.notes


def test_without_z3_a_bound_becomes_a_check_or_is_reported_with_a_note(without_z3: None) -> None:
    cases = {case.kernel.name: case.kernel for case in SAFE}
    kernel = cases["three_copies"]
    assert any(each.rung >= 5 for each in verdict(kernel).discharged)
    (finding,) = verdict(kernel, deny_checks=True).findings
    assert finding.code is Code.CHECK_DENIED
    assert NOTE in finding.notes


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_no_obligation_of_an_example_rests_on_z3(path: Path) -> None:
    kernels = [value for value in vars(load_file(path)).values() if isinstance(value, tp.Kernel)]
    assert {kernel.name: by_z3(kernel) for kernel in kernels} == {kernel.name: [] for kernel in kernels}


@pytest.mark.slow
def test_eight_sequences_are_generated_where_z3_cannot_be_imported() -> None:
    """The fast tier has every kernel of the library proved without z3: tests/kernels."""
    try:
        model = resolve("smollm2-135m-instruct")
    except ModelError as error:
        pytest.skip(f"SmolLM2 is not here: {error.line}")
    command = [sys.executable, str(ROOT / "tests" / "samples" / "text_without_z3.py"), str(model)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    outputs = json.loads(ran.stdout)
    assert outputs[0] == [" Paris.\n", 3]
    assert [count for _, count in outputs] == [3] * 8
