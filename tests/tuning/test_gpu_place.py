"""Trials on a GPU, on a stand-in for the driver whose GPUs compute by the evaluator of Tile IR."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tuned_kernels
from cuda_host import clean_slate
from evaluating_gpu import Gpu
from foreign_arrays import two_gpus
from tuned_kernels import APPEND, double_kernel, planted, product_kernel

from tileproof.backends.cuda import driver, running
from tileproof.language.dtypes import BF16, BOOL, F32, I8, I32
from tileproof.language.kernel import Kernel
from tileproof.runtime import ahead
from tileproof.tuning import Choice, Tunable, choices, gpu_place, trial_kernels, tune
from tileproof.tuning.gpu_place import GpuPlace
from tileproof.tuning.inputs import Argument, Content
from tileproof.tuning.places import CpuPlace

TILE = 256


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Gpu]:
    made = Gpu(regions=two_gpus().regions, runs_followers=True)
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(tmp_path))
    for name in ("torch", "cupy"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    made.use(monkeypatch)
    monkeypatch.setattr(ahead, "code_of", running.code_of)
    monkeypatch.setattr(gpu_place, "_cache_of", lambda device: 1 << 12)
    monkeypatch.setattr(gpu_place, "_SMALL", 16)
    monkeypatch.setattr(gpu_place, "_TILE", TILE)
    driver._found.cache_clear()
    known = (*vars(trial_kernels).values(), *vars(tuned_kernels).values())
    kernels = [each for each in known if isinstance(each, Kernel)]
    with clean_slate(monkeypatch):
        yield made
    for kernel in kernels:  # what it remembers are functions of a driver that is gone
        kernel.forget()
    driver._found.cache_clear()


@pytest.mark.parametrize("dtype", [F32, BF16, I32, I8, BOOL], ids=str)
def test_contents_are_fresh_and_comparisons_find_one_wrong_element(gpu: Gpu, dtype: object) -> None:
    place, rng = GpuPlace(0), np.random.default_rng(1)
    argument = Argument("x", (600,), dtype, is_written=False, is_kept=True)  # type: ignore[arg-type]
    one, other = place.make(argument, rng), place.make(argument, rng)
    first, second = one.numpy(), other.numpy()
    assert (first != second).any()
    assert np.isfinite(first.astype(np.float64)).all()
    assert place.compare(one, one).wrong == 0
    copy = place.empty(argument)
    place.copy(copy, one)
    changed = first.copy()
    changed[597] = 1 - changed[597]
    found = place.compare(place.bring(changed), copy)
    here = CpuPlace().compare(changed, first)
    assert (found.wrong, found.worst, found.top) == pytest.approx((here.wrong, here.worst, here.top))
    assert (found.gap, found.size) == pytest.approx((here.gap, here.size), rel=1e-5)
    assert found.wrong or found.worst


def test_poison_is_nan_and_is_seen(gpu: Gpu) -> None:
    place = GpuPlace(0)
    argument = Argument("x", (300,), F32, is_written=True, is_kept=False)
    array = place.make(argument, np.random.default_rng(1))
    right = place.bring(array.numpy())
    place.poison(array, 0xFF)
    assert place.compare(array, right).wrong == 300
    place.poison(array, 0x7F)
    assert place.compare(array, right).worst > 1e38


def test_index_tensors_go_through_the_host(gpu: Gpu) -> None:
    argument = Argument("x", (4, 5), I32, is_written=False, is_kept=True, content=Content("Unique", 20))
    made = GpuPlace(0).make(argument, np.random.default_rng(1))
    assert sorted(made.numpy().reshape(-1).tolist()) == list(range(20))


def test_times_are_taken_behind_a_flush_and_outside_of_what_comes_before(gpu: Gpu) -> None:
    place, done = GpuPlace(0), []
    taken = place.times(lambda: done.append("launch"), lambda: done.append("before"), 0.0)
    assert taken == [1.5e-3] * 5
    assert done == ["launch", *["before", "launch"] * 5]  # the first, to be recorded, if it can be
    names = [name for name, _ in gpu.calls if name in ("cuMemsetD8Async", "cuEventRecord")]
    assert names[-15:] == ["cuMemsetD8Async", "cuEventRecord", "cuEventRecord"] * 5


def test_the_clock_sees_a_graph_and_not_the_way_through_the_host(gpu: Gpu) -> None:
    place = GpuPlace(0)
    x, y = (place.make(Argument(name, (300,), F32, False, False), np.random.default_rng(0)) for name in "xy")
    place.times(lambda: double_kernel(y, x), lambda: None, 0.0)
    assert [name for name, _ in gpu.calls].count("cuGraphLaunch") == 5
    assert (y.numpy() == 2 * x.numpy()).all()


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


def test_a_product_is_tuned_on_a_gpu(gpu: Gpu) -> None:
    tunable = Tunable(
        "product", (product_kernel,), lambda sizes, target: Choice(product_kernel, {"BM": 16, "BN": 16, "BK": 16}),
        lambda sizes, target: choices(product_kernel, "BM=32,BN=16,BK=16"),
    )  # fmt: skip
    report = tune(tunable, [{"M": 40, "N": 24, "K": 20}], place=GpuPlace(0))
    assert report.results[0].problems == {}
    assert report.is_finished
