"""Making tensors: `tp.empty`, `zeros`, `ones`, `full`, `arange`, `from_numpy` and `asarray`.

A shape is a number or a sequence of them. An element type is one of ours (`tp.f32`), its name ("f32"), or what numpy
calls it; f32 if none is given. A device is "cpu", "cuda" or "cuda:1".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tileproof.backends.base import device_number, device_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.diagnostics.values import formatted
from tileproof.language.dtypes import BOOL, F32, I64, DType, by_storage
from tileproof.runtime.interop.describe import (
    Array,
    Described,
    Unusable,
    address_of,
    array_over,
    byte_range,
    check_library_allows_writes,
    described,
    on_host,
)
from tileproof.runtime.memory.block import Block

from . import views
from .host_access import element_type, fitting, host_array, not_usable
from .tensors import Tensor, fresh
from .views import rejection


def empty(shape: int | Sequence[int], dtype: Any = None, device: str = "cpu") -> Tensor:
    """A tensor that nobody has written yet: a kernel with an `Out`, or the host, must write before anyone reads.

    Example:
        y = tp.empty((4, 8), tp.bf16)
    """
    return _fresh(shape, dtype, device)


def zeros(shape: int | Sequence[int], dtype: Any = None, device: str = "cpu") -> Tensor:
    """A tensor of zeros.

    Example:
        y = tp.zeros(1024)
    """
    return _fresh(shape, dtype, device, True) if device == "cpu" else full(shape, 0, dtype, device)


def ones(shape: int | Sequence[int], dtype: Any = None, device: str = "cpu") -> Tensor:
    """A tensor of ones.

    Example:
        y = tp.ones((2, 3), tp.i32)
    """
    return full(shape, 1, dtype, device)


def full(shape: int | Sequence[int], value: Any, dtype: Any = None, device: str = "cpu") -> Tensor:
    """A tensor with one value everywhere; of f32, whatever the value is, unless `dtype` is given.

    Example:
        y = tp.full((2, 3), -1, tp.i64)
    """
    element = element_type(dtype, F32)
    filler = fitting(value, element, ())
    tensor = _fresh(shape, element, device)
    device_of(tensor.block.device).fill(tensor, filler)
    return tensor


def arange(n: float, dtype: Any = None, device: str = "cpu") -> Tensor:
    """The numbers 0, 1, ... that are less than `n`, of i64 unless `dtype` is given.

    Example:
        places = tp.arange(8)
    """
    count = max(math.ceil(n), 0)
    tensor = fresh(device_number(device), element_type(dtype, I64), (count,))
    return tensor.copy_from(np.arange(count, dtype=np.int64))


def from_numpy(array: Any, device: str = "cpu") -> Tensor:
    """A tensor of its own with the elements of a numpy array, which are copied. `asarray` shares memory instead.

    Example:
        x = tp.from_numpy(np.ones(8, np.float32))
    """
    values = array if type(array) is np.ndarray else host_array(array)
    return _copied(values, _own_type(values.dtype), device_number(device))


def asarray(x: Any, device: str | None = None, *, dtype: Any = None) -> Tensor:
    """A tensor over the memory of an array of numpy, torch, cupy, or any that knows DLPack. Nothing is copied.

    The memory stays its owner's, so launches on it are waited for on the CPU; what is read-only there is so here. A
    tensor is returned as it is. Numbers and lists are copied: whole numbers become i64 and others f32, unless `dtype`
    is given. With a `device` on which the array is not, it is copied there.

    Example:
        x = tp.asarray(np.ones(8, np.float32))
        places = tp.asarray([0, 2, 1], dtype=tp.i32)
    """
    number = None if device is None else device_number(device)
    tensor = x if isinstance(x, Tensor) else _shared(x)
    if tensor is None:
        values = host_array(x)
        default = _own_type(values.dtype) if isinstance(x, np.generic) else _type_of_numbers(values.dtype)
        return _copied(values, element_type(dtype, default), number)
    wanted = element_type(dtype, tensor.dtype)
    if wanted is not tensor.dtype:
        raise LaunchError(
            Diagnostic(
                Code.ARGUMENT_DTYPE,
                f"an array of {tensor.dtype} is to share its memory with a tensor of {wanted}",
                help="leave `dtype` out, or convert first: `x.astype(...)`",
            )
        )
    return tensor if device is None else tensor.to(device)


def _shared(x: Any) -> Tensor | None:
    """A tensor over memory of others; None for what has none, such as lists."""
    if isinstance(x, np.ma.MaskedArray):
        host_array(x)
    try:
        array: Described | Array | None = described(x)
        if array is None:
            array = on_host(x)
    except Unusable as error:
        raise not_usable(error) from None
    return None if array is None else over(array, lets_write=_lets_write(x))


def over(array: Described | Array, *, lets_write: bool = False) -> Tensor:
    """A tensor over memory of others, as a launch sees it."""
    element = _own_type(array.dtype)
    _check_alignment(array, element)
    low, high = byte_range(array)
    is_writeable = lets_write and (array.writeable if isinstance(array, Described) else array.flags.writeable)
    device, memory = None, array
    if isinstance(array, Described):
        device = array.device
    else:
        memory = array_over(low, (high - low,), (1,), np.dtype(np.uint8), array, is_read_only=not is_writeable)
    block = Block(device, low, high - low, memory, None, is_written=True, is_writeable=is_writeable)
    return Tensor._of(block, element, address_of(array), array.shape, array.strides)


def _lets_write(owner: Any) -> bool:
    """Whether the library of an array would know of what a kernel writes into it."""
    try:
        check_library_allows_writes(owner, "x")
    except Unusable:
        return False
    return True


def _check_alignment(array: Array | Described, element: DType) -> None:
    address = address_of(array)
    steps = [stride for stride, extent in zip(array.strides, array.shape, strict=True) if extent > 1]
    if array.size and any(place % array.itemsize for place in (address, *steps)):
        raise LaunchError(
            Diagnostic(
                Code.MISALIGNED,
                f"elements of the array do not lie at multiples of the {array.itemsize} bytes that {element} takes",
                help="pass a copy, which is aligned: `x.copy()`, or `tp.from_numpy(x)`",
            )
        )


def _fresh(shape: Any, dtype: Any, device: str, is_zero: bool = False) -> Tensor:
    number = None if device == "cpu" else device_number(device)
    element = F32 if dtype is None else element_type(dtype, F32)
    return fresh(number, element, (shape,) if type(shape) is int and shape >= 0 else _shape(shape), is_zero)


def _shape(shape: Any) -> tuple[int, ...]:
    if type(shape) is int:
        shape = (shape,)
    elif type(shape) is tuple:
        for extent in shape:
            if type(extent) is not int or extent <= 0:
                break
        else:
            return shape
    extents = views.shape_of((shape,))
    if min(extents, default=0) < 0:
        message = f"negative dimensions are not allowed: {formatted(extents)}"
        raise rejection(ValueError, message, "an extent is 0 or more")
    return views.demand_extents(extents)


def _copied(values: Array, element: DType, device: int | None) -> Tensor:
    tensor = fresh(device, element, values.shape)
    return tensor.copy_from(values) if device is not None else _filled(tensor, fitting(values, element, values.shape))


def _filled(tensor: Tensor, values: Array) -> Tensor:
    """A new tensor on the CPU, which nobody else knows of yet, with elements that fit."""
    tensor.block.written = None
    tensor._array[...] = values
    return tensor


def _type_of_numbers(stored: np.dtype[Any]) -> DType:
    """The element type of numbers that are not in an array."""
    kinds = {"b": BOOL, "i": I64, "u": I64, "f": F32}
    return kinds.get(stored.kind) or _own_type(stored)


def _own_type(stored: np.dtype[Any]) -> DType:
    """Our name for the elements of an array."""
    dtype = by_storage().get(stored)
    if dtype is None:
        is_swapped = by_storage().get(stored.newbyteorder("=")) is not None
        why = ", whose bytes are in another order" if is_swapped else ""
        raise LaunchError(
            Diagnostic(
                Code.ARGUMENT_DTYPE,
                f"a tensor cannot have elements of {stored}{why}",
                help=f"convert them first: `x.astype(np.{stored.newbyteorder('=').name if is_swapped else 'float32'})`",
            )
        )
    return dtype
