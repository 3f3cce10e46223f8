"""The meaning of the functions of the language and of the methods of tiles."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import cast as typed

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Edit
from tileproof.diagnostics.spans import Span
from tileproof.ir import ops
from tileproof.ir.types import (
    INDEX_SCALAR,
    Access,
    Axis,
    Extent,
    Length,
    Named,
    Tensor,
    TensorType,
    Tile,
    TileType,
    Unnamed,
    Walker,
    WalkerTag,
    WalkerType,
    at_least,
)
from tileproof.language import spaces, tiles
from tileproof.language.dtypes import BOOL, ENTRY, F32, I64, INDEX, TF32, U64, DType
from tileproof.language.tiles import Lowest
from tileproof.language.unsafe import raw

from . import subscripts
from .calls import FUNCTIONS, METHODS, Call, Handler, lowers, lowers_method
from .context import Context, Place
from .control_flow import coerce
from .entities import (
    Axes,
    Bundle,
    Clash,
    Entity,
    Known,
    describe,
    describe_axes,
    describe_axis,
    is_tensor,
    is_tile,
    is_walker,
    meet_axis,
)
from .expressions import apply
from .hints import dtype_hint
from .source import RuledOut, reject
from .tile_operations import (
    as_number,
    as_tile,
    binary,
    bits,
    broadcast,
    cast,
    cumsum,
    expand,
    mma,
    permute,
    position,
    reduce,
    select,
    to_index,
    unary,
    unify,
)

NONE = Known(None)


# Making tiles.


def shape_axes(call: Call, parameter: str = "shape") -> Axes:
    """The axes a shape describes: walkers with their tag, constants without."""
    entity, span = call.entity(parameter), call.where(parameter)
    parts = entity.items if isinstance(entity, Bundle) else (entity,)
    return tuple(_shape_axis(part, span) for part in parts)


def _shape_axis(part: Entity, span: Span) -> Axis:
    if is_walker(part) and part.type.size is not None:
        return Axis(part.type.size, WalkerTag(part))
    match part:
        case Known(value=bool()):
            pass
        case Known(value=int() | Extent() as length):
            if isinstance(length, int) and length > subscripts.LONGEST:
                message = f"an axis of a tile cannot have {length} elements"
                raise reject(Code.BAD_SHAPE, message, span, help="walk the dimension in tiles")
            if at_least(length, 0) is False:
                raise reject(Code.BAD_SHAPE, f"an axis cannot have {length} elements", span, help="give 0 or more")
            return Axis(length)
        case _:
            pass
    cure = "use a constant, or a walker: `tp.zeros((i, j))` is as long as the tiles `i` and `j`"
    if is_tile(part):
        cure = "tiles have static shapes; a dimension becomes a constant by adding it to the signature: `D: int`"
    raise reject(Code.BAD_SHAPE, f"{describe(part)} is not a length", span, help=cure)


def dtype_of(call: Call, parameter: str = "dtype", default: DType | None = None) -> DType:
    """An element type given as an argument."""
    value = call.constant(parameter, None)
    if value is None and default is not None:
        return default
    if isinstance(value, DType):
        return value
    if value is bool:
        return BOOL
    where = call.where(parameter) if parameter in call else call.span
    cure = dtype_hint(value) or "write f32, bf16, i32, ..."
    raise reject(Code.NOT_A_DTYPE, f"{describe(Known(value))} is not an element type", where, help=cure)


def _filled(ctx: Context, value: Entity, axes: Axes, dtype: DType | None, span: Span) -> Tile:
    if dtype is ENTRY:
        message = "an entry comes from an index tensor and cannot be made"
        raise reject(Code.WRONG_TYPE, message, span, help="leave the type out for a plain index")
    tile = as_tile(ctx.builder, value, span, dtype)
    if dtype is not None and tile.type.dtype is not dtype:
        tile = _convert(ctx, tile, dtype, span)
    if tile.type.axes:
        cure = "give a scalar or a literal; a tile is stretched by arithmetic, as in `tp.zeros(shape) + t`"
        raise reject(Code.BAD_CALL, f"tp.full takes one value, and this is {describe(tile)}", span, help=cure)
    return broadcast(ctx.builder, tile, axes, span)


@lowers(tiles.zeros)
def _zeros(ctx: Context, call: Call) -> Entity:
    dtype = dtype_of(call, default=F32)
    zero = Known(False) if dtype is BOOL else Known(0)
    tile = _filled(ctx, zero, shape_axes(call), dtype, call.span)
    if "dtype" not in call:
        ctx.builder.untyped[tile] = call.span
    return tile


@lowers(tiles.full)
def _full(ctx: Context, call: Call) -> Entity:
    value = call.entity("value")
    dtype = dtype_of(call, default=F32) if isinstance(value, Known) or "dtype" in call else None
    tile = _filled(ctx, value, shape_axes(call), dtype, call.where("value"))
    if "dtype" not in call and dtype is F32:
        ctx.builder.untyped[tile] = call.span
    return tile


def _is_length(entity: Entity) -> bool:
    if isinstance(entity, Known):
        return isinstance(entity.value, int | Extent) and not isinstance(entity.value, bool)
    return is_tile(entity)


def _from_a_start(call: Call) -> Exception:
    """`tp.arange(0, n)`, as other languages have it."""
    first, last = call.where("n").text, call.where("dtype").text
    from_zero = first == "0"
    written = f"tp.arange({last})" if from_zero else f"{first} + tp.arange({last} - ({first}))"
    message = "tp.arange counts from 0: it takes how many, and an element type"
    cure = f"write `{written}`"
    return reject(Code.BAD_CALL, message, call.span, help=cure, edit=Edit(call.span, written) if from_zero else None)


@lowers(tiles.arange)
def _arange(ctx: Context, call: Call) -> Entity:
    if "dtype" in call and _is_length(call.entity("dtype")):
        raise _from_a_start(call)
    axis = _shape_axis(call.entity("n"), call.where("n"))
    if axis.tag is not None:
        message = f"tp.arange takes a constant, and this is {describe(call.entity('n'))}"
        cure = f"the positions of a walker are `{call.where('n').text}.elements`"
        raise reject(Code.BAD_SHAPE, message, call.where("n"), help=cure)
    result = ctx.builder.value(TileType(INDEX, (axis,)))
    ctx.builder.emit(ops.Iota(call.span, result))
    dtype = dtype_of(call, default=INDEX)
    return _convert(ctx, result, dtype, call.span)


# Elementwise.


def _unary_handler(fn: ops.UnaryFn) -> Handler:
    def handler(ctx: Context, call: Call) -> Entity:
        return unary(ctx.builder, fn, call.entity("x"), call.span)

    return handler


def _binary_handler(fn: ops.BinaryFn) -> Handler:
    def handler(ctx: Context, call: Call) -> Entity:
        spans = (call.where("a"), call.where("b"))
        return apply(ctx, fn, call.entity("a"), call.entity("b"), call.span, spans)

    return handler


for _fn in ops.UnaryFn:
    if _fn not in (ops.UnaryFn.NEG, ops.UnaryFn.NOT):
        FUNCTIONS[getattr(tiles, _fn.value)] = _unary_handler(_fn)
FUNCTIONS[tiles.maximum] = FUNCTIONS[builtins.max] = _binary_handler(ops.BinaryFn.MAX)
FUNCTIONS[tiles.minimum] = FUNCTIONS[builtins.min] = _binary_handler(ops.BinaryFn.MIN)
FUNCTIONS[tiles.cdiv] = _binary_handler(ops.BinaryFn.CDIV)


@lowers(tiles.abs, builtins.abs)
def _abs(ctx: Context, call: Call) -> Entity:
    entity = call.entity("x")
    if isinstance(entity, Known) and isinstance(entity.value, int | float):
        return Known(abs(entity.value))
    return unary(ctx.builder, ops.UnaryFn.ABS, entity, call.span)


@lowers(tiles.clip)
def _clip(ctx: Context, call: Call) -> Entity:
    where = [call.where(name) for name in ("x", "low", "high")]
    x, low, high = unify(ctx.builder, [call.entity(name) for name in ("x", "low", "high")], where, call.span)
    raised = binary(ctx.builder, ops.BinaryFn.MAX, x, low, call.span, (where[0], where[1]))
    return binary(ctx.builder, ops.BinaryFn.MIN, raised, high, call.span, (where[0], where[2]))


@lowers(tiles.where)
def _where(ctx: Context, call: Call) -> Entity:
    names = ("condition", "yes", "no")
    condition, yes, no = (call.entity(name) for name in names)
    return select(ctx.builder, condition, yes, no, call.span, [call.where(name) for name in names])


@lowers(tiles.mma)
def _mma(ctx: Context, call: Call) -> Entity:
    spans = [call.where(name) for name in ("a", "b", "acc")]
    return mma(ctx.builder, call.entity("a"), call.entity("b"), call.entity("acc"), call.span, spans)


def _convert(ctx: Context, tile: Tile, dtype: DType, span: Span) -> Tile:
    have = tile.type.dtype
    if dtype is ENTRY and have is not ENTRY:
        message = f"{have} cannot become an entry of an index tensor"
        raise reject(Code.WRONG_TYPE, message, span, help="leave it an `index`: it picks elements just as well")
    if dtype is INDEX and have.kind != "index":
        return to_index(ctx.builder, tile, span)
    if have.kind == "index" and dtype is BOOL:
        raise reject(Code.WRONG_TYPE, "an index cannot become a bool", span, help="compare it: `n != 0`")
    return cast(ctx.builder, tile, dtype, span)


@lowers_method("to")
def _to(ctx: Context, call: Call) -> Entity:
    tile = as_tile(ctx.builder, call.entity("x"), call.where("x"))
    return _convert(ctx, tile, dtype_of(call), call.span)


@lowers(tiles.bitcast)
def _bitcast(ctx: Context, call: Call) -> Entity:
    tile, dtype = as_tile(ctx.builder, call.entity("x"), call.where("x")), dtype_of(call)
    have = tile.type.dtype
    if have.bits != dtype.bits or any(one.kind in ("index", "bool") or one is TF32 for one in (have, dtype)):
        cure = "bitcast goes between numbers of the same width; `.to(...)` converts values"
        raise reject(Code.WRONG_TYPE, f"{have} and {dtype} do not share their bits", call.span, help=cure)
    if have is dtype:
        return tile
    return bits(ctx.builder, tile, dtype, call.span)


# Reductions and scans.


def axis_of(call: Call, tile: Tile) -> int | None:
    """The axis an operation works along; None for all of them."""
    if call.name.strip("`").removeprefix("tp").lstrip(".") in _OF_TWO and not _is_axis(call.arguments.get("axis")):
        raise _one_of_two(call)
    axis = call.constant("axis", None)
    if axis is None:
        return None
    rank = tile.type.rank
    if not isinstance(axis, int) or isinstance(axis, bool) or not -rank <= axis < rank:
        raise reject(
            Code.BAD_AXIS,
            f"there is no axis {axis if type(axis) is int else describe(Known(axis))}: "
            f"the tile has the axes {describe_axes(tile.type.axes)}",
            call.where("axis"),
            help={0: "a scalar has no axes", 1: "its only axis is 0"}.get(
                rank, f"axes count from 0 to {rank - 1}, or from -1 backwards"
            ),
        )
    return axis % rank


_OF_TWO = {"max": ("maximum", "greatest", "greater"), "min": ("minimum", "least", "lesser")}


def _is_axis(argument: tuple[Entity, Span] | None) -> bool:
    """Whether an argument may be meant as an axis: a constant that is no float, or nothing."""
    entity = argument[0] if argument else NONE
    return isinstance(entity, Known) and not isinstance(entity.value, float | Lowest)


def _one_of_two(call: Call) -> Exception:
    """`tp.max(a, b)`: what is meant is a function of two tiles."""
    meant, most, more = _OF_TWO[call.name.strip("`").removeprefix("tp").lstrip(".")]
    written = f"tp.{meant}({call.where('x').text}, {call.where('axis').text})"
    message = f"{call.name} is the {most} element of one tile, and its second argument is an axis"
    cure = f"the {more} of two values is `{written}`"
    return reject(Code.BAD_CALL, message, call.span, help=cure, edit=Edit(call.span, written))


def _reduction_handler(fn: ops.ReduceFn) -> Handler:
    def handler(ctx: Context, call: Call) -> Entity:
        tile = as_tile(ctx.builder, call.entity("x"), call.where("x"))
        axis = axis_of(call, tile)
        if axis is None and tile.type.rank != 1:
            if fn in (ops.ReduceFn.ARGMAX, ops.ReduceFn.ARGMIN):
                raise reject(
                    Code.BAD_AXIS, f"tp.{fn} needs an axis", call.span, help="say along which: `axis=-1`", labels=()
                )
            if tile.type.rank == 0:
                cure = "it is one value already: leave the reduction out"
                raise reject(Code.BAD_AXIS, f"tp.{fn} of a scalar: it has no axes", call.span, help=cure)
        axes = list(range(tile.type.rank)) if axis is None else [axis]
        result = tile
        for one in reversed(axes):
            result = reduce(ctx.builder, fn, result, one, call.span)
        if call.constant("keepdims", False) not in (False, True):
            message = "`keepdims` is True or False"
            raise reject(Code.BAD_CALL, message, call.where("keepdims"), help="write `keepdims=True`")
        if call.constant("keepdims", False):
            for one in axes:
                result = expand(ctx.builder, result, one, call.span)
        return result

    return handler


for _reduction in ops.ReduceFn:
    FUNCTIONS[getattr(tiles, _reduction.value)] = METHODS[_reduction.value] = _reduction_handler(_reduction)


@lowers(tiles.cumsum)
@lowers_method("cumsum")
def _cumsum(ctx: Context, call: Call) -> Entity:
    tile = as_tile(ctx.builder, call.entity("x"), call.where("x"))
    axis = axis_of(call, tile)
    if axis is None and tile.type.rank != 1:
        raise reject(Code.BAD_AXIS, "tp.cumsum needs an axis", call.span, help="say along which: `axis=-1`")
    return cumsum(ctx.builder, tile, axis or 0, call.span)


# Shapes.


@lowers_method("reshape")
def _reshape(ctx: Context, call: Call) -> Entity:
    tile = typed("Tile", call.entity("x"))
    arguments = typed("Bundle", call.entity("shape")).items
    parts = arguments[0].items if len(arguments) == 1 and isinstance(arguments[0], Bundle) else arguments
    for axis in tile.type.axes:
        _need_full(axis, "reshape", call.span)
    if any(isinstance(part, Known) and part.value == -1 for part in parts):
        message = "reshape takes every length, and -1 is none"
        known = [part.value for part in parts if isinstance(part, Known) and part.value != -1]
        whole = tile.type.size
        cure = "write the length instead of -1"
        if isinstance(whole, int) and all(type(length) is int and length for length in known):
            cure = f"write {whole // math.prod(known)} instead of -1"
        raise reject(Code.BAD_SHAPE, message, call.span, help=cure)
    axes = tuple(_shape_axis(part, call.span) for part in parts)
    for axis in axes:
        if axis.tag is not None:
            message = "reshape gives full axes: their lengths are constants"
            raise reject(Code.BAD_SHAPE, message, call.span, help="give numbers, not walkers")
    shape = TileType(tile.type.dtype, axes)
    before, after = tile.type.size, shape.size
    if before != after:
        message = f"{describe_axes(tile.type.axes)} has {before} elements and {describe_axes(axes)} has {after}"
        raise reject(Code.LENGTHS_DIFFER, message, call.span, help="reshape to lengths with the same product")
    result = ctx.builder.value(shape)
    ctx.builder.emit(ops.Reshape(call.span, result, tile))
    return result


@lowers(tiles.permute)
@lowers_method("permute")
def _permute(ctx: Context, call: Call) -> Entity:
    tile, given, span = as_tile(ctx.builder, call.entity("x"), call.where("x")), call.entity("axes"), call.where("axes")
    items = given.items if isinstance(given, Bundle) else (given,)
    if len(items) == 1 and isinstance(items[0], Bundle):
        items = items[0].items  # t.permute((1, 0)), as well as t.permute(1, 0)
    rank = tile.type.rank
    axes = [item.value for item in items if isinstance(item, Known) and type(item.value) is int]
    order = tuple(axis % rank for axis in axes if -rank <= axis < rank)
    if len(order) < len(items) or sorted(order) != list(range(rank)):
        message = f"this is no order of the axes of {describe(tile)}"
        shown = ", ".join(map(str, reversed(range(rank))))
        cure = f"name each axis once, by a constant: `.permute({shown})`" if rank else "a scalar has no axes"
        raise reject(Code.BAD_AXIS, message, span, help=cure)
    return permute(ctx.builder, tile, order, call.span)


def _need_full(axis: Axis, what: str, span: Span) -> None:
    if not axis.is_full:
        message = f"{what} needs full axes, and {describe_axis(axis)} may be short"
        cure = "the last tile of a walk has fewer elements; do it on `:` or constant axes"
        raise reject(Code.RAGGED_RESHAPE, message, span, help=cure)


@lowers(tiles.cat)
def _cat(ctx: Context, call: Call) -> Entity:
    bundle = call.entity("tiles")
    if not isinstance(bundle, Bundle) or not bundle.items:
        raise reject(Code.BAD_CALL, "tp.cat takes a tuple of tiles", call.where("tiles"), help="write `tp.cat((a, b))`")
    where = call.where("tiles")
    parts = unify(ctx.builder, bundle.items, [where] * len(bundle.items), where, entries=True)
    axis = axis_of(call, parts[0]) if "axis" in call else 0
    if axis is None or any(part.type.rank != parts[0].type.rank for part in parts) or parts[0].type.rank == 0:
        message = "tp.cat takes tiles with equally many axes, at least one"
        raise reject(Code.LENGTHS_DIFFER, message, where, help="add axes with `[:, None]` or `[None, :]`")
    parts = _matched_but(ctx, parts, axis, where)
    for part in parts:
        _need_full(part.type.axes[axis], "tp.cat", where)
    total: Length = 0
    for part in parts:
        total = total + part.type.axes[axis].length
    axes = (*parts[0].type.axes[:axis], Axis(total), *parts[0].type.axes[axis + 1 :])
    result = ctx.builder.value(TileType(parts[0].type.dtype, axes))
    ctx.builder.emit(ops.Cat(call.span, result, tuple(parts), axis))
    return result


def _matched_but(ctx: Context, parts: Sequence[Tile], axis: int, span: Span) -> list[Tile]:
    """The tiles with all axes but one met."""
    try:
        met = list(parts[0].type.axes)
        for part in parts[1:]:
            met = [
                one if number == axis else meet_axis(one, other, len(met) - number)
                for number, (one, other) in enumerate(zip(met, part.type.axes, strict=True))
            ]
    except Clash as clash:
        cure = "all axes but the one they are joined along must agree"
        raise reject(clash.code, "tp.cat: " + clash.sentence, span, help=cure) from None
    return [broadcast(ctx.builder, part, (*met[:axis], part.type.axes[axis], *met[axis + 1 :]), span) for part in parts]


# Dimensions, contracts, reductions into memory.


def dimension_name(ctx: Context, call: Call, parameter: str) -> str:
    name = call.constant(parameter, None)
    if isinstance(name, str) and name in ctx.signature.dimensions:
        return name
    if isinstance(name, str) and name.isdecimal():
        message, cure = f"`{name}` is a number, and a dimension has a name", f"write `{name}` for its extent"
        is_extent = call.name == "tp.dim"
        edit = Edit(call.span, name) if is_extent else None
        if not is_extent:
            cure = f'call the axis N in the signature, and demand `tp.require(tp.dim("N") == {name})`'
        raise reject(Code.UNKNOWN_DIMENSION, message, call.where(parameter), help=cure, edit=edit)
    if isinstance(name, str):
        ctx.demand_known(name, call.where(parameter))
    near = ctx.signature.nearest_dimension(name) if isinstance(name, str) else None
    known = ", ".join(ctx.signature.dimensions) or "none"
    shown = f'"{name}"' if isinstance(name, str) else describe(Known(name))
    message = f"{shown} is not a dimension of this kernel"
    cure = f'did you mean "{near}"?' if near else f"its dimensions are: {known}"
    raise reject(Code.UNKNOWN_DIMENSION, message, call.where(parameter), help=cure)


@lowers(spaces.dim)
def _dim(ctx: Context, call: Call) -> Entity:
    name = dimension_name(ctx, call, next(iter(call.arguments)))
    return subscripts.extent_named(ctx, name, call.span)


@lowers(spaces.group)
def _group(ctx: Context, call: Call) -> Entity:
    element, into = call.arguments
    entity = call.entity(element)
    if not (is_walker(entity) and entity.type.is_each):
        message = f"tp.group takes an element of a dimension, and this is {describe(entity)}"
        cure = "walk the dimension element by element: `for h in tp.parallel(H=tp.each)`"
        raise reject(Code.BAD_GROUP, message, call.where(element), help=cure)
    name = dimension_name(ctx, call, into)
    index = as_tile(ctx.builder, entity, call.where(element))
    result = ctx.builder.value(INDEX_SCALAR)
    ctx.builder.emit(ops.Group(call.span, result, index, entity.type.dimension, name))
    return result


@lowers(spaces.require)
def _require(ctx: Context, call: Call) -> Entity:
    entity = call.entity("condition")
    if isinstance(entity, Known) and isinstance(entity.value, bool) and ctx.signature.has_forms:
        if not entity.value:
            message = "this contract does not hold for these optional parameters"
            absent = ", ".join(f"{each.name}=None" for each in ctx.signature.absent) or "nothing left out"
            cure = "pass another choice of them"
            raise RuledOut(reject(Code.CONTRACT, message, call.span, notes=(f"with {absent}",), help=cure).diagnostic)
        return NONE
    if isinstance(entity, Known):
        entity = coerce(ctx, entity, TileType(BOOL), call.span)
    if not (is_tile(entity) and entity.type == TileType(BOOL)):
        message = f"tp.require takes one truth value, and this is {describe(entity)}"
        raise reject(Code.CONDITION, message, call.span, help='compare, for instance `tp.dim("N") >= 1`')
    if not _is_before_space(ctx):
        raise reject(
            Code.REQUIRE_PLACE,
            "tp.require stands at the top level of the kernel, before tp.parallel",
            call.span,
            notes=("a contract is tested once, at launch",),
            help="move it above the loop",
        )
    if not _is_host_value(ctx, entity):
        raise reject(
            Code.REQUIRE_PLACE,
            "tp.require depends on values only the device knows",
            call.span,
            notes=("a contract is tested at launch: it may use dimensions, scalars and constants",),
            help="pass the value as a scalar parameter",
        )
    ctx.builder.emit(ops.Require(call.span, entity))
    return NONE


def _is_before_space(ctx: Context) -> bool:
    """Whether a call stands at the top level of the kernel, before `tp.parallel`."""
    return ctx.place is not Place.INSIDE and not ctx.depth and ctx.parallel_span is None


def _is_host_value(ctx: Context, tile: Tile) -> bool:
    """Whether a value of the top level is computed from dimensions, scalars and constants alone."""
    makers = {result: op for op in ctx.builder.ops for result in ops.results(op)}
    pending, seen = [tile], set()
    while pending:
        value = pending.pop()
        op = makers.get(value)
        if op is None or value in seen:
            continue
        seen.add(value)
        if isinstance(op, ops.Load | ops.Get) or ops.blocks(op):
            return False
        pending.extend(typed("Tile", operand) for operand in ops.operands(op))
    return True


@lowers(tiles.update)
def _update(ctx: Context, call: Call) -> Entity:
    tensor = call.entity("tensor")
    if not is_tensor(tensor):
        message = f"tp.update takes a tensor, and this is {describe(tensor)}"
        raise reject(Code.BAD_REDUCTION, message, call.where("tensor"), help="name a Sum, Max or Min of the signature")
    items = _items(call, "index")
    subscripts.update(ctx, tensor, items, call.entity("value"), call.span, call.where("value"))
    return NONE


# Other accesses to memory, random numbers, printing.


def _items(call: Call, parameter: str) -> list[subscripts.Item]:
    """An argument that indexes a tensor, as the parts of a subscript."""
    entity = call.entity(parameter)
    parts = entity.items if isinstance(entity, Bundle) else (entity,)
    return [(part, call.where(parameter)) for part in parts]


@lowers_method("get")
def _get(ctx: Context, call: Call) -> Entity:
    tensor = typed("Tensor", call.entity("x"))
    items = _items(call, "index")
    return subscripts.get(ctx, tensor, items, call.entity("fill"), call.span, call.where("fill"))


@lowers_method("shift")
def _shift(ctx: Context, call: Call) -> Entity:
    walker = typed("Walker", call.entity("x"))
    if walker.type.is_each:
        message = f"`{walker.name}` is one element: add to it instead"
        raise reject(Code.NO_ATTRIBUTE, message, call.span, help=f"write `{walker.name} + n`")
    by = position(ctx.builder, call.entity("by"), call.where("by"), "the shift")
    result = ctx.builder.value(WalkerType(walker.type.dimension, walker.type.size), walker.name.partition(".")[0])
    ctx.walkers.append(result)
    ctx.builder.emit(ops.Shift(call.span, result, walker, by))
    return result


@lowers_method("fill")
def _fill(ctx: Context, call: Call) -> Entity:
    tile = typed("Tile", call.entity("x"))
    value = as_tile(ctx.builder, call.entity("value"), call.where("value"), tile.type.dtype)
    if value.type != TileType(tile.type.dtype):
        message = f"the tile holds {tile.type.dtype}, and what fills it is {describe(value)}"
        cure = "fill with a literal, or a scalar of that type"
        raise reject(Code.MIXED_TYPES, message, call.where("value"), help=cure)
    axes = tuple(Axis(axis.length) for axis in tile.type.axes)
    if axes == tile.type.axes:
        return tile
    result = ctx.builder.value(TileType(tile.type.dtype, axes))
    ctx.builder.emit(ops.Fill(call.span, result, tile, value))
    return result


@lowers(spaces.split_at)
def _split_at(ctx: Context, call: Call) -> Entity:
    tensor = call.entity("tensor")
    if not is_tensor(tensor) or tensor.type.access is not Access.INOUT:
        message = f"tp.split_at cuts an InOut in two, and this is {describe(tensor)}"
        cure = "an In is read as it is; an Out is never read"
        raise reject(Code.SPLIT_PLACE, message, call.where("tensor"), help=cure)
    if not _is_before_space(ctx):
        raise reject(
            Code.SPLIT_PLACE,
            "tp.split_at stands before tp.parallel, at the top level of the kernel",
            call.span,
            notes=("all programs must see the tensor cut at the same place",),
            help="move it above the loop",
        )
    subscripts.check_whole(ctx, tensor, call.where("tensor"))
    name = dimension_name(ctx, call, "dimension")
    axes = [axis for axis, dimension in enumerate(tensor.type.dimensions) if dimension == Named(name)]
    if len(axes) != 1:
        message = f"`{tensor.name}` has {len(axes)} axes of {name}, and one is cut"
        cure = "name a dimension that one axis of the tensor has"
        raise reject(Code.UNKNOWN_DIMENSION, message, call.where("dimension"), help=cure)
    (axis,) = axes
    at = position(ctx.builder, call.entity("position"), call.where("position"), "where tp.split_at cuts")
    dimensions = tensor.type.dimensions
    rest = (*dimensions[:axis], Unnamed(), *dimensions[axis + 1 :])
    past = ctx.builder.value(TensorType(Access.IN, tensor.type.element, dimensions), f"{tensor.name}.past")
    fresh = ctx.builder.value(TensorType(Access.INOUT, tensor.type.element, rest), f"{tensor.name}.fresh")
    ctx.builder.emit(ops.SplitAt(call.span, past, fresh, tensor, axis, at))
    ctx.cut[tensor] = call.span
    return Bundle((past, fresh))


@lowers(tiles.random)
def _random(ctx: Context, call: Call) -> Entity:
    where = call.where("seed")
    seed = as_tile(ctx.builder, call.entity("seed"), where, I64)
    if seed.type.axes or not (seed.type.dtype.is_integer or seed.type.dtype.kind == "index"):
        message = f"the seed is one integer, and this is {describe(seed)}"
        raise reject(Code.WRONG_TYPE, message, where, help="give a literal, or an integer scalar")
    number = as_tile(ctx.builder, call.entity("offset"), call.where("offset"), INDEX)
    offset = as_number(ctx.builder, to_index(ctx.builder, number, call.where("offset")), call.where("offset"))
    result = ctx.builder.value(TileType(F32, offset.type.axes))
    key = bits(ctx.builder, seed, I64, where) if seed.type.dtype is U64 else cast(ctx.builder, seed, I64, where)
    ctx.builder.emit(ops.Random(call.span, result, key, offset))
    return result


@lowers(tiles.print)
def _print(ctx: Context, call: Call) -> Entity:
    given_label = call.entity("label")
    label = given_label.value if isinstance(given_label, Known) else None
    if not isinstance(label, str):
        where = call.where("label")
        written = f'"{where.text}", {where.text}'
        edit = None if '"' in where.text else Edit(where, written)
        raise reject(Code.BAD_CALL, "tp.print begins with a text", where, help='write `tp.print("x", x)`', edit=edit)
    arguments = call.entity("values")
    assert isinstance(arguments, Bundle)
    values = tuple(as_tile(ctx.builder, value, call.span) for value in arguments.items)
    ctx.builder.emit(ops.Print(call.span, label, values))
    return NONE


# tp.raw


def _need_unsafe(ctx: Context, call: Call) -> str:
    if ctx.unsafe is None:
        raise reject(
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
        raise reject(Code.WRONG_TYPE, message, call.where("tensor"), help="name a tensor of the signature")
    return tensor


@lowers(raw.load)
def _raw_load(ctx: Context, call: Call) -> Entity:
    _need_unsafe(ctx, call)
    return subscripts.load(ctx, _raw_tensor(call), _items(call, "index"), call.span, raw=True)


@lowers(raw.store)
def _raw_store(ctx: Context, call: Call) -> Entity:
    _need_unsafe(ctx, call)
    items = _items(call, "index")
    subscripts.store(ctx, _raw_tensor(call), items, call.entity("value"), call.span, call.where("value"), raw=True)
    return NONE


@lowers(raw.assume)
def _assume(ctx: Context, call: Call) -> Entity:
    reason = _need_unsafe(ctx, call)
    entity = call.entity("condition")
    if isinstance(entity, Known) and isinstance(entity.value, bool):
        entity = as_tile(ctx.builder, entity, call.span)
    if not is_tile(entity) or entity.type != TileType(BOOL):
        message = f"tp.raw.assume takes one truth value, and this is {describe(entity)}"
        raise reject(Code.CONDITION, message, call.span, help="compare, and reduce a tile with `.all()`")
    ctx.builder.emit(ops.Assume(call.span, entity, reason))
    return NONE
