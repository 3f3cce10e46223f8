"""The pages of the catalogue of errors: Markdown files, one per code, shipped with the package."""

from __future__ import annotations

from pathlib import Path

from .codes import Code

_HERE = Path(__file__).resolve().parent
_FOLDERS = (_HERE / "catalogue", _HERE.parents[2] / "docs" / "errors")
"""In an installed wheel the pages lie beside this file, in a checkout in `docs/errors`."""


def page(code: Code) -> str:
    """The Markdown page that explains a code; its title alone where the pages are not installed."""
    for folder in _FOLDERS:
        file = folder / f"{code.id}.md"
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return f"# {code.id}: {code.title}\n"
