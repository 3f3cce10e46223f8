"""Which kernels and functions were tested, and how that ended: from the file that `pytest --junit-xml FILE` writes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tileproof.cli.command_line import UsageError

from .facts import Outcome, Tested


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a test."""

    file: str
    """Its module, as a path: `tests/test_norms.py`."""
    test: str
    words: frozenset[str]
    """What it is about: the words in its brackets, and its own name without `test_`."""
    outcome: Outcome


def cases_in(junit: Path) -> tuple[Case, ...]:
    """The runs of tests in a file of results."""
    try:
        tree = ElementTree.parse(junit)
    except OSError as error:
        raise UsageError(f"--junit {junit}: {error.strerror or error}") from None
    except ElementTree.ParseError as error:
        raise UsageError(f"--junit {junit}: not XML ({error}); `pytest --junit-xml FILE` writes such a file") from None
    return tuple(map(_case, tree.iter("testcase")))


def _case(element: ElementTree.Element) -> Case:
    test, _, brackets = element.get("name", "").partition("[")
    tags = {child.tag for child in element}
    if tags & {"failure", "error"}:
        outcome = Outcome(failed=1)
    else:
        outcome = Outcome(skipped=1) if "skipped" in tags else Outcome(passed=1)
    file = element.get("file") or f"{element.get('classname', '').replace('.', '/')}.py"
    words = {*re.findall(r"\w+", brackets), test.removeprefix("test_")}
    return Case(file, test, frozenset(words), outcome)


def tests_of(names: Collection[str], cases: Iterable[Case]) -> tuple[Tested, ...]:
    """The tests that one of these names stands in, file by file."""
    tests: dict[str, dict[str, None]] = {}
    outcomes: dict[str, Outcome] = {}
    for case in cases:
        if not case.words.isdisjoint(names):
            tests.setdefault(case.file, {})[case.test] = None
            outcomes[case.file] = outcomes.get(case.file, Outcome()) + case.outcome
    return tuple(Tested(file, tuple(tests[file]), outcomes[file]) for file in sorted(tests))
