"""Waking tasks of asyncio when work is done, without looking again and again.

Each event loop has a pipe that it reads. The thread that finishes work writes a few bytes to it, which is all that
happens outside Python; the loop then wakes the tasks whose work is done. Work that is nearly done is waited for on the
spot, for at most 20 microseconds: that is less than to go to sleep and be woken.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Generator
from contextlib import suppress
from time import perf_counter_ns
from typing import Any, Final

from tileproof.backends.cpu.queue import ALARMS
from tileproof.diagnostics.errors import LaunchError

from .streams import Stream

_PATIENCE: Final = 20_000
"""Nanoseconds for which a task may hold up its loop."""
_CARE: Final = 0.5
"""Seconds after which a GPU is looked at that has rung no alarm."""


class Waker:
    """The pipe of one event loop, and the tasks that wait in it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, place: int) -> None:
        self.place = place
        """Which alarm of every stream is this loop's."""
        self.waiting: dict[Stream, list[tuple[int, asyncio.Future[None]]]] = {}
        self.is_caring = False
        """Whether it looks again by itself after a while."""
        self.read_end, self.write_end = _pipe_of(place)
        loop.add_reader(self.read_end, self.wake)
        self.give_back = weakref.finalize(loop, _places.append, place)
        """Gives the place to the next loop, when this one is closed or gone."""
        self.give_back.atexit = False

    def wake(self) -> None:
        """Wakes the tasks whose work is done, and sets the alarms of the others again."""
        with suppress(BlockingIOError):
            os.read(self.read_end, 4096)
        for stream in tuple(self.waiting):
            self._look(stream)

    def _look(self, stream: Stream) -> None:
        while True:
            left = []
            for turn, future in self.waiting.get(stream, ()):
                if future.done():
                    continue  # cancelled
                try:
                    is_done = stream.has_done(turn)
                except LaunchError as error:  # the context of a GPU is lost
                    future.set_exception(error)
                    continue
                if is_done:
                    future.set_result(None)
                else:
                    left.append((turn, future))
            if not left:
                self.waiting.pop(stream, None)
                return
            self.waiting[stream] = left
            with suppress(LaunchError):
                if stream.set_alarm(self.place, min(turn for turn, _ in left), self.write_end):
                    continue
            if stream.device is not None and not self.is_caring:
                self.is_caring = True
                asyncio.get_running_loop().call_later(_CARE, self._care)
            return

    def _care(self) -> None:
        """Looks again at streams of GPUs, which ring no alarm when their context is lost."""
        self.is_caring = False
        for stream in tuple(self.waiting):
            if stream.device is not None:
                self._look(stream)

    def add(self, stream: Stream, turn: int, future: asyncio.Future[None]) -> None:
        """Has a future done when some work is."""
        self.waiting.setdefault(stream, []).append((turn, future))
        self._look(stream)

    def forget(self, stream: Stream, future: asyncio.Future[None]) -> None:
        """Drops a future that nobody waits for any more; it would keep its loop."""
        left = [each for each in self.waiting.get(stream, ()) if each[1] is not future]
        if left:
            self.waiting[stream] = left
        else:
            self.waiting.pop(stream, None)


_wakers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Waker] = weakref.WeakKeyDictionary()
_places = list(range(ALARMS))
_pipes: dict[int, tuple[int, int]] = {}
"""Never closed: a thread may be about to write to one, and its number would soon be that of another file."""
_changing = threading.Lock()


def _pipe_of(place: int) -> tuple[int, int]:
    if place not in _pipes:
        _pipes[place] = ends = os.pipe()
        for end in ends:
            os.set_blocking(end, False)
    return _pipes[place]


def waker_of(loop: asyncio.AbstractEventLoop) -> Waker | None:
    """What wakes the tasks of a loop; None if there are more loops than alarms."""
    found = _wakers.get(loop)
    if found is None:
        with _changing:
            for each in [each for each in tuple(_wakers) if each.is_closed()]:
                _wakers.pop(each).give_back()
            if not _places:
                return None
            place = _places.pop()
            try:
                found = _wakers[loop] = Waker(loop, place)
            except BaseException:
                _places.append(place)
                raise
    return found


def _start_anew() -> None:
    """In a process that was forked off: what it read would be missing in its parent."""
    global _changing
    _changing = threading.Lock()
    _wakers.clear()
    _pipes.clear()
    _places[:] = range(ALARMS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


class Reached:
    """An awaitable that is over when some work is done."""

    __slots__ = ("stream", "turn")

    def __init__(self, stream: Stream, turn: int) -> None:
        self.stream, self.turn = stream, turn

    def __await__(self) -> Generator[Any, None, None]:
        stream, turn = self.stream, self.turn
        if stream.done >= turn:
            return
        start = perf_counter_ns()
        while perf_counter_ns() - start < _PATIENCE:
            if stream.has_done(turn):
                return
        loop = asyncio.get_running_loop()
        waker = waker_of(loop)
        if waker is None:
            yield from loop.run_in_executor(None, stream.until, turn).__await__()
            return
        future: asyncio.Future[None] = loop.create_future()
        try:
            waker.add(stream, turn, future)
            yield from future.__await__()
        finally:
            if future.cancelled() or not future.done():
                waker.forget(stream, future)


def reached(stream: Stream, turn: int) -> Reached:
    """An awaitable that is over when some work is done. To cancel it changes nothing for the work."""
    return Reached(stream, turn)
