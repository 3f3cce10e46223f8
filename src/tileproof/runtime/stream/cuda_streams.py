"""Streams of GPUs: those of the driver, whether we made them or another library did.

Nothing is recorded at a launch. Whoever asks how far a stream is has a *mark* recorded, an event with the number of the
last work before it, and looks at that; the marks that others asked for are looked at on the way. A stream that records
a graph does nothing, so it has no marks: to ask is an error, and what it is given takes no leases.
"""

from __future__ import annotations

import heapq
import os
import sys
import weakref
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from contextvars import ContextVar
from itertools import groupby
from operator import itemgetter
from types import TracebackType
from typing import Any, Final, Self

from tileproof.backends.base import device_number
from tileproof.backends.cuda.device.driver import Device, Event
from tileproof.backends.cuda.device.driver_api import Driver
from tileproof.diagnostics.errors import LaunchError, TileproofError
from tileproof.runtime.interop import describe
from tileproof.runtime.memory.ledger import Outdated, Span, Work, ledger_of, raise_again
from tileproof.runtime.native.lease_lanes import Lane

from .streams import Stream, current_stream

_OFTEN: Final = 64
"""How much work is given between two looks at how far a stream is, if nobody asks."""
_MOST_PENDING: Final = 4096
"""How far Python may run ahead of a stream before it waits for half of that."""
_MOST_FOREIGN: Final = 64
"""How many streams of others are known before those that are idle are forgotten."""

_foreign: dict[tuple[int, int], CudaStream] = {}
"""Streams that others made, by GPU and handle."""
_own: weakref.WeakValueDictionary[tuple[int, int], CudaStream] = weakref.WeakValueDictionary()
_entered: ContextVar[tuple[tuple[CudaStream, Any], ...]] = ContextVar("tileproof_torch_streams", default=())
"""For each `with` block of a stream what makes torch's stream of before current again; None if there is no torch."""


class _Mark:
    """A moment of a stream: all work up to a turn is done when it has come."""

    __slots__ = ("event", "is_over", "turn", "waiting")

    def __init__(self, turn: int, event: Event) -> None:
        self.turn, self.event = turn, event
        self.waiting = 0
        """How many threads wait for it: until they are back the event is not handed out again."""
        self.is_over = False

    def let_go(self) -> None:
        if self.is_over and not self.waiting:
            self.event.give_back()


