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
    results: dict[str, Case] = {}
    for family in sorted(iter_module.name for iter_module in pkgutil.iter_modules(library_cases.__path__)):
        for case in importlib.import_module(f"library_cases.{family}").cases():
            if case.on_gpu:
                assert f"{family}: {case.name}" not in results, f"{family} has two cases called {case.name}"
                results[f"{family}: {case.name}"] = case
    return results


def library() -> dict[str, Make]:
    """Each launch of each call."""
    results: dict[str, Make] = {}
    for name, case in cases().items():
        for number, result in enumerate(launches(case), start=1):
            results[f"{name} #{number}"] = _again(result)
    return results


def _again(result: Made) -> Make:
    return lambda: result
