"""The native code: compiled once, kept on disk, and tried before it is trusted.

It reads objects of Python, numpy and torch where their headers say that things are. Whether that is so here is found
out by reading some and comparing; where anything differs, launches are checked in Python.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.target import host
from tileproof.compiler.cache import default, digest
from tileproof.frontend.captures import MISSING

from . import door, matcher, readers
from .plans import Plans
from .readers import HEADER, Reader
from .structures import SIZED, Form, How, LaunchContext, ReaderData, RuntimeData, SeenData, Unit

Launch: TypeAlias = Callable[..., bool | None]
Match: TypeAlias = Callable[..., bytes | None]

_TEXT: Final = Path(__file__).parent / "fast.ll"
_FASTCALL: Final = 0x80
"""Python's flag for functions that take an array of arguments and their number."""
_FUNCTIONS: Final = {
    "long_value": "PyLong_AsLongLongAndOverflow", "float_value": "PyFloat_AsDouble", "truth": "PyBool_FromLong",
    "call": "PyObject_Vectorcall", "attribute": "PyObject_GetAttr", "hold": "Py_IncRef", "drop": "Py_DecRef",
    "number": "PyLong_FromLongLong", "bytes": "PyBytes_FromStringAndSize",
    "variable": "PyContextVar_Get", "look_up": "PyDict_GetItemWithError", "next": "PyDict_Next",
    "forget_error": "PyErr_Clear", "release_gil": "PyEval_SaveThread", "take_gil": "PyEval_RestoreThread",
}  # fmt: skip
_TYPES: Final = {
    "tuple_type": tuple, "bytes_type": bytes, "int_type": int, "float_type": float, "dict_type": dict,
    "plans_type": Plans,
}  # fmt: skip
_NAMES: Final = tuple(f"tileproof_fast_{name}" for name in ("launch", "follow", "match", "conflicts", "read", "use"))


class Unusable(Exception):
    """Why there is no native code."""


