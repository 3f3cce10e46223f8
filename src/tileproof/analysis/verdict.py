"""How obligations were discharged, and what is left to do at launch and at run time."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

from tileproof.diagnostics.errors import Diagnostic
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import KernelIR

if TYPE_CHECKING:
    from .launch_guards import Compare, Fits  # loaded where a proof has some


class Rung(IntEnum):
    """What discharged an obligation; the lower, the cheaper."""

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
class Discharged:
    """An obligation that holds, or is made to hold."""

    goal: str
    what: str
    span: Span
    rung: Rung
    reason: str


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
    discharged: tuple[Discharged, ...] = ()
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
        """How many obligations each rung discharged."""
        counts: dict[Rung, int] = {}
        for discharged in self.discharged:
            counts[discharged.rung] = counts.get(discharged.rung, 0) + 1
        return dict(sorted(counts.items()))
