"""Folds, scans and sums up to each element: one element after another along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tileproof.ir import ops
from tileproof.ir.types import Tile, Value

from . import elements, nests
from .arithmetic import binary, constant
from .conversions import cast
from .emission import Operand, Spot, register, vector
from .state import Part, State

Turns = Callable[..., None]


def cumulate(s: State, op: ops.CumSum) -> None:
    """Sums of all elements up to each, along an axis."""
    of, source, axis = op.result.type.dtype, op.operand.type, op.axis
    lives = s.lives(source)
    buffer = s.destination(op.result)
    lane = nests.last_long(op.operand)
    others = [live for n, live in enumerate(lives) if n != axis]
    inner = None if lane == axis else lane - (lane > axis)

    def visit(spot: Spot) -> None:
        along = None if spot.lane is None else spot.lane + (spot.lane >= axis)

        def turn(here: Operand, total: list[Operand]) -> Sequence[Operand]:
            place = Spot((*spot.coords[:axis], here, *spot.coords[axis:]), along, spot.lanes, spot.mask)
            value = cast(s.e, elements.at(s, op.operand, place), source.dtype, of, spot.lanes)
            made = binary(s.e, ops.BinaryFn.ADD, total[0], value, of, spot.lanes)
            nests.put(s, buffer, place, made)
            return [made]

        start = (vector(register(of), spot.lanes), constant(0, of, spot.lanes))
        s.e.loop("0", lives[axis], 1, turn, [start])

    with s.e.nest():
        nests.sweep(s, others, inner, visit)
    s.buffers[op.result] = buffer


def fold(s: State, op: ops.Fold, turns: Turns) -> None:
    """Elements along an axis, which is dropped, combined in order; the identities where there are none."""
    live = s.live(op.operands[0].type.axes[op.axis])
    combiner = op.combiner
    firsts = [_first(s, operand, identity, result, live, op.axis) for operand, identity, result in
              zip(op.operands, op.identities, op.results, strict=True)]  # fmt: skip

    def enter(place: Operand) -> None:
        bind_parts(s, combiner.right, op.operands, op.axis, place)

    def drive(carried: Any, turn: Any) -> list[Operand]:
        return s.e.loop("1", live, 1, turn, carried)

    turns(s, combiner.left, firsts, op.results, drive, enter, combiner.body)


def _first(s: State, operand: Tile, identity: Tile, like: Tile, live: Operand, axis: int) -> Tile:
    """A value that is the operand's first part, or the identity if it has no part."""
    first = Value(f"{like.name}.first", like.type)
    exists = s.e.op("icmp sgt i64 {}, 0", live)
    if like.type.rank:
        buffer = s.buffer(like.type)
        s.lazy[first] = Part(operand, axis, "0")
        s.define(first)

        def present() -> tuple[()]:
            nests.fill(s, buffer, first, nests.last_long(first), elements.natural_lane(s, first))
            return ()

        def absent() -> tuple[()]:
            with s.e.nest():
                nests.sweep(s, s.lives(like.type), nests.last_long(first),
                            lambda spot: nests.put(s, buffer, spot, elements.at(s, identity, spot)))  # fmt: skip
            return ()

        s.e.branch(exists, present, absent)
        s.buffers[first] = buffer
    else:
        with s.e.nest():
            value = elements.at(s, operand, Spot(("0",), when=exists))
            of = register(like.type.dtype)
            s.scalars[first] = s.e.op(f"select i1 {{}}, {of} {{}}, {of} {{}}", exists, value, s.scalars[identity])
    return first


def bind_parts(s: State, names: Sequence[Tile], operands: Sequence[Tile], axis: int, place: Operand) -> None:
    """Lets names stand for what operands have at one place along an axis."""
    for name, operand in zip(names, operands, strict=True):
        if name.type.rank:
            s.lazy[name] = Part(operand, axis, place)
            s.buffers.pop(name, None)
        else:
            with s.e.nest():
                s.scalars[name] = elements.at(s, operand, Spot((place,)))
        s.define(name)


def scan(s: State, op: ops.Scan, turns: Turns) -> None:
    """Elements up to each, along an axis, combined in order."""
    live = s.live(op.operands[0].type.axes[op.axis])
    combiner, axis = op.combiner, op.axis
    buffers = [s.destination(result) for result in op.results]
    firsts = [
        _first(s, operand, _zero(s, operand), left, live, axis)
        for operand, left in zip(op.operands, combiner.left, strict=True)
    ]

    def keep(values: Sequence[Tile], place: Operand) -> None:
        for value, buffer in zip(values, buffers, strict=True):
            def visit(spot: Spot, value: Tile = value, buffer: Any = buffer) -> None:
                coords = (*spot.coords[:axis], place, *spot.coords[axis:])
                lane = None if spot.lane is None else spot.lane + (spot.lane >= axis)
                target = Spot(coords, lane, spot.lanes, spot.mask)
                nests.put(s, buffer, target, elements.at(s, value, spot))

            with s.e.nest():
                lane = nests.last_long(value) if value.type.rank else None
                nests.sweep(s, s.lives(value.type), lane, visit)

    s.e.branch(s.e.op("icmp sgt i64 {}, 0", live), lambda: keep(firsts, "0") or ())  # type: ignore[func-returns-value]
    now = ["0"]

    def enter(place: Operand) -> None:
        now[0] = place
        bind_parts(s, combiner.right, op.operands, axis, place)

    def drive(carried: Any, turn: Any) -> list[Operand]:
        def kept(place: Operand, values: list[Operand]) -> list[Operand]:
            following: list[Operand] = turn(place, values)
            keep(combiner.body.yields, place)
            return following

        return s.e.loop("1", live, 1, kept, carried)

    ends = [Value(f"{left.name}.end", left.type) for left in combiner.left]
    turns(s, combiner.left, firsts, ends, drive, enter, combiner.body)
    s.buffers.update(zip(op.results, buffers, strict=True))


def _zero(s: State, like: Tile) -> Tile:
    zero = Value("zero", type(like.type)(like.type.dtype))
    s.scalars[zero] = constant(0, like.type.dtype, 1)
    return zero
