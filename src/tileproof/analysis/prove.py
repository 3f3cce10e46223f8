"""Discharges every obligation of a kernel, or reports it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, Label, OutOfBounds, Race, TileproofError, Unwritten
from tileproof.ir import ops
from tileproof.ir.types import Access, AnyValue, Tensor, TensorType
from tileproof.ir.walk import dataflow, walk

from . import coverage, cures, smt
from .axioms import Axioms
from .collect import Collector
from .counterexample import CounterexampleSearch, Replay
from .discharge import Discharger, Open, is_demand
from .invariants import learn
from .launch_guards import Compare, Fits
from .obligations import Contents, Disjoint, DisjointLanes, Goal, InBounds, Violation, full, goals
from .prover import Answer, Prover
from .sites import Bounded, Branch, Fitting, NotEmpty, Site
from .terms import Scalar, Term, Unknown, below, depends_on_data, everything, terms
from .verdict import Discharged, Full, Residual, Rung, Verdict

_Discharge: TypeAlias = Callable[[Rung, str], None]
_USUAL_EXTENT = 4096
"""Index arithmetic that leaves 64 bits for extents of this size is rejected."""
_MOST_FITS = 128
"""So many indices at most may be looked at by a launch."""


def prove(kernel: ops.KernelIR, replay: Replay | None = None, *, deny_checks: bool = False) -> Verdict:
    """Discharges every obligation of a kernel. `replay` runs counter-examples; without it none is reported."""
    return _Checker(kernel, replay, deny_checks).check()


class _Checker:
    def __init__(self, kernel: ops.KernelIR, replay: Replay | None, deny_checks: bool) -> None:
        self.kernel = kernel
        self.deny_checks = deny_checks
        self.collector = Collector(kernel)
        self.account = self.collector.collect()
        axioms = Axioms(self.collector.ranges, self.account.definitions, self.collector.offsets)
        self.discharger = Discharger(self.collector, Prover(axioms, self.account.contracts), deny_checks)
        self.counterexamples = None if replay is None else CounterexampleSearch(self.discharger, replay)
        self.discharged: list[Discharged] = []
        self.findings: list[Diagnostic] = []
        self.fits: list[Fits] = []
        self.unfit: set[AnyValue] = set()
        """What may leave 64 bits for sizes that are usual, and what is computed from it."""
        self.usual = self.collector.ranges.knowing(lambda atom: _USUAL_EXTENT)
        self.of_launch = self.collector.ranges.knowing(None)
        self.residuals: list[Residual] = []
        self.complete: list[str] = []
        self.racing: set[Tensor] = set()

    def check(self) -> Verdict:
        """The verdict."""
        owed = list(goals(self.collector))
        asked = [formula for goal in owed for violation in goal.violations for formula in violation]
        extents = [extent for view in self.collector.views.values() for extent in view.extents]
        learn(self.account, self.discharger.prover, asked, extents)
        for goal in owed:
            self._goal(goal)
        for parameter in self.kernel.parameters:
            tensor = parameter.value
            if isinstance(tensor.type, TensorType) and tensor.type.access is Access.OUT:
                self._cover(parameter, tensor)
        unclipped = tuple(
            Full(site.op, axis)
            for site, axis, runs, clipped in full(self.collector)
            if self.discharger.prover.impossible(runs, about=clipped)
        )
        findings = tuple(replace(finding, kernel=self.kernel.name) for finding in self.findings)
        compares: tuple[Compare | Fits, ...] = (*dict.fromkeys(self.discharger.compares), *self.fits)
        complete = tuple(dict.fromkeys(self.complete))
        return Verdict(
            self.kernel, tuple(self.discharged), findings, compares, tuple(self.residuals), complete, unclipped
        )

    def _not_proved(self, finding: Diagnostic, *, by_z3: bool = True) -> None:
        """Reports what no rung discharged, and what kept a rung from trying or from ending."""
        if self.discharger.prover.gave_up:
            note = "the proof has more cases than the checker tries; it counts them, and measures no time"
            finding = _too_much(finding, note)
        elif by_z3 and smt.installed() is None:
            note = "z3, which might prove it, is not installed: `pip install z3-solver`"
            finding = replace(finding, notes=(*finding.notes, note))
        self.findings.append(finding)

    def _goal(self, goal: Goal) -> None:
        if isinstance(goal.subject, Fitting):
            self._fitting(goal, goal.subject)
            return
        if isinstance(goal.subject, Disjoint) and goal.subject.one.view.root in self.racing:
            return
        self.discharger.prover.gave_up = False
        known = len(self.discharger.compares)
        result = self.discharger.discharge(goal)
        if isinstance(result, Discharged):
            is_guarded = result.rung is Rung.LAUNCH and isinstance(goal.subject, Disjoint)
            self.discharged.append(self._with_race(goal, result, known) if is_guarded else result)
            return
        match goal.subject:
            case InBounds() | Bounded() | Contents():
                self._not_proved_in_bounds(result)
            case NotEmpty():
                self._not_proved(_may_be_empty(goal))
            case Disjoint() | DisjointLanes():
                self._not_proved_disjoint(result)

    # Bounds.

    def _not_proved_in_bounds(self, remaining: Open) -> None:
        goal = remaining.goal
        axis: int | None
        match goal.subject:
            case InBounds(site, axis):
                index, where = site.spots[axis].position - site.spots[axis].extent, site.where
                early = self.collector.parallel is not None and _is_early(self.collector, site.spots[axis].pick)
                op: ops.AnyOp = site.op
            case Contents(site):
                assert isinstance(site.op, ops.Store)
                op, where, axis = site.op, site.where, None
                index, early = self.collector.values.stored(site.op.value), False
            case Bounded(op=op, index=index, where=where):
                axis, early = None, not where.in_space
            case _:
                raise TypeError(goal.subject)
        if not depends_on_data(index) and not self._has_scalars(index) and self.counterexamples is not None:
            seen = self.counterexamples.find(remaining.violations, OutOfBounds, [goal.span])
            if seen is not None:
                code = Code.NOT_AN_INDEX if isinstance(goal.subject, Contents) else Code.NOT_IN_BOUNDS
                cure = "" if code is Code.NOT_AN_INDEX else cures.of_bounds(self.collector, goal.subject, op)
                self._report_counterexample(code, seen, cure)
                return
        rung = Rung.PRECHECK if early and not where.nest else Rung.IN_PLACE
        if where.in_test:
            self._not_proved(_in_test(goal))
            return
        if self.deny_checks:
            self._not_proved(_denied(goal, rung))
            return
        self.residuals.append(Residual(op, axis, rung))
        reason = "tested before any loop" if rung is Rung.PRECHECK else "tested where it is used"
        reason = f"{goal.claim}: {reason}" if goal.claim else reason
        self.discharged.append(Discharged(goal.kind, goal.what, goal.span, rung, reason))

    def _has_scalars(self, term: Term) -> bool:
        """Whether it depends on what a launch passes by value: such an index is checked, not rejected."""
        pending, seen = list(everything(term)), set[str]()
        while pending:
            match pending.pop():
                case Scalar():
                    return True
                case Unknown(name) if name not in seen:
                    seen.add(name)
                    known = self.account.definitions.get(name, ())
                    pending += [atom for formula in known for one in terms(formula) for atom in everything(one)]
                case _:
                    pass
        return False

    def _fitting(self, goal: Goal, demand: Fitting) -> None:
        term, finding = demand.term, _may_not_fit(goal)
        if term is not None and self.usual.of(term).within(demand.limit):
            if len(self.fits) < _MOST_FITS:
                if all((known.term, known.limit) != (term, demand.limit) for known in self.fits):
                    self.fits.append(Fits(term, self.of_launch, goal.span, demand.limit))
                reason = "the launch looks whether it fits 64 bits"
                self.discharged.append(Discharged(goal.kind, goal.what, goal.span, Rung.LAUNCH, reason))
                return
            finding = _too_much(finding, f"a launch computes the intervals of {_MOST_FITS} indices at most")
        defined = list(dataflow(demand.op))
        if any(each in self.unfit for value, sources in defined for each in (value, *sources)):
            return  # what is computed from an index that may not fit has the same cause
        self.findings.append(finding)
        self.unfit.update(value for value, _ in defined)
        for op in walk(self.kernel.body):
            self.unfit.update(value for value, sources in dataflow(op) if not self.unfit.isdisjoint(sources))

    # Ownership.

    def _not_proved_disjoint(self, remaining: Open) -> None:
        goal = remaining.goal
        site = goal.subject.one if isinstance(goal.subject, Disjoint) else goal.subject.site  # type: ignore[union-attr]
        self.racing.add(site.view.root)
        places = [goal.subject.one.span, goal.subject.two.span] if isinstance(goal.subject, Disjoint) else [goal.span]
        if self.counterexamples is not None:
            seen = self.counterexamples.find(remaining.violations, Race, places)
            if seen is not None:
                lanes = seen.diagnostics[0].code is Code.LANES_MEET
                stores = isinstance(goal.subject, Disjoint) and goal.subject.two.writes and not lanes
                cure = "" if lanes else cures.of_race(self.collector, goal, stores)
                self._report_counterexample(Code.LANES_NOT_DISJOINT if lanes else Code.NOT_DISJOINT, seen, cure)
                return
        self._not_proved(_not_disjoint(goal, *cures.of_open(self.collector, goal)))

    def _report_counterexample(
        self, code: Code, seen: TileproofError, help: str = "", labels: tuple[Label, ...] = ()
    ) -> None:
        for finding in seen.diagnostics:
            marks = (*finding.labels, *labels)
            diagnostic = replace(finding, code=code, help=help or finding.help, labels=marks)
            if all(known.code is not code or known.span != diagnostic.span for known in self.findings):
                self.findings.append(diagnostic)

    def _with_race(self, goal: Goal, result: Discharged, known: int) -> Discharged:
        """States of the compares after the first `known` how programs race where they do not hold."""
        assert isinstance(goal.subject, Disjoint)
        compares, one, two = self.discharger.compares[known:], goal.subject.one, goal.subject.two
        seen = None
        if self.counterexamples is not None and compares:
            violations = [(*goal.runs, *violation) for violation in goal.violations]
            seen = self.counterexamples.find(violations, Race, [one.span, two.span], without=compares)
        accesses = goal.what if one is two else f"`{one.span.text}` and `{two.span.text}`"
        race = f"two programs touch one element of {one.view.root.name} by {accesses}"
        if seen is not None:
            finding = seen.diagnostics[0]
            sizes = (note for note in finding.notes if note.startswith(("with ", "where ")))
            race = ", ".join((finding.message, *sizes))
        why = "programs do not race"
        self.discharger.compares[known:] = [replace(compare, why=why, race=race) for compare in compares]
        demands = ", ".join(dict.fromkeys(compare.demand for compare in compares))
        return replace(result, reason=f"races unless {demands}: {race}") if demands else result

    # Coverage.

    def _cover(self, parameter: ops.Parameter, tensor: Tensor) -> None:
        def discharge(rung: Rung, reason: str) -> None:
            self.discharged.append(Discharged("covered", parameter.name, parameter.span, rung, reason))

        self.discharger.prover.gave_up = False
        reason = coverage.covered_by_construction(self.collector, tensor)
        if reason:
            discharge(Rung.CONSTRUCTION, reason)
            return
        prover = self.discharger.prover
        miss = coverage.Uncovered()
        for attempts in coverage.ATTEMPTS:
            miss = coverage.uncovered(self.collector, tensor, attempts)
            if not miss.witnesses:
                break
            if prover.impossible(miss.formulas, contracts=False):
                discharge(Rung.PROOF, "every element is reached by a program")
                return
            answer = prover.ask(miss.formulas)
            if answer.impossible:
                discharge(Rung.CONTRACT, "every element is reached by a program, by contract")
                return
            if self._compared_cover(parameter, answer, miss, discharge):
                return
        if self._scattered(parameter, tensor, miss.element, discharge):
            return
        if self.counterexamples is not None:
            seen = self.counterexamples.find((miss.formulas,), Unwritten, [parameter.span])
            if seen is not None:
                stores = coverage.stores(self.collector, tensor)
                labels = _conditional(parameter.name, stores)
                self._report_counterexample(Code.NOT_COVERED, seen, _cover_hint(parameter.name, stores), labels)
                return
        if tensor in self.racing:
            return  # a race was found first; what it leaves unwritten is not known
        self._not_proved(_uncovered(parameter, coverage.stores(self.collector, tensor)), by_z3=False)

    def _compared_cover(
        self, parameter: ops.Parameter, answer: Answer, miss: coverage.Uncovered, discharge: _Discharge
    ) -> bool:
        compares = []
        what = f"every element of {parameter.name} is written"
        for case in answer.open:
            compare = self.discharger.compare_for(case, parameter.span, what, miss.element)
            if compare is None:
                return False
            compares.append(compare)
        if not self.discharger.are_right(compares, miss.element, miss.formulas):
            return False
        self.discharger.compares += [one for one in compares if one not in self.discharger.compares]
        discharge(Rung.LAUNCH, f"the launch compares {', '.join(dict.fromkeys(one.demand for one in compares))}")
        return True

    def _scattered(self, parameter: ops.Parameter, tensor: Tensor, element: Violation, discharge: _Discharge) -> bool:
        scatter = coverage.scatter(self.collector, tensor)
        if scatter is None or tensor in self.racing:
            return False
        if any(residual.op is scatter.site.op for residual in self.residuals):
            return False
        if not is_demand(scatter.elements - scatter.writes) and (scatter.writes - scatter.elements).number is None:
            return False
        gap = scatter.writes - scatter.elements
        is_enough = gap.number is not None and gap.number >= 0
        demand, why = f"{scatter.writes} == {scatter.elements}", f"every element of {parameter.name} is written"
        compare = Compare((below(scatter.writes, scatter.elements),), demand, parameter.span, why)
        if not is_enough and not self.discharger.are_right((compare,), element, ()):
            return False
        self.complete += scatter.through
        if is_enough:
            discharge(Rung.PROOF, "no two writes meet, and they are as many as the elements")
            return True
        self.discharger.compares.append(compare)
        discharge(Rung.LAUNCH, f"no two writes meet; the launch compares {demand}")
        return True


def _is_early(collector: Collector, pick: ops.Pick) -> bool:
    match pick:
        case ops.At(value) | ops.Gather(value):
            return value in collector.early
        case ops.Along(walker):
            return walker in collector.early
        case _:
            return True


def _not_disjoint(goal: Goal, why: str, cure: str) -> Diagnostic:
    """That programs may meet; `why` and `cure` where they are known of this kernel."""
    match goal.subject:
        case DisjointLanes(site, axis):
            return Diagnostic(
                Code.LANES_NOT_DISJOINT,
                f"two lanes of this store along axis {axis} of {site.op.tensor.name} may write one element",
                goal.span,
                "the positions were not proved to differ",
                notes=(why,) if why else (),
                help=cure
                or f"take the positions from a Unique tensor, or declare {site.view.root.name} Sum, Max or Min",
            )
        case Disjoint(one, two):
            name = one.view.root.name
            verbs = ["writes" if site.writes else "reads" for site in (one, two)]
            labels = () if one is two else (Label(two.span, f"another program {verbs[1]} it here"),)
            return Diagnostic(
                Code.DISJOINT_OPEN,
                f"programs could not be proved to touch different elements of {name}",
                one.span,
                f"a program {verbs[0]} it here" if labels else "two programs might write one element here",
                labels,
                (*((why,) if why else ()), "no counter-example is known; what is not proved is rejected"),
                cure
                or f"index {name} by the program's own walkers, state what makes the indices differ with tp.require, "
                f"or take them from a Unique tensor",
            )
        case other:
            raise TypeError(other)


def _denied(goal: Goal, rung: Rung) -> Diagnostic:
    message = f"a check would stay at run time: {goal.what} may be outside"
    cure = "prove it with tp.require or an Index tensor, read with `.get(index, fill)`, or allow checks"
    return Diagnostic(Code.CHECK_DENIED, message, goal.span, f"{rung.label}: not proved", help=cure)


def _in_test(goal: Goal) -> Diagnostic:
    message = f"the test of a `while` cannot hold a check, and {goal.what} may be outside"
    cure = "load it before the loop and at the end of its body, or read it with `.get(index, fill)`"
    return Diagnostic(Code.CHECK_DENIED, message, goal.span, "not proved", help=cure)


def _may_be_empty(goal: Goal) -> Diagnostic:
    message = "an axis without elements has no argmax, and this one may have none"
    cure = "guard it with `if`, or demand elements with tp.require"
    return Diagnostic(Code.MAY_BE_EMPTY, message, goal.span, "not proved to have an element", help=cure)


def _too_much(finding: Diagnostic, note: str) -> Diagnostic:
    """A finding that may be false: a limit of the checker was reached."""
    cure = (
        "compute the index in fewer steps, index by walkers, or bound it last, with tp.clip or %; "
        "choices and stores may be kernels of their own"
    )
    return replace(finding, code=Code.TOO_MUCH_WORK, notes=(*finding.notes, note), help=cure)


def _may_not_fit(goal: Goal) -> Diagnostic:
    cure = (
        "if it is a position, limit what it is computed from, with tp.clip or tp.minimum; "
        "if it is none, compute it in a type that wraps: .to(i64)"
    )
    message = "this index may not fit 64 bits"
    return Diagnostic(Code.MAY_NOT_FIT, message, goal.span, "index arithmetic is exact", help=cure)


def _cover_hint(name: str, sites: Sequence[Site]) -> str:
    """The cure for entries in a loop, whose number is not known to be that of the elements; empty for others."""
    loops = [site for site in sites if site.present and any(not isinstance(b.op, ops.If) for b in site.where.nest)]
    if not loops or len(sites) > 1:
        return ""
    return (
        f"entries cover {name} where each program stores once: walk what the loop walks in tp.parallel, too, "
        f"or declare {name} InOut to keep the others as they are"
    )


def _uncovered(parameter: ops.Parameter, stores: Sequence[Site]) -> Diagnostic:
    name = parameter.name
    if not stores:
        return Diagnostic(
            Code.COVER_OPEN, f"`{name}` is never written", parameter.span, "an Out is written as a whole",
            help=f"write every element of {name}, or declare it InOut to keep it as it is",
        )  # fmt: skip
    labels = _conditional(name, stores)
    how = "at positions that walkers and sizes determine"
    if labels:
        how = "in every branch, and in a `for` instead of a `while`"
    return Diagnostic(
        Code.COVER_OPEN,
        f"`{name}` could not be proved to be written as a whole",
        parameter.span,
        "an Out is written as a whole",
        labels,
        ("no counter-example is known; what is not proved is rejected",),
        f"write every element of {name} {how}, or declare it InOut to keep the others as they are",
    )


def _conditional(name: str, stores: Sequence[Site]) -> tuple[Label, ...]:
    """The likely reasons for a gap: a `while` around a store, and an `if` of which one branch alone stores."""
    conditions: dict[int, list[Branch]] = {}
    for branch in (branch for site in stores for branch in site.where.nest):
        if isinstance(branch.op, ops.If | ops.While):
            known = conditions.setdefault(id(branch.op), [])
            known += [] if branch in known else [branch]
    return tuple(
        Label(one.op.span, "the checker does not follow a `while`")
        if isinstance(one.op, ops.While)
        else Label(one.op.span, f"one branch writes {name}, the other does not")
        for one, *others in conditions.values()
        if isinstance(one.op, ops.While) or not others
    )
