"""The CUDA driver, each call with types on it. Nothing else imports `cuda.bindings`, which happens when a GPU is first
asked for. A call that fails raises `LaunchError`, in the words of `driver_api`.

A thread works in a *context*. If one of the right GPU is current, as torch and cupy make it, it is used as it is;
otherwise the primary context, which all libraries share, becomes current. Streams and kernels are the numbers that the
driver and all libraries know them by; stream 0 is the default stream.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tileproof.backends.base import Memory
from tileproof.backends.cuda.assembler.cubin import resources_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.diagnostics.values import in_words

from .driver_api import NOT_READY, OLDEST, Current, Driver, Gpu, no_gpu, too_old

_ALL: Final = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where an address lies; the GPU is the one whose context made the memory."""

    memory: Memory
    device: int


@dataclass(frozen=True, slots=True)
class Pool:
    """The memory that streams of a GPU take theirs from. It keeps what is freed, until it is trimmed."""

    device: Gpu
    handle: Any

    def trim(self, keep: int = 0) -> None:
        """Gives memory that is not in use back to the GPU, but for `keep` bytes."""
        self.device.call("trimming a memory pool", "cuMemPoolTrimTo", self.handle, keep)

    def _write(self, name: str, value: int) -> None:
        word = self.device.driver.api.cuuint64_t(value)
        doing = "setting up a memory pool"
        self.device.call(doing, "cuMemPoolSetAttribute", self.handle, self._which(name), word)

    def _which(self, name: str) -> Any:
        return getattr(self.device.driver.api.CUmemPool_attribute, f"CU_MEMPOOL_ATTR_{name}")


def kept_pool(device: Gpu) -> Pool:
    """The default pool of a GPU, told once to keep what is freed.

    Otherwise it gives memory back whenever somebody waits for a stream, and the next allocation takes milliseconds.
    """
    driver = device.driver
    handle = driver.pools.get(device.ordinal)
    if handle is None:
        handle = device.call("looking for a memory pool", "cuDeviceGetDefaultMemPool", driver.device(device.ordinal))
        Pool(device, handle)._write("RELEASE_THRESHOLD", _ALL)
        driver.pools[device.ordinal] = handle
    return Pool(device, handle)


class Event:
    """A moment in the work of a stream. `Device.event` has ones that were used before, which costs less."""

    __slots__ = ("__weakref__", "_is_idle", "device", "handle", "is_timed")

    def __init__(self, device: Gpu, *, is_timed: bool = False) -> None:
        driver = device.driver
        flags = driver.api.CUevent_flags
        flag = flags.CU_EVENT_DEFAULT if is_timed else flags.CU_EVENT_DISABLE_TIMING
        self.device, self.is_timed, self._is_idle = device, is_timed, False
        self.handle = int(device.call("making an event", "cuEventCreate", int(flag)))
        driver.drop_with(self, "cuEventDestroy", self.handle)

    def record(self, stream: int) -> None:
        """Makes it the moment when a stream has done what it was given so far."""
        self.device.call("recording an event", "cuEventRecord", self.handle, stream)

    def wait_on(self, stream: int) -> None:
        """Has a stream wait for the moment; the host does not."""
        self.device.call("waiting for an event", "cuStreamWaitEvent", stream, self.handle, 0)

    def synchronize(self) -> None:
        """Waits for the moment."""
        self.device.call("waiting for an event", "cuEventSynchronize", self.handle)

    @property
    def is_done(self) -> bool:
        """Whether the moment has come."""
        driver = self.device.driver
        if driver.lost is not None:
            raise driver.gone("asking for an event")
        (result,) = driver.api.cuEventQuery(self.handle)
        if not result:
            return True
        if int(result) != NOT_READY:
            raise LaunchError(driver.failure(result, "asking for an event"))
        return False

    def milliseconds_since(self, earlier: Event) -> float:
        """The time between two moments that have come. Both events are made with `is_timed`."""
        if not (self.is_timed and earlier.is_timed):
            raise ValueError("only events that are made with is_timed=True know the time")
        return float(self.device.call("reading a time", "cuEventElapsedTime", earlier.handle, self.handle))

    def give_back(self) -> None:
        """Lets `Device.event` hand it out again. Streams that wait for it still do; the giver must not touch it."""
        if self.is_timed:
            raise ValueError("events that know the time are not handed out again")
        if self._is_idle:
            raise ValueError("the event was given back before")
        self._is_idle = True
        self.device.driver.events.setdefault(self.device.ordinal, []).append(self)


