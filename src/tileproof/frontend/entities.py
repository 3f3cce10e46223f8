"""Entities: what expressions evaluate to while a kernel is compiled, such as tiles, walkers and constants.

The law of axes: how the axes of two tiles meet. An axis without a tag is full. Of length 1 it stretches; of equal
length it takes the tag it meets. Two different tags never meet, whatever their lengths: a tile of M beside a tile of N
is a mistake even where both are 64 long, and an axis of one iteration is not the axis of the next.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Edit, Label
from tileproof.diagnostics.spans import Span
from tileproof.ir.types import (
    Axis,
    DimensionTag,
    Extent,
    Tag,
    Tensor,
    TensorType,
    Tile,
    TileType,
    Value,
    Walker,
    WalkerTag,
    WalkerType,
)
from tileproof.language.tiles import Lowest, NoPosition

from .source import Rejected, reject


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A compile-time value: a weak literal, a constant, an element type, a function, `None`."""

    value: Any

    @property
    def is_number(self) -> bool:
        """A weak literal: takes the element type it meets."""
        return isinstance(self.value, bool | int | float | Extent | Lowest)

    @property
    def is_none(self) -> bool:
        """`tp.none`, which is no number."""
        return isinstance(self.value, NoPosition)


@dataclass(frozen=True, slots=True, eq=False)
class Absent(Known):
    """`None` in place of an optional parameter."""

    parameter: str
    span: Span


