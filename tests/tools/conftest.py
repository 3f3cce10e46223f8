"""Running `python -m tools.report` inside this process, on files made for the test."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from support.cli_samples import Ran, write

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

__all__ = ["write"]


@pytest.fixture
def run_report(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs a command line of the report."""
    command = import_module("tools.report.__main__")

    def run(*arguments: str) -> Ran:
        code = command.main(arguments)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run
