"""Terms mean what they are made of, and what is equal by the rules of arithmetic is one term."""

from __future__ import annotations

import operator
from collections.abc import Callable
from hashlib import blake2b

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meaning import Leaf, floored, rest, value

from support.tiers import examples
from tileproof.analysis.equalities import is_contradictory
from tileproof.analysis.terms import (
    LANE,
    ZERO,
    Atom,
    AxisExtent,
    DimensionExtent,
    GroupOf,
    Lane,
    Live,
    Read,
    Scalar,
    Start,
    Term,
    TileNumber,
    Unknown,
    at_lane,
    at_most,
    below,
    equals,
    everything,
    exclusive,
    greatest,
    least,
    number,
    of,
    of_length,
    product,
    quotient,
    rebuild,
    remainder,
    renamed,
)
from tileproof.ir.types import symbol

SETTINGS = settings(max_examples=examples(150), deadline=None)
SHARED = [DimensionExtent("N"), AxisExtent("x", 0), Scalar("p", -9, 9)]
OWN = [Start("n", True), Start("i", False), Live("i"), TileNumber("i"), Lane()]
UNKNOWN = [Unknown("u", -9, 9), Unknown("same", -9, 9, uniform=True)]
LANES = [Unknown("v", -9, 9, args=(LANE,)), Unknown("even", -9, 9, uniform=True, args=(LANE.times(2),))]
ATOMS: list[Atom] = [*SHARED, *OWN, *UNKNOWN, *LANES]


def leaves(seed: int) -> Leaf:
    """Values for all atoms, by what they are and what they are functions of."""

    def leaf(atom: Atom, args: tuple[int, ...]) -> int:
        mark = (type(atom).__name__, str(atom).partition("[")[0] if isinstance(atom, Read) else str(atom), args)
        found = int.from_bytes(blake2b(repr((seed, mark)).encode(), digest_size=4).digest(), "big") % 19 - 9
        return abs(found) if isinstance(atom, DimensionExtent | AxisExtent) else found

    return leaf


BINARY: list[tuple[Callable[[Term, Term], Term], Callable[[int, int], int]]] = [
    (lambda a, b: a + b, lambda a, b: a + b),
    (lambda a, b: a - b, lambda a, b: a - b),
    (product, lambda a, b: a * b),
    (quotient, floored),
    (remainder, rest),
    (least, min),
    (greatest, max),
    (exclusive, operator.xor),
]
"""How terms are put together, and what that means."""
seeds = st.integers(0, 1 << 30)


