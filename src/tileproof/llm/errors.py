"""The error of the engine: a model, a prompt or a setting that cannot be used."""

from __future__ import annotations

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, TileproofError


class ModelError(TileproofError):
    """A model, a prompt or a setting cannot be used: nothing was generated."""

    @property
    def line(self) -> str:
        """The whole error in one line, as commands print it."""
        (diagnostic,) = self.diagnostics
        return f"{diagnostic.message}; {diagnostic.help}" if diagnostic.help else diagnostic.message


def refused(code: Code, message: str, cure: str) -> ModelError:
    """The error for a mistake, and what to do about it."""
    return ModelError(Diagnostic(code, message, help=cure))
