"""What the ledger asks of those above it, whose modules it does not import: streams, memory, and tensors."""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol, TypeAlias

from .fast.lanes import Lane
from .views import Runs

Span: TypeAlias = tuple[int, int]
"""The first byte of some memory, and the end of it."""


class Stream(Protocol):
    """Work in order, by its numbers: see `streams.Stream`."""

    turn: int
    lane: Lane
    pending: deque[tuple[int, Any]]
    seen: dict[Any, int]
    errors: dict[int, BaseException]

    @property
    def done(self) -> int: ...
    def is_idle(self) -> bool: ...
    def has_done(self, turn: int) -> bool: ...
    def until(self, turn: int) -> None: ...
    def note_leases(self, work: Any) -> None: ...
    def write_leases(self) -> None: ...
    def failure_of(self, work: Any) -> BaseException | None: ...
    def tell(self, turn: int) -> None: ...
    def finished(self, done: int) -> list[tuple[Any, Any]]: ...


class Block(Protocol):
    """Memory whose writes are counted: see `storage.Block`."""

    version: int


class Tensor(Protocol):
    """A view of memory: see `tensors.Tensor`."""

    @property
    def block(self) -> Block: ...
    @property
    def runs(self) -> Runs: ...
