"""A kernel as a module of LLVM IR, and how a launch hands it its arguments.

The arguments are one array of 64-bit words, the order of which `Words` knows. The functions of a module are jobs over a
range of items:

- `setup`, called once, tests the contracts of the kernel and what stands before its parallel space;
- `main` runs programs; of a kernel that combines into a tensor, each item is a share of the programs that has its own
  copy of the tensor, so that the result does not depend on threads;
- `after`, where pieces are joined, runs what follows the join, one item for each combination of the other walkers, or
  for each share of them if it combines into a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tileproof.analysis.premise_tensors import from_memory
from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.device.loaded_code import Code
from tileproof.backends.cpu.gemm import micro_kernel as products
from tileproof.backends.cpu.gemm.micro_kernel import shape_of
from tileproof.backends.cpu.target import Target
from tileproof.ir import ops
from tileproof.ir.ops import KernelIR
from tileproof.ir.types import Tensor, TensorType, Tile, TileType, Value, Walker, number
from tileproof.ir.walk import walk
from tileproof.lowering.split_join import Body, recomputed, split_at_join

from . import blocks, nests
from .conversions import software_f16, unpack
from .elements import natural_lane
from .emitter import Operand, Spot, memory, nbytes
from .materialization import Uses, hoisted, reused_tiles, uses_of
from .parameters import Candidate, Shown, Specialization, Words, candidates, sites_of
from .state import Buffer, Place, State, View


def tile_bytes(s: State, candidate: Candidate) -> int:
    """How much memory a packed tile takes."""
    shape = shape_of(s, candidate.product)
    count = shape.left_count if candidate.is_left else shape.right_count
    return -(-count * nbytes(shape.dtype) // 64) * 64


def place_of(s: State, candidate: Candidate) -> Operand:
    """Which of the packed tiles a program uses here."""
    index: Operand = "0"
    for pick, count in zip(candidate.load.picks, _counted(s, candidate), strict=True):
        match pick:
            case ops.Along(walker):
                here = s.places[walker].start if walker.type.is_each else s.places[walker].number
            case ops.At(at):
                here = s.scalars[at]
            case _:
                continue
        index = s.plus(s.scaled(index, count), here)
    return index


def _counted(s: State, candidate: Candidate) -> list[Operand]:
    """The number of places along each axis, in the program."""
    counts: list[Operand] = []
    for pick, extent in zip(candidate.load.picks, s.tensors[candidate.load.tensor].extents, strict=True):
        match pick:
            case ops.Along(walker) if walker.type.size is not None:
                step = number(walker.type.size)
                counts.append(s.e.op(f"udiv i64 {{}}, {step}", s.plus(extent, str(step - 1))))
            case ops.Whole():
                counts.append("1")
            case _:
                counts.append(extent)
    return counts


def pack(s: State, candidate: Candidate, base: Operand, item: Operand) -> None:
    """Packs the tile of one place."""
    rest = item
    load = candidate.load
    view = s.tensors[load.tensor]
    for axis, count in reversed(list(enumerate(_counted(s, candidate)))):
        pick = load.picks[axis]
        if isinstance(pick, ops.Whole):
            continue
        here = s.e.op("urem i64 {}, {}", rest, count)
        rest = s.e.op("udiv i64 {}, {}", rest, count)
        match pick:
            case ops.Along(walker):
                _enter(s, walker, here, view.extents[axis])
            case ops.At(index):
                s.scalars[index] = here
            case _:
                raise AssertionError("no candidate")
    for op in (load, *candidate.chain):
        s.lazy[op.result] = op
        s.define(op.result)
    shape = shape_of(s, candidate.product)
    place = s.address(base, [s.scaled(item, str(tile_bytes(s, candidate)))], "i8")
    fill = products.fill_left if candidate.is_left else products.fill_right
    with s.e.nest():
        fill(s, candidate.tile, shape, place)


def _enter(s: State, walker: Walker, turn: Operand, extent: Operand) -> None:
    step = 1 if walker.type.size is None else number(walker.type.size)
    here = s.scaled(turn, str(step))
    is_whole = (walker.type.dimension, step) in s.specialization.divided
    place = blocks.tile_place(s, walker, here, "0", extent, is_whole)
    s.places[walker] = Place(place.start, place.stop, turn, place.live)
    s.define(walker)


_PAGE = 4096
_ARGUMENTS = "ptr %args, ptr %arena, i64 %first, i64 %last"


@dataclass(frozen=True, slots=True)
class Module:
    """A kernel as text, and what a launch must know of it."""

    text: str
    code: Code
    """Without an object yet."""


def module(kernel: ops.KernelIR, specialization: Specialization, target: Target, name: str) -> Module:
    """The text of a kernel. Its functions are called `name` and what they do."""
    return _Writing(kernel, specialization, target, name).module()


class _Writing:
    def __init__(self, kernel: ops.KernelIR, specialization: Specialization, target: Target, name: str) -> None:
        self.kernel, self.specialization, self.target, self.name = kernel, specialization, target, name
        self.words = Words(kernel)
        self.sites = {id(op): number_ for number_, op in enumerate(sites_of(kernel))}
        self.globals: dict[str, str] = {}
        self.arena = self.piece = 0
        self.shown: dict[int, tuple[Shown, ...]] = {}
        self.outer = ops.Block(tuple(op for op in kernel.body.ops if not isinstance(op, ops.Parallel)))
        self.body = None if self.words.parallel is None else split_at_join(self.words.parallel)
        self.packs: list[tuple[int, int]] = []
        self.packed = [
            (place, candidate)
            for place, (candidate, is_chosen) in enumerate(zip(candidates(kernel), specialization.packed, strict=True))
            if is_chosen
        ]
        self.combines = any(
            isinstance(p.value.type, TensorType) and p.value.type.access.combines for p in kernel.parameters
        )

    def module(self) -> Module:
        functions = [*self._packing(), self._setup(), self._main()]
        if self.body is not None and self.body.join is not None:
            functions.append(self._after(self.body, self.body.join))
        dimensions = [key[1] for key in self.words.places if isinstance(key, tuple) and key[0] == "dimension"]
        if not self.target.has_f16c and any("half" in text for text in (*functions, *self.globals.values())):
            self.globals |= software_f16()
        tail = [*self.globals.values(), f"attributes #0 = {{ {self.target.attributes} }}"]
        is_ordered = any(isinstance(op, ops.Print) for op in walk(self.kernel.body))
        code = Code(
            self.name, b"", self.arena, self.piece, tuple(dimensions), self.shown, tuple(self.packs), is_ordered
        )
        return Module("\n\n".join([*functions, *tail]), code)

    # What every function begins with.

    def _state(self, used: Uses) -> State:
        s = State(self.kernel, self.target, self.specialization, used, from_memory(self.kernel))
        s.e.globals = self.globals
        s.sites, s.shown = self.sites, self.shown
        s.arena = _mid_page(s)
        s.record = self._word(s, "record", "ptr")
        s.printer = self._word(s, "printer", "ptr")
        tensors = 0
        for parameter in self.kernel.parameters:
            match parameter.value:
                case Value(type=TensorType()) as tensor:
                    s.tensors[tensor] = self._view(s, tensor, tensors)
                    tensors += 1
                case Value(type=TileType(dtype=dtype)) as scalar:
                    place = self._place(s, self.words.places[parameter.name])
                    bits = s.e.op(f"load {memory(dtype)}, ptr {{}}", place)
                    s.scalars[scalar] = unpack(s.e, bits, dtype, 1)
            s.define(parameter.value)
        s.dimensions = _Dimensions(self, s)
        return s

    def _view(self, s: State, tensor: Tensor, position: int) -> View:
        name, rank = tensor.name, len(tensor.type.dimensions)
        extents = tuple(self._word(s, (name, "extent", axis)) for axis in range(rank))
        strides = tuple(
            "1" if self.specialization.unit[position][axis] else self._word(s, (name, "stride", axis))
            for axis in range(rank)
        )
        pointer = self._word(s, (name, "pointer"), "ptr")
        return View(pointer, extents, strides, tensor.type.stored_as, self.specialization.stream[position])

    def _place(self, s: State, word: int) -> Operand:
        return s.e.op(f"getelementptr i64, ptr %args, i64 {word}")

    def _word(self, s: State, key: object, of: str = "i64") -> Operand:
        return s.e.op(f"load {of}, ptr {{}}", self._place(s, self.words.places[key]))

    def _done(self, s: State, what: str, result: str = "ret void", signature: str | None = None) -> str:
        self.arena = max(self.arena, s.scratch + _PAGE if s.scratch else 0)
        if "!0" in self.globals and self.target.is_x86:
            s.e.declare("llvm.x86.sse.sfence", "void")
            s.e.do("call void @llvm.x86.sse.sfence()")
        return s.e.function(f"{signature or f'void @{self.name}.{what}({_ARGUMENTS})'} #0", result)

    # The functions.

    def _packing(self) -> list[str]:
        """A function for each operand that is packed beforehand: an item is a place of its tile."""
        functions = []
        for place, candidate in self.packed:
            s = self._state(Uses())
            base = self._word(s, ("packed", place), "ptr")

            def turn(item: Operand, s: State = s, base: Operand = base) -> None:
                pack(s, candidate, base, item)  # noqa: B023 (written at once)

            s.e.each("%first", "%last", 1, turn)
            self.packs.append((place, tile_bytes(s, candidate)))
            functions.append(self._done(s, f"pack{place}"))
        return functions

    def _use_packed(self, s: State) -> None:
        for (place, candidate), (_, amount) in zip(self.packed, self.packs, strict=True):

            def where(s: State, place: int = place, candidate: Candidate = candidate, amount: int = amount) -> Operand:
                base = self._word(s, ("packed", place), "ptr")
                return s.address(base, [s.scaled(place_of(s, candidate), str(amount))], "i8")

            s.packed[candidate.product.result, candidate.is_left] = where

    def _setup(self) -> str:
        """Gives 0, or the number of the first contract that does not hold, counted from 1."""
        s = self._state(uses_of(self.outer))
        s.point = "-1"
        broken: Operand = "0"
        if self.words.parallel is not None:
            required = 0
            for op in self.outer.ops:
                blocks.execute(s, op)
                if isinstance(op, ops.Require):
                    required += 1
                    holds = s.scalars[op.condition]
                    is_first = s.e.op("and i1 {}, {}", s.e.op("xor i1 {}, true", holds),
                                      s.e.op("icmp eq i64 {}, 0", broken))  # fmt: skip
                    broken = s.e.op(f"select i1 {{}}, i64 {required}, i64 {{}}", is_first, broken)
        else:
            broken = self._contracts(s)
        return self._done(s, "setup", f"ret i64 {broken}", f"i64 @{self.name}.setup(ptr %args, ptr %arena)")

    def _contracts(self, s: State) -> Operand:
        """The contracts of a kernel that is one program: only what they need is computed."""
        required = [op for op in self.outer.ops if isinstance(op, ops.Require)]
        blocks.block(s, recomputed(self.outer, *(ops.Block((), (op.condition,)) for op in required)))
        broken: Operand = "0"
        for count, op in reversed(list(enumerate(required, 1))):
            broken = s.e.op(f"select i1 {{}}, i64 {{}}, i64 {count}", s.scalars[op.condition], broken)
        return broken

    def _main(self) -> str:
        inner = ops.Block(()) if self.body is None else self.body.before
        yielded = () if self.body is None or self.body.join is None else self.body.join.operands
        used = uses_of(ops.Block((*self.outer.ops, *inner.ops), yielded))
        same, inner = hoisted(inner, (each.index for each in self.words.segments.values()))
        used.kept |= reused_tiles(same, inner, self.target.caches.l2 // 2)
        s = self._state(used)
        self._use_packed(s)

        def points(first: Operand, last: Operand) -> None:
            if self.body is None:
                blocks.block(s, self.outer)
                return
            s.point = "-1"
            blocks.block(s, self.outer)
            blocks.block(s, same)

            def turn(point: Operand) -> None:
                s.point = point
                self._enter(s, point, self.words.walkers)
                assert self.body is not None
                blocks.block(s, inner)
                if self.body.join is not None:
                    self._leave(s, self.body.join, point)

            s.e.each(first, last, 1, turn)

        if not self.combines:
            points("%first", "%last")
            return self._done(s, "main")

        self._by_shares(s, self._word(s, "programs"), points)
        return self._done(s, "main")

    def _by_shares(self, s: State, count: Operand, points: Callable[[Operand, Operand], None]) -> None:
        """Items that are shares of so many programs, each with its own copies of what is combined into."""

        def share(number_: Operand) -> None:
            self._take_share(s, number_)
            shares = self._word(s, "shares")
            ends = [
                s.e.op("udiv i64 {}, {}", s.e.op("mul i64 {}, {}", count, of), shares)
                for of in (number_, s.plus(number_, "1"))
            ]
            points(*ends)

        s.e.each("%first", "%last", 1, share)

    def _take_share(self, s: State, number_: Operand) -> None:
        """Lets tensors that are combined into be the copies of one share."""
        for tensor, view in list(s.tensors.items()):
            if tensor.type.access.combines:
                base = self._word(s, (tensor.name, "pointer"), "ptr")
                away = s.e.op("mul i64 {}, {}", number_, self._word(s, (tensor.name, "share")))
                pointer = s.e.op("getelementptr i8, ptr {}, i64 {}", base, away)
                s.tensors[tensor] = View(pointer, view.extents, view.strides, view.dtype)

    def _enter(self, s: State, point: Operand, walkers: Sequence[Walker]) -> None:
        """Puts walkers at their places of a point, the last of them the fastest."""
        rest = point
        for position, walker in reversed(list(enumerate(walkers))):
            if position == 0:
                turn = rest
            else:
                count = self._word(s, (walker.name, "count"))
                turn = s.e.op("urem i64 {}, {}", rest, count)
                rest = s.e.op("udiv i64 {}, {}", rest, count)
            s.turns[walker] = turn
            s.places[walker] = self._walked(s, walker, turn)
            s.define(walker)

    def _walked(self, s: State, walker: Walker, turn: Operand) -> Place:
        if walker in self.words.segments:
            return self._segment(s, walker, turn)
        of = walker.type
        step = 1 if of.size is None else number(of.size)
        here = s.scaled(turn, str(step))
        extent = s.dimensions[of.dimension]
        place = blocks.tile_place(s, walker, here, "0", extent, (of.dimension, step) in self.specialization.divided)
        if of.is_piece and step == 1:
            # The one piece of an empty axis is empty.
            stop = blocks.least(s, s.plus(here, "1"), extent)
            return Place(here, stop, turn, s.e.op("sub i64 {}, {}", stop, here))
        return Place(place.start, place.stop, turn, place.live)

    def _segment(self, s: State, walker: Walker, turn: Operand) -> Place:
        """A row of the table that the launch made of the borders: start, stop, number, segment."""
        table = self._word(s, (walker.name, "table"), "ptr")
        row = s.e.op("getelementptr i64, ptr {}, i64 {}", table, s.scaled(turn, "4"))
        words = [s.e.op("load i64, ptr {}", s.e.op(f"getelementptr i64, ptr {{}}, i64 {n}", row)) for n in range(4)]
        start, stop, count, segment = words
        s.scalars[self.words.segments[walker].index] = segment
        s.define(self.words.segments[walker].index)
        return Place(start, stop, count, s.e.op("sub i64 {}, {}", stop, start))

    # The join.

    def _layout(self, s: State, join: ops.Join) -> list[tuple[Tile, int]]:
        """Where in what a piece leaves each operand begins."""
        layout, begin = [], 0
        for operand in join.operands:
            layout.append((operand, begin))
            count = 1
            if operand.type.rank:
                count = number(operand.type.axes[0].length) * s.buffer_layout(operand.type).strides[0] + s.lanes
            begin += -(-count * nbytes(operand.type.dtype) // 64) * 64
        self.piece = begin
        return layout

    def _piece_buffers(self, s: State, join: ops.Join, point: Operand) -> list[Buffer]:
        """What the piece of a point leaves for the join."""
        layout = self._layout(s, join)
        base = s.e.op("getelementptr i8, ptr {}, i64 {}", self._word(s, "space", "ptr"),
                      s.scaled(point, str(self.piece)))  # fmt: skip
        buffers = []
        for operand, begin in layout:
            like = s.buffer_layout(operand.type)
            buffers.append(Buffer(s.address(base, [str(begin)], "i8"), like.strides, like.dtype))
        return buffers

    def _leave(self, s: State, join: ops.Join, point: Operand) -> None:
        for operand, buffer in zip(join.operands, self._piece_buffers(s, join, point), strict=True):
            if operand.type.rank:
                nests.fill(s, buffer, operand, nests.last_long(operand), natural_lane(s, operand))
            else:
                nests.put(s, buffer, Spot(()), s.scalars[operand])

    def _after(self, body: Body, join: ops.Join) -> str:
        left = [walker for walker in self.words.walkers if walker is not join.walker]
        prelude = recomputed(body.before, body.after, join.combiner.body)
        ready = ops.Block((*self.outer.ops, *prelude.ops, join, *body.after.ops))
        s = self._state(uses_of(ready))

        def points(first: Operand, last: Operand) -> None:
            s.point = "-1"
            blocks.block(s, self.outer)

            def turn(program: Operand) -> None:
                s.point = s.plus(self._word(s, "programs"), program)
                self._enter(s, program, left)
                blocks.block(s, prelude)
                self._join(s, join, left)
                blocks.block(s, body.after)

            s.e.each(first, last, 1, turn)

        if self.words.combines_after:
            pieces = self._word(s, (join.walker.name, "count"))
            self._by_shares(s, s.e.op("udiv i64 {}, {}", self._word(s, "programs"), pieces), points)
        else:
            points("%first", "%last")
        return self._done(s, "after")

    def _join(self, s: State, join: ops.Join, left: Sequence[Walker]) -> None:
        """Combines what all pieces left, in order."""
        pieces = self._word(s, (join.walker.name, "count"))

        def bind(names: Sequence[Tile], piece: Operand) -> None:
            for name, buffer in zip(names, self._piece_buffers(s, join, self._point(s, join, piece)), strict=True):
                if name.type.rank:
                    s.buffers[name] = buffer
                else:
                    bits = s.e.here(f"load {memory(buffer.dtype)}, ptr {{}}", buffer.pointer)
                    s.scalars[name] = unpack(s.e, bits, buffer.dtype, 1)
                s.define(name)

        firsts = [Value(f"{result.name}.first", result.type) for result in join.results]
        bind(firsts, "0")
        blocks.carried_loop(
            s, join.combiner.left, firsts, join.results,
            lambda carried, turn: s.e.loop("1", pieces, 1, turn, carried),
            lambda piece: bind(join.combiner.right, piece), join.combiner.body,
        )  # fmt: skip

    def _point(self, s: State, join: ops.Join, piece: Operand) -> Operand:
        """The number of the point at which a piece ran."""
        point: Operand = "0"
        for walker in self.words.walkers:
            turn = piece if walker is join.walker else s.turns[walker]
            point = s.plus(s.e.op("mul i64 {}, {}", point, self._word(s, (walker.name, "count"))), turn)
        return point


def _mid_page(s: State) -> Operand:
    """Where scratch memory begins: in the middle of a page.

    A load waits for a store before it if both are at the same place of their pages, and arrays often begin at the start
    of one, so rows of theirs and of scratch memory would go side by side.
    """
    place = s.e.op(f"and i64 {{}}, {_PAGE - 1}", s.e.op("ptrtoint ptr {} to i64", "%arena"))
    away = s.e.op(f"and i64 {{}}, {_PAGE - 1}", s.e.op(f"sub i64 {_PAGE // 2}, {{}}", place))
    return s.e.op("getelementptr i8, ptr {}, i64 {}", "%arena", away)


class _Dimensions(dict[str, Operand]):
    """Extents of dimensions: a number where it is known, else a word of the arguments."""

    def __init__(self, writing: _Writing, s: State) -> None:
        super().__init__()
        self._writing, self._s = writing, s

    def __missing__(self, name: str) -> Operand:
        known = self._writing.kernel.static.get(name)
        if isinstance(known, int):
            return str(known)
        word = self._writing.words.dimension(name)
        return self._s.e.op("load i64, ptr {}", self._writing._place(self._s, word))


def compile_kernel(kernel: KernelIR, specialization: Specialization, target: Target, name: str) -> Code:
    """Machine code of a kernel; `name` is its own in this process and wherever it is loaded."""
    lowered = module(kernel, specialization, target, name)
    return replace(lowered.code, object=llvm.compile_object(lowered.text, target))
