"""Facts about the contents of index tensors: measured once, compared at every launch.

What is kept is a range, never "valid for V": the same entries may meet a smaller table next time. A fact holds for one
version of the memory it was measured in; who writes there makes a new version. Memory that others may write has no
versions, and is measured at every launch.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.runtime.interop.describe import Array, byte_range

_BLOCK: Final = 1 << 16
"""Entries that stay in a cache while more than one thing is asked of them."""
_FAR: Final = 1 << 48
"""Behind every dimension."""
_MOST: Final = 64
"""How many views of one piece of memory are remembered."""
Key: TypeAlias = tuple[int, int, tuple[int, ...], tuple[int, ...], "np.dtype[Any]"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a launch demands of an index tensor."""

    kind: str
    """`Index`, `Unique` or `Offsets`."""
    extent: int
    """Of the dimension that its entries point into."""
    holes_allowed: bool = True
    """Whether entries may be -1 (none)."""
    ends_early: bool = False
    """Whether borders may end before the extent."""
    rows: int = 1
    """Of how many rows of equal length entries of a `Unique` differ within each; 1: all of them differ."""

    def is_end(self, last: int | None) -> bool:
        """Whether borders may end so."""
        return last is not None and (last <= self.extent if self.ends_early else last == self.extent)


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known of the entries of an index tensor; None where nobody looked."""

    least: int
    greatest: int
    """Of no entries: less than `least`."""
    has_none: bool | None
    """Whether -1 is among them."""
    is_unique: bool | None = None
    """Whether no entry >= 0 is in a row twice."""
    is_monotone: bool | None = None
    """Whether no entry is less than the one before it."""
    first: int | None = None
    last: int | None = None
    is_exact: bool = True
    """Whether the range was seen; else entries are known to lie in it, and may leave much of it out."""
    rows: int = 1
    """Of the rows that `is_unique` is about."""

    def meets(self, wanted: Wanted) -> bool | None:
        """Whether the entries are as wanted; None if that is to be measured."""
        if wanted.kind == "Offsets":
            if self.is_monotone is None:
                return None
            return self.is_monotone and self.first == 0 and wanted.is_end(self.last)
        is_within = self.least >= -1 and self.greatest < wanted.extent
        if is_within and wanted.kind == "Index" and (wanted.holes_allowed or self.has_none is False):
            return True  # as below, for the most frequent case
        answers = [True if is_within else False if self.is_exact else None]
        if not wanted.holes_allowed:
            answers.append(None if self.has_none is None else not self.has_none)
        if wanted.kind == "Unique":
            answers.append(self.is_unique if self.rows == wanted.rows else None)
        return False if False in answers else None if None in answers else True

    def joined(self, other: Measured) -> Measured:
        """What two looks at the same entries tell together; the range is that of the better look."""
        best, rest = (self, other) if self.is_exact else (other, self)
        order = best if best.is_monotone is not None else rest
        return Measured(
            best.least, best.greatest,
            rest.has_none if best.has_none is None else best.has_none,
            rest.is_unique if best.is_unique is None else best.is_unique,
            order.is_monotone, order.first, order.last, best.is_exact,
            rest.rows if best.is_unique is None else best.rows,
        )  # fmt: skip


# Measuring.


def measure(array: Array, kind: str, rows: int = 1) -> Measured:
    """Looks at all entries of a tensor on the host, as closely as its kind demands."""
    if not array.size:
        return Measured(0, -1, False, is_unique=True, is_monotone=True, rows=rows)
    if kind == "Offsets":
        return _measured_offsets(array)
    is_unique = None
    if kind == "Unique":
        # A copy, for the entries are looked at more than once: another thread may write them meanwhile.
        entries = array if rows <= 1 else in_rows(np.array(array).reshape(-1), rows)
        is_unique = _is_unique(entries[entries >= 0])
    least, greatest = _range(array)
    return Measured(least, greatest, _has_none(array, least), is_unique, rows=rows)


def in_rows(entries: Array, rows: int) -> Array:
    """Numbers that differ where entries of one row do, and those of two rows always; negative ones as they are."""
    if rows <= 1 or not entries.size:
        return entries
    row = np.arange(entries.size) // (entries.size // rows)
    top = min(max(int(entries.max()), 0), _FAR) + 1
    wide = entries.astype(np.int64)
    return np.where(wide >= 0, wide + row * top, wide)


def _measured_offsets(array: Array) -> Measured:
    first, last = int(array[0]), int(array[-1])
    is_monotone = bool((array[1:] >= array[:-1]).all())
    least, greatest = (first, last) if is_monotone else _range(array)
    return Measured(least, greatest, _has_none(array, least), None, is_monotone, first, last)


def _range(array: Array) -> tuple[int, int]:
    """The least and the greatest entry, in one pass over memory where entries lie in a row."""
    if array.size <= _BLOCK or not array.flags.c_contiguous:
        # What `min` and `max` do, which take as long again to call it.
        return int(np.minimum.reduce(array, axis=None)), int(np.maximum.reduce(array, axis=None))
    entries = array.reshape(-1)
    ranges = [_range(entries[start : start + _BLOCK]) for start in range(0, entries.size, _BLOCK)]
    return min(least for least, _ in ranges), max(greatest for _, greatest in ranges)


def _has_none(array: Array, least: int) -> bool:
    return least == -1 or (least < -1 and bool((array == -1).any()))


def _is_unique(positions: Array) -> bool:
    """Whether no entry is there twice; all are at least 0."""
    if not positions.size:
        return True
    top = int(positions.max())
    if top < 8 * positions.size:
        seen = np.zeros(top + 1, np.bool_)
        seen[positions] = True
        return int(np.count_nonzero(seen)) == positions.size
    positions.sort()
    return not bool((positions[1:] == positions[:-1]).any())


# Remembering.


class Facts:
    """What is known of index tensors in one piece of memory, for its present version."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: tuple[int, dict[Key, Measured]] = (-1, {})

    def lookup(self, version: int, key: Key, wanted: Wanted) -> Measured | None:
        """What settles a demand, either way; None if it is to be measured."""
        at, known = self._known
        measured = known.get(key) if at == version else None
        return None if measured is None or measured.meets(wanted) is None else measured

    def remember(self, version: int, key: Key, measured: Measured) -> None:
        """Keeps what was measured in a version of the memory, and forgets all older ones.

        Versions only grow: what was measured in one that is gone is of no use. Read the version before you measure.
        """
        at, known = self._known
        if at > version:
            return
        if at < version:
            known = {}
            self._known = (version, known)
        before = known.pop(key, None)
        while len(known) >= _MOST:
            known.pop(next(iter(tuple(known))), None)  # a copy: other threads may remember meanwhile
        known[key] = measured if before is None else measured.joined(before)

    def forget(self) -> None:
        """Drops all."""
        self._known = (self._known[0], {})


def key_of(array: Any) -> Key:
    """What a view of memory is remembered by."""
    return (*byte_range(array), tuple(array.shape), tuple(array.strides), array.dtype)


# What kernels prove of what they write.


def contents_of_output(extent: int, has_none: bool | None) -> Measured:
    """What is known of an `Out[Index["V"], ...]` after a launch whose checks all held: every entry is -1 or in V."""
    return Measured(-1 if has_none is not False else 0, extent - 1, has_none, is_exact=False)
