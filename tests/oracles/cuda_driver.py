"""A stand-in for `cuda.bindings.driver`: the calls that tileproof makes, on memory of the host.

It answers as the real one was seen to; `tests/gpu` makes the same calls on a real GPU. Every call is recorded, and any
of them can be told to fail.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from oracles.cuda_driver_calls import StreamCalls
from oracles.cuda_driver_names import (
    ENUMS,
    CUdevice_attribute,
    CUevent_flags,
    CUfunction_attribute,
    CUgraphNodeType,
    CUlaunchAttributeID,
    CUmemorytype,
    CUmemPool_attribute,
    CUpointer_attribute,
    CUresult,
    CUstream_flags,
    CUstreamCaptureMode,
    CUstreamCaptureStatus,
    cuuint64_t,
)
from oracles.cuda_driver_streams import Step

__all__ = ["ENUMS", "CUmemorytype", "CUresult", "Region", "Stub"]


@cache
def _values(answer: Any) -> int:
    """How many values a call gives beside its result, as its type says."""
    message = str(answer.__annotations__["return"])
    if message.startswith("tuple[()]"):
        return 0
    return message.split("|")[0].count(",") + 1


@dataclass
class Region:
    """Some memory, and what the driver says of it."""

    begin: int
    size: int
    memory: CUmemorytype = CUmemorytype.CU_MEMORYTYPE_DEVICE
    device: int = 0
    is_managed: bool = False


@dataclass
class Pooled:
    """The memory pool of a GPU."""

    threshold: int = 0
    used: int = 0
    used_high: int = 0
    reserved: int = 0
    reserved_high: int = 0

    def change(self, count: int) -> None:
        self.used += count
        self.used_high = max(self.used, self.used_high)
        self.reserved = max(self.used, min(self.reserved, self.threshold) if count < 0 else self.reserved)
        self.reserved_high = max(self.reserved, self.reserved_high)


@dataclass
class Stub(StreamCalls):
    """The module, as far as it is used."""

    count: int = 2
    version: int = 13000
    total: int = 1 << 34
    launches: list[SimpleNamespace] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    blocks: dict[int, Any] = field(default_factory=dict)
    given: set[int] = field(default_factory=set)
    """The addresses of all memory of GPUs so far."""
    kernels: tuple[str, ...] = ("k",)
    threads: threading.local = field(default_factory=threading.local)
    pools: dict[int, Pooled] = field(default_factory=dict)
    pooled: dict[int, tuple[int, int]] = field(default_factory=dict)
    """GPU and size of memory that belongs to a pool."""

    CU_MEMHOSTALLOC_PORTABLE = 1
    cuuint64_t = cuuint64_t
    CUmemPool_attribute = CUmemPool_attribute
    CUstreamCaptureMode = CUstreamCaptureMode
    CUstreamCaptureStatus = CUstreamCaptureStatus
    CUgraphNodeType = CUgraphNodeType
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
            arguments = failed or answer(self, *args)
            # A call that fails gives the same number of values, none of them of use.
            if isinstance(arguments, CUresult):
                return (arguments, *(None,) * _values(answer))
            return (CUresult.CUDA_SUCCESS, *arguments)

        return call

    def named(self, name: str) -> list[tuple[Any, ...]]:
        """What a call was made with, each time."""
        return [args for called, args in self.calls if called == name]

    def freed(self) -> list[int]:
        """The memory that was taken here and given back. What other tests left is freed whenever it is found."""
        return [address for (address,) in self.named("cuMemFree") if address in self.given]

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
        self.given.add(address)
        self.regions.append(Region(address, count, device=self._stack()[-1] - 1000))
        return (address,)

    def on_cuMemAllocAsync(self, count: int, stream: int) -> tuple[int] | CUresult:  # noqa: N802
        (address,) = self.on_cuMemAlloc(count)
        gpu = self._stack()[-1] - 1000
        self.pooled[address] = gpu, count
        self.pools.setdefault(gpu, Pooled()).change(count)
        self.streams.give(stream, Step(CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC))
        return (address,)

    def on_cuMemFree(self, address: int) -> tuple[()] | CUresult:  # noqa: N802
        if self.blocks.pop(address, None) is None:
            return CUresult.CUDA_ERROR_INVALID_VALUE
        # The same memory may be that of the other GPU next.
        self.regions[:] = [region for region in self.regions if region.begin != address]
        if address in self.pooled:
            gpu, count = self.pooled.pop(address)
            self.pools[gpu].change(-count)
        return ()

    def on_cuMemFreeAsync(self, address: int, stream: int) -> tuple[()] | CUresult:  # noqa: N802
        if address not in self.blocks:
            return CUresult.CUDA_ERROR_INVALID_VALUE
        free = Step(CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE, lambda: self.on_cuMemFree(address))
        self.streams.give(stream, free)
        return ()

    def on_cuMemHostAlloc(self, count: int, flags: int) -> tuple[int]:  # noqa: N802
        block = np.full(count, 0xA5, np.uint8)
        address = block.ctypes.data
        self.blocks[address] = block
        self.regions.append(Region(address, count, CUmemorytype.CU_MEMORYTYPE_HOST, self._stack()[-1] - 1000))
        return (address,)

    def on_cuDeviceGetDefaultMemPool(self, device: int) -> tuple[int]:  # noqa: N802
        return (0xB000 + device,)

    def on_cuMemPoolSetAttribute(self, pool: int, which: CUmemPool_attribute, value: Any) -> tuple[()] | CUresult:  # noqa: N802
        assert isinstance(value, cuuint64_t)
        kept = self.pools.setdefault(pool - 0xB000, Pooled())
        match which.name.removeprefix("CU_MEMPOOL_ATTR_"):
            case "RELEASE_THRESHOLD":
                kept.threshold = value
            case _:
                return CUresult.CUDA_ERROR_INVALID_VALUE
        return ()

    def on_cuMemPoolGetAttribute(self, pool: int, which: CUmemPool_attribute) -> tuple[cuuint64_t]:  # noqa: N802
        kept = self.pools.setdefault(pool - 0xB000, Pooled())
        numbers = {4: kept.threshold, 5: kept.reserved, 6: kept.reserved_high, 7: kept.used, 8: kept.used_high}
        return (cuuint64_t(numbers[which]),)

    def on_cuMemPoolTrimTo(self, pool: int, keep: int) -> tuple[()]:  # noqa: N802
        kept = self.pools.setdefault(pool - 0xB000, Pooled())
        kept.reserved = max(kept.used, min(kept.reserved, keep))
        return ()

    def _set(self, address: int, value: int, count: int, stream: int, kind: Any) -> tuple[()]:
        filled = np.full(count, value, kind).tobytes()
        act = lambda: ctypes.memmove(address, filled, len(filled))  # noqa: E731
        self.streams.give(stream, Step(CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET, act))
        return ()

    def on_cuMemsetD8Async(self, address: int, value: int, count: int, stream: int) -> tuple[()]:  # noqa: N802
        return self._set(address, value, count, stream, np.uint8)

    def on_cuMemsetD16Async(self, address: int, value: int, count: int, stream: int) -> tuple[()]:  # noqa: N802
        return self._set(address, value, count, stream, np.uint16)

    def on_cuMemsetD32Async(self, address: int, value: int, count: int, stream: int) -> tuple[()]:  # noqa: N802
        return self._set(address, value, count, stream, np.uint32)

    def on_cuMemcpyAsync(self, to: int, source: int, count: int, stream: int) -> tuple[()]:  # noqa: N802
        act = lambda: ctypes.memmove(to, source, count)  # noqa: E731
        self.streams.give(stream, Step(CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY, act))
        return ()

    def on_cuMemcpyDtoHAsync(self, host: int, device: int, count: int, stream: int) -> tuple[()]:  # noqa: N802
        return self.on_cuMemcpyAsync(host, device, count, stream)

    def on_cuMemcpyHtoDAsync(self, device: int, host: int, count: int, stream: int) -> tuple[()]:  # noqa: N802
        return self.on_cuMemcpyAsync(device, host, count, stream)

    def on_cuMemcpyPeerAsync(  # noqa: N802
        self, to: int, to_context: int, source: int, source_context: int, count: int, stream: int
    ) -> tuple[()]:
        return self.on_cuMemcpyAsync(to, source, count, stream)

    def on_cuPointerGetAttributes(self, count: int, asked: list[int], address: int) -> tuple[list[Any]]:  # noqa: N802
        result = next((region for region in self.regions if region.begin <= address < region.begin + region.size), None)
        if result is None:
            answers: dict[int, Any] = {2: 0, 8: False, 9: -2}
        else:
            answers = {2: result.memory, 8: result.is_managed, 9: result.device}
        return ([answers[int(each)] for each in asked],)

    # Kernels.

    def on_cuEventElapsedTime(self, start: int, end: int) -> tuple[float]:  # noqa: N802
        return (1.5,)

    def on_cuLibraryLoadData(self, code: bytes, *_: Any) -> tuple[str]:  # noqa: N802
        return ("library",)

    def on_cuLibraryGetKernel(self, library: str, name: bytes) -> Any:  # noqa: N802
        wanted = name.decode()
        return (0xF00 + 16 * self.kernels.index(wanted),) if wanted in self.kernels else CUresult.CUDA_ERROR_NOT_FOUND

    def on_cuKernelGetName(self, kernel: int) -> tuple[bytes]:  # noqa: N802
        return (self.kernels[(kernel - 0xF00) // 16].encode(),)

    def on_cuKernelGetFunction(self, kernel: int) -> tuple[int]:  # noqa: N802
        return (0xF01,)

    def CUlaunchConfig(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(numAttrs=0)

    def CUlaunchAttribute(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(id=None, value=SimpleNamespace())

    def on_cuLaunchKernelEx(self, config: SimpleNamespace, kernel: int, words: int, extra: int) -> tuple[()]:  # noqa: N802
        self.launches.append(SimpleNamespace(config=config, kernel=kernel, words=words, context=self._stack()[-1]))
        self.streams.give(config.hStream, Step(CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL, kernel=kernel))
        return ()
