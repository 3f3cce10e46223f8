"""The corpus notices when a rule of the checker is broken."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from mutants_of_laws import LAWS
from mutants_of_reasoning import REASONING
from mutation import Mutant

from corpus import SAFE, UNSAFE, Case
from corpus.judge import FIRST_CHECK, found, runs
from tileproof.compiler.compile import verdict
from tileproof.diagnostics.errors import TileproofError

MUTANTS = [*REASONING, *LAWS]


def is_wrong(case: Case) -> bool:
    """Whether the checker refuses a safe case or its launches, leaves it a check it need not, or misses the fault of an
    unsafe one.
    """
    case.kernel.forget()
    try:
        if case.fault is not None:
            return not found(case)
        answer = verdict(case.kernel, {})
        checked = any(discharged.rung >= FIRST_CHECK for discharged in answer.discharged)
        refused = bool(answer.compares) and not runs(case, answer)
        return not answer.accepted or (checked and not case.data) or refused
    except TileproofError:
        return True
    finally:
        case.kernel.forget()


def named(witness: str) -> Case:
    """The case that a mutant names as its witness."""
    fault, _, name = witness.partition(" ")
    cases = SAFE if fault == "safe" else [case for case in UNSAFE if case.fault == fault]
    (case,) = [case for case in cases if case.kernel.name == name]
    return case


@cache
def is_right_as_it_is(witness: str) -> bool:
    """Whether the checker, unbroken, judges a witness as it should."""
    return not is_wrong(named(witness))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_rule_is_noticed(mutant: Mutant) -> None:
    assert is_right_as_it_is(mutant.witness)
    with mutant.applied():
        assert is_wrong(named(mutant.witness))


def test_every_mutant_breaks_another_rule() -> None:
    broken = Counter((mutant.rule, mutant.old, mutant.new) for mutant in MUTANTS)
    assert [change for change, count in broken.items() if count > 1] == []
