"""A launch on the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

import numpy as np

from tileproof.backends.base import Bound, Proved
from tileproof.backends.parallel_space import Order, space_of
from tileproof.ir.ops import BEGINS_AS, KernelIR
from tileproof.ir.types import Access, Tensor, TensorType, Tile, TileType, Value

from .machine import Machine, Steps
from .reports import Reporter
from .sanitizer import Sanitizer
from .semantics import Array, Number, constant, identity, storage

Argument: TypeAlias = Array | Number


class InterpreterBackend:
    """The interpreter as a backend: it runs the IR itself, unwatched."""

    on_gpu = False

    def compile(self, proved: Proved, bound: Bound) -> Callable[..., None]:
        """A function of the arguments and dimensions of a launch."""
        return partial(run, proved.ready, sanitize=False)


def run(
    kernel: KernelIR,
    arguments: Mapping[str, Argument],
    dimensions: Mapping[str, int],
    *,
    order: Order = "forward",
    sanitize: bool = True,
    steps: Steps | None = None,
) -> None:
    """Runs every point of a kernel, one after another in the order given.

    `arguments` are arrays and numbers by parameter name, already checked against the signature; `dimensions`
    are the extents of named dimensions. An access outside its tensor raises; with `sanitize`, so do a race
    between two points, two lanes of a store that meet, an assumption that is false, and an element of an `Out` that
    none wrote. A run of more operations than `steps` has left is abandoned. Programs work on copies, which go back only
    when all has gone well, so a run that raises changes nothing.
    """
    tensors: dict[Tensor, Array] = {}
    scalars: dict[Tile, Array] = {}
    for parameter in kernel.parameters:
        match parameter.value:
            case Value(type=TensorType()) as tensor:
                tensors[tensor] = _working_copy(tensor, arguments[parameter.name])
            case Value(type=TileType(dtype=dtype)) as scalar:
                scalars[scalar] = constant(np.asarray(arguments[parameter.name]).item(), dtype)

    space = space_of(kernel, dimensions, tensors)
    report = Reporter(kernel, space, dimensions)
    sanitizer = Sanitizer(kernel, tensors, report) if sanitize else None
    machine = Machine(tensors, scalars, dimensions, space, order, report, sanitizer, steps)
    machine.block(kernel.body)
    if machine.failures:
        raise machine.failures[min(machine.failures)]
    if sanitizer is not None:
        sanitizer.finish()

    for tensor, array in tensors.items():
        if tensor.type.access is not Access.IN:
            np.copyto(np.asarray(arguments[tensor.name]), array)


def _working_copy(tensor: Tensor, argument: Argument) -> Array:
    """The array programs work on: an `In` itself, the identity for what is combined from the start, else a copy."""
    array = np.asarray(argument)
    if array.dtype != storage(tensor.type.stored_as):
        raise TypeError(f"{tensor!r} is given {array.dtype}")
    match tensor.type.access:
        case Access.IN:
            return array
        case Access.OUT | Access.INOUT:
            return array.copy()
        case _ if tensor.type.keeps:
            return array.copy()
        case combined:
            return np.full(array.shape, identity(BEGINS_AS[combined], tensor.type.stored_as), array.dtype)
