"""A stand-in for the CUDA driver, for tests of what a launch does with arguments on a GPU."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest
from cuda_stub import Stub
from foreign_arrays import two_gpus

from tileproof.backends.cuda import driver


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """A driver with two GPUs, and no library that has streams."""
    made = two_gpus()
    monkeypatch.setattr(driver, "_imported", lambda: made)
    for name in ("torch", "cupy"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    driver._found.cache_clear()
    yield made
    gc.collect()
    driver._found.cache_clear()
