"""The command itself: help that teaches, exit codes, and streams that are closed, full or do not know a character."""

from __future__ import annotations

import errno
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.cli_samples import GOOD, Ran
from tileproof.cli.main import COMMANDS, main

Run = Callable[..., Ran]


def test_help_teaches_with_a_kernel_and_examples(tileproof: Run) -> None:
    ran = tileproof("--help")
    assert ran.code == 0
    for text in ("@tp.kernel", "examples:", "tileproof check", "tileproof ir", "tileproof explain TP0301"):
        assert text in ran.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_teaches_with_examples(tileproof: Run, command: str) -> None:
    ran = tileproof(command, "--help")
    assert (ran.code, ran.out.startswith(f"usage: tileproof {command}")) == (0, True)
    assert f"examples:\n  tileproof {command}" in ran.out


def test_without_a_command_the_help_is_printed_as_an_error(tileproof: Run) -> None:
    ran = tileproof()
    assert (ran.code, ran.out, "examples:" in ran.err) == (2, "", True)


def test_an_unknown_command_is_wrong_usage(tileproof: Run) -> None:
    ran = tileproof("prove")
    assert (ran.code, "invalid choice: 'prove'" in ran.err) == (2, True)


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "tileproof", "--version"]
    assert subprocess.check_output(command, text=True).startswith("tileproof ")


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_a_closed_stream_is_an_empty_one(stream: str, tileproof: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, stream, None)
    assert tileproof("explain", "TP0301").code == 0
    assert tileproof("run", "--prompt", "-", "--model", "nowhere").code == 2


class Full(io.StringIO):
    """A file on a disk without room."""

    def write(self, _: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_output_that_cannot_be_written_is_told_in_a_line(tileproof: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Full())
    ran = tileproof("explain")
    assert ran.code == 2
    assert ran.err == "tileproof explain: the output cannot be written: No space left on device\n"


def test_what_the_system_refuses_is_told_with_the_name(tileproof: Run) -> None:
    name = "a" * 300
    ran = tileproof("init", name)
    assert (ran.code, ran.err) == (2, f"tileproof init: {name}.py: File name too long\n")


def test_a_current_folder_that_is_gone_is_told(
    tileproof: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    ran = tileproof("check", "scale.py")
    assert (ran.code, ran.err) == (2, "tileproof check: the current folder is gone: go to another, and call again\n")


@pytest.mark.parametrize(("name", "encoding"), [("gr\u00f6\U0001f600.py", "ascii"), ("a\udcff.py", "utf-8")])
def test_characters_that_a_stream_does_not_have_are_escaped_as_in_json(
    name: str, encoding: str, write: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding))
    assert main(["check", write(name, GOOD), "--format", "json"]) == 0
    text = raw.getvalue().decode(encoding)
    assert json.loads(text)["kernels"][0]["file"].endswith(name)
