"""Arguments on the CPU that other libraries made: each becomes a numpy array over the same memory.

Tensors of torch are read by their own attributes; arrays of JAX, which may still be computed, by DLPack once they are
ready; other arrays by `__array_interface__`, or else by DLPack. Nothing is copied. The array keeps its owner alive.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.records import dataclass

from . import dlpack
from .foreign import (
    Unusable,
    check_owner,
    dtype_of,
    is_immutable,
    malformed,
    stored,
    torch_device,
    torch_memory,
    torch_of,
    without_gaps,
)


@dataclass(frozen=True, slots=True)
class _Lent:
    """What numpy reads memory of others by; it is the base of the array, and so keeps what lends the memory."""

    __array_interface__: dict[str, Any]
    keep: object


def on_host(value: Any, name: str = "x", *, is_written: bool = False) -> Array | None:
    """A numpy array over the memory of an array on the CPU; None for what is none, or is elsewhere.

    `Unusable` if it has no memory that a kernel can use. `name` is what the argument is called in a cure.
    """
    if isinstance(value, np.generic | bool | int | float):
        return None
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray and isinstance(value, np.ma.MaskedArray):  # to name it loads a module
            return None
        # Another array over the same memory, which nobody else can change, and which only says what lies in memory: a
        # subclass may say otherwise.
        return np.ndarray.view(value, np.ndarray)
    torch = torch_of(value)
    array: Array | None
    if torch is not None:
        array = _torch_on_host(torch, value, name)
    elif is_immutable(value):
        array = _of_immutable(value)
    else:
        try:
            interface = value.__array_interface__
        except AttributeError:
            array = _dlpack_on_host(value)
        except Exception as error:
            raise malformed("__array_interface__", error) from None
        else:
            array = _interface_on_host(interface, value)
    if array is not None and is_written:
        check_owner(value, name)
    return array


def keep_still(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The arguments of a launch, with each plain tensor of torch as one that nobody else has, over memory that stays.

    None if one of them is not plain.
    """
    torch = sys.modules.get("torch")
    kinds = () if torch is None else (getattr(torch, "Tensor", None), getattr(torch.nn, "Parameter", None))
    if not kinds or not any(type(each) in kinds for each in args):
        return args
    kept: list[Any] = []
    for each in args:
        if type(each) not in kinds:
            kept.append(each)
            continue
        try:
            if not each.is_cpu or each.requires_grad or each.is_neg():
                return None
            kept.append(torch_memory(torch, each, "x").keep)
        except (Unusable, RuntimeError, NotImplementedError, TypeError):
            return None
    return tuple(kept)


def plain_array(value: Any) -> Array | None:
    """A numpy array over the memory of a plain array or tensor of torch on the CPU; None for all others."""
    try:
        return on_host(value)
    except Unusable:
        return None


def _torch_on_host(torch: Any, value: Any, name: str) -> Array:
    kind = torch_device(torch, value)
    if kind == "meta" and type(value).__name__ != "FakeTensor":
        cure = f'make `{name}` on the CPU or on a GPU: `torch.empty_like({name}, device="cpu")`'
        raise Unusable(Code.ARGUMENT_KIND, "is a meta tensor of torch, which has no memory", cure)
    if kind not in ("cpu", "meta"):
        cure = f"pass a copy on the CPU, `{name}.cpu()`, and copy back what the kernel writes"
        raise Unusable(Code.ARGUMENT_KIND, f"is a tensor of torch on the device {kind}, where no kernel runs", cure)
    found = torch_memory(torch, value, name)
    return array_over(found.address, found.shape, found.strides, found.dtype, found.keep)


def _of_immutable(value: Any) -> Array | None:
    core = getattr(sys.modules.get("jax"), "core", None)
    if isinstance(value, getattr(core, "Tracer", ())):
        cure = "launch outside `jax.jit` and other transforms, on the arrays themselves"
        raise Unusable(Code.ARGUMENT_KIND, "is a tracer of JAX, which has no memory", cure)
    try:
        # On the CPU no stream orders our reading behind the library's own work.
        getattr(value, "block_until_ready", bool)()
    except Exception as error:
        raise malformed("block_until_ready", error) from None
    return _dlpack_on_host(value)


def _interface_on_host(interface: Any, value: Any) -> Array:
    try:
        told = dict(interface)
        if told.get("mask") is not None:
            cure = "pass an array without a mask"
            raise Unusable(Code.ARGUMENT_KIND, "has a mask, which a kernel does not see", cure)
        dtype = dtype_of(told["typestr"], value)
        if dtype.hasobject:
            raise ValueError(f"elements of {dtype} are objects of Python")
        if told.get("data") is None:  # the object itself is a buffer then
            told["data"] = value
        told.pop("descr", None)  # fields of records are no elements
        told["typestr"] = _letters(dtype)
        array = np.asarray(_Lent(told, value))
        if array.size and not array.__array_interface__["data"][0]:
            raise ValueError("the address is 0")
        return array.view(dtype)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise malformed("__array_interface__", error) from None


def _dlpack_on_host(value: Any) -> Array | None:
    if not dlpack.is_capsule(value):
        if not (hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")):
            return None
        try:
            kind = int(value.__dlpack_device__()[0])
        except Exception as error:
            raise malformed("__dlpack_device__", error) from None
        if kind != dlpack.CPU:
            raise _elsewhere(kind)
    try:
        capsule = value if dlpack.is_capsule(value) else dlpack.capsule_of(value)
        found = dlpack.read(capsule)
    except Exception as error:
        raise malformed("__dlpack__", error) from None
    if found.device_type != dlpack.CPU:
        raise _elsewhere(found.device_type)
    dtype = stored(found.element)
    if dtype is None:
        cure = "convert it to an element type before the launch"
        raise Unusable(Code.ARGUMENT_DTYPE, f"holds {found.element}, which is not an element type", cure)
    steps = found.strides
    strides = without_gaps(found.shape, dtype.itemsize) if steps is None else tuple(s * dtype.itemsize for s in steps)
    try:
        return array_over(
            found.address, found.shape, strides, dtype, (value, capsule), is_read_only=not found.writeable
        )
    except (TypeError, ValueError) as error:
        raise malformed("__dlpack__", error) from None


def _elsewhere(kind: int) -> Unusable:
    message = f"is on a device that DLPack calls type {kind}, where no kernel runs"
    return Unusable(Code.ARGUMENT_KIND, message, "pass a copy on the CPU, and copy back what the kernel writes")


def array_over(
    address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any], keep: object, *,
    is_read_only: bool = False,
) -> Array:  # fmt: skip
    """A numpy array over memory of others."""
    if 0 not in shape and not address:
        raise ValueError("the address is 0")
    data = address, is_read_only
    told = {"version": 3, "typestr": _letters(dtype), "shape": shape, "strides": strides, "data": data}
    array = np.asarray(_Lent(told, keep))
    return array if array.dtype is dtype else array.view(dtype)


def _letters(dtype: np.dtype[Any]) -> str:
    """An element type as numpy reads it: the letters of bf16 and 8-bit floats say nothing to it but their size."""
    return dtype.str if dtype.isbuiltin != 2 else f"|V{dtype.itemsize}"
