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

_MOST_TERMS = 2_000
"""So many terms of a kernel are looked at; of the others nothing is known."""
_DEEPEST = 50
"""So many choices between choices are followed."""


@dataclass(frozen=True, slots=True)
class Carrying:
    """What is known of the indices that the loops of a kernel carry."""

    ranges: Ranges
    definitions: Mapping[str, tuple[Formula, ...]]
    carried: set[str] = field(default_factory=set)
    """Names of what is carried, and of what comes out of loops."""
    seen: dict[tuple[Term, int], bool] = field(default_factory=dict)
    """Terms that were looked at, with a step, and whether they are under it."""

    def long_steps(self, handed: Term, carried: Unknown) -> list[Term] | None:
        """The steps of an iteration that are not small; None if its result is not the carried value plus a step."""
        steps: list[Term] = []
        pending, followed = [handed], {handed}
        while pending:
            handed = pending.pop()
            if self.stays(handed):
                continue
            step = handed - of(carried)
            if not any(isinstance(atom, Unknown) and atom.name == carried.name for atom in everything(step)):
                steps.append(step)
                continue
            ways = _ways(handed, self.definitions)
            if not ways or len(followed) > _MOST_TERMS:
                return None
            pending += [way for way in ways if way not in followed]
            followed.update(ways)
        return steps

    def stays(self, term: Term) -> bool:
        """Whether an index is no further out than what loops begin with or carry, but for a small step."""
        return self._is_under(term, STEP_LIMIT) and self._is_under(-term, STEP_LIMIT)

    def _is_under(self, term: Term, step: int, depth: int = 0) -> bool:
        """Whether a term is no greater than what is carried is far out, and a step."""
        if self.ranges.of(term).high <= START_LIMIT:
            return True
        if (term, step) not in self.seen:
            if len(self.seen) > _MOST_TERMS or depth > _DEEPEST:
                return False
            self.seen[term, step] = any(
                self._is_atom_under(atom, factor, left, depth + 1)
                for atom, factor in term.parts
                for left in [step - max(0, self.ranges.of(term - of(atom).times(factor)).high)]
                if abs(factor) == 1 and left >= 0
            )
        return self.seen[term, step]

    def _is_atom_under(self, atom: Atom, sign: int, step: int, depth: int) -> bool:
        """Whether an atom, or its negation, is no greater than what is carried is far out, and a step."""
        match atom:
            case Unknown(name):
                if name in self.carried:
                    return True
                ways = _ways(of(atom), self.definitions)
                return bool(ways) and all(self._is_under(way.times(sign), step, depth) for way in ways)
            case Least(left, right):
                sides = (self._is_under(side.times(sign), step, depth) for side in (left, right))
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
    lies: list[Range] = []
    pending, followed = [handed], {handed}
    while pending and len(followed) < _MOST_TERMS:
        term = pending.pop()
        lone, ways = term.lone, _ways(term, definitions)
        if isinstance(lone, Unknown) and lone.name in names:
            lies.append(operands)
        elif ways:
            pending += [way for way in ways if way not in followed]
            followed.update(ways)
        else:
            lies.append(ranges.of(term))
    known = ranges.of(handed) if pending else reduce(Range.__or__, lies) & ranges.of(handed)
    return known if known.within(CARRIED_LIMIT) else None


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
