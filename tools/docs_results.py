"""A hook of mkdocs: results of benchmarks become pages of the site, with their pictures.

Pages of the site link to them as they lie in the repository, `../benchmarks/results/h200/README.md`, so that links work
where the repository is read too. In the site they are under `results/`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results"
PAGES = ("README.md", "engine.md", "llm.md", "tried.md")
_LINKS = {"](../benchmarks/results/": "](results/", "](../../../docs/": "](../../"}
"""What pages of the documentation and of the results write, and what that is in the site."""


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages and the pictures of every machine."""
    for file in sorted(RESULTS.glob("*/*")):
        if file.suffix == ".png" or file.name in PAGES:
            where = f"results/{file.parent.name}/{file.name}"
            files.append(File.generated(config, where, abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links into the repository lead to pages of the site."""
    for written, there in _LINKS.items():
        markdown = markdown.replace(written, there)
    return markdown
