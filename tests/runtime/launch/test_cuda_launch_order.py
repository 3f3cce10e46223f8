"""Launches on streams of a GPU: their order, what they keep alive, and how they get on with torch."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import CUresult, Stub
from oracles.evaluated_gpu import Gpu, GpuArray
from oracles.tile_ir_operations import has_assembler
from support.cuda_host import CudaGate, FakeTorch, TorchStream, TorchTensor, clean_slate, stream_of, use, waits
from support.source_files import load_text
from tileproof import In, InOut, Out, f32
from tileproof.runtime.stream import cuda_streams

pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")


@pytest.fixture(autouse=True)
def slate(stub: Stub, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    if "gpu" in request.fixturenames:
        request.getfixturevalue("gpu")  # it looks whether all memory went back, which happens here
    with clean_slate(monkeypatch):
        yield


@tp.kernel
def plus(y: Out[f32, "N"], x: In[f32, "N"], by: f32) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n] + by


@tp.kernel
def double(y: InOut[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = y[n] * 2.0


def ones(count: int = 6) -> np.ndarray[Any, Any]:
    return np.ones(count, np.float32)


def test_launches_on_two_streams_give_what_one_would(gpu: Gpu) -> None:
    gpu.runs_followers = True
    one, two = stream_of(), stream_of()
    x, y, z = (tp.from_numpy(ones(), "cuda") for _ in range(3))
    with CudaGate(one) as gate:
        with one:
            plus(y, x, 1.0)
        with two:
            double(y)  # after the write
            plus(z, y, 0.5)
        with one:
            plus(x, z, 1.0)
            double(y)  # after both
        assert not two.has_done(two.turn)
        gate.open()
        assert (x.tolist(), y.tolist(), z.tolist()) == ([5.5] * 6, [8.0] * 6, [4.5] * 6)


def test_launches_on_arrays_of_others_take_leases_too(gpu: Gpu) -> None:
    one, two = stream_of(), stream_of()
    y, x = GpuArray(ones()), GpuArray(ones())
    with CudaGate(one):
        with one:
            plus(y, x, 1.0)
        with two:
            double(y)
        assert waits(gpu, two) == 1
    two.synchronize()
    assert y.numpy().tolist() == [4.0] * 6


def test_an_array_of_others_lives_until_the_launch_is_done(gpu: Gpu) -> None:
    stream = stream_of()
    y, x = GpuArray(ones()), GpuArray(ones())
    alive = weakref.ref(x)
    with CudaGate(stream):
        with stream:
            plus(y, x, 1.0)
        del x
        gc.collect()
        assert alive() is not None
    stream.synchronize()
    gc.collect()
    assert alive() is None


def torch_tensor(array: np.ndarray[Any, Any]) -> tuple[TorchTensor, GpuArray]:
    gpu_array = GpuArray(array)
    return TorchTensor(gpu_array.address, array), gpu_array


def test_on_the_stream_of_torch_nothing_is_kept_and_nothing_waits(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = FakeTorch().use(monkeypatch)
    torch.current[0] = TorchStream(0x99)
    (x, _), (y, other) = torch_tensor(ones()), torch_tensor(ones())
    plus(y, x, 1.0)
    assert x.recorded == y.recorded == []
    assert gpu.named("cuStreamWaitEvent") == []
    assert [started.stream for started in gpu.take()] == [0x99]
    assert tp.current_stream("cuda").pending[-1][1].keep == ()
    assert other.numpy().tolist() == [2.0] * 6


def test_beside_the_stream_of_torch_each_waits_for_the_other(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = FakeTorch().use(monkeypatch)
    (x, _), (y, other) = torch_tensor(ones()), torch_tensor(ones())
    mine = stream_of()
    mine.choose()  # as a task does
    try:
        plus(y, x, 1.0)
    finally:
        cuda_streams.Stream.__exit__(mine, None, None, None)
    assert torch.handle == 0
    assert x.recorded == y.recorded == [mine.handle]
    waiting = [args[0] for args in gpu.named("cuStreamWaitEvent")]
    assert waiting == [mine.handle, 0]
    assert other.numpy().tolist() == [2.0] * 6


def test_memory_that_was_lent_is_ordered_with_torch_too(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeTorch().use(monkeypatch)
    x, y = tp.from_numpy(ones(), "cuda"), tp.from_numpy(ones(), "cuda")
    mine = stream_of()
    with CudaGate(mine):
        use(mine, (), (y.span,))
        capsule = y.__dlpack__(stream=1)
        assert [args[0] for args in gpu.named("cuStreamWaitEvent")][-1] == 0, "who borrows it waits for our work"
    before = len(gpu.named("cuStreamWaitEvent"))
    mine.choose()
    try:
        plus(y, x, 1.0)
    finally:
        cuda_streams.Stream.__exit__(mine, None, None, None)
    assert [args[0] for args in gpu.named("cuStreamWaitEvent")][before:] == [mine.handle, 0]
    del capsule


def test_a_launch_of_which_the_driver_took_a_part_has_leases(gpu: Gpu) -> None:
    module = load_text("""
import tileproof as tp
from tileproof import In, Sum, i8

@tp.kernel
def total(s: Sum[i8, "N"], x: In[i8, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=2):
        s[n] += x[m, n]
""")
    s, x = tp.zeros(3, tp.i8, "cuda"), tp.ones((5, 3), tp.i8, "cuda")
    stream, started = stream_of(), []
    launch = type(gpu).on_cuLaunchKernelEx

    def second_fails(self: Gpu, *args: Any) -> Any:
        started.append(args)
        return CUresult.CUDA_ERROR_INVALID_VALUE if len(started) == 2 else launch(self, *args)

    with pytest.MonkeyPatch.context() as patch, CudaGate(stream), stream:
        patch.setattr(type(gpu), "on_cuLaunchKernelEx", second_fails)
        with pytest.raises(tp.LaunchError, match="INVALID_VALUE"):
            module.total(s, x)
        assert s.is_in_flight
    with pytest.raises(tp.LaunchError, match="INVALID_VALUE"):
        s.tolist()
