"""Checks that stayed in a kernel, and `tp.print`.

A program whose check fails leaves a report where the launch looks for it, stores nothing more, and goes on to its end.
Of all reports that of the lowest program stays, whatever order they run in.
"""

from __future__ import annotations

from collections.abc import Callable

from tileproof.ir import ops
from tileproof.ir.types import Tile
from tileproof.language.dtypes import BOOL, ENTRY, I64

from . import elements, nests
from .conversions import cast
from .emitter import Operand, Spot, register, vector
from .lanes import fold_lanes, splat
from .parameters import Shown
from .state import State

REPORT = """define internal void @report(
    ptr %record, i64 %point, i64 %site, i64 %index, i64 %low, i64 %high
) noinline nounwind {
entry:
  br label %wait
wait:
  %taken = cmpxchg ptr %record, i64 0, i64 1 acquire monotonic
  %mine = extractvalue { i64, i1 } %taken, 1
  br i1 %mine, label %look, label %wait
look:
  %place = getelementptr i64, ptr %record, i64 1
  %before = load i64, ptr %place
  %first = icmp slt i64 %point, %before
  br i1 %first, label %write, label %done
write:
  store i64 %point, ptr %place
  %p2 = getelementptr i64, ptr %record, i64 2
  store i64 %site, ptr %p2
  %p3 = getelementptr i64, ptr %record, i64 3
  store i64 %index, ptr %p3
  %p4 = getelementptr i64, ptr %record, i64 4
  store i64 %low, ptr %p4
  %p5 = getelementptr i64, ptr %record, i64 5
  store i64 %high, ptr %p5
  br label %done
done:
  store atomic i64 0, ptr %record release, align 8
  ret void
}"""
"""A record is a lock, the program, the check, the index and its bounds."""


def check(s: State, op: ops.Check) -> None:
    """Whether every lane of an index is inside, or none; reported if not."""
    site = str(s.sites[id(op)])
    low, high = s.scalars[op.low], s.scalars[op.high]
    ok = "true" if op.ok is None else s.scalars[op.ok]
    with s.e.nest():
        wrong = _any(s, op.index, low, high)
        for entry in op.entries:
            wrong = s.e.op("and i1 {}, {}", wrong, s.e.op("xor i1 {}, true", _all_none(s, entry)))
        failed = s.e.op("and i1 {}, {}", wrong, ok)

        def report() -> None:
            s.e.define("report", lambda: REPORT)
            first = _first_wrong(s, op.index, low, high)
            s.e.do(f"call void @report(ptr {{}}, i64 {{}}, i64 {site}, i64 {{}}, i64 {{}}, i64 {{}})",
                   s.record, s.point, first, _long(s, op.low), _long(s, op.high))  # fmt: skip

        s.e.when(failed, report)
    s.scalars[op.result] = s.e.op("and i1 {}, {}", ok, s.e.op("xor i1 {}, true", wrong))


def _long(s: State, tile: Tile) -> Operand:
    return cast(s.e, s.scalars[tile], tile.type.dtype, I64, 1)


def _wrong(s: State, index: Tile, low: Operand, high: Operand, spot: Spot) -> Operand:
    """Which lanes are outside, and not none."""
    w, dtype = spot.lanes, index.type.dtype
    value = elements.at(s, index, spot)
    element = register(dtype)
    lanes = vector(element, w)
    sign = "u" if dtype.kind == "uint" else "s"
    below = s.e.op(f"icmp {sign}lt {lanes} {{}}, {{}}", value, splat(s.e, low, element, w))
    above = s.e.op(f"icmp {sign}ge {lanes} {{}}, {{}}", value, splat(s.e, high, element, w))
    truths = vector("i1", w)
    wrong = s.e.op(f"or {truths} {{}}, {{}}", below, above)
    if dtype == ENTRY:
        exists = s.e.op(f"icmp ne {lanes} {{}}, {{}}", value, splat(s.e, "-1", element, w))
        wrong = s.e.op(f"and {truths} {{}}, {{}}", wrong, exists)
    return wrong if spot.mask is None else s.e.op(f"and {truths} {{}}, {{}}", wrong, spot.mask)


