"""docs/serving.md: its clients talk to a server, and it names every option, route and metric."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import ROOT

from support.servers import Server, serving, write_model
from tileproof.cli import serve

TEXT = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r'^```py title="(with_\w+\.py)"\n(.*?)^```$', TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    model = write_model(tmp_path_factory.mktemp("models") / "tiny")
    with serving(model, "--no-warm-up", "--served-model-name", "smollm2") as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize(("title", "program"), PROGRAMS, ids=[title for title, _ in PROGRAMS])
def test_a_program_runs(server: Server, tmp_path: Path, title: str, program: str) -> None:
    (tmp_path / title).write_text(program.replace("http://127.0.0.1:8000", server.url))
    done = subprocess.run([sys.executable, title], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_each_metric_is_on_the_page(server: Server) -> None:
    server.post("/v1/completions", prompt="the", max_tokens=2)
    page = server.ask("GET", "/metrics").body.decode()
    results = set(re.findall(r"^# TYPE ((?:vllm:|http_)\w+) ", page, re.MULTILINE))
    names = {name for name in results if not name.endswith("_created")}
    assert len(names) > 20
    assert sorted(name for name in names if f"`{name}`" not in TEXT) == []


def test_each_route_is_on_the_page(server: Server) -> None:
    paths = server.ask("GET", "/openapi.json").json["paths"]
    assert len(paths) > 12
    assert sorted(path for path in paths if f"{path.replace('{model}', 'NAME')}`" not in TEXT) == []


def test_each_option_that_the_page_names_exists_and_each_limit_is_named() -> None:
    parser = argparse.ArgumentParser()
    serve.add(parser.add_subparsers(), "")
    help_text = parser._subparsers._group_actions[0].choices["serve"].format_help()  # type: ignore[union-attr]
    options = set(re.findall(r"--[a-z-]+", help_text))
    assert set(re.findall(r"`(--[a-z-]+)", TEXT)) <= options
    limits = re.search(r"^limits:\n(.*?)\n\n", help_text, re.MULTILINE | re.DOTALL)
    assert limits is not None
    assert set(re.findall(r"^  (--[a-z-]+)", limits[1], re.MULTILINE)) <= set(re.findall(r"`(--[a-z-]+)", TEXT))
