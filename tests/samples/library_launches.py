"""The calls of the kernel library that run on a GPU too, and the launches they make there."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import library_cases
from samples.launch import Made, Make
from support.library import Case, launches


@cache
def cases() -> dict[str, Case]:
    """Those of all families that say `on_gpu`, by family and name."""
    found: dict[str, Case] = {}
    for family in sorted(each.name for each in pkgutil.iter_modules(library_cases.__path__)):
        for case in importlib.import_module(f"library_cases.{family}").cases():
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
