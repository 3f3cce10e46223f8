"""A mutant of a source file, and how a tree of sources is made one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong edit of one source file, and the test that notices it."""

    file: str
    """Relative to the root of the repository."""
    old: str
    """Text that the file contains exactly once."""
    new: str
    witness: str
    """The node id of a fast test that passes on the right code and fails on the mutant."""
    promise: str
    """What the edit breaks."""

    def count(self, root: Path = ROOT) -> int:
        """How often the file contains the old text."""
        file = root / self.file
        return file.read_text(encoding="utf-8").count(self.old) if file.is_file() else 0

    @contextmanager
    def applied(self, root: Path) -> Iterator[None]:
        """The edit, made in a tree of sources while the block runs. Bytecode of the file is removed before and after:
        Python takes it for that of any text of the same length and second."""
        file = root / self.file
        right = file.read_text(encoding="utf-8")
        try:
            _write(file, right.replace(self.old, self.new))
            yield
        finally:
            _write(file, right)


def _write(file: Path, text: str) -> None:
    Path(cache_from_source(str(file))).unlink(missing_ok=True)
    file.write_text(text, encoding="utf-8")
