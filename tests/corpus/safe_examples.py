"""The examples: each must be accepted as it stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from support.source_files import load_file

from .case import Case, Launches

FOLDER = Path(__file__).resolve().parents[2] / "examples"

SIZES: dict[str, dict[str, int]] = {
    "matmul": {"M": 5, "N": 9, "K": 6},
    "matmul_split": {"M": 5, "N": 9, "K": 23},
    "silu_mul": {"N": 5, "I": 9, "K": 10},
    "attention": {"S": 9, "C": 12, "past": 3},
    "top_k": {"R": 2, "V": 19, "k": 5},
    "conv2d": {"N": 1, "H": 5, "W": 6, "C": 3, "F": 5},
    "qkv": {"H": 2, "G": 1, "K": 9},
}
"""Extents of the launch, for examples that would take long at their own."""
DATA = {"append_attention", "kv_append", "qkv"}
"""Examples whose index is read from memory as a plain integer."""


def module_of(name: str) -> ModuleType:
    """An example as a module."""
    return load_file(FOLDER / f"{name}.py", f"corpus_example_{name}")


def launches_of(module: ModuleType, sizes: dict[str, int]) -> Callable[[], Launches]:
    """A launch of an example, at the extents given or its own."""

    def launches() -> Launches:
        arguments: tuple[list[Any], dict[str, Any]] = module.arguments(**sizes)
        return [arguments]

    return launches


NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("demo"))
MODULES = {name: module_of(name) for name in NAMES}
CASES = [
    Case(getattr(module, name), launches_of(module, SIZES.get(name, {})), data=name in DATA)
    for name, module in MODULES.items()
]
