"""The law of carried indices: what loops and combiners hand on stays within 64 bits.

A turn may hand on an index no further out than those it was made of, or one a step away. No loop turns often enough for
small steps to add up: 2**48 turns of 2**14 are 2**62. For longer steps the turns are counted: what they make together
must fit, for all sizes or, where that depends on them, for those of a launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tileproof.ir import ops
from tileproof.ir.types import AnyValue, Tile
from tileproof.ir.walk import walk

from .formulas import All, Fact, Formula, Some
from .ranges import CARRIED_LIMIT, STEP_LIMIT, Ranges
from .terms import Term, Unknown, everything, of


def long_steps(
    handed: Term, carried: Unknown, ranges: Ranges, definitions: Mapping[str, tuple[Formula, ...]]
) -> list[Term] | None:
    """The steps a turn may take from what was carried that are not small; None if it is no step at all."""
    if ranges.of(handed).within(CARRIED_LIMIT):
        return []
    for atom, factor in handed.parts:
        near = ranges.of(handed - of(atom)).within(STEP_LIMIT)
        if factor == 1 and near and ranges.of(of(atom)).within(CARRIED_LIMIT):
            return []
    step = handed - of(carried)
    if not any(isinstance(atom, Unknown) and atom.name == carried.name for atom in everything(step)):
        return [step]
    ways = [long_steps(way, carried, ranges, definitions) for way in _ways(handed, definitions)]
    if not ways or None in ways:
        return None
    return [step for way in ways if way is not None for step in way]


def chooses_one(
    handed: Term, combiner: ops.Combiner, ranges: Ranges, definitions: Mapping[str, tuple[Formula, ...]]
) -> bool:
    """Whether a combined index is one of those it was made of, or small whatever they are."""
    names = {value.name for value in (*combiner.left, *combiner.right)}
    lone = handed.lone
    if isinstance(lone, Unknown) and lone.name in names:
        return True
    if ranges.of(handed).within(CARRIED_LIMIT):
        return True
    ways = _ways(handed, definitions)
    return bool(ways) and all(chooses_one(way, combiner, ranges, definitions) for way in ways)


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
    """Whether a value of a loop's body is made of what the body loads."""
    made = {result: op for op in walk(body) for result in ops.results(op)}
    pending: list[AnyValue] = [value]
    seen: set[AnyValue] = set()
    while pending:
        op = made.get(pending.pop())
        if isinstance(op, ops.Load | ops.Get):
            return True
        if op is not None:
            inner = [handed for block in ops.blocks(op) for handed in block.yields]
            fresh = [one for one in (*ops.operands(op), *inner) if one not in seen]
            seen.update(fresh)
            pending += fresh
    return False
