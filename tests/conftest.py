"""Settings of every test: the IR is verified after each pass, and compiled kernels are kept for the session alone."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Iterator

import pytest

os.environ["TILEPROOF_VERIFY"] = "1"
if "PYTEST_XDIST_WORKER" not in os.environ:
    # Made by the process that starts the others: they inherit it, and profit from what one of them compiled.
    os.environ["TILEPROOF_CACHE_DIR"] = tempfile.mkdtemp(prefix="tileproof-cache-")
    atexit.register(shutil.rmtree, os.environ["TILEPROOF_CACHE_DIR"], ignore_errors=True)


@pytest.fixture(scope="module", autouse=True)
def what_earlier_files_left() -> Iterator[None]:
    """Many tests have garbage collected to see an object end: what earlier files left is not looked at each time."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def still_memory() -> Iterator[None]:
    """What is seen of memory in use is a test's own doing: no work of others ends amid it, nor is theirs collected."""
    import tileproof as tp

    tp.current_stream().synchronize()
    gc.collect()
    gc.disable()
    yield
    gc.enable()
