"""Launches given to a stream: the words of the parameters, the memory of a launch, and what its checks report."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tileproof.backends.cuda.codegen.checks import WORDS
from tileproof.backends.scalars import scalar_word
from tileproof.diagnostics.errors import LaunchError
from tileproof.ir.types import Tensor
from tileproof.language.dtypes import ALL

from . import driver
from .loaded_code import LaunchSpace, Loaded
from .pinned import LARGEST, Pinned, in_pinned, pinned

_WHOLE: Final = 1 << 14
"""The most bytes of a report that are copied to the host whatever is in them."""
_TYPES: Final = {dtype.name: dtype for dtype in ALL}


@dataclass(eq=False, slots=True)
class Started:
    """A launch that a stream was given. What its checks find stays on the GPU until it is copied or looked at."""

    loaded: Loaded
    dimensions: Mapping[str, int]
    borders: Mapping[Tensor, Any]
    stream: int
    slots: int
    """How many places for programs its report has."""
    report: int = 0
    """Where it is on the GPU; 0 if it is not there, or no more."""
    note: Pinned | None = None
    """What was copied of it."""
    staged: list[Pinned] = field(default_factory=list)
    """What the stream copies to the GPU."""
    error: LaunchError | None = None
    """Why the driver took only some of its stages."""

    @property
    def nbytes(self) -> int:
        """The size of the report, which begins with a word that says whether anything is in it."""
        return 8 * WORDS * (self.slots + 1)

    def wait(self) -> None:
        """Waits for the launch and raises what a check found."""
        try:
            if self.error is not None:
                raise self.error
            if self.report and self._read(0, 8, self.stream)[0]:
                raise self._failure(self._read(8 * WORDS, self.nbytes - 8 * WORDS, self.stream))
        finally:
            self.free()

    def copy_report(self) -> None:
        """Has the stream copy what checks find to the host, where `failure` looks when the launch is done."""
        if not self.report:
            return
        device = self.loaded.device
        is_whole = self.nbytes <= _WHOLE
        self.note = pinned(device, self.nbytes if is_whole else 8)
        device.copy_async(self.note.address, self.report, self.note.nbytes, self.stream)
        if is_whole:
            self.free()

    def failure(self) -> Exception | None:
        """What went wrong with a launch that is done, once its report was copied."""
        driver = self.loaded.device.driver
        if self.error is not None:
            return self.error
        if self.note is None:
            return None
        if driver.lost is not None:
            return driver.gone(f"looking at the checks of `{self.loaded.kernel.name}`")
        words = self.note.array.view(np.int64)
        try:
            if not words[0]:
                return None
            if len(words) > 1:
                return self._failure(words[WORDS:].copy())
            # The stream may have gone on to something that takes long.
            other = self.loaded.device.make_stream()
            try:
                return self._failure(self._read(8 * WORDS, self.nbytes - 8 * WORDS, other))
            finally:
                self.loaded.device.end_stream(other)
        finally:
            self.free()

    def free(self) -> None:
        """Gives the report back, when the stream comes to it."""
        address, self.report = self.report, 0
        if not address:
            return
        # Where the context is lost, the memory went with it, and what went wrong is said already.
        with suppress(LaunchError):
            self.loaded.device.free_async(address, self.stream)

    def _read(self, start: int, count: int, stream: int) -> Any:
        return self.loaded.device.copy_to_host(self.report + start, count, stream).view(np.int64)

    def _failure(self, slots: Any) -> Exception:
        return self.loaded.failure(slots, self.dimensions, self.borders)


@dataclass
class Launch:
    """A launch that is about to be given to a stream."""

    loaded: Loaded
    arrays: Mapping[str, Any]
    addresses: Mapping[str, int]
    scalars: Mapping[str, Any]
    dimensions: Mapping[str, int]
    space: LaunchSpace
    stream: int
    dependent: bool = False
    scratch: list[int] = field(default_factory=list)
    """Memory that the launch gives back when the stream is done with it."""

    def start(self) -> Started:
        """Starts all stages."""
        loaded, code = self.loaded, self.loaded.code
        slots = self.space.programs + self.space.left + 1
        started = Started(loaded, self.dimensions, self._by_tensor(), self.stream, slots)
        words = loaded.fixed_words(self.arrays, self.dimensions, self.space)
        is_begun = False
        try:
            for place, slot in enumerate(code.slots):
                match slot.what:
                    case ("pointer", str(name)):
                        words[place] = self.addresses[name]
                    case ("shadow", str(name)):
                        size = (_TYPES[dict(code.shadows)[name]].storage or np.dtype(np.int64)).itemsize
                        words[place] = self._take(self.arrays[name].size * size)
                    case ("scalar", str(name)):
                        scalar = next(parameter for parameter in loaded.scalars if parameter.name == name)
                        words[place] = scalar_word(scalar.type.dtype, self.scalars[name])
                    case ("table", str(name)):
                        words[place] = self._copied(self.space.tables[name], started.staged)
                    case ("space",):
                        words[place] = self._take(code.piece * self.space.programs)
                    case ("report",):
                        started.report = words[place] = self._take(started.nbytes)
                        loaded.device.memset_async(started.report, 0, started.nbytes, self.stream)
                    case _:
                        pass
            packed = (ctypes.c_uint64 * len(words))(*words)
            start = ctypes.addressof(packed)
            pointers = (ctypes.c_uint64 * len(words))(*(start + 8 * place for place in range(len(words))))
            for stage, function in zip(code.stages, loaded.functions, strict=True):
                blocks = loaded.grid(stage, self.space, self.arrays)
                if blocks:
                    # A stage that waits by itself stands after the stage it waits for, which has as many blocks.
                    early = self.dependent or (stage.is_early and is_begun)
                    driver.launch(function, (blocks, 1, 1), self.stream, ctypes.addressof(pointers), early=early)
                    is_begun = True
        except LaunchError as error:
            started.report = 0
            if not is_begun:
                raise
            started.error = error.with_traceback(None)
        finally:
            for address in self.scratch:
                if address != started.report:
                    # Where the context is lost, the memory went with it, and what went wrong is said already.
                    with suppress(LaunchError):
                        loaded.device.free_async(address, self.stream)
        return started

    def _take(self, amount: int) -> int:
        address = self.loaded.device.allocate_async(max(amount, 16), self.stream)
        self.scratch.append(address)
        return address

    def _copied(self, table: Any, staged: list[Pinned]) -> int:
        address = self._take(table.nbytes)
        if not 0 < table.nbytes <= LARGEST:
            self.loaded.device.copy_from_host(address, table, self.stream)
            return address
        staged.append(in_pinned(self.loaded.device, table.reshape(-1).view(np.uint8)))
        self.loaded.device.copy_async(address, staged[-1].address, table.nbytes, self.stream)
        return address

    def _by_tensor(self) -> dict[Tensor, Any]:
        return {tensor: self.space.borders[tensor.name] for tensor in self.loaded.tensors
                if tensor.name in self.space.borders}  # fmt: skip


def start(
    loaded: Loaded, arrays: Mapping[str, Any], addresses: Mapping[str, int], scalars: Mapping[str, Any],
    dimensions: Mapping[str, int], space: LaunchSpace, stream: int, *, dependent: bool = False,
) -> Started:  # fmt: skip
    """Starts all stages on a stream, and waits for nothing. What is given back is kept until the launch is done.

    `dependent`: it may begin before the kernel ahead of it on the stream has ended, which is one of ours.
    """
    if dependent and not loaded.is_dependent:
        raise ValueError(f"`{loaded.code.name}` cannot begin before the kernel ahead of it has ended")
    return Launch(loaded, arrays, addresses, scalars, dimensions, space, stream, dependent).start()


def run(
    loaded: Loaded, arrays: Mapping[str, Any], addresses: Mapping[str, int], scalars: Mapping[str, Any],
    dimensions: Mapping[str, int], space: LaunchSpace, stream: int, *, dependent: bool = False,
) -> None:  # fmt: skip
    """The same, and waits where there is a check to look at."""
    started = start(loaded, arrays, addresses, scalars, dimensions, space, stream, dependent=dependent)
    if started.staged and not started.report:
        loaded.device.synchronize(stream)
    started.wait()
