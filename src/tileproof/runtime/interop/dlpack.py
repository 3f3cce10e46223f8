"""DLPack: how libraries that share nothing else describe an array to each other.

A capsule is read and kept, not consumed: its own destructor gives the memory back when nobody keeps it any more.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

from tileproof.diagnostics.quick_dataclasses import dataclass

CPU: Final = 1
CUDA: Final = 2
CUDA_KINDS: Final = frozenset({CUDA, 3, 13})
"""Memory of a GPU, of the host but known to the GPU, and of both."""

_NEWEST: Final = (1, 1)
_READ_ONLY: Final = 1
_COPIED: Final = 2
_INT, _UINT, _FLOAT, _BFLOAT, _BOOL, _F8E4M3FN, _F8E5M2 = 0, 1, 2, 4, 6, 10, 12
_NAMES: Final = {
    **{(_INT, bits): f"i{bits}" for bits in (8, 16, 32, 64)},
    **{(_UINT, bits): f"u{bits}" for bits in (8, 16, 32, 64)},
    **{(_FLOAT, bits): f"f{bits}" for bits in (16, 32, 64)},
    (_BFLOAT, 16): "bf16",
    (_BOOL, 8): "bool",
    (_F8E4M3FN, 8): "f8e4m3",
    (_F8E5M2, 8): "f8e5m2",
}
_CODES: Final = {name: code for (code, _), name in _NAMES.items()}


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


@dataclass(frozen=True, slots=True)
class Exchanged:
    """What a capsule says of an array. Strides count elements; None is for rows without gaps."""

    address: int
    device_type: int
    device: int
    element: str
    """The name of our element type; other types have a name that is not one of ours."""
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    writeable: bool


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_int
_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.argtypes, _pointer_in.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p


def is_capsule(value: object) -> bool:
    """Whether something is a capsule that nobody has consumed."""
    return any(_is_valid(value, name) for name in (b"dltensor", b"dltensor_versioned"))


def capsule_of(value: Any, stream: int | None = None) -> Any:
    """What an object offers to work on a stream; ordering that work after its own is the object's part.

    None is for the CPU, which has no streams.
    """
    # 0 would be ambiguous, so the protocol has the number 1 for the default stream.
    asked = {} if stream is None else {"stream": stream or 1}
    try:
        return value.__dlpack__(**asked, max_version=_NEWEST)
    except TypeError:  # from before version 1
        return value.__dlpack__(**asked)


def read(capsule: Any) -> Exchanged:
    """What a capsule says; `ValueError` if it cannot be understood."""
    writeable = True
    if _is_valid(capsule, b"dltensor_versioned"):
        whole = _Versioned.from_address(_pointer_in(capsule, b"dltensor_versioned"))
        if whole.major != _NEWEST[0]:
            raise ValueError(f"version {whole.major}.{whole.minor} of DLPack is not known")
        # What is written into a copy never reaches the array itself.
        writeable = not whole.flags & (_READ_ONLY | _COPIED)
        tensor = whole.tensor
    elif _is_valid(capsule, b"dltensor"):
        tensor = _Tensor.from_address(_pointer_in(capsule, b"dltensor"))
    else:
        raise ValueError("the capsule has been consumed")
    rank = tensor.ndim
    element = _NAMES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    return Exchanged(
        address=(tensor.data or 0) + tensor.byte_offset,
        device_type=tensor.device_type,
        device=tensor.device_id,
        element=element or f"type {tensor.code} of {tensor.bits} bits, {tensor.lanes} at once",
        shape=tuple(tensor.shape[:rank]) if rank else (),
        strides=tuple(tensor.strides[:rank]) if rank and tensor.strides else None,
        writeable=writeable,
    )


def relabel(capsule: Any, element: str, device: int | None, *, is_copy: bool = False) -> Any:
    """Has a new capsule of numpy say that its elements are of another type of the same size, and where they lie.

    Numpy has no names for all element types, nor for GPUs; but its capsules are given back safely even at the very end
    of the process, when no function of Python can be called any more.
    """
    if _is_valid(capsule, b"dltensor_versioned"):
        whole = _Versioned.from_address(_pointer_in(capsule, b"dltensor_versioned"))
        whole.flags |= _COPIED if is_copy else 0
        tensor = whole.tensor
    else:
        tensor = _Tensor.from_address(_pointer_in(capsule, b"dltensor"))
    tensor.code = _CODES[element]
    tensor.device_type, tensor.device_id = (CPU, 0) if device is None else (CUDA, device)
    return capsule
