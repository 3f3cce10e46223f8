"""What the lowering knows while it writes an entry: where tensors lie, where walkers are, what each value is.

A tile is held with its axes padded to powers of two. Lanes at or past the live length of an axis are *dead*: they hold
anything, and nothing that is stored or reported depends on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Final

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.types import (
    BF16,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I1,
    I8,
    I16,
    I32,
    I64,
    Block,
    Location,
    Number,
    Predicate,
    Value,
)
from tileproof.backends.cuda.tileir.types import Tile as TileOf
from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import Binary, KernelIR, Permute
from tileproof.ir.types import AnyValue, Axis, Length, Tensor, Tile, TileType, Walker, WalkerTag
from tileproof.language.dtypes import DType
from tileproof.language.kernel import Schedule

from .layout_specialization import Specialization
from .memory_order import Order, can_wait
from .positions import Position, materialised
from .tiles import element_of, shape_of, spread
from .wrapping_sums import Sums

ELEMENTS: Final[Mapping[str, Number]] = {
    "bool": I1, "i8": I8, "i16": I16, "i32": I32, "i64": I64, "u8": I8, "u16": I16, "u32": I32, "u64": I64,
    "f16": F16, "bf16": BF16, "tf32": F32, "f32": F32, "f64": F64, "f8e4m3": F8E4M3, "f8e5m2": F8E5M2,
    "index": I64, "index?": I64,
}  # fmt: skip
"""How elements are held in tiles; tf32 as an f32 with nothing behind its last bit."""


def number(length: Length) -> int:
    """A length as a number: in a launch all are known."""
    assert isinstance(length, int), f"{length} is not known"
    return length


def padded(length: int) -> int:
    """The power of two that holds so many lanes."""
    return 1 << max(length - 1, 0).bit_length()


def stored(dtype: DType) -> Number:
    """How an element lies in memory: a bool is a byte."""
    return I8 if dtype.name == "bool" else ELEMENTS[dtype.name]


@dataclass(frozen=True, slots=True)
class Target:
    """What code is made for: the architecture and the version of the bytecode."""

    arch: str
    version: tuple[int, int] = (13, 4)
    is_disguised: bool = False
    """Whether numbers that a loop begins with, or a `while` hands on, are hidden from the assembler, which crashes over
    some of them."""

    @property
    def capability(self) -> int:
        """90 for sm_90."""
        return int(self.arch.removeprefix("sm_").rstrip("af"))

    @property
    def can_wait(self) -> bool:
        """Whether code for it can begin before the kernel ahead of it has ended."""
        return can_wait(self.capability, self.version)


@dataclass(frozen=True, slots=True)
class View:
    """A tensor in memory: its first element, and along each axis its extent and step, in elements."""

    pointer: Value
    extents: tuple[Position, ...]
    strides: tuple[Value | int, ...]
    dtype: DType
    is_plain: bool
    """Whether a tensor view can say it: all steps forward, no axis empty."""
    lengths: tuple[Value | int, ...]
    """The extents as a tensor view takes them."""
    origin: tuple[Position | None, ...]
    """Along each axis, where position 0 is, if it is not the first element."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a walker is."""

    start: Position
    stop: Position
    number: Position
    live: int | Value
    """How many lanes are live: a number if it is always the same, else an I32 scalar."""
    tile: Value | int | None = None
    """The number of the tile, counted from the start of the axis in steps of the walker's size, if it begins at one."""
    is_edge: bool = False
    """Whether lanes are dead only because the axis of the dimension ends: nothing stops the walk before."""
    is_inside: bool = True
    """Whether the first element exists: a walker that was moved may stand behind the last."""


