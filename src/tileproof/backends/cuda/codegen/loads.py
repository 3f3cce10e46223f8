"""Loads: how picks become a view of a tensor, or pointers and a mask where a view cannot say it.

A view moves whole tiles and is what the copy engine understands. It serves where every axis is picked by one interval.
Lanes past the end of the tensor come as zeros; where no lane can be, the access says so and needs no test. Pointers
serve for everything else, with a mask that leaves dead lanes, none and what is outside alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tileproof.backends.cuda.tileir.types import (
    I8,
    I32,
    I64,
    Padding,
    PartitionView,
    Predicate,
    StridedView,
    TensorView,
    Value,
)
from tileproof.ir import ops
from tileproof.ir.types import Axis, Fixed, Named, Tensor, Tile, WalkerTag
from tileproof.language.dtypes import ENTRY, DType

from . import positions
from .positions import Position, base_value, known, narrow_value
from .state import State, View, bytes_of, number, padded, stored
from .tiles import element_of, shape_of

_QUANTUM: Final = 16
"""What the copy engine moves at a time, in bytes."""


@dataclass(frozen=True, slots=True)
class Picked:
    """Where along one axis of a tensor an access goes."""

    lanes: int
    """How many lanes the tile has along it, padding included; 1 where the axis is dropped."""
    dropped: bool
    start: Position
    """Its first element, as memory counts."""
    step: int = 1
    coordinate: Value | int | None = None
    """How many steps lie before it, where that is at hand."""
    indices: Tile | None = None
    """The elements one by one, instead of all that."""
    axis: Axis | None = None
    """The axis of the tile."""
    is_inside: bool = False
    """Whether all lanes are inside the tensor."""
    is_edge: bool = False
    """Whether dead lanes, if there are any, lie past the end of the tensor."""
    is_entry: bool = False
    """Whether the position may be none."""
    is_own: bool = False
    """Whether it is inside by construction: a walker of this very dimension, or all of it."""
    within: Position | None = None
    """Its first element as the program counts, where the tensor is what another has from some position on."""

    @property
    def counted(self) -> Position:
        """Its first element, as the program counts."""
        return self.start if self.within is None else self.within


@dataclass(frozen=True, slots=True)
class Region:
    """Where an access goes."""

    picks: tuple[Picked, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The padded shape of the tile."""
        return tuple(pick.lanes for pick in self.picks if not pick.dropped)

    @property
    def axes(self) -> tuple[int, ...]:
        """For each axis of the tile, the axis of the tensor."""
        return tuple(place for place, pick in enumerate(self.picks) if not pick.dropped)

    @property
    def is_boxed(self) -> bool:
        """Whether every axis is picked by one interval."""
        return all(pick.indices is None and not pick.is_entry for pick in self.picks)


def region(s: State, tensor: Tensor, picks: Sequence[ops.Pick]) -> Region:
    """Where the picks of an access go."""
    view = s.tensors[tensor]
    regions = []
    for axis, pick in enumerate(picks):
        picked = _picked(s, tensor, view, axis, pick)
        origin = view.origin[axis]
        if origin is not None:
            moved = positions.plus(s.b, picked.start, origin)
            assert moved is not None
            picked = replace(picked, start=moved, step=1, coordinate=None, within=picked.start)
        regions.append(picked)
    return Region(tuple(regions))


def _picked(s: State, tensor: Tensor, view: View, place: int, pick: ops.Pick) -> Picked:
    match pick:
        case ops.Along():
            return _walked(s, tensor, view, place, pick)
        case ops.At(index):
            is_entry = index.type.dtype == ENTRY
            return Picked(1, True, s.scalar(index), is_inside=True, is_edge=True, is_entry=is_entry)
        case ops.Gather(indices):
            axis = indices.type.axes[0]
            return Picked(padded(number(axis.length)), False, known(0), indices=indices, axis=axis,
                          is_entry=indices.type.dtype == ENTRY)  # fmt: skip
        case ops.Whole():
            dimension = tensor.type.dimensions[place]
            extent = dimension.extent if isinstance(dimension, Fixed) else number(s.kernel.static[str(dimension)])
            lanes = padded(extent)
            is_own = view.extents[place].base == extent
            return Picked(lanes, False, known(0), lanes, 0, axis=Axis(extent), is_inside=lanes == extent and is_own,
                          is_edge=is_own, is_own=is_own)  # fmt: skip
        case ops.Window(start, length):
            first, count = number(start), number(length)
            lanes = padded(count)
            if lanes == count and first % count == 0:
                return Picked(lanes, False, known(first), lanes, first // lanes, axis=Axis(count), is_inside=True,
                              is_edge=True)  # fmt: skip
            return Picked(lanes, False, known(first), axis=Axis(count), is_inside=lanes == count)


