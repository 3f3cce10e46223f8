"""Linear terms over exact integers, and the question whether facts about them contradict each other.

A term is `constant + sum(factor * atom)` with integer factors. Atoms are whatever the caller takes for unknowns; they
stand for integers of any size, not machine words, so nothing wraps. `contradicts` eliminates unknowns one by one
(Fourier and Motzkin), rounding each fact to the integers on the way. It answers True only if no integers satisfy
all facts: False means "not shown", never "possible".
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Atom: TypeAlias = Hashable
_MOST_FACTS = 400
"""Elimination may square the number of facts; past this it gives up, which is always sound."""


@dataclass(frozen=True, slots=True)
class Term:
    """A linear term in normal form: no factor is 0, so equal terms are equal."""

    factors: frozenset[tuple[Atom, int]] = frozenset()
    constant: int = 0

    @staticmethod
    def of(factors: Mapping[Atom, int], constant: int = 0) -> Term:
        return Term(frozenset((atom, factor) for atom, factor in factors.items() if factor), constant)

    @staticmethod
    def atom(atom: Atom) -> Term:
        return Term(frozenset({(atom, 1)}))

    @property
    def atoms(self) -> frozenset[Atom]:
        return frozenset(atom for atom, _ in self.factors)

    @property
    def is_constant(self) -> bool:
        return not self.factors

    def __add__(self, other: Term | int) -> Term:
        if isinstance(other, int):
            return Term(self.factors, self.constant + other)
        factors = dict(self.factors)
        for atom, factor in other.factors:
            factors[atom] = factors.get(atom, 0) + factor
        return Term.of(factors, self.constant + other.constant)

    def __mul__(self, by: int) -> Term:
        return Term.of({atom: factor * by for atom, factor in self.factors}, self.constant * by)

    def __neg__(self) -> Term:
        return self * -1

    def __sub__(self, other: Term | int) -> Term:
        return self + (-other)

    def __str__(self) -> str:
        parts = [str(atom) if factor == 1 else f"{factor}*{atom}" for atom, factor in sorted(self.factors, key=str)]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")

    def substitute(self, atom: Atom, value: Term) -> Term:
        """The term with `value` in place of `atom`."""
        factors = dict(self.factors)
        factor = factors.pop(atom, 0)
        return Term.of(factors, self.constant) + value * factor if factor else self


# Facts. Each says that a term is at most 0; an equality is two of them, kept together so that it can be solved.


@dataclass(frozen=True, slots=True)
class Fact:
    """`term <= 0`, or `term == 0`."""

    term: Term
    is_equality: bool = False

    def __str__(self) -> str:
        return f"{self.term} {'==' if self.is_equality else '<='} 0"


def at_most(left: Term, right: Term | int) -> Fact:
    """`left <= right`."""
    return Fact(left - right)


def at_least(left: Term, right: Term | int) -> Fact:
    """`left >= right`."""
    return Fact(-(left - right))


def equal(left: Term, right: Term | int) -> Fact:
    """`left == right`."""
    return Fact(left - right, is_equality=True)


def contradicts(facts: Iterable[Fact]) -> bool:
    """Whether no integers satisfy all facts. False means it could not be shown."""
    solved = _solve_equalities(list(facts))
    if solved is None:
        return True
    return _eliminate(solved)


def entails(facts: Sequence[Fact], goal: Fact) -> bool:
    """Whether the goal holds wherever the facts do."""
    if goal.is_equality:
        return entails(facts, Fact(goal.term)) and entails(facts, Fact(-goal.term))
    return contradicts([*facts, Fact(-goal.term + 1)])


def _tightened(term: Term) -> Term | None:
    """`term <= 0` rounded to the integers: None if it always holds. A constant above 0 never holds and is kept."""
    if term.is_constant:
        return None if term.constant <= 0 else term
    divisor = math.gcd(*(factor for _, factor in term.factors))
    if divisor == 1:
        return term
    factors = {atom: factor // divisor for atom, factor in term.factors}
    return Term.of(factors, -(-term.constant // divisor))


def _solve_equalities(facts: list[Fact]) -> list[Term] | None:
    """The facts as inequalities, with unknowns that an equality determines put away; None if they contradict."""
    equalities = [fact.term for fact in facts if fact.is_equality]
    rest = [fact.term for fact in facts if not fact.is_equality]
    while equalities:
        term = equalities.pop()
        if term.is_constant:
            if term.constant:
                return None
            continue
        divisor = math.gcd(*(factor for _, factor in term.factors))
        if term.constant % divisor:
            return None
        term = Term.of({atom: factor // divisor for atom, factor in term.factors}, term.constant // divisor)
        unit = next(((atom, factor) for atom, factor in sorted(term.factors, key=str) if abs(factor) == 1), None)
        if unit is None:
            rest += [term, -term]
            continue
        atom, factor = unit
        value = (term - Term.atom(atom) * factor) * -factor
        equalities = [one.substitute(atom, value) for one in equalities]
        rest = [one.substitute(atom, value) for one in rest]
    return rest


def _eliminate(terms: list[Term]) -> bool:
    """Whether no integers make all terms at most 0."""
    facts: dict[frozenset[tuple[Atom, int]], int] = {}
    if not _collect(terms, facts):
        return True
    while facts:
        atom, lower, upper = _cheapest(facts)
        kept = {factors: constant for factors, constant in facts.items() if not any(a == atom for a, _ in factors)}
        if len(kept) + len(lower) * len(upper) > _MOST_FACTS:
            return False
        made = []
        for below in lower:
            for above in upper:
                one, two = dict(below.factors)[atom], dict(above.factors)[atom]
                made.append(below * two - above * one)
        facts = kept
        if not _collect(made, facts):
            return True
    return False


def _collect(terms: Iterable[Term], facts: dict[frozenset[tuple[Atom, int]], int]) -> bool:
    """Adds terms to the facts, the strongest of each direction only; False if one can never hold."""
    for term in terms:
        tight = _tightened(term)
        if tight is None:
            continue
        if tight.is_constant:
            return False
        known = facts.get(tight.factors)
        facts[tight.factors] = tight.constant if known is None else max(known, tight.constant)
    return True


def _cheapest(facts: Mapping[frozenset[tuple[Atom, int]], int]) -> tuple[Atom, list[Term], list[Term]]:
    """The unknown whose elimination makes fewest facts, with those that bound it from below and from above."""
    bounds: dict[Atom, tuple[list[Term], list[Term]]] = {}
    for factors, constant in facts.items():
        for atom, factor in factors:
            lower, upper = bounds.setdefault(atom, ([], []))
            (upper if factor > 0 else lower).append(Term(factors, constant))
    atom = min(bounds, key=lambda one: (len(bounds[one][0]) * len(bounds[one][1]), str(one)))
    return atom, *bounds[atom]
