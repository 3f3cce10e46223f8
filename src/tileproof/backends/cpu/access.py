"""Loads and stores: from the picks of an access to addresses, and from bits to registers and back.

A mask keeps lanes away from memory. Where an element is asked for alone and may not exist, a zero is read instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from tileproof.ir import ops
from tileproof.ir.types import Named, Tensor, Tile
from tileproof.language.dtypes import ENTRY, DType

from . import elements
from .arithmetic import select
from .conversions import cast, pack, unpack
from .emission import Operand
from .lanes import iota, splat
from .registers import each, memory, size, suffix, vector
from .spots import Spot
from .state import State, View, number


def load(s: State, op: ops.Load, spot: Spot) -> Operand:
    """Elements of a region of a tensor."""
    view, positions = s.tensors[op.tensor], _positions(s, op.picks, spot)
    if s.ahead and s.ahead_of in (None, op.tensor):
        _fetch_ahead(s, op, view, positions, spot)
    return _read(s, view, positions, spot, op.result.type.dtype)


def _fetch_ahead(s: State, op: ops.Load, view: View, positions: list[Position], spot: Spot) -> None:
    """Asks for the elements of a row some rows further on, where each row is read by lanes that are neighbours.

    What lies there belongs to the next rows, or to the next program, or to nobody: to ask never fails.
    """
    last, at = len(positions) - 1, op.picks[:-1]
    if last < 1 or positions[last].lanes != "run" or view.strides[last] != "1":
        return
    if spot.lane is None or spot.lane < 1 or not isinstance(at[-1], ops.Along | ops.Whole | ops.Window):
        return
    if isinstance(at[-1], ops.Along) and at[-1].walker.type.is_each:
        return
    terms = [s.scaled(term, view.strides[n]) for n, position in enumerate(positions) for term in position.terms]
    far = s.scaled(view.strides[last - 1], str(s.ahead))
    pointer = s.address(view.pointer, [*terms, far], memory(view.dtype))
    if s.e.recall(("ahead", pointer)) is not None:  # another row at hand is made of the same
        return
    s.e.remember(("ahead", pointer), pointer)
    s.e.declare("llvm.prefetch.p0", "void", "ptr", "i32 immarg", "i32 immarg", "i32 immarg")
    s.e.do("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 3, i32 1)", pointer)


def get(s: State, op: ops.Get, spot: Spot) -> Operand:
    """Elements of a region of a tensor, and `fill` outside of it."""
    view, positions = s.tensors[op.tensor], _positions(s, op.picks, spot)
    when, mask = spot.when, spot.mask
    for axis, (pick, position) in enumerate(zip(op.picks, positions, strict=True)):
        if _is_inside(s, pick, op.tensor, axis):
            continue
        if position.lanes:
            lanes = vector("i64", spot.lanes)
            extent = splat(s.e, view.extents[axis], "i64", spot.lanes)
            inside = s.e.op(f"icmp ult {lanes} {{}}, {{}}", _along(s, position, spot.lanes), extent)
            mask = both(s, mask, inside, spot.lanes)
        else:
            when = both(s, when, s.e.op("icmp ult i64 {}, {}", position.sum(s), view.extents[axis]), 1)
    read = _read(s, view, positions, replace(spot, when=when, mask=mask), op.result.type.dtype)
    condition = everywhere(s, mask, when, spot.lanes)
    if condition is None:
        return read
    fill = elements.at(s, op.fill, spot)
    return select(s.e, condition, read, fill, op.result.type.dtype, spot.lanes)


def _is_inside(s: State, pick: ops.Pick, tensor: Tensor, axis: int) -> bool:
    """Whether a pick stays inside by construction. What lies before a cut ends sooner than its dimension."""
    if not s.is_parameter(tensor):
        return False
    match pick:
        case ops.Along(walker):
            return tensor.type.dimensions[axis] == Named(walker.type.dimension)
        case ops.Whole():
            return True
        case _:
            return False


class Position:
    """Where along an axis: a sum of terms. `lanes`: one position for each lane; "run": neighbours from there on."""

    def __init__(self, *terms: Operand, lanes: str = "") -> None:
        self.terms = terms
        self.lanes = lanes

    def sum(self, s: State) -> Operand:
        total = "0"
        for term in sorted(self.terms, key=s.e.depth):
            total = s.plus(total, term)
        return total


def _positions(s: State, picks: tuple[ops.Pick, ...], spot: Spot) -> list[Position]:
    """For each axis of a tensor, where a spot of the tile lies."""
    found, axis = [], 0
    for pick in picks:
        if isinstance(pick, ops.At) or (isinstance(pick, ops.Along) and pick.walker.type.is_each):
            index = s.scalars[pick.index] if isinstance(pick, ops.At) else s.places[pick.walker].start
            found.append(Position(index))
            continue
        coord, lanes = spot.coords[axis], "run" if spot.lane == axis and spot.lanes > 1 else ""
        match pick:
            case ops.Along(walker):
                found.append(Position(s.places[walker].start, coord, lanes=lanes))
            case ops.Gather(indices):
                found.append(_gathered(s, indices, spot, axis, lanes))
            case ops.Whole():
                found.append(Position(coord, lanes=lanes))
            case ops.Window(start):
                found.append(Position(str(number(start)), coord, lanes=lanes))
            case ops.At():
                raise AssertionError("drops its axis")
            case _:
                assert_never(pick)
        axis += 1
    return found


def _gathered(s: State, indices: Tile, spot: Spot, axis: int, lanes: str) -> Position:
    if not lanes:
        return Position(elements.at(s, indices, Spot((spot.coords[axis],), when=spot.when)))
    if elements.is_run(s, indices):
        return Position(elements.at(s, indices, Spot((spot.coords[axis],), when=spot.when)), lanes="run")
    here = Spot((spot.coords[axis],), 0, spot.lanes, spot.mask, spot.when)
    return Position(elements.at(s, indices, here), lanes="each")


def _along(s: State, position: Position, lanes: int) -> Operand:
    """The position of each lane."""
    if position.lanes == "each":
        (each_lane,) = position.terms
        return each_lane
    first = splat(s.e, position.sum(s), "i64", lanes)
    return s.e.op(f"add {vector('i64', lanes)} {{}}, {iota(lanes)}", first)


def _read(s: State, view: View, positions: list[Position], spot: Spot, dtype: DType) -> Operand:
    element, lanes = memory(view.dtype), spot.lanes
    spread = [n for n, position in enumerate(positions) if position.lanes]
    terms = [
        s.scaled(term, view.strides[n])
        for n, position in enumerate(positions) if n not in spread for term in position.terms
    ]  # fmt: skip
    if lanes == 1:
        bits = _read_one(s, s.address(view.pointer, terms, element), element, view.dtype, spot)
    elif not spread:
        one = _read_one(s, s.address(view.pointer, terms, element), element, view.dtype, spot)
        bits = splat(s.e, one, element, lanes)
    else:
        (axis,) = spread
        if positions[axis].lanes == "run" and view.strides[axis] == "1":
            pointer = s.address(view.pointer, [*terms, *positions[axis].terms], element)
            bits = _read_run(s, pointer, element, view.dtype, spot)
        else:
            base = s.address(view.pointer, terms, element)
            bits = _read_each(s, base, _steps(s, view, axis, positions[axis], lanes), element, view.dtype, spot)
    held = unpack(s.e, bits, view.dtype, lanes)
    return cast(s.e, held, view.dtype, dtype, lanes)


def _steps(s: State, view: View, axis: int, position: Position, lanes: int) -> Operand:
    """How far from the base each lane lies."""
    here, stride = _along(s, position, lanes), view.strides[axis]
    if stride == "1":
        return here
    return s.e.op(f"mul {vector('i64', lanes)} {{}}, {{}}", here, splat(s.e, stride, "i64", lanes))


def _read_one(s: State, pointer: Operand, element: str, dtype: DType, spot: Spot) -> Operand:
    if spot.when is not None:
        s.e.define("zero", lambda: "@zero = private constant [64 x i8] zeroinitializer, align 64")
        pointer = s.e.op("select i1 {}, ptr {}, ptr @zero", spot.when, pointer)
    return s.e.read(f"load {element}, ptr {{}}, align {size(dtype)}", pointer)


def _read_run(s: State, pointer: Operand, element: str, dtype: DType, spot: Spot) -> Operand:
    of, align = vector(element, spot.lanes), size(dtype)
    condition = everywhere(s, spot.mask, spot.when, spot.lanes)
    if condition is None:
        return s.e.read(f"load {of}, ptr {{}}, align {align}", pointer)
    truths = vector("i1", spot.lanes)
    name = s.e.declare(
        f"llvm.masked.load.{suffix(element, spot.lanes)}.p0", of, "ptr", "i32 immarg", truths, of
    )
    template = f"call {of} @{name}(ptr {{}}, i32 {align}, {truths} {{}}, {of} zeroinitializer)"
    return s.e.read(template, pointer, condition)


def _read_each(s: State, base: Operand, steps: Operand, element: str, dtype: DType, spot: Spot) -> Operand:
    of, align, lanes = vector(element, spot.lanes), size(dtype), spot.lanes
    pointers, truths = vector("ptr", lanes), vector("i1", lanes)
    where = s.e.op(f"getelementptr {element}, ptr {{}}, {vector('i64', lanes)} {{}}", base, steps)
    condition = everywhere(s, spot.mask, spot.when, lanes) or each(lanes, "true", "i1")
    name = s.e.declare(
        f"llvm.masked.gather.{suffix(element, lanes)}.{suffix('ptr', lanes)}", of, pointers, "i32 immarg", truths, of
    )
    template = f"call {of} @{name}({pointers} {{}}, i32 {align}, {truths} {{}}, {of} zeroinitializer)"
    return s.e.read(template, where, condition)


# Stores.


def store_run(s: State, view: View, pointer: Operand, value: Operand, dtype: DType, spot: Spot, stream: bool) -> None:
    """Writes lanes to neighbouring elements, or one element."""
    element, lanes = memory(view.dtype), spot.lanes
    of, align = vector(element, lanes), size(view.dtype)
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


# Conditions.


def both(s: State, left: Operand | None, right: Operand, lanes: int) -> Operand:
    """Two conditions at once."""
    return right if left is None else s.e.op(f"and {vector('i1', lanes)} {{}}, {{}}", left, right)


def everywhere(s: State, mask: Operand | None, when: Operand | None, lanes: int) -> Operand | None:
    """A condition for each lane and one for all, as one for each lane."""
    if when is None:
        return mask
    return both(s, mask, splat(s.e, when, "i1", lanes), lanes)


def is_entry(indices: Tile) -> bool:
    """Whether a position may be none."""
    return indices.type.dtype == ENTRY
