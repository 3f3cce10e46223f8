"""Work in flight on a real GPU: what is dropped, fails, or is used twice meanwhile.

A gate holds a stream at a number in pinned memory, so that work is in flight because the test says so, not because the
GPU is slow. Whatever the driver does once, as loading code does, is done before: it may wait for all streams.
"""

from __future__ import annotations

import asyncio
import gc
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from samples.host_launches import EXTENT, mixed, picked, raised
from support.cuda_host import CudaGate
from support.driver_state import pool_use
from tileproof.backends.cuda.device.driver import Device
from tileproof.runtime.stream.cuda_streams import CudaStream, current_cuda_stream

pytestmark = pytest.mark.gpu
TESTS = str(Path(__file__).resolve().parents[1])
Array = np.ndarray[Any, Any]


def stream_of() -> CudaStream:
    made: Any = tp.Stream("cuda")
    assert isinstance(made, CudaStream)
    return made


def full(value: float) -> tp.Tensor:
    return tp.full(EXTENT, value, tp.f32, "cuda")


def places(wrong: int | None = None) -> tp.Tensor:
    values = np.arange(EXTENT, dtype=np.int32)[::-1].copy()
    if wrong is not None:
        values[wrong] = EXTENT + 7
    return tp.from_numpy(values, "cuda")


def holds(tensor: tp.Tensor, value: float) -> bool:
    return bool((tensor.numpy() == np.float32(value)).all())


@pytest.fixture(autouse=True)
def warm(gpu: Device, compiled: None) -> Iterator[None]:
    """All code is loaded, and memory is there."""
    y, x = full(0), full(1)
    for _ in range(2):
        mixed(y, x, x)
        raised(y)
        picked(y, x, places())
    side = stream_of()
    with side:
        kept = [full(0) for _ in range(16)]
        tp.copy(kept[0], kept[1])
        kept[0].numpy()
    del y, x, kept
    tp.memory("cuda")
    gpu.call("waiting for the GPU", "cuCtxSynchronize")
    yield
    gc.collect()
    current_cuda_stream(0).synchronize()
    tp.memory("cuda")


def test_a_launch_returns_before_it_is_done() -> None:
    stream = stream_of()
    y, x = full(0), full(1)
    with CudaGate(stream) as gate:
        with stream:
            mixed(y, x, x)
        assert y.is_in_flight
        assert not stream.is_idle()
        assert "in flight" in repr(y)
        gate.open()
        stream.synchronize()
    assert not y.is_in_flight
    assert holds(y, 1.5)


@pytest.mark.parametrize("seed", range(6))
def test_streams_give_what_one_after_the_other_would(seed: int) -> None:
    """Random launches on random streams, which use the same memory in every way there is."""
    chance = random.Random(seed)
    streams = [stream_of() for _ in range(3)]
    tensors = [full(place) for place in range(5)]
    expected = [np.full(EXTENT, place, np.float32) for place in range(5)]
    gates = [CudaGate(stream) for stream in streams]
    try:
        for _ in range(60):
            with chance.choice(streams):
                y, a, b = chance.sample(range(5), 3)
                if chance.random() < 0.5:
                    mixed(tensors[y], tensors[a], tensors[b])
                    expected[y] = expected[a] * np.float32(0.5) + expected[b]
                elif chance.random() < 0.5:
                    raised(tensors[y])
                    expected[y] = expected[y] * np.float32(0.5) + np.float32(1)
                else:
                    tp.copy(tensors[y], tensors[a])
                    expected[y] = expected[a].copy()
        assert not any(stream.is_idle() for stream in streams)
    finally:
        chance.shuffle(gates)
        for gate in gates:
            gate.open()
    for tensor, array in zip(tensors, expected, strict=True):
        assert np.array_equal(tensor.numpy(), array)


def test_a_tensor_that_is_dropped_in_flight_is_used_to_the_end() -> None:
    home, other = stream_of(), stream_of()
    y, z = full(0), full(0)
    with home:
        x = full(3)
    x.wait()
    with CudaGate(other) as gate:
        with other:
            mixed(y, x, x)
        del x
        with home:
            taken = [full(9) for _ in range(8)]  # the same memory, if it were free
            mixed(z, taken[0], taken[1])
        gate.open()
        assert holds(y, 4.5)
        assert holds(z, 13.5)


