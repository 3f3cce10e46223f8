"""Memory for the evaluator of Tile IR: numpy arrays at their own addresses, and the order that tokens give accesses.

Memory operations are not ordered by where they stand: two that touch the same element, one of them writing, must be
ordered by tokens within a program, and must not happen in two programs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oracles.tile_ir_lanes import Array, Lanes, Undefined, garbage, held
from tileproof.backends.cuda.tileir.types import (
    Mode,
    Number,
    Padding,
    PartitionView,
    StridedView,
    TensorView,
    TileView,
)
from tileproof.runtime.interop.describe import byte_range

_NOBODY, _MANY = -1, -2


@dataclass(eq=False)
class Area:
    """Bytes that belong together, and who touched them in this launch."""

    address: int
    raw: Array
    owner: Any
    writers: Array = field(init=False)
    readers: Array = field(init=False)

    def __post_init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """A new launch begins."""
        self.writers, self.readers = (np.full(len(self.raw), _NOBODY, np.int64) for _ in range(2))


@dataclass(frozen=True)
class Access:
    """What a program did to an area: which bytes, and whether it wrote, or did so atomically."""

    event: int
    area: Area
    places: Array
    writes: bool
    atomic: bool


class Memory:
    """All areas that pointers may point into."""

    def __init__(self) -> None:
        self.areas: list[Area] = []

    def add(self, array: Array) -> int:
        """The address of an array's first element; all of the memory it is a view of may be reached."""
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if owner.flags.forc or not owner.size:
            whole = owner.reshape(-1, order="A")
        else:  # a view of memory whose owner does not show
            low, high = byte_range(owner)
            whole = np.frombuffer((ctypes.c_uint8 * (high - low)).from_address(low), np.uint8)
        start = whole.__array_interface__["data"][0]
        if not any(area.address == start and len(area.raw) == whole.nbytes for area in self.areas):
            self.areas.append(Area(start, whole.view(np.uint8), owner))
        return int(array.__array_interface__["data"][0])

    def find(self, addresses: Array, size: int) -> Area:
        """The one area that elements at these addresses lie in."""
        low, high = int(addresses.min()), int(addresses.max()) + size
        for area in self.areas:
            if area.address <= low and high <= area.address + len(area.raw):
                if (addresses % size).any():
                    raise Undefined("an address is not a multiple of the size of its element")
                return area
        raise Undefined(f"an access leaves memory: {low:#x} to {high:#x}")


class Program:
    """The accesses of one program of the grid."""

    def __init__(self, memory: Memory, number: int, random: np.random.Generator) -> None:
        self.memory, self.number, self.random = memory, number, random
        self.accesses: list[Access] = []
        self.events = 0
        self.acquired = False

    # Elements at addresses.

    def load(self, addresses: Array, element: Number, live: Array, after: int, atomic: bool) -> tuple[Array, int]:
        """The elements where `live`, zeros elsewhere, and a token."""
        kind = held(element)
        result = np.zeros(addresses.shape, kind)
        token = self._event(after)
        if live.any():
            area = self.memory.find(addresses[live], kind.itemsize)
            places = addresses[live] - area.address
            self._record(token, area, places, kind.itemsize, after, writes=False, atomic=atomic)
            result[live] = self._gathered(area, places, kind)
        return result, token

    def store(self, addresses: Array, element: Number, value: Lanes, live: Array, after: int, atomic: bool) -> int:
        """Writes elements where `live`; a token."""
        kind = held(element)
        token = self._event(after)
        if live.any():
            data = np.broadcast_to(value.data, addresses.shape)[live]
            if value.poison is not None and np.broadcast_to(value.poison, addresses.shape)[live].any():
                raise Undefined("a dead lane is stored")
            area = self.memory.find(addresses[live], kind.itemsize)
            places = addresses[live] - area.address
            if len(np.unique(places)) != len(places):
                raise Undefined("a store writes an element twice")
            self._record(token, area, places, kind.itemsize, after, writes=True, atomic=atomic)
            self._scatter(area, places, data.astype(kind))
        return token

    def change(
        self, mode: Mode, addresses: Array, element: Number, operand: Lanes, live: Array, after: int
    ) -> tuple[Array, int]:
        """Atomics, lane by lane: what was there, and a token."""
        kind = held(element)
        old, token = garbage(kind, addresses.shape, self.random), self._event(after)
        arguments = np.broadcast_to(operand.data, addresses.shape)
        if operand.poison is not None and np.broadcast_to(operand.poison, addresses.shape)[live].any():
            raise Undefined("a dead lane is stored")
        if live.any():
            area = self.memory.find(addresses[live], kind.itemsize)
            places = addresses[live] - area.address
            self._record(token, area, places, kind.itemsize, after, writes=True, atomic=True)
            for index in map(tuple, np.argwhere(live)):
                place = np.asarray([addresses[index] - area.address])
                before = self._gathered(area, place, kind)
                old[index] = before[0]
                self._scatter(area, place, changed(mode, before, np.asarray([arguments[index]], kind)))
        return old, token

    # The order of accesses.

    def _event(self, after: int) -> int:
        token = after | 1 << self.events
        self.events += 1
        return token

    def _record(
        self, token: int, area: Area, places: Array, size: int, after: int, *, writes: bool, atomic: bool
    ) -> None:
        spread = np.unique((places[:, None] + np.arange(size)).ravel())
        for other in self.accesses:
            harmless = not (writes or other.writes) or (atomic and other.atomic)
            if other.area is not area or harmless or after >> other.event & 1:
                continue
            if np.intersect1d(spread, other.places, assume_unique=True).size:
                raise Undefined("two accesses to one element are not ordered by a token")
        self.accesses.append(Access(token.bit_length() - 1, area, spread, writes, atomic))
        if atomic or self.acquired:
            return
        others = (area.writers, area.readers) if writes else (area.writers,)
        for seen in others:
            if not np.isin(seen[spread], (_NOBODY, self.number)).all():
                raise Undefined("two programs touch one element, and one of them writes it")
        mine = area.writers if writes else area.readers
        mine[spread] = np.where(np.isin(mine[spread], (_NOBODY, self.number)), self.number, _MANY)

    def _gathered(self, area: Area, places: Array, kind: np.dtype[Any]) -> Array:
        raw = area.raw[places[:, None] + np.arange(kind.itemsize)]
        return raw != 0 if kind == np.bool_ else np.ascontiguousarray(raw).view(kind)[:, 0]

    def _scatter(self, area: Area, places: Array, data: Array) -> None:
        area.raw[places[:, None] + np.arange(data.dtype.itemsize)] = data.view(np.uint8).reshape(len(data), -1)


