"""Streams of the CPU: native queues, whose threads run kernels while Python goes on."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import weakref
from array import array
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from itertools import takewhile
from typing import Final

from tileproof.backends.base import device_number
from tileproof.backends.cpu.device.queue import CALL, LAST, STEP, Queue, call_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, TileproofError
from tileproof.runtime.memory.ledger import Abandoned, Outdated, Span, Tensor, Work, ledger_of, untraced
from tileproof.runtime.native import door
from tileproof.runtime.native.lease_lanes import MOST_SPANS

from .streams import Stream, chosen_stream
from .thread_pool import pool, queue_code

_MOST_PENDING: Final = 4096
"""How far Python may run ahead of a stream before it waits for half of that."""
_OPEN: Final = nullcontext()
_spare: deque[Queue] = deque()
"""Queues of streams that are gone: a thread is not started for each stream anew."""
_spare_counters: deque[Queue] = deque()
_all: weakref.WeakSet[CpuStream] = weakref.WeakSet()
_is_over: list[bool] = []
"""Has an entry when the process ends."""


class _Queued(Stream):
    """Work whose turns are counted by a native queue.

    No native code looks into the lane of such a stream before a launch, so leases are written there only when another
    stream or the host looks for them: until then `pending` has them.
    """

    queue: Queue
    written = 0
    """The last turn whose leases are in the lane; 0 if it is empty."""
    noted = 0
    """How many leases were taken since there was room for them all in the lane."""

    @property
    def done(self) -> int:
        return self.queue.counters[0]

    def has_done(self, turn: int) -> bool:
        return self.queue.counters[0] >= turn

    def until(self, turn: int) -> None:
        self.ledger.demand_free()
        self.queue.until(turn)

    def note_leases(self, work: Work) -> None:
        self.noted += len(work.reads) + len(work.writes)

    def write_leases(self) -> None:
        pending, written = self.pending, self.written
        if pending and pending[-1][0] > written:
            for turn, work in reversed([*takewhile(lambda entry: entry[0] > written, reversed(pending))]):
                self.lane.note(turn, work.reads, work.writes)
                self.written = turn

    def make_room(self) -> None:
        if self.noted > MOST_SPANS:
            with self.ledger.lock:
                self.write_leases()
                self.noted = 0
            super().make_room()

    def finished(self, done: int) -> list[tuple[Stream, Work]]:
        pending, over = self.pending, list[tuple[Stream, Work]]()
        while pending and pending[0][0] <= done:  # as `_taken_off` does, which would be one call more in a replay
            over.append((self, pending.popleft()[1]))
        if self.written:
            self.lane.retire(done)
            if self.written <= done:  # the lane is empty
                self.written = 0
        return over


class CpuStream(_Queued):
    """A stream of the CPU."""

    def __init__(self, device: str = "cpu") -> None:
        self._begin(device_number(device))
        _all.add(self)

    def _begin(self, device: int | None) -> None:
        super()._begin(device)
        try:
            self.queue = _spare.pop()
        except IndexError:
            self.queue = Queue(queue_code(), pool())
        self.turn = self.queue.done
        door.register(self.queue.address)
        if _is_over:
            self.queue.close()
        _keep_for_others(self, _spare)

    @staticmethod
    def default(device: int | None) -> CpuStream:
        """The stream for work that was given to none in particular."""
        if not _defaults:
            with _making:
                if not _defaults:
                    _defaults.append(CpuStream())
        return _defaults[0]

    @property
    def failures(self) -> int:  # type: ignore[override]
        return self.queue.failures

    def order_behind(self, other: Stream, turn: int) -> None:
        assert isinstance(other, _Queued)
        self.turn = self.queue.wait(other.queue, turn)

    def push(self, work: Work, steps: array[int], count: int = 1, last: array[int] | None = None) -> int:
        """Gives steps to the stream, and `last` ones if there are any; `work` keeps them."""
        self.ledger.demand_free()
        if len(self.pending) >= _MOST_PENDING:
            self._keep_up()
        if last is None:
            return self.submit(work, self.queue.push, steps.buffer_info()[0], count)
        end, words = last.buffer_info()
        return self.submit(work, self._push_two, steps.buffer_info()[0], count, end, words // STEP)

    def _push_two(self, steps: int, count: int, last: int, last_count: int) -> int:
        turn = self.queue.push(steps, count)
        try:
            return self.queue.push(last, last_count)
        except BaseException:
            self.queue.until(turn)
            raise

    def recover(self, work: Work) -> None:
        with suppress(MemoryError, RuntimeError), self.ledger.lock:
            if self.pending and self.pending[-1][1] is work:
                self.pending.pop()  # the rest of its leases may be missing
            self.turn = self.queue.push(0, 0)  # done when the work is, if it was given at all
            self.ledger.note(self, self.turn, work)
            _doubt(work)
            self.lost.remove(work)

    def _keep_up(self) -> None:
        """Waits until half of what is pending is done."""
        with self.ledger.lock:
            half = self.pending[len(self.pending) // 2][0] if self.pending else 0
        self.until(half)

    def call(self, name: str, function: Callable[[], None], reads: Sequence[Span] = (),
             writes: Sequence[Span] = (), keep: object = None) -> int:  # fmt: skip
        """Has the thread of the stream call a function of Python in its turn; what it raises fails the work."""
        work = Called(name, function, reads, writes, keep)
        return self.push(work, work.steps)


class Called(Work):
    """A function of Python that a stream calls."""

    __slots__ = ("_code", "_raised", "own", "steps")

    def __init__(self, name: str, function: Callable[[], None], reads: Sequence[Span], writes: Sequence[Span],
                 keep: object = None) -> None:  # fmt: skip
        super().__init__(name, reads, writes, keep)
        self.own: Sequence[Tensor] = ()
        """Tensors that nobody else may have got hold of meanwhile."""
        # Nothing here refers to itself, as `ctypes.cast` would have it: memory goes back with the last reference.
        self._raised = raised = deque[BaseException | None]()

        def call(_: int | None) -> int:
            try:
                function()
            except BaseException as error:
                error.__traceback__ = None
                raised.append(error)
                return 1
            raised.append(None)
            return 0

        self._code = CALL(call)
        self.steps = array("Q", call_of(ctypes.c_void_p.from_buffer(self._code).value or 0))

    def is_current(self) -> bool:
        return super().is_current() and not any(tensor.block.is_shared for tensor in self.own)

    def failure(self) -> BaseException | None:
        # In a graph it is called again and again, perhaps before anybody asks how it went the first time.
        return self._raised.popleft() if self._raised else None

    def leave(self) -> None:
        self._raised.clear()


class Caller(_Queued):
    """What one Python thread does itself: launches and replays. Others wait for it as for a stream."""

    def __init__(self) -> None:
        self._begin(None)
        try:
            self.queue = _spare_counters.pop()
        except IndexError:
            self.queue = Queue(queue_code(), None)
        self.turn = self.queue.done
        door.register(self.queue.address)
        self.reach = self.queue.reaching()
        """Says that a turn is done. It is no function of Python: before one begins, a handler of a signal may raise."""
        self._run_steps: Callable[[int, int, int], int] | None = None
        self.broken: dict[int, BaseException] = {}
        """Why work that was begun did not end well, by turn, until its bytes are known to hold nothing that counts."""
        _keep_for_others(self, _spare_counters)

    def begin(self, work: Work) -> int:
        """Takes the leases of work that this thread is about to do, once those who have them are done. When the work
        is over, `reach` gives them back; if it failed, that is noted in `broken` before."""
        ledger, taken = self.ledger, 0
        ledger.demand_free()
        self.make_room()
        try:
            with ledger.lock, ledger.door if work.guards else _OPEN:
                if not work.is_current():
                    raise Outdated
                conflicts = ledger.conflicts(self, work.reads, work.writes)
                is_alone = ledger.is_alone
                if self.pending:
                    ledger.retire()  # all that is done, in order: its own work may have read what failed elsewhere
                self.turn = taken = self.turn + 1
                self.queue.counters[LAST] = taken
                ledger.note(self, taken, work)
                work.note_writes()
            for other, turn in conflicts:
                assert isinstance(other, _Queued)
                other.queue.until(turn)
            if ledger.poisoned or not is_alone:
                ledger.demand_whole(work)
        except BaseException as error:
            if taken:
                self.broken[taken] = error
                self.reach(taken)
                self.settle()
            raise
        return taken

    def run(self, work: Work, function: Callable[[int], object]) -> None:
        """Has this thread do work by a function of its turn, which may note that the turn is done. If it fails, what it
        wrote of our own tensors holds nothing that counts."""
        turn = self.begin(work)
        try:
            if function(turn):
                raise work.failure() or MemoryError(f"no memory for what `{work.name}` works in")
        except BaseException as error:
            # Written out: a context manager calls functions of Python at the end, before which a signal may raise.
            if self.queue.counters[0] < turn:
                self.broken[turn] = error
                self.reach(turn)
                self.settle()
            raise
        self.reach(turn)

    def run_steps(self, work: Work, address: int, count: int) -> None:
        """The same of native steps."""
        run_steps = self._run_steps
        if run_steps is None:
            run_steps = self._run_steps = self.queue.running(pool())
        self.run(work, partial(run_steps, address, count))

    def settle(self, turns: Collection[int] | None = None) -> None:
        super().settle(turns)
        self.broken.clear()  # a signal that came before the leases were taken broke nothing

    def failure_of(self, work: Work) -> BaseException | None:
        # The launch raised it, so only those who read what it left are still to learn of it.
        error = self.broken.pop(work.turn, None)
        if error is None:
            return None
        _doubt(work)
        if isinstance(error, TileproofError):
            return untraced(error)
        # A signal, perhaps: whoever reads later learns what happened to the memory, not to whom.
        return RuntimeError(f"a launch was interrupted by {type(error).__name__} when it was to write this memory")


def _doubt(work: Work) -> None:
    """Forgets what interrupted work vouched for: it may not have come about, or have been half written."""
    work.note = None
    work.note_writes()
    for view in work.views or ():
        view.block.writes += 1


def _keep_for_others(stream: CpuStream | Caller, spare: deque[Queue]) -> None:
    """Has the queue of a stream be another's when the stream is gone."""
    weakref.finalize(stream, _give_back, spare, stream.queue, os.getpid()).atexit = False