def _walked(s: State, tensor: Tensor, view: View, place: int, pick: ops.Along) -> Picked:
    walker = pick.walker
    here = s.places[walker]
    if walker.type.size is None:
        return Picked(1, True, here.start, is_inside=True, is_edge=True)
    size = number(walker.type.size)
    lanes = padded(size)
    own = tensor.type.dimensions[place] == Named(walker.type.dimension)
    own = own and view.extents[place] is s.dimensions[walker.type.dimension]
    axis = Axis(size, WalkerTag(walker))
    is_edge = own and here.is_edge and lanes == size
    common = {"axis": axis, "is_inside": here.live == lanes, "is_edge": is_edge, "is_own": own}
    if here.tile is not None:
        return Picked(lanes, False, here.start, size, here.tile, **common)  # type: ignore[arg-type]
    return Picked(lanes, False, here.start, **common)  # type: ignore[arg-type]


# Loads.


def load(s: State, op: ops.Load, order: Sequence[int] | None = None) -> tuple[Value, bool]:
    """The tile of a load, its axes in another order if one is given, and whether its dead lanes are zero."""
    view, where = s.tensors[op.tensor], region(s, op.tensor, op.picks)
    raw: Value
    # A view reads dead lanes too where they are inside the tensor: another program may be writing those.
    is_alone = op.tensor not in s.order.roots or all(pick.is_inside or pick.is_edge for pick in where.picks)
    if where.shape and view.is_plain and where.is_boxed and _starts_inside(s, view, op.picks) and is_alone:
        raw, is_clean = _load_view(s, op.tensor, view, where, order)
    else:
        mask = live_mask(s, where, where.shape)
        raw = _load_pointers(s, op.tensor, view, where, mask, None)
        if order is not None:
            raw = s.b.permute(raw, tuple(order))
        is_clean = True
    return read(s, raw, view.dtype, op.result.type.dtype), is_clean


def get(s: State, op: ops.Get) -> Value:
    """The tile of a get: `fill` wherever it goes outside."""
    view, where = s.tensors[op.tensor], region(s, op.tensor, op.picks)
    shape = where.shape
    # A part of a tensor may have no element to go to instead, and one that programs write may be written there.
    is_quiet = s.is_parameter(op.tensor) and op.tensor not in s.order.roots
    if shape and is_quiet and view.is_plain and _is_whole_or_nothing(where) and _starts_inside(s, view, op.picks):
        return _get_whole(s, op, view, where)
    mask = live_mask(s, where, shape)
    for place, pick in enumerate(where.picks):
        mask = both(s, mask, _inside(s, where, place, pick, view.extents[place]))
    raw = _load_pointers(s, op.tensor, view, where, mask, None)
    tile = read(s, raw, view.dtype, op.result.type.dtype)
    if mask is None:
        return tile
    return s.b.select(mask, tile, s.spread(s.get(op.fill), shape))


def _is_whole_or_nothing(where: Region) -> bool:
    """Whether only single positions can be outside, so that a whole tile is, or none of it."""
    return all(pick.dropped or (pick.is_own and (pick.is_inside or pick.is_edge)) for pick in where.picks)


def _get_whole(s: State, op: ops.Get, view: View, where: Region) -> Value:
    """The tile at positions that are brought inside, or `fill` if one of them had to be."""
    b, shape = s.b, where.shape
    picks: list[Picked] = []
    is_there: Value | None = None
    for pick, extent in zip(where.picks, view.extents, strict=True):
        if not pick.dropped:
            picks.append(pick)
            continue
        low = positions.compared(b, ops.BinaryFn.GE, pick.start, known(0), ())
        high = positions.compared(b, ops.BinaryFn.LT, pick.start, extent, ())
        is_there = both(s, is_there, b.andi(low, high))
        last = positions.minus(b, extent, known(1))
        assert last is not None
        inside = positions.greatest(b, positions.least(b, pick.start, last), known(0))
        picks.append(replace(pick, start=inside, is_entry=False))
    raw, _ = _load_view(s, op.tensor, view, Region(tuple(picks)), None)
    tile = read(s, raw, view.dtype, op.result.type.dtype)
    if is_there is None:
        return tile
    return b.select(s.spread(is_there, shape), tile, s.spread(s.get(op.fill), shape))


