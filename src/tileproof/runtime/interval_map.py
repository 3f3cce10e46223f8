"""A map of disjoint intervals of bytes: who wrote each last, and who has read it since."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any, Final, TypeAlias

from tileproof.diagnostics.records import dataclass

from .interfaces import Span

Use: TypeAlias = tuple[Any, int]
"""Work of a stream, by its number there."""

_TIDY: Final = 256
"""How many intervals a map has before those of finished work are removed."""


@dataclass(slots=True, eq=False)
class _Interval:
    """Bytes with one history: who wrote them last, and who has read them since."""

    low: int
    high: int
    writer: Use | None = None
    readers: dict[Any, int] = field(default_factory=dict)

    def copy(self, low: int, high: int) -> _Interval:
        return _Interval(low, high, self.writer, dict(self.readers))

    def users(self, writing: bool) -> Iterator[Use]:
        """Those whom a new reader, or a new writer, must wait for."""
        if self.writer is not None:
            yield self.writer
        if writing:
            yield from self.readers.items()

    @property
    def is_over(self) -> bool:
        return all(stream.done >= turn for stream, turn in self.users(True))


class IntervalMap:
    """Disjoint intervals in order of address. A look-up bisects; memory nobody used has no interval."""

    __slots__ = ("_intervals", "_lows", "_tidy_at")

    def __init__(self) -> None:
        self._lows: list[int] = []
        self._intervals: list[_Interval] = []
        self._tidy_at = _TIDY

    def __len__(self) -> int:
        return len(self._lows)

    def users(self, span: Span, writing: bool) -> Iterable[Use]:
        """Those whom a new use of some bytes must wait for, the last of each stream."""
        found: dict[Any, int] = {}
        self.gather(found, span, writing)
        return found.items()

    def gather(self, found: dict[Any, int], span: Span, writing: bool) -> None:
        """The same, added to what was found before."""
        low, high = span
        if low >= high:
            return
        place = bisect_right(self._lows, low)
        intervals = self._intervals
        if place and intervals[place - 1].high > low:
            place -= 1
        count = len(intervals)
        while place < count:
            each = intervals[place]
            if each.low >= high:
                return
            if each.writer is not None:
                stream, turn = each.writer
                if turn > found.get(stream, 0):
                    found[stream] = turn
            if writing:
                for stream, turn in each.readers.items():
                    if turn > found.get(stream, 0):
                        found[stream] = turn
            place += 1

    def write(self, span: Span, use: Use) -> None:
        """Makes a use the only one of its bytes: it waits for all earlier ones, and later ones for it."""
        low, high = span
        if low >= high:
            return
        place = bisect_right(self._lows, low) - 1
        if place >= 0:
            found = self._intervals[place]
            if found.low == low and found.high == high:  # as nearly always: memory is used again as it was before
                found.writer, found.readers = use, {}
                return
        first, last = self._touched(span)
        before, behind = self._beside(span, first, last)
        self._replace(first, last, [*before, _Interval(*span, use), *behind])

    def read(self, span: Span, use: Use) -> None:
        """Adds a reader."""
        low, high = span
        if low >= high:
            return
        stream, turn = use
        place = bisect_right(self._lows, low) - 1
        if place >= 0:
            found = self._intervals[place]
            if found.low == low and found.high == high:
                found.readers[stream] = turn
                return
        first, last = self._touched(span)
        before, behind = self._beside(span, first, last)
        inside: list[_Interval] = []
        for found in self._intervals[first:last]:
            if low < found.low:
                inside.append(_Interval(low, found.low))
                low = found.low
            inside.append(found.copy(low, min(found.high, high)))
            low = found.high
        if low < high:
            inside.append(_Interval(low, high))
        for found in inside:
            found.readers[stream] = turn
        self._replace(first, last, [*before, *inside, *behind])

    def _touched(self, span: Span) -> tuple[int, int]:
        """The places of the intervals that have a byte of the span."""
        low, high = span
        if low >= high:
            return 0, 0
        first = bisect_right(self._lows, low)
        if first and self._intervals[first - 1].high > low:
            first -= 1
        return first, bisect_left(self._lows, high, first)

    def _beside(self, span: Span, first: int, last: int) -> tuple[list[_Interval], list[_Interval]]:
        """What intervals that cross a border of the span have outside of it."""
        low, high = span
        touched = self._intervals[first:last]
        before = [each.copy(each.low, low) for each in touched[:1] if each.low < low]
        behind = [each.copy(high, each.high) for each in touched[-1:] if high < each.high]
        return before, behind

    def _replace(self, first: int, last: int, intervals: list[_Interval]) -> None:
        lows = [each.low for each in intervals]
        # No call in between: before one, a handler of a signal may raise.
        self._lows[first:last] = lows
        self._intervals[first:last] = intervals
        if len(self._lows) > self._tidy_at:
            self._tidy()

    def _tidy(self) -> None:
        left = [found for found in self._intervals if not found.is_over]
        lows = [found.low for found in left]
        self._lows, self._intervals, self._tidy_at = lows, left, max(_TIDY, 2 * len(lows))
