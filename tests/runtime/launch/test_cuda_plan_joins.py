"""Launches on a GPU that join pieces and are like an earlier one: two calls of the driver, and memory between them."""

from __future__ import annotations

import gc
import random
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import CUresult
from oracles.evaluated_gpu import Gpu, GpuArray
from oracles.recording_driver import EARLY, plan_of
from oracles.tile_ir_operations import has_assembler
from samples.example_launches import FOLDER
from support.cuda_host import CudaGate, clean_slate, stream_of
from support.driver_state import nodes
from support.launch_caches import forget_launches
from support.source_files import load_file
from tileproof import In, InOut, Out, f32
from tileproof.diagnostics.codes import Code
from tileproof.runtime.launch import cuda_plans as following
from tileproof.runtime.memory.ledger import ledger_of
from tileproof.runtime.native import Join
from tileproof.runtime.stream.cuda_streams import CudaStream

pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
COUNT = 9
Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def slate(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with clean_slate(monkeypatch):
        yield


@tp.kernel
def joined(y: Out[f32, "1"], x: In[f32, "N"], *, S: int = 4) -> None:
    for z in tp.parallel(N=tp.split(S)):
        y[0] = tp.join(x[z].sum(), over=z)


@tp.kernel(schedule=tp.Schedule(persistent=True))
def many(y: Out[f32, "M"], x: In[f32, "M N"]) -> None:
    for m, z in tp.parallel(M=tp.each, N=tp.split(4)):
        y[m] = tp.join(x[m, z].sum(), over=z)


@tp.kernel
def marked(seen: InOut[f32, "N"], y: Out[f32, "1"], x: In[f32, "N"]) -> None:
    for z in tp.parallel(N=tp.split(4)):
        seen[z] = seen[z] + 1.0
        y[0] = tp.join(x[z].sum(), over=z)


@tp.kernel
def plus(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n] + 1.0


def floats(*shape: int) -> Array:
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def pair(count: int = COUNT) -> tuple[GpuArray, GpuArray]:
    return GpuArray(np.zeros(1, np.float32)), GpuArray(floats(count))


def owned(count: int = COUNT) -> tuple[tp.Tensor, tp.Tensor]:
    return tp.empty((1,), f32, "cuda"), tp.from_numpy(floats(count), "cuda")


def is_full(gpu: Gpu, kernel: tp.Kernel, *args: Any, **constants: Any) -> bool:
    """Whether a launch goes the full way."""
    gpu.take()
    kernel(*args, **constants)
    return bool(gpu.take())


def is_native(gpu: Gpu, monkeypatch: pytest.MonkeyPatch, kernel: tp.Kernel, *args: Any) -> bool:
    """Whether a launch follows another without Python."""
    with monkeypatch.context() as patch:
        patch.setattr(following, "_follow_in_order", lambda *_: False)
        return not is_full(gpu, kernel, *args)


# What the driver is given.


def test_the_driver_is_given_both_stages_as_the_full_launch_gives_them(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    joined(*pair())
    full = gpu.take()
    assert [(each.entry, each.blocks) for each in full] == [("joined", 3), ("joined_after", 1)]
    y, x = pair()
    assert is_native(gpu, monkeypatch, joined, y, x)
    first, second = gpu.follower("joined"), gpu.follower("joined_after")
    assert (first.calls, second.calls) == (1, 1)
    assert [each.latest.grid for each in (first, second)] == [(3, 1, 1), (1, 1, 1)]
    assert [each.latest.extra for each in (first, second)] == [0, EARLY]
    assert first.latest.words == second.latest.words
    words = dict(zip(full[0].words, first.latest.words, strict=True))
    assert words["space",] not in (0, y.address, x.address)
    changed = {("pointer", "y"): y.address, ("pointer", "x"): x.address, ("space",): words["space",]}
    assert words == {**full[0].words, **changed}


def test_a_persistent_schedule_has_no_more_blocks_than_the_gpu_holds(gpu: Gpu) -> None:
    gpu_array = GpuArray(np.zeros(5, np.float32)), GpuArray(floats(5, COUNT))
    many(*gpu_array)
    full = gpu.take()
    assert not is_full(gpu, many, *gpu_array)
    calls = [gpu.follower(each.entry).latest for each in full]
    assert [call.grid for call in calls] == [(each.blocks, 1, 1) for each in full] == [(3, 1, 1), (3, 1, 1)]


def test_memory_is_taken_and_given_back_round_every_launch(gpu: Gpu) -> None:
    arguments = pair()
    joined(*arguments)
    for _ in range(3):
        gpu.calls.clear()
        assert not is_full(gpu, joined, *arguments)
        names = [name for name, _ in gpu.calls]
        assert names == ["cuStreamIsCapturing", "cuMemAllocAsync", "cuMemFreeAsync"]
        assert gpu.scratch == {}
    assert gpu.pools[0].threshold > 0, "the pool gives memory back whenever somebody waits"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["argmax_two_stage", "matmul_split"])
def test_examples_are_right_again_and_again(gpu: Gpu, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    gpu.runs_followers = True
    example = load_file(FOLDER / f"{name}.py")
    kernel, followed = getattr(example, name), 0
    monkeypatch.setattr(following, "_follow_in_order", lambda *_: False)
    for seed in range(4):
        args, constants = example.arguments(seed)
        arguments = [GpuArray(arg) for arg in args]
        followed += not is_full(gpu, kernel, *arguments, **constants)
        (expected,) = example.reference(*args)
        np.testing.assert_allclose(arguments[0].numpy(), expected, rtol=1e-4, atol=1e-4)
    assert followed == 3


# Where memory is taken, and where not.


def test_a_stream_that_records_is_left_to_the_full_launch(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu.runs_followers = True
    stream = stream_of()
    y, x = pair()
    with stream:
        joined(y, x)
        assert is_native(gpu, monkeypatch, joined, y, x)
        stream.gpu.begin_capture(stream.handle)
        first, second = gpu.follower("joined").calls, gpu.follower("joined_after").calls
        assert is_full(gpu, joined, y, x)
        assert (gpu.follower("joined").calls, gpu.follower("joined_after").calls) == (first, second)
        graph = stream.gpu.end_capture(stream.handle)
        assert len(nodes(graph)) == 4, "memory is taken and given back in the graph"
        assert is_native(gpu, monkeypatch, joined, y, x)
    stream.synchronize()
    assert y.numpy().tolist() == [36.0]


def test_a_launch_that_is_recorded_leaves_no_plan(gpu: Gpu) -> None:
    stream = stream_of()
    arguments = pair()
    with stream:
        stream.gpu.begin_capture(stream.handle)
        for _ in range(2):
            assert is_full(gpu, joined, *arguments)
        stream.gpu.end_capture(stream.handle)
    assert joined.launch_cache == {}


def test_while_nobody_can_tell_whether_a_stream_records_nothing_is_followed(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    arguments = pair()
    joined(*arguments)
    monkeypatch.setattr(Gpu, "_captured", lambda *_: 906)
    calls = gpu.follower("joined").calls
    gpu._entries.clear()
    joined.forget()
    joined.launch_cache.clear()
    joined(*arguments)
    assert not is_native(gpu, monkeypatch, joined, *arguments)
    assert gpu.follower("joined").calls == calls


class Beside:
    """Two streams of which one is held, so that there is no moment at which the other is alone."""

    def __init__(self) -> None:
        self.stream, self.held = stream_of(), stream_of()
        self.gate = CudaGate()

    def __enter__(self) -> CudaStream:
        self.gate.hold(self.held)
        with self.held:
            plus(*(tp.full((4,), 1, f32, "cuda") for _ in range(2)))
        self.stream.__enter__()
        return self.stream

    def __exit__(self, *error: Any) -> None:
        self.stream.__exit__(*error)
        self.gate.open()
        self.held.synchronize()
        with ledger_of(0).lock:
            ledger_of(0).retire()


def test_beside_other_streams_every_launch_has_memory_of_its_own(gpu: Gpu) -> None:
    gpu.runs_followers = True
    results = [tp.empty((1,), f32, "cuda") for _ in range(4)]
    sources = [tp.from_numpy(floats(COUNT) + turn, "cuda") for turn in range(4)]
    joined(results[0], sources[0])
    one, two = stream_of(), stream_of()
    with CudaGate(one, two):
        gpu.take()
        gpu.calls.clear()
        for turn, (y, x) in enumerate(zip(results, sources, strict=True)):
            with (one, two)[turn % 2]:
                joined(y, x)
        assert gpu.take() == []
        given_back = gpu.named("cuMemFreeAsync")
        assert [stream for _, stream in given_back] == [one.handle, two.handle] * 2
        assert len({address for address, _ in given_back}) == 4
    one.synchronize()
    two.synchronize()
    assert [y.tolist() for y in results] == [[36.0 + COUNT * turn] for turn in range(4)]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", range(3))
def test_whatever_streams_do_the_results_are_right(gpu: Gpu, seed: int) -> None:
    """Streams become alone, are held, and share what they read and write."""
    gpu.runs_followers = True
    choose = random.Random(seed)
    joined(*owned())
    plus(*(tp.full((COUNT,), 0, f32, "cuda") for _ in range(2)))
    streams = [stream_of() for _ in range(3)]
    tensors = [tp.full((COUNT,), value, f32, "cuda") for value in range(3)]
    model = [np.full(COUNT, value, np.float32) for value in range(3)]
    gpu.take()
    for _ in range(4):
        with CudaGate(*choose.sample(streams, choose.randrange(3))):
            for _ in range(6):
                to, source = choose.sample(range(3), 2)
                with choose.choice(streams):
                    if choose.random() < 0.5:
                        place = choose.randrange(COUNT)
                        joined(tensors[to][place : place + 1], tensors[source])
                        model[to][place] = model[source].sum()
                    else:
                        plus(tensors[to], tensors[source])
                        model[to] = model[source] + np.float32(1)
        for stream in streams:
            stream.synchronize()
        assert [tensor.tolist() for tensor in tensors] == [each.tolist() for each in model]
    assert len(gpu.take()) < 12, "most of it followed an earlier launch"


def test_threads_follow_one_plan(gpu: Gpu) -> None:
    arguments = pair()
    joined(*arguments)
    gpu.take()
    threads = [threading.Thread(target=lambda: [joined(*arguments) for _ in range(25)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    followed = gpu.follower("joined").calls
    assert gpu.follower("joined_after").calls == followed
    assert len(gpu.take()) + 2 * followed == 200
    assert gpu.scratch == {}


def test_what_is_beside_a_recording_goes_the_full_way(gpu: Gpu) -> None:
    y, x = pair()
    joined(y, x)
    with Beside() as stream:
        assert not is_full(gpu, joined, y, x)
        stream.gpu.begin_capture(stream.handle)
        assert is_full(gpu, joined, y, x)
        stream.gpu.end_capture(stream.handle)


def test_a_plan_keeps_no_memory_of_the_gpu(gpu: Gpu) -> None:
    for count in range(5, 5 + 20):
        joined(*pair(count))
        assert not is_full(gpu, joined, *pair(count))
    assert gpu.scratch == {}
    assert gpu.pools[0].used == 0


# What the driver refuses.


def refuse(gpu: Gpu, entry: str, error: CUresult = CUresult.CUDA_ERROR_INVALID_VALUE) -> None:
    """Has a kernel be rejected where a launch follows another."""
    gpu.follower(entry)._memory[1] = int(error)


def test_without_memory_the_full_launch_says_so(gpu: Gpu) -> None:
    y, x = owned()
    joined(y, x)
    gpu.room = len(gpu.scratch)
    with pytest.raises(tp.LaunchError) as raised:
        joined(y, x)
    assert raised.value.diagnostics[0].code is Code.OUT_OF_DEVICE_MEMORY
    assert gpu.follower("joined").calls == 0
    gpu.room = 1 << 20
    assert not is_full(gpu, joined, y, x)


def test_what_the_driver_refuses_at_once_is_told_by_the_full_launch(gpu: Gpu) -> None:
    y, x = owned()
    joined(y, x)
    refuse(gpu, "joined")
    assert is_full(gpu, joined, y, x)
    assert gpu.follower("joined_after").calls == 0
    assert y.tolist() == [36.0]


@pytest.mark.parametrize("is_beside", [False, True])
def test_a_launch_that_breaks_off_is_reported_as_a_full_one_is(gpu: Gpu, is_beside: bool) -> None:
    """The full launch is asked the same question, by a driver that refuses the second of its calls."""
    gpu.runs_followers = True
    seen, y, x = tp.full((COUNT,), 0, f32, "cuda"), *owned()
    marked(seen, y, x)
    lines = []
    for is_full_one in (True, False):
        seen, y, x = tp.full((COUNT,), 0, f32, "cuda"), *owned()
        other = tp.full((COUNT,), 5, f32, "cuda")
        beside = Beside() if is_beside else None
        stream = beside.__enter__() if beside else stream_of().__enter__()
        try:
            assert not is_full(gpu, marked, tp.full((COUNT,), 0, f32, "cuda"), *owned())
            version, turn = y.version, stream.turn
            with pytest.MonkeyPatch.context() as patch:
                if is_full_one:
                    forget_launches(marked)
                    start = Gpu.on_cuLaunchKernelEx

                    def refusing(self: Gpu, config: Any, kernel: int, *rest: Any, start: Any = start) -> Any:
                        is_second = self.loaded[kernel].entry.name == "marked_after"
                        return CUresult.CUDA_ERROR_INVALID_VALUE if is_second else start(self, config, kernel, *rest)

                    patch.setattr(Gpu, "on_cuLaunchKernelEx", refusing)
                else:
                    refuse(gpu, "marked_after")
                    if not is_beside:
                        patch.setattr(following, "_follow_in_order", lambda *_: False)
                with pytest.raises(tp.LaunchError) as raised:
                    marked(seen, y, x)
            if not is_full_one:
                assert gpu.follower("marked_after").calls, "it followed another"
                refuse(gpu, "marked_after", CUresult.CUDA_SUCCESS)
            assert y.version > version
            assert stream.turn > turn
            (diagnostic,) = raised.value.diagnostics
            lines.append((diagnostic.code, diagnostic.message, diagnostic.notes[0], diagnostic.help))
            stream.until(stream.turn)
            for spoiled in (seen, y):
                with pytest.raises(tp.LaunchError, match="launching `marked_after`"):
                    spoiled.tolist()
            assert x.tolist() == floats(COUNT).tolist()
            plus(seen, other)  # what it spoiled is written anew
            marked(seen, y, x)
            assert (seen.tolist(), y.tolist()) == ([7.0] * COUNT, [36.0])
        finally:
            (beside or stream).__exit__(None, None, None)
        stream.errors.clear()
    assert lines[0] == lines[1]
    assert lines[0][0] is Code.CUDA_FAILED


def test_what_a_launch_that_broke_off_does_is_done_once(gpu: Gpu) -> None:
    gpu.runs_followers = True
    seen = GpuArray(np.zeros(COUNT, np.float32))
    y, x = pair()
    marked(seen, y, x)
    refuse(gpu, "marked_after")
    with pytest.raises(tp.LaunchError):
        marked(seen, y, x)
    assert seen.numpy().tolist() == [2.0] * COUNT
    assert gpu.scratch == {}


def test_a_lost_context_is_remembered(gpu: Gpu) -> None:
    y, x = owned()
    joined(y, x)
    refuse(gpu, "joined_after", CUresult.CUDA_ERROR_ILLEGAL_ADDRESS)
    with pytest.raises(tp.LaunchError, match="ILLEGAL_ADDRESS"):
        joined(y, x)
    with pytest.raises(tp.LaunchError, match="lost earlier"):
        y.tolist()
    del y, x
    gpu.scratch.clear()  # it went with the context


def test_arguments_of_a_launch_that_broke_off_are_not_kept(gpu: Gpu) -> None:
    y, x = owned()
    joined(y, x)
    refuse(gpu, "joined_after")
    with pytest.raises(tp.LaunchError):
        joined(y, x)
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None


# Plans.


@pytest.mark.parametrize(
    "changes", [{"word": 1}, {"word": 2}, {"word": -1}, {"grid": (0, 1, 1)}, {"nbytes": 0}], ids=lambda each: str(each)
)
def test_plans_that_make_no_sense_are_refused(changes: dict[str, Any]) -> None:
    arguments = {"name": "a", "function": 1, "grid": (1, 1, 1), "word": 0, "nbytes": 16}
    with pytest.raises(ValueError, match=r"a second call|memory at"):
        plan_of((np.zeros(4),), join=Join(**{**arguments, **changes}, allocate=1, release=1, recording=1))
