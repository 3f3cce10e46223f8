"""Indexing: tensors by walkers, positions and slices; tiles by slices and `None`.

The law of dimensions: a walker indexes only axes of the dimension it walks. Equal names are equal extents, so such
an access is in bounds by construction. Everything else that is legal here (`index` values, windows) must be proved.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Edit, Label
from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import (
    Along,
    At,
    Broadcast,
    Constant,
    Extents,
    Gather,
    Get,
    Load,
    Pick,
    Select,
    Slice,
    Store,
    Take,
    Update,
    Whole,
    Window,
)
from tileproof.ir.types import (
    INDEX_SCALAR,
    Access,
    Axis,
    Dimension,
    DimensionTag,
    Extent,
    Fixed,
    Length,
    Named,
    Tensor,
    TensorType,
    Tile,
    TileType,
    Unnamed,
    Value,
    WalkerTag,
    WalkerType,
    at_least,
)
from tileproof.language.dtypes import ENTRY, INDEX, U64, DType

from .context import Context, Place
from .entities import (
    Axes,
    Binding,
    Bundle,
    Entity,
    Known,
    describe,
    describe_axes,
    describe_axis,
    fits,
    is_tile,
    is_walker,
    misfit,
)
from .signature import TensorParameter
from .source import reject
from .tile_operations import (
    as_tile,
    broadcast,
    cast,
    expand,
    literal,
    operand_text,
    position,
    to_index,
    typed_call,
)

LONGEST = 2**31 - 1
"""Elements along one axis of a tile, and positions a constant slice may name: far more than any machine holds."""


class SliceOf:
    """A slice as written: its bounds, already evaluated."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Entity | None, stop: Entity | None, step: Entity | None) -> None:
        self.start, self.stop, self.step = start, stop, step

    @property
    def is_all(self) -> bool:
        return self.start is None and self.stop is None and self.step is None


Item = tuple["Entity | SliceOf", Span]


def static_length(ctx: Context, dimension: Dimension) -> Length | None:
    """The extent of a dimension if it is a constant."""
    match dimension:
        case Fixed(extent):
            return extent
        case Named(name):
            return ctx.static.get(name)
        case Unnamed():
            return None


def check_whole(ctx: Context, tensor: Tensor, span: Span) -> None:
    """A tensor that was cut in two is reached through its views alone."""
    if tensor in ctx.cut:
        message = f"`{tensor.name}` was cut in two by tp.split_at"
        cure = "use the two views"
        raise reject(Code.MAYBE_UNBOUND, message, span, labels=(Label(ctx.cut[tensor], "this is where"),), help=cure)


def picks(ctx: Context, tensor: Tensor, items: Sequence[Item], span: Span) -> tuple[tuple[Pick, ...], Axes]:
    """How an access picks elements, and the axes of the tile it picks."""
    check_whole(ctx, tensor, span)
    dimensions = tensor.type.dimensions
    if len(items) != len(dimensions):
        shown = " ".join(map(str, dimensions)) or "none"
        message = f"`{tensor.name}` has {len(dimensions)} axes ({shown}), and the index names {len(items)}"
        raise reject(Code.WRONG_RANK, message, span, help=_every_axis(ctx, tensor, items, span))
    _check_order(ctx, tensor, items, span)
    picked = [_pick(ctx, tensor, axis, *item) for axis, item in enumerate(items)]
    return tuple(pick for pick, _ in picked), tuple(axis for _, axis in picked if axis is not None)


def _every_axis(ctx: Context, tensor: Tensor, items: Sequence[Item], span: Span) -> str:
    """How to index with the right number of axes."""
    missing = len(tensor.type.dimensions) - len(items)
    if missing > 0 and len(items) == 1 and is_tile(items[0][0]):
        names = [_walker_of(ctx, dimension) or ":" for dimension in tensor.type.dimensions]
        return f"a tensor is indexed axis by axis, without strides: `{tensor.name}[{', '.join(names)}]`"
    if missing < 0 or not span.text.endswith("]"):
        return "index every axis; `:` takes all of a static dimension"
    written = f"{span.text[:-1]}{', :' * missing}]"
    rest = " ".join(map(str, tensor.type.dimensions[len(items) :]))
    return f"index every axis: `{written}` takes all of {rest}, which is static then; or walk it, too"


