"""The law of carried indices: what loops and combiners yield stays within 64 bits.

A loop begins within 2**61. An iteration may yield an index no further out than those that are carried, or a step away.
No program runs enough iterations for small steps to add up: 2**47 iterations with steps of 2**14 reach 2**61, and take
more than a day at one iteration a nanosecond. For longer steps the iterations are counted: their sum must stay within
2**61, for all sizes or, where that depends on them, for those of a launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce

from tileproof.ir import ops
from tileproof.ir.types import AnyValue, Tile
from tileproof.ir.walk import walk

from .ranges import CARRIED_LIMIT, START_LIMIT, STEP_LIMIT, Range, Ranges
from .terms import All, Atom, Fact, Formula, Least, Quotient, Some, Term, Unknown, everything, of


@dataclass(frozen=True, slots=True)
class Carrying:
    """What is known of the indices that the loops of a kernel carry."""

    ranges: Ranges
    definitions: Mapping[str, tuple[Formula, ...]]
    carried: set[str] = field(default_factory=set)
    """Names of what is carried, and of what comes out of loops."""

    def long_steps(self, handed: Term, carried: Unknown) -> list[Term] | None:
        """The steps of an iteration that are not small; None if its result is not the carried value plus a step."""
        if self.stays(handed):
            return []
        step = handed - of(carried)
        if not any(isinstance(atom, Unknown) and atom.name == carried.name for atom in everything(step)):
            return [step]
        ways = [self.long_steps(way, carried) for way in _ways(handed, self.definitions)]
        if not ways or None in ways:
            return None
        return [step for way in ways if way is not None for step in way]

    def stays(self, term: Term) -> bool:
        """Whether an index is no further out than what loops begin with or carry, but for a small step."""
        return self._is_under(term, STEP_LIMIT) and self._is_under(-term, STEP_LIMIT)

    def _is_under(self, term: Term, step: int) -> bool:
        """Whether a term is no greater than what is carried is far out, and a step."""
        if self.ranges.of(term).high <= START_LIMIT:
            return True
        for atom, factor in term.parts:
            left = step - max(0, self.ranges.of(term - of(atom).times(factor)).high)
            if abs(factor) == 1 and left >= 0 and self._is_atom_under(atom, factor, left):
                return True
        return False

    def _is_atom_under(self, atom: Atom, sign: int, step: int) -> bool:
        """Whether an atom, or its negation, is no greater than what is carried is far out, and a step."""
        match atom:
            case Unknown(name):
                if name in self.carried:
                    return True
                ways = _ways(of(atom), self.definitions)
                return bool(ways) and all(self._is_under(way.times(sign), step) for way in ways)
            case Least(left, right):
                sides = (self._is_under(side.times(sign), step) for side in (left, right))
                return any(sides) if sign > 0 else all(sides)
            case Quotient(term, by):
                # The mean of what is carried is no further out, but for what rounding adds.
                carried = [part for part in term.parts if isinstance(part[0], Unknown) and part[0].name in self.carried]
                is_mean = by.number is not None and sum(abs(times) for _, times in carried) <= by.number
                return is_mean and self.ranges.of(term - Term(carried)).within(step - 1)
            case _:
                return False


def combined(
    handed: Term, combiner: ops.Combiner, operands: Range, ranges: Ranges,
    definitions: Mapping[str, tuple[Formula, ...]],
) -> Range | None:  # fmt: skip
    """The interval of a combined index: one of its operands, or small; None if it may grow."""
    names = {value.name for value in (*combiner.left, *combiner.right)}
    lone = handed.lone
    if isinstance(lone, Unknown) and lone.name in names:
        return operands
    ways = [combined(way, combiner, operands, ranges, definitions) for way in _ways(handed, definitions)]
    ranges_of_ways = [way for way in ways if way is not None]
    if ranges_of_ways and len(ranges_of_ways) == len(ways):
        return reduce(Range.__or__, ranges_of_ways)
    whole = ranges.of(handed)
    return whole if whole.within(CARRIED_LIMIT) else None


def _ways(handed: Term, definitions: Mapping[str, tuple[Formula, ...]]) -> list[Term]:
    """What a value chosen between others may be; empty if it is not one."""
    lone = handed.lone
    if not isinstance(lone, Unknown):
        return []
    return [way for fact in definitions.get(lone.name, ()) for way in _choices(fact, handed)]


def _choices(fact: Formula, chosen: Term) -> Iterator[Term]:
    match fact:
        case Some(parts):
            for part in parts:
                yield from _choices(part, chosen)
        case All((_, last)):
            yield from _choices(last, chosen)
        case Fact(term, equal) if equal:
            yield chosen - term
        case _:
            return


def is_loaded(body: ops.Block, value: Tile) -> bool:
    """Whether a value of a loop's body depends on what the body loads."""
    makers = {result: op for op in walk(body) for result in ops.results(op)}
    pending: list[AnyValue] = [value]
    seen: set[AnyValue] = set()
    while pending:
        op = makers.get(pending.pop())
        if isinstance(op, ops.Load | ops.Get):
            return True
        if op is not None:
            inner = [handed for block in ops.blocks(op) for handed in block.yields]
            fresh = [one for one in (*ops.operands(op), *inner) if one not in seen]
            seen.update(fresh)
            pending += fresh
    return False
