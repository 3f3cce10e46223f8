"""After an error that loses the context nothing is called any more, and everything says what lost it."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oracles.cuda_driver import CUresult, Stub
from oracles.driver_refusals import rejection
from tileproof.backends.cuda.device import driver
from tileproof.backends.cuda.device.driver import Device, Event, launch, load
from tileproof.diagnostics.codes import Code

LOSING = (CUresult.CUDA_ERROR_ILLEGAL_ADDRESS, CUresult.CUDA_ERROR_LAUNCH_FAILED, CUresult.CUDA_ERROR_UNKNOWN)


def lose(stub: Stub, result: CUresult = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS) -> None:
    """Has a kernel stray, and somebody wait for it."""
    launch(load(b"cubin").function("k"), (1, 1, 1), 0, 0)
    stub.failing["cuStreamSynchronize"] = result
    rejection(Device(0).synchronize, 0)
    stub.failing.clear()
    stub.calls.clear()


def test_a_process_that_asked_for_no_gpu_has_lost_none(stub: Stub) -> None:
    assert driver.lost() is None
    assert stub.calls == []


@pytest.mark.parametrize("result", LOSING)
def test_what_lost_the_context_is_kept_and_told_again(stub: Stub, result: CUresult) -> None:
    gpu = Device(0)
    assert driver.lost() is None
    lose(stub, result)
    first = driver.lost()
    assert first is not None
    assert first.message == "CUDA failed while waiting for a stream"
    again = rejection(gpu.allocate, 5 << 20)
    assert again.code is Code.CUDA_FAILED
    assert again.message == "allocating 5.0 MiB failed: the CUDA context was lost earlier"
    assert again.notes == (first.message, *first.notes)
    assert result.name in again.notes[1]
    assert again.notes[2] == "launched last: `k`"
    assert again.help == "the context is lost: restart the process"
    assert driver.lost() is first


ASKED: dict[str, Callable[[Device, Event, Any], object]] = {
    "memory": lambda gpu, event, function: gpu.allocate_async(8, 1),
    "pinned memory": lambda gpu, event, function: gpu.allocate_host(8),
    "a copy": lambda gpu, event, function: gpu.copy_to_host(1, 8, 0),
    "room": lambda gpu, event, function: gpu.memory_info(),
    "a stream": lambda gpu, event, function: gpu.make_stream(),
    "another GPU": lambda gpu, event, function: Device(1).synchronize(0),
    "an event": lambda gpu, event, function: event.record(1),
    "a state": lambda gpu, event, function: event.is_done,
    "a launch": lambda gpu, event, function: launch(function, (1, 1, 1), 0, 0),
    "code": lambda gpu, event, function: load(b"cubin"),
    "a context": lambda gpu, event, function: gpu.current().__enter__(),
    "a place": lambda gpu, event, function: driver.place_of(1),
    "an address": lambda gpu, event, function: driver.entry_point("cuLaunchKernelEx"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_nothing_is_called_after_the_context_is_lost(stub: Stub, asked: str) -> None:
    gpu, function = Device(0), load(b"cubin").function("k")
    event = Event(gpu)
    lose(stub)
    diagnostic = rejection(ASKED[asked], gpu, event, function)
    assert diagnostic.message.endswith("failed: the CUDA context was lost earlier")
    assert stub.calls == []


def test_what_ends_after_the_context_is_lost_ends_in_silence(stub: Stub) -> None:
    gpu = Device(0)
    stream = gpu.make_stream()
    gpu.begin_capture(stream)
    graph = gpu.end_capture(stream)
    kept = [Event(gpu), gpu.event(), graph, graph.instantiate()]
    plain, pooled = gpu.allocate(8), gpu.allocate_async(8, stream)
    lose(stub)
    gpu.free(plain)
    gpu.free_async(pooled, stream)
    gpu.end_stream(stream)
    gpu.abandon_capture(stream)
    del graph
    kept.clear()
    gc.collect()
    assert stub.calls == []


def test_a_free_that_finds_the_context_lost_says_so(stub: Stub) -> None:
    gpu = Device(0)
    address = gpu.allocate(8)
    stub.failing["cuMemFree"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    assert rejection(gpu.free, address).message == "CUDA failed while freeing memory"
    gpu.free(address)


def test_leaving_a_context_that_was_just_lost_does_not_hide_what_lost_it(stub: Stub) -> None:
    stub.on_cuCtxPushCurrent(1000)
    stub.failing["cuStreamSynchronize"] = stub.failing["cuCtxPopCurrent"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    assert rejection(Device(1).synchronize, 0).message == "CUDA failed while waiting for a stream"


@pytest.mark.parametrize("result", [CUresult.CUDA_ERROR_INVALID_VALUE, CUresult.CUDA_ERROR_OUT_OF_MEMORY])
def test_an_error_that_passes_loses_nothing(stub: Stub, result: CUresult) -> None:
    gpu = Device(0)
    stub.failing["cuMemAlloc"] = result
    rejection(gpu.allocate, 8)
    stub.failing.clear()
    assert driver.lost() is None
    address = gpu.allocate(8)
    assert gpu.copy_to_host(address, 8, 0).dtype == np.uint8
