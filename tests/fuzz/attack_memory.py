"""What attacks are made with: memory of every kind with nothing next to it, and writers that keep to no lease."""

from __future__ import annotations

import mmap
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
import pytest

import tileproof as tp
from fuzz.attacks import Rounds, move_away
from support.guarded import guarded

needs_torch: Final = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]
KINDS: Final = ("numpy", pytest.param("torch", marks=needs_torch), "asarray", "tensor")
"""Arrays of numpy, tensors of torch, tensors of ours over memory of numpy, and tensors of ours."""
_SPACE: Final = 1024
"""How many elements are compared before and after a tensor of ours."""
_BURST: Final = 200
"""How often all values are written without a rest."""


class Memory:
    """An array in memory of some kind. A forbidden page follows it, or elements that are compared afterwards."""

    def __init__(self, kind: str, array: Any) -> None:
        self._array: Any = None
        """Over the same memory, unless the memory is ours."""
        self._around: Any = None
        if kind == "tensor":
            # Zeros would do for positions, and hide a load from outside.
            self._outside = np.full(_SPACE, 99, array.dtype)
            whole = np.concatenate((self._outside, array.ravel(), self._outside))
            self._around = tp.from_numpy(whole)
            self.argument: Any = self._around[_SPACE : _SPACE + array.size].reshape(*array.shape)
            return
        self._array = self.argument = guarded(array, "end")
        if kind == "torch":
            import torch

            self.argument = torch.from_numpy(self._array)
        elif kind == "asarray":
            self.argument = tp.asarray(self._array)

    def view(self) -> Any:
        """An array over the memory, for plain stores."""
        return self._array if self._around is None else self.argument.numpy()

    def set(self, values: Any) -> None:
        """Writes all elements, as their owner does."""
        if self._around is None:
            self._array[...] = values
        else:
            self.argument[...] = values

    def get(self) -> Any:
        """What launches left here, once they are done; raises what went wrong with them."""
        if self._around is None:
            return self._array.copy()
        return self.argument.numpy().copy()

    def check(self) -> None:
        """Nobody wrote next to it."""
        if self._around is not None:
            for part in (self._around[:_SPACE], self._around[-_SPACE:]):
                assert (part.numpy() == self._outside).all(), "memory next to a tensor was written"


def _write(words: Any, memory: Any, values: Sequence[Any], hold: float) -> None:
    """Writes values one after another until the first word is set, and counts them in the second."""
    move_away()
    parent, chance = os.getppid(), random.Random(0)
    while not words[0] and os.getppid() == parent:
        # Who sleeps is given a processor as soon as it wakes, also where there is much else to do.
        for _ in range(1 if hold else _BURST):
            for value in values:
                memory[...] = value
                words[1] += 1
                if hold:
                    time.sleep(chance.uniform(0, hold))
        if not hold:
            time.sleep(1e-5)


class Stores:
    """Plain stores, again and again: by a process over memory that it shares, or by a thread over memory of ours.

    Each value stays for up to `hold` seconds. With 0 they come in bursts, as fast as can be.
    """

    def __init__(self, memory: Memory, *values: Any, hold: float = 0) -> None:
        self._target, self._values, self._hold = memory.view(), values, hold
        self._is_shared = memory._around is None
        self.each = 1 if hold else 100
        """How many writes there are to be for each launch."""
        self._words = np.frombuffer(mmap.mmap(-1, 16), np.int64)

    @property
    def writes(self) -> int:
        return int(self._words[1])

    def __enter__(self) -> Self:
        given = self._words, self._target, self._values, self._hold
        if self._is_shared:
            self._child = os.fork()
            if not self._child:
                try:
                    _write(*given)
                finally:
                    os._exit(0)
        else:
            self._thread = threading.Thread(target=_write, args=given, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._words[0] = 1
        if self._is_shared:
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)
        else:
            self._thread.join()
            self._target = None


class Calls:
    """A thread that calls functions one after another, again and again; errors of ours do not end it."""

    def __init__(self, *functions: Callable[[], object]) -> None:
        self.writes, self.each = 0, 1
        self._functions, self._is_over = functions, False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._call, daemon=True)

    def _call(self) -> None:
        move_away()
        try:
            while not self._is_over:
                for function in self._functions:
                    try:
                        function()
                    except tp.TileproofError:
                        continue
                    self.writes += 1
        except BaseException as error:
            self._error = error

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._is_over = True
        self._thread.join()
        if kind is None and self._error is not None:
            raise self._error


def launch_repeatedly(count: int, writer: Stores | Calls, launch: Callable[[], None], *memory: Memory) -> None:
    """Launches while others write, and compares what lies next to the memory."""
    with writer:
        rounds = Rounds(count, lambda: writer.writes, writer.each)
        for _ in rounds:
            with rounds.attempt():
                launch()
    for each in memory:
        each.check()


def use_threads(count: int) -> None:
    """Has kernels of this process, none of which was launched yet, run on so many threads."""
    os.environ["TILEPROOF_THREADS"] = str(count)
