"""Every obligation of a kernel, formed here and nowhere else.

The ownership law: for every tensor a kernel writes, two accesses to it, at least one a write, by two different points
of the parallel space, with loop variables chosen independently and both guards true, touch no common element. Reads
count. Updates of `Sum`, `Max` and `Min` may meet each other. What follows a join is another program than its pieces.

Bounds: each position an access touches is an element of its axis. Lanes of one store do not meet. An axis whose
argmax is taken has an element. Index arithmetic fits 64 bits. What is stored as an `Index` is one.

A tile is *full* where no lane is clipped. That is proved if possible, and saves a mask; it is no obligation.

A goal is a list of *violations*: what would hold if it were violated, with all that holds where it could be. It is
proved when every violation is impossible.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TypeAlias

from tileproof.diagnostics.spans import Span
from tileproof.ir import ops
from tileproof.ir.types import Content, Named, Walker

from .collect import Collector, shown_name
from .sites import Bounded, Fitting, NotEmpty, Site, Walk
from .terms import All, Formula, Lane, Some, Term, at_lane, at_most, below, changed, equals, number, of, renamed

Violation: TypeAlias = tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class InBounds:
    """Positions along one axis are elements of it."""

    site: Site
    axis: int


@dataclass(frozen=True, slots=True)
class Disjoint:
    """Two accesses of different programs meet at no element."""

    one: Site
    two: Site


@dataclass(frozen=True, slots=True)
class DisjointLanes:
    """Two lanes of one store meet at no element along an axis."""

    site: Site
    axis: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What is stored into an index tensor is what it promises to hold."""

    site: Site


Subject: TypeAlias = InBounds | Disjoint | DisjointLanes | Contents | Bounded | NotEmpty | Fitting


@dataclass(frozen=True, slots=True)
class Goal:
    """An obligation, and what would hold if it were broken."""

    kind: str
    subject: Subject
    span: Span
    what: str
    by_construction: str = ""
    """Why nothing is left to prove; empty if there is something."""
    violations: tuple[Violation, ...] = ()
    runs: Violation = ()
    """What holds wherever it could be violated."""
    claim: str = ""
    """What is to be proved, in the user's words."""


def goals(collector: Collector) -> Iterator[Goal]:
    """All obligations of a kernel but coverage, which has rules of its own (`coverage`)."""
    for demand in collector.account.demands:
        match demand:
            case Site():
                if not isinstance(demand.op, ops.Get) and not _is_raw(demand):
                    yield from _in_bounds(demand)
                if isinstance(demand.op, ops.Store) and not _is_raw(demand):
                    yield from _lanes(demand)
                    yield from _contents(collector, demand, demand.op)
            case Bounded():
                yield _bounded(demand)
            case NotEmpty(live=live, where=where):
                what = f"{demand.op.span.text or 'argmax'} of at least one element"
                yield Goal("nonempty", demand, demand.op.span, what, "", ((at_most(live, 0),),), where.path)
            case Fitting():
                yield Goal("fits", demand, demand.op.span, demand.op.span.text)
    yield from _ownership(collector)


def _is_raw(site: Site) -> bool:
    return isinstance(site.op, ops.Load | ops.Store) and site.op.raw


def _in_bounds(site: Site) -> Iterator[Goal]:
    for axis, spot in enumerate(site.spots):
        reason = _walks_axis(site, axis)
        before = (*site.where.path, *site.present, *spot.lanes)
        yield Goal(
            "in bounds", InBounds(site, axis), site.span, _text(site), reason,
            ((below(spot.position, 0),), (at_most(spot.extent, spot.position),)), before, _claim(site, axis),
        )  # fmt: skip


def full(collector: Collector) -> Iterator[tuple[Site, int, Violation, Violation]]:
    """For each access along a tile: site, axis, what holds there, and what holds if the tile is clipped at the edge.

    Nothing is owed: where it is not proved, lanes are masked. Sizes that nothing is known of are not asked about.
    """
    for site in collector.account.sites:
        for axis, spot in enumerate(site.spots):
            if not isinstance(spot.pick, ops.Along) or spot.pick.walker.type.size is None:
                continue
            walk = collector.account.walks[spot.pick.walker]
            if collector.account.requires or (spot.extent.number is not None and walk.size.number is not None):
                yield site, axis, site.where.path, (below(walk.live, walk.size),)


def _walks_axis(site: Site, axis: int) -> str:
    """Why an index cannot leave an axis, by what it is."""
    dimension, view = site.op.tensor.type.dimensions[axis], site.view
    if view.cut == axis or not isinstance(dimension, Named):
        return ""
    match site.spots[axis].pick:
        case ops.Along(walker) if walker.type.dimension == dimension.name:
            return f"{shown_name(walker)} walks {dimension}"
        case ops.Whole():
            return f"all of {dimension}"
        case _:
            return ""


def _claim(site: Site, axis: int) -> str:
    """`0 <= pos[0] + n < C`, with the index as the source has it."""
    spot = site.spots[axis]
    texts = _index_texts(site.span.text)
    index = texts[axis] if texts is not None and len(texts) == len(site.spots) else "index"
    match spot.pick:
        case ops.Along():
            return f"{index} ends by {spot.extent}"
        case ops.Window() | ops.Whole():
            return f"{index} in 0:{spot.extent}"
        case _:
            return f"0 <= {index} < {spot.extent}"


def _index_texts(text: str) -> list[str] | None:
    """The indices of `x[i, j]`, as they are written; None if this is no subscript."""
    try:
        parsed = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(parsed, ast.Subscript):
        return None
    parts = parsed.slice.elts if isinstance(parsed.slice, ast.Tuple) else [parsed.slice]
    return [ast.unparse(part) for part in parts]


