"""What decides, besides the arguments, whether a launch may follow a plan, and on which stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tileproof.diagnostics.quick_dataclasses import dataclass

from .plan import LONG
from .plans import Plans
from .structures import LaunchContext

RepeatedLaunch: TypeAlias = Callable[[tuple[Any, ...], dict[str, Any]], bool | None]
"""Launches as an earlier launch, given arguments and constants; False if none is like it, and nothing was done."""


@dataclass(frozen=True, slots=True)
class PlannedForm:
    """A form of a kernel whose plans may be followed."""

    names: tuple[tuple[dict[str, Any], str, Any], ...]
    """Dicts, names, and what they stand for, if the form is to be followed."""
    ask: Callable[[], bool] | None
    """What is asked besides."""
    plans: Plans


def repeated_launch(constants: dict[str, int], forms: Sequence[PlannedForm], context: LaunchContext) -> RepeatedLaunch:
    """What follows launches of a kernel with some constants, if native code can."""
    from . import loader

    native = loader.loaded()
    if isinstance(native, str) or context.environment is None:
        return _nothing
    if any(type(where) is not dict or type(name) is not str for form in forms for where, name, _ in form.names):
        return _nothing
    native.set_context(context)
    flat = [(tuple(part for entry in form.names for part in entry), form.ask, form.plans) for form in forms]
    if any(not -LONG <= value < LONG for value in constants.values()):
        return _nothing
    return native.repeated_launch((dict(constants), *(part for entry in flat for part in entry)))


def _nothing(args: tuple[Any, ...], constants: dict[str, Any]) -> bool:
    return False


def use_torch_stream(module: object) -> None:
    """Has launches go to torch's current stream as long as this is torch."""
    from . import loader

    native = loader.loaded()
    if not isinstance(native, str):
        native.use_torch_stream(module)