def read(s: State, raw: Value, stored_as: DType, dtype: DType) -> Value:
    """An element of memory as it is held in a tile."""
    if stored_as.name == "bool":
        return s.b.cmpi(Predicate.NOT_EQUAL, raw, s.splat(I8, shape_of(raw), 0), signed=False)
    if dtype.kind == "index" and stored_as.bits < 64:
        return s.b.exti(raw, I64, signed=True)
    return raw


def _starts_inside(s: State, view: View, picks: Sequence[ops.Pick]) -> bool:
    """Whether no tile can begin at the very end of its axis, where a view has no tile.

    The one piece of an empty axis does, where it is a piece of what a tensor has from its end on.
    """
    for pick, origin in zip(picks, view.origin, strict=True):
        if isinstance(pick, ops.Along):
            may_be_empty = pick.walker.type.is_piece and origin is not None
            if may_be_empty or not s.places[pick.walker].is_inside:
                return False
    return True


def _load_view(
    s: State, tensor: Tensor, view: View, where: Region, order: Sequence[int] | None
) -> tuple[Value, bool]:
    is_inside = all(pick.is_inside for pick in where.picks)
    transposed = tile_order(where, order)
    seen = tile_view(s, view, where, transposed, None if is_inside else Padding.ZERO)
    token = s.order.before_load(tensor)
    tile, done = s.b.load_view(
        seen, [coordinate(s, where.picks[axis]) for axis in transposed], token=token,
        inbounds=inbounds(s, where, is_inside), hints=s.hints(tma=not ends_ragged(view, where)),
    )  # fmt: skip
    s.order.after_load(tensor, done)
    shape = where.shape if order is None else tuple(where.shape[axis] for axis in order)
    if shape_of(tile) != shape:
        tile = s.b.reshape(tile, shape)
    return tile, all(pick.is_inside or pick.is_edge for pick in where.picks)


def ends_ragged(view: View, where: Region) -> bool:
    """Whether a tile may end with its tensor, at a place that is no multiple of 16 bytes.

    The copy engine moves 16 bytes at a time. Seen on an H200: a tile of f32 stored by it to a tensor of 13 elements
    changed the three behind the last.
    """
    size = bytes_of(view.dtype)
    return any(
        stride == 1 and not pick.is_inside and extent.divisor * size % _QUANTUM
        for pick, stride, extent in zip(where.picks, view.strides, view.extents, strict=True)
    )


def inbounds(s: State, where: Region, is_inside: bool) -> list[bool] | None:
    """What an access says of its indices: nothing where a lane may be outside, or the format cannot say it."""
    return [True] * len(where.picks) if is_inside and s.version >= (13, 4) else None


def tile_order(where: Region, order: Sequence[int] | None) -> tuple[int, ...]:
    """For each axis of a tile with dropped axes kept, the axis of the tensor; axes of the tile as `order` says."""
    if order is None:
        return tuple(range(len(where.picks)))
    kept = where.axes
    dropped = [place for place, pick in enumerate(where.picks) if pick.dropped]
    return (*dropped, *(kept[axis] for axis in order))


def tile_view(s: State, view: View, where: Region, order: tuple[int, ...], padding: Padding | None) -> Value:
    """A view of the tensor in tiles of the region's shape."""
    whole = tensor_view(s, view)
    assert isinstance(whole.type, TensorView)
    tile = tuple(where.picks[axis].lanes for axis in order)
    steps = tuple(where.picks[axis].step for axis in order)
    if tile == steps:
        return s.b.make_partition_view(whole, PartitionView(tile, whole.type, order, padding))
    return s.b.make_strided_view(whole, StridedView(tile, steps, whole.type, order, padding))


def tensor_view(s: State, view: View) -> Value:
    """The tensor as Tile IR sees it."""
    shape = tuple(length if isinstance(length, int) else None for length in view.lengths)
    strides = tuple(stride if isinstance(stride, int) else None for stride in view.strides)
    of = TensorView(stored(view.dtype), shape, strides)
    return s.b.make_tensor_view(
        view.pointer, of, [length for length in view.lengths if not isinstance(length, int)],
        [stride for stride in view.strides if not isinstance(stride, int)],
    )  # fmt: skip


def coordinate(s: State, pick: Picked) -> Value:
    """Which tile along an axis."""
    tile: Value | int | None = pick.coordinate
    if tile is None:
        assert pick.step == 1
        if s.coordinate == I32:
            return narrow_value(s.b, pick.start)
        return base_value(s.b, pick.start)
    return s.splat(s.coordinate, (), tile) if isinstance(tile, int) else tile


# Pointers.


