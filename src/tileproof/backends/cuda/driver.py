"""The CUDA driver: the one file that calls it, each call with types on it.

`cuda.bindings` is loaded when a GPU is first asked for. A call that fails raises `LaunchError`, in the words of
`driver_failures`.

A thread works in a *context*. If one of the right GPU is current, as torch and cupy make it, it is used as it is;
otherwise the primary context, which all libraries share, becomes current. Streams and kernels are the numbers that the
driver and all libraries know them by; stream 0 is the default stream.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import LaunchError

from .cubin import resources_of
from .driver_failures import NOT_READY, explained, in_words, no_gpu, too_old

OLDEST: Final = 13000
"""The least version of CUDA that a driver must support: 13.0, which came with driver 580."""


class _Driver:
    """The functions of `cuda.bindings.driver`, and what one process keeps of them."""

    def __init__(self, api: Any) -> None:
        self.api = api
        self.devices: dict[int, Any] = {}
        self.contexts: dict[int, Any] = {}
        self.launched: deque[str] = deque(maxlen=4)
        self.process = os.getpid()

    def call(self, doing: str, name: str, *args: Any) -> Any:
        """What a function of the driver gives; `doing` says in an error what it was called for."""
        result, *values = getattr(self.api, name)(*args)
        if int(result):
            raise LaunchError(self.failure(result, doing))
        return values[0] if len(values) == 1 else tuple(values)

    def failure(self, result: Any, doing: str) -> Diagnostic:
        """What went wrong, and the way out."""
        said = getattr(result, "name", f"error {int(result)}")
        known, text = self.api.cuGetErrorString(result)
        if not int(known) and text:
            said += f" ({bytes(text).decode()})"
        known, *room = self.api.cuMemGetInfo()
        return explained(
            int(result),
            said,
            doing,
            room=None if int(known) else (int(room[0]), int(room[1])),
            launched=tuple(self.launched),
            is_forked=os.getpid() != self.process,
        )


def _imported() -> Any:
    return import_module("cuda.bindings.driver")


@cache
def _found() -> _Driver | Diagnostic:
    """The driver, initialised and new enough, or why it cannot be used. Asked for once: the search takes time."""
    try:
        found = _Driver(_imported())
        found.call("starting CUDA", "cuInit", 0)
        supported = int(found.call("reading its version", "cuDriverGetVersion"))
    except ImportError:
        missing = "the package cuda-bindings, which calls the NVIDIA driver, is not installed"
        return Diagnostic(Code.NO_GPU, missing, help="install it: `pip install 'tileproof[cuda]'`")
    except LaunchError as error:
        (diagnostic,) = error.diagnostics
        # Whatever starting fails with, it means that there is no GPU to use.
        return diagnostic if diagnostic.code is not Code.CUDA_FAILED else no_gpu(diagnostic.message, *diagnostic.notes)
    except (OSError, RuntimeError) as error:
        return no_gpu("the NVIDIA driver is not installed", *str(error).splitlines()[:1])
    if supported < OLDEST:
        return too_old(f"the NVIDIA driver supports CUDA {_dotted(supported)}, and {_dotted(OLDEST)} is needed")
    return found


def _driver() -> _Driver:
    found = _found()
    if isinstance(found, Diagnostic):
        raise LaunchError(found)
    return found


def _dotted(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def device_count() -> int:
    """How many GPUs can be used; 0 also where there is no driver. `Device(0)` says why."""
    found = _found()
    return int(found.call("counting the GPUs", "cuDeviceGetCount")) if isinstance(found, _Driver) else 0


def version() -> str:
    """The version of CUDA that the driver supports, as "13.0"."""
    return _dotted(int(_driver().call("reading its version", "cuDriverGetVersion")))


def entry_point(name: str) -> int:
    """The address of a function of the driver, for code that calls it without Python."""
    # 0 stands for the default flags.
    address, status = _driver().call(f"looking up {name}", "cuGetProcAddress", name.encode(), OLDEST, 0)
    if not int(address):
        raise LaunchError(too_old(f"the NVIDIA driver has no {name}", f"CUDA says {getattr(status, 'name', status)}"))
    return int(address)


class Memory(Enum):
    """Who can touch some memory."""

    DEVICE = "memory of the GPU"
    MANAGED = "managed memory, which the host and the GPU share"
    HOST = "memory of the host that is mapped into the GPU"
    UNKNOWN = "memory that CUDA does not know"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an address lies; the GPU is the one whose context made the memory."""

    memory: Memory
    device: int


