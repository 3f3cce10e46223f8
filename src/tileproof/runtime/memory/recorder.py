"""Which graph records: then launches and copies go into it, and what it cannot hold is an error."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError

recording: ContextVar[Any] = ContextVar("tileproof_graph", default=None)
"""The graph that launches go into now, if there is one."""


def reject_recording(what: str, cure: str) -> None:
    """Rejects what a graph cannot hold, while one is recorded."""
    if recording.get() is not None:
        raise LaunchError(Diagnostic(Code.NOT_IN_GRAPH, f"{what} while a graph is recorded", help=cure))
