"""Code that packs operands of products beforehand, and finds what was packed."""

from __future__ import annotations

from tileproof.ir import ops
from tileproof.ir.types import Walker, number

from . import blocks, products
from .emission import Operand, size
from .parameters import Candidate
from .products import shape_of
from .state import Place, State


def tile_bytes(s: State, candidate: Candidate) -> int:
    """How much memory a packed tile takes."""
    shape = shape_of(s, candidate.product)
    count = shape.left_count if candidate.is_left else shape.right_count
    return -(-count * size(shape.dtype) // 64) * 64


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
    found: list[Operand] = []
    for pick, extent in zip(candidate.load.picks, s.tensors[candidate.load.tensor].extents, strict=True):
        match pick:
            case ops.Along(walker) if walker.type.size is not None:
                step = number(walker.type.size)
                found.append(s.e.op(f"udiv i64 {{}}, {step}", s.plus(extent, str(step - 1))))
            case ops.Whole():
                found.append("1")
            case _:
                found.append(extent)
    return found


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
    is_whole = (walker.type.dimension, step) in s.facts.divided
    place = blocks.tile_place(s, walker, here, "0", extent, is_whole)
    s.places[walker] = Place(place.start, place.stop, turn, place.live)
    s.define(walker)
