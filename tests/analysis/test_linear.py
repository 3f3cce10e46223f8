"""A contradiction is one, and a shadow holds wherever its facts do."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meaning import holds

from support.tiers import examples
from tileproof.analysis.prover import contradict, shadow
from tileproof.analysis.terms import ZERO, Atom, DimensionExtent, Fact, Term, at_most, below, equals, number, of

ATOMS = tuple(DimensionExtent(name) for name in "abcd")
A, B, C, D = map(of, ATOMS)
BOX = range(-3, 4)
SETTINGS = settings(max_examples=examples(200), deadline=None)


def sums(count: int, most: int = 5) -> st.SearchStrategy[Term]:
    """Terms without a constant over the first atoms."""
    factors = st.lists(st.integers(-most, most), min_size=count, max_size=count)

    def made(chosen: list[int]) -> Term:
        total = ZERO
        for atom, factor in zip(ATOMS, chosen, strict=False):
            total = total + of(atom).times(factor)
        return total

    return factors.map(made)


def facts(count: int) -> st.SearchStrategy[Fact]:
    """Facts over the first atoms."""
    return st.builds(lambda term, more, equal: Fact(term + more, equal), sums(count), st.integers(-9, 9), st.booleans())


def at(point: dict[Atom, int]) -> object:
    """The values of atoms at a point."""
    return lambda atom, args: point[atom]


@st.composite
def true_somewhere(draw: st.DrawFn) -> tuple[dict[Atom, int], list[Fact]]:
    """A point, and facts that hold there, most of them by a hair."""
    count = draw(st.integers(1, 4))
    point = {atom: draw(st.integers(-60, 60)) for atom in ATOMS[:count]}
    made = []
    for _ in range(draw(st.integers(1, 9))):
        term = draw(sums(count, 9))
        there = sum(factor * point[atom] for atom, factor in term.parts)
        equal = draw(st.booleans())
        slack = 0 if equal else draw(st.sampled_from((0, 0, 0, 1, 2, 7)))
        made.append(Fact(term - there - slack, equal))
    return point, made


@given(true_somewhere())
@SETTINGS
def test_facts_that_hold_at_a_point_do_not_contradict(case: tuple[dict[Atom, int], list[Fact]]) -> None:
    _, found = case
    assert not contradict(found)


@given(st.data())
@SETTINGS
def test_contradictory_facts_hold_at_no_point(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 3))
    found = data.draw(st.lists(facts(count), min_size=2, max_size=7))
    if contradict(found):
        for values in product(BOX, repeat=count):
            leaf = at(dict(zip(ATOMS, values, strict=False)))
            assert not all(holds(fact, leaf) for fact in found)


@given(true_somewhere(), st.sets(st.sampled_from(ATOMS)))
@SETTINGS
def test_a_shadow_holds_where_its_facts_do(case: tuple[dict[Atom, int], list[Fact]], keep: set[Atom]) -> None:
    point, found = case
    rows = shadow(found, keep)
    for row in rows or ():
        assert {*row.term.atoms} <= keep
        assert holds(row, at(point))


@given(st.data())
@SETTINGS
def test_a_shadow_keeps_every_projection(data: st.DataObject) -> None:
    found = data.draw(st.lists(facts(3), min_size=1, max_size=5))
    rows = shadow(found, {ATOMS[0]}) or ()
    for values in product(BOX, repeat=3):
        leaf = at(dict(zip(ATOMS, values, strict=False)))
        if all(holds(fact, leaf) for fact in found):
            assert all(holds(row, leaf) for row in rows)


IMPOSSIBLE = {
    "a constant": [Fact(number(1))],
    "a number is not another": [equals(number(3), 0)],
    "less than itself": [below(A, A)],
    "a circle": [below(A, B), at_most(B, C), at_most(C, A)],
    "even and odd": [equals(A.times(2), B.times(2) + 1)],
    "between two multiples": [at_most(number(1), A.times(3)), at_most(A.times(3), 2)],
    "twice a number between": [below(B.times(2), A.times(2)), below(A.times(2), B.times(2) + 2)],
    "a common factor": [equals(A.times(6) + B.times(9), 1)],
    "equal by two inequalities": [at_most(A, B), at_most(B, A), below(A, B)],
    "an implied equality with parity": [at_most(A + B, C), at_most(C, A + B), equals(A, B), equals(C, D.times(2) + 1)],
    "tiles of four": [
        *(fact for start, tile in ((A, C), (B, D)) for fact in (equals(start, tile.times(4)), at_most(-tile, 0))),
        below(A, B),
        below(B, A + 4),
    ],
    "positions of two tiles": [below(A, B), at_most(A + 4, B), at_most(B, C), below(C, A + 4)],
    "factors without a one": [at_most(A.times(2), B.times(3)), at_most(B.times(3) + 1, A.times(2))],
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_contradictions_that_must_be_found(name: str) -> None:
    assert contradict(IMPOSSIBLE[name])


def test_a_shadow_says_what_is_left() -> None:
    rows = shadow([at_most(-A, 0), below(A, B), at_most(B, C)], {ATOMS[2]})
    assert rows == [at_most(number(1), C)]


def test_a_shadow_of_a_contradiction_cannot_hold() -> None:
    assert contradict(shadow([below(A, B), below(B, A)], {ATOMS[0]}) or ())


def test_too_many_rows_are_no_contradiction() -> None:
    ups = [at_most(of(DimensionExtent(f"x{number}")), A) for number in range(30)]
    downs = [at_most(A, of(DimensionExtent(f"y{number}"))) for number in range(30)]
    assert not contradict([*ups, *downs])
