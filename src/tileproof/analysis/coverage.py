"""The law of `Out`: a launch writes every element.

Take any element. For each store, solve its positions for the walkers and loop variables that would reach the element:
that names a program and its turns. The element is written unless that program does not exist or does not get to the
store. If no element can be missed by all stores, the `Out` is covered. A scatter cannot be solved; it is covered if no
two of its writes meet and they are as many as the elements, which the launch compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import islice
from itertools import product as choices

from tileproof.ir import ops
from tileproof.ir.types import Content, Tensor, Walker, WalkerTag
from tileproof.ir.walk import walk as walk_ops

from .collect import Reader, entries_of
from .sites import Site, Spot, Walk
from .terms import (
    All,
    Atom,
    Element,
    Formula,
    Lane,
    Live,
    Product,
    Quotient,
    Read,
    Some,
    Start,
    Term,
    TileNumber,
    Unknown,
    at_most,
    below,
    changed,
    equals,
    everything,
    least,
    negation,
    number,
    of,
    product,
    quotient,
    rebuild,
    remainder,
)

WAYS = (1, 12)
"""How many programs are tried for each store: at first the likeliest, then others."""


@dataclass(frozen=True, slots=True)
class Miss:
    """What holds of an element that no store reaches, or why nothing can be said."""

    formulas: tuple[Formula, ...] = ()
    stores: int = 0
    element: tuple[Formula, ...] = ()
    """That there is such an element at all."""


def structure(reader: Reader, tensor: Tensor) -> str:
    """Why one store alone covers a tensor, by its structure; empty if it does not."""
    space = reader.parallel.walkers if reader.parallel is not None else ()
    for site in stores(reader, tensor):
        if site.where.nest:
            continue
        walkers = [w for w in space if not (w.type.is_piece and site.where.after_join)]
        along = [spot.pick.walker for spot in site.spots if isinstance(spot.pick, ops.Along)]
        fits = all(
            isinstance(spot.pick, ops.Whole) or (isinstance(spot.pick, ops.Along) and _walks_all(reader, spot))
            for spot in site.spots
        )
        if fits and sorted(w.name for w in along) == sorted(w.name for w in walkers):
            return "every program writes its own point, and the points are all there are"
    return ""


def _walks_all(reader: Reader, spot: Spot) -> bool:
    assert isinstance(spot.pick, ops.Along)
    walk = reader.account.walks[spot.pick.walker]
    is_space = reader.parallel is not None and spot.pick.walker in reader.parallel.walkers
    return is_space and walk.extent == spot.extent and walk.origin is None


def stores(reader: Reader, tensor: Tensor) -> list[Site]:
    """Every store into a tensor."""
    return [site for site in reader.account.sites if isinstance(site.op, ops.Store) and site.view.root is tensor]


def missed(reader: Reader, tensor: Tensor, ways: int) -> Miss:
    """What holds of an element of `tensor` that no store writes, trying so many programs for each store."""
    elements = tuple(of(Element(axis)) for axis in range(len(tensor.type.dimensions)))
    extents = reader.views[tensor].extents
    formulas: list[Formula] = []
    for element, extent in zip(elements, extents, strict=True):
        formulas += [at_most(-element, 0), below(element, extent)]
    element_is_there = tuple(formulas)
    copies: dict[object, int] = {}
    count = 0
    for site in stores(reader, tensor):
        for way in islice(_ways(reader, site, elements), ways):
            key = frozenset(item for item in way.chosen.items() if not isinstance(item[0], Lane))
            copy = copies.setdefault(key, len(copies) + 1)
            marked = partial(_copied, copy=copy)
            formulas += [changed(fact, marked) for fact in way.facts]
            formulas.append(negation(All(tuple(changed(goal, marked) for goal in way.goals))))
            count += 1
    return Miss(tuple(formulas), count, element_is_there)


def _copied(term: Term, copy: int) -> Term:
    """What a program knows that is no function of its walkers, marked as that program's."""

    def change(atom: Atom) -> Term | None:
        match atom:
            case Unknown() if not atom.uniform:
                args = tuple(rebuild(arg, change) for arg in atom.args)
                return of(replace(atom, args=args, copy=copy))
            case Start() | Live() | TileNumber():
                return of(replace(atom, copy=copy))
            case _:
                return None

    return rebuild(term, change)


