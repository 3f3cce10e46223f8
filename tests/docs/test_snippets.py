"""What the pages show is true: snippets run, wrong ones are rejected, names and links exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import PAGES, ROOT, Printed, Snippet, mistakes, printed, snippets

from tileproof.backends.cuda.device.driver import device_count
from tileproof.diagnostics.codes import Code

SNIPPETS = snippets()


def saved(snippet: Snippet, folder: Path) -> Path:
    """The file of a snippet."""
    path = folder / (snippet.title or "snippet.py")
    path.write_text(snippet.text, encoding="utf-8")
    return path


@pytest.mark.parametrize("snippet", [s for s in SNIPPETS if not s.rejected], ids=str)
def test_a_snippet_runs(snippet: Snippet, tmp_path: Path) -> None:
    for name in snippet.needs:
        if name != "gpu":
            pytest.importorskip(name, reason=f"{name} is not installed")
        elif not device_count():
            pytest.skip("no NVIDIA GPU")
    assert [result.message for result in mistakes(saved(snippet, tmp_path))] == []


@pytest.mark.parametrize("snippet", [s for s in SNIPPETS if s.rejected], ids=str)
def test_a_wrong_snippet_is_rejected(snippet: Snippet, tmp_path: Path) -> None:
    assert [result.code.id for result in mistakes(saved(snippet, tmp_path))] == [snippet.rejected]


@pytest.mark.parametrize("block", printed(), ids=str)
def test_a_page_shows_what_is_printed_today(block: Printed, tmp_path: Path) -> None:
    assert block.text == block.today(tmp_path), "python tests/docs/pages.py writes what is printed today"


def test_every_section_of_the_language_has_a_snippet() -> None:
    text = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    without = [section.partition("\n")[0] for section in sections if "```python" not in section]
    assert without == ["Not yet"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_codes_on_a_page_exist(page: Path) -> None:
    named = set(re.findall(r"TP\d{4}", page.read_text(encoding="utf-8")))
    assert named <= {code.id for code in Code}


@pytest.mark.slow
def test_the_site_builds(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for page in ("language", "tutorial", "agents"):
        assert (tmp_path / "site" / page / "index.html").exists()
