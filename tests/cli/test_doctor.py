"""`tileproof doctor`: what it says of a machine that works, and of one that does not."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_samples import Ran

from tileproof.cli import doctor

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., Ran]


def packages(requirements: list[str]) -> set[str]:
    """The names in a list of requirements, without tileproof itself."""
    return {re.split(r"[\[>=<]", text)[0] for text in requirements} - {"tileproof"}


def line(ran: Ran, what: str) -> str:
    """The line on one thing, and the one after it."""
    lines = ran.out.splitlines()
    (at,) = [number for number, text in enumerate(lines) if text[5:].startswith(f"{what} ")]
    return "\n".join(lines[at : at + 2])


def test_a_machine_that_runs_these_tests_works(tileproof: Run) -> None:
    ran = tileproof("doctor")
    assert (ran.code, ran.err) == (0, "")
    assert line(ran, "interpreter").startswith("  ok interpreter ")
    assert ran.out.endswith("\ntileproof works here\n")


def test_every_heading_and_every_package_is_there(tileproof: Run) -> None:
    ran = tileproof("doctor")
    headings = [text for text in ran.out.splitlines() if text and text[0] != " "]
    assert headings[:3] == ["This machine", "Packages", "Backends"]
    for name in ("tileproof", "Python", "system", *doctor.CORE, *(f"extra [{extra}]" for extra in doctor.EXTRAS)):
        assert line(ran, name)


def test_a_missing_package_is_broken_and_has_a_cure(tileproof: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "ml_dtypes" else "1.0")
    ran = tileproof("doctor")
    assert ran.code == 1
    assert line(ran, "ml_dtypes").startswith("  !! ml_dtypes                not installed\n")
    assert line(ran, "ml_dtypes").endswith(" cure: pip install --upgrade tileproof")
    assert ran.out.endswith("\ntileproof does not work here: see the lines marked !!\n")


def test_a_missing_extra_is_no_fault(tileproof: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "uvicorn" else "1.0")
    ran = tileproof("doctor")
    assert ran.code == 0
    assert line(ran, "extra [serve]").startswith("  -- extra [serve]            not installed: uvicorn\n")
    assert line(ran, "extra [serve]").endswith(" cure: pip install 'tileproof[serve]'")
    assert "  ok extra [llm]              safetensors 1.0, " in ran.out


def test_a_backend_that_fails_is_shown_with_its_error(tileproof: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise OSError("no such library")

    monkeypatch.setattr(doctor, "_try_interpreter", broken)
    ran = tileproof("doctor")
    assert (ran.code, line(ran, "interpreter").splitlines()[0]) == (
        1, "  !! interpreter              OSError: no such library"
    )  # fmt: skip


def test_the_packages_are_those_that_are_installed_with_tileproof() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert packages(project["dependencies"]) == set(doctor.CORE)
    for extra, names in doctor.EXTRAS.items():
        assert packages(project["optional-dependencies"][extra]) == set(names)


def test_colours_are_for_terminals(tileproof: Run) -> None:
    assert "\x1b" not in tileproof("doctor").out
    assert doctor._line(doctor.Finding("ok", "Python", "3"), color=True).startswith("  \x1b[32mok\x1b[0m Python")
