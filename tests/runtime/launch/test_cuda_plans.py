"""Launches on a GPU that follow an earlier one: when they may, and what the driver is given then."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import CUresult
from oracles.evaluated_gpu import Gpu, GpuArray
from oracles.tile_ir_operations import has_assembler
from support.device_arrays import DeviceArray
from support.source_files import load_text
from tileproof import In, Index, Out, Sum, T, f32, i32
from tileproof.diagnostics.codes import Code
from tileproof.runtime import native as fast
from tileproof.runtime.launch import cuda_plans as following
from tileproof.runtime.launch import launch_cache
from tileproof.runtime.launch.launch_cache import FORMS

pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
Array = np.ndarray[Any, Any]


def floats(*shape: int) -> Array:
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def pair(*shape: int, kind: Any = np.float32) -> tuple[GpuArray, GpuArray]:
    """An output and an input."""
    return GpuArray(np.zeros(shape, kind)), GpuArray(floats(*shape).astype(kind))


@tp.kernel
def scaled(y: Out[T, "M N"], x: In[T, "M N"], by: T, *, B: int = 4) -> None:
    for m, n in tp.parallel(M=tp.each, N=B):
        y[m, n] = x[m, n] * by


def test_the_second_launch_gives_the_driver_what_the_first_gave_it(gpu: Gpu) -> None:
    scaled(*pair(3, 10), 2.0)
    (full,) = gpu.take()
    y, x = pair(3, 10)
    scaled(y, x, 0.5)
    assert gpu.take() == []
    follower = gpu.follower("scaled")
    assert follower.calls == 1
    call = follower.latest
    assert (call.grid, call.block, call.shared_bytes, call.stream, call.extra) == ((9, 1, 1), (1, 1, 1), 0, 0, 0)
    changed = {("pointer", "y"): y.address, ("pointer", "x"): x.address, ("scalar", "by"): 0x3F000000}
    assert dict(zip(full.words, call.words, strict=True)) == {**full.words, **changed}


def is_full(gpu: Gpu, *args: Any, kernel: tp.Kernel = scaled, **constants: Any) -> bool:
    """Whether a launch goes the full way."""
    gpu.take()
    kernel(*args, **constants)
    return bool(gpu.take())


def test_what_is_not_like_an_earlier_launch_goes_the_full_way_once(gpu: Gpu) -> None:
    wide = floats(3, 20)
    launches: list[Any] = [
        lambda: (*pair(3, 10), 1.0),
        lambda: (*pair(4, 10), 1.0),
        lambda: (*pair(3, 12), 1.0),
        lambda: (*pair(3, 10), 1),
        lambda: (GpuArray(floats(3, 10)), GpuArray(wide[:, ::2]), 1.0),
        lambda: (GpuArray(floats(3, 10)), GpuArray(wide[:, 1:11]), 1.0),
        lambda: (*pair(3, 10, kind=np.float64), 1.0),
    ]
    for make in launches:
        assert is_full(gpu, *make())
    for make in launches:
        assert not is_full(gpu, *make())


@pytest.mark.usefixtures("empty_cache")
def test_forms_of_a_kernel_do_not_drive_each_other_out(gpu: Gpu) -> None:
    """Element types, and extents that are constants, make other forms of a kernel with the same constants."""
    for _ in range(2):
        is_first = not static.launch_cache
        for count in (4, 8):
            for kind in (np.float32, np.float64):
                assert is_full(gpu, *pair(3, count, kind=kind), kernel=static) == is_first
    assert len(static.launch_cache) == 1


@tp.kernel
def static(y: Out[T, "M N"], x: In[T, "M N"], *, N: int) -> None:
    for m in tp.parallel(M=tp.each):
        y[m, :] = x[m, :] + x[m, :]


def test_no_more_than_some_forms_are_kept(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_cache, "_FORMS", 1)
    for _ in range(2):
        assert is_full(gpu, *pair(3, 4), kernel=static)
        assert is_full(gpu, *pair(3, 8), kernel=static)
    assert not is_full(gpu, *pair(3, 8), kernel=static)


def test_no_more_than_some_constants_are_kept(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_cache, "_MOST", 1)
    assert is_full(gpu, *pair(3, 10), 1.0, B=4)
    assert is_full(gpu, *pair(3, 10), 1.0, B=2)
    assert list(scaled.launch_cache) == [(("B", 2),)]
    assert is_full(gpu, *pair(3, 10), 1.0, B=4)


@pytest.mark.parametrize("by", [3, -(2**53), 2**54 + 2**30 + 1, 2**63 - 1, -(2**62) - 2**38 - 1])
def test_a_whole_number_becomes_the_same_float_either_way(gpu: Gpu, by: int) -> None:
    scaled(*pair(3, 10), by)
    (full,) = gpu.take()
    assert not is_full(gpu, *pair(3, 10), by)
    words = dict(zip(full.words, gpu.follower("scaled").latest.words, strict=True))
    assert words["scalar", "by"] == full.words["scalar", "by"]


# Constants.


def test_constants_are_told_apart(gpu: Gpu) -> None:
    for constants in ({}, {"B": 4}, {"B": 1}):
        assert is_full(gpu, *pair(3, 10), 1.0, **constants)
        assert not is_full(gpu, *pair(3, 10), 1.0, **constants)


@pytest.mark.parametrize("given", [True, 1.0])
def test_what_is_equal_to_one_is_not_taken_for_it(gpu: Gpu, given: Any) -> None:
    is_full(gpu, *pair(3, 10), 1.0, B=1)
    with pytest.raises(tp.LaunchError) as raised:
        scaled(*pair(3, 10), 1.0, B=given)
    assert raised.value.diagnostics[0].code is Code.CONSTANT_VALUE
    assert gpu.follower("scaled").calls == 0


@pytest.mark.parametrize("given", [[4], {}, np.array([4])])
def test_a_constant_without_a_hash_is_refused_as_ever(gpu: Gpu, given: Any) -> None:
    def refusal() -> list[str]:
        with pytest.raises(tp.LaunchError) as raised:
            scaled(*pair(3, 10), 1.0, B=given)
        return [result.message for result in raised.value.diagnostics]

    expected = refusal()
    is_full(gpu, *pair(3, 10), 1.0, B=4)
    assert refusal() == expected


@tp.kernel
def shifted(y: Out[f32, "N"], x: In[f32, "N"], *, UP: bool = True, BY: float = 1.0) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n] + (BY if UP else -BY)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("constants", [{"UP": False}, {"BY": 1.5}, {"BY": -0.0}])
def test_launches_with_constants_of_other_types_are_not_remembered(gpu: Gpu, constants: dict[str, Any]) -> None:
    for _ in range(2):
        assert is_full(gpu, *pair(10), kernel=shifted, **constants)
    assert shifted.launch_cache == {}


# What a launch may rest on beside shapes, strides and addresses.


@tp.kernel
def looked_up(y: Out[f32, "N"], x: In[f32, "C"], at: In[Index["C"], "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[at[n]]


@tp.kernel
def checked(y: Out[f32, "N"], x: In[f32, "C"], at: In[i32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[at[n]]


@tp.kernel
def compared(y: Out[f32, "N"], x: In[f32, "C"], at: i32) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[at]


@tp.kernel
def required(y: Out[f32, "N"], x: In[f32, "N"], by: i32) -> None:
    tp.require(by > 0)
    for n in tp.parallel(N=4):
        y[n] = x[n] * by.to(f32)


@tp.kernel
def summed(y: Sum[f32, "N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=4):
        y[n] += x[m, n]


@tp.kernel
def checked_join(y: Out[f32, "1"], x: In[f32, "C"], at: In[i32, "N"]) -> None:
    for z in tp.parallel(N=tp.split(4)):
        y[0] = tp.join(x[at[z]].sum(), over=z)


def places(*entries: int) -> GpuArray:
    return GpuArray(np.array(entries, np.int32))


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("kernel", "make"), [
    (looked_up, lambda: (GpuArray(floats(3)), GpuArray(floats(8)), places(7, 1, 0))),
    (checked, lambda: (GpuArray(floats(3)), GpuArray(floats(8)), places(7, 1, 0))),
    (compared, lambda: (GpuArray(floats(3)), GpuArray(floats(8)), 5)),
    (required, lambda: (*pair(6), 2)),
    (summed, lambda: (GpuArray(floats(6)), GpuArray(floats(5, 6)))),
    (checked_join, lambda: (GpuArray(floats(1)), GpuArray(floats(8)), places(7, 1, 0))),
], ids=lambda each: getattr(each, "name", ""))  # fmt: skip
def test_a_launch_that_rests_on_more_than_shapes_goes_the_full_way_every_time(
    gpu: Gpu, kernel: tp.Kernel, make: Any
) -> None:
    for _ in range(2):
        assert is_full(gpu, *make(), kernel=kernel)
    assert kernel.launch_cache == {}


def test_arrays_that_overlap_what_is_written_are_refused_as_ever(gpu: Gpu) -> None:
    y, x = pair(3, 10)
    scaled(y, x, 1.0)
    with pytest.raises(tp.LaunchError) as raised:
        scaled(x, x, 1.0)
    assert raised.value.diagnostics[0].code is Code.ALIASED
    assert gpu.follower("scaled").calls == 0


def test_arrays_of_a_type_that_cannot_be_recognised_leave_no_plan(gpu: Gpu) -> None:
    for _ in range(2):
        y, x = (DeviceArray(floats(3, 10)) for _ in range(2))
        assert is_full(gpu, y, x, 1.0)
    assert scaled.launch_cache == {}


CAPTURES = """
import tileproof as tp
from tileproof import In, Out, f32