def _lanes(site: Site) -> Iterator[Goal]:
    for axis, spot in enumerate(site.spots):
        if not isinstance(spot.pick, ops.Gather) or spot.lane is None:
            continue
        mark = spot.lane.lone
        assert isinstance(mark, Lane)
        other = of(Lane(mark.label, 1))

        def moved(term: Term, other: Term = other, mark: Lane = mark) -> Term:
            return at_lane(term, other, mark)

        again = tuple(changed(formula, moved) for formula in (*spot.lanes, *spot.present))
        yield Goal(
            "disjoint", DisjointLanes(site, axis), site.span, f"lanes of {_text(site)}", "",
            ((equals(spot.position, moved(spot.position)), below(spot.lane, other)),), (*site.touches, *again),
        )  # fmt: skip


def _contents(collector: Collector, site: Site, op: ops.Store) -> Iterator[Goal]:
    """What is stored into an `Index` tensor is a position of its dimension, or none."""
    element = op.tensor.type.element
    if not isinstance(element, Content):
        return
    value, extent = collector.values.stored(op.value), collector.extent(element.dimension)
    lanes = collector.values.lanes_of(op.value)
    yield Goal(
        "contents", Contents(site), site.span, _text(site), "",
        ((below(value, -1),), (at_most(extent, value),)), (*site.where.path, *lanes),
        f"what is stored is -1 or in 0:{extent}",
    )  # fmt: skip


def _bounded(demand: Bounded) -> Goal:
    path = demand.where.path
    low = (below(demand.index, demand.low),)
    high = () if demand.high is None else ((below(demand.high, demand.index),),)
    end = "" if demand.high is None else f" <= {demand.high}"
    claim = f"{demand.low} <= {demand.what}{end}"
    return Goal("in bounds", demand, demand.op.span, demand.what, "", (low, *high), path, claim)


# Ownership.


def _ownership(collector: Collector) -> Iterator[Goal]:
    space = collector.parallel
    if space is None:
        return
    written = {site.view.root for site in collector.account.sites if isinstance(site.op, ops.Store)}
    by_root: dict[object, list[Site]] = {}
    for site in collector.account.sites:
        if site.view.root in written and site.where.in_space and not _is_raw(site):
            by_root.setdefault(site.view.root, []).append(site)
    for sites in by_root.values():
        for one, two in combinations_with_replacement(sites, 2):
            if one.writes or two.writes:
                yield _disjoint(collector, space, one, two)


def _disjoint(collector: Collector, space: ops.Parallel, one: Site, two: Site) -> Goal:
    what = _text(one) if one is two else f"{_text(one)} and {_text(two)}"
    subject = Disjoint(one, two)
    separate = one.where.after_join != two.where.after_join
    walkers = [w for w in space.walkers if not (w.type.is_piece and one.where.after_join)]
    if not walkers and not separate:
        return Goal("disjoint", subject, one.span, what, "one program follows the join")
    if not separate:
        reason = _own_point(collector, walkers, one, two)
        if reason:
            return Goal("disjoint", subject, one.span, what, reason)
    again = tuple(changed(formula, _other) for formula in two.touches)
    meeting = [equals(a.place, _other(b.place)) for a, b in zip(one.spots, two.spots, strict=True)]
    parted: tuple[Formula, ...] = () if separate else (_different_point(collector, space, walkers),)
    return Goal("disjoint", subject, one.span, what, "", ((*meeting, *parted),), (*one.touches, *again))


def _other(term: Term) -> Term:
    return renamed(term, 1)


def _own_point(collector: Collector, walkers: Sequence[Walker], one: Site, two: Site) -> str:
    """Why two accesses can only be of one program: each names its point of the space, walker by walker."""
    own = []
    for walker in walkers:
        walk = collector.account.walks[walker]
        here = [
            axis
            for axis, (a, b) in enumerate(zip(one.spots, two.spots, strict=True))
            if _is_own(a.pick, walker, walk, a.place) and _is_own(b.pick, walker, walk, b.place)
        ]
        if not here:
            return ""
        own.append(walker.name)
    point = own[0] if len(own) == 1 else f"({', '.join(own)})"
    return f"{point} is this program's own"


def _is_own(pick: ops.Pick, walker: object, walk: Walk, place: Term) -> bool:
    match pick:
        case ops.Along(picked):
            return picked is walker and not _moved(walk, place, picked.type.is_each)
        case ops.At():
            return place == walk.start and walk.live == number(1)
        case _:
            return False


def _moved(walk: Walk, place: Term, is_each: bool) -> bool:
    """Whether a view shifts the walker's positions, so that those of two programs cannot be compared."""
    gap = place - walk.start
    return gap != number(0) if is_each else not isinstance(gap.lone, Lane)


def _different_point(collector: Collector, space: ops.Parallel, walkers: Sequence[Walker]) -> Formula:
    """That two points of the space differ, along one walker at least."""
    segments = {segment.walker: segment for segment in space.segments}
    options: list[Formula] = []
    for walker in walkers:
        walk = collector.account.walks[walker]
        gap = _other(walk.start) - walk.start
        away = at_most(walk.size, gap), at_most(walk.size, -gap)
        if walker in segments:
            index = collector.account.terms[segments[walker].index]
            options += [below(index, _other(index)), below(_other(index), index)]
            same = equals(index, _other(index))
            options += [All((same, side)) for side in away]
        else:
            options += away
    return Some(tuple(options))


def _text(site: Site) -> str:
    """An access in the user's words."""
    return " ".join(site.span.text.split()) or site.op.tensor.name
