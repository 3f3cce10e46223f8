"""Tuning: which kernel, which tile sizes and which schedule a piece of work is done with."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .choices import Choice, choices
from .tunables import Sizes, Tunable, with_constants

if TYPE_CHECKING:
    from .tuner import Report, tune

__all__ = ["Choice", "Report", "Sizes", "Tunable", "choices", "tune", "with_constants"]

_LATER = ("tune", "Report")
"""Names of the tuner, which launching a kernel does not load."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".tuner", __name__), name)
