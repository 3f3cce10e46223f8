"""What an expression of a kernel stands for while it is compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.spans import Span
from tileproof.ir.types import Extent, Tensor, TensorType, Tile, TileType, Value, Walker, WalkerType
from tileproof.language.tiles import Lowest


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Something the compiler knows: a weak literal, a constant, an element type, a function, `None`."""

    value: Any

    @property
    def is_number(self) -> bool:
        """A weak literal: takes the element type it meets."""
        return isinstance(self.value, bool | int | float | Extent | Lowest)


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """A tuple of the kernel's own."""

    items: tuple[Entity, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A method looked up on a tile, walker or tensor, waiting for its call."""

    owner: Tile | Walker | Tensor
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class InPlace:
    """A lambda: a combiner written where it is used. It sees the names of the function around it."""

    node: ast.Lambda
    scope: Scope


@dataclass(frozen=True, slots=True, eq=False)
class Poison:
    """The result of a statement that was refused."""


Entity: TypeAlias = (
    "Value[TileType] | Value[WalkerType] | Value[TensorType] | Known | Bundle | Method | InPlace | Poison"
)


@dataclass(slots=True, eq=False)
class Binding:
    """What a name is bound to. `was_read` tells whether a loop body used what it was entered with."""

    entity: Entity
    span: Span
    was_read: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Unbound:
    """A name that has no single value here: why, the place that made it so, and what using it is called."""

    reason: str
    span: Span
    help: str = ""
    code: Code = Code.MAYBE_UNBOUND


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
        case Known(value=value):
            if isinstance(value, bool | int | float | Extent):
                return f"the constant {value}"
            if isinstance(value, str):
                return f"the text {value!r}"
            return "`None`" if value is None else f"`{getattr(value, '__name__', value)}`"
        case Bundle():
            return "a tuple"
        case Method(name=name):
            return f"the method `{name}`"
        case InPlace():
            return "a lambda"
        case _:
            return "a value"
