"""A finding: one mistake, where it is, why it is one, and the edit that cures it."""

from __future__ import annotations

from dataclasses import dataclass

from .codes import Code
from .spans import Span


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary place, with a few words on its part in the mistake."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of a text range that an editor or agent can apply as it stands."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A call that led to the mistake: helpers are inlined, their callers must still be seen."""

    function: str
    span: Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `message` is one sentence; `label` is said under the primary span."""

    code: Code
    message: str
    span: Span | None = None
    label: str = ""
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    edit: Edit | None = None
    stack: tuple[Frame, ...] = ()
    """Calls from the kernel to the helper at fault, outermost first."""
    kernel: str = ""

    def __str__(self) -> str:
        """As the terminal shows it."""
        from .terminal import render

        return render(self)
