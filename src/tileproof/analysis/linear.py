"""Linear facts over the integers: can they all hold?

Equalities are solved away, also those that two inequalities make. Then unknowns are eliminated one by one (Fourier and
Motzkin), each new row divided by its common factor and rounded, which only integers allow. "No" is certain. "Perhaps"
is all that is said otherwise: also when there are too many rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

from .terms import Atom, Fact, Term

Factors: TypeAlias = tuple[tuple[int, int], ...]
"""Factors by unknown, sorted."""
Rows: TypeAlias = dict[Factors, int]
"""For each combination of unknowns the greatest constant: their sum is at most 0."""
_MOST_ROWS = 250


class _Impossible(Exception):
    """Two rows contradict each other."""


@dataclass(frozen=True, slots=True)
class Line:
    """A fact in numbers: factors by unknown, and the constant."""

    factors: Mapping[int, int]
    constant: int
    equal: bool


@dataclass(frozen=True, slots=True)
class _Swap:
    """An unknown that stands for others: `unknown = -sign * (factors + constant)`."""

    unknown: int
    sign: int
    factors: Mapping[int, int]
    constant: int

    def applied(self, factors: Mapping[int, int], constant: int) -> tuple[Mapping[int, int], int]:
        """A sum without the unknown."""
        times = factors.get(self.unknown)
        if times is None:
            return factors, constant
        times *= self.sign
        made = dict(factors)
        del made[self.unknown]
        for unknown, factor in self.factors.items():
            left = made.get(unknown, 0) - times * factor
            if left:
                made[unknown] = left
            else:
                made.pop(unknown, None)
        return made, constant - times * self.constant


@dataclass(frozen=True, slots=True)
class Solved:
    """Facts with their equalities solved. None of its parts is ever changed."""

    rows: Rows
    swaps: tuple[_Swap, ...] = ()
    kept: frozenset[int] = frozenset()
    """Unknowns that stay, whatever they are equal to."""

    def extended(self, lines: Iterable[Line]) -> Solved | None:
        """These facts and more; None if they contradict each other at first sight."""
        try:
            return self._extended(lines)
        except _Impossible:
            return None

    def _extended(self, lines: Iterable[Line]) -> Solved:
        rows, swaps = dict(self.rows), list(self.swaps)
        waiting: list[tuple[Mapping[int, int], int, bool]] = []
        for line in lines:
            factors, constant = line.factors, line.constant
            for swap in swaps:
                factors, constant = swap.applied(factors, constant)
            waiting.append((factors, constant, line.equal))
        while waiting:
            factors, constant, equal = waiting.pop()
            if equal:
                found = _swap(factors, constant, self.kept)
                if found is None:
                    waiting.append((factors, constant, False))
                    waiting.append(({unknown: -factor for unknown, factor in factors.items()}, -constant, False))
                    continue
                swaps.append(found)
                waiting = [(*found.applied(other, number), same) for other, number, same in waiting]
                for row in [row for row in rows if any(unknown == found.unknown for unknown, _ in row)]:
                    waiting.append((*found.applied(dict(row), rows.pop(row)), False))
                continue
            tight = _tight(factors, constant)
            if tight is not None and _insert(rows, *tight) and _swap(dict(tight[0]), 0, self.kept) is not None:
                waiting.append((dict(tight[0]), tight[1], True))
        return Solved(rows, tuple(swaps), self.kept)


def _swap(factors: Mapping[int, int], constant: int, kept: frozenset[int]) -> _Swap | None:
    """An equality solved for an unknown; None if none has a factor of 1."""
    if not factors:
        if constant:
            raise _Impossible
        return _Swap(-1, 1, {}, 0)
    common = gcd(*factors.values())
    if constant % common:
        raise _Impossible
    for unknown, factor in factors.items():
        if abs(factor) == common and unknown not in kept:
            rest = {other: number // common for other, number in factors.items() if other != unknown}
            return _Swap(unknown, factor // common, rest, constant // common)
    return None


def _insert(rows: Rows, factors: Factors, constant: int) -> bool:
    """Adds a row; whether it and its opposite are an equality."""
    known = rows.get(factors)
    if known is not None and known >= constant:
        return False
    rows[factors] = constant
    other = rows.get(tuple((unknown, -factor) for unknown, factor in factors))
    if other is None:
        return False
    if constant + other > 0:
        raise _Impossible
    return constant + other == 0


def _tight(factors: Mapping[int, int], constant: int) -> tuple[Factors, int] | None:
    """A row in normal form; None if it says nothing."""
    if not factors:
        if constant > 0:
            raise _Impossible
        return None
    common = gcd(*factors.values())
    if common > 1:
        return tuple(sorted((u, f // common) for u, f in factors.items())), -(-constant // common)
    return tuple(sorted(factors.items())), constant


class System:
    """Facts turned into numbers once, for many questions about them."""

    def __init__(self) -> None:
        self.numbers: dict[Atom, int] = {}
        self.work = 0
        """How many rows were made, over all questions."""

    def line(self, fact: Fact) -> Line:
        """A fact in numbers."""
        numbers = self.numbers
        factors = {numbers.setdefault(atom, len(numbers)): factor for atom, factor in fact.term.parts}
        return Line(factors, fact.term.constant, fact.equal)

    def contradict(self, solved: Solved | None) -> bool:
        """Whether facts certainly cannot all hold."""
        if solved is None:
            return True
        try:
            work, _ = _eliminated(solved.rows, frozenset())
        except _Impossible:
            return True
        self.work += len(solved.rows) + work
        return False


def contradict(facts: Iterable[Fact]) -> bool:
    """Whether the facts certainly cannot all hold."""
    system = System()
    return system.contradict(Solved({}).extended([system.line(fact) for fact in facts]))


def shadow(facts: Iterable[Fact], keep: Collection[Atom]) -> list[Fact] | None:
    """What the facts say of some atoms alone; None if that would take too long."""
    system = System()
    lines = [system.line(fact) for fact in facts]
    kept = frozenset(number for atom, number in system.numbers.items() if atom in keep)
    solved = Solved({}, kept=kept).extended(lines)
    try:
        found = None if solved is None else _eliminated(solved.rows, kept)[1]
    except _Impossible:
        found = None
    else:
        if solved is not None and found is None:
            return None
    if found is None:
        return [Fact(Term((), 1))]
    atoms = list(system.numbers)
    return [
        Fact(Term(((atoms[unknown], factor) for unknown, factor in factors), constant))
        for factors, constant in found.items()
        if all(unknown in kept for unknown, _ in factors)
    ]


def _eliminated(rows: Rows, keep: frozenset[int]) -> tuple[int, Rows | None]:
    """How many rows were made, and those left when every unknown not kept is gone; None if they became too many."""
    work = 0
    while True:
        sides: dict[int, list[int]] = {}
        """For each unknown: rows above, rows below, and whether a factor on either side is not 1."""
        for factors in rows:
            for unknown, factor in factors:
                side = sides.get(unknown)
                if side is None:
                    side = sides[unknown] = [0, 0, 0, 0]
                if factor > 0:
                    side[0] += 1
                    if factor != 1:
                        side[2] = 1
                else:
                    side[1] += 1
                    if factor != -1:
                        side[3] = 1
        chosen, least = -1, (2, 0)
        for unknown, (above, under, up_rough, down_rough) in sides.items():
            # Where all factors on one side are 1, nothing is lost that integers would allow.
            cost = up_rough * down_rough, above * under
            if unknown not in keep and (chosen < 0 or cost < least or (cost == least and unknown < chosen)):
                chosen, least = unknown, cost
        if chosen < 0:
            return work, rows
        rest: Rows = {}
        up: list[tuple[Factors, int, int]] = []
        down: list[tuple[Factors, int, int]] = []
        for factors, constant in rows.items():
            for unknown, factor in factors:
                if unknown == chosen:
                    (up if factor > 0 else down).append((factors, constant, factor))
                    break
            else:
                rest[factors] = constant
        work += len(up) * len(down)
        if len(rest) + len(up) * len(down) > _MOST_ROWS:
            return work + _MOST_ROWS, None
        for one, first, a in up:
            for two, second, b in down:
                made = {u: -b * f for u, f in one}
                for u, f in two:
                    left = made.get(u, 0) + a * f
                    if left:
                        made[u] = left
                    else:
                        made.pop(u, None)
                tight = _tight(made, a * second - b * first)
                if tight is not None:
                    _insert(rest, *tight)
        rows = rest
