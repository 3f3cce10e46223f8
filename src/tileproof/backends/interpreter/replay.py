"""Runs a kernel at proposed sizes, to see whether a fault the checker expects is real."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from tileproof.analysis.index_entries import loaded_through
from tileproof.analysis.smt import Sizes
from tileproof.analysis.symbolic_values import integer_range
from tileproof.diagnostics.errors import LaunchError, TileproofError
from tileproof.ir import ops
from tileproof.ir.types import (
    Axis,
    Content,
    DimensionTag,
    Extent,
    Fixed,
    Length,
    Named,
    Tensor,
    TensorType,
    TileType,
    Unnamed,
    Value,
    WalkerTag,
    evaluate,
    size_of,
)
from tileproof.ir.walk import walk

from .interpret import Argument, run
from .machine import Abandoned, Steps
from .semantics import Array, storage

_UNSET = 2
"""The extent of a dimension nobody named a size for."""
_MOST_ELEMENTS = 1 << 24
"""Longer arguments are not made."""
_TRIES = 2
_MOST_SHOWN = 12
"""Contents with more elements are not shown."""
_STEPS = 8_000
"""Enough to see a fault; a loop that never ends is not waited for."""
_LEAST_STEPS = 200
"""What a run counts at least: to prepare it takes time too."""
_MOST_LANES = 1 << 20
"""Larger tiles are not made."""


def replay(kernel: ops.KernelIR, sizes: Sizes, limit: int) -> tuple[TileproofError | None, int]:
    """What the interpreter reports at these sizes, and how many operations it ran, `limit` at most.

    Contents keep the contracts of the kernel.
    """
    dimensions = _dimensions(kernel, sizes)
    if dimensions is None:
        return None, _LEAST_STEPS
    steps = Steps(min(limit, _TRIES * _STEPS))
    given = steps.left
    fault = _replayed(kernel, sizes, dimensions, steps)
    return fault, max(_LEAST_STEPS, given - steps.left)


def _replayed(
    kernel: ops.KernelIR, sizes: Sizes, dimensions: Mapping[str, int], steps: Steps
) -> TileproofError | None:  # fmt: skip
    """The fault of the first run that has one, with contents made anew for each."""
    for seed in range(_TRIES):
        rng = np.random.default_rng(seed)
        arguments: dict[str, Argument] = {}
        for parameter in kernel.parameters:
            match parameter.value:
                case Value(type=TensorType()) as tensor:
                    array = _array(tensor, dimensions, sizes, rng)
                    if array is None or (_has_none(tensor, array) and tensor.name in loaded_through(kernel)):
                        return None
                    arguments[parameter.name] = array
                case Value(type=TileType(dtype=dtype)):
                    value = sizes.scalars.get(parameter.name, 1 + seed)
                    arguments[parameter.name] = np.asarray(value).astype(storage(dtype)).item()
        try:
            with np.errstate(all="ignore"):
                run(kernel, arguments, dimensions, order="forward", sanitize=True, steps=steps)
        except (LaunchError, Abandoned):
            return None
        except TileproofError as error:
            return _with_contents(error, kernel, arguments, sizes)
    return None


def _has_none(tensor: Tensor, array: Array) -> bool:
    return isinstance(tensor.type.element, Content) and bool((array == -1).any())


def _with_contents(
    error: TileproofError, kernel: ops.KernelIR, arguments: Mapping[str, Argument], sizes: Sizes
) -> TileproofError:
    """The fault, with what it depends on besides the sizes: positions that tensors hold, and scalars."""
    dependencies = []
    for parameter in kernel.parameters:
        name, argument = parameter.name, arguments[parameter.name]
        match parameter.value.type:
            case TensorType(element=element) if isinstance(argument, np.ndarray):
                if 0 < argument.size <= _MOST_SHOWN and (isinstance(element, Content) or name in sizes.elements):
                    dependencies.append(f"{name} holds {argument.tolist()}")
            case _ if name in sizes.scalars:
                dependencies.append(f"{name} is {argument}")
            case _:
                pass
    if not dependencies:
        return error
    note = f"where {', '.join(dependencies)}"
    return type(error)(*(replace(diagnostic, notes=(*diagnostic.notes, note)) for diagnostic in error.diagnostics))


def _dimensions(kernel: ops.KernelIR, sizes: Sizes) -> Mapping[str, int] | None:
    """Every dimension, those of the kernel's equations computed; None if they cannot be as proposed."""
    extents = {name: extent for name, extent in sizes.dimensions.items() if name not in kernel.computed}
    wanted: dict[str, None] = {}
    for parameter in kernel.parameters:
        match parameter.value.type:
            case TensorType(element=element, dimensions=named):
                wanted.update({d.name: None for d in named if isinstance(d, Named)})
                if isinstance(element, Content):
                    wanted[element.dimension] = None
            case _:
                pass
    for name, length in (*kernel.static.items(), *kernel.computed.items()):
        wanted[name] = None
        if isinstance(length, Extent):
            wanted.update(dict.fromkeys(length.names))
    known: dict[str, Length] = {**kernel.static, **kernel.computed}
    for name in wanted:
        length_of = known.get(name)
        if length_of is None or (isinstance(length_of, Extent) and length_of.names == {name}):
            extents.setdefault(name, _UNSET)
    for _ in range(len(known)):
        for name, length in known.items():
            names = length.names if isinstance(length, Extent) else frozenset()
            if names != {name} and names <= extents.keys():
                extents[name] = evaluate(length, extents)
    for op in walk(kernel.body):
        if isinstance(op, ops.Group) and (extents[op.into] < 1 or extents[op.dimension] % extents[op.into]):
            return None
        if not _compiles(op, lambda length: evaluate(length, extents)) or _lanes(op, extents) > _MOST_LANES:
            return None
    return extents if all(name in extents and extents[name] >= 0 for name in wanted) else None