def test_a_host_that_runs_ahead_takes_no_more_memory_than_it_uses(gpu: Device) -> None:
    gpu.pool()._write("USED_MEM_HIGH", 0)
    before = pool_use(gpu.pool()).used
    x = full(1)
    for _ in range(3000):
        y = full(0)
        mixed(y, x, x)
        del y
    current_cuda_stream(0).synchronize()
    assert pool_use(gpu.pool()).used_high - before < 600 * 4 * EXTENT


def test_an_exception_in_between_leaves_the_work_where_it_is() -> None:
    stream, y = stream_of(), full(0)

    def fails() -> None:
        x = full(1)
        with stream:
            mixed(y, x, x)
            raise ValueError("something else")

    with CudaGate(stream) as gate:
        with pytest.raises(ValueError, match="something else"):
            fails()
        gc.collect()
        full(7)
        gate.open()
        assert holds(y, 1.5)


def test_a_failed_check_is_told_when_somebody_looks() -> None:
    stream = stream_of()
    y, z, x = full(0), full(0), full(1)
    wrong = places(5)
    with CudaGate(stream) as gate:
        with stream:
            picked(y, x, wrong)
            raised(z)
            mixed(z, y, x)
        assert not stream.is_idle()
        gate.open()
        with pytest.raises(tp.OutOfBounds, match=f"is {EXTENT + 7},"):
            z.numpy()
    with pytest.raises(tp.OutOfBounds, match="n=5"):
        y.numpy()
    assert holds(x, 1), "the context lives"
    with stream:
        picked(y, x, places())
        mixed(z, y, x)
    assert holds(z, 1.5)


def test_a_failed_check_in_a_large_grid_is_told() -> None:
    y, x = full(0), full(1)
    picked(y, x, places(EXTENT - 1))
    with pytest.raises(tp.OutOfBounds, match=f"n={EXTENT - 1}"):
        current_cuda_stream(0).synchronize()


def test_tasks_go_on_while_one_waits_and_a_failed_check_is_raised_where_it_is_awaited() -> None:
    stream = stream_of()
    y, z, x = full(0), full(0), full(1)
    wrong, right = places(9), places()

    async def main() -> list[str]:
        said: list[str] = []

        async def run(name: str, operation: Any) -> None:
            with stream:
                try:
                    await operation
                    said.append(name)
                except tp.OutOfBounds:
                    said.append(f"{name} failed")

        with CudaGate(stream) as gate:
            tasks = [asyncio.create_task(run("wrong", picked.op(y, x, wrong))),
                     asyncio.create_task(run("right", picked.op(z, x, right)))]  # fmt: skip
            for _ in range(10):
                await asyncio.sleep(0)
            said.append("meanwhile")
            gate.open()
            await asyncio.gather(*tasks)
        return said

    said = asyncio.run(main())
    assert said[0] == "meanwhile"
    assert sorted(said[1:]) == ["right", "wrong failed"]
    assert holds(z, 1)


def test_threads_share_tensors_and_streams() -> None:
    shared, wrong = full(1), []

    def work(number: int) -> None:
        try:
            with stream_of():
                total = full(number)
                for _ in range(100):
                    fresh = full(0)
                    mixed(fresh, total, shared)
                    tp.copy(total, fresh)
                expected = np.float32(number)
                for _ in range(100):
                    expected = expected * np.float32(0.5) + np.float32(1)
                assert holds(total, float(expected))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert holds(shared, 1)


def test_threads_that_write_one_tensor_take_turns() -> None:
    y = full(0)

    def work() -> None:
        with stream_of() as stream:
            for _ in range(50):
                raised(y)
            stream.synchronize()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = np.float32(0)
    for _ in range(200):
        expected = expected * np.float32(0.5) + np.float32(1)
    assert holds(y, float(expected))


def test_where_memory_runs_out_the_pipeline_goes_on(gpu: Device) -> None:
    _, total = gpu.memory_info()
    y, x = full(0), full(1)
    for _ in range(3):
        mixed(y, x, x)
        with pytest.raises(tp.OutOfMemory, match="are free there"):
            tp.empty(total, tp.f32, "cuda")
        raised(y)
    assert holds(y, 1.75)
    half = total // 2
    for _ in range(4):  # each fits only when the one before is gone
        big = tp.empty(half, tp.u8, "cuda")
        assert big.nbytes == half
        del big