@dataclass
class State:
    """Of one entry."""

    b: Builder
    kernel: KernelIR
    specialization: Specialization
    target: Target
    schedule: Schedule
    order: Order
    coordinate: Number = I32
    """The integers that count tiles and elements: I32 unless something is too large for it."""
    tensors: dict[Tensor, View] = field(default_factory=dict)
    places: dict[Walker, Place] = field(default_factory=dict)
    values: dict[Tile, Value] = field(default_factory=dict)
    positions: dict[Tile, Position] = field(default_factory=dict)
    clean: set[Value] = field(default_factory=set)
    """Values whose dead lanes are all zero."""
    dimensions: Mapping[str, Position] = field(default_factory=dict)
    point: Value | None = None
    """The number of the program, as I64; None where all programs do the same."""
    transposed: Mapping[Tile, Permute] = field(default_factory=dict)
    """Loaded tiles of which only the transpose is used, and that: they are loaded so."""
    fused: Mapping[AnyValue, Binary] = field(default_factory=dict)
    """Products that are written together with the sum they are added to."""
    flushed: Mapping[Tile, Tile] = field(default_factory=dict)
    """Choices that are one power of two, and what 2 is raised to."""
    sums: Sums | None = None
    """How large sums of products of integers can be."""
    numbers: dict[Tile, bool | int | float] = field(default_factory=dict)
    """Tiles that hold one number everywhere, known now."""
    unknown: Value | None = None
    """A number of at least 0 of which the assembler knows nothing, if numbers are to be hidden from it."""
    report: Value | None = None
    """Where failed checks are reported: a pointer to I64."""
    sites: Mapping[int, int] = field(default_factory=dict)
    """The number of each check, by identity."""
    is_serial: bool = False
    """Whether what is combined in memory is combined in the order of programs and lanes."""
    scalar_region: bool = False
    """Whether an operation on tiles is written for one element of each, as in the body of a scan."""

    # Values.

    @property
    def version(self) -> tuple[int, int]:
        return self.target.version

    def element(self, dtype: DType) -> Number:
        """How elements are held in tiles."""
        return ELEMENTS[dtype.name]

    def padded(self, tile: TileType) -> tuple[int, ...]:
        """The shape a tile is held in."""
        if self.scalar_region:
            return ()
        return tuple(padded(number(axis.length)) for axis in tile.axes)

    def get(self, tile: Tile) -> Value:
        """What a tile is held as."""
        value = self.values.get(tile)
        if value is None:
            value = self.values[tile] = materialised(self.b, self.positions[tile], self.padded(tile.type))
        return value

    def put(self, tile: Tile, value: Value, *, clean: bool = False) -> None:
        """Defines a tile; `clean` if its dead lanes are zero."""
        self.values[tile] = value
        self.positions.pop(tile, None)
        if clean:
            self.clean.add(value)

    def put_position(self, tile: Tile, position: Position) -> None:
        """Defines a tile of indices by what is known of it."""
        self.positions[tile] = position
        self.values.pop(tile, None)

    def position(self, tile: Tile) -> Position | None:
        """What is known of a tile of indices; of a scalar, at least that it is one number."""
        known = self.positions.get(tile)
        if known is None and not self.padded(tile.type) and self.element(tile.type.dtype) == I64:
            return Position(self.values[tile])
        return known

    def scalar(self, tile: Tile) -> Position:
        """A scalar of indices."""
        known = self.position(tile)
        assert known is not None
        assert known.lanes is None
        return known

    def splat(self, element: DType | Number, shape: Sequence[int], value: bool | int | float) -> Value:
        """A tile with one number everywhere."""
        of = element if isinstance(element, Number) else ELEMENTS[element.name]
        return self.b.constant(TileOf(of, tuple(shape)), value)

    def spread(self, scalar: Value, shape: Sequence[int]) -> Value:
        """A scalar in every lane of a shape."""
        return spread(self.b, scalar, tuple(shape))

    def along(self, line: Value, shape: Sequence[int], axis: int) -> Value:
        """A tile of one axis laid along an axis of a shape."""
        if len(shape) == 1:
            return line
        ones = tuple(shape_of(line)[0] if place == axis else 1 for place in range(len(shape)))
        return self.b.broadcast(self.b.reshape(line, ones), tuple(shape))

    def lanes(self, shape: Sequence[int], axis: int, element: Number = I32) -> Value:
        """A tile that counts along an axis."""
        return self.along(self.b.iota(shape[axis], element), shape, axis)

    def hints(self, *, tma: bool = True) -> dict[str, dict[str, int | bool]]:
        """What the schedule says of loads and stores, and whether the copy engine may be used at all."""
        settings: dict[str, int | bool] = {}
        if self.schedule.latency is not None:
            settings["latency"] = self.schedule.latency
        if not (tma and self.schedule.tma):
            settings["allow_tma"] = False
        return {self.target.arch: settings} if settings else {}

    def is_parameter(self, tensor: Tensor) -> bool:
        """Whether a tensor is one that the launch passes, and not a part of it."""
        return any(parameter.value is tensor for parameter in self.kernel.parameters)

    # Live lanes.

    def live(self, axis: Axis) -> int | Value:
        """How many elements of an axis exist: a number where it is always the same, else an I32 scalar."""
        if isinstance(axis.tag, WalkerTag):
            return self.places[axis.tag.walker].live
        return number(axis.length)

    def live_value(self, axis: Axis) -> Value:
        """The same as an I32 scalar in any case."""
        live = self.live(axis)
        return self.splat(I32, (), live) if isinstance(live, int) else live

    def is_whole(self, axis: Axis) -> bool:
        """Whether every lane of an axis is live, padding included."""
        return self.live(axis) == padded(number(axis.length))

    def mask(self, tile: TileType, axis: int) -> Value | None:
        """Which lanes are live along an axis; None if all are."""
        if self.scalar_region or self.is_whole(tile.axes[axis]):
            return None
        shape = self.padded(tile)
        line = self.b.iota(shape[axis], I32)
        inside = self.b.cmpi(Predicate.LESS, line, self.spread(self.live_value(tile.axes[axis]), shape_of(line)),
                             signed=True)  # fmt: skip
        return self.along(inside, shape, axis)

    def mask_all(self, tile: TileType) -> Value | None:
        """Which lanes are live along every axis; None if all are."""
        total: Value | None = None
        for axis in range(tile.rank):
            mask = self.mask(tile, axis)
            if mask is not None:
                total = mask if total is None else self.b.andi(total, mask)
        return total

    def cleaned(self, tile: Tile, axis: int) -> Value:
        """A tile with zero in the dead lanes of an axis."""
        value = self.get(tile)
        mask = None if value in self.clean else self.mask(tile.type, axis)
        if mask is None:
            return value
        return self.b.select(mask, value, self.splat(element_of(value), shape_of(value), 0))

    # Regions and other states.

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Writes into a region. What is made there, a tile of indices made whole too, does not exist behind it."""
        values = dict(self.values)
        with self.b.inside(block):
            yield
        self.values = values

    def scalarised(self) -> State:
        """A state for the body of a scan or fold: each tile of the combiner is one element there."""
        return replace(self, values={}, positions={}, scalar_region=True)

    def at(self, span: Span) -> None:
        """Says where in the source the operations that follow come from."""
        self.b.location = Location(PurePath(span.source.name).name, span.line, span.column)


def bytes_of(dtype: DType) -> int:
    """How much memory an element takes."""
    return max(stored(dtype).bits // 8, 1)
