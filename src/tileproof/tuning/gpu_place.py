"""A GPU as a place for trials, through our own driver: random numbers and comparisons are kernels there."""

from __future__ import annotations

import math
import statistics
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import numpy as np

from tileproof.backends.base import device_of
from tileproof.backends.cuda.driver import Device, Event
from tileproof.diagnostics.errors import TileproofError
from tileproof.language.dtypes import F32, I32, DType
from tileproof.runtime.copying import copy
from tileproof.runtime.cuda_streams import CudaStream
from tileproof.runtime.graphs import Graph
from tileproof.runtime.making import empty, from_numpy
from tileproof.runtime.tensors import Tensor

from . import trial_kernels as kernels
from .inputs import Argument, numbers, whole_range
from .places import FEWEST, Difference, Place

_BATCH: Final = 20
"""Launches that are given before the first is waited for: so the GPU never waits for the host."""
_TILE: Final = 2048
_SMALL: Final = 1 << 14
"""Elements that the host makes faster than a kernel is compiled."""


class GpuPlace(Place):
    """A GPU, with tensors of our own on a stream of their own."""

    def __init__(self, ordinal: int = 0) -> None:
        self._gpu = Device(ordinal)
        self._where = f"cuda:{ordinal}"
        self.target, self.name, self.units = self._gpu.arch, self._gpu.name, self._gpu.sm_count
        self._stream = CudaStream(self._where)
        self._begins, self._ends = ([Event(self._gpu, is_timed=True) for _ in range(_BATCH)] for _ in range(2))
        self._flushed_bytes = 2 * _cache_of(self._gpu)
        self._flushed = self._gpu.allocate(self._flushed_bytes)
        weakref.finalize(self, _free, self._gpu, self._flushed).atexit = False

    def make(self, argument: Argument, rng: np.random.Generator) -> Any:
        count = math.prod(argument.shape)
        if argument.content is not None or count <= _SMALL:
            return self.bring(numbers(rng, argument))
        made = self.empty(argument)
        seed = int(rng.integers(1 << 31))
        with self._stream:
            if argument.dtype.is_float:
                kernels.normal_numbers(made.reshape(-1), seed, 1.0, B=_TILE)
            else:
                kernels.whole_numbers(made.reshape(-1), seed, *whole_range(argument.dtype), B=_TILE)
        return made

    def empty(self, argument: Argument) -> Any:
        return empty(argument.shape, argument.dtype, self._where)

    def bring(self, array: np.ndarray[Any, Any]) -> Any:
        with self._stream:
            return from_numpy(array, self._where)

    def copy(self, to: Any, source: Any) -> None:
        with self._stream:
            copy(to, source)

    def wait(self) -> None:
        self._stream.synchronize()

    def poison(self, array: Any, byte: int) -> None:
        with self._stream:
            device_of(array.block.device).fill(array, np.frombuffer(bytes([byte]) * array.itemsize, array.storage)[0])

    def compare(self, found: Any, expected: Any) -> Difference:
        count = expected.size
        if not count:
            return Difference(0.0, 0.0, 0.0, 0.0, 0)
        one, other = found.reshape(-1), expected.reshape(-1)
        with self._stream:
            if not expected.dtype.is_float:
                wrong = self._figures(I32, count)
                kernels.compare_exactly(wrong, one, other, B=_TILE)
                return Difference.of(0.0, 0.0, 0.0, 0.0, int(wrong.numpy().sum()), count)
            worst, top, gaps, sizes = (self._figures(F32, count) for _ in range(4))
            wrong = self._figures(I32, count)
            kernels.compare_floats(worst, top, gaps, sizes, wrong, one, other, B=_TILE)
            figures = [each.numpy().astype(np.float64) for each in (worst, top, gaps, sizes)]
            return Difference.of(
                float(figures[0].max()), float(figures[1].max()), float(figures[2].sum()), float(figures[3].sum()),
                int(wrong.numpy().sum()), count,
            )  # fmt: skip

    def _figures(self, dtype: DType, count: int) -> Tensor:
        return empty((-(-count // _TILE),), dtype, self._where)

    def times(
        self, launch: Callable[[], object], before: Callable[[], object], seconds: float, hopeless: float = math.inf
    ) -> list[float]:
        taken: list[float] = []
        batch = FEWEST
        with self._stream:
            run, held = self._replayed(launch)
            end = time.perf_counter() + seconds
            while len(taken) < FEWEST or time.perf_counter() < end:
                for place in range(batch):
                    before()
                    self._gpu.memset_async(self._flushed, place, self._flushed_bytes, self._stream.handle)
                    self._begins[place].record(self._stream.handle)
                    run()
                    self._ends[place].record(self._stream.handle)
                self._gpu.synchronize(self._stream.handle)
                pairs = zip(self._ends[:batch], self._begins[:batch], strict=True)
                taken += [1e-3 * end.milliseconds_since(begin) for end, begin in pairs]
                if statistics.median(taken) > hopeless:
                    break
                batch = _BATCH if sum(taken) < seconds * len(taken) / _BATCH else FEWEST
        del held
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

    @property
    def free_bytes(self) -> int:
        return self._gpu.free_memory


def _cache_of(gpu: Device) -> int:
    """Bytes of its last cache."""
    driver = gpu.driver
    which = driver.api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
    doing = "asking the GPU what it is"
    return int(driver.call(doing, "cuDeviceGetAttribute", which, driver.device(gpu.ordinal)))


def _free(gpu: Device, address: int) -> None:
    with suppress(TileproofError):  # then the context is gone, and its memory with it
        gpu.free(address)
