"""Launches on a GPU that is not here: what is compiled, what the driver is given, and what it computes with that.

The assembler is the real one. The driver is a stand-in that runs kernels in the evaluator of Tile IR, on the very words
and the very memory that a launch hands it.
"""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import CUresult
from oracles.evaluated_gpu import Gpu, GpuArray, Started
from oracles.tile_ir_operations import has_assembler
from support.launch_caches import forget_launches
from support.source_files import load_text
from tileproof import In, InOut, Offsets, Out, Sum, f32, i8, i32
from tileproof.backends.cuda.codegen.checks import WORDS
from tileproof.diagnostics.codes import Code

pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
Array = np.ndarray[Any, Any]


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

    monkeypatch.setitem(sys.modules, "cupy", Cupy)
    total, x = GpuArray(floats(3).astype(ml_dtypes.bfloat16)), GpuArray(floats(5, 3).astype(ml_dtypes.bfloat16))
    summed(total, x)
    assert {started.stream for started in gpu.take()} == {0x77}
    assert {args[-1] for args in gpu.named("cuMemAllocAsync")} == {0x77}


@pytest.mark.sweep(2)
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


@pytest.mark.sweep(1)
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
    (copied,) = (args for args in gpu.named("cuMemcpyAsync") if args[0] == started.words["table", "n"])
    assert copied[2] == 4 * 4 * 8
    assert np.array_equal(y.numpy(), floats(10) + np.repeat([0, 2, 3], [3, 6, 1]))


# Checks.


