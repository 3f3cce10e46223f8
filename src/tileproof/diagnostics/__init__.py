"""Findings and how they are printed. This package imports no other package of tileproof."""

from .codes import Code, page
from .errors import (
    Diagnostic,
    Edit,
    Frame,
    KernelError,
    Label,
    LaunchError,
    OutOfBounds,
    Race,
    SanitizerError,
    TileproofError,
    Unwritten,
    render,
    render_all,
    shown_path,
)
from .report import to_json, to_sarif
from .spans import Source, Span

__all__ = [
    "Code",
    "Diagnostic",
    "Edit",
    "Frame",
    "KernelError",
    "Label",
    "LaunchError",
    "OutOfBounds",
    "Race",
    "SanitizerError",
    "Source",
    "Span",
    "TileproofError",
    "Unwritten",
    "page",
    "render",
    "render_all",
    "shown_path",
    "to_json",
    "to_sarif",
]
