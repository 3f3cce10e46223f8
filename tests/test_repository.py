"""What must hold of the files of the repository themselves."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import tileproof

ROOT = Path(__file__).resolve().parents[1]


def files() -> list[Path]:
    """Every file that is, or is about to be, part of the repository; all of them where there is no git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
        found = [ROOT / name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        skipped = {".venv", "__pycache__", "site", "dist", "build"}
        found = [path for path in ROOT.rglob("*") if not skipped.intersection(path.relative_to(ROOT).parts)]
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def texts() -> list[tuple[str, str]]:
    """Name and text of every file that is text."""
    pairs = []
    for path in files():
        data = path.read_bytes()
        if b"\0" not in data:
            pairs.append((str(path.relative_to(ROOT)), data.decode("utf-8")))
    return pairs


TEXTS = texts()


def matches(pattern: str) -> list[str]:
    """`file:line: match` for every place a pattern is found."""
    return [
        f"{name}:{number}: {match.group()}"
        for name, text in TEXTS
        for number, line in enumerate(text.splitlines(), start=1)
        for match in re.finditer(pattern, line)
    ]


def test_no_file_names_a_place_of_one_machine() -> None:
    assert matches(r"(?<![\w.~])/(?:root|home|Users|work)/\w+") == []


def test_no_file_names_a_package_registry() -> None:
    assert matches(r"(?i)\bpypi\.org|pythonhosted\.org|anaconda\.org") == []


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for name, text in TEXTS:
        if name.endswith(".md"):
            for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
                if not ((ROOT / name).parent / target).exists():
                    broken.append(f"{name}: {target}")
    assert broken == []


def test_the_changelog_has_an_entry_for_the_version() -> None:
    version = tileproof.__version__
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
