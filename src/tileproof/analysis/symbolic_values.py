"""Symbolic evaluation: the term, formula or interval of each index, integer and bool of a kernel.

Index arithmetic is exact, so it becomes a term as it stands. Integers wrap: an operation on them is a term only if
its interval shows that it does not. Everything else is unknown, of which at most the interval is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from tileproof.ir import ops
from tileproof.ir.types import INDEX_LIMIT, Axis, DimensionTag, Extent, Tensor, Tile, Walker, WalkerTag
from tileproof.language.dtypes import BOOL, ENTRY, INDEX, DType

from .ranges import CARRIED, CARRIED_LIMIT, LARGEST, START_LIMIT, Range, Ranges, of_binary
from .sites import Account, Bounded, Fitting, NotEmpty, View, Walk, Where
from .terms import (
    FALSE,
    LANE,
    TRUE,
    ZERO,
    All,
    Fact,
    Formula,
    GroupOf,
    Lane,
    Live,
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
    exclusive,
    greatest,
    least,
    negation,
    number,
    of,
    of_length,
    product,
    quotient,
    relaned,
    remainder,
    terms,
    weighs_more,
    with_remainder,
)

MOST_ATOMS = 48
"""The largest term that is made; beyond, names stand for the operands of an operation."""
MOST_FACTS = 200
"""The largest condition that is followed, in facts and their atoms."""
_COMPARISONS: Mapping[ops.BinaryFn, Callable[[Term, Term], Formula]] = {
    ops.BinaryFn.EQ: equals,
    ops.BinaryFn.NE: lambda left, right: negation(equals(left, right)),
    ops.BinaryFn.LT: below,
    ops.BinaryFn.LE: at_most,
    ops.BinaryFn.GT: lambda left, right: below(right, left),
    ops.BinaryFn.GE: lambda left, right: at_most(right, left),
}


def integer_range(dtype: DType) -> Range:
    """All values of an integer type, or of an index."""
    if dtype == INDEX:
        return Range(-LARGEST - 1, LARGEST)
    if dtype == ENTRY:
        return Range(-START_LIMIT, START_LIMIT)
    bits = dtype.bits
    return Range(-(1 << bits - 1), (1 << bits - 1) - 1) if dtype.kind == "int" else Range(0, (1 << bits) - 1)


def is_whole(dtype: DType) -> bool:
    """Whether its values are integers, which terms represent."""
    return dtype in (INDEX, ENTRY) or dtype.is_integer


@dataclass(slots=True)
class Values:
    """What is known of each value of the kernel so far."""

    account: Account
    ranges: Ranges
    views: Mapping[Tensor, View]
    truths: dict[Tile, Formula] = field(default_factory=dict)
    present: dict[Tile, tuple[Formula, ...]] = field(default_factory=dict)
    """For an entry, that the entries it is computed from are not none."""
    inexact: set[Tile] = field(default_factory=set)
    """Entries whose term holds only where they are not none."""
    bounds: dict[Tile, Range] = field(default_factory=dict)
    reaches: dict[Tile, Term] = field(default_factory=dict)
    """For an index tile with several axes, a term that is each of its elements for some lanes."""
    uniform: bool = True
    """Whether what is read now is the same for all programs."""

    @property
    def terms(self) -> dict[Tile, Term]:
        return self.account.terms

    # Looking up.

    def term(self, value: Tile) -> Term:
        """An index or integer of rank 0 or 1, per lane; an unknown if nothing better is known."""
        if value not in self.terms:
            self.unknown(value)
        return self.terms[value]

    def truth(self, value: Tile) -> Formula:
        """When a truth holds."""
        if value not in self.truths:
            self.truths[value] = self.opaque_truth(value)
        return self.truths[value]

    def stored(self, value: Tile) -> Term:
        """A value that is stored as a position; where it is none, at most -1."""
        if value.type.rank > 1 or value in self.inexact:
            bounds = integer_range(INDEX)
            return of(Unknown(f"{value.name} stored", bounds.low, bounds.high, data=True))
        return self.term(value)

    def lane_bounds(self, value: Tile) -> tuple[Formula, ...]:
        """That the lane of a one-dimensional tile is one of its live elements."""
        if value.type.rank != 1:
            return ()
        return at_most(-LANE, 0), below(LANE, self.live(value.type.axes[0]))

    def presence(self, value: Tile) -> tuple[Formula, ...]:
        """That an index is not none: always so unless it is an entry."""
        if value.type.dtype != ENTRY:
            return ()
        return self.present.get(value, (at_most(number(0), self.term(value)),))

    def opaque_truth(self, value: Tile) -> Formula:
        """A bool of which nothing is known but that it is one value."""
        args = (LANE,) * value.type.rank
        return at_most(number(1), of(Unknown(f"{value.name}?", 0, 1, self.uniform, True, args)))

    def unknown(
        self, value: Tile, bounds: Range | None = None, data: bool = True, made_of: Term | None = None,
        hull: tuple[Term, ...] = (),
    ) -> Term:  # fmt: skip
        """Makes a value one about which only its interval is known, and the term it is a function of, if of one.

        `hull`: terms between which it lies. With the extents of a launch they limit it more than without.
        """
        bounds = bounds or integer_range(value.type.dtype)
        if hull:
            bounds &= self.ranges.hull(hull)
            self.ranges.hulls[value.name] = hull
        args = (LANE,) * value.type.rank
        uniform = self.uniform or (made_of is not None and is_uniform(made_of))
        term = of(Unknown(value.name, bounds.low, bounds.high, uniform, data, args))
        self.terms[value] = term
        if value.type.dtype == ENTRY:
            self.present[value] = (at_most(number(0), term),)
        return term

    def define(self, value: Tile, *facts: Formula) -> None:
        """States what holds of an unknown value."""
        known = self.account.definitions.get(value.name, ())
        self.account.definitions[value.name] = (*known, *facts)

    def live(self, axis: Axis) -> Term:
        """How many elements an axis of a tile has."""
        match axis.tag:
            case None:
                return of_length(axis.length)
            case WalkerTag(walker):
                return self.walk(walker).live
            case DimensionTag(name):
                return self.ranges.extent(name)

    def walk(self, walker: Walker) -> Walk:
        return self.account.walks[walker]

    # Reading.

    def compute(self, op: ops.PureOp, where: Where) -> None:
        """Learns what the result of an operation is."""
        result = op.result
        if isinstance(op, ops.Take):
            self._owe_place(op, where)
        if result.type.rank > 1:
            if isinstance(op, ops.Reduce):
                self._owe_elements(op, where)
            if result.type.dtype == INDEX:
                self._fit_only(op, where)
            return
        if result.type.dtype == BOOL:
            self._truth_of(op)
        elif is_whole(result.type.dtype):
            self._whole(op, where)
        elif isinstance(op, ops.Reduce):
            self._owe_elements(op, where)

    def _multiplies_remainders(self, op: ops.PureOp) -> bool:
        """Whether it is the product of two remainders by what is not constant: none is a summand of it any more."""
        if not isinstance(op, ops.Binary) or op.fn is not ops.BinaryFn.MUL or op.left.type.dtype == ENTRY:
            return False
        factors = [with_remainder(self.term(factor)) for factor in (op.left, op.right)]
        return all(factor is not None and factor.by.number is None for factor in factors)

    def _name(self, value: Tile) -> None:
        """Lets a name stand for the term of a value, so that terms computed from it are small again."""
        term = self.terms[value]
        if term.weight <= 1:
            return
        named = self.unknown(value, None, depends_on_data(term), term, hull=(term,))
        if value.type.dtype != ENTRY:  # of which it is not known when it is none
            self.define(value, equals(named, term))

    def decide(self, value: Tile, formula: Formula) -> None:
        """States when a truth holds. Of one that is too large nothing is known but that it is one value."""
        self.truths[value] = self.opaque_truth(value) if weighs_more(formula, MOST_FACTS) else formula

    def _truth_of(self, op: ops.PureOp) -> None:
        match op:
            case ops.Constant(value=value):
                self.decide(op.result, TRUE if value else FALSE)
            case ops.Binary(fn=fn, left=left, right=right) if left.type.dtype == BOOL:
                one, two = self.truth(left), self.truth(right)
                match fn:
                    case ops.BinaryFn.AND:
                        self.decide(op.result, All((one, two)))
                    case ops.BinaryFn.OR:
                        self.decide(op.result, Some((one, two)))
                    case ops.BinaryFn.EQ:
                        self.decide(op.result, _same(one, two))
                    case ops.BinaryFn.XOR | ops.BinaryFn.NE:
                        self.decide(op.result, negation(_same(one, two)))
                    case _:
                        pass
            case ops.Binary(fn=fn, left=left, right=right) if fn in _COMPARISONS and is_whole(left.type.dtype):
                if left.type.rank <= 1 and not {left, right} & self.inexact:
                    self.decide(op.result, _COMPARISONS[fn](self.term(left), self.term(right)))
            case ops.Unary(fn=ops.UnaryFn.NOT, operand=operand):
                self.decide(op.result, negation(self.truth(operand)))
            case ops.Broadcast(operand=operand) if operand.type.rank == 0:
                self.decide(op.result, self.truth(operand))
            case ops.Take(operand=operand, index=index) if operand.type.rank == 1:
                place = self.term(index)
                self.decide(op.result, changed(self.truth(operand), lambda term: at_lane(term, place)))
            case _:
                pass

    def _whole(self, op: ops.PureOp, where: Where) -> None:
        """An index, an entry or an integer."""
        exact = self._exact(op, where)
        dtype = op.result.type.dtype
        if exact is not None and (exact.weight > MOST_ATOMS or self._multiplies_remainders(op)):
            for operand in [operand for operand in ops.operands(op) if operand in self.terms]:
                self._name(operand)  # type: ignore[arg-type]
            exact = self._exact(op, where)
        if exact is None:
            if op.result not in self.terms:
                self.unknown(op.result, self._made_of(op) if dtype == INDEX else None)
            return
        bounds = self._bounds(op, exact)
        if dtype in (INDEX, ENTRY):
            if dtype == ENTRY and not bounds.within(START_LIMIT):
                self.account.demands.append(Fitting(op, exact, where, START_LIMIT))
            if not bounds.fits:
                self.account.demands.append(Fitting(op, exact, where))
            # It must fit, so what is computed from it starts from 64 bits.
            limited = bounds & integer_range(INDEX)
            if limited.low <= limited.high:
                self.terms[op.result], self.bounds[op.result] = exact, limited
            else:  # never: a number that grows with each operation would soon take all memory
                self.unknown(op.result)
        elif integer_range(dtype).contains(bounds):
            self.terms[op.result] = exact
        else:
            stored = self.unknown(op.result, None, depends_on_data(exact), exact)
            limits = integer_range(dtype)
            wrapped = [below(exact, limits.low)] if bounds.low < limits.low else []
            wrapped += [below(number(limits.high), exact)] if bounds.high > limits.high else []
            self.define(op.result, Some((*wrapped, equals(stored, exact))))

    def bound(self, value: Tile) -> Range:
        """Where the values of an index or integer lie."""
        known = self.bounds.get(value)
        if value.type.rank > 1:
            return known or integer_range(value.type.dtype)
        bounds = self.ranges.of(self.term(value))
        return bounds if known is None else bounds & known

    def _fit_only(self, op: ops.PureOp, where: Where) -> None:
        """The interval of an index tile with several axes, which has no term; it must fit 64 bits too."""
        match op:
            case ops.Binary(fn=fn, left=left, right=right):
                bounds = of_binary(fn, self.bound(left), self.bound(right))
            case ops.Unary(fn=ops.UnaryFn.NEG | ops.UnaryFn.ABS, operand=operand):
                part = self.bound(operand)
                bounds = part | Range(-part.high, -part.low)
            case ops.Select(yes=yes, no=no):
                bounds = self.bound(yes) | self.bound(no)
            case ops.Cast(operand=operand) if is_whole(operand.type.dtype):
                bounds = self.bound(operand)
                if not bounds.within(START_LIMIT):
                    limit = number(START_LIMIT)
                    stands = of(Unknown(f"{operand.name} as an index", bounds.low, bounds.high, data=True))
                    self.account.demands.append(Bounded(op, "a 64-bit number", stands, -limit, limit, where, operand))
                    bounds = Range(-START_LIMIT, START_LIMIT)
            case ops.Reduce() | ops.CumSum():
                bounds = self._gathered(op)
            case _:
                bounds = self._made_of(op)
        reach = self._reach(op, bounds)
        if reach.weight > MOST_ATOMS:
            reach = self._element(op.result, bounds, (reach,))
        self.reaches[op.result] = reach
        if bounds.fits:
            self.bounds[op.result] = bounds
        else:
            # Limited to less than 64 bits, so that what is computed from it starts within the limit.
            self.account.demands.append(Fitting(op, reach, where, CARRIED_LIMIT))
            self.bounds[op.result] = CARRIED

    def _made_of(self, op: ops.PureOp) -> Range:
        """The interval of an index that holds what other tiles hold: they fit, whatever else is known of them."""
        whole = integer_range(INDEX)
        match op:
            case ops.Broadcast() | ops.Expand() | ops.Permute() | ops.Reshape() | ops.Slice() | ops.Take():
                return self.bound(op.operand) & whole
            case ops.Fill(operand=operand, value=value):
                return (self.bound(operand) | self.bound(value)) & whole
            case ops.Cat(operands=tiles):
                return self.hull(tiles) & whole
            case ops.Cast(operand=operand) if operand.type.dtype == ENTRY:
                return integer_range(ENTRY)
            case _:
                return whole

    def hull(self, values: Sequence[Tile]) -> Range:
        """Where any of some indices lies."""
        first, *others = map(self.bound, values)
        return reduce(Range.__or__, others, first)

    def _reach(self, op: ops.PureOp, bounds: Range) -> Term:
        """A term for an index tile with several axes, with a lane for each axis."""
        match op:
            case ops.Binary(fn=fn, left=left, right=right):
                one, two = self.reach(left), self.reach(right)
                exact = _polynomial(fn, one, two)
                if exact is None and fn in (ops.BinaryFn.FLOORDIV, ops.BinaryFn.CDIV):
                    exact = quotient(one, two) if fn is ops.BinaryFn.FLOORDIV else -quotient(-one, two)
                return self._element(op.result, bounds, (one, two, ZERO)) if exact is None else exact
            case ops.Unary(fn=ops.UnaryFn.NEG, operand=operand):
                return -self.reach(operand)
            case ops.Select(yes=yes, no=no):
                return self._element(op.result, bounds, (self.reach(yes), self.reach(no)))
            case ops.Broadcast() | ops.Expand() | ops.Permute() | ops.Reshape() | ops.Slice():
                term = self.term(op.operand) if op.operand.type.rank <= 1 else self.reach(op.operand)
                return relaned(term, op.result.name)
            case _:
                return self._element(op.result, bounds)

    def reach(self, value: Tile) -> Term:
        """Any element of an index tile with several axes."""
        if value not in self.reaches:
            self.reaches[value] = self._element(value, self.bound(value))
        return self.reaches[value]

    def _element(self, value: Tile, bounds: Range, hull: tuple[Term, ...] = ()) -> Term:
        """An element of which its interval is known alone. It has a lane, so that it is none that was moved."""
        name, known = f"{value.name} element", bounds & integer_range(INDEX)
        if hull:
            self.ranges.hulls[name] = hull
        return of(Unknown(name, known.low, known.high, data=True, args=(LANE,)))

    def _gathered(self, op: ops.Reduce | ops.CumSum) -> Range:
        """The interval of an index tile combined along an axis."""
        part, axis = self.bound(op.operand), op.operand.type.axes[op.axis]
        if isinstance(op, ops.CumSum) or op.fn is ops.ReduceFn.SUM:
            count = self.ranges.of(of_length(axis.length)).high
            return Range(min(0, part.low) * count, max(0, part.high) * count)
        if op.fn in (ops.ReduceFn.MAX, ops.ReduceFn.MIN):
            # Nothing combined is the least or the greatest number there is.
            is_empty = self.ranges.of(self.live(axis)).low < 1 and not self._is_never_empty(axis)
            return part | Range(-(1 << 63), (1 << 63) - 1) if is_empty else part
        return integer_range(INDEX)

    def _is_never_empty(self, axis: Axis) -> bool:
        match axis.tag:
            case WalkerTag(walker):
                return not walker.type.is_piece and self.walk(walker).origin is None
            case _:
                return False

    def _bounds(self, op: ops.PureOp, exact: Term) -> Range:
        """The interval of a result: the intersection of that of its term and that of the operation."""
        bounds = self.ranges.of(exact)
        match op:
            case ops.Binary(fn=fn, left=left, right=right):
                return bounds & of_binary(fn, self.bound(left), self.bound(right))
            case ops.Broadcast(operand=operand) | ops.Slice(operand=operand) | ops.Take(operand=operand):
                return bounds & self.bound(operand)
            case _:
                return bounds

    def _exact(self, op: ops.PureOp, where: Where) -> Term | None:
        """The result as an exact integer; None if it is not known as one."""
        match op:
            case ops.Constant(value=-1) if op.result.type.dtype == ENTRY:
                # An atom of its own: an entry that may be this is none for another reason than its tensor.
                self.unknown(op.result, Range(-1, -1), data=False)
                return None
            case ops.Constant(value=value):
                return of_length(value) if isinstance(value, Extent) else number(int(value))
            case ops.Extents(dimension=dimension, tensor=tensor, axis=axis):
                if dimension is not None:
                    return self.ranges.extent(dimension)
                return None if tensor is None else self.views[tensor].extents[axis]
            case ops.Start(walker=walker):
                return self.walk(walker).start
            case ops.Stop(walker=walker):
                return self.walk(walker).start + self.walk(walker).live
            case ops.Elements(walker=walker):
                return self.walk(walker).start + LANE
            case ops.Number(walker=walker):
                return self.walk(walker).number
            case ops.Iota():
                return LANE
            case ops.Group(index=index, dimension=dimension, into=into):
                return of(GroupOf(self.term(index), dimension, into))
            case ops.Unary(fn=ops.UnaryFn.NEG, operand=operand):
                return -self.term(operand)
            case ops.Unary(fn=ops.UnaryFn.ABS, operand=operand):
                return greatest(self.term(operand), -self.term(operand))
            case ops.Binary(fn=fn, left=left, right=right):
                return self._binary(op.result, fn, left, right)
            case ops.Select(condition=condition, yes=yes, no=no) if op.result.type.dtype == ENTRY:
                self.choose_entry(op.result, self.truth(condition), yes, no)
                return None
            case ops.Select(condition=condition, yes=yes, no=no):
                return self.chosen(op.result, self.truth(condition), self.term(yes), self.term(no))
            case ops.Cast(operand=operand):
                return self._cast(op, operand, where)
            case ops.Broadcast(operand=operand):
                return self._spread(op.result, operand)
            case ops.Slice(operand=operand, start=start):
                moved = LANE + of_length(start)
                self._keep_entry(op.result, operand, moved)
                return at_lane(self.term(operand), moved)
            case ops.Take(operand=operand, index=index) if operand.type.rank == 1:
                place = self.term(index)
                self._keep_entry(op.result, operand, place)
                return at_lane(self.term(operand), place)
            case ops.Reduce():
                return self._reduced(op, where)
            case ops.CumSum() if op.result.type.dtype == INDEX:
                bounds = self._gathered(op)
                if not bounds.fits:
                    self.account.demands.append(Fitting(op, None, where))
                self.unknown(op.result, bounds if bounds.fits else CARRIED)
                return None
            case _:
                return None

    def _binary(self, result: Tile, fn: ops.BinaryFn, left: Tile, right: Tile) -> Term | None:
        one, two = self.term(left), self.term(right)
        if left.type.dtype == ENTRY:
            return self._entry(result, fn, left, one, two)
        match fn:
            case ops.BinaryFn.FLOORDIV:
                return quotient(one, two)
            case ops.BinaryFn.MOD:
                return remainder(one, two)
            case ops.BinaryFn.CDIV:
                return -quotient(-one, two)
            case ops.BinaryFn.XOR:
                return exclusive(one, two)
            case ops.BinaryFn.MIN:
                return self._least(one, two)
            case ops.BinaryFn.MAX:
                return -self._least(-one, -two)
            case _:
                return _polynomial(fn, one, two)

    def _least(self, one: Term, two: Term) -> Term:
        gap = self.ranges.of(one - two)
        return one if gap.high <= 0 else two if gap.low >= 0 else least(one, two)

    def _entry(self, result: Tile, fn: ops.BinaryFn, left: Tile, one: Term, two: Term) -> Term | None:
        """An entry through `// c` or `% c`: none stays none."""
        self._keep_entry(result, left)
        match fn:
            case ops.BinaryFn.FLOORDIV:
                if two.number is None or two.number < 1:
                    self.inexact.add(result)
                return quotient(one, two)
            case ops.BinaryFn.MOD:
                self.inexact.add(result)
                return remainder(one, two)
            case _:
                return None

    def _keep_entry(self, result: Tile, source: Tile, lane: Term = LANE) -> None:
        """That the result is none where the source is, at the lane of it that it comes from."""
        if source.type.dtype == ENTRY and result.type.dtype == ENTRY:
            self.present[result] = tuple(
                changed(formula, lambda term: at_lane(term, lane)) for formula in self.presence(source)
            )
            if source in self.inexact:
                self.inexact.add(result)

    def choose_entry(self, result: Tile, when: Formula, yes: Tile, no: Tile) -> None:
        """One of two entries, by a condition."""
        if {yes, no} & self.inexact:
            self.unknown(result)
            return
        # Without the shortcut of `chosen`: that two entries are equal does not imply that they are not none.
        one, two = self.term(yes), self.term(no)
        entry = self.unknown(result, None, _is_data(one, two, when), hull=(one, two))
        self.define(result, Some((All((when, equals(entry, one))), All((negation(when), equals(entry, two))))))
        # That it is one of the two settles most questions, whatever the condition is made of.
        self.define(result, Some((equals(entry, one), equals(entry, two))))

    def chosen(self, result: Tile, when: Formula, yes: Term, no: Term) -> Term:
        """`yes` or `no`, by a condition."""
        if yes == no or self._always(when):
            return yes
        term = self.unknown(result, None, _is_data(yes, no, when), hull=(yes, no))
        ways = All((when, equals(term, yes))), All((negation(when), equals(term, no)))
        self.define(result, Some(ways))
        return term

    def _always(self, when: Formula) -> bool:
        """Whether intervals alone show that a comparison holds."""
        return isinstance(when, Fact) and not when.equal and self.ranges.of(when.term).high <= 0

    def _cast(self, op: ops.Cast, operand: Tile, where: Where) -> Term | None:
        source, target = operand.type.dtype, op.result.type.dtype
        if not is_whole(source) or operand in self.inexact:
            return None
        term = self.term(operand)
        if target == INDEX and source.is_integer and not self.ranges.of(term).within(START_LIMIT):
            limit = number(START_LIMIT)
            self.account.demands.append(Bounded(op, "a 64-bit number", term, -limit, limit, where, operand))
            clamped = self.unknown(op.result, Range(-START_LIMIT, START_LIMIT), depends_on_data(term), term)
            # Where the check fails the value is another, and nothing that depends on it is trusted.
            self.define(op.result, equals(clamped, term))
            return None
        return term

    def _spread(self, result: Tile, operand: Tile) -> Term | None:
        lane = LANE
        if operand.type.rank == 1 and operand.type.axes[0].length == 1 and result.type.axes[0].length != 1:
            lane = number(0)
        self._keep_entry(result, operand, lane)
        return at_lane(self.term(operand), lane)

    def _owe_place(self, op: ops.Take, where: Where) -> None:
        """That the place where a tile is taken is that of a live element."""
        place, live = self.term(op.index), self.live(op.operand.type.axes[op.axis])
        if place.number is None or live.number is None or not 0 <= place.number < live.number:
            what = f"the index of axis {op.axis} of a tile"
            self.account.demands.append(Bounded(op, what, place, number(0), live - 1, where, op.index))

    def _owe_elements(self, op: ops.Reduce, where: Where) -> None:
        if op.fn in (ops.ReduceFn.ARGMAX, ops.ReduceFn.ARGMIN):
            live = self.live(op.operand.type.axes[op.axis])
            self.account.demands.append(NotEmpty(op, live, where))

    def _reduced(self, op: ops.Reduce, where: Where) -> Term | None:
        self._owe_elements(op, where)
        live = self.live(op.operand.type.axes[op.axis])
        if op.fn in (ops.ReduceFn.ARGMAX, ops.ReduceFn.ARGMIN):
            length = op.operand.type.axes[op.axis].length
            position = self.unknown(op.result, Range(0, length if isinstance(length, int) else INDEX_LIMIT))
            # Where its branch is not taken, the axis may be empty, and nothing is known.
            self.define(op.result, Some((at_most(live, 0), All((at_most(-position, 0), below(position, live))))))
            return None
        if op.operand.type.dtype != INDEX:
            return None
        bounds = self._gathered(op)
        if not bounds.fits:
            self.account.demands.append(Fitting(op, None, where))
            bounds = CARRIED
        self.unknown(op.result, bounds)
        return None


def is_uniform(term: Term) -> bool:
    """Whether it is the same for all programs: computed from extents, scalars, and loads at uniform positions."""
    return not any(
        isinstance(atom, Start | Live | TileNumber | Lane) or (isinstance(atom, Unknown) and not atom.uniform)
        for atom in everything(term)
    )


def _polynomial(fn: ops.BinaryFn, one: Term, two: Term) -> Term | None:
    match fn:
        case ops.BinaryFn.ADD:
            return one + two
        case ops.BinaryFn.SUB:
            return one - two
        case ops.BinaryFn.MUL:
            return product(one, two)
        case _:
            return None


def _is_data(yes: Term, no: Term, when: Formula) -> bool:
    """Whether a choice depends on what tensors hold."""
    return any(map(depends_on_data, (yes, no, *terms(when))))


def _same(one: Formula, two: Formula) -> Formula:
    return Some((All((one, two)), All((negation(one), negation(two)))))
