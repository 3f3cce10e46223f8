"""Other ways to reach memory: `x.get`, `i.shift`, `tp.split_at`, `tp.raw`; and `t.fill`, `tp.random`, `tp.print`."""

from __future__ import annotations

from typing import cast as typed

from tileproof.diagnostics.codes import Code
from tileproof.ir.ops import Assume, Fill, Print, Random, Shift, SplitAt
from tileproof.ir.types import Access, Axis, Named, Tensor, TensorType, Tile, TileType, Unnamed, Walker, WalkerType
from tileproof.language import spaces, tiles
from tileproof.language.dtypes import BOOL, F32, I64, INDEX, U64
from tileproof.language.unsafe import raw

from . import subscripts as indexing
from .calls import METHODS, Call, lowers
from .context import Context, Place
from .functions import NONE, dimension_name
from .operations import as_number, as_tile, bits, cast, to_index
from .source import refuse
from .spaces import position
from .values import Bundle, Entity, Known, describe, is_tensor, is_tile


def _items(entity: Entity, call: Call, parameter: str) -> list[indexing.Item]:
    parts = entity.items if isinstance(entity, Bundle) else (entity,)
    return [(part, call.where(parameter)) for part in parts]


def _get(ctx: Context, call: Call) -> Entity:
    tensor = typed("Tensor", call.entity("x"))
    items = _items(call.entity("index"), call, "index")
    return indexing.get(ctx, tensor, items, call.entity("fill"), call.span, call.where("fill"))


METHODS["get"] = _get


def _shift(ctx: Context, call: Call) -> Entity:
    walker = typed("Walker", call.entity("x"))
    if walker.type.is_each:
        message = f"`{walker.name}` is one element: add to it instead"
        raise refuse(Code.NO_ATTRIBUTE, message, call.span, help=f"write `{walker.name} + n`")
    by = position(ctx, call.entity("by"), call.where("by"), "the shift")
    result = ctx.builder.value(WalkerType(walker.type.dimension, walker.type.size), walker.name.partition(".")[0])
    ctx.walkers.append(result)
    ctx.builder.emit(Shift(call.span, result, walker, by))
    return result


METHODS["shift"] = _shift


def _fill(ctx: Context, call: Call) -> Entity:
    tile = typed("Tile", call.entity("x"))
    value = as_tile(ctx.builder, call.entity("value"), call.where("value"), tile.type.dtype)
    if value.type != TileType(tile.type.dtype):
        message = f"the tile holds {tile.type.dtype}, and what fills it is {describe(value)}"
        cure = "fill with a literal, or a scalar of that type"
        raise refuse(Code.MIXED_TYPES, message, call.where("value"), help=cure)
    axes = tuple(Axis(axis.length) for axis in tile.type.axes)
    if axes == tile.type.axes:
        return tile
    result = ctx.builder.value(TileType(tile.type.dtype, axes))
    ctx.builder.emit(Fill(call.span, result, tile, value))
    return result


METHODS["fill"] = _fill


@lowers(spaces.split_at)
def _split_at(ctx: Context, call: Call) -> Entity:
    tensor = call.entity("tensor")
    if not is_tensor(tensor) or tensor.type.access is not Access.INOUT:
        raise refuse(
            Code.SPLIT_PLACE,
            f"tp.split_at cuts an InOut in two, and this is {describe(tensor)}",
            call.where("tensor"),
            help="an In is read as it is; an Out is never read",
        )
    if ctx.place is Place.INSIDE or ctx.depth or ctx.parallel_span is not None:
        raise refuse(
            Code.SPLIT_PLACE,
            "tp.split_at stands before tp.parallel, at the top level of the kernel",
            call.span,
            notes=("all programs must see the tensor cut at the same place",),
            help="move it above the loop",
        )
    indexing.check_whole(ctx, tensor, call.where("tensor"))
    name = dimension_name(ctx, call, "dimension")
    axes = [axis for axis, dimension in enumerate(tensor.type.dimensions) if dimension == Named(name)]
    if len(axes) != 1:
        message = f"`{tensor.name}` has {len(axes)} axes of {name}, and one is cut"
        cure = "name a dimension that one axis of the tensor has"
        raise refuse(Code.UNKNOWN_DIMENSION, message, call.where("dimension"), help=cure)
    (axis,) = axes
    at = position(ctx, call.entity("position"), call.where("position"), "where tp.split_at cuts")
    dimensions = tensor.type.dimensions
    rest = (*dimensions[:axis], Unnamed(), *dimensions[axis + 1 :])
    past = ctx.builder.value(TensorType(Access.IN, tensor.type.element, dimensions), f"{tensor.name}.past")
    fresh = ctx.builder.value(TensorType(Access.INOUT, tensor.type.element, rest), f"{tensor.name}.fresh")
    ctx.builder.emit(SplitAt(call.span, past, fresh, tensor, axis, at))
    ctx.cut[tensor] = call.span
    return Bundle((past, fresh))


