"""The command itself: help that teaches, and exit codes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from cli_samples import Ran

Run = Callable[..., Ran]


def test_help_teaches_with_a_kernel_and_examples(tileproof: Run) -> None:
    ran = tileproof("--help")
    assert ran.code == 0
    for text in ("@tp.kernel", "examples:", "tileproof check", "tileproof ir", "tileproof explain TP0301"):
        assert text in ran.out


@pytest.mark.parametrize("command", ["check", "ir", "explain"])
def test_every_command_has_help(tileproof: Run, command: str) -> None:
    ran = tileproof(command, "--help")
    assert (ran.code, ran.out.startswith(f"usage: tileproof {command}")) == (0, True)


def test_without_a_command_the_help_is_printed_as_an_error(tileproof: Run) -> None:
    ran = tileproof()
    assert (ran.code, ran.out, "examples:" in ran.err) == (2, "", True)


def test_an_unknown_command_is_wrong_usage(tileproof: Run) -> None:
    ran = tileproof("prove")
    assert (ran.code, "invalid choice: 'prove'" in ran.err) == (2, True)


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "tileproof", "--version"]
    assert subprocess.check_output(command, text=True).startswith("tileproof ")
