"""Leases of launches that follow a plan: the native code notes in a lane which bytes it gave to a stream, and when.

A stream of a GPU has a `Lane`: the number of its last work, and a ring of the spans of launches that followed a plan.
Only while a stream is the only one of its device with work under way (`set_alone`) do launches follow plans there: then
its own order is all the order there is, and nobody has to be asked. In any other case the full launch asks the ledger.

A launch that follows a plan does this with the GIL, in one go: it looks whether the lane is the right one, is open, has
room and is not busy; it notes its spans under the number `turn + 1`; from here on it is busy. Then it calls the driver,
perhaps without the GIL. Last of all, and without the GIL still, `turn` is one more, and it is busy no longer. So

- one launch at a time goes through a lane, hence turns are in the order of the stream's queue;
- a mark that is recorded on the stream covers all work up to the `turn` of that moment, never more than that;
- spans are noted before the work can begin: whoever asks who uses some bytes learns of it, under a turn that may be one
  beyond `turn`, and `settle` waits until it is not. If the driver refuses, they are taken back and the turn is spent.

The same launch in Python cannot do that in one go: it says that it comes (`in_python`) before it looks, and so keeps
others away. Whoever gives work to the stream in any other way closes the lane meanwhile (`closed`), under the lock of
the ledger.

Launches that follow a plan have no `Work`, so what looks at failed work looks at their spans too (`spans_until`); and
while some memory is known to be poisoned no lane is alone.
"""

from __future__ import annotations

import ctypes
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

from .layout import LANE_ROOM, LaneData, LaneEntry

_HALF: Final = LANE_ROOM // 2
_LARGEST: Final = 32
"""How many spans one launch may have: `MOST_ARGUMENTS`."""
_ENTRY: Final = ctypes.sizeof(LaneEntry)
_unpack: Final = struct.Struct("<QQq").iter_unpack
_SPINS: Final = 100
"""How often it is looked at once whether the driver has answered, before the host sleeps in between."""

_spare: list[LaneData] = []
"""The memory of lanes that are gone, for others. It is never given back: a plan may still lead to it."""
_cells: dict[int, ctypes.c_void_p] = {}
"""For each device where the address of the lane of its only stream is, or nothing."""
_alone: dict[int, Lane | None] = {}
_in_python = threading.Lock()
"""Held by the one thread that follows a plan in Python."""

Used: TypeAlias = tuple[int, int, bool]
"""Bytes that a launch uses, from the first to behind the last, and whether it writes them."""


