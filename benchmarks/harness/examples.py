"""The kernels of the examples, which are named after their files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from tileproof.language.kernel import Kernel

FOLDER: Final = Path(__file__).resolve().parents[2] / "examples"


@cache
def module(name: str) -> ModuleType:
    """The module of an example."""
    spec = spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    result = module_from_spec(spec)
    sys.modules[spec.name] = result
    spec.loader.exec_module(result)
    return result


def example(name: str) -> Any:
    """The kernel of an example."""
    return getattr(module(name), name)


def examples() -> Iterator[tuple[str, Kernel, ModuleType]]:
    """All of them, with their modules."""
    sys.path.insert(0, str(FOLDER))  # some import others
    for path in sorted(FOLDER.glob("*.py")):
        kernel = getattr(module(path.stem), path.stem, None)
        if isinstance(kernel, Kernel):
            yield path.stem, kernel, module(path.stem)
