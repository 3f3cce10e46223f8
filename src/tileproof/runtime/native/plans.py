"""The plans of one kernel, most of them of different shapes."""

from __future__ import annotations

import ctypes
import os
import threading
from functools import reduce
from operator import or_
from typing import Any, Final

from . import readers
from .plan import Packed, Plan, bits_of
from .structures import TableData

MOST: Final = 16
"""How many plans of a kernel are kept."""
_changing = threading.RLock()
"""One that its owner may take again: what plans keep may have an end of its own, which runs while they are cleared."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_changing.acquire, after_in_parent=_changing.release, after_in_child=_changing.release)


class Plans:
    """What a kernel remembers of its launches. A launch sees all of its plans or, once they are cleared, none."""

    __slots__ = ("_kept", "_table", "asked")
    _table: tuple[Any, ...]
    """Nothing, or the table for the native code, what it points to, and the plans. One object, so that whoever looks
    at the table and holds this has everything the table points to."""

    def __init__(self) -> None:
        self._kept: tuple[Packed, ...] = ()
        self._table = ()
        self.asked = (0, 0)
        """Bits of the arguments of which torch is asked whether they take part in gradients, and are negated."""

    @property
    def kept(self) -> tuple[Plan, ...]:
        """The plans, the latest first."""
        return tuple(packed.plan for packed in self._kept)

    @property
    def packed(self) -> tuple[Packed, ...]:
        """The same with what else is kept of each."""
        return self._kept

    def add(self, plan: Plan) -> None:
        """Remembers a launch, if it is not larger than the fast path has room for, and forgets the oldest of many."""
        if not plan.has_room:
            return
        if self._kept and (self._kept[0].plan.cpu is None) is not (plan.cpu is None):
            raise ValueError("plans of the CPU and of a GPU are kept apart")
        readers.refresh()
        with _changing:
            self._kept = (Packed(plan), *self._kept)[:MOST]
            kept = self.kept
            self.asked = _all(kept, "is_written"), _all(kept, "may_be_negated")
            self._table = _table_of(self._kept, *self.asked)

    def clear(self) -> None:
        """Forgets everything, as when something changed that the launches relied on."""
        with _changing:
            self._kept = ()
            self._table = ()


def _table_of(kept: tuple[Packed, ...], grad: int, negated: int) -> tuple[Any, ...]:
    latest = ctypes.c_int64(0)
    table = TableData(count=len(kept), latest=ctypes.addressof(latest), grad=grad, negated=negated,
                      on_cpu=kept[0].plan.cpu is not None)  # fmt: skip
    addresses = (ctypes.c_void_p * len(kept))(*(packed.address for packed in kept))
    return bytes(table) + bytes(addresses), latest, *kept


def _all(plans: tuple[Plan, ...], name: str) -> int:
    return reduce(or_, (bits_of(plan, name) for plan in plans), 0)
