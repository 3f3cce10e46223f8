"""Where the assembler is found, and which ones are rejected."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from samples.assembler_modules import fake_toolchain, program, said
from tileproof.backends.cuda.assembler import toolchain
from tileproof.backends.cuda.assembler.toolchain import HOMES, VARIABLE, find
from tileproof.diagnostics import Code, Diagnostic
from tileproof.diagnostics.errors import LaunchError


@pytest.fixture(autouse=True)
def empty_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable names an assembler."""
    for name in (VARIABLE, *HOMES, "CUDA_ROOT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no package of NVIDIA's were installed."""
    monkeypatch.setattr(toolchain.importlib.util, "find_spec", lambda name: None)


def refusal(code: Code) -> Diagnostic:
    with pytest.raises(LaunchError) as caught:
        find()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is code
    assert diagnostic.help
    return diagnostic


def test_the_packages_of_this_python_are_found() -> None:
    result = find()
    major, minor, _ = result.version.split(".")
    assert result.release == (int(major), int(minor)) >= (13, 3)
    assert result.bytecode in ((13, 3), (13, 4))
    assert (result.tileiras.name, result.ptxas.name) == ("tileiras", "ptxas")
    assert result.root in result.libnvvm.parents
    assert result.supports("sm_90")
    assert not result.supports("sm_75")


@pytest.mark.usefixtures("no_packages")
def test_without_any_assembler_the_packages_to_install_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    diagnostic = refusal(Code.NO_ASSEMBLER)
    assert diagnostic.help == "pip install 'tileproof[cuda]'"
    assert "PATH" in diagnostic.notes[0]


@pytest.mark.usefixtures("no_packages")
def test_places_are_tried_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = {name: fake_toolchain(tmp_path / name) for name in (VARIABLE, *HOMES, "PATH")}
    monkeypatch.setenv("PATH", f"{places['PATH'].parent}{os.pathsep}{os.environ['PATH']}")
    for home in HOMES:
        monkeypatch.setenv(home, str(places[home].parent.parent))
    monkeypatch.setenv(VARIABLE, str(places[VARIABLE]))
    for name, place in places.items():
        assert find().tileiras == place
        if name != "PATH":
            monkeypatch.delenv(name)


def test_packages_come_before_a_toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", str(fake_toolchain(tmp_path / "cuda").parent.parent))
    assert tmp_path not in find().tileiras.parents


def test_a_link_leads_to_the_parts_beside_the_file_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = fake_toolchain(tmp_path / "cuda")
    (tmp_path / "tileiras").symlink_to(there)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "tileiras"))
    assert find().tileiras == there


def test_a_named_assembler_that_is_missing_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "tileiras"))
    diagnostic = refusal(Code.NO_ASSEMBLER)
    assert str(tmp_path / "tileiras") in diagnostic.message
    assert VARIABLE in diagnostic.help


@pytest.mark.parametrize("part", ["ptxas", "libnvvm"])
def test_a_missing_part_is_named(part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(fake_toolchain(tmp_path / "cuda", missing=(part,))))
    diagnostic = refusal(Code.NO_ASSEMBLER)
    assert diagnostic.message.endswith(f"not installed: {part}")


def test_a_file_that_is_no_program_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tileiras = fake_toolchain(tmp_path / "cuda")
    tileiras.write_bytes(b"\x7fELF for another machine")
    monkeypatch.setenv(VARIABLE, str(tileiras))
    diagnostic = refusal(Code.NO_ASSEMBLER)
    assert "cannot be run" in diagnostic.message
    tileiras.chmod(0o644)
    assert "ermission denied" in refusal(Code.NO_ASSEMBLER).notes[0]


@pytest.mark.parametrize("part", ["tileiras", "ptxas", "libnvvm"])
def test_parts_of_different_releases_are_refused(part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(fake_toolchain(tmp_path / "cuda", versions={part: "13.3.40"})))
    diagnostic = refusal(Code.ASSEMBLER_VERSION)
    assert f"{part} 13.3.40" in diagnostic.notes[0]
    assert "13.4.92" in diagnostic.notes[0]
    assert diagnostic.help == "pip install --upgrade 'tileproof[cuda]'"


