"""Streams of the CPU: native queues, whose threads run kernels while Python goes on."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import weakref
from array import array
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from tileproof.backends.cpu.queue import CALL, STEP, Queue, call_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import InFlight, TileproofError

from . import waking
from .leases import Outdated, Span, Use, Work, ledger_of, untraced
from .streams import Stream, chosen_stream, device_number, watched
from .workers import pool, queue_code

if TYPE_CHECKING:
    from .tensors import Tensor

_MOST_PENDING: Final = 4096
"""How far Python may run ahead of a stream before it waits for half of that."""
_spare: deque[Queue] = deque()
"""Queues of streams that are gone: a thread is not started for each stream anew."""
_spare_counters: deque[Queue] = deque()
_all: weakref.WeakSet[CpuStream] = weakref.WeakSet()
_is_over: list[bool] = []
"""Has an entry when the process ends."""


class CpuStream(Stream):
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
        self._words = self.queue._words
        self.turn = self.queue.done
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
    def done(self) -> int:
        return self._words[0]

    @property
    def failures(self) -> int:  # type: ignore[override]
        return self._words[1]

    def has_done(self, turn: int) -> bool:
        return self._words[0] >= turn

    def order_behind(self, other: Stream, turn: int) -> None:
        assert isinstance(other, CpuStream | Caller)
        self.turn = self.queue.wait(other.queue, turn)
        behind, done = self.behind, self._words[0]
        while behind and behind[0][0] <= done:
            behind.popleft()
        behind.append((self.turn, other, turn))

    def until(self, turn: int) -> None:
        if self.behind:
            _demand_way(self, turn)
        self.queue.until(turn)

    def reached(self, turn: int) -> Awaitable[None]:
        return waking.reached(self, turn)

    def set_alarm(self, place: int, turn: int, file: int) -> bool:
        return self.queue.alarm(place, turn, file)

    def push(self, work: Work, steps: array[int], count: int = 1, last: array[int] | None = None) -> int:
        """Gives steps to the stream, and `last` ones if there are any; `work` keeps them."""
        if len(self.pending) >= _MOST_PENDING:
            self._keep_up()
        submit = self._submit_inside if self.ledger.is_interrupted else self.submit
        if last is None:
            return submit(work, self.queue.push, steps.buffer_info()[0], count)
        end, words = last.buffer_info()
        return submit(work, self._push_two, steps.buffer_info()[0], count, end, words // STEP)

    def _push_two(self, steps: int, count: int, last: int, last_count: int) -> int:
        turn = self.queue.push(steps, count)
        try:
            return self.queue.push(last, last_count)
        except BaseException:
            self.until(turn)
            raise

    def _submit_inside(self, work: Work, start: Callable[..., int], *args: int) -> int:
        """`submit` for a handler of a signal that came when this thread was about to do the like: whatever was given
        is done before this, and this when it returns. So it needs no leases, and nothing that was read of the ledger
        has changed."""
        ledger = self.ledger
        ledger.finish_all()
        if not work.is_current():
            raise Outdated
        try:
            work.given()
            work.turn = turn = start(*args)
            self.until(turn)
        except BaseException:
            self.lost.append(work)
            self.recover(work)
            raise
        given = watched.get()
        if given is not None:
            given.setdefault(self, []).append(turn)
            self.owed[turn] = None
        ledger.finish([(self, work)])
        return turn

    def recover(self, work: Work) -> None:
        with suppress(MemoryError, RuntimeError):
            with self.ledger.lock:
                work.note = None  # what it vouches for, or was to write, may not have come about
                work.given()
                for view in work.views or ():
                    view.block.version += 1
                self.turn = self.queue.push(0, 0)
            self.until(self.turn)
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


class Caller(Stream):
    """What one thread of Python does itself: launches that it waits for. Others wait for it as for any stream."""

    def __init__(self) -> None:
        self._begin(None)
        self._thread = threading.get_ident()
        try:
            self.queue = _spare_counters.pop()
        except IndexError:
            self.queue = Queue(queue_code(), None)
        self._words = self.queue._words
        self.turn = self.queue.done
        self.reach = self.queue.reaching()
        """Says that a turn is done. It is no function of Python: before one begins, a handler of a signal may raise."""
        _keep_for_others(self, _spare_counters)

    @property
    def done(self) -> int:
        return self._words[0]

    def has_done(self, turn: int) -> bool:
        return self._words[0] >= turn

    def order_behind(self, other: Stream, turn: int) -> None:
        other.until(turn)

    def until(self, turn: int) -> None:
        _demand_way(self, turn)
        self.queue.until(turn)

    @property
    def is_interrupted(self) -> bool:
        """Whether this very thread is in the middle of a launch: a handler of a signal asks."""
        return self.turn > self.done and self._thread == threading.get_ident()

    def reached(self, turn: int) -> Awaitable[None]:
        return waking.reached(self, turn)

    def set_alarm(self, place: int, turn: int, file: int) -> bool:
        return self.queue.alarm(place, turn, file)

    def begin(self, work: Work) -> int:
        """Takes the leases of work that this thread is about to do, once those who have them are done."""
        ledger, taken = self.ledger, 0
        conflicts: Sequence[Use] = ()
        is_inside = ledger.is_interrupted  # then it is done before anyone asks, and needs no leases
        is_alone = False
        try:
            with ledger.lock:
                if is_inside:
                    ledger.finish_all()
                if not work.is_current():
                    raise Outdated
                if not is_inside:
                    is_alone = ledger.alone is self
                    conflicts = () if is_alone else ledger.conflicts(self, work)
                    if self.pending:
                        ledger.retire()  # all that is done, in order: its own work may have read what failed elsewhere
                self.turn = taken = self.turn + 1
                if is_inside:
                    ledger.renew(work)
                else:
                    ledger.note(self, taken, work)
                work.given()
            if conflicts:
                self.behind = deque((taken, other, turn) for other, turn in conflicts)
                for other, turn in conflicts:
                    other.until(turn)
                self.behind.clear()
            if not is_inside and not is_alone:
                ledger.demand_whole(work)
        except BaseException as error:
            if taken:
                self.fail(taken, work.written(), error)
            raise
        return taken

    def fail(self, turn: int, spans: Iterable[Span], error: BaseException) -> None:
        """Gives them back after a failure: some of the bytes hold nothing that counts."""
        if not isinstance(error, TileproofError):
            # A signal, perhaps: whoever reads later is told what happened to the memory, not to whom.
            error = RuntimeError(f"a launch was interrupted by {type(error).__name__} when it was to write this memory")
        with self.ledger.lock:
            self.pending.clear()  # or it would count as work that went well
            self.ledger.retire()  # what wrote the same bytes before would otherwise be taken to have cured them
            self.ledger.poison(spans, untraced(error))
            self.reach(turn)

    @contextmanager
    def doing(self, work: Work) -> Iterator[None]:
        """Does work on this thread. If it fails, what it wrote of our own tensors holds nothing that counts."""
        turn = self.begin(work)
        try:
            yield
        except BaseException as error:
            self.fail(turn, work.written(), error)
            raise
        else:
            self.reach(turn)


def _demand_way(stream: Stream, turn: int) -> None:
    """Refuses to wait for a launch that this very thread is in the middle of, and for what waits for it in turn."""
    left: list[Use] = [(stream, turn)]
    looked: dict[Stream, int] = {}
    while left:
        each, wanted = left.pop()
        if each.done >= wanted or looked.get(each, 0) >= wanted:
            continue
        looked[each] = wanted
        if isinstance(each, Caller) and each.is_interrupted:
            what = "the launch that it interrupted" if each is stream else "work behind the launch that it interrupted"
            raise InFlight(
                Diagnostic(
                    Code.IN_FLIGHT,
                    f"a handler of a signal waits for {what}, which cannot go on meanwhile",
                    help="have the handler only note that the signal came, and look at it behind the launch",
                )
            )
        left += [(other, at) for own, other, at in tuple(each.behind) if each.done < own <= wanted]


def _keep_for_others(stream: CpuStream | Caller, spare: deque[Queue]) -> None:
    """Has the queue of a stream be another's when the stream is gone."""
    weakref.finalize(stream, _give_back, spare, stream.queue, os.getpid()).atexit = False


