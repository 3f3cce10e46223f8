"""Decides whether a set of formulas contradicts itself: linear facts first, then the cases of disjunctions, one by one.

The prover reports a contradiction (so the negation is proved) or open cases: choices under which it found none. It
never reports that formulas can hold. Work is counted, never timed, so an answer is the same on every machine.

Linear facts over the integers: equalities are solved away, also those that two inequalities make. Then unknowns are
eliminated one by one (Fourier and Motzkin). Each new row is divided by its common factor and rounded, which is valid
for integers only. A contradiction is certain; too many rows end the search without one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

from .axioms import Axioms
from .equalities import is_contradictory
from .terms import Atom, Clause, Fact, Formula, Term, flattened, terms

_MOST_QUESTIONS = 800
_MOST_WORK = 300_000
MOST_IN_ALL = 3_000_000
"""For all queries about one kernel."""
_MOST_OPEN = 6


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether the formulas contradict each other; if not, the cases left open.

    Where they became too many, the one case that stands for all: what holds in each of them.
    """

    impossible: bool
    open: tuple[tuple[Fact, ...], ...] = ()
    spent: bool = False
    """Whether the search ended at its limit of work."""


class _Spent(Exception):
    """The work limit of a query is reached."""


class Prover:
    """Answers queries about one kernel, within a limit on the work of all."""

    def __init__(self, axioms: Axioms, contracts: Sequence[Formula]) -> None:
        self.axioms = axioms
        self.contracts = tuple(contracts)
        """What holds because the launch checks it."""
        self.work = 0
        """Done for all queries so far."""
        self.gave_up = False
        """Whether a query ended at a limit of work, since this was last cleared."""

    def formulas(self, premises: Iterable[Formula], contracts: bool) -> list[Formula]:
        """The premises, the contracts if wanted, and the axioms about all of them."""
        stated = [*premises, *(self.contracts if contracts else ())]
        return [*stated, *self.axioms.about(stated, contracts)]

    def ask(self, premises: Sequence[Formula], contracts: bool = True, about: Sequence[Formula] = ()) -> Answer:
        """Whether the premises contradict `about`. Only facts connected to `about` are used."""
        if self.work >= MOST_IN_ALL:
            self.gave_up = True
            return Answer(False, (tuple(flattened((*about, *premises))[0]),), spent=True)
        stated = (*about, *premises, *(self.contracts if contracts else ()))
        if any(isinstance(formula, Fact) and formula.equal for formula in about) and is_contradictory(stated):
            return Answer(True)
        facts, clauses = flattened(self.formulas((*about, *premises), contracts))
        if about:
            facts, clauses = _relevant(facts, clauses, about)
        search = Search(min(_MOST_WORK, MOST_IN_ALL - self.work))
        search.system.work = len(facts) + len(clauses)
        try:
            search.start(facts, clauses)
        except _Spent:
            spent = len(search.open) <= _MOST_OPEN
            self.gave_up = self.gave_up or spent
            return Answer(False, (tuple(facts),), spent)
        finally:
            self.work += search.system.work
        return Answer(not search.open, tuple(search.open))

    def impossible(self, premises: Sequence[Formula], contracts: bool = True, about: Sequence[Formula] = ()) -> bool:
        """Whether the premises certainly contradict each other, or `about`."""
        return self.ask(premises, contracts, about).impossible


def _relevant(facts: list[Fact], clauses: list[Clause], about: Sequence[Formula]) -> tuple[list[Fact], list[Clause]]:
    """What shares atoms with some formulas, over any number of steps. Nothing else could contradict them."""
    reached = {atom for formula in about for term in terms(formula) for atom in term.atoms}
    waiting: list[tuple[frozenset[Atom], Fact | Clause]] = [
        *((frozenset(fact.term.atoms), fact) for fact in facts),
        *((frozenset(atom for option in clause for fact in option for atom in fact.term.atoms), clause)
          for clause in clauses),
    ]  # fmt: skip
    kept_facts: list[Fact] = []
    kept_clauses: list[Clause] = []
    grew = True
    while grew:
        grew, rest = False, []
        for atoms, item in waiting:
            if atoms.isdisjoint(reached) and atoms:
                rest.append((atoms, item))
                continue
            grew = grew or not atoms <= reached
            reached |= atoms
            if isinstance(item, Fact):
                kept_facts.append(item)
            else:
                kept_clauses.append(item)
        waiting = rest
    return kept_facts, kept_clauses


@dataclass(frozen=True, slots=True)
class _Way:
    """An option of a clause, as facts and in numbers."""

    facts: tuple[Fact, ...]
    lines: tuple[Line, ...]


