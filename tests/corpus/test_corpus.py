"""The checker against kernels with known answers: all of them in the fast tier, each judged once."""

from __future__ import annotations

import pytest

from tileproof.compiler.compile import verdict

from . import SAFE, UNSAFE
from .case import Case
from .judge import FIRST_CHECK, OF_THE_LAUNCH, found, runs


def name(case: Case) -> str:
    """The id of a test."""
    return f"{case.fault}-{case.kernel.name}" if case.fault else case.kernel.name


@pytest.mark.parametrize("case", SAFE, ids=name)
def test_a_safe_kernel_is_accepted_and_leaves_no_check_unless_an_index_is_read_from_memory(case: Case) -> None:
    answer = verdict(case.kernel, {})
    assert [finding.message for finding in answer.findings] == []
    assert answer.accepted
    checks = [discharged for discharged in answer.discharged if discharged.rung >= FIRST_CHECK and not case.data]
    assert [(discharged.what, discharged.reason) for discharged in checks] == []
    assert not answer.compares or runs(case, answer)


@pytest.mark.parametrize("case", UNSAFE, ids=name)
def test_an_unsafe_case_is_refused_for_its_fault(case: Case) -> None:
    assert found(case)


@pytest.mark.parametrize("case", [case for case in UNSAFE if case.fault in OF_THE_LAUNCH], ids=name)
def test_a_kernel_is_not_to_blame_for_its_launch(case: Case) -> None:
    assert verdict(case.kernel, {}).accepted