def test_parts_may_differ_in_the_last_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(fake_toolchain(tmp_path / "cuda", versions={"ptxas": "13.4.7"})))
    assert find().version == "13.4.92"


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("version", "format"), [("13.3.5", (13, 3)), ("13.4.92", (13, 4)), ("13.10.1", (13, 4)), ("14.0.3", (13, 4))]
)
def test_newer_releases_get_the_newest_bytecode_they_and_we_know(
    version: str, format: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = dict.fromkeys(("tileiras", "ptxas", "libnvvm"), version)
    monkeypatch.setenv(VARIABLE, str(fake_toolchain(tmp_path / "cuda", versions=versions)))
    assert (find().version, find().bytecode) == (version, format)


def test_an_old_release_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = dict.fromkeys(("tileiras", "ptxas", "libnvvm"), "13.2.51")
    monkeypatch.setenv(VARIABLE, str(fake_toolchain(tmp_path / "cuda", versions=versions)))
    assert "older than 13.3" in refusal(Code.ASSEMBLER_VERSION).message


@pytest.mark.parametrize("text", ["print('command not found')", "import sys; sys.exit(4)", "print('V13.4')"])
def test_a_version_that_cannot_be_read_is_refused(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tileiras = fake_toolchain(tmp_path / "cuda")
    program(tileiras.with_name("ptxas"), text)
    monkeypatch.setenv(VARIABLE, str(tileiras))
    assert "ptxas" in refusal(Code.ASSEMBLER_VERSION).message


def test_a_program_that_never_says_its_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "_PATIENCE", 0.2)
    tileiras = fake_toolchain(tmp_path / "cuda")
    program(tileiras.with_name("ptxas"), "import time; time.sleep(60)")
    monkeypatch.setenv(VARIABLE, str(tileiras))
    assert "did not answer" in refusal(Code.ASSEMBLER_VERSION).notes[0]


@pytest.mark.parametrize("content", [b"", b"a library that does not tell"])
def test_a_library_without_a_version_is_taken(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tileiras = fake_toolchain(tmp_path / "cuda")
    (tmp_path / "cuda" / "lib" / "libnvvm.so.4").write_bytes(content)
    monkeypatch.setenv(VARIABLE, str(tileiras))
    assert find().version == "13.4.92"


def test_a_toolkit_keeps_its_library_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tileiras = fake_toolchain(tmp_path / "cuda")
    (tmp_path / "cuda" / "nvvm" / "lib64").mkdir(parents=True)
    library = tmp_path / "cuda" / "nvvm" / "lib64" / "libnvvm.so"
    shutil.move(tmp_path / "cuda" / "lib" / "libnvvm.so.4", library)
    monkeypatch.setenv(VARIABLE, str(tileiras))
    assert find().libnvvm == library


def test_programs_are_asked_once_until_they_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tileiras = fake_toolchain(tmp_path / "cuda")
    monkeypatch.setenv(VARIABLE, str(tileiras))
    first = find()
    with monkeypatch.context() as context:
        context.setattr(toolchain, "_output", None)  # whoever asks again fails
        assert find() is first
    for part in (tileiras, tileiras.with_name("ptxas")):
        text = part.read_text().replace(said("13.4.92"), said("13.4.107"))
        part.write_text(text)
    assert find().version == "13.4.107"


def test_variables_that_would_mix_toolchains_are_not_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(fake_toolchain(tmp_path / "cuda")))
    for name in (*HOMES, "CUDA_ROOT"):
        monkeypatch.setenv(name, str(tmp_path / "another"))
    environment = find().environment()
    assert environment["CUDA_ROOT"] == str(tmp_path / "cuda")
    assert not set(HOMES) & set(environment)
    assert environment["PATH"].startswith(str(tmp_path / "cuda" / "bin") + os.pathsep)
