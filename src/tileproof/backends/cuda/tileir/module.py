"""A module of Tile IR in memory: entries made of blocks, blocks made of operations, operations linked by values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .types import Tile, Type

Hints: TypeAlias = Mapping[str, Mapping[str, int | bool]]
"""For an architecture (`sm_90`, or `default` for all), what each key is set to."""


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source."""

    file: str
    line: int
    column: int


@dataclass(slots=True, eq=False)
class Value:
    """What an operation gives, or a block takes. Two values are equal only if they are the same."""

    type: Type


Group: TypeAlias = "Value | tuple[Value, ...] | None"
"""Operands under one name: one, any number, or an optional one that may be absent."""


@dataclass(slots=True, eq=False)
class Op:
    """One operation. Its groups of operands, attributes and regions are those that the table gives for its name."""

    name: str
    operands: tuple[Group, ...] = ()
    results: tuple[Value, ...] = ()
    attributes: Mapping[str, object] = field(default_factory=dict)
    regions: tuple[Block, ...] = ()
    location: Location | None = None


@dataclass(slots=True, eq=False)
class Block:
    """Operations in order, with the values that they are given at the start. Without operations it is as if absent."""

    arguments: tuple[Value, ...] = ()
    ops: list[Op] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Entry:
    """A kernel. Its parameters are the arguments of its body."""

    name: str
    body: Block
    hints: Hints = field(default_factory=dict)
    location: Location | None = None

    @property
    def parameters(self) -> tuple[Value, ...]:
        """What a launch passes."""
        return self.body.arguments


@dataclass(frozen=True, slots=True)
class Global:
    """A named array in device memory; `data` is laid out as the payload of a constant."""

    name: str
    type: Tile
    data: bytes
    alignment: int = 0
    private: bool = False
    constant: bool = False


@dataclass(frozen=True, slots=True)
class Module:
    """What one file of bytecode holds. `producer` says who wrote it."""

    entries: Sequence[Entry]
    producer: str = ""
    globals: Sequence[Global] = ()


@dataclass(frozen=True, slots=True)
class Literal:
    """A number as bits, with the element type that reads them: the identity of a reduction."""

    element: Type
    bits: int


@dataclass(frozen=True, slots=True)
class Divisible:
    """The promise that a value is a multiple of `divisor`: of each `every`-th element along a dimension, if given."""

    divisor: int
    every: int | None = None
    along: int | None = None


@dataclass(frozen=True, slots=True)
class Bounded:
    """The promise that a value lies between two numbers, both included."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Same:
    """The promise that elements are equal within groups of this many along each dimension."""

    groups: tuple[int, ...]


Promise: TypeAlias = Divisible | Bounded | Same
"""What an `assume` may say."""