@lowers(tiles.random)
def _random(ctx: Context, call: Call) -> Entity:
    where = call.where("seed")
    seed = as_tile(ctx.builder, call.entity("seed"), where, I64)
    if seed.type.axes or not (seed.type.dtype.is_integer or seed.type.dtype.kind == "index"):
        message = f"the seed is one integer, and this is {describe(seed)}"
        raise refuse(Code.WRONG_TYPE, message, where, help="give a literal, or an integer scalar")
    given = as_tile(ctx.builder, call.entity("offset"), call.where("offset"), INDEX)
    offset = as_number(ctx.builder, to_index(ctx.builder, given, call.where("offset")), call.where("offset"))
    result = ctx.builder.value(TileType(F32, offset.type.axes))
    key = bits(ctx.builder, seed, I64, where) if seed.type.dtype is U64 else cast(ctx.builder, seed, I64, where)
    ctx.builder.emit(Random(call.span, result, key, offset))
    return result


@lowers(tiles.print)
def _print(ctx: Context, call: Call) -> Entity:
    given_label = call.entity("label")
    label = given_label.value if isinstance(given_label, Known) else None
    if not isinstance(label, str):
        raise refuse(Code.BAD_CALL, "tp.print begins with a text", call.where("label"), help='write `tp.print("x", x)`')
    given = call.entity("values")
    assert isinstance(given, Bundle)
    ctx.builder.emit(Print(call.span, label, tuple(as_tile(ctx.builder, value, call.span) for value in given.items)))
    return NONE


# tp.raw


def _need_unsafe(ctx: Context, call: Call) -> str:
    if ctx.unsafe is None:
        raise refuse(
            Code.RAW_PLACE,
            f"{call.name} stands in a tp.unsafe block",
            call.span,
            notes=("nobody proves what tp.raw does: the block says why it is sound",),
            help='write `with tp.unsafe("why this is sound"):` around it, or index the tensor',
        )
    return ctx.unsafe


def _raw_tensor(call: Call) -> Tensor:
    tensor = call.entity("tensor")
    if not is_tensor(tensor):
        message = f"{call.name} takes a tensor, and this is {describe(tensor)}"
        raise refuse(Code.WRONG_TYPE, message, call.where("tensor"), help="name a tensor of the signature")
    return tensor


@lowers(raw.load)
def _raw_load(ctx: Context, call: Call) -> Entity:
    _need_unsafe(ctx, call)
    return indexing.load(ctx, _raw_tensor(call), _items(call.entity("index"), call, "index"), call.span, raw=True)


@lowers(raw.store)
def _raw_store(ctx: Context, call: Call) -> Entity:
    _need_unsafe(ctx, call)
    items = _items(call.entity("index"), call, "index")
    indexing.store(ctx, _raw_tensor(call), items, call.entity("value"), call.span, call.where("value"), raw=True)
    return NONE


@lowers(raw.assume)
def _assume(ctx: Context, call: Call) -> Entity:
    reason = _need_unsafe(ctx, call)
    entity = call.entity("condition")
    if isinstance(entity, Known) and isinstance(entity.value, bool):
        entity = as_tile(ctx.builder, entity, call.span)
    if not is_tile(entity) or entity.type != TileType(BOOL):
        message = f"tp.raw.assume takes one truth value, and this is {describe(entity)}"
        raise refuse(Code.CONDITION, message, call.span, help="compare, and reduce a tile with `.all()`")
    ctx.builder.emit(Assume(call.span, entity, reason))
    return NONE
