"""`.pre-commit-hooks.yaml`: it has the fields pre-commit demands, and its commands are real."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tileproof.cli.main import main

FILE = Path(__file__).resolve().parents[1] / ".pre-commit-hooks.yaml"
Value = str | bool | list[str]

UNSAFE = """\
import tileproof as tp

def helper(x):
    with tp.unsafe("sound"):
        tp.raw.assume(x)
"""


def read(text: str) -> list[dict[str, Value]]:
    """A list of flat mappings in YAML: of that language no more than the file uses."""
    hooks: list[dict[str, Value]] = []
    for line in text.splitlines():
        match = re.fullmatch(r"(- |  )(\w+): (\S.*)", line)
        assert match, f"not `key: value`: {line}"
        start, key, value = match.groups()
        if start == "- ":
            hooks.append({})
        assert key not in hooks[-1], f"twice: {line}"
        hooks[-1][key] = _value(value)
    return hooks


def _value(text: str) -> Value:
    if text.startswith("["):
        assert text.endswith("]"), text
        return [piece.strip() for piece in text[1:-1].split(",")]
    assert not re.search(r": | #|^[&*!|>'\"%@`{-]", text), f"means something else in YAML: {text}"
    return text == "true" if text in ("true", "false") else text


HOOKS = {str(hook["id"]): hook for hook in read(FILE.read_text(encoding="utf-8"))}


def command(hook: dict[str, Value], *files: str) -> list[str]:
    """What pre-commit runs: the entry, its arguments, then the files unless the hook wants none."""
    arguments = hook.get("args", [])
    assert isinstance(arguments, list)
    passed = files if hook.get("pass_filenames", True) else ()
    return [*shlex.split(str(hook["entry"])), *arguments, *passed]


def test_there_are_two_hooks() -> None:
    assert list(HOOKS) == ["tileproof-check", "tileproof-audit"]


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_a_hook_says_what_pre_commit_must_know(hook: dict[str, Value]) -> None:
    assert {"id", "name", "description", "entry", "language", "types"} <= hook.keys()
    assert (hook["language"], hook["types"]) == ("python", ["python"])


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("tileproof-check", "x = 1\n", 0),
        ("tileproof-check", "x = = 1\n", 1),
        ("tileproof-audit", "x = 1\n", 0),
        ("tileproof-audit", UNSAFE, 1),
    ],
)
def test_a_hook_passes_or_stops_a_commit(
    name: str, text: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("changed.py").write_text(text, encoding="utf-8")
    program, *arguments = command(HOOKS[name], "changed.py")
    assert (program, main(arguments)) == ("tileproof", code)
