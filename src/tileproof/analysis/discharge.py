"""Discharges a goal on the first rung that can.

Construction, then proof from what the kernel says, then from its contracts, then a compare of extents at launch, then
z3. What is left is open: a check at run time may discharge bounds; ownership and coverage are rejected.

A compare rejects no launch that would go right: it is dropped if a few plain sizes show one that it would reject. What
borders of segments decide is left to a check at run time, unless checks are denied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice, product
from typing import TypeAlias

from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import Group
from tileproof.ir.types import INDEX_LIMIT, Content
from tileproof.ir.walk import walk

from . import smt
from .collect import Collector
from .launch_guards import Compare, evaluated
from .obligations import Contents, Goal, InBounds, Violation
from .prover import Answer, Prover, contradict, shadow
from .sites import Bounded
from .terms import (
    All,
    Atom,
    AxisExtent,
    DimensionExtent,
    Fact,
    Formula,
    GroupOf,
    Least,
    Product,
    Quotient,
    Read,
    Scalar,
    Term,
    Unknown,
    at_most,
    changed,
    equals,
    everything,
    flattened,
    is_launch_known,
    negation,
    number,
    of,
    rebuild,
    terms,
)
from .verdict import Discharged, Rung

_Leaf: TypeAlias = DimensionExtent | AxisExtent | Scalar
_MOST_TRIED = 12
"""How many launches are tried to see whether compares are right."""
_LARGE = 1 << 20
"""An extent to which any other can be the smaller one."""


@dataclass(frozen=True, slots=True)
class Open:
    """A goal that no rung discharged without a check, and the violations left."""

    goal: Goal
    violations: tuple[Violation, ...]


class Discharger:
    """Discharges the goals of one kernel."""

    def __init__(self, collector: Collector, prover: Prover, deny_checks: bool = False) -> None:
        self.collector = collector
        self.prover = prover
        self.deny_checks = deny_checks
        self.compares: list[Compare] = []
        self.solver = smt.Solver(self.groups)
        contents = any(isinstance(element, Content) for element in collector.ranges.elements.values())
        self.has_contracts = contents or bool(prover.contracts)

    def discharge(self, goal: Goal) -> Discharged | Open:
        """The rung that discharges a goal, or the open goal."""
        if goal.by_construction:
            return Discharged(goal.kind, goal.what, goal.span, Rung.CONSTRUCTION, goal.by_construction)
        is_checkable = isinstance(goal.subject, InBounds | Bounded | Contents) and not self.deny_checks
        outcome = self.proved(goal.violations, goal.span, goal.what, goal.runs, is_checkable)
        if isinstance(outcome, Discharged):
            claim = f"{goal.claim}: " if goal.claim else ""
            return Discharged(goal.kind, goal.what, goal.span, outcome.rung, claim + outcome.reason)
        return Open(goal, outcome)

    def proved(
        self, violations: Sequence[Violation], span: Span, what: str, runs: Violation, is_checkable: bool
    ) -> Discharged | tuple[Violation, ...]:
        """The rung on which all violations are impossible; else those left.

        `runs` holds wherever one could occur. `is_checkable`: a check at run time may discharge them.
        """
        rung, reason = Rung.PROOF, "linear arithmetic"
        demands: list[Compare] = []
        left: list[Violation] = []
        for violation in violations:
            answer = self.prover.ask(runs, contracts=False, about=violation)
            if answer.impossible:
                continue
            if self.has_contracts:
                answer = self.prover.ask(runs, about=violation)
            if answer.impossible:
                rung, reason = Rung.CONTRACT, self._contract_of((*runs, *violation))
                continue
            compares = None
            if not any(self._is_data(formula, is_checkable) for formula in violation):
                compares = self._compares(violation, answer, span, what, runs)
            if compares is not None:
                demands += compares
            elif not answer.spent and self._z3_helps((*runs, *violation)):
                reason = "z3"
            else:
                left.append((*runs, *violation))
        if left:
            return tuple(left)
        if demands:
            self.compares += [one for one in demands if one not in self.compares]
            texts = dict.fromkeys(demand.demand for demand in demands)
            return Discharged("", what, span, Rung.LAUNCH, f"the launch compares {', '.join(texts)}")
        return Discharged("", what, span, rung, reason)

    def _contract_of(self, violation: Violation) -> str:
        """The contracts of the signature that a proof could use."""
        used = []
        every = (atom for formula in violation for term in terms(formula) for atom in everything(term))
        for atom in dict.fromkeys(every):
            if isinstance(atom, Read):
                content = self.collector.ranges.elements.get(atom.tensor)
                if isinstance(content, Content):
                    used.append(f"{atom.tensor} holds {content}")
            if isinstance(atom, GroupOf):
                used.append(f"{atom.dimension} is a multiple of {atom.into}")
        if self.collector.account.requires:
            used.append("tp.require")
        return ", ".join(dict.fromkeys(used)) if used else "the signature"

    # Launch.

    def _compares(
        self, violation: Violation, answer: Answer, span: Span, what: str, runs: Violation
    ) -> list[Compare] | None:
        """What a launch must compare so that the violation is impossible; None if it does not depend on sizes alone."""
        bent = any(map(_is_bent, violation))
        compares = []
        for case in answer.open:
            compare = self.compare_for(case, span, f"{what} is right", runs, plain=bent)
            if compare is None:
                return None
            compares.append(compare)
        return compares if self.are_right(compares, runs, violation) else None

    def are_right(self, compares: Sequence[Compare], runs: Violation, violation: Violation) -> bool:
        """Whether compares can hold together with the earlier ones in a launch that runs a program, and reject only
        launches that would go wrong; as far as it is known, and as a few plain sizes show.
        """
        together = (*self.compares, *compares)
        if len(together) > 1 and self.prover.impossible((*runs, *(negation(All(one.broken)) for one in together))):
            return False
        facts = (fact for compare in together for fact in compare.broken)
        stated = (*runs, *violation, *self.prover.contracts, *facts)
        every = (atom for formula in stated for term in terms(formula) for atom in everything(term))
        leaves = [atom for atom in dict.fromkeys(every) if isinstance(atom, DimensionExtent | AxisExtent | Scalar)]
        prover = Prover(self.prover.axioms, ())
        is_met, tried = False, 0
        for sizes in _samples(leaves):
            is_rejected = not all(compare.holds(sizes.__getitem__) for compare in compares)
            was_rejected = not all(compare.holds(sizes.__getitem__) for compare in self.compares)
            if (was_rejected if is_rejected else is_met) or tried > _MOST_TRIED:
                continue
            known = partial(_at_sizes, sizes=sizes)
            launch = [changed(formula, known) for formula in (*self.prover.contracts, *runs)]
            launch += [equals(of(atom), size) for atom, size in sizes.items()]
            goes_right = is_rejected and prover.impossible([*launch, *(changed(one, known) for one in violation)])
            if is_rejected and not goes_right:
                tried += 1
            elif not prover.impossible(launch):
                if goes_right:
                    return False
                tried += 1
                is_met = not was_rejected
        return is_met or not tried

    def _is_data(self, formula: Formula, is_checkable: bool = False) -> bool:
        for term in terms(formula):
            for atom in everything(term):
                match atom:
                    case Unknown(data=True):
                        return True
                    case Read(tensor):
                        content = self.collector.ranges.elements[tensor]
                        if not isinstance(content, Content) or (is_checkable and content.kind == "Offsets"):
                            return True
                    case _:
                        pass
        return False

    def compare_for(
        self, case: Sequence[Fact], span: Span, why: str, runs: Violation, plain: bool = False
    ) -> Compare | None:
        """The compare that excludes one open case; None if no useful launch would meet it.

        `plain`: the compare may only require a least value of one extent.
        """
        # Where nothing runs at all nothing is demanded, so what makes it run counts too.
        facts = dict.fromkeys((*case, *flattened(self.prover.formulas(runs, contracts=True))[0]))
        keep = dict.fromkeys(atom for fact in facts for atom in fact.term.atoms if is_launch_known(of(atom)))
        rows = shadow(facts, keep)
        if rows is None:
            return None
        base = self._of_launch(keep)
        broken = [row for row in rows if not contradict((*base, _not(row)))]
        usable = [row for row in broken if is_demand(_not(row).term) and (not plain or _is_plain(row))]
        usable = [row for row in usable if not self.prover.impossible((*runs, _not(row), *_limits(row)))]
        usable = [row for row in usable if self._is_open(_not(row))]
        if not usable:
            return None
        return Compare(tuple(broken), " or ".join(shown(_not(row)) for row in usable), span, why)

    def _is_open(self, demand: Fact) -> bool:
        """Whether contracts let every extent that a demand limits be large."""
        limited = (atom for atom, times in demand.term.parts if times > 0 and not isinstance(atom, Scalar))
        return not any(self.prover.impossible((demand, at_most(number(_LARGE), of(atom)))) for atom in limited)

    def _of_launch(self, keep: Iterable[Atom]) -> list[Fact]:
        """What every launch meets anyway."""
        stated = [Fact(-of(atom)) for atom in keep if isinstance(atom, DimensionExtent | AxisExtent)]
        known = self.prover.axioms.about(stated, contracts=True)
        facts = [fact for fact in (*known, *self.prover.contracts) if isinstance(fact, Fact)]
        return [fact for fact in (*stated, *facts) if is_launch_known(fact.term)]

    # z3.

    def _z3_helps(self, violation: Violation) -> bool:
        return self.solver.impossible(self.prover.formulas(violation, contracts=True))

    @property
    def groups(self) -> dict[tuple[str, str], tuple[Term, Term]]:
        """The extents of the dimensions that `tp.group` relates."""
        extent = self.collector.extent
        groups = (op for op in walk(self.collector.kernel.body) if isinstance(op, Group))
        return {(op.dimension, op.into): (extent(op.dimension), extent(op.into)) for op in groups}


def _not(fact: Fact) -> Fact:
    opposite = negation(fact)
    assert isinstance(opposite, Fact)
    return opposite


def _limits(fact: Fact) -> list[Fact]:
    """That the extents of a fact are such as a launch accepts."""
    extents = (atom for atom in fact.term.atoms if isinstance(atom, DimensionExtent | AxisExtent))
    return [at_most(of(atom), INDEX_LIMIT) for atom in extents]


def _is_bent(formula: Formula) -> bool:
    """Whether it multiplies or divides what is not known at launch, which linear facts do not capture."""
    return any(
        isinstance(atom, Product | Quotient) and not is_launch_known(of(atom)) and not _divides_by_number(atom)
        for term in terms(formula)
        for atom in everything(term)
    )


def _is_plain(fact: Fact) -> bool:
    """Whether it is about one extent."""
    return len(fact.term.parts) == 1 and isinstance(fact.term.parts[0][0], DimensionExtent | AxisExtent)


def _divides_by_number(atom: Product | Quotient) -> bool:
    return isinstance(atom, Quotient) and atom.by.number is not None


def is_demand(term: Term) -> bool:
    """Whether `term <= 0` can be met by larger extents or by scalars: no limit on sizes, no divisibility."""
    if any(isinstance(atom, Quotient | Least) for atom in everything(term)):
        return False
    sizes = [(atom, factor) for atom, factor in term.parts if not isinstance(atom, Scalar)]
    if not sizes:
        return bool(term.parts)
    return any(factor < 0 for _, factor in sizes) and (_is_linear(term) or _can_be_met(term))


def _is_linear(term: Term) -> bool:
    return not any(isinstance(atom, Product) for atom in everything(term))


def _can_be_met(term: Term) -> bool:
    """Whether larger extents or other scalars bring `term` to 0 or below, whatever the sizes are at first.

    The signs of products do not decide this: `G*S <= 2*S` is a limit on G, however large S is.
    """
    leaves = [
        atom for atom in dict.fromkeys(everything(term)) if isinstance(atom, DimensionExtent | AxisExtent | Scalar)
    ]
    for sizes in islice(product((2, 3, 12), repeat=len(leaves)), 500):
        first = dict(zip(leaves, sizes, strict=True))
        others = [{**first, leaf: size} for leaf in leaves for size in _others(leaf)]
        if not any(evaluated(term, tried.__getitem__) <= 0 for tried in (first, *others)):
            return False
    return True


def _at_sizes(term: Term, sizes: Mapping[_Leaf, int]) -> Term:
    """A term at a launch whose extents and scalars are known."""

    def change(atom: Atom) -> Term | None:
        is_known = isinstance(atom, DimensionExtent | AxisExtent | Scalar) and atom in sizes
        return number(sizes[atom]) if is_known else None  # type: ignore[index]

    return rebuild(term, change)


def _samples(leaves: Sequence[_Leaf]) -> Iterator[dict[_Leaf, int]]:
    """Plain sizes and scalars: all equal, in some order, and each in turn unlike the others."""
    count = len(leaves)
    rows = [(size,) * count for size in (2, _LARGE, 3)]
    rows += [tuple(islice(cycle(sizes), count)) for sizes in ((4, 3, 2), (2, 3, 4), (16, 8, 64), (7, 1, 4))]
    rows.append(tuple(0 if isinstance(leaf, Scalar) else 3 for leaf in leaves))
    for place in range(count):
        unlike = [(1, 5), (9, 2), (0, 3), (_LARGE, 3)]
        unlike += [(-1, 3), (-4, 3), (30, 3)] if isinstance(leaves[place], Scalar) else []
        rows += [(*(other,) * place, size, *(other,) * (count - place - 1)) for size, other in unlike]
    for row in dict.fromkeys(rows):
        yield {
            leaf: min(max(size, leaf.low), leaf.high) if isinstance(leaf, Scalar) else size
            for leaf, size in zip(leaves, row, strict=True)
        }


def _others(leaf: Atom) -> tuple[int, ...]:
    """Other values to try for an extent or a scalar."""
    return (-_LARGE, 0, _LARGE) if isinstance(leaf, Scalar) else (_LARGE,)


def shown(fact: Fact) -> str:
    """`term <= 0`, formatted with positive terms on both sides."""
    less = [(atom, factor) for atom, factor in fact.term.parts if factor > 0]
    more = [(atom, -factor) for atom, factor in fact.term.parts if factor < 0]
    constant = fact.term.constant
    left = Term(less, max(constant, 0) if less or constant > 0 else 0)
    right = Term(more, max(-constant, 0))
    if not less and constant > 0:
        return f"{right} >= {constant}"
    return f"{left} <= {right}"
