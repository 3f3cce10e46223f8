"""Numbers beside a tile: constants of the shape another value has, and what that shape and its elements are."""

from __future__ import annotations

from .tileir.builder import Builder
from .tileir.types import Number, Tile, Value


def shape_of(value: Value) -> tuple[int, ...]:
    """The shape a tile is held in."""
    assert isinstance(value.type, Tile)
    return value.type.shape


def element_of(value: Value) -> Number:
    """The numbers a tile is made of."""
    assert isinstance(value.type, Tile)
    assert isinstance(value.type.element, Number)
    return value.type.element


def like(b: Builder, value: Value, number: bool | int | float, element: Number | None = None) -> Value:
    """A number in every lane of a value's shape, in its element type or another."""
    return b.constant(Tile(element or element_of(value), shape_of(value)), number)


def spread(b: Builder, scalar: Value, shape: tuple[int, ...]) -> Value:
    """A scalar in every lane of a shape."""
    return b.broadcast(b.reshape(scalar, (1,) * len(shape)), shape) if shape else scalar
