"""Arguments of a trial, made from a kernel's signature: shapes from sizes, contents at random as the types allow.

Floats are normal numbers, which no sum or square of the library overflows on; whole numbers are small; `Index` entries
lie in their dimension, `Unique` ones are a permutation, and `Offsets` rise from 0 to the extent. What no signature can
say, the tunable's own `inputs` puts in afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tileproof.frontend.signature import ContentOf, OpenDimension, ScalarParameter, Signature, TensorParameter, parse
from tileproof.ir.types import Access
from tileproof.language.dtypes import ALL, I32, DType, DTypeVar
from tileproof.runtime.launch.ahead_of_time import stand_in

from .tunables import Sizes, Tunable

DTYPES: Final = {dtype.name: dtype for dtype in ALL if dtype.storage is not None}
Array = np.ndarray[Any, Any]


class TuningError(ValueError):
    """Something cannot be tuned as asked. The text says what to do."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A tensor argument of a trial."""

    name: str
    shape: tuple[int, ...]
    dtype: DType
    is_written: bool
    """Whether any kernel of the tunable may write it."""
    is_kept: bool
    """Whether what it holds before a launch matters."""
    content: str = ""
    """What an index tensor may hold: "Index", "Unique" or "Offsets", of an axis of this extent."""
    extent: int = 0
    rows: int = 1
    """Within each of which the entries of a `Unique` differ."""

    @property
    def storage(self) -> np.dtype[Any]:
        stored = self.dtype.storage
        assert stored is not None
        return stored

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.storage.itemsize


@dataclass(frozen=True, slots=True)
class Arguments:
    """All arguments of a tunable for some sizes, in the order of its signature."""

    names: tuple[str, ...]
    tensors: tuple[Argument, ...]
    scalars: Mapping[str, bool | int | float]


def arguments_of(tunable: Tunable, sizes: Sizes, element: str, constants: Mapping[str, int]) -> Arguments:
    """The arguments for some sizes; `constants` are those that shapes are computed from, such as `"N/B"`."""
    if element not in DTYPES:
        raise TuningError(f"`{element}` is not an element type: there are {', '.join(DTYPES)}")
    signatures = [parse(kernel).signature for kernel in tunable.kernels]
    first = signatures[0]
    known = {name: extent for name, extent in sizes.items() if name in first.dimensions}
    extents = first.extents({}, constants, known)
    tensors, scalars = [], {}
    for argument in first.arguments:
        if isinstance(argument, ScalarParameter):
            scalars[argument.name] = _scalar_value(tunable, argument)
            continue
        uses = [_parameter(other, argument.name, first) for other in signatures]
        tensors_of = [use for use in uses if isinstance(use, TensorParameter)]
        content = argument.element if isinstance(argument.element, ContentOf) else None
        tensors.append(
            Argument(
                argument.name, _shape(tunable, argument, extents), _dtype(tunable, argument, element),
                is_written=any(other.access is not Access.IN for other in tensors_of),
                is_kept=len(tensors_of) < len(uses) or any(other.is_read for other in tensors_of),
                content=content.kind if content else "", extent=extents.get(content.dimension, 0) if content else 0,
                rows=math.prod(extents.get(name, 1) for name in content.per) if content else 1,
            )
        )  # fmt: skip
    return Arguments(tuple(argument.name for argument in first.arguments), tuple(tensors), scalars)


def _parameter(signature: Signature, name: str, first: Signature) -> TensorParameter | ScalarParameter | None:
    """A kernel's parameter for an argument of the first one: under its name, or else at its place."""
    known = {argument.name: argument for argument in signature.arguments}
    if name not in known and len(signature.arguments) == len(first.arguments):
        known = {one.name: other for one, other in zip(first.arguments, signature.arguments, strict=True)}
    return known.get(name)


def _shape(tunable: Tunable, tensor: TensorParameter, extents: Mapping[str, int]) -> tuple[int, ...]:
    try:
        return tensor.shape(extents)
    except OpenDimension as open:
        raise TuningError(
            f"`{tunable.name}` needs a size for {open}, a dimension of `{tensor.name}`: "
            f'give --shapes "{open}=..." with the others'
        ) from None


def _dtype(tunable: Tunable, tensor: TensorParameter, element: str) -> DType:
    match tensor.element:
        case DType() as dtype:
            return dtype
        case ContentOf():
            return I32
        case DTypeVar(name=name):
            return DTYPES[tunable.types.get(name, element)]
        case _:
            return DTYPES[tunable.types.get(tensor.name, element)]


def _scalar_value(tunable: Tunable, parameter: ScalarParameter) -> bool | int | float:
    if parameter.name not in tunable.scalars:
        cure = f'give the Tunable scalars={{"{parameter.name}": ...}}'
        raise TuningError(f"`{tunable.name}` does not say what the scalar `{parameter.name}` is: {cure}")
    value = tunable.scalars[parameter.name]
    kind = parameter.element.kind if isinstance(parameter.element, DType) else "float"
    return bool(value) if kind == "bool" else int(value) if kind in ("int", "uint", "index") else float(value)


# Contents.


def numbers(rng: np.random.Generator, argument: Argument) -> Array:
    """Fresh contents for an argument. Whole numbers of 8 bits are any, others are few, so that sums fit."""
    shape, dtype = argument.shape, argument.dtype
    if argument.content:
        return _entries(rng, argument).reshape(shape).astype(argument.storage)
    if dtype.is_float:
        return rng.standard_normal(shape, np.float64 if dtype.bits == 64 else np.float32).astype(argument.storage)
    is_signed, is_byte = dtype.kind == "int", dtype.bits == 8
    most = 1 if dtype.kind == "bool" else (127 if is_signed else 255) if is_byte else 100
    return rng.integers(-most if is_signed else 0, most, shape, endpoint=True).astype(argument.storage)


def _entries(rng: np.random.Generator, argument: Argument) -> Array:
    """Entries of an index tensor."""
    count, extent = math.prod(argument.shape), argument.extent
    match argument.content:
        case "Offsets":
            borders = np.sort(rng.integers(0, extent + 1, count))
            borders[:1], borders[-1:] = 0, extent
            return borders
        case "Unique":
            entries = np.full((argument.rows, count // max(argument.rows, 1)), -1, np.int64)
            for row in entries:
                row[: min(len(row), extent)] = rng.permutation(extent)[: len(row)]
                rng.shuffle(row)
            return entries.reshape(-1)
        case _:
            return rng.integers(0, extent, count) if extent else np.full(count, -1)


def stand_ins(arguments: Arguments) -> list[Any]:
    """Arrays that take no memory; index tensors hold what they may."""
    rng = np.random.default_rng(0)
    arrays: dict[str, Any] = dict(arguments.scalars)
    for tensor in arguments.tensors:
        arrays[tensor.name] = stand_in(tensor.shape, tensor.storage)
        if tensor.content:
            arrays[tensor.name][...] = numbers(rng, tensor)
    return [arrays[name] for name in arguments.names]
