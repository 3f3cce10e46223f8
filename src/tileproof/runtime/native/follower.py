"""What decides, besides the arguments, whether a launch may follow a plan, and on which stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tileproof.diagnostics.quick_dataclasses import dataclass

from .plan import LONG
from .plans import Plans
from .structures import Around

Follow: TypeAlias = Callable[[tuple[Any, ...], dict[str, Any]], bool | None]
"""Launches as an earlier launch, given arguments and constants; False if none is like it, and nothing was done."""


@dataclass(frozen=True, slots=True)
class Way:
    """A form of a kernel whose plans may be followed."""

    names: tuple[tuple[dict[str, Any], str, Any], ...]
    """Dicts, names, and what they stand for, if the form is to be followed."""
    ask: Callable[[], bool] | None
    """What is asked besides."""
    plans: Plans


def follower(constants: dict[str, int], ways: Sequence[Way], around: Around) -> Follow:
    """What follows launches of a kernel with some constants, if native code can."""
    from . import loader

    native = loader.loaded()
    if isinstance(native, str) or around.environment is None:
        return _nothing
    if any(type(where) is not dict or type(name) is not str for way in ways for where, name, _ in way.names):
        return _nothing
    native.look_around(around)
    flat = [(tuple(part for entry in way.names for part in entry), way.ask, way.plans) for way in ways]
    if any(not -LONG <= value < LONG for value in constants.values()):
        return _nothing
    return native.follower((dict(constants), *(part for way in flat for part in way)))


def _nothing(args: tuple[Any, ...], constants: dict[str, Any]) -> bool:
    return False


def follow_torch(module: object) -> None:
    """Has launches go to torch's current stream as long as this is torch."""
    from . import loader

    native = loader.loaded()
    if not isinstance(native, str):
        native.follow_torch(module)