@dataclass(slots=True)
class _Way:
    """A program and its turns, as functions of an element, and what must hold for it to write the element."""

    chosen: dict[Atom, Term] = field(default_factory=dict)
    facts: list[Formula] = field(default_factory=list)
    goals: list[Formula] = field(default_factory=list)

    def at(self, term: Term) -> Term:
        """A term, for this program."""
        return rebuild(term, lambda atom: self.chosen.get(atom))


def _ways(reader: Reader, site: Site, elements: Sequence[Term]) -> Iterator[_Way]:
    """Programs that might write an element by this store."""
    if any(isinstance(branch.op, ops.While) for branch in site.where.nest):
        return
    unknowns = _unknowns(reader, site)
    wanted = _solved(site, elements, unknowns)
    if wanted is None:
        return
    free = [name for name in unknowns if name not in wanted]
    options = [list(_candidates(reader, site, unknowns[name], wanted, elements)) for name in free]
    for picks in choices(*options):
        way = _chosen(reader, site, unknowns, {**wanted, **dict(zip(free, picks, strict=True))}, elements)
        if way is not None:
            yield way


@dataclass(frozen=True, slots=True)
class _Turn:
    """A walker or loop variable to be chosen: which element it is to be at."""

    name: str
    walk: Walk | None
    walker: Walker | None = None
    loop: ops.RangeLoop | None = None
    segments: ops.Segments | None = None
    own: frozenset[str] = frozenset()
    """What is known only once it is chosen: the names of all that its body makes, and its own."""


def _made_in(op: ops.Parallel | ops.TilesLoop | ops.RangeLoop) -> frozenset[str]:
    """The names of what a turn makes or hands out."""
    found: set[str] = set()
    for each in (op, *walk_ops(op.body)):
        match each:
            case ops.Parallel(walkers=walkers, segments=segments):
                found |= {walker.name for walker in walkers} | {segment.index.name for segment in segments}
            case ops.TilesLoop(walker=walker, carried=carried):
                found |= {walker.name, *(value.name for value in carried)}
            case ops.RangeLoop(variable=variable, carried=carried):
                found |= {variable.name, *(value.name for value in carried)}
            case ops.While(carried=carried):
                found |= {value.name for value in carried}
            case _:
                pass
        if each is not op:
            found |= {value.name for value in ops.results(each)}
    return frozenset(found)


def _unknowns(reader: Reader, site: Site) -> dict[str, _Turn]:
    """What can be chosen, outermost first."""
    found: dict[str, _Turn] = {}
    space = reader.parallel
    if space is not None:
        cut = {segments.walker: segments for segments in space.segments}
        own = _made_in(space)
        for walker in space.walkers:
            if not (walker.type.is_piece and site.where.after_join):
                walk = reader.account.walks[walker]
                found[walker.name] = _Turn(walker.name, walk, walker, segments=cut.get(walker), own=own)
    for branch in site.where.nest:
        match branch.op:
            case ops.TilesLoop(walker=walker):
                walk = reader.account.walks[walker]
                found[walker.name] = _Turn(walker.name, walk, walker, own=_made_in(branch.op))
            case ops.RangeLoop(variable=variable):
                found[variable.name] = _Turn(variable.name, None, loop=branch.op, own=_made_in(branch.op))
            case _:
                pass
    return found


def _solved(site: Site, elements: Sequence[Term], unknowns: Mapping[str, _Turn]) -> dict[str, Term] | None:
    """Which element of its walk each walker must be at, as far as the positions tell."""
    equations: list[tuple[Term, Term]] = []
    used: set[int] = set()
    for axis, spot in enumerate(site.spots):
        over = spot.place.lone
        if isinstance(over, Quotient) and axis not in used:
            rest = over.term - product(spot.place, over.by)
            others = [other for other, there in enumerate(site.spots) if there.place == rest]
            left_over = elements[others[0]] if others else number(0)
            equations.append((over.term, product(elements[axis], over.by) + left_over))
            used |= {axis, *others[:1]}
    for axis, spot in enumerate(site.spots):
        if axis not in used:
            equations.append((spot.place, elements[axis]))
    wanted: dict[str, Term] = {}
    for left, right in equations:
        _solve(left, right, unknowns, wanted)
    return wanted


