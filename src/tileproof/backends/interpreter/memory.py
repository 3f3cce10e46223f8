"""Elements of tensors that an access picks. The law kept here: nothing outside a tensor is ever touched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tileproof.ir.ops import BinaryFn
from tileproof.language.dtypes import DType

from .semantics import Array, binary


class Outside(Exception):
    """An index is not inside its axis."""

    def __init__(self, axis: int, index: int, extent: int) -> None:
        super().__init__(axis, index, extent)
        self.axis = axis
        self.index = index
        self.extent = extent


@dataclass(frozen=True, slots=True)
class Region:
    """The product of positions along each axis of a tensor, all inside; an axis with one may be dropped."""

    positions: tuple[Array, ...]
    dropped: tuple[bool, ...]

    @property
    def mesh(self) -> tuple[Array, ...]:
        """An index that picks the elements from an array of the tensor's shape, dropped axes kept."""
        return np.ix_(*self.positions)

    @property
    def kept_shape(self) -> tuple[int, ...]:
        """Lengths with dropped axes as 1."""
        return tuple(len(positions) for positions in self.positions)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes that stay."""
        return tuple(n for n, dropped in zip(self.kept_shape, self.dropped, strict=True) if not dropped)

    def element(self, number: int) -> tuple[int, ...]:
        """Where in the tensor element `number` of the region is, counted row by row."""
        places = np.unravel_index(number, self.kept_shape)
        return tuple(int(positions[place]) for positions, place in zip(self.positions, places, strict=True))


def region(shape: tuple[int, ...], picks: list[int | Array]) -> Region:
    """The elements at a position (which drops the axis) or positions along each axis; raises `Outside`."""
    positions = [np.atleast_1d(np.asarray(pick, np.int64)) for pick in picks]
    for axis, (here, extent) in enumerate(zip(positions, shape, strict=True)):
        bad = (here < 0) | (here >= extent)
        if bad.any():
            raise Outside(axis, int(here[np.argmax(bad)]), extent)
    return Region(tuple(positions), tuple(isinstance(pick, int) for pick in picks))


def load(array: Array, where: Region) -> Array:
    """A copy of the elements."""
    return np.asarray(array[where.mesh]).reshape(where.shape)


def store(array: Array, where: Region, value: Array) -> None:
    """Writes the elements; of several lanes with one position, the last stays."""
    array[where.mesh] = value.reshape(where.kept_shape)


def update(array: Array, where: Region, value: Array, fn: BinaryFn, dtype: DType) -> None:
    """Combines lanes into elements one by one: duplicates count, every step rounds or wraps.

    `array` lies in memory row by row.
    """
    if not value.size:
        return
    targets = np.ravel_multi_index(where.mesh, array.shape).ravel() if array.ndim else np.zeros(1, np.int64)
    lanes, elements = value.ravel(), array.reshape(-1)
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