@tp.kernel
def picked(y: Out[f32, "N"], x: In[f32, "C"], places: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[places[n]]


def test_a_check_that_holds_leaves_nothing_behind(gpu: Gpu) -> None:
    y = GpuArray(floats(3))
    picked(y, GpuArray(floats(8)), GpuArray(np.array([7, 0, 3], np.int32)))
    started = only(gpu)
    report = started.words["report",]
    slots = 3 + 3 + 1
    assert gpu.named("cuMemsetD8Async") == [(report, 0, 8 * WORDS * (slots + 1), 0)]
    assert [count for _, source, count, _ in gpu.named("cuMemcpyDtoHAsync") if source == report] == [8]
    assert gpu.calls.index(("cuMemsetD8Async", gpu.named("cuMemsetD8Async")[0])) < gpu.order("cuLaunchKernelEx")
    assert np.array_equal(y.numpy(), [7, 0, 3])


def test_the_first_program_whose_check_fails_is_named(gpu: Gpu) -> None:
    places = np.array([7, 9, 3, -1], np.int32)
    y = GpuArray(floats(4))
    with pytest.raises(tp.OutOfBounds) as raised:
        picked(y, GpuArray(floats(8)), GpuArray(places))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == "program n=1: the index of axis 0 of x is 9, and 0:8 is allowed"
    assert np.array_equal(y.numpy(), [7, 1, 3, 3]), "programs whose check failed store nothing"


def test_what_the_report_says_is_raised(gpu: Gpu) -> None:
    """Without a kernel: slot 0 is that of the launch, then come the programs; each has four words."""
    gpu.computes = False
    gpu.report = (1, 0, 0, 0, *(0,) * 4, *(0,) * 4, *(0,) * 4, 1, 2**40, -5, 6)
    with pytest.raises(tp.OutOfBounds) as raised:
        picked(GpuArray(floats(4)), GpuArray(floats(8)), GpuArray(np.zeros(4, np.int32)))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == f"program n=2: the index of axis 0 of x is {2**40}, and -5:6 is allowed"


@tp.kernel
def cut_at(cache: InOut[f32, "C"], at: In[i32, "1"], x: In[f32, "N"]) -> None:
    _, fresh = tp.split_at(cache, "C", at[0])
    for n in tp.parallel(N=tp.each):
        fresh[n] = x[n]


def test_a_check_before_all_programs_is_made_where_there_are_none(gpu: Gpu) -> None:
    cache = GpuArray(floats(8))
    with pytest.raises(tp.OutOfBounds, match="the place where cache is split is 9"):
        cut_at(cache, GpuArray(np.array([9], np.int32)), GpuArray(floats(0)))
    assert [(each.entry, each.blocks) for each in gpu.take()] == [("cut_at_before", 1)]
    cut_at(cache, GpuArray(np.array([6], np.int32)), GpuArray(floats(2)))
    assert [(each.entry, each.blocks) for each in gpu.take()] == [("cut_at", 2)]
    assert np.array_equal(cache.numpy(), [0, 1, 2, 3, 4, 5, 0, 1])


@tp.kernel
def even(y: Out[f32, "N"], x: In[f32, "N"], by: i32) -> None:
    tp.require(tp.dim("N") % 2 == 0)
    tp.require(by > 0)
    for n in tp.parallel(N=4):
        y[n] = x[n] * by.to(f32)


@pytest.mark.usefixtures("empty_cache")
def test_a_contract_is_tested_before_anything_is_compiled(gpu: Gpu) -> None:
    for count, by in ((5, 1), (4, 0)):
        with pytest.raises(tp.LaunchError) as raised:
            even(GpuArray(floats(count)), GpuArray(floats(count)), by)
        assert raised.value.diagnostics[0].code is Code.CONTRACT
    assert gpu.compiled == 0
    assert gpu.take() == []
    y = GpuArray(floats(4))
    even(y, GpuArray(floats(4)), 3)
    assert np.array_equal(y.numpy(), floats(4) * 3)


# What is compiled, and when.


@pytest.mark.usefixtures("empty_cache")
def test_a_launch_that_was_made_before_compiles_and_loads_nothing(gpu: Gpu) -> None:
    for _ in range(2):
        scaled(GpuArray(floats(3, 10)), GpuArray(floats(3, 10)), 2.0)
        picked(GpuArray(floats(4)), GpuArray(floats(8)), GpuArray(np.zeros(4, np.int32)))
    assert gpu.compiled == len(gpu.libraries) == 2


@pytest.mark.usefixtures("empty_cache")
def test_other_extents_of_the_same_kind_need_no_other_code(gpu: Gpu) -> None:
    for count in (10, 14, 18):
        y = GpuArray(floats(3, count))
        scaled(y, GpuArray(floats(3, count)), 2.0)
        assert np.array_equal(y.numpy(), floats(3, count) * 2)
    assert gpu.compiled == 1
    scaled(GpuArray(floats(3, 16)), GpuArray(floats(3, 16)), 2.0)
    assert gpu.compiled == 2, "whole tiles are worth code of their own"


@pytest.mark.usefixtures("empty_cache")
def test_what_lies_otherwise_has_code_of_its_own(gpu: Gpu) -> None:
    y, wide = GpuArray(floats(3, 10)), floats(3, 20)
    scaled(y, GpuArray(wide[:, :10]), 2.0)
    scaled(y, GpuArray(wide[:, ::2]), 2.0)
    assert gpu.compiled == 2
    assert np.array_equal(y.numpy(), wide[:, ::2] * 2)


DEFINED = """
import tileproof as tp
from tileproof import In, Out, f32

FACTOR = {factor}

@tp.kernel
def k(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n] * FACTOR
"""


@pytest.mark.usefixtures("empty_cache")
def test_a_captured_constant_that_changes_is_compiled_anew(gpu: Gpu) -> None:
    module = load_text(DEFINED.format(factor=2.0))
    y = GpuArray(floats(6))
    for compiled, factor in enumerate((2.0, 3.0, 2.0), 1):
        module.FACTOR = factor
        module.k(y, GpuArray(floats(6)))
        assert np.array_equal(y.numpy(), floats(6) * factor)
        assert gpu.compiled == min(compiled, 2), "what it was before is on disk"


@pytest.mark.usefixtures("empty_cache")
def test_a_kernel_that_is_defined_again_is_compiled_anew_if_it_says_something_else(gpu: Gpu) -> None:
    for factor, compiled in ((2.0, 1), (5.0, 2), (2.0, 2)):
        y = GpuArray(floats(6))
        load_text(DEFINED.format(factor=factor)).k(y, GpuArray(floats(6)))
        assert np.array_equal(y.numpy(), floats(6) * factor)
        assert gpu.compiled == compiled


@pytest.mark.usefixtures("empty_cache")
def test_each_gpu_is_given_the_code_once(gpu: Gpu) -> None:
    for device in (0, 1, 0, 1):
        forget_launches(scaled)
        y = GpuArray(floats(3, 10), device)
        scaled(y, GpuArray(floats(3, 10), device), 2.0)
        assert np.array_equal(y.numpy(), floats(3, 10) * 2)
    assert gpu.compiled == 1
    assert len(gpu.libraries) == 2
    assert {started.device for started in gpu.take()} == {0, 1}


@pytest.mark.usefixtures("empty_cache")
def test_code_on_disk_needs_no_assembler(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEPROOF_TILEIRAS", "/nowhere/tileiras")
    text = DEFINED.format(factor=2.0)
    y = GpuArray(floats(6))
    with pytest.raises(tp.LaunchError) as raised:
        load_text(text).k(y, GpuArray(floats(6)))
    assert raised.value.diagnostics[0].code is Code.NO_ASSEMBLER
    monkeypatch.delenv("TILEPROOF_TILEIRAS")
    load_text(text).k(y, GpuArray(floats(6)))
    monkeypatch.setenv("TILEPROOF_TILEIRAS", "/nowhere/tileiras")
    gpu.forget()
    load_text(text).k(y, GpuArray(floats(6)))
    assert gpu.compiled == 1
    assert len(gpu.libraries) == 2


# What goes wrong in the driver.


@pytest.mark.parametrize("name", ["cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction"])
def test_code_that_cannot_be_loaded_is_tried_again(gpu: Gpu, name: str) -> None:
    y = GpuArray(floats(5))
    gpu.failing[name] = CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU
    with pytest.raises(tp.LaunchError):
        row_sums(y, GpuArray(floats(5, 10)))
    assert gpu.named("cuMemAllocAsync") == []
    gpu.failing.clear()
    row_sums(y, GpuArray(floats(5, 10)))
    assert np.array_equal(y.numpy(), floats(5, 10).sum(axis=1))


@pytest.mark.parametrize("name", ["cuLaunchKernelEx", "cuMemsetD8Async", "cuMemcpyDtoHAsync", "cuStreamSynchronize"])
def test_a_launch_that_fails_keeps_no_memory(gpu: Gpu, name: str) -> None:
    gpu_array = GpuArray(floats(4)), GpuArray(floats(8)), GpuArray(np.zeros(4, np.int32))
    gpu.failing[name] = CUresult.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(tp.LaunchError, match="INVALID_VALUE"):
        picked(*gpu_array)
    assert len(gpu.named("cuMemAllocAsync")) == len(gpu.named("cuMemFreeAsync")) == 1


def test_where_memory_runs_out_what_was_taken_is_given_back(gpu: Gpu) -> None:
    gpu.room = 1
    with pytest.raises(tp.LaunchError) as raised:
        two_sums(GpuArray(np.zeros(3, np.int8)), GpuArray(np.zeros(3, np.int8)), GpuArray(np.ones((5, 3), np.int8)))
    assert raised.value.diagnostics[0].code is Code.OUT_OF_DEVICE_MEMORY
    assert len(gpu.named("cuMemAllocAsync")) == 2
    assert len(gpu.named("cuMemFreeAsync")) == 1
    assert gpu.take() == []


@tp.kernel
def two_sums(one: Sum[i8, "N"], two: Sum[i8, "N"], x: In[i8, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=2):
        one[n] += x[m, n]
        two[n] += x[m, n] * 2


def test_where_the_context_is_lost_the_first_error_is_the_one_that_is_told(gpu: Gpu) -> None:
    arguments = [GpuArray(np.zeros(3, np.int8)), GpuArray(np.zeros(3, np.int8)), GpuArray(np.ones((5, 3), np.int8))]
    gpu.failing["cuLaunchKernelEx"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(tp.LaunchError) as raised:
        two_sums(*arguments)
    assert "two_sums_begin" in raised.value.diagnostics[0].message
    assert gpu.named("cuMemFreeAsync") == [], "the memory went with the context"
    gpu.scratch.clear()
