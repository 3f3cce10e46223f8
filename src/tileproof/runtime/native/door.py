"""Whether work of the CPU is under way, for the native code: while none is, a small launch needs no leases.

Every queue of the CPU is registered here for good. Whatever else must be looked at by the full launch, such as memory
that failed work left poisoned, closes the door.
"""

from __future__ import annotations

import ctypes
from typing import Final

from .structures import DOORS, DoorData

state: Final = DoorData()
"""`closed` says whether memory is poisoned, or may be when work ends, so that all work is to be looked at."""


def address() -> int:
    """Where the native code finds it."""
    return ctypes.addressof(state)


def register(queue: int) -> None:
    """Has the counters of a queue watched. With more queues than there is room for, no launch goes without leases."""
    known = state.queue[: min(state.queues, DOORS)]
    if queue in known:
        return
    if state.queues >= DOORS:
        state.full = 1
        return
    state.queue[state.queues] = queue
    state.queues += 1


def forget_queues() -> None:
    """In a process that was forked off: its parent's queues are not here."""
    state.queues = state.full = state.held = 0


class _Hold:
    """Has no launch go without leases while it is entered, by a thread that has the lock of the ledger: what it looked
    at stays as it is until its work is given to a queue, or until it has read or written itself."""

    def __enter__(self) -> None:
        state.held += 1

    def __exit__(self, *_: object) -> None:
        state.held -= 1


hold: Final = _Hold()


def is_quiet() -> bool:
    """Whether no work is under way and nothing is to be looked at closely."""
    if state.closed or state.full or state.held:
        return False
    for place in range(state.queues):
        counters = (ctypes.c_int64 * 17).from_address(state.queue[place])
        if counters[0] < counters[16]:
            return False
    return True
