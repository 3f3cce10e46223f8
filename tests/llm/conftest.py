"""Where tests of the engine run: on the CPU, and each of them again on a GPU, with the mark `gpu`.

A machine that cannot compile is given a folder of compiled kernels by TILEPROOF_GPU_CACHE.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tileproof.analysis import smt
from tileproof.backends.cuda.device.driver import device_count


@pytest.fixture(autouse=True)
def without_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernel of the engine rests on z3: all deny checks at run time, and would be rejected here."""
    monkeypatch.setattr(smt, "installed", lambda: None)


@pytest.fixture(scope="session", params=["cpu", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where engines are. Tests of one device follow each other, whatever file they are of."""
    name: str = request.param
    if name == "cpu":
        yield name
        return
    if not device_count():
        pytest.skip("no NVIDIA GPU")
    with pytest.MonkeyPatch.context() as patch:
        if folder := os.environ.get("TILEPROOF_GPU_CACHE"):
            patch.setenv("TILEPROOF_CACHE_DIR", folder)
        yield name
