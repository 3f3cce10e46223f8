"""What a launch tells the compiler about its arguments: part of the key a compiled kernel is kept under.

A fact is stated only if the launch verified it, and a kernel specialized to it runs only where it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tileproof.ir.ops import Extents, Group, KernelIR, Mma, Parallel, TilesLoop
from tileproof.ir.types import Named, TensorType
from tileproof.ir.walk import walk
from tileproof.lowering.split_join import tile_sizes

_VECTOR: Final = 16
"""The widest access, in bytes, and the largest power of two that matters of an extent."""
MANY: Final = 2**24 - 1
"""The most blocks a launch has."""
_APART: Final = 2**30
"""The longest step along an axis of one element, where any will do: it fits 32 bits."""
_FAR: Final = 2**31 - 2**24
"""Positions below this, and a tile behind them, are counted in 32 bits."""
SHORT: Final = 2**15
"""Sums of so many products of 8-bit integers fit 32 bits."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How one tensor lies in memory."""

    unit: tuple[bool, ...]
    """For each axis, whether neighbours along it are neighbours in memory."""
    steps: tuple[int, ...]
    """For each axis, a power of two that divides its stride in elements."""
    aligned: int
    """The bytes that divide the address of its first element, at most 16."""
    is_plain: bool
    """Whether all strides are forward and no axis is empty."""
    is_dense: bool
    """Whether it lies row by row without gaps."""


@dataclass(frozen=True, slots=True)
class Specialization:
    """What the compiler may rely on about the arguments of a launch."""

    layouts: tuple[Layout, ...]
    multiples: tuple[tuple[str, int], ...]
    """For each dimension, a power of two that divides it."""
    divided: tuple[tuple[str, int], ...]
    """Dimensions and the tile sizes that divide them."""
    is_wide: bool
    """Whether a position or a distance in memory needs more than 32 bits."""
    is_many: bool
    """Whether there are more programs than a launch counts: each block then takes several."""
    short: tuple[str, ...] = ()
    """Dimensions of less than `SHORT` elements, of a kernel that multiplies matrices of integers."""


def named_dimensions(kernel: KernelIR) -> tuple[str, ...]:
    """The dimensions of a kernel whose extents a launch passes, in order."""
    names: dict[str, None] = {}
    for parameter in kernel.parameters:
        if isinstance(parameter.value.type, TensorType):
            for dimension in parameter.value.type.dimensions:
                if isinstance(dimension, Named):
                    names[dimension.name] = None
    for name in kernel.computed:
        names[name] = None
    for op in walk(kernel.body):
        # Such as P, where no axis is P and one is 2*P.
        match op:
            case Extents(dimension=str(name)):
                names[name] = None
            case Group(dimension=name, into=into):
                names |= {name: None, into: None}
            case Parallel(walkers=walkers):
                names |= {walker.type.dimension: None for walker in walkers}
            case TilesLoop(walker=walker):
                names[walker.type.dimension] = None
            case _:
                pass
    return tuple(name for name in names if not isinstance(kernel.static.get(name), int))


def steps_of(shape: Sequence[int], strides: Sequence[int], size: int) -> tuple[int, ...]:
    """The strides of an array in elements. Along an axis of one element or none any will do."""
    steps: list[int] = []
    reach = _VECTOR
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        step = stride // size if extent > 1 else min(-(-reach // _VECTOR) * _VECTOR, _APART)
        steps.append(step)
        reach = max(reach, abs(step) * extent)
    return tuple(reversed(steps))


def layout_of(address: int, shape: Sequence[int], strides: Sequence[int], size: int) -> Layout:
    """The layout of an array; strides in bytes, `size` is that of an element."""
    steps = steps_of(shape, strides, size)
    is_dense, reach = True, 1
    for extent, step in zip(reversed(shape), reversed(steps), strict=True):
        is_dense = is_dense and step == reach
        reach *= extent
    return Layout(
        tuple(step == 1 for step in steps),
        tuple(_power(step, _VECTOR) for step in steps),
        _power(address, _VECTOR),
        all(extent > 0 for extent in shape) and all(step > 0 for step in steps),
        is_dense,
    )


def _power(number: int, most: int) -> int:
    """The largest power of two that divides a number, up to `most`."""
    return most if number == 0 else min(number & -number, most)


def specialization_of(
    kernel: KernelIR,
    dimensions: Mapping[str, int],
    layouts: Sequence[Layout],
    reaches: Sequence[int],
    programs: int,
) -> Specialization:
    """The specialization for a launch; `reaches` are the distances in elements from one end of each tensor to the
    other, or the longest of its axes."""
    named = named_dimensions(kernel)
    far = max((*reaches, *dimensions.values()), default=0)
    return Specialization(
        tuple(layouts),
        # An empty dimension is no multiple here: its one piece is a short tile.
        tuple((name, _power(dimensions[name] or 1, _VECTOR)) for name in named),
        tuple((name, size) for name, size in tile_sizes(kernel) if dimensions[name] and dimensions[name] % size == 0),
        far >= _FAR,
        programs >= MANY,
        tuple(name for name in named if dimensions[name] < SHORT) if _multiplies_integers(kernel) else (),
    )


def _multiplies_integers(kernel: KernelIR) -> bool:
    return any(isinstance(op, Mma) and op.left.type.dtype.is_integer for op in walk(kernel.body))
