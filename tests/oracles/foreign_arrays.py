"""Arrays of other libraries on GPUs that a stand-in for the driver makes up, and kernels that take them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import CUmemorytype, Region, Stub
from tileproof import In, Out, T, f32
from tileproof.diagnostics.errors import Diagnostic
from tileproof.runtime.launch.binding import Bound
from tileproof.runtime.launch.launch import prepare

F32 = np.dtype(np.float32)
BASE = 0x1000_0000_0000
"""Memory of GPU 0, made up, where no system puts that of a process.

GPU 1 has the next gigabyte, then come managed memory and the host's.
"""
OTHER, MANAGED, HOST = (BASE + (number << 30) for number in (1, 2, 3))


def two_gpus() -> Stub:
    """A driver that knows the memory above."""
    regions = [
        Region(BASE, 1 << 30),
        Region(OTHER, 1 << 30, device=1),
        Region(MANAGED, 1 << 30, is_managed=True),
        Region(HOST, 1 << 30, CUmemorytype.CU_MEMORYTYPE_HOST),
    ]
    return Stub(regions=regions)


@dataclass
class Foreign:
    """An array of some library, at an address that is never touched."""

    shape: tuple[int, ...]
    address: int = BASE
    dtype: Any = F32
    strides: tuple[int, ...] | None = None
    is_read_only: bool = False
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        typestr = self.dtype.str if isinstance(self.dtype, np.dtype) else self.dtype
        data = self.address, self.is_read_only
        known = {"shape": self.shape, "typestr": typestr, "data": data, "strides": self.strides, "version": 3}
        return {**known, **self.more}


@tp.kernel
def copy(y: Out[T, "N"], x: In[T, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n]


@tp.kernel
def copy_matrix(y: Out[f32, "M N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=2, N=4):
        y[m, n] = x[m, n]


def accepted(kernel: tp.Kernel, *args: Any) -> Bound:
    """What a launch would run with."""
    return prepare(kernel, args, {})[1]


def rejection(kernel: tp.Kernel, *args: Any) -> Diagnostic:
    """The one thing that is wrong with a launch. It is said in the user's words, with a way out."""
    with pytest.raises(tp.LaunchError) as raised:
        prepare(kernel, args, {})
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.help
    assert diagnostic.span is not None
    assert "Described" not in f"{diagnostic.message} {diagnostic.help} {diagnostic.notes}"
    return diagnostic
