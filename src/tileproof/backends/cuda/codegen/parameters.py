"""The parameters of an entry: what a launch passes, in which order, and what the entry makes of it.

A tensor is an address, the strides that are not known, and the extents of axes without a name; a dimension is passed
once for all tensors that have it. Facts of the launch are stated here, as promises on the values that all else uses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tileproof.backends.cuda.tileir.types import I8, I32, I64, Number, Pointer, Predicate, Value
from tileproof.ir import ops
from tileproof.ir.types import INDEX_LIMIT, Fixed, Named, Tensor, TensorType, Tile, TileType, Unnamed, Walker
from tileproof.ir.types import Value as IrValue

from . import positions
from .layout_specialization import Layout, Specialization, named_dimensions
from .positions import Position, base_value, known, narrow_value
from .state import State, View, stored
from .stores import shadow

What: TypeAlias = tuple[str | int, ...]
"""What a parameter is: `("pointer", "x")`, `("dimension", "M")`, ..."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A parameter of every entry: what it is, and of which type."""

    what: What
    element: str
    """The name of its Tile IR type; `ptr` for an address."""


class Parameters:
    """Of the entries of one kernel."""

    def __init__(
        self, kernel: ops.KernelIR, specialization: Specialization, parallel: ops.Parallel | None, *, checked: bool
    ) -> None:
        self.kernel, self.specialization = kernel, specialization
        self.coordinate = I64 if specialization.is_wide else I32
        """Counts tiles and elements."""
        self.counter = I64 if specialization.is_many or specialization.is_wide else I32
        """Counts programs."""
        self.tensors: list[Tensor] = []
        self.scalars: list[Tile] = []
        for parameter in kernel.parameters:
            match parameter.value:
                case IrValue(type=TensorType()) as tensor:
                    self.tensors.append(tensor)
                case IrValue(type=TileType()) as scalar:
                    self.scalars.append(scalar)
        self.layouts: dict[Tensor, Layout] = dict(zip(self.tensors, specialization.layouts, strict=True))
        self.types: dict[What, Number | Pointer] = {}
        self._add_tensors()
        for name in named_dimensions(kernel):
            self.types["dimension", name] = self.coordinate
        for scalar in self.scalars:
            self.types["scalar", scalar.name] = stored(scalar.type.dtype)
        self._add_programs(parallel)
        if checked:
            self.types["report",] = Pointer(I64)

    def _add_tensors(self) -> None:
        for tensor in self.tensors:
            self.types["pointer", tensor.name] = Pointer(stored(tensor.type.stored_as))
            wide = shadow(tensor.type)
            if wide is not None:
                self.types["shadow", tensor.name] = Pointer(stored(wide))
            for axis, dimension in enumerate(tensor.type.dimensions):
                if isinstance(dimension, Unnamed):
                    self.types["extent", tensor.name, axis] = self.coordinate
                if self.known_stride(tensor, axis) is None:
                    self.types["stride", tensor.name, axis] = self.coordinate

    def _add_programs(self, parallel: ops.Parallel | None) -> None:
        walkers: tuple[Walker, ...] = () if parallel is None else parallel.walkers
        ragged = set() if parallel is None else {each.walker for each in parallel.segments}
        for walker in walkers:
            self.types["count", walker.name] = self.counter
            if walker in ragged:
                self.types["table", walker.name] = Pointer(I64)
        self.types["programs",] = self.counter
        if parallel is not None and any(isinstance(op, ops.Join) for op in parallel.body.ops):
            self.types["space",] = Pointer(I8)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """All of them, in order."""
        return tuple(
            Slot(what, "ptr" if isinstance(of, Pointer) else of.name) for what, of in self.types.items()
        )

    # Strides.

    def _length(self, tensor: Tensor, axis: int) -> int | None:
        match tensor.type.dimensions[axis]:
            case Fixed(extent):
                return extent
            case Named(name):
                static = self.kernel.static.get(name)
                return static if isinstance(static, int) else None
            case _:
                return None

    def known_stride(self, tensor: Tensor, axis: int) -> int | None:
        """The stride of an axis, where it follows from lengths that are known."""
        layout = self.layouts[tensor]
        if layout.unit[axis]:
            return 1
        if not layout.is_dense:
            return None
        inner = [self._length(tensor, place) for place in range(axis + 1, len(tensor.type.dimensions))]
        if any(length is None or length == 0 for length in inner):
            return None
        return math.prod(length for length in inner if length is not None)

    def stride(self, s: State, values: Mapping[What, Value], tensor: Tensor, axis: int) -> Value | int:
        """The stride of an axis: a number, or a parameter with what is known of it."""
        known_ = self.known_stride(tensor, axis)
        if known_ is not None:
            return known_
        layout = self.layouts[tensor]
        stride = values["stride", tensor.name, axis]
        if layout.steps[axis] > 1:
            stride = s.b.assume_divisible(stride, layout.steps[axis])
        return s.b.assume_bounded(stride, low=0) if layout.is_plain else stride

    # What an entry begins with.

    def define(self, s: State, values: Mapping[What, Value]) -> None:
        """Gives tensors, dimensions and scalars their values."""
        dimensions: dict[str, Position] = {}
        lengths: dict[str, Value | int] = {}
        for name, static in self.kernel.static.items():
            if isinstance(static, int):
                dimensions[name], lengths[name] = known(static), static
        for name, power in self.specialization.multiples:
            multiple = math.lcm(power, *(size for divided, size in self.specialization.divided if divided == name))
            dimensions[name], lengths[name] = self._extent(s, values["dimension", name], multiple)
        s.dimensions = dimensions
        for tensor in self.tensors:
            s.tensors[tensor] = self._view(s, values, tensor, dimensions, lengths)
        for scalar in self.scalars:
            value = values["scalar", scalar.name]
            if scalar.type.dtype.name == "bool":
                value = s.b.cmpi(Predicate.NOT_EQUAL, value, s.splat(I8, (), 0), signed=False)
            s.put(scalar, value)
        if ("report",) in values:
            s.report = values["report",]

    def _view(
        self, s: State, values: Mapping[What, Value], tensor: Tensor, dimensions: Mapping[str, Position],
        lengths: Mapping[str, Value | int],
    ) -> View:  # fmt: skip
        extents: list[Position] = []
        sizes: list[Value | int] = []
        for axis, dimension in enumerate(tensor.type.dimensions):
            match dimension:
                case Named(name):
                    extents.append(dimensions[name])
                    sizes.append(lengths[name])
                case Fixed(extent):
                    extents.append(known(extent))
                    sizes.append(extent)
                case Unnamed():
                    position, size = self._extent(s, values["extent", tensor.name, axis], 1)
                    extents.append(position)
                    sizes.append(size)
        layout, wide = self.layouts[tensor], shadow(tensor.type)
        nowhere = (None,) * len(extents)
        if wide is not None:
            pointer = s.b.assume_divisible(values["shadow", tensor.name], 16)
            steps = self._rows(s, extents)
            return View(pointer, tuple(extents), steps, wide, layout.is_plain, tuple(sizes), nowhere)
        pointer = values["pointer", tensor.name]
        if layout.aligned > 1:
            pointer = s.b.assume_divisible(pointer, layout.aligned)
        strides = tuple(self.stride(s, values, tensor, axis) for axis in range(len(extents)))
        dtype = tensor.type.stored_as
        return View(pointer, tuple(extents), strides, dtype, layout.is_plain, tuple(sizes), nowhere)

    def _extent(self, s: State, value: Value, multiple: int) -> tuple[Position, Value]:
        b = s.b
        power = min(multiple & -multiple, 1024)
        extent = b.assume_bounded(value, low=0)
        if power > 1:
            extent = b.assume_divisible(extent, power)
        wide = extent if self.coordinate == I64 else b.exti(extent, I64, signed=True)
        narrow = extent if self.coordinate == I32 else None
        return Position(wide, multiple=multiple, narrow=narrow, reach=INDEX_LIMIT), extent

    def _rows(self, s: State, extents: Sequence[Position]) -> tuple[Value | int, ...]:
        """The strides of an array without gaps, as coordinates."""
        steps: list[Value | int] = []
        reach: Position = known(1)
        for extent in reversed(extents):
            if isinstance(reach.base, int):
                steps.append(reach.base)
            else:
                steps.append(narrow_value(s.b, reach) if self.coordinate == I32 else base_value(s.b, reach))
            grown = positions.times(s.b, reach, extent)
            assert grown is not None
            reach = grown
        return tuple(reversed(steps))
