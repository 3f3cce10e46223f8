"""Running commands inside this process, on files made for the test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.cli_samples import Ran, write
from tileproof.cli.main import main

__all__ = ["write"]


@pytest.fixture
def tileproof(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs a command line."""

    def run(*arguments: str) -> Ran:
        code = main(arguments)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run
