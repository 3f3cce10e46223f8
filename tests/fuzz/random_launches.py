"""Random arguments for any kernel: extents that are 0, 1 and odd, contents that its element types allow, and arrays
that lie in memory in every way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import tileproof as tp
from support.cpu_values import anything, corners
from tileproof.frontend.signature import ContentOf, ScalarParameter, Signature, TensorParameter, parse
from tileproof.ir.types import Access, Fixed, Named
from tileproof.language.dtypes import BOOL, F32, DType

Array = npt.NDArray[Any]
Random = np.random.Generator

EXTENTS: Final = (0, 1, 2, 3, 5, 7, 8, 13, 17, 21, 33, 40)
MOST: Final = 2000
"""Extents that multiply to more are made shorter: the interpreter runs program after program."""
LAYOUTS: Final = ("plain", "turned", "backward", "sparse", "late")
"""How an array lies in memory: row by row; by columns; from its end; every second element; behind one more."""
FEW: Final = 6
"""A kernel of more arguments has them all in one layout: the code for each mixture is compiled for itself."""
GAP: Final = 99
"""What lies beside the elements of an array."""


def launch(
    kernel: tp.Kernel,
    seed: int,
    *,
    dtype: DType = F32,
    extents: Mapping[str, int] | None = None,
    layouts: tuple[str, ...] = ("plain",),
    values: str = "halves",
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments and constants of one launch, the same for the same seed.

    `dtype` is what `T` and `U` stand for. `values` says what floats are: "halves", small multiples of 1/2 whose sums
    are exact in every order; "plain" numbers around 0; or with integers "all", the ends and corners of types among
    them. A launch of few arguments lays out each in its own way.
    """
    rng = np.random.default_rng(seed)
    signature = parse(kernel).signature
    known = _extents(signature, rng, extents or {})
    arguments: list[Any] = []
    one = str(rng.choice(layouts))
    for parameter in signature.arguments:
        if isinstance(parameter, ScalarParameter):
            arguments.append(_numbers(rng, (), _dtype_of(parameter.element, dtype), values)[()].item())
            continue
        array = _tensor(parameter, known, rng, dtype, values)
        layout = str(rng.choice(layouts)) if len(signature.arguments) <= FEW else one
        arguments.append(laid_out(array, layout))
    return arguments, {}


def laid_out(array: Array, layout: str) -> Array:
    """The same elements, lying in memory in another way."""
    match layout:
        case "turned":
            return np.array(array.T, order="C").T
        case "backward":
            steps = (..., *(slice(None, None, -1) for _ in array.shape))
            return np.array(array[steps])[steps]
        case "sparse":
            whole = np.full(tuple(2 * extent + 1 for extent in array.shape), GAP, array.dtype)
            part = whole[(..., *(slice(1, None, 2) for _ in array.shape))]
            part[...] = array
            return part
        case "late":
            whole = np.full(array.size + 1, GAP, array.dtype)
            part = whole[1:].reshape(array.shape)
            part[...] = array
            return part
        case _:
            return np.array(array, order="C")


def assert_gaps_are_kept(array: Array) -> None:
    """Nothing was written beside the elements of an array; what they held is lost."""
    if array.base is not None:
        array[...] = GAP
        assert (array.base == np.asarray(GAP).astype(array.dtype)).all()


def _extents(signature: Signature, rng: Random, given: Mapping[str, int]) -> dict[str, int]:
    computed = {equation.dimension for equation in signature.equations}
    free = [name for name in signature.dimensions if name not in computed]
    known = {name: int(rng.choice(EXTENTS)) for name in free}
    while math.prod(known.values()) > MOST:
        longest = max(known, key=lambda name: known[name])
        known[longest] = known[longest] // 2 + 1
    known |= given
    known |= {one.name: one.default for one in signature.constants if isinstance(one.default, int)}
    for _ in signature.equations:
        for equation in signature.equations:
            if all(name in known for name in equation.names):
                known[equation.dimension] = max(0, int(equation.value(known)))  # type: ignore[call-overload]
    return known


def _tensor(
    parameter: TensorParameter, extents: Mapping[str, int], rng: Random, dtype: DType, values: str
) -> Array:
    shape = tuple(
        extents[one.name] if isinstance(one, Named) else one.extent if isinstance(one, Fixed) else int(rng.integers(5))
        for one in parameter.dimensions
    )
    if isinstance(parameter.element, ContentOf):
        entries = _entries(parameter.element.kind, int(np.prod(shape)), extents[parameter.element.dimension], rng)
        return np.array(entries, rng.choice([np.int32, np.int64])).reshape(shape)
    of = _dtype_of(parameter.element, dtype)
    if parameter.access in (Access.IN, Access.INOUT):
        return _numbers(rng, shape, of, values)
    return np.full(shape, 77, of.storage)


def _dtype_of(element: Any, dtype: DType) -> DType:
    return element if isinstance(element, DType) else dtype


def _numbers(rng: Random, shape: tuple[int, ...], dtype: DType, values: str) -> Array:
    if dtype == BOOL:
        return rng.integers(0, 2, shape).astype(bool)
    if values == "all":
        return rng.choice(np.concatenate([np.tile(corners(dtype), 20), anything(dtype, 500)]), shape)
    if not dtype.is_float:
        return rng.integers(0 if dtype.kind == "uint" else -4, 9, shape).astype(dtype.storage)
    if values == "halves":
        return (rng.integers(-8, 9, shape) / 2).astype(dtype.storage)
    return rng.normal(size=shape).astype(dtype.storage)


def _entries(kind: str, count: int, extent: int, rng: Random) -> list[int]:
    if kind == "Offsets":
        inner = sorted(int(rng.integers(0, extent + 1)) for _ in range(max(0, count - 2)))
        return [0, *inner, extent][:count] if count > 1 else [0] * count
    if kind == "Unique":
        return [*(int(entry) for entry in rng.permutation(extent)), *([-1] * count)][:count]
    return [int(rng.integers(0, extent)) if extent else -1 for _ in range(count)]
