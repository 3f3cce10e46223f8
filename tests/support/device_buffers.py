"""Arrays on a GPU that no library lends: memory of the driver, described by `__cuda_array_interface__`."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np

from tileproof.backends.cuda.device.driver import Device
from tileproof.diagnostics.errors import LaunchError
from tileproof.runtime.interop.describe import Array, current_stream, described, host_copy


class DeviceBuffer:
    """An array without gaps, freed with its last reference."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int = 0) -> None:
        self.shape, self.dtype, self.device, self._owner = shape, dtype, device, Device(device)
        self.address = self._owner.allocate(math.prod(shape) * dtype.itemsize)

    def __del__(self) -> None:
        # Where the context is lost, the memory went with it.
        with suppress(AttributeError, LaunchError):
            self._owner.free(self.address)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = self.address, False
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "strides": None, "version": 3}

    def numpy(self) -> Array:
        """A copy on the host, made when the current stream is done."""
        return host_copy(described(self))


def to_device(array: Array, device: int = 0) -> DeviceBuffer:
    """A copy of a numpy array on a GPU."""
    source = np.asarray(array, order="C")
    buffer = DeviceBuffer(source.shape, source.dtype, device)
    Device(device).copy_from_host(buffer.address, source, current_stream(device))
    return buffer
