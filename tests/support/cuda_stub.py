"""A stand-in for `cuda.bindings.driver`: the calls that tileproof makes, on memory of the host.

It answers as the real one was seen to; `tests/gpu` makes the same calls on a real GPU. Every call is recorded, and any
of them can be told to fail.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass, field
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import numpy as np


class CUresult(IntEnum):
    """The results that tests speak of, numbered as CUDA numbers them."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NOT_INITIALIZED = 3
    CUDA_ERROR_STUB_LIBRARY = 34
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_IMAGE = 200
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209
    CUDA_ERROR_NOT_FOUND = 500
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_LAUNCH_FAILED = 719
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900
    CUDA_ERROR_UNKNOWN = 999


class CUmemorytype(IntEnum):
    CU_MEMORYTYPE_HOST = 1
    CU_MEMORYTYPE_DEVICE = 2
    CU_MEMORYTYPE_ARRAY = 3
    CU_MEMORYTYPE_UNIFIED = 4


class CUpointer_attribute(IntEnum):  # noqa: N801
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9


class CUdevice_attribute(IntEnum):  # noqa: N801
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76


class CUfunction_attribute(IntEnum):  # noqa: N801
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4


class CUlaunchAttributeID(IntEnum):
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6


class CUstream_flags(IntEnum):  # noqa: N801
    CU_STREAM_NON_BLOCKING = 1


class CUevent_flags(IntEnum):  # noqa: N801
    CU_EVENT_DEFAULT = 0
    CU_EVENT_DISABLE_TIMING = 2


ENUMS = (
    CUresult, CUmemorytype, CUpointer_attribute, CUdevice_attribute, CUfunction_attribute, CUlaunchAttributeID,
    CUstream_flags, CUevent_flags,
)  # fmt: skip


@dataclass
class Region:
    """Some memory, and what the driver says of it."""

    begin: int
    size: int
    memory: CUmemorytype = CUmemorytype.CU_MEMORYTYPE_DEVICE
    device: int = 0
    is_managed: bool = False


