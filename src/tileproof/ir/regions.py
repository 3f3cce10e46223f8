"""The law of regions: one pick per axis of a tensor names a region, and what moves has exactly its axes."""

from __future__ import annotations

from typing import assert_never

from tileproof.language.dtypes import ENTRY, INDEX

from .ops import Along, At, Gather, Get, Load, Pick, Segments, SplitAt, Store, Update, Whole, Window
from .rules import Broken, Dimensions, demand
from .types import (
    INDEX_SCALAR,
    Access,
    Axis,
    Content,
    Dimension,
    DimensionTag,
    Fixed,
    Named,
    Tensor,
    TensorType,
    TileType,
    Unnamed,
    WalkerTag,
    at_least,
)

_POSITIONS = (INDEX, ENTRY)
"""What picks elements: a position, or an entry of an index tensor, which may be none."""


def check_access(op: Load | Get | Store | Update, dimensions: Dimensions) -> None:
    """What moves has the tensor's element type and the axes of the region that the picks name."""
    region = TileType(op.tensor.type.read_as, picked_axes(op.tensor, op.picks, dimensions))
    match op:
        case Load(result=result):
            demand(result.type == region, "the region is {}, the result {}", region, result.type)
        case Get(result=result, fill=fill):
            demand(result.type == region, "the region is {}, the result {}", region, result.type)
            scalar = TileType(region.dtype)
            demand(fill.type == scalar, "what stands for missing elements is {}, not {}", scalar, fill.type)
        case Store(value=value) | Update(value=value):
            # A position is an entry that is not none, so it is stored as it is.
            is_position = region.dtype == ENTRY and value.type == TileType(INDEX, region.axes)
            demand(value.type == region or is_position, "the region is {}, the value {}", region, value.type)
        case _:
            assert_never(op)


def check_split(op: SplitAt) -> None:
    """An `InOut` is cut along an axis with a name: `past` is read only, the axis of `fresh` counts from the cut."""
    of, axis = op.tensor.type, op.axis
    demand(of.access is Access.INOUT, "{!r} is not InOut", op.tensor)
    demand(0 <= axis < len(of.dimensions), "{!r} has no axis {}", op.tensor, axis)
    demand(isinstance(of.dimensions[axis], Named), "axis {} of {!r} has no name", axis, op.tensor)
    demand(op.at.type == INDEX_SCALAR, "a tensor is split at an index, not {}", op.at.type)
    past = TensorType(Access.IN, of.element, of.dimensions)
    demand(op.past.type == past, "the past is {}, not {}", past, op.past.type)
    counted = (*of.dimensions[:axis], Unnamed(), *of.dimensions[axis + 1 :])
    fresh = TensorType(Access.INOUT, of.element, counted)
    demand(op.fresh.type == fresh, "the fresh part is {}, not {}", fresh, op.fresh.type)


def check_segments(segments: Segments) -> None:
    """The borders of the segments are `Offsets` into the dimension that is walked."""
    walker, offsets = segments.walker, segments.offsets.type
    match offsets:
        case TensorType(Access.IN, Content("Offsets", dimension), (_,)):
            demand(dimension == walker.type.dimension, "{!r} does not cut {!r}", segments.offsets, walker)
        case _:
            raise Broken(f"borders of segments are one axis of Offsets, read only, not {offsets}")
    demand(not walker.type.is_piece, "{!r} is split and cut into segments", walker)
    demand(segments.index.type == INDEX_SCALAR, "a segment is counted in indices, not {}", segments.index.type)


def picked_axes(tensor: Tensor, picks: tuple[Pick, ...], dimensions: Dimensions) -> tuple[Axis, ...]:
    """The axes of the region that one pick per axis of a tensor names."""
    walked = tensor.type.dimensions
    demand(len(picks) == len(walked), "{!r} has {} axes, {} are picked", tensor, len(walked), len(picks))
    found = (_picked(pick, dimension, dimensions) for pick, dimension in zip(picks, walked, strict=True))
    return tuple(axis for axis in found if axis is not None)


def _picked(pick: Pick, walked: Dimension, dimensions: Dimensions) -> Axis | None:
    """The axis a pick gives; None where it drops the axis."""
    match pick:
        case Along(walker):
            # On an axis without name any walker may stand; it owes that it fits.
            is_walked = isinstance(walked, Unnamed) or walked == Named(walker.type.dimension)
            demand(is_walked, "{!r} does not walk {}", walker, walked)
            return None if walker.type.size is None else Axis(walker.type.size, WalkerTag(walker))
        case At(index):
            is_place = index.type.dtype in _POSITIONS and index.type.rank == 0
            demand(is_place, "an element is picked by an index, not {}", index.type)
            return None
        case Gather(indices):
            is_list = indices.type.dtype in _POSITIONS and indices.type.rank == 1
            demand(is_list, "elements are picked by one axis of index, not {}", indices.type)
            return indices.type.axes[0]
        case Whole():
            return _whole(walked, dimensions)
        case Window(start, length):
            is_forward = at_least(start, 0) is not False and at_least(length, 0) is not False
            demand(is_forward, "the slice of {} elements from {} runs backwards", length, start)
            return Axis(length)
        case _:
            assert_never(pick)


def _whole(walked: Dimension, dimensions: Dimensions) -> Axis:
    match walked:
        case Fixed(extent):
            return Axis(extent)
        case Named(name):
            demand(name in dimensions.static, "all of {} is picked, which is not static", name)
            return Axis(dimensions.static[name], DimensionTag(name))
        case Unnamed():
            raise Broken("all of a dimension without name is picked")
        case _:
            assert_never(walked)
