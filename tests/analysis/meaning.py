"""What terms and formulas mean: their values, once every leaf has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tileproof.analysis.terms import (
    All,
    Atom,
    Fact,
    Formula,
    GroupOf,
    Least,
    Product,
    Quotient,
    Read,
    Some,
    Term,
    Unknown,
    Xor,
)

Leaf: TypeAlias = Callable[[Atom, tuple[int, ...]], int]
"""The value of an atom, given those of the terms it is a function of."""


def floored(term: int, by: int) -> int:
    """`term // by`, 0 where `by` is 0."""
    return term // by if by else 0


def rest(term: int, by: int) -> int:
    """`term % by`, `term` where `by` is 0."""
    return term % by if by else term


def value(term: Term, leaf: Leaf) -> int:
    """The value of a term."""
    return term.constant + sum(factor * value_of_atom(atom, leaf) for atom, factor in term.parts)


def value_of_atom(atom: Atom, leaf: Leaf) -> int:
    """The value of an atom: of those made of terms alone, by what they are."""
    match atom:
        case Quotient(term, by):
            return floored(value(term, leaf), value(by, leaf))
        case Product(left, right):
            return value(left, leaf) * value(right, leaf)
        case Least(left, right):
            return min(value(left, leaf), value(right, leaf))
        case Xor(left, right):
            return value(left, leaf) ^ value(right, leaf)
        case GroupOf(index, _, _):
            return leaf(atom, (value(index, leaf),))
        case Read(args=args) | Unknown(args=args):
            return leaf(atom, tuple(value(arg, leaf) for arg in args))
        case _:
            return leaf(atom, ())


def holds(formula: Formula, leaf: Leaf) -> bool:
    """Whether a formula is true."""
    match formula:
        case Fact(term, equal):
            found = value(term, leaf)
            return found == 0 if equal else found <= 0
        case All(parts):
            return all(holds(part, leaf) for part in parts)
        case Some(parts):
            return any(holds(part, leaf) for part in parts)
