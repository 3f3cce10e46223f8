"""One server for all tests of a process, with a tiny random model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.servers import Server, serving, write_model


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model."""
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def server(model: Path) -> Iterator[Server]:
    """A server for it."""
    with serving(model, "--no-warm-up") as running:
        yield running
