"""Collects everything in a kernel that has an obligation, in one pass from top to bottom.

What holds at each operation is collected on the way: positions of walkers and loop variables, branches taken,
assumptions. Values are assigned once, so a fact about one stays true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

from tileproof.ir import ops
from tileproof.ir.types import (
    INDEX_LIMIT,
    Access,
    AnyValue,
    Content,
    Extent,
    Fixed,
    Length,
    Named,
    Tensor,
    TensorType,
    Tile,
    TileType,
    Unnamed,
    Value,
    Walker,
)
from tileproof.ir.walk import walk
from tileproof.language.dtypes import BOOL, ENTRY, INDEX

from .loop_carried import Carrying, combined, is_loaded
from .ranges import CARRIED, CARRIED_LIMIT, LARGEST, START_LIMIT, Range, Ranges
from .sites import Account, Bounded, Branch, Carried, Demand, Fitting, Site, Spot, View, Walk, Where
from .symbolic_values import Values, integer_range, is_whole
from .terms import (
    TRUE,
    All,
    Atom,
    AxisExtent,
    DimensionExtent,
    Formula,
    Lane,
    Live,
    Read,
    Scalar,
    Some,
    Start,
    Term,
    TileNumber,
    Unknown,
    at_lane,
    at_most,
    below,
    changed,
    depends_on_data,
    equals,
    everything,
    flattened,
    greatest,
    inner,
    negation,
    number,
    of,
    of_length,
    product,
    quotient,
    rebuild,
    terms,
)


def shown_name(value: AnyValue) -> str:
    """The name of a value in the source, without the number that makes it unique."""
    return value.name.partition(".")[0]


_Loop: TypeAlias = ops.TilesLoop | ops.RangeLoop | ops.While


@dataclass(frozen=True, slots=True)
class _Before:
    """What there is where a loop begins."""

    path: tuple[Formula, ...]
    names: frozenset[str]
    """Of indices and walkers."""

    def has(self, term: Term) -> bool:
        """Whether a term is the same in all iterations."""
        for atom in everything(term):
            match atom:
                case Unknown(name=name) | Start(walker=name) | Live(walker=name) | TileNumber(walker=name):
                    if name not in self.names:
                        return False
                case _:
                    pass
        return True


class Collector:
    """The state of one pass over a kernel."""

    def __init__(self, kernel: ops.KernelIR) -> None:
        self.kernel = kernel
        self.account = Account()
        self.views: dict[Tensor, View] = {}
        elements: dict[str, Content | Range] = {}
        self.walked: dict[str, Term] = {}
        self.extent = Extents(kernel.static, kernel.computed)
        self.ranges = Ranges(elements, self.walked, self.extent, lanes=_most_lanes(kernel))
        self.values = Values(self.account, self.ranges, self.views)
        self.carrying = Carrying(self.ranges, self.account.definitions)
        self.path: list[Formula] = []
        self.nest: list[Branch] = []
        self.after_join = False
        self.in_test = False
        self.parallel: ops.Parallel | None = None
        self.offsets: dict[str, Term] = {}
        self.early: set[AnyValue] = set()
        """Values known before any loop: computed from arguments that no program writes."""
        for parameter in kernel.parameters:
            match parameter.value:
                case Value(type=TensorType()) as tensor:
                    self._tensor(tensor, elements)
                case Value(type=TileType(dtype=dtype)) as scalar if is_whole(dtype):
                    bounds = integer_range(dtype)
                    self.values.terms[scalar] = of(Scalar(scalar.name, bounds.low, bounds.high))
                case _:
                    pass
        self.early.update(parameter.value for parameter in kernel.parameters)
        for name, value in kernel.constants.items():
            if name not in kernel.static and isinstance(value, Extent):
                self.account.contracts.append(at_most(number(1), of_length(value)))
        self.in_space = not any(isinstance(op, ops.Parallel) for op in kernel.body.ops)

    def _tensor(self, tensor: Tensor, elements: dict[str, Content | Range]) -> None:
        extents = []
        for axis, dimension in enumerate(tensor.type.dimensions):
            match dimension:
                case Named(name):
                    extents.append(self.extent(name))
                case Fixed(length):
                    extents.append(number(length))
                case Unnamed():
                    extents.append(of(AxisExtent(tensor.name, axis)))
        self.views[tensor] = View(tensor, tuple(extents), (number(0),) * len(extents))
        element = tensor.type.element
        if isinstance(element, Content):
            elements[tensor.name] = element
            if element.kind == "Offsets":
                self.offsets[tensor.name] = extents[0]
        elif is_whole(element):
            elements[tensor.name] = integer_range(element)

    def collect(self) -> Account:
        """All that has an obligation."""
        self._block(self.kernel.body)
        return self.account

    # Places.

    @property
    def where(self) -> Where:
        return Where(tuple(self.path), tuple(self.nest), self.in_space, self.after_join, self.in_test)

    @contextmanager
    def _within(self, branch: Branch, *facts: Formula) -> Iterator[None]:
        depth, uniform = len(self.path), self.values.uniform
        self.path += facts
        self.nest.append(branch)
        # What a loop computes differs between iterations.
        self.values.uniform = uniform and isinstance(branch.op, ops.If)
        yield
        self.values.uniform = uniform
        self.nest.pop()
        del self.path[depth:]

    def _owe(self, demand: Demand) -> None:
        self.account.demands.append(demand)

    def _block(self, block: ops.Block) -> None:
        for op in block.ops:
            self._op(op)

    def _op(self, op: ops.AnyOp) -> None:
        self._note_early(op)
        match op:
            case ops.Load() | ops.Get():
                site = self._site(op)
                self._loaded(op, site)
            case ops.Store() | ops.Update():
                self._site(op)
            case ops.Shift():
                self._shift(op)
            case ops.SplitAt():
                self._split(op)
            case ops.Require(condition=condition):
                self.account.contracts.append(self.values.truth(condition))
                self.account.requires += 1
            case ops.Assume(condition=condition):
                if condition.type.rank == 0:
                    self.path.append(self.values.truth(condition))
            case ops.Print() | ops.Check():
                pass
            case ops.Fold() | ops.Scan() | ops.Join():
                self._combine(op)
            case ops.Parallel():
                self._parallel(op)
            case ops.TilesLoop():
                self._tiles(op)
            case ops.RangeLoop():
                self._range(op)
            case ops.While():
                self._while(op)
            case ops.If():
                self._if(op)
            case ops.Group(dimension=dimension, into=into):
                whole, parts = self.extent(dimension), self.extent(into)
                self.account.contracts += [at_most(number(1), parts), Some((equals(whole, 0), at_most(parts, whole)))]
                self.values.compute(op, self.where)
            case ops.Reduce(fn=ops.ReduceFn.ARGMAX | ops.ReduceFn.ARGMIN, operand=operand, axis=axis):
                self.values.compute(op, self.where)
                # It is an obligation, so it holds for what follows.
                self.path.append(at_most(number(1), self.values.live(operand.type.axes[axis])))
            case _:
                self.values.compute(op, self.where)

    def _note_early(self, op: ops.AnyOp) -> None:
        reads = isinstance(op, ops.Load | ops.Get)
        if self.nest or ops.blocks(op) or (reads and op.tensor.type.access is not Access.IN):  # type: ignore[union-attr]
            return
        if all(isinstance(value.type, TensorType) or value in self.early for value in ops.operands(op)):
            self.early.update(ops.results(op))

    # Accesses.

    def _site(self, op: ops.Load | ops.Get | ops.Store | ops.Update) -> Site:
        view = self.views[op.tensor]
        count = len(self.account.demands)
        spots = tuple(self._spot(pick, view, axis, count) for axis, pick in enumerate(op.picks))
        if isinstance(op, ops.Load):
            # The launch checks that no entry is none, but not what programs store or fill in.
            spots = tuple(replace(spot, present=()) if self._is_doubtful(spot) else spot for spot in spots)
        site = Site(count, op, view, spots, self.where)
        self._owe(site)
        return site

    def _is_doubtful(self, spot: Spot) -> bool:
        """Whether an entry may come from elsewhere than from an index tensor that no program writes."""
        return bool(spot.present) and entries_of(spot.present, self.account.definitions) is None

    def _spot(self, pick: ops.Pick, view: View, axis: int, count: int) -> Spot:
        extent, offset = view.extents[axis], view.offsets[axis]
        lane = of(Lane(f"{count}.{axis}"))

        def swept(start: Term, length: Term) -> Spot:
            return Spot(pick, start + lane, (at_most(-lane, 0), below(lane, length)), (), extent, offset, lane)

        match pick:
            case ops.Along(walker):
                walk = self.account.walks[walker]
                if walker.type.is_each:
                    return Spot(pick, walk.start, (), (), extent, offset)
                return swept(walk.start, walk.live)
            case ops.Whole():
                return swept(number(0), self._dimension(view, axis))
            case ops.Window(start, length):
                return swept(of_length(start), of_length(length))
            case ops.At(index):
                spot = Spot(pick, self.values.term(index), (), (), extent, offset)
            case ops.Gather(indices):
                live = self.values.live(indices.type.axes[0])
                lanes = at_most(-lane, 0), below(lane, live)
                spot = Spot(pick, at_lane(self.values.term(indices), lane), lanes, (), extent, offset, lane)
        return replace(spot, present=self.presence(spot))

    def presence(self, spot: Spot) -> tuple[Formula, ...]:
        """That the entries an access goes through are not none."""
        match spot.pick:
            case ops.At(index):
                return self.values.presence(index)
            case ops.Gather(indices) if spot.lane is not None:
                lane, presence = spot.lane, self.values.presence(indices)
                return tuple(changed(formula, lambda term: at_lane(term, lane)) for formula in presence)
            case _:
                return ()

    def _dimension(self, view: View, axis: int) -> Term:
        """How many elements `:` means: the dimension's, which a part of a tensor may not have."""
        match view.root.type.dimensions[axis]:
            case Named(name):
                return self.extent(name)
            case Fixed(length):
                return number(length)
            case Unnamed():
                return view.extents[axis]

    def _loaded(self, op: ops.Load | ops.Get, site: Site) -> None:
        result = op.result
        if result.type.dtype == BOOL or not is_whole(result.type.dtype) or result.type.rank > 1:
            return
        values = self.values
        if site.view.root is not op.tensor or op.tensor.type.access is not Access.IN:
            values.unknown(result)
            return
        args = tuple(spot.at_common_lane(spot.position) for spot in site.spots)
        element = of(Read(op.tensor.name, args))
        if isinstance(op, ops.Get):
            fill = values.term(op.fill)
            loaded = values.unknown(result, hull=(element, fill))
            inside = [
                side
                for place, spot in zip(args, site.spots, strict=True)
                for side in (at_most(-place, 0), below(place, spot.extent))
            ]
            values.define(result, Some((All((*inside, equals(loaded, element))), equals(loaded, fill))))
            return
        values.terms[result] = element
        if result.type.dtype == ENTRY:
            # Nothing is loaded at none: the launch checks the tensors that the positions come from.
            through = (changed(formula, spot.at_common_lane) for spot in site.spots for formula in spot.present)
            values.present[result] = (at_most(number(0), element), *through)

    def _shift(self, op: ops.Shift) -> None:
        walk, by = self.account.walks[op.walker], self.values.term(op.by)
        start = walk.start + by
        extent = self.extent(op.walker.type.dimension)
        live = number(1) if op.walker.type.is_each else of(Live(op.result.name))
        high = extent if not op.walker.type.is_each else extent - 1
        self._owe(Bounded(op, f"the start of {shown_name(op.result)}", start, number(0), high, self.where, op.by))
        self.walked[op.result.name] = extent
        self.account.walks[op.result] = Walk(
            start, live, walk.number, extent, walk.size, walk.low, walk.highs, origin=op.walker
        )
        if not op.walker.type.is_each:
            self.path += [at_most(-live, 0), at_most(live, walk.live), at_most(start + live, extent)]
            self.path.append(Some((equals(live, walk.live), equals(start + live, extent))))
        self.path += [at_most(-start, 0), at_most(start, high)]

    def _split(self, op: ops.SplitAt) -> None:
        view, at = self.views[op.tensor], self.values.term(op.at)
        whole = view.extents[op.axis]
        what = f"the place where {op.tensor.name} is split"
        self._owe(Bounded(op, what, at, number(0), whole, self.where, op.at))
        self.path += [at_most(-at, 0), at_most(at, whole)]

        def part(extent: Term, offset: Term) -> View:
            extents = tuple(extent if axis == op.axis else old for axis, old in enumerate(view.extents))
            offsets = tuple(old + offset if axis == op.axis else old for axis, old in enumerate(view.offsets))
            return View(view.root, extents, offsets, op.axis)

        self.views[op.past] = part(at, number(0))
        self.views[op.fresh] = part(whole - at, at)

    # Spaces and loops.

    def _parallel(self, op: ops.Parallel) -> None:
        self.parallel = op
        self.in_space, self.values.uniform = True, False
        segments = {segment.walker: segment for segment in op.segments}
        self.early.update((*op.walkers, *(segment.index for segment in op.segments)))
        for walker in op.walkers:
            extent = self.extent(walker.type.dimension)
            if walker in segments:
                self._segments(walker, segments[walker], extent)
            else:
                self.path += self._walker(walker, number(0), (extent,))
        self._block(op.body)

    def _walker(self, walker: Walker, low: Term, highs: tuple[Term, ...]) -> list[Formula]:
        """Adds a walker; returns what holds of it."""
        kind = walker.type
        extent = self.extent(kind.dimension)
        self.walked[walker.name] = extent
        start = of(Start(walker.name, kind.is_each))
        size = number(1) if kind.size is None else of_length(kind.size)
        if size.number is None and not kind.is_piece:
            # Of a constant that is none no code is made (TP0315).
            self.account.contracts.append(at_most(number(1), size))
        count = of(TileNumber(walker.name))
        live = number(1) if kind.is_each else of(Live(walker.name))
        if kind.is_each and low == number(0):
            count = start
        self.account.walks[walker] = Walk(start, live, count, extent, size, low, highs)
        facts: list[Formula] = [at_most(low, start), at_most(-start, 0)]
        facts += [equals(start, low + product(size, count)), at_most(-count, 0)] if count != start else []
        if kind.is_each:
            return [*facts, *(below(start, high) for high in highs)]
        facts += [at_most(number(0 if kind.is_piece else 1), live), at_most(live, size)]
        if kind.is_piece:
            facts.append(Some((at_most(number(1), live), equals(extent, 0))))
        short = Some((equals(live, size), *(equals(start + live, high) for high in highs)))
        return [*facts, *(at_most(start + live, high) for high in highs), short]

    def _segments(self, walker: Walker, segments: ops.Segments, extent: Term) -> None:
        borders = self.views[segments.offsets].extents[0]
        index = of(Unknown(segments.index.name, 0, INDEX_LIMIT))
        self.values.terms[segments.index] = index
        begin, end = (of(Read(segments.offsets.name, (place,))) for place in (index, index + 1))
        self.path += [at_most(-index, 0), at_most(index + 2, borders)]
        self.path += self._walker(walker, begin, (end, extent))

    def _tiles(self, op: ops.TilesLoop) -> None:
        extent = self.extent(op.walker.type.dimension)
        low = number(0) if op.start is None else self.values.term(op.start)
        if op.start is not None:
            what = f"the start of {shown_name(op.walker)}"
            self._owe(Bounded(op, what, low, number(0), None, self.where, op.start))
        highs = (extent,) if op.stop is None else (extent, self.values.term(op.stop))
        self._loop(op, self._walker(op.walker, low, highs), TRUE)

    def _range(self, op: ops.RangeLoop) -> None:
        start, stop, step = (self.values.term(value) for value in (op.start, op.stop, op.step))
        if not self.ranges.of(stop - start).within(LARGEST):
            # Its iterations are counted by the difference of its ends.
            self._owe(Fitting(op, stop - start, self.where))
        data = any(map(depends_on_data, (start, stop, step)))
        bounds = self.ranges.hull((start, stop)) & integer_range(INDEX)
        variable = of(Unknown(op.variable.name, bounds.low, bounds.high, data=data))
        self.ranges.hulls[op.variable.name] = start, stop
        self.values.terms[op.variable] = variable
        turn = self._turn(op)
        facts: list[Formula] = [at_most(-turn, 0)]
        if abs(step.number or 0) != 1:
            facts.append(equals(variable, start + product(turn, step)))
        ahead = All((below(number(0), step), at_most(start, variable), below(variable, stop)))
        behind = All((below(step, 0), at_most(variable, start), below(stop, variable)))
        signs = self.ranges.of(step)
        facts += ahead.parts if signs.low >= 0 else behind.parts if signs.high <= 0 else (Some((ahead, behind)),)
        self._loop(op, facts, TRUE)

    def _turn(self, op: _Loop) -> Term:
        """How many iterations of a loop come before one."""
        match op:
            case ops.TilesLoop(walker=walker):
                return self.account.walks[walker].number
            case ops.RangeLoop(variable=variable, start=start, step=step):
                by = self.values.term(step).number
                if by in (1, -1):
                    return (self.values.term(variable) - self.values.term(start)).times(by)
                return of(Unknown(f"{variable.name}#", 0, INDEX_LIMIT))
            case ops.While(carried=carried):
                return of(Unknown(f"{carried[0].name}#", 0, INDEX_LIMIT))

    def _turns(self, op: _Loop) -> Term:
        """How many iterations a loop has."""
        if isinstance(op, ops.RangeLoop):
            by, gap = self.values.term(op.step).number, self.values.term(op.stop) - self.values.term(op.start)
            if by:
                return greatest(-quotient(-gap, number(by)), number(0))
        return of(Unknown(f"{op.results[0].name}#", 0, INDEX_LIMIT))

    def _while(self, op: ops.While) -> None:
        before = self._enter(op)
        with self._within(Branch(op)):
            outer, self.in_test = self.in_test, True
            self._block(op.test)
            self.in_test = outer
        condition = self.values.truth(op.test.yields[0])
        with self._within(Branch(op, condition), condition):
            self._block(op.body)
            self._leave(op, before)

    def _loop(self, op: ops.TilesLoop | ops.RangeLoop, facts: Sequence[Formula], condition: Formula) -> None:
        before = self._enter(op)
        with self._within(Branch(op, condition), *facts):
            self._block(op.body)
            self._leave(op, before)

    def _enter(self, op: _Loop) -> _Before:
        uniform, self.values.uniform = self.values.uniform, False
        names = {value.name for value in self.values.terms} | {walker.name for walker in self.account.walks}
        before = _Before(tuple(self.path), frozenset(names - {own.name for own in _differing(op)}))
        for value, init, handed in zip(op.carried, op.inits, op.body.yields, strict=True):
            if is_whole(value.type.dtype) and value.type.rank <= 1:
                data = depends_on_data(self.values.term(init)) or is_loaded(op.body, handed)
                self._hand_on(value, data=data)
            elif value.type.dtype == INDEX:
                self._hand_on(value)
        self.values.uniform = uniform
        return before

    def _hand_on(self, value: Tile, data: bool = True) -> None:
        """Introduces what a loop carries, or what comes out of one: an index stays near."""
        if value.type.dtype != INDEX:
            self.values.unknown(value, data=data)
            return
        self.carrying.carried.add(value.name)
        self.values.bounds[value] = CARRIED
        if value.type.rank <= 1:
            self.values.unknown(value, CARRIED, data)

    def _leave(self, op: _Loop, before: _Before) -> None:
        """The values an iteration yields and the results: an index must stay within 64 bits."""
        for value, handed, result, init in zip(op.carried, op.body.yields, op.results, op.inits, strict=True):
            if value.type.dtype == INDEX and value.type.rank > 1:
                self._hand_on(result)
                if not self.values.hull((init, handed)).within(CARRIED_LIMIT):
                    self._owe(Fitting(op, None, self.where))
                continue
            if not is_whole(value.type.dtype) or value.type.rank > 1:
                continue
            self._hand_on(result)
            if value.type.dtype == INDEX:
                self._carry(value, handed, result, init, before.path)
                self._count(op, value, handed, result, init, before)
                self._owe_steps(op, value, handed, init)

    def _count(self, op: _Loop, value: Tile, handed: Tile, result: Tile, init: Tile, before: _Before) -> None:
        """Counts what each iteration adds to a carried index, if it is always the same."""
        term = self.values.term
        step = term(handed) - term(value)
        if not before.has(step):
            return
        self.values.define(value, equals(term(value), term(init) + product(self._turn(op), step)))
        self.values.define(result, equals(term(result), term(init) + product(self._turns(op), step)))
        most = self._most_iterations(op)
        if most is not None:
            ends = term(init), term(init) + product(most, step)
            self.ranges.hulls.update({value.name: ends, result.name: ends})

    def _owe_steps(self, op: _Loop, value: Tile, handed: Tile, init: Tile) -> None:
        """Adds the obligation that all iterations together keep a carried index within 64 bits."""
        carried, first = self.values.term(value).lone, self.values.term(init)
        assert isinstance(carried, Unknown)
        steps = self.carrying.long_steps(self.values.term(handed), carried)
        iterations = self._most_iterations(op)
        ends = None if steps is None else [self._end(carried, first, step, iterations) for step in steps]
        if ends is None or None in ends:
            self._owe(Fitting(op, None, self.where))
            return
        totals = [total for end in ends if end is not None for total in end]
        for total in totals if self.carrying.stays(first) else (first, *totals):
            if not self.ranges.of(total).within(START_LIMIT):
                self._owe(Fitting(op, total, self.where, START_LIMIT))

    def _end(self, carried: Unknown, first: Term, step: Term, iterations: Term | None) -> list[Term] | None:
        """How far out steps lead: as far as all of them, or one more than where the loop ends; None if nobody knows."""
        if iterations is not None:
            return [first + product(iterations, step)]
        signs, facts = self.ranges.of(step), flattened(self.path)[0]
        ends: list[Term] = []
        for sign in (1, -1):
            limits = [of(carried) - fact.term.times(sign) for fact in facts if (carried, sign) in fact.term.parts]
            if not limits and (signs.high > 0 if sign > 0 else signs.low < 0):
                return None
            ends += [limit + step for limit in limits[:1]]
        return ends

    def _most_iterations(self, op: _Loop) -> Term | None:
        """An upper bound of the iterations of a loop; None if there is none."""
        match op:
            case ops.TilesLoop(walker=walker):
                walk = self.account.walks[walker]
                return quotient(walk.extent, walk.size) + 1 if walk.size.number else walk.extent
            case ops.RangeLoop(start=start, stop=stop, step=step):
                by, gap = self.values.term(step).number, self.values.term(stop) - self.values.term(start)
                return greatest(quotient(gap, number(by)) + 1, number(0)) if by else greatest(gap, -gap)
            case ops.While():
                return None

    def _carry(self, value: Tile, handed: Tile, result: Tile, init: Tile, before: tuple[Formula, ...]) -> None:
        term = self.values.term
        inner, outer = term(value).lone, term(result).lone
        if isinstance(inner, Unknown) and isinstance(outer, Unknown):
            after = tuple(self.path)
            self.account.carried.append(Carried(inner, outer, term(init), before, term(handed), after))

    def _if(self, op: ops.If) -> None:
        condition = self.values.truth(op.condition)
        other = negation(condition)
        with self._within(Branch(op, condition), condition):
            self._block(op.then)
        with self._within(Branch(op, other), other):
            self._block(op.orelse)
        for result, yes, no in zip(op.results, op.then.yields, op.orelse.yields, strict=True):
            if result.type.rank > 1:
                if result.type.dtype == INDEX:
                    self.values.bounds[result] = self.values.hull((yes, no))
                continue
            if result.type.dtype == BOOL:
                one, two = self.values.truth(yes), self.values.truth(no)
                self.values.decide(result, Some((All((condition, one)), All((other, two)))))
            elif result.type.dtype == ENTRY:
                self.values.choose_entry(result, condition, yes, no)
            elif is_whole(result.type.dtype):
                chosen = self.values.chosen(result, condition, self.values.term(yes), self.values.term(no))
                self.values.terms[result] = chosen

    def _combine(self, op: ops.Fold | ops.Scan | ops.Join) -> None:
        combiner = op.combiner
        for value in (*combiner.left, *combiner.right):
            if value.type.dtype == INDEX:
                self.values.bounds[value] = CARRIED
            if is_whole(value.type.dtype) and value.type.rank <= 1:
                self.values.unknown(value, CARRIED if value.type.dtype == INDEX else None)
        tiles = (*op.operands, *(op.identities if isinstance(op, ops.Fold) else ()))
        indices = [value for value in tiles if value.type.dtype == INDEX]
        for value in indices:
            if not self.values.bound(value).within(CARRIED_LIMIT):
                whole = self.values.term(value) if value.type.rank <= 1 else None
                self._owe(Fitting(op, whole, self.where, CARRIED_LIMIT))
        before = len(self.account.demands)
        self._block(combiner.body)
        # No check can stay in a combiner: it may run on any program.
        demands = self.account.demands[before:]
        self.account.demands[before:] = [
            Fitting(demand.op, None, demand.where) if isinstance(demand, Bounded) else demand for demand in demands
        ]
        for result, handed in zip(op.results, combiner.body.yields, strict=True):
            if result.type.dtype == INDEX and result.type.rank > 1:
                self.values.bounds[result] = CARRIED
                if not self.values.bound(handed).within(CARRIED_LIMIT):
                    self._owe(Fitting(op, None, self.where))
                continue
            if not is_whole(result.type.dtype) or result.type.rank > 1:
                continue
            if result.type.dtype != INDEX:
                self.values.unknown(result)
                continue
            operands = self.values.hull(indices) & CARRIED
            lies = combined(self.values.term(handed), combiner, operands, self.ranges, self.account.definitions)
            self.values.unknown(result, CARRIED if lies is None else operands | lies)
            if lies is None:
                self._owe(Fitting(op, None, self.where))
        if isinstance(op, ops.Join):
            self.after_join = True


