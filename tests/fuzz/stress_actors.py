"""Those who give work to streams in `host_stress`, and those who hold streams up."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import tileproof as tp
from tileproof.backends.cpu.device.queue import Queue
from tileproof.runtime.stream.cpu_streams import CpuStream
from tileproof.runtime.stream.thread_pool import queue_code


class Holds:
    """Holds streams up: each hold is let go by a thread of its own, a little later, in the order of each stream."""

    def __init__(self, chance: random.Random, longest: float) -> None:
        self._chance, self._longest = chance, longest
        self._counters: dict[CpuStream, tuple[Queue, list[int]]] = {}
        self._todo: list[tuple[float, Queue, int]] = []
        self._changed = threading.Condition()
        self._is_over = False
        self._thread = threading.Thread(target=self._let_go)
        self._thread.start()

    def hold(self, stream: CpuStream) -> None:
        """What is given to the stream from here on begins a little later."""
        counter, count = self._counters.setdefault(stream, (Queue(queue_code(), None), [0]))
        count[0] += 1
        with stream.ledger.lock:
            stream.turn = stream.queue.wait(counter, count[0])
        with self._changed:
            self._todo.append((time.monotonic() + self._chance.random() * self._longest, counter, count[0]))
            self._changed.notify()

    def _let_go(self) -> None:
        while True:
            with self._changed:
                while not self._todo and not self._is_over:
                    self._changed.wait()
                if not self._todo:
                    return
                when, counter, number = self._todo.pop(0)
            time.sleep(max(0.0, when - time.monotonic()))
            counter.reach(number)

    def end(self) -> None:
        """Lets everything go."""
        with self._changed:
            self._is_over = True
            self._changed.notify()
        self._thread.join()


class Loop:
    """An event loop in a thread, to which steps are given."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._tasks: list[asyncio.Task[None]] = []

    def give(self, make: Callable[[], Any], stream: tp.Stream, *, is_cancelled: bool) -> None:
        """Has a task await an operation; returns when all of it is given to the stream."""

        async def given() -> None:
            task = asyncio.get_running_loop().create_task(self._await(make, stream))
            self._tasks.append(task)
            await asyncio.sleep(0)
            if is_cancelled:
                task.cancel()

        asyncio.run_coroutine_threadsafe(given(), self._loop).result()

    async def _await(self, make: Callable[[], Any], stream: tp.Stream) -> None:
        with stream:
            await make()

    def end(self) -> None:
        async def all_of_them() -> None:
            for found in await asyncio.gather(*self._tasks, return_exceptions=True):
                if isinstance(found, BaseException) and not isinstance(found, asyncio.CancelledError):
                    raise found

        try:
            asyncio.run_coroutine_threadsafe(all_of_them(), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class Worker:
    """A thread that does what it is told, in order."""

    def __init__(self) -> None:
        self._todo: list[tuple[Callable[[], None], Future[None]]] = []
        self._changed = threading.Condition()
        self._is_over = False
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def give(self, function: Callable[[], None]) -> Future[None]:
        future: Future[None] = Future()
        with self._changed:
            self._todo.append((function, future))
            self._changed.notify()
        return future

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._todo and not self._is_over:
                    self._changed.wait()
                if not self._todo:
                    return
                function, future = self._todo.pop(0)
            try:
                function()
                future.set_result(None)
            except BaseException as error:
                future.set_exception(error)

    def end(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify()
        self._thread.join()
