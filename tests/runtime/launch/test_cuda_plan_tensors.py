"""Tensors of our own in launches on a GPU that are like an earlier one: what is noted, and what goes the full way."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import tileproof as tp
from oracles.cuda_driver import CUresult
from oracles.evaluated_gpu import Gpu
from oracles.tile_ir_operations import has_assembler
from support.cuda_host import CudaGate, FakeTorch, TorchStream, clean_slate, stream_of, waits
from tileproof import In, InOut, Out, f32
from tileproof.diagnostics.codes import Code
from tileproof.runtime.memory.ledger import Ledger, ledger_of
from tileproof.runtime.native.structures import LANE_ROOM
from tileproof.runtime.stream.cuda_streams import CudaStream, current_cuda_stream

pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")


@pytest.fixture(autouse=True)
def slate(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with clean_slate(monkeypatch):
        yield


@tp.kernel
def doubled(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n] + x[n]


@tp.kernel
def grown(y: InOut[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = y[n] + 1.0


def filled(count: int = 10) -> tp.Tensor:
    return tp.zeros((count,), f32, "cuda")


def fresh(count: int = 10) -> tp.Tensor:
    return tp.empty((count,), f32, "cuda")


def is_full(gpu: Gpu, *args: Any, kernel: tp.Kernel = doubled, **constants: Any) -> bool:
    """Whether a launch goes the full way."""
    gpu.take()
    kernel(*args, **constants)
    return bool(gpu.take())


def has_leases(stream: CudaStream, *args: Any) -> bool:
    """Whether a launch that follows a plan asks the ledger, which takes a turn for the leases."""
    turn = stream.turn
    doubled(*args)
    assert stream.turn in (turn + 1, turn + 2)
    return stream.turn == turn + 2


def test_tensors_of_our_own_follow_a_plan(gpu: Gpu) -> None:
    assert is_full(gpu, fresh(), filled())
    y, x = filled(), filled()
    assert not is_full(gpu, y, x)
    call = gpu.follower("doubled").latest
    assert {y.address, x.address} <= set(call.words)
    assert is_full(gpu, filled(12), filled(12)), "another shape"
    assert not is_full(gpu, y[:10], x)


def test_memory_that_was_never_written_is_when_a_launch_that_followed_has_filled_it(gpu: Gpu) -> None:
    doubled(fresh(), filled())
    y = fresh()
    assert not y.is_initialised
    assert not is_full(gpu, y, filled())
    assert y.is_initialised
    assert not is_full(gpu, fresh(), y)
    grown(filled())
    with pytest.raises(tp.LaunchError) as raised:
        grown(fresh())
    assert raised.value.diagnostics[0].code is Code.UNINITIALISED
    with pytest.raises(tp.LaunchError) as raised:
        doubled(y, fresh())
    assert raised.value.diagnostics[0].code is Code.UNINITIALISED


def test_a_part_that_is_written_leaves_the_rest_unwritten(gpu: Gpu) -> None:
    doubled(fresh(), filled())
    whole = fresh(20)
    assert is_full(gpu, whole[:10], filled())
    assert whole[:10].is_initialised
    assert not whole.is_initialised
    assert is_full(gpu, whole[10:], filled())
    assert whole.is_initialised
    assert not is_full(gpu, whole[10:], filled())


def test_each_launch_that_writes_makes_another_version(gpu: Gpu) -> None:
    y, x = filled(), filled()
    doubled(y, x)
    versions = [y.version]
    for _ in range(3):
        assert not is_full(gpu, y, x)
        versions.append(y.version)
    y[...] = 1.0
    versions.append(y.version)
    assert versions == sorted(set(versions))
    assert x.version == filled().version


def test_leases_are_taken_and_given_back(gpu: Gpu) -> None:
    y, x = filled(), filled()
    doubled(y, x)
    stream = current_cuda_stream(0)
    with CudaGate(stream):
        turn = stream.turn
        assert not is_full(gpu, y, x)
        assert stream.turn == turn + 1
        assert stream.lane.entries(turn) == [(turn + 1, y.span, True), (turn + 1, x.span, False)]
        assert y.is_in_flight
    stream.synchronize()
    assert not y.is_in_flight
    assert stream.lane.entries() == []


def test_the_host_reads_what_is_done(gpu: Gpu) -> None:
    y, x = filled(), filled()
    doubled(y, x)
    assert not is_full(gpu, y, x)
    assert y.to("cpu").tolist() == [0.0] * 10


def test_a_stream_waits_once_for_what_another_does(gpu: Gpu) -> None:
    y, x = filled(), filled()
    doubled(y, x)
    gpu.take()
    first, side = current_cuda_stream(0), stream_of()
    with CudaGate(first):
        assert not has_leases(first, y, x)
        with side:
            assert has_leases(side, x, y), "x is read, and y written, by the other"
            assert waits(gpu, side) == 1
            assert not has_leases(side, x, y), "it was waited for"
        assert has_leases(first, y, x)
        assert not has_leases(first, y, x)
    first.synchronize()
    side.synchronize()
    for stream in (side, first):
        with stream:
            has_leases(stream, x, y)
            assert not has_leases(stream, x, y)
            assert gpu.follower("doubled").latest.stream == stream.handle
    assert gpu.take() == [], "none went the full way"


def test_memory_that_is_lent_goes_the_full_way(gpu: Gpu) -> None:
    y, x = filled(), filled()
    doubled(y, x)
    assert not is_full(gpu, y, x)
    view = x.__dlpack__()
    assert is_full(gpu, y, x)
    del view
    gc.collect()
    assert not is_full(gpu, y, x)


def test_what_was_poisoned_is_looked_at_by_the_full_launch(gpu: Gpu) -> None:
    y, x = filled(), filled()
    doubled(y, x)
    stream, ledger = current_cuda_stream(0), ledger_of(0)
    stream.synchronize()
    with ledger.lock:
        ledger.poison([x.span], ValueError("it failed"))
    with pytest.raises(ValueError, match="it failed"):
        doubled(y, x)
    with ledger.lock:
        ledger.cure(x.span)


def test_a_handler_of_a_signal_in_the_middle_of_a_launch_is_refused_to_launch(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    y, x, other = filled(), filled(), filled()
    with tp.Graph() as graph:
        doubled(other, x)
    real, came = Ledger.note, list[bool]()

    def note(*args: Any) -> None:
        if not came:
            came.append(True)
            for use in (lambda: doubled(other, x), graph.replay, other.tolist, lambda: other.copy_from(7)):
                with pytest.raises(tp.InFlight):
                    use()
        real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "note", note)
        doubled(y, x)
    assert came
    came.clear()
    stream, side = current_cuda_stream(0), tp.Stream("cuda")
    assert isinstance(side, CudaStream)
    with CudaGate(stream, side):
        with side:
            doubled(filled(), x)
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "note", note)
            doubled(x, y)  # like the one before, but it waits for another stream
    assert came


def test_a_full_lane_asks_the_ledger_and_goes_on(gpu: Gpu) -> None:
    y, x = filled(), filled()
    doubled(y, x)
    gpu.take()
    stream = current_cuda_stream(0)
    leased = sum(has_leases(stream, y, x) for _ in range(6000))
    assert 0 < leased < 20
    assert gpu.follower("doubled").calls == 6000
    assert gpu.take() == []
    stream.synchronize()
    assert stream.lane.entries() == []


def test_a_stream_that_is_behind_is_waited_for_when_its_lane_is_full(gpu: Gpu) -> None:
    y, x = filled(), filled()
    doubled(y, x)
    stream = current_cuda_stream(0)
    begun = stream.turn
    for _ in range(6000):
        doubled(y, x)
    assert begun + 6000 <= stream.turn < begun + 6010
    assert len(stream.lane.entries()) <= LANE_ROOM


def test_constants_lead_to_what_follows_them(gpu: Gpu) -> None:
    y, x = filled(), filled()
    for constants in ({}, {"B": 2}, {"B": 5}):
        assert is_full(gpu, y, x, **constants)
    for _ in range(2):
        for constants in ({"B": 2}, {}, {"B": 5}, {"B": 5}):
            assert not is_full(gpu, y, x, **constants)
            blocks = -(-10 // constants.get("B", 4))
            calls = [each.plan.latest.grid for each in gpu.loaded.values() if each.plan.calls]
            assert (blocks, 1, 1) in calls


def test_what_the_driver_refuses_leaves_no_lease_and_is_told(gpu: Gpu) -> None:
    y, x = filled(), filled()
    doubled(y, x)
    fresh_one = fresh()
    gpu.follower("doubled")._memory[1] = int(CUresult.CUDA_ERROR_LAUNCH_FAILED)
    stream = current_cuda_stream(0)
    stream.synchronize()
    assert is_full(gpu, fresh_one, x)
    stream.synchronize()
    assert stream.lane.entries() == []
    assert fresh_one.is_initialised


def test_torch_has_streams_of_its_own(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch comes after the plan was made, and its current stream is not the one of the plan."""
    y, x = filled(), filled()
    doubled(y, x)
    assert not is_full(gpu, y, x)
    with monkeypatch.context() as patch:
        torch = FakeTorch()
        torch.current[0] = TorchStream(0x77)
        patch.setitem(sys.modules, "torch", torch)
        assert not is_full(gpu, y, x)
        assert gpu.follower("doubled").latest.stream == 0x77
    doubled(y, x)
    assert not is_full(gpu, y, x)
