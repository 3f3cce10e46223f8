"""Which types of tensors the fast path reads, and how.

Only objects of exactly these types are read: a subclass may mean something else by its memory. The types are never
forgotten, so none of them can give its place in memory to another.

torch: how its tensors are read, and what its current stream is. torch itself is never imported here. torch reports both
through DLPack's exchange API (2.11 and 2.13 were tried), a table of C functions that is made for launches like ours:
they describe a tensor without allocating anything. The name of the attribute that leads to the table has changed once;
where there is none, tensors are read in Python.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from types import MemberDescriptorType
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np

from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.language.dtypes import ALL, DType

from .plan import CPU, CUDA, element_code
from .structures import MOST_TYPES, How, RecordData, StateData

Used: TypeAlias = tuple[int, int, bool]
"""Bytes that a launch uses, from the first to the end, and whether it writes them."""


class Seen(NamedTuple):
    """What a plan compares of a tensor."""

    address: int
    element: Any
    """The element type: numpy's own object, or DLPack's code."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In bytes."""
    device: tuple[int, int]
    is_writable: bool
    is_of_torch: bool = False
    state: int = 0
    """Where it stands what is true of its memory, for tensors of our own."""
    is_lent: bool = False
    """Whether others can reach memory of our own."""


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
        elements = {}
        for dtype in ALL:
            theirs = getattr(self.module, _NAMES.get(dtype.name, ""), None)
            if theirs is not None:
                elements[theirs] = element_code(dtype), dtype.bits // 8
        return elements

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
        """The stream that torch works on, as Python reports it."""
        kind, ordinal = device
        return int(self.module.cuda.current_stream(ordinal).cuda_stream) if kind == CUDA else 0


def find(module: Any) -> Torch | None:
    """What there is of torch; None while it is being loaded."""
    result = Torch(module, 0, 0, "")
    try:
        table = _table_of(result.types[0])
    except AttributeError:
        return None
    if table is None:
        result.version = "this version of torch has no DLPack exchange API"
    elif not (table.describe and table.current_stream):
        result.version = "torch's DLPack exchange API does not describe tensors"
    else:
        result.exchange, result.stream = table.describe, table.current_stream
        result.version = f"{table.major}.{table.minor}"
    return result


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


def _address_of(attribute: Any) -> int | None:
    """Where a table is: the attribute is a capsule, and was a number at first."""
    if type(attribute) is int:
        return attribute if attribute > 0 and attribute % 8 == 0 else None
    is_valid = _python("PyCapsule_IsValid", ctypes.c_int)
    if attribute is None or not is_valid(ctypes.py_object(attribute), _CAPSULE):
        return None
    pointer = _python("PyCapsule_GetPointer", ctypes.c_void_p)(ctypes.py_object(attribute), _CAPSULE)
    return int(pointer)


def _python(name: str, result: Any) -> Callable[..., Any]:
    return ctypes.PYFUNCTYPE(result, ctypes.py_object, ctypes.c_char_p)((name, ctypes.pythonapi))


_HEAD: Final = struct.Struct("<Q6iQ")
HEADER: Final = object.__basicsize__
"""The size of what every object begins with; its type is the last of it."""


@dataclass(frozen=True, slots=True)
class Reader:
    """How tensors of a type are read."""

    type: type
    how: How
    see: Callable[[Any], Seen | None]
    """The same in Python; None for a tensor that is to be looked at closely."""
    exchange: int = 0
    """The address of the function of DLPack's exchange API that describes a tensor."""
    slot: int = 0
    """Where an object keeps its record."""


def _see_array(array: Any) -> Seen | None:
    address = int(array.__array_interface__["data"][0])
    return Seen(address, array.dtype, array.shape, array.strides, (1, 0), bool(array.flags.writeable))


class Place(Protocol):
    """Where something is now."""

    @property
    def value(self) -> int: ...


def place_of_array(array: Any) -> Place:
    """Where an array of numpy has its elements: the first field of the object, to be read while the array lives. Each
    replay of a graph reads it, and numpy's own ways to ask take a microsecond."""
    return ctypes.c_size_t.from_address(id(array) + HEADER)


_readers: list[Reader] = [Reader(np.ndarray, How.ARRAY, _see_array)]
_torch: list[Torch] = []
_changing = threading.RLock()


def known() -> tuple[Reader, ...]:
    """Every type that is read, in the order in which they came."""
    return tuple(_readers)


def torch() -> Torch | None:
    """What is used of torch, if it is loaded and was looked at."""
    return _torch[0] if _torch else None


