"""Memory that tensors are views of: whose it is, how often it was written, which of it was ever written.

A block is *shared* when others can reach its memory without asking us: because another library made it, or because a
view of ours was handed out (`.numpy()`, DLPack) and still lives. Launches of the CPU on shared memory are waited for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from ctypes import addressof
from functools import partial
from operator import length_hint
from typing import Any, Final, Protocol

import numpy as np

from tileproof.backends.base import Memory
from tileproof.language.dtypes import DType
from tileproof.runtime.interop.describe import Described
from tileproof.runtime.native.plan import CPU, CUDA
from tileproof.runtime.native.readers import record
from tileproof.runtime.native.structures import StateData

from .contents import Facts
from .ledger import Runs, Span, ledger_of

_MOST_VIEWS: Final = 1 << 62


class Block:
    """A piece of memory on one device. Native launches count their writes, and note that all of it was written, in a
    `StateData`, which is made with the first record of a tensor here."""

    __slots__ = ("__weakref__", "_parts", "_unwritten", "account", "address", "device", "home",
                 "is_writeable", "lent", "nbytes", "owner", "writes")  # fmt: skip

    def __init__(self, device: int | None, address: int, nbytes: int, owner: object, account: object,
                 is_written: bool, is_writeable: bool = True, home: Any = None) -> None:  # fmt: skip
        self.device = device
        self.address = address
        self.nbytes = nbytes
        self.owner = owner
        """What keeps the memory."""
        self.home = home
        """The stream that memory of a GPU was taken on, and goes back on."""
        self.account = account
        """Who gave the memory and gets it back; None if it is another library's."""
        self.is_writeable = is_writeable
        """Whether we may write it: another library's memory may be for reading only."""
        self.writes = 0
        """How often Python was allowed to write it. Whoever writes counts one more, which makes another version."""
        self._unwritten: Written | None = None if is_written else NOTHING
        self._parts: dict[str, Any] = {}
        """What few blocks have. Of two threads that make the same, one prevails: to set a default needs no lock."""
        self.lent: list[object] = []
        """One entry for each view that was handed out and lives. A list: to append and to remove need no lock."""

    @property
    def facts(self) -> Facts:
        """What is known of the contents of index tensors here."""
        facts: Facts = self._parts.get("facts") or self._parts.setdefault("facts", Facts())
        return facts

    @property
    def borrowers(self) -> set[int]:
        """Streams on which other libraries were lent memory of a GPU: it goes back after what they do there."""
        borrowers: set[int] = self._parts.setdefault("borrowers", set())
        return borrowers

    @property
    def version(self) -> int:
        """How often a launch or the host was allowed to write it, or a view that was handed out ended."""
        parts, version = self._parts, self.writes
        if "state" in parts:
            version += parts["state"].version
        return version + _MOST_VIEWS - length_hint(parts["views"]) if "views" in parts else version

    def counts_end(self) -> Callable[[object], object]:
        """What the end of a view calls to make another version: it is no function of Python, so no signal comes in."""
        return partial(next, self._parts.setdefault("views", iter(range(_MOST_VIEWS))))

    @property
    def written(self) -> Written | None:
        """What was ever written; None for all of it."""
        unwritten, parts = self._unwritten, self._parts
        return unwritten if unwritten is None or "state" not in parts or parts["state"].unwritten else None

    @written.setter
    def written(self, written: Written | None) -> None:
        self._unwritten = written
        if "state" in self._parts:
            self._parts["state"].unwritten = written is not None

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
        """What native launches read of a tensor here; None if each launch must look closer."""
        device, lender = self.device, self.owner
        if isinstance(lender, Described) and (lender.stream is not None or lender.memory is not Memory.DEVICE):
            return None
        state = self._parts.get("state")
        if state is None:
            end, is_unwritten = self.address + self.nbytes, self._unwritten is not None
            state = StateData(0, self.address, end, is_unwritten, self.account is None, id(self.lent))
            state = self._parts.setdefault("state", state)
        where = CPU if device is None else (CUDA, device)
        return record(address, dtype, shape, strides, where, self.is_writeable, addressof(state))

    def is_written(self, runs: Runs) -> bool:
        """Whether all of some bytes were written."""
        written = self.written
        return written is None or written.has(runs)

    def note_write(self, runs: Runs) -> None:
        """Bytes are about to be written."""
        self.writes += 1
        if self._unwritten is None or self.written is None:
            return
        with ledger_of(self.device).lock:
            written = self.written
            if written is not None and not written.has(runs):
                written = written.joined(runs)
                self.written = None if written.has(np.array([self.span])) else written


class View(Protocol):
    """A tensor, for what lends, shows, reads and writes it: see `tensors.Tensor`."""

    _lent: Any

    @property
    def block(self) -> Block: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def address(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def span(self) -> Span: ...
    @property
    def storage(self) -> np.dtype[Any]: ...
    @property
    def device(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def is_contiguous(self) -> bool: ...
    @property
    def is_initialised(self) -> bool: ...
    @property
    def _array(self) -> Any: ...
    def demand_written(self, doing: str) -> None: ...
    def note_write(self) -> None: ...


class Written:
    """Bytes that were written: disjoint runs in order, none touching another. It never changes."""

    __slots__ = ("runs",)

    def __init__(self, runs: Runs) -> None:
        self.runs = runs

    def joined(self, runs: Runs) -> Written:
        """These and other bytes."""
        runs = np.concatenate((self.runs, runs[runs[:, 0] < runs[:, 1]]))
        if not len(runs):
            return self
        runs = runs[np.argsort(runs[:, 0], kind="stable")]
        starts, ends = runs[:, 0], np.maximum.accumulate(runs[:, 1])
        # A run is the first of those that are joined if it starts after all that start before it.
        is_first = np.concatenate(([True], starts[1:] > ends[:-1]))
        return Written(np.stack((starts[is_first], ends[np.append(is_first[1:], True)]), 1))

    def lacking(self, runs: Runs) -> Runs:
        """Those of some bytes that are not here."""
        starts, ends = self.runs[:, 0].tolist(), self.runs[:, 1].tolist()
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
        known = self.runs
        if not len(known):
            return not len(runs)
        places = np.searchsorted(known[:, 0], runs[:, 0], "right") - 1
        return bool(np.all((places >= 0) & (runs[:, 1] <= known[places, 1])))


NOTHING: Final = Written(np.empty((0, 2), np.int64))
"""No bytes."""