def _check_order(ctx: Context, tensor: Tensor, items: Sequence[Item], span: Span) -> None:
    """Walkers of the right dimensions in the wrong order are one mistake, with one cure."""
    dimensions = tensor.type.dimensions
    names = [Named(item.type.dimension) if is_walker(item) else None for item, _ in items]
    is_spread = len({where for _, where in items}) != len(items)  # one walker of several axes
    is_right = names == list(dimensions) or set(names) != set(dimensions)
    if is_spread or is_right or None in names or len(set(names)) != len(names):
        return
    axis = next(number for number, name in enumerate(names) if name != dimensions[number])
    item, where = items[axis]
    assert is_walker(item)
    texts = [items[names.index(dimension)][1].text for dimension in dimensions]  # type: ignore[arg-type]
    head, bracket, _ = span.text.partition("[")
    written = f"{head}[{', '.join(texts)}]" if bracket else ""
    raise _wrong_dimension(ctx, tensor, axis, item.name, item.type, where, Edit(span, written) if written else None)


def _pick(ctx: Context, tensor: Tensor, axis: int, item: Entity | SliceOf, span: Span) -> tuple[Pick, Axis | None]:
    dimension = tensor.type.dimensions[axis]
    if is_walker(item):
        walks = item.type
        # Any walker may index an axis without a name; that it is in bounds is an obligation.
        if dimension != Named(walks.dimension) and not isinstance(dimension, Unnamed):
            raise _wrong_dimension(ctx, tensor, axis, item.name, walks, span)
        return Along(item), None if walks.size is None else Axis(walks.size, WalkerTag(item))
    if is_tile(item):
        return _position(ctx, item, span)
    match item:
        case SliceOf() if item.is_all:
            return Whole(), _whole(ctx, tensor, axis, span)
        case SliceOf():
            return _window(ctx, tensor, axis, item, span)
        case Known(value=bool()):
            raise reject(Code.BAD_INDEX, "a truth value cannot index an axis", span, help="choose with `tp.where`")
        case Known(value=int() | Extent() as number):
            _constant_inside(ctx, tensor, axis, number, span)
            return At(literal(ctx.builder, item, INDEX_SCALAR.dtype, span)), None
        case Known(value=None):
            message = "`None` adds an axis to a tile, not to a tensor"
            raise reject(Code.BAD_INDEX, message, span, help="load first: `x[i][:, None]`")
        case Value(type=TensorType(dimensions=dimensions)):
            names = [_walker_of(ctx, one) for one in dimensions]
            written = f"{item.name}[{', '.join(name or '...' for name in names)}]"
            edit = Edit(span, written) if span.text == item.name and names and all(names) else None
            message = f"the tensor `{item.name}` cannot index an axis: its entries can"
            raise reject(Code.BAD_INDEX, message, span, help=f"load them: `{written}`", edit=edit)
        case _:
            cure = "index with a walker, a whole number, a tile of whole numbers, `:` or a constant slice"
            raise reject(Code.BAD_INDEX, f"{describe(item)} cannot index an axis", span, help=cure)


def _walker_of(ctx: Context, dimension: Dimension) -> str | None:
    """The name of a walker that indexes an axis of a dimension."""
    for name, entry in ctx.scope.items():
        walker = entry.entity if isinstance(entry, Binding) else None
        if is_walker(walker) and Named(walker.type.dimension) == dimension:
            return name
    return None


def _position(ctx: Context, tile: Tile, span: Span) -> tuple[Pick, Axis | None]:
    """One element for a scalar, as many as it has for a tile of one axis."""
    index, axes = to_index(ctx.builder, tile, span), tile.type.axes
    if not axes:
        return At(index), None
    if len(axes) == 1:
        return Gather(index), axes[0]
    message = f"a tile of {len(axes)} axes cannot index an axis"
    cure = "index with a tile of one axis; several of them are independent axes"
    raise reject(Code.BAD_INDEX, message, span, label=f"axes {describe_axes(axes)}", help=cure)


