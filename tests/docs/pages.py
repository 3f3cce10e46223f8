"""The pages of the documentation as data: their Python blocks, what these print, and their marked tables.

A Python block may have a title, which is the name of its file. Two marks tie a block of text to the last Python block
of that name above it:

    <!-- says: add.py -->                                  the findings in it, as `tileproof check` shows them
    <!-- prints: tileproof check add.py --format json -->  all that a command prints

`python tests/docs/pages.py` writes what they print today into the pages.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import runpy
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import ModuleType

import tileproof as tp
from tileproof.cli.main import main
from tileproof.compiler.compile import check_kernel
from tileproof.diagnostics.errors import Diagnostic, render_all

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
"""Every page but the catalogue of errors, whose examples have a test of their own."""

_BLOCK = re.compile(r'^```python(?: title="([^"\n]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_MARK = re.compile(
    r'^<!-- (says|prints): (.*?) -->\n\n```(?:text|json)(?: title="[^"\n]+")?\n(.*?)^```$', re.MULTILINE | re.DOTALL
)
_REJECTED = re.compile(r"# rejected: (TP\d{4})\n")
_NEEDS = re.compile(r"# needs: ([\w, ]+)\n")
_numbers = count()


@dataclass(frozen=True)
class Snippet:
    """A Python block of a page. A first line `# rejected: TP0301` makes it one that must give that code.

    A first line `# needs: cupy, gpu` names the modules that it runs with, and whether it wants a GPU.
    """

    page: Path
    line: int
    text: str
    title: str | None = None

    @property
    def rejected(self) -> str | None:
        match = _REJECTED.match(self.text)
        return match.group(1) if match else None

    @property
    def needs(self) -> tuple[str, ...]:
        match = _NEEDS.match(self.text)
        return tuple(name.strip() for name in match.group(1).split(",")) if match else ()

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def snippets() -> list[Snippet]:
    """Every Python block of every page."""
    return [snippet for page in PAGES for snippet in snippets_of(page)]


def snippets_of(page: Path) -> list[Snippet]:
    text = page.read_text(encoding="utf-8")
    return [
        Snippet(page, text.count("\n", 0, result.start(2)) + 1, result.group(2), result.group(1))
        for result in _BLOCK.finditer(text)
    ]


@dataclass(frozen=True)
class Printed:
    """A block that shows what comes of a snippet."""

    snippet: Snippet
    kind: str
    what: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.snippet.page.name}:{self.line}"

    def today(self, folder: Path) -> str:
        """What it should show, found out in an empty folder."""
        assert self.snippet.title is not None
        (folder / self.snippet.title).write_text(self.snippet.text, encoding="utf-8")
        with contextlib.chdir(folder):
            if self.kind == "says":
                return render_all(mistakes(folder / self.snippet.title)) + "\n"
            return _output(shlex.split(self.what))


def printed() -> list[Printed]:
    """Every marked block of every page."""
    return [block for page in PAGES for block in printed_on(page)]


def printed_on(page: Path) -> list[Printed]:
    text = page.read_text(encoding="utf-8")
    blocks = []
    for result in _MARK.finditer(text):
        kind, what, output = result.groups()
        line = text.count("\n", 0, result.start()) + 1
        above = [s for s in snippets_of(page) if s.line < line and s.title in shlex.split(what)]
        assert above, f"{page.name}:{line}: no Python block above has the name of a file in `{what}`"
        blocks.append(Printed(above[-1], kind, what, line, output))
    return blocks


def _output(command: list[str]) -> str:
    """What a command prints; times are shown as 0.01 s."""
    program, *arguments = command
    with contextlib.redirect_stdout(io.StringIO()) as out:
        if program == "python":
            runpy.run_path(arguments[0], run_name="__main__")
        else:
            assert program == "tileproof", f"a page shows what `{program}` prints"
            main(arguments)
    return re.sub(r"\(\d+\.\d\d s\)", "(0.01 s)", out.getvalue())


def mistakes(path: Path) -> list[Diagnostic]:
    """What goes wrong when a file runs, and after that when its kernels are checked."""
    try:
        module = load_file(path)
    except tp.TileproofError as error:
        return list(error.diagnostics)
    kernels = [value for value in vars(module).values() if isinstance(value, tp.Kernel)]
    return [mistake for kernel in kernels for mistake in check_kernel(kernel, {})]


def table(name: str, page: str = "language.md") -> list[list[str]]:
    """The rows of the tables that follow `<!-- table: name -->` on a page, as cells."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    cells: list[list[str]] = []
    for after in text.split(f"<!-- table: {name} -->\n\n")[1:]:
        rows = [line.strip("| ") for line in after.partition("\n\n")[0].splitlines()]
        cells += [[cell.strip() for cell in row.split("|")] for row in rows[2:]]
    assert cells, f"docs/{page} has no table {name}"
    return cells


def code(cell: str) -> list[str]:
    """The pieces of code in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def load(text: str, folder: Path) -> ModuleType:
    """Runs `text` as a module of its own, from a file, because kernels are read from their source."""
    path = folder / f"snippet_{next(_numbers)}.py"
    path.write_text(text, encoding="utf-8")
    return load_file(path)


def load_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _rewrite() -> Iterator[Path]:
    """Puts what is printed today into every page where it differs."""
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        blocks = iter(printed_on(page))

        def now(result: re.Match[str], blocks: Iterator[Printed] = blocks) -> str:
            with tempfile.TemporaryDirectory() as folder:
                whole, text = result.group(), result.span(3)
                start, end = text[0] - result.start(), text[1] - result.start()
                return whole[:start] + next(blocks).today(Path(folder)) + whole[end:]

        after = _MARK.sub(now, before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            yield page


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    for changed in _rewrite():
        print(changed.relative_to(ROOT), file=sys.stderr)
