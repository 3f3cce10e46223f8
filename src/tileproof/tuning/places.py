"""Where trials run: memory for their arrays, and times of launches with cold caches, on the CPU and on GPUs."""

from __future__ import annotations

import math
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from tileproof.backends.base import device_of
from tileproof.backends.cpu.target import host
from tileproof.backends.cuda.device import driver
from tileproof.diagnostics.errors import TileproofError
from tileproof.language.dtypes import U8
from tileproof.runtime.graph.graphs import Graph
from tileproof.runtime.stream.cuda_streams import CudaStream
from tileproof.runtime.tensor.copies import copy
from tileproof.runtime.tensor.creation import empty, from_numpy

from .inputs import Array, TuningError
from .provenance import is_cpu, recorded_target

_FEWEST: Final = 5
"""Launches that make a time, at least."""
_BATCH: Final = 20
"""Launches that a GPU is given before the first is waited for: so it never waits for the host."""


class CpuPlace:
    """The CPU, with arrays of numpy."""

    def __init__(self) -> None:
        self.target, self.name = "cpu", processor()
        self._flushed = np.zeros(max(2 * host().caches.l3, 1 << 20), np.uint8)

    def put(self, array: Array) -> Any:
        """A copy of an array of the host, here."""
        return array.copy()

    def copy(self, to: Any, source: Any) -> None:
        """Copies all elements of an array that is here."""
        np.copyto(to, source)

    def read(self, array: Any) -> Array:
        """What an array holds, on the host."""
        values: Array = array
        return values

    def times(
        self, launch: Callable[[], object], before: Callable[[], object], seconds: float, hopeless: float = math.inf
    ) -> list[float]:
        """Seconds of each launch, for so long and at least five times, with cold caches. `before` is not timed.
        Ends early where launches take longer than `hopeless`."""
        taken: list[float] = []
        end = time.perf_counter() + seconds
        while len(taken) < _FEWEST or time.perf_counter() < end:
            before()
            self._flushed += 1  # leaves nothing of the arguments in the caches
            began = time.perf_counter()
            launch()
            taken.append(time.perf_counter() - began)
            if len(taken) >= 2 and min(taken) > hopeless:
                break
        return taken


def processor() -> str:
    """The name of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    names = (line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


class GpuPlace:
    """A GPU, with tensors of our own on a stream of their own."""

    def __init__(self, ordinal: int = 0) -> None:
        self._gpu, self._where = driver.Device(ordinal), f"cuda:{ordinal}"
        self.target, self.name = self._gpu.arch, self._gpu.name
        self._stream = CudaStream(self._where)
        self._begins, self._ends = ([driver.Event(self._gpu, is_timed=True) for _ in range(_BATCH)] for _ in range(2))
        self._flushed = empty(2 * _cache_of(self._gpu), U8, self._where)

    def put(self, array: Array) -> Any:
        with self._stream:
            return from_numpy(array, self._where)

    def copy(self, to: Any, source: Any) -> None:
        with self._stream:
            copy(to, source)

    def read(self, array: Any) -> Array:
        values: Array = array.numpy()
        return values

    def times(
        self, launch: Callable[[], object], before: Callable[[], object], seconds: float, hopeless: float = math.inf
    ) -> list[float]:
        taken: list[float] = []
        batch = _FEWEST
        with self._stream:
            run, kept = self._replayed(launch)
            end = time.perf_counter() + seconds
            while len(taken) < _FEWEST or time.perf_counter() < end:
                for place in range(batch):
                    before()
                    device_of(self._gpu.ordinal).fill(self._flushed, place)
                    self._begins[place].record(self._stream.handle)
                    run()
                    self._ends[place].record(self._stream.handle)
                self._gpu.synchronize(self._stream.handle)
                pairs = zip(self._ends[:batch], self._begins[:batch], strict=True)
                taken += [1e-3 * end.milliseconds_since(begin) for end, begin in pairs]
                if statistics.median(taken) > hopeless:
                    break
                batch = _BATCH if sum(taken) < seconds * len(taken) / _BATCH else _FEWEST
        del kept
        return taken

    def _replayed(self, launch: Callable[[], object]) -> tuple[Callable[[], object], Graph | None]:
        """A launch that takes the host no time, as a graph, so that the clock sees the GPU alone; and what holds it.

        What no graph can hold is launched as it is, and what the host does between counts.
        """
        graph = Graph()
        try:
            with graph:
                launch()
        except TileproofError:
            return launch, None
        if graph.device is None:  # nothing was launched
            return launch, None
        executable, handle = graph._player.executable, self._stream.handle
        return (lambda: executable.launch(handle)), graph


Place: TypeAlias = CpuPlace | GpuPlace
"""A machine that trials run on: its `target` as tunables know it, and its `name` as it is sold."""


def place_for(target: str | None) -> Place:
    """The device that a target runs on here: the first GPU, or the CPU where there is none, unless one is named."""
    gpus = [driver.Device(number).arch for number in range(driver.device_count())]
    target = target or (gpus[0] if gpus else "cpu")
    if is_cpu(target):
        if target not in ("cpu", recorded_target("cpu")):
            raise TuningError(f"this processor is {recorded_target('cpu')}, and not {target}: tune for it there")
        return CpuPlace()
    if target not in gpus:
        raise TuningError(
            f"there is no GPU of {target} here: tune where there is one, or only compile, with --compile-only"
        )
    return GpuPlace(gpus.index(target))


def _cache_of(gpu: driver.Device) -> int:
    """Bytes of its last cache."""
    library = gpu.driver
    which = library.api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
    return int(library.call("asking the GPU what it is", "cuDeviceGetAttribute", which, library.device(gpu.ordinal)))
