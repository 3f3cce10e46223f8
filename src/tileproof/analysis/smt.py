"""z3, for what linear arithmetic does not prove: one query at a time.

It is imported when first needed. Each query has its own context and a limit on steps, not on time: an answer depends on
the query alone. `unknown` proves nothing, and neither does a z3 that is not installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

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
    Some,
    Term,
    weighs_more,
)

_STEPS = 300_000
"""Of one question."""
_LEAST_STEPS = 20_000
"""What a question counts at least: to state it takes time too."""
_MOST_STEPS = 1_500_000
"""Of all questions of one kind about a kernel."""
_MOST_ATOMS = 4000
"""What is longer is not asked."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """A launch that z3 proposes: extents, scalars, and what some elements of tensors hold."""

    dimensions: Mapping[str, int] = field(default_factory=dict)
    axes: Mapping[tuple[str, int], int] = field(default_factory=dict)
    scalars: Mapping[str, int] = field(default_factory=dict)
    elements: Mapping[str, Mapping[tuple[int, ...], int]] = field(default_factory=dict)


@cache
def installed() -> ModuleType | None:
    """z3; None where it is not installed, or cannot be loaded."""
    try:
        return import_module("z3")
    except Exception:  # a z3 whose library is missing raises an exception of its own
        return None


@dataclass(slots=True)
class Solver:
    """z3, for the questions of one kind about a kernel: when all took so many steps, the next have no answer."""

    groups: Mapping[tuple[str, str], tuple[Term, Term]]
    """The extents of the dimensions that `tp.group` relates."""
    steps: int = _MOST_STEPS
    """How many are left."""

    def impossible(self, formulas: Iterable[Formula]) -> bool:
        """Whether the formulas certainly cannot all hold."""
        question = self._question(formulas)
        return question is not None and self._answer(question) == "unsat"

    def example(self, formulas: Iterable[Formula], limit: int) -> Sizes | None:
        """Sizes of at most `limit` for which the formulas hold, if z3 finds some."""
        question = self._question(formulas)
        if question is None:
            return None
        question.limit(limit)
        return question.sizes() if self._answer(question) == "sat" else None

    def _question(self, formulas: Iterable[Formula]) -> _Question | None:
        z3, formulas = installed(), tuple(formulas)
        if z3 is None or self.steps <= 0 or weighs_more(All(formulas), _MOST_ATOMS):
            return None
        question = _Question(z3, self.groups, min(_STEPS, self.steps))
        question.demand(formulas)
        return question

    def _answer(self, question: _Question) -> str:
        answer = question.answer()
        self.steps -= max(question.steps, _LEAST_STEPS)
        return answer


class _Question:
    def __init__(self, z3: Any, groups: Mapping[tuple[str, str], tuple[Term, Term]], steps: int) -> None:
        self.z3 = z3
        self.context = z3.Context()
        self.solver = z3.Solver(ctx=self.context)
        self.solver.set("rlimit", steps)
        self.solver.set("random_seed", 0)
        self.groups = groups
        self.atoms: dict[Atom, Any] = {}

    def demand(self, formulas: Iterable[Formula]) -> None:
        for formula in formulas:
            self.solver.add(self._formula(formula))

    def limit(self, limit: int) -> None:
        """Keeps sizes and numbers small, so that a launch with them is soon run."""
        for atom, known in self.atoms.items():
            match atom:
                case DimensionExtent() | AxisExtent():
                    self.solver.add(known <= limit)
                case Scalar() | Read():
                    self.solver.add(known <= 4 * limit, known >= -4 * limit)
                case _:
                    pass

    def answer(self) -> str:
        return str(self.solver.check())

    @property
    def steps(self) -> int:
        """How many it took to answer."""
        return int(dict(iter(self.solver.statistics())).get("rlimit count", _STEPS))

    def sizes(self) -> Sizes:
        model = self.solver.model()

        def value(known: Any) -> int:
            return int(model.eval(known, model_completion=True).as_long())

        dimensions: dict[str, int] = {}
        axes: dict[tuple[str, int], int] = {}
        scalars: dict[str, int] = {}
        elements: dict[str, dict[tuple[int, ...], int]] = {}
        for atom, known in list(self.atoms.items()):
            match atom:
                case DimensionExtent(name):
                    dimensions[name] = value(known)
                case AxisExtent(tensor, axis):
                    axes[tensor, axis] = value(known)
                case Scalar(name):
                    scalars[name] = value(known)
                case Read(tensor, args):
                    place = tuple(value(self._term(arg)) for arg in args)
                    elements.setdefault(tensor, {})[place] = value(known)
                case _:
                    pass
        return Sizes(dimensions, axes, scalars, elements)

    def _formula(self, formula: Formula) -> Any:
        match formula:
            case Fact(term, equal):
                encoded = self._term(term)
                return encoded == 0 if equal else encoded <= 0
            case All(parts):
                return self.z3.And([self._formula(part) for part in parts] + [self._true()])
            case Some(parts):
                return self.z3.Or([self._formula(part) for part in parts] + [self.z3.Not(self._true())])

    def _true(self) -> Any:
        return self.z3.BoolVal(True, ctx=self.context)

    def _term(self, term: Term) -> Any:
        total = self.z3.IntVal(term.constant, ctx=self.context)
        for atom, factor in term.parts:
            total = total + factor * self._atom(atom)
        return total

    def _atom(self, atom: Atom) -> Any:
        if atom not in self.atoms:
            self.atoms[atom] = self._made(atom)
        return self.atoms[atom]

    def _made(self, atom: Atom) -> Any:
        z3 = self.z3
        match atom:
            case Product(left, right):
                return self._term(left) * self._term(right)
            case Quotient(term, by):
                top, bottom = self._term(term), self._term(by)
                return z3.If(bottom > 0, top / bottom, z3.If(bottom == 0, 0, (-top) / (-bottom)))
            case Least(left, right):
                one, two = self._term(left), self._term(right)
                return z3.If(one <= two, one, two)
            case GroupOf(index, dimension, into):
                whole, parts = (self._term(term) for term in self.groups[dimension, into])
                self.solver.add(parts >= 1, whole % parts == 0)
                return self._term(index) / (whole / parts)
            case _:
                return z3.Int(f"v{len(self.atoms)}", ctx=self.context)
