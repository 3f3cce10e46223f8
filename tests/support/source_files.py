"""Python files as modules. Kernels are read from their source, so what a test compiles lies in a file."""

from __future__ import annotations

import atexit
import importlib.util
import itertools
import tempfile
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

_folder = tempfile.TemporaryDirectory(prefix="kernels-")
atexit.register(_folder.cleanup)
_numbers = itertools.count()


def load_file(path: Path, name: str | None = None) -> ModuleType:
    """The module a file makes, imported anew; called after the file unless named."""
    spec = importlib.util.spec_from_file_location(name or path.stem, path, loader=_Fresh(name or path.stem, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Fresh(SourceFileLoader):
    """Reads the text each time: byte code is kept by size and second, and tests edit files faster than that."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def load_text(text: str) -> ModuleType:
    """The module a text makes. Its file stays until the tests end: helpers are read when a kernel is compiled."""
    path = Path(_folder.name) / f"kernels_{next(_numbers)}.py"
    path.write_text(text, encoding="utf-8")
    return load_file(path)