def _give_back(spare: deque[Queue], queue: Queue, process: int) -> None:
    if process == os.getpid():  # else its thread is in the process that this one was forked off
        spare.append(queue)


class _Callers(threading.local):
    def __init__(self) -> None:
        self.caller = Caller()


_callers: list[_Callers] = []
_defaults: list[CpuStream] = []
_making = threading.RLock()


def current() -> CpuStream:
    """The stream that work of the CPU goes to now."""
    found = chosen_stream(None)
    if found is None:
        return _defaults[0] if _defaults else CpuStream.default(None)
    assert isinstance(found, CpuStream)
    return found


def caller() -> Caller:
    """This thread, as one that does work itself."""
    if not _callers:
        with _making:
            if not _callers:
                _callers.append(_Callers())
    found = _callers[0].caller
    # In the middle of its work, a handler of a signal may do some of its own.
    return found if found.turn <= found.done else Caller()


def _finish_all() -> None:
    """Waits until nothing is under way but what this thread was about to begin."""
    ledger = ledger_of(None)
    for stream in {*tuple(_all), *(each for each in (ledger.alone, *ledger.streams) if each is not None)}:
        if isinstance(stream, CpuStream):
            stream.until(stream.queue.given)
        elif isinstance(stream, Caller) and not stream.is_interrupted:
            stream.until(stream.turn)


def _leave(error: Exception) -> None:
    """Forgets all work under way; what it was to write holds nothing that counts. The ledger's lock is held."""
    ledger = ledger_of(None)
    ledger.retire()
    for stream in {*tuple(_all), *(each for each in (ledger.alone, *ledger.streams) if each is not None)}:
        for turn, work in stream.pending:
            if turn > stream.done:
                ledger.poison(work.writes, error)
                work.leave()
        stream.pending.clear()
        stream.seen.clear()
        stream.behind.clear()
    ledger.alone, ledger.map, ledger.streams = None, None, []


def _start_anew() -> None:
    """In a process that was forked off: its parent's threads are not here, and what they were doing is not done."""
    global _making
    _making = threading.RLock()
    gone = Diagnostic(
        Code.FORKED,
        "this process was forked while a kernel wrote this memory, and the kernel runs in the parent only",
        help="wait for the stream before the fork: `stream.synchronize()`; or start processes by `spawn`",
    )
    _leave(TileproofError(gone))
    _spare.clear()
    _spare_counters.clear()
    _callers.clear()
    for each in tuple(_all):
        each.errors.clear()
        each.owed.clear()
        each.queue = Queue(queue_code(), pool())
        each._words = each.queue._words
        each.turn = each.queue.done
        _keep_for_others(each, _spare)


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
        _leave(RuntimeError("a kernel was to write this memory, and the process ended before it did"))


ledger_of(None).finish_all = _finish_all
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
atexit.register(_abandon)

__all__ = ["Called", "Caller", "CpuStream", "caller", "current"]
