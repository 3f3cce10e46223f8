"""A helper whose file was edited after its import: never compiled from text that is not its own."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import tileproof as tp

KERNEL = """
import tileproof as tp
from tileproof import In, Out, f32
import stale_helpers

@tp.kernel
def scale(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = stale_helpers.scaled(x[n])
"""
HELPER = "def scaled(t):\n    return t * 2.0\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "stale_helpers.py").write_text(HELPER)
    (tmp_path / "stale_kernels.py").write_text(KERNEL)
    yield tmp_path
    for name in ("stale_helpers", "stale_kernels"):
        sys.modules.pop(name, None)


def run(module: ModuleType) -> list[float]:
    y = np.zeros(2, np.float32)
    module.scale(y, np.ones(2, np.float32))
    return [float(value) for value in y]


def test_a_helper_in_another_file_is_inlined(folder: Path) -> None:
    assert run(importlib.import_module("stale_kernels")) == [2.0, 2.0]


@pytest.mark.parametrize("edit", ["return t * 3.0", "return t + 2.0", "return t * t"])
def test_a_helper_edited_after_its_import_is_refused(folder: Path, edit: str) -> None:
    kernels = importlib.import_module("stale_kernels")
    (folder / "stale_helpers.py").write_text(HELPER.replace("return t * 2.0", edit))
    with pytest.raises(tp.KernelError, match="TP0001"):
        run(kernels)


def test_an_edit_elsewhere_in_the_file_does_no_harm(folder: Path) -> None:
    kernels = importlib.import_module("stale_kernels")
    (folder / "stale_helpers.py").write_text(HELPER + "\n\ndef other(t):\n    return t\n")
    assert run(kernels) == [2.0, 2.0]