def _solve(left: Term, right: Term, unknowns: Mapping[str, _Turn], wanted: dict[str, Term]) -> None:
    """Finds elements for the walkers in `left` so that it equals `right`: the largest factor first."""
    parts: list[tuple[Term, str]] = []
    """Factor and walker; the element of a sized walker is its start and a lane together."""
    rest = number(left.constant)
    for atom, times in left.parts:
        found, scale = _walker_in(atom, unknowns)
        if isinstance(atom, Lane):
            continue
        if found is None or scale is None or found in wanted:
            rest = rest + of(atom).times(times)
        else:
            parts.append((scale.times(times), found))
    remaining = right - rest
    counted = {atom.walker for atom in left.atoms if isinstance(atom, TileNumber)}
    """Walkers whose number is wanted: their first element has it."""

    def weight(part: tuple[Term, str]) -> tuple[int, int, bool]:
        """The largest factor first, walkers before loop variables, which begin at 0."""
        size = part[0].number
        return (0, 0, False) if size is None else (1, -abs(size), unknowns[part[1]].walk is None)

    for factor, name in sorted(parts, key=weight):
        size = factor.number
        if name in counted:
            turn = unknowns[name].walk
            if size != 1 or turn is None:
                continue
            wanted[name] = turn.low + product(turn.size, remaining)
            return
        if size in (1, -1):
            wanted[name] = remaining.times(size)
            walk = unknowns[name].walk
            if walk is None or walk.live == number(1) or any(isinstance(atom, Lane) for atom in left.atoms):
                return
            # A tile holds the element; what else is in the position says which of the tile's it is.
            remaining = remaining - walk.start.times(size)
            continue
        if size is not None and size < 0:
            wanted[name] = quotient(-remaining, -factor)
            remaining = -remainder(-remaining, -factor)
        else:
            wanted[name] = quotient(remaining, factor)
            remaining = remainder(remaining, factor)


def _walker_in(atom: Atom, unknowns: Mapping[str, _Turn]) -> tuple[str | None, Term | None]:
    match atom:
        case Start(walker) if walker in unknowns:
            return walker, number(1)
        case TileNumber(walker) if walker in unknowns:
            return walker, number(1)
        case Unknown(variable) if variable in unknowns:
            return variable, number(1)
        case Product(left, right):
            for one, other in ((left, right), (right, left)):
                lone = one.lone
                if lone is not None and not isinstance(lone, Product):
                    name, _ = _walker_in(lone, unknowns)
                    if name is not None:
                        return name, other
            return None, None
        case _:
            return None, None


def _candidates(
    reader: Reader, site: Site, turn: _Turn, wanted: Mapping[str, Term], elements: Sequence[Term]
) -> Iterator[Term | None]:
    """Elements at which a walker may be that the positions leave open: the first, the last, the one written."""
    for branch in site.where.nest:
        if isinstance(branch.op, ops.TilesLoop) and branch.op.walker.name in wanted:
            inner = reader.account.walks[branch.op.walker]
            for atom in everything(inner.low):
                if isinstance(atom, Read) and atom.args and _starts(atom.args[0], turn.name):
                    yield None
            if turn.walk is not None and turn.walk.extent == inner.extent:
                yield wanted[branch.op.walker.name]
            yield from _begun_by(inner.low, wanted[branch.op.walker.name], turn)
    if turn.walk is None:
        assert turn.loop is not None
        yield reader.account.terms[turn.loop.start]
        return
    for element, spot in zip(elements, site.spots, strict=True):
        if spot.extent == turn.walk.extent and not isinstance(spot.pick, ops.Along):
            yield element
    yield turn.walk.low
    yield reduce(least, turn.walk.highs) - 1


def _begun_by(low: Term, target: Term, turn: _Turn) -> Iterator[Term]:
    """Where a walker or loop variable is in the last turn whose inner loop, from `low` on, begins before or there."""
    for atom, times in low.parts:
        _, scale = _walker_in(atom, {turn.name: turn})
        if scale is not None:
            rest, by = target - (low - of(atom).times(times)), scale.times(abs(times))
            found = quotient(rest, by) if times > 0 else -quotient(rest, by)
            if isinstance(atom, TileNumber) and turn.walk is not None:
                found = turn.walk.low + product(turn.walk.size, found)
            yield found


