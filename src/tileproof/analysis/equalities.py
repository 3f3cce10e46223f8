"""Equalities solved by substitution, before any axiom: what is equal is one term, also as an argument of functions.

From `p // N == q // N` and `p % N == q % N` follows `p == q`, whatever N is: the quotient of the one takes the place of
the other's in its remainder. Properties of division are not needed, so the search is spared them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .terms import All, Atom, Fact, Formula, Some, Term, changed, everything, flattened, of, rebuild, weighs_more

_MOST_STEPS = 24
_MOST_ATOMS = 4000
"""Of all formulas together: substitution may double them."""


def is_contradictory(formulas: Iterable[Formula]) -> bool:
    """Whether formulas contradict each other once their equalities are solved. The first ones are solved first."""
    known = list(formulas)
    for _ in range(_MOST_STEPS):
        if any(map(_is_false, known)):
            return True
        solution = next(_solutions(flattened(known)[0]), None)
        if solution is None or weighs_more(All(tuple(known)), _MOST_ATOMS):
            return False
        atom, term = solution
        known = [changed(formula, lambda old: _replaced(old, atom, term)) for formula in known]  # noqa: B023
    return any(map(_is_false, known))


def _solutions(facts: Iterable[Fact]) -> Iterator[tuple[Atom, Term]]:
    """Atoms with the terms that they are equal to."""
    for fact in facts:
        for atom, factor in reversed(fact.term.parts) if fact.equal else ():
            rest = of(atom).times(factor) - fact.term
            if abs(factor) == 1 and atom not in everything(rest):
                yield atom, rest.times(factor)


def _replaced(term: Term, atom: Atom, by: Term) -> Term:
    return rebuild(term, lambda other: by if other == atom else None)


def _is_false(formula: Formula) -> bool:
    match formula:
        case Fact(term, equal):
            return not term.parts and (term.constant > 0 or (equal and term.constant != 0))
        case All(parts):
            return any(map(_is_false, parts))
        case Some(parts):
            return all(map(_is_false, parts))
