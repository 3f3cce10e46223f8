"""Streams, events, pools, pinned memory and graphs of the CUDA driver, for real."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from samples.gpu_kernels import NUMBERING, code, number
from support.driver_state import edges, nodes, pool_use
from tileproof.backends.cuda.device import driver
from tileproof.backends.cuda.device.driver import Device, Event, Function, Memory, Place, load, place_of
from tileproof.diagnostics.errors import LaunchError

pytestmark = pytest.mark.gpu
MANY = 1 << 20


@pytest.fixture
def numbering() -> Function:
    return load(code(NUMBERING)).function("numbering")


@pytest.fixture
def streams(gpu: Device) -> Iterator[tuple[int, int]]:
    made = gpu.make_stream(), gpu.make_stream()
    yield made
    for stream in made:
        gpu.abandon_capture(stream)
        gpu.end_stream(stream)


class Gate:
    """Holds streams until it is opened."""

    def __init__(self, gpu: Device) -> None:
        self.gpu, self.address = gpu, gpu.allocate_host(4)
        self.word = ctypes.c_uint32.from_address(self.address)
        self.word.value = 0

    def hold(self, stream: int) -> None:
        self.gpu.call("waiting for a value", "cuStreamWaitValue32", stream, self.address, 1, 0)

    def open(self) -> None:
        self.word.value = 1


@pytest.fixture
def gate(gpu: Device, streams: tuple[int, int]) -> Iterator[Gate]:
    made = Gate(gpu)
    yield made
    made.open()
    for stream in streams:
        gpu.synchronize(stream)


@pytest.fixture
def semaphore() -> Iterator[tuple[int, int, Callable[[], int]]]:
    """The address of a function of C that counts, of what it counts in, and what reads that."""
    libc = ctypes.CDLL(None)
    room, value = ctypes.create_string_buffer(64), ctypes.c_int()
    assert libc.sem_init(room, 0, 0) == 0

    def read() -> int:
        assert libc.sem_getvalue(room, ctypes.byref(value)) == 0
        return value.value

    yield ctypes.cast(libc.sem_post, ctypes.c_void_p).value or 0, ctypes.addressof(room), read
    libc.sem_destroy(room)


def pinned(address: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.ctypeslib.as_array((ctypes.c_uint8 * count).from_address(address))


# Streams and events.


def test_some_streams_go_first(gpu: Device) -> None:
    urgent = gpu.make_stream(priority=-1)
    gpu.synchronize(urgent)
    gpu.end_stream(urgent)


def test_a_gate_holds_a_stream_and_those_that_wait_for_it(gpu: Device, streams: tuple[int, int], gate: Gate) -> None:
    held, other = streams
    first, second = Event(gpu), Event(gpu)
    gate.hold(held)
    first.record(held)
    gpu.synchronize(other)
    first.wait_on(other)
    second.record(other)
    assert not first.is_done
    assert not second.is_done
    gate.open()
    second.synchronize()
    assert first.is_done


def test_a_stream_waits_for_the_moment_an_event_had_when_it_was_given_back(
    gpu: Device, streams: tuple[int, int], gate: Gate
) -> None:
    held, other = streams
    gate.hold(held)
    event = gpu.event()
    event.record(held)
    event.wait_on(other)
    event.give_back()
    again = gpu.event()
    assert again is event
    third = gpu.make_stream()
    again.record(third)
    again.synchronize()
    gpu.end_stream(third)
    end = Event(gpu)
    end.record(other)
    assert not end.is_done
    gate.open()
    end.synchronize()


# Memory.


def test_a_pool_keeps_what_is_freed_until_it_is_trimmed(gpu: Device, streams: tuple[int, int]) -> None:
    stream, _ = streams
    pool = gpu.pool()
    gpu.trim_pool()
    pool._write("USED_MEM_HIGH", 0)
    before = pool_use(pool)
    address = gpu.allocate_async(64 * MANY, stream)
    assert pool_use(pool).used >= before.used + 64 * MANY
    gpu.free_async(address, stream)
    gpu.synchronize(stream)
    after = pool_use(pool)
    assert after.used == before.used
    assert after.used_high >= before.used + 64 * MANY
    assert after.reserved >= 64 * MANY
    gpu.trim_pool()
    assert pool_use(pool).reserved < after.reserved
    free, total = gpu.memory_info()
    assert 0 < free < total


def test_bytes_go_through_pinned_memory_without_a_wait(gpu: Device, streams: tuple[int, int], gate: Gate) -> None:
    stream, _ = streams
    source, back = gpu.allocate_host(MANY), gpu.allocate_host(MANY)
    assert place_of(source) == Place(Memory.HOST, 0)
    here, there = gpu.allocate(MANY), gpu.allocate(MANY)
    pinned(source, MANY)[:] = np.random.default_rng(3).integers(0, 256, MANY, np.uint8)
    pinned(back, MANY)[:] = 0
    gate.hold(stream)
    gpu.copy_async(here, source, MANY, stream)
    gpu.copy_async(there, here, MANY, stream)
    gpu.copy_async(back, there, MANY, stream)
    assert not pinned(back, MANY).any()
    gate.open()
    gpu.synchronize(stream)
    assert (pinned(back, MANY) == pinned(source, MANY)).all()
    for address in (here, there):
        gpu.free(address)


def test_bytes_go_from_gpu_to_gpu(gpu: Device, streams: tuple[int, int]) -> None:
    peer = Device(driver.device_count() - 1)
    source, to = peer.allocate(MANY), gpu.allocate_async(MANY, streams[0])
    peer.memset_async(source, 0x1234, MANY // 2, 0, width=2)
    peer.synchronize(0)
    gpu.copy_from_peer(to, peer, source, MANY, streams[0])
    assert (gpu.copy_to_host(to, MANY, streams[0]).view(np.uint16) == 0x1234).all()
    gpu.free_async(to, streams[0])
    peer.free(source)


@pytest.mark.parametrize(("width", "kind"), [(1, np.uint8), (2, np.uint16), (4, np.uint32)])
def test_a_pattern_fills_as_many_elements_as_were_asked_for(gpu: Device, width: int, kind: type) -> None:
    address, value = gpu.allocate(100 * width), 0xFEDCBA98 & ((1 << 8 * width) - 1)
    gpu.memset_async(address, 0, 100, 0, width=width)
    gpu.memset_async(address + width, value, 98, 0, width=width)
    assert gpu.copy_to_host(address, 100 * width, 0).view(kind).tolist() == [0, *[value] * 98, 0]
    gpu.free(address)


# Graphs.


def test_a_graph_is_recorded_described_and_run_again(
    gpu: Device,
    streams: tuple[int, int],
    numbering: Function,
    semaphore: tuple[int, int, Callable[[], int]],
) -> None:
    one, other = streams
    post, data, read = semaphore
    here, there = gpu.allocate(64), gpu.allocate(64)
    fork, join = Event(gpu), Event(gpu)
    assert not gpu.is_capturing(one)
    gpu.begin_capture(one)
    assert gpu.is_capturing(one)
    gpu.memset_async(here, 7, 16, one, width=4)
    fork.record(one)
    fork.wait_on(other)
    number(numbering, (8, 1, 1), other, there, 50)
    with gpu.current():
        start = ctypes.CDLL("libcuda.so.1").cuLaunchHostFunc
        assert start(ctypes.c_void_p(one), ctypes.c_void_p(post), ctypes.c_void_p(data)) == 0
    join.record(other)
    join.wait_on(one)
    gpu.copy_async(here, there, 16, one)
    graph = gpu.end_capture(one)
    assert not gpu.is_capturing(one)
    assert not gpu.is_capturing(other)
    assert read() == 0, "what is recorded is not done"
    done = nodes(graph)
    names = [node.name or node.kind for node in done]
    assert sorted(names) == ["copy", "fill", "host function", "numbering"]
    assert {(names[before], names[after]) for before, after in edges(graph)} == {
        ("fill", "numbering"), ("fill", "host function"), ("numbering", "copy"), ("host function", "copy"),
    }  # fmt: skip
    ready = graph.instantiate()
    del graph
    gc.collect()
    ready.upload(one)
    for times in (1, 2, 3):
        gpu.memset_async(here, 0, 64, one)
        ready.launch(one)
        found = gpu.copy_to_host(here, 64, one).view(np.uint32).tolist()
        assert found == [50, 51, 52, 53, *[7] * 12]
        assert read() == times
    for address in (here, there):
        gpu.free(address)


def test_a_recording_that_was_spoiled_is_told_and_the_stream_lives_on(gpu: Device, streams: tuple[int, int]) -> None:
    stream, _ = streams
    address = gpu.allocate(16)
    gpu.begin_capture(stream)
    with pytest.raises(LaunchError, match="before the recording"):
        gpu.synchronize(stream)
    with pytest.raises(LaunchError, match="the error before this one"):
        gpu.end_capture(stream)
    assert not gpu.is_capturing(stream)
    gpu.begin_capture(stream)
    gpu.memset_async(address, 1, 16, stream)
    gpu.abandon_capture(stream)
    gpu.abandon_capture(stream)
    gpu.memset_async(address, 2, 16, stream)
    assert (gpu.copy_to_host(address, 16, stream) == 2).all()
    gpu.free(address)
    assert driver.lost() is None


def test_allocating_is_allowed_beside_a_recording(gpu: Device, streams: tuple[int, int]) -> None:
    gpu.begin_capture(streams[0])
    address = gpu.allocate(16)
    other = gpu.allocate_async(16, streams[1])
    gpu.free_async(other, streams[1])
    gpu.synchronize(streams[1])
    gpu.end_capture(streams[0])
    gpu.free(address)


def test_an_event_of_a_recording_can_be_used_again(gpu: Device, streams: tuple[int, int]) -> None:
    event = gpu.event()
    gpu.begin_capture(streams[0])
    event.record(streams[0])
    gpu.end_capture(streams[0])
    event.record(streams[0])
    event.synchronize()
    assert event.is_done
    event.give_back()


def test_a_running_graph_may_lose_its_last_holder(gpu: Device, streams: tuple[int, int], gate: Gate) -> None:
    stream, _ = streams
    address = gpu.allocate(16)
    gpu.memset_async(address, 0, 16, stream)
    gpu.begin_capture(stream)
    gpu.memset_async(address, 5, 16, stream)
    ready = gpu.end_capture(stream).instantiate()
    gate.hold(stream)
    ready.launch(stream)
    del ready
    gc.collect()
    gate.open()
    assert (gpu.copy_to_host(address, 16, stream) == 5).all()
    gpu.free(address)
