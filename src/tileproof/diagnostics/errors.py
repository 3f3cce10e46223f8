"""The exceptions users see. Each carries the diagnostics it was raised for."""

from __future__ import annotations

from collections.abc import Sequence

from .diagnostic import Diagnostic, render


class TileproofError(Exception):
    """Base of all errors of tileproof; its text is the rendered diagnostics."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics

    def __str__(self) -> str:
        return "\n" + render_all(self.diagnostics)


def render_all(diagnostics: Sequence[Diagnostic]) -> str:
    """Every diagnostic as plain text, a blank line between two."""
    return "\n\n".join(render(diagnostic) for diagnostic in diagnostics)


class KernelError(TileproofError):
    """The kernel itself is wrong: nothing was launched."""


class LaunchError(TileproofError):
    """The kernel is fine, its arguments are not: nothing was launched, nothing was touched."""


class InFlight(TileproofError):
    """The host would write memory that a kernel in flight uses, or a handler of a signal would launch or wait in the
    middle of a launch: nothing was written or launched."""


class OutOfMemory(TileproofError, MemoryError):
    """There is too little memory for a tensor: nothing was made."""


class SanitizerError(TileproofError):
    """The interpreter saw the kernel break a promise. The arguments are as they were before the call."""


class OutOfBounds(SanitizerError):
    """An access left its tensor."""


class Race(SanitizerError):
    """Two programs touched one element, at least one of them to write it."""


class Unwritten(SanitizerError):
    """An element of an `Out` was written by no program."""
