"""Memory: how much of it is taken, the most that ever was, and what happens when there is no more.

Every tensor of our own takes its memory here. Memory of the CPU goes back when the last tensor is dropped and no work
uses it any more; memory of a GPU goes back in the order of the streams that used it, through the driver's own pool.

Handlers of signals may come, and raise, between any two calls. So what is taken is a set, to which memory is added and
from which it is removed in one step, and the sum of it is counted anew by whoever finds that it was left in between.
"""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tileproof.backends.cuda.driver_failures import in_words
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import LaunchError, OutOfMemory
from tileproof.diagnostics.values import shown

from .leases import Span, ledger_of
from .streams import device_name, device_number, recording, refuse_recording

if TYPE_CHECKING:
    from .storage import Block

ALIGNMENT: Final = 64
VARIABLE: Final = "TILEPROOF_MEMORY_LIMIT"
_UNITS: Final = {"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
                 "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Memory:
    """What tensors of tileproof take on one device, in bytes."""

    device: str
    in_use: int
    high_water: int
    """The most that was in use at one time."""
    tensors: int
    """How many pieces of memory are in use."""
    limit: int | None
    """The most that may be in use."""
    free: int | None = None
    """What the whole device has left, where it says so."""
    total: int | None = None

    def __str__(self) -> str:
        most = in_words(self.high_water)
        parts = [f"{self.device}: {in_words(self.in_use)} in {self.tensors} tensors, at most {most}"]
        if self.limit is not None:
            parts.append(f"limit {in_words(self.limit)}")
        if self.free is not None and self.total is not None:
            parts.append(f"{in_words(self.free)} of {in_words(self.total)} free")
        return ", ".join(parts)


class Taken(weakref.ref["Block"]):
    """Memory that was taken and did not go back yet; it refers to the block, if there still is one."""

    __slots__ = ("address", "borrowers", "home", "nbytes")

    address: int
    nbytes: int
    home: Any
    """The stream that memory of a GPU was taken on."""
    borrowers: Collection[int]
    """Streams on which other libraries were lent it."""


class Account:
    """The memory of one device."""

    def __init__(self, device: int | None) -> None:
        self.device = device
        self.lock = threading.RLock()
        self.taken: set[Taken] = set()
        self.in_use = self.high_water = 0
        self._is_counted = True
        """Whether `in_use` is what `taken` comes to."""
        self.limit = _limit_from_environment()
        self.dropped: deque[Taken] = deque()
        """What goes back at the next occasion. The end of an object is no place to take locks, nor to call a function
        of Python: before one begins, a handler of a signal may raise."""

    @property
    def tensors(self) -> int:
        """How many pieces of memory are in use."""
        return len(self.taken)

    def settle(self) -> None:
        """Gives back what was dropped. The lock is held."""
        if not self._is_counted:
            self._count()
        while self.dropped:
            self._is_counted = False
            gone = self.dropped.popleft()
            is_mine = gone in self.taken
            if is_mine:
                self.taken.discard(gone)
                if not self._is_counted:  # else a handler of a signal has counted
                    self.in_use -= gone.nbytes
            self._is_counted = True
            if is_mine:
                self._give_back(gone)

    def _count(self) -> None:
        """Finds out what is in use, also what was about to go back when a handler of a signal raised."""
        self.dropped.extend([each for each in self.taken.copy() if each() is None])
        while not self._is_counted:
            taken = self.taken.copy()
            total = sum(each.nbytes for each in taken)
            if taken == self.taken:
                self.in_use, self._is_counted = total, True

    def _give_back(self, gone: Taken) -> None:
        """On the CPU the memory went with the block; what failed work left in it went too."""
        ledger = ledger_of(self.device)
        if ledger.poisoned:
            with ledger.lock:
                ledger.forget_gone()

    def owner_of(self, span: Span) -> Callable[[], object] | None:
        """A reference to the block that some bytes belong to."""
        low, high = span
        taken = [each for each in self.taken.copy() if each.address <= low and high <= each.address + each.nbytes]
        return next((each for each in taken if each() is not None), None)

    def take(self, nbytes: int, what: object) -> Block:
        """New memory, not yet written; `what` says in an error what it is for."""
        if recording.get() is not None:
            refuse_recording(f"{what} is made", "make it before the graph: replays use what was there then")
        if self.limit is not None and self._is_short_of(nbytes):
            # Work under way may hold what the host has dropped: how far the host is ahead must not decide.
            _wait_for_work(self)
        with self.lock:
            self.settle()
            if self.limit is not None and self.in_use + nbytes > self.limit:
                raise self.refusal(nbytes, what, f"the limit is {in_words(self.limit)}")
            made = None
            try:
                made = self._take(nbytes, what)
                self._note(made)
            except BaseException:
                if made is not None:
                    self._note(made)  # or it would not be given back
                raise
        return made

    def _note(self, block: Block) -> None:
        """Counts memory that was taken; what is counted is not counted again. The lock is held."""
        taken = Taken(block, self.dropped.append)
        taken.address, taken.nbytes, taken.home = block.address, block.nbytes, block.home
        taken.borrowers = getattr(block, "borrowers", ())
        if taken not in self.taken:
            self._is_counted = False
            self.taken.add(taken)
            if not self._is_counted:
                self.in_use += taken.nbytes
                self._is_counted = True
        if self.in_use > self.high_water:
            self.high_water = self.in_use

    def _is_short_of(self, nbytes: int) -> bool:
        with self.lock:
            self.settle()
            return self.limit is not None and self.in_use + nbytes > self.limit

    def _take(self, nbytes: int, what: object) -> Block:
        from .storage import Block

        try:
            memory = np.empty(nbytes + ALIGNMENT, np.uint8)
        except (MemoryError, OverflowError, ValueError):  # the latter two where numpy cannot even say how much it is
            raise self.refusal(nbytes, what, "the system has no more") from None
        first = int(memory.__array_interface__["data"][0])
        start = -first % ALIGNMENT
        owner = memory[start : start + nbytes]
        return Block(None, first + start, nbytes, owner, self, is_written=False)

    def refusal(self, nbytes: int, what: object, why: str) -> OutOfMemory:
        """Why there is no memory for something."""
        most = in_words(self.high_water)
        held = f"{in_words(self.in_use)} are in use in {self.tensors} tensors, at most it was {most}"
        return OutOfMemory(
            Diagnostic(
                Code.OUT_OF_MEMORY,
                f"{what} takes {in_words(nbytes)} on {device_name(self.device)}, and {why}",
                notes=(held,),
                help="drop tensors that are not needed, or use smaller ones; `tp.memory()` shows what is in use",
            )
        )

    def state(self) -> Memory:
        with self.lock:
            self.settle()
            taken = self.in_use, self.high_water, self.tensors
            return Memory(device_name(self.device), *taken, self.limit, *self._room())

    def _room(self) -> tuple[int | None, int | None]:
        return None, None


def _wait_for_work(account: Account) -> None:
    """Waits for work under way, if that of it which is done is not enough, and lets go of what it holds."""
    ledger = ledger_of(account.device)
    with ledger.lock:
        ledger.retire()
        under_way = [stream for stream in (ledger.alone, *ledger.streams) if stream is not None and stream.pending]
    for stream in under_way:
        stream.until(stream.turn)
    with ledger.lock:
        ledger.retire()


_accounts: dict[int | None, Account] = {}
_making = threading.RLock()


def account_of(device: int | None) -> Account:
    """The memory of a device."""
    found = _accounts.get(device)
    if found is None:
        with _making:
            if device not in _accounts:
                if device is None:
                    _accounts[device] = made = Account(None)
                    ledger_of(None).owner_of = made.owner_of
                else:
                    _accounts[device] = import_module(".cuda_memory", __package__).CudaAccount(device)
            found = _accounts[device]
    return found


def memory(device: str = "cpu") -> Memory:
    """What tensors of tileproof take on a device now, and at most.

        print(tp.memory())
    """
    return account_of(device_number(device)).state()


def limit_memory(limit: int | str | None, device: str = "cpu") -> None:
    """Sets the most memory that tensors may take on a device: a number of bytes, a text such as "2 GiB", or None.

    The environment variable TILEPROOF_MEMORY_LIMIT does the same for all devices.
    """
    account_of(device_number(device)).limit = None if limit is None else _bytes(limit, "the limit")


def _limit_from_environment() -> int | None:
    text = os.environ.get(VARIABLE)
    return _bytes(text, VARIABLE) if text else None


def _bytes(amount: int | str, where: str) -> int:
    if type(amount) is int and amount >= 0:
        return amount
    text = amount if isinstance(amount, str) else shown(amount)
    found = re.fullmatch(r"\s*(\d{1,40}(?:\.\d{1,40})?)\s*([a-z]*)\s*", text.lower())
    if found is None or found[2] not in _UNITS:
        raise LaunchError(
            Diagnostic(Code.BAD_SETTING, f"{where} is {shown(amount)}, which is no amount of memory",
                       help='write a number of bytes, or for instance "2 GiB"')
        )  # fmt: skip
    return int(float(found[1]) * _UNITS[found[2]])


def _start_anew() -> None:
    """In a process that was forked off: a lock that another thread held would be held for ever."""
    global _making
    _making = threading.RLock()
    for account in _accounts.values():
        account.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
