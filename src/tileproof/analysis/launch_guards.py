"""Guards: what a proof leaves for the launch to compare, relations of extents and scalars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tileproof.diagnostics.spans import Span

from .ranges import Ranges
from .terms import AxisExtent, DimensionExtent, Fact, Least, Product, Quotient, Scalar, Term

Known: TypeAlias = Callable[[DimensionExtent | AxisExtent | Scalar], int]


@dataclass(frozen=True, slots=True)
class Compare:
    """A launch is rejected if all of `broken` hold; `demand` is the requirement as messages print it."""

    broken: tuple[Fact, ...]
    demand: str
    span: Span
    why: str
    race: str = ""
    """How programs race in a launch where it does not hold; empty if they do not."""

    def holds(self, known: Known) -> bool:
        """Whether a launch with these extents and scalars may go on."""
        for fact in self.broken:
            value = evaluated(fact.term, known)
            if value != 0 if fact.equal else value > 0:
                return True
        return False


@dataclass(frozen=True, slots=True)
class Fits:
    """Index arithmetic that fits 64 bits for most sizes; the launch checks its own."""

    term: Term
    ranges: Ranges
    span: Span
    limit: int

    def holds(self, known: Known) -> bool:
        """Whether it fits for these extents and scalars."""
        return self.ranges.knowing(known).of(self.term).within(self.limit)


def evaluated(term: Term, known: Known) -> int:
    """The value of a term of extents and scalars."""
    total = term.constant
    for atom, factor in term.parts:
        match atom:
            case DimensionExtent() | AxisExtent() | Scalar():
                value = known(atom)
            case Product(left, right):
                value = evaluated(left, known) * evaluated(right, known)
            case Least(left, right):
                value = min(evaluated(left, known), evaluated(right, known))
            case Quotient(over, by):
                divisor = evaluated(by, known)
                value = evaluated(over, known) // divisor if divisor else 0
            case _:
                raise TypeError(f"{atom} is not known at launch")
        total += factor * value
    return total
