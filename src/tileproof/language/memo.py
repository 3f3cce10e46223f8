"""What modules remember of an object: each in a cache with a type of its own, all of them forgotten at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

V = TypeVar("V")


class Remembered(Protocol):
    """A kernel, or a proved one."""

    @property
    def memos(self) -> dict[Any, Any]: ...


class Memo(Generic[V]):
    """A cache that each object has one of: `_parsed = Memo[list[Parsed]](list)`, then `_parsed.of(kernel)`."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], V]) -> None:
        self._make = make

    def of(self, owner: Remembered) -> V:
        """The cache of an object, made when it is first asked for."""
        found: V | None = owner.memos.get(self)
        if found is None:
            found = owner.memos.setdefault(self, self._make())
            assert found is not None
        return found