def demand_present(entity: Entity, span: Span) -> None:
    """Rejects the use of an optional parameter that may be None."""
    if not isinstance(entity, Absent):
        return
    name = entity.parameter
    raise reject(
        Code.MAY_BE_ABSENT,
        f"`{name}` may be None, and is used here without a test",
        span,
        labels=(Label(entity.span, "declared with `| None`"),),
        notes=(f"checked with {name}=None",),
        help=f"use it under `if {name} is not None:`, which is decided while the kernel is compiled",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """A tuple of the kernel's own."""

    items: tuple[Entity, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Unsplit:
    """The walker of `tp.split(0)`: one piece, the whole of a dimension. A space that has it is one without it."""

    name: str
    dimension: str


@dataclass(frozen=True, slots=True, eq=False)
class Leading:
    """What walks the leading axes: as an index, a walker for each of them, however many there are."""

    name: str
    walkers: tuple[Walker, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A bound method of a tile, walker or tensor."""

    owner: Tile | Walker | Tensor
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Lambda:
    """A lambda: a combiner written where it is used. It sees the names of the function around it."""

    node: ast.Lambda
    scope: Scope


@dataclass(frozen=True, slots=True, eq=False)
class Poison:
    """The result of a statement that was rejected."""


Entity: TypeAlias = (
    "Value[TileType] | Value[WalkerType] | Value[TensorType] | Known | Bundle | Unsplit | Leading | Method | Lambda"
    " | Poison"
)


@dataclass(slots=True, eq=False)
class Binding:
    """What a name is bound to. `was_read`: whether a loop body read its initial value."""

    entity: Entity
    span: Span
    was_read: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Unbound:
    """A name that has no single value here: the reason, its place, and the code of a use."""

    reason: str
    span: Span
    help: str = ""
    code: Code = Code.MAYBE_UNBOUND
    edit: Edit | None = None


Scope: TypeAlias = "dict[str, Binding | Unbound]"


def is_tile(entity: object) -> TypeGuard[Tile]:
    return isinstance(entity, Value) and isinstance(entity.type, TileType)


def is_walker(entity: object) -> TypeGuard[Walker]:
    return isinstance(entity, Value) and isinstance(entity.type, WalkerType)


def is_tensor(entity: object) -> TypeGuard[Tensor]:
    return isinstance(entity, Value) and isinstance(entity.type, TensorType)


def leaves(entity: Entity) -> Iterator[Entity]:
    """The parts of a tuple, and of tuples in it; anything else is its own leaf."""
    if isinstance(entity, Bundle):
        for item in entity.items:
            yield from leaves(item)
    else:
        yield entity


def rebuild(shape: Entity, parts: Iterator[Entity]) -> Entity:
    """A value built like `shape` from other leaves."""
    if isinstance(shape, Bundle):
        return Bundle(tuple(rebuild(item, parts) for item in shape.items))
    return next(parts)


def same_build(left: Entity, right: Entity) -> bool:
    """Whether two values are tuples of the same nesting."""
    if isinstance(left, Bundle) and isinstance(right, Bundle):
        return len(left.items) == len(right.items) and all(map(same_build, left.items, right.items))
    return not isinstance(left, Bundle) and not isinstance(right, Bundle)


def describe(entity: Entity) -> str:
    """A value in the user's words, for messages."""
    match entity:
        case Value(type=TileType() as type_):
            if type_.axes:
                return f"a tile {type_}"
            return "an index" if type_.dtype.kind == "index" else f"a scalar {type_}"
        case Value(type=WalkerType() as type_):
            article = "an" if type_.is_each else "a"
            return f"{article} {type_}"
        case Value(type=TensorType() as type_):
            return f"the tensor `{entity.name}`"
        case Absent(parameter=parameter):
            return f"`{parameter}`, which is None here,"
        case Known(value=value):
            if isinstance(value, bool | int | float | Extent):
                return f"the constant {value}"
            if isinstance(value, str):
                return f"the text {value!r}"
            return "`None`" if value is None else f"`{getattr(value, '__name__', value)}`"
        case Bundle():
            return "a tuple"
        case Leading(name=name):
            return f"`{name}`, which stands for all leading axes and only indexes tensors,"
        case Unsplit(dimension=dimension):
            return f"all of {dimension}, as one piece"
        case Method(name=name):
            return f"the method `{name}`"
        case Lambda():
            return "a lambda"
        case _:
            return "a value"


@dataclass(frozen=True, slots=True)
class Clash(Exception):
    """Two axes that cannot meet, counted from the last axis (1 is the last)."""

    left: Axis
    right: Axis
    from_last: int

    @property
    def code(self) -> Code:
        tags = self.left.tag is not None and self.right.tag is not None and self.left.tag != self.right.tag
        return Code.TAGS_MEET if tags else Code.LENGTHS_DIFFER

    @property
    def sentence(self) -> str:
        left, right = describe_axis(self.left), describe_axis(self.right)
        return f"{left} meets {right}" if left != right else f"{left} meets one of another walk of that name"


Axes = tuple[Axis, ...]


def meet(left: Axes, right: Axes) -> Axes:
    """The axes of an elementwise operation on two tiles, aligned at the last axis as numpy does."""
    short, long = sorted((left, right), key=len)
    rest = len(long) - len(short)
    met = [
        meet_axis(one, other, len(short) - number)
        for number, (one, other) in enumerate(zip(left[-len(short) :], right[-len(short) :], strict=True))
    ] if short else []  # fmt: skip
    return (*long[:rest], *met)


def meet_axis(left: Axis, right: Axis, from_last: int) -> Axis:
    if left == right:
        return left
    if left.tag is not None and right.tag is not None:
        raise Clash(left, right, from_last)
    if left.tag is None and left.length == 1:
        return right
    if right.tag is None and right.length == 1:
        return left
    if left.length != right.length:
        raise Clash(left, right, from_last)
    return left if left.tag is not None else right


def join(left: Axes, right: Axes) -> Axes | None:
    """The axes of a value that comes from two places: equal lengths, the tagged type wins; None if they differ."""
    if len(left) != len(right):
        return None
    joined = []
    for one, other in zip(left, right, strict=True):
        if one.length != other.length or (one.tag and other.tag and one.tag != other.tag):
            return None
        joined.append(one if one.tag else other)
    return tuple(joined)


def fits(value: Axes, target: Axes) -> bool:
    """Whether `value` can be broadcast to exactly `target`."""
    try:
        return meet(value, target) == target
    except Clash:
        return False


def describe_tag(tag: Tag) -> str:
    match tag:
        case WalkerTag(walker):
            return f"`{walker.name.partition('.')[0]}`, a {walker.type}"
        case DimensionTag(name):
            return f"all of {name}"


def describe_axis(axis: Axis) -> str:
    if axis.tag is None:
        return f"an axis of {axis.length}"
    return f"an axis of {axis.length} ({describe_tag(axis.tag)})"


def describe_axes(axes: Sequence[Axis]) -> str:
    return "[" + ", ".join(map(str, axes)) + "]"


def alongside(value: Axes, place: Axes) -> str:
    """What makes a value meet `place` if it follows it: `.T`, or axes of length 1 at its end; empty if neither does."""
    if len(value) == len(place) == 2 and value[::-1] == place and value != place:
        return ".T"
    if len(value) == 1 and value[0].tag is not None and value[0] in place[:-1]:
        return f"[:{', None' * (len(place) - 1 - place.index(value[0]))}]"
    return ""


def surplus(value: Axes, place: Axes) -> int | None:
    """The axis of a value that `place` lacks, if that is all that keeps them apart."""
    if len(value) != len(place) + 1:
        return None
    return next((axis for axis in range(len(value)) if value[:axis] + value[axis + 1 :] == place), None)


def misfit(tensor: str, value: Axes, place: Axes, span: Span, value_span: Span, text: str) -> Rejected:
    """A value, written as `text`, that is stored where its axes do not fit."""
    code, why = Code.LENGTHS_DIFFER, "the value has more axes than the place"
    cure = (
        "index the tensor with the walkers the value was loaded with; for neighbours, which may not exist, "
        "read `x.get((i.elements + 1, ...), fill)`"
    )
    tags = [axis.tag for axis in value if axis.tag is not None]
    if len(value) <= len(place):
        code, why = Code.TAGS_MEET, "the value may be short at the edge of its walk, and the place is always full"
    elif len(set(tags)) < len(tags):
        why = "tiles of indices at several axes are independent: what they pick is their product"
        cure = "walk single elements, `tp.each`, where several axes follow one walker"
    try:
        meet(value, place)
    except Clash as clash:
        code, why = clash.code, clash.sentence
    edit = None
    suffix, axis = alongside(value, place), surplus(value, place)
    if suffix:
        cure, edit = f"write `{text}{suffix}`", Edit(value_span, text + suffix)
    elif axis is not None and len(set(tags)) == len(tags):
        cure = f"reduce the axis that the place lacks: `{text}.sum(axis={axis})`, or `max`, `mean` and the like"
    return reject(
        code,
        f"a value of axes {describe_axes(value)} does not fit into `{tensor}` at {describe_axes(place)}",
        value_span,
        labels=(Label(span, f"axes {describe_axes(place)}"),),
        notes=(why,),
        help=cure,
        edit=edit,
    )
