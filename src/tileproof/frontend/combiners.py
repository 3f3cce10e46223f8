"""Combiners: `tp.join`, `tp.reduce` and `tp.scan` with a function of the user's.

A combiner takes two values of one type (or two tuples) and returns one. It is compiled once, on placeholder values; it
uses nothing but these and constants, and accesses no memory, so that a backend may run it anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Label
from tileproof.diagnostics.spans import Span
from tileproof.ir import ops
from tileproof.ir.regions import has_tag_in, of_one_piece
from tileproof.ir.types import AnyValue, Tile, TileType, Walker, WalkerTag
from tileproof.ir.walk import walk
from tileproof.language import spaces, tiles

from .calls import Arguments, Call, invoke, lowers
from .context import Context, Place
from .entities import Entity, Unsplit, describe, describe_axes, fits, is_walker, join, leaves, rebuild
from .functions import axis_of
from .source import reject
from .tile_operations import align, as_number, as_tile, binary, broadcast


def _combiner(
    ctx: Context, by: Entity | None, shape: Entity, types: Sequence[TileType], span: Span
) -> tuple[ops.Combiner, list[TileType]]:
    """`by` compiled for values of these types, put together like `shape`; and the types, with the tags they met."""
    used, reported, walked = dict(ctx.builder.used), len(ctx.diagnostics), len(ctx.walkers)
    left = [ctx.builder.value(type_, "a") for type_ in types]
    right = [ctx.builder.value(type_, "b") for type_ in types]
    inner = replace(ctx, depth=ctx.depth + 1, unsafe=None)
    with ctx.builder.block() as body:
        if by is None:
            sides = zip(left, right, strict=True)
            outputs: list[Entity] = [binary(ctx.builder, ops.BinaryFn.ADD, a, b, span, (span, span)) for a, b in sides]
        else:
            pair = [(rebuild(shape, iter(side)), span) for side in (left, right)]
            outputs = list(leaves(invoke(inner, by, Arguments(pair, []), span, span)))
        if len(outputs) != len(types):
            message = f"the combiner takes {len(types)} values on each side and gives {len(outputs)}"
            raise reject(Code.BAD_COMBINER, message, span, help="give back as many as it takes, in the same order")
        tiles = [as_tile(ctx.builder, one, span, type_.dtype) for one, type_ in zip(outputs, types, strict=True)]
        met = [_met(tile.type, type_, span) for tile, type_ in zip(tiles, types, strict=True)]
    if met != list(types):
        # A full axis met a tag: what comes out must also go in, so compile it again for the tagged types.
        ctx.builder.used = used
        del ctx.diagnostics[reported:], ctx.walkers[walked:]
        return _combiner(ctx, by, shape, met, span)
    with ctx.builder.block() as rest:
        pairs = zip(tiles, types, strict=True)
        yields = tuple(broadcast(ctx.builder, tile, type_.axes, span) for tile, type_ in pairs)
    block = ops.Block((*body, *rest), yields)
    _check_closed(block, {*left, *right}, span)
    return ops.Combiner(tuple(left), tuple(right), block), met


def _met(output: TileType, wanted: TileType, span: Span) -> TileType:
    """The type that a combiner takes and returns: `wanted`, with the additional tags of `output`."""
    axes = wanted.axes
    if len(output.axes) == len(axes):
        joined = join(output.axes, axes)
        axes = axes if joined is None else joined
    if output.dtype is not wanted.dtype or not fits(output.axes, axes):
        message = f"the combiner takes {wanted} and gives {output}"
        raise reject(Code.BAD_COMBINER, message, span, help="give back the type it takes; casts are written `.to(...)`")
    return TileType(wanted.dtype, axes)


def _check_closed(block: ops.Block, own: set[Tile], span: Span) -> None:
    """A combiner uses its own values only: those it is given, those it makes, and the walks they are tagged with."""
    known: set[AnyValue] = set(own)
    for tile in own:
        known.update(axis.tag.walker for axis in tile.type.axes if isinstance(axis.tag, WalkerTag))
    for op in walk(block):
        if isinstance(op, ops.Load | ops.Store | ops.Update | ops.Get | ops.Print | ops.Assume):
            raise reject(Code.BAD_COMBINER, "a combiner computes and does nothing else", op.span, help="pass it tiles")
        known.update(ops.results(op))
        known.update(getattr(op, "carried", ()))
        combiner = getattr(op, "combiner", None)
        if isinstance(combiner, ops.Combiner):
            known.update((*combiner.left, *combiner.right))
        for name in ("variable", "walker"):
            inside = getattr(op, name, None)
            if inside is not None and ops.blocks(op):
                known.add(inside)
    for value, where in _uses(block, span):
        tags = [axis.tag for axis in value.type.axes] if isinstance(value.type, TileType) else []
        walkers = [tag.walker for tag in tags if isinstance(tag, WalkerTag)]
        for one in (value, *walkers):
            if one not in known:
                raise reject(
                    Code.BAD_COMBINER,
                    f"the combiner uses `{one.name}`, which is not one of its own values",
                    where,
                    notes=("it may run on another program than the one that computed the value",),
                    help="pass it along in a tuple, or use a constant",
                )


def _uses(block: ops.Block, span: Span) -> Iterator[tuple[AnyValue, Span]]:
    """Every value a block uses or yields, with the span of its use."""
    yield from ((value, span) for value in block.yields)
    for op in block.ops:
        yield from ((value, op.span) for value in (*ops.operands(op), *ops.results(op)))
        for inner in ops.blocks(op):
            yield from _uses(inner, op.span)


def _parts(ctx: Context, entity: Entity, span: Span) -> list[Tile]:
    """What is combined. Entries of index tensors become numbers: to combine is arithmetic."""
    parts = [as_number(ctx.builder, as_tile(ctx.builder, leaf, span), span) for leaf in leaves(entity)]
    if not parts:
        raise reject(Code.BAD_CALL, "there is nothing to combine", span, help="give a tile, or a tuple of tiles")
    return parts


# tp.join


def _demand_join_place(ctx: Context, call: Call) -> None:
    if ctx.place is not Place.INSIDE or ctx.depth or any(isinstance(op, ops.Join) for op in ctx.builder.ops):
        raise reject(
            Code.JOIN_PLACE,
            "tp.join stands once, at the top level of the body of tp.parallel",
            call.span,
            notes=("all programs of a piece meet there, so every one must come by, once",),
            help="move it out of loops, branches and helpers; join a tuple to combine several values",
        )


@lowers(spaces.join)
def _join(ctx: Context, call: Call) -> Entity:
    values, over = call.entity("values"), call.entity("over")
    if isinstance(over, Unsplit):
        _demand_join_place(ctx, call)
        return values
    if not (is_walker(over) and over.type.is_piece):
        message = f"tp.join goes over a walker of tp.split, and this is {describe(over)}"
        cure = "split the axis: `for i, z in tp.parallel(M=BM, K=tp.split(SK))`, then `over=z`"
        raise reject(Code.JOIN_PLACE, message, call.where("over"), help=cure)
    _demand_join_place(ctx, call)
    parts = _parts(ctx, values, call.where("values"))
    for part in parts:
        for axis in part.type.axes:
            if axis.tag == WalkerTag(over):
                message = f"a tile of `{over.name}` itself cannot be joined over `{over.name}`"
                raise reject(Code.BAD_COMBINER, message, call.where("values"), help="reduce over that axis first")
    by = call.entity("by") if "by" in call else None
    where = call.where("by") if by else call.span
    combiner, types = _combiner(ctx, by, values, [part.type for part in parts], where)
    results = tuple(ctx.builder.value(type_) for type_ in types)
    tagged = tuple(broadcast(ctx.builder, part, type_.axes, where) for part, type_ in zip(parts, types, strict=True))
    ctx.builder.emit(ops.Join(call.span, results, over, tagged, combiner))
    return rebuild(values, iter(results))


def check_join(body: Sequence[ops.AnyOp], walkers: Sequence[Walker], span: Span) -> None:
    """The law of joins: a split space has one, and nothing of a single piece is used after it."""
    pieces = [walker for walker in walkers if walker.type.is_piece]
    if not pieces:
        return
    place = next((number for number, op in enumerate(body) if isinstance(op, ops.Join)), None)
    if len(pieces) > 1 or place is None:
        what = "splits two dimensions" if len(pieces) > 1 else f"splits {pieces[0].type.dimension} and never joins it"
        cure = "split one" if len(pieces) > 1 else f"combine the pieces: `tp.join(value, over={pieces[0].name})`"
        raise reject(Code.JOIN_PLACE, f"this space {what}", span, help=cure)
    joined = body[place]
    single = of_one_piece(body[:place], pieces[0])
    _, *after = walk(ops.Block(tuple(body[place:])))
    for op in after:
        used = (*ops.operands(op), *(value for block in ops.blocks(op) for value in block.yields))
        if any(value in single for value in used) or any(has_tag_in(value, single) for value in ops.results(op)):
            raise reject(
                Code.AFTER_JOIN,
                f"this uses a value of one piece of {pieces[0].type.dimension} after tp.join",
                op.span,
                labels=(Label(joined.span, "from here on there is one program for all pieces"),),
                help="join it too: `a, b = tp.join((a, b), over=...)`, or compute it again",
            )


# tp.reduce and tp.scan


def _aligned(ctx: Context, call: Call) -> tuple[list[Tile], int]:
    """The tiles to be combined, with equal axes, and the axis to combine along."""
    where = call.where("x")
    parts = _parts(ctx, call.entity("x"), where)
    parts = align(ctx.builder, parts, [where] * len(parts), call.span)
    axis = axis_of(call, parts[0])
    if axis is None:
        if parts[0].type.rank != 1:
            message = f"{call.name} needs an axis of {describe_axes(parts[0].type.axes)}"
            raise reject(Code.BAD_AXIS, message, call.span, help="say along which: `axis=-1`")
        axis = 0
    return parts, axis


def _tagged(
    ctx: Context, parts: Sequence[Tile], types: Sequence[TileType], axis: int, call: Call
) -> tuple[Tile, ...]:
    """The tiles with the tags that the combiner gave the axes it leaves."""
    return tuple(
        broadcast(ctx.builder, part, (*type_.axes[:axis], part.type.axes[axis], *type_.axes[axis:]), call.where("x"))
        for part, type_ in zip(parts, types, strict=True)
    )


@lowers(tiles.reduce)
def _reduce(ctx: Context, call: Call) -> Entity:
    parts, axis = _aligned(ctx, call)
    types = [part.type.without(axis) for part in parts]
    literals = list(leaves(call.entity("identity")))
    where = call.where("identity")
    if len(literals) != len(parts):
        message = f"{len(parts)} tiles are reduced, and {len(literals)} identities are given"
        raise reject(Code.BAD_CALL, message, where, help="give one for each tile, as a tuple of literals")
    identities = []
    for one, part in zip(literals, parts, strict=True):
        tile = as_tile(ctx.builder, one, where, part.type.dtype)
        if tile.type != TileType(part.type.dtype):
            raise reject(Code.BAD_CALL, f"the identity of {part.type} is {describe(tile)}", where, help="use a literal")
        identities.append(tile)
    combiner, types = _combiner(ctx, call.entity("by"), call.entity("x"), types, call.where("by"))
    results = tuple(ctx.builder.value(type_) for type_ in types)
    tagged = _tagged(ctx, parts, types, axis, call)
    ctx.builder.emit(ops.Fold(call.span, results, tagged, tuple(identities), axis, combiner))
    return rebuild(call.entity("x"), iter(results))


@lowers(tiles.scan)
def _scan(ctx: Context, call: Call) -> Entity:
    parts, axis = _aligned(ctx, call)
    types = [part.type.without(axis) for part in parts]
    combiner, types = _combiner(ctx, call.entity("by"), call.entity("x"), types, call.where("by"))
    full = _tagged(ctx, parts, types, axis, call)
    results = tuple(ctx.builder.value(part.type) for part in full)
    ctx.builder.emit(ops.Scan(call.span, results, full, axis, combiner))
    return rebuild(call.entity("x"), iter(results))
