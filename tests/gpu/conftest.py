"""Tests that need a GPU: each has the mark `gpu`, and is skipped where there is none.

A machine that cannot compile is given a folder of compiled kernels by TILEPROOF_GPU_CACHE.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from textwrap import dedent

import pytest

from tileproof.backends.cuda.device.driver import Device, device_count


@pytest.fixture(autouse=True)
def gpu() -> Device:
    """The GPU that tests run on."""
    if not device_count():
        pytest.skip("no NVIDIA GPU")
    return Device(0)


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels come from the folder that was given, if one was."""
    if folder := os.environ.get("TILEPROOF_GPU_CACHE"):
        monkeypatch.setenv("TILEPROOF_CACHE_DIR", folder)


@pytest.fixture
def alone() -> Callable[[str], str]:
    """Runs a program in a process of its own, because it loses its context or must not have a library loaded."""

    def run(program: str) -> str:
        done = subprocess.run([sys.executable, "-c", dedent(program)], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
