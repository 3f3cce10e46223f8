"""A stand-in for the CUDA driver."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from oracles.cuda_driver import Stub
from tileproof.backends.cuda.device import driver


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """A driver with two GPUs."""
    stub = Stub()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(driver, "_imported", lambda: stub)
    driver._opened.cache_clear()
    yield stub
    gc.collect()
    driver._opened.cache_clear()
