"""Memory of a launch: no byte of a written argument belongs to another argument, or to two of its own elements.

Addresses decide, not objects, so views and arrays that other libraries made over one buffer are all seen. (What one
process maps twice has two addresses, and is not.) Arguments that are only read may overlap freely.

*Exact for slices of one frame.* A frame is an array in which each stride passes over all that the smaller ones reach;
every contiguous array is one. Its slices, with any steps, forward or backward, axes dropped or reordered, step by
multiples of its strides. Two slices are compared from the largest stride down: what is left below a stride is shorter
than it, so the distance between two elements leaves at most two possibilities for the next stride. For any other pair
the answer is exact where the same reasoning happens to apply; else strides with a common divisor may still keep the
elements apart, as in interleaved channels; else arrays whose byte ranges meet count as sharing. The work is a few
operations on whole numbers for each axis, never a search: the general question is NP-hard.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from math import gcd

from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.runtime.interop.describe import Array, Described, address_of, byte_range

_POSSIBILITIES = 64
"""How many distances are followed at once. Each cut at most doubles them: slices with three axes never leave more."""


class Overlap(Enum):
    """What is known about the bytes of two arrays."""

    NONE = "no byte in common"
    SOME = "a byte in common"
    UNKNOWN = "byte ranges that meet"


@dataclass(frozen=True, slots=True)
class Axis:
    """Elements `stride` bytes apart; both numbers are positive."""

    stride: int
    extent: int

    @property
    def length(self) -> int:
        """Bytes from the first element's start to the last one's."""
        return self.stride * (self.extent - 1)


@dataclass(frozen=True, slots=True)
class Footprint:
    """The bytes of a non-empty array: elements of `itemsize` bytes along `axes`, the largest stride first."""

    axes: tuple[Axis, ...]
    itemsize: int

    @property
    def reach(self) -> int:
        """Bytes from the first to the end of the last."""
        return self.itemsize + sum(axis.length for axis in self.axes)

    def below(self, count: int) -> Footprint:
        """What is left without the `count` largest strides."""
        return Footprint(self.axes[count:], self.itemsize)


# One array.


def self_overlap(array: Array | Described) -> str:
    """Why two indices may mean one place, or "": strides sorted, each must pass over all that smaller ones reach."""
    if array.size <= 1:
        return ""
    reach = array.itemsize
    steps = sorted((abs(stride), axis) for axis, stride in enumerate(array.strides) if array.shape[axis] > 1)
    for stride, axis in steps:
        if not stride:
            return f"axis {axis} has the stride 0: all its indices are one place, as `np.broadcast_to` makes them"
        if stride < reach:
            return f"axis {axis} steps by {stride} bytes, and what lies inside it reaches over {reach}"
        reach += stride * (array.shape[axis] - 1)
    return ""


def _footprint(array: Array | Described) -> tuple[int, Footprint]:
    """The lowest address of a non-empty array, and its bytes from there."""
    start = address_of(array)
    axes: list[Axis] = []
    for stride, extent in sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if s and n > 1):
        last = axes[-1] if axes else None
        # Windows that overlap are one longer axis: the same bytes, each counted once.
        if last and stride % last.stride == 0 and stride // last.stride < last.extent:
            axes[-1] = Axis(last.stride, last.extent + stride // last.stride * (extent - 1))
        else:
            axes.append(Axis(stride, extent))
    start += sum(stride * (extent - 1) for stride, extent in zip(array.strides, array.shape, strict=True) if stride < 0)
    return start, Footprint(tuple(reversed(axes)), array.itemsize)


# Two arrays.


def overlap_of(left: Array | Described, right: Array | Described) -> Overlap:
    """Whether two arrays have a byte in common. `NONE` and `SOME` are certain."""
    (left_low, left_high), (right_low, right_high) = byte_range(left), byte_range(right)
    if max(left_low, right_low) >= min(left_high, right_high):
        return Overlap.NONE
    (left_start, one), (right_start, two) = _footprint(left), _footprint(right)
    distances = {right_start - left_start}
    while distances and (one.axes or two.axes):
        cut = min(_cuts(one, two), key=lambda candidate: candidate.spread / candidate.step)
        if cut.spread > 2 * cut.step or len(distances) > _POSSIBILITIES:
            return _by_remainder(distances, one, two)
        one, two = cut.left, cut.right
        distances = {rest for distance in distances for rest in cut.rests(distance)}
    return Overlap.SOME if distances else Overlap.NONE


@dataclass(frozen=True, slots=True)
class Cut:
    """A step down from two footprints: the largest stride of one or both is set aside.

    Addresses x of `one` and y of `two` are equal if what the set-aside strides contribute differs by a multiple of
    `step`, and the rest makes up for what remains of the distance.
    """

    tops: tuple[Axis, Axis]
    left: Footprint
    right: Footprint

    @property
    def step(self) -> int:
        """What every difference of the set-aside contributions is a multiple of. An axis of extent 1 adds nothing."""
        return gcd(*(axis.stride for axis in self.tops if axis.extent > 1))

    @property
    def spread(self) -> int:
        """How many distances there are at which the rests meet."""
        return self.left.reach + self.right.reach - 1

    def rests(self, distance: int) -> Iterator[int]:
        """The distances between the rests at which the whole can meet."""
        lowest = 1 - self.right.reach
        first = lowest + (distance - lowest) % self.step
        for rest in range(first, self.left.reach, self.step):
            if _reaches(*self.tops, distance - rest):
                yield rest


_STILL = Axis(1, 1)


def _cuts(one: Footprint, two: Footprint) -> Iterator[Cut]:
    """The ways to set aside largest strides: of both, of `one`, of `two`."""
    if one.axes and two.axes:
        yield Cut((one.axes[0], two.axes[0]), one.below(1), two.below(1))
    if one.axes:
        yield Cut((one.axes[0], _STILL), one.below(1), two)
    if two.axes:
        yield Cut((_STILL, two.axes[0]), one, two.below(1))


def _reaches(one: Axis, two: Axis, difference: int) -> bool:
    """Whether i * one.stride - j * two.stride = difference for positions i, j of the axes."""
    common = gcd(one.stride, two.stride)
    if difference % common:
        return False
    every = two.stride // common
    least = max(0, -(-difference // one.stride))
    most = min(one.extent - 1, (difference + two.length) // one.stride)
    first = difference // common * pow(one.stride // common, -1, every) % every
    return least + (first - least) % every <= most


def _by_remainder(distances: set[int], one: Footprint, two: Footprint) -> Overlap:
    """No element meets another if, modulo what divides all strides, none begins within the other."""
    step = gcd(*(axis.stride for axis in (*one.axes, *two.axes)))
    for distance in distances:
        if distance % step < one.itemsize or -distance % step < two.itemsize:
            return Overlap.UNKNOWN
    return Overlap.NONE
