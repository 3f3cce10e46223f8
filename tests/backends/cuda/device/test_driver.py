"""Calls of the driver, on a stand-in for it: what is called, in which context, and what failures are called.

`tests/gpu/test_driver_gpu.py` does the same on a GPU.
"""

from __future__ import annotations

import gc
import os
import threading
from typing import Any

import numpy as np
import pytest

from oracles.cuda_driver import ENUMS, CUmemorytype, CUresult, Region, Stub
from oracles.driver_refusals import rejection
from samples.assembler_modules import SMALLEST, assembled
from tileproof.backends.cuda.device import driver
from tileproof.backends.cuda.device.driver import Device, Event, Memory, launch, load
from tileproof.diagnostics.codes import Code

# What there is.


def test_a_gpu_says_what_it_is(stub: Stub) -> None:
    gpu = Device(1)
    assert (gpu.name, gpu.arch, gpu.sm_count, gpu.total_memory) == ("Stub 1", "sm_91", 132, 1 << 34)
    assert gpu.memory_info()[0] == 1 << 32
    assert (driver.device_count(), driver.version()) == (2, "13.0")


def test_the_driver_is_started_once(stub: Stub) -> None:
    for _ in range(3):
        driver.device_count()
        Device(0)
    assert stub.named("cuInit") == [(0,)]


def test_without_the_package_there_is_no_gpu_and_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise ModuleNotFoundError("No module named 'cuda'")

    monkeypatch.setattr(driver, "_imported", missing)
    driver._opened.cache_clear()
    try:
        assert driver.device_count() == 0
        diagnostic = rejection(Device, 0)
    finally:
        driver._opened.cache_clear()
    assert diagnostic.code is Code.NO_GPU
    assert "tileproof[cuda]" in diagnostic.help


