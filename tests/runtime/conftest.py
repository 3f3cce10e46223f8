"""Stand-ins for the CUDA driver, for tests of what a launch does with arguments on a GPU."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracles.cuda_driver import Stub
from oracles.foreign_arrays import two_gpus
from tileproof.backends.cuda.device import driver
from tileproof.language.kernel import Kernel

if TYPE_CHECKING:
    from oracles.evaluated_gpu import Gpu


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """A driver with two GPUs, and no library that has streams."""
    result = two_gpus()
    monkeypatch.setattr(driver, "_imported", lambda: result)
    for name in ("torch", "cupy"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    driver._opened.cache_clear()
    yield result
    gc.collect()
    driver._opened.cache_clear()


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what the tests of a file compile: most of them do not care who did."""
    return tmp_path_factory.mktemp("gpu-cache")


@pytest.fixture
def gpu(
    stub: Stub, shared_cache: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Gpu]:  # fmt: skip
    """Two GPUs of three multiprocessors that compute. No launch may keep memory of theirs."""
    from oracles.evaluated_gpu import Gpu

    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(shared_cache))
    gpu = Gpu(regions=stub.regions)
    gpu.use(monkeypatch)
    driver._opened.cache_clear()
    for kernel in (each for each in vars(request.module).values() if isinstance(each, Kernel)):
        # What it remembers are functions of a driver that is gone.
        kernel.forget()
    yield gpu
    assert gpu.scratch == {}


@pytest.fixture
def empty_cache(gpu: Gpu, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is compiled yet."""
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(tmp_path))
