"""The types of Tile IR, the choices its attributes offer, and a module of it in memory.

Every value is a tile (a scalar is a tile of rank 0), a view of memory, or a token. A module is entries made of
blocks, blocks made of operations, operations linked by values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from math import prod
from typing import Final, TypeAlias


class Padding(IntEnum):
    """What a view gives for elements past the edge of its tensor."""

    ZERO = 0
    NEGATIVE_ZERO = 1
    NAN = 2
    INFINITY = 3
    NEGATIVE_INFINITY = 4


class Rounding(IntEnum):
    """How a result that is not representable becomes one that is."""

    NEAREST = 0
    ZERO = 1
    DOWN = 2
    UP = 3
    APPROXIMATE = 4
    FULL = 5
    INTEGER = 6
    """Towards zero to an integer: what a conversion from float to integer does."""


class Overflow(IntEnum):
    """Which overflow the writer promises cannot happen; a broken promise is undefined behaviour."""

    NONE = 0
    NO_SIGNED = 1
    NO_UNSIGNED = 2
    NO_WRAP = 3


class Signedness(IntEnum):
    """How an operation reads its integers: the types themselves carry no sign."""

    UNSIGNED = 0
    SIGNED = 1


class Predicate(IntEnum):
    """What a comparison asks."""

    EQUAL = 0
    NOT_EQUAL = 1
    LESS = 2
    LESS_EQUAL = 3
    GREATER = 4
    GREATER_EQUAL = 5


class Ordering(IntEnum):
    """What a comparison with a NaN answers: ordered is false, unordered is true."""

    UNORDERED = 0
    ORDERED = 1


class Order(IntEnum):
    """How an access is ordered against the accesses of other blocks."""

    WEAK = 0
    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQUIRE_RELEASE = 4


class Scope(IntEnum):
    """Which programs an ordered access is visible to."""

    BLOCK = 0
    DEVICE = 1
    SYSTEM = 2


class Mode(IntEnum):
    """What an atomic access does to the element it finds."""

    AND = 0
    OR = 1
    XOR = 2
    ADD = 3
    ADDF = 4
    MAX = 5
    MIN = 6
    UMAX = 7
    UMIN = 8
    EXCHANGE = 9


LARGEST: Final = 1 << 24
"""The most elements a tile may have."""


@dataclass(frozen=True, slots=True)
class Number:
    """An element type. Integers carry no sign: operations do."""

    name: str

    @property
    def bits(self) -> int:
        """How many bits an element has."""
        return _NUMBERS[self.name][1]

    @property
    def tag(self) -> int:
        """The number that stands for this type in the bytecode."""
        return _NUMBERS[self.name][0]

    @property
    def is_integer(self) -> bool:
        """Whether elements are integers, of one bit or more."""
        return self.name.startswith("i")

    @property
    def is_float(self) -> bool:
        """Whether elements are floats."""
        return not self.is_integer

    def __str__(self) -> str:
        return self.name


# Name, and then the tag in the bytecode and the width in bits.
_NUMBERS: Final = {
    "i1": (0x00, 1),
    "i8": (0x01, 8),
    "i16": (0x02, 16),
    "i32": (0x03, 32),
    "i64": (0x04, 64),
    "f16": (0x05, 16),
    "bf16": (0x06, 16),
    "f32": (0x07, 32),
    "tf32": (0x08, 19),
    "f64": (0x09, 64),
    "f8E4M3FN": (0x0A, 8),
    "f8E5M2": (0x0B, 8),
}

I1: Final = Number("i1")
I8: Final = Number("i8")
I16: Final = Number("i16")
I32: Final = Number("i32")
I64: Final = Number("i64")
F16: Final = Number("f16")
BF16: Final = Number("bf16")
F32: Final = Number("f32")
TF32: Final = Number("tf32")
F64: Final = Number("f64")
F8E4M3: Final = Number("f8E4M3FN")
F8E5M2: Final = Number("f8E5M2")

NUMBERS: Final = tuple(Number(name) for name in _NUMBERS)
"""Every element type."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of an element."""

    to: Number

    def __str__(self) -> str:
        return f"ptr<{self.to}>"


