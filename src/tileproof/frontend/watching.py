"""Whether captured values are still the same, asked at every launch and therefore quickly.

Most captures are found under a name in a dict: the globals of a function, or the attributes of a module. While each
dict still holds the very object that was captured, nothing can have changed. In every other case the captures are
looked at closely, one by one.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

from .names import MISSING, Capture, is_language

Named: TypeAlias = tuple[dict[str, Any], str, Any]
"""A dict, a name, and what it stands for there; `MISSING` for nothing."""


def watch(captures: Sequence[Capture]) -> Callable[[], bool]:
    """A question that is true only while all captures are what they were; it may also doubt without reason."""
    entries, closely = split(captures)

    def is_current() -> bool:
        for where, name, value in entries:
            if where.get(name, MISSING) is not value:
                return False
        return closely is None or closely()

    return is_current


def split(captures: Sequence[Capture]) -> tuple[tuple[Named, ...], Callable[[], bool] | None]:
    """The same question in two parts: names in dicts, and what there is to ask besides."""
    held: dict[tuple[int, str], Named] = {}
    close: list[Capture] = []
    helpers = []
    for capture in captures:
        found = _held(capture)
        if found is None:
            close.append(capture)
            continue
        held.update({(id(where), name): (where, name, value) for where, name, value in found})
        if capture.made_of:
            # What the helper was when it was captured: it may have changed since.
            code, defaults, named = capture.made_of
            helpers.append((capture.value, code, defaults))
            if named:
                close.append(capture)

    def closely() -> bool:
        for helper, code, defaults in helpers:
            if helper.__code__ is not code or helper.__defaults__ is not defaults or helper.__kwdefaults__:
                return False
        return not close or all(capture.is_current for capture in close)

    return tuple(held.values()), closely if helpers or close else None


def _held(capture: Capture) -> list[Named] | None:
    """The dicts in which a capture is found, and what they hold; None if it must be looked at closely."""
    function, (first, *attributes) = capture.function, capture.path
    if first in function.__code__.co_freevars or not _is_watchable(capture.value):
        return None
    found: list[Named] = []
    value = function.__globals__.get(first, MISSING)
    found.append((function.__globals__, first, value))
    if value is MISSING:
        value = getattr(builtins, first, MISSING)
        found.append((vars(builtins), first, value))
    for attribute in attributes:
        if not isinstance(value, ModuleType) or attribute not in vars(value):
            return None
        found.append((vars(value), attribute, vars(value)[attribute]))
        value = vars(value)[attribute]
    return found if value is capture.value else None


def _is_watchable(value: Any) -> bool:
    """Whether a value is fixed for good, or a helper whose code and defaults can be compared at a glance."""
    if isinstance(value, tuple):
        return not any(isinstance(part, FunctionType | tuple) for part in value)
    return not isinstance(value, FunctionType) or not value.__kwdefaults__ or is_language(value)
