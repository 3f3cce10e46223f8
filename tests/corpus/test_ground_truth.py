"""The labels of the corpus are true: the interpreter sees each fault, and none where there is none.

The fast tier runs a part of the kernels, in one order or another; it refuses every wrong launch and every wrong text.
"""

from __future__ import annotations

import ast
import keyword
import re
import textwrap
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tileproof as tp

from . import SAFE, UNSAFE
from .case import Case
from .judge import OF_THE_LAUNCH

SEEN = {"race": tp.Race, "bounds": tp.OutOfBounds, "coverage": tp.Unwritten}
"""What the interpreter raises where a kernel has the fault."""
KEPT = {*dir(tp), *keyword.kwlist, "range"}
WORD = re.compile(r"(?<!\.)\b[A-Za-z_]\w*")


def having(*faults: str) -> list[Case]:
    """Unsafe cases by fault."""
    return [case for case in UNSAFE if case.fault in faults]


def name(case: Case) -> str:
    """The id of a test."""
    return f"{case.fault}-{case.kernel.name}" if case.fault else case.kernel.name


def contents(arguments: list[Any]) -> list[bytes]:
    """All that the arguments hold."""
    return [np.asarray(argument).tobytes() for argument in arguments]


def shape(kernel: tp.Kernel) -> str:
    """A kernel's text without its docstring, and with its own names numbered in the order they occur."""
    tree = ast.parse(textwrap.dedent("".join(kernel.source_lines)))
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == kernel.name)
    if ast.get_docstring(function):
        del function.body[0]
    numbers: dict[str, str] = {}
    return WORD.sub(
        lambda word: word[0] if word[0] in KEPT else numbers.setdefault(word[0], f"_{len(numbers)}"),
        ast.unparse(function),
    )


@pytest.mark.sweep(60)
@pytest.mark.parametrize("order", ["forward", "reverse", 3])
@pytest.mark.parametrize("case", SAFE, ids=name)
def test_a_safe_kernel_runs_clean(case: Case, order: Any) -> None:
    for arguments, constants in case.launches():
        tp.interpret(case.kernel, *arguments, order=order, **constants)


@pytest.mark.sweep(60)
@pytest.mark.parametrize("case", having("race", "bounds", "coverage"), ids=name)
def test_the_interpreter_sees_the_fault(case: Case) -> None:
    assert case.fault is not None
    raised = []
    for arguments, constants in case.launches():
        try:
            tp.interpret(case.kernel, *arguments, **constants)
        except tp.SanitizerError as error:
            raised.append(type(error))
    assert set(raised) == {SEEN[case.fault]}


@pytest.mark.parametrize("case", having("dimension", "access"), ids=name)
def test_the_front_end_refuses_the_kernel(case: Case) -> None:
    for arguments, constants in case.launches():
        with pytest.raises(tp.KernelError):
            tp.interpret(case.kernel, *arguments, **constants)


@pytest.mark.parametrize("case", having(*OF_THE_LAUNCH), ids=name)
def test_a_wrong_launch_is_refused_and_changes_nothing(case: Case) -> None:
    for arguments, constants in case.launches():
        before = contents(arguments)
        with pytest.raises(tp.LaunchError):
            case.kernel(*arguments, **constants)
        assert contents(arguments) == before


def test_no_kernel_occurs_twice() -> None:
    kernels = {id(case.kernel): case.kernel for case in SAFE + UNSAFE}.values()
    assert [twin for twin, count in Counter(map(shape, kernels)).items() if count > 1] == []


def test_no_case_occurs_twice() -> None:
    assert [twin for cases in (SAFE, UNSAFE) for twin, count in Counter(map(name, cases)).items() if count > 1] == []
