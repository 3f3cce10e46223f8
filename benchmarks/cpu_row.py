"""What a row of the CPU benchmark is, and the memory that everybody works on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import cycle
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

import tileproof as tp

from .probes import Probe

torch: Any
"""None where it is not installed."""
try:
    torch = import_module("torch")
except ImportError:
    torch = None

Array: TypeAlias = np.ndarray[Any, Any]
Call: TypeAlias = Callable[[], object]
BYTES, FLOPS, OPERATIONS = "GB/s", "GFLOP/s", "GOP/s"
_random = np.random.default_rng(0)


@dataclass(frozen=True)
class Goal:
    """What a row should reach: so many times torch, such a part of the limit."""

    torch: float | None = None
    limit: float | None = None
    only: int | None = None
    """The one number of threads it is stated for."""


@dataclass(frozen=True)
class Row:
    """One kernel at one size, and its peers."""

    name: str
    size: str
    work: float
    """Operations, or bytes that must move."""
    unit: str
    kernel: tp.Kernel
    args: list[Any]
    constants: dict[str, int]
    expected: Callable[[], tuple[Array, Array]]
    """A part of what the launch wrote, and what should be there."""
    torch: Mapping[str, Call] = field(default_factory=dict)
    numpy: Call | None = None
    numpy_threads: int = 1
    limit: Mapping[str, Probe] = field(default_factory=dict)
    goal: Goal = Goal()
    note: str = ""
    turns: Sequence[list[Any]] = ()
    """Arguments to rotate over, so that none are found in a cache."""

    @property
    def label(self) -> str:
        """The size of the problem and of the tiles."""
        return ", ".join([self.size, *(f"{name}={value}" for name, value in self.constants.items())])

    def with_tiles(self, sizes: Mapping[str, int]) -> Row:
        """The same row with other tile sizes, where it has such."""
        return replace(self, constants={name: sizes.get(name, value) for name, value in self.constants.items()})

    def launches(self) -> Call:
        """A launch, each time with the next of the arguments."""
        kernel, constants, turns = self.kernel, self.constants, cycle(self.turns or [self.args])
        return lambda: kernel(*next(turns), **constants)


# Memory.


def empty(*shape: int, dtype: Any = np.float32) -> Array:
    """Zeros, aligned to 64 bytes and present in memory."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.empty(size + 64, np.uint8)
    memory[:] = 0
    start = -memory.ctypes.data % 64
    found: Array = memory[start : start + size].view(dtype).reshape(shape)
    return found


def normal(*shape: int, dtype: Any = np.float32) -> Array:
    """Random numbers, the same few over and over where there are many."""
    made = empty(*shape, dtype=dtype)
    flat = made.reshape(-1)
    some = _random.standard_normal(min(flat.size, 1 << 20), dtype=np.float32)
    for start in range(0, flat.size, some.size):
        flat[start : start + some.size] = some[: flat.size - start]
    return made


def integers(low: int, high: int, *shape: int, dtype: Any) -> Array:
    """Random integers."""
    made = empty(*shape, dtype=dtype)
    made[...] = _random.integers(low, high, shape, dtype=dtype)
    return made


def tensor(array: Array) -> Any:
    """torch's view of an array; None without torch."""
    if torch is None:
        return None
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