Element: TypeAlias = Number | Pointer
"""What a tile is made of."""


@dataclass(frozen=True, slots=True)
class Tile:
    """An array of elements whose lengths are powers of two."""

    element: Element
    shape: tuple[int, ...] = ()

    @property
    def rank(self) -> int:
        """How many dimensions the tile has."""
        return len(self.shape)

    @property
    def count(self) -> int:
        """How many elements the tile has."""
        return prod(self.shape)

    def __str__(self) -> str:
        return f"tile<{_lengths(self.shape, self.element)}>"


@dataclass(frozen=True, slots=True)
class TensorView:
    """A tensor in memory: lengths and strides in elements, with None for those known only at run time."""

    element: Number
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...]

    def __str__(self) -> str:
        return f"tensor_view<{_lengths(self.shape, self.element)}, strides={_list(self.strides)}>"


@dataclass(frozen=True, slots=True)
class PartitionView:
    """A tensor cut into tiles side by side. Dimension `i` of a tile runs along dimension `order[i]` of the tensor."""

    tile: tuple[int, ...]
    of: TensorView
    order: tuple[int, ...]
    padding: Padding | None = None

    def __str__(self) -> str:
        return f"partition_view<tile={_list(self.tile)}, {_seen(self.of, self.padding)}, order={_list(self.order)}>"


@dataclass(frozen=True, slots=True)
class StridedView:
    """A tensor seen through tiles whose corners are `steps` apart, so that tiles may overlap or leave gaps."""

    tile: tuple[int, ...]
    steps: tuple[int, ...]
    of: TensorView
    order: tuple[int, ...]
    padding: Padding | None = None

    def __str__(self) -> str:
        fields = f"tile={_list(self.tile)}, steps={_list(self.steps)}"
        return f"strided_view<{fields}, {_seen(self.of, self.padding)}, order={_list(self.order)}>"


@dataclass(frozen=True, slots=True)
class Token:
    """What orders one memory access after another."""

    def __str__(self) -> str:
        return "token"


TOKEN: Final = Token()


@dataclass(frozen=True, slots=True)
class Function:
    """The signature of an entry."""

    parameters: tuple[Type, ...]
    results: tuple[Type, ...] = ()

    def __str__(self) -> str:
        taken, results = (", ".join(map(str, types)) for types in (self.parameters, self.results))
        return f"({taken}) -> ({results})"


TileView: TypeAlias = PartitionView | StridedView
"""What loads and stores of tiles go through."""

Type: TypeAlias = Number | Pointer | Tile | TensorView | PartitionView | StridedView | Token | Function


def _lengths(shape: tuple[int | None, ...], element: Element) -> str:
    return "x".join([*("?" if length is None else str(length) for length in shape), str(element)])


def _list(numbers: tuple[int | None, ...]) -> str:
    return f"[{', '.join('?' if number is None else str(number) for number in numbers)}]"


def _seen(of: TensorView, padding: Padding | None) -> str:
    return f"{of}" if padding is None else f"padding={padding.name.lower()}, {of}"


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
class Module:
    """What one file of bytecode holds. `producer` says who wrote it."""

    entries: Sequence[Entry]
    producer: str = ""


@dataclass(frozen=True, slots=True)
class Literal:
    """A number as bits, with the element type that reads them: the identity of a reduction."""

    element: Type
    bits: int


@dataclass(frozen=True, slots=True)
class Divisible:
    """The promise that a value is a multiple of `divisor`."""

    divisor: int


@dataclass(frozen=True, slots=True)
class Bounded:
    """The promise that a value lies between two numbers, both included."""

    low: int | None = None
    high: int | None = None


Promise: TypeAlias = Divisible | Bounded
"""What an `assume` may say."""
