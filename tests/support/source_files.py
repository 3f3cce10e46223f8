"""Python files as modules. Kernels are read from their source, so what a test compiles lies in a file."""

from __future__ import annotations

import atexit
import importlib.util
import itertools
import tempfile
from pathlib import Path
from types import ModuleType

_folder = tempfile.TemporaryDirectory(prefix="kernels-")
atexit.register(_folder.cleanup)
_numbers = itertools.count()


def load_file(path: Path, name: str | None = None) -> ModuleType:
    """The module a file makes, imported anew; called after the file unless named."""
    spec = importlib.util.spec_from_file_location(name or path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_text(text: str) -> ModuleType:
    """The module a text makes. Its file stays until the tests end: helpers are read when a kernel is compiled."""
    path = Path(_folder.name) / f"kernels_{next(_numbers)}.py"
    path.write_text(text, encoding="utf-8")
    return load_file(path)