def _compiles(op: ops.AnyOp, number: Callable[[Length], int]) -> bool:
    """Whether lengths and constants made of open dimensions are such that a launch does not reject the kernel."""
    tiles = (value.type for value in ops.results(op) if isinstance(value.type, TileType))
    if any(number(axis.length) < 0 for tile in tiles for axis in tile.axes):
        return False
    match op:
        case ops.Parallel(walkers=walkers):
            return all(number(size_of(walker)) >= 1 for walker in walkers)
        case ops.TilesLoop(walker=walker):
            return number(size_of(walker)) >= 1
        case ops.Load() | ops.Get() | ops.Store() | ops.Update():
            windows = (pick for pick in op.picks if isinstance(pick, ops.Window))
            return all(number(pick.start) >= 0 and number(pick.length) >= 0 for pick in windows)
        case ops.Slice(operand=operand, axis=axis, start=start, length=length):
            return 0 <= number(start) <= number(operand.type.axes[axis].length) - number(length)
        case ops.Constant(value=Extent() as value, result=result) if result.type.dtype.is_integer:
            limits = integer_range(result.type.dtype)
            return limits.low <= number(value) <= limits.high
        case _:
            return True


def _lanes(op: ops.AnyOp, extents: Mapping[str, int]) -> int:
    """How many elements the largest tile that an operation makes has."""

    def live(axis: Axis) -> int:
        length = evaluate(axis.length, extents)
        match axis.tag:
            case WalkerTag(walker):
                return min(length, extents[walker.type.dimension])
            case DimensionTag(name):
                return min(length, extents[name])
            case None:
                return length

    tiles = (value.type for value in ops.results(op) if isinstance(value.type, TileType))
    return max((math.prod(map(live, tile.axes)) for tile in tiles), default=0)


def _array(tensor: Tensor, dimensions: Mapping[str, int], sizes: Sizes, rng: np.random.Generator) -> Array | None:
    shape = []
    for axis, dimension in enumerate(tensor.type.dimensions):
        match dimension:
            case Named(name):
                shape.append(dimensions[name])
            case Fixed(extent):
                shape.append(extent)
            case Unnamed():
                shape.append(sizes.axes.get((tensor.name, axis), _UNSET))
    if math.prod(shape) > _MOST_ELEMENTS:
        return None
    kind = storage(tensor.type.stored_as)
    element = tensor.type.element
    proposed = sizes.elements.get(tensor.name, {})
    if not isinstance(element, Content):
        whole = element.is_integer
        array = (rng.integers(0, 4, shape) if whole else rng.uniform(-2, 2, shape)).astype(kind)
        _put(array, proposed, kind if whole else None)
        return array
    extent = dimensions[element.dimension]
    return _contents(element, shape, extent, proposed, rng, kind)


def _put(array: Array, proposed: Mapping[tuple[int, ...], int], kind: np.dtype[np.generic] | None) -> None:
    for place, value in proposed.items():
        if all(0 <= at < length for at, length in zip(place, array.shape, strict=True)):
            array[place] = np.asarray(value).astype(kind) if kind is not None else value


def _contents(
    element: Content, shape: list[int], extent: int, proposed: Mapping[tuple[int, ...], int],
    rng: np.random.Generator, kind: np.dtype[np.generic],
) -> Array | None:  # fmt: skip
    """Contents that keep the promise of an index tensor, with the proposed ones among them; None if there are none."""
    count = int(np.prod(shape))
    inside = {
        place: value for place, value in proposed.items() if all(0 <= p < n for p, n in zip(place, shape, strict=True))
    }
    if any(not -1 <= value <= extent for value in inside.values()):
        return None
    match element.kind:
        case "Offsets":
            if not count:
                return None
            borders = np.sort(rng.integers(0, extent + 1, count))
            if not element.ends_early:
                borders[-1] = extent
            borders[0] = 0
            if count == 1 and extent and not element.ends_early:
                return None
            for place, value in inside.items():
                borders[place] = value
            borders = np.maximum.accumulate(borders)
            is_end = borders[-1] <= extent if element.ends_early else borders[-1] == extent
            return borders.astype(kind) if borders[0] == 0 and is_end else None
        case "Unique":
            array = np.full(shape, -1, kind)
            for row in np.ndindex(*shape[: len(element.per)]):
                used = {value for place, value in inside.items() if place[: len(row)] == row}
                spare = [value for value in rng.permutation(extent).tolist() if value not in used][: array[row].size]
                array[row].reshape(-1)[: len(spare)] = spare
            _put(array, inside, kind)
            return array
        case _:
            if extent == 0 and count:
                return np.full(shape, -1, kind)
            array = rng.integers(0, max(extent, 1), shape).astype(kind)
            _put(array, inside, kind)
            return array
