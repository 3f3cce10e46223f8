"""What a row of the CPU benchmark is, and the memory that everybody works on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import cycle
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

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
    """One call at one size, and its peers."""

    name: str
    size: str
    work: float
    """Operations, or bytes that must move."""
    unit: str
    call: Call
    """What users would write: a library function, or a kernel."""
    expected: Callable[[], tuple[Array, Array]]
    """A part of what the call wrote, and what should be there."""
    torch: Mapping[str, Call] = field(default_factory=dict)
    numpy: Call | None = None
    numpy_threads: int = 1
    limit: Mapping[str, Probe] = field(default_factory=dict)
    goal: Goal = Goal()
    note: str = ""
    turns: int = 1
    """How many calls go over arguments of their own, so that none are found in a cache."""
    tolerance: float | None = None
    """How far a result may be off, as a part of the greatest; by the element type unless given."""


def taking_turns(calls: Sequence[Call]) -> Call:
    """Each time the next of them."""
    turns = cycle(calls)
    return lambda: next(turns)()


@cache
def example(name: str) -> Any:
    """The kernel of an example, which has the name of its file."""
    path = Path(__file__).resolve().parents[1] / "examples" / f"{name}.py"
    spec = spec_from_file_location(f"example_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


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