def _differing(op: _Loop) -> tuple[AnyValue, ...]:
    """What a loop makes anew for each iteration, besides what it carries."""
    match op:
        case ops.TilesLoop(walker=walker):
            return (walker,)
        case ops.RangeLoop(variable=variable):
            return (variable,)
        case ops.While():
            return ()


def _most_lanes(kernel: ops.KernelIR) -> int:
    """How many lanes a tile has along an axis at most."""
    tiles = (value.type for op in walk(kernel.body) for value in ops.results(op) if isinstance(value.type, TileType))
    lengths = [axis.length for tile in tiles for axis in tile.axes]
    return max((length if isinstance(length, int) else INDEX_LIMIT for length in lengths), default=1)


@dataclass(frozen=True, slots=True)
class Extents:
    """The extents of the dimensions of a kernel. They are kept with a proof, and so refer to nothing but values."""

    static: Mapping[str, Length]
    computed: Mapping[str, Length]

    def __call__(self, name: str) -> Term:
        """The extent of a dimension; a static or computed one by its definition."""
        for known in (self.static, self.computed):
            if name in known:
                length = known[name]
                if not (isinstance(length, int) or length.names == {name}):
                    return _resolved(of_length(length), self)
                return of_length(length)
        return of(DimensionExtent(name))


def _resolved(term: Term, extents: Extents) -> Term:
    """A term with every dimension replaced by its definition."""
    return rebuild(term, lambda atom: extents(atom.name) if isinstance(atom, DimensionExtent) else None)


def entries_of(formulas: Sequence[Formula], definitions: Mapping[str, tuple[Formula, ...]]) -> tuple[str, ...] | None:
    """The index tensors whose entries some formulas are about; None if something else may make an entry none."""
    tensors: dict[str, None] = {}
    seen: set[str] = set()
    pending = list(formulas)
    while pending:
        for term in terms(pending.pop()):
            for atom in _made_of(term):
                match atom:
                    case Read(tensor):
                        tensors[tensor] = None
                    case Unknown(name) if name not in seen:
                        seen.add(name)
                        known = definitions.get(name, ())
                        if not known:
                            return None
                        pending += known
                    case _:
                        pass
    return tuple(tensors)


def _made_of(term: Term) -> Iterator[Atom]:
    """The atoms that determine a term. The position an entry is read at does not determine whether it is none."""
    for atom in term.atoms:
        yield atom
        if not isinstance(atom, Read):
            for part in inner(atom):
                yield from _made_of(part)