def test_without_the_drivers_library_there_is_no_gpu(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_library(_: int) -> Any:
        raise RuntimeError("no libcuda.so\nlooked here and there")

    monkeypatch.setattr(stub, "cuInit", without_library, raising=False)
    assert driver.device_count() == 0
    diagnostic = rejection(Device, 0)
    assert (diagnostic.code, diagnostic.notes) == (Code.NO_GPU, ("no libcuda.so",))
    assert "nvidia-smi" in diagnostic.help


@pytest.mark.parametrize("result", [CUresult.CUDA_ERROR_NO_DEVICE, CUresult.CUDA_ERROR_STUB_LIBRARY,
                                    CUresult.CUDA_ERROR_UNKNOWN])  # fmt: skip
def test_a_driver_that_does_not_start_means_no_gpu(
    stub: Stub, result: CUresult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    stub.failing["cuInit"] = result
    assert driver.device_count() == 0
    diagnostic = rejection(Device, 0)
    assert diagnostic.code is Code.NO_GPU
    assert result.name in diagnostic.notes[0]
    assert "CUDA_VISIBLE_DEVICES" in diagnostic.notes[-1]


@pytest.mark.parametrize("number", [2, -1])
def test_a_gpu_that_does_not_exist_is_named(stub: Stub, number: int) -> None:
    diagnostic = rejection(Device, number)
    assert (diagnostic.code, diagnostic.message) == (Code.NO_GPU, f"there is no GPU {number}: 2 can be used")


def test_an_old_driver_is_refused_with_both_versions(stub: Stub) -> None:
    stub.version = 12080
    assert driver.device_count() == 0
    diagnostic = rejection(Device, 0)
    assert diagnostic.code is Code.DRIVER_TOO_OLD
    assert "12.8" in diagnostic.message
    assert "13.0" in diagnostic.message
    assert "580" in diagnostic.help


def test_libraries_that_are_newer_than_the_driver_mean_an_old_driver(stub: Stub) -> None:
    stub.failing["cuInit"] = CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
    assert rejection(Device, 0).code is Code.DRIVER_TOO_OLD


def test_an_entry_point_is_an_address_or_a_refusal(stub: Stub) -> None:
    assert driver.entry_point("cuLaunchKernelEx") == 0x1234
    diagnostic = rejection(driver.entry_point, "cuNewThing")
    assert diagnostic.code is Code.DRIVER_TOO_OLD
    assert "cuNewThing" in diagnostic.message


# Contexts.


def test_a_thread_without_context_gets_the_primary_one_and_keeps_it(stub: Stub) -> None:
    Device(0).allocate(16)
    Device(0).allocate(16)
    assert stub.named("cuDevicePrimaryCtxRetain") == [(0,)]
    assert stub.named("cuCtxSetCurrent") == [(1000,)]
    assert stub.named("cuCtxPushCurrent") == []


def test_each_thread_gets_a_context_and_all_share_one(stub: Stub) -> None:
    threads = [threading.Thread(target=Device(0).allocate, args=(16,)) for _ in range(3)]
    for thread in threads:
        thread.start()
        thread.join()
    assert stub.named("cuDevicePrimaryCtxRetain") == [(0,)]
    assert stub.named("cuCtxSetCurrent") == [(1000,)] * 3


def test_a_context_that_is_current_is_left_alone(stub: Stub) -> None:
    stub.on_cuCtxPushCurrent(1000)
    stub.calls.clear()
    Device(0).allocate(16)
    changed = {"cuCtxSetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent", "cuDevicePrimaryCtxRetain"}
    assert changed.isdisjoint(name for name, _ in stub.calls)


@pytest.mark.parametrize("fails", [False, True])
def test_the_context_of_another_gpu_is_current_again_afterwards(stub: Stub, fails: bool) -> None:
    stub.on_cuCtxPushCurrent(1000)
    if fails:
        stub.failing["cuMemAlloc"] = CUresult.CUDA_ERROR_OUT_OF_MEMORY
        rejection(Device(1).allocate, 16)
    else:
        Device(1).allocate(16)
        assert stub.regions[-1].device == 1
    assert stub.named("cuCtxPushCurrent") == [(1001,)]
    assert stub.on_cuCtxGetCurrent() == (1000,)


# Memory.


def test_bytes_come_back_as_they_were_sent(stub: Stub) -> None:
    gpu = Device(0)
    sent = np.arange(24, dtype=np.int16).reshape(4, 6)
    address = gpu.allocate(sent.nbytes)
    gpu.copy_from_host(address, sent, 7)
    assert bytes(gpu.copy_to_host(address, sent.nbytes, 7)) == sent.tobytes()
    gpu.memset_async(address + 2, 0xFF, 4, 7)
    assert gpu.copy_to_host(address, 8, 7).tolist() == [0, 0, 255, 255, 255, 255, 3, 0]
    gpu.free(address)
    assert not stub.blocks
    assert {args[-1] for name, args in stub.calls if name.endswith("Async")} == {7}
    assert stub.named("cuStreamSynchronize") == [(7,)] * 3


def test_memory_of_a_stream_is_taken_and_given_back_on_it(stub: Stub) -> None:
    gpu = Device(0)
    address = gpu.allocate_async(64, 9)
    gpu.free_async(address, 9)
    assert stub.named("cuMemAllocAsync") == [(64, 9)]
    assert stub.named("cuMemFreeAsync") == [(address, 9)]


def test_no_bytes_need_no_call(stub: Stub) -> None:
    gpu = Device(0)
    stub.calls.clear()
    assert (gpu.allocate(0), gpu.allocate_async(0, 1)) == (0, 0)
    gpu.free(0)
    gpu.free_async(0, 1)
    gpu.memset_async(0, 0, 0, 1)
    gpu.copy_from_host(0, np.empty(0), 1)
    assert gpu.copy_to_host(0, 0, 1).size == 0
    assert stub.calls == []


def test_an_array_with_gaps_is_not_copied_as_it_is(stub: Stub) -> None:
    with pytest.raises(ValueError, match="without gaps"):
        Device(0).copy_from_host(1, np.zeros((4, 4))[:, :2], 0)


@pytest.mark.parametrize("call", ["cuMemAlloc", "cuMemAllocAsync"])
def test_out_of_memory_says_how_much_was_asked_for_and_how_much_there_is(stub: Stub, call: str) -> None:
    gpu = Device(0)
    stub.failing[call] = CUresult.CUDA_ERROR_OUT_OF_MEMORY
    diagnostic = rejection(*((gpu.allocate, 5 << 30) if call == "cuMemAlloc" else (gpu.allocate_async, 5 << 30, 1)))
    assert diagnostic.code is Code.OUT_OF_DEVICE_MEMORY
    assert "5.0 GiB" in diagnostic.message
    assert diagnostic.notes[0] == "4.0 GiB of 16.0 GiB are free"


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (5 << 20, "5.0 MiB"), (3 << 30, "3.0 GiB")],
)
def test_sizes_are_said_in_words(count: int, words: str) -> None:
    assert driver.in_words(count) == words