def _give_back(spare: deque[Queue], queue: Queue, process: int) -> None:
    if process == os.getpid():  # else its thread is in the process that this one was forked off
        spare.append(queue)


_defaults: list[CpuStream] = []
_making = threading.RLock()


class _Mine(threading.local):
    """What each thread has of its own."""

    caller: Caller | None = None


_mine = _Mine()


def current() -> CpuStream:
    """The stream that work of the CPU goes to now."""
    stream = chosen_stream(None)
    if stream is None:
        return _defaults[0] if _defaults else CpuStream.default(None)
    assert isinstance(stream, CpuStream)
    return stream


def caller() -> Caller:
    """This thread, as one that does work itself."""
    own = _mine.caller
    if own is None:
        own = _mine.caller = Caller()
    return own


def run_steps(steps: array[int], work: Work) -> None:
    """Has this thread do native steps."""
    address, words = steps.buffer_info()
    caller().run_steps(work, address, words // STEP)


def _is_launching() -> bool:
    """Whether this thread is in the middle of work that it does itself."""
    own = _mine.caller
    return own is not None and own.turn > own.queue.counters[0]


def _poison_pending(error: Exception) -> None:
    """Drops all work that has not run, and poisons what it would have written. The caller holds the ledger's lock."""
    ledger = ledger_of(None)
    ledger.retire()
    for stream in {*tuple(_all), *ledger.under_way()}:
        for turn, work in stream.pending:
            if turn > stream.done:
                ledger.poison(work.writes, error)
                work.leave()
        stream.pending.clear()
        stream.lane.clear()
    ledger.forget_all()


def _start_anew() -> None:
    """In a process that was forked off: its parent's threads are not here, and what they were doing is not done."""
    global _making, _mine
    _making = threading.RLock()
    gone = Diagnostic(
        Code.FORKED,
        "this process was forked while a kernel wrote this memory, and the kernel runs in the parent only",
        help="wait for the stream before the fork: `stream.synchronize()`; or start processes by `spawn`",
    )
    _poison_pending(TileproofError(gone))
    _spare.clear()
    _spare_counters.clear()
    door.forget_queues()
    _mine = _Mine()
    for stream in tuple(_all):
        stream.errors.clear()
        stream.reported.clear()
        stream.queue = Queue(queue_code(), pool())
        stream.turn = stream.queue.done
        stream.written = 0
        door.register(stream.queue.address)
        _keep_for_others(stream, _spare)


def _abandon() -> None:
    """At the end of the process: what is under way is ended before the memory it uses goes, and nothing begins."""
    with ledger_of(None).lock:
        _is_over.append(True)
        queues = [*(stream.queue for stream in tuple(_all)), *_spare]
        for queue in queues:
            queue.close()
    for queue in queues:
        queue.abandon()
    with ledger_of(None).lock:
        _poison_pending(Abandoned("a kernel was to write this memory, and the process ended before it did"))


ledger_of(None).is_launching = _is_launching
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
atexit.register(_abandon)
