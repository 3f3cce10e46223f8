"""Stores and updates: the loops that write a tile into a tensor.

Lanes go to neighbours in memory. Where positions come one by one from a tile of indices, elements are written one by
one in order, and those that are none are passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from tileproof.ir import ops
from tileproof.ir.types import Axis, Tile, number
from tileproof.language.dtypes import ENTRY, DType

from . import elements, nests
from .arithmetic import binary
from .conversions import cast, pack, unpack
from .emitter import Operand, Spot, memory, nbytes, suffix, vector
from .state import State, View

_LEAST_STREAMED = 256
"""Rows shorter than this are stored through the caches."""


def store(s: State, op: ops.Store | ops.Update) -> None:
    """Writes or combines the elements of a tile, unless a failed check forbids it."""
    if op.guard is None:
        _store(s, op)
    else:
        s.e.when(s.scalars[op.guard], partial(_store, s, op))


def _store(s: State, op: ops.Store | ops.Update) -> None:
    lane = _lane(s, op)
    natural = elements.natural_lane(s, op.value)
    is_transposed = op.value.type.rank > 1 and natural not in (None, lane) and op.value not in s.buffers
    with nests.laid_out(s, op.value) if is_transposed else nullcontext(), s.e.nest():
        _Writer(s, op, s.tensors[op.tensor], lane).walk(0, (), ())


def _lane(s: State, op: ops.Store | ops.Update) -> int | None:
    """The axis of the value whose elements become neighbours in memory."""
    axis = 0
    for pick, stride in zip(op.picks, s.tensors[op.tensor].strides, strict=True):
        if isinstance(pick, ops.At) or (isinstance(pick, ops.Along) and pick.walker.type.is_each):
            continue
        is_scattered = isinstance(pick, ops.Gather) and (
            _is_entry(pick.indices) or not elements.is_run(s, pick.indices)
        )
        if stride == "1" and not is_scattered:
            return axis
        axis += 1
    return None


@dataclass
class _Writer:
    s: State
    op: ops.Store | ops.Update
    view: View
    lane: int | None

    def walk(self, axis: int, coords: tuple[Operand, ...], terms: tuple[Operand, ...]) -> None:
        """Opens a loop for each axis of the tensor that has one, the one of the lanes last."""
        s = self.s
        if axis == len(self.op.picks):
            self._innermost(coords, terms)
            return
        pick, stride = self.op.picks[axis], self.view.strides[axis]
        following = partial(self.walk, axis + 1)
        match pick:
            case ops.At(index):
                position = s.scalars[index]
                self._unless_none(index, position, lambda: following(coords, (*terms, s.scaled(position, stride))))
                return
            case ops.Along(walker) if walker.type.is_each:
                following(coords, (*terms, s.scaled(s.places[walker].start, stride)))
                return
            case _:
                pass
        here = len(coords)
        base = self._base(pick)
        if here == self.lane:
            following((*coords, "0"), (*terms, *(s.scaled(term, stride) for term in base)))
            return

        def turn(place: Operand) -> None:
            if isinstance(pick, ops.Gather):
                position = elements.at(s, pick.indices, Spot((place,)))
                go = partial(following, (*coords, place), (*terms, s.scaled(position, stride)))
                self._unless_none(pick.indices, position, go)
            else:
                moved = (s.scaled(term, stride) for term in (*base, place))
                following((*coords, place), (*terms, *moved))

        s.e.each("0", s.live(self.op.value.type.axes[here]), 1, turn)

    def _base(self, pick: ops.Pick) -> tuple[Operand, ...]:
        """Where along an axis of the tensor the tile begins."""
        match pick:
            case ops.Along(walker):
                return (self.s.places[walker].start,)
            case ops.Window(start):
                return (str(number(start)),)
            case ops.Gather(indices) if elements.is_run(self.s, indices):
                return (elements.at(self.s, indices, Spot(("0",))),)
            case _:
                return ()

    def _unless_none(self, index: Tile, position: Operand, go: Callable[[], None]) -> None:
        if not _is_entry(index):
            go()
            return
        exists = self.s.e.op("icmp sge i64 {}, 0", position)
        self.s.e.when(exists, go)

    def _innermost(self, coords: tuple[Operand, ...], terms: tuple[Operand, ...]) -> None:
        s, lane = self.s, self.lane
        if lane is None:
            self._write(Spot(coords), terms, False)
            return
        axis = self.op.value.type.axes[lane]

        def step(here: Operand, w: int, mask: Operand | None, stream: bool = False) -> None:
            spot = Spot((*coords[:lane], here, *coords[lane + 1 :]), lane if w > 1 else None, w, mask)
            self._write(spot, (*terms, here), stream)
            if stream:
                self._fetch_ahead(axis, here)

        if self.view.stream and isinstance(self.op, ops.Store) and number(axis.length) >= _LEAST_STREAMED:
            self._stream(s.live(axis), terms, step)
        else:
            nests.run(s, s.live(axis), step)

    def _stream(self, live: Operand, terms: tuple[Operand, ...], step: Callable[..., None]) -> None:
        """Past the caches: vectors that begin where memory has its lines, and masked ones before and behind them."""
        s, bytes_ = self.s, nbytes(self.view.dtype)
        pointer = s.address(self.view.pointer, list(terms), memory(self.view.dtype))
        line = s.lanes * bytes_
        off = s.e.op(f"and i64 {{}}, {line - 1}", s.e.op("ptrtoint ptr {} to i64", pointer))
        missing = s.e.op(f"and i64 {{}}, {line - 1}", s.e.op(f"sub i64 {line}, {{}}", off))
        head = s.e.op(f"lshr i64 {{}}, {bytes_.bit_length() - 1}", missing)
        s.e.declare("llvm.smin.i64", "i64", "i64", "i64")
        first = s.e.op("call i64 @llvm.smin.i64(i64 {}, i64 {})", head, live)
        begins = s.e.op("icmp ne i64 {}, 0", first)

        s.e.when(begins, lambda: step("0", s.lanes, nests.before(s, "0", first, s.lanes)))
        nests.run(s, live, lambda here, w, mask: step(here, w, mask, mask is None), first=first)

    def _fetch_ahead(self, axis: Axis, here: Operand) -> None:
        """Asks for what the next program reads at the same place of its row, while this one waits for its stores."""
        s = self.s
        for load in s.rows:
            if load.result.type.axes != (axis,):
                continue
            view = s.tensors[load.tensor]
            last = len(load.picks) - 2
            terms = [here, view.strides[last]]
            for pick, stride in zip(load.picks[:-1], view.strides, strict=False):
                assert isinstance(pick, ops.Along)
                terms.append(s.scaled(s.places[pick.walker].start, stride))
            s.e.declare("llvm.prefetch.p0", "void", "ptr", "i32 immarg", "i32 immarg", "i32 immarg")
            place = s.address(view.pointer, terms, memory(view.dtype))
            s.e.do("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 2, i32 1)", place)

    def _write(self, spot: Spot, terms: tuple[Operand, ...], stream: bool) -> None:
        s, op, view = self.s, self.op, self.view
        value = elements.at(s, op.value, spot)
        pointer = s.address(view.pointer, list(terms), memory(view.dtype))
        if isinstance(op, ops.Update):
            value = cast(s.e, value, op.value.type.dtype, view.dtype, spot.lanes)
            value = self._combined(value, pointer, spot)
            _store_run(s, view, pointer, value, view.dtype, spot, False)
        else:
            _store_run(s, view, pointer, value, op.value.type.dtype, spot, stream)

    def _combined(self, value: Operand, pointer: Operand, spot: Spot) -> Operand:
        """What a `Sum`, `Max` or `Min` holds with a value taken in."""
        s, dtype, w = self.s, self.view.dtype, spot.lanes
        element = memory(dtype)
        of = vector(element, w)
        if spot.mask is None:
            bits = s.e.here(f"load {of}, ptr {{}}, align {nbytes(dtype)}", pointer)
        else:
            name = f"llvm.masked.load.{suffix(element, w)}.p0"
            truths = vector("i1", w)
            s.e.declare(name, of, "ptr", "i32 immarg", truths, of)
            template = f"call {of} @{name}(ptr {{}}, i32 {nbytes(dtype)}, {truths} {{}}, {of} zeroinitializer)"
            bits = s.e.here(template, pointer, spot.mask)
        old = unpack(s.e, bits, dtype, w)
        return binary(s.e, ops.COMBINED_BY[self.op.tensor.type.access], old, value, dtype, w)


def _store_run(s: State, view: View, pointer: Operand, value: Operand, dtype: DType, spot: Spot, stream: bool) -> None:
    """Writes lanes to neighbouring elements, or one element."""
    element, lanes = memory(view.dtype), spot.lanes
    of, align = vector(element, lanes), nbytes(view.dtype)
    bits = pack(s.e, cast(s.e, value, dtype, view.dtype, lanes), view.dtype, lanes)
    if spot.mask is not None:
        truths = vector("i1", lanes)
        name = s.e.declare(
            f"llvm.masked.store.{suffix(element, lanes)}.p0", "void", of, "ptr", "i32 immarg", truths
        )
        s.e.do(f"call void @{name}({of} {{}}, ptr {{}}, i32 {align}, {truths} {{}})", bits, pointer, spot.mask)
    elif stream:
        s.e.define("!0", lambda: "!0 = !{{i32 1}}".format())
        s.e.do(f"store {of} {{}}, ptr {{}}, align {align * lanes}, !nontemporal !0", bits, pointer)
    else:
        s.e.do(f"store {of} {{}}, ptr {{}}, align {align}", bits, pointer)


def _is_entry(indices: Tile) -> bool:
    """Whether a position may be none."""
    return indices.type.dtype == ENTRY
