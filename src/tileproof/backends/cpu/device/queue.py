"""Work that is done later, in order, by a thread that needs no Python. The details are in `native/queue.c`.

A step is seven words: what kind it is, two addresses, three numbers, and the address of a report. `step_of`, `copy_of`,
`call_of` and `zeros_of` make them. Whoever gives steps to a queue keeps them until it is done with them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import Final, NamedTuple

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.target import Target

from .pool import Pool, signals_blocked, with_relax

STEP: Final = 7
"""The words of a step."""
CALL: Final = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
"""A function that a step can call; it says whether it failed."""
RUN: Final = 0
"""The kind of a step that is a job."""
_COPY, _CALL, _TEST = 1, 2, 3
LAST: Final = 16
"""Where the number of the last entry is, in words; `done`, `failures`, `abandoned` and `ended` are in front."""
_NAMES: Final = tuple(
    f"tileproof_queue_{what}" for what in ("new", "start", "push", "wait", "until", "reach", "run", "abandon")
)
_SLICE: Final = 100_000_000
"""Nanoseconds after which a wait lets Python look at signals."""


def queue_text(target: Target) -> str:
    """The queue as LLVM text. `llvm.compile_object` makes of it what `Queue` takes."""
    return with_relax("queue.ll", target)


def step_of(code: int, args: int, total: int, chunk: int, arena_bytes: int, record: int) -> tuple[int, ...]:
    """A job of the pool; `record` is where it reports a failed check, or 0."""
    return RUN, code, args, total, chunk, arena_bytes, record


def copy_of(to: int, source: int, count: int) -> tuple[int, ...]:
    """A copy of bytes."""
    return _COPY, to, source, count, 0, 0, 0


def call_of(function: int, argument: int = 0) -> tuple[int, ...]:
    """A call of a function that `CALL` made, whose owner keeps it."""
    return _CALL, function, argument, 0, 0, 0, 0


def zeros_of(words: int, count: int, stride: int) -> tuple[int, ...]:
    """A test that fails unless words of memory are 0, each `stride` words after the one before."""
    return _TEST, 0, words, count, stride, 0, 0


class _Entries(NamedTuple):
    new: Callable[[], int | None]
    start: Callable[[int, int, int], int]
    push: Callable[[int, int, int], int]
    wait: Callable[[int, int, int], int]
    until: Callable[[int, int, int], int]
    reach: Callable[[int, int], None]
    run: Callable[[int, int, int, int, int, int], int]
    abandon: Callable[[int], None]


@cache
def _entries(code: bytes) -> _Entries:
    addresses = dict(zip(_Entries._fields, llvm.load_object(code, _NAMES).values(), strict=True))
    pointer, number, short = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
    # What returns at once keeps Python's lock: to give it away and take it back costs more than the call.
    quick, slow = ctypes.PYFUNCTYPE, ctypes.CFUNCTYPE
    return _Entries(
        quick(pointer)(addresses["new"]),
        quick(short, pointer, pointer, pointer)(addresses["start"]),
        quick(number, pointer, pointer, number)(addresses["push"]),
        quick(number, pointer, pointer, number)(addresses["wait"]),
        slow(short, pointer, number, number)(addresses["until"]),
        quick(None, pointer, number)(addresses["reach"]),
        slow(number, pointer, pointer, pointer, pointer, number, number)(addresses["run"]),
        slow(None, pointer)(addresses["abandon"]),
    )


class Queue:
    """A native queue. Its thread starts with the first thing it is given; without a pool it is a counter that others
    wait for and its owner moves."""

    __slots__ = ("_entries", "_has_thread", "_pool", "_push", "address", "counters")

    def __init__(self, code: bytes, pool: Pool | None) -> None:
        """A queue made of the object file of `queue_text`."""
        self._entries = _entries(code)
        address = self._entries.new()
        if not address:
            raise MemoryError("no memory for a stream")
        self.address = address
        # A memory view, because every launch looks there: to call a function of Python takes as long again.
        self.counters = memoryview((ctypes.c_char * (8 * (LAST + 1))).from_address(address)).cast("B").cast("q")
        self._pool = pool
        """The pool for its thread, until that is started."""
        self._push = self._entries.push
        self._has_thread = False

    def _start(self, pool: Pool) -> None:
        """Starts the thread. Whoever gives work to a queue sees to it that nobody else does at the same time."""
        native = pool.start()
        with signals_blocked():
            if not self._entries.start(self.address, pool.entry, native):
                raise MemoryError("the system grants no thread for a stream")
        self._pool, self._has_thread = None, True

    @property
    def done(self) -> int:
        """The number of the last entry that is done."""
        return self.counters[0]

    @property
    def last(self) -> int:
        """The number of the last entry."""
        return self.counters[LAST]

    @property
    def failures(self) -> int:
        """How many steps have failed, ever."""
        return self.counters[1]

    def push(self, steps: int, count: int) -> int:
        """Has steps done after all that was given before; the number of the entry."""
        if self._pool is not None:
            self._start(self._pool)
        turn = self._push(self.address, steps, count)
        if not turn:
            raise MemoryError("no memory for another entry of a stream")
        return turn

    def wait(self, other: Queue, turn: int) -> int:
        """Has all that is given later wait for an entry of another queue."""
        if self._pool is not None:
            self._start(self._pool)
        taken = self._entries.wait(self.address, other.address, turn)
        if not taken:
            raise MemoryError("no memory for another entry of a stream")
        return taken

    def until(self, turn: int) -> None:
        """Waits until an entry is done; Ctrl-C ends the wait, and nothing else."""
        while self.counters[0] < turn and not self._entries.until(self.address, turn, _SLICE):
            if self.counters[3]:
                return

    def reach(self, turn: int) -> None:
        """Moves the counter of a queue without a thread."""
        self._entries.reach(self.address, turn)

    def running(self, pool: Pool) -> Callable[[int, int, int], int]:
        """Makes a function, which is not Python's, for the owner of a queue without a thread: of steps, how many, and
        a turn. It does the steps now, moves the counter to the turn if none failed, and returns how many did."""
        return partial(self._entries.run, self.address, pool.entry, pool.start())

    def reaching(self) -> Callable[[int], None]:
        """`reach` as a function that is not Python's."""
        return partial(self._entries.reach, self.address)

    def close(self) -> None:
        """Takes nothing from here on. Whoever gives work meanwhile is kept away, as for any work."""
        self._pool, self._push = None, _refuse

    def abandon(self) -> None:
        """Leaves what is not begun, and returns when the thread has ended, if there is one."""
        self.close()
        if self._has_thread:
            self._entries.abandon(self.address)


def _refuse(address: int, steps: int, count: int) -> int:
    raise RuntimeError(
        "work is given to a stream while the process ends\n"
        "  help: give it earlier: what is registered with `atexit` after tileproof was imported comes before"
    )
