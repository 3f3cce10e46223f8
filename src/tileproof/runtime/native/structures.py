"""The structures of `native/fast.c`, as ctypes sees them. `loader` compares their sizes before anything is used."""

from __future__ import annotations

import ctypes
from contextvars import ContextVar
from ctypes import c_double, c_int32, c_int64, c_uint64, c_void_p
from enum import IntEnum
from typing import Any, Final

from tileproof.diagnostics.quick_dataclasses import dataclass

MOST_ARGUMENTS: Final = 32
MOST_WORDS: Final = 160
MOST_AXES: Final = 8
MOST_TYPES: Final = 12
MOST_VARIABLES: Final = 4
MOST_DIMENSIONS: Final = 32
DOORS: Final = 64
SMALL: Final = 1 << 16
"""The most bytes of the tensors of a launch on the CPU that is done at once."""
FAR: Final = 2**48
"""Every dimension is shorter."""
LARGEST: Final = 2**62
"""So many bytes or programs are left to the full launch."""
LANE_ROOM: Final = 16384
"""How many spans a lane holds."""
MOST_SEEN: Final = 64
"""For so many streams a lane notes how far its own has waited for them."""
LOWEST: Final = 1 << 16
"""No system has memory below this address."""


class Form(IntEnum):
    """What an argument is."""

    WHOLE = 1
    REAL = 2
    TRUTH = 3
    TENSOR = 4


class Unit(IntEnum):
    """In what a tensor counts its strides; numpy in bytes, DLPack in elements."""

    BYTES = 0
    ELEMENTS = 1


class StoredAs(IntEnum):
    """How a scalar is handed to the driver."""

    WHOLE = 0
    F32 = 1
    F64 = 2


class How(IntEnum):
    """How tensors of a type are read."""

    ARRAY = 0
    EXCHANGE = 1
    RECORD = 2
    PYTHON = 3


class Axis(ctypes.Structure):
    """One axis of a tensor that a plan wants."""

    _fields_ = (("extent", c_int64), ("stride", c_int64 * 2), ("dimension", c_int32), ("is_unit", c_int32))


class ArgumentData(ctypes.Structure):
    """What a plan wants one argument to be."""

    _fields_ = (
        ("form", c_int32), ("word", c_int32), ("rank", c_int32), ("is_written", c_int32), ("is_stored_as", c_int32),
        ("is_empty", c_int32), ("fills", c_int32), ("is_read", c_int32), ("is_large", c_int32), ("padding", c_int32),
        ("itemsize", c_int64), ("element", c_uint64 * 2),
        ("misaligned", c_uint64), ("before", c_uint64), ("behind", c_uint64),
        ("least", c_int64), ("most", c_int64), ("greatest", c_double), ("axis", Axis * MOST_AXES),
    )  # fmt: skip


class JoinData(ctypes.Structure):
    """The second call of the driver where pieces are joined, and the memory between the two."""

    _fields_ = (
        ("function", c_void_p), ("grid", c_int32 * 3), ("word", c_int32), ("bytes", c_uint64), ("allocate", c_void_p),
        ("release", c_void_p), ("recording", c_void_p), ("early", c_void_p), ("broke", c_void_p),
    )  # fmt: skip


class PlanData(ctypes.Structure):
    """A plan: what the arguments must be like, and what the driver is given."""

    _fields_ = (
        ("arguments", c_int32), ("words", c_int32), ("device_type", c_int32), ("device", c_int32),
        ("grid", c_int32 * 3), ("block", c_int32 * 3), ("shared_bytes", c_int32), ("follows", c_int32),
        ("releases_gil", c_int32), ("has_programs", c_int32), ("function", c_void_p), ("stream", c_void_p),
        ("context", c_void_p), ("launch", c_void_p), ("current_context", c_void_p), ("word", c_void_p),
        ("argument", c_void_p), ("lanes", c_void_p), ("join", c_void_p),
        ("is_open", c_int32), ("is_quick", c_int32), ("sources", c_int32), ("divisions", c_int32),
        ("record", c_int32), ("first", c_int32), ("dimensions", c_int32), ("padding", c_int32),
        ("cache", c_uint64), ("chunks", c_int64), ("programs", c_int64), ("source", c_void_p), ("divided", c_void_p),
        ("arena", c_void_p),
    )  # fmt: skip


class From(IntEnum):
    """What a word of an open plan follows from."""

    EXTENT = 0
    STRIDE = 1
    DIMENSION = 2
    PLACES = 3
    PROGRAMS = 4
    CHUNK = 5


class SourceData(ctypes.Structure):
    """A word of an open plan that follows from extents and strides."""

    _fields_ = (
        ("word", c_int32), ("kind", c_int32), ("first", c_int32), ("second", c_int32), ("size", c_int64)
    )  # fmt: skip


class Division(IntEnum):
    """How the extent of a dimension relates to a size, in an open plan."""

    RAGGED = 0
    """It is no multiple of the size, or 0."""
    EXACT = 1
    AT_MOST = 2


class DividedData(ctypes.Structure):
    """How the extent of a dimension relates to a size."""

    _fields_ = (("dimension", c_int32), ("kind", c_int32), ("size", c_int64))


class DoorData(ctypes.Structure):
    """Whether work of the CPU is under way: where the counters of all queues are, and whether to look closely."""

    _fields_ = (
        ("closed", c_int64), ("full", c_int64), ("held", c_int64), ("queues", c_int64), ("queue", c_void_p * DOORS)
    )  # fmt: skip


