"""How obligations were settled, and what is left to do at launch and at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import KernelIR

from .formulas import Fact
from .ranges import Ranges
from .terms import AxisExtent, DimensionExtent, Least, Product, Quotient, Scalar, Term

Known: TypeAlias = Callable[[DimensionExtent | AxisExtent | Scalar], int]


class Rung(IntEnum):
    """What settled an obligation; the lower, the cheaper."""

    CONSTRUCTION = 1
    PROOF = 2
    CONTRACT = 3
    LAUNCH = 4
    PRECHECK = 5
    IN_PLACE = 6

    @property
    def label(self) -> str:
        return self.name.lower().replace("_", " ").replace("precheck", "pre-check")


@dataclass(frozen=True, slots=True)
class Settled:
    """An obligation that holds, or is made to hold."""

    goal: str
    what: str
    span: Span
    rung: Rung
    reason: str


@dataclass(frozen=True, slots=True)
class Compare:
    """A launch is refused if all of `broken` hold; `demand` says it in the user's words."""

    broken: tuple[Fact, ...]
    demand: str
    span: Span
    why: str

    def holds(self, known: Known) -> bool:
        """Whether a launch with these extents and scalars may go on."""
        for fact in self.broken:
            value = evaluated(fact.term, known)
            if value != 0 if fact.equal else value > 0:
                return True
        return False


@dataclass(frozen=True, slots=True)
class Fits:
    """Index arithmetic that fits 64 bits for the sizes of most launches; this one's are to be looked at."""

    term: Term
    ranges: Ranges
    span: Span
    limit: int

    def holds(self, known: Known) -> bool:
        """Whether it fits for these extents and scalars."""
        return self.ranges.knowing(known).of(self.term).within(self.limit)


@dataclass(frozen=True, slots=True)
class Residual:
    """A check that stays: operation `op` of the kernel, the axis it is about, and where it is made."""

    op: object
    axis: int | None
    rung: Rung


@dataclass(frozen=True, slots=True)
class Full:
    """Along `axis` the tile of an access is always as long as its size: no lane needs a mask."""

    op: object
    axis: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of all obligations of a kernel."""

    kernel: KernelIR | None
    settled: tuple[Settled, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    compares: tuple[Compare | Fits, ...] = ()
    residuals: tuple[Residual, ...] = ()
    complete: tuple[str, ...] = ()
    """`Unique` tensors that must hold no -1, because an `Out` is covered through them."""
    full: tuple[Full, ...] = ()
    """Accesses along a tile none of whose lanes is ever clipped."""
    scope: str = ""
    """Whether it holds for all constants or for those it was made with."""

    @property
    def accepted(self) -> bool:
        return not self.findings

    @property
    def rungs(self) -> Mapping[Rung, int]:
        """How many obligations each rung settled."""
        counts: dict[Rung, int] = {}
        for settled in self.settled:
            counts[settled.rung] = counts.get(settled.rung, 0) + 1
        return dict(sorted(counts.items()))


def evaluated(term: Term, known: Known) -> int:
    """The value of a term made of extents and scalars."""
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