def _any(s: State, index: Tile, low: Operand, high: Operand) -> Operand:
    if index.type.rank == 0:
        return _wrong(s, index, low, high, Spot(()))
    return _flag(s, index, lambda spot: _wrong(s, index, low, high, spot))


def _flag(s: State, tile: Tile, test: Callable[[Spot], Operand]) -> Operand:
    """Whether a test holds at any element. The answer is kept in memory, as loops of any depth set it."""
    place = s.allocate(8)
    s.e.do("store i8 0, ptr {}", place)

    def visit(spot: Spot) -> None:
        holds = fold_lanes(s.e, ops.BinaryFn.OR, test(spot), BOOL, spot.lanes)
        old = s.e.here("load i8, ptr {}", place)
        s.e.do("store i8 {}, ptr {}", s.e.op("or i8 {}, {}", old, s.e.op("zext i1 {} to i8", holds)), place)

    nests.sweep(s, s.lives(tile.type), nests.last_long(tile), visit)
    return s.e.op("trunc i8 {} to i1", s.e.here("load i8, ptr {}", place))


def _all_none(s: State, entry: Tile) -> Operand:
    """Whether a tile of entries has elements, and all of them are none."""
    if entry.type.rank == 0:
        return s.e.op("icmp eq i64 {}, -1", s.scalars[entry])

    def is_some(spot: Spot) -> Operand:
        lanes = vector("i64", spot.lanes)
        some = s.e.op(f"icmp ne {lanes} {{}}, {{}}", elements.at(s, entry, spot), splat(s.e, "-1", "i64", spot.lanes))
        return some if spot.mask is None else s.e.op(f"and {vector('i1', spot.lanes)} {{}}, {{}}", some, spot.mask)

    some = _flag(s, entry, is_some)
    empty = "false"
    for live in s.lives(entry.type):
        empty = s.e.op("or i1 {}, {}", empty, s.e.op("icmp eq i64 {}, 0", live))
    return s.e.op("xor i1 {}, true", s.e.op("or i1 {}, {}", some, empty))


def _first_wrong(s: State, index: Tile, low: Operand, high: Operand) -> Operand:
    """The first element that is outside, in the order of the tile."""
    if index.type.rank == 0:
        return _long(s, index)
    slot = s.allocate(16)
    s.e.do("store i64 0, ptr {}", slot)

    def visit(spot: Spot) -> None:
        wrong = _wrong(s, index, low, high, spot)
        value = cast(s.e, elements.at(s, index, spot), index.type.dtype, I64, 1)
        seen = s.e.here("load i64, ptr {}", slot)
        is_new = s.e.op("and i1 {}, {}", wrong, s.e.op("icmp eq i64 {}, 0", seen))
        place = s.e.op("getelementptr i64, ptr {}, i64 1", slot)

        def write() -> None:
            s.e.do("store i64 1, ptr {}", slot)
            s.e.do("store i64 {}, ptr {}", value, place)

        s.e.when(is_new, write)

    nests.sweep(s, s.lives(index.type), None, visit)
    return s.e.here("load i64, ptr {}", s.e.op("getelementptr i64, ptr {}, i64 1", slot))


def show(s: State, op: ops.Print) -> None:
    """Hands values to the launch, which writes them out."""
    shown: list[Shown] = []
    words: list[Operand] = []
    for value in op.values:
        buffer = s.buffers.get(value)
        if value.type.rank == 0:
            buffer = s.buffer(value.type)
            nests.put(s, buffer, Spot(()), s.scalars[value])
        elif buffer is None:
            buffer = s.buffer(value.type)
            nests.fill(s, buffer, value, nests.last_long(value), elements.natural_lane(s, value))
        shown.append(Shown(value.type.dtype, buffer.strides))
        words += [s.e.here("ptrtoint ptr {} to i64", buffer.pointer), *s.lives(value.type)]
    s.shown[s.sites[id(op)]] = tuple(shown)
    call = s.allocate(8 * max(len(words), 1))
    for number, word in enumerate(words):
        s.e.do("store i64 {}, ptr {}", word, s.e.op(f"getelementptr i64, ptr {{}}, i64 {number}", call))
    s.e.do(f"call void {s.printer}(i64 {s.sites[id(op)]}, i64 {{}}, ptr {{}})", s.point, call)
