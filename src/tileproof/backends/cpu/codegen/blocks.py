"""Operations in order: scalars are computed at once, tiles when they are asked for, and what needs all of a tile, or
writes, or repeats, is written as loops here and in the files this one calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tileproof.backends.cpu.gemm import micro_kernel as products
from tileproof.ir import ops
from tileproof.ir.types import Tile, Walker, number
from tileproof.language.dtypes import INDEX

from . import checks, elements, nests, reductions, stores
from .arithmetic import binary
from .emitter import Operand, Spot, memory, register
from .state import Buffer, Place, State, View


def block(s: State, body: ops.Block) -> None:
    """Writes the operations of a block."""
    for op in body.ops:
        execute(s, op)


def execute(s: State, op: ops.AnyOp) -> None:
    """Writes one operation."""
    match op:
        case ops.Store() | ops.Update():
            stores.store(s, op)
        case ops.Check():
            checks.check(s, op)
        case ops.Print():
            checks.show(s, op)
        case ops.Assume() | ops.Require():
            pass
        case ops.Shift():
            _shift(s, op)
        case ops.SplitAt():
            _split(s, op)
        case ops.TilesLoop() | ops.RangeLoop() | ops.While():
            _loop(s, op)
        case ops.If():
            _choose(s, op)
        case ops.Reduce() if s.uses.reduced.get(op.operand) is op:
            pass
        case ops.Reduce():
            reductions.reduce(s, op)
        case ops.Mma():
            products.product(s, op)
        case ops.CumSum():
            reductions.cumulate(s, op)
        case ops.Fold():
            reductions.fold(s, op, carried_loop)
        case ops.Scan():
            reductions.scan(s, op, carried_loop)
        case ops.Cat() | ops.Reshape():
            rearrange(s, op)
        case ops.Parallel() | ops.Join():
            raise AssertionError(f"{type(op).__name__} is not part of a program")
        case ops.Load() | ops.Get() if op.result.type.rank == 0:
            with s.e.nest():
                find = elements.load if isinstance(op, ops.Load) else elements.get
                s.scalars[op.result] = find(s, op, Spot(()))  # type: ignore[arg-type]
        case ops.Take() if op.result.type.rank == 0:
            with s.e.nest():  # what it is taken of may have been written just now
                s.scalars[op.result] = elements.scalar(s, op)
        case _ if op.result.type.rank == 0:
            s.scalars[op.result] = elements.scalar(s, op)  # type: ignore[arg-type]
        case _:
            s.lazy[op.result] = op
            if isinstance(op, ops.Load) and _is_row(s, op):
                s.rows.append(op)
            reduce = s.uses.reduced.get(op.result)
            if reduce is not None:
                reductions.reduce_and_keep(s, reduce)
            elif op.result in s.uses.kept:
                nests.materialise(s, op.result)
    for value in ops.results(op):
        s.define(value)


def _is_row(s: State, op: ops.Load) -> bool:
    """Whether a load takes all of the last axis, at elements of the parallel space that step along the one before."""
    *outer, last = op.picks
    return (
        isinstance(last, ops.Whole)
        and bool(outer)
        and all(isinstance(pick, ops.Along) and pick.walker in s.turns for pick in outer)
        and next(iter(s.turns)) is outer[-1].walker  # type: ignore[union-attr]
        and s.tensors[op.tensor].strides[-1] == "1"
    )


# Walkers and views.


def least(s: State, left: Operand, right: Operand) -> Operand:
    """The smaller of two positions."""
    return binary(s.e, ops.BinaryFn.MIN, left, right, INDEX, 1)


def _shift(s: State, op: ops.Shift) -> None:
    here, by = s.places[op.walker], s.scalars[op.by]
    extent = s.dimensions[op.walker.type.dimension]
    start, stop = s.plus(here.start, by), s.plus(here.stop, by)
    stop = least(s, stop, extent)
    s.places[op.result] = Place(start, stop, here.number, s.e.op("sub i64 {}, {}", stop, start))


def _split(s: State, op: ops.SplitAt) -> None:
    whole, at, axis = s.tensors[op.tensor], s.scalars[op.at], op.axis
    rest = s.e.op("sub i64 {}, {}", whole.extents[axis], at)
    moved = s.address(whole.pointer, [s.scaled(at, whole.strides[axis])], memory(whole.dtype))
    for tensor, pointer, extent in ((op.past, whole.pointer, at), (op.fresh, moved, rest)):
        extents = (*whole.extents[:axis], extent, *whole.extents[axis + 1 :])
        s.tensors[tensor] = View(pointer, extents, whole.strides, whole.dtype)


# Loops. A scalar is carried in a register; a tile in one of two buffers, the other of which takes the next turn's.


def carried_loop(
    s: State,
    carried: Sequence[Tile],
    inits: Sequence[Tile],
    results: Sequence[Tile],
    drive: Callable[[Sequence[tuple[str, Operand]], Callable[[Operand, list[Operand]], list[Operand]]], list[Operand]],
    enter: Callable[[Operand], None],
    body: ops.Block,
) -> None:
    """A loop that carries values. `drive` opens it, `enter` gives the values of a turn that are not carried."""
    firsts: list[tuple[str, Operand]] = []
    for value, init in zip(carried, inits, strict=True):
        if value.type.rank == 0:
            firsts.append((register(value.type.dtype), s.scalars[init]))
        else:
            first, second = s.buffer(value.type), s.buffer(value.type)
            nests.fill(s, first, init, nests.last_long(init), elements.natural_lane(s, init))
            firsts += [("ptr", first.pointer), ("ptr", second.pointer)]
    layouts = {value: s.buffer_layout(value.type) for value in carried if value.type.rank}
    outside = len(s.e.levels)

    def turn(variable: Operand, now: list[Operand]) -> list[Operand]:
        open_loops = list(s.loops)
        if len(s.e.levels) > outside:  # a single turn is written without a loop
            s.loops.append(len(s.e.levels) - 1)
        spare = _bind(s, carried, layouts, now)
        enter(variable)
        pending = {}
        for value, handed_on in zip(carried, body.yields, strict=True):
            if value in spare and handed_on not in pending and handed_on.type.rank:
                pending[handed_on] = spare[value]
                s.slots[handed_on] = value
        saved, s.destinations = s.destinations, {**s.destinations, **pending}
        block(s, body)
        s.destinations = saved
        s.loops = open_loops
        return _handed_on(s, carried, spare, body.yields)

    lasts = drive(firsts, turn)
    _bind(s, results, {r: layouts[v] for r, v in zip(results, carried, strict=True) if v.type.rank}, lasts)


def _bind(
    s: State, values: Sequence[Tile], layouts: dict[Tile, Buffer], now: Sequence[Operand]
) -> dict[Tile, Buffer]:
    """Gives values their registers and buffers; returns the spare buffers."""
    spare, left = {}, list(now)
    for value in values:
        s.define(value)
        if value.type.rank == 0:
            s.scalars[value] = left.pop(0)
        else:
            layout = layouts[value]
            s.buffers[value] = Buffer(left.pop(0), layout.strides, layout.dtype)
            spare[value] = Buffer(left.pop(0), layout.strides, layout.dtype)
    return spare


def _handed_on(s: State, carried: Sequence[Tile], spare: dict[Tile, Buffer], yields: Sequence[Tile]) -> list[Operand]:
    following: list[Operand] = []
    for value, handed_on in zip(carried, yields, strict=True):
        if value.type.rank == 0:
            following.append(s.scalars[handed_on])
            continue
        now, other = s.buffers[value].pointer, spare[value].pointer
        buffer = s.buffers.get(handed_on)
        if buffer is not None and buffer.pointer == now and buffer.strides == s.buffers[value].strides:
            following += [now, other]
            continue
        if buffer is None or buffer.pointer != other:
            nests.fill(s, spare[value], handed_on, nests.last_long(handed_on), elements.natural_lane(s, handed_on))
        following += [other, now]
    return following


def _loop(s: State, op: ops.TilesLoop | ops.RangeLoop | ops.While) -> None:
    match op:
        case ops.TilesLoop(walker=walker):
            start = "0" if op.start is None else s.scalars[op.start]
            extent = s.dimensions[walker.type.dimension]
            stop = extent if op.stop is None else least(s, extent, s.scalars[op.stop])
            size = 1 if walker.type.size is None else number(walker.type.size)
            divided = s.specialization.divided
            is_whole = op.stop is None and op.start is None and (walker.type.dimension, size) in divided

            def enter_tile(here: Operand) -> None:
                s.places[walker] = tile_place(s, walker, here, start, stop, is_whole)
                s.define(walker)

            carried_loop(
                s, op.carried, op.inits, op.results,
                lambda firsts, turn: s.e.loop(start, stop, size, turn, firsts), enter_tile, op.body,
            )  # fmt: skip
        case ops.RangeLoop(variable=variable):
            first, stop, step = (s.scalars[value] for value in (op.start, op.stop, op.step))
            length = s.e.op("sub i64 {}, {}", stop, first) if first != "0" else stop
            count = length if step == "1" else binary(s.e, ops.BinaryFn.CDIV, length, step, INDEX, 1)

            def enter_number(here: Operand) -> None:
                s.scalars[variable] = s.plus(first, s.scaled(here, step))
                s.define(variable)

            carried_loop(
                s, op.carried, op.inits, op.results,
                lambda firsts, turn: s.e.loop("0", count, 1, turn, firsts), enter_number, op.body,
            )  # fmt: skip
        case ops.While(test=test):
            layouts = {value: s.buffer_layout(value.type) for value in op.carried if value.type.rank}

            def holds(now: list[Operand]) -> Operand:
                _bind(s, op.carried, layouts, now)
                block(s, test)
                return s.scalars[test.yields[0]]

            carried_loop(
                s, op.carried, op.inits, op.results,
                lambda firsts, turn: s.e.until(firsts, holds, lambda now: turn("0", now)), lambda _: None, op.body,
            )  # fmt: skip


def tile_place(
    s: State, walker: Walker, here: Operand, start: Operand, stop: Operand, is_whole: bool
) -> Place:
    """The tile of a walk that begins at `here`."""
    size = 1 if walker.type.size is None else number(walker.type.size)
    end = s.plus(here, str(size))
    if not is_whole and size > 1:
        end = least(s, end, stop)
    live = str(size) if is_whole or size == 1 else s.e.op("sub i64 {}, {}", end, here)
    gone = here if start == "0" else s.e.op("sub i64 {}, {}", here, start)
    turn = gone if size == 1 else s.e.op(f"udiv i64 {{}}, {size}", gone)
    return Place(here, end, turn, live)


def _choose(s: State, op: ops.If) -> None:
    buffers = {result: s.buffer(result.type) for result in op.results if result.type.rank}

    def arm(body: ops.Block) -> Callable[[], list[Operand]]:
        def written() -> list[Operand]:
            block(s, body)
            handed_on = []
            for result, value in zip(op.results, body.yields, strict=True):
                if result.type.rank == 0:
                    handed_on.append(s.scalars[value])
                else:
                    lane = nests.last_long(value)
                    nests.fill(s, buffers[result], value, lane, elements.natural_lane(s, value))
            return handed_on

        return written

    scalars = [result for result in op.results if result.type.rank == 0]
    types = [register(result.type.dtype) for result in scalars]
    values = s.e.branch(s.scalars[op.condition], arm(op.then), arm(op.orelse), types)
    s.scalars.update(zip(scalars, values, strict=True))
    s.buffers.update(buffers)


def rearrange(s: State, op: ops.Cat | ops.Reshape) -> None:
    """Writes a tile into scratch memory in its new order."""
    if isinstance(op, ops.Cat):
        _cat(s, op)
    else:
        _reshape(s, op)


def _cat(s: State, op: ops.Cat) -> None:
    buffer, begin = s.destination(op.result), 0
    for operand in op.operands:
        def visit(spot: Spot, operand: Tile = operand, begin: int = begin) -> None:
            moved = s.plus(spot.coords[op.axis], str(begin))
            coords = (*spot.coords[: op.axis], moved, *spot.coords[op.axis + 1 :])
            target = Spot(coords, spot.lane, spot.lanes, spot.mask)
            nests.put(s, buffer, target, elements.at(s, operand, spot))

        lane = nests.last_long(op.result)
        with s.e.nest():
            nests.sweep(s, s.lives(operand.type), lane, visit)
        begin += number(operand.type.axes[op.axis].length)
    s.buffers[op.result] = buffer


def _reshape(s: State, op: ops.Reshape) -> None:
    """All axes are full: the elements are laid out row by row without padding, and read in the new shape."""
    tile = op.operand.type
    count = 1
    for axis in tile.axes:
        count *= number(axis.length)
    amount = (count + s.lanes) * (tile.dtype.bits // 8)
    packed = Buffer(s.allocate(amount), _steps([number(axis.length) for axis in tile.axes]), tile.dtype)
    if tile.rank == 0:
        nests.put(s, packed, Spot(()), s.scalars[op.operand])
    else:
        lane = tile.rank - 1 if number(tile.axes[-1].length) > 1 else None
        with s.e.nest():
            nests.sweep(
                s, s.lives(tile), lane, lambda spot: nests.put(s, packed, spot, elements.at(s, op.operand, spot))
            )
    target = op.result.type
    reshaped = Buffer(packed.pointer, _steps([number(axis.length) for axis in target.axes]), tile.dtype)
    if target.rank == 0:
        with s.e.nest():
            s.scalars[op.result] = elements.from_buffer(s, reshaped, Spot(()))
    else:
        s.buffers[op.result] = reshaped


def _steps(lengths: list[int]) -> tuple[int, ...]:
    steps, step = [], 1
    for length in reversed(lengths):
        steps.append(step)
        step *= max(length, 1)
    return tuple(reversed(steps))
