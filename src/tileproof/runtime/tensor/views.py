"""Shapes and strides of views: arithmetic only, no memory. Strides and offsets are in bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from operator import index as whole
from typing import Any, Final, TypeAlias

import numpy as np

from tileproof.diagnostics.values import formatted
from tileproof.runtime.memory.ledger import Runs

Shape: TypeAlias = tuple[int, ...]
Layout: TypeAlias = tuple[Shape, Shape]
"""A shape, and the strides of it."""

_INDICES: Final = "only integers, slices (`:`), ellipsis (`...`) and None are valid indices"
_MOST: Final = 2**56
_GATHER: Final = "gather elements in a kernel, with an `Index` parameter; or on the host: `x.numpy()[...]`"


def rejection(kind: type[Exception], message: str, cure: str) -> Exception:
    """An error of Python's own kind, for what Python's own protocols do not accept; it names the cure too."""
    return kind(f"{message}\n  help: {cure}")


def sliced(shape: Shape, strides: Shape, index: Any) -> tuple[Shape, Shape, int]:
    """The view that an index selects, and how far its first element lies after that of the whole."""
    if shape and type(index) is slice and index.step is None:  # the most frequent ones, sooner
        start, stop, _ = index.indices(shape[0])
        extents = (max(stop - start, 0), *shape[1:])
        return extents, strides, 0 if 0 in extents else strides[0] * start
    if shape and type(index) is int and 0 <= index < shape[0]:
        extents = shape[1:]
        return extents, strides[1:], 0 if 0 in extents else strides[0] * index
    parts = _whole_axes(index if isinstance(index, tuple) else (index,), len(shape))
    lengths: list[int] = []
    steps: list[int] = []
    offset = axis = 0
    for part in parts:
        if part is None:
            lengths.append(1)
            steps.append(0)
            continue
        extent, stride = shape[axis], strides[axis]
        if isinstance(part, slice):
            places = range(*part.indices(extent))
            lengths.append(len(places))
            step = stride * places.step
            steps.append(step if abs(step) <= _MOST else stride)  # such a step goes nowhere: it passes the end
            offset += stride * places.start if places else 0
        else:
            offset += stride * _place(part, axis, extent)
        axis += 1
    # Of a view without elements no address says anything; this one lies inside the memory.
    return tuple(lengths), tuple(steps), 0 if 0 in lengths else offset


def _whole_axes(parts: tuple[Any, ...], rank: int) -> list[Any]:
    """An index with a part for each axis: the ellipsis, or the end, stands for whole axes."""
    dots = [place for place, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise rejection(IndexError, "an index can only have a single ellipsis ('...')", "write `:` for the other axes")
    used = sum(part is not None and part is not Ellipsis for part in parts)
    if used > rank:
        message = f"too many indices for tensor: tensor is {rank}-dimensional, but {used} were indexed"
        raise rejection(IndexError, message, f"write at most {rank}; `None` makes a new axis")
    place = dots[0] if dots else len(parts)
    return [*parts[:place], *[slice(None)] * (rank - used), *parts[place + 1 :]]


def _place(part: Any, axis: int, extent: int) -> int:
    # A bool is a whole number to Python, and a mask to numpy.
    is_mask = isinstance(part, bool) or str(getattr(part, "dtype", "")) == "bool"
    if is_mask or getattr(part, "shape", ()) != ():
        raise rejection(IndexError, _INDICES, _GATHER)
    try:
        place = whole(part)
    except TypeError:
        cure = _GATHER if isinstance(part, list | tuple) else "write a whole number or a slice"
        raise rejection(IndexError, _INDICES, cure) from None
    if not -extent <= place < extent:
        message = f"index {formatted(place)} is out of bounds for axis {axis} with size {extent}"
        cure = f"the last one is {extent - 1}" if extent else "a slice of it is empty too"
        raise rejection(IndexError, message, cure)
    return place + extent if place < 0 else place


def shape_of(shape: tuple[Any, ...], what: str = "a shape") -> Shape:
    """A shape that was written as one sequence or as several numbers."""
    parts = shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) and not isinstance(shape[0], str) else shape
    try:
        return tuple(map(whole, parts))
    except TypeError:
        message = f"{what} is made of whole numbers, not {formatted(shape)}"
        raise rejection(TypeError, message, "write `(2, 3)` or `6`") from None


def without_guess(shape: Shape, size: int) -> Shape:
    """A shape for a number of elements, with the extent in place of -1."""
    unknown = shape.count(-1)
    known = math.prod(extent for extent in shape if extent != -1)
    if unknown > 1:
        raise rejection(ValueError, "can only specify one unknown dimension", "write -1 once")
    if any(extent < -1 for extent in shape):
        message = f"the shape {formatted(shape)} has a negative extent"
        raise rejection(ValueError, message, "write -1 for the extent that follows")
    if unknown and known and not size % known:
        return tuple(size // known if extent == -1 else extent for extent in shape)
    if unknown or known != size:
        message = f"cannot reshape a tensor of {size} elements into shape {formatted(shape)}"
        raise rejection(ValueError, message, f"write extents whose product is {size}")
    return demand_extents(shape)


def demand_extents(shape: Shape) -> Shape:
    """The same shape, unless it is without elements and so large otherwise that strides would be no addresses."""
    if 0 in shape and math.prod(extent for extent in shape if extent) > _MOST:
        message = f"the shape {formatted(shape)} has no elements, and extents that no memory has"
        raise rejection(ValueError, message, "write smaller extents next to the 0")
    return shape


def reshaped(layout: Layout, shape: Shape, itemsize: int) -> Shape | None:
    """The strides with which the same elements have another shape; None if no strides do that.

    Axes are matched group by group: some of the old and some of the new have the same product. The old ones of a group
    must lie in memory as one axis would.
    """
    if not math.prod(shape):
        return _in_a_row(shape, itemsize)
    old = [(extent, stride) for extent, stride in zip(*layout, strict=True) if extent != 1]
    strides: list[int] = []
    group: list[int] = []
    filled = 1
    for extent in shape:
        group.append(extent)
        filled *= extent
        if extent == 1 and not old:
            strides.append(itemsize)
            group = []
            continue
        joined = _joined(old, filled)
        if joined is None:
            return None
        if joined:
            stride = joined[0]
            strides += [step * stride for step in _in_a_row(tuple(group), 1)]
            group, filled = [], 1
    return tuple(strides)


def _joined(old: list[tuple[int, int]], filled: int) -> tuple[int, ...] | None:
    """Takes old axes of so many elements together off the list; their stride as one axis, None if they have none.

    An empty tuple says that more new axes are needed: the old ones are longer.
    """
    taken, product = 0, 1
    while product < filled and taken < len(old):
        product *= old[taken][0]
        taken += 1
    if filled == 1 or product != filled:
        return ()
    for (_, outer), (extent, inner) in pairwise(old[:taken]):
        if outer != inner * extent:
            return None
    stride = old[taken - 1][1]
    del old[:taken]
    return (stride,)


def _in_a_row(shape: Shape, itemsize: int) -> Shape:
    if len(shape) == 1:
        return (itemsize,)
    strides = [itemsize]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * max(extent, 1))
    return tuple(reversed(strides[: len(shape)]))


def is_in_a_row(layout: Layout, itemsize: int) -> bool:
    """Whether the elements follow each other without gaps."""
    shape, strides = layout
    plainly = _in_a_row(shape, itemsize)
    if strides == plainly:
        return True
    steps = zip(shape, strides, plainly, strict=True)
    return 0 in shape or all(extent == 1 or stride == plain for extent, stride, plain in steps)


def normalized_axes(axes: Sequence[Any], rank: int) -> Shape:
    """Numbers of axes, counted from the front."""
    order = []
    for number in axes:
        axis = whole(number)
        if not -rank <= axis < rank:
            message = f"axis {formatted(axis)} is out of bounds for a tensor of dimension {rank}"
            cure = f"axes are numbered from 0 to {rank - 1}" if rank else "it has no axes"
            raise rejection(IndexError, message, cure)
        order.append(axis % rank)
    if len(set(order)) < len(order):
        raise rejection(ValueError, f"an axis stands twice in {formatted(tuple(axes))}", "name each axis once")
    return tuple(order)


def permuted(layout: Layout, axes: Shape) -> Layout:
    """The axes in another order."""
    shape, strides = layout
    if len(axes) != len(shape):
        message = f"{len(axes)} axes were named, and the tensor has {len(shape)}"
        raise rejection(ValueError, message, "name every axis once, in the new order")
    return tuple(shape[axis] for axis in axes), tuple(strides[axis] for axis in axes)


def squeezed(layout: Layout, axes: Shape | None) -> Layout:
    """Without axes of one element: all of them, or those that are named."""
    shape, strides = layout
    for axis in axes or ():
        if shape[axis] != 1:
            message = f"axis {axis} has {shape[axis]} elements, and only axes of one element can be left out"
            raise rejection(ValueError, message, "index it: `x[0]`")
    kept = [axis for axis, extent in enumerate(shape) if (extent != 1 if axes is None else axis not in axes)]
    return tuple(shape[axis] for axis in kept), tuple(strides[axis] for axis in kept)


def runs_of(layout: Layout, itemsize: int, low: int) -> Runs:
    """The bytes of the elements, piece by piece; `low` is the lowest address of them."""
    shape, strides = layout
    length, starts = itemsize, np.full(0 if 0 in shape else 1, low, np.int64)
    for stride, extent in sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if n > 1 and s):
        if stride <= length and len(starts) == 1:
            length += stride * (extent - 1)
        else:
            starts = (starts[:, None] + stride * np.arange(extent)).reshape(-1)
    runs = np.empty((len(starts), 2), np.int64)
    runs[:, 0] = starts
    runs[:, 1] = starts + length
    return runs
