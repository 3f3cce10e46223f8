"""Streams of GPUs: what waits for what, what is recorded for it, and whose streams they are."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from cuda_host import CudaGate, FakeTorch, TorchStream, TorchTensor, clean_slate
from cuda_stub import CUresult, Stub
from evaluating_gpu import Gpu, GpuArray
from source_files import load_text
from tileir_computing import has_assembler

import tileproof as tp
from tileproof import In, InOut, Out, f32
from tileproof.backends.cuda import driver
from tileproof.runtime import cuda_streams
from tileproof.runtime.cuda_streams import CudaStream
from tileproof.runtime.leases import Work, ledger_of

needs_assembler = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
A, B = (0x1000, 0x2000), (0x2000, 0x3000)


@pytest.fixture(autouse=True)
def slate(stub: Stub, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    if "gpu" in request.fixturenames:
        request.getfixturevalue("gpu")  # it looks whether all memory went back, which happens here
    with clean_slate(monkeypatch):
        yield


def stream_of(device: str = "cuda") -> CudaStream:
    made: Any = tp.Stream(device)
    assert isinstance(made, CudaStream)
    return made


def use(stream: CudaStream, reads: tuple[Any, ...] = (), writes: tuple[Any, ...] = ()) -> int:
    return stream.begin(Work("work", reads, writes), lambda: None)


def waits(stub: Stub, stream: CudaStream) -> int:
    """How often a stream was told to wait for an event."""
    return sum(args[0] == stream.handle for args in stub.named("cuStreamWaitEvent"))


# Order.


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (((), (A,)), ((A,), ()), 1), (((A,), ()), ((), (A,)), 1), (((), (A,)), ((), (A,)), 1),
        (((A,), ()), ((A,), ()), 0), (((), (A,)), ((), (B,)), 0), (((A,), (B,)), ((A,), ()), 0),
        (((), (A,)), ((), ((0x1FFF, 0x2001),)), 1),
    ],
    ids=["read after write", "write after read", "write after write", "read after read", "disjoint",
         "read beside write", "one byte in common"],
)  # fmt: skip
def test_a_stream_waits_for_another_where_one_of_them_writes(
    stub: Stub, first: tuple[Any, Any], second: tuple[Any, Any], expected: int
) -> None:
    one, two = stream_of(), stream_of()
    with CudaGate(one):
        use(one, *first)
        use(two, *second)
        assert waits(stub, two) == expected
        assert waits(stub, one) == 0
        assert two.has_done(two.turn) == (not expected)
    two.synchronize()


def test_work_of_one_stream_records_next_to_nothing(stub: Stub) -> None:
    stream = stream_of()
    with CudaGate(stream):
        for _ in range(200):
            use(stream, (A,), (B,))
        assert len(stub.named("cuEventRecord")) <= 200 // 64
    stream.synchronize()
    assert stream.done == 200
    assert waits(stub, stream) == 0


def test_what_was_waited_for_is_not_waited_for_again(stub: Stub) -> None:
    one, two = stream_of(), stream_of()
    with CudaGate(one):
        use(one, (), (A,))
        use(one, (), (B,))
        use(two, (A,))
        use(two, (B,))
        assert waits(stub, two) == 1, "the mark is behind both"
        use(one, (), (B,))
        use(two, (B,))
        assert waits(stub, two) == 2


def test_a_stream_that_is_idle_is_not_waited_for(stub: Stub) -> None:
    one, two = stream_of(), stream_of()
    use(one, (), (A,))
    use(two, (A,))
    assert waits(stub, two) == 0
    assert ledger_of(0).alone is two


def test_work_that_is_not_begun_leaves_no_lease(stub: Stub) -> None:
    one, two = stream_of(), stream_of()

    def fails() -> None:
        raise ValueError("no")

    with CudaGate(one):
        with pytest.raises(ValueError, match="no"):
            one.begin(Work("work", (), (A,)), fails)
        use(one, (), (B,))
        use(two, (), (A,))
        assert waits(stub, two) == 0


def test_gpus_have_nothing_to_do_with_each_other(stub: Stub) -> None:
    one, other = stream_of(), stream_of("cuda:1")
    with CudaGate(one):
        use(one, (), (A,))
        use(other, (), (A,))
        assert other.is_idle()
        assert not one.is_idle()


# Looking and waiting.


def test_a_stream_tells_how_far_it_is(stub: Stub) -> None:
    stream, gate = stream_of(), CudaGate()
    first = use(stream)
    assert stream.has_done(first)
    gate.hold(stream)
    second, third = use(stream), use(stream)
    assert (stream.done, stream.has_done(second), stream.is_idle()) == (first, False, False)
    gate.open()
    assert stream.has_done(second)
    assert stream.has_done(third)
    assert repr(stream) == "<stream of cuda:0, idle>"


def test_a_thread_waits_for_work_while_others_go_on(stub: Stub) -> None:
    stream, gate, seen = stream_of(), CudaGate(), []
    gate.hold(stream)
    turn = use(stream, (), (A,))
    begun = threading.Event()

    def wait() -> None:
        begun.set()
        stream.until(turn)
        seen.append(stream.done >= turn)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    begun.wait()
    use(stream, (), (B,))
    assert seen == []
    gate.open()
    for thread in threads:
        thread.join()
    assert seen == [True] * 3


def test_events_are_used_again(stub: Stub) -> None:
    stream = stream_of()
    for _ in range(20):
        assert stream.has_done(use(stream))
    assert len(stub.named("cuEventRecord")) == 20
    assert len(stub.named("cuEventCreate")) == 1


def test_a_task_is_woken_when_work_is_done(stub: Stub) -> None:
    stream = stream_of()

    async def main() -> list[str]:
        said: list[str] = []

        async def wait(turn: int) -> None:
            await stream.reached(turn)
            said.append(f"done {turn}")

        with CudaGate(stream) as gate:
            tasks = [asyncio.create_task(wait(use(stream))) for _ in range(3)]
            await asyncio.sleep(0)
            said.append("meanwhile")
            assert len(stub.named("cuLaunchHostFunc")) == 1, "one alarm is enough"
            gate.open()
            stub.streams.go_on()
            await asyncio.gather(*tasks)
        return said

    assert asyncio.run(main()) == ["meanwhile", "done 1", "done 2", "done 3"]


# Recording.


def test_a_stream_that_records_has_no_leases_and_no_marks(stub: Stub) -> None:
    stream, other = stream_of(), stream_of()
    stream.gpu.begin_capture(stream.handle)
    assert use(stream, (), (A,)) == 0
    stream.lane.turn = 1
    with pytest.raises(tp.LaunchError, match="waiting for a stream") as raised:
        stream.has_done(1)
    assert "records a graph" in raised.value.diagnostics[0].help
    assert stub.named("cuEventRecord") == []
    stream.gpu.end_capture(stream.handle)
    use(other, (), (A,))
    assert waits(stub, other) == 0


# A context that is lost.


def test_nobody_waits_for_a_gpu_that_is_lost(stub: Stub) -> None:
    stream, gate = stream_of(), CudaGate()
    gate.hold(stream)
    turn = use(stream, (), (A,))
    stub.failing["cuEventSynchronize"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(tp.LaunchError, match="CUDA failed while waiting for an event"):
        stream.synchronize()
    assert stream.done == turn
    assert stream.is_idle()
    for ask in (stream.until, stream.has_done):
        with pytest.raises(tp.LaunchError, match="lost earlier"):
            ask(turn)
    with pytest.raises(tp.LaunchError, match="lost earlier"):
        stream.begin(Work("work", (), ()), lambda: stream.gpu.memset_async(1, 0, 1, 0))


def test_a_task_that_waits_for_a_gpu_that_is_lost_is_told(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    from tileproof.runtime import waking

    monkeypatch.setattr(waking, "_CARE", 0.001)
    stream, gate = stream_of(), CudaGate()
    gate.hold(stream)
    turn = use(stream)

    async def main() -> None:
        waiting = asyncio.create_task(_reached(stream, turn))
        await asyncio.sleep(0)
        stub.failing["cuEventQuery"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
        await waiting

    with pytest.raises(tp.LaunchError, match="CUDA failed"):
        asyncio.run(main())


async def _reached(stream: CudaStream, turn: int) -> None:
    await stream.reached(turn)


# Whose streams they are.


def test_a_stream_of_ours_ends_when_nobody_has_it(stub: Stub) -> None:
    stream = stream_of()
    handle = stream.handle
    assert CudaStream.of(0, handle) is stream
    with CudaGate(stream):
        use(stream, (), (A,))
        del stream
        gc.collect()
        assert stub.named("cuStreamDestroy") == [], "it has work under way"
    use(stream_of(), (A,))
    gc.collect()
    assert (handle,) in stub.named("cuStreamDestroy")


def test_a_stream_of_others_is_one_and_is_not_ended(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = CudaStream.of(0, 0x77)
    assert CudaStream.of(0, 0x77) is stream
    assert CudaStream.of(1, 0x77) is not stream
    monkeypatch.setattr(cuda_streams, "_foreign", {})
    del stream
    gc.collect()
    assert stub.named("cuStreamDestroy") == []


def test_streams_of_others_that_are_idle_are_forgotten(stub: Stub) -> None:
    busy = CudaStream.of(0, 0x77)
    with CudaGate(busy):
        use(busy)
        for handle in range(0x1000, 0x1100):
            CudaStream.of(0, handle)
        assert len(cuda_streams._foreign) < 100
        assert CudaStream.of(0, 0x77) is busy


def test_priorities_are_passed_on(stub: Stub) -> None:
    CudaStream("cuda:1", priority=-3)
    assert [priority for _, priority in stub.named("cuStreamCreateWithPriority")] == [-3]


def test_the_default_stream_is_that_of_torch(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tp.current_stream("cuda").handle == 0  # type: ignore[attr-defined]
    torch = FakeTorch().use(monkeypatch)
    torch.current[0] = TorchStream(0x99)
    assert tp.current_stream("cuda") is CudaStream.of(0, 0x99)
    mine = stream_of()
    with mine:
        assert tp.current_stream("cuda") is mine
        assert torch.handle == mine.handle
        with stream_of() as inner:
            assert torch.handle == inner.handle
        assert torch.handle == mine.handle
    assert torch.handle == 0x99
    assert tp.current_stream("cuda") is CudaStream.of(0, 0x99)


def test_stream_0_is_the_default_stream_of_torch(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = FakeTorch().use(monkeypatch)
    torch.current[0] = TorchStream(0x99)
    with CudaStream.of(0, 0):
        assert torch.handle == 0
    assert torch.handle == 0x99


def test_tasks_do_not_change_the_stream_of_torch_for_each_other(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = FakeTorch().use(monkeypatch)

    async def main() -> None:
        with stream_of() as mine:
            assert torch.handle == 0
            assert tp.current_stream("cuda") is mine

    asyncio.run(main())


def test_an_operation_leaves_the_stream_of_torch_alone(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    torch, mine = FakeTorch().use(monkeypatch), stream_of()
    seen: list[object] = []
    tp.host_op(lambda: seen.append(tp.current_stream("cuda"))).run(mine)
    assert seen == [mine]
    assert torch.handle == 0


# Launches.


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


@needs_assembler
def test_launches_on_two_streams_give_what_one_would(gpu: Gpu) -> None:
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


@needs_assembler
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


@needs_assembler
def test_an_array_of_others_lives_until_the_launch_is_done(gpu: Gpu) -> None:
    import weakref

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
    held = GpuArray(array)
    return TorchTensor(held.address, array), held


@needs_assembler
def test_on_the_stream_of_torch_nothing_is_kept_and_nothing_waits(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = FakeTorch().use(monkeypatch)
    torch.current[0] = TorchStream(0x99)
    (x, held), (y, other) = torch_tensor(ones()), torch_tensor(ones())
    plus(y, x, 1.0)
    assert x.recorded == y.recorded == []
    assert gpu.named("cuStreamWaitEvent") == []
    assert [started.stream for started in gpu.take()] == [0x99]
    assert tp.current_stream("cuda").pending[-1][1].keep == ()
    assert other.numpy().tolist() == [2.0] * 6


@needs_assembler
def test_beside_the_stream_of_torch_each_waits_for_the_other(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = FakeTorch().use(monkeypatch)
    (x, held), (y, other) = torch_tensor(ones()), torch_tensor(ones())
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


@needs_assembler
def test_memory_that_was_lent_is_ordered_with_torch_too(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeTorch().use(monkeypatch)
    x, y = tp.from_numpy(ones(), "cuda"), tp.from_numpy(ones(), "cuda")
    mine = stream_of()
    with CudaGate(mine):
        mine.begin(Work("work", (), (y.span,)), lambda: None)
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


@needs_assembler
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


def test_the_driver_is_not_asked_for_what_nobody_uses(stub: Stub) -> None:
    assert driver.lost() is None
    with pytest.raises(tp.LaunchError):
        tp.Stream("cuda:7")
