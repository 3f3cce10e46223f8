"""A kernel as a module of Tile IR, and how a launch hands it its arguments.

All entries of a module take the same parameters, whose order `parameters` knows. The entries run one after another:

- `begin` puts the identity into tensors that programs combine into;
- `before`, where there are no programs, makes the checks that come before all of them;
- the kernel itself, one block for each program, or as many blocks as the GPU holds where the schedule is persistent;
- `after`, where pieces are joined, does the same for each combination of the other walkers;
- `finish` brings what was combined in a wider type back into the tensor's own.

Powers of two that a program takes as 0 where they are below the normal numbers of f32. `tp.where(x < -126, 0,
tp.exp2(x))` is what a GPU has one instruction for; a power with results below as well takes three more: a comparison,
and a product ahead of it and behind it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.encode import encode
from tileproof.backends.cuda.tileir.types import I8, I32, I64, Pointer, Predicate, Rounding, Value
from tileproof.backends.cuda.tileir.types import Module as TileModule
from tileproof.backends.cuda.tileir.types import Tile as TileOf
from tileproof.ir import ops
from tileproof.ir.types import INDEX_LIMIT, AnyValue, Tile, Walker
from tileproof.ir.walk import walk
from tileproof.language.dtypes import F32
from tileproof.language.kernel import Schedule
from tileproof.lowering.product_sums import single_products
from tileproof.lowering.split_join import Body, recomputed, split_at_join

from . import blocks, positions
from .checks import sites_of
from .combined_tensors import is_prepared, write_back, write_beginnings
from .indices import tile_place
from .layout_specialization import MANY, Specialization
from .memory_order import Dependent, Order, first_ops, ordered, read_early, verify, wait_first
from .parameters import Parameters, Slot, What
from .positions import Position, known, narrow_value
from .state import Place, State, Target, bytes_of, number, stored
from .stores import shadow
from .tiles import shape_of
from .wrapping_sums import Sums

_LEAST: Final = -126
"""The exponent of the least normal number of f32."""


def flushed(kernel: ops.KernelIR) -> dict[Tile, Tile]:
    """For the result of each such choice, what 2 is raised to."""
    makers: dict[AnyValue, ops.AnyOp] = {}
    for op in walk(kernel.body):
        makers.update(dict.fromkeys(ops.results(op), op))
    powers: dict[Tile, Tile] = {}
    for op in makers.values():
        if isinstance(op, ops.Select) and op.result.type.dtype == F32 and _number(makers, op.yes) == 0:
            match makers.get(op.no), makers.get(op.condition):
                case ops.Unary(fn=ops.UnaryFn.EXP2, operand=x), ops.Binary(fn=ops.BinaryFn.LT, left=y, right=least):
                    if x is y and _number(makers, least) == _LEAST:
                        powers[op.result] = x
                case _:
                    pass
    return powers


def _number(makers: dict[AnyValue, ops.AnyOp], tile: Tile) -> bool | int | float | None:
    """The number that a tile is in every lane, if the program says so."""
    match makers.get(tile):
        case ops.Constant(value=bool() | int() | float() as value):
            return value
        case ops.Broadcast(operand=operand) | ops.Expand(operand=operand):
            return _number(makers, operand)
        case _:
            return None


_PIECE_ALIGNMENT: Final = 128
_SMALL: Final = 2048
"""The most bytes of a tile that a program which uses the copy engine reads early; of others there is no such limit."""
_MUCH: Final = 1 << 30
_AT_ONCE: Final = 16384
"""The most elements of pieces that a join reads at a time."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One launch of an entry. `grid` says how many blocks: `programs`, `left` or `elements`; `none` is one block where
    there is no program, for the checks that come before all of them."""

    entry: str
    grid: str
    is_early: bool = False
    """Whether it may begin while the stage ahead of it runs: it waits for that one itself, before it does anything."""


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel as bytecode, and what a launch must know of it."""

    bytecode: bytes
    slots: tuple[Slot, ...]
    stages: tuple[Stage, ...]
    piece: int
    """Bytes that each program leaves for the join."""
    shadows: tuple[tuple[str, str], ...]
    """Tensors that are combined in another array, and the type of that."""
    is_persistent: bool
    is_serial: bool
    has_report: bool
    is_dependent: bool


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be compiled."""

    kernel: ops.KernelIR
    specialization: Specialization
    target: Target
    schedule: Schedule
    name: str
    serial: bool = False
    """Whether programs run one after another, so that sums of floats come out the same."""
    dependent: Dependent | None = None
    """Whether it may begin before the kernel ahead of it has ended, and what it may read by then."""

    def lowered(self) -> Program:
        """The bytecode."""
        return _Writing(self).program()

    def read_first(self) -> frozenset[str]:
        """The tensors that programs read before they wait for the kernel ahead."""
        return frozenset(op.tensor.name for op in _Writing(self).first if isinstance(op, ops.Load | ops.Get))


class _Writing:
    def __init__(self, request: Request) -> None:
        kernel, specialization, target = request.kernel, request.specialization, request.target
        dependent = request.dependent
        self.kernel, self.specialization, self.target, self.name = kernel, specialization, target, request.name
        self.schedule = schedule = request.schedule
        if dependent is not None and not target.can_wait:
            version = ".".join(map(str, target.version))
            raise ValueError(f"no kernel can begin early on {target.arch} with bytecode {version}")
        self.is_serial, self.is_dependent = request.serial, dependent is not None
        self.frozen = frozenset() if dependent is None else read_early(kernel, dependent)
        self.early = 0 if dependent is None else dependent.first
        self.is_persistent = request.serial or schedule.persistent or specialization.is_many
        self.parallel = next((op for op in kernel.body.ops if isinstance(op, ops.Parallel)), None)
        self.walkers: tuple[Walker, ...] = () if self.parallel is None else self.parallel.walkers
        self.segments = {} if self.parallel is None else {each.walker: each for each in self.parallel.segments}
        self.outer = ops.Block(tuple(op for op in kernel.body.ops if not isinstance(op, ops.Parallel)))
        self.body: Body | None = None if self.parallel is None else split_at_join(self.parallel)
        self.sites = {id(op): place for place, op in enumerate(sites_of(kernel))}
        self.parameters = Parameters(kernel, specialization, self.parallel, checked=bool(self.sites))
        self.coordinate, self.counter = self.parameters.coordinate, self.parameters.counter
        self.combined = [tensor for tensor in self.parameters.tensors if tensor.type.access.combines]
        self.passed: Mapping[What, Value] = {}
        self.piece = 0
        self.turns: dict[Walker, Value] = {}
        self.transposed = blocks.transposed_loads(kernel.body)
        self.fused = single_products(kernel.body)
        self.sums, self.flushed = Sums(kernel, specialization), flushed(kernel)

    def program(self) -> Program:
        entries = []
        stages = []

        def add(
            suffix: str, grid: str, write: Callable[[State], None], *, hinted: bool = False, is_early: bool = False
        ) -> None:
            name = self.name + suffix
            s = self._state(name, hinted, is_early)
            write(s)
            s.b.return_()
            if self.is_dependent or is_early:
                verify(s.b.entry, [self.passed["pointer", tensor.name] for tensor in self.frozen])
            entries.append(s.b.entry)
            stages.append(Stage(name, grid, is_early))

        if any(map(is_prepared, self.combined)):
            add("_begin", "elements", lambda s: write_beginnings(s, self.parameters, self.passed, self.combined))
        if self.body is not None and any(isinstance(op, ops.Check) for op in walk(self.outer)):
            add("_before", "none", lambda s: blocks.run(s, self.outer))
        add("", "programs", self._main, hinted=True)
        if self.body is not None and self.body.join is not None:
            body, join = self.body, self.body.join
            add("_after", "left", lambda s: self._after(s, body, join), is_early=self.target.can_wait)
        shadows = [(tensor, shadow(tensor.type)) for tensor in self.combined]
        kept = tuple((tensor.name, wide.name) for tensor, wide in shadows if wide is not None)
        if kept:
            add("_finish", "elements", lambda s: write_back(s, self.parameters, self.passed, self.combined))
        bytecode = encode(TileModule(tuple(entries), "tileproof"), self.target.version)
        return Program(
            bytecode, self.parameters.slots, tuple(stages), self.piece, kept,
            self.is_persistent, self.is_serial, bool(self.sites), self.is_dependent,
        )  # fmt: skip

    # What every entry begins with.

    def _state(self, name: str, hinted: bool, is_early: bool) -> State:
        types = self.parameters.types
        builder = Builder(name, [TileOf(of) for of in types.values()], self._hints() if hinted else {})
        order = Order(builder, ordered(self.kernel, combined=self.is_serial))
        s = State(builder, self.kernel, self.specialization, self.target, self.schedule, order, self.coordinate)
        s.at(self.kernel.span)
        builder.entry.location = builder.location
        s.sites, s.transposed, s.fused, s.is_serial = self.sites, self.transposed, self.fused, self.is_serial
        s.sums, s.flushed = self.sums, self.flushed
        self.passed = dict(zip(types, builder.parameters, strict=True))
        self.parameters.define(s, self.passed)
        if self.is_dependent:
            order.frozen = self.frozen if self.first or not self.early else frozenset()
            if not (hinted and self.first):
                order.wait = wait_first(builder)
        elif is_early:
            order.wait = builder.gdc_wait()
        s.unknown = self.passed["programs",] if self.target.is_disguised else None
        return s

    def _hints(self) -> dict[str, dict[str, int | bool]]:
        settings: dict[str, int | bool] = {}
        if self.schedule.occupancy is not None:
            settings["occupancy"] = self.schedule.occupancy
        if self.schedule.cluster is not None and self.target.capability >= 90:
            settings["num_cta_in_cga"] = self.schedule.cluster
        if self.schedule.warps is not None:
            settings["num_worker_warps_per_cta"] = self.schedule.warps
        return {self.target.arch: settings} if settings else {}

    # The kernel itself.

    def _main(self, s: State) -> None:
        if self.body is None:
            s.point = s.splat(I64, (), 0)
            blocks.run(s, self.outer)
            return
        blocks.run(s, self.outer)
        body = self.body
        if body.join is not None and self.target.can_wait and not self.is_dependent:
            s.b.gdc_launch_dependents()  # what follows the join waits until all of this has ended

        def one(turn: Value) -> None:
            place = turn
            if self.schedule.reverse:
                last = s.b.subi(self.passed["programs",], s.splat(self.counter, (), 1))
                turn = s.b.subi(last, turn)
            self._enter(s, turn, self.walkers)
            s.point = self._point(s, self.walkers, {})
            self._run(s, place, body.before)
            if body.join is not None:
                self._leave(s, body.join, s.point)
            s.point = None

        self._each(s, self.passed["programs",], one)

    @cached_property
    def first(self) -> list[ops.AnyOp]:
        """What the first programs do before they wait for the kernel ahead."""
        if not self.early or self.body is None or self.is_persistent or self.segments or self.sites:
            return []
        if any(isinstance(op, ops.Load | ops.Get | ops.Store | ops.Update) for op in walk(self.outer)):
            return []
        if not self.schedule.tma:
            return first_ops(self.body.before, self.frozen, _MUCH)
        # A loop over tiles keeps as many of them in shared memory as fit there: there is no room for others.
        if any(isinstance(op, ops.TilesLoop) for op in walk(self.body.before)):
            return []
        # What the copy engine brings would have to go to registers, to be there on either path.
        return first_ops(self.body.before, self.frozen, _SMALL)

    def _run(self, s: State, place: Value, body: ops.Block) -> None:
        """A program; where it reads early, with the wait for the kernel ahead behind that. It begins in this place."""
        if self.first:
            self._read_first(s, place)
        read = {id(op) for op in self.first if isinstance(op, ops.Load | ops.Get)}
        for op in body.ops:
            if id(op) not in read:
                blocks.execute(s, op)

    def _read_first(self, s: State, place: Value) -> None:
        """The first programs read before the wait, the others behind it.

        The assembler moves no load into a branch or out of one, but moves others behind the wait.
        """
        results = [op.result for op in self.first if isinstance(op, ops.Load | ops.Get)]
        tiles = [s.transposed[result].result if result in s.transposed else result for result in results]
        types = [TileOf(s.element(tile.type.dtype), s.padded(tile.type)) for tile in tiles]
        is_first = s.b.cmpi(Predicate.LESS, place, s.splat(self.counter, (), self.early), signed=True)
        early = s.b.if_(is_first, types)
        clean: list[bool] = []
        with s.inside(early.then):
            read = self._first_tiles(s, tiles)
            clean = [value in s.clean for value in read]
            s.b.yield_(*read)
        with s.inside(early.orelse):
            s.b.yield_(*(s.b.constant(of, 0) for of in types))
        s.order.wait, s.order.frozen = wait_first(s.b), frozenset()
        late = s.b.if_(is_first, types)
        with s.inside(late.then):
            s.b.yield_(*early.results)
        with s.inside(late.orelse):
            s.b.yield_(*self._first_tiles(s, tiles))
        for tile, value, is_clean in zip(tiles, late.results, clean, strict=True):
            s.put(tile, value, clean=is_clean)

    def _first_tiles(self, s: State, tiles: Sequence[Tile]) -> list[Value]:
        """Does what may stand before the wait, and forgets it: what else it defines is made again where it is used."""
        kept = dict(s.positions)
        for op in self.first:
            blocks.execute(s, op)
        values = [s.get(tile) for tile in tiles]
        s.positions = kept
        return values

    def _each(self, s: State, total: Value, one: Callable[[Value], None]) -> None:
        """Runs the programs of a block: its own, or in a persistent schedule every so-many-th."""
        here = self._counted(s, s.b.get_tile_block_id()[0])
        if not self.is_persistent:
            one(here)
            return
        step = self._counted(s, s.b.get_num_tile_blocks()[0])
        tensors = list(dict.fromkeys(s.order.roots.values())) if self.is_serial else []
        loop = s.b.for_(here, total, step, s.order.handed(tensors))
        saved = dict(s.values)
        with s.b.inside(loop.block):
            chains = s.order.saved()
            s.order.take(tensors, loop.arguments[1:])
            one(loop.arguments[0])
            s.b.continue_(*s.order.handed(tensors))
            s.order.chains = chains
        s.values = saved
        s.order.take(tensors, loop.results)

    def _counted(self, s: State, value: Value) -> Value:
        return value if self.counter == I32 else s.b.exti(value, I64, signed=True)

    def _enter(self, s: State, program_: Value, walkers: Sequence[Walker]) -> None:
        """Puts walkers at their places of a point, the last of them the fastest."""
        turns: dict[Walker, Value] = {}
        rest = program_
        left = list(walkers)
        if self.schedule.group > 1 and len(left) >= 2:
            row, column = left[-2:]
            left = left[:-2]
            rest = self._grouped(s, rest, row, column, turns, is_only=not left)
        for place, walker in reversed(list(enumerate(left))):
            if place == 0:
                turns[walker] = rest
            else:
                count = self.passed["count", walker.name]
                turns[walker] = s.b.remi(rest, count, signed=True)
                rest = s.b.divi(rest, count, signed=True, rounding=Rounding.ZERO)
        self.turns = turns
        for walker in walkers:
            s.places[walker] = self._walked(s, walker, turns[walker])

    def _grouped(
        self, s: State, program_: Value, row: Walker, column: Walker, turns: dict[Walker, Value], *, is_only: bool
    ) -> Value:
        """Some rows of tiles together, column by column, so that neighbours read the same."""
        b, of = s.b, self.counter

        def divided(x: Value, y: Value) -> Value:
            return b.divi(x, y, signed=True, rounding=Rounding.ZERO)

        rows, columns = self.passed["count", row.name], self.passed["count", column.name]
        rest, here = program_, program_
        if not is_only:
            all_ = b.muli(rows, columns)
            rest, here = divided(program_, all_), b.remi(program_, all_, signed=True)
        group = s.splat(of, (), min(self.schedule.group, MANY))
        if self.schedule.group * MANY >= 2**31:
            # More rows than there are would make a product that does not fit.
            group = b.mini(group, rows, signed=True)
        together = b.muli(group, columns)
        first = b.muli(divided(here, together), group)
        tall = b.mini(b.subi(rows, first), group, signed=True)
        within = b.remi(here, together, signed=True)
        turns[row] = b.addi(first, b.remi(within, tall, signed=True))
        turns[column] = divided(within, tall)
        return rest

    def _walked(self, s: State, walker: Walker, turn: Value) -> Place:
        b = s.b
        if self.counter != self.coordinate:
            turn = b.exti(turn, I64, signed=True) if self.coordinate == I64 else b.trunci(turn, I32)
        if walker in self.segments:
            return self._segment(s, walker, turn)
        size = 1 if walker.type.size is None else number(walker.type.size)
        extent = s.dimensions[walker.type.dimension]
        is_even = extent.is_multiple_of(size) and not (walker.type.is_piece and size == 1)
        return tile_place(s, walker, turn, known(0), extent, is_even=is_even and extent.base != 0, is_edge=True)

    def _segment(self, s: State, walker: Walker, turn: Value) -> Place:
        """A row of the table that the launch made of the borders: start, stop, number, segment."""
        b = s.b
        wide = turn if self.coordinate == I64 else b.exti(turn, I64, signed=True)
        row = b.muli(wide, s.splat(I64, (), 4))
        table = self.passed["table", walker.name]
        columns = (b.offset(table, b.addi(row, s.splat(I64, (), place))) for place in range(4))
        start, stop, count, segment = (
            Position(b.load_ptr(column, token=s.order.wait)[0], reach=INDEX_LIMIT) for column in columns
        )
        s.put_position(self.segments[walker].index, segment)
        size = number(walker.type.size or 1)
        if walker.type.size is None:
            return Place(start, stop, count, 1)
        left = positions.minus(b, stop, start)
        assert left is not None
        live = narrow_value(b, positions.least(b, left, known(size)))
        return Place(start, stop, count, live)

    # The join.

    def _layout(self, s: State, join: ops.Join) -> list[tuple[Tile, int]]:
        """Where in what a piece leaves each operand begins."""
        layout, amount = [], 0
        for operand in join.operands:
            layout.append((operand, amount))
            own = math.prod(s.padded(operand.type)) * bytes_of(operand.type.dtype)
            amount += -(-own // _PIECE_ALIGNMENT) * _PIECE_ALIGNMENT
        self.piece = amount
        return layout

    def _piece_pointers(self, s: State, join: ops.Join, point: Value) -> list[Value]:
        """The addresses of what the piece of a point leaves for the join."""
        b = s.b
        layout = self._layout(s, join)
        base = b.addi(b.ptr_to_int(self.passed["space",]), b.muli(point, s.splat(I64, (), self.piece)))
        pointers = []
        for operand, first_byte in layout:
            shape = s.padded(operand.type)
            first = b.int_to_ptr(b.addi(base, s.splat(I64, (), first_byte)), Pointer(stored(operand.type.dtype)))
            first = b.assume_divisible(first, 16)
            if shape:
                count = math.prod(shape)
                offsets = b.reshape(b.iota(count, I32), shape)
                first = b.offset(s.spread(first, shape), offsets)
            pointers.append(first)
        return pointers

    def _leave(self, s: State, join: ops.Join, point: Value) -> None:
        for operand, places in zip(join.operands, self._piece_pointers(s, join, point), strict=True):
            value = s.get(operand)
            if operand.type.dtype.name == "bool":
                value = s.b.exti(value, I8, signed=False)
            s.b.store_ptr(places, value, token=s.order.wait)

    def _after(self, s: State, body: Body, join: ops.Join) -> None:
        left = [walker for walker in self.walkers if walker is not join.walker]
        blocks.run(s, self.outer)
        programs = self.passed["programs",]

        def one(turn: Value) -> None:
            self._enter(s, turn, left)
            every = programs if self.counter == I64 else s.b.exti(programs, I64, signed=True)
            s.point = s.b.addi(every, self._point(s, left, {}))
            blocks.run(s, recomputed(body.before, body.after, join.combiner.body))
            self._join(s, join)
            blocks.run(s, body.after)
            s.point = None

        pieces = self.passed["count", join.walker.name]
        total = s.b.divi(programs, pieces, signed=True, rounding=Rounding.ZERO) if self.is_persistent else programs
        self._each(s, total, one)

    def _join(self, s: State, join: ops.Join) -> None:
        """Combines what all pieces left, in order."""
        b = s.b
        pieces = self.passed["count", join.walker.name]

        def piece_at(piece: Value) -> list[Value]:
            point = self._point(s, self.walkers, {join.walker: piece})
            values = []
            for operand, places in zip(join.operands, self._piece_pointers(s, join, point), strict=True):
                value, _ = b.load_ptr(places, token=s.order.wait)
                if operand.type.dtype.name == "bool":
                    shape = s.padded(operand.type)
                    value = b.cmpi(Predicate.NOT_EQUAL, value, s.splat(I8, shape, 0), signed=False)
                values.append(value)
            return values

        def combined(left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
            saved = dict(s.values)
            for name, value in zip(join.combiner.left, left, strict=True):
                s.put(name, value)
            for name, value in zip(join.combiner.right, right, strict=True):
                s.put(name, value)
            blocks.run(s, join.combiner.body)
            values = [s.get(value) for value in join.combiner.body.yields]
            s.values = saved
            return values

        def number(value: int) -> Value:
            return s.splat(self.counter, (), value)

        # Several at a time, so that one waits for memory while the others do too; those past the last are left out.
        together = self._together(s, join)
        loop = b.for_(number(1), pieces, number(together), piece_at(number(0)))
        with b.inside(loop.block):
            first, *sofar = loop.arguments
            last = b.subi(pieces, number(1))
            places = [b.addi(first, number(more)) if more else first for more in range(together)]
            read = [piece_at(b.mini(place, last, signed=True) if more else place) for more, place in enumerate(places)]
            for more, (place, values) in enumerate(zip(places, read, strict=True)):
                now = combined(sofar, values)
                if more:
                    is_there = b.cmpi(Predicate.LESS_EQUAL, place, last, signed=True)
                    pairs = zip(now, sofar, strict=True)
                    now = [s.b.select(s.spread(is_there, shape_of(old)), new, old) for new, old in pairs]
                sofar = now
            b.continue_(*sofar)
        for result, value in zip(join.results, loop.results, strict=True):
            s.put(result, value)

    def _together(self, s: State, join: ops.Join) -> int:
        """How many pieces are read at a time: as many as registers have room for, one if combining can be noticed."""
        if any(isinstance(op, ops.Check | ops.Print) for op in walk(join.combiner.body)):
            return 1
        elements = sum(math.prod(s.padded(operand.type)) for operand in join.operands)
        return max(min(_AT_ONCE // max(elements, 1), 8), 1)

    def _point(self, s: State, walkers: Sequence[Walker], chosen: Mapping[Walker, Value]) -> Value:
        """The number of the point at which walkers are, the last of them the fastest; some are `given`."""
        b = s.b
        point: Value | None = None
        for walker in walkers:
            turn = chosen[walker] if walker in chosen else self.turns[walker]
            point = turn if point is None else b.addi(b.muli(point, self.passed["count", walker.name]), turn)
        if point is None:
            return s.splat(I64, (), 0)
        return point if self.counter == I64 else b.exti(point, I64, signed=True)
