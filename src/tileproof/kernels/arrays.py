"""What library functions need of arrays of any library: shape, device, element type, views, and new arrays like them.

Nothing here reads elements: a library function decides by shapes, strides and element types alone, so that it never
waits for a GPU and can be captured in a graph.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.language.dtypes import ALL, F32, F64, DType, by_storage
from tileproof.runtime.interop.describe import described, of_torch, to_torch, torch_device, torch_of
from tileproof.runtime.launch import cuda_code as gpu
from tileproof.runtime.tensor.creation import asarray, empty
from tileproof.runtime.tensor.tensors import Tensor
from tileproof.tuning import Choice, Tunable


def is_dense(array: Any) -> bool:
    """Whether the elements lie in a row, without gaps."""
    flags = getattr(array, "flags", None)
    if flags is not None:
        return bool(flags.c_contiguous)
    told = array.is_contiguous
    return bool(told() if callable(told) else told)


def merged_shape(x: Any, y: Any) -> tuple[int, ...]:
    """The shape of two arrays with as few axes as possible: those become one that follow each other in both."""
    if 0 in x.shape:
        return (0,)
    shape: list[int] = []
    last: tuple[int, ...] = ()
    for extent, *steps in zip(x.shape, _strides(x), _strides(y), strict=True):
        if extent == 1:
            continue
        if shape and all(outer == inner * extent for outer, inner in zip(last, steps, strict=True)):
            shape[-1] *= extent
        else:
            shape.append(extent)
        last = tuple(steps)
    return tuple(shape) or (1,)


def _strides(array: Any) -> tuple[int, ...]:
    return tuple(array.stride()) if hasattr(array, "stride") else tuple(array.strides)


def choose(tunable: Tunable, like: Any, **sizes: int) -> Choice:
    """The choice for work on arrays like this one, with these extents of dimensions."""
    return tunable.choose(target_of(like), element_of(like).name, sizes)


def target_of(array: Any) -> str:
    """What kernels on this array are compiled for: "cpu", or the architecture of its GPU ("sm_90")."""
    number = device_of(array)
    return "cpu" if number is None else gpu.arch_of(number)


def device_of(array: Any) -> int | None:
    """The number of the GPU an array is on; None for the CPU."""
    if isinstance(array, np.ndarray):
        return None
    if isinstance(array, Tensor):
        return array.block.device
    torch = torch_of(array)
    if torch is not None:
        if type(array) is torch.Tensor:
            number: int = array.get_device()
            return None if number < 0 else number
        return int(array.device.index or 0) if torch_device(torch, array) == "cuda" else None
    found = described(array)
    return None if found is None else found.device


def element_of(array: Any) -> DType:
    """The element type of an array, as kernels name it."""
    if isinstance(array, Tensor):
        return array.dtype
    known = _elements.get(array.dtype)
    if known is not None:
        return known
    if torch_of(array) is not None:
        name = of_torch(array)
        found = next((each for each in ALL if each.name == name), None)
    else:
        found = by_storage().get(np.dtype(array.dtype))
    if found is None:
        raise launch_error(
            Code.ARGUMENT_DTYPE, f"an array of {array.dtype} holds nothing that kernels know", "convert it to f32 first"
        )
    _elements[array.dtype] = found
    return found


_elements: Final[dict[Any, DType]] = {}
"""Ours by the element types of numpy and torch that were met."""


def new(like: Any, shape: Sequence[int], dtype: DType | None = None) -> Any:
    """An array nobody has written yet, of the library and on the device of another, and of its type unless given."""
    element = element_of(like) if dtype is None else dtype
    if isinstance(like, np.ndarray):
        return np.empty(tuple(shape), element.storage)
    torch = torch_of(like)
    if torch is not None:
        return like.new_empty(tuple(shape), dtype=to_torch(torch, element.name))
    number = device_of(like)
    return empty(tuple(shape), element, "cpu" if number is None else f"cuda:{number}")


def output_for(out: Any, like: Any, shape: Sequence[int], dtype: DType | None = None) -> Any:
    """`out` if there is one, of the right shape, or a new array."""
    if out is None:
        return new(like, shape, dtype)
    if tuple(out.shape) != tuple(shape):
        raise launch_error(
            Code.DIMENSION_DIFFERS,
            f"`out` has shape {tuple(out.shape)}, and the result has {tuple(shape)}",
            f"pass an array of shape {tuple(shape)}, or none: then one is made",
        )
    return out


def as_matrix(array: Any) -> Any:
    """An array as a matrix, never copied: its last axis stays, the axes before it become one."""
    shape = tuple(array.shape)
    if len(shape) == 2:
        return array
    last = shape[-1] if shape else 1
    return view(array, (math.prod(shape[:-1]), last))


def view(array: Any, shape: Sequence[int]) -> Any:
    """The same elements in another shape, never copied: what is written there is written to the array."""
    try:
        if isinstance(array, np.ndarray):
            output = array.reshape(tuple(shape))
            # Only NumPy 2.1 can be asked not to copy. A copy is new memory, so its bounds lie apart from the array's.
            if output.size and not np.may_share_memory(output, array):
                raise _scattered(array, shape)
            return output
        if torch_of(array) is not None:
            return array.view(*shape)
        # Others may copy where they cannot see it in this shape; a tensor of ours over the same memory does not.
        return (array if isinstance(array, Tensor) else asarray(array)).reshape(*shape)
    except (RuntimeError, ValueError):
        raise _scattered(array, shape) from None


def _scattered(array: Any, shape: Sequence[int]) -> LaunchError:
    return launch_error(
        Code.ARGUMENT_RANK,
        f"an array of shape {tuple(array.shape)} cannot be seen as {tuple(shape)}: it is not contiguous",
        "pass a contiguous array, for instance a copy",
    )


def present(*arguments: Any) -> list[Any]:
    """The arguments of a form of a kernel: those that are not None."""
    return [each for each in arguments if each is not None]


def is_by_columns(array: Any) -> bool:
    """Whether it is the elements of a column that lie next to each other in memory: a transposed view."""
    if 1 in array.shape[-2:]:
        return False
    strides = array.stride() if callable(getattr(array, "stride", None)) else array.strides
    return abs(int(strides[-2])) < abs(int(strides[-1]))


def weight_shape(weights: Any) -> tuple[int, int]:
    """How many rows and columns a matrix of weights has."""
    if len(weights.shape) != 2:
        raise launch_error(
            Code.ARGUMENT_RANK, f"weights of shape {tuple(weights.shape)} are no matrix",
            "pass a matrix with a row for each output",
        )  # fmt: skip
    rows, columns = weights.shape
    return rows, columns


def half_of(rows: int) -> int:
    """How many outputs a gated layer has whose weights have so many rows, those of gate and then those of up."""
    if rows % 2:
        raise launch_error(
            Code.DIMENSION_DIFFERS, f"{rows} rows of weights are not two halves",
            "pass a matrix with the rows of gate first and then those of up",
        )  # fmt: skip
    return rows // 2


def rows_for(x: Any, columns: int) -> Any:
    """x as a matrix of rows that weights with so many columns take."""
    if not x.shape or x.shape[-1] != columns:
        raise launch_error(
            Code.DIMENSION_DIFFERS, f"x has shape {tuple(x.shape)}, and the weights have {columns} columns",
            f"pass x with a last axis of {columns}",
        )  # fmt: skip
    return as_matrix(x)


def sum_type_of(array: Any) -> DType:
    """The element type that results for an array are computed in: f64 for f64, f32 for all others."""
    return F64 if element_of(array) == F64 else F32


def launch_error(code: Code, message: str, cure: str) -> LaunchError:
    """An error that names its cure."""
    return LaunchError(Diagnostic(code, message, help=cure))


def shape_error(shape: Sequence[int], wanted: Sequence[int]) -> LaunchError:
    """The error for an argument of the wrong shape."""
    return launch_error(
        Code.DIMENSION_DIFFERS,
        f"an argument has shape {tuple(shape)}, and {tuple(wanted)} is expected",
        f"pass an array of shape {tuple(wanted)}",
    )