def see(value: Any) -> Seen | None:
    """A tensor as it is now; None if it is none, or unusual."""
    kind = type(value)
    for reader in _readers:
        if reader.type is kind:
            try:
                return reader.see(value)
            except Exception:  # a library that does not describe its tensor is for the full launch
                return None
    return None


def refresh() -> None:
    """Looks for torch, which may have been loaded since, and passes on what is new to the native code."""
    if not _torch and "torch" in sys.modules:
        with _changing:
            loaded = None if _torch else find(sys.modules["torch"])
            if loaded is not None:
                _torch.append(loaded)
                how = How.EXCHANGE if loaded.exchange else How.PYTHON
                _readers.extend(Reader(kind, how, loaded.see, loaded.exchange) for kind in loaded.types)
    for listener in _listeners:
        listener()


_listeners: list[Callable[[], None]] = []


def listen(listener: Callable[[], None]) -> None:
    """Has a function called whenever there may be new types."""
    _listeners.append(listener)


def register_buffer(kind: type, slot: str) -> None:
    """Makes a type of tensors known that keeps the bytes `record` made in a slot, and None or nothing if it has no
    memory now. A record is never changed: a tensor that moves gets another."""

    def see_record(owner: Any) -> Seen | None:
        stored = getattr(owner, slot)
        return _seen_in(stored) if type(stored) is bytes else None

    place = slot_of(kind, slot)
    with _changing:
        if all(reader.type is not kind for reader in _readers):
            if len(_readers) >= MOST_TYPES - 2:  # two are torch's
                raise ValueError(f"no room for another type of tensors: {kind.__name__}")
            _readers.append(Reader(kind, How.RECORD, see_record, slot=place))
    refresh()


def record(
    address: int, dtype: DType, shape: Sequence[int], strides: Sequence[int], device: tuple[int, int],
    is_writable: bool = True, state: int = 0,
) -> bytes:  # fmt: skip
    """What a type of tensors tells of its memory; strides are in bytes, and the device is named as in a `Plan`.

    At `state` there may be a `StateData`, which lives as long as the record is used.
    """
    code, layout = _layout(dtype, tuple(shape), tuple(strides))
    return _HEAD.pack(address, *device, code, len(shape), is_writable, 0, state) + layout


@lru_cache(maxsize=256)
def _layout(dtype: DType, shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, bytes]:
    """What does not differ among records of tensors that are alike."""
    size = dtype.bits // 8
    steps = [stride // size if extent > 1 else 0 for stride, extent in zip(strides, shape, strict=True)]
    if any(step * size != stride for step, stride, extent in zip(steps, strides, shape, strict=True) if extent > 1):
        raise ValueError(f"strides of {strides} for elements of {size} bytes")
    return element_code(dtype), struct.pack(f"<{2 * len(shape)}q", *shape, *steps)


def _seen_in(data: bytes) -> Seen | None:
    head = RecordData.from_buffer_copy(data)
    numbers = (ctypes.c_int64 * (2 * head.rank)).from_buffer_copy(data, ctypes.sizeof(RecordData))
    shape, steps = tuple(numbers[: head.rank]), tuple(numbers[head.rank :])
    size = (head.dtype >> 8 & 255) // 8
    strides = tuple(step * size for step in steps)
    device, is_writable = (head.device_type, head.device), bool(head.is_writable)
    lent = bool(head.state) and is_lent(StateData.from_address(head.state))
    return Seen(head.address, head.dtype, shape, strides, device, is_writable, state=head.state or 0, is_lent=lent)


def is_lent(state: StateData) -> bool:
    """Whether someone has a view of the memory: the length of a list stands where that of a tuple does."""
    return bool(ctypes.c_ssize_t.from_address(state.lent + HEADER).value)


def slot_of(kind: type, name: str) -> int:
    """Where objects of a type keep what is assigned to a slot, found by looking at one."""
    member = getattr(kind, name, None)
    if not isinstance(member, MemberDescriptorType):
        raise ValueError(f"{kind.__name__} has no slot {name}")
    sample: object = object.__new__(kind)
    mark = object()
    member.__set__(sample, mark)
    words = (ctypes.c_size_t * (kind.__basicsize__ // 8)).from_address(id(sample))
    places = [8 * place for place, word in enumerate(words) if word == id(mark) and 8 * place >= HEADER]
    if len(places) != 1:
        raise ValueError(f"the slot {name} of {kind.__name__} is not where it should be")
    return places[0]