class _Method(ctypes.Structure):
    """Python's description of a function."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("text", ctypes.c_char_p)
    )  # fmt: skip


class Native:
    """The native code in memory, for as long as the process lives."""

    def __init__(self) -> None:
        _check_python()
        launch, follow, match, conflicts, read, use = llvm.load_object(_code(), _NAMES).values()
        self._runtime = runtime = RuntimeData(
            header=HEADER, tuple_items=tuple.__basicsize__, bytes_data=bytes.__basicsize__ - 1,
            plans_slot=readers.slot_of(Plans, "_table"), true_object=id(True), false_object=id(False),
        )  # fmt: skip
        self._kept: list[object] = []
        self._context: LaunchContext | None = None
        self._met: list[Reader] = []
        for name, kind in _TYPES.items():
            setattr(runtime, name, id(kind))
        for name, function in _FUNCTIONS.items():
            setattr(runtime, name, ctypes.cast(getattr(ctypes.pythonapi, function), ctypes.c_void_p).value)
        runtime.door = door.address()
        runtime.none, runtime.missing = id(None), id(MISSING)
        sizes = (ctypes.c_int64 * len(SIZED))()
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(use)(ctypes.addressof(runtime), sizes)
        if list(sizes) != [ctypes.sizeof(structure) for structure in SIZED]:
            raise Unusable("its structures have other sizes here")
        self._read = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.py_object, ctypes.c_void_p)(read)
        self._check_numbers()
        self.update()
        self.launch: Launch = self._callable(self._method(b"launch", launch, _cannot_launch.__doc__))
        self.match: Match = self._callable(self._method(b"match", match, matcher.match.__doc__))
        self._follow = self._method(b"follow", follow, "Launches as an earlier launch; False if there is none like it.")
        pointer, count = ctypes.c_void_p, ctypes.c_int64
        # With the GIL: other threads note leases with it.
        self.conflicts = ctypes.PYFUNCTYPE(None, pointer, pointer, pointer, count, pointer)(conflicts)

    def see(self, value: object) -> SeenData | None:
        """What the native code sees of an argument."""
        seen = SeenData()
        return seen if self._read(value, ctypes.addressof(seen)) else None

    def update(self) -> None:
        """Makes types known that came since. One whose tensors are seen wrongly is left to Python."""
        runtime = self._runtime
        for reader in readers.known():
            if reader in self._met:
                continue
            if reader.how is How.EXCHANGE:
                self._meet_torch()
            runtime.reader[runtime.readers] = ReaderData(id(reader.type), reader.how, reader.exchange, reader.slot)
            match self._sees_samples(reader):
                case True:
                    pass
                case False if reader.how is How.ARRAY:
                    raise Unusable("arrays of numpy are not as they should be")
                case False:
                    runtime.reader[runtime.readers].how = How.PYTHON
                    runtime.torch_stream = None
                case None:
                    continue
            runtime.readers += 1
            self._met.append(reader)

    @property
    def reads_torch(self) -> bool:
        return any(reader.how == How.EXCHANGE for reader in self._runtime.reader[: self._runtime.readers])

    def _meet_torch(self) -> None:
        torch, runtime = readers.torch(), self._runtime
        assert torch is not None
        kept = torch.module.is_grad_enabled, sys.intern("requires_grad"), torch.module.Tensor.is_neg
        self._kept.extend(kept)
        runtime.is_grad_enabled, runtime.requires_grad, runtime.is_negated = map(id, kept)
        owner = torch.module.UntypedStorage
        keeping = (torch.module.Tensor.detach, torch.module.Tensor.untyped_storage, owner.data_ptr, owner.nbytes,
                   owner.resizable)  # fmt: skip
        self._kept.extend(keeping)
        for name, code in zip(("detach", "storage", "storage_address", "storage_bytes", "is_resizable"), keeping,
                              strict=True):  # fmt: skip
            setattr(runtime, name, id(code))
        runtime.torch_stream = torch.stream

    def _sees_samples(self, reader: Reader) -> bool | None:
        """Whether samples of a type are seen as they are; None if there are none now, as in a transform of torch."""
        place = self._runtime.readers
        try:
            samples = list(_samples(reader))
        except Exception:  # whatever a library raises now
            return None
        if any(readers.see(sample) is None for sample in samples):
            return None
        self._runtime.readers = place + 1
        try:
            return all(self._sees_rightly(reader, sample) for sample in samples)
        finally:
            self._runtime.readers = place

    def _sees_rightly(self, reader: Reader, sample: Any) -> bool:
        seen, expected = self.see(sample), readers.see(sample)
        if seen is None or expected is None:
            return False
        if seen.unit == Unit.BYTES:
            element, size = id(expected.element), 1
        else:
            element, size = expected.element, (expected.element >> 8 & 255) // 8
        shape = (ctypes.c_int64 * seen.rank).from_address(seen.shape or 0) if seen.rank else ()
        strides = (ctypes.c_int64 * seen.rank).from_address(seen.strides or 0) if seen.rank else ()
        steps = tuple(stride * size for extent, stride in zip(shape, strides, strict=True) if extent > 1)
        return (
            (seen.form, seen.how, seen.address, seen.element) == (Form.TENSOR, reader.how, expected.address, element)
            and tuple(shape) == expected.shape
            and steps == tuple(s for n, s in zip(expected.shape, expected.strides, strict=True) if n > 1)
            and (seen.device_type, seen.device) == expected.device
            and bool(seen.is_writable) is expected.is_writable
        )

    def _check_numbers(self) -> None:
        for whole in (0, -1, 2**62 + 3, -(2**63)):
            seen = self.see(whole)
            if seen is None or (seen.form, seen.whole) != (Form.WHOLE, whole):
                raise Unusable("whole numbers are not as they should be")
        real, truth = self.see(-2.5), self.see(True)
        if self.see(2**63) is not None or real is None or truth is None or self.see(None) is not None:
            raise Unusable("numbers are not as they should be")
        if (real.form, real.real, truth.form, truth.whole) != (Form.REAL, -2.5, Form.TRUTH, 1):
            raise Unusable("numbers are not as they should be")

    def set_context(self, context: LaunchContext) -> None:
        """Sets what native code reads before it launches by a plan."""
        if context is self._context:
            return
        runtime, kept = self._runtime, (sys.modules, *map(sys.intern, ("torch", "cupy", "device", "handle")))
        self._kept.extend((context, *kept))
        for place, variable in enumerate(context.quiet):
            runtime.quiet[place] = id(variable)
        runtime.environment, runtime.streams = id(context.environment), id(context.streams)
        runtime.key, runtime.cpu_key = id(context.key), id(context.cpu_key)
        runtime.modules, runtime.torch_name, runtime.cupy_name, runtime.device_name, runtime.handle_name = map(id, kept)
        self._context = context  # last: another thread may follow as soon as it is here

    def use_torch_stream(self, module: object) -> None:
        """Says that torch has streams, so that its current one is ours while this is the module."""
        if self._runtime.torch != id(module):
            self._kept.append(module)
            self._runtime.torch = id(module)

    def repeated_launch(self, ways: tuple[Any, ...]) -> Callable[..., bool]:
        """A function that follows the plans of a kernel: see `tileproof_fast_follow`."""
        function: Callable[..., bool] = self._callable(self._follow, ways)
        return function

    def _method(self, name: bytes, code: int, text: str | None) -> _Method:
        method = _Method(name, code, _FASTCALL, (text or "").encode())
        self._kept.append(method)
        return method

    def _callable(self, method: _Method, bound: object = None) -> Any:
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
            ("PyCFunction_NewEx", ctypes.pythonapi)
        )
        return make(ctypes.addressof(method), bound, None)


def _check_python() -> None:
    """Refuses a Python whose objects may be laid out in ways that were never tried."""
    if sys.implementation.name != "cpython":
        raise Unusable(f"this is {sys.implementation.name}, not CPython")
    if sys.maxsize < 2**32 or sys.byteorder != "little":
        raise Unusable("it is made for 64-bit processors, the lowest byte first")
    if "t" in getattr(sys, "abiflags", "t"):  # `sysconfig` knows it everywhere, but takes milliseconds
        raise Unusable("this Python runs threads at the same time")
    pair, text = (1, "a"), b"some bytes"
    places = (
        ctypes.c_size_t.from_address(id(pair) + HEADER - 8).value == id(tuple),
        ctypes.c_size_t.from_address(id(pair) + HEADER).value == len(pair),
        ctypes.c_size_t.from_address(id(pair) + tuple.__basicsize__ + 8).value == id(pair[1]),
        ctypes.string_at(id(text) + bytes.__basicsize__ - 1, len(text)) == text,
        np.ndarray.__basicsize__ >= HEADER + 52,
    )
    if not all(places):
        raise Unusable("objects of this Python are not as they should be")


def _samples(reader: Reader) -> Iterator[Any]:
    """Tensors of a type that differ in everything that is read."""
    arrays = [
        np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1),
        np.arange(10, dtype=np.int64)[3::2],
        np.zeros((5, 0, 2), np.uint8),
        np.array(True),
    ]
    if reader.how is How.ARRAY:
        yield from arrays
        fixed = np.arange(6, dtype=np.int16)[::-1]
        fixed.flags.writeable = False
        yield fixed
    torch = readers.torch()
    if reader.how is How.EXCHANGE and torch is not None:
        for array in arrays:
            tensor = torch.module.from_numpy(array)
            yield tensor if reader.type is torch.types[0] else reader.type(tensor, requires_grad=False)


def _code() -> bytes:
    target, stored, text = host(), default(), _TEXT.read_text(encoding="utf-8")
    key = digest("fast", text, target.key, llvm.version())
    code = stored.get(key)
    if code is None:
        code = llvm.compile_object(text, target)
        stored.put(key, code)
    return code


_loaded: list[Native | str] = []
_loading = threading.RLock()


def loaded() -> Native | str:
    """The native code, or why there is none."""
    with _loading:
        if not _loaded:
            _loaded.append(_load())
            readers.listen(update)
    return _loaded[0]


def _load() -> Native | str:
    try:
        return Native()
    except Unusable as refusal:
        return str(refusal)
    except Exception as error:  # a launch in Python is better than none, whatever is wrong with LLVM here
        return f"{type(error).__name__}: {error}"


def update() -> None:
    """Makes new types known to the native code, if it is loaded."""
    with _loading:
        if _loaded and isinstance(_loaded[0], Native):
            _loaded[0].update()


def _cannot_launch(plans: Plans, args: tuple[Any, ...], *stream: Any) -> bool | None:
    """Launches as an earlier launch if these arguments are like those; False if not, and nothing was done; None if the
    ledger must be asked first."""
    return False


def launch_function() -> Launch:
    """What launches: the native code if it is of use here, else nothing does."""
    native = loaded()
    return native.launch if isinstance(native, Native) else _cannot_launch


def match_function() -> Match:
    """What matches launches: the native code if it is of use here, else Python."""
    native = loaded()
    return native.match if isinstance(native, Native) else matcher.match


def native_conflicts() -> Callable[..., None] | None:
    """What finds leases that are in the way of work; None if there is no native code."""
    native = loaded()
    return native.conflicts if isinstance(native, Native) else None