def _starts(term: Term, walker: str) -> bool:
    lone = term.lone
    return isinstance(lone, Start) and lone.walker == walker


def _chosen(
    reader: Reader, site: Site, unknowns: Mapping[str, _Turn], wanted: Mapping[str, Term | None],
    elements: Sequence[Term],
) -> _Way | None:  # fmt: skip
    way = _Way()
    for name, turn in unknowns.items():
        target = wanted[name]
        if target is not None and _presumes(way.at(target), turn):
            return None
        if turn.loop is not None:
            assert target is not None
            _choose_variable(reader, way, turn.loop, way.at(target))
        elif not _choose_walker(reader, way, site, turn, target, wanted, elements):
            return None
    for branch in site.where.nest:
        if isinstance(branch.op, ops.If) and branch.condition is not None:
            way.goals.append(changed(branch.condition, way.at))
    way.goals += [changed(formula, way.at) for formula in site.present]
    for spot, element in zip(site.spots, elements, strict=True):
        place = spot.place
        if spot.lane is not None:
            lane = spot.lane.lone
            assert lane is not None
            factor = dict(place.parts).get(lane, 0)
            if factor not in (1, -1) and not _lane_known(reader, spot, way, lane, unknowns, wanted):
                return None
            if lane not in way.chosen:
                rest = place - of(lane).times(factor)
                if lane in everything(rest):
                    return None
                way.chosen[lane] = (element - way.at(rest)).times(factor)
            way.goals += [changed(formula, way.at) for formula in spot.lanes]
        way.goals.append(equals(way.at(place), element))
    return way


def _presumes(target: Term, turn: _Turn) -> bool:
    """Whether a choice is made by what is known only once it is made: no program need be there to know it."""
    for atom in everything(target):
        match atom:
            case Unknown(name, uniform=False) if name.rstrip("?#") in turn.own:
                return True
            case Start(walker) | Live(walker) | TileNumber(walker) if walker in turn.own:
                return True
            case Lane():
                return True
            case _:
                pass
    return False


def _lane_known(
    reader: Reader, spot: Spot, way: _Way, lane: Atom, unknowns: Mapping[str, _Turn], wanted: Mapping[str, Term | None]
) -> bool:
    """Whether a lane follows from the element its walker was chosen for."""
    for name, turn in unknowns.items():
        target = wanted[name]
        if turn.walk is None or target is None:
            continue
        if turn.walk.start.lone in set(spot.place.atoms):
            way.chosen[lane] = way.at(target) - way.at(turn.walk.start)
            return True
    return False


def _choose_variable(reader: Reader, way: _Way, loop: ops.RangeLoop, target: Term) -> None:
    start, stop, step = (way.at(reader.account.terms[value]) for value in (loop.start, loop.stop, loop.step))
    variable = reader.account.terms[loop.variable].lone
    assert variable is not None
    way.chosen[variable] = target
    if step.number is not None and step.number > 0:
        way.goals += [at_most(start, target), below(target, stop)]
        if step.number > 1:
            way.goals.append(equals(remainder(target - start, step), 0))
    elif step.number is not None and step.number < 0:
        way.goals += [at_most(target, start), below(stop, target)]
        if step.number < -1:
            way.goals.append(equals(remainder(start - target, -step), 0))
    else:
        way.goals.append(Some())


def _choose_walker(
    reader: Reader, way: _Way, site: Site, turn: _Turn, target: Term | None, wanted: Mapping[str, Term | None],
    elements: Sequence[Term],
) -> bool:  # fmt: skip
    """Puts a walker where its tile holds the target; False if no such place is known."""
    walk, walker = turn.walk, turn.walker
    assert walk is not None
    assert walker is not None
    low, highs = walk.low, walk.highs
    start, live, count = walk.start.lone, walk.live.lone, walk.number.lone
    if turn.segments is not None and (target is None or not _segment(reader, way, turn.segments, target, elements)):
        return False
    if target is None:
        found = _segment_of(reader, way, site, turn, wanted, elements)
        if found is None:
            return False
        target = found
    target = way.at(target)
    low = way.at(low)
    if walker.type.is_each:
        begin, tile = target, number(1)
        index = target - low
    else:
        index = quotient(target - low, walk.size)
        begin = low + product(walk.size, index)
    ends = [way.at(high) for high in highs]
    way.goals += [at_most(low, target), *(below(target, end) for end in ends)]
    if not walker.type.is_each:
        tile = walk.size
        for end in ends:
            tile = least(tile, end - begin)
    assert start is not None
    way.chosen[start] = begin
    if isinstance(live, Live):
        way.chosen[live] = tile
    if isinstance(count, TileNumber):
        way.chosen[count] = index
    return True


