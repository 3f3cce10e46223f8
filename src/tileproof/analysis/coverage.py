"""The law of `Out`: a launch writes every element.

Take any element. For each store, solve its positions for the walkers and loop variables that reach the element: this
names a program and an iteration of each loop, a *witness*. The element is written unless that program does not exist or
does not get to the store. An `Out` is covered if no element can be missed by all stores. The positions of a scatter
cannot be solved; it covers if no two of its writes meet and there are as many as elements, which the launch compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import islice
from itertools import product as cartesian

from tileproof.ir import ops
from tileproof.ir.types import Content, Tensor, Walker, WalkerTag
from tileproof.ir.walk import walk as walk_ops

from .collect import Collector, entries_of
from .ranges import LARGEST
from .sites import Site, Spot, Walk
from .symbolic_values import is_uniform
from .terms import (
    All,
    Atom,
    Element,
    Fact,
    Formula,
    Lane,
    Least,
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
    factors_of,
    least,
    monomial,
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
    if _ends_early(collector, spot.pick.walker):
        return False
    return is_space and walk.extent == spot.extent and walk.origin is None


def _ends_early(collector: Collector, walker: Walker) -> bool:
    """Whether a walker of the space goes by segments that need not reach the end of its dimension."""
    segments = () if collector.parallel is None else collector.parallel.segments
    contents = [segment.offsets.type.element for segment in segments if segment.walker is walker]
    return any(isinstance(content, Content) and content.ends_early for content in contents)


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
        formulas += [at_most(-element, 0), below(element, extent), *_not_zero(collector, extent)]
    element_exists = tuple(formulas)
    copies: dict[object, int] = {}
    ways: list[tuple[Formula, ...]] = []
    for site in stores(collector, tensor):
        for witness in islice(_Solver(collector, site, elements).witnesses(), attempts):
            key = frozenset(item for item in witness.chosen.items() if isinstance(item[0], Start | Unknown))
            copy = copies.setdefault(key, len(copies) + 1)
            marked = partial(_copied, copy=copy)
            formulas += [changed(fact, marked) for fact in witness.facts]
            ways.append(tuple(dict.fromkeys(changed(goal, marked) for goal in witness.goals)))
    formulas += [negation(All(goals)) for goals in _merged(ways)]
    return Uncovered(tuple(dict.fromkeys(formulas)), len(ways), element_exists)


def _not_zero(collector: Collector, extent: Term) -> Iterator[Formula]:
    """That no factor of an extent is 0, where it has an element."""
    atom = extent.lone
    if isinstance(atom, Product) and all(collector.ranges.of(of(one)).low >= 0 for one in _factors(atom)):
        yield from (at_most(number(1), of(one)) for one in dict.fromkeys(_factors(atom)))


def _merged(ways: list[tuple[Formula, ...]]) -> list[tuple[Formula, ...]]:
    """Ways to write an element, where both branches of an `if` are one way without its condition."""
    merged: list[tuple[Formula, ...]] = []
    pending = list(reversed(ways))
    while pending:
        goals = pending.pop()
        for other in merged:
            here, there = (tuple(set(one) - set(two)) for one, two in ((goals, other), (other, goals)))
            if len(here) == len(there) == 1 and (here[0] == negation(there[0]) or there[0] == negation(here[0])):
                merged.remove(other)
                pending.append(tuple(goal for goal in goals if goal not in here))
                break
        else:
            merged.append(goals)
    return merged


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
    """A walker or loop variable that a witness chooses: at `low + step * digit`, where the digit is not negative."""

    name: str
    digit: Unknown
    low: Term
    step: Term
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
    """Solves the positions of one store for the programs that write an element.

    A position is a number with digits: each variable is one, counted from where it begins; `x // d` and `x % d` are
    two; a tile and a place in it are two. An equation gives each digit what is left of the element, divided by its
    factor, the greatest factor first. What is chosen need not be right: the goals of a witness say when it is.
    """

    def __init__(self, collector: Collector, site: Site, elements: Sequence[Term]) -> None:
        self.collector, self.site, self.elements = collector, site, elements
        self.walks, self.terms, self.ranges = collector.account.walks, collector.account.terms, collector.ranges
        self.limits: dict[Atom, tuple[Term, ...]] = {}
        """The digits, and what each is below."""
        self.parts: dict[Atom, Term] = {}
        """Digits that are made of others."""
        self.wraps: dict[Atom, tuple[Term, Term, int]] = {}
        """For quotients whose variable must not be negative: that times what must be at least which term, its sign."""
        self.values: dict[Atom, Term] = {}
        """What digits are, in terms of the element to be written."""
        self.quotients: dict[Quotient, Term] = {}
        """Quotients that are digits."""
        self.tiles: dict[str, tuple[Term, Term]] = {}
        """Walkers whose tile and place in it are digits of their own."""
        self.lanes: dict[Atom, str] = {}
        """Lanes that are the place in the tile of a walker."""
        self.facts: list[Formula] = []
        """What holds of the numbers that digits are."""
        self.bounds: list[tuple[Term, Term, Term]] = []
        """Quotients, their divisors, and what they are to be below."""
        self.needs: list[Formula] = []
        """What must hold for these numbers to be what they should."""
        self.variables = self._variables()
        self.positions: dict[str, Term] = {}
        self.is_split = False
        """Whether all digits that positions need are known."""

    def witnesses(self) -> Iterator[_Witness]:
        """Programs that might write the element by this store."""
        if any(isinstance(branch.op, ops.While) for branch in self.site.where.nest):
            return
        self.positions = {name: self._position(variable) for name, variable in self.variables.items()}
        spots = zip(self.site.spots, self.elements, strict=True)
        equations = [(self._in_digits(spot.place), element) for spot, element in spots]
        equations += [(self._in_digits(term), number(0)) for term in self._equal_to_zero()]
        self.is_split = True
        self.limits |= {digit: tuple(map(self._in_digits, ends)) for digit, ends in list(self.limits.items())}
        for left, right in equations:
            self._solve(left, right)
        solved = dict(self.values)
        free = self._free()
        for choice in cartesian(*(list(self._candidates(digit)) for digit in free)):
            self.values = dict(solved)
            for digit, value in zip(free, choice, strict=True):
                self._give(digit, value)
            witness = self._chosen()
            if witness is not None:
                yield witness

    # Digits.

    def _digit(self, name: str, *limits: Term) -> Unknown:
        digit = Unknown(f"{name} of {self.site.number}", 0, LARGEST, uniform=True)
        self.limits[digit] = limits
        return digit

    def _variables(self) -> dict[str, _Variable]:
        """What can be chosen, outermost first."""
        variables: dict[str, _Variable] = {}

        def add(walker: Walker, own: frozenset[str], segments: ops.Segments | None = None) -> None:
            walk = self.walks[walker]
            # A walker of segments is solved for as a whole: where it begins depends on the segment.
            low = number(0) if segments is not None else walk.low
            digit = self._digit(walker.name, *(end - low for high in walk.highs for end in _ends(high)))
            variables[walker.name] = _Variable(
                walker.name, digit, low, number(1), walk, walker, segments=segments, own=own
            )

        space = self.collector.parallel
        if space is not None:
            cut = {segments.walker: segments for segments in space.segments}
            for walker in space.walkers:
                if not (walker.type.is_piece and self.site.where.after_join):
                    add(walker, _defined_in(space), cut.get(walker))
        for branch in self.site.where.nest:
            match branch.op:
                case ops.TilesLoop(walker=walker) as loop:
                    add(walker, _defined_in(loop))
                case ops.RangeLoop(variable=variable) as loop:
                    start, stop, step = (self.terms[value] for value in (loop.start, loop.stop, loop.step))
                    ahead = self.ranges.of(step).low >= 0
                    spans = [end - start for end in _ends(stop)] if ahead else [end + start for end in _ends(-stop)]
                    size = step if ahead else -step
                    digit = self._digit(variable.name, *(_rounded_up(span, size) for span in spans))
                    variables[variable.name] = _Variable(
                        variable.name, digit, start, step, None, loop=loop, own=_defined_in(loop)
                    )
                case _:
                    pass
        return variables

    def _equal_to_zero(self) -> Iterator[Term]:
        """What the branches around the store say is 0."""
        pending = [branch.condition for branch in self.site.where.nest if isinstance(branch.op, ops.If)]
        for condition in pending:
            match condition:
                case Fact(term, equal) if equal:
                    yield term
                case All(parts):
                    pending += parts
                case _:
                    pass

    def _in_digits(self, term: Term) -> Term:
        """A term of walkers, loop variables and lanes as one of digits."""
        monomials = {frozenset(_factors(atom)): atom for atom, _ in term.parts}
        total, rest = number(0), dict(term.parts)
        lanes = [leaf for atom, _ in term.parts for leaf in _factors(atom) if isinstance(leaf, Lane)]
        for atom, times in term.parts:
            leaves = _factors(atom)
            for leaf in leaves:
                variable = self.variables.get(leaf.walker) if isinstance(leaf, Start) and not leaf.is_each else None
                for lane in lanes if variable is not None else ():
                    others = [other for other in leaves if other is not leaf]
                    twin = monomials.get(frozenset((*others, lane)))
                    if variable is not None and twin in rest and rest[twin] == times and atom in rest:
                        # Where a tile begins, and a place in it.
                        del rest[atom], rest[twin]
                        self.lanes[lane] = variable.name
                        factor = reduce(product, (self._changed(of(one)) for one in others), number(times))
                        total = total + product(factor, self._position(variable))
        return total + self._changed(Term(rest.items(), term.constant))

    def _changed(self, term: Term) -> Term:
        return rebuild(term, self._of_atom)

    def _of_atom(self, atom: Atom) -> Term | None:
        match atom:
            case Start(name) | TileNumber(name) if name in self.variables:
                variable = self.variables[name]
                assert variable.walk is not None
                is_number = isinstance(atom, TileNumber)
                if variable.segments is not None:
                    return None if is_number else of(variable.digit)
                if variable.walker is not None and variable.walker.type.is_each:
                    return of(variable.digit) if is_number else self._position(variable)
                tile, _ = self._tile(variable)
                return tile if is_number else self._in_digits(variable.low) + product(variable.walk.size, tile)
            case Unknown(name) if name in self.variables:
                return self._position(self.variables[name])
            case Read(args=args):
                return of(replace(atom, args=tuple(map(self._in_digits, args))))
            case Lane() if atom in self.lanes:
                return self._tile(self.variables[self.lanes[atom]])[1]
            case Lane():
                if atom not in self.limits:
                    bounds = [bound for spot in self.site.spots for bound in spot.lanes if isinstance(bound, Fact)]
                    ends = [bound.term for bound in bounds if dict(bound.term.parts).get(atom) == 1]
                    self.limits[atom] = tuple(of(atom) + 1 - end for end in ends)
                return of(atom)
            case Quotient(term, by):
                if atom not in self.quotients:
                    if self.is_split:
                        return None
                    over = self._resolved(self._in_digits(term))
                    result = self._divided(over, self._in_digits(by)) if self._unsolved(over) else None
                    if result is None:
                        return None
                    self.quotients[atom] = result
                return self.quotients[atom]
            case _:
                return None

    def _tile(self, variable: _Variable) -> tuple[Term, Term]:
        """The tile of a walker, and the place in it, as digits."""
        if variable.name not in self.tiles:
            assert variable.walk is not None
            size, name = variable.walk.size, variable.name
            tile = of(self._digit(f"{name} tile", *(_rounded_up(end, size) for end in self.limits[variable.digit])))
            lane = of(self._digit(f"{name} lane", size))
            self.parts[variable.digit] = product(size, tile) + lane
            self.tiles[name] = tile, lane
        return self.tiles[variable.name]

    def _position(self, variable: _Variable) -> Term:
        return self._in_digits(variable.low) + product(self._in_digits(variable.step), of(variable.digit))

    def _resolved(self, term: Term) -> Term:
        """A term in terms of digits that are neither made of others nor solved for."""

        def change(atom: Atom) -> Term | None:
            known = self.values.get(atom) or self.parts.get(atom)
            return None if known is None else self._resolved(known)

        return rebuild(term, change)

    def _unsolved(self, term: Term) -> list[Atom]:
        return list(dict.fromkeys(atom for atom in everything(term) if atom in self.limits))

    def _divided(self, term: Term, by: Term) -> Term | None:
        """`term // by` in digits, of which some may have to be split for it; None if it is not known how."""
        if self._unsolved(by):
            return None
        if by == number(1):
            return term
        whole, rest = number(0), number(term.constant)
        for atom, times in term.parts:
            part = of(atom).times(times)
            over = _exactly(part, by)
            if over is None:
                rest = rest + part
            else:
                whole = whole + over
        digits = self._unsolved(rest)
        if not digits:
            return whole + quotient(rest, by)
        for digit in digits:
            # The digits below are less than `limit`, and all others are multiples of it.
            for limit in self.limits[digit]:
                higher, less = _exactly(rest - of(digit), limit), _exactly(by, limit)
                if higher is not None and less is not None and dict(rest.parts).get(digit) == 1:
                    over = number(0) if higher == number(0) else self._divided(higher, less)
                    return None if over is None else whole + over
        units = {atom: times for atom, times in rest.parts if atom in self.limits and abs(times) == 1}
        if not units:
            return None
        fitting = [digit for digit in units if by in self.limits[digit]]
        digit = (fitting or list(units))[-1]
        others = rest - of(digit).times(units[digit])
        if digit in self._unsolved(others):
            return None
        limits = (_rounded_up(end, by) for end in self.limits[digit]) if others == number(0) else ()
        name = f"{digit} by {by}"
        high, low = self._digit(f"{name} quotient", *limits), self._digit(f"{name} remainder", by)
        if others != number(0):
            self.wraps[high] = (others - of(low)).times(units[digit]), by, units[digit]
        self.parts[digit] = (product(by, of(high)) + of(low) - others).times(units[digit])
        return whole + of(high)

    # Equations.

    def _give(self, digit: Atom, value: Term) -> None:
        """Solves a digit, unless its value depends on itself."""
        if digit not in self.parts and digit not in self.values and digit not in self._unsolved(self._resolved(value)):
            self.values[digit] = value

    def _solve(self, left: Term, right: Term) -> None:
        """Solves the digits in `left` so that it equals `right`."""
        left = self._resolved(left)
        parts: list[tuple[Term, Atom]] = []
        remaining = right - left.constant
        for atom, times in left.parts:
            leaves = _factors(atom)
            digits = [leaf for leaf in leaves if leaf in self.limits]
            if len(digits) != 1:
                remaining = remaining - of(atom).times(times)
                continue
            if any(map(self._is_one, self.limits[digits[0]])):
                self._give(digits[0], number(0))  # a part of a tile of one element: there is no other
                continue
            parts.append((monomial(of(leaf) for leaf in leaves if leaf != digits[0]).times(times), digits[0]))
        if all(self.ranges.of(factor).high <= 0 for factor, _ in parts):
            parts, remaining = [(-factor, digit) for factor, digit in parts], -remaining
        order = list(self.limits)
        counted: list[tuple[Term, Atom]] = []
        for factor, digit in parts:
            if self.ranges.of(factor).high <= 0 and self.limits[digit]:
                # A digit that counts down: the others are solved as if it counted up from its last.
                last, up = self.limits[digit][0] - 1, self._digit(f"{digit} up", *self.limits[digit])
                self.parts[digit] = last - of(up)
                remaining = remaining - product(factor, last)
                factor, digit = -factor, up
            counted.append((factor, digit))

        def sort_key(part: tuple[Term, Atom]) -> tuple[int, int, int]:
            """The greatest factor first, as far as can be seen; outer variables before inner ones."""
            factor = part[0]
            degree = max((len(_factors(atom)) for atom in factor.atoms), default=0)
            size = max((abs(times) for _, times in factor.parts), default=abs(factor.constant))
            return -degree, -size, order.index(part[1]) if part[1] in order else len(order)

        for factor, digit in sorted(counted, key=sort_key):
            if factor == number(1):
                self._give(digit, remaining)
                return
            high, remaining = self._split(self._resolved(remaining), factor, self.limits[digit])
            self._give(digit, high)

    def _is_one(self, limit: Term) -> bool:
        """Whether what is below a limit is 0: there are no more elements in a tile than its size."""
        live = limit.lone
        variable = self.variables.get(live.walker) if isinstance(live, Live) else None
        size = limit if variable is None or variable.walk is None else variable.walk.size
        return size.number == 1

    def _split(self, term: Term, by: Term, limits: Sequence[Term]) -> tuple[Term, Term]:
        """`term // by` and `term % by`; what the quotient is to be below."""
        if by.number is not None:
            return quotient(term, by), remainder(term, by)
        uniform = is_uniform(term) and is_uniform(by)
        high, low = (of(Unknown(sign, 0, LARGEST, uniform, args=(term, by))) for sign in ("//", "%"))
        needs = [at_most(number(1), by), *([at_most(-term, 0)] if self.ranges.of(term).low < 0 else [])]
        self.needs += needs
        parts = equals(product(high, by) + low, term), below(low, by)
        self.facts.append(Some((*map(negation, needs), All(parts))))
        self.bounds += [(high, by, limit) for limit in limits]
        return high, low

    def _free(self) -> list[Atom]:
        """The digits that the positions leave open."""
        positions = [of(variable.digit) for variable in self.variables.values()]
        positions += [of(lane) for lane in self.limits if isinstance(lane, Lane)]
        return list(dict.fromkeys(digit for term in positions for digit in self._unsolved(self._resolved(term))))

    def _candidates(self, digit: Atom) -> Iterator[Term]:
        """What a digit may be that the positions leave open: the first, the last, that of the element written."""
        for variable in self.variables.values():
            if variable.digit == digit:
                yield from self._places(variable)
        if digit in self.wraps:
            least_multiple, by, sign = self.wraps[digit]
            yield -quotient(-least_multiple, by) if sign > 0 else quotient(-least_multiple, by)
        yield number(0)
        if self.limits[digit]:
            yield reduce(least, self.limits[digit]) - 1

    def _places(self, variable: _Variable) -> Iterator[Term]:
        """Where a variable may be for the element: in the segment that has it, or at it."""
        low = self._in_digits(variable.low)
        for inner in self.variables.values():
            content = self._borders(inner.low, variable)
            if content is not None and inner is not variable:
                target = self._resolved(self.positions[inner.name])
                if target in self.elements:
                    yield self._segment_with(content, target) - low
        if variable.walk is None:
            return
        for inner in self.variables.values():
            if inner.walk is not None and inner is not variable and variable.walk.extent == inner.walk.extent:
                yield self.positions[inner.name] - low
        for element, spot in zip(self.elements, self.site.spots, strict=True):
            if spot.extent == variable.walk.extent and not isinstance(spot.pick, ops.Along):
                yield element - low

    def _borders(self, low: Term, variable: _Variable) -> Tensor | None:
        """The `Offsets` whose segment a loop begins with that a variable names."""
        atom = low.lone
        if not isinstance(atom, Read) or variable.walk is None or atom.args[0] != variable.walk.start:
            return None
        content = self.ranges.elements[atom.tensor]
        if not isinstance(content, Content) or content.kind != "Offsets":
            return None
        return next(tensor for tensor in self.collector.views if tensor.name == atom.tensor)

    def _segment_with(self, offsets: Tensor, target: Term) -> Term:
        """The segment that holds an element: there is one up to the last border, and the first is 0."""
        segment = of(Unknown(f"segment of {target} in {offsets.name}", 0, 1 << 48, uniform=True))
        begin, end = (of(Read(offsets.name, (place,))) for place in (segment, segment + 1))
        borders = self.collector.views[offsets].extents[0]
        content = self.ranges.elements[offsets.name]
        assert isinstance(content, Content)
        # There is one only for an element that the segments have.
        last = self.collector.extent(content.dimension)
        if content.ends_early:
            last = of(Read(offsets.name, (borders - 1,)))
        outside = below(target, 0), at_most(last, target)
        inside = at_most(-segment, 0), at_most(segment + 2, borders), at_most(begin, target), below(target, end)
        self.facts.append(Some((*outside, All(inside))))
        return segment

    # Choosing.

    def _chosen(self) -> _Witness | None:
        """The witness whose variables are at their targets; None if there is no such program."""
        witness, site = _Witness(), self.site
        witness.chosen.update((atom, self._resolved(term)) for atom, term in self.quotients.items())
        for variable in self.variables.values():
            target = self._resolved(self.positions[variable.name])
            if self._unsolved(target) or _presumes(target, variable):
                return None
            if variable.loop is not None:
                self._choose_variable(witness, variable, target)
            elif not self._choose_walker(witness, variable, target):
                return None
        for spot, element in zip(site.spots, self.elements, strict=True):
            if spot.lane is not None and not self._choose_lane(witness, spot, element):
                return None
        for branch in site.where.nest:
            if isinstance(branch.op, ops.If) and branch.condition is not None:
                witness.goals.append(changed(branch.condition, witness.at))
        witness.goals += [changed(formula, witness.at) for formula in site.present]
        for spot, element in zip(site.spots, self.elements, strict=True):
            witness.goals += [changed(formula, witness.at) for formula in spot.lanes]
            witness.goals.append(equals(witness.at(spot.place), element))
        for atom in self.quotients:
            over, by = witness.at(atom.term), witness.at(atom.by)
            if witness.chosen[atom] != quotient(over, by):
                rest = over - product(witness.chosen[atom], by)
                witness.goals += [at_most(number(1), by), at_most(-rest, 0), below(rest, by)]
        witness.facts += self.facts
        for high, by, limit in [(high, by, self._resolved(limit)) for high, by, limit in self.bounds]:
            if not self._unsolved(limit):
                beyond = at_most(product(limit, by), product(high, by))
                witness.facts.append(Some((at_most(by, 0), beyond, below(high, limit))))
        witness.goals = [*self.needs, *(plain for goal in witness.goals for plain in _without_minimum(goal))]
        return witness

    def _choose_lane(self, witness: _Witness, spot: Spot, element: Term) -> bool:
        """Chooses the lane of a position; False if nothing determines it."""
        assert spot.lane is not None
        lane = spot.lane.lone
        assert lane is not None
        factor = dict(spot.place.parts).get(lane, 0)
        rest = spot.place - of(lane).times(factor)
        if factor in (1, -1) and lane not in everything(rest):
            witness.chosen[lane] = (element - witness.at(rest)).times(factor)
        elif lane in self.lanes:
            variable = self.variables[self.lanes[lane]]
            assert variable.walk is not None
            witness.chosen[lane] = self._resolved(self.positions[variable.name]) - witness.at(variable.walk.start)
        else:
            witness.chosen[lane] = self._resolved(of(lane))
            return lane in self.limits and not self._unsolved(witness.chosen[lane])
        return True

    def _choose_variable(self, witness: _Witness, variable: _Variable, target: Term) -> None:
        assert variable.loop is not None
        loop = variable.loop
        start, stop, step = (witness.at(self.terms[value]) for value in (loop.start, loop.stop, loop.step))
        atom = self.terms[variable.loop.variable].lone
        assert atom is not None
        witness.chosen[atom] = target
        ahead = self.ranges.of(step).low >= 0
        if ahead:
            witness.goals += [at_most(start, target), below(target, stop)]
        else:
            witness.goals += [at_most(target, start), below(stop, target)]
        if step.number not in (1, -1):
            turn = self._resolved(of(variable.digit))
            witness.goals.append(equals(start + product(step, turn), target))
            if step.number is None:
                witness.goals.append(at_most(number(1), step) if ahead else at_most(step, -1))

    def _choose_walker(self, witness: _Witness, variable: _Variable, target: Term) -> bool:
        """Puts a walker where its tile holds the target; False if no such place is known."""
        walk, walker = variable.walk, variable.walker
        assert walk is not None
        assert walker is not None
        start, live, count = walk.start.lone, walk.live.lone, walk.number.lone
        if variable.segments is not None:
            if target not in self.elements:
                return False
            index = self.terms[variable.segments.index].lone
            assert index is not None
            witness.chosen[index] = self._segment_with(variable.segments.offsets, target)
        low = witness.at(walk.low)
        if walker.type.is_each:
            begin, tile = target, number(1)
            index_of_tile = target - low
        else:
            if variable.name in self.tiles:
                index_of_tile = self._resolved(self.tiles[variable.name][0])
                witness.goals += [at_most(-index_of_tile, 0)]
            else:
                index_of_tile = quotient(target - low, walk.size)
            begin = low + product(walk.size, index_of_tile)
            if variable.name in self.tiles:
                witness.goals += [at_most(begin, target), below(target, begin + walk.size)]
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


def _ends(term: Term) -> Iterator[Term]:
    """Terms of which the smallest is a term: those of a minimum."""
    for atom, times in term.parts:
        if isinstance(atom, Least) and times == 1:
            rest = term - of(atom)
            yield from _ends(atom.left + rest)
            yield from _ends(atom.right + rest)
            return
    yield term


def _without_minimum(goal: Formula) -> Iterator[Formula]:
    """A goal as several: what is at most a minimum is at most each of its terms."""
    ends = list(_ends(-goal.term)) if isinstance(goal, Fact) and not goal.equal else []
    yield from (Fact(-end) for end in ends) if len(ends) > 1 else (goal,)


def _rounded_up(term: Term, by: Term) -> Term:
    """`term / by`, rounded up."""
    return -quotient(-term, by)


def _factors(atom: Atom) -> list[Atom]:
    """The atoms whose product an atom is; itself, if it is no product of atoms."""
    atoms = [factor.lone for factor in factors_of(of(atom))]
    return [one for one in atoms if one is not None] if None not in atoms else [atom]


def _exactly(term: Term, by: Term) -> Term | None:
    """`term / by` where that is a term for all values; else None."""
    if not term.parts and not term.constant:
        return term
    if by.number is not None:
        known = by.number != 0 and not term.constant % by.number
        is_multiple = known and all(times % by.number == 0 for _, times in term.parts)
        return quotient(term, by) if is_multiple else None
    if len(by.parts) != 1 or by.constant or term.constant:
        return None
    ((divisor, size),) = by.parts
    total = number(0)
    for atom, times in term.parts:
        left = list(_factors(atom))
        for one in _factors(divisor):
            if one not in left:
                return None
            left.remove(one)
        if times % size:
            return None
        total = total + monomial(map(of, left)).times(times // size)
    return total


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
        if _ends_early(collector, walker):
            return None
        writes = product(writes, collector.account.walks[walker].extent)
    through = entries_of(site.present, collector.account.definitions)
    return None if through is None else Scatter(site, writes, elements, through)
