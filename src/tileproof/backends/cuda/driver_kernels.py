"""Kernels of the CUDA driver: code that it has taken, and launches of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from .driver_api import Gpu


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
    device: Gpu
    module: Module = field(repr=False)

    @property
    def attributes(self) -> FunctionAttributes:
        asked = ("NUM_REGS", "LOCAL_SIZE_BYTES", "SHARED_SIZE_BYTES", "MAX_THREADS_PER_BLOCK")
        return FunctionAttributes(*(self._attribute(each) for each in asked))

    def _attribute(self, name: str) -> int:
        driver = self.device.driver
        which = getattr(driver.api.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        kernel, device = driver.api.CUkernel(self.handle), driver.device(self.device.ordinal)
        doing = f"asking what `{self.name}` takes"
        return int(self.device.call(doing, "cuKernelGetAttribute", which, kernel, device))


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
    driver = function.device.driver
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
    function.device.call(f"launching `{function.name}`", "cuLaunchKernelEx", config, kernel, words, 0)
    driver.launched.append(function.name)


def _attribute(api: Any, name: str) -> Any:
    attribute = api.CUlaunchAttribute()
    attribute.id = getattr(api.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name}")
    return attribute