def place_of(address: int) -> Place:
    """Where an address lies."""
    driver = _driver()
    attribute = driver.api.CUpointer_attribute
    asked = [
        attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED,
    ]
    found = driver.call("looking at an address", "cuPointerGetAttributes", len(asked), asked, address)
    kind, device, is_managed = found
    if not int(kind):
        return Place(Memory.UNKNOWN, -1)
    types = driver.api.CUmemorytype
    if is_managed or int(kind) == int(types.CU_MEMORYTYPE_UNIFIED):
        return Place(Memory.MANAGED, int(device))
    return Place(Memory.HOST if int(kind) == int(types.CU_MEMORYTYPE_HOST) else Memory.DEVICE, int(device))


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU, by its number among those this process sees."""

    ordinal: int

    def __post_init__(self) -> None:
        count = int(_driver().call("counting the GPUs", "cuDeviceGetCount"))
        if not 0 <= self.ordinal < count:
            raise LaunchError(no_gpu(f"there is no GPU {self.ordinal}: {count or 'none'} can be used"))

    @property
    def name(self) -> str:
        """As the vendor sells it."""
        text = _driver().call("reading the GPU's name", "cuDeviceGetName", 256, self._handle)
        return bytes(text).split(b"\0")[0].decode()

    @property
    def arch(self) -> str:
        """What code is compiled for, as "sm_90"."""
        major, minor = (self._attribute(f"COMPUTE_CAPABILITY_{which}") for which in ("MAJOR", "MINOR"))
        return f"sm_{major}{minor}"

    @property
    def sm_count(self) -> int:
        """How many multiprocessors it has."""
        return self._attribute("MULTIPROCESSOR_COUNT")

    @property
    def total_memory(self) -> int:
        """Its memory in bytes."""
        return int(_driver().call("reading the GPU's memory", "cuDeviceTotalMem", self._handle))

    @property
    def free_memory(self) -> int:
        """The bytes of it that nobody has, in this or another process."""
        with self.current():
            return int(_driver().call("reading the GPU's memory", "cuMemGetInfo")[0])

    @property
    def _handle(self) -> Any:
        driver = _driver()
        if self.ordinal not in driver.devices:
            driver.devices[self.ordinal] = driver.call("opening the GPU", "cuDeviceGet", self.ordinal)
        return driver.devices[self.ordinal]

    def _attribute(self, name: str) -> int:
        which = getattr(_driver().api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(_driver().call("asking the GPU what it is", "cuDeviceGetAttribute", which, self._handle))

    @contextmanager
    def current(self) -> Iterator[None]:
        """Has a context of this GPU current in this thread. Another GPU's is current again afterwards."""
        driver = _driver()
        before = driver.call("looking for a context", "cuCtxGetCurrent")
        is_other = False
        if not int(before):
            driver.call("entering the GPU's context", "cuCtxSetCurrent", self._context(driver))
        elif int(driver.call("looking for a context", "cuCtxGetDevice")) != int(self._handle):
            is_other = True
            driver.call("entering the GPU's context", "cuCtxPushCurrent", self._context(driver))
        try:
            yield
        finally:
            if is_other:
                driver.call("leaving the GPU's context", "cuCtxPopCurrent")

    def context_entry(self) -> tuple[int, int]:
        """The context of this GPU that work goes to now, and the address of the function that says which is current."""
        with self.current():
            return int(_driver().call("looking for a context", "cuCtxGetCurrent")), entry_point("cuCtxGetCurrent")

    def _context(self, driver: _Driver) -> Any:
        if self.ordinal not in driver.contexts:
            # Never given back: torch and others count on theirs until the process ends, and so do our kernels.
            made = driver.call("making a context", "cuDevicePrimaryCtxRetain", self._handle)
            driver.contexts[self.ordinal] = made
        return driver.contexts[self.ordinal]

    def _call(self, doing: str, name: str, *args: Any) -> Any:
        with self.current():
            return _driver().call(doing, name, *args)

    # Memory.

    def allocate(self, count: int) -> int:
        """The address of `count` new bytes; 0 for none."""
        return int(self._call(f"allocating {in_words(count)}", "cuMemAlloc", count)) if count else 0

    def free(self, address: int) -> None:
        """Gives memory of `allocate` back, when all work that was started before is done."""
        if address:
            self._call("freeing memory", "cuMemFree", address)

    def allocate_async(self, count: int, stream: int) -> int:
        """The address of `count` bytes that work on a stream may use from here on; 0 for none."""
        doing = f"allocating {in_words(count)}"
        return int(self._call(doing, "cuMemAllocAsync", count, stream)) if count else 0

    def free_async(self, address: int, stream: int) -> None:
        """Gives memory of `allocate_async` back, when a stream comes to it."""
        if address:
            self._call("freeing memory", "cuMemFreeAsync", address, stream)

    def memset_async(self, address: int, value: int, count: int, stream: int) -> None:
        """Has a stream set bytes."""
        if count:
            self._call(f"setting {in_words(count)}", "cuMemsetD8Async", address, value, count, stream)

    def copy_to_host(self, address: int, count: int, stream: int) -> npt.NDArray[np.uint8]:
        """A copy of bytes, made when the stream comes to it, and waited for."""
        copy = np.empty(count, np.uint8)
        if count:
            doing = f"copying {in_words(count)} from the GPU"
            self._call(doing, "cuMemcpyDtoHAsync", copy.ctypes.data, address, count, stream)
            self.synchronize(stream)
        return copy

    def copy_from_host(self, address: int, source: npt.NDArray[Any], stream: int) -> None:
        """Copies an array without gaps to the GPU, when the stream comes to it, and waits for that."""
        if not source.flags.c_contiguous:
            raise ValueError("only an array without gaps can be copied to the GPU as it is")
        if source.nbytes:
            doing = f"copying {in_words(source.nbytes)} to the GPU"
            self._call(doing, "cuMemcpyHtoDAsync", address, source.ctypes.data, source.nbytes, stream)
            self.synchronize(stream)

    # Streams.

    def synchronize(self, stream: int) -> None:
        """Waits until a stream has done all it was given."""
        self._call("waiting for a stream", "cuStreamSynchronize", stream)

    def make_stream(self) -> int:
        """A new stream, which does not wait for the default stream, nor that for it."""
        flag = _driver().api.CUstream_flags.CU_STREAM_NON_BLOCKING
        return int(self._call("making a stream", "cuStreamCreate", int(flag)))

    def end_stream(self, stream: int) -> None:
        """Gives a stream back; what it was given is still done."""
        self._call("ending a stream", "cuStreamDestroy", stream)


