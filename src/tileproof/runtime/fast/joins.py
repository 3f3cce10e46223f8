"""The second call of the driver that a launch has where pieces are joined, and the memory between the two.

The memory is taken and given back in the order of the stream, at every launch. To keep some with the plan would save
two calls of the driver, and costs more than that: plans are many and the memory may be large, and whoever launches on
another stream, or replays what a stream has recorded, would have to be kept away from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from tileproof.diagnostics.records import dataclass

from .layout import JoinData


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


