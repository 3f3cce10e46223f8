"""Suites of measurements with peers: they lie with the benchmarks of the repository, which is not installed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from tileproof.cli.usage import UsageError

SUITES: Final = ("h200",)
_VALUES: Final = (
    ("--models", "NAME,...", "shapes to measure"),
    ("--without", "NAME,...", "leave some contestants out"),
    ("--contexts", "N,...", "tokens before those that are made"),
    ("--prompts", "N,...", "lengths of prompts"),
    ("--rounds", "N", "turns of each contestant"),
    ("--minutes", "N", "that all may take"),
    ("--layers", "N", "cut models to so many layers, for a look"),
    ("--save", "DIR", "write data, a page and pictures there"),
    ("--from", "FILE", "make page and pictures of the data of an earlier run, without a GPU"),
)
_HOW_TO_RUN: Final = "the suite is not installed with tileproof: run the command in a checkout of the repository"


def add_suite_options(parser: argparse.ArgumentParser) -> None:
    """The option that names a suite, and those that suites have of their own."""
    group = parser.add_argument_group("suites with peers")
    group.add_argument("--suite", choices=SUITES, help="the engine on an H200 beside all peers that can be run there")
    for flag, shown, said in _VALUES:
        group.add_argument(flag, dest=_place(flag), metavar=shown, help=f"(suite) {said}")
    group.add_argument("--quick", dest=_place("--quick"), action="store_true", help="(suite) few rows and rounds")


def suite_of(options: argparse.Namespace) -> Callable[[], int] | None:
    """What carries the suite out that was asked for, if one was."""
    given = [word for flag, _, _ in _VALUES for word in _words(flag, getattr(options, _place(flag)))]
    given += ["--quick"] if getattr(options, _place("--quick")) else []
    if options.suite is None:
        if given:
            raise UsageError(f"{given[0]} is an option of a suite: add --suite {SUITES[0]}")
        return None
    main = _main_of(options.suite)
    return lambda: main(given)


def _place(flag: str) -> str:
    return f"suite_{flag.lstrip('-')}"


def _words(flag: str, value: str | None) -> Sequence[str]:
    return () if value is None else (flag, value)


def _main_of(name: str) -> Callable[[Sequence[str]], int]:
    for root in (Path.cwd(), Path(__file__).resolve().parents[4]):
        if (root / "benchmarks" / "engine" / f"{name}.py").is_file() and str(root) not in sys.path:
            sys.path.insert(0, str(root))
    try:
        found: Callable[[Sequence[str]], int] = import_module(f"benchmarks.engine.{name}").main
    except ModuleNotFoundError as error:
        if error.name not in ("benchmarks", "benchmarks.engine", f"benchmarks.engine.{name}"):
            raise
        raise UsageError(_HOW_TO_RUN) from None
    return found