@pytest.mark.parametrize(
    ("region", "memory", "device"),
    [
        (Region(0x1000, 64, device=1), Memory.DEVICE, 1),
        (Region(0x1000, 64, CUmemorytype.CU_MEMORYTYPE_HOST), Memory.HOST, 0),
        (Region(0x1000, 64, is_managed=True), Memory.MANAGED, 0),
        (Region(0x1000, 64, CUmemorytype.CU_MEMORYTYPE_HOST, is_managed=True), Memory.MANAGED, 0),
        (Region(0x1000, 64, CUmemorytype.CU_MEMORYTYPE_UNIFIED), Memory.MANAGED, 0),
        (Region(0x9000, 64), Memory.UNKNOWN, -1),
    ],
)
def test_an_address_has_a_place(stub: Stub, region: Region, memory: Memory, device: int) -> None:
    stub.regions.append(region)
    result = driver.place_of(0x1020)
    assert (result.memory, result.device) == (memory, device)


# Streams and events.


def test_a_stream_waits_for_a_moment_of_another(stub: Stub) -> None:
    event = Event(Device(0))
    event.record(3)
    event.wait_on(4)
    assert stub.named("cuEventCreate") == [(2,)]
    assert stub.named("cuEventRecord") == [(event.handle, 3)]
    assert stub.named("cuStreamWaitEvent") == [(4, event.handle, 0)]
    handle = event.handle
    del event
    gc.collect()
    assert stub.named("cuEventDestroy") == [(handle,)]


