"""Typed operations on tiles: element types unified, axes met, the operation emitted.

The law of element types: two different ones never meet without a written cast. A weak literal takes the type it
meets, and an integer meeting an `index` becomes one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Edit, Label
from tileproof.diagnostics.spans import Span
from tileproof.ir import ops
from tileproof.ir.rules import ACCUMULATES, kinds_of, sums_to
from tileproof.ir.types import (
    INDEX_SCALAR,
    NOWHERE,
    Axis,
    Extent,
    TensorType,
    Tile,
    TileType,
    Value,
    WalkerType,
    names_in,
)
from tileproof.language.dtypes import BOOL, ENTRY, F32, INDEX, TF32, U64, DType, limits
from tileproof.language.tiles import Lowest

from .context import Builder
from .entities import (
    Axes,
    Bundle,
    Clash,
    Entity,
    Known,
    Method,
    Poison,
    alongside,
    demand_present,
    describe,
    describe_axes,
    is_tile,
    is_walker,
    meet,
)
from .source import Suppressed, reject

_WHOLE = ("int", "uint", "index")
_FUNCTIONS = {ops.BinaryFn.CDIV: "cdiv", ops.BinaryFn.MIN: "minimum", ops.BinaryFn.MAX: "maximum"}


def literal(b: Builder, known: Known, dtype: DType, span: Span) -> Tile:
    """A weak literal as a scalar of `dtype`, if it fits."""
    value = known.value
    wrong = ""
    if isinstance(value, Lowest):
        if dtype.kind in ("bool", "index"):
            wrong = f"`tp.lowest` has no {dtype} value"
        else:
            value = limits(dtype)[0]
    elif isinstance(value, bool) or dtype is BOOL:
        if not isinstance(value, bool) or dtype is not BOOL:
            wrong = f"the literal {value} meets {dtype}"
    elif isinstance(value, float):
        if not dtype.is_float:
            wrong = f"the float literal {value} meets {dtype}"
        elif math.isfinite(value) and abs(value) > limits(dtype)[1]:
            wrong = f"the literal {value} is too large for {dtype}"
    elif isinstance(value, int):
        least, greatest = (-1, limits(dtype)[1]) if dtype is ENTRY else limits(dtype)
        if not least <= value <= greatest:
            wrong = f"the literal {value} does not fit {dtype}"
        elif dtype.is_float:
            value = float(value)
    elif not isinstance(value, Extent):
        raise reject(Code.WRONG_TYPE, f"{describe(known)} is not a number", span, help=_number_in(known))
    if wrong:
        cure = "cast the other operand, `.to(f32)`, or write a whole number" if isinstance(value, float) else ""
        raise reject(
            Code.LITERAL_RANGE, wrong, span, help=cure or "write a literal of that type, or cast with `.to(...)`"
        )
    result = b.value(TileType(dtype))
    b.emit(ops.Constant(span, result, value))
    return result


def default_dtype(known: Known) -> DType:
    """The type of a literal that meets none: positions for whole numbers, f32 for others."""
    if isinstance(known.value, bool):
        return BOOL
    if known.is_none:
        return ENTRY
    return F32 if isinstance(known.value, float | Lowest) else INDEX


def as_tile(b: Builder, entity: Entity, span: Span, dtype: DType | None = None) -> Tile:
    """`entity` as a tile; a literal takes `dtype`, or its default."""
    if is_tile(entity):
        return entity
    if is_walker(entity) and entity.type.is_each:
        result = b.value(INDEX_SCALAR)
        b.emit(ops.Start(span, result, entity))
        return result
    demand_present(entity, span)
    match entity:
        case Value(type=WalkerType()):
            name = entity.name.partition(".")[0]
            raise reject(
                Code.TILE_ARITHMETIC,
                f"`{name}` is {describe(entity)}, not a number",
                span,
                notes=(f"a walker picks a whole tile: `x[{name}]`; it has no arithmetic, its positions do",),
                help=f"use `{name}.elements` for all its positions, `{name}.start` for the first; "
                f"`x.get({name}.elements + 1, fill)` reads neighbors, which may not exist",
                edit=Edit(span, f"{name}.elements") if span.text == name else None,
            )
        case Value(type=TensorType()):
            message = f"`{entity.name}` is a tensor in memory, not a tile"
            raise reject(Code.WRONG_TYPE, message, span, help=f"load a tile of it first: `{entity.name}[...]`")
        case Known() if entity.is_number:
            return literal(b, entity, dtype or default_dtype(entity), span)
        case Known() if entity.is_none and dtype is ENTRY:
            return literal(b, Known(-1), ENTRY, span)
        case Known() if entity.is_none:
            message = "`tp.none` is no position, and no number either"
            cure = "choose it by `tp.where(ok, position, tp.none)`; an entry `e` is none where not `e >= 0`"
            raise reject(Code.WRONG_TYPE, message, span, help=cure)
        case Poison():
            raise Suppressed
        case _:
            message = f"{describe(entity)} is not a tile or a number"
            raise reject(Code.WRONG_TYPE, message, span, help=_number_in(entity))


def _number_in(entity: Entity) -> str:
    """How to get at a tile or number where something else is given."""
    match entity:
        case Bundle():
            return "take one item of it, or give each a name: `a, b = ...`"
        case Method(name=name):
            return f"call it: `.{name}(...)`"
        case Known(value=value) if callable(value):
            return f"call it: `{getattr(value, '__name__', value)}(...)`"
        case _:
            return "tiles are loaded from tensors, as in `x[i]`; numbers are literals, scalars and constants"


def unify(
    b: Builder, entities: Sequence[Entity], spans: Sequence[Span], span: Span, *, entries: bool = False
) -> list[Tile]:
    """All as tiles of one element type. Entries of index tensors become numbers, unless `entries` and all are such."""
    operands: list[Tile | Known] = [
        entity if isinstance(entity, Known) and entity.is_number else as_tile(b, entity, where)
        for entity, where in zip(entities, spans, strict=True)
    ]
    if not (entries and all(isinstance(item, Value) and item.type.dtype is ENTRY for item in operands)):
        operands = [
            as_number(b, item, where) if isinstance(item, Value) else item
            for item, where in zip(operands, spans, strict=True)
        ]
    tiles = [item for item in operands if isinstance(item, Value)]
    literals = [item for item in operands if isinstance(item, Known)]
    if not tiles:
        kinds = [default_dtype(item) for item in literals]
        dtype = F32 if F32 in kinds else kinds[0]
    elif any(tile.type.dtype is INDEX for tile in tiles):
        dtype = INDEX
    else:
        dtype = tiles[0].type.dtype
    unified = []
    for item, where in zip(operands, spans, strict=True):
        if isinstance(item, Known):
            unified.append(literal(b, item, dtype, where))
        elif item.type.dtype is dtype:
            unified.append(item)
        elif dtype is INDEX and item.type.dtype.is_integer:
            unified.append(to_index(b, item, where))
        else:
            raise _mixed(
                b, tiles, [where for item, where in zip(operands, spans, strict=True) if isinstance(item, Value)], span
            )
    return unified


def as_number(b: Builder, tile: Tile, span: Span) -> Tile:
    """An entry of an index tensor as a plain `index`: none becomes -1. Anything else as it is."""
    return cast(b, tile, INDEX, span) if tile.type.dtype is ENTRY else tile


def to_index(b: Builder, tile: Tile, span: Span) -> Tile:
    """An integer as an `index`, exactly."""
    if tile.type.dtype.kind == "index":
        return tile
    if tile.type.dtype is U64:
        message = "a u64 may be larger than any index"
        raise reject(Code.UNSIGNED_INDEX, message, span, help="cast it with `.to(i64)`, which saturates")
    if not tile.type.dtype.is_integer:
        raise reject(
            Code.BAD_INDEX,
            f"an index is a whole number, and this is {tile.type.dtype}",
            span,
            help="cast it with `.to(i32)` or `.to(i64)`, which drop the fraction"
            if tile.type.dtype.is_float
            else "compare positions instead, or choose between two with `tp.where`",
            edit=Edit(span, f"{operand_text(span)}.to(i32)") if tile.type.dtype.is_float else None,
        )
    return cast(b, tile, INDEX, span)


def as_entry(b: Builder, entity: Entity, span: Span) -> Tile:
    """`entity` as something that may be none: `tp.none`, an entry, or a position.

    What is negative is no position, and not none: it becomes one that no axis has.
    """
    tile = as_tile(b, entity, span, ENTRY if isinstance(entity, Known) and entity.is_none else INDEX)
    if tile.type.dtype is ENTRY:
        return tile
    tile = to_index(b, tile, span)
    zero, far = (literal(b, Known(value), INDEX, span) for value in (0, NOWHERE))
    is_position = binary(b, ops.BinaryFn.GE, tile, zero, span, (span, span))
    tile = select(b, is_position, tile, far, span, (span, span, span))
    return cast(b, tile, ENTRY, span)


def position(b: Builder, entity: Entity, span: Span, what: str) -> Tile:
    """`entity` as one position: an `index` scalar."""
    whole = "give a whole number: a literal, a constant, a scalar, `i.start` and the like"
    if isinstance(entity, Known) and isinstance(entity.value, float | bool):
        raise reject(Code.BAD_INDEX, f"{what} is a position, and this is {describe(entity)}", span, help=whole)
    if isinstance(entity, Bundle):
        raise reject(Code.BAD_INDEX, f"{what} is a position, and this is a tuple", span, help=whole)
    tile = as_tile(b, entity, span, INDEX)
    if tile.type.axes:
        raise reject(Code.BAD_INDEX, f"{what} is one position, and this is {describe(tile)}", span, help=whole)
    return as_number(b, to_index(b, tile, span), span)


def typed_call(b: Builder, tile: Tile, dtype: DType) -> tuple[str, Edit] | None:
    """How a tile gets a whole element type that is f32 because none was written; None if it is not of that kind."""
    span = b.untyped.get(tile)
    if span is None or not dtype.is_integer or not span.text.endswith(")"):
        return None
    written = f"{span.text[:-1].rstrip().removesuffix(',')}, {dtype})"
    name = span.text.partition("(")[0]
    return f"`{name}` without an element type makes f32: write `{written}`", Edit(span, written)


def _mixed(b: Builder, tiles: list[Tile], spans: list[Span], span: Span) -> Exception:
    first = tiles[0]
    other, where = next((t, s) for t, s in zip(tiles, spans, strict=True) if t.type.dtype is not first.type.dtype)
    one, two = first.type.dtype, other.type.dtype
    if one.is_float and two.is_float:
        wide = F32 if one.bits == two.bits == 16 else max(one, two, key=lambda dtype: dtype.bits)
    else:
        wide = one if one.is_float else two if two.is_float else max(one, two, key=lambda dtype: dtype.bits)
    culprit, place = (first, spans[0]) if one is not wide else (other, where)
    written = f"{operand_text(place)}.to({wide})"
    cure = f"cast one of them: `{written}`"
    edit = Edit(place, written) if culprit.type.dtype is not wide else None
    untyped = typed_call(b, first, two) or typed_call(b, other, one)
    if untyped is not None:
        cure, edit = untyped
    elif INDEX in (one, two) and (first in b.untyped or other in b.untyped):
        cure += "; a position begins with a plain `0`, which takes the type it meets"
    return reject(
        Code.MIXED_TYPES,
        f"{one} meets {two}",
        span,
        labels=(Label(spans[0], f"this is {one}"), Label(where, f"this is {two}")),
        notes=("element types never change silently: every cast is written",),
        help=cure,
        edit=edit,
    )


def operand_text(span: Span) -> str:
    """The text of an expression, in parentheses where `.method()` cannot follow it directly."""
    return span.text if _is_atom(span.text) else f"({span.text})"


def _is_atom(text: str) -> bool:
    """Whether a method can be called on the text without parentheses: brackets closed, nothing outside them."""
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character in "+-*/%@<>=&|^~ ,\n":
            return False
    return True


def broadcast(b: Builder, tile: Tile, axes: Axes, span: Span) -> Tile:
    """`tile` stretched to `axes`, which it must fit."""
    if tile.type.axes == axes:
        return tile
    result = b.value(TileType(tile.type.dtype, axes))
    b.emit(ops.Broadcast(span, result, tile))
    return result


def align(b: Builder, tiles: Sequence[Tile], spans: Sequence[Span], span: Span) -> list[Tile]:
    """All with the axes that theirs meet in."""
    axes: Axes = ()
    for number, tile in enumerate(tiles):
        try:
            axes = meet(axes, tile.type.axes)
        except Clash as clash:
            raise _clash(b, clash, tiles, spans, number, span) from None
    return [broadcast(b, tile, axes, span) for tile in tiles]


def _clash(
    b: Builder, clash: Clash, tiles: Sequence[Tile], spans: Sequence[Span], number: int, span: Span
) -> Exception:
    labels = tuple(
        Label(where, f"axes {describe_axes(tile.type.axes)}")
        for tile, where in zip(tiles[: number + 1], spans, strict=False)
        if tile.type.axes
    )
    notes = ["axes meet from the last one; only an axis of 1 stretches"]
    cure = "give them equal lengths, or add an axis with `[:, None]`"
    edit: Edit | None = None
    unknown = sorted(names_in(clash.left.length, clash.right.length))
    if clash.code is Code.TAGS_MEET:
        notes = ["axes meet from the last one; axes of two different walks never meet, even if they are equally long"]
        cure, edit = _said_along(b, tiles[: number + 1], spans)
    elif unknown:
        name = unknown[0]
        notes.append(f"{name} has no value yet, and these are not equal for every {name}")
        cure = f"give both axes one name, such as `R` and `2*R`, or give {name} a value: `check --with {name}=64`"
    return reject(clash.code, clash.sentence, span, labels=labels, notes=tuple(notes), help=cure, edit=edit)


def _said_along(b: Builder, tiles: Sequence[Tile], spans: Sequence[Span]) -> tuple[str, Edit | None]:
    """How operands meet whose axes are of different walks, and the edit if there is but one way."""
    pairs = [(one, two) for one in zip(tiles, spans, strict=False) for two in zip(tiles, spans, strict=False)]
    for (narrow, where), (wide, _) in pairs:
        suffix = alongside(narrow.type.axes, wide.type.axes)
        if suffix:
            written = operand_text(where) + suffix
            return f"say along which axis it is: `{written}`", Edit(where, written)
    for (reduced, where), (other, _) in pairs:
        match next((op for op in reversed(b.ops) if reduced in ops.results(op)), None):
            case ops.Reduce(operand=whole, axis=axis) if reduced.type != other.type:
                kept = next((n for n in range(whole.type.rank) if whole.type.without(n).axes == other.type.axes), None)
                if kept is not None and kept != axis:
                    written = where.text.replace(f"axis={axis}", f"axis={kept}")
                    cure = f"reducing along axis {axis} leaves {describe_axes(reduced.type.axes)}; "
                    cure += f"along axis {kept} it leaves {describe_axes(other.type.axes)}"
                    return cure, Edit(where, written) if written != where.text else None
            case _:
                pass
    if len(tiles) == 2 and all(tile.type.rank == 2 for tile in tiles):
        one, two = (tile.type.axes for tile in tiles)
        if one[1] == two[0] and one[1].tag is not None:
            return f"a matrix product is `{operand_text(spans[0])} @ {operand_text(spans[1])}`", None
    if len(tiles) == 2 and all(tile.type.rank == 1 for tile in tiles):
        column, row = (f"{operand_text(where)}{form}" for where, form in zip(spans, _COLUMN_AND_ROW, strict=False))
        return f"make one a column and the other a row: `{column}` and `{row}`, or the reverse", None
    return "say which axis each is along with `[:, None]` or `[None, :]`, or load both with the same walker", None


_COLUMN_AND_ROW = ("[:, None]", "[None, :]")


def _check_kind(what: str, dtype: DType, kinds: tuple[str, ...], span: Span) -> None:
    if dtype.is_storage_only or dtype is TF32:
        cure = "cast it to f32 first: `.to(f32)`"
        notes = (f"{dtype} can be loaded, stored, converted and multiplied by `tp.mma`, nothing else",)
        raise reject(Code.WRONG_TYPE, f"{what} does not work on {dtype}", span, notes=notes, help=cure)
    if dtype.kind in kinds:
        return
    if what == "/" and dtype.kind in _WHOLE:
        cure = "use `//` for whole numbers, or cast both sides to a float"
        raise reject(Code.INTEGER_DIVISION, f"`/` does not work on {dtype}", span, help=cure)
    if kinds == ("float",):
        cure = "cast it first: `.to(f32)`"
    elif kinds == ("bool",):
        cure = "compare first, for instance `x != 0`"
    elif dtype is INDEX:
        cure = "cast it first: `.to(i64)`"
    else:
        cure = "it works on " + ", ".join(
            {"int": "integers", "uint": "unsigned", "float": "floats"}.get(k, k) for k in kinds
        )
    raise reject(Code.WRONG_TYPE, f"{what} does not work on {dtype}", span, help=cure)


def unary(b: Builder, fn: ops.UnaryFn, entity: Entity, span: Span) -> Tile:
    kinds = kinds_of(fn)
    tile = as_number(b, as_tile(b, entity, span, F32 if kinds == ("float",) else None), span)
    _check_kind({"neg": "`-`", "not": "`~`"}.get(fn, f"tp.{fn}"), tile.type.dtype, kinds, span)
    dtype = BOOL if fn is ops.UnaryFn.ISNAN else tile.type.dtype
    result = b.value(TileType(dtype, tile.type.axes))
    b.emit(ops.Unary(span, result, fn, tile))
    return result


def binary(b: Builder, fn: ops.BinaryFn, left: Entity, right: Entity, span: Span, spans: tuple[Span, Span]) -> Tile:
    if fn in (ops.BinaryFn.FLOORDIV, ops.BinaryFn.MOD) and _is_entry(left) and _divides_entries(right):
        # The two operations that keep none: a slot becomes its page and its place in the page.
        tiles = [as_tile(b, left, spans[0]), as_tile(b, right, spans[1], ENTRY)]
    else:
        tiles = unify(b, (left, right), spans, span)
    shown = f"`{ops.SIGNS[fn]}`" if fn in ops.SIGNS else f"tp.{_FUNCTIONS[fn]}"
    dtype = tiles[0].type.dtype
    _check_kind(
        "/" if fn is ops.BinaryFn.DIV and dtype.kind in _WHOLE else shown, dtype, kinds_of(fn), span
    )
    one, two = align(b, tiles, spans, span)
    result = b.value(TileType(BOOL if fn.compares else dtype, one.type.axes))
    b.emit(ops.Binary(span, result, fn, one, two))
    return result


def _is_entry(entity: Entity) -> bool:
    return is_tile(entity) and entity.type.dtype is ENTRY


def _divides_entries(entity: Entity) -> bool:
    """Whether entries may be divided by it: a constant >= 0, or a length that the launch knows."""
    value = entity.value if isinstance(entity, Known) else None
    return isinstance(value, Extent) or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def select(b: Builder, condition: Entity, yes: Entity, no: Entity, span: Span, spans: Sequence[Span]) -> Tile:
    test = as_tile(b, condition, spans[0])
    if test.type.dtype is not BOOL:
        message = f"the condition of tp.where is {test.type.dtype}, not bool"
        raise reject(Code.WRONG_TYPE, message, spans[0], help="compare first, for instance `x != 0`")
    if any(isinstance(entity, Known) and entity.is_none for entity in (yes, no)):
        one, two = as_entry(b, yes, spans[1]), as_entry(b, no, spans[2])
    else:
        one, two = unify(b, (yes, no), spans[1:], span, entries=True)
    test, one, two = align(b, (test, one, two), spans, span)
    result = b.value(one.type)
    b.emit(ops.Select(span, result, test, one, two))
    return result


def cast(b: Builder, tile: Tile, dtype: DType, span: Span) -> Tile:
    if tile.type.dtype is dtype:
        return tile
    result = b.value(TileType(dtype, tile.type.axes))
    b.emit(ops.Cast(span, result, tile))
    return result


def bits(b: Builder, tile: Tile, dtype: DType, span: Span) -> Tile:
    """The same bits as another type."""
    result = b.value(TileType(dtype, tile.type.axes))
    b.emit(ops.Bitcast(span, result, tile))
    return result


def reduce(b: Builder, fn: ops.ReduceFn, tile: Tile, axis: int, span: Span) -> Tile:
    tile = as_number(b, tile, span)
    dtype = tile.type.dtype
    _check_kind(f"tp.{fn}", dtype, kinds_of(fn), span)
    match fn:
        case ops.ReduceFn.SUM | ops.ReduceFn.MEAN:
            result_dtype = sums_to(dtype)
        case ops.ReduceFn.ARGMAX | ops.ReduceFn.ARGMIN:
            result_dtype = INDEX
        case _:
            result_dtype = dtype
    result = b.value(TileType(result_dtype, tile.type.without(axis).axes))
    b.emit(ops.Reduce(span, result, fn, tile, axis))
    return result


def expand(b: Builder, tile: Tile, axis: int, span: Span) -> Tile:
    """`tile` with a new axis of length 1 at `axis`."""
    result = b.value(TileType(tile.type.dtype, (*tile.type.axes[:axis], Axis(1), *tile.type.axes[axis:])))
    b.emit(ops.Expand(span, result, tile, axis))
    return result


def permute(b: Builder, tile: Tile, order: tuple[int, ...], span: Span) -> Tile:
    """`tile` with axis `order[n]` as its axis n."""
    if order == tuple(range(tile.type.rank)):
        return tile
    result = b.value(TileType(tile.type.dtype, tuple(tile.type.axes[axis] for axis in order)))
    b.emit(ops.Permute(span, result, tile, order))
    return result


def cumsum(b: Builder, tile: Tile, axis: int, span: Span) -> Tile:
    tile = as_number(b, tile, span)
    _check_kind("tp.cumsum", tile.type.dtype, kinds_of(ops.ReduceFn.SUM), span)
    result = b.value(TileType(sums_to(tile.type.dtype), tile.type.axes))
    b.emit(ops.CumSum(span, result, tile, axis))
    return result


def mma(b: Builder, left: Entity, right: Entity, acc: Entity | None, span: Span, spans: Sequence[Span]) -> Tile:
    """`left @ right`, added to `acc` where there is one."""
    one, two = unify(b, (left, right), spans[:2], span)
    dtype = one.type.dtype
    total_dtype = ACCUMULATES.get(dtype)
    if total_dtype is None:
        message = f"there is no matrix product of {dtype}"
        raise reject(Code.WRONG_TYPE, message, span, help="cast the operands to a float, or to i8 or u8")
    for tile, other, where in ((one, two, spans[0]), (two, one, spans[1])):
        if tile.type.rank not in (2, 3):
            message = f"a matrix product takes tiles of two axes, or of three, and this has {tile.type.rank}"
            cure = f"add an axis: `{operand_text(where)}{'[None, :]' if tile is one else '[:, None]'}`"
            if tile.type.rank == 1:
                cure += "; a matrix times a vector is `(a * x[None, :]).sum(axis=1)`"
            elif tile.type.rank > 3:
                cure = "walk the axes before the last three with `tp.each`, which gives one element and no axis"
            raise reject(Code.MMA_SHAPE, message, where, label=f"axes {describe_axes(tile.type.axes)}", help=cure)
        if tile.type.rank < other.type.rank:
            message = "one factor of this matrix product has a first axis for several matrices, and this has none"
            cure = "give both the axis, or take one matrix of the other: `t[k, :, :]`"
            raise reject(Code.MMA_SHAPE, message, where, label=f"axes {describe_axes(tile.type.axes)}", help=cure)
    (*before, rows, inner), (*before_too, inner_too, columns) = one.type.axes, two.type.axes
    shown = tuple(Label(s, f"axes {describe_axes(t.type.axes)}") for t, s in ((one, spans[0]), (two, spans[1])))
    batch = tuple(
        _same_axis(left, right, "first", "load both with the same walker", span, shown)
        for left, right in zip(before, before_too, strict=True)
    )
    cure = "transpose an operand with `.T`, or load both with the same walker"
    inner = _same_axis(inner, inner_too, "inner", cure, span, shown)
    axes = (*batch, rows, columns)
    start: Entity = Known(0) if acc is None else acc
    where = spans[2] if acc is not None else span
    total = as_tile(b, start, where, total_dtype)
    if total.type.dtype is not total_dtype:
        raise reject(
            Code.MIXED_TYPES,
            f"a matrix product of {dtype} accumulates in {total_dtype}, and the accumulator is {total.type.dtype}",
            where,
            help=f"start it with `tp.zeros(..., {total_dtype})`",
        )
    have, need = describe_axes(total.type.axes), describe_axes(axes)
    message = f"the accumulator's axes {have} are not those of the product, {need}"
    if total.type.rank > len(axes):
        raise reject(Code.MMA_SHAPE, message, where, help="start it with `tp.zeros((i, j), ...)`")
    try:
        axes = meet(axes, total.type.axes)
    except Clash as clash:
        cure = "start it with `tp.zeros` of the product's own walkers"
        raise reject(Code.MMA_SHAPE, message, where, notes=(clash.sentence,), help=cure) from None
    *first, rows, columns = axes
    one = broadcast(b, one, (*first, rows, inner), spans[0])
    two = broadcast(b, two, (*first, inner, columns), spans[1])
    total = broadcast(b, total, axes, where)
    result = b.value(TileType(total_dtype, axes))
    b.emit(ops.Mma(span, result, one, two, total))
    return result


def _same_axis(left: Axis, right: Axis, which: str, cure: str, span: Span, labels: tuple[Label, ...]) -> Axis:
    """The axis that two factors share. An untagged one takes the other's tag, but none stretches: 1 against 64 is a
    mistake here."""
    if left.length != right.length or (left.tag and right.tag and left.tag != right.tag):
        message = f"the {which} axes of a matrix product differ: " + Clash(left, right, 1).sentence
        raise reject(Code.MMA_SHAPE, message, span, labels=labels, help=cure)
    return left if left.tag else right