class Search:
    """A search for cases without contradiction."""

    def __init__(self, work: int = _MOST_WORK) -> None:
        self.most_work = work
        self.open: list[tuple[Fact, ...]] = []
        self.questions = 0
        self.system = System()

    def start(self, facts: Sequence[Fact], clauses: Sequence[Clause]) -> None:
        """Leaves in `open` every case that is not contradictory."""
        whole = self._way(tuple(dict.fromkeys(facts)))
        solved = Solved({}).extended(whole.lines)
        if solved is not None and not self._contradict(solved):
            self._run(whole.facts, solved, tuple(tuple(map(self._way, clause)) for clause in dict.fromkeys(clauses)))

    def _way(self, facts: tuple[Fact, ...]) -> _Way:
        return _Way(facts, tuple(map(self.system.line, facts)))

    def _run(self, facts: tuple[Fact, ...], known: Solved, clauses: tuple[tuple[_Way, ...], ...]) -> None:
        """Splits on the clause with the fewest options left."""
        best: list[tuple[_Way, Solved]] | None = None
        chosen = -1
        pending: list[tuple[_Way, ...]] = []
        for number, clause in enumerate(clauses):
            # A clause with an option that is among the facts already adds nothing.
            if any(all(fact in facts for fact in option.facts) for option in clause):
                continue
            options: list[tuple[_Way, Solved]] = []
            for option in clause:
                solved = known.extended(option.lines)
                if solved is not None and not self._contradict(solved):
                    options.append((option, solved))
            if not options:
                return
            if len(options) == 1:
                ((option, solved),) = options
                self._run((*facts, *option.facts), solved, (*pending, *clauses[number + 1 :]))
                return
            if best is None or len(options) < len(best):
                best, chosen = options, len(pending)
            pending.append(tuple(option for option, _ in options))
        if best is None:
            self.open.append(facts)
            if len(self.open) > _MOST_OPEN:
                raise _Spent
            return
        rest = (*pending[:chosen], *pending[chosen + 1 :])
        for option, solved in best:
            self._run((*facts, *option.facts), solved, rest)

    def _contradict(self, solved: Solved) -> bool:
        self.questions += 1
        if self.questions > _MOST_QUESTIONS or self.system.work > self.most_work:
            raise _Spent
        return self.system.contradict(solved)


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
    """An unknown solved for: `unknown = -sign * (factors + constant)`."""

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
        combined = dict(factors)
        del combined[self.unknown]
        for unknown, factor in self.factors.items():
            left = combined.get(unknown, 0) - times * factor
            if left:
                combined[unknown] = left
            else:
                combined.pop(unknown, None)
        return combined, constant - times * self.constant


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
                solved = _swap(factors, constant, self.kept)
                if solved is None:
                    waiting.append((factors, constant, False))
                    waiting.append(({unknown: -factor for unknown, factor in factors.items()}, -constant, False))
                    continue
                swaps.append(solved)
                waiting = [(*solved.applied(other, number), same) for other, number, same in waiting]
                for row in [row for row in rows if any(unknown == solved.unknown for unknown, _ in row)]:
                    waiting.append((*solved.applied(dict(row), rows.pop(row)), False))
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
    """A row in normal form; None if it is always true."""
    if not factors:
        if constant > 0:
            raise _Impossible
        return None
    common = gcd(*factors.values())
    if common > 1:
        return tuple(sorted((u, f // common) for u, f in factors.items())), -(-constant // common)
    return tuple(sorted(factors.items())), constant


class System:
    """Facts with numbered unknowns, for many queries."""

    def __init__(self) -> None:
        self.numbers: dict[Atom, int] = {}
        self.work = 0
        """How many rows were made or looked at, over all questions."""

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
            self.eliminate(solved.rows, frozenset())
        except _Impossible:
            return True
        return False

    def eliminate(self, rows: Rows, keep: frozenset[int]) -> Rows | None:
        """The rows left when every unknown not kept is gone; None if they became too many."""
        while True:
            self.work += len(rows)
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
                return rows
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
            self.work += len(up) * len(down)
            if len(rest) + len(up) * len(down) > _MOST_ROWS:
                return None
            for one, first, a in up:
                for two, second, b in down:
                    combined = {u: -b * f for u, f in one}
                    for u, f in two:
                        left = combined.get(u, 0) + a * f
                        if left:
                            combined[u] = left
                        else:
                            combined.pop(u, None)
                    tight = _tight(combined, a * second - b * first)
                    if tight is not None:
                        _insert(rest, *tight)
            rows = rest


def contradict(facts: Iterable[Fact]) -> bool:
    """Whether the facts certainly cannot all hold."""
    system = System()
    return system.contradict(Solved({}).extended([system.line(fact) for fact in facts]))


def shadow(facts: Iterable[Fact], keep: Collection[Atom]) -> list[Fact] | None:
    """The consequences of the facts for some atoms alone; None if that would take too long."""
    system = System()
    lines = [system.line(fact) for fact in facts]
    kept = frozenset(number for atom, number in system.numbers.items() if atom in keep)
    solved = Solved({}, kept=kept).extended(lines)
    try:
        remaining = None if solved is None else system.eliminate(solved.rows, kept)
    except _Impossible:
        remaining = None
    else:
        if solved is not None and remaining is None:
            return None
    if remaining is None:
        return [Fact(Term((), 1))]
    atoms = list(system.numbers)
    return [
        Fact(Term(((atoms[unknown], factor) for unknown, factor in factors), constant))
        for factors, constant in remaining.items()
        if all(unknown in kept for unknown, _ in factors)
    ]