def _wrong_dimension(
    ctx: Context, tensor: Tensor, axis: int, name: str, walks: WalkerType, span: Span, edit: Edit | None = None
) -> Exception:
    """A walker at an axis of another dimension; `edit` puts the walkers of an access into the right order."""
    dimension = tensor.type.dimensions[axis]
    declared, dimensions = _parameter(ctx, tensor), " ".join(map(str, tensor.type.dimensions))
    others = [n for n, d in enumerate(tensor.type.dimensions) if d == Named(walks.dimension)]
    shifted = re.fullmatch(r"(\w+)\.shift\((.+)\)", span.text)
    name = span.text if shifted else name.partition(".")[0]
    if edit is not None:
        cure = f"`{name}` belongs at axis {others[0]} of `{tensor.name}`: write `{edit.replacement}`"
    elif others:
        cure = f"`{name}` belongs at axis {others[0]} of `{tensor.name}`"
    elif walks.is_each and _is_part(walks.dimension, str(dimension)):
        cure = f"index with the position, `{name}.start`, if it means the same there"
        edit = Edit(span, f"{name}.start") if span.text == name else None
    elif shifted:
        written = f"{shifted[1]}.elements + {shifted[2]}"
        cure = f"index this axis with a walker of {dimension}, or with positions: `{written}`"
        edit = Edit(span, written)
    elif walks.is_each:
        cure = f"name both dimensions alike if they are equal, or index with the position, `{name}.start`"
        edit = Edit(span, f"{name}.start") if span.text == name else None
    else:
        cure = (
            f"index this axis with a walker of {dimension}; name both dimensions alike if they are equal, "
            f"or index with the positions, `{name}.elements`"
        )
    return reject(
        Code.WRONG_DIMENSION,
        f"axis {axis} of `{tensor.name}` is {dimension}, and `{name}` walks {walks.dimension}",
        span,
        label=f"an {walks}" if walks.is_each else f"a {walks}",
        labels=(Label(declared.span, f"`{tensor.name}` has the dimensions {dimensions}"),) if declared else (),
        help=cure,
        edit=edit,
    )


def _is_part(one: str, other: str) -> bool:
    """Whether two dimensions share a name: the borders `E+1` of segments E, a part `A` of `A+B`."""
    names = [frozenset(re.findall(r"[A-Za-z]\w*", dimension)) for dimension in (one, other)]
    return bool(names[0] & names[1])


def _whole(ctx: Context, tensor: Tensor, axis: int, span: Span) -> Axis:
    dimension = tensor.type.dimensions[axis]
    length = static_length(ctx, dimension)
    if length is None:
        is_plain = isinstance(dimension, Named) and str(dimension).isidentifier()
        raise reject(
            Code.DYNAMIC_SLICE,
            f"`:` takes all of axis {axis} of `{tensor.name}`, and the extent of {dimension} is not a constant",
            span,
            notes=("a tile has a static shape",),
            help=f"add the constant `{dimension}: int` to the signature, or walk the axis with `tp.tiles`"
            if is_plain
            else "name the dimension and add it as a constant",
            edit=_as_constant(ctx, str(dimension)) if is_plain else None,
        )
    return Axis(length, DimensionTag(dimension.name) if isinstance(dimension, Named) else None)


def _as_constant(ctx: Context, dimension: str) -> Edit | None:
    """Adds a dimension to the constants of a signature."""
    if ctx.signature.constants:
        span = ctx.signature.constants[0].span
        return Edit(span, f"{dimension}: int, {span.text}")
    span = ctx.signature.arguments[-1].span
    return Edit(span, f"{span.text}, *, {dimension}: int")


def _bound(item: Entity | None, default: Length | None, span: Span, what: str) -> Length:
    match item:
        case None if default is not None:
            return default
        case Known(value=bool()):
            pass
        case Known(value=int() as number) if number < 0:
            message = f"the slice {what} at {number}: positions count from 0"
            cure = "count from the start; an extent is `tp.dim(...)` or `x.shape[0]`"
            raise reject(Code.NEGATIVE_INDEX, message, span, help=cure)
        case Known(value=int() | Extent() as length):
            return length
        case _:
            pass
    problem = "is missing" if item is None else f"is {describe(item)}"
    message = f"a slice has constant bounds, and where it {what} {problem}"
    cure = "walk the axis with `tp.tiles(..., start=, stop=)`, or gather with `tp.arange(n) + start`"
    raise reject(Code.NOT_CONSTANT, message, span, notes=("a tile has a static shape",), help=cure)


def _stepped(item: SliceOf, extent: Length | None) -> str:
    """How to take every n-th element."""
    step = item.step.value if isinstance(item.step, Known) else None
    if not isinstance(step, int) or (item.start is not None and not isinstance(item.start, Known)):
        return "gather with `tp.arange(n) * step`"
    count = "n" if extent is None else str(extent)
    if step < 0:
        return f"count down: gather with `{count} - 1 - tp.arange({count})`"
    start = f"{item.start.value} + " if isinstance(item.start, Known) else ""
    return f"gather with `{start}tp.arange(n) * {step}` for n elements"


