"""The kernels of `examples/`, by name, with arguments to launch them."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from support.source_files import load_file
from tileproof.language.kernel import Kernel

FOLDER = Path(__file__).resolve().parents[2] / "examples"


def example_files() -> dict[str, ModuleType]:
    """The example modules that have a kernel, by name."""
    return {path.stem: load_file(path) for path in sorted(FOLDER.glob("*.py")) if not path.stem.startswith("demo")}


def kernel_of(module: ModuleType) -> Kernel:
    """The kernel of an example."""
    (result,) = (value for value in vars(module).values() if isinstance(value, Kernel))
    return result
