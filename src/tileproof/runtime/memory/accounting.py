"""Memory: how much of it is taken, the most that ever was, and what happens when there is no more.

Every tensor of our own takes its memory here. Memory of the CPU goes back when the last tensor is dropped and no work
uses it any more; small pieces, which are taken from the system sixteen at a time, go back to it together. Memory of a
GPU goes back in the order of the streams that used it, through the driver's own pool.

Handlers of signals may come, and raise, when a function is called or a loop goes round; at no other moment does Python
run another thread either. So what is taken and the sum of it change with no call in between, which needs no lock.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Collection
from typing import Any, Final

import numpy as np

from tileproof.backends.base import device_name, device_number, device_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError, OutOfMemory
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.values import bytes_of, formatted, in_words
from tileproof.language.dtypes import DType
from tileproof.runtime.interop.describe import Array, address_of
from tileproof.runtime.memory.ledger import Span, ledger_of
from tileproof.runtime.memory.recorder import recording, reject_recording

from .block import Block

ALIGNMENT: Final = 64
_SMALL, _TOGETHER = 4096, 16
"""As many pieces of memory are taken from the system at once, if they are no larger."""
VARIABLE: Final = "TILEPROOF_MEMORY_LIMIT"


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


class Taken(weakref.ref[Block]):
    """Memory that was taken and did not go back yet; it refers to the block, if there still is one."""

    __slots__ = ("address", "borrowers", "home", "nbytes")

    nbytes: int
    address: int
    """Of memory of a GPU, as what follows."""
    home: Any
    """The stream that it was taken on."""
    borrowers: Collection[int]
    """Streams on which other libraries were lent it."""


class Account:
    """The memory of one device."""

    def __init__(self, device: int | None) -> None:
        self.device = device
        self._ledger = ledger_of(device)
        self.lock = threading.RLock()
        self.taken: dict[Taken, None] = {}
        self.in_use = self.high_water = 0
        self._pieces: dict[int, list[tuple[int, Array]]] = {}
        """Small pieces of memory that nobody has yet, by size: address and owner."""
        self.limit = _limit_from_environment()
        self.dropped: deque[Taken] = deque()
        """What goes back at the next occasion. The end of an object is no place to take locks, nor to call a function
        of Python: before one begins, a handler of a signal may raise."""

    @property
    def tensors(self) -> int:
        """How many pieces of memory are in use."""
        return len(self.taken)

    def settle(self) -> None:
        """Gives back what was dropped."""
        dropped, taken = self.dropped, self.taken
        while dropped:
            gone = dropped[0]
            del dropped[0]
            if gone in taken:
                del taken[gone]
                self.in_use -= gone.nbytes
                if self._ledger.poisoned or self.device is not None:
                    self._give_back(gone)

    def _give_back(self, gone: Taken) -> None:
        """On the CPU the memory went with the block; what failed work left in it went too."""
        with self._ledger.lock:
            self._ledger.forget_gone()

    def owner_of(self, span: Span) -> Callable[[], object] | None:
        """A reference to the block that some bytes belong to."""
        low, high = span
        for reference in self.taken.copy():
            block = reference()
            if block is not None and block.address <= low and high <= block.address + block.nbytes:
                return reference
        return None

    def take(self, nbytes: int, what: tuple[Any, DType], is_zero: bool = False) -> Block:
        """New memory, not yet written, or of zeros; `what` is the shape and element type of the tensor it is for."""
        if recording.get() is not None:
            reject_recording(f"{_named(what)} is made", "make it before the graph: replays use what was there then")
        if self.limit is None and self.device is None:
            if self.dropped:
                self.settle()
            return self._take(nbytes, what, is_zero)
        if self.limit is not None and self._is_short_of(nbytes):
            # Work under way may hold what the host has dropped: how far the host is ahead must not decide.
            _wait_for_work(self)
        with self.lock:
            self.settle()
            if self.limit is not None and self.in_use + nbytes > self.limit:
                raise self.refusal(nbytes, what, f"the limit is {in_words(self.limit)}")
            return self._take(nbytes, what, is_zero)

    def _is_short_of(self, nbytes: int) -> bool:
        with self.lock:
            self.settle()
            return self.limit is not None and self.in_use + nbytes > self.limit

    def _take(self, nbytes: int, what: tuple[Any, DType], is_zero: bool) -> Block:
        """Takes memory and counts it."""
        size = (nbytes + ALIGNMENT - 1) & -ALIGNMENT
        pieces = self._pieces.get(size)
        if pieces and not is_zero:
            address, memory = pieces.pop()
        else:
            address, memory = self._allocated(size, nbytes, what, is_zero)
        block = Block(None, address, nbytes, memory, self, is_zero)
        taken = Taken(block, self.dropped.append)
        taken.nbytes = nbytes
        self.taken[taken] = None
        self.in_use = in_use = self.in_use + nbytes
        if in_use > self.high_water:
            self.high_water = in_use
        return block

    def _allocated(self, size: int, nbytes: int, what: tuple[Any, DType], is_zero: bool) -> tuple[int, Array]:
        """Memory of the system: its address, and what keeps it."""
        count = _TOGETHER if size <= _SMALL and not is_zero else 1
        try:
            memory = (np.zeros if is_zero else np.empty)(size * count + ALIGNMENT, np.uint8)
        except (MemoryError, OverflowError, ValueError):  # the latter two where numpy cannot even say how much it is
            raise self.refusal(nbytes, what, "the system has no more") from None
        address = (address_of(memory) + ALIGNMENT - 1) & -ALIGNMENT
        if count > 1:
            self._pieces[size] = [(address + size * place, memory) for place in range(1, count)]
        return address, memory

    def refusal(self, nbytes: int, what: tuple[Any, DType], why: str) -> OutOfMemory:
        """Why there is no memory for something."""
        most = in_words(self.high_water)
        use = f"{in_words(self.in_use)} are in use in {self.tensors} tensors, at most it was {most}"
        return OutOfMemory(
            Diagnostic(
                Code.OUT_OF_MEMORY,
                f"{_named(what)} takes {in_words(nbytes)} on {device_name(self.device)}, and {why}",
                notes=(use,),
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


def _named(what: tuple[Any, DType]) -> str:
    shape, dtype = what
    return f"a tensor of shape {formatted(shape)} and {dtype}"


def _wait_for_work(account: Account) -> None:
    """Waits for work under way, if that of it which is done is not enough, and lets go of what it holds."""
    ledger = ledger_of(account.device)
    with ledger.lock:
        ledger.retire()
        under_way = [stream for stream in ledger.under_way() if stream.pending]
    for stream in under_way:
        stream.until(stream.turn)
    with ledger.lock:
        ledger.retire()


_accounts: dict[int | None, Account] = {}
_making = threading.RLock()


def account_of(device: int | None) -> Account:
    """The memory of a device."""
    account = _accounts.get(device)
    if account is None:
        with _making:
            if device not in _accounts:
                _accounts[device] = device_of(device).account()
            account = _accounts[device]
    return account


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
    nbytes = bytes_of(amount if isinstance(amount, str) else formatted(amount))
    if nbytes is None:
        raise LaunchError(
            Diagnostic(Code.BAD_SETTING, f"{where} is {formatted(amount)}, which is no amount of memory",
                       help='write a number of bytes, or for instance "2 GiB"')
        )  # fmt: skip
    return nbytes


def _start_anew() -> None:
    """In a process that was forked off: a lock that another thread held would be held for ever."""
    global _making
    _making = threading.RLock()
    for account in _accounts.values():
        account.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
