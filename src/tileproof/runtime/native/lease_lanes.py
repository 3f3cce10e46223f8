"""Leases in memory that native code reads: which bytes the work of each stream uses.

A stream has a `Lane`: a ring of spans, each with the turn of the work that uses it, in the order of turns. The `Lanes`
of a device are those of its streams with work under way. Whoever gives work to a stream looks there for the last turn
of every other stream that the work has to wait for.

Most work is noted by Python, under the lock of the ledger. A launch on a GPU that is like an earlier one is noted by
native code, with the GIL, in one go: it looks whether the lanes are open, whether its own has room and is not busy, and
whether no other stream has a lease that is in its way; it notes its spans under the number `turn + 1`; from here on the
lane is busy. Then it calls the driver, perhaps without the GIL. Last of all, and without the GIL still, `turn` is one
more, and the lane is busy no longer. So

- one launch at a time goes through a lane, hence turns are in the order of the stream's queue;
- a mark that is recorded on the stream covers all work up to the `turn` of that moment, never more than that;
- spans are noted before the work can begin: whoever asks who uses some bytes learns of it, under a turn that may be one
  beyond `turn`, and `settle` waits until it is not. If the driver fails, they are taken back and the turn is spent.

Python closes the lanes of the device while it gives work to a stream, and while some memory is known to be poisoned.
Then, and wherever a lease is in its way, a launch asks the ledger.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

from .readers import Used
from .structures import LANE_ROOM, MOST_SEEN, LaneData, LanesData, SpanData

_HALF: Final = LANE_ROOM // 2
MOST_SPANS: Final = LANE_ROOM // 16
"""So many spans of one piece of work are noted one by one."""
_LARGEST: Final = 32
"""How many spans one launch may have: `MOST_ARGUMENTS`."""
_SPINS: Final = 100
"""How often it is looked at once whether the driver has answered, before the host sleeps in between."""
_NOBODY: Final = 2**64 - 1
"""A handle that no stream has."""

_spare: list[LaneData] = []
"""The memory of lanes that are gone, for others. It is never given back: native code may still look at it."""

Span: TypeAlias = tuple[int, int]


class Lane:
    """The leases of one stream."""

    __slots__ = ("_data", "_words", "slot")

    def __init__(self, handle: int = _NOBODY) -> None:
        try:
            self._data = _spare.pop()
        except IndexError:
            self._data = LaneData()
        ctypes.memset(ctypes.addressof(self._data), 0, LaneData.entries.offset)
        self._words = memoryview(self._data.entries).cast("B").cast("Q")
        self.slot: int | None = None
        """Which of the lanes of the device it is; None if it is none."""
        self._data.handle = handle
        self._data.stop = _HALF

    @property
    def address(self) -> int:
        """Where the native code finds it."""
        return ctypes.addressof(self._data)

    @property
    def handle(self) -> int:
        """The stream, as the driver names it."""
        return self._data.handle or 0

    @property
    def turn(self) -> int:
        """The number of the last work that was given to the stream."""
        return int(self._data.turn)

    @turn.setter
    def turn(self, turn: int) -> None:
        self._data.given = self._data.turn = turn

    @property
    def is_busy(self) -> bool:
        """Whether a launch is being given to the stream by native code."""
        return bool(self._data.given != self._data.turn)

    @property
    def is_empty(self) -> bool:
        """Whether nobody has a lease."""
        return bool(self._data.head == self._data.tail)

    @property
    def is_full(self) -> bool:
        """Whether launches ask the ledger until someone looks what is done, and calls `retire`.

        It is so from time to time before the ring is really full: a mark that is recorded then is done, as a rule, by
        the time one has to wait for it.
        """
        return int(self._data.stop - self._data.head) < _LARGEST

    @property
    def crowded_until(self) -> int:
        """The turn that is to be done before there is room for more work; 0 if there is room."""
        data = self._data
        if data.head - data.tail <= LANE_ROOM - 4 * MOST_SPANS:
            return 0
        return int(self._words[(data.tail + _HALF) % LANE_ROOM * 3 + 2] >> 1)

    def note(self, turn: int, reads: Sequence[Span], writes: Sequence[Span]) -> None:
        """Notes what work uses. The lock of the ledger is held, and the ring is not crowded."""
        data, words = self._data, self._words
        place = data.head
        for spans, noted in ((reads, turn << 1), (writes, turn << 1 | 1)):
            if len(spans) > MOST_SPANS:
                spans = ((min(low for low, _ in spans), max(high for _, high in spans)),)
            for low, high in spans:
                if low < high:
                    at = place % LANE_ROOM * 3
                    words[at], words[at + 1], words[at + 2] = low, high, noted
                    place += 1
        data.head = place

    def entries(self, after: int = 0, until: int | None = None) -> list[tuple[int, Span, bool]]:
        """What work after a turn uses, up to another, in order: turn, bytes, and whether they are written."""
        first, end = self._first_after(after), self._data.head if until is None else self._first_after(until)
        return [self._entry(place) for place in range(first, end)]

    def _entry(self, place: int) -> tuple[int, Span, bool]:
        at = place % LANE_ROOM * 3
        low, high, noted = self._words[at : at + 3]
        return noted >> 1, (low, high), bool(noted & 1)

    def retire(self, done: int) -> None:
        """Forgets work up to a turn, which is done. The lock of the ledger is held."""
        data = self._data
        data.tail = tail = self._first_after(done)
        data.stop = min(tail + LANE_ROOM, data.head + _HALF)

    def clear(self) -> None:
        """Forgets all work."""
        self._data.tail = self._data.head

    def last_before(self, spans: Sequence[Used], seen: int) -> int:
        """What `last_before` of the native code does."""
        for place in range(self._data.head - 1, self._data.tail - 1, -1):
            turn, (start, end), is_written = self._entry(place)
            if turn <= seen:
                return 0
            for low, high, writes in spans:
                if (is_written or writes) and start < high and low < end and low < high:
                    return turn
        return 0

    def see(self, other: Lane, turn: int) -> None:
        """Notes how far the stream has waited for another."""
        if other.slot is not None and other.slot < MOST_SEEN:
            self._data.seen[other.slot] = turn

    def seen(self, slot: int) -> int:
        """How far the stream has waited for another, as far as that is noted."""
        return int(self._data.seen[slot]) if slot < MOST_SEEN else 0

    def settle(self) -> None:
        """Waits until no launch of the native code is half given. With the lanes closed there is none from then on;
        otherwise `turn` now counts every launch that was noted before."""
        data, begun, spins = self._data, self._data.turn, 0
        while self.is_busy and data.turn == begun:
            spins += 1
            time.sleep(0 if spins < _SPINS else 0.0001)

    def _first_after(self, done: int) -> int:
        """The place of the first entry of a later turn; entries are in the order of turns."""
        data, words = self._data, self._words
        low, high = int(data.tail), int(data.head)
        while low < high:
            middle = (low + high) // 2
            if words[middle % LANE_ROOM * 3 + 2] >> 1 <= done:
                low = middle + 1
            else:
                high = middle
        return low

    def __del__(self, _spare: list[LaneData] = _spare) -> None:  # the module may be gone before
        _spare.append(self._data)


class Lanes:
    """The lanes of the streams of one device that have work under way."""

    def __init__(self) -> None:
        self._data = LanesData()
        self._lanes: list[Lane | None] = []
        self._tables: list[object] = [None]
        """The table that native code reads, and those of before, which it may be reading."""

    @property
    def address(self) -> int:
        """Where the native code finds them."""
        return ctypes.addressof(self._data)

    def add(self, lane: Lane) -> int:
        """Gives a lane a slot, or again the same after a signal. The lock of the ledger is held."""
        lanes = self._lanes
        free = lane if lane in lanes else None
        slot = lanes.index(free) if free in lanes else len(lanes)
        lanes[slot : slot + 1] = [lane]
        ctypes.memset(ctypes.addressof(lane._data.seen), 0, ctypes.sizeof(lane._data.seen))
        for other in lanes:
            if other is None:
                continue
            if slot < MOST_SEEN:
                other._data.seen[slot] = 0
            if other is not lane and other.handle == lane.handle:
                other._data.handle = _NOBODY  # its stream is gone, and the driver gave the name to another
        lane._data.slot = lane.slot = slot
        self._publish()
        return slot

    def remove(self, lane: Lane) -> None:
        """Takes its slot from a lane: no work of its stream is under way, or none of it matters any more."""
        if lane in self._lanes:
            self._lanes[self._lanes.index(lane)] = None
            lane.slot = None
            self._publish()

    def _publish(self) -> None:
        count = len(self._lanes)
        table = self._tables[-1]
        if not isinstance(table, ctypes.Array) or len(table) < count:
            table = (ctypes.c_void_p * max(8, 2 * count))()
            self._tables.append(table)
        for slot, lane in enumerate(self._lanes):
            table[slot] = None if lane is None else lane.address
        self._data.lane = ctypes.addressof(table)
        self._data.count = count

    def conflicts(self, lane: Lane | None, spans: Sequence[Used]) -> list[tuple[int, int]]:
        """What work that uses some bytes has to wait for: slots, and the last turn of each. The lock is held."""
        from .loader import native_conflicts

        find = native_conflicts()
        if find is None:
            return self._conflicts(lane, spans)
        turns = (ctypes.c_int64 * len(self._lanes))()
        array = (SpanData * len(spans))(*(SpanData(*span) for span in spans))
        find(self.address, 0 if lane is None else lane.address, array, len(spans), turns)
        return [(slot, turn) for slot, turn in enumerate(turns) if turn]

    def _conflicts(self, lane: Lane | None, spans: Sequence[Used]) -> list[tuple[int, int]]:
        """The same in Python."""
        uses = []
        for slot, other in enumerate(self._lanes):
            if other is not None and other is not lane:
                turn = other.last_before(spans, 0 if lane is None else lane.seen(slot))
                if turn:
                    uses.append((slot, turn))
        return uses

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Has native code give nothing to a stream of the device meanwhile. The lock of the ledger is held."""
        self._data.closed += 1
        try:
            yield
        finally:
            self._data.closed -= 1

    def set_poisoned(self, is_poisoned: bool) -> None:
        """Has every launch ask the ledger while some memory is known to hold nothing that counts."""
        self._data.poisoned = is_poisoned