def _segment(
    reader: Reader, way: _Way, segments: ops.Segments, target: Term, elements: Sequence[Term]
) -> bool:
    """Chooses the segment that holds an element: there is one, for borders go from 0 to the extent."""
    index = reader.account.terms[segments.index].lone
    assert index is not None
    way.chosen[index] = _holder(reader, way, segments.offsets, way.at(target))
    return target in elements


def _segment_of(
    reader: Reader, way: _Way, site: Site, turn: _Turn, wanted: Mapping[str, Term | None], elements: Sequence[Term]
) -> Term | None:
    """The element of a walker whose segment holds what an inner loop, from border to border, must reach."""
    for branch in site.where.nest:
        if not isinstance(branch.op, ops.TilesLoop):
            continue
        inner = reader.account.walks[branch.op.walker]
        target = wanted.get(branch.op.walker.name)
        for atom in everything(inner.low):
            if isinstance(atom, Read) and atom.args and _starts(atom.args[0], turn.name) and target in elements:
                held = reader.ranges.elements[atom.tensor]
                is_offsets = isinstance(held, Content) and held.kind == "Offsets"
                if is_offsets and reader.extent(held.dimension) == inner.extent:  # type: ignore[union-attr]
                    tensor = next(t for t in reader.views if t.name == atom.tensor)
                    assert target is not None
                    return _holder(reader, way, tensor, target)
    return None


def _holder(reader: Reader, way: _Way, offsets: Tensor, target: Term) -> Term:
    """The segment that holds an element."""
    found = of(Unknown(f"segment of {target} in {offsets.name}", 0, 1 << 48, uniform=True))
    begin, end = (of(Read(offsets.name, (place,))) for place in (found, found + 1))
    borders = reader.views[offsets].extents[0]
    held = reader.ranges.elements[offsets.name]
    assert isinstance(held, Content)
    # There is one only for an element that the segments have.
    outside = below(target, 0), at_most(reader.extent(held.dimension), target)
    inside = at_most(-found, 0), at_most(found + 2, borders), at_most(begin, target), below(target, end)
    way.facts.append(Some((*outside, All(inside))))
    return found


# Scatters.


@dataclass(frozen=True, slots=True)
class Scatter:
    """A single store whose writes, if they never meet, are `writes` many, of `elements` in all."""

    site: Site
    writes: Term
    elements: Term
    through: tuple[str, ...]
    """`Unique` tensors that must hold no -1."""


def scatter(reader: Reader, tensor: Tensor) -> Scatter | None:
    """The one store of a tensor as a map from writes to elements, if it is run once by every program."""
    sites = stores(reader, tensor)
    if len(sites) != 1 or sites[0].where.nest or reader.parallel is None or sites[0].where.after_join:
        return None
    (site,) = sites
    if isinstance(site.op, ops.Store) and site.op.raw:
        return None  # nobody proved that its writes do not meet
    writes, elements = number(1), number(1)
    alive: set[str] = set()
    """Walkers each of whose elements is a write of its own."""
    for spot in site.spots:
        match spot.pick:
            case ops.Whole():
                continue
            case ops.Along(walker):
                alive.add(walker.name)
            case ops.Gather(indices):
                tag = indices.type.axes[0].tag
                if not isinstance(tag, WalkerTag):
                    return None
                alive.add(tag.walker.name)
            case ops.Window():
                return None
            case _:
                pass
        elements = product(elements, spot.extent)
    for walker in reader.parallel.walkers:
        if walker.type.is_piece or not (walker.type.is_each or walker.name in alive):
            return None
        writes = product(writes, reader.account.walks[walker].extent)
    through = entries_of(site.present, reader.account.definitions, reader.values.filled)
    return None if through is None else Scatter(site, writes, elements, through)