def pointers(s: State, view: View, where: Region) -> Value:
    """The address of every lane."""
    b, shape = s.b, where.shape
    near = s.coordinate
    base: Value = view.pointer
    away: Position = known(0)
    for pick, stride in zip(where.picks, view.strides, strict=True):
        step = known(stride) if isinstance(stride, int) else Position(_wide(s, stride))
        moved = positions.times(b, pick.start, step)
        assert moved is not None
        total = positions.plus(b, away, moved)
        assert total is not None
        away = total
    if away.base != 0:
        base = b.offset(base, base_value(b, away))
    if not shape:
        return base
    offsets: Value | None = None
    axis = 0
    for pick, stride in zip(where.picks, view.strides, strict=True):
        if pick.dropped:
            continue
        line = _line(s, pick)
        if stride != 1:
            factor = s.splat(near, (), stride) if isinstance(stride, int) else stride
            line = b.muli(line, s.spread(factor, shape_of(line)))
        laid = s.along(line, shape, axis)
        offsets = laid if offsets is None else b.addi(offsets, laid)
        axis += 1
    assert offsets is not None
    return b.offset(s.spread(base, shape), offsets)


def _line(s: State, pick: Picked) -> Value:
    """How far each lane along an axis is from the first, or from the start of the tensor."""
    if pick.indices is None:
        return s.b.iota(pick.lanes, s.coordinate)
    indices = s.get(pick.indices)
    return indices if s.coordinate == I64 else s.b.trunci(indices, I32)


def _wide(s: State, value: Value) -> Value:
    return value if element_of(value) == I64 else s.b.exti(value, I64, signed=True)


def _load_pointers(
    s: State, tensor: Tensor, view: View, where: Region, mask: Value | None, fill: Value | None
) -> Value:
    shape = where.shape
    padding = None
    if mask is not None:
        padding = fill or s.splat(stored(view.dtype), shape, 0)
    token = s.order.before_load(tensor)
    tile, done = s.b.load_ptr(pointers(s, view, where), mask=mask, padding=padding, token=token)
    s.order.after_load(tensor, done)
    return tile


def live_mask(s: State, where: Region, shape: tuple[int, ...]) -> Value | None:
    """Which lanes of a region are live, and not none; None if all are."""
    mask: Value | None = None
    axis = 0
    for pick in where.picks:
        if pick.is_entry and pick.indices is None:
            there = s.b.cmpi(Predicate.GREATER_EQUAL, base_value(s.b, pick.counted), s.splat(I64, (), 0), signed=True)
            mask = both(s, mask, s.spread(there, shape))
        if pick.dropped:
            continue
        assert pick.axis is not None
        if not s.is_whole(pick.axis):
            line = s.b.iota(shape[axis], I32)
            live = s.spread(s.live_value(pick.axis), shape_of(line))
            mask = both(s, mask, s.along(s.b.cmpi(Predicate.LESS, line, live, signed=True), shape, axis))
        if pick.is_entry and pick.indices is not None:
            indices = s.get(pick.indices)
            there = s.b.cmpi(Predicate.GREATER_EQUAL, indices, s.splat(I64, shape_of(indices), 0), signed=True)
            mask = both(s, mask, s.along(there, shape, axis))
        axis += 1
    return mask


def _inside(s: State, where: Region, place: int, pick: Picked, extent: Position) -> Value:
    """Which lanes are inside an axis of the tensor."""
    b, shape = s.b, where.shape
    if pick.indices is not None:
        axis = where.axes.index(place)
        indices = s.get(pick.indices)
        line = shape_of(indices)
        low = b.cmpi(Predicate.GREATER_EQUAL, indices, s.splat(I64, line, 0), signed=True)
        high = b.cmpi(Predicate.LESS, indices, s.spread(base_value(b, extent), line), signed=True)
        return s.along(b.andi(low, high), shape, axis)
    if pick.dropped:
        low = positions.compared(b, ops.BinaryFn.GE, pick.counted, known(0), ())
        high = positions.compared(b, ops.BinaryFn.LT, pick.counted, extent, ())
        return s.spread(b.andi(low, high), shape)
    axis = where.axes.index(place)
    lanes = replace(pick.counted, lanes=b.iota(pick.lanes, I32), low=0, high=pick.lanes - 1)
    line = (pick.lanes,)
    low = positions.compared(b, ops.BinaryFn.GE, lanes, known(0), line)
    high = positions.compared(b, ops.BinaryFn.LT, lanes, extent, line)
    return s.along(b.andi(low, high), shape, axis)


def both(s: State, left: Value | None, right: Value | None) -> Value | None:
    """Two masks as one; None is everything."""
    if left is None or right is None:
        return right if left is None else left
    return s.b.andi(left, right)