def window(item: SliceOf, extent: Length | None, span: Span, what: str) -> tuple[Length, Length]:
    """Start and length of a constant slice of an axis of `extent` (None: only known at launch)."""
    if item.step is not None:
        raise reject(Code.BAD_INDEX, "a slice has no step here", span, help=_stepped(item, extent))
    start = _bound(item.start, 0, span, "starts")
    stop = _bound(item.stop, extent, span, "ends")
    length = stop - start
    if at_least(length, 0) is False:
        message = f"the slice ends at {stop}, before its start at {start}"
        raise reject(Code.BAD_INDEX, message, span, help="write the smaller bound first")
    if isinstance(stop, int) and stop > LONGEST:
        message = f"a slice cannot reach to {stop}"
        raise reject(Code.BAD_INDEX, message, span, help="walk the axis with `tp.tiles`")
    room = None if extent is None else at_least(extent - stop, 0)
    if room is False:
        message = f"the slice ends at {stop}, and {what} has {extent} elements"
        raise reject(Code.CONSTANT_OUTSIDE, message, span, help=f"end it at {extent} or before")
    return start, length


def _window(ctx: Context, tensor: Tensor, axis: int, item: SliceOf, span: Span) -> tuple[Pick, Axis]:
    extent = static_length(ctx, tensor.type.dimensions[axis])
    start, length = window(item, extent, span, f"axis {axis} of `{tensor.name}`")
    return Window(start, length), Axis(length)


def _constant_inside(ctx: Context, tensor: Tensor, axis: int, number: Length, span: Span) -> None:
    dimension = tensor.type.dimensions[axis]
    if isinstance(number, int) and number < 0:
        name = f'tp.dim("{dimension}")' if isinstance(dimension, Named) else f"{tensor.name}.shape[{axis}]"
        raise reject(
            Code.NEGATIVE_INDEX,
            f"the index {number} is outside: positions count from 0",
            span,
            help=f"count back from the extent: `{name} - {-number}`",
            # The indices of tp.update share one span: an edit of it would drop the others.
            edit=None if span.text.startswith("(") else Edit(span, f"{name} - {-number}"),
        )
    extent = static_length(ctx, dimension)
    if isinstance(extent, int) and isinstance(number, int) and number >= extent:
        message = f"the index {number} is outside axis {axis} of `{tensor.name}`, which has {extent} elements"
        raise reject(Code.CONSTANT_OUTSIDE, message, span, help=f"positions count from 0 to {extent - 1}")


def load(
    ctx: Context, tensor: Tensor, items: Sequence[Item], span: Span, *, raw: bool = False, is_sum: bool = False
) -> Tile:
    """A tile of a tensor; `is_sum` if it is what `+=` adds to."""
    _check_read(ctx, tensor, span, is_sum=is_sum)
    picked, axes = picks(ctx, tensor, items, span)
    result = ctx.builder.value(TileType(tensor.type.read_as, axes))
    ctx.builder.emit(Load(span, result, tensor, picked, raw))
    if not raw:
        _check_choices(ctx, picked, f"read it by `{tensor.name}.get(index, fill)`, which gives `fill` there")
    return result


def get(ctx: Context, tensor: Tensor, items: Sequence[Item], fill: Entity, span: Span, fill_span: Span) -> Tile:
    """A tile of a tensor, and `fill` where it is outside."""
    _check_read(ctx, tensor, span)
    picked, axes = picks(ctx, tensor, items, span)
    dtype = tensor.type.read_as
    value = as_tile(ctx.builder, fill, fill_span, dtype)
    if value.type.dtype is not dtype or value.type.axes:
        message = f"`{tensor.name}` holds {dtype}, and what fills it is {describe(value)}"
        raise reject(Code.MIXED_TYPES, message, fill_span, help="fill with a literal, or with a scalar of that type")
    result = ctx.builder.value(TileType(dtype, axes))
    ctx.builder.emit(Get(span, result, tensor, picked, value))
    return result


def _update_of(tensor: Tensor) -> str:
    name = tensor.name
    return f"`{name}[i] += t`" if tensor.type.access is Access.SUM else f"`tp.update({name}, i, t)`"


