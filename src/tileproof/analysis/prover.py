"""Can a set of formulas hold? Linear facts first, then the cases of an "or", one by one.

The prover answers *no* (so what was to be shown is shown) or leaves open cases: choices under which no contradiction
was found. It never says yes. The amount of work is counted, never timed, so an answer is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .axioms import Axioms
from .linear import Line, Solved, System
from .terms import Atom, Clause, Fact, Formula, flattened, terms

_MOST_QUESTIONS = 800
_MOST_WORK = 60_000
_MOST_IN_ALL = 1_200_000
"""For all questions about one kernel."""
_MOST_OPEN = 6


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether the formulas contradict each other; if not, the cases left open.

    Where they became too many, the one case that stands for all: what holds in each of them.
    """

    impossible: bool
    open: tuple[tuple[Fact, ...], ...] = ()


class _Spent(Exception):
    """The work allowed for one question is done."""


class Prover:
    """Asks questions about one kernel."""

    def __init__(self, axioms: Axioms, contracts: Sequence[Formula]) -> None:
        self.axioms = axioms
        self.contracts = tuple(contracts)
        """What holds because the launch sees to it."""
        self.work = 0
        """Spent on all questions so far."""

    def formulas(self, given: Iterable[Formula], contracts: bool) -> list[Formula]:
        """Everything known beside what is given, and what is given."""
        stated = [*given, *(self.contracts if contracts else ())]
        return [*stated, *self.axioms.about(stated, contracts)]

    def ask(self, given: Sequence[Formula], contracts: bool = True, about: Sequence[Formula] = ()) -> Answer:
        """Whether all that is given can hold at once, along with `about`, which alone decides what matters."""
        facts, clauses = flattened(self.formulas((*about, *given), contracts))
        if about:
            facts, clauses = _relevant(facts, clauses, about)
        search = Search(min(_MOST_WORK, max(0, _MOST_IN_ALL - self.work)))
        try:
            search.start(facts, clauses)
        except _Spent:
            return Answer(False, (tuple(facts),))
        finally:
            self.work += search.system.work
        return Answer(not search.open, tuple(search.open))

    def impossible(self, given: Sequence[Formula], contracts: bool = True, about: Sequence[Formula] = ()) -> bool:
        """Whether what is given certainly cannot hold."""
        return self.ask(given, contracts, about).impossible


def _relevant(
    facts: list[Fact], clauses: list[Clause], about: Sequence[Formula]
) -> tuple[list[Fact], list[Clause]]:
    """What has to do with some formulas, over any number of steps. What is left out could not contradict them."""
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
    """Looks for a case without contradiction."""

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
        """Takes cases of facts that do not contradict each other."""
        best: list[tuple[_Way, Solved]] | None = None
        chosen = -1
        pending: list[tuple[_Way, ...]] = []
        for number, clause in enumerate(clauses):
            # What stands there already, word for word, makes its clause say nothing new.
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
