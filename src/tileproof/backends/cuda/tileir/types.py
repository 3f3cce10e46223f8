"""The types of Tile IR. Every value is a tile (a scalar is a tile of rank 0), a view of memory, or a token."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final, TypeAlias

from .enums import Padding

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
    "f8E8M0FNU": (0x12, 8),
    "f4E2M1FN": (0x13, 4),
    "i4": (0x16, 4),
}

I1: Final = Number("i1")
I4: Final = Number("i4")
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
F8E8M0: Final = Number("f8E8M0FNU")
F4E2M1: Final = Number("f4E2M1FN")

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
        shown = f"tile={_list(self.tile)}, steps={_list(self.steps)}"
        return f"strided_view<{shown}, {_seen(self.of, self.padding)}, order={_list(self.order)}>"


@dataclass(frozen=True, slots=True)
class GatherView:
    """A tensor seen through tiles whose places along the dimension `sparse` are chosen one by one."""

    tile: tuple[int, ...]
    of: TensorView
    sparse: int
    padding: Padding | None = None

    def __str__(self) -> str:
        return f"gather_view<tile={_list(self.tile)}, {_seen(self.of, self.padding)}, sparse={self.sparse}>"


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
        taken, given = (", ".join(map(str, types)) for types in (self.parameters, self.results))
        return f"({taken}) -> ({given})"


TileView: TypeAlias = PartitionView | StridedView | GatherView
"""What loads and stores of tiles go through."""

Type: TypeAlias = Number | Pointer | Tile | TensorView | PartitionView | StridedView | GatherView | Token | Function


def _lengths(shape: tuple[int | None, ...], element: Element) -> str:
    return "x".join([*("?" if length is None else str(length) for length in shape), str(element)])


def _list(numbers: tuple[int | None, ...]) -> str:
    return f"[{', '.join('?' if number is None else str(number) for number in numbers)}]"


def _seen(of: TensorView, padding: Padding | None) -> str:
    return f"{of}" if padding is None else f"padding={padding.name.lower()}, {of}"
