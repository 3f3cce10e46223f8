"""Memory with a forbidden page right behind it, or right before it: who touches one byte too many ends the process."""

from __future__ import annotations

import ctypes
import mmap
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias

import numpy as np

Side: TypeAlias = Literal["end", "start"]
"""Where the forbidden page is."""
SIDES: tuple[Side, ...] = ("end", "start")

_libc = ctypes.CDLL(None, use_errno=True)


def frame(size: int, side: Side) -> tuple[mmap.mmap, int]:
    """Memory between two forbidden pages, and where in it `size` bytes begin that touch one of them."""
    page = mmap.PAGESIZE
    inner = -(-max(size, 1) // page) * page
    whole = mmap.mmap(-1, inner + 2 * page)
    first = address_of(whole)
    for forbidden in (first, first + page + inner):
        if _libc.mprotect(ctypes.c_void_p(forbidden), ctypes.c_size_t(page), ctypes.c_int(0)):
            raise OSError(ctypes.get_errno(), "mprotect failed")
    return whole, page if side == "start" else page + inner - size


def address_of(memory: mmap.mmap) -> int:
    """Where a mapping begins."""
    kept = ctypes.c_char.from_buffer(memory)
    try:
        return ctypes.addressof(kept)
    finally:
        del kept


def guarded(array: Any, side: Side) -> Any:
    """The same values with the same steps from element to element, in guarded memory."""
    steps = [step if extent > 1 else array.itemsize for extent, step in zip(array.shape, array.strides, strict=True)]
    reach = [(extent - 1) * step if array.size else 0 for extent, step in zip(array.shape, steps, strict=True)]
    low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach) + (array.itemsize if array.size else 0)
    memory, begin = frame(high - low, side)
    copy: Any = np.ndarray(array.shape, array.dtype, memory, begin - low, steps)
    copy[...] = array
    return copy


class Scratch:
    """Gives scratch memory of exactly the size that is asked for, full of ones, which as floats are no numbers."""

    def __init__(self, side: Side) -> None:
        self.side: Side = side
        self._kept: dict[int, tuple[mmap.mmap, int]] = {}

    def take(self, size: int) -> SimpleNamespace:
        """Memory that is this taker's alone until it is given back."""
        memory, begin = self._kept.pop(size, None) or frame(size, self.side)
        memory[begin : begin + size] = b"\xff" * size
        return SimpleNamespace(address=address_of(memory) + begin, size=size, memory=memory, begin=begin)

    def give(self, arena: SimpleNamespace) -> None:
        """Keeps it for others."""
        self._kept[arena.size] = arena.memory, arena.begin
