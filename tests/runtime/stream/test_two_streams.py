"""Work of several streams on the same memory gives what it would give one after another, whatever holds which up."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from samples.host_kernels import add, columns, double, errors_of, fill, numbers, taken, whole
from support.gates import Gate
from tileproof.backends.cpu.device.pool import Pool
from tileproof.backends.cpu.device.queue import Queue
from tileproof.runtime.launch.cpu_launches import Launched


@pytest.fixture
def gate() -> Iterator[Gate]:
    tp.current_stream().synchronize()
    with Gate() as result:
        yield result


def launch_on(stream: tp.Stream, kernel: Callable[..., object], *args: object) -> None:
    with stream:
        kernel(*args)


def test_streams_run_side_by_side(gate: Gate) -> None:
    kept, free = tp.Stream(), tp.Stream()
    a, b, c = tp.ones(4), tp.zeros(4), tp.zeros(4)
    gate.hold(kept)
    launch_on(kept, add, b, a, a)
    launch_on(free, add, c, a, a)
    free.synchronize()
    assert c.tolist() == [2, 2, 2, 2]
    assert b.is_in_flight
    assert not gate.is_open
    gate.open()
    assert b.tolist() == [2, 2, 2, 2]


def test_a_read_waits_for_the_write_of_another_stream(gate: Gate) -> None:
    one, two = tp.Stream(), tp.Stream()
    a, b, c = tp.ones(4), tp.zeros(4), tp.zeros(4)
    gate.hold(one)
    launch_on(one, add, b, a, a)
    launch_on(two, add, c, b, a)
    assert c.is_in_flight
    assert b.is_in_flight
    gate.open()
    assert c.tolist() == [3, 3, 3, 3]


def test_a_write_waits_for_the_read_of_another_stream(gate: Gate) -> None:
    one, two = tp.Stream(), tp.Stream()
    a, b = tp.ones(4), tp.zeros(4)
    gate.hold(one)
    launch_on(one, add, b, a, a)
    launch_on(two, fill, a, 9.0)
    assert a.is_in_flight
    gate.open()
    two.synchronize()
    assert b.tolist() == [2, 2, 2, 2]
    assert a.tolist() == [9, 9, 9, 9]


def test_a_write_waits_for_the_write_of_another_stream(gate: Gate) -> None:
    one, two = tp.Stream(), tp.Stream()
    x = tp.zeros(4)
    gate.hold(one)
    launch_on(one, fill, x, 1.0)
    launch_on(two, fill, x, 2.0)
    assert x.is_in_flight
    gate.open()
    assert x.tolist() == [2, 2, 2, 2]


def test_two_reads_wait_for_nobody(gate: Gate) -> None:
    one, two = tp.Stream(), tp.Stream()
    a, b, c = tp.ones(4), tp.zeros(4), tp.zeros(4)
    gate.hold(one)
    launch_on(one, add, b, a, a)
    launch_on(two, add, c, a, a)
    two.synchronize()
    assert not gate.is_open
    assert b.is_in_flight


@pytest.mark.parametrize("overlap", [1, 2, 4])
def test_views_that_overlap_by_some_elements_are_the_same_memory(gate: Gate, overlap: int) -> None:
    one, two = tp.Stream(), tp.Stream()
    x = tp.zeros(8)
    gate.hold(one)
    launch_on(one, fill, x[:4], 1.0)
    launch_on(two, fill, x[4 - overlap : 8 - overlap], 2.0)
    assert x[4 - overlap : 8 - overlap].is_in_flight
    gate.open()
    one.synchronize()
    two.synchronize()
    assert x.tolist() == [1.0] * (4 - overlap) + [2.0] * 4 + [0.0] * overlap


def test_views_side_by_side_are_not(gate: Gate) -> None:
    one, two = tp.Stream(), tp.Stream()
    x = tp.zeros(8)
    gate.hold(one)
    launch_on(one, fill, x[:4], 1.0)
    launch_on(two, fill, x[4:], 2.0)
    two.synchronize()
    assert x[4:].tolist() == [2, 2, 2, 2]
    assert x[:4].is_in_flight


def test_a_chain_over_three_streams_keeps_its_order(gate: Gate) -> None:
    streams = [tp.Stream() for _ in range(3)]
    x = tp.ones(4)
    gate.hold(streams[0])
    for turn in range(12):
        launch_on(streams[turn % 3], double, x)
    assert x.is_in_flight
    gate.open()
    assert x.tolist() == [2.0**12] * 4


def test_what_was_given_before_the_second_stream_came_counts(gate: Gate) -> None:
    alone, second = tp.Stream(), tp.Stream()
    tensors = [tp.zeros(4) for _ in range(10)]
    gate.hold(alone)
    for number, tensor in enumerate(tensors):
        launch_on(alone, fill, tensor, float(number))
    for tensor in tensors:
        launch_on(second, double, tensor)
    assert all(tensor.is_in_flight for tensor in tensors)
    gate.open()
    assert [tensor.tolist()[0] for tensor in tensors] == [2.0 * number for number in range(10)]


def test_a_stream_that_is_dropped_in_flight_ends_its_work(gate: Gate) -> None:
    a, b = tp.ones(4), tp.zeros(4)
    stream = tp.Stream()
    gate.hold(stream)
    launch_on(stream, add, b, a, a)
    del stream
    gc.collect()
    assert b.is_in_flight
    others = [tp.Stream() for _ in range(5)]
    for other in others:
        launch_on(other, add, tp.empty(4), a, a)
    double(b)
    assert b.is_in_flight
    gate.open()
    assert b.tolist() == [4, 4, 4, 4]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads where the system shows them")
def test_streams_that_come_and_go_leave_no_threads() -> None:
    a, b = tp.ones(4), tp.zeros(4)
    for turn in range(12):
        stream = tp.Stream()
        with Gate() as gate:
            gate.hold(stream)
            launch_on(stream, add, b, a, a)
            add(b, a, a)  # the default stream waits for this one, and must not keep it
            assert b.is_in_flight
        tp.current_stream().synchronize()
        add(b, a, a)
        tp.current_stream().synchronize()
        del stream
        gc.collect()
        if turn == 4:
            before = len(os.listdir("/proc/self/task"))
    assert len(os.listdir("/proc/self/task")) <= before


def test_a_launch_of_several_jobs_on_one_stream_orders_others(gate: Gate) -> None:
    one, two = tp.Stream(), tp.Stream()
    x, total = tp.ones((8, 4)), tp.zeros(4)
    gate.hold(one)
    launch_on(one, columns, total, x)
    launch_on(two, double, total)
    launch_on(two, fill, x.reshape(-1), 5.0)
    assert total.is_in_flight
    gate.open()
    assert total.tolist() == [16, 16, 16, 16]
    assert x[0].tolist() == [5, 5, 5, 5]


def test_a_copy_on_one_stream_orders_others(gate: Gate) -> None:
    one, two = tp.Stream(), tp.Stream()
    a, b, c = numbers(1, 2, 3, 4), tp.zeros(4), tp.zeros(4)
    strided = tp.zeros(8)[::2]
    gate.hold(one)
    with one:
        tp.copy(b, a)
        tp.copy(strided, a)
    with two:
        tp.copy(c, b)
        double(b)
        double(strided)
    assert c.is_in_flight
    assert strided.is_in_flight
    gate.open()
    assert c.tolist() == [1, 2, 3, 4]
    assert b.tolist() == [2, 4, 6, 8]
    assert strided.tolist() == [2, 4, 6, 8]


def test_memory_of_others_that_two_streams_reach_keeps_its_order(gate: Gate) -> None:
    """A launch on a numpy array is done here, once the stream that uses the tensor beside it is done with it."""
    stream = tp.Stream()
    a, b, out = tp.ones(4), tp.zeros(4), np.zeros(4, np.float32)
    gate.hold(stream)
    launch_on(stream, add, b, a, a)
    assert b.is_in_flight
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    add(out, b, a)
    opener.join()
    assert out.tolist() == [3, 3, 3, 3]


def test_threads_that_share_memory_give_sequential_results() -> None:
    """Each thread adds its own number again and again, through a stream of its own: no addition is lost."""
    total, rounds, count = tp.zeros(16), 60, 4
    ones = tp.ones(16)
    failed: list[BaseException] = []
    order = threading.Lock()
    spare = [tp.zeros(16) for _ in range(count)]

    def work(place: int) -> None:
        try:
            stream = tp.Stream()
            with stream:
                for _ in range(rounds):
                    with order:  # two launches that belong together; which thread comes next is left to chance
                        add(spare[place], total, ones)
                        tp.copy(total, spare[place])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert total.tolist() == [count * rounds] * 16


def test_threads_that_share_one_stream_lose_nothing() -> None:
    stream = tp.Stream()
    mine = [tp.zeros(16) for _ in range(4)]
    ones = tp.ones(16)
    failed: list[BaseException] = []

    def work(place: int) -> None:
        try:
            with stream:
                other = tp.zeros(16)
                for _ in range(100):
                    add(other, mine[place], ones)
                    add(mine[place], other, ones)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert all(each.tolist() == [200] * 16 for each in mine)
    assert errors_of(stream) == []


def test_a_host_write_between_streams_is_refused_by_the_right_one(gate: Gate) -> None:
    one, two = tp.Stream(), tp.Stream()
    a, b = tp.ones(4), tp.zeros(4)
    gate.hold(one)
    launch_on(one, add, b, a, a)
    launch_on(two, double, b)
    with pytest.raises(tp.InFlight):
        b[...] = 1
    with pytest.raises(tp.InFlight):
        a[...] = 1
    gate.open()
    two.synchronize()
    b[...] = 1
    assert b.tolist() == [1, 1, 1, 1]


def test_synchronize_waits_for_its_own_stream_only(gate: Gate) -> None:
    one, two = tp.Stream(), tp.Stream()
    a, b, c = tp.ones(4), tp.zeros(4), tp.zeros(4)
    gate.hold(one)
    launch_on(one, add, b, a, a)
    launch_on(two, add, c, a, a)
    two.synchronize()
    assert "idle" in repr(two)
    assert "under way" in repr(one)
    assert not gate.is_open


@pytest.mark.sweep(1)
@pytest.mark.parametrize("by", ["copy", "host", "kernel"])
def test_an_index_tensor_that_another_thread_writes_is_never_used_untested(by: str) -> None:
    """Entries are looked at before a launch; whoever writes them in between, the launch does not use what it did not
    see. Behind the table lies what nobody may read."""
    memory = tp.full(16, 99)
    table, y = memory[:4], tp.zeros(8)
    table[...] = 1
    ids, good, bad = whole(*[0] * 8), whole(*[3] * 8), whole(*[9] * 8)
    zeros = whole(*[0] * 8)
    over = threading.Event()
    failed: list[BaseException] = []

    def write() -> None:
        stream = tp.Stream()
        try:
            with stream:
                while not over.is_set():
                    for source in (good, bad):
                        if by == "copy":
                            tp.copy(ids, source)
                        elif by == "kernel":
                            add(ids, source, zeros)
                        else:
                            try:
                                ids[...] = source
                            except tp.InFlight:
                                ids.wait()
        except BaseException as error:
            failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    results: list[str] = []
    try:
        for _ in range(400):
            try:
                taken(y, table, ids)
            except tp.LaunchError:
                results.append("refused")
                continue
            assert y.tolist() == [1] * 8
            results.append("done")
    finally:
        over.set()
        writer.join()
    assert failed == []
    assert len(results) == 400


# Launches in the middle of a launch, as those of a handler of a signal.


def _is_refused_all(own: tp.Tensor) -> None:
    """Whatever is launched or waited for."""
    y, theirs = tp.zeros(4), np.ones(4, np.float32)
    with tp.Graph() as graph:
        double(y)
    uses = (
        lambda: add(y, own, own), lambda: add(y, theirs, theirs), lambda: tp.copy(y, own), graph.replay, own.tolist,
        own.wait, lambda: own.copy_from(7), tp.current_stream().synchronize, tp.Stream().synchronize,
        fill.op(y, 1.0).run,
    )  # fmt: skip
    for use in uses:
        with pytest.raises(tp.InFlight, match="from a signal handler that interrupted a launch"):
            use()
    assert not y.is_in_flight


def test_what_a_handler_does_in_the_middle_of_taking_leases_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    a, c = tp.ones(4), tp.zeros(4)
    add(c, a, a)
    tp.current_stream().synchronize()
    real, came = Launched.is_current, list[bool]()
    with Gate() as gate:
        gate.hold()

        def is_current(work: Launched) -> bool:
            if not came:
                came.append(True)
                _is_refused_all(a)
            return real(work)

        monkeypatch.setattr(Launched, "is_current", is_current)
        add(c, a, a)
        assert came
        assert c.is_in_flight
        with pytest.raises(tp.InFlight):
            c[...] = 7
        d = tp.empty(4)
        with tp.Stream():
            add(d, c, a)
    assert d.tolist() == [3, 3, 3, 3]


def test_what_a_handler_does_in_the_middle_of_a_launch_on_arrays_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """That launch is done by the thread itself: a handler that waited for it would wait for ever."""
    a, c = np.ones(4, np.float32), tp.zeros(4)
    add(c, a, a)
    real, came = Pool.run, list[bool]()

    def run(*args: Any) -> None:
        real(*args)
        if not came:
            came.append(True)
            _is_refused_all(c)

    monkeypatch.setattr(Pool, "run", run)
    add(c, a, c.copy())
    assert came
    assert c.tolist() == [3, 3, 3, 3]


def test_a_handler_in_the_middle_of_a_wait_may_launch(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait holds nothing up but itself."""
    a, c, y = tp.ones(4), tp.zeros(4), tp.zeros(4)
    gate.hold()
    add(c, a, a)
    real, came = Queue.until, list[bool]()

    def until(queue: Queue, turn: int) -> None:
        if not came:
            came.append(True)
            with tp.Stream():
                fill(y, 5.0)
            assert y.tolist() == [5, 5, 5, 5]
            gate.open()
        real(queue, turn)

    monkeypatch.setattr(Queue, "until", until)
    assert c.tolist() == [2, 2, 2, 2]
    assert came
