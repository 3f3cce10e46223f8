"""Leases: who uses which bytes, and until when. The law of the host model is enforced here.

**The law.** Of two uses of a byte, at least one a write, the later one begins when the earlier one is done: on a device
because its stream waits, on the host because the host waits or an error is raised. It holds by address, whatever object
or library the address came from.

There is a `Ledger` for each device. Work is numbered by the stream that it was submitted to: `(stream, turn)` names it,
and it is done when `stream.done >= turn`. Each stream has a lane, which lists the bytes that its work uses; of another
stream only the last conflicting work matters, because a stream keeps order by itself. Nearly always one stream alone
has work under way, and there is no search.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, NoReturn, Protocol, TypeAlias
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, InFlight
from tileproof.runtime.native import door
from tileproof.runtime.native.lease_lanes import Lane, Lanes

from .recorder import reject_recording

Span: TypeAlias = tuple[int, int]
"""The first byte of some memory, and the end of it."""
Runs: TypeAlias = npt.NDArray[np.int64]
"""Spans as the rows of an array."""


class Stream(Protocol):
    """Work in order, by its numbers: see `streams.Stream`."""

    turn: int
    lane: Lane
    pending: deque[tuple[int, Any]]
    seen: dict[Any, int]
    errors: dict[int, BaseException]

    @property
    def done(self) -> int: ...
    def is_idle(self) -> bool: ...
    def has_done(self, turn: int) -> bool: ...
    def until(self, turn: int) -> None: ...
    def note_leases(self, work: Any) -> None: ...
    def write_leases(self) -> None: ...
    def failure_of(self, work: Any) -> BaseException | None: ...
    def mark_reported(self, turn: int) -> None: ...
    def finished(self, done: int) -> list[tuple[Any, Any]]: ...


class Block(Protocol):
    """Memory whose writes are counted: see `block.Block`."""

    writes: int

    @property
    def version(self) -> int: ...
    @property
    def is_shared(self) -> bool: ...


class Tensor(Protocol):
    """A view of memory: see `tensors.Tensor`."""

    @property
    def block(self) -> Block: ...
    @property
    def runs(self) -> Runs: ...


Use: TypeAlias = tuple[Any, int]
"""Work of a stream, by its number there."""


class Work:
    """Work of a stream: its name, the bytes it uses, and what must live until it is done."""

    __slots__ = ("guards", "keep", "name", "note", "number", "reads", "turn", "views", "writes")

    def __init__(self, name: str, reads: Sequence[Span], writes: Sequence[Span], keep: object = None) -> None:
        self.name = name
        self.reads = reads
        """What is read, also of memory that is written too."""
        self.writes = writes
        self.keep = keep
        self.guards: Sequence[tuple[Block, int]] = ()
        """Memory whose contents were checked, and its version at that time."""
        self.note: Callable[[], None] | None = None
        """Notes what it will have written."""
        self.views: Sequence[Tensor] | None = None
        """The tensors of our own that it writes; None if `writes` says it all."""
        self.turn = 0
        """Its place in the order of its stream."""
        self.number = 0
        """Its place in the order in which work was submitted to all streams of the device."""

    def is_current(self) -> bool:
        """Whether what was checked of its memory still holds; called when its leases are about to be taken."""
        for block, version in self.guards:  # noqa: SIM110  a generator would take as long again
            if block.version != version:
                return False
        return True

    def note_writes(self) -> None:
        """Notes what it will have written, while nobody else can take leases."""
        if self.note is not None:
            self.note()

    def failure(self) -> BaseException | None:
        """What went wrong with it; called once when it is done."""
        return None

    def learn(self, error: BaseException) -> None:
        """Called once when it is done, if it failed or read what failed work should have written."""

    def leave(self) -> None:
        """It was begun, perhaps, and will not be done: the process was forked, or ends."""

    def may_fail(self) -> bool:
        """Whether `failure` may find something."""
        return type(self).failure is not Work.failure

    def written(self) -> Sequence[Span]:
        """The bytes that it writes, without the gaps between them."""
        if self.views is None:
            return self.writes
        return [(int(low), int(high)) for view in self.views for low, high in view.runs]


class Poison(NamedTuple):
    """Invalid bytes, and why they are."""

    low: int
    high: int
    error: BaseException
    memory: Callable[[], object] | None = None
    """Gives the memory of ours that they belong to, as long as it is there."""

    @property
    def is_there(self) -> bool:
        """Whether they are still what they were: at the same address there may be memory of others by now."""
        return self.memory is None or self.memory() is not None


class Outdated(Exception):
    """What was checked of the memory of a launch no longer holds: it is to be checked again."""


class Ledger:
    """The leases of one device. Its lock is held while work is given to a stream, so that turns and queues agree."""

    def __init__(self, device: int | None) -> None:
        self.device = device
        self.lock = threading.RLock()
        self.door: AbstractContextManager[None] = door.hold if device is None else nullcontext()
        """While it is entered, under the lock, no launch of the CPU goes without leases. On a GPU lanes see to that."""
        self.lanes = Lanes()
        self._attached: dict[int | None, Stream] = {}
        """Those that have work under way, and the last that was given some, by the slots of their lanes. A signal may
        come between any two lines: this alone says who is attached."""
        self._last: Stream | None = None
        self.is_launching: Callable[[], bool] = lambda: False
        """Whether this thread is in the middle of a launch that it does by itself."""
        self.poisoned: list[Poison] = []
        """What failed work wrote or would have written, until it is written anew."""
        self._uncertain: set[Work] = set()
        """Work under way that may fail, and was not looked at since."""
        self.owner_of: Callable[[Span], Callable[[], object] | None] = lambda span: None
        """Finds a reference to the memory of ours that some bytes belong to, where such memory goes without a word."""
        self.unreported: WeakSet[Stream] = WeakSet()
        """Streams with errors that were not reported yet, and perhaps others. They need not have work under way."""
        self._given = 0

    def _set_poisoned(self, poisoned: list[Poison]) -> None:
        """Has launches ask for leases while something failed; small ones of the CPU also while something may have."""
        self.poisoned = poisoned
        self.lanes.set_poisoned(bool(poisoned))
        if self.device is None:
            door.state.closed = bool(poisoned or self._uncertain)

    def demand_free(self) -> None:
        """Raises `InFlight` in the middle of a launch, or of other work on this ledger, by the same thread. It is
        called where a launch or a wait begins, and there only a handler of a signal, or the end of an object, can
        be in the middle of one: it would wait for itself, or read and change what is half written down."""
        if self.lock._is_owned() or self.is_launching():  # type: ignore[attr-defined]
            raise InFlight(
                Diagnostic(
                    Code.IN_FLIGHT,
                    "a kernel was launched, or waited for, from a signal handler that interrupted a launch",
                    notes=("a `__del__` in the middle of a launch, and what `tp.print` writes to, count as handlers",),
                    help="have the handler only note that the signal came, and look at that after the launch",
                )
            )

    # Taking.

    def conflicts(self, stream: Stream, reads: Sequence[Span], writes: Sequence[Span]) -> list[Use]:
        """The work of other streams that must be done before other work begins. The lock is held."""
        if self._last is not stream:
            self.attach(stream)
        if len(self._attached) == 1:
            return []
        seen = stream.seen
        uses = self._users(stream, reads, writes)
        return [(other, turn) for other, turn in uses if turn > seen.get(other, 0)]

    @property
    def is_alone(self) -> bool:
        """Whether at most one stream has work under way. The lock is held."""
        return len(self._attached) == 1

    @property
    def is_quiet(self) -> bool:
        """Whether no work is under way, and none failed or may have failed unseen. The lock is held."""
        if self.poisoned or self._uncertain:
            return False
        for stream in self._attached.values():  # noqa: SIM110  a generator would take as long as the rest
            if stream.done < stream.turn:
                return False
        return True

    def attach(self, stream: Stream) -> None:
        """Has the leases of a stream count from now on. The lock is held."""
        if not self.knows(stream):
            if self._attached:
                self._last = None
                for other in self.under_way():
                    other.is_idle()  # learns what is done
                self.retire()
            self._attached[self.lanes.add(stream.lane)] = stream
        self._last = stream

    def _detach(self, stream: Stream) -> None:
        """Forgets a stream that has nothing under way: a stream that is remembered here would never go."""
        stream.seen.clear()
        for other in self.under_way():
            other.seen.pop(stream, None)
        del self._attached[stream.lane.slot]
        self.lanes.remove(stream.lane)

    def under_way(self) -> list[Stream]:
        """The streams that have work under way, and the last that was given some. The lock is held."""
        return list(self._attached.values())

    def note(self, stream: Stream, turn: int, work: Work) -> None:
        """Takes the leases of work that was just given to a stream. The lock is held."""
        self._given += 1
        work.number, work.turn = self._given, turn
        stream.pending.append((turn, work))
        if self.device is None and work.may_fail():
            self._uncertain.add(work)
            door.state.closed = True
        if self.poisoned and not any(map(self.poison_in, work.reads)):
            for span in work.written():  # whoever reads this from now on reads what is written now
                self.cure(span)
        if self._last is not stream:
            self.attach(stream)
        stream.note_leases(work)

    # Looking.

    def holders(self, span: Span, writing: bool) -> list[Use]:
        """The work under way that a host access must wait for. The lock is held."""
        return [(stream, turn) for stream, turn in self.users(span, writing) if not stream.has_done(turn)]

    def users(self, span: Span, writing: bool) -> list[Use]:
        """The same without a close look: some of it may be done. The lock is held."""
        return self._users(None, () if writing else (span,), (span,) if writing else ())

    def _users(self, stream: Stream | None, reads: Sequence[Span], writes: Sequence[Span]) -> list[Use]:
        """The last work of each other stream that uses some bytes, as far as it is not known to be done."""
        spans = [(low, high, False) for low, high in reads]
        spans += [(low, high, True) for low, high in writes]
        uses = []
        for attached in self._attached.values():
            attached.write_leases()
        for slot, turn in self.lanes.conflicts(None if stream is None else stream.lane, spans):
            other = self._attached.get(slot)
            if other is not None and turn > other.done:
                uses.append((other, turn))
        return uses

    def wait_for_host(self, span: Span, *, writing: bool) -> None:
        """Waits until the host may read, or write, some bytes; raises what failed work left there."""
        reject_recording("a tensor is read by the host", "read it when the graph was replayed; nothing runs before")
        self.demand_free()
        while True:
            with self.lock:
                holders = self.holders(span, writing)
                if not holders:
                    self.retire()
                    error = self.poison_in(span)
                    break
            for stream, turn in holders:
                stream.until(turn)
        if error is not None:
            self.mark_reported(error)
            raise_again(error)

    # Finishing.

    def retire(self) -> None:
        """Forgets work that is done, and poisons what failed work wrote. The lock is held."""
        if len(self._attached) == 1:
            (stream,) = self._attached.values()
            over = stream.finished(stream.done)
            if over:
                self.finish(over)
            if stream is self._last:
                return
        streams = self.under_way()
        if len(streams) > 1:
            marks: list[int] = []
            # Until all of them stood still at one moment: else work may seem done, and not what it waited for. Nothing
            # is given meanwhile, so that this ends.
            while marks != (again := [stream.done for stream in streams]):
                marks = again
            over = [ended for stream, mark in zip(streams, marks, strict=True) for ended in stream.finished(mark)]
            # In the order in which it was given: work may have read what earlier work failed to write.
            self.finish(sorted(over, key=lambda ended: ended[1].number))
        for stream in streams:
            if stream is not self._last and not stream.pending and stream.lane.is_empty:
                self._detach(stream)

    def knows(self, stream: Stream) -> bool:
        """Whether the leases of a stream count, and `retire` looks at it. The lock is held."""
        return self._attached.get(stream.lane.slot) is stream

    def finish(self, over: Iterable[tuple[Stream, Work]]) -> None:
        """Looks at work that is done, in the order in which it was given. The lock is held."""
        for stream, work in over:
            error = stream.failure_of(work)
            if error is None and self.poisoned:
                error = next(filter(None, map(self.poison_in, work.reads)), None)
            if error is not None:
                work.learn(error)
                self.poison(work.written(), error)
            elif self.poisoned:
                for span in work.written():
                    self.cure(span)
            if work in self._uncertain:
                self._uncertain.remove(work)
                door.state.closed = bool(self.poisoned or self._uncertain)

    def forget_all(self) -> None:
        """Forgets who has leases: all work is done, or never will be. The lock is held."""
        for stream in self.under_way():
            self._detach(stream)
        self._last = None
        self._uncertain.clear()
        self._set_poisoned(self.poisoned)

    def poison(self, spans: Iterable[Span], error: BaseException) -> None:
        """Notes that bytes are invalid, because of an error. The lock is held."""
        poisons = [Poison(low, high, error, self.owner_of((low, high))) for low, high in spans if low < high]
        self._set_poisoned(self.poisoned + poisons)

    def poison_in(self, span: Span) -> BaseException | None:
        """What went wrong with work that wrote, or should have written, some of these bytes."""
        low, high = span
        met = (poison for poison in self.poisoned if max(poison.low, low) < min(poison.high, high))
        return next((poison.error for poison in met if poison.is_there), None)

    def known_poison(self, span: Span) -> BaseException | None:
        """What went wrong with the last work that wrote these bytes; None also while other work is about to write."""
        if not self.poisoned:
            return None
        with self.lock:
            # Asked first: work that is done by now is looked at below, and may have written the bytes anew.
            is_rewritten = bool(self.users(span, False))
            self.retire()
            return None if is_rewritten else self.poison_in(span)

    def demand_whole(self, work: Work) -> None:
        """Raises what went wrong with the work that wrote what this reads, all of which is done. It is for work on
        memory of others, whose readers learn of no error."""
        with self.lock:
            self.retire()
            error = next(filter(None, map(self.poison_in, work.reads)), None)
        if error is not None:
            self.mark_reported(error)
            raise_again(error)

    def mark_reported(self, error: BaseException) -> None:
        """Notes that an error was reported: a later wait for its stream does not report it again."""
        with self.lock:
            for stream in tuple(self.unreported):
                for turn in [turn for turn, other in tuple(stream.errors.items()) if other is error]:
                    stream.mark_reported(turn)
                if not stream.errors:
                    self.unreported.discard(stream)

    def cure(self, span: Span) -> None:
        """Notes that bytes were written anew, or freed."""
        low, high = span
        left = []
        for poison in self.poisoned:
            start, end, error, memory = poison
            if low < end and start < high:
                pieces = (start, min(low, end)), (max(high, start), end)
                left += [Poison(a, b, error, memory) for a, b in pieces if a < b]
            else:
                left.append(poison)
        self._set_poisoned(left)

    def forget_gone(self) -> None:
        """Forgets what was poisoned in memory that is gone. The lock is held."""
        self._set_poisoned([poison for poison in self.poisoned if poison.is_there])


class Abandoned(RuntimeError):
    """The process ends, and a kernel did not write what it was to write."""


def raise_again(error: BaseException) -> NoReturn:
    """Raises an error that others may raise too, so with a traceback of its own."""
    if isinstance(error, Abandoned) and threading.current_thread().daemon:
        # It ends with the process. Python may abort where a daemon thread prints a traceback at that time.
        threading.Event().wait()
    raise untraced(error) from error.__cause__


def untraced(error: BaseException) -> BaseException:
    """A copy of an error without a traceback, which would keep tensors as long as the error is kept.

    An exception of the user is raised as it is: it may not be one that can be copied.
    """
    if type(error) in (RuntimeError, Abandoned):
        return type(error)(*error.args)
    diagnostics = getattr(error, "diagnostics", None)
    return type(error)(*diagnostics) if diagnostics else error


_ledgers: dict[int | None, Ledger] = {}
_making = threading.Lock()
_locked: list[Ledger] = []
"""Those whose lock is held for a fork."""


def ledger_of(device: int | None) -> Ledger:
    """The leases of a device."""
    ledger = _ledgers.get(device)
    if ledger is None:
        with _making:
            ledger = _ledgers.setdefault(device, Ledger(device))
    return ledger


def every_ledger() -> list[Ledger]:
    """All there are."""
    return list(_ledgers.values())


def _hold_locks() -> None:
    # In a process that is forked off, what is written down must agree with what was given to streams.
    # Who holds that of the CPU may take that of a GPU, and who holds that of a GPU may take that of a later one.
    for ledger in sorted(every_ledger(), key=lambda ledger: -1 if ledger.device is None else ledger.device):
        ledger.lock.acquire()
        _locked.append(ledger)


def _release_locks() -> None:
    while _locked:
        _locked.pop().lock.release()


def _forget_locks() -> None:
    # A lock that another thread held at the fork would be held for ever.
    _locked.clear()
    for ledger in _ledgers.values():
        ledger.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)
    os.register_at_fork(before=_hold_locks, after_in_parent=_release_locks, after_in_child=_forget_locks)
