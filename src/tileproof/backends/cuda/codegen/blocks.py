"""Operations in order: every one is written where it stands, but for loads that a loop repeats, which go before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import assert_never

from tileproof.backends.cuda.tileir.types import I32, I64, Predicate, Value
from tileproof.backends.cuda.tileir.types import Tile as TileOf
from tileproof.ir import ops
from tileproof.ir.types import Access, AnyValue, Named, Tile
from tileproof.ir.walk import walk
from tileproof.language.dtypes import INDEX

from . import arithmetic, checks, conversions, indices, loads, mma, positions, reductions, shape_operations, stores
from .positions import Position, base_value, known
from .state import State, number
from .tiles import element_of, shape_of


def run(s: State, block: ops.Block) -> None:
    """Writes the operations of a block."""
    for op in block.ops:
        execute(s, op)


def execute(s: State, op: ops.AnyOp) -> None:
    """Writes one operation."""
    s.at(op.span)
    match op:
        case ops.Constant(result=result):
            _constant(s, op, result)
        case (
            ops.Extents() | ops.Start() | ops.Stop() | ops.Elements() | ops.Number() | ops.Iota() | ops.Group()
        ):
            indices.source(s, op)
        case ops.Unary():
            s.put(op.result, arithmetic.unary(s.b, op.fn, s.get(op.operand), op.operand.type.dtype))
        case ops.Binary():
            if op.result not in s.fused and not indices.arithmetic(s, op):
                s.put(op.result, _binary(s, op))
        case ops.Select() if op.result in s.flushed:
            s.put(op.result, s.b.exp2(s.get(s.flushed[op.result]), ftz=True))
        case ops.Select():
            s.put(op.result, s.b.select(s.get(op.condition), s.get(op.yes), s.get(op.no)))
        case ops.Cast():
            if not indices.cast(s, op):
                value = s.get(op.operand)
                cast = conversions.cast(s.b, value, op.operand.type.dtype, op.result.type.dtype, s.version)
                s.put(op.result, cast, clean=value in s.clean)
        case ops.Bitcast():
            value = conversions.bitcast(s.b, s.get(op.operand), op.operand.type.dtype, op.result.type.dtype)
            s.put(op.result, value)
        case ops.Broadcast() | ops.Expand():
            if op.operand in s.numbers:
                s.numbers[op.result] = s.numbers[op.operand]
            if not indices.reshaped(s, op):
                shape_operations.broadcast(s, op) if isinstance(op, ops.Broadcast) else shape_operations.expand(s, op)
        case ops.Permute(operand=operand):
            if operand not in s.transposed:
                value = s.get(operand)
                shape_operations.permute(s, op)
                if value in s.clean:
                    s.clean.add(s.get(op.result))
        case ops.Reshape():
            shape_operations.reshape(s, op)
        case ops.Slice():
            shape_operations.slice_(s, op)
        case ops.Take():
            reductions.take(s, op)
        case ops.Cat():
            shape_operations.cat(s, op)
        case ops.Fill():
            shape_operations.fill(s, op)
        case ops.Reduce():
            reductions.reduce(s, op)
        case ops.CumSum():
            reductions.cumsum(s, op)
        case ops.Fold():
            reductions.fold(s, op, run)
        case ops.Scan():
            reductions.scan(s, op, run)
        case ops.Random():
            s.put(op.result, arithmetic.uniform(s.b, s.get(op.seed), s.get(op.offset)))
        case ops.Mma():
            mma.product(s, op)
        case ops.Load(result=result):
            transposed = s.transposed.get(result)
            value, is_clean = loads.load(s, op, None if transposed is None else transposed.order)
            s.put(result if transposed is None else transposed.result, value, clean=is_clean)
        case ops.Get():
            s.put(op.result, loads.get(s, op))
        case ops.Store():
            stores.store(s, op)
        case ops.Update():
            stores.update(s, op)
        case ops.Check():
            checks.check(s, op)
        case ops.Print():
            checks.show(s, op)
        case ops.Shift():
            indices.shift(s, op)
        case ops.SplitAt():
            indices.split(s, op)
        case ops.Assume() | ops.Require():
            pass
        case ops.TilesLoop():
            _tiles(s, op)
        case ops.RangeLoop():
            _range(s, op)
        case ops.While():
            _while(s, op)
        case ops.If():
            _choose(s, op)
        case ops.Parallel() | ops.Join():
            raise AssertionError(f"{type(op).__name__} is not part of a program")
        case _:
            assert_never(op)


def _binary(s: State, op: ops.Binary) -> Value:
    """Two operands; a product that is only added to something goes along with the sum, rounded once."""
    left, other = s.fused.get(op.left), s.fused.get(op.right)
    if left is not None and op.fn in (ops.BinaryFn.ADD, ops.BinaryFn.SUB):
        rest = s.get(op.right)
        rest = rest if op.fn is ops.BinaryFn.ADD else s.b.negf(rest)
        return s.b.fma(s.get(left.left), s.get(left.right), rest)
    if other is not None and op.fn in (ops.BinaryFn.ADD, ops.BinaryFn.SUB):
        one = s.get(other.left)
        one = one if op.fn is ops.BinaryFn.ADD else s.b.negf(one)
        return s.b.fma(one, s.get(other.right), s.get(op.left))
    apart = mma.sum_with_product(s, op)
    if apart is not None:
        return apart
    right = s.numbers.get(op.right)
    return arithmetic.binary(s.b, op.fn, s.get(op.left), s.get(op.right), op.left.type.dtype, right)


def _constant(s: State, op: ops.Constant, result: Tile) -> None:
    value = op.value
    assert isinstance(value, bool | int | float), f"{value} is not known"
    s.numbers[result] = value
    if result.type.dtype == INDEX and not s.scalar_region:
        s.put_position(result, known(int(value)))
    else:
        s.put(result, arithmetic.constant(s.b, result.type.dtype, s.padded(result.type), value), clean=value == 0)


def transposed_loads(body: ops.Block) -> dict[Tile, ops.Permute]:
    """Loads of which only the transpose is used: a view reads them so at no cost."""
    uses: dict[AnyValue, list[ops.AnyOp | None]] = {}
    loaded: set[AnyValue] = set()
    for block in _every_block(body):
        for op in block.ops:
            for value in ops.operands(op):
                uses.setdefault(value, []).append(op)
            if isinstance(op, ops.Load):
                loaded.add(op.result)
        for value in block.yields:
            uses.setdefault(value, []).append(None)
    loads: dict[Tile, ops.Permute] = {}
    for value in loaded:
        users = uses.get(value, [])
        if len(users) == 1 and isinstance(users[0], ops.Permute):
            loads[users[0].operand] = users[0]
    return loads


def _every_block(block: ops.Block) -> Iterator[ops.Block]:
    yield block
    for op in walk(block):
        yield from ops.blocks(op)


# Regions.


def _looped(
    s: State,
    op: ops.TilesLoop | ops.RangeLoop,
    bounds: tuple[Value, Value, Value],
    enter: Callable[[Value], None],
) -> None:
    """A counted loop, with what it carries and the tokens of what it touches."""
    ordered = s.order.touched([op.body])
    inits = [_hidden(s, s.get(init)) for init in op.inits]
    loop = s.b.for_(*bounds, [*inits, *s.order.handed(ordered)])
    count = len(inits)
    with s.inside(loop.block):
        for carried, value in zip(op.carried, loop.arguments[1:], strict=False):
            s.put(carried, value)
        s.order.take(ordered, loop.arguments[1 + count :])
        enter(loop.arguments[0])
        run(s, op.body)
        s.b.continue_(*(s.get(value) for value in op.body.yields), *s.order.handed(ordered))
    _results(s, op.results, loop.results, ordered)


def _hidden(s: State, value: Value, by: Value | None = None) -> Value:
    """A tile that a loop carries, if it must be so that the assembler cannot tell what is in it.

    `by` is a number of at least 0 of which it knows nothing.
    """
    shape = shape_of(value)
    by = s.unknown if by is None else by
    if by is None or not shape:
        return value
    b = s.b
    some = b.negi(b.mini(by, s.splat(element_of(by), (), 1), signed=True))
    least = some if element_of(some) == I32 else b.trunci(some, I32)
    always = b.cmpi(Predicate.GREATER_EQUAL, s.lanes(shape, len(shape) - 1), s.spread(least, shape), signed=True)
    return b.select(always, value, s.splat(element_of(value), shape, 1))


def _results(s: State, results: Sequence[Tile], values: Sequence[Value], ordered: Sequence[object]) -> None:
    for result, value in zip(results, values, strict=False):
        s.put(result, value)
    s.order.take(ordered, values[len(results) :])  # type: ignore[arg-type]


def _tiles(s: State, op: ops.TilesLoop) -> None:
    walker = op.walker
    size = 1 if walker.type.size is None else number(walker.type.size)
    start = known(0) if op.start is None else s.scalar(op.start)
    extent = s.dimensions[walker.type.dimension]
    stop = extent if op.stop is None else positions.least(s.b, extent, s.scalar(op.stop))
    is_even = start.is_multiple_of(size) and stop.is_multiple_of(size)
    early = _invariant(s, op)
    run(s, ops.Block(tuple(early)))
    hoisted = set(map(id, early))
    body = ops.Block(tuple(inner for inner in op.body.ops if id(inner) not in hoisted), op.body.yields)
    count = indices.turns(s, start, stop, size)

    def enter(turn: Value) -> None:
        s.places[walker] = indices.tile_place(
            s, walker, turn, start, stop, is_even=is_even, is_edge=op.stop is None
        )

    zero, one = (s.splat(s.coordinate, (), value) for value in (0, 1))
    loop = ops.TilesLoop(op.span, op.results, op.walker, op.start, op.stop, op.inits, op.carried, body)
    _looped(s, loop, (zero, count, one), enter)


def _invariant(s: State, loop: ops.TilesLoop) -> list[ops.AnyOp]:
    """Loads that every turn repeats, and what is made of them element by element.

    Only those that are inside by construction: a loop may have no turn, and then nothing is known of other indices.
    """
    variant: set[AnyValue] = {loop.walker, *loop.carried}
    for inner in walk(loop.body):
        variant.update(ops.results(inner))
        variant.update(_walkers(inner))
    early: list[ops.AnyOp] = []
    done: set[AnyValue] = set()
    for op in loop.body.ops:
        values = set(ops.operands(op))
        if any(value in variant and value not in done for value in values):
            continue
        match op:
            case ops.Load() if _is_fixed(s, op):
                pass
            case ops.Cast() | ops.Permute() | ops.Unary() if values & done:
                pass
            case _:
                continue
        early.append(op)
        done.update(ops.results(op))
    return early


def _walkers(op: ops.AnyOp) -> tuple[AnyValue, ...]:
    match op:
        case ops.TilesLoop(walker=walker, carried=carried):
            return (walker, *carried)
        case ops.RangeLoop(variable=variable, carried=carried):
            return (variable, *carried)
        case ops.While(carried=carried):
            return carried
        case _:
            return ()


def _is_fixed(s: State, op: ops.Load) -> bool:
    """Whether a load is inside whatever happens: each axis is walked by its own dimension, or taken whole."""
    if op.tensor.type.access is not Access.IN or not s.is_parameter(op.tensor):
        return False
    for pick, dimension in zip(op.picks, op.tensor.type.dimensions, strict=True):
        match pick:
            case ops.Along(walker) if dimension == Named(walker.type.dimension):
                pass
            case ops.Whole():
                pass
            case _:
                return False
    return True


def _range(s: State, op: ops.RangeLoop) -> None:
    start, stop, step = (s.scalar(value) for value in (op.start, op.stop, op.step))
    length = positions.minus(s.b, stop, start)
    assert length is not None
    if isinstance(length.base, int) and isinstance(step.base, int):
        numbers = range(0, length.base, step.base) if step.base else range(0)
        count = s.splat(I64, (), len(numbers))
    else:
        by = base_value(s.b, step)
        count = arithmetic.binary(s.b, ops.BinaryFn.CDIV, base_value(s.b, length), by, INDEX)

    def enter(turn: Value) -> None:
        gone = positions.times(s.b, Position(turn), step)
        assert gone is not None
        here = positions.plus(s.b, start, gone)
        assert here is not None
        s.put_position(op.variable, here)

    zero, one = (s.splat(I64, (), value) for value in (0, 1))
    _looped(s, op, (zero, count, one), enter)


def _while(s: State, op: ops.While) -> None:
    ordered = s.order.touched([op.test, op.body])
    inits = [*(_hidden(s, s.get(init)) for init in op.inits), *s.order.handed(ordered)]
    if s.unknown is not None:
        inits.append(s.splat(I32, (), 0))
    loop = s.b.loop(inits, [value.type for value in inits])
    count = len(op.inits)
    with s.inside(loop.block):
        for carried, value in zip(op.carried, loop.arguments, strict=False):
            s.put(carried, value)
        s.order.take(ordered, loop.arguments[count:])
        run(s, op.test)
        tokens = s.order.handed(ordered)
        turn = loop.arguments[len(inits) - 1 :] if s.unknown is not None else ()
        branch = s.b.if_(s.get(op.test.yields[0]))
        with s.b.inside(branch.then):
            s.b.yield_()
        with s.b.inside(branch.orelse):
            s.b.break_(*(s.get(value) for value in op.carried), *tokens, *turn)
        run(s, op.body)
        # What follows from the same numbers in every turn is hidden too, by the number of the turn.
        following = [_hidden(s, s.get(value), *turn) for value in op.body.yields]
        turns = [s.b.xori(one, s.splat(I32, (), 1)) for one in turn]
        s.b.continue_(*following, *s.order.handed(ordered), *turns)
    _results(s, op.results, loop.results, ordered)


def _choose(s: State, op: ops.If) -> None:
    ordered = s.order.touched([op.then, op.orelse])
    before = s.order.handed(ordered)
    types = [TileOf(s.element(result.type.dtype), s.padded(result.type)) for result in op.results]
    branch = s.b.if_(s.get(op.condition), [*types, *(token.type for token in before)])
    for block, body in ((branch.then, op.then), (branch.orelse, op.orelse)):
        with s.inside(block):
            s.order.take(ordered, before)
            run(s, body)
            s.b.yield_(*(s.get(value) for value in body.yields), *s.order.handed(ordered))
    _results(s, op.results, branch.results, ordered)