class TableData(ctypes.Structure):
    """The plans of a kernel; their addresses come after it."""

    _fields_ = (("count", c_int64), ("latest", c_void_p), ("grad", c_uint64), ("negated", c_uint64),
                ("on_cpu", c_int64))


class RecordData(ctypes.Structure):
    """The memory of a tensor of our own; its extents and its strides, in elements, come after it."""

    _fields_ = (
        ("address", c_uint64), ("device_type", c_int32), ("device", c_int32), ("dtype", c_int32), ("rank", c_int32),
        ("is_writable", c_int32), ("padding", c_int32), ("state", c_void_p),
    )  # fmt: skip


class StateData(ctypes.Structure):
    """What is true of a piece of memory of our own: how often launches that followed a plan wrote it, its bytes,
    whether some of them were never written, the address of a list that has an entry for each view handed out, and
    whether another library made the memory."""

    _fields_ = (
        ("version", c_int64), ("low", c_uint64), ("high", c_uint64), ("unwritten", c_int32), ("is_foreign", c_int32),
        ("lent", c_void_p),
    )  # fmt: skip


class LaneData(ctypes.Structure):
    """The leases of a stream. Places count on for ever; the ring is taken modulo its room. An entry is three words: the
    first byte, the end, and twice the turn of the work, and one more if it writes them. A launch is being given to the
    stream while `given` is one more than `turn`."""

    _fields_ = (
        ("handle", c_void_p), ("given", c_int64), ("turn", c_int64), ("head", c_int64), ("tail", c_int64),
        ("stop", c_int64), ("slot", c_int64), ("seen", c_int64 * MOST_SEEN), ("entries", c_uint64 * (3 * LANE_ROOM)),
    )  # fmt: skip


class LanesData(ctypes.Structure):
    """The lanes of all streams of a device that have work under way, by slot."""

    _fields_ = (("closed", c_int64), ("poisoned", c_int64), ("count", c_int64), ("lane", c_void_p))


class SpanData(ctypes.Structure):
    """Bytes that work uses, and whether it writes them."""

    _fields_ = (("low", c_uint64), ("high", c_uint64), ("is_written", c_int64))


class SeenData(ctypes.Structure):
    """An argument as the native code sees it."""

    _fields_ = (
        ("form", c_int32), ("how", c_int32), ("device_type", c_int32), ("device", c_int32), ("rank", c_int32),
        ("unit", c_int32), ("is_writable", c_int32), ("padding", c_int32), ("element", c_uint64),
        ("address", c_uint64), ("shape", c_void_p), ("strides", c_void_p), ("whole", c_int64), ("real", c_double),
        ("state", c_void_p), ("is_lent", c_int64),
    )  # fmt: skip


class ReaderData(ctypes.Structure):
    """A type of tensors and how they are read."""

    _fields_ = (("type", c_void_p), ("how", c_int64), ("exchange", c_void_p), ("slot", c_int64))


class RuntimeData(ctypes.Structure):
    """What the native code knows of Python and of other libraries."""

    _fields_ = (
        *((name, c_int64) for name in ("header", "tuple_items", "bytes_data", "plans_slot")),
        *((name, c_void_p) for name in ("tuple_type", "bytes_type", "int_type", "float_type", "dict_type")),
        ("plans_type", c_void_p),
        *((name, c_void_p) for name in ("true_object", "false_object")),
        *((name, c_void_p) for name in ("long_value", "float_value", "truth", "call", "attribute", "hold", "drop")),
        *((name, c_void_p) for name in ("number", "forget_error", "release_gil", "take_gil")),
        *((name, c_void_p) for name in ("is_grad_enabled", "requires_grad", "is_negated", "torch_stream")),
        *((name, c_void_p) for name in ("none", "missing", "variable", "look_up", "next")),
        ("quiet", c_void_p * MOST_VARIABLES),
        *((name, c_void_p) for name in ("environment", "key", "cpu_key", "modules", "torch_name", "cupy_name")),
        *((name, c_void_p) for name in ("device_name", "handle_name", "torch", "streams")),
        *((name, c_void_p) for name in ("bytes", "detach", "storage", "storage_address", "storage_bytes")),
        ("is_resizable", c_void_p), ("door", c_void_p),
        ("readers", c_int64), ("reader", ReaderData * MOST_TYPES),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class LaunchContext:
    """What is looked at natively. If any of it is unusual, the same question is answered in Python."""

    quiet: tuple[ContextVar[Any], ...]
    """Variables that are None if nothing is unusual."""
    environment: dict[bytes, bytes] | None
    key: bytes
    """What the environment must not have."""
    streams: ContextVar[tuple[Any, ...]]
    """The streams of `with` blocks, the innermost last."""
    cpu_key: bytes = b""
    """What it must not have either, for a launch on the CPU."""

    def __post_init__(self) -> None:
        if len(self.quiet) > MOST_VARIABLES:
            raise ValueError(f"{len(self.quiet)} variables are more than {MOST_VARIABLES}")


SIZED: Final = (
    RuntimeData, PlanData, ArgumentData, TableData, RecordData, SeenData, ReaderData, LaneData, StateData, JoinData,
    SourceData, DividedData, DoorData, LanesData,
)  # fmt: skip
"""In the order in which the native code tells their sizes."""
