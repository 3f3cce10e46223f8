"""Streams, events, host functions and gates, on a stand-in for the driver."""

from __future__ import annotations

import ctypes
import gc
import threading

import pytest

from oracles.cuda_driver import Stub
from tileproof.backends.cuda.device.driver import Device, Event


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


def test_a_stream_can_be_more_urgent_than_others(stub: Stub) -> None:
    gpu = Device(0)
    gpu.make_stream(priority=-5)
    assert stub.named("cuStreamCreateWithPriority") == [(1, -5)]
    assert stub.named("cuStreamCreate") == []


def test_a_gate_holds_one_stream_and_not_the_others(stub: Stub) -> None:
    gpu = Device(0)
    kept, free = gpu.make_stream(), gpu.make_stream()
    gate, place, done = Gate(gpu), gpu.allocate_host(2), Event(gpu)
    gpu.memset_async(place, 0, 2, free)
    gate.hold(kept)
    gpu.memset_async(place, 1, 1, kept)
    gpu.memset_async(place + 1, 1, 1, free)
    done.record(kept)
    gpu.synchronize(free)
    assert ctypes.string_at(place, 2) == b"\0\1"
    assert not done.is_done
    gate.open()
    done.synchronize()
    assert done.is_done
    assert ctypes.string_at(place, 2) == b"\1\1"
    assert stub.named("cuStreamWaitValue32") == [(kept, gate.address, 1, 0)]


def test_a_stream_that_waits_for_a_held_one_waits_for_the_gate(stub: Stub) -> None:
    gpu = Device(0)
    first, second = gpu.make_stream(), gpu.make_stream()
    gate, moment, end = Gate(gpu), Event(gpu), Event(gpu)
    gate.hold(first)
    moment.record(first)
    moment.wait_on(second)
    end.record(second)
    assert not end.is_done
    opener = threading.Timer(0, gate.open)
    opener.start()
    gpu.synchronize(second)
    opener.join()
    assert end.is_done


# Events that are used again.


def test_an_event_that_was_given_back_is_handed_out_again(stub: Stub) -> None:
    gpu = Device(0)
    first = gpu.event()
    handle = first.handle
    first.record(1)
    first.give_back()
    second = Device(0).event()
    assert second.handle == handle
    assert gpu.event().handle != handle, "nobody has given another back"
    assert len(stub.named("cuEventCreate")) == 2


def test_events_of_one_gpu_are_not_handed_out_for_another(stub: Stub) -> None:
    Device(0).event().give_back()
    assert Device(1).event().device == Device(1)
    assert len(stub.named("cuEventCreate")) == 2


def test_an_event_is_given_back_once_at_a_time(stub: Stub) -> None:
    event = Device(0).event()
    event.give_back()
    with pytest.raises(ValueError, match="before"):
        event.give_back()
    taken = Device(0).event()
    assert taken is event
    taken.give_back()


def test_an_event_that_knows_the_time_is_not_handed_out_again(stub: Stub) -> None:
    with pytest.raises(ValueError, match="time"):
        Event(Device(0), is_timed=True).give_back()


def test_an_event_that_waits_to_be_used_again_is_not_ended(stub: Stub) -> None:
    Device(0).event().give_back()
    gc.collect()
    assert stub.named("cuEventDestroy") == []


def test_threads_never_get_the_same_event(stub: Stub) -> None:
    gpu = Device(0)
    for event in [gpu.event() for _ in range(20)]:
        event.give_back()
    actual: list[Event] = []
    threads = [threading.Thread(target=lambda: actual.extend(gpu.event() for _ in range(10))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({event.handle for event in actual}) == 40