def test_an_event_knows_whether_it_is_done(stub: Stub) -> None:
    event = Event(Device(0))
    assert event.is_done
    stub.failing["cuEventQuery"] = CUresult.CUDA_ERROR_NOT_READY
    assert not event.is_done
    stub.failing["cuEventQuery"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    assert rejection(lambda: event.is_done).code is Code.CUDA_FAILED


def test_only_timed_events_know_the_time(stub: Stub) -> None:
    start, end = (Event(Device(0), is_timed=True) for _ in range(2))
    assert end.milliseconds_since(start) == 1.5
    assert stub.named("cuEventElapsedTime") == [(start.handle, end.handle)]
    with pytest.raises(ValueError, match="is_timed"):
        end.milliseconds_since(Event(Device(0)))


def test_a_stream_is_made_and_ended(stub: Stub) -> None:
    stream = Device(0).make_stream()
    Device(0).end_stream(stream)
    assert stub.named("cuStreamCreate") == [(1,)]
    assert stub.named("cuStreamDestroy") == [(stream,)]


# Kernels.


def test_a_launch_says_grid_stream_and_arguments_and_one_thread(stub: Stub) -> None:
    function = load(b"cubin", Device(1)).function("k")
    launch(function, (3, 2, 1), 8, 0xABC0)
    (result,) = stub.launches
    config = result.config
    assert (config.gridDimX, config.gridDimY, config.gridDimZ, config.hStream) == (3, 2, 1, 8)
    assert (config.blockDimX, config.blockDimY, config.blockDimZ) == (1, 1, 1)
    assert config.numAttrs == 0
    assert (result.kernel, result.words, result.context) == (function.handle, 0xABC0, 1001)


def test_a_launch_says_that_it_may_begin_early(stub: Stub) -> None:
    launch(load(b"cubin").function("k"), (4, 1, 1), 0, 0, early=True)
    (early,) = stub.launches[0].config.attrs
    assert int(early.id) == 6
    assert early.value.programmaticStreamSerializationAllowed == 1
    assert stub.launches[0].config.numAttrs == 1


def test_a_grid_without_programs_is_not_launched(stub: Stub) -> None:
    launch(load(b"cubin").function("k"), (4, 0, 1), 0, 0)
    assert stub.launches == []


@pytest.mark.parametrize("result", [CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU, CUresult.CUDA_ERROR_INVALID_IMAGE])
@pytest.mark.parametrize("call", ["cuLibraryLoadData", "cuKernelGetFunction"])
def test_code_for_another_gpu_is_refused_when_it_is_loaded(stub: Stub, call: str, result: CUresult) -> None:
    stub.failing[call] = result
    cubin = assembled(SMALLEST, "sm_80").cubin
    diagnostic = rejection(lambda: load(cubin).function("k"))
    assert diagnostic.code is Code.WRONG_ARCH
    assert "sm_80" in diagnostic.message
    assert "Stub 0 (sm_90)" in diagnostic.message
    assert result.name in diagnostic.notes[0]


def test_what_is_no_code_is_said_to_be_none(stub: Stub) -> None:
    stub.failing["cuLibraryLoadData"] = CUresult.CUDA_ERROR_INVALID_IMAGE
    diagnostic = rejection(load, b"text")
    assert (diagnostic.code, "what is no cubin" in diagnostic.message) == (Code.WRONG_ARCH, True)


def test_a_kernel_that_is_not_in_the_code_is_named(stub: Stub) -> None:
    diagnostic = rejection(load(b"cubin").function, "other")
    assert (diagnostic.code, "`other`" in diagnostic.message) == (Code.CUDA_FAILED, True)


# Failures.


def test_an_error_that_stays_names_what_ran_and_asks_for_a_new_process(stub: Stub) -> None:
    function = load(b"cubin").function("k")
    launch(function, (1, 1, 1), 0, 0)
    stub.failing["cuStreamSynchronize"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    diagnostic = rejection(Device(0).synchronize, 0)
    assert diagnostic.code is Code.CUDA_FAILED
    assert diagnostic.message == "CUDA failed while waiting for a stream"
    assert diagnostic.notes == ("CUDA says CUDA_ERROR_ILLEGAL_ADDRESS (the words for 700)", "launched last: `k`")
    assert diagnostic.help == "the context is lost: restart the process"


def test_an_error_that_passes_does_not_ask_for_a_new_process(stub: Stub) -> None:
    stub.failing["cuLaunchKernelEx"] = CUresult.CUDA_ERROR_INVALID_VALUE
    diagnostic = rejection(launch, load(b"cubin").function("k"), (1, 1, 1), 0, 0)
    assert (diagnostic.code, "restart" in diagnostic.help) == (Code.CUDA_FAILED, False)
    assert diagnostic.message == "CUDA failed while launching `k`"
    assert not any("launched last" in note for note in diagnostic.notes)


def test_waiting_while_a_graph_is_recorded_is_told_apart(stub: Stub) -> None:
    stub.failing["cuStreamSynchronize"] = CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    assert "before the recording" in rejection(Device(0).synchronize, 0).help


def test_a_forked_process_is_told_to_start_anew(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Device(0)
    stub.failing["cuMemAlloc"] = CUresult.CUDA_ERROR_NOT_INITIALIZED
    assert "spawn" not in rejection(gpu.allocate, 8).help
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    diagnostic = rejection(gpu.allocate, 8)
    assert "forked" in diagnostic.notes[0]
    assert "spawn" in diagnostic.help


def test_the_stand_in_has_the_names_and_numbers_of_the_real_one() -> None:
    real = pytest.importorskip("cuda.bindings.driver", reason="the package cuda-bindings is not installed")
    for enum in ENUMS:
        assert {each.name: int(each) for each in enum}.items() <= {
            each.name: int(each) for each in getattr(real, enum.__name__)
        }.items()
    missing = [name for name in dir(Stub) if name.startswith("on_cu") and not hasattr(real, name.removeprefix("on_"))]
    assert missing == []
