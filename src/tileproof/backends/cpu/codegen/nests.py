"""Loops over the elements of tiles. One axis is walked by whole vectors; the elements left at its end by a masked one,
so the loop that does the work has no mask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from tileproof.ir.types import Tile, number

from . import elements
from .conversions import pack
from .emitter import Operand, Spot, is_number, memory, nbytes, register, vector
from .lanes import extract, iota, splat, transpose
from .state import Buffer, State

Step: TypeAlias = Callable[[Operand, int, Operand | None], None]
"""What is done for some lanes: their first coordinate, how many, and which of them exist (None: all)."""
UNROLL = 4


def run(s: State, live: Operand, step: Step, unroll: int = UNROLL, *, first: Operand = "0") -> None:
    """Walks an axis from `first` to `live` by vectors, several in each turn."""
    w, many = s.lanes, s.lanes * unroll

    def turn(here: Operand) -> None:
        for n in range(unroll):
            step(s.plus(here, str(n * w)), w, None)

    if is_number(live) and is_number(first):
        whole = int(first) + (int(live) - int(first)) // many * many
        s.e.each(first, str(whole), many, turn)
        while whole < int(live):
            while w > int(live) - whole:
                w //= 2
            step(str(whole), w, None)
            whole += w
        return
    length = live if first == "0" else s.e.op("sub i64 {}, {}", live, first)
    split = s.e.op(f"and i64 {{}}, {-many}", length)
    split = split if first == "0" else s.e.op("add i64 {}, {}", split, first)
    s.e.each(first, split, many, turn)
    s.e.each(split, live, w, lambda here: step(here, w, before(s, here, live, w)))


def before(s: State, here: Operand, live: Operand, w: int) -> Operand:
    """Which of `w` lanes from `here` on come before `live`."""
    if is_number(here) and is_number(live):
        count = int(live) - int(here)
        return f"<{', '.join(f'i1 {str(n < count).lower()}' for n in range(w))}>" if w > 1 else "true"
    left = s.e.op("sub i64 {}, {}", live, here)
    short = s.e.op("trunc i64 {} to i32", left)
    if w == 1:
        return s.e.op("icmp sgt i32 {}, 0", short)
    return s.e.op(f"icmp sgt {vector('i32', w)} {{}}, {iota(w, 'i32')}", splat(s.e, short, "i32", w))


def sweep(s: State, lives: Sequence[Operand], lane: int | None, visit: Callable[[Spot], None]) -> None:
    """Visits every element that exists, by lanes along one axis, which is the innermost."""
    order = [axis for axis in range(len(lives)) if axis != lane]

    def walk(depth: int, coords: tuple[Operand, ...]) -> None:
        if depth < len(order):
            axis = order[depth]

            def turn(here: Operand) -> None:
                walk(depth + 1, (*coords[:axis], here, *coords[axis + 1 :]))

            s.e.each("0", lives[axis], 1, turn)
        elif lane is None:
            visit(Spot(coords))
        else:
            run(s, lives[lane], lambda here, w, mask: visit(
                Spot((*coords[:lane], here, *coords[lane + 1 :]), lane if w > 1 else None, w, mask)
            ))  # fmt: skip

    walk(0, ("0",) * len(lives))


def last_long(tile: Tile) -> int:
    """The last axis with more than one element, along which a buffer holds neighbours."""
    axes = tile.type.axes
    long = [n for n, axis in enumerate(axes) if number(axis.length) > 1]
    return long[-1] if long else len(axes) - 1


def put(s: State, buffer: Buffer, spot: Spot, value: Operand) -> None:
    """Writes elements into scratch memory; whole vectors, also where lanes do not exist."""
    if spot.lane is not None and buffer.strides[spot.lane] != 1:
        _put_apart(s, buffer, spot, spot.lane, value)
        return
    element = memory(buffer.dtype)
    bits = pack(s.e, value, buffer.dtype, spot.lanes)
    pointer = s.element(buffer, spot.coords)
    s.e.do(f"store {vector(element, spot.lanes)} {{}}, ptr {{}}, align {nbytes(buffer.dtype)}", bits, pointer)


def _put_apart(s: State, buffer: Buffer, spot: Spot, axis: int, value: Operand) -> None:
    """Writes lanes that are no neighbours in scratch memory, one by one."""
    for lane in range(spot.lanes):
        one = extract(s.e, value, register(buffer.dtype), spot.lanes, lane)
        coords = (*spot.coords[:axis], s.plus(spot.coords[axis], str(lane)), *spot.coords[axis + 1 :])
        write = partial(put, s, buffer, Spot(coords), one)
        if spot.mask is None:
            write()
        else:
            s.e.when(extract(s.e, spot.mask, "i1", spot.lanes, lane), write)


def materialise(s: State, tile: Tile, buffer: Buffer | None = None) -> Buffer:
    """Computes all elements of a tile into scratch memory, which from then on stand for it."""
    lane, natural = last_long(tile), elements.natural_lane(s, tile)
    if buffer is None:
        buffer = s.destination(tile)
    fill(s, buffer, tile, lane, natural)
    s.buffers[tile] = buffer
    s.define(tile)
    return buffer


@contextmanager
def laid_out(s: State, tile: Tile) -> Iterator[None]:
    """Keeps a tile in scratch memory for a while; for longer only if it is made where the tile is, as what a branch or
    a loop writes may never be written."""
    depth, here = s.depths[tile], len(s.e.levels) - 1
    materialise(s, tile)
    yield
    if depth != here:
        del s.buffers[tile]
        s.depths[tile] = depth


def fill(s: State, buffer: Buffer, tile: Tile, lane: int, natural: int | None) -> None:
    """Writes the elements of a tile into scratch memory."""
    with s.e.nest():
        if natural is not None and natural != lane and number(tile.type.axes[natural].length) > 1:
            _fill_transposed(s, buffer, tile, natural, lane)
        else:
            sweep(s, s.lives(tile.type), lane, lambda spot: put(s, buffer, spot, elements.at(s, tile, spot)))


def _fill_transposed(s: State, buffer: Buffer, tile: Tile, natural: int, lane: int) -> None:
    """The same for a tile whose neighbours in memory lie along another axis: squares are transposed in registers."""
    squares(s, tile, natural, lane, lambda coords, row: put(s, buffer, Spot(coords, lane, s.lanes), row))


def squares(
    s: State, tile: Tile, natural: int, lane: int, place: Callable[[tuple[Operand, ...], Operand], None]
) -> None:
    """Asks for a tile by vectors along `natural` and hands out vectors along `lane`, each with where it begins."""
    lives = s.lives(tile.type)
    w = s.lanes
    others = [axis for axis in range(tile.type.rank) if axis not in (natural, lane)]
    element = register(tile.type.dtype)

    is_whole = is_number(lives[natural]) and int(lives[natural]) % w == 0

    def square(coords: tuple[Operand, ...], is_edge: bool) -> None:
        rows = []
        s.ahead = w
        for n in range(w):
            there = _at_most(s, s.plus(coords[lane], str(n)), lives[lane], n)
            mask = before(s, coords[natural], lives[natural], w) if is_edge else None
            here = (*coords[:lane], there, *coords[lane + 1 :])
            rows.append(elements.at(s, tile, Spot(here, natural, w, mask)))
        s.ahead = 0
        for n, row in enumerate(transpose(s.e, rows, element, w)):
            there = s.plus(coords[natural], str(n))
            here = (*coords[:natural], there, *coords[natural + 1 :])
            if is_edge:
                exists = s.e.op("icmp slt i64 {}, {}", there, lives[natural])
                s.e.when(exists, partial(place, here, row))
            else:
                place(here, row)

    def walk(depth: int, coords: tuple[Operand, ...]) -> None:
        def one(axis: int, here: Operand) -> None:
            walk(depth + 1, (*coords[:axis], here, *coords[axis + 1 :]))

        if depth < len(others):
            s.e.each("0", lives[others[depth]], 1, partial(one, others[depth]))
        elif depth < len(others) + 2:
            axis = (lane, natural)[depth - len(others)]
            s.e.each("0", lives[axis], w, partial(one, axis))
        else:
            if is_whole:
                square(coords, False)
                return
            end = s.plus(coords[natural], str(w))
            inside = s.e.op("icmp sle i64 {}, {}", end, lives[natural])
            s.e.when(inside, partial(square, coords, False), partial(square, coords, True))

    walk(0, ("0",) * tile.type.rank)


def _at_most(s: State, place: Operand, live: Operand, past: int) -> Operand:
    """A place, or the last that exists: what is read there in place of nothing is not used. `past`: how far from one
    that does exist."""
    if past == 0 or (is_number(live) and int(live) % s.lanes == 0):
        return place
    s.e.declare("llvm.smin.i64", "i64", "i64", "i64")
    return s.e.op("call i64 @llvm.smin.i64(i64 {}, i64 {})", place, s.plus(live, "-1"))
