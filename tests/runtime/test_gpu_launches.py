"""Launches on a GPU that is not here: what is compiled, what the driver is given, and what it computes with that.

The assembler is the real one. The driver is a stand-in that runs kernels in the evaluator of Tile IR, on the very words
and the very memory that a launch hands it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cuda_stub import CUresult, Stub
from evaluating_gpu import Gpu, GpuArray, Started
from source_files import load_text
from tileir_computing import has_assembler

import tileproof as tp
from tileproof import In, InOut, Max, Offsets, Out, Sum, bf16, f32, i8, i32
from tileproof.backends.cuda import driver
from tileproof.backends.cuda.checks import WORDS
from tileproof.diagnostics.codes import Code

pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
Array = np.ndarray[Any, Any]


@pytest.fixture
def gpu(stub: Stub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Gpu]:
    """Two GPUs of three multiprocessors, and a cache of their own."""
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(tmp_path / "cache"))
    made = Gpu(regions=stub.regions)
    made.use(monkeypatch)
    driver._found.cache_clear()
    for kernel in (each for each in globals().values() if isinstance(each, tp.Kernel)):
        # What it remembers are functions of a driver that is gone.
        kernel.cache.clear()
        kernel.remembered.clear()
    yield made
    assert made.scratch == {}, "a launch kept memory"


def floats(*shape: int) -> Array:
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def only(gpu: Gpu) -> Started:
    (started,) = gpu.take()
    return started


# What the driver is given.


@tp.kernel
def scaled(y: Out[f32, "M N"], x: In[f32, "M N"], by: f32, *, B: int = 4) -> None:
    for m, n in tp.parallel(M=tp.each, N=B):
        y[m, n] = x[m, n] * by


def test_a_plain_launch_is_one_call_of_the_driver(gpu: Gpu) -> None:
    y, x = GpuArray(floats(3, 10)), GpuArray(floats(3, 10))
    scaled(y, x, 0.5)
    started = only(gpu)
    assert (started.entry, started.blocks, started.stream, started.device) == ("scaled", 9, 0, 0)
    assert started.words == {
        ("pointer", "y"): y.address, ("stride", "y", 0): 10, ("pointer", "x"): x.address, ("stride", "x", 0): 10,
        ("dimension", "M"): 3, ("dimension", "N"): 10, ("scalar", "by"): 0x3F000000, ("count", "m"): 3,
        ("count", "n"): 3, ("programs",): 9,
    }  # fmt: skip
    assert np.array_equal(y.numpy(), floats(3, 10) / 2)
    assert gpu.named("cuMemAllocAsync") == []


def test_steps_are_counted_in_elements_and_may_go_backwards(gpu: Gpu) -> None:
    wide = floats(6, 30)
    y, x = GpuArray(floats(3, 10)), GpuArray(wide[::-2, ::3])
    scaled(y, x, 2.0)
    words = only(gpu).words
    assert words["stride", "x", 0] == 2**64 - 60
    assert words["stride", "x", 1] == 3
    assert words["pointer", "x"] == x.address
    assert ("stride", "y", 1) not in words
    assert np.array_equal(y.numpy(), wide[::-2, ::3] * 2)


@pytest.mark.parametrize("given", [3, -1, 2.5])
def test_scalars_are_passed_in_the_type_of_the_parameter(gpu: Gpu, given: float) -> None:
    y = GpuArray(floats(1, 2))
    scaled(y, GpuArray(floats(1, 2)), given)
    assert only(gpu).words["scalar", "by"] == int(np.float32(given).view(np.uint32))
    assert np.array_equal(y.numpy(), floats(1, 2) * np.float32(given))


def test_an_empty_launch_starts_nothing(gpu: Gpu) -> None:
    scaled(GpuArray(floats(0, 10)), GpuArray(floats(0, 10)), 1.0)
    assert gpu.take() == []


def test_work_goes_to_the_current_stream_of_the_library_that_is_loaded(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cupy:
        class cuda:  # noqa: N801
            @staticmethod
            def get_current_stream(device: int) -> Any:
                return type("Stream", (), {"ptr": 0x77 + device})

    monkeypatch.setitem(__import__("sys").modules, "cupy", Cupy)
    total, x = GpuArray(floats(3).astype(ml_dtypes.bfloat16)), GpuArray(floats(5, 3).astype(ml_dtypes.bfloat16))
    summed(total, x)
    assert {started.stream for started in gpu.take()} == {0x77}
    assert {args[-1] for args in gpu.named("cuMemAllocAsync")} == {0x77}


@pytest.mark.parametrize(("schedule", "blocks"), [
    (tp.Schedule(persistent=True), 3), (tp.Schedule(persistent=True, occupancy=2), 6),
    (tp.Schedule(persistent=True, occupancy=8), 9), (tp.Schedule(group=2), 9),
    (tp.Schedule(persistent=True, group=2), 3),
])  # fmt: skip
def test_a_schedule_decides_about_blocks_and_not_about_values(gpu: Gpu, schedule: tp.Schedule, blocks: int) -> None:
    y = GpuArray(floats(3, 10))
    scaled.with_schedule(schedule)(y, GpuArray(floats(3, 10)), 2.0)
    started = only(gpu)
    assert started.blocks == blocks
    assert started.words["programs",] == 9
    assert np.array_equal(y.numpy(), floats(3, 10) * 2)


# Launches of several stages.


@tp.kernel
def row_sums(y: Out[f32, "M"], x: In[f32, "M N"], *, SN: int = 4) -> None:
    for m, z in tp.parallel(M=tp.each, N=tp.split(SN)):
        y[m] = tp.join(x[m, z].sum(), over=z)


def test_pieces_are_joined_by_a_second_stage_through_memory_of_the_launch(gpu: Gpu) -> None:
    y = GpuArray(floats(5))
    row_sums(y, GpuArray(floats(5, 10)))
    main, after = gpu.take()
    assert (main.entry, main.blocks, after.entry, after.blocks) == ("row_sums", 15, "row_sums_after", 5)
    assert main.words == after.words
    (taken,), (freed,) = gpu.named("cuMemAllocAsync"), gpu.named("cuMemFreeAsync")
    assert freed == (main.words["space",], 0)
    assert taken[0] == 15 * 128
    assert np.array_equal(y.numpy(), floats(5, 10).sum(axis=1))


@tp.kernel
def summed(total: Sum[tp.T, "N"], x: In[tp.T, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=2):
        total[n] += x[m, n]


def test_a_sum_begins_with_zeros(gpu: Gpu) -> None:
    total = GpuArray(floats(3) + 100)
    summed(total, GpuArray(floats(5, 3)))
    assert [(each.entry, each.blocks) for each in gpu.take()] == [("summed_begin", 1), ("summed", 10)]
    assert gpu.named("cuMemAllocAsync") == []
    assert np.array_equal(total.numpy(), floats(5, 3).sum(axis=0))


@pytest.mark.parametrize("kind", [ml_dtypes.bfloat16, np.int8, np.uint16, np.float16])
def test_a_sum_of_a_narrow_type_is_made_in_a_wider_one_and_brought_back(gpu: Gpu, kind: Any) -> None:
    x = (floats(5, 3) + 20).astype(kind)
    total = GpuArray(np.full(3, 7, kind))
    summed(total, GpuArray(x))
    entries = [each.entry for each in gpu.take()]
    assert entries == ["summed_begin", "summed", "summed_finish"]
    ((amount, _),) = gpu.named("cuMemAllocAsync")
    assert amount == max(3 * 4, 16)
    wide = np.float32 if np.dtype(kind).kind not in "iu" else np.int32
    assert np.array_equal(total.numpy(), x.astype(wide).sum(axis=0).astype(kind))


@tp.kernel
def peaks(most: Max[f32, "N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=2):
        tp.update(most, n, x[m, n])


@tp.kernel(deterministic=True)
def summed_alike(total: Sum[f32, "N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=2):
        total[n] += x[m, n]


def test_a_deterministic_sum_has_one_block(gpu: Gpu) -> None:
    total = GpuArray(floats(3))
    summed_alike(total, GpuArray(floats(5, 3)))
    assert [(each.entry, each.blocks) for each in gpu.take()] == [("summed_alike_begin", 1), ("summed_alike", 1)]
    assert np.array_equal(total.numpy(), floats(5, 3).sum(axis=0))


@tp.kernel
def segment_sums(y: InOut[f32, "N"], x: In[f32, "N"], ends: In[Offsets["N"], "S+1"]) -> None:
    for s, n in tp.parallel(tp.segments(ends, N=4)):
        y[n] = x[n] + s.to(f32)


def test_segments_are_passed_as_a_table(gpu: Gpu) -> None:
    borders = np.array([0, 3, 3, 9, 10], np.int32)
    y, x = GpuArray(floats(10)), GpuArray(floats(10))
    segment_sums(y, x, GpuArray(borders))
    started = only(gpu)
    assert started.blocks == started.words["programs",] == 4
    (copied,) = (args for args in gpu.named("cuMemcpyHtoDAsync") if args[0] == started.words["table", "n"])
    assert copied[2] == 4 * 4 * 8
    assert np.array_equal(y.numpy(), floats(10) + np.repeat([0, 2, 3], [3, 6, 1]))
