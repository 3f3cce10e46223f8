"""The second call of the driver that a launch has where pieces are joined, and the memory between the two.

The memory is taken and given back in the order of the stream, at every launch. To keep some with the plan would save
two calls of the driver, and costs more than that: plans are many and the memory may be large, and whoever launches on
another stream, or replays what a stream has recorded, would have to be kept away from it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_int32, c_uint32, c_uint64, c_void_p
from dataclasses import field
from functools import cache
from typing import Any, Final

from tileproof.diagnostics.records import dataclass

from .layout import JoinData

_EARLY: Final = 6
"""The driver's number for the attribute that lets a launch come to the GPU while the one ahead of it runs."""


@dataclass(frozen=True, slots=True)
class Join:
    """What comes behind the first call: another one, with the same words, that reads what the first left."""

    name: str
    function: int
    grid: tuple[int, int, int]
    word: int
    """Which of the driver's parameters is the address of the memory."""
    nbytes: int
    allocate: int
    """The addresses of `cuMemAllocAsync`, `cuMemFreeAsync` and `cuStreamIsCapturing`."""
    release: int
    recording: int
    early: int = 0
    """The address of `cuLaunchKernelEx`, if the second may come to the GPU while the first runs: it waits by itself."""
    broke: Callable[[tuple[Any, ...], int, int], object] | None = field(default=None, repr=False, compare=False)
    """Is called with arguments, stream and error if the driver took the first call only, and raises."""

    def __post_init__(self) -> None:
        if not all(0 < count < 2**31 for count in self.grid) or not 0 < self.nbytes < 2**63:
            raise ValueError(f"a second call with a grid of {self.grid} and {self.nbytes} bytes")

    def packed(self) -> JoinData:
        """The same for the native code."""
        data = JoinData(
            function=self.function, word=self.word, bytes=self.nbytes, allocate=self.allocate, release=self.release,
            recording=self.recording, early=self.early, broke=id(self.broke),
        )  # fmt: skip
        data.grid[:] = self.grid
        return data


class _Attribute(ctypes.Structure):
    _fields_ = (("id", c_int32), ("padding", c_int32), ("value", c_int32 * 16))


class _Config(ctypes.Structure):
    _fields_ = (
        ("grid", c_uint32 * 3), ("block", c_uint32 * 3), ("shared_bytes", c_uint32), ("stream", c_void_p),
        ("attributes", c_void_p), ("count", c_uint32),
    )  # fmt: skip


@cache
def allocate_at(entry: int) -> Callable[..., int]:
    """`cuMemAllocAsync` at an address."""
    return ctypes.CFUNCTYPE(c_int32, c_void_p, c_uint64, c_void_p)(entry)


@cache
def release_at(entry: int) -> Callable[..., int]:
    """`cuMemFreeAsync` at an address."""
    return ctypes.CFUNCTYPE(c_int32, c_uint64, c_void_p)(entry)


@cache
def early_at(entry: int) -> Callable[..., int]:
    """`cuLaunchKernelEx` at an address, called like `cuLaunchKernel`: the launch may come to the GPU early."""
    start: Callable[..., int] = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p, c_void_p)(entry)

    def launch(function: int, *given: Any) -> int:
        *numbers, stream, words, extra = given
        attribute = _Attribute(id=_EARLY)
        attribute.value[0] = 1
        config = _Config(shared_bytes=numbers[6], stream=stream, attributes=ctypes.addressof(attribute), count=1)
        config.grid[:], config.block[:] = numbers[:3], numbers[3:6]
        return start(ctypes.addressof(config), function, words, extra)

    return launch


__all__ = ["Join", "allocate_at", "early_at", "release_at"]
