"""How the front end says no: `Refused` for a mistake, `Suppressed` for the consequences of one already reported."""

from __future__ import annotations

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic, Edit, Label
from tileproof.diagnostics.spans import Span


class Refused(Exception):
    """A mistake of the user's; carries the diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Suppressed(Exception):
    """Something depends on a statement that was refused: saying more would only repeat it."""


def refuse(
    code: Code,
    message: str,
    span: Span,
    *,
    label: str = "",
    labels: tuple[Label, ...] = (),
    notes: tuple[str, ...] = (),
    help: str = "",
    edit: Edit | None = None,
) -> Refused:
    """A `Refused` at `span`, ready to raise."""
    return Refused(Diagnostic(code, message, span, label, labels, notes, help, edit))
