"""The error of the engine: a model, a prompt or a setting that cannot be used."""

from __future__ import annotations

from typing import Final

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, TileproofError

_LONGEST: Final = 1000
"""Characters of a message."""


class ModelError(TileproofError):
    """A model, a prompt or a setting cannot be used: nothing was generated."""

    @property
    def line(self) -> str:
        """The whole error in one line, as commands print it."""
        (diagnostic,) = self.diagnostics
        return f"{diagnostic.message}; {diagnostic.help}" if diagnostic.help else diagnostic.message


def refused(code: Code, message: str, cure: str) -> ModelError:
    """The error for a mistake, and what to do about it.

    Names and values in files may hold anything: what a terminal would obey is escaped, and long texts are cut.
    """
    return ModelError(Diagnostic(code, _printable(message), help=_printable(cure)))


def _printable(text: str) -> str:
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}...{text[-_LONGEST // 2 :]}"
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
