"""The law of `Out`: a launch writes every element.

Take any element. For each store, solve its positions for the walkers and loop variables that reach the element: this
names a program and an iteration of each loop, a *witness*. The element is written unless that program does not exist or
does not get to the store. An `Out` is covered if no element can be missed by all stores. The positions of a scatter
cannot be solved; it covers if no two of its writes meet and there are as many as elements, which the launch compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import islice
from itertools import product as cartesian

from tileproof.ir import ops
from tileproof.ir.types import Content, Tensor, Walker, WalkerTag
from tileproof.ir.walk import walk as walk_ops

from .collect import Collector, entries_of
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

ATTEMPTS = (1, 12)
"""How many witnesses of each store are tried: at first the likeliest, then others."""


@dataclass(frozen=True, slots=True)
class Uncovered:
    """What holds of an element that no store writes, and how many witnesses that rules out."""

    formulas: tuple[Formula, ...] = ()
    witnesses: int = 0
    element: tuple[Formula, ...] = ()
    """That there is such an element at all."""


def covered_by_construction(collector: Collector, tensor: Tensor) -> str:
    """Why the shape of one store alone shows that a tensor is covered; empty if none does."""
    space = collector.parallel.walkers if collector.parallel is not None else ()
    for site in stores(collector, tensor):
        if site.where.nest:
            continue
        walkers = [w for w in space if not (w.type.is_piece and site.where.after_join)]
        along = [spot.pick.walker for spot in site.spots if isinstance(spot.pick, ops.Along)]
        fits = all(
            isinstance(spot.pick, ops.Whole) or (isinstance(spot.pick, ops.Along) and _walks_all(collector, spot))
            for spot in site.spots
        )
        if fits and sorted(w.name for w in along) == sorted(w.name for w in walkers):
            return "every program writes its own point, and the points are all there are"
    return ""


def _walks_all(collector: Collector, spot: Spot) -> bool:
    assert isinstance(spot.pick, ops.Along)
    walk = collector.account.walks[spot.pick.walker]
    is_space = collector.parallel is not None and spot.pick.walker in collector.parallel.walkers
    return is_space and walk.extent == spot.extent and walk.origin is None


def stores(collector: Collector, tensor: Tensor) -> list[Site]:
    """Every store into a tensor."""
    sites = collector.account.sites
    return [site for site in sites if isinstance(site.op, ops.Store) and site.view.root is tensor]


def uncovered(collector: Collector, tensor: Tensor, attempts: int) -> Uncovered:
    """What holds of an element of `tensor` that no store writes, trying so many witnesses of each store."""
    elements = tuple(of(Element(axis)) for axis in range(len(tensor.type.dimensions)))
    extents = collector.views[tensor].extents
    formulas: list[Formula] = []
    for element, extent in zip(elements, extents, strict=True):
        formulas += [at_most(-element, 0), below(element, extent)]
    element_exists = tuple(formulas)
    copies: dict[object, int] = {}
    count = 0
    for site in stores(collector, tensor):
        for witness in islice(_Solver(collector, site, elements).witnesses(), attempts):
            key = frozenset(item for item in witness.chosen.items() if not isinstance(item[0], Lane))
            copy = copies.setdefault(key, len(copies) + 1)
            marked = partial(_copied, copy=copy)
            formulas += [changed(fact, marked) for fact in witness.facts]
            formulas.append(negation(All(tuple(changed(goal, marked) for goal in witness.goals))))
            count += 1
    return Uncovered(tuple(formulas), count, element_exists)


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
class _Witness:
    """A program and its iterations, as functions of an element, and what must hold for it to write the element."""

    chosen: dict[Atom, Term] = field(default_factory=dict)
    facts: list[Formula] = field(default_factory=list)
    goals: list[Formula] = field(default_factory=list)

    def at(self, term: Term) -> Term:
        """A term, for this program."""
        return rebuild(term, lambda atom: self.chosen.get(atom))


@dataclass(frozen=True, slots=True)
class _Variable:
    """A walker or loop variable that a witness chooses."""

    name: str
    walk: Walk | None
    walker: Walker | None = None
    loop: ops.RangeLoop | None = None
    segments: ops.Segments | None = None
    own: frozenset[str] = frozenset()
    """What is known only once it is chosen: its own name, and the names of all that its body defines."""


def _defined_in(op: ops.Parallel | ops.TilesLoop | ops.RangeLoop) -> frozenset[str]:
    """The names that an iteration of a space or loop defines, those of its walkers and variables included."""
    names: set[str] = set()
    for inner in (op, *walk_ops(op.body)):
        match inner:
            case ops.Parallel(walkers=walkers, segments=segments):
                names |= {walker.name for walker in walkers} | {segment.index.name for segment in segments}
            case ops.TilesLoop(walker=walker, carried=carried):
                names |= {walker.name, *(value.name for value in carried)}
            case ops.RangeLoop(variable=variable, carried=carried):
                names |= {variable.name, *(value.name for value in carried)}
            case ops.While(carried=carried):
                names |= {value.name for value in carried}
            case _:
                pass
        if inner is not op:
            names |= {value.name for value in ops.results(inner)}
    return frozenset(names)


class _Solver:
    """Solves the positions of one store for the programs that write an element."""

    def __init__(self, collector: Collector, site: Site, elements: Sequence[Term]) -> None:
        self.collector, self.site, self.elements = collector, site, elements
        self.walks, self.terms = collector.account.walks, collector.account.terms
        self.variables = self._variables()
        self.targets: dict[str, Term | None] = {}
        """The element at which each variable must be, in terms of the element to be written."""

    def witnesses(self) -> Iterator[_Witness]:
        """Programs that might write the element by this store."""
        if any(isinstance(branch.op, ops.While) for branch in self.site.where.nest):
            return
        solved = self._solved()
        free = [name for name in self.variables if name not in solved]
        options = [list(self._candidates(self.variables[name], solved)) for name in free]
        for choice in cartesian(*options):
            self.targets = {**solved, **dict(zip(free, choice, strict=True))}
            witness = self._chosen()
            if witness is not None:
                yield witness

    def _variables(self) -> dict[str, _Variable]:
        """What can be chosen, outermost first."""
        variables: dict[str, _Variable] = {}
        space = self.collector.parallel
        if space is not None:
            cut = {segments.walker: segments for segments in space.segments}
            own = _defined_in(space)
            for walker in space.walkers:
                if not (walker.type.is_piece and self.site.where.after_join):
                    walk = self.walks[walker]
                    variables[walker.name] = _Variable(walker.name, walk, walker, segments=cut.get(walker), own=own)
        for branch in self.site.where.nest:
            match branch.op:
                case ops.TilesLoop(walker=walker) as loop:
                    variables[walker.name] = _Variable(walker.name, self.walks[walker], walker, own=_defined_in(loop))
                case ops.RangeLoop(variable=variable) as loop:
                    variables[variable.name] = _Variable(variable.name, None, loop=loop, own=_defined_in(loop))
                case _:
                    pass
        return variables

    def _solved(self) -> dict[str, Term]:
        """The element of its walk at which each walker must be, as far as the positions determine it."""
        equations: list[tuple[Term, Term]] = []
        used: set[int] = set()
        for axis, spot in enumerate(self.site.spots):
            over = spot.place.lone
            if isinstance(over, Quotient) and axis not in used:
                rest = over.term - product(spot.place, over.by)
                others = [other for other, there in enumerate(self.site.spots) if there.place == rest]
                left_over = self.elements[others[0]] if others else number(0)
                equations.append((over.term, product(self.elements[axis], over.by) + left_over))
                used |= {axis, *others[:1]}
        for axis, spot in enumerate(self.site.spots):
            if axis not in used:
                equations.append((spot.place, self.elements[axis]))
        solved: dict[str, Term] = {}
        for left, right in equations:
            self._solve(left, right, solved)
        return solved

    def _solve(self, left: Term, right: Term, solved: dict[str, Term]) -> None:
        """Finds elements for the walkers in `left` so that it equals `right`: the largest factor first."""
        parts: list[tuple[Term, str]] = []
        """Factor and walker; the element of a sized walker is its start and a lane together."""
        rest = number(left.constant)
        for atom, times in left.parts:
            name, scale = _variable_in(atom, self.variables)
            if isinstance(atom, Lane):
                continue
            if name is None or scale is None or name in solved:
                rest = rest + of(atom).times(times)
            else:
                parts.append((scale.times(times), name))
        remaining = right - rest
        counted = {atom.walker for atom in left.atoms if isinstance(atom, TileNumber)}
        """Walkers whose tile number is solved for: their first element has it."""

        def sort_key(part: tuple[Term, str]) -> tuple[int, int, bool]:
            """The largest factor first, walkers before loop variables, which begin at 0."""
            size = part[0].number
            return (0, 0, False) if size is None else (1, -abs(size), self.variables[part[1]].walk is None)

        for factor, name in sorted(parts, key=sort_key):
            size, walk = factor.number, self.variables[name].walk
            if name in counted:
                if size != 1 or walk is None:
                    continue
                solved[name] = walk.low + product(walk.size, remaining)
                return
            if size in (1, -1):
                solved[name] = remaining.times(size)
                if walk is None or walk.live == number(1) or any(isinstance(atom, Lane) for atom in left.atoms):
                    return
                # A tile holds the element; the rest of the position says which of the tile's elements it is.
                remaining = remaining - walk.start.times(size)
                continue
            if size is not None and size < 0:
                solved[name] = quotient(-remaining, -factor)
                remaining = -remainder(-remaining, -factor)
            else:
                solved[name] = quotient(remaining, factor)
                remaining = remainder(remaining, factor)

    def _candidates(self, variable: _Variable, solved: Mapping[str, Term]) -> Iterator[Term | None]:
        """Elements at which a walker may be that the positions leave open: the first, the last, the one written."""
        for branch in self.site.where.nest:
            if isinstance(branch.op, ops.TilesLoop) and branch.op.walker.name in solved:
                inner = self.walks[branch.op.walker]
                for atom in everything(inner.low):
                    if isinstance(atom, Read) and atom.args and _is_start_of(atom.args[0], variable.name):
                        yield None
                if variable.walk is not None and variable.walk.extent == inner.extent:
                    yield solved[branch.op.walker.name]
                yield from _last_begun(inner.low, solved[branch.op.walker.name], variable)
        if variable.walk is None:
            assert variable.loop is not None
            yield self.terms[variable.loop.start]
            return
        for element, spot in zip(self.elements, self.site.spots, strict=True):
            if spot.extent == variable.walk.extent and not isinstance(spot.pick, ops.Along):
                yield element
        yield variable.walk.low
        yield reduce(least, variable.walk.highs) - 1

    def _chosen(self) -> _Witness | None:
        """The witness whose variables are at their targets; None if there is no such program."""
        witness, site = _Witness(), self.site
        for name, variable in self.variables.items():
            target = self.targets[name]
            if target is not None and _presumes(witness.at(target), variable):
                return None
            if variable.loop is not None:
                assert target is not None
                self._choose_variable(witness, variable.loop, witness.at(target))
            elif not self._choose_walker(witness, variable, target):
                return None
        for branch in site.where.nest:
            if isinstance(branch.op, ops.If) and branch.condition is not None:
                witness.goals.append(changed(branch.condition, witness.at))
        witness.goals += [changed(formula, witness.at) for formula in site.present]
        for spot, element in zip(site.spots, self.elements, strict=True):
            place = spot.place
            if spot.lane is not None:
                lane = spot.lane.lone
                assert lane is not None
                factor = dict(place.parts).get(lane, 0)
                if factor not in (1, -1) and not self._choose_lane(witness, spot, lane):
                    return None
                if lane not in witness.chosen:
                    rest = place - of(lane).times(factor)
                    if lane in everything(rest):
                        return None
                    witness.chosen[lane] = (element - witness.at(rest)).times(factor)
                witness.goals += [changed(formula, witness.at) for formula in spot.lanes]
            witness.goals.append(equals(witness.at(place), element))
        return witness

    def _choose_lane(self, witness: _Witness, spot: Spot, lane: Atom) -> bool:
        """Chooses the lane by the element that its walker was chosen for; False if no walker determines it."""
        for name, variable in self.variables.items():
            target = self.targets[name]
            if variable.walk is None or target is None:
                continue
            if variable.walk.start.lone in set(spot.place.atoms):
                witness.chosen[lane] = witness.at(target) - witness.at(variable.walk.start)
                return True
        return False

    def _choose_variable(self, witness: _Witness, loop: ops.RangeLoop, target: Term) -> None:
        start, stop, step = (witness.at(self.terms[value]) for value in (loop.start, loop.stop, loop.step))
        variable = self.terms[loop.variable].lone
        assert variable is not None
        witness.chosen[variable] = target
        if step.number is not None and step.number > 0:
            witness.goals += [at_most(start, target), below(target, stop)]
            if step.number > 1:
                witness.goals.append(equals(remainder(target - start, step), 0))
        elif step.number is not None and step.number < 0:
            witness.goals += [at_most(target, start), below(stop, target)]
            if step.number < -1:
                witness.goals.append(equals(remainder(start - target, -step), 0))
        else:
            witness.goals.append(Some())

    def _choose_walker(self, witness: _Witness, variable: _Variable, target: Term | None) -> bool:
        """Puts a walker where its tile holds the target; False if no such place is known."""
        walk, walker = variable.walk, variable.walker
        assert walk is not None
        assert walker is not None
        start, live, count = walk.start.lone, walk.live.lone, walk.number.lone
        if variable.segments is not None:
            if target is None or target not in self.elements:
                return False
            index = self.terms[variable.segments.index].lone
            assert index is not None
            witness.chosen[index] = self._segment_with(witness, variable.segments.offsets, witness.at(target))
        if target is None:
            target = self._segment_of_loop(witness, variable)
            if target is None:
                return False
        target = witness.at(target)
        low = witness.at(walk.low)
        if walker.type.is_each:
            begin, tile = target, number(1)
            index_of_tile = target - low
        else:
            index_of_tile = quotient(target - low, walk.size)
            begin = low + product(walk.size, index_of_tile)
        ends = [witness.at(high) for high in walk.highs]
        witness.goals += [at_most(low, target), *(below(target, end) for end in ends)]
        if not walker.type.is_each:
            tile = walk.size
            for end in ends:
                tile = least(tile, end - begin)
        assert start is not None
        witness.chosen[start] = begin
        if isinstance(live, Live):
            witness.chosen[live] = tile
        if isinstance(count, TileNumber):
            witness.chosen[count] = index_of_tile
        return True

    def _segment_of_loop(self, witness: _Witness, variable: _Variable) -> Term | None:
        """The element of a walker whose segment, walked by an inner loop from border to border, holds the target."""
        for branch in self.site.where.nest:
            if not isinstance(branch.op, ops.TilesLoop):
                continue
            inner = self.walks[branch.op.walker]
            target = self.targets.get(branch.op.walker.name)
            for atom in everything(inner.low):
                if not (isinstance(atom, Read) and atom.args and _is_start_of(atom.args[0], variable.name)):
                    continue
                content = self.collector.ranges.elements[atom.tensor]
                if target is None or target not in self.elements or not isinstance(content, Content):
                    continue
                if content.kind == "Offsets" and self.collector.extent(content.dimension) == inner.extent:
                    tensor = next(t for t in self.collector.views if t.name == atom.tensor)
                    return self._segment_with(witness, tensor, target)
        return None

    def _segment_with(self, witness: _Witness, offsets: Tensor, target: Term) -> Term:
        """The segment that holds an element: there is one, for borders go from 0 to the extent."""
        segment = of(Unknown(f"segment of {target} in {offsets.name}", 0, 1 << 48, uniform=True))
        begin, end = (of(Read(offsets.name, (place,))) for place in (segment, segment + 1))
        borders = self.collector.views[offsets].extents[0]
        content = self.collector.ranges.elements[offsets.name]
        assert isinstance(content, Content)
        # There is one only for an element that the segments have.
        outside = below(target, 0), at_most(self.collector.extent(content.dimension), target)
        inside = at_most(-segment, 0), at_most(segment + 2, borders), at_most(begin, target), below(target, end)
        witness.facts.append(Some((*outside, All(inside))))
        return segment


def _variable_in(atom: Atom, variables: Mapping[str, _Variable]) -> tuple[str | None, Term | None]:
    """The variable that an atom is, or is a multiple of, and the factor."""
    match atom:
        case Start(name) | TileNumber(name) | Unknown(name) if name in variables:
            return name, number(1)
        case Product(left, right):
            for one, other in ((left, right), (right, left)):
                lone = one.lone
                if lone is not None and not isinstance(lone, Product):
                    inner, _ = _variable_in(lone, variables)
                    if inner is not None:
                        return inner, other
    return None, None


def _last_begun(low: Term, target: Term, variable: _Variable) -> Iterator[Term]:
    """Where a variable is in its last iteration whose inner loop, from `low` on, begins at the target or before."""
    for atom, times in low.parts:
        _, scale = _variable_in(atom, {variable.name: variable})
        if scale is not None:
            rest, by = target - (low - of(atom).times(times)), scale.times(abs(times))
            position = quotient(rest, by) if times > 0 else -quotient(rest, by)
            if isinstance(atom, TileNumber) and variable.walk is not None:
                position = variable.walk.low + product(variable.walk.size, position)
            yield position


def _is_start_of(term: Term, walker: str) -> bool:
    lone = term.lone
    return isinstance(lone, Start) and lone.walker == walker


def _presumes(target: Term, variable: _Variable) -> bool:
    """Whether a choice depends on what is known only once it is made: there need be no program that knows it."""
    for atom in everything(target):
        match atom:
            case Unknown(name, uniform=False) if name.rstrip("?#") in variable.own:
                return True
            case Start(walker) | Live(walker) | TileNumber(walker) if walker in variable.own:
                return True
            case Lane():
                return True
            case _:
                pass
    return False


# Scatters.


@dataclass(frozen=True, slots=True)
class Scatter:
    """A single store that, if its writes never meet, makes `writes` of them, for `elements` in all."""

    site: Site
    writes: Term
    elements: Term
    through: tuple[str, ...]
    """`Unique` tensors that must hold no -1."""


def scatter(collector: Collector, tensor: Tensor) -> Scatter | None:
    """The one store of a tensor as a map from writes to elements, if every program runs it once."""
    sites = stores(collector, tensor)
    if len(sites) != 1 or sites[0].where.nest or collector.parallel is None or sites[0].where.after_join:
        return None
    (site,) = sites
    if isinstance(site.op, ops.Store) and site.op.raw:
        return None  # its writes were not proved disjoint
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
    for walker in collector.parallel.walkers:
        if walker.type.is_piece or not (walker.type.is_each or walker.name in alive):
            return None
        writes = product(writes, collector.account.walks[walker].extent)
    through = entries_of(site.present, collector.account.definitions)
    return None if through is None else Scatter(site, writes, elements, through)
