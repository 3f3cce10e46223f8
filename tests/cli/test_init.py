"""`tileproof init`: what it writes works as it stands, and nothing of the user's is touched."""

from __future__ import annotations

import errno
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from support.cli_samples import Ran
from tileproof.cli.kernel_file import load

Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_kernel_its_test_and_settings_are_written(tileproof: Run, here: Path) -> None:
    ran = tileproof("init", "scale")
    assert (ran.code, ran.err) == (0, "")
    assert names(here) == ["pyproject.toml", "scale.py", "test_scale.py"]
    assert ran.out.endswith("\nnext: tileproof check scale.py, then pytest .\n")


def test_the_kernel_is_accepted_and_named_as_asked(tileproof: Run) -> None:
    tileproof("init", "scale")
    assert [kernel.name for kernel in load("scale.py").kernels] == ["scale"]
    assert tileproof("check", "scale.py").out.startswith("scale.py: scale: proved, for all constants\n")


def test_without_a_name_the_kernel_is_double(tileproof: Run, here: Path) -> None:
    tileproof("init")
    assert names(here) == ["double.py", "pyproject.toml", "test_double.py"]


def test_the_test_passes_and_fails_when_the_kernel_is_wrong(
    tileproof: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tileproof("init", "scale")
    test = load("test_scale.py")
    assert test.problems == ()
    monkeypatch.syspath_prepend(here)
    names: dict[str, object] = {}
    exec((here / "test_scale.py").read_text(), names)
    check = names["test_scale"]
    assert callable(check)
    for size in (0, 7, 100):
        check(size, "reverse")
    (here / "scale.py").write_text((here / "scale.py").read_text().replace("* 2", "* 3"))
    monkeypatch.delitem(sys.modules, "scale")
    exec((here / "test_scale.py").read_text(), names)
    check = names["test_scale"]
    assert callable(check)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check(7, "forward")


def test_ruff_has_nothing_to_say_with_the_settings_written(tileproof: Run, here: Path) -> None:
    tileproof("init", "scale")
    settings = (here / "pyproject.toml").read_text()
    strict = settings.replace("[tool.ruff.lint]\n", '[tool.ruff.lint]\nextend-select = ["B", "I", "N", "RUF", "UP"]\n')
    (here / "pyproject.toml").write_text(strict)
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "."]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_another_folder_is_made(tileproof: Run, here: Path) -> None:
    ran = tileproof("init", "scale", "--dir", "new/folder")
    assert names(here / "new" / "folder") == ["pyproject.toml", "scale.py", "test_scale.py"]
    assert "next: tileproof check new/folder/scale.py, then pytest new/folder\n" in ran.out


@pytest.mark.parametrize("file", ["scale.py", "test_scale.py"])
def test_a_file_that_exists_is_never_overwritten(tileproof: Run, here: Path, file: str) -> None:
    (here / file).write_text("mine\n")
    ran = tileproof("init", "scale")
    assert ran.code == 2
    assert ran.err == f"tileproof init: {file} is there already; choose another name, or another --dir\n"
    assert (names(here), (here / file).read_text()) == ([file], "mine\n")


@pytest.mark.parametrize("text", ["[project]\nname = 'mine'\n", "not toml ["])
def test_settings_that_exist_are_left_alone_and_the_lines_to_add_are_shown(
    tileproof: Run, here: Path, text: str
) -> None:
    (here / "pyproject.toml").write_text(text)
    ran = tileproof("init", "scale")
    assert (ran.code, (here / "pyproject.toml").read_text()) == (0, text)
    assert "pyproject.toml is yours and was left alone; for ruff, add to it:\n" in ran.out
    assert 'extend-ignore = ["F722", "F821"' in ran.out


@pytest.mark.parametrize("key", ["ignore", "extend-ignore"])
def test_settings_that_suffice_are_not_mentioned(tileproof: Run, here: Path, key: str) -> None:
    (here / "pyproject.toml").write_text(f'[tool.ruff.lint]\n{key} = ["F722", "F821"]\n')
    assert "pyproject.toml" not in tileproof("init", "scale").out


def test_the_settings_are_toml(tileproof: Run, here: Path) -> None:
    tileproof("init")
    settings = tomllib.loads((here / "pyproject.toml").read_text())
    assert "F722" in settings["tool"]["ruff"]["lint"]["extend-ignore"]


@pytest.mark.parametrize("name", ["class", "my kernel", "2x", "a-b", "a/b", ""])
def test_a_name_is_one_of_python(tileproof: Run, here: Path, name: str) -> None:
    ran = tileproof("init", name)
    assert (ran.code, names(here)) == (2, [])
    assert ran.err.startswith(f"tileproof init: `{name}` cannot be the name of a kernel: use letters, digits and _")


@pytest.mark.parametrize("name", ["numpy", "tileproof", "random", "x", "order", "f32", "test_scale"])
def test_a_name_that_would_hide_another_is_refused(tileproof: Run, here: Path, name: str) -> None:
    ran = tileproof("init", name)
    assert (ran.code, names(here), f"`{name}` is taken" in ran.err) == (2, [], True)


def test_a_place_that_cannot_be_written_is_wrong_usage(tileproof: Run, here: Path) -> None:
    (here / "file").write_text("")
    ran = tileproof("init", "scale", "--dir", "file")
    assert (ran.code, ran.err.startswith("tileproof init: cannot write there: ")) == (2, True)


def test_where_one_file_cannot_be_written_there_is_none(
    tileproof: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        if "test_" in self.name:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(self, data)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        ran = tileproof("init", "scale")
    assert (ran.code, ran.out, names(here)) == (2, "", [])
    assert "No space left on device" in ran.err
    assert tileproof("init", "scale").code == 0