@dataclass
class Stub:
    """The module, as far as it is used."""

    count: int = 2
    version: int = 13000
    total: int = 1 << 34
    failing: dict[str, CUresult] = field(default_factory=dict)
    """What calls give by their names; the others succeed."""
    calls: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    launches: list[SimpleNamespace] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    blocks: dict[int, Any] = field(default_factory=dict)
    kernels: tuple[str, ...] = ("k",)
    threads: threading.local = field(default_factory=threading.local)

    CUresult = CUresult
    CUmemorytype = CUmemorytype
    CUpointer_attribute = CUpointer_attribute
    CUdevice_attribute = CUdevice_attribute
    CUfunction_attribute = CUfunction_attribute
    CUlaunchAttributeID = CUlaunchAttributeID
    CUstream_flags = CUstream_flags
    CUevent_flags = CUevent_flags
    CUkernel = int

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)
        answer = getattr(type(self), f"on_{name}", Stub.on_nothing)

        def call(*args: Any) -> tuple[Any, ...]:
            self.calls.append((name, args))
            failed = self.failing.get(name, CUresult.CUDA_SUCCESS)
            # A call that fails gives the same number of values, none of them of use.
            if failed:
                return (failed, *(None,) * (0 if answer is Stub.on_nothing else 1))
            given = answer(self, *args)
            if isinstance(given, CUresult):
                return given, None
            return (CUresult.CUDA_SUCCESS, *given)

        return call

    def named(self, name: str) -> list[tuple[Any, ...]]:
        """What a call was made with, each time."""
        return [args for called, args in self.calls if called == name]

    def on_nothing(self, *_: Any) -> tuple[()]:
        return ()

    def on_cuDriverGetVersion(self) -> tuple[int]:  # noqa: N802
        return (self.version,)

    def on_cuDeviceGetCount(self) -> tuple[int]:  # noqa: N802
        return (self.count,)

    def on_cuDeviceGet(self, ordinal: int) -> tuple[int]:  # noqa: N802
        return (ordinal,)

    def on_cuDeviceGetName(self, length: int, device: int) -> tuple[bytes]:  # noqa: N802
        return (f"Stub {device}".encode().ljust(length, b"\0"),)

    def on_cuDeviceGetAttribute(self, attribute: CUdevice_attribute, device: int) -> tuple[int]:  # noqa: N802
        return ({16: 132, 75: 9, 76: device}[int(attribute)],)

    def on_cuDeviceTotalMem(self, device: int) -> tuple[int]:  # noqa: N802
        return (self.total,)

    def on_cuMemGetInfo(self) -> tuple[int, int]:  # noqa: N802
        return self.total // 4, self.total

    def on_cuGetErrorString(self, result: CUresult) -> tuple[bytes]:  # noqa: N802
        return (f"the words for {int(result)}".encode(),)

    def on_cuGetProcAddress(self, name: bytes, version: int, flags: int) -> tuple[int, int]:  # noqa: N802
        return (0x1234 if name == b"cuLaunchKernelEx" else 0), 1

    # Contexts: 1000 more than their device.

    def _stack(self) -> list[int]:
        if not hasattr(self.threads, "stack"):
            self.threads.stack = []
        return self.threads.stack  # type: ignore[no-any-return]

    def on_cuCtxGetCurrent(self) -> tuple[int]:  # noqa: N802
        return (self._stack()[-1] if self._stack() else 0,)

    def on_cuCtxGetDevice(self) -> tuple[int]:  # noqa: N802
        return (self._stack()[-1] - 1000,)

    def on_cuCtxSetCurrent(self, context: int) -> tuple[()]:  # noqa: N802
        self._stack()[-1:] = [context]
        return ()

    def on_cuCtxPushCurrent(self, context: int) -> tuple[()]:  # noqa: N802
        self._stack().append(context)
        return ()

    def on_cuCtxPopCurrent(self) -> tuple[int]:  # noqa: N802
        return (self._stack().pop(),)

    def on_cuDevicePrimaryCtxRetain(self, device: int) -> tuple[int]:  # noqa: N802
        return (1000 + device,)

    # Memory, which is the host's.

    def on_cuMemAlloc(self, count: int) -> tuple[int]:  # noqa: N802
        block = np.full(count, 0xA5, np.uint8)
        address = block.ctypes.data
        self.blocks[address] = block
        self.regions.append(Region(address, count, device=self._stack()[-1] - 1000))
        return (address,)

    def on_cuMemAllocAsync(self, count: int, stream: int) -> tuple[int]:  # noqa: N802
        return self.on_cuMemAlloc(count)

    def on_cuMemFree(self, address: int) -> Any:  # noqa: N802
        return () if self.blocks.pop(address, None) is not None else CUresult.CUDA_ERROR_INVALID_VALUE

    def on_cuMemFreeAsync(self, address: int, stream: int) -> Any:  # noqa: N802
        return self.on_cuMemFree(address)

    def on_cuMemsetD8Async(self, address: int, value: int, count: int, stream: int) -> tuple[()]:  # noqa: N802
        ctypes.memset(address, value, count)
        return ()

    def on_cuMemcpyDtoHAsync(self, host: int, device: int, count: int, stream: int) -> tuple[()]:  # noqa: N802
        ctypes.memmove(host, device, count)
        return ()

    def on_cuMemcpyHtoDAsync(self, device: int, host: int, count: int, stream: int) -> tuple[()]:  # noqa: N802
        ctypes.memmove(device, host, count)
        return ()

    def on_cuPointerGetAttributes(self, count: int, asked: list[int], address: int) -> tuple[list[Any]]:  # noqa: N802
        found = next((each for each in self.regions if each.begin <= address < each.begin + each.size), None)
        if found is None:
            answers: dict[int, Any] = {2: 0, 8: False, 9: -2}
        else:
            answers = {2: found.memory, 8: found.is_managed, 9: found.device}
        return ([answers[int(each)] for each in asked],)

    # Streams, events, kernels.

    def on_cuStreamCreate(self, flags: int) -> tuple[int]:  # noqa: N802
        return (0x5000,)

    def on_cuEventCreate(self, flags: int) -> tuple[int]:  # noqa: N802
        return (0xE000 + len(self.calls),)

    def on_cuEventElapsedTime(self, start: int, end: int) -> tuple[float]:  # noqa: N802
        return (1.5,)

    def on_cuLibraryLoadData(self, code: bytes, *_: Any) -> tuple[str]:  # noqa: N802
        return ("library",)

    def on_cuLibraryGetKernel(self, library: str, name: bytes) -> Any:  # noqa: N802
        return (0xF00,) if name.decode() in self.kernels else CUresult.CUDA_ERROR_NOT_FOUND

    def on_cuKernelGetFunction(self, kernel: int) -> tuple[int]:  # noqa: N802
        return (0xF01,)

    def on_cuKernelGetAttribute(self, attribute: int, kernel: int, device: int) -> tuple[int]:  # noqa: N802
        return ({4: 168, 3: 16, 1: 2048, 0: 384}[int(attribute)],)

    def CUlaunchConfig(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(numAttrs=0)

    def CUlaunchAttribute(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(id=None, value=SimpleNamespace(clusterDim=SimpleNamespace()))

    def on_cuLaunchKernelEx(self, config: SimpleNamespace, kernel: int, words: int, extra: int) -> tuple[()]:  # noqa: N802
        self.launches.append(SimpleNamespace(config=config, kernel=kernel, words=words, context=self._stack()[-1]))
        return ()