class Event:
    """A moment in the work of a stream."""

    def __init__(self, device: Device, *, is_timed: bool = False) -> None:
        flags = _driver().api.CUevent_flags
        flag = flags.CU_EVENT_DEFAULT if is_timed else flags.CU_EVENT_DISABLE_TIMING
        self.device, self.is_timed = device, is_timed
        self.handle = int(device._call("making an event", "cuEventCreate", int(flag)))
        weakref.finalize(self, _end_event, _driver(), self.handle)

    def record(self, stream: int) -> None:
        """Makes it the moment when a stream has done what it was given so far."""
        self.device._call("recording an event", "cuEventRecord", self.handle, stream)

    def wait_on(self, stream: int) -> None:
        """Has a stream wait for the moment; the host does not."""
        self.device._call("waiting for an event", "cuStreamWaitEvent", stream, self.handle, 0)

    def synchronize(self) -> None:
        """Waits for the moment."""
        self.device._call("waiting for an event", "cuEventSynchronize", self.handle)

    @property
    def is_done(self) -> bool:
        """Whether the moment has come."""
        driver = _driver()
        (result,) = driver.api.cuEventQuery(self.handle)
        if int(result) not in (0, NOT_READY):
            raise LaunchError(driver.failure(result, "asking for an event"))
        return not int(result)

    def milliseconds_since(self, earlier: Event) -> float:
        """The time between two moments that have come. Both events are made with `is_timed`."""
        if not (self.is_timed and earlier.is_timed):
            raise ValueError("only events that are made with is_timed=True know the time")
        return float(self.device._call("reading a time", "cuEventElapsedTime", earlier.handle, self.handle))


def _end_event(driver: _Driver, handle: int) -> None:
    # At the end of a process the driver may be gone already; then there is nothing to give back.
    driver.api.cuEventDestroy(handle)


# Kernels.


