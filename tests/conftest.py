"""Settings of every test: the IR is verified after each pass, and compiled kernels are kept for the session alone.

Tests are in two tiers. `make test` runs those without the marks `slow` and `gpu`; `make test-all` runs all. A test with
the mark `sweep(n)` is in both: n of its cases, spread evenly, are fast, and the others slow. Properties are tried on a
fifth of their examples in the fast tier.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator

import pytest

os.environ["TILEPROOF_VERIFY"] = "1"
if "PYTEST_XDIST_WORKER" not in os.environ:
    # Made by the process that starts the others: they inherit it, and profit from what one of them compiled.
    os.environ["TILEPROOF_CACHE_DIR"] = tempfile.mkdtemp(prefix="tileproof-cache-")
    atexit.register(shutil.rmtree, os.environ["TILEPROOF_CACHE_DIR"], ignore_errors=True)


def pytest_configure(config: pytest.Config) -> None:
    """Tries fewer examples of each property where slow tests are left out."""
    if "not slow" in config.getoption("markexpr"):
        from hypothesis import settings

        from support.tiers import FAST

        settings.load_profile(FAST)


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the cases of sweeps as slow, but for those that stay in the fast tier."""
    sweeps = defaultdict[tuple[pytest.Item | pytest.Collector | None, str], list[pytest.Item]](list)
    for item in items:
        if item.get_closest_marker("sweep") and not item.get_closest_marker("gpu"):
            sweeps[item.parent, getattr(item, "originalname", item.name)].append(item)
    for cases in sweeps.values():
        (fast,) = cases[0].get_closest_marker("sweep").args  # type: ignore[union-attr]
        kept = {(2 * each + 1) * len(cases) // (2 * fast) for each in range(fast)}
        for place, case in enumerate(cases):
            if place not in kept:
                case.add_marker("slow")


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
