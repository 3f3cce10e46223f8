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
    display_path,
    render,
    render_all,
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
    "display_path",
    "page",
    "render",
    "render_all",
    "to_json",
    "to_sarif",
]
