"""Whether work of the CPU is under way, for the native code: while none is, a small launch needs no leases.

Every queue of the CPU is registered here for good. Whatever else must be looked at by the full launch, such as memory
that failed work left poisoned, closes the door.
"""

from __future__ import annotations

import ctypes
from typing import Final

from .layout import DOORS, DoorData

_door: Final = DoorData()


def address() -> int:
    """Where the native code finds it."""
    return ctypes.addressof(_door)


def register(queue: int) -> None:
    """Has the counters of a queue watched. With more queues than there is room for, no launch goes without leases."""
    known = _door.queue[: min(_door.queues, DOORS)]
    if queue in known:
        return
    if _door.queues >= DOORS:
        _door.full = 1
        return
    _door.queue[_door.queues] = queue
    _door.queues += 1


def forget_queues() -> None:
    """In a process that was forked off: its parent's queues are not here."""
    _door.queues = _door.full = _door.held = 0


def set_closed(is_closed: bool) -> None:
    """Whether memory is poisoned, so that all work is to be looked at."""
    _door.closed = is_closed


class _Held:
    """Has no launch go without leases while it is entered, by a thread that has the lock of the ledger: what it looked
    at stays as it is until its work is given to a queue, or until it has read or written itself."""

    def __enter__(self) -> None:
        _door.held += 1

    def __exit__(self, *_: object) -> None:
        _door.held -= 1


held: Final = _Held()


def is_quiet() -> bool:
    """Whether no work is under way and nothing is to be looked at closely."""
    if _door.closed or _door.full or _door.held:
        return False
    for place in range(_door.queues):
        counters = (ctypes.c_int64 * 17).from_address(_door.queue[place])
        if counters[0] < counters[16]:
            return False
    return True
