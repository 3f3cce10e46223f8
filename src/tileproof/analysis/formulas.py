"""What is known or to be shown of terms: comparisons with zero, joined by "and" and "or"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from .terms import Term


@dataclass(frozen=True, slots=True)
class Fact:
    """`term <= 0`, or `term == 0`."""

    term: Term
    equal: bool = False

    def __str__(self) -> str:
        return f"{self.term} {'==' if self.equal else '<='} 0"


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; with no parts, true."""

    parts: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Some:
    """At least one part holds; with no parts, false."""

    parts: tuple[Formula, ...] = ()


Formula: TypeAlias = Fact | All | Some
TRUE, FALSE = All(), Some()


def at_most(left: Term, right: Term | int) -> Fact:
    """`left <= right`."""
    return Fact(left - right)


def below(left: Term, right: Term | int) -> Fact:
    """`left < right`."""
    return Fact(left - right + 1)


def equals(left: Term, right: Term | int) -> Fact:
    """`left == right`."""
    return Fact(left - right, equal=True)


def differs(left: Term, right: Term | int) -> Formula:
    """`left != right`."""
    gap = left - right
    return Some((Fact(gap + 1), Fact(-gap + 1)))


def negation(formula: Formula) -> Formula:
    """What holds where the formula does not."""
    match formula:
        case Fact(term, equal):
            return Some((Fact(term + 1), Fact(-term + 1))) if equal else Fact(-term + 1)
        case All(parts):
            return Some(tuple(map(negation, parts)))
        case Some(parts):
            return All(tuple(map(negation, parts)))


def changed(formula: Formula, change: Callable[[Term], Term]) -> Formula:
    """The formula with each of its terms changed."""
    match formula:
        case Fact(term, equal):
            return Fact(change(term), equal)
        case All(parts):
            return All(tuple(changed(part, change) for part in parts))
        case Some(parts):
            return Some(tuple(changed(part, change) for part in parts))


def terms(formula: Formula) -> Iterator[Term]:
    """Every term a formula is about."""
    match formula:
        case Fact(term):
            yield term
        case All(parts) | Some(parts):
            for part in parts:
                yield from terms(part)


Option: TypeAlias = tuple[Fact, ...]
Clause: TypeAlias = tuple[Option, ...]
"""At least one option holds as a whole."""

_MOST_OPTIONS = 24


def flattened(formulas: Iterable[Formula]) -> tuple[list[Fact], list[Clause]]:
    """Formulas that all hold, as facts and as clauses. A clause with too many options is left out: less is known."""
    facts: list[Fact] = []
    clauses: list[Clause] = []
    for formula in formulas:
        match formula:
            case Fact():
                facts.append(formula)
            case All(parts):
                some, more = flattened(parts)
                facts += some
                clauses += more
            case Some():
                options = _options(formula)
                if options is not None:
                    clauses.append(options)
    return facts, clauses


def _options(formula: Formula) -> Clause | None:
    """A formula as the ways it can hold; None if there are too many."""
    match formula:
        case Fact():
            return ((formula,),)
        case Some(parts):
            found: Clause = ()
            for part in parts:
                options = _options(part)
                if options is None or len(found) + len(options) > _MOST_OPTIONS:
                    return None
                found += options
            return found
        case All(parts):
            ways: Clause = ((),)
            for part in parts:
                options = _options(part)
                if options is None or len(ways) * len(options) > _MOST_OPTIONS:
                    return None
                ways = tuple((*way, *option) for way in ways for option in options)
            return ways
