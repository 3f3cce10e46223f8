"""The calls of the kernel library that run on a GPU too, and the launches they make there."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from pathlib import Path
from typing import Final

from samples.launch import Made, Make
from support.library import Case, launches

_FOLDER: Final = Path(__file__).resolve().parents[1] / "kernels"


@cache
def cases() -> dict[str, Case]:
    """Those of all families that say `on_gpu`, by family and name."""
    if str(_FOLDER) not in sys.path:
        sys.path.append(str(_FOLDER))
    found: dict[str, Case] = {}
    for path in sorted(_FOLDER.glob("*_cases.py")):
        family = path.stem.removesuffix("_cases")
        for case in importlib.import_module(path.stem).cases():
            if case.on_gpu:
                assert f"{family}: {case.name}" not in found, f"{family} has two cases called {case.name}"
                found[f"{family}: {case.name}"] = case
    return found


def library() -> dict[str, Make]:
    """Each launch of each call."""
    found: dict[str, Make] = {}
    for name, case in cases().items():
        for number, made in enumerate(launches(case), start=1):
            found[f"{name} #{number}"] = _again(made)
    return found


def _again(made: Made) -> Make:
    return lambda: made