def pooled_event(device: Gpu) -> Event:
    """An event from the pool of events that were given back, or a new one."""
    try:
        event: Event = device.driver.events[device.ordinal].pop()
    except LookupError:
        return Event(device)
    event._is_idle = False
    return event


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel on a GPU. `handle` can be launched by `cuLaunchKernel` and `cuLaunchKernelEx` from any thread."""

    name: str
    handle: int
    device: Gpu
    module: Module = field(repr=False)

@dataclass(frozen=True, slots=True)
class Module:
    """Code that the driver has taken. It stays for good, as work that uses it may be on its way."""

    handle: Any
    device: Gpu
    what: str
    """The code and where it goes, for a message."""

    def function(self, name: str) -> Function:
        """A kernel by its name, ready to be launched on the GPU it was loaded for."""
        doing = f"loading `{name}`, {self.what}"
        kernel = self.device.call(doing, "cuLibraryGetKernel", self.handle, name.encode())
        # The driver puts code on the GPU at its first use. Now is better than in the middle of a launch: what is
        # wrong with the code is said here.
        self.device.call(doing, "cuKernelGetFunction", kernel)
        return Function(name, int(kernel), self.device, self)


def launch(function: Function, grid: tuple[int, int, int], stream: int, words: int, *, early: bool = False) -> None:
    """Starts a Tile IR kernel. `words` is the address of an array with the address of each parameter.

    `early`: it may begin before the kernel ahead of it on the stream has ended (programmatic dependent launch).
    """
    if 0 in grid:
        return
    driver = function.device.driver
    api = driver.api
    config = api.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    # The code fixes how many threads and clusters a program has: the driver expects 1.
    config.blockDimX = config.blockDimY = config.blockDimZ = 1
    config.hStream = stream
    if early:
        attribute = api.CUlaunchAttribute()
        attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        attribute.value.programmaticStreamSerializationAllowed = 1
        config.attrs, config.numAttrs = [attribute], 1
    kernel = api.CUkernel(function.handle)
    function.device.call(f"launching `{function.name}`", "cuLaunchKernelEx", config, kernel, words, 0)
    driver.launched.append(function.name)


class CapturedGraph:
    """What a stream was given while it recorded."""

    __slots__ = ("__weakref__", "device", "handle")

    def __init__(self, device: Gpu, handle: int) -> None:
        self.device, self.handle = device, handle
        device.driver.drop_with(self, "cuGraphDestroy", handle)

    def instantiate(self) -> ExecutableGraph:
        """What runs it. This graph may end before that does."""
        handle = self.device.call("making a graph ready", "cuGraphInstantiate", self.handle, 0)
        names = (self._kernel(node) for node in reversed(self._handles()))
        last = islice(filter(None, names), self.device.driver.launched.maxlen)
        return ExecutableGraph(self.device, int(handle), tuple(last)[::-1])

    def _handles(self) -> list[Any]:
        _, count = self.device.call("looking at a graph", "cuGraphGetNodes", self.handle)
        if not count:
            return []
        handles, _ = self.device.call("looking at a graph", "cuGraphGetNodes", self.handle, int(count))
        return list(handles)

    def _kernel(self, handle: Any) -> str:
        """The name of the kernel that a node launches: "kernel" if the driver does not know it, "" for other nodes."""
        if int(self.device.call("looking at a graph", "cuGraphNodeGetType", handle)):
            return ""
        api = self.device.driver.api
        parameters = self.device.call("looking at a graph", "cuGraphKernelNodeGetParams", handle)
        # Either may be what it was launched by, and the other be 0 or something that has no name.
        for kernel, name_of in ((parameters.kern, api.cuKernelGetName), (parameters.func, api.cuFuncGetName)):
            if int(kernel):
                result, name = name_of(kernel)
                if not int(result) and name:
                    return bytes(name).decode()
        return "kernel"


class ExecutableGraph:
    """A graph that is ready to run, any number of times, one after another."""

    __slots__ = ("__weakref__", "device", "handle", "kernels")

    def __init__(self, device: Gpu, handle: int, kernels: tuple[str, ...] = ()) -> None:
        self.device, self.handle, self.kernels = device, handle, kernels
        device.driver.drop_with(self, "cuGraphExecDestroy", handle)

    def upload(self, stream: int) -> None:
        """Has a stream bring it to the GPU, which its first run does otherwise."""
        self.device.call("bringing a graph to the GPU", "cuGraphUpload", self.handle, stream)

    def launch(self, stream: int) -> None:
        """Has a stream run it."""
        self.device.call("replaying a graph", "cuGraphLaunch", self.handle, stream)
        self.device.driver.launched.extend(self.kernels)


__all__ = [
    "CapturedGraph", "Device", "Event", "ExecutableGraph", "Function", "Memory", "Module", "Place", "Pool",
    "device_count", "entry_point", "in_words", "launch", "load", "lost", "place_of", "version",
]  # fmt: skip

_SETTERS: Final = {1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}


def _imported() -> Any:
    return import_module("cuda.bindings.driver")


@cache
def _opened() -> Driver | Diagnostic:
    """The driver, initialised and new enough, or why it cannot be used. Asked for once: the search takes time."""
    try:
        driver = Driver(_imported())
        driver.call("starting CUDA", "cuInit", 0)
        supported = int(driver.call("reading its version", "cuDriverGetVersion"))
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
    return driver


def _driver() -> Driver:
    driver = _opened()
    if isinstance(driver, Diagnostic):
        raise LaunchError(driver)
    return driver


def _dotted(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def lost() -> Diagnostic | None:
    """What the context of this process was lost by, if it was: then no call works any more. Starts nothing."""
    if not _opened.cache_info().currsize:
        return None
    driver = _opened()
    return driver.lost if isinstance(driver, Driver) else None


def device_count() -> int:
    """How many GPUs can be used; 0 also where there is no driver. `Device(0)` says why."""
    driver = _opened()
    if not isinstance(driver, Driver):
        return 0
    if driver.count is None:
        driver.count = int(driver.call("counting the GPUs", "cuDeviceGetCount"))
    return driver.count


def version() -> str:
    """The version of CUDA that the driver supports, as "13.0"."""
    return _dotted(int(_driver().call("reading its version", "cuDriverGetVersion")))


def entry_point(name: str) -> int:
    """The address of a function of the driver, for code that calls it without Python."""
    return _driver().entry_point(name)


def place_of(address: int) -> Place:
    """Where an address lies."""
    driver = _driver()
    attribute = driver.api.CUpointer_attribute
    asked = [
        attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED,
    ]
    values = driver.call("looking at an address", "cuPointerGetAttributes", len(asked), asked, address)
    kind, device, is_managed = values
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
        _driver()
        count = device_count()
        if not 0 <= self.ordinal < count:
            raise LaunchError(no_gpu(f"there is no GPU {self.ordinal}: {count or 'none'} can be used"))

    @property
    def name(self) -> str:
        """As the vendor sells it."""
        driver = _driver()
        text = driver.call("reading the GPU's name", "cuDeviceGetName", 256, driver.device(self.ordinal))
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

    def _attribute(self, name: str) -> int:
        driver = _driver()
        which = getattr(driver.api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        doing = "asking the GPU what it is"
        return int(driver.call(doing, "cuDeviceGetAttribute", which, driver.device(self.ordinal)))

    # Calls.

    @property
    def driver(self) -> Driver:
        """What calls the driver."""
        return _driver()

    def current(self) -> Current:
        """Has, in a `with` block, a context of this GPU current. Another GPU's is current again afterwards."""
        return Current(_driver(), self.ordinal)

    def call(self, doing: str, name: str, *args: Any, size: int | None = None) -> Any:
        """What a function of the driver gives in a context of this GPU; see `Driver.call`."""
        driver = _driver()
        if driver.lost is not None:
            raise driver.gone(doing, size)
        if not driver.enter(self.ordinal):
            return driver.call(doing, name, *args, size=size)
        try:
            return driver.call(doing, name, *args, size=size)
        finally:
            driver.leave()

    def _give_back(self, doing: str, name: str, *args: Any) -> None:
        """Ends something that the driver holds. Nothing is left of it when the context is lost."""
        if _driver().lost is None:
            self.call(doing, name, *args)

    def context_entry(self) -> tuple[int, int]:
        """The context of this GPU that work goes to now, and the address of the function that says which is current."""
        return int(self.call("looking for a context", "cuCtxGetCurrent")), entry_point("cuCtxGetCurrent")

    # Memory.

    @property
    def total_memory(self) -> int:
        """Its memory in bytes."""
        driver = _driver()
        return int(driver.call("reading the GPU's memory", "cuDeviceTotalMem", driver.device(self.ordinal)))

    def memory_info(self) -> tuple[int, int]:
        """The bytes of it that are free, and all that work can have."""
        free, total = self.call("reading the GPU's memory", "cuMemGetInfo")
        return int(free), int(total)

    def allocate(self, count: int) -> int:
        """The address of `count` new bytes; 0 for none."""
        return int(self.call("allocating {}", "cuMemAlloc", count, size=count)) if count else 0

    def free(self, address: int) -> None:
        """Gives memory of `allocate` back, when all work that was started before is done."""
        if address:
            self._give_back("freeing memory", "cuMemFree", address)

    def pool(self) -> Pool:
        """The pool that `allocate_async` takes from. It keeps what is freed from the first time it is asked for."""
        return kept_pool(self)

    def trim_pool(self, keep: int = 0) -> None:
        """Has the pool give back what is not in use, but for `keep` bytes."""
        self.pool().trim(keep)

    def allocate_async(self, count: int, stream: int) -> int:
        """The address of `count` bytes that work on a stream may use from here on; 0 for none."""
        return int(self.call("allocating {}", "cuMemAllocAsync", count, stream, size=count)) if count else 0

    def free_async(self, address: int, stream: int) -> None:
        """Gives memory of `allocate_async` back, when a stream comes to it."""
        if address:
            self._give_back("freeing memory", "cuMemFreeAsync", address, stream)

    def allocate_host(self, count: int) -> int:
        """The address of `count` new bytes of the host that stay in place, so that GPUs can copy to and from them."""
        if not count:
            return 0
        # Portable: it is so for all GPUs, not for this one only.
        flag = int(_driver().api.CU_MEMHOSTALLOC_PORTABLE)
        return int(self.call("allocating {} of pinned memory", "cuMemHostAlloc", count, flag, size=count))

    def memset_async(self, address: int, value: int, count: int, stream: int, *, width: int = 1) -> None:
        """Has a stream set `count` elements of 1, 2 or 4 bytes to a value without sign."""
        if count:
            self.call("setting {}", _SETTERS[width], address, value, count, stream, size=count * width)

    def copy_async(self, to: int, source: int, count: int, stream: int) -> None:
        """Has a stream of this GPU copy bytes between memory of this GPU and of the host, or within either.

        Memory of the host has to be pinned: from other memory CUDA copies while the caller waits.
        """
        if count:
            self.call("copying {}", "cuMemcpyAsync", to, source, count, stream, size=count)

    def copy_from_peer(self, to: int, peer: Device, source: int, count: int, stream: int) -> None:
        """Has a stream of either GPU copy bytes of another GPU to this one."""
        if count:
            driver = _driver()
            here, there = driver.context(self.ordinal), driver.context(peer.ordinal)
            doing = f"copying {{}} from GPU {peer.ordinal} to GPU {self.ordinal}"
            self.call(doing, "cuMemcpyPeerAsync", to, here, source, there, count, stream, size=count)

    def copy_to_host(self, address: int, count: int, stream: int) -> npt.NDArray[np.uint8]:
        """A copy of bytes, made when the stream comes to it, and waited for."""
        copy = np.empty(count, np.uint8)
        if count:
            place = copy.ctypes.data
            self.call("copying {} from the GPU", "cuMemcpyDtoHAsync", place, address, count, stream, size=count)
            self.synchronize(stream)
        return copy

    def copy_from_host(self, address: int, source: npt.NDArray[Any], stream: int) -> None:
        """Copies an array without gaps to the GPU, when the stream comes to it, and waits for that."""
        if not source.flags.c_contiguous:
            raise ValueError("only an array without gaps can be copied to the GPU as it is")
        if count := source.nbytes:
            place = source.ctypes.data
            self.call("copying {} to the GPU", "cuMemcpyHtoDAsync", address, place, count, stream, size=count)
            self.synchronize(stream)

    # Streams.

    def synchronize(self, stream: int) -> None:
        """Waits until a stream has done all it was given."""
        self.call("waiting for a stream", "cuStreamSynchronize", stream)

    def make_stream(self, priority: int = 0) -> int:
        """A new stream, which does not wait for the default stream, nor that for it.

        Where work of two streams could go, that of the lower `priority` goes first: 0 is the least urgent, and a GPU
        takes a number below its lowest as that.
        """
        flag = int(_driver().api.CUstream_flags.CU_STREAM_NON_BLOCKING)
        if not priority:
            return int(self.call("making a stream", "cuStreamCreate", flag))
        return int(self.call("making a stream", "cuStreamCreateWithPriority", flag, priority))

    def end_stream(self, stream: int) -> None:
        """Gives a stream back; what it was given is still done."""
        self._give_back("ending a stream", "cuStreamDestroy", stream)

    def event(self) -> Event:
        """An event, one that was given back if there is one: a new one takes the driver microseconds."""
        return pooled_event(self)


    # Graphs.

    def is_capturing(self, stream: int) -> bool:
        """Whether a stream records what it is given, also if that came to nothing."""
        return bool(int(self.call("looking at a stream", "cuStreamIsCapturing", stream)))

    def begin_capture(self, stream: int) -> None:
        """Has a stream record what it is given from here on, instead of doing it."""
        # Relaxed: the other modes forbid allocations and more to this thread, or to all.
        mode = _driver().api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        self.call("recording a graph", "cuStreamBeginCapture", stream, mode)

    def end_capture(self, stream: int) -> CapturedGraph:
        """What a stream has recorded; it does again what it is given."""
        return CapturedGraph(self, int(self.call("recording a graph", "cuStreamEndCapture", stream)))

    def abandon_capture(self, stream: int) -> None:
        """Has a stream do again what it is given, whatever became of the recording."""
        driver = _driver()
        if driver.lost is None:
            with self.current():
                result, graph = driver.api.cuStreamEndCapture(stream)
            if not result and int(graph):
                driver.api.cuGraphDestroy(graph)


def load(cubin: bytes, device: Device | None = None) -> Module:
    """Gives machine code to the driver, for GPU 0 unless another is named."""
    # A library, other than a module of the driver, belongs to no context: all threads can launch from it.
    device = Device(0) if device is None else device
    what = f"{_kind_of(cubin)}, on {device.name} ({device.arch})"
    handle = device.call(f"loading {what}", "cuLibraryLoadData", cubin, [], [], 0, [], [], 0)
    return Module(handle, device, what)


def _kind_of(cubin: bytes) -> str:
    try:
        return f"code for {resources_of(cubin)[0].arch}"
    except ValueError:
        return "what is no cubin"
