"""The pages of the documentation as data: their Python blocks and their marked tables."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
"""Every page but the catalogue of errors, whose examples have a test of their own."""

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_REFUSED = re.compile(r"# refused: (TP\d{4})\n")
_numbers = count()


@dataclass(frozen=True)
class Snippet:
    """A Python block of a page. A first line `# refused: TP0301` makes it one that must give that code."""

    page: Path
    line: int
    text: str

    @property
    def refused(self) -> str | None:
        found = _REFUSED.match(self.text)
        return found.group(1) if found else None

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def snippets() -> list[Snippet]:
    """Every Python block of every page."""
    return [
        Snippet(page, text.count("\n", 0, found.start(1)) + 1, found.group(1))
        for page in PAGES
        for text in [page.read_text(encoding="utf-8")]
        for found in _BLOCK.finditer(text)
    ]


def table(name: str) -> list[list[str]]:
    """The rows of the table that follows `<!-- table: name -->` in the page on the language, as cells."""
    text = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    _, _, after = text.partition(f"<!-- table: {name} -->\n\n")
    rows = [line.strip("| ") for line in after.partition("\n\n")[0].splitlines()]
    assert len(rows) > 2, f"docs/language.md has no table {name}"
    return [[cell.strip() for cell in row.split("|")] for row in rows[2:]]


def code(cell: str) -> list[str]:
    """The pieces of code in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def load(text: str, folder: Path) -> ModuleType:
    """Runs `text` as a module of its own, from a file, because kernels are read from their source."""
    name = f"snippet_{next(_numbers)}"
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
