"""Streams of GPUs: what waits for what, what is recorded for it, and whose streams they are."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import tileproof as tp
from oracles.cuda_driver import CUresult, Stub
from support.cuda_host import CudaGate, FakeTorch, TorchStream, clean_slate, stream_of, use, waits
from tileproof.backends.cuda.device import driver
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic
from tileproof.runtime.memory.ledger import Work, ledger_of
from tileproof.runtime.stream import cuda_streams
from tileproof.runtime.stream.cuda_streams import CudaStream

A, B = (0x1000, 0x2000), (0x2000, 0x3000)


@pytest.fixture(autouse=True)
def slate(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with clean_slate(monkeypatch):
        yield





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
    assert ledger_of(0).under_way() == [two]


def test_work_that_is_not_begun_leaves_no_lease(stub: Stub) -> None:
    one, two = stream_of(), stream_of()

    def fails() -> None:
        raise tp.LaunchError(Diagnostic(Code.CUDA_FAILED, "the driver says no"))

    with CudaGate(one):
        with pytest.raises(tp.LaunchError, match="no"):
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
        lines: list[str] = []

        async def wait(turn: int) -> None:
            await stream.reached(turn)
            lines.append(f"done {turn}")

        with CudaGate(stream) as gate:
            tasks = [asyncio.create_task(wait(use(stream))) for _ in range(3)]
            await asyncio.sleep(0)
            lines.append("meanwhile")
            gate.open()
            stub.streams.go_on()
            await asyncio.gather(*tasks)
        return lines

    first, *rest = asyncio.run(main())
    assert (first, sorted(rest)) == ("meanwhile", ["done 1", "done 2", "done 3"])


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
    for tell in (lambda: stream.settle([turn]), lambda: asyncio.run(_awaited(stream, turn))):
        with pytest.raises(tp.LaunchError, match="lost earlier"):
            tell()
    with pytest.raises(tp.LaunchError, match="lost earlier"):
        stream.begin(Work("work", (), ()), lambda: stream.gpu.memset_async(1, 0, 1, 0))


def test_a_task_that_waits_for_a_gpu_that_is_lost_is_told(stub: Stub) -> None:
    stream, gate = stream_of(), CudaGate()
    gate.hold(stream)
    turn = use(stream)

    async def main() -> None:
        stub.failing["cuEventSynchronize"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
        await _reached(stream, turn)

    with pytest.raises(tp.LaunchError, match="CUDA failed"):
        asyncio.run(main())


async def _awaited(stream: CudaStream, turn: int) -> None:
    """As an operation does."""
    await stream.reached(turn)
    stream.settle([turn])


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


def test_the_driver_is_not_asked_for_what_nobody_uses(stub: Stub) -> None:
    assert driver.lost() is None
    with pytest.raises(tp.LaunchError):
        tp.Stream("cuda:7")
