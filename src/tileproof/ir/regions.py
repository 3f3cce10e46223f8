"""The law of regions: one pick per axis of a tensor names a region, and what moves has exactly its axes."""

from __future__ import annotations

from typing import assert_never

from tileproof.language.dtypes import INDEX

from .extent import at_least
from .ops import Along, At, Gather, Load, Pick, Store, Update, Whole, Window
from .rules import Broken, Dimensions, demand
from .types import (
    INDEX_SCALAR,
    Axis,
    Dimension,
    DimensionTag,
    Fixed,
    Named,
    Tensor,
    TileType,
    Unnamed,
    WalkerTag,
)


def check_access(op: Load | Store | Update, dimensions: Dimensions) -> None:
    """What moves has the tensor's element type and the axes of the region that the picks name."""
    region = TileType(op.tensor.type.read_as, picked_axes(op.tensor, op.picks, dimensions))
    match op:
        case Load(result=result):
            demand(result.type == region, f"the region is {region}, the result {result.type}")
        case Store(value=value) | Update(value=value):
            demand(value.type == region, f"the region is {region}, the value {value.type}")
        case _:
            assert_never(op)


def picked_axes(tensor: Tensor, picks: tuple[Pick, ...], dimensions: Dimensions) -> tuple[Axis, ...]:
    """The axes of the region that one pick per axis of a tensor names."""
    walked = tensor.type.dimensions
    demand(len(picks) == len(walked), f"{tensor!r} has {len(walked)} axes, {len(picks)} are picked")
    found = (_picked(pick, dimension, dimensions) for pick, dimension in zip(picks, walked, strict=True))
    return tuple(axis for axis in found if axis is not None)


def _picked(pick: Pick, walked: Dimension, dimensions: Dimensions) -> Axis | None:
    """The axis a pick gives; None where it drops the axis."""
    match pick:
        case Along(walker):
            demand(walked == Named(walker.type.dimension), f"{walker!r} does not walk {walked}")
            return None if walker.type.size is None else Axis(walker.type.size, WalkerTag(walker))
        case At(index):
            demand(index.type == INDEX_SCALAR, f"an element is picked by an index, not {index.type}")
            return None
        case Gather(indices):
            is_list = indices.type.dtype == INDEX and indices.type.rank == 1
            demand(is_list, f"elements are picked by one axis of index, not {indices.type}")
            return indices.type.axes[0]
        case Whole():
            return _whole(walked, dimensions)
        case Window(start, length):
            is_forward = at_least(start, 0) is not False and at_least(length, 0) is not False
            demand(is_forward, f"the slice of {length} elements from {start} runs backwards")
            return Axis(length)
        case _:
            assert_never(pick)


def _whole(walked: Dimension, dimensions: Dimensions) -> Axis:
    match walked:
        case Fixed(extent):
            return Axis(extent)
        case Named(name):
            demand(name in dimensions.static, f"all of {name} is picked, which is not static")
            return Axis(dimensions.static[name], DimensionTag(name))
        case Unnamed():
            raise Broken("all of a dimension without name is picked")
        case _:
            assert_never(walked)