@st.composite
def meant(draw: st.DrawFn, depth: int = 3) -> tuple[Term, Callable[[Leaf], int]]:
    """A term and its meaning, made side by side."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        if draw(st.booleans()):
            constant = draw(st.integers(-7, 7))
            return number(constant), lambda leaf: constant
        atom = draw(st.sampled_from(ATOMS))
        return of(atom), lambda leaf: value(of(atom), leaf)
    if draw(st.integers(0, 7)) == 0:
        inner, plain = draw(meant(depth - 1))
        held = of(Read("t", (inner,)))
        return held, lambda leaf: leaf(Read("t", ()), (plain(leaf),))
    make, mean = draw(st.sampled_from(BINARY))
    (one, first), (two, second) = draw(meant(depth - 1)), draw(meant(depth - 1))
    return make(one, two), lambda leaf: mean(first(leaf), second(leaf))


def some_terms(depth: int = 2) -> st.SearchStrategy[Term]:
    return meant(depth).map(lambda case: case[0])


@given(meant(), seeds)
@settings(max_examples=examples(300), deadline=None)
def test_a_term_has_the_value_of_what_it_was_made_of(case: tuple[Term, Callable[[Leaf], int]], seed: int) -> None:
    term, plain = case
    assert value(term, leaves(seed)) == plain(leaves(seed))


@given(st.integers(-30, 30), st.integers(-5, 5), st.integers(-5, 5), st.integers(-12, 12))
@SETTINGS
def test_division_by_a_number_is_python_s(constant: int, factor: int, by: int, at: int) -> None:
    term = of(SHARED[0]).times(factor) + constant
    found = factor * at + constant
    assert value(quotient(term, number(by)), lambda atom, args: at) == floored(found, by)
    assert value(remainder(term, number(by)), lambda atom, args: at) == rest(found, by)


SAME: dict[str, tuple[Callable[[Term, Term, Term], Term], Callable[[Term, Term, Term], Term]]] = {
    "a + b = b + a": (lambda a, b, c: a + b, lambda a, b, c: b + a),
    "(a + b) - b = a": (lambda a, b, c: (a + b) - b, lambda a, b, c: a),
    "a - a = 0": (lambda a, b, c: a - a, lambda a, b, c: ZERO),
    "a * b = b * a": (lambda a, b, c: product(a, b), lambda a, b, c: product(b, a)),
    "a * (b + c) = a * b + a * c": (
        lambda a, b, c: product(a, b + c), lambda a, b, c: product(a, b) + product(a, c)
    ),
    "min(a, b) = min(b, a)": (lambda a, b, c: least(a, b), lambda a, b, c: least(b, a)),
    "min(a, a + 3) = a": (lambda a, b, c: least(a, a + 3), lambda a, b, c: a),
    "max(a, b) = -min(-a, -b)": (lambda a, b, c: greatest(a, b), lambda a, b, c: -least(-a, -b)),
    "(6 a + 8) // 6 = a + 1": (lambda a, b, c: quotient(a.times(6) + 8, number(6)), lambda a, b, c: a + 1),
    "6 a % 3 = 0": (lambda a, b, c: remainder(a.times(6), number(3)), lambda a, b, c: ZERO),
    "a // -4 = -a // 4": (
        lambda a, b, c: quotient(a, number(-4)), lambda a, b, c: quotient(-a, number(4))
    ),
    "a // 1 = a": (lambda a, b, c: quotient(a, number(1)), lambda a, b, c: a),
    "a // 0 = 0": (lambda a, b, c: quotient(a, ZERO), lambda a, b, c: ZERO),
    "a % 0 = a": (lambda a, b, c: remainder(a, ZERO), lambda a, b, c: a),
    "b * (a // b) + a % b = a": (
        lambda a, b, c: product(b, quotient(a, b)) + remainder(a, b), lambda a, b, c: a
    ),
}  # fmt: skip


@pytest.mark.sweep(5)
@pytest.mark.parametrize("law", SAME)
@given(st.tuples(some_terms(1), some_terms(1), some_terms(1)))
@settings(max_examples=examples(40), deadline=None)
def test_equal_by_arithmetic_is_one_term(law: str, parts: tuple[Term, Term, Term]) -> None:
    left, right = SAME[law]
    assert left(*parts) == right(*parts)


@given(some_terms(3), st.sampled_from(ATOMS[:-2]), some_terms(1), seeds)
@SETTINGS
def test_rebuilding_puts_a_value_in_for_an_atom(term: Term, atom: Atom, new: Term, seed: int) -> None:
    leaf = leaves(seed)
    there = value(new, leaf)
    made = rebuild(term, lambda found: new if found == atom else None)

    def changed(found: Atom, args: tuple[int, ...]) -> int:
        return there if found == atom else leaf(found, args)

    if not any(isinstance(found, Unknown) and found.args for found in everything(term)):
        assert value(made, leaf) == value(term, changed)


def test_rebuilding_nothing_changes_nothing() -> None:
    term = of(GroupOf(of(Start("h", True)), "H", "G")) + of(Read("t", (LANE + 1,))).times(2) - 3
    assert rebuild(term, lambda atom: None) == term


@given(some_terms(3), seeds, seeds)
@SETTINGS
def test_another_program_shares_what_is_uniform_and_nothing_else(term: Term, here: int, there: int) -> None:
    mine, other = leaves(here), leaves(there)

    def both(atom: Atom, args: tuple[int, ...]) -> int:
        """Atoms of copy 1 as the other program has them, all others as this one."""
        if getattr(atom, "copy", 0) == 1:
            return other(plain(atom), args)
        return mine(atom, args)

    def theirs(atom: Atom, args: tuple[int, ...]) -> int:
        """The same, for a term that was not renamed."""
        shared = isinstance(atom, DimensionExtent | AxisExtent | Scalar | Read) or getattr(atom, "uniform", False)
        return (mine if shared else other)(atom, args)

    assert value(renamed(term, 1), both) == value(term, theirs)


def plain(atom: Atom) -> Atom:
    """An atom of another program, as that program has it."""
    (found,) = renamed(of(atom), 0).atoms
    return found


@given(some_terms(3), some_terms(1), seeds)
@SETTINGS
def test_an_element_of_a_tile_is_its_term_at_the_lane(term: Term, lane: Term, seed: int) -> None:
    leaf = leaves(seed)
    there = value(lane, leaf)

    def moved(atom: Atom, args: tuple[int, ...]) -> int:
        return there if atom == Lane() else leaf(atom, args)

    assert value(at_lane(term, lane), named(leaf)) == value(term, named(moved))


def named(leaf: Leaf) -> Leaf:
    """Values of unknowns by name and by lane, whatever term the lane is written as."""

    def found(atom: Atom, args: tuple[int, ...]) -> int:
        if isinstance(atom, Unknown):
            return leaf(Unknown(atom.name, atom.low, atom.high, atom.uniform, copy=atom.copy), args)
        return leaf(atom, args)

    return found


@given(st.integers(0, 9), st.integers(0, 9))
@SETTINGS
def test_a_length_is_its_term(first: int, second: int) -> None:
    one, two = symbol("A"), symbol("B")
    values = {"A": first, "B": second}
    length = (one * 3 + two * one + 5) // 4

    def leaf(atom: Atom, args: tuple[int, ...]) -> int:
        assert isinstance(atom, DimensionExtent)
        return values[atom.name]

    assert value(of_length(length), leaf) == (first * 3 + second * first + 5) // 4


@given(st.lists(st.tuples(some_terms(3), st.integers(-1, 1)), max_size=4), some_terms(2), seeds)
@SETTINGS
def test_equalities_that_hold_do_not_contradict(cases: list[tuple[Term, int]], term: Term, seed: int) -> None:
    leaf = leaves(seed)
    gaps = [(one - of(start).times(factor), factor) for start in [OWN[0]] for one, factor in cases]
    facts = [equals(gap, value(gap, leaf)) for gap, _ in gaps]
    assert not is_contradictory([*facts, at_most(term, value(term, leaf))])


def test_equal_digits_are_of_equal_numbers() -> None:
    p, q, b, c = of(Start("p", True)), of(Start("p", True, 1)), of(DimensionExtent("B")), of(DimensionExtent("C"))
    digits = [(quotient(n, product(b, c)), remainder(quotient(n, c), b), remainder(n, c)) for n in (p, q)]
    equal = [equals(one, two) for one, two in zip(*digits, strict=True)]
    assert is_contradictory([*equal, below(p, q)])
    assert not is_contradictory([*equal[1:], below(p, q)])


def test_a_term_reads_as_it_was_written() -> None:
    g, s, n = (of(DimensionExtent(name)) for name in "GSN")
    assert str(product(g, s) - s.times(2)) == "G*S - 2*S"
    assert str(product(product(g, s), n)) == "G*N*S"
    assert str(product(quotient(n, s), g)) == "G*(N // S)"
    assert str(-quotient(-n, number(8))) == "cdiv(N, 8)"
    assert str(quotient(n + 1, number(2))) == "(N + 1) // 2"
    assert str(n - quotient(n, number(4)).times(4)) == "N - 4*(N // 4)"
