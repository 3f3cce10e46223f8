"""What users install: a wheel, tried in an environment that has its dependencies but not this checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tileproof.diagnostics import Code, page
from tileproof.llm.server.page.files import PAGE_PATHS

ROOT = Path(__file__).resolve().parents[1]


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command without what the environment says of this checkout."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST", "PIP_"))}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def answer(*command: str | Path, cwd: Path) -> str:
    """What a command that succeeds prints."""
    done = run(*command, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ("wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    answer(sys.executable, "-m", "pip", "--disable-pip-version-check", *build, cwd=folder)
    (built,) = folder.glob("tileproof-*.whl")
    return built


@pytest.fixture(scope="module")
def bin_folder(wheel: Path) -> Path:
    """The programs of a new environment with the wheel; numpy and the like come from the one that runs the tests."""
    home = wheel.parent / "environment"
    answer(sys.executable, "-m", "venv", "--without-pip", home, cwd=wheel.parent)
    python = home / "bin" / "python"
    install = ("install", "--no-deps", "--no-index", wheel)
    answer(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, *install, cwd=wheel.parent)
    site = Path(answer(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).strip())
    # A path in a .pth file comes last, and .pth files behind it, such as that of an editable install, do not count.
    (site / "dependencies.pth").write_text("\n".join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}))
    return home / "bin"


def test_the_wheel_holds_the_package_and_its_pages_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"tileproof"}
    assert {"tileproof/py.typed", "tileproof/backends/cpu/device/native/pool.ll"} <= set(names)
    assert {f"tileproof/llm/server/page/{name}" for name in PAGE_PATHS.values()} <= set(names)
    pages = {Path(name).name for name in names if name.startswith("tileproof/diagnostics/catalogue/")}
    assert pages == {path.name for path in (ROOT / "docs" / "errors").glob("*.md")}


def test_the_installed_package_is_what_is_imported(bin_folder: Path, tmp_path: Path) -> None:
    place = answer(bin_folder / "python", "-c", "import tileproof; print(tileproof.__file__)", cwd=tmp_path)
    assert Path(place.strip()).is_relative_to(bin_folder.parent)


def test_the_catalogue_is_installed(bin_folder: Path, tmp_path: Path) -> None:
    explained = answer(bin_folder / "tileproof", "explain", "TP0301", cwd=tmp_path)
    assert explained.rstrip("\n") == page(Code.WRONG_DIMENSION).rstrip("\n")


def test_a_first_kernel_is_written_checked_and_tested(bin_folder: Path, tmp_path: Path) -> None:
    tileproof = bin_folder / "tileproof"
    answer(tileproof, "init", "scale", cwd=tmp_path)
    checked = answer(tileproof, "check", "scale.py", cwd=tmp_path)
    assert checked.startswith("scale.py: scale: proved, for all constants\n")
    tested = answer(bin_folder / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path)
    assert "passed" in tested


def test_the_version_is_that_of_the_package(wheel: Path, bin_folder: Path) -> None:
    program = "import tileproof; print(tileproof.__version__)"
    said = answer(bin_folder / "python", "-c", program, cwd=wheel.parent).strip()
    assert wheel.name.split("-")[1] == said
    assert answer(bin_folder / "tileproof", "--version", cwd=wheel.parent).strip() == f"tileproof {said}"
