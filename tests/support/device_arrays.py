"""Copies of numpy arrays on a GPU that lie there as they lie here: the same steps, the same alignment, gaps and all.

Around each lie bytes that nobody may change: a launch that writes beside its arguments shows there.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tileproof.backends.cuda.device.driver import Device
from tileproof.diagnostics.errors import LaunchError
from tileproof.runtime.interop.describe import byte_range, current_stream

Array = npt.NDArray[Any]
GUARD: Final = 512
"""Bytes before and behind an array."""
FILL: Final = 0xA5
_VECTOR: Final = 16


class DeviceArray:
    """An array on a GPU, as `__cuda_array_interface__` tells it."""

    def __init__(self, array: Array, device: int = 0) -> None:
        self.shape, self.strides, self.dtype = array.shape, array.strides, array.dtype
        self._owner = Device(device)
        low, high = byte_range(array)
        begin = GUARD + low % _VECTOR
        self._before = np.full(begin + high - low + GUARD, FILL, np.uint8)
        self._before[begin : begin + high - low] = np.frombuffer(ctypes.string_at(low, high - low), np.uint8)
        self._first = begin + int(array.__array_interface__["data"][0]) - low
        self._memory = self._owner.allocate(len(self._before))
        self._owner.copy_from_host(self._memory, self._before, current_stream(device))

    def __del__(self) -> None:
        # Where the context is lost, the memory went with it.
        with suppress(AttributeError, LaunchError):
            self._owner.free(self._memory)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = (self._memory + self._first, False)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "strides": self.strides, "version": 3}

    def numpy(self) -> Array:
        """The elements, copied to the host when the current stream is done."""
        return self._seen(self._raw())

    def assert_rest_is_kept(self) -> None:
        """Nothing was written around the elements or between them."""
        now, before = self._raw(), self._before.copy()
        for memory in (now, before):
            self._seen(memory)[...] = np.zeros((), self.dtype)
        changed = np.flatnonzero(now != before)
        assert not len(changed), f"{len(changed)} bytes beside an array changed, one at {changed[0] - self._first}"

    def assert_is_kept(self) -> None:
        """Not one byte was written."""
        assert (self._raw() == self._before).all()

    def _raw(self) -> Array:
        device = self._owner
        return device.copy_to_host(self._memory, len(self._before), current_stream(device.ordinal)).copy()

    def _seen(self, memory: Array) -> Array:
        return np.ndarray(self.shape, self.dtype, memory.data, self._first, self.strides)


def to_gpu(arguments: list[Any]) -> list[Any]:
    """Arguments of a launch with every array on the GPU."""
    return [DeviceArray(one) if isinstance(one, np.ndarray) else one for one in arguments]
