"""Running `python -m tools.report` inside this process, on files made for the test."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

from support.cli_samples import Ran

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """Makes a file in a folder of the test's own, which becomes the working directory."""
    monkeypatch.chdir(tmp_path)

    def make(name: str, text: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return name

    return make


@pytest.fixture
def run_report(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs a command line of the report."""
    command = import_module("tools.report.__main__")

    def run(*arguments: str) -> Ran:
        code = command.main(arguments)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run
