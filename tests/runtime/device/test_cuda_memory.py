"""Memory of our own on GPUs: when it is there, when it goes, and what is copied into it and out of it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import CUresult, Stub
from oracles.evaluated_gpu import Gpu, GpuArray
from oracles.tile_ir_operations import has_assembler
from support.cuda_host import CudaGate, clean_slate, stream_of, use, waits
from tileproof import In, InOut, Offsets, Out, f32, i32
from tileproof.backends.cuda.device import stream_launch as starting
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic
from tileproof.runtime.device.cuda_memory import CudaAccount
from tileproof.runtime.memory import accounting
from tileproof.runtime.memory.ledger import ledger_of
from tileproof.runtime.stream.cuda_streams import CudaStream, current_cuda_stream

needs_assembler = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def slate(stub: Stub, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    if "gpu" in request.fixturenames:
        request.getfixturevalue("gpu")  # it looks whether all memory went back, which happens here
    with clean_slate(monkeypatch):
        yield



def account(device: int = 0) -> CudaAccount:
    result = accounting.account_of(device)
    assert isinstance(result, CudaAccount)
    return result


def settle() -> None:
    """Gives back what was dropped."""
    tp.memory("cuda")


def write(stream: CudaStream, tensor: tp.Tensor) -> int:
    return use(stream, (), (tensor.span,))



# Taking and giving back.


def test_memory_comes_from_the_pool_on_the_current_stream(stub: Stub) -> None:
    stream = stream_of()
    with stream:
        x = tp.empty((4, 8), tp.bf16, "cuda")
    assert stub.named("cuMemAllocAsync") == [(64, stream.handle)]
    assert stub.pools[0].threshold == 2**64 - 1, "the pool keeps what is freed"
    result = tp.memory("cuda")
    assert (result.device, result.in_use, result.tensors) == ("cuda:0", 64, 1)
    assert (result.free, result.total) == (stub.total // 4, stub.total)
    assert x.block.home is stream


def test_other_streams_wait_for_new_memory(stub: Stub) -> None:
    one, two = stream_of(), stream_of()
    with CudaGate(one):
        with one:
            x = tp.empty(4, device="cuda")
        write(two, x)
        assert waits(stub, two) == 1


def test_memory_goes_back_on_the_stream_it_came_from(stub: Stub) -> None:
    stream = stream_of()
    with stream:
        x = tp.zeros(4, device="cuda")
    address = x.address
    with CudaGate(stream):
        write(stream, x)
        del x
        settle()
        assert stub.named("cuMemFreeAsync") == [(address, stream.handle)]
        assert address in stub.blocks, "the stream has not come to it"
        assert stub.named("cuEventRecord") == [], "its own order is enough"
    stream.synchronize()
    assert address not in stub.blocks


def test_memory_goes_back_when_other_streams_are_done_with_it(stub: Stub) -> None:
    home, other = stream_of(), stream_of()
    with home:
        x = tp.zeros(4, device="cuda")
    address = x.address
    with CudaGate(other) as gate:
        write(other, x)
        del x
        settle()
        assert waits(stub, home) == 1
        assert address in stub.blocks
        gate.open()
        stub.streams.go_on()
        assert address not in stub.blocks


def test_memory_that_nobody_uses_any_more_goes_back_at_once(stub: Stub) -> None:
    home, other = stream_of(), stream_of()
    with home:
        x = tp.zeros(4, device="cuda")
    other.until(write(other, x))
    del x
    settle()
    assert waits(stub, home) == 0
    assert tp.memory("cuda").in_use == 0


def test_an_empty_tensor_takes_no_memory(stub: Stub) -> None:
    x = tp.zeros((0, 4), device="cuda")
    assert x.tolist() == []
    assert stub.named("cuMemAllocAsync") == []
    del x
    settle()
    assert stub.named("cuMemFreeAsync") == []


def test_a_graph_that_is_recorded_neither_makes_nor_ends_memory(stub: Stub) -> None:
    stream = stream_of()
    with stream:
        x = tp.zeros(4, device="cuda")
        stream.gpu.begin_capture(stream.handle)
        y = tp.empty(4, device="cuda")
        del x
        settle()
        assert stub.named("cuMemFreeAsync") == []
        assert stub.named("cuMemAllocAsync")[-1][1] != stream.handle
        stream.gpu.end_capture(stream.handle)
    settle()
    assert [handle for _, handle in stub.named("cuMemFreeAsync")] == [stream.handle]
    assert y.block.home is not stream


def test_what_failed_in_memory_that_went_back_is_not_told_of_the_next(stub: Stub) -> None:
    x, ledger = tp.zeros(4, device="cuda").wait(), ledger_of(0)
    with ledger.lock:
        ledger.poison([x.span], tp.OutOfBounds(Diagnostic(Code.OUT_OF_BOUNDS, "it is outside")))
    with pytest.raises(tp.OutOfBounds):
        x.wait()
    del x
    settle()
    assert ledger.poisoned == []


# Running out.


def test_where_memory_runs_out_what_finished_work_holds_is_given_back_first(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    account()
    stub.failing["cuMemAllocAsync"] = CUresult.CUDA_ERROR_OUT_OF_MEMORY

    def trim(self: Stub, pool: int, keep: int) -> tuple[()]:
        del self.failing["cuMemAllocAsync"]
        return ()

    monkeypatch.setattr(Stub, "on_cuMemPoolTrimTo", trim)
    x = tp.zeros(4, device="cuda")
    assert x.tolist() == [0] * 4
    assert len(stub.named("cuMemAllocAsync")) == 2
    assert len(stub.named("cuCtxSynchronize")) >= 1


def test_where_there_is_no_more_memory_it_says_how_much_there_is(stub: Stub) -> None:
    x = tp.zeros(256, device="cuda")
    stub.failing["cuMemAllocAsync"] = CUresult.CUDA_ERROR_OUT_OF_MEMORY
    with pytest.raises(tp.OutOfMemory) as raised:
        tp.empty((1024, 1024), device="cuda")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code is Code.OUT_OF_MEMORY
    assert diagnostic.message == (
        "a tensor of shape (1024, 1024) and f32 takes 4.0 MiB on cuda:0, and 4.0 GiB of 16.0 GiB are free there"
    )
    assert diagnostic.notes == ("1.0 KiB are in use in 1 tensors, at most it was 1.0 KiB",)
    assert len(stub.named("cuMemAllocAsync")) == 3, "once more after room was made"
    stub.failing.clear()
    assert tp.zeros(4, device="cuda").tolist() == [0] * 4
    assert x.tolist() == [0] * 256


def test_an_error_that_is_no_lack_of_memory_is_told_as_it_is(stub: Stub) -> None:
    account()
    stub.failing["cuMemAllocAsync"] = CUresult.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(tp.LaunchError, match="INVALID_VALUE"):
        tp.empty(4, device="cuda")
    assert len(stub.named("cuMemAllocAsync")) == 1


def test_where_the_context_is_lost_memory_goes_without_the_driver(stub: Stub) -> None:
    x = tp.zeros(4, device="cuda")
    stub.failing["cuMemAllocAsync"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(tp.LaunchError):
        tp.empty(4, device="cuda")
    with pytest.raises(tp.LaunchError, match="lost earlier"):
        x.tolist()
    del x
    gc.collect()
    with account().lock:
        account().settle()
    assert account().in_use == 0
    assert stub.named("cuMemFreeAsync") == []


# Checks.


@tp.kernel
def picked(y: Out[f32, "N"], x: In[f32, "C"], places: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[places[n]]


@tp.kernel
def double(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n] * 2.0


def tensors(*places: int) -> tuple[tp.Tensor, tp.Tensor, tp.Tensor]:
    x = tp.from_numpy(np.arange(8, dtype=np.float32), "cuda")
    return tp.zeros(len(places), device="cuda"), x, tp.from_numpy(np.array(places, np.int32), "cuda")


@needs_assembler
@pytest.mark.parametrize("whole", [1 << 14, 0])
def test_a_check_on_tensors_of_our_own_is_not_waited_for(
    gpu: Gpu, whole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "_WHOLE", whole)
    y, x, places = tensors(7, 9, 3)
    z = tp.zeros(3, device="cuda")
    stream = current_cuda_stream(0)
    with CudaGate(stream) as gate:
        picked(y, x, places)
        double(z, y)
        assert not stream.is_idle()
        gate.open()
        with pytest.raises(tp.OutOfBounds) as raised:
            y.tolist()
        message = "program n=1: the index of axis 0 of x is 9, and 0:8 is allowed"
        assert raised.value.diagnostics[0].message == message
        with pytest.raises(tp.OutOfBounds):
            z.tolist()  # it was made of what failed
        with pytest.raises(tp.OutOfBounds):
            double(z, y)
        assert "poisoned: " in repr(y)
        assert x.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    places[1] = 0
    picked(y, x, places)
    double(z, y)
    assert (y.tolist(), z.tolist()) == ([7, 0, 3], [14, 0, 6])


@needs_assembler
def test_waiting_for_the_stream_tells_of_a_failed_check_once(gpu: Gpu) -> None:
    y, x, places = tensors(7, 9, 3)
    with stream_of() as stream:
        picked(y, x, places)
    with pytest.raises(tp.OutOfBounds):
        stream.synchronize()
    stream.synchronize()
    with pytest.raises(tp.OutOfBounds):
        y.tolist()


@needs_assembler
def test_what_is_written_anew_holds_what_was_written(gpu: Gpu) -> None:
    y, x, places = tensors(7, 9, 3)
    picked(y, x, places)
    y.copy_from(5.0)
    double(x[:3], y)
    assert y.tolist() == [5] * 3
    assert x[:3].tolist() == [10] * 3


@needs_assembler
def test_a_check_that_holds_leaves_nothing(gpu: Gpu) -> None:
    y, x, places = tensors(7, 0, 3)
    for _ in range(3):
        picked(y, x, places)
    current_cuda_stream(0).synchronize()
    assert len(gpu.scratch) == 3, "those of the tensors"
    assert gpu.named("cuStreamSynchronize") == []


@needs_assembler
def test_a_check_on_memory_of_others_is_waited_for(gpu: Gpu) -> None:
    _, x, places = tensors(7, 9, 3)
    y = GpuArray(np.zeros(3, np.float32))
    with pytest.raises(tp.OutOfBounds):
        picked(y, x, places)
    assert ledger_of(0).poisoned == []
    lent, x, places = tensors(7, 9, 3)
    capsule = lent.__dlpack__()
    with pytest.raises(tp.OutOfBounds):
        picked(lent, x, places)
    assert y.numpy().tolist() == [7, 0, 3]
    del capsule


# Contents that decide about programs.


@tp.kernel
def segments(y: InOut[f32, "N"], x: In[f32, "N"], ends: In[Offsets["N"], "S+1"]) -> None:
    for s, n in tp.parallel(tp.segments(ends, N=4)):
        y[n] = x[n] + s.to(f32)


@needs_assembler
def test_borders_of_our_own_are_copied_once_for_each_time_they_are_written(gpu: Gpu) -> None:
    ends = tp.from_numpy(np.array([0, 3, 3, 9, 10], np.int32), "cuda")
    x, y = tp.ones(10, device="cuda"), tp.zeros(10, device="cuda")

    def read_back() -> int:
        low, high = ends.span
        calls = [*gpu.named("cuMemcpyAsync"), *gpu.named("cuMemcpyDtoHAsync")]
        return sum(low <= source < high for _, source, _, _ in calls)

    segments(y, x, ends)
    assert y.tolist() == [1] * 3 + [3] * 6 + [4]
    before = read_back()
    stream = current_cuda_stream(0)
    with CudaGate(stream) as gate:
        segments(y, x, ends)
        segments(y, x, ends)
        assert not stream.is_idle(), "nothing was waited for"
        gate.open()
    assert read_back() == before
    ends.copy_from(np.array([0, 5, 5, 5, 10], np.int32))
    segments(y, x, ends)
    assert y.tolist() == [1] * 5 + [4] * 5
    assert read_back() > before


# Launches and what becomes of their tensors.


@needs_assembler
def test_a_tensor_that_is_dropped_in_flight_is_used_to_the_end(gpu: Gpu) -> None:
    y = tp.zeros(6, device="cuda")
    stream = current_cuda_stream(0)
    with CudaGate(stream) as gate:
        x = tp.full(6, 3, device="cuda")
        address = x.address
        double(y, x)
        del x
        z = tp.full(6, 9, device="cuda")
        assert gpu.named("cuMemFreeAsync") == [(address, stream.handle)]
        assert address in gpu.blocks
        gate.open()
        assert y.tolist() == [6] * 6
        assert z.tolist() == [9] * 6
    settle()
    assert address not in gpu.blocks
