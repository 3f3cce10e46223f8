"""A stand-in for the CUDA driver whose GPUs run what they are given: Tile IR in the evaluator, on memory of the host.

The code a launch loads is made by the real assembler. The evaluator cannot run that, so the bytecode it was made of is
noted on the way. What the full launch starts is written down in `started`. A launch that follows a plan calls a
function of C instead, which writes down what it was given: `follower` gives what it wrote for a kernel. It computes
nothing, unless `runs_followers` is set before the first launch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from oracles import recording_driver
from oracles.cuda_driver import CUresult, Stub
from oracles.cuda_driver_names import CUgraphNodeType
from oracles.cuda_driver_streams import Step
from oracles.tile_ir import Machine
from oracles.tile_ir_lanes import Lanes, held
from oracles.tile_ir_memory import Memory
from support.device_arrays import DeviceArray
from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.target import host
from tileproof.backends.cuda.codegen.parameters import What
from tileproof.backends.cuda.codegen.program import Program
from tileproof.backends.cuda.device import driver
from tileproof.backends.cuda.device import loaded_code as running
from tileproof.backends.cuda.tileir.decode import decode
from tileproof.backends.cuda.tileir.types import Entry, Tile
from tileproof.language.dtypes import by_storage
from tileproof.runtime import native as fast
from tileproof.runtime.launch import cuda_code as gpu
from tileproof.runtime.native import CUDA

Array = np.ndarray[Any, Any]
_CONTEXT = """
define i32 @test_gpu_context(ptr %context) {
  store i64 1000, ptr %context
  ret i32 0
}
"""
"""The context of GPU 0, as the stand-in numbers them."""


@cache
def _context_entry() -> int:
    (address,) = llvm.load_object(llvm.compile_object(_CONTEXT, host()), ["test_gpu_context"]).values()
    return address


_programs: dict[bytes, Program] = {}
"""What the assembler was given, by what it made of it: code on disk outlives the test that compiled it."""


@dataclass(frozen=True)
class Started:
    """A launch of one entry."""

    entry: str
    blocks: int
    stream: int
    words: Mapping[What, int]
    device: int


@dataclass
class _Loaded:
    program: Program
    entry: Entry
    plan: recording_driver.Driver


@dataclass
class Gpu(Stub):
    """The driver of two GPUs that are alike."""

    computes: bool = True
    runs_followers: bool = False
    """Whether launches that follow a plan compute too, which takes a thousand times as long."""
    started: list[Started] = field(default_factory=list)
    compiled: int = 0
    loaded: dict[int, _Loaded] = field(default_factory=dict)
    libraries: list[bytes] = field(default_factory=list)
    scratch: dict[int, int] = field(default_factory=dict)
    """The streams of memory that launches hold."""
    room: int = 1 << 20
    """How many pieces of memory launches may take."""
    report: tuple[int, ...] = ()
    """What kernels that do not compute leave in their report."""
    _entries: dict[bytes, Any] = field(default_factory=dict)

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Has launches of a test go here, and notes what is compiled."""
        make = running.code_of

        def code_of(request: Any, result: Program, assembled: Any) -> Any:
            self.compiled += 1
            # Other bytecode may become the same code, where a promise is of no use: so that is told apart.
            marked = replace(assembled, cubin=assembled.cubin + sha256(result.bytecode).digest())
            _programs[marked.cubin] = result
            return make(request, result, marked)

        monkeypatch.setattr(running, "code_of", code_of)
        monkeypatch.setattr(driver, "_imported", lambda: self)
        monkeypatch.setattr(gpu, "_loaded", {})
        gpu._device.cache_clear()
        gpu.arch_of.cache_clear()

    def take(self) -> list[Started]:
        """What was started since this was asked last."""
        started, self.started = self.started, []
        return started

    def follower(self, name: str) -> recording_driver.Driver:
        """What launches that follow a plan of a kernel call."""
        (result,) = (each.plan for each in self.loaded.values() if each.entry.name == name)
        return result

    def forget(self) -> None:
        """Has the next launch load its code as in a new process."""
        gpu._loaded.clear()

    def order(self, name: str) -> int:
        """When a call was first made."""
        return next(place for place, (called, _) in enumerate(self.calls) if called == name)

    # What a launch asks of the driver.

    def on_cuDeviceGetAttribute(self, attribute: Any, device: int) -> tuple[int]:  # noqa: N802
        return ({16: 3, 75: 9, 76: 0}[int(attribute)],)

    def on_cuGetProcAddress(self, name: bytes, version: int, flags: int) -> tuple[int, int]:  # noqa: N802
        if name == b"cuCtxGetCurrent":
            return _context_entry(), 0
        result = self._entry(name)
        return super().on_cuGetProcAddress(name, version, flags) if result is None else (result, 0)

    def on_cuLibraryLoadData(self, code: bytes, *_: Any) -> tuple[int]:  # noqa: N802
        self.libraries.append(code)
        return (len(self.libraries) - 1,)

    def on_cuLibraryGetKernel(self, library: int, name: bytes) -> Any:  # noqa: N802
        program = _programs[self.libraries[library]]
        (entry,) = (each for each in decode(program.bytecode).entries if each.name == name.decode())
        plan = recording_driver.Driver()
        plan.expect(len(program.slots))
        self.loaded[plan.function] = _Loaded(program, entry, plan)
        return (plan.function,)

    def on_cuLaunchKernelEx(self, config: SimpleNamespace, kernel: int, words: int, extra: int) -> Any:  # noqa: N802
        result = self.loaded[kernel]
        slots, device = result.program.slots, self._stack()[-1] - 1000
        pointers = (ctypes.c_uint64 * len(slots)).from_address(words)
        cells = [ctypes.c_uint64.from_address(pointer).value for pointer in pointers]
        arguments = dict(zip((slot.what for slot in slots), cells, strict=True))
        assert (config.gridDimY, config.gridDimZ, config.blockDimX) == (1, 1, 1)
        self.started.append(Started(result.entry.name, config.gridDimX, config.hStream, arguments, device))
        self._run(kernel, cells, config.gridDimX, config.hStream)
        return ()

    def _run(self, kernel: int, cells: list[int], blocks: int, stream: int) -> None:
        result = self.loaded[kernel]
        arguments = dict(zip((slot.what for slot in result.program.slots), cells, strict=True))

        def work() -> None:
            if self.computes:
                self._compute(result.entry, cells, blocks)
            elif ("report",) in arguments:
                ctypes.memmove(arguments["report",], np.array(self.report, np.int64).ctypes.data, 8 * len(self.report))

        self.streams.give(stream, Step(CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL, work, kernel=kernel))

    def _entry(self, name: bytes) -> int | None:
        """The address of a function that launches which follow a plan call; those that start kernels compute too, if
        they are to."""
        pointer, count, wide = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
        kinds: dict[bytes, tuple[list[Any], Any]] = {
            b"cuLaunchKernel": ([pointer, *[count] * 7, pointer, pointer, pointer], self._noted("driver", 0)),
            b"cuLaunchKernelEx": ([pointer] * 4, self._noted("early", 1)),
            b"cuMemAllocAsync": ([pointer, wide, pointer], self._allocated),
            b"cuMemFreeAsync": ([wide, pointer], lambda address, stream: self.cuMemFreeAsync(address, stream or 0)[0]),
            b"cuStreamIsCapturing": ([pointer, pointer], self._captured),
        }  # fmt: skip
        if name not in kinds:
            return None
        if name in (b"cuLaunchKernel", b"cuLaunchKernelEx") and not self.runs_followers:
            return recording_driver.entries()["driver" if name == b"cuLaunchKernel" else "early"]
        if name not in self._entries:
            types, act = kinds[name]
            self._entries[name] = ctypes.CFUNCTYPE(ctypes.c_int32, *types)(act)
        address: int = ctypes.cast(self._entries[name], ctypes.c_void_p).value or 0
        return address

    def _noted(self, entry: str, place: int) -> Any:
        """A function that starts a kernel, which is written down and computes."""
        pointer, count = ctypes.c_void_p, ctypes.c_uint32
        types = [pointer] * 4 if place else [pointer, *[count] * 7, pointer, pointer, pointer]
        note = ctypes.CFUNCTYPE(ctypes.c_int32, *types)(recording_driver.entries()[entry])

        def start(*values: Any) -> int:
            answer: int = note(*values)
            if not answer:
                call = self.loaded[values[place]].plan.latest
                self._run(values[place], list(call.words), call.grid[0], call.stream)
            return answer

        return start

    def _allocated(self, place: int, count: int, stream: int | None) -> int:
        if not self._stack():
            self._stack().append(1000)  # whoever follows a plan is told that it is current, in every thread
        answer, address = self.cuMemAllocAsync(count, stream or 0)
        if not answer:
            ctypes.c_uint64.from_address(place).value = address
        return int(answer)

    def _captured(self, stream: int | None, place: int) -> int:
        answer, state = self.cuStreamIsCapturing(stream or 0)
        ctypes.c_int32.from_address(place).value = int(state or 0)
        return int(answer)

    def on_cuKernelGetName(self, kernel: int) -> tuple[bytes]:  # noqa: N802
        return (self.loaded[kernel].entry.name.encode(),)

    def _compute(self, entry: Entry, cells: list[int], blocks: int) -> None:
        memory = Memory()
        for block in list(self.blocks.values()):
            memory.add(block)
        for number in range(blocks):
            machine = Machine(memory, number, (number, 0, 0), (blocks, 1, 1), number)
            for parameter, cell in zip(entry.parameters, cells, strict=True):
                assert isinstance(parameter.type, Tile)
                kind = held(parameter.type.element)
                # The driver copies as many bytes of a cell as the parameter has.
                cut = np.frombuffer(cell.to_bytes(8, "little")[: kind.itemsize], kind)
                machine.values[parameter] = Lanes(cut.reshape(()))
            machine.run(entry.body)

    # Memory that belongs to a launch; arrays are allocated without a stream.

    def on_cuMemAllocAsync(self, count: int, stream: int) -> tuple[int] | CUresult:  # noqa: N802
        if len(self.scratch) >= self.room:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY
        result = super().on_cuMemAllocAsync(count, stream)
        assert not isinstance(result, CUresult)
        self.scratch[result[0]] = stream
        return result

    def on_cuMemFreeAsync(self, address: int, stream: int) -> tuple[()] | CUresult:  # noqa: N802
        assert self.scratch.pop(address) == stream
        return super().on_cuMemFreeAsync(address, stream)


class GpuArray:
    """An array on a GPU of a type that launches recognise."""

    __slots__ = ("__weakref__", "array", "record")

    def __init__(self, array: Array, device: int = 0) -> None:
        self.array = DeviceArray(array, device)
        self.record = fast.record(
            self.address, by_storage()[array.dtype], array.shape, array.strides, (CUDA, device), True
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the elements: letters do not tell all types."""
        return self.array.dtype

    @property
    def address(self) -> int:
        """Of the first element."""
        address: int = self.__cuda_array_interface__["data"][0]
        return address

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.array.__cuda_array_interface__

    def numpy(self) -> Array:
        """The elements, after nothing beside them was found changed."""
        self.array.assert_rest_is_kept()
        return self.array.numpy()


fast.register_buffer(GpuArray, "record")
__all__ = ["CUresult", "Gpu", "GpuArray", "Started"]
