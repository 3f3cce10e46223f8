"""Mutants are not stale: the text that each edits is there, and so is the test that notices it.

Whether the tests do notice is asked by `python -m tests.mutants`.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache

import pytest

from . import PACKAGES, ROOT, Mutant

MUTANTS = [mutant for mutants in PACKAGES.values() for mutant in mutants]


@cache
def marks_of(file: str) -> dict[str, str]:
    """The tests of a file, and the decorators of each."""
    path = ROOT / file
    body = ast.parse(path.read_text(encoding="utf-8")).body if path.is_file() else []
    return {
        node.name: " ".join(map(ast.unparse, node.decorator_list))
        for node in body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("name", PACKAGES)
def test_every_package_has_mutants(name: str) -> None:
    assert len(PACKAGES[name]) >= 30


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.promise)
def test_a_mutant_is_not_stale(mutant: Mutant) -> None:
    assert mutant.count() == 1
    text = (ROOT / mutant.file).read_text(encoding="utf-8").replace(mutant.old, mutant.new)
    compile(text, mutant.file, "exec")
    file, _, test = mutant.witness.partition("::")
    marks = marks_of(file).get(test.partition("[")[0])
    assert marks is not None
    assert "slow" not in marks
    assert "gpu" not in marks


def test_no_two_mutants_are_the_same() -> None:
    edits = Counter((mutant.file, mutant.old, mutant.new) for mutant in MUTANTS)
    assert [edit for edit, count in edits.items() if count > 1] == []