def test_what_the_host_gives_may_change_at_once() -> None:
    stream, values = stream_of(), np.arange(EXTENT, dtype=np.float32)
    warm = tp.from_numpy(values, "cuda")
    with CudaGate(stream) as gate, stream:
        x = tp.from_numpy(values, "cuda")
        x[::32] = -1
        values[:] = 0
        gate.open()
        found = x.numpy()
    expected = warm.numpy()
    expected[::32] = -1
    assert np.array_equal(found, expected)


def test_large_arrays_come_and_go_piece_by_piece() -> None:
    values = np.random.default_rng(0).integers(0, 2**31, (3 << 23) + 5, np.int32)
    x = tp.from_numpy(values, "cuda")
    assert np.array_equal(x.numpy(), values)


# Torch.


@pytest.fixture
def torch(gpu: Device) -> Any:
    module = pytest.importorskip("torch", reason="torch is not installed")
    if not module.cuda.is_available():
        pytest.skip("this torch was built without CUDA")
    # Torch loads its kernels when they are first used, too.
    used = module.zeros(EXTENT, device="cuda")
    used.fill_(2)
    used += 1
    used.sum().item()
    assert module.full((EXTENT,), 3.0, device="cuda").tolist() == used.tolist()
    return module


def test_torch_sees_what_a_kernel_in_flight_writes(torch: Any) -> None:
    stream, x, y = stream_of(), full(1), full(0)
    torch.from_dlpack(full(0)).sum().item()
    with CudaGate(stream) as gate:
        with stream:
            mixed(y, x, x)
        seen = torch.from_dlpack(y)
        total = seen.sum()
        gate.open()
        assert total.item() == 1.5 * EXTENT
    seen.fill_(4)
    raised(y)
    assert holds(y, 3)
    assert seen[0].item() == 3
    del seen, total


def test_a_stream_of_ours_is_that_of_torch_in_its_block(torch: Any) -> None:
    stream, before = stream_of(), torch.cuda.current_stream().cuda_stream
    x = torch.ones(EXTENT, device="cuda")
    y = torch.zeros(EXTENT, device="cuda")
    torch.cuda.synchronize()
    with CudaGate(stream) as gate, stream:
        assert torch.cuda.current_stream().cuda_stream == stream.handle
        x.fill_(2)
        mixed(y, x, x)
        y += 1
        gate.open()
        assert y.tolist() == [4] * EXTENT
    assert torch.cuda.current_stream().cuda_stream == before


def test_tensors_of_torch_that_are_dropped_beside_its_stream_are_used_to_the_end(torch: Any) -> None:
    stream, y = stream_of(), full(0)

    async def main() -> None:
        with stream:
            x = torch.full((EXTENT,), 3.0, device="cuda")
            mixed(y, x, x)
            del x

    x = torch.full((EXTENT,), 3.0, device="cuda")
    del x
    with CudaGate(stream) as gate:
        asyncio.run(main())
        opener = threading.Timer(0.05, gate.open)  # torch's stream waits for ours
        opener.start()
        other = torch.full((EXTENT,), 9.0, device="cuda")
        assert other[0].item() == 9
        opener.join()
    assert holds(y, 4.5)


# A context that is lost.


def test_nobody_waits_for_a_gpu_that_is_lost(alone: Callable[[str], str]) -> None:
    printed = alone(f"""
        import asyncio, sys
        sys.path.insert(0, {TESTS!r})
        from samples.gpu_kernels import STRAYING, code
        import tileproof as tp
        from tileproof.backends.cuda.device.driver import launch, load
        from tileproof.runtime.memory.ledger import Work
        straying = load(code(STRAYING)).function("straying")
        x = tp.zeros(16, device="cuda")
        stream = tp.Stream("cuda")
        turn = stream.begin(Work("straying", (), (x.span,)), lambda: launch(straying, (1, 1, 1), stream.handle, 0))

        async def wait():
            await stream.reached(turn)

        for ask in (lambda: asyncio.run(wait()), stream.synchronize, x.numpy, lambda: tp.zeros(4, device="cuda")):
            try:
                ask()
                print("nothing was said")
            except tp.LaunchError as error:
                print(error.diagnostics[0].help)
        del x, stream
        print("ended")
    """)
    assert printed == "the context is lost: restart the process\n" * 4 + "ended\n"
