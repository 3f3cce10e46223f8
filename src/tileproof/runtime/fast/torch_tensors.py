"""torch: how its tensors are read, and what its current stream is. torch itself is never imported here.

torch tells both through DLPack's exchange API (2.11 and 2.13 were tried), a table of C functions that is made for
launches like ours: they describe a tensor without allocating anything. The name of the attribute that leads to the
table has changed once; where there is none, tensors are read in Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from tileproof.diagnostics.records import dataclass
from functools import cached_property
from typing import Any, Final

from tileproof.language.dtypes import ALL

from .plan import CPU, CUDA, element_code
from .seen import Seen

_CAPSULE: Final = b"dlpack_exchange_api"
_NAMES: Final = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
}  # fmt: skip


class _Table(ctypes.Structure):
    """DLPack's exchange API, version 1."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("older", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p), ("to_managed", ctypes.c_void_p), ("from_managed", ctypes.c_void_p),
        ("describe", ctypes.c_void_p), ("current_stream", ctypes.c_void_p),
    )  # fmt: skip


@dataclass
class Torch:
    """What is used of torch."""

    module: Any
    exchange: int
    """The address of the function that describes a tensor; 0 if tensors are read in Python."""
    stream: int
    """The address of the function that tells the current stream, or 0."""
    version: str
    """The version of the exchange API, or why it is not used."""

    @property
    def types(self) -> tuple[type, ...]:
        """The types of plain tensors."""
        return self.module.Tensor, self.module.nn.Parameter

    @cached_property
    def elements(self) -> dict[Any, tuple[int, int]]:
        """DLPack's code and the bytes of each of torch's element types that is one of ours."""
        found = {}
        for dtype in ALL:
            theirs = getattr(self.module, _NAMES.get(dtype.name, ""), None)
            if theirs is not None:
                found[theirs] = element_code(dtype), dtype.bits // 8
        return found

    def see(self, tensor: Any) -> Seen | None:
        """A tensor, read in Python."""
        if tensor.layout is not self.module.strided or tensor.dtype not in self.elements:
            return None
        element, size = self.elements[tensor.dtype]
        device = tensor.device
        if device.type not in ("cpu", "cuda"):
            return None
        place = (CUDA, device.index) if device.type == "cuda" else CPU
        strides = tuple(step * size for step in tensor.stride())
        return Seen(tensor.data_ptr(), element, tuple(tensor.shape), strides, place, True, True)

    def current_stream(self, device: tuple[int, int]) -> int:
        """The stream that torch works on, told by Python."""
        kind, ordinal = device
        return int(self.module.cuda.current_stream(ordinal).cuda_stream) if kind == CUDA else 0

    def takes_part(self, tensor: Any) -> bool:
        """Whether a write to a tensor would be hidden from gradients that torch is about to compute."""
        return bool(tensor.requires_grad) and bool(self.module.is_grad_enabled())


def find(module: Any) -> Torch | None:
    """What there is of torch; None while it is being loaded."""
    found = Torch(module, 0, 0, "")
    try:
        table = _table_of(found.types[0])
    except AttributeError:
        return None
    if table is None:
        found.version = "this version of torch has no DLPack exchange API"
    elif not (table.describe and table.current_stream):
        found.version = "torch's DLPack exchange API does not describe tensors"
    else:
        found.exchange, found.stream = table.describe, table.current_stream
        found.version = f"{table.major}.{table.minor}"
    return found


def _table_of(kind: Any) -> _Table | None:
    """The exchange API of a type of tensors, if there is one that is understood."""
    address = _address_of(getattr(kind, "__dlpack_c_exchange_api__", None)) or _address_of(
        getattr(kind, "__c_dlpack_exchange_api__", None)
    )
    while address:
        table = _Table.from_address(address)
        if table.major == 1:
            return table
        address = table.older
    return None


def _address_of(found: Any) -> int | None:
    """Where a table is: the attribute is a capsule, and was a number at first."""
    if type(found) is int:
        return found if found > 0 and found % 8 == 0 else None
    is_valid = _python("PyCapsule_IsValid", ctypes.c_int)
    if found is None or not is_valid(ctypes.py_object(found), _CAPSULE):
        return None
    pointer = _python("PyCapsule_GetPointer", ctypes.c_void_p)(ctypes.py_object(found), _CAPSULE)
    return int(pointer)


def _python(name: str, result: Any) -> Callable[..., Any]:
    return ctypes.PYFUNCTYPE(result, ctypes.py_object, ctypes.c_char_p)((name, ctypes.pythonapi))
