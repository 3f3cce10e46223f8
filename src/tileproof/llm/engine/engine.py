"""The thread that steps. Any thread gives it requests, ends them, and has functions run between two steps.

The thread lives as long as there is work, so an engine that rests holds nothing. What comes from other threads goes
through one queue, which may be used anywhere: in a signal handler, or where garbage is collected.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

from tileproof.diagnostics.codes import Code

from ..errors import ModelError, refused
from ..request import Request
from .loop import Loop

Value = TypeVar("Value")
_MOST_FAILURES: Final = 3
"""Steps with a request that may fail, though it does not fail alone."""
_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


@dataclass(frozen=True, slots=True)
class EngineStats:
    """What an engine does now, and what it has done so far."""

    running: int
    waiting: int
    cache_usage: float
    """The share of the pages of the cache that requests have."""
    prefill_tokens: int
    generated_tokens: int
    prompt_tokens: int
    """Of requests that may share pages."""
    cached_tokens: int
    """Of these, tokens whose pages were shared."""
    preemptions: int
    steps: int


class Engine:
    """The requests of a model, and the thread that steps them."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self._commands: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.RLock()
        """Of starting the thread and of its end."""
        self._thread: threading.Thread | None = None
        self._deadlines = 0
        """Requests with a deadline."""
        _engines.add(self)

    # For other threads.

    def submit(self, requests: Sequence[Request]) -> None:
        """Queues requests. `on_chunk` and `on_finish` of each receive what is made of it."""

        def add() -> None:
            for request in requests:
                self._deadlines += request.deadline > 0
                self.loop.add(request)

        self._post(add)

    def abort(self, requests: Sequence[Request]) -> None:
        """Ends requests that are not finished, before the next step. Does not wait for that."""

        def end() -> None:
            for request in requests:
                if request.finish is None:
                    request.cancel()
                    self.loop.end(request)

        self._commands.put(end)  # the thread is there as long as one of these is unfinished

    def call(self, function: Callable[[], Value]) -> Value:
        """Runs a function between two steps, and waits for its value."""
        answers: SimpleQueue[tuple[Value | None, BaseException | None]] = SimpleQueue()

        def run() -> None:
            try:
                answers.put((function(), None))
            except BaseException as error:
                answers.put((None, error))

        self._post(run)
        value, error = answers.get()
        if error is not None:
            raise error
        return value  # type: ignore[return-value]

    def wait(self) -> None:
        """Waits until all requests are finished."""
        while (thread := self._thread) is not None:
            thread.join()

    @property
    def stats(self) -> EngineStats:
        """A moment's view: the thread goes on while it is taken."""
        loop, scheduler = self.loop, self.loop.scheduler
        pool = scheduler.pool
        return EngineStats(
            len(scheduler.running), len(scheduler.waiting), 1 - pool.free / pool.count, scheduler.prefill_tokens,
            loop.generated_tokens, scheduler.prompt_tokens, scheduler.cached_tokens, scheduler.preemptions, loop.steps,
        )  # fmt: skip

    def _post(self, command: Callable[[], None]) -> None:
        if threading.current_thread() is self._thread or self._lock._is_owned():  # type: ignore[attr-defined]
            cure = "call it from another thread, not in a callback of a step nor in a signal handler"
            raise refused(Code.PROMPT, "the engine is called in the middle of a step of its own", cure)
        with self._lock:
            self._commands.put(command)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tileproof engine", daemon=True)
                self._thread.start()

    # The thread.

    def _run(self) -> None:
        while True:
            self._obey()
            if self.loop.requests:
                self._step()
                continue
            with self._lock:
                if self._commands.empty():
                    self._thread = None
                    return

    def _obey(self) -> None:
        """Carries out what other threads have asked for."""
        while True:
            try:
                command = self._commands.get_nowait()
            except Empty:
                break
            command()
        if self._deadlines:
            self._end_late()
        self._deliver()

    def _step(self) -> None:
        try:
            if not self.loop.step():  # all that run wait for pages that `call` has taken
                time.sleep(1e-3)
        except BaseException as error:
            self._end_those_that_fail(error)
        self._deliver()

    def _end_those_that_fail(self, error: BaseException) -> None:
        """After a step that failed: runs its requests one by one, and ends those that fail alone.

        They go on from the tokens they have. Where none fails alone it is what they do together, such as the memory
        they need, so a request that was in several steps that failed is ended too.
        """
        suspects = list(self.loop.scheduler.running) or list(self.loop.requests)
        for request in suspects:
            request.failed_steps += 1
            if len(suspects) == 1 or request.failed_steps >= _MOST_FAILURES:
                self._fail(request, error)
        for request in suspects:
            self._obey()
            if request.finish is None:
                try:
                    self.loop.step_alone(request)
                except BaseException as own:
                    self._fail(request, own)
        self.loop.restart()

    def _fail(self, request: Request, error: BaseException) -> None:
        request.fail(error)
        self.loop.end(request)

    def _end_late(self) -> None:
        now = time.perf_counter()
        self._deadlines = sum(request.deadline > 0 for request in self.loop.requests)
        for request in [each for each in self.loop.requests if 0 < each.deadline <= now]:
            self._fail(request, RequestTimeout(f"the request was not finished after {now - request.arrived:.1f} s"))

    def _deliver(self) -> None:
        advanced = self.loop.advanced
        while advanced:
            request, _ = advanced.popitem()
            try:
                request.deliver()
            except Exception as error:  # of its own consumer, such as an event loop that is closed
                if request.finish is None:
                    self._fail(request, error)

    def _begin_in_child(self) -> None:
        """After a fork, which has copied no thread: what was under way goes on in the parent alone."""
        self._commands, self._lock, self._thread = SimpleQueue(), threading.RLock(), None
        self.loop.requests.clear()
        self.loop.advanced.clear()
        self.loop.scheduler.pool.clear()
        self.loop.restart()


class RequestTimeout(ModelError):
    """A request was not finished by its deadline."""

    def __init__(self, message: str) -> None:
        super().__init__(*refused(Code.PROMPT, message, "ask for fewer tokens, or raise the timeout").diagnostics)


def _begin_in_child() -> None:
    for engine in _engines:
        engine._begin_in_child()


os.register_at_fork(after_in_child=_begin_in_child)
