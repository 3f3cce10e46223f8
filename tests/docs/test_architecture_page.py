"""docs/architecture.md and CONTRIBUTING.md name files that exist."""

from __future__ import annotations

import re

from pages import ROOT

PAGE = ROOT / "docs" / "architecture.md"


def test_every_path_on_the_page_exists() -> None:
    paths = set(re.findall(r"(?:src/tileproof|tests)/[\w/]+(?:\.\w+)?", PAGE.read_text(encoding="utf-8")))
    assert len(paths) > 40
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []


def test_every_path_in_contributing_exists_in_the_repository_or_in_the_package() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = set(re.findall(r"`(\w+(?:/[\w-]+)+(?:\.\w+)?)`", page))
    assert len(paths) > 40
    roots = (ROOT, ROOT / "src" / "tileproof")
    assert sorted(path for path in paths if not any((root / path).exists() for root in roots)) == []