def _check_read(ctx: Context, tensor: Tensor, span: Span, *, is_sum: bool = False) -> None:
    access = tensor.type.access
    if not access.reads:
        if access is Access.OUT:
            message = f"`{tensor.name}` is an Out: it is written, never read"
            cure = "make it an InOut to read what it holds, or keep the value in a name"
            if is_sum:
                cure = "make it a Sum if several programs add to an element, an InOut if one does"
            raise reject(Code.READS_OUT, message, span, labels=_declared(ctx, tensor), help=cure)
        message = f"`{tensor.name}` is a {access}: its value is not known before the launch ends"
        cure = f"change it by {_update_of(tensor)}, which reads nothing, and read it in a later kernel"
        raise reject(Code.READS_SUM, message, span, labels=_declared(ctx, tensor), help=cure)
    if ctx.place is Place.OUTSIDE and access is not Access.IN:
        raise reject(
            Code.READS_OUTSIDE,
            f"`{tensor.name}` is an {access} and is read outside tp.parallel",
            span,
            notes=("outside tp.parallel every program runs the same code, while others may already write",),
            help="read it inside tp.parallel",
        )


def store(
    ctx: Context,
    tensor: Tensor,
    items: Sequence[Item],
    value: Entity,
    span: Span,
    value_span: Span,
    *,
    raw: bool = False,
) -> None:
    access = tensor.type.access
    if access is Access.IN:
        declared = _declared(ctx, tensor)
        what = "an In" if declared else "what lies before a cut by tp.split_at"
        message = f"`{tensor.name}` is {what}: it is shared and read-only"
        cure = "make it an Out or an InOut" if declared else "write to the second view, which starts at the cut"
        raise reject(Code.WRITES_IN, message, span, labels=declared, help=cure)
    if access.combines:
        cure = (
            f"write `{span.text} += ...`" if access is Access.SUM else f"write `tp.update({tensor.name}, index, value)`"
        )
        raise reject(
            Code.READS_SUM,
            f"`{tensor.name}` is a {access}: many programs write it, so it cannot be overwritten",
            span,
            labels=_declared(ctx, tensor),
            help=cure,
        )
    _check_place(ctx, tensor, span)
    picked, axes = picks(ctx, tensor, items, span)
    tile = _stored(ctx, tensor, value, axes, span, value_span)
    ctx.builder.emit(Store(span, tensor, picked, tile, raw))
    if not raw:
        _check_choices(ctx, picked)


def update(ctx: Context, tensor: Tensor, items: Sequence[Item], value: Entity, span: Span, value_span: Span) -> None:
    """Combines into a Sum, Max or Min."""
    access = tensor.type.access
    if not access.combines:
        message = f"`{tensor.name}` is an {access}, not a Sum, Max or Min"
        cure = "assign to it, or declare it as Sum, Max or Min"
        raise reject(Code.BAD_REDUCTION, message, span, labels=_declared(ctx, tensor), help=cure)
    _check_place(ctx, tensor, span)
    picked, axes = picks(ctx, tensor, items, span)
    tile = _stored(ctx, tensor, value, axes, span, value_span)
    ctx.builder.emit(Update(span, tensor, picked, tile))
    _check_choices(ctx, picked)


def _check_choices(ctx: Context, picked: Sequence[Pick], cure: str = "") -> None:
    """An index that `tp.where` makes -1 in some lanes is meant to be none there."""
    makers = {op.result: op for op in ctx.builder.ops if isinstance(op, Select | Broadcast | Constant)}
    for pick in picked:
        index = pick.index if isinstance(pick, At) else pick.indices if isinstance(pick, Gather) else None
        chosen = None if index is None else makers.get(index)
        if not isinstance(chosen, Select) or chosen.result.type.dtype is ENTRY:
            continue
        for side in (chosen.yes, chosen.no):
            maker = makers.get(side)
            maker = makers.get(maker.operand) if isinstance(maker, Broadcast) else maker
            if isinstance(maker, Constant) and isinstance(maker.value, int) and maker.value < 0:
                raise reject(
                    Code.NEGATIVE_INDEX,
                    f"the index is {maker.value} where `tp.where` chooses so, and that is outside",
                    maker.span,
                    notes=("-1 means none in an Index tensor; a number that is computed has no such meaning",),
                    help=cure or "choose `tp.none` instead: nothing is written there",
                    edit=None if cure else Edit(maker.span, "tp.none"),
                )


