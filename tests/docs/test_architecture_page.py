"""docs/architecture.md names files that exist."""

from __future__ import annotations

import re

from pages import ROOT

PAGE = ROOT / "docs" / "architecture.md"


def test_every_path_on_the_page_exists() -> None:
    paths = set(re.findall(r"(?:src/tileproof|tests)/[\w/]+(?:\.\w+)?", PAGE.read_text(encoding="utf-8")))
    assert len(paths) > 40
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []
