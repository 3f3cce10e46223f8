"""What memory is to the CUDA driver: where it lies, and the pool that streams take theirs from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tileproof.backends.memory import Memory

from .driver_api import Gpu

_ALL: Final = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where an address lies; the GPU is the one whose context made the memory."""

    memory: Memory
    device: int


@dataclass(frozen=True, slots=True)
class PoolUse:
    """How many bytes of a pool are in use and how many it holds, now and at most so far."""

    used: int
    used_high: int
    reserved: int
    reserved_high: int


@dataclass(frozen=True, slots=True)
class Pool:
    """The memory that streams of a GPU take theirs from. It keeps what is freed, until it is trimmed."""

    device: Gpu
    handle: Any

    @property
    def use(self) -> PoolUse:
        """How much of it is in use."""
        return PoolUse(*map(self._read, ("USED_MEM_CURRENT", "USED_MEM_HIGH", "RESERVED_MEM_CURRENT",
                                         "RESERVED_MEM_HIGH")))  # fmt: skip

    def trim(self, keep: int = 0) -> None:
        """Gives memory that is not in use back to the GPU, but for `keep` bytes."""
        self.device.call("trimming a memory pool", "cuMemPoolTrimTo", self.handle, keep)

    def _read(self, name: str) -> int:
        return int(self.device.call("asking a memory pool", "cuMemPoolGetAttribute", self.handle, self._which(name)))

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