def _check_place(ctx: Context, tensor: Tensor, span: Span) -> None:
    if ctx.place is Place.OUTSIDE:
        raise reject(
            Code.WRITE_OUTSIDE,
            f"`{tensor.name}` is written outside tp.parallel",
            span,
            labels=(Label(ctx.parallel_span, "the parallel space"),) if ctx.parallel_span else (),
            notes=("outside it every program would write the same elements",),
            help="move the store into the loop over tp.parallel",
        )


def _stored(ctx: Context, tensor: Tensor, value: Entity, axes: Axes, span: Span, value_span: Span) -> Tile:
    """The value to be stored, in the tensor's element type and with the axes of the picked region."""
    is_number = isinstance(tensor.type.element, DType)
    tile = (_as_number if is_number else _as_position)(ctx, tensor, value, value_span)
    tile = _untagged(ctx, tile, axes, value_span)
    if not fits(tile.type.axes, axes):
        raise misfit(tensor.name, tile.type.axes, axes, span, value_span, operand_text(value_span))
    return broadcast(ctx.builder, tile, axes, value_span)


def _as_number(ctx: Context, tensor: Tensor, value: Entity, value_span: Span) -> Tile:
    """A value in the element type of the tensor it is stored in; floats convert to floats."""
    wanted = tensor.type.stored_as
    tile = as_tile(ctx.builder, value, value_span, wanted)
    have = tile.type.dtype
    if have is not wanted:
        if not (have.is_float and wanted.is_float):
            written = f"{operand_text(value_span)}.to({_spelled(ctx, tensor)})"
            cure, edit = typed_call(ctx.builder, tile, wanted) or (f"cast it: `{written}`", Edit(value_span, written))
            raise reject(
                Code.STORE_CAST,
                f"`{tensor.name}` holds {wanted}, and the value is {have}",
                value_span,
                labels=_declared(ctx, tensor),
                notes=("a store converts floats to floats; every other cast is written",),
                help=cure,
                edit=edit,
            )
        tile = cast(ctx.builder, tile, wanted, value_span)
    return tile


def _as_position(ctx: Context, tensor: Tensor, value: Entity, value_span: Span) -> Tile:
    """A position to be stored in an index tensor; an integer becomes one, exactly."""
    tile = as_tile(ctx.builder, value, value_span, ENTRY if isinstance(value, Known) and value.is_none else INDEX)
    if tile.type.dtype.is_integer and tile.type.dtype is not U64:
        tile = cast(ctx.builder, tile, INDEX, value_span)
    if tile.type.dtype not in (INDEX, ENTRY):
        message = f"`{tensor.name}` holds positions, and the value is {tile.type.dtype}"
        cure = "store an index, for instance `.argmax()` or an element of another index tensor"
        raise reject(Code.STORE_CAST, message, value_span, labels=_declared(ctx, tensor), help=cure)
    return tile


def _spelled(ctx: Context, tensor: Tensor) -> str:
    """The element type of a tensor as a cast is to name it, right also where it comes from the argument."""
    declared = _parameter(ctx, tensor)
    is_dtype = declared is not None and isinstance(declared.element, DType)
    return str(tensor.type.element) if is_dtype else f"{tensor.name}.dtype"


def _untagged(ctx: Context, tile: Tile, axes: Axes, span: Span) -> Tile:
    """`tile` without the tags of full axes that the place it goes to does not have: all its elements are there."""
    for axis, (own, place) in enumerate(zip(reversed(tile.type.axes), reversed(axes), strict=False)):
        if isinstance(own.tag, DimensionTag) and place == Axis(own.length):
            number = tile.type.rank - 1 - axis
            kept = (*tile.type.axes[:number], place, *tile.type.axes[number + 1 :])
            result = ctx.builder.value(TileType(tile.type.dtype, kept))
            ctx.builder.emit(Slice(span, result, tile, number, 0, own.length))
            tile = result
    return tile


def _declared(ctx: Context, tensor: Tensor) -> tuple[Label, ...]:
    declared = _parameter(ctx, tensor)
    return (Label(declared.span, f"declared as {tensor.type.access}"),) if declared else ()


def _parameter(ctx: Context, tensor: Tensor) -> TensorParameter | None:
    """The parameter that a tensor is; None for a view."""
    return next((parameter for parameter in ctx.signature.tensors if parameter.name == tensor.name), None)