class CudaStream(Stream):
    """A stream of a GPU. `priority` is 0 or less: of two streams the lower goes first."""

    def __init__(self, device: str = "cuda", *, priority: int = 0) -> None:
        number = device_number(device)
        assert number is not None
        gpu = Device(number)
        handle = gpu.make_stream(priority)
        self._open(gpu, handle)
        weakref.finalize(self, _end, gpu, handle, self._driver).atexit = False
        _foreign.pop((number, handle), None)  # the stream that had this handle before is no more
        _own[number, handle] = self

    def _open(self, gpu: Device, handle: int, keep: object = None) -> None:
        self.gpu, self.handle = gpu, handle
        self._driver = gpu.driver
        self._keep = keep
        self._done = self._number = self._since = 0
        self._marks: deque[_Mark] = deque()
        self._external: Any = None
        self.ahead = 0
        """The last work, if it is a launch that lets the next one be brought to the GPU while it runs."""
        self._begin(gpu.ordinal)

    def _lane(self) -> Lane:
        return Lane(self.handle)  # it has the number of the last work, too

    @classmethod
    def of(cls, device: int, handle: int, keep: object = None) -> CudaStream:
        """The stream with a handle of the driver, whoever made it; `keep` is what ends it when it is dropped."""
        gpu = Device(device)
        known = _own.get((device, handle)) or _foreign.get((device, handle))
        if known is not None and known._driver is gpu.driver:
            return known
        if len(_foreign) > _MOST_FOREIGN:
            for key, stream in list(_foreign.items()):
                if stream.done >= stream.turn and not stream.ledger.knows(stream):
                    del _foreign[key]
        opened = object.__new__(cls)
        opened._open(gpu, handle, keep)
        _foreign.pop((device, handle), None)
        return _foreign.setdefault((device, handle), opened)

    @classmethod
    def default(cls, device: int) -> CudaStream:
        """The stream for work that was given to none in particular: the current one of torch or cupy, else stream 0."""
        handle = describe.current_stream(device)
        stream = _foreign.get((device, handle))
        if stream is not None and stream._driver is stream.gpu.driver:
            return stream
        return cls.of(device, handle, _cupy_stream(device))

    # Turns.

    @property
    def turn(self) -> int:
        """The number of the last work that was given."""
        return self.lane.turn

    @turn.setter
    def turn(self, turn: int) -> None:
        self.lane.turn = turn

    @property
    def done(self) -> int:
        # Where the context is lost nothing is under way, and memory may go.
        return self.lane.turn if self._driver.lost is not None else self._done

    def has_done(self, turn: int) -> bool:
        if self._done >= turn:
            return True
        with self.ledger.lock:
            self._mark_for(turn)
            self._look()
            return self._done >= turn

    def is_idle(self) -> bool:
        with self.ledger.lock:
            if self.done >= self.turn:
                return True
            self._look()
            # What waits for an earlier mark needs no other, and a stream that records a graph can have none.
            return not self._marks and not self.is_recording and self.has_done(self.turn)

    def until(self, turn: int) -> None:
        if self._done >= turn:
            return
        with self.ledger.lock:
            mark = self._mark_for(turn)
            mark.waiting += 1
        try:
            mark.event.synchronize()
        finally:
            with self.ledger.lock:
                mark.waiting -= 1
                mark.let_go()
        with self.ledger.lock:
            self._reach(mark.turn)

    def mark(self, turn: int) -> None:
        """Remembers where some work ends: who waits for it later then waits for nothing that is given in between."""
        with self.ledger.lock:
            self._mark_for(turn)

    def know(self, turn: int) -> None:
        """Is told that some work is done, by who waited for it."""
        with self.ledger.lock:
            self._reach(turn)

    def order_behind(self, other: Stream, turn: int) -> None:
        assert isinstance(other, CudaStream)
        self.ahead = 0
        with other.ledger.lock:
            mark = other._mark_for(turn)
            mark.event.wait_on(self.handle)
        self.see(other, mark.turn)

    def settle(self, turns: Collection[int] | None = None) -> None:
        super().settle(turns)
        if self._driver.lost is not None and (self.turn if turns is None else max(turns, default=0)) > self._done:
            raise self._driver.gone("waiting for a stream")

    @property
    def is_recording(self) -> bool:
        """Whether it records a graph instead of doing what it is given."""
        driver = self._driver
        if driver.lost is None:
            # Without `call`, and in whatever context: this comes before all work. A stream knows its context.
            result, state = driver.api.cuStreamIsCapturing(self.handle)
            if not result:
                return bool(int(state))
        return self.gpu.is_capturing(self.handle)

    # Marks. The ledger's lock is held.

    def _mark_for(self, turn: int) -> _Mark:
        """The first mark after some work, recorded now if there is none."""
        if self._driver.lost is not None:
            raise self._driver.gone("waiting for a stream")
        marks = self._marks
        if not marks or marks[-1].turn < turn:
            if self.lane.turn < turn:
                self.lane.settle()  # a launch that follows a plan is noted before it is given
            self._record()
        return next((mark for mark in marks if mark.turn >= turn), marks[-1])

    def _record(self) -> None:
        turn = self.lane.turn
        if self.is_recording:
            unsupported = self._driver.api.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
            raise LaunchError(self._driver.failure(unsupported, "waiting for a stream"))
        event = self.gpu.event()
        event.record(self.handle)
        self._marks.append(_Mark(turn, event))

    def _look(self) -> None:
        """Learns which marks have come."""
        while self._marks and self._marks[0].event.is_done:
            self._reach(self._marks[0].turn)

    def _reach(self, turn: int) -> None:
        self._done = max(self._done, turn)
        marks = self._marks
        while marks and marks[0].turn <= turn:
            mark = marks.popleft()
            mark.is_over = True
            mark.let_go()

    # Work.

    def submit(self, work: Work, start: Callable[..., int], *args: int) -> int:
        if self.is_recording:
            with self.ledger.lock:
                if not work.is_current():
                    raise Outdated
                start(*args)
                work.note_writes()
                return self.turn
        return self._submit_now(work, start, *args)

    def _submit_now(self, work: Work, start: Callable[..., int], *args: int) -> int:
        """The same on a stream that records nothing."""
        self.make_room()
        with self.ledger.lock:
            with self.ledger.lanes.closed():
                self.lane.settle()
                turn = Stream.submit(self, work, start, *args)
            self._since += 1
            if self._since >= _OFTEN or self.lane.is_full:
                self.catch_up()
            ahead = self.pending[_MOST_PENDING // 2][0] if len(self.pending) >= _MOST_PENDING else 0
        if ahead:
            self.until(ahead)
        return turn

    def note(self, work: Work) -> int:
        """Takes the leases of what the stream was given already. It must not record a graph."""
        return self._submit_now(work, lambda: self.turn + 1)

    def begin(self, work: Work, start: Callable[[], object]) -> int:
        """The same for a `start` that does not count turns."""

        def counted() -> int:
            start()
            return self.turn + 1

        return self.submit(work, counted)

    def catch_up(self) -> None:
        """Lets go of what is done. What goes wrong here is no fault of work that was given. The lock is held."""
        self._since = 0
        with suppress(LaunchError):
            self._look()
            if not self._marks or self._marks[-1].turn + _OFTEN <= self.turn:
                self._record()
            for other in self.ledger.under_way():
                if other is not self:
                    other.is_idle()
        self.ledger.retire()

    def recover(self, work: Work) -> None:
        if isinstance(sys.exc_info()[1], TileproofError):
            self.lost.remove(work)
            return  # the driver failed, or what had to be read first did
        error = RuntimeError("a launch was interrupted when it was to write this memory")
        with suppress(LaunchError):
            with self.ledger.lock:
                work.note_writes()
            self.gpu.synchronize(self.handle)
            with self.ledger.lock:
                if not any(pending is work for _, pending in self.pending):
                    for span in work.written():
                        self.ledger.holders(span, True)
                    self.ledger.retire()  # what wrote the same bytes before would be taken to have cured them later
                    self.ledger.poison(work.written(), error)
            self.lost.remove(work)

    def finished(self, done: int) -> list[tuple[Stream, Work]]:
        entries = self.lane.entries(until=done) if self.ledger.poisoned or self._may_have_failed(done) else []
        over = super().finished(done)
        if entries:
            over = self._with_followers(over, entries)
        if over:
            self._number = over[-1][1].number
        return over

    def _may_have_failed(self, done: int) -> bool:
        return any(turn <= done and type(work).failure is not Work.failure for turn, work in self.pending)

    def _with_followers(
        self, over: list[tuple[Stream, Work]], entries: list[tuple[int, Span, bool]]
    ) -> list[tuple[Stream, Work]]:
        """What is done, with launches that followed a plan: they may have used what others failed to write."""
        followers, others = [], {work.turn for _, work in over}
        for turn, spans in groupby(entries, itemgetter(0)):
            if turn in others:
                continue
            used = [(span, is_written) for _, span, is_written in spans]
            # Whether what is written was read too is not noted, so it counts as read.
            work = Work("a launch", [span for span, _ in used], [span for span, is_written in used if is_written])
            work.turn = turn
            followers.append((self, work))
        merged = list(heapq.merge(over, followers, key=lambda entry: entry[1].turn))
        number = self._number
        for _, work in merged:
            number = work.number = work.number or number
        return merged

    # Torch.

    def external(self, cuda: Any) -> Any:
        """The same stream for torch, whose `torch.cuda` is given."""
        if self._external is None:
            # To torch a stream at address 0 is a new one.
            make = cuda.ExternalStream if self.handle else None
            self._external = cuda.default_stream(self.device) if make is None else make(self.handle, device=self.device)
        return self._external

    def __enter__(self) -> Self:
        cuda, undo = torch_cuda(), None
        # Torch knows a current stream of a thread, which all tasks of a loop would share.
        if cuda is not None and not _in_loop():
            undo = cuda.stream(self.external(cuda))
            undo.__enter__()
        _entered.set((*_entered.get(), (self, undo)))
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        stack = _entered.get()
        place = max(place for place, (stream, _) in enumerate(stack) if stream is self)
        _entered.set((*stack[:place], *stack[place + 1 :]))
        if stack[place][1] is not None:
            stack[place][1].__exit__(kind, error, trace)


def torch_cuda() -> Any:
    """`torch.cuda`, if a program uses it."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    return cuda if cuda is not None and cuda.is_initialized() else None


def _in_loop() -> bool:
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _cupy_stream(device: int) -> object:
    """The current stream of cupy, which ends when nobody has it."""
    find = getattr(getattr(sys.modules.get("cupy"), "cuda", None), "get_current_stream", None)
    return None if find is None else find(device)


def _end(gpu: Device, handle: int, driver: Driver) -> None:
    # What belongs to the process this one was forked from is not ours to end.
    with suppress(LaunchError):
        if driver.process == os.getpid() and gpu.driver is driver:
            gpu.end_stream(handle)


def current_cuda_stream(device: int) -> CudaStream:
    """The stream that work on a GPU goes to now."""
    stream = current_stream(device)
    assert isinstance(stream, CudaStream)
    return stream


def settle_checks(device: int | None, span: Span) -> None:
    """Raises what failed work left in some bytes, for those who cannot be told later; waits where work may yet fail."""
    ledger = ledger_of(device)
    with ledger.lock:
        pending = [work for stream in ledger.under_way() for _, work in stream.pending]
        is_open = bool(ledger.poisoned) or any(work.may_fail() for work in pending)
    if is_open:
        ledger.wait_for_host(span, writing=False)


def lend(device: int, span: Span, handle: int) -> None:
    """Has what others put on a stream from now on begin when our work on some bytes is done."""
    settle_checks(device, span)
    consumer, ledger = CudaStream.of(device, handle), ledger_of(device)
    with ledger.lock:
        for stream, turn in ledger.users(span, True):
            if stream is not consumer and turn > consumer.seen.get(stream, 0):
                consumer.order_behind(stream, turn)
        ledger.retire()
        error = ledger.poison_in(span)
    if error is not None:
        ledger.mark_reported(error)
        raise_again(error)
