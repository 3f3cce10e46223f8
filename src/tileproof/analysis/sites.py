"""Records of the operations of a kernel that have obligations: accesses, walks and bounds, with their context.

Every record carries its `path`, what is known to hold wherever the operation runs, and its `nest`, the loops and
branches around it, outermost first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import AnyOp, Get, If, Load, Pick, RangeLoop, Store, TilesLoop, Update, While
from tileproof.ir.types import INDEX_LIMIT, Tensor, Tile, Walker

from .terms import LANE, Formula, Lane, Term, Unknown, at_lane, at_most, below


@dataclass(frozen=True, slots=True)
class View:
    """The part of an argument that a tensor of the kernel is."""

    root: Tensor
    extents: tuple[Term, ...]
    offsets: tuple[Term, ...]
    cut: int | None = None
    """The axis along which it is a part; None if it is the whole argument."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an access is along one axis: a position, for each lane that its `lanes` allow."""

    pick: Pick
    position: Term
    """Relative to the view."""
    lanes: tuple[Formula, ...]
    present: tuple[Formula, ...]
    """That the entries it comes from are not none."""
    extent: Term
    offset: Term
    lane: Term | None = None

    @property
    def place(self) -> Term:
        """The position in the argument."""
        return self.position + self.offset

    def at_common_lane(self, term: Term) -> Term:
        """A term of this access as that of a one-dimensional tile: in terms of the common lane."""
        mark = None if self.lane is None else self.lane.lone
        return at_lane(term, LANE, mark) if isinstance(mark, Lane) else term


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of an `if`, or a loop, that encloses an operation."""

    op: If | TilesLoop | RangeLoop | While
    condition: Formula | None = None


@dataclass(frozen=True, slots=True)
class Where:
    """The place of an operation in the kernel."""

    path: tuple[Formula, ...]
    nest: tuple[Branch, ...]
    in_space: bool
    """In the parallel space, or in a kernel that has none."""
    after_join: bool
    in_test: bool = False
    """In the test of a `while`."""


@dataclass(frozen=True, slots=True)
class Site:
    """An access to a tensor."""

    number: int
    op: Load | Get | Store | Update
    view: View
    spots: tuple[Spot, ...]
    where: Where

    @property
    def writes(self) -> bool:
        return isinstance(self.op, Store | Update)

    @property
    def span(self) -> Span:
        return self.op.span

    @property
    def present(self) -> tuple[Formula, ...]:
        """That no index is none: else nothing is touched."""
        return tuple(formula for spot in self.spots for formula in spot.present)

    @property
    def touches(self) -> tuple[Formula, ...]:
        """What holds where the access touches the elements at its positions: what is outside is never touched."""
        lanes = (lane for spot in self.spots for lane in spot.lanes)
        low = (at_most(-spot.position, 0) for spot in self.spots)
        high = (below(spot.position, spot.extent) for spot in self.spots)
        # Of extents it is no fact that they have a limit, but an entry may be what no axis has.
        near = (below(spot.position, INDEX_LIMIT) for spot in self.spots if spot.present)
        return (*self.where.path, *self.present, *lanes, *low, *high, *near)


@dataclass(frozen=True, slots=True)
class Bounded:
    """An index that must lie in `low` to `high`, both allowed, other than the position of an access."""

    op: AnyOp
    what: str
    """In the words of a message: `the start of k`."""
    index: Term
    low: Term
    high: Term | None
    where: Where
    value: Tile | None = None
    """The index in the IR, for a check that stays."""


@dataclass(frozen=True, slots=True)
class NotEmpty:
    """An argmax or argmin, whose axis must have an element."""

    op: AnyOp
    live: Term
    where: Where


@dataclass(frozen=True, slots=True)
class Fitting:
    """Index arithmetic that may leave 64 bits for some sizes."""

    op: AnyOp
    term: Term | None
    where: Where
    limit: int = (1 << 63) - 1
    """How far from 0 it may be."""


Demand: TypeAlias = Site | Bounded | NotEmpty | Fitting


@dataclass(frozen=True, slots=True)
class Walk:
    """Where a walker is."""

    start: Term
    live: Term
    number: Term
    extent: Term
    """Of the dimension it walks."""
    size: Term
    low: Term
    """Where the walk begins."""
    highs: tuple[Term, ...]
    """The ends of the walk: the extent, and what it is clipped at."""
    origin: Walker | None = None
    """The walker it was shifted from."""


@dataclass(frozen=True, slots=True)
class Carried:
    """An index that a loop carries from iteration to iteration."""

    value: Unknown
    result: Unknown
    init: Term
    before: tuple[Formula, ...]
    """What holds where the loop begins."""
    handed: Term
    after: tuple[Formula, ...]
    """What holds at the end of an iteration."""


@dataclass(slots=True)
class Account:
    """All that was collected from a kernel."""

    demands: list[Demand] = field(default_factory=list)
    walks: dict[Walker, Walk] = field(default_factory=dict)
    contracts: list[Formula] = field(default_factory=list)
    requires: int = 0
    """How many of the contracts are `tp.require`."""
    definitions: dict[str, tuple[Formula, ...]] = field(default_factory=dict)
    terms: dict[Tile, Term] = field(default_factory=dict)
    carried: list[Carried] = field(default_factory=list)

    @property
    def sites(self) -> list[Site]:
        return [demand for demand in self.demands if isinstance(demand, Site)]
