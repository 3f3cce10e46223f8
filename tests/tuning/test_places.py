"""Memory and clocks of trials; GPUs are a stand-in for the driver, which computes by the evaluator of Tile IR."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.evaluated_gpu import Gpu
from oracles.foreign_arrays import two_gpus
from samples import tuned_kernels
from samples.tuned_kernels import APPEND, double_kernel, planted, product_kernel
from support.cuda_host import clean_slate
from tileproof.backends.cuda.device import driver
from tileproof.backends.cuda.device import loaded_code as running
from tileproof.language.dtypes import BF16
from tileproof.language.kernel import Kernel
from tileproof.runtime.launch import ahead_of_time as ahead
from tileproof.tuning import Choice, Tunable, choices, places, tune
from tileproof.tuning.places import CpuPlace, GpuPlace, Place


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Gpu]:
    gpu = Gpu(regions=two_gpus().regions, runs_followers=True)
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(tmp_path))
    for name in ("torch", "cupy"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    gpu.use(monkeypatch)
    monkeypatch.setattr(ahead, "code_of", running.code_of)
    monkeypatch.setattr(places, "_cache_of", lambda device: 1 << 12)
    driver._opened.cache_clear()
    kernels = [each for each in vars(tuned_kernels).values() if isinstance(each, Kernel)]
    with clean_slate(monkeypatch):
        yield gpu
    for kernel in kernels:  # what it remembers are functions of a driver that is gone
        kernel.forget()
    driver._opened.cache_clear()


@pytest.mark.parametrize("place", [CpuPlace, GpuPlace])
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), BF16.storage, np.dtype(np.int32), np.dtype(np.bool_)], ids=str)
def test_arrays_are_copied_there_and_back(gpu: Gpu, place: type[Place], dtype: np.dtype[Any]) -> None:
    here = place()
    array = np.arange(600).reshape(30, 20).astype(dtype)
    one, other = here.put(array), here.put(np.zeros_like(array))
    array[...] = 1 - array
    here.copy(other, one)
    assert (here.read(other) == np.arange(600).reshape(30, 20).astype(dtype)).all()


def test_times_are_taken_behind_a_flush_and_outside_of_what_comes_before(gpu: Gpu) -> None:
    place, done = GpuPlace(0), []
    taken = place.times(lambda: done.append("launch"), lambda: done.append("before"), 0.0)
    assert taken == [1.5e-3] * 5
    assert done == ["launch", *["before", "launch"] * 5]  # the first, to be recorded, if it can be
    names = [name for name, _ in gpu.calls if name in ("cuMemsetD8Async", "cuEventRecord")]
    assert names[-15:] == ["cuMemsetD8Async", "cuEventRecord", "cuEventRecord"] * 5


def test_the_clock_sees_a_graph_and_not_the_way_through_the_host(gpu: Gpu) -> None:
    place = GpuPlace(0)
    x, y = (place.put(np.full(300, value, np.float32)) for value in (1.5, 0.0))
    place.times(lambda: double_kernel(y, x), lambda: None, 0.0)
    assert [name for name, _ in gpu.calls].count("cuGraphLaunch") == 5
    assert (place.read(y) == 3).all()


@pytest.mark.slow
def test_a_tunable_is_tuned_on_a_gpu(gpu: Gpu, tmp_path: Path) -> None:
    tunable = planted("wrong_by_one_kernel", "unwritten_kernel")
    report = tune(tunable, [{"N": 500}], element="f32", place=GpuPlace(0), into=tmp_path / "records")
    (result,) = report.results
    assert report.is_finished
    assert result.best is not None
    assert {label.split()[0] for label in result.problems} == {"wrong_by_one_kernel", "unwritten_kernel"}
    assert report.path == tmp_path / "records" / "planted.sm_90.json"


def test_what_a_kernel_reads_and_writes_is_as_before_for_every_launch(gpu: Gpu) -> None:
    report = tune(APPEND, [{"N": 300}], element="f32", place=GpuPlace(0))
    assert report.results[0].problems == {}
    assert report.is_finished


@pytest.mark.slow
def test_a_product_is_tuned_on_a_gpu(gpu: Gpu) -> None:
    tunable = Tunable(
        "product", (product_kernel,), lambda sizes, target: Choice(product_kernel, {"BM": 16, "BN": 16, "BK": 16}),
        lambda sizes, target: choices(product_kernel, "BM=32,BN=16,BK=16"),
    )  # fmt: skip
    report = tune(tunable, [{"M": 40, "N": 24, "K": 20}], place=GpuPlace(0))
    assert report.results[0].problems == {}
    assert report.is_finished
