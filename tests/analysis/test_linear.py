"""Linear terms and contradictions, against enumeration over small boxes."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileproof.analysis.linear import Fact, Term, at_least, at_most, contradicts, entails, equal

NAMES = ("x", "y", "z")
x, y, z = (Term.atom(name) for name in NAMES)


def value(term: Term, point: dict[str, int]) -> int:
    return term.constant + sum(factor * point[str(atom)] for atom, factor in term.factors)


def holds(fact: Fact, point: dict[str, int]) -> bool:
    found = value(fact.term, point)
    return found == 0 if fact.is_equality else found <= 0


terms = st.builds(
    lambda factors, constant: Term.of(dict(zip(NAMES, factors, strict=True)), constant),
    st.tuples(*[st.integers(-4, 4)] * 3),
    st.integers(-12, 12),
)
facts = st.builds(Fact, terms, st.sampled_from([False, False, False, True]))


@settings(max_examples=300, deadline=None)
@given(st.lists(facts, min_size=1, max_size=7))
def test_facts_that_some_point_satisfies_never_contradict(given_facts: list[Fact]) -> None:
    box = [dict(zip(NAMES, point, strict=True)) for point in product(range(-6, 7), repeat=3)]
    if any(all(holds(fact, point) for fact in given_facts) for point in box):
        assert not contradicts(given_facts)


@settings(max_examples=200, deadline=None)
@given(terms, terms, st.integers(-5, 5))
def test_arithmetic_is_exact(one: Term, two: Term, by: int) -> None:
    point = {"x": 3, "y": -7, "z": 11}
    assert value(one + two, point) == value(one, point) + value(two, point)
    assert value(one - two, point) == value(one, point) - value(two, point)
    assert value(one * by, point) == value(one, point) * by
    assert value(one.substitute("x", two), point) == value(one, point | {"x": value(two, point)})


def test_equal_terms_are_equal() -> None:
    assert x + y - x == y
    assert hash(x * 2 - x) == hash(x)
    assert str(x * 2 - y + 3) == "2*x + -1*y + 3".replace("+ -", "- ")


TILES_APART = [at_least(x - y, 128), at_least(z, 0), at_most(z, 127)]


@pytest.mark.parametrize(
    "impossible",
    [
        [at_least(x, 1), at_most(x, 0)],
        [equal(x * 2, 5)],
        [equal(x * 2 + y * 4, 3)],
        [at_least(x * 3, 1), at_most(x * 3, 2)],  # no multiple of 3 between
        [equal(x, y + 1), equal(y, z + 1), at_most(x, z)],
        # Two programs 128 apart, one element of each tile: the elements differ.
        [*TILES_APART, equal(x + Term.atom("a"), y + Term.atom("b")), at_least(Term.atom("a"), 0),
         at_most(Term.atom("b"), 127)],
    ],
)  # fmt: skip
def test_what_cannot_be_is_found(impossible: list[Fact]) -> None:
    assert contradicts(impossible)


def test_a_goal_follows_from_the_facts_it_follows_from() -> None:
    walked = [at_least(x, 0), at_most(x + 1, y)]  # 0 <= x < y
    assert entails(walked, at_least(y, 1))
    assert entails(walked, at_most(x, y - 1))
    assert entails([*walked, equal(z, x * 2)], at_most(z, y * 2 - 2))
    assert not entails(walked, at_most(x, y - 2))
    assert not entails(walked, equal(x, 0))
    assert entails([*walked, equal(y, 1)], equal(x, 0))


def test_a_question_too_large_is_not_answered() -> None:
    """Zero satisfies every one of these facts, and their elimination would make millions of others."""
    atoms = [Term.atom(f"a{number}") for number in range(14)]
    web = [at_most(one * (i + 2) - two * (j + 3), i + j) for i, one in enumerate(atoms) for j, two in enumerate(atoms)]
    assert not contradicts(web)