def changed(mode: Mode, old: Array, value: Array) -> Array:
    """What an atomic leaves behind."""
    unsigned = f"u{old.dtype.itemsize}"
    with np.errstate(all="ignore"):
        match mode:
            case Mode.AND:
                return np.asarray(old & value)
            case Mode.OR:
                return np.asarray(old | value)
            case Mode.XOR:
                return np.asarray(old ^ value)
            case Mode.ADD | Mode.ADDF:
                return np.asarray(old + value)
            case Mode.MAX:
                return np.maximum(old, value)
            case Mode.MIN:
                return np.minimum(old, value)
            case Mode.UMAX:
                return np.maximum(old.view(unsigned), value.view(unsigned)).view(old.dtype)
            case Mode.UMIN:
                return np.minimum(old.view(unsigned), value.view(unsigned)).view(old.dtype)
            case Mode.EXCHANGE:
                return value


# Views.


@dataclass(frozen=True)
class Tensor:
    """What `make_tensor_view` gives: an address, and for each axis its length and its stride in elements."""

    type: TensorView
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class View:
    """Tiles of a tensor."""

    type: TileView
    tensor: Tensor

    @property
    def space(self) -> tuple[int, ...]:
        """How many tiles there are along each axis of a tile."""
        return tuple(-(-self.tensor.shape[self.along(axis)] // self.step(axis)) for axis in range(len(self.type.tile)))

    def along(self, axis: int) -> int:
        """The axis of the tensor that an axis of a tile runs along."""
        return self.type.order[axis]

    def step(self, axis: int) -> int:
        """How far apart tiles begin."""
        return self.type.steps[axis] if isinstance(self.type, StridedView) else self.type.tile[axis]

    def reached(self, indices: Sequence[Lanes], inbounds: Sequence[bool]) -> tuple[Array, Array]:
        """The address of each element of a tile, and whether it is inside the tensor."""
        shape = self.type.tile
        addresses = np.full(shape, self.tensor.address, np.int64)
        inside = np.ones(shape, np.bool_)
        size = held(self.type.of.element).itemsize
        for axis, (lanes, sure) in enumerate(zip(indices, inbounds, strict=True)):
            index = lanes.known("an index")
            length = self.tensor.shape[self.along(axis)]
            if index.ndim:
                positions = index.astype(np.int64)
                if not ((positions >= 0) & (positions < length)).all():
                    raise Undefined("an index is outside its axis")
            else:
                if not 0 <= int(index) < self.space[axis]:
                    raise Undefined(f"tile {int(index)} is outside of {self.space[axis]}")
                positions = int(index) * self.step(axis) + np.arange(shape[axis])
            lives = positions < length
            if sure and not lives.all():
                raise Undefined("a tile that is said to be in bounds is not")
            line = [1] * len(shape)
            line[axis] = shape[axis]
            inside &= lives.reshape(line)
            addresses += (positions * self.tensor.strides[self.along(axis)] * size).reshape(line)
        return addresses, inside


def padding_of(padding: Padding, kind: np.dtype[Any]) -> Any:
    """The element a view gives past the edge of its tensor."""
    numbers = {Padding.ZERO: 0.0, Padding.NEGATIVE_ZERO: -0.0, Padding.NAN: np.nan, Padding.INFINITY: np.inf,
               Padding.NEGATIVE_INFINITY: -np.inf}  # fmt: skip
    return np.asarray(numbers[padding]).astype(kind)[()]


def is_tiles(kind: object) -> bool:
    """Whether a type is one of views that loads and stores go through."""
    return isinstance(kind, PartitionView | StridedView)
