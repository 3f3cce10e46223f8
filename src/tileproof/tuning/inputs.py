"""Arguments of a trial, made from a kernel's signature: shapes from sizes, contents at random as the types allow.

Floats are normal numbers, which no sum or square of the library overflows on; whole numbers are small; `Index` entries
lie in their dimension, `Unique` ones are a permutation, and `Offsets` rise from 0 to the extent. What no signature can
say, the tunable's own `inputs` puts in afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tileproof.frontend.parse import parse
from tileproof.frontend.signature import ContentOf, OpenDimension, ScalarParameter, Signature, TensorParameter
from tileproof.ir.types import Access
from tileproof.language.dtypes import ALL, I32, DType, DTypeVar

if TYPE_CHECKING:
    from .tunables import Sizes, Tunable

DTYPES: Final = {dtype.name: dtype for dtype in ALL if dtype.storage is not None}
Array = np.ndarray[Any, Any]


class TuningError(ValueError):
    """Something cannot be tuned as asked. The text says what to do."""


@dataclass(frozen=True, slots=True)
class Content:
    """What an index tensor may hold."""

    kind: str
    extent: int


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
    content: Content | None = None

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

    @property
    def nbytes(self) -> int:
        """What must move through memory at least: each tensor once."""
        return sum(each.nbytes for each in self.tensors)

    def in_order(self, arrays: Mapping[str, Any]) -> list[Any]:
        """As they are passed to a kernel; `arrays` may have scalars too, which then win."""
        return [arrays[name] if name in arrays else self.scalars[name] for name in self.names]


def arguments_of(tunable: Tunable, sizes: Sizes, element: str, constants: Mapping[str, int]) -> Arguments:
    """The arguments for some sizes; `constants` are those that shapes are computed from, such as `"N/B"`."""
    if element not in DTYPES:
        raise TuningError(f"`{element}` is not an element type: there are {', '.join(DTYPES)}")
    signatures = [parse(kernel).signature for kernel in tunable.kernels]
    first = signatures[0]
    known = {name: extent for name, extent in sizes.items() if name in first.dimensions}
    extents = first.extents({}, constants, known)
    tensors, scalars = [], {}
    for each in first.arguments:
        if isinstance(each, ScalarParameter):
            scalars[each.name] = _scalar(tunable, each)
            continue
        accesses = [_access(other, each.name, first) for other in signatures]
        tensors.append(
            Argument(
                each.name, _shape(tunable, each, extents), _dtype(tunable, each, element),
                is_written=any(access is not Access.IN for access in accesses),
                is_kept=any(access in (Access.IN, Access.INOUT) for access in accesses),
                content=_content(each, extents),
            )
        )  # fmt: skip
    return Arguments(tuple(each.name for each in first.arguments), tuple(tensors), scalars)


def _access(signature: Signature, name: str, first: Signature) -> Access:
    """What a kernel does with an argument of the first one: under its name, or else at its place."""
    known = {each.name: each for each in signature.arguments}
    if name not in known and len(signature.arguments) == len(first.arguments):
        known = {one.name: other for one, other in zip(first.arguments, signature.arguments, strict=True)}
    found = known.get(name)
    return found.access if isinstance(found, TensorParameter) else Access.IN


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


def _content(tensor: TensorParameter, extents: Mapping[str, int]) -> Content | None:
    if not isinstance(tensor.element, ContentOf):
        return None
    return Content(tensor.element.kind, extents.get(tensor.element.dimension, 0))


def _scalar(tunable: Tunable, parameter: ScalarParameter) -> bool | int | float:
    if parameter.name not in tunable.scalars:
        cure = f'give the Tunable scalars={{"{parameter.name}": ...}}'
        raise TuningError(f"`{tunable.name}` does not say what the scalar `{parameter.name}` is: {cure}")
    value = tunable.scalars[parameter.name]
    kind = parameter.element.kind if isinstance(parameter.element, DType) else "float"
    return bool(value) if kind == "bool" else int(value) if kind in ("int", "uint", "index") else float(value)


# Contents.


def whole_range(dtype: DType) -> tuple[int, int]:
    """From where whole numbers of a type are taken, and how many: all of 8 bits, few of others, so that sums fit."""
    if dtype.kind == "bool":
        return 0, 2
    if dtype.bits == 8:
        return (-127, 255) if dtype.kind == "int" else (0, 256)
    return (-100, 201) if dtype.kind == "int" else (0, 201)


def positions(rng: np.random.Generator, content: Content, shape: Sequence[int]) -> Array:
    """Entries of an index tensor."""
    count, extent = math.prod(shape), content.extent
    match content.kind:
        case "Offsets":
            borders = np.sort(rng.integers(0, extent + 1, count))
            borders[:1], borders[-1:] = 0, extent
            return borders.reshape(shape)
        case "Unique":
            found = np.full(count, -1, np.int64)
            found[: min(count, extent)] = rng.permutation(extent)[:count]
            return rng.permutation(found).reshape(shape)
        case _:
            return rng.integers(0, extent, count).reshape(shape) if extent else np.full(shape, -1)


def numbers(rng: np.random.Generator, argument: Argument) -> Array:
    """Fresh contents for an argument, on the host."""
    if argument.content is not None:
        return positions(rng, argument.content, argument.shape).astype(argument.storage)
    if argument.dtype.is_float:
        made = rng.standard_normal(argument.shape, np.float64 if argument.dtype.bits == 64 else np.float32)
        return made.astype(argument.storage)
    low, count = whole_range(argument.dtype)
    return rng.integers(low, low + count, argument.shape).astype(argument.storage)