class Lane:
    """The launches of one stream that followed a plan."""

    __slots__ = ("_closings", "_data", "_entries", "handle")

    def __init__(self, handle: int) -> None:
        try:
            self._data = _spare.pop()
        except IndexError:
            self._data = LaneData()
        ctypes.memset(ctypes.addressof(self._data), 0, LaneData.entries.offset)
        self._entries = ctypes.addressof(self._data) + LaneData.entries.offset
        self._closings = 0
        self.handle = handle
        """The stream, as the driver names it."""
        self._data.handle = handle
        self._data.stop = _HALF

    @property
    def address(self) -> int:
        """Where the native code finds it."""
        return ctypes.addressof(self._data)

    @property
    def turn(self) -> int:
        """The number of the last work that was given to the stream."""
        return int(self._data.turn)

    @turn.setter
    def turn(self, turn: int) -> None:
        self._data.given = self._data.turn = turn

    @property
    def is_busy(self) -> bool:
        """Whether a launch is being given to the stream by a thread that follows a plan."""
        return bool(self._data.in_python or self._data.given != self._data.turn)

    @property
    def is_full(self) -> bool:
        """Whether launches go the full way until someone looks what is done, and calls `retire`.

        It is so from time to time before the ring is really full: a mark that is recorded then is done, as a rule, by
        the time one has to wait for it.
        """
        return int(self._data.stop - self._data.head) < _LARGEST

    def spans_since(self, done: int) -> list[tuple[int, tuple[int, int], bool]]:
        """What launches that followed a plan use: turn, bytes, and whether they are written. In the order of turns."""
        return [(noted >> 1, (low, high), bool(noted & 1)) for low, high, noted in self._noted(done, None)]

    def spans_until(self, done: int) -> list[tuple[int, tuple[int, int], bool]]:
        """The same of those that `retire` would forget."""
        return [(noted >> 1, (low, high), bool(noted & 1)) for low, high, noted in self._noted(None, done)]

    def retire(self, done: int) -> None:
        """Forgets launches up to a turn, which are done. The lock of the ledger is held."""
        data = self._data
        data.tail = tail = self._first_after(done)
        data.stop = min(tail + LANE_ROOM, data.head + _HALF)

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Has nobody follow a plan meanwhile, so that work can be given in turn. The lock of the ledger is held."""
        self.close()
        try:
            yield
        finally:
            self.open()

    def close(self) -> None:
        """The same until `open` is called."""
        data = self._data
        self._closings += 1
        data.closed = 1
        if data.in_python or data.given != data.turn:
            try:
                self.settle()
            except BaseException:
                self.open()
                raise

    def open(self) -> None:
        """Ends what `close` began."""
        self._closings -= 1
        if not self._closings:
            self._data.closed = 0

    def settle(self) -> None:
        """Waits until no launch that follows a plan is half given. With the lane closed or not alone there is none
        from then on; otherwise `turn` now counts every launch that was noted before."""
        data, begun, spins = self._data, self._data.turn, 0
        while self.is_busy and data.turn == begun:
            spins += 1
            time.sleep(0 if spins < _SPINS else 0.0001)

    def _noted(self, after: int | None, until: int | None) -> Iterator[tuple[int, int, int]]:
        data = self._data
        head = data.head
        first = data.tail if after is None else self._first_after(after)
        end = head if until is None else self._first_after(until)
        while first < end:
            start = first % LANE_ROOM
            count = min(end - first, LANE_ROOM - start)
            yield from _unpack(ctypes.string_at(self._entries + start * _ENTRY, count * _ENTRY))
            first += count

    def _first_after(self, done: int) -> int:
        """The place of the first entry of a later turn; entries are in the order of turns."""
        data = self._data
        low, high = data.tail, data.head
        entries = data.entries
        while low < high:
            middle = (low + high) // 2
            if entries[middle % LANE_ROOM].noted >> 1 <= done:
                low = middle + 1
            else:
                high = middle
        return int(low)

    def __del__(self, _spare: list[LaneData] = _spare) -> None:  # the module may be gone before
        _spare.append(self._data)


def cell_of(device: int) -> int:
    """Where the native code finds the lane of the only stream of a device that has work under way."""
    return ctypes.addressof(_cell(device))


def _cell(device: int) -> ctypes.c_void_p:
    found = _cells.get(device)
    return found if found is not None else _cells.setdefault(device, ctypes.c_void_p())


def lane_alone(device: int) -> Lane | None:
    """The lane of the only stream of a device that has work under way."""
    return _alone.get(device)


def set_alone(device: int, lane: Lane | None) -> None:
    """Says which stream of a device is the only one with work under way, if one is. The lock of the ledger is held.

    When it returns, no launch that follows a plan is half given to the one before. Only then may be asked whether that
    one is idle: as long as it is alone, threads may give it work without the lock.
    """
    cell, before = _cell(device), _alone.get(device)
    cell.value = None
    if before is not None and before is not lane:
        before.settle()
    _alone[device] = lane
    if lane is not None:
        cell.value = lane.address


def give(cell: int, stream: int, spans: Sequence[Used], start: Callable[[], bool]) -> bool:
    """Does in Python what the native code does: starts a launch if the stream is alone, and notes what it uses."""
    address = ctypes.c_void_p.from_address(cell).value
    if address is None or not _in_python.acquire(blocking=False):
        return False
    data = LaneData.from_address(address)
    data.in_python = 1
    try:
        # The lane may have been left, closed or taken before it was said that this thread comes.
        is_right = ctypes.c_void_p.from_address(cell).value == address and (data.handle or 0) == stream
        if not is_right or data.given != data.turn or data.closed or data.stop - data.head < len(spans):
            return False
        head, turn = data.head, data.turn + 1
        spans = [span for span in spans if span[0] != span[1]]
        for place, (low, high, is_written) in enumerate(spans, head):
            data.entries[place % LANE_ROOM] = LaneEntry(low, high, turn << 1 | is_written)
        data.head, data.given = head + len(spans), turn
        was_given = True  # as far as is known, if a signal interrupts
        try:
            was_given = start()
        finally:
            if not was_given:
                data.head = head
            data.turn = turn
        return was_given
    finally:
        data.in_python = 0
        _in_python.release()


__all__ = ["Lane", "Used", "cell_of", "give", "lane_alone", "set_alone"]
