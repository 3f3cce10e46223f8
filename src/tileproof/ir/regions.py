"""The law of regions: one pick per axis of a tensor names a region, and what moves has exactly its axes.

The law of combiners: `Fold`, `Scan` and `Join` hand a combiner two values of a kind, and it makes one of them. A
combiner computes and nothing else: it touches no memory and shows nothing, so that it may run in any program and as
often as a backend likes. `Fold` and `Scan` combine the elements along an axis, so their combiner never sees that axis;
`Join` combines whole tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, assert_never

from tileproof.language.dtypes import ENTRY, INDEX

from . import ops
from .rules import Broken, Dimensions, check_axis, demand
from .types import (
    INDEX_SCALAR,
    Access,
    AnyValue,
    Axis,
    Content,
    Dimension,
    DimensionTag,
    Fixed,
    Named,
    Tensor,
    TensorType,
    Tile,
    TileType,
    Unnamed,
    Walker,
    WalkerTag,
    at_least,
)
from .walk import dataflow, walk

_POSITIONS = (INDEX, ENTRY)
"""What picks elements: a position, or an entry of an index tensor, which may be none."""


def check_access(op: ops.Load | ops.Get | ops.Store | ops.Update, dimensions: Dimensions) -> None:
    """What moves has the tensor's element type and the axes of the region that the picks name."""
    region = TileType(op.tensor.type.read_as, picked_axes(op.tensor, op.picks, dimensions))
    match op:
        case ops.Load(result=result):
            demand(result.type == region, "the region is {}, the result {}", region, result.type)
        case ops.Get(result=result, fill=fill):
            demand(result.type == region, "the region is {}, the result {}", region, result.type)
            scalar = TileType(region.dtype)
            demand(fill.type == scalar, "what stands for missing elements is {}, not {}", scalar, fill.type)
        case ops.Store(value=value) | ops.Update(value=value):
            # A position is an entry that is not none, so it is stored as it is.
            is_position = region.dtype == ENTRY and value.type == TileType(INDEX, region.axes)
            demand(value.type == region or is_position, "the region is {}, the value {}", region, value.type)
        case _:
            assert_never(op)


def check_split(op: ops.SplitAt) -> None:
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


def check_segments(segments: ops.Segments) -> None:
    """The borders of the segments are `Offsets` into the dimension that is walked."""
    walker, offsets = segments.walker, segments.offsets.type
    match offsets:
        case TensorType(Access.IN, Content("Offsets", dimension), (_,)):
            demand(dimension == walker.type.dimension, "{!r} does not cut {!r}", segments.offsets, walker)
        case _:
            raise Broken(f"borders of segments are one axis of Offsets, read only, not {offsets}")
    demand(not walker.type.is_piece, "{!r} is split and cut into segments", walker)
    demand(segments.index.type == INDEX_SCALAR, "a segment is counted in indices, not {}", segments.index.type)


def picked_axes(tensor: Tensor, picks: tuple[ops.Pick, ...], dimensions: Dimensions) -> tuple[Axis, ...]:
    """The axes of the region that one pick per axis of a tensor names."""
    walked = tensor.type.dimensions
    demand(len(picks) == len(walked), "{!r} has {} axes, {} are picked", tensor, len(walked), len(picks))
    axes = (_picked(pick, dimension, dimensions) for pick, dimension in zip(picks, walked, strict=True))
    return tuple(axis for axis in axes if axis is not None)