FACTOR = 2.0

def helper(x):
    return x * FACTOR

@tp.kernel
def k(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = helper(x[n])
"""


def test_a_change_of_what_was_captured_is_noticed(gpu: Gpu) -> None:
    module = load_text(CAPTURES)
    assert is_full(gpu, *pair(6), kernel=module.k)
    assert not is_full(gpu, *pair(6), kernel=module.k)
    module.FACTOR = 3.0
    y, x = pair(6)
    assert is_full(gpu, y, x, kernel=module.k)
    assert np.array_equal(y.numpy(), floats(6) * 3)
    assert not is_full(gpu, *pair(6), kernel=module.k)
    module.FACTOR = 2.0
    y, x = pair(6)
    assert is_full(gpu, y, x, kernel=module.k), "what it was is not remembered"
    assert np.array_equal(y.numpy(), floats(6) * 2)


# Where launches go.


def test_another_backend_is_not_passed_over(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    scaled(*pair(3, 10), 1.0)
    for name in ("interpreter", "cpu"):
        with tp.backend(name), pytest.raises(tp.LaunchError) as raised:
            scaled(*pair(3, 10), 1.0)
        assert raised.value.diagnostics[0].code is Code.DEVICES_DIFFER
        monkeypatch.setenv("TILEPROOF_BACKEND", name)
        with pytest.raises(tp.LaunchError):
            scaled(*pair(3, 10), 1.0)
        with tp.backend("auto"):
            assert not is_full(gpu, *pair(3, 10), 1.0)
        monkeypatch.delenv("TILEPROOF_BACKEND")
    with tp.backend("cuda"):
        assert not is_full(gpu, *pair(3, 10), 1.0)


def test_a_launch_that_must_go_the_full_way_is_not_remembered_twice(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "launch", lambda *_: False)
    monkeypatch.setattr(following, "_follow_in_order", lambda *_: False)
    with tp.backend("cuda"):
        for _ in range(3):
            assert is_full(gpu, *pair(3, 10), 1.0)
    ((form,),) = FORMS.of(scaled).values()
    assert len(form.plans.kept) == 1


def test_the_other_gpu_has_plans_of_its_own(gpu: Gpu) -> None:
    scaled(*pair(3, 10), 1.0)
    y, x = (GpuArray(floats(3, 10), 1) for _ in range(2))
    assert is_full(gpu, y, x, 2.0)
    assert np.array_equal(y.numpy(), floats(3, 10) * 2)
    assert not is_full(gpu, *pair(3, 10), 1.0)


def test_what_the_driver_refuses_is_told_by_the_full_launch(gpu: Gpu) -> None:
    scaled(*pair(3, 10), 1.0)
    gpu.follower("scaled")._memory[1] = int(CUresult.CUDA_ERROR_LAUNCH_FAILED)
    gpu.failing["cuLaunchKernelEx"] = CUresult.CUDA_ERROR_LAUNCH_FAILED
    with pytest.raises(tp.LaunchError, match="LAUNCH_FAILED"):
        scaled(*pair(3, 10), 1.0)


def test_threads_follow_one_plan(gpu: Gpu) -> None:
    arguments = pair(3, 10)
    scaled(*arguments, 1.0)
    gpu.take()
    threads = [threading.Thread(target=lambda: [scaled(*arguments, 1.0) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # One at a time: whoever finds that another takes long goes the full way.
    assert len(gpu.take()) + gpu.follower("scaled").calls == 200
