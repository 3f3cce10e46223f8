"""Attacks on the law of the host model: events in an order in which a launch would see memory that is not its own any
more, or entries nobody looked at."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import CUresult, Stub
from oracles.evaluated_gpu import Gpu, GpuArray
from oracles.recording_driver import Driver, plan_of, plans_of
from oracles.tile_ir_operations import has_assembler
from support.cuda_host import CudaGate, FakeTorch, TorchTensor, clean_slate, stream_of, use
from tileproof import In, Index, InOut, Out, T, f32, i32
from tileproof.backends.cuda.device import pinned
from tileproof.diagnostics.codes import Code
from tileproof.runtime import native as fast
from tileproof.runtime.launch import cuda_launches
from tileproof.runtime.launch.index_kernels import copy_index  # noqa: F401 (the kernels of a test file start anew)
from tileproof.runtime.memory import ledger as leases
from tileproof.runtime.memory.ledger import Work, ledger_of
from tileproof.runtime.native import CUDA
from tileproof.runtime.stream.cuda_streams import CudaStream
from tileproof.runtime.tensor import cuda_copies

needs_assembler = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def slate(stub: Stub, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    if "gpu" in request.fixturenames:
        request.getfixturevalue("gpu")  # it looks whether all memory went back, which happens here
    with clean_slate(monkeypatch):
        yield


@tp.kernel
def take(y: Out[T, "N"], x: In[T, "V"], ids: In[Index["V"], "N"], *, BN: int = 4) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[ids[n]]


@tp.kernel
def same(y: Out[T, "N"], x: In[T, "N"], *, BN: int = 4) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[n]


@tp.kernel
def put(y: InOut[f32, "N"], at: In[i32, "1"], x: In[f32, "1"]) -> None:
    y[at[0] + 0] = x[0]


@tp.kernel
def pick(y: Out[f32, "1"], x: In[f32, "N"], at: In[i32, "1"]) -> None:
    y[0:1] = x[at[0] + 0][None]


def on_gpu(*values: float, dtype: Any = np.float32) -> tp.Tensor:
    return tp.from_numpy(np.array(values, dtype), "cuda")


def ids_of(*values: int) -> Array:
    return np.array(values, np.int32)


# What is known of index tensors.


@needs_assembler
@pytest.mark.parametrize("way", ["host", "copy", "pieces", "gaps"])
def test_a_write_is_known_as_soon_as_others_can_launch_behind_it(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    x, y = on_gpu(10, 11, 12), tp.empty(4, device="cuda")
    if way == "gaps":
        monkeypatch.setattr(cuda_copies, "_MOST_RUNS", {True: 0, False: 0})
    ids = tp.zeros(8, i32, "cuda")[::2] if way == "gaps" else tp.zeros(4, i32, "cuda")
    wrong = on_gpu(7, 7, 7, 7, dtype=np.int32)
    take(y, x, ids)  # from here on it is known what they hold
    begin, raised, writer = CudaStream.begin, list[BaseException](), threading.current_thread()

    def launch() -> None:
        try:
            take(y, x, ids)
        except tp.LaunchError as error:
            raised.append(error)

    def interrupted(self: CudaStream, work: Work, start: Callable[[], object]) -> int:
        turn = begin(self, work, start)
        lock: Any = self.ledger.lock
        if work.writes and threading.current_thread() is writer and not lock._is_owned():
            other = threading.Thread(target=launch)  # it comes right behind the write
            other.start()
            other.join()
        return turn

    with monkeypatch.context() as patch:
        patch.setattr(CudaStream, "begin", interrupted)
        if way == "pieces":
            patch.setattr(cuda_copies, "LARGEST", 8)
        if way == "copy":
            tp.copy(ids, wrong)
        else:
            ids[...] = ids_of(7, 7, 7, 7)
    assert raised or way == "gaps"
    assert all("is 7" in str(error) for error in raised)
    with pytest.raises(tp.LaunchError, match="is 7"):
        take(y, x, ids)


@needs_assembler
def test_entries_of_others_are_looked_at_when_our_own_work_has_written_them(gpu: Gpu) -> None:
    one, two = stream_of(), stream_of()
    x, y, wrong = on_gpu(10, 11, 12), tp.empty(2, device="cuda"), on_gpu(7, 7, dtype=np.int32)
    ids = GpuArray(ids_of(0, 1))
    gate = CudaGate(one)
    with one:
        same(ids, wrong)
    opening = threading.Timer(0.05, gate.open)
    opening.start()
    try:
        with two, pytest.raises(tp.LaunchError, match="is 7"):
            take(y, x, ids)
    finally:
        opening.join()


def test_nobody_follows_a_plan_between_the_last_look_and_the_launch(stub: Stub) -> None:
    one, two = stream_of(), stream_of()
    span = (0x1000, 0x2000)
    driver = Driver()
    plans = plans_of(plan_of((), driver, stream=None, device=(CUDA, 0), lanes=ledger_of(0).lanes.address))
    with CudaGate(one):
        use(one, (), (span,))
        assert fast.launch(plans, (), 0, one.handle, False)
        followed = []

        class Looking(Work):
            def is_current(self) -> bool:
                followed.append(fast.launch(plans, (), 0, one.handle, False))
                return True

        two.begin(Looking("work", (span,), ()), lambda: None)
    assert followed == [None]
    assert driver.calls == 1


@needs_assembler
def test_a_graph_of_others_takes_no_launch_whose_entries_it_could_not_look_at(gpu: Gpu) -> None:
    stream = stream_of()
    x, y, ids = on_gpu(10, 11, 12), tp.empty(2, device="cuda"), on_gpu(0, 1, dtype=np.int32)
    with stream:
        take(y, x, ids)  # they are known to be right now
        stream.gpu.begin_capture(stream.handle)
        try:
            with pytest.raises(tp.LaunchError) as raised:
                take(y, x, ids)
        finally:
            stream.gpu.abandon_capture(stream.handle)
    assert raised.value.diagnostics[0].code is Code.NOT_IN_GRAPH


# Copies of which the driver takes a part.


def _third_copy_fails(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    copy, arguments = Stub.on_cuMemcpyAsync, []

    def some(self: Stub, *args: Any) -> Any:
        arguments.append(args)
        return CUresult.CUDA_ERROR_INVALID_VALUE if len(arguments) == 3 else copy(self, *args)

    monkeypatch.setattr(type(stub), "on_cuMemcpyAsync", some)


def test_a_copy_to_the_gpu_that_broke_off_has_leases_and_counts_as_a_write(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, x = stream_of(), tp.zeros((4, 4), device="cuda")
    before = x.version
    with stream, CudaGate(stream):
        with monkeypatch.context() as patch:
            _third_copy_fails(stub, patch)
            with pytest.raises(tp.LaunchError, match="INVALID_VALUE"):
                x[:, :2] = 1
        assert x.is_in_flight
        assert x.version > before


def test_pinned_memory_of_a_copy_that_broke_off_is_not_used_again(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    stream, x = stream_of(), tp.zeros((4, 4), device="cuda")
    with stream, CudaGate(stream):
        with monkeypatch.context() as patch:
            _third_copy_fails(stub, patch)
            with pytest.raises(tp.LaunchError, match="INVALID_VALUE"):
                x[:, :2].numpy()
        gc.collect()  # an error keeps what the frames had that it came through
        kept = [pinned.pinned(stream.gpu, 32) for _ in range(4)]
        for piece in kept:
            piece.array[...] = 0x77
    stream.gpu.synchronize(stream.handle)
    assert all((piece.array == 0x77).all() for piece in kept)


# What failed.


@needs_assembler
def test_what_lies_between_elements_that_the_host_writes_stays_poisoned(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_copies, "_MOST_RUNS", {True: 0, False: 0})
    y, at, x = tp.zeros(4, device="cuda"), on_gpu(9, dtype=np.int32), on_gpu(5)
    put(y, at, x)
    with pytest.raises(tp.TileproofError):
        tp.current_stream("cuda").synchronize()
    y[::2] = 1
    with pytest.raises(tp.TileproofError, match="9"):
        y[1:2].tolist()
    assert (y[:1].tolist(), y[2:3].tolist()) == ([1], [1])


@tp.kernel
def put_both(y: InOut[f32, "N"], z: InOut[f32, "N"], at: In[i32, "1"], x: In[f32, "1"]) -> None:
    y[at[0] + 0] = x[0]
    z[at[0] + 0] = x[0]


@needs_assembler
@pytest.mark.parametrize("is_beside", [False, True])
def test_a_launch_that_is_waited_for_is_not_cured_by_what_came_before_it(gpu: Gpu, is_beside: bool) -> None:
    one, two = stream_of(), stream_of()
    y, z, at, x = tp.empty(4, device="cuda"), GpuArray(np.zeros(4, np.float32)), on_gpu(9, dtype=np.int32), on_gpu(5)
    ones = on_gpu(1, 1, 1, 1)
    with one:
        same(y, ones)
    with two if is_beside else one, pytest.raises(tp.TileproofError, match="9"):
        put_both(y, z, at, x)
    for stream in (one, two):
        stream.synchronize()
    with pytest.raises(tp.TileproofError, match="9"):
        y.tolist()


@needs_assembler
@pytest.mark.parametrize("places", [(3, 0), (0, 3), (3, 3)])
def test_every_replay_is_judged_by_its_own_checks(gpu: Gpu, places: tuple[int, int]) -> None:
    x, y, at = on_gpu(1, 2, 3), tp.zeros(1, device="cuda"), on_gpu(0, dtype=np.int32)
    stream = tp.current_stream("cuda")
    with tp.Graph() as graph:
        pick(y, x, at)
    for place in places:
        at[...] = place
        graph.replay()
    if places[1] == 3:
        with pytest.raises(tp.TileproofError, match="3"):
            y.tolist()
    else:
        assert y.tolist() == [1]
        with pytest.raises(tp.TileproofError, match="3"):
            stream.synchronize()


@needs_assembler
@pytest.mark.parametrize("entries", [(7, 1), (1, 7)])
def test_every_replay_is_judged_by_its_own_entries(gpu: Gpu, entries: tuple[int, int]) -> None:
    x, ids, y = on_gpu(10, 11, 12), on_gpu(0, 2, dtype=np.int32), tp.empty(2, device="cuda")
    stream = tp.current_stream("cuda")
    with tp.Graph() as graph:
        take(y, x, ids)
    for entry in entries:
        ids[...] = ids_of(entry, entry)
        graph.replay()
    if entries[1] == 7:
        with pytest.raises(tp.LaunchError, match="is 7"):
            y.tolist()
    else:
        assert y.tolist() == [11, 11]
        with pytest.raises(tp.LaunchError, match="is 7"):
            stream.synchronize()


@needs_assembler
def test_a_replay_that_failed_in_flight_leaves_poison_to_those_behind_it(gpu: Gpu) -> None:
    y, at, x = tp.zeros(3, device="cuda"), on_gpu(3, dtype=np.int32), on_gpu(5)
    with tp.Graph() as graph:
        put(y, at, x)
    graph.replay()
    at[...] = 0
    graph.replay()  # it keeps what it does not write, and that counts for nothing
    with pytest.raises(tp.TileproofError, match="3"):
        y.tolist()


@needs_assembler
def test_memory_that_others_see_is_not_handed_over_before_its_checks_are_known(gpu: Gpu) -> None:
    y, at, x = tp.zeros(3, device="cuda"), on_gpu(3, dtype=np.int32), on_gpu(5)
    put(y, at, x)
    with pytest.raises(tp.TileproofError, match="3"):
        y.__dlpack__(stream=1)
    z = tp.empty(3, device="cuda")
    y[...] = 0
    put(y, at, x)
    same(z, y)
    with pytest.raises(tp.TileproofError, match="3"):
        _ = z.__cuda_array_interface__


@needs_assembler
@pytest.mark.parametrize("kind", ["lent", "foreign"])
def test_a_replay_on_memory_of_others_is_waited_for_if_it_has_checks(gpu: Gpu, kind: str) -> None:
    array = np.zeros(3, np.float32)
    y: Any = on_gpu(*array) if kind == "lent" else GpuArray(array)
    at, x = on_gpu(3, dtype=np.int32), on_gpu(5)
    with tp.Graph() as graph:
        put(y, at, x)
    lent = y.__dlpack__(stream=1) if kind == "lent" else None
    with pytest.raises(tp.TileproofError, match="3"):
        graph.replay()
    del lent


# Streams of others.


@needs_assembler
def test_a_replay_beside_the_stream_of_torch_is_ordered_with_it(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeTorch().use(monkeypatch)
    array = np.ones(3, np.float32)
    gpu_array = GpuArray(array)
    x, y = TorchTensor(gpu_array.address, array), tp.empty(3, device="cuda")
    with tp.Graph() as graph:
        same(y, x)
    mine = stream_of()
    before = len(gpu.named("cuStreamWaitEvent"))
    graph.replay(mine)
    order = [args[0] for args in gpu.named("cuStreamWaitEvent")][before:]
    assert order[:1] == [mine.handle]
    assert order[-1:] == [0]
    mine.synchronize()


@needs_assembler
def test_a_replay_waits_for_the_stream_that_an_owner_names(gpu: Gpu) -> None:
    gpu_array = GpuArray(np.ones(3, np.float32))
    theirs = stream_of()
    x: Any = SimpleNamespace(
        __cuda_array_interface__={**gpu_array.__cuda_array_interface__, "stream": theirs.handle}, device=0
    )
    y = tp.empty(3, device="cuda")
    with tp.Graph() as graph:
        same(y, x)
    mine = stream_of()
    with CudaGate(theirs):
        graph.replay(mine)
        assert not mine.has_done(mine.turn)
    mine.synchronize()


@needs_assembler
def test_a_replay_is_not_given_to_a_stream_that_records(gpu: Gpu) -> None:
    x, y, stream = on_gpu(1, 2), tp.empty(2, device="cuda"), stream_of()
    with tp.Graph() as graph:
        same(y, x)
    stream.gpu.begin_capture(stream.handle)
    try:
        with pytest.raises(tp.LaunchError) as raised:
            graph.replay(stream)
    finally:
        stream.gpu.abandon_capture(stream.handle)
    assert raised.value.diagnostics[0].code is Code.NOT_IN_GRAPH


# Locks.


def test_a_fork_takes_the_locks_in_the_order_in_which_others_do(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = ledger_of(None)
    monkeypatch.setattr(leases, "_ledgers", {1: leases.Ledger(1), 0: leases.Ledger(0), None: cpu})
    leases._hold_locks()
    try:
        assert [ledger.device for ledger in leases._locked] == [None, 0, 1]
    finally:
        leases._release_locks()


# Signals.


@needs_assembler
@pytest.mark.parametrize("way", ["launch", "copy"])
def test_work_that_a_signal_interrupted_is_over_and_counts_as_a_write(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    x, y, stream = on_gpu(1, 2, 3), on_gpu(0, 0, 0), stream_of()
    before = y.version
    gate, opened = CudaGate(stream), threading.Event()

    def open_gate() -> None:
        opened.set()
        gate.open()

    opening = threading.Timer(0.05, open_gate)
    opening.start()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    work: Callable[..., object] = same if way == "launch" else tp.copy
    with monkeypatch.context() as patch, stream:
        patch.setattr(leases.Ledger, "note", interrupted)  # the driver has it, and nothing is written down
        with pytest.raises(KeyboardInterrupt):
            work(y, x)
    assert opened.is_set(), "it was waited for"
    opening.join()
    assert y.version > before
    with pytest.raises(RuntimeError, match="interrupted"):
        y.tolist()
    y[...] = 4
    assert y.tolist() == [4, 4, 4]


# Memory that torch and graphs of others use.


@needs_assembler
def test_memory_of_torch_lives_until_a_launch_on_a_stream_of_ours_is_done(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = FakeTorch().use(monkeypatch)
    array = np.ones(3, np.float32)
    gpu_array = GpuArray(array)
    x, y, mine = TorchTensor(gpu_array.address, array), tp.empty(3, device="cuda"), stream_of()
    with mine:
        same(y, x)  # x was made on torch's default stream, and torch would give its memory to others there
    assert torch.handle == 0
    kept: Any = mine.pending[-1][1].keep
    is_kept = any(x is each.keep for each in kept)
    mine.synchronize()
    assert is_kept or x.recorded == [mine.handle]


def test_memory_that_was_lent_goes_back_behind_the_work_of_who_borrowed_it(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    FakeTorch().use(monkeypatch)
    mine, theirs = stream_of(), CudaStream.of(0, 0)
    with mine:
        x = tp.empty(3, device="cuda")
    address = x.address
    capsule = x.__dlpack__(stream=1)
    with CudaGate(theirs):  # torch does something long with it
        del capsule, x
        gc.collect()
        tp.memory("cuda")  # gives back what was dropped
        stub.streams.go_on()
        is_there = address in stub.blocks
    assert is_there


@needs_assembler
def test_a_tensor_in_a_graph_of_others_is_kept(gpu: Gpu) -> None:
    x, y, stream = on_gpu(1, 2, 3), on_gpu(0, 0, 0), stream_of()
    address = x.address
    stream.gpu.begin_capture(stream.handle)
    with stream:
        same(y, x)
    graph = stream.gpu.end_capture(stream.handle).instantiate()
    del x
    gc.collect()
    tp.memory("cuda")
    stream.gpu.synchronize(0)
    is_there = address in gpu.blocks
    del graph
    assert is_there
    cuda_launches._in_foreign_graphs.clear()  # for good is until the process ends, and the stand-in ends here
    del y
