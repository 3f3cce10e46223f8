"""Launches on a GPU that are like an earlier one while several streams are at work: ordered as full launches are."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import CUresult
from oracles.evaluated_gpu import Gpu, GpuArray
from oracles.tile_ir_operations import has_assembler
from support.cuda_host import CudaGate, FakeTorch, TorchStream, clean_slate, stream_of, waits
from tileproof import In, InOut, Out, f32
from tileproof.diagnostics.codes import Code
from tileproof.runtime import native as fast
from tileproof.runtime.launch import launch_cache
from tileproof.runtime.memory.ledger import Work, ledger_of
from tileproof.runtime.stream.cuda_streams import CudaStream, current_cuda_stream

pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
COUNT = 6


@pytest.fixture(autouse=True)
def slate(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with clean_slate(monkeypatch):
        yield


@tp.kernel
def plus(y: Out[f32, "N"], x: In[f32, "N"], by: f32, *, B: int = 4) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n] + by


@tp.kernel
def taken(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = y[n] * 0.5 + x[n]


def of(value: float, count: int = COUNT) -> tp.Tensor:
    return tp.full((count,), value, f32, "cuda")


def fresh() -> tp.Tensor:
    return tp.empty((COUNT,), f32, "cuda")


def remember() -> None:
    """Has both kernels remember a launch."""
    plus(of(0), of(0), 0.0)
    taken(of(0), of(0))


class Beside:
    """Two streams of which one is held, so that there is no moment at which the other is alone."""

    def __init__(self) -> None:
        self.stream, self.held = stream_of(), stream_of()
        self.gate = CudaGate()

    def __enter__(self) -> CudaStream:
        self.gate.hold(self.held)
        with self.held:
            plus(of(0), of(0), 0.0)
        self.stream.__enter__()
        return self.stream

    def __exit__(self, *error: Any) -> None:
        self.stream.__exit__(*error)
        self.gate.open()
        self.held.synchronize()
        self.stream.synchronize()


def is_full(gpu: Gpu, kernel: tp.Kernel, *args: Any, **constants: Any) -> bool:
    """Whether a launch goes the full way."""
    gpu.take()
    kernel(*args, **constants)
    return bool(gpu.take())


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(lambda x, y, z: plus(y, x, 1.0), lambda x, y, z: plus(z, y, 1.0), id="what is read was written"),
        pytest.param(lambda x, y, z: plus(z, y, 1.0), lambda x, y, z: plus(y, x, 1.0), id="what is written was read"),
        pytest.param(lambda x, y, z: plus(y, x, 1.0), lambda x, y, z: plus(y, z, 1.0), id="it is written twice"),
    ],
)
def test_a_launch_waits_for_another_stream_that_uses_its_memory(gpu: Gpu, first: Any, then: Any) -> None:
    gpu.runs_followers = True
    remember()
    results = []
    for is_held in (False, True):
        x, y, z = of(1), of(2), of(4)
        one, two = stream_of(), stream_of()
        with CudaGate() as gate:
            if is_held:
                gate.hold(one)
            gpu.take()
            before = gpu.follower("plus").calls
            with one:
                first(x, y, z)
            with two:
                then(x, y, z)
            assert gpu.follower("plus").calls == before + 2
            assert gpu.take() == []
            if is_held:
                assert waits(gpu, two) == 1
                assert not two.has_done(two.turn)
        two.synchronize()
        results.append([each.tolist() for each in (x, y, z)])
    assert results[0] == results[1]


def test_a_launch_that_shares_nothing_waits_for_nobody(gpu: Gpu) -> None:
    remember()
    y, x, by = of(1), of(2), of(3)
    with Beside() as stream:
        assert not is_full(gpu, plus, y, x, 1.0)
        assert not is_full(gpu, taken, y, by)
        assert waits(gpu, stream) == 0
        used = stream.lane.entries()[-2:]
        assert used == [(stream.turn, y.span, True), (stream.turn, by.span, False)]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", range(4))
def test_whatever_follows_gives_what_full_launches_give(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:  # fmt: skip
    gpu.runs_followers = True
    remember()
    follow, launch = launch_cache._launchers["cuda"], fast.launch
    counts = []

    def run(is_full: bool) -> list[Any]:
        monkeypatch.setitem(launch_cache._launchers, "cuda", follow if not is_full else lambda *_: False)
        monkeypatch.setattr(fast, "launch", launch if not is_full else lambda *_: False)
        choose = random.Random(seed)
        tensors = [of(value) for value in range(4)]
        model = [np.full(COUNT, value, np.float32) for value in range(4)]
        lanes = [stream_of() for _ in range(3)]
        gpu.take()
        before = gpu.follower("plus").calls + gpu.follower("taken").calls
        with CudaGate(*choose.sample(lanes, 2)):
            for _ in range(20):
                to, source = choose.sample(range(4), 2)
                with choose.choice(lanes):
                    if choose.random() < 0.5:
                        plus(tensors[to], tensors[source], 1.5)
                        model[to] = model[source] + np.float32(1.5)
                    else:
                        taken(tensors[to], tensors[source])
                        model[to] = model[to] * np.float32(0.5) + model[source]
        for lane in lanes:
            lane.synchronize()
        counts.append((gpu.follower("plus").calls + gpu.follower("taken").calls - before, len(gpu.take())))
        results = [tensor.tolist() for tensor in tensors]
        assert results == [each.tolist() for each in model]
        return [results, [tensor.version for tensor in tensors]]

    assert run(is_full=False) == run(is_full=True)
    assert counts[0] == (20, 0)
    assert counts[1][1] > 10


def test_memory_that_was_never_written_is_filled_or_refused(gpu: Gpu) -> None:
    remember()
    x = of(1)
    with Beside():
        y = fresh()
        assert not is_full(gpu, plus, y, x, 1.0)
        assert y.is_initialised
        with pytest.raises(tp.LaunchError) as raised:
            taken(fresh(), x)
        assert raised.value.diagnostics[0].code is Code.UNINITIALISED
        part = tp.empty((2 * COUNT,), f32, "cuda")
        assert is_full(gpu, plus, part[:COUNT], x, 1.0), "a part of what was never written"
        assert not part.is_initialised


def test_memory_that_is_lent_goes_the_full_way(gpu: Gpu) -> None:
    remember()
    y, x = of(0), of(1)
    with Beside():
        view = x.__dlpack__()
        assert is_full(gpu, plus, y, x, 1.0)
        del view
        gc.collect()
        assert not is_full(gpu, plus, y, x, 1.0)


def test_overlapping_tensors_are_judged_by_the_full_launch(gpu: Gpu) -> None:
    remember()
    whole = of(1, COUNT + 4)
    with Beside():
        with pytest.raises(tp.LaunchError) as raised:
            plus(whole[:COUNT], whole[4:], 1.0)
        assert raised.value.diagnostics[0].code is Code.ALIASED


def test_views_with_other_strides_of_single_elements_are_alike(gpu: Gpu) -> None:
    plus(of(0, 1), of(1, 1), 1.0)
    many = of(1, 8)
    with Beside():
        assert not is_full(gpu, plus, of(0, 1), many[:8:8], 1.0)
        assert is_full(gpu, plus, of(0, 4), many[::2], 1.0)


def test_numbers_and_constants_are_looked_at(gpu: Gpu) -> None:
    remember()
    y, x = of(0), of(1)
    with Beside():
        assert not is_full(gpu, plus, y, x, 0.5)
        assert gpu.follower("plus").latest.words.count(0x3F000000) == 1
        assert is_full(gpu, plus, y, x, 1), "another type of number"
        assert is_full(gpu, plus, y, x, 0.5, B=2)
        assert not is_full(gpu, plus, y, x, 0.5, B=2)
        with pytest.raises(tp.LaunchError):
            plus(y, x, 0.5, B=True)


def test_another_backend_is_asked(gpu: Gpu) -> None:
    remember()
    y, x = of(0), of(1)
    with Beside(), tp.backend("cpu"), pytest.raises(tp.LaunchError):
        plus(y, x, 0.5)


class Failing(Work):
    """Work that fails."""

    def failure(self) -> BaseException | None:
        return ValueError("it failed")


def test_what_reads_what_failed_work_should_have_written_is_poisoned_too(gpu: Gpu) -> None:
    remember()
    y, x, z = of(0), of(1), of(2)
    one, two = stream_of(), stream_of()
    with CudaGate(one):
        one.begin(Failing("bad", (), (x.span,)), lambda: None)
        with two:
            assert not is_full(gpu, plus, y, x, 1.0)
    two.until(two.turn)
    one.until(one.turn)
    with pytest.raises(ValueError, match="it failed"):
        y.tolist()
    with Beside(), pytest.raises(ValueError, match="it failed"):
        plus(z, x, 1.0)
    with ledger_of(0).lock:
        ledger_of(0).cure(x.span)
        ledger_of(0).cure(y.span)
    one.errors.clear()


def test_while_something_is_poisoned_the_full_launch_looks(gpu: Gpu) -> None:
    remember()
    y, x, bad = of(0), of(1), of(2)
    with Beside():
        with ledger_of(0).lock:
            ledger_of(0).poison([bad.span], ValueError("it failed"))
        assert is_full(gpu, plus, y, x, 1.0)
        with ledger_of(0).lock:
            ledger_of(0).cure(bad.span)
        assert not is_full(gpu, plus, y, x, 1.0)


def test_what_the_driver_refuses_leaves_no_lease(gpu: Gpu) -> None:
    remember()
    y, x = fresh(), of(1)
    with Beside():
        gpu.follower("plus")._memory[1] = int(CUresult.CUDA_ERROR_OUT_OF_MEMORY)
        gpu.failing["cuLaunchKernelEx"] = CUresult.CUDA_ERROR_OUT_OF_MEMORY
        with pytest.raises(tp.LaunchError, match="OUT_OF_MEMORY"):
            plus(y, x, 1.0)
        assert not y.is_initialised
        assert not y.is_in_flight
        del gpu.failing["cuLaunchKernelEx"]


def test_where_torch_has_another_stream_the_full_launch_orders_both(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    remember()
    y, x = of(0), of(1)
    with Beside() as stream:
        torch = FakeTorch().use(monkeypatch)
        torch.current[0] = TorchStream(0x77)
        assert is_full(gpu, plus, y, x, 1.0)
        torch.current[0] = TorchStream(stream.handle)
        assert not is_full(gpu, plus, y, x, 1.0)


def test_an_array_of_others_lives_until_a_launch_that_follows_is_done(gpu: Gpu) -> None:
    ones = np.ones(COUNT, np.float32)
    plus(GpuArray(ones), GpuArray(ones), 1.0)
    remember()
    gpu_array = GpuArray(ones)
    y, x = of(0), tp.asarray(gpu_array)
    alive = weakref.ref(gpu_array)
    del gpu_array
    with Beside() as stream, CudaGate(stream):
        plus(y, x, 1.0)
        del x
        gc.collect()
        assert alive() is not None
    stream.synchronize()
    gc.collect()
    assert alive() is None


def test_memory_of_our_own_is_not_kept(gpu: Gpu) -> None:
    remember()
    y, x = of(0), of(1)
    alive = weakref.ref(x.block)
    with Beside() as stream, CudaGate(stream):
        assert not is_full(gpu, plus, y, x, 1.0)
        del x
        gc.collect()
        assert alive() is None


def test_streams_that_are_done_are_noticed_after_some_launches(gpu: Gpu) -> None:
    remember()
    y, x = of(0), of(1)
    stream, other = current_cuda_stream(0), stream_of()
    with CudaGate(other):
        with other:
            plus(of(0), x, 1.0)
        plus(y, x, 1.0)
        assert ledger_of(0).under_way() == [other, stream]
    for _ in range(5000):  # nobody waits for the other: it is looked at now and then
        plus(y, x, 1.0)
    assert ledger_of(0).under_way() == [stream]
