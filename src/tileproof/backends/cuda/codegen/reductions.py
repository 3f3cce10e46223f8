"""Reductions, folds and scans along an axis.

Dead lanes are replaced by what changes nothing before they are combined. The function of a fold or scan is the user's:
it is associative, but its operands may not change places, and Tile IR promises no order in which its own `reduce` and
`scan` combine. So neighbours are combined in a tree that is written here. A function that is not computed element by
element is applied to one lane after another, in a loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Final, TypeAlias

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.types import I32, I64, Number, Predicate, Value
from tileproof.backends.cuda.tileir.types import Tile as TileOf
from tileproof.backends.integers import bounds, is_signed
from tileproof.ir import ops
from tileproof.ir.ops import BinaryFn, Block, Combiner, ReduceFn
from tileproof.ir.types import Tile, TileType
from tileproof.ir.walk import walk
from tileproof.language.dtypes import DType

from .arithmetic import binary, quotient
from .conversions import cast
from .state import State
from .state import number as length
from .tiles import element_of, like, shape_of, spread

Run: TypeAlias = Callable[[State, Block], None]
"""Writes the operations of a block."""
_COMBINES: Final = {
    ReduceFn.SUM: BinaryFn.ADD, ReduceFn.MEAN: BinaryFn.ADD, ReduceFn.MAX: BinaryFn.MAX, ReduceFn.MIN: BinaryFn.MIN,
    ReduceFn.ANY: BinaryFn.OR, ReduceFn.ALL: BinaryFn.AND,
}  # fmt: skip
_NEVER: Final = 2**31 - 1
"""The position of a dead lane: behind all that live."""
_FEW: Final = 64
"""Up to so many lanes are told apart at once."""
_ELEMENTWISE: Final = (ops.Unary, ops.Binary, ops.Select, ops.Cast, ops.Bitcast, ops.Constant, ops.Broadcast)


def _neutral_if_any(fn: BinaryFn, dtype: DType) -> bool | int | float | None:
    """What leaves every other value as it is under a function whose operands may change places, if there is one."""
    if dtype.kind == "bool":
        return {BinaryFn.OR: False, BinaryFn.AND: True, BinaryFn.XOR: False}.get(fn)
    match fn:
        case BinaryFn.ADD:
            return 0.0 if dtype.is_float else 0
        case BinaryFn.MUL:
            return 1.0 if dtype.is_float else 1
        case BinaryFn.MAX:
            return -math.inf if dtype.is_float else bounds(dtype)[0]
        case BinaryFn.MIN:
            return math.inf if dtype.is_float else bounds(dtype)[1]
        case BinaryFn.OR | BinaryFn.XOR:
            return 0
        case BinaryFn.AND:
            return -1
        case _:
            return None


def reduce(s: State, op: ops.Reduce) -> None:
    """Live elements combined along an axis, which is dropped."""
    if op.fn in (ReduceFn.ARGMAX, ReduceFn.ARGMIN):
        s.put(op.result, _extreme(s, op))
        return
    source, target = op.operand.type.dtype, op.result.type.dtype
    if op.fn in (ReduceFn.SUM, ReduceFn.MEAN, ReduceFn.ANY):
        value = cast(s.b, s.cleaned(op.operand, op.axis), source, target, s.version)
    else:
        value = s.get(op.operand)
        mask = s.mask(op.operand.type, op.axis)
        if mask is not None:
            value = s.b.select(mask, value, like(s.b, value, _neutral(_COMBINES[op.fn], source)))
    total = _combined(s.b, _COMBINES[op.fn], value, op.axis, target)
    s.put(op.result, _mean(s, op, total) if op.fn is ReduceFn.MEAN else total)


def _combined(b: Builder, fn: BinaryFn, value: Value, axis: int, dtype: DType) -> Value:
    """All lanes along an axis under a function whose operands may change places and be grouped in any way."""
    if shape_of(value)[axis] == 1:
        shape = shape_of(value)
        return b.reshape(value, (*shape[:axis], *shape[axis + 1 :]))
    region = b.reduce((value,), axis, (_neutral(fn, dtype),))
    with b.inside(region.block):
        element, so_far = region.arguments
        b.yield_(binary(b, fn, so_far, element, dtype))
    return region.results[0]


def _neutral(fn: BinaryFn, dtype: DType) -> bool | int | float:
    number = _neutral_if_any(fn, dtype)
    assert number is not None, f"{fn} has no neutral value"
    return number


def _mean(s: State, op: ops.Reduce, total: Value) -> Value:
    """The sum divided by how many there are: by a product where that is known."""
    live = s.live(op.operand.type.axes[op.axis])
    if isinstance(live, int):
        return s.b.mulf(total, like(s.b, total, 1 / live if live else math.inf))
    count = s.b.itof(live, element_of(total), signed=True)
    return quotient(s.b, total, spread(s.b, count, shape_of(total)), op.result.type.dtype)


def cumsum(s: State, op: ops.CumSum) -> None:
    """Sums of all elements up to each: dead lanes come behind the live ones, and are in no live sum."""
    source, target = op.operand.type.dtype, op.result.type.dtype
    value = cast(s.b, s.get(op.operand), source, target, s.version)
    region = s.b.scan((value,), op.axis, (_neutral(BinaryFn.ADD, target),))
    with s.b.inside(region.block):
        element, so_far = region.arguments
        s.b.yield_(binary(s.b, BinaryFn.ADD, so_far, element, target))
    s.put(op.result, region.results[0])


# The position of the largest or the smallest.


def _extreme(s: State, op: ops.Reduce) -> Value:
    """NaN before all, then the first: pairs of a key, which orders as the elements do, and a position."""
    b, of = s.b, op.operand.type.dtype
    is_max = op.fn is ReduceFn.ARGMAX
    value = s.get(op.operand)
    keys = _ordered(b, value, is_max) if of.is_float else value
    signed = of.is_float or is_signed(of)
    least, greatest = _limits(element_of(keys), signed)
    worst = least if is_max else greatest
    places = s.lanes(shape_of(value), op.axis)
    mask = s.mask(op.operand.type, op.axis)
    if mask is not None:
        keys = b.select(mask, keys, like(b, keys, worst))
        places = b.select(mask, places, like(b, places, _NEVER))
    region = b.reduce((keys, places), op.axis, (worst, _NEVER))
    with b.inside(region.block):
        key, best, place, first = region.arguments
        better = b.cmpi(Predicate.GREATER if is_max else Predicate.LESS, key, best, signed=signed)
        equal = b.cmpi(Predicate.EQUAL, key, best, signed=signed)
        earlier = b.cmpi(Predicate.LESS, place, first, signed=True)
        wins = b.ori(better, b.andi(equal, earlier))
        b.yield_(b.select(wins, key, best), b.select(wins, place, first))
    return b.exti(region.results[1], I64, signed=True)


def _limits(element: Number, signed: bool) -> tuple[int, int]:
    half = 2 ** (element.bits - 1)
    return (-half, half - 1) if signed else (0, 2 * half - 1)


def _ordered(b: Builder, x: Value, is_max: bool) -> Value:
    """Integers in the order of floats; both zeros are 0, and NaN is beyond what is looked for."""
    integer = Number(f"i{element_of(x).bits}")
    bits = b.bitcast(x, integer)
    least, greatest = _limits(integer, True)
    sign = b.shri(bits, like(b, bits, integer.bits - 1), signed=True)
    key = b.xori(bits, b.andi(sign, like(b, bits, greatest)))
    zero = b.cmpf(Predicate.EQUAL, x, like(b, x, 0.0))
    key = b.select(zero, like(b, key, 0), key)
    nan = b.cmpf(Predicate.NOT_EQUAL, x, x, ordered=False)
    return b.select(nan, like(b, key, greatest if is_max else least), key)


# Folds and scans.


def fold(s: State, op: ops.Fold, run: Run) -> None:
    """Live elements along an axis, which is dropped, combined in order; the identities where there are none."""
    values = [s.get(operand) for operand in op.operands]
    swaps = _swapping(op.combiner)
    if swaps is not None:
        _reduced(s, op, values, swaps)
    elif _is_elementwise(op.combiner):
        _tree(s, op, values, run)
    else:
        live = s.live_value(op.operands[0].type.axes[op.axis])
        firsts = _parts(s.b, values, op.axis, 0)
        totals = [_or_identity(s, op, first, one) for first, one in zip(firsts, op.identities, strict=True)]
        loop = s.b.for_(_number(s.b, 1), live, _number(s.b, 1), totals)
        with s.inside(loop.block):
            place, *carried = loop.arguments
            s.b.continue_(*_applied(s, op.combiner, carried, _parts(s.b, values, op.axis, place), run))
        _put(s, op.results, loop.results)


def scan(s: State, op: ops.Scan, run: Run) -> None:
    """Live elements up to each, along an axis, combined in order."""
    values = [s.get(operand) for operand in op.operands]
    if _is_elementwise(op.combiner):
        _spread_out(s, op, values, run)
        return
    live = s.live_value(op.operands[0].type.axes[op.axis])
    # The first lane stands as it is, and dead lanes may hold anything: the operands are what is written over.
    firsts = _parts(s.b, values, op.axis, 0)
    loop = s.b.for_(_number(s.b, 1), live, _number(s.b, 1), (*firsts, *values))
    with s.inside(loop.block):
        place, *carried = loop.arguments
        combined = _applied(s, op.combiner, carried[: len(values)], _parts(s.b, values, op.axis, place), run)
        shape = shape_of(values[0])
        here = s.b.cmpi(Predicate.EQUAL, s.lanes(shape, op.axis), spread(s.b, place, shape), signed=True)
        pairs = zip(combined, carried[len(values) :], strict=True)
        kept = [s.b.select(here, _repeated(s.b, new, shape, op.axis), old) for new, old in pairs]
        s.b.continue_(*combined, *kept)
    _put(s, op.results, loop.results[len(values) :])


def _put(s: State, results: Sequence[Tile], values: Sequence[Value]) -> None:
    for result, value in zip(results, values, strict=True):
        s.put(result, value)


# Functions computed element by element.


def _is_elementwise(combiner: Combiner) -> bool:
    return all(isinstance(op, _ELEMENTWISE) for op in walk(combiner.body))


def _swapping(combiner: Combiner) -> list[BinaryFn] | None:
    """The functions that the parts of a combiner are, if each is one that takes its operands in any order."""
    producers = {op.result: op for op in combiner.body.ops if isinstance(op, ops.Binary)}
    functions = []
    for left, right, result in zip(combiner.left, combiner.right, combiner.body.yields, strict=True):
        op = producers.get(result)
        if op is None or {op.left, op.right} != {left, right} or _neutral_if_any(op.fn, left.type.dtype) is None:
            return None
        functions.append(op.fn)
    return functions


def _reduced(s: State, op: ops.Fold, values: Sequence[Value], fns: Sequence[BinaryFn]) -> None:
    mask = s.mask(op.operands[0].type, op.axis)
    for value, fn, identity, result in zip(values, fns, op.identities, op.results, strict=True):
        of = result.type.dtype
        if mask is not None:
            value = s.b.select(mask, value, like(s.b, value, _neutral(fn, of)))
        s.put(result, _or_identity(s, op, _combined(s.b, fn, value, op.axis, of), identity))


def _tree(s: State, op: ops.Fold, values: Sequence[Value], run: Run) -> None:
    """Neighbours combined, and what comes of them, until one is left. Dead lanes are behind all others: skipped."""
    axis = op.operands[0].type.axes[op.axis]
    live = None if s.is_whole(axis) else s.live_value(axis)
    shape = shape_of(values[0])
    before, lanes, after = math.prod(shape[: op.axis]), shape[op.axis], math.prod(shape[op.axis + 1 :])
    step = 1
    while lanes > 1:
        lanes //= 2
        pairs = [s.b.reshape(value, (before, lanes, 2, after)) for value in values]
        left, right = ([_lane(s.b, pair, 2, side) for pair in pairs] for side in (0, 1))
        values = _applied(_Lanes.within(s, shape_of(left[0])), op.combiner, left, right, run)
        if live is not None:
            line = s.b.iota(lanes, I32)
            place = s.b.addi(s.b.muli(line, like(s.b, line, 2 * step)), like(s.b, line, step))
            exists = s.b.cmpi(Predicate.LESS, place, spread(s.b, live, (lanes,)), signed=True)
            exists = s.b.broadcast(s.b.reshape(exists, (1, lanes, 1, 1)), shape_of(left[0]))
            values = [s.b.select(exists, both, one) for both, one in zip(values, left, strict=True)]
        step *= 2
    for value, identity, result in zip(values, op.identities, op.results, strict=True):
        total = s.b.reshape(value, (*shape[: op.axis], *shape[op.axis + 1 :]))
        s.put(result, _or_identity(s, op, total, identity))


def _or_identity(s: State, op: ops.Fold, total: Value, identity: Tile) -> Value:
    """What was folded, or the identity where there is nothing to fold."""
    axis = op.operands[0].type.axes[op.axis]
    live = s.live(axis)
    if isinstance(live, int) and live > 0:
        return total
    some = s.b.cmpi(Predicate.GREATER, s.live_value(axis), _number(s.b, 0), signed=True)
    shape = shape_of(total)
    return s.b.select(spread(s.b, some, shape), total, spread(s.b, s.get(identity), shape))


def _spread_out(s: State, op: ops.Scan, values: Sequence[Value], run: Run) -> None:
    """Neighbours are combined as in `_tree`; on the way back each pair is told what all before it come to."""
    shape = shape_of(values[0])
    before, lanes, after = math.prod(shape[: op.axis]), shape[op.axis], math.prod(shape[op.axis + 1 :])
    levels: list[tuple[list[Value], list[Value]]] = []
    sums = values
    while lanes > 1:
        lanes //= 2
        pairs = [s.b.reshape(value, (before, lanes, 2, after)) for value in sums]
        left, right = ([_lane(s.b, pair, 2, side) for pair in pairs] for side in (0, 1))
        levels.append((left, right))
        if lanes > 1:
            sums = _applied(_Lanes.within(s, shape_of(left[0])), op.combiner, left, right, run)
    # What comes before each pair; anything for the first, which has nothing before it.
    sooner: list[Value] | None = None
    while levels:
        left, right = levels.pop()
        inner = _Lanes.within(s, shape_of(left[0]))
        upto = left
        if sooner is not None:
            line = s.b.iota(inner.shape[1], I32)
            is_first = s.b.cmpi(Predicate.EQUAL, line, like(s.b, line, 0), signed=True)
            is_first = s.b.broadcast(s.b.reshape(is_first, (1, inner.shape[1], 1, 1)), inner.shape)
            combined = _applied(inner, op.combiner, sooner, left, run)
            upto = [s.b.select(is_first, one, both) for one, both in zip(left, combined, strict=True)]
        if levels:
            sooner = _interleaved(s.b, left if sooner is None else sooner, upto)
        else:
            values = _interleaved(s.b, upto, _applied(inner, op.combiner, upto, right, run))
    _put(s, op.results, [s.b.reshape(value, shape) for value in values])


def _interleaved(b: Builder, even: Sequence[Value], odd: Sequence[Value]) -> list[Value]:
    """Lanes of two tiles in turn; their axes are what is before the lanes, these, 1, and what is behind."""
    before, lanes, _, after = shape_of(even[0])
    joined = [b.cat(one, other, 2) for one, other in zip(even, odd, strict=True)]
    return [b.reshape(value, (before, 2 * lanes, 1, after)) for value in joined]


@dataclass
class _Lanes(State):
    """A state in which every tile has one shape, because all there is done element by element."""

    shape: tuple[int, ...] = ()

    def padded(self, tile: TileType) -> tuple[int, ...]:
        """The shape, whatever the tile."""
        return self.shape

    @classmethod
    def within(cls, s: State, shape: tuple[int, ...]) -> _Lanes:
        """A state for the body of a combiner."""
        inner = s.scalarised()
        return cls(**{one.name: getattr(inner, one.name) for one in fields(State)}, shape=shape)


def _applied(s: State, combiner: Combiner, left: Sequence[Value], right: Sequence[Value], run: Run) -> list[Value]:
    """What the combiner makes of two values of a kind."""
    _put(s, combiner.left, left)
    _put(s, combiner.right, right)
    run(s, combiner.body)
    return [s.get(result) for result in combiner.body.yields]


# Single lanes.


def take(s: State, op: ops.Take) -> None:
    """What a tile has at one place along an axis; at the last if there is no such place: a check has failed then."""
    value, number = s.get(op.operand), s.numbers.get(op.index)
    place: Value | int = int(number) if number is not None else 0
    if number is None:
        index = s.get(op.index)
        last = max(length(op.operand.type.axes[op.axis].length) - 1, 0)
        place = s.b.trunci(s.b.mini(index, s.b.constant(TileOf(I64), last), signed=False), I32)
    (part,) = _parts(s.b, [value], op.axis, place)
    s.put(op.result, part, clean=value in s.clean)


def _number(b: Builder, number: int) -> Value:
    return b.constant(TileOf(I32), number)


def _lane(b: Builder, value: Value, axis: int, place: Value | int) -> Value:
    """What a tile has at one place along an axis, which is then 1 long."""
    shape = shape_of(value)
    before, lanes, after = shape[:axis], shape[axis], shape[axis + 1 :]
    if isinstance(place, Value) and lanes > _FEW:
        # To cut one of many takes the assembler very long: first a row of lanes is cut, then one of the row.
        row = 1 << lanes.bit_length() // 2
        rows = b.reshape(value, (*before, lanes // row, row, *after))
        line = _lane(b, rows, axis, b.divi(place, _number(b, row), signed=False))
        line = b.reshape(line, (*before, row, *after))
        return _lane(b, line, axis, b.andi(place, _number(b, row - 1)))
    if lanes == 1:
        return value
    at = place if isinstance(place, Value) else _number(b, place)
    places = [at if one == axis else _number(b, 0) for one in range(len(shape))]
    return b.extract(value, places, (*before, 1, *after))


def _parts(b: Builder, values: Sequence[Value], axis: int, place: Value | int) -> list[Value]:
    """What tiles have at one place along an axis, which is dropped."""
    shape = shape_of(values[0])
    return [b.reshape(_lane(b, value, axis, place), (*shape[:axis], *shape[axis + 1 :])) for value in values]


def _repeated(b: Builder, part: Value, shape: Sequence[int], axis: int) -> Value:
    """A tile without an axis at every place along it."""
    return b.broadcast(b.reshape(part, (*shape[:axis], 1, *shape[axis + 1 :])), tuple(shape))