@dataclass(frozen=True, slots=True)
class FunctionAttributes:
    """What the driver says of a kernel it has loaded."""

    registers: int
    local_bytes: int
    """Memory of each thread for what did not fit its registers."""
    shared_bytes: int
    threads: int
    """The most threads a block can have."""


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel on a GPU. `handle` can be launched by `cuLaunchKernel` and `cuLaunchKernelEx` from any thread."""

    name: str
    handle: int
    device: Device
    module: Module = field(repr=False)

    @property
    def attributes(self) -> FunctionAttributes:
        asked = ("NUM_REGS", "LOCAL_SIZE_BYTES", "SHARED_SIZE_BYTES", "MAX_THREADS_PER_BLOCK")
        return FunctionAttributes(*(self._attribute(each) for each in asked))

    def _attribute(self, name: str) -> int:
        driver = _driver()
        which = getattr(driver.api.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        kernel = driver.api.CUkernel(self.handle)
        doing = f"asking what `{self.name}` takes"
        return int(self.device._call(doing, "cuKernelGetAttribute", which, kernel, self.device._handle))


@dataclass(frozen=True, slots=True)
class Module:
    """Code that the driver has taken. It stays for good, as work that uses it may be on its way."""

    handle: Any
    device: Device
    what: str
    """The code and where it goes, for a message."""

    def function(self, name: str) -> Function:
        """A kernel by its name, ready to be launched on the GPU it was loaded for."""
        driver = _driver()
        with self.device.current():
            doing = f"loading `{name}`, {self.what}"
            kernel = driver.call(doing, "cuLibraryGetKernel", self.handle, name.encode())
            # The driver puts code on the GPU at its first use. Now is better than in the middle of a launch: what is
            # wrong with the code is said here.
            driver.call(doing, "cuKernelGetFunction", kernel)
        return Function(name, int(kernel), self.device, self)


def load(cubin: bytes, device: Device | None = None) -> Module:
    """Gives machine code to the driver, for GPU 0 unless another is named."""
    # A library, other than a module of the driver, belongs to no context: all threads can launch from it.
    device = Device(0) if device is None else device
    what = f"{_kind_of(cubin)}, on {device.name} ({device.arch})"
    handle = device._call(f"loading {what}", "cuLibraryLoadData", cubin, [], [], 0, [], [], 0)
    return Module(handle, device, what)


def _kind_of(cubin: bytes) -> str:
    try:
        return f"code for {resources_of(cubin)[0].arch}"
    except ValueError:
        return "what is no cubin"


@dataclass(frozen=True, slots=True)
class LaunchAttributes:
    """What a launch says beyond grid and stream."""

    cluster: tuple[int, int, int] | None = None
    """How many programs run side by side with shared memory; None leaves it to the code, which knows it."""
    pdl: bool = False
    """Whether it may begin before the kernel ahead of it on the stream has ended (programmatic dependent launch)."""


_PLAIN: Final = LaunchAttributes()


def launch(
    function: Function, grid: tuple[int, int, int], stream: int, words: int, attributes: LaunchAttributes = _PLAIN
) -> None:
    """Starts a Tile IR kernel. `words` is the address of an array with the address of each parameter."""
    if 0 in grid:
        return
    driver = _driver()
    api = driver.api
    config = api.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    # How many threads a program has is written in the code: the driver wants to hear 1.
    config.blockDimX = config.blockDimY = config.blockDimZ = 1
    config.hStream = stream
    extra = []
    if attributes.cluster is not None:
        cluster = _attribute(api, "CLUSTER_DIMENSION")
        cluster.value.clusterDim.x, cluster.value.clusterDim.y, cluster.value.clusterDim.z = attributes.cluster
        extra.append(cluster)
    if attributes.pdl:
        early = _attribute(api, "PROGRAMMATIC_STREAM_SERIALIZATION")
        early.value.programmaticStreamSerializationAllowed = 1
        extra.append(early)
    if extra:
        config.attrs, config.numAttrs = extra, len(extra)
    kernel = api.CUkernel(function.handle)
    with function.device.current():
        driver.call(f"launching `{function.name}`", "cuLaunchKernelEx", config, kernel, words, 0)
    driver.launched.append(function.name)


def _attribute(api: Any, name: str) -> Any:
    attribute = api.CUlaunchAttribute()
    attribute.id = getattr(api.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name}")
    return attribute