def index_tile(ctx: Context, tile: Tile, items: Sequence[Item], span: Span) -> Tile:
    """`t[:, None]`, `t[:8]`, `t[i]`: new axes, constant slices, and single elements, whose axis is dropped."""
    count = sum(1 for item, _ in items if not _is_none(item))
    if count > tile.type.rank:
        message = f"the tile has {tile.type.rank} axes {describe_axes(tile.type.axes)}, and the index names {count}"
        cure = "leave out what is too much; `None` adds an axis and counts for none"
        raise reject(Code.WRONG_RANK, message, span, help=cure)
    axis = 0
    for item, where in items:
        if isinstance(item, SliceOf):
            if not item.is_all:
                tile = _slice(ctx, tile, axis, item, where)
            axis += 1
        elif _is_none(item):
            tile = expand(ctx.builder, tile, axis, span)
            axis += 1
        else:
            tile = _take(ctx, tile, axis, item, where)
    return tile


def _take(ctx: Context, tile: Tile, axis: int, item: Entity, span: Span) -> Tile:
    """What a tile has at one place along an axis."""
    length = tile.type.axes[axis].length
    match item:
        case Known(value=int() as number) if not isinstance(number, bool):
            if number < 0:
                message = f"the index {number} is outside: positions count from 0"
                cure = f"count back from the length: `{length - -number}`" if isinstance(length, int) else ""
                raise reject(Code.NEGATIVE_INDEX, message, span, help=cure or "count from the start")
            if isinstance(length, int) and number >= length:
                message = f"the index {number} is outside an axis of {length} elements"
                raise reject(Code.CONSTANT_OUTSIDE, message, span, help=f"positions count from 0 to {length - 1}")
        case Known(value=Extent()):
            pass
        case Value(type=TileType(axes=(), dtype=dtype)) if dtype.is_integer or dtype.kind == "index":
            pass
        case Value(type=WalkerType(size=None)):
            pass
        case _:
            shown = describe(item) if not isinstance(item, Bundle) else "a tuple"
            message = f"a tile is indexed by `:`, `None`, constant slices and single positions, not by {shown}"
            cure = "index the tensor instead, or use `tp.where` and a reduction"
            raise reject(Code.BAD_INDEX, message, span, notes=("tiles are values without addresses",), help=cure)
    place = position(ctx.builder, item, span, "the index of a tile")
    result = ctx.builder.value(tile.type.without(axis))
    ctx.builder.emit(Take(span, result, tile, axis, place))
    return result


def _is_none(item: Entity | SliceOf) -> bool:
    return isinstance(item, Known) and item.value is None


def _slice(ctx: Context, tile: Tile, axis: int, item: SliceOf, span: Span) -> Tile:
    whole = tile.type.axes[axis]
    if not whole.is_full:
        message = f"{describe_axis(whole)} cannot be sliced: its last tile may be short"
        cure = "slice an axis that is always full, or walk smaller tiles"
        raise reject(Code.RAGGED_RESHAPE, message, span, help=cure)
    start, length = window(item, whole.length, span, "the axis")
    axes = (*tile.type.axes[:axis], Axis(length), *tile.type.axes[axis + 1 :])
    result = ctx.builder.value(TileType(tile.type.dtype, axes))
    ctx.builder.emit(Slice(span, result, tile, axis, start, length))
    return result


def extent_of(ctx: Context, tensor: Tensor, axis: int, span: Span) -> Entity:
    """The extent of an axis of a tensor: a constant where it is static."""
    check_whole(ctx, tensor, span)
    dimension = tensor.type.dimensions[axis]
    length = static_length(ctx, dimension)
    if length is not None:
        return Known(length)
    result = ctx.builder.value(INDEX_SCALAR)
    if isinstance(dimension, Named):
        ctx.builder.emit(Extents(span, result, dimension.name))
    else:
        ctx.builder.emit(Extents(span, result, None, tensor, axis))
    return result


def extent_named(ctx: Context, name: str, span: Span) -> Entity:
    """The extent of a dimension: a constant where it is static."""
    if name in ctx.static:
        return Known(ctx.static[name])
    result = ctx.builder.value(INDEX_SCALAR)
    ctx.builder.emit(Extents(span, result, name))
    return result


def slice_items(node: ast.expr) -> list[ast.expr]:
    """The written parts of a subscript."""
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]