def _picked(pick: ops.Pick, walked: Dimension, dimensions: Dimensions) -> Axis | None:
    """The axis of the result for a pick; None where it drops the axis."""
    match pick:
        case ops.Along(walker):
            # Any walker may index an axis without a name; that it is in bounds is an obligation.
            is_walked = isinstance(walked, Unnamed) or walked == Named(walker.type.dimension)
            demand(is_walked, "{!r} does not walk {}", walker, walked)
            return None if walker.type.size is None else Axis(walker.type.size, WalkerTag(walker))
        case ops.At(index):
            is_place = index.type.dtype in _POSITIONS and index.type.rank == 0
            demand(is_place, "an element is picked by an index, not {}", index.type)
            return None
        case ops.Gather(indices):
            is_list = indices.type.dtype in _POSITIONS and indices.type.rank == 1
            demand(is_list, "elements are picked by one axis of index, not {}", indices.type)
            return indices.type.axes[0]
        case ops.Whole():
            return _whole(walked, dimensions)
        case ops.Window(start, length):
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


_Computing: TypeAlias = ops.PureOp | ops.Fold | ops.Scan | ops.TilesLoop | ops.RangeLoop | ops.While | ops.If


def check_combining(op: ops.Fold | ops.Scan | ops.Join) -> None:
    """Raises `Broken` unless the types of identities, results and combiner follow from the operands."""
    demand(op.operands != (), "there is nothing to combine")
    types = [operand.type for operand in op.operands]
    demand(all(of.dtype != ENTRY for of in types), "{} is not combined; none has no arithmetic", ENTRY)
    match op:
        case ops.Fold(identities=identities):
            parts = _parts(types, op.axis)
            _demand_types("the identities", identities, [TileType(of.dtype) for of in types])
            _demand_types("the results", op.results, parts)
            _check_combiner(op.combiner, parts)
        case ops.Scan():
            parts = _parts(types, op.axis)
            _demand_types("the results", op.results, types)
            _check_combiner(op.combiner, parts)
        case ops.Join():
            _demand_types("the results", op.results, types)
            _check_combiner(op.combiner, types)
        case _:
            assert_never(op)


def _parts(types: list[TileType], axis: int) -> list[TileType]:
    """What is combined along an axis: the operands without it."""
    for of in types:
        demand(of.axes == types[0].axes, "what is combined differs in shape: {} and {}", types[0], of)
        check_axis(of, axis)
    return [of.without(axis) for of in types]


def _check_combiner(combiner: ops.Combiner, types: list[TileType]) -> None:
    _demand_types("the left values of a combiner", combiner.left, types)
    _demand_types("the right values of a combiner", combiner.right, types)
    _demand_types("the values a combiner hands on", combiner.body.yields, types)
    for op in walk(combiner.body):
        demand(isinstance(op, _Computing), "a combiner computes only, and this is {}", type(op).__name__)


def _demand_types(what: str, tiles: Iterable[Tile], types: list[TileType]) -> None:
    actual = [tile.type for tile in tiles]
    demand(actual == types, "{} are {}, not {}", what, _listed(types), _listed(actual))


def _listed(types: list[TileType]) -> str:
    return ", ".join(map(str, types)) or "nothing"


def of_one_piece(leading: Sequence[ops.AnyOp], piece: Walker) -> set[AnyValue]:
    """The walker `piece` and every value of `leading`, the operations before the join, that may differ between pieces.

    Such a value depends on the piece, has its tag, or was read from memory that programs write.
    """
    local: set[AnyValue] = {piece}
    before = 0
    while len(local) != before:
        before = len(local)
        for op in walk(ops.Block(tuple(leading))):
            for value, sources in dataflow(op):
                if not local.isdisjoint(sources) or has_tag_in(value, local) or _reads_written(op):
                    local.add(value)
    return local


def _reads_written(op: ops.AnyOp) -> bool:
    return isinstance(op, ops.Load | ops.Get) and op.tensor.type.access is not Access.IN


def has_tag_in(value: AnyValue, walkers: set[AnyValue]) -> bool:
    """Whether an axis of a tile is tagged by one of the walkers."""
    if not isinstance(value.type, TileType):
        return False
    tags = (axis.tag for axis in value.type.axes)
    return any(isinstance(tag, WalkerTag) and tag.walker in walkers for tag in tags)
