"""`@lazily`: an attribute that is computed when it is first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

V = TypeVar("V")


class lazily(Generic[V]):  # noqa: N801 (read as a word, like `property`)
    """What `functools.cached_property` is, without the lock it has in Python 3.11.

    A process that is forked while a thread holds that lock could never ask for the attribute again. Two threads may
    compute it at the same time; the values are equal, and one of them stays.
    """

    def __init__(self, compute: Callable[[Any], V]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazily[V]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> V: ...
    def __get__(self, instance: object | None, owner: type) -> lazily[V] | V:
        if instance is None:
            return self
        value = self._compute(instance)
        return instance.__dict__.setdefault(self._name, value)  # type: ignore[no-any-return]
