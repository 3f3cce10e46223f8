"""Streams: work in order. What all of them share, on whichever device, and which of them is the current one.

`tp.Stream()` makes one. Work goes to the current stream: the innermost `with stream:` of the thread or task, else the
default stream of the device. Work of different streams that uses the same memory is ordered by the ledger; nobody has
to ask for it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Any, ClassVar, Final, Self, TypeVar

from tileproof.backends.base import device_name, device_number, device_of
from tileproof.runtime.memory.ledger import Ledger, Outdated, Work, ledger_of, raise_again
from tileproof.runtime.native.lease_lanes import Lane

Member = TypeVar("Member")
_chosen: ContextVar[tuple[Stream, ...]] = ContextVar("tileproof_streams", default=())
"""The streams of `with` blocks, the innermost last."""


chained: ContextVar[bool] = ContextVar("tileproof_chained", default=False)
"""Whether a launch is the second part of `a >> b`: it may then be brought to a GPU while the first still runs."""
watched: ContextVar[list[tuple[Stream, int]] | None] = ContextVar("tileproof_watched", default=None)
"""Where work that is given to streams is noted while an operation runs."""


_REPORTED: Final = 64
"""How many reported errors a stream remembers."""
_defaults: dict[bool, Callable[[int | None], Stream]] = {}
"""What finds the default stream of the CPU, and of a GPU."""


class Stream:
    """Work in order: what is submitted to a stream begins when what was submitted before is done.

        side = tp.Stream()
        with side:
            add(c, a, b)        # returns at once
        side.synchronize()      # waits, and raises what went wrong

    `device` is "cpu", "cuda", or "cuda:1". Streams run side by side; where work of two of them uses the same memory,
    the later waits for the earlier.
    """

    lost: ClassVar[list[Work]] = []
    """Work that was being given to a stream when a signal came, until it was waited for: its memory must live."""
    device: int | None
    turn: int
    """The number of the last work that was given."""

    def __new__(cls, device: str = "cpu", **how: Any) -> Self:
        if cls is not Stream:
            return super().__new__(cls)
        stream: Self = super().__new__(device_of(device_number(device)).streams)
        return stream

    def __init__(self, device: str = "cpu") -> None:
        self._begin(device_number(device))

    def _begin(self, device: int | None) -> None:
        self.device = device
        self.ledger: Ledger = ledger_of(device)
        self.lane = self._lane()
        self.turn = 0
        self.pending: deque[tuple[int, Work]] = deque()
        self.seen: dict[Stream, int] = {}
        """How far this stream has waited for others."""
        self.errors: dict[int, BaseException] = {}
        """Errors that were not reported yet, by turn."""
        self.reported: deque[tuple[int, BaseException]] = deque(maxlen=_REPORTED)
        """Errors that were reported, for those who wait for this very work later."""

    def _lane(self) -> Lane:
        """Where its leases are noted."""
        return Lane()

    # What each kind of stream does in its own way.

    @property
    def done(self) -> int:
        """The number of work that is done, with all before it. More may be done: this is what is known at no cost."""
        raise NotImplementedError

    def has_done(self, turn: int) -> bool:
        """Whether some work is done, looked at closely."""
        raise NotImplementedError

    def order_behind(self, other: Stream, turn: int) -> None:
        """Has all that is given later begin when some work of another stream is done. The host does not wait."""
        raise NotImplementedError

    def until(self, turn: int) -> None:
        """Blocks until some work is done. It raises no error of the work: `settle` does."""
        raise NotImplementedError

    failures = 0
    """How many steps of a queue have failed, ever; streams that cannot tell say 0."""

    # What they share.

    def is_idle(self) -> bool:
        """Whether all that was given is done."""
        return self.done >= self.turn or self.has_done(self.turn)

    async def reached(self, turn: int) -> None:
        """`until` for a task of asyncio: a thread waits, and the loop goes on. Work does not end with its task."""
        import asyncio

        if self.has_done(turn):
            return
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def wait() -> None:
            error = None
            try:
                self.until(turn)
            except Exception as caught:  # the context of a GPU is lost
                error = caught
            with suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(end, error)

        def end(error: Exception | None) -> None:
            if future.done():
                return  # cancelled
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)

        # Not a thread of the loop's own pool: it has few, and whoever ends the loop waits for them.
        threading.Thread(target=wait, daemon=True).start()
        await future

    def submit(self, work: Work, start: Callable[..., int], *args: int) -> int:
        """Submits work to the stream: takes its leases, waits where others have them, and has `start(*args)` begin it.

        `start` returns the number of the work; if it raises, nothing was submitted and there are no leases. `Outdated`
        is raised if the memory was written or handed out since it was checked.
        """
        ledger = self.ledger
        self.make_room()
        try:
            with ledger.lock:
                if not work.guards:
                    return self._enqueue(work, start, *args)
                with ledger.door:
                    return self._enqueue(work, start, *args)
        except Outdated:
            raise
        except BaseException:
            self.lost.append(work)  # before a function of Python begins, where another signal may raise
            self.recover(work)
            raise

    def _enqueue(self, work: Work, start: Callable[..., int], *args: int) -> int:
        ledger = self.ledger
        conflicts = ledger.conflicts(self, work.reads, work.writes)
        if not work.is_current():
            raise Outdated
        for other, turn in conflicts:
            self.order_behind(other, turn)
            self.see(other, turn)
        self.turn = turn = start(*args)
        ledger.note(self, turn, work)
        work.note_writes()
        submitted = watched.get()
        if submitted is not None:
            submitted.append((self, turn))
        if len(self.pending) > 64 and self.pending[0][0] <= self.done:
            ledger.retire()
        return turn

    def recover(self, work: Work) -> None:
        """Called when a signal handler, Ctrl-C for one, raised while work was submitted, nobody knows how far."""
        self.lost.remove(work)

    def note_leases(self, work: Work) -> None:
        """Takes the leases of work that was just submitted. The ledger's lock is held."""
        self.lane.note(work.turn, work.reads, work.writes)

    def write_leases(self) -> None:
        """Writes all leases into the lane, because it is about to be read. The ledger's lock is held."""

    def see(self, other: Stream, turn: int) -> None:
        """Notes that work submitted from now on begins when some work of another stream is done."""
        self.seen[other] = turn = max(turn, self.seen.get(other, 0))
        self.lane.see(other.lane, turn)

    def make_room(self) -> None:
        """Waits until there is room for the leases of more work. The ledger's lock is not held."""
        turn = self.lane.crowded_until
        if turn:
            self.until(turn)
            with self.ledger.lock:
                self.ledger.retire()

    def finished(self, done: int) -> list[tuple[Stream, Work]]:
        """Forgets leases of what is done, and takes it off the list of what is pending. The ledger's lock is held."""
        self.lane.retire(done)
        return self._taken_off(done)

    def _taken_off(self, done: int) -> list[tuple[Stream, Work]]:
        pending, over = self.pending, list[tuple[Stream, Work]]()
        while pending and pending[0][0] <= done:
            over.append((self, pending.popleft()[1]))
        return over

    def synchronize(self) -> None:
        """Waits until all that was given is done, and raises the first thing that went wrong."""
        self.until(self.turn)
        self.settle()

    def failure_of(self, work: Work) -> BaseException | None:
        """What went wrong with work that is done; called once. The ledger's lock is held."""
        error = work.failure()
        if error is not None:
            self.errors[work.turn] = error
            self.ledger.unreported.add(self)
        return error

    def mark_reported(self, turn: int) -> None:
        """Notes that the error of some work was reported. The ledger's lock is held."""
        error = self.errors.pop(turn, None)
        if error is not None:
            self.reported.append((turn, error))

    def settle(self, turns: Collection[int] | None = None) -> None:
        """Raises what went wrong with work that is done, once: with some work, or with any."""
        with self.ledger.lock:
            self.ledger.retire()
            if self.pending and not self.ledger.knows(self):  # it has forgotten that this is not idle
                self.ledger.finish(self.finished(self.done))
            if not (self.errors or self.reported):
                return
            # It may have been reported to someone else before; who waits for this very work gets it all the same.
            wrong = [error for turn, error in tuple(self.reported) if turns is not None and turn in turns]
            for turn, error in tuple(self.errors.items()):
                if turns is None or turn in turns:
                    wrong.append(error)
                    self.mark_reported(turn)
        if wrong:
            raise_again(wrong[0])

    def choose(self) -> None:
        """Makes it the current stream of this context, for good."""
        _chosen.set((*_chosen.get(), self))

    def __enter__(self) -> Self:
        self.choose()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _chosen.set(without_last(_chosen.get(), self))

    def __repr__(self) -> str:
        waiting = self.turn - self.done
        state = "idle" if waiting <= 0 else f"{waiting} under way"
        return f"<stream of {device_name(self.device)}, {state}>"


def without_last(stack: tuple[Member, ...], member: Member) -> tuple[Member, ...]:
    """A stack of `with` blocks when one of them ends. It is not there if a task or generator began the block and is
    closed elsewhere, where nothing was chosen."""
    if member not in stack:
        return stack
    place = len(stack) - 1 - stack[::-1].index(member)
    return (*stack[:place], *stack[place + 1 :])


def chosen_stream(device: int | None) -> Stream | None:
    """The stream of the innermost `with` block of this thread or task for a device."""
    stack = _chosen.get()
    if stack:
        for stream in reversed(stack):
            if stream.device == device:
                return stream
    return None


def current_stream(device: str | int | None = None) -> Stream:
    """The stream that work on a device goes to now."""
    number = device_number(device) if isinstance(device, str) else device
    stream = chosen_stream(number)
    if stream is not None:
        return stream
    default = _defaults.get(number is not None)
    if default is None:
        default = _defaults[number is not None] = device_of(number).streams.default
    return default(number)
