"""Memory of the host that stays in place, so that GPUs copy to and from it while nobody waits.

The system takes long to give such memory, and gives it in pages. So it is kept: what is given back serves the next.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from typing import Final

import numpy as np
import numpy.typing as npt

from .driver import Device
from .driver_api import Driver

LARGEST: Final = 1 << 25
"""The most bytes of one piece. More is copied piece by piece."""
_LEAST: Final = 64
_SLAB: Final = 1 << 18
"""Pieces that are smaller are cut from one of this size."""


class Pinned:
    """A piece of pinned memory. It is another's as soon as nobody has this: keep it while work may use it."""

    __slots__ = ("_free", "address", "nbytes")

    def __init__(self, address: int, nbytes: int, free: list[int]) -> None:
        self.address, self.nbytes, self._free = address, nbytes, free

    @property
    def array(self) -> npt.NDArray[np.uint8]:
        """Its bytes. The array does not keep them."""
        return np.ctypeslib.as_array((ctypes.c_uint8 * self.nbytes).from_address(self.address))

    def __del__(self) -> None:
        self._free.append(self.address)


class _Store:
    """What one process has of it, by size; sizes are powers of two."""

    __slots__ = ("free", "lock")

    def __init__(self) -> None:
        self.free: dict[int, list[int]] = {}
        self.lock = threading.Lock()

    def take(self, device: Device, size: int) -> int:
        free = self.free.setdefault(size, [])
        try:
            return free.pop()
        except IndexError:
            pass
        if size >= _SLAB:
            return device.allocate_host(size)
        with self.lock:
            start = device.allocate_host(_SLAB)
            free += range(start + size, start + _SLAB, size)
        return start


_stores: weakref.WeakKeyDictionary[Driver, _Store] = weakref.WeakKeyDictionary()


def pinned(device: Device, nbytes: int) -> Pinned:
    """A piece of pinned memory of at least so many bytes, for any GPU."""
    if nbytes > LARGEST:
        raise ValueError(f"{nbytes} bytes are more than a piece has")
    size = max(_LEAST, 1 << (nbytes - 1).bit_length())
    store = _stores.get(device.driver) or _stores.setdefault(device.driver, _Store())
    return Pinned(store.take(device, size), nbytes, store.free[size])


def in_pinned(device: Device, source: npt.NDArray[np.uint8]) -> Pinned:
    """A copy of bytes in pinned memory."""
    piece = pinned(device, source.nbytes)
    piece.array[:] = source
    return piece
