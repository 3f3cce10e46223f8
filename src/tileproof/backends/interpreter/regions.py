"""Elements of tensors that an access picks. The law kept here: nothing outside a tensor is ever touched.

Accesses differ in what they do at a position they cannot touch: a load raises `Outside`; a store passes over none
and raises where it is outside; a get passes over both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tileproof.ir.ops import BinaryFn
from tileproof.language.dtypes import DType

from .semantics import NONE, Array, binary


class Outside(Exception):
    """A position is not inside its axis, or none."""

    def __init__(self, axis: int, position: int, extent: int, is_none: bool) -> None:
        super().__init__(axis, position, extent, is_none)
        self.axis = axis
        self.position = position
        self.extent = extent
        self.is_none = is_none


@dataclass(frozen=True, slots=True)
class Picked:
    """Positions along one axis of a tensor; the one position of a dropped axis. In entries, -1 is none."""

    positions: Array
    dropped: bool = False
    entries: bool = False

    @property
    def none(self) -> Array:
        """Which positions are none."""
        return np.asarray((self.positions == NONE) & self.entries)

    def outside(self, extent: int) -> Array:
        """Which positions are not inside an axis; none is not."""
        return np.asarray((self.positions < 0) | (self.positions >= extent))


@dataclass(frozen=True, slots=True)
class Meeting:
    """An element of a tensor that two lanes along an axis of a tile stand for."""

    element: tuple[int, ...]
    axis: int
    lanes: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Region:
    """The product of positions along each axis of a tensor, all inside, and the lanes of a tile that stand for them.

    Along each axis the tile has `lengths` lanes, 1 where the axis is dropped; `lanes` says which of them are touched.
    """

    positions: tuple[Array, ...]
    lanes: tuple[Array, ...]
    lengths: tuple[int, ...]
    dropped: tuple[bool, ...]

    @property
    def mesh(self) -> tuple[Array, ...]:
        """An index that picks the elements from an array of the tensor's shape, dropped axes kept."""
        return np.ix_(*self.positions)

    @property
    def lane_mesh(self) -> tuple[Array, ...]:
        """An index that picks the touched lanes from a tile, dropped axes kept."""
        return np.ix_(*self.lanes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tile: its lengths without those of dropped axes."""
        return tuple(n for n, dropped in zip(self.lengths, self.dropped, strict=True) if not dropped)

    def element(self, number: int) -> tuple[int, ...]:
        """Where in the tensor element `number` of the region is, counted row by row."""
        places = np.unravel_index(number, tuple(len(positions) for positions in self.positions))
        return tuple(int(positions[place]) for positions, place in zip(self.positions, places, strict=True))

    def meeting(self) -> Meeting | None:
        """The first two lanes that stand for one element, if there are such."""
        if not all(len(positions) for positions in self.positions):
            return None
        for axis, positions in enumerate(self.positions):
            first = np.unique(positions, return_index=True)[1]
            if len(first) < len(positions):
                again = int(np.setdiff1d(np.arange(len(positions)), first)[0])
                before = int(np.argmax(positions == positions[again]))
                element = [int(other[0]) for other in self.positions]
                element[axis] = int(positions[again])
                return Meeting(tuple(element), axis, (int(self.lanes[axis][before]), int(self.lanes[axis][again])))
        return None


def load_region(shape: tuple[int, ...], picks: Sequence[Picked]) -> Region:
    """The region of a load: every position is inside."""
    _demand_inside(shape, picks)
    return _region(picks, [np.full(picked.positions.shape, True) for picked in picks])


def store_region(shape: tuple[int, ...], picks: Sequence[Picked]) -> Region:
    """The region of a store or update: the elements that are none along no axis, all inside."""
    present = [~picked.none for picked in picks]
    # Where all of an axis is none no element is left, so the positions along other axes do not matter.
    if not any(len(here) and not here.any() for here in present):
        some = [Picked(picked.positions[here]) for picked, here in zip(picks, present, strict=True)]
        _demand_inside(shape, some)
    return _region(picks, present)


def get_region(shape: tuple[int, ...], picks: Sequence[Picked]) -> Region:
    """The region of a get: whatever is inside."""
    return _region(picks, [~picked.outside(extent) for picked, extent in zip(picks, shape, strict=True)])


def _demand_inside(shape: tuple[int, ...], picks: Sequence[Picked]) -> None:
    for axis, (picked, extent) in enumerate(zip(picks, shape, strict=True)):
        bad = picked.outside(extent)
        if bad.any():
            first = int(np.argmax(bad))
            raise Outside(axis, int(picked.positions[first]), extent, bool(picked.none[first]))


def _region(picks: Sequence[Picked], touched: Sequence[Array]) -> Region:
    lanes = tuple(np.flatnonzero(here) for here in touched)
    return Region(
        tuple(picked.positions[here] for picked, here in zip(picks, lanes, strict=True)),
        lanes,
        tuple(len(picked.positions) for picked in picks),
        tuple(picked.dropped for picked in picks),
    )


def load(array: Array, where: Region) -> Array:
    """A copy of the elements, dropped axes kept."""
    return np.asarray(array[where.mesh])


def spread(elements: Array, where: Region, fill: Array) -> Array:
    """A tile with the elements of a region in its lanes and `fill` in those that touch nothing."""
    tile = np.full(where.lengths, fill, elements.dtype)
    tile[where.lane_mesh] = elements
    return tile.reshape(where.shape)


def store(array: Array, where: Region, value: Array) -> None:
    """Writes the elements; of several lanes with one position, the last stays."""
    array[where.mesh] = value.reshape(where.lengths)[where.lane_mesh]


def update(array: Array, where: Region, value: Array, fn: BinaryFn, dtype: DType) -> None:
    """Combines lanes into elements one by one: duplicates count, every step rounds or wraps.

    `array` lies in memory row by row.
    """
    lanes = np.asarray(value.reshape(where.lengths)[where.lane_mesh]).ravel()
    elements = array.reshape(-1)
    if not lanes.size:
        return
    targets = np.ravel_multi_index(where.mesh, array.shape).ravel() if array.ndim else np.zeros(1, np.int64)
    for turn in _turns(targets):
        here = targets[turn]
        elements[here] = binary(fn, elements[here], lanes[turn], dtype)


def _turns(targets: Array) -> Iterator[Array]:
    """Lanes in groups without a repeated target: the first lane of each target, then the second, ..."""
    by_target = np.argsort(targets, kind="stable")
    ordered = targets[by_target]
    turn = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    by_turn = by_target[np.argsort(turn, kind="stable")]
    ends = np.cumsum(np.bincount(turn))
    yield from np.split(by_turn, ends[:-1])
