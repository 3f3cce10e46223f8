"""`tileproof doctor`: what it says of a machine that works, and of one that does not."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oracles.cuda_driver import CUresult, Stub
from support.cli_samples import Ran
from tileproof.backends.cuda.assembler.toolchain import find
from tileproof.backends.cuda.device import driver
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


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """A driver with two GPUs, which run nothing."""
    stub = Stub()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(driver, "_imported", lambda: stub)
    driver._opened.cache_clear()
    yield stub
    driver._opened.cache_clear()


def test_a_machine_that_runs_these_tests_works(tileproof: Run) -> None:
    ran = tileproof("doctor")
    assert (ran.code, ran.err) == (0, "")
    assert line(ran, "interpreter").startswith("  ok interpreter ")
    assert line(ran, "cpu").startswith("  ok cpu ")
    assert ran.out.endswith("\ntileproof works here\n")


def test_every_heading_and_every_package_is_there(tileproof: Run) -> None:
    ran = tileproof("doctor")
    headings = [text for text in ran.out.splitlines() if text and text[0] != " "]
    assert headings[:4] == ["This machine", "Packages", "Backends", "CUDA"]
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
    def broken(backend: str) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(doctor, "_try_on_host", broken)
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


# The CUDA backend.


def test_the_assembler_is_told_with_its_version_and_architectures(tileproof: Run) -> None:
    message = line(tileproof("doctor"), "assembler")
    assert re.match(r"  ok assembler                tileiras 13\.\d+\.\d+ for sm_80, .*sm_90", message)


def test_a_missing_assembler_has_a_cure(tileproof: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEPROOF_TILEIRAS", str(tmp_path / "tileiras"))
    ran = tileproof("doctor")
    assert ran.code == 0
    message, cure = line(ran, "assembler").splitlines()
    assert message.startswith("  -- assembler                TILEPROOF_TILEIRAS is ")
    assert "pip install 'tileproof[cuda]'" in cure


def test_every_gpu_is_told_with_its_architecture(tileproof: Run, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_try_on_gpu", lambda: None)
    ran = tileproof("doctor")
    assert line(ran, "driver").startswith("  ok driver                   for CUDA 13.0")
    assert line(ran, "GPU 0").startswith("  ok GPU 0                    Stub 0, sm_90, 16.0 GiB")
    assert line(ran, "GPU 1").startswith("  ok GPU 1                    Stub 1, sm_91, 16.0 GiB")
    assert line(ran, "cuda").startswith("  ok cuda                     runs a kernel")


def test_a_gpu_that_gives_wrong_results_is_broken(
    tileproof: Run, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "double", lambda *args, **constants: None)
    monkeypatch.setattr(doctor, "_try_on_host", lambda backend: None)
    ran = tileproof("doctor")
    assert (ran.code, line(ran, "cuda").splitlines()[0]) == (
        1, "  !! cuda                     ArithmeticError: a kernel gave the wrong result"
    )  # fmt: skip


def test_a_gpu_without_an_assembler_is_no_fault(
    tileproof: Run, stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEPROOF_TILEIRAS", str(tmp_path / "tileiras"))
    monkeypatch.setattr(doctor, "_try_on_gpu", find)
    ran = tileproof("doctor")
    assert ran.code == 0
    message, cure = line(ran, "cuda").splitlines()
    assert message.startswith("  -- cuda                     TILEPROOF_TILEIRAS is ")
    assert "pip install 'tileproof[cuda]'" in cure


def test_a_driver_that_does_not_start_has_a_cure(tileproof: Run, stub: Stub) -> None:
    stub.failing["cuInit"] = CUresult.CUDA_ERROR_NO_DEVICE
    ran = tileproof("doctor")
    assert ran.code == 0
    assert line(ran, "driver").startswith("  -- driver                   no NVIDIA GPU can be used; CUDA says")
    assert "cure: run it where `nvidia-smi` lists a GPU" in line(ran, "driver")
    assert line(ran, "cuda").startswith("  -- cuda                     no GPU can be used")


def test_the_launch_path_is_told(tileproof: Run) -> None:
    assert re.match(r"  (ok|--) launch path              (native|in Python)", line(tileproof("doctor"), "launch path"))
