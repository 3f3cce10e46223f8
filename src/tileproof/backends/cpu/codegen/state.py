"""What the lowering knows while it writes a program: where tensors lie, where walkers are, what each value is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tileproof.backends.cpu.target import Target
from tileproof.ir.ops import AnyOp, KernelIR, Load
from tileproof.ir.types import AnyValue, Axis, Tensor, Tile, TileType, Walker, WalkerTag, number
from tileproof.language.dtypes import DType

from .emitter import Emitter, Operand, memory, nbytes
from .materialization import Uses
from .parameters import Shown, Specialization

ALIGNMENT = 64
"""Buffers begin at a multiple of so many bytes."""
_CROWDED = 1024
"""Rows of a multiple of so many bytes would meet in few places of a cache."""


@dataclass(frozen=True, slots=True)
class View:
    """A tensor in memory: its first element, and along each axis its extent and step, in elements."""

    pointer: Operand
    extents: tuple[Operand, ...]
    strides: tuple[Operand, ...]
    dtype: DType
    stream: bool = False
    """Large enough that stores had better pass by the caches."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a walker is."""

    start: Operand
    stop: Operand
    number: Operand
    live: Operand


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tile in scratch memory, with a step for each axis in elements. Whole vectors may be read and written."""

    pointer: Operand
    strides: tuple[int, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class Part:
    """A tile that is another at one place along an axis."""

    whole: Tile
    axis: int
    place: Operand


@dataclass
class State:
    """Of one function of the module."""

    kernel: KernelIR
    target: Target
    specialization: Specialization
    uses: Uses
    from_memory: frozenset[AnyValue] = frozenset()
    """The values that depend on what tensors hold."""
    e: Emitter = field(default_factory=Emitter)
    tensors: dict[Tensor, View] = field(default_factory=dict)
    places: dict[Walker, Place] = field(default_factory=dict)
    turns: dict[Walker, Operand] = field(default_factory=dict)
    """How many places of its walk come before a walker's in the parallel space."""
    scalars: dict[Tile, Operand] = field(default_factory=dict)
    buffers: dict[Tile, Buffer] = field(default_factory=dict)
    lazy: dict[Tile, AnyOp | Part] = field(default_factory=dict)
    dimensions: Mapping[str, Operand] = field(default_factory=dict)
    point: Operand = "0"
    """The number of the program; -1 where all programs do the same."""
    sites: Mapping[int, int] = field(default_factory=dict)
    """The number of each check and print, by identity."""
    shown: dict[int, tuple[Shown, ...]] = field(default_factory=dict)
    """How the values of each print are handed out."""
    record: Operand = ""
    """Where failed checks are reported."""
    printer: Operand = ""
    """What prints."""
    arena: Operand = "%arena"
    scratch: int = 0
    """Bytes of the arena in use."""
    depths: dict[AnyValue, int] = field(default_factory=dict)
    """The level in which a value was made."""
    destinations: dict[Tile, Buffer] = field(default_factory=dict)
    """Where tiles that a loop hands on to its next turn belong."""
    slots: dict[Tile, Tile] = field(default_factory=dict)
    """Of tiles that a loop hands on to its next turn: what they are called there."""
    packed: dict[tuple[Tile, bool], Callable[[State], Operand]] = field(default_factory=dict)
    """Where operands lie that were packed before the programs run: by product, and whether it is the left one.

    Not by tile: one tile may be an operand of two products, each of which has its own way to pack it."""
    rows: list[Load] = field(default_factory=list)
    """Loads of whole rows, one of which each program of the innermost walk has."""
    loops: list[int] = field(default_factory=list)
    """The levels of the loops that are open."""
    ahead: int = 0
    """How many rows ahead loads of rows ask for what is read there soon; 0: they do not."""
    ahead_of: Tensor | None = None
    """The tensor whose rows are asked for ahead; None: all."""

    @property
    def lanes(self) -> int:
        return self.target.lanes

    def define(self, value: AnyValue) -> None:
        """Notes that a value is made here."""
        self.depths[value] = len(self.e.levels) - 1

    def is_parameter(self, tensor: Tensor) -> bool:
        """Whether a tensor is one that the launch passes, and not a part of it."""
        return any(parameter.value is tensor for parameter in self.kernel.parameters)

    def live(self, axis: Axis) -> Operand:
        """How many elements of an axis exist."""
        if isinstance(axis.tag, WalkerTag):
            return self.places[axis.tag.walker].live
        return str(number(axis.length))

    def lives(self, tile: TileType) -> list[Operand]:
        return [self.live(axis) for axis in tile.axes]

    def allocate(self, amount: int) -> Operand:
        """Scratch memory of so many bytes, for the rest of the function."""
        begin = self.scratch
        self.scratch += -(-amount // ALIGNMENT) * ALIGNMENT
        return self.e.op("getelementptr i8, ptr {}, i64 {}", self.arena, str(begin))

    def buffer_layout(self, tile: TileType) -> Buffer:
        """How a tile lies in scratch memory, its rows padded to whole vectors; where is not said yet."""
        strides, step = [], 1
        for axis in reversed(tile.axes):
            strides.append(step)
            length = number(axis.length)
            if step == 1 and length > 1:
                length = -(-length // self.lanes) * self.lanes
                if length * nbytes(tile.dtype) % _CROWDED == 0:
                    length += self.lanes
            step *= max(length, 1)
        return Buffer("", tuple(reversed(strides)), tile.dtype)

    def buffer(self, tile: TileType) -> Buffer:
        """Scratch memory for a tile."""
        layout = self.buffer_layout(tile)
        count = number(tile.axes[0].length) * layout.strides[0] if tile.axes else 1
        amount = (count + self.lanes) * nbytes(tile.dtype)
        return replace(layout, pointer=self.allocate(amount))

    def destination(self, tile: Tile) -> Buffer:
        """Scratch memory for a tile: that of the loop which takes it to its next turn, if there is one."""
        return self.destinations.pop(tile, None) or self.buffer(tile.type)

    def element(self, buffer: Buffer, coords: tuple[Operand, ...]) -> Operand:
        """The address of an element of a buffer."""
        terms = [self.scaled(coord, str(step)) for coord, step in zip(coords, buffer.strides, strict=True)]
        return self.address(buffer.pointer, terms, memory(buffer.dtype))

    def address(self, pointer: Operand, terms: list[Operand], element: str) -> Operand:
        """`pointer` moved by all terms, those known in outer levels first."""
        for term in sorted(terms, key=self.e.depth):
            if term != "0":
                pointer = self.e.op(f"getelementptr {element}, ptr {{}}, i64 {{}}", pointer, term)
        return pointer

    def scaled(self, coord: Operand, step: Operand) -> Operand:
        if coord == "0" or step == "1":
            return coord
        if coord == "1":
            return step
        return self.e.op("mul i64 {}, {}", coord, step)

    def plus(self, left: Operand, right: Operand) -> Operand:
        if left == "0":
            return right
        if right == "0":
            return left
        return self.e.op("add i64 {}, {}", left, right)
