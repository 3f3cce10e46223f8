"""Memory that tensors are views of: whose it is, how often it was written, which of it was ever written.

A block is *shared* when others can reach its memory without asking us: because another library made it, or because a
view of ours was handed out (`.numpy()`, DLPack) and still lives. Launches of the CPU on shared memory are waited for.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from tileproof.language.dtypes import DType

from .accounting import Account
from .facts import Facts
from .leases import Span, ledger_of
from .views import Runs


class Block:
    """A piece of memory on one device."""

    __slots__ = ("__weakref__", "account", "address", "device", "facts", "home", "is_writeable", "lent", "nbytes",
                 "owner", "version", "written")  # fmt: skip

    def __init__(self, device: int | None, address: int, nbytes: int, owner: object, account: Account | None,
                 *, is_written: bool, is_writeable: bool = True, home: Any = None) -> None:  # fmt: skip
        self.device, self.address, self.nbytes = device, address, nbytes
        self.owner = owner
        """What keeps the memory."""
        self.home = home
        """The stream that memory of a GPU was taken on, and goes back on."""
        self.account = account
        """Who gave the memory and gets it back; None if it is another library's."""
        self.is_writeable = is_writeable
        """Whether we may write it: another library's memory may be for reading only."""
        self.version = 0
        """How often a launch or the host was allowed to write it."""
        self.written: Written | None = None if is_written else Written()
        """What was ever written; None for all of it."""
        self.lent: list[object] = []
        """One entry for each view that was handed out and lives. A list: to append and to remove need no lock."""
        self.facts = Facts()
        """What is known of the contents of index tensors here."""

    @property
    def is_owned(self) -> bool:
        return self.account is not None

    @property
    def exports(self) -> int:
        """How many views that were handed out live."""
        return len(self.lent)

    @property
    def is_shared(self) -> bool:
        """Whether others can reach the memory without asking."""
        return self.account is None or bool(self.lent)

    @property
    def span(self) -> Span:
        return self.address, self.address + self.nbytes

    def record(self, dtype: DType, address: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> bytes | None:
        """What launches that follow a plan read of a tensor here: only on a GPU do they."""
        return None

    def is_written(self, runs: Runs) -> bool:
        """Whether all of some bytes were written."""
        written = self.written
        return written is None or written.has(runs)

    def note_write(self, runs: Runs) -> None:
        """Bytes are about to be written."""
        self.version += 1
        if self.written is None:
            return
        with ledger_of(self.device).lock:
            written = self.written
            if written is not None and not written.has(runs):
                written.add(runs)
                if written.has(np.array([self.span])):
                    self.written = None


_NONE: Runs = np.empty((0, 2), np.int64)


class Written:
    """Bytes that were written: disjoint runs in order, none touching another.

    One thread at a time may add; others may look meanwhile, because what they look at is replaced and never changed.
    """

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: Runs = _NONE

    @property
    def runs(self) -> Runs:
        """All of them."""
        return self._runs

    def add(self, runs: Runs) -> None:
        """Adds bytes."""
        runs = np.concatenate((self._runs, runs[runs[:, 0] < runs[:, 1]]))
        if not len(runs):
            return
        runs = runs[np.argsort(runs[:, 0], kind="stable")]
        starts, ends = runs[:, 0], np.maximum.accumulate(runs[:, 1])
        # A run is the first of those that are joined if it starts behind all that start before it.
        is_first = np.concatenate(([True], starts[1:] > ends[:-1]))
        self._runs = np.stack((starts[is_first], ends[np.append(is_first[1:], True)]), 1)

    def lacking(self, runs: Runs) -> Runs:
        """Those of some bytes that are not here."""
        starts, ends = self._runs[:, 0].tolist(), self._runs[:, 1].tolist()
        pieces = []
        for low, high in runs.tolist():
            place = bisect_right(ends, low)
            while low < high:
                start = starts[place] if place < len(starts) else high
                if low < min(start, high):
                    pieces.append((low, min(start, high)))
                low = ends[place] if place < len(ends) else high
                place += 1
        return np.array(pieces, np.int64).reshape(-1, 2)

    def has(self, runs: Runs) -> bool:
        """Whether all of some bytes are here."""
        runs = runs[runs[:, 0] < runs[:, 1]]
        known = self._runs
        if not len(known):
            return not len(runs)
        places = np.searchsorted(known[:, 0], runs[:, 0], "right") - 1
        return bool(np.all((places >= 0) & (runs[:, 1] <= known[places, 1])))
