"""A launch on a tensor runs while Python goes on: a gate holds it in flight, and the host meets the law meanwhile."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from contextvars import copy_context
from itertools import pairwise

import numpy as np
import pytest

import tileproof as tp
from samples.host_kernels import add, columns, double, errors_of, fill, looked_up, numbers, places, taken, whole
from support import interruption
from support.gates import Gate
from tileproof.backends.cpu.device.pool import Pool
from tileproof.backends.cpu.device.queue import Queue
from tileproof.diagnostics.codes import Code
from tileproof.runtime.memory.ledger import Ledger, ledger_of
from tileproof.runtime.native import door
from tileproof.runtime.native.structures import DoorData
from tileproof.runtime.stream.cpu_streams import CpuStream
from tileproof.runtime.tensor.host_access import look


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A gate that holds the default stream, and is open in the end."""
    tp.current_stream().synchronize()
    with Gate() as result:
        yield result
        result.open()
        tp.current_stream().until(tp.current_stream().turn)
        errors_of()


def raw(tensor: tp.Tensor) -> list[float]:
    """What lies in the memory of a tensor at this moment, past everything that asks who uses it."""
    return list((ctypes.c_float * tensor.size).from_address(tensor.address))


def rejection(kernel: Callable[..., object], *args: object) -> list[Code]:
    """What is wrong with a launch. The error, which remembers its arguments, is gone afterwards."""
    try:
        kernel(*args)
    except tp.TileproofError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]
    return []


def test_a_launch_returns_before_it_ran(gate: Gate) -> None:
    a, c = numbers(1, 2), tp.zeros(2)
    gate.hold()
    add(c, a, a)
    assert c.is_in_flight
    assert a.is_in_flight
    assert raw(c) == [0, 0]
    assert "under way" in repr(tp.current_stream())
    assert "in flight" in repr(c)
    gate.open()
    assert c.tolist() == [2, 4]
    assert not c.is_in_flight
    assert "idle" in repr(tp.current_stream())


def test_a_launch_of_several_jobs_returns_before_it_ran(gate: Gate) -> None:
    x, total = tp.ones((8, 4)), tp.zeros(4)
    gate.hold()
    columns(total, x)
    assert total.is_in_flight
    assert raw(total) == [0, 0, 0, 0]
    gate.open()
    assert total.tolist() == [8, 8, 8, 8]


def test_the_host_may_read_what_is_only_read(gate: Gate) -> None:
    a, c = numbers(1, 2), tp.zeros(2)
    gate.hold()
    add(c, a, a)
    assert a.is_in_flight
    assert a.tolist() == [1, 2]
    assert raw(c) == [0, 0]


def test_a_host_write_is_refused_while_a_kernel_reads_or_writes(gate: Gate) -> None:
    a, c = numbers(1, 2), tp.zeros(2)
    gate.hold()
    add(c, a, a)
    for used in (a, c):
        with pytest.raises(tp.InFlight, match="`add` uses it"):
            used[...] = 7
        assert rejection(used.copy_from, 7) == [Code.IN_FLIGHT]
    assert raw(c) == [0, 0]
    gate.open()
    assert c.tolist() == [2, 4]
    a[...] = 7
    add(c, a, a)
    assert c.tolist() == [14, 14]


def test_the_neighbours_of_memory_in_flight_are_free(gate: Gate) -> None:
    whole_of, a = tp.zeros(12), tp.ones(4)
    gate.hold()
    add(whole_of[4:8], a, a)
    assert whole_of.is_in_flight
    whole_of[:4] = 5
    whole_of[8:] = 6
    assert whole_of[:4].tolist() == [5, 5, 5, 5]
    with pytest.raises(tp.InFlight):
        whole_of[3:5] = 1
    gate.open()
    assert whole_of.tolist() == [5] * 4 + [2] * 4 + [6] * 4


@pytest.mark.usefixtures("still_memory")
def test_a_handle_that_is_dropped_in_flight_keeps_its_memory(gate: Gate) -> None:
    a, c = numbers(1, 2), tp.zeros(2)
    gate.hold()
    add(c, a, a)
    double(c)
    kept = weakref.ref(a.block)
    in_use = tp.memory().in_use
    del a
    gc.collect()
    assert c.is_in_flight
    assert kept() is not None
    assert tp.memory().in_use == in_use
    noise = [tp.full(2, 99) for _ in range(50)]
    gate.open()
    assert c.tolist() == [4, 8]
    assert kept() is None
    assert len(noise) == 50


@pytest.mark.usefixtures("still_memory")  # memory goes back with the last reference, not when Python looks for cycles
def test_handles_of_inputs_and_outputs_dropped_in_flight_leak_nothing(gate: Gate) -> None:
    before = tp.memory().in_use
    gate.hold()
    for _ in range(20):
        a, c, x = tp.ones(64), tp.empty(64), tp.ones((8, 64))
        add(c, a, a)
        columns(c, x)
    assert c.is_in_flight
    del a, c, x
    assert tp.memory().in_use > before
    gate.open()
    tp.current_stream().synchronize()
    assert tp.memory().in_use == before


def test_an_exception_between_launch_and_wait_changes_nothing(gate: Gate) -> None:
    a, c = numbers(1, 2), tp.zeros(2)
    gate.hold()
    with pytest.raises(ZeroDivisionError):  # noqa: PT012
        add(c, a, a)
        assert c.is_in_flight
        _ = 1 / 0
    assert c.is_in_flight
    assert raw(c) == [0, 0]
    gate.open()
    assert c.tolist() == [2, 4]


def test_a_launch_that_is_refused_leaves_what_is_in_flight_alone(gate: Gate) -> None:
    a, c = numbers(1, 2), tp.zeros(2)
    gate.hold()
    add(c, a, a)
    turn = tp.current_stream().turn
    with pytest.raises(tp.LaunchError):
        add(c, c, a)
    with pytest.raises(tp.LaunchError):
        add(c, tp.ones(3), a)
    assert tp.current_stream().turn == turn
    gate.open()
    assert c.tolist() == [2, 4]


def test_an_output_that_overlaps_an_input_by_one_element_is_refused(gate: Gate) -> None:
    x, one = tp.arange(9, tp.f32), tp.ones(5)
    gate.hold()
    double(x)
    assert x.is_in_flight
    assert rejection(add, x[4:9], x[0:5], one) == [Code.ALIASED]
    assert rejection(tp.copy, x[4:9], x[0:5]) == [Code.ALIASED]
    assert raw(x) == list(range(9))
    gate.open()
    assert x.tolist() == [2.0 * n for n in range(9)]


def test_an_index_tensor_that_is_in_flight_is_waited_for_and_tested(gate: Gate) -> None:
    table, ids, y = numbers(5, 6, 7), whole(0, 0, 0), tp.zeros(3)
    delayed = whole(2, 1, 9)
    gate.hold()
    tp.copy(ids, delayed)
    assert ids.is_in_flight
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    with pytest.raises(tp.LaunchError, match="`ids\\[2\\]` is 9"):
        taken(y, table, ids)
    opener.join()
    assert gate.is_open


def test_a_numpy_view_waits_for_the_kernel_and_makes_launches_wait(gate: Gate) -> None:
    a, c = numbers(1, 2), tp.zeros(2)
    gate.hold()
    add(c, a, a)
    assert raw(c) == [0, 0]
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    view = c.numpy()
    assert gate.is_open
    assert view.tolist() == [2, 4]
    opener.join()
    second = Gate()
    side = tp.Stream()
    second.hold(side)
    with side:
        double(c)  # done when it returns: it does not even go to the stream
    assert view.tolist() == [4, 8]
    second.open()
    del view
    with Gate() as third:
        third.hold()
        double(c)
        assert c.is_in_flight
    assert c.tolist() == [8, 16]


@pytest.mark.slow
def test_a_torch_view_of_memory_in_flight_shows_what_the_kernel_wrote(gate: Gate) -> None:
    torch = pytest.importorskip("torch")
    a, c = numbers(1, 2), tp.zeros(2)
    gate.hold()
    add(c, a, a)
    assert raw(c) == [0, 0]
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    view = torch.from_dlpack(c)
    assert gate.is_open
    opener.join()
    assert view.tolist() == [2, 4]
    view += 1
    add(c, a, a[:])
    assert view.tolist() == [2, 4]
    assert c.tolist() == [2, 4]


@pytest.mark.slow
def test_two_imports_of_one_memory_are_known_to_be_one(gate: Gate) -> None:
    torch = pytest.importorskip("torch")
    c, a = tp.zeros(4), tp.ones(4)
    gate.hold()
    add(c, a, a)
    assert c.is_in_flight
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    one, other = torch.from_dlpack(c), torch.from_dlpack(c)
    opener.join()
    assert one.data_ptr() == other.data_ptr()
    assert rejection(add, one, other, a) == [Code.ALIASED]
    assert rejection(add, one, c, a) == [Code.ALIASED]
    add(one, a, a)
    assert other.tolist() == [2, 2, 2, 2]
    del one
    with Gate() as second:
        second.hold()
        double(c)  # the other import lives, so it is waited for, and the held stream has no part in it
        assert other.tolist() == [4, 4, 4, 4]
        del other
        double(c)
        assert c.is_in_flight


def test_a_foreign_array_waits_for_its_turn_with_memory_in_flight(gate: Gate) -> None:
    a, c, out = numbers(1, 2), tp.zeros(2), np.zeros(2, np.float32)
    gate.hold()
    add(c, a, a)
    assert c.is_in_flight
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    add(out, c, a)  # on memory of others: done when it returns
    assert gate.is_open
    opener.join()
    assert out.tolist() == [3, 6]


def test_memory_in_flight_is_not_given_to_another_tensor(gate: Gate) -> None:
    gate.hold()
    spans = []
    for _ in range(30):
        x = tp.empty(1024)
        fill(x, 1.0)
        spans.append(x.span)
    spans.sort()
    assert x.is_in_flight
    assert all(low[1] <= high[0] for low, high in pairwise(spans))


@pytest.mark.usefixtures("still_memory")
def test_running_out_of_memory_in_a_pipeline_leaves_what_was_given(gate: Gate) -> None:
    a, c = tp.ones(1024), tp.zeros(1024)
    gate.hold()
    tp.limit_memory(tp.memory().in_use + 4096)
    try:
        add(c, a, a)
        assert c.is_in_flight
        opener = threading.Timer(0.05, gate.open)
        opener.start()
        assert rejection(tp.empty, 4096) == [Code.OUT_OF_MEMORY]
        opener.join()
        small = tp.empty(1024)
        add(small, c, a)
    finally:
        tp.limit_memory(None)
    assert small.tolist() == [3] * 1024


@pytest.mark.usefixtures("still_memory")
def test_running_ahead_does_not_run_out_of_memory(gate: Gate) -> None:
    total = tp.zeros(1024)
    tp.limit_memory(tp.memory().in_use + 5 * 4096)
    gate.hold()
    opener = threading.Timer(0.05, gate.open)
    try:
        x = tp.ones(1024)
        add(total, x, x)
        assert total.is_in_flight
        opener.start()
        for _ in range(10):
            x = tp.ones(1024)
            y = tp.empty(1024)
            add(y, x, total)
    finally:
        tp.limit_memory(None)
    opener.join()
    assert y.tolist() == [3] * 1024


def test_a_failed_check_reaches_a_thread_that_waits(gate: Gate) -> None:
    table, y = numbers(1, 2), tp.zeros(1)
    gate.hold()
    looked_up(y, table, whole(5))
    assert y.is_in_flight
    assert raw(y) == [0]
    results: list[str] = []

    def read() -> None:
        try:
            y.tolist()
        except tp.TileproofError as error:
            results.append(error.diagnostics[0].message)

    reader = threading.Thread(target=read)
    reader.start()
    gate.open()
    reader.join()
    assert len(results) == 1
    assert "5" in results[0]


def test_work_keeps_its_memory_if_a_second_signal_comes_at_the_begin_of_what_the_first_left_to_do(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, c = tp.ones(2), tp.zeros(2)
    kept = weakref.ref(a.block)

    def interrupted(*_: object) -> None:
        raise interruption.Stopped

    gate.hold()
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "note", interrupted)  # the queue has it, and nothing is written down
        patch.setattr(CpuStream, "recover", interrupted)
        try:
            add(c, a, a)
        except interruption.Stopped:
            del a
    gc.collect()
    assert kept() is not None
    gate.open()
    tp.current_stream().synchronize()
    CpuStream.lost.clear()


def test_a_launch_on_arrays_that_two_signals_interrupt_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second at every moment of what the first left to do: nobody waits for that launch for ever, and whoever reads
    what it was to write is told."""
    theirs, y, z = np.ones(4, np.float32), tp.zeros(4), tp.zeros(4)

    def run(*_: object) -> None:
        raise interruption.Stopped

    def work() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Pool, "run", run)
            add(y, theirs, theirs)

    add(y, theirs, theirs)
    came = []
    with tp.backend("cpu"):  # or the pool would not be asked: it would be done at once, natively
        for moment in interruption.at_every_moment(work, interruption.stop):
            came.append(moment)
            try:
                message = str(y.tolist())
            except RuntimeError as error:
                message = str(error)
            assert message.startswith(("[2.0, 2.0, 2.0, 2.0]", "a launch was interrupted by Stopped")), moment
            add(z, theirs, theirs)
            add(y, z, z)
            assert (y.tolist(), z.tolist()) == ([4] * 4, [2] * 4), moment
            add(y, theirs, theirs)
    assert any("settle" in moment for moment in came)


def test_what_an_interrupted_launch_vouched_for_is_tested(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """It never ran: it was interrupted when it waited for an earlier one, whose entries are there now. Of these sizes
    it is the first, because those like an earlier one vouch for nothing."""
    table, ids, y, array = tp.ones(5), whole(*[0] * 7), tp.zeros(7), whole(2, 1, 0, 2, 1, 0, 9)
    taken(y, table, ids)
    gate.hold()
    tp.copy(ids, array)

    def until(*_: object) -> None:
        raise interruption.Stopped

    with monkeypatch.context() as patch:
        patch.setattr(Queue, "until", until)
        with pytest.raises(interruption.Stopped):
            places(ids, np.ones(5, np.float32))
    gate.open()
    tp.current_stream().synchronize()
    with pytest.raises(tp.LaunchError, match=r"`ids\[6\]` is 9"):
        taken(y, table, ids)


def test_a_launch_that_a_signal_interrupts_has_all_its_leases_or_never_runs() -> None:
    """Whatever the host is allowed to write then, no kernel overwrites."""
    a, y, stream = tp.ones(4), tp.zeros(4), CpuStream()
    with stream:
        add(y, a, a)
    stream.synchronize()
    ways: set[tuple[bool, float]] = set()
    gate = Gate()
    gate.hold(stream)

    def work() -> None:
        with stream:
            add(y, a, a)

    for moment in interruption.at_every_moment(lambda: copy_context().run(work), interruption.stop):
        is_free = not rejection(y.copy_from, 7)
        gate.open()
        stream.queue.until(stream.queue.last)
        (value,) = set(y.tolist())
        assert value == 7 or not is_free, moment
        ways.add((is_free, value))
        y[...] = 7
        gate = Gate()
        gate.hold(stream)
    gate.open()
    assert ways == {(True, 7), (False, 2), (False, 7)}


def test_python_runs_ahead_by_thousands_of_launches(gate: Gate) -> None:
    x = tp.zeros(4)
    gate.hold()
    one = tp.ones(4)
    y = tp.zeros(4)
    for _ in range(1000):
        add(y, x, one)
        add(x, y, one)
    assert x.is_in_flight
    assert raw(x) == [0, 0, 0, 0]
    gate.open()
    assert x.tolist() == [2000] * 4


def test_no_launch_goes_without_leases_while_a_look_must_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between a look at entries and the launch that relies on it, and while the host reads or writes elements."""
    table, ids, y, stream = tp.ones(5), whole(*[0] * 7), tp.zeros(7), CpuStream.default(None)
    taken(y, table, ids)
    push, quiet = Queue.push, list[bool]()
    # Without what other tests left: queues, which may be too many, and tensors that failed work was to write.
    monkeypatch.setattr(door, "state", DoorData())
    monkeypatch.setattr(ledger_of(None), "poisoned", [])
    door.register(stream.queue.address)

    def noted(self: Queue, *args: int) -> int:
        quiet.append(door.is_quiet())
        return push(self, *args)

    tp.current_stream().synchronize()
    monkeypatch.setattr(Queue, "push", noted)
    ids[...] = 1
    taken(y, table, ids)
    tp.current_stream().synchronize()
    assert quiet == [False]
    assert door.is_quiet()
    assert not look(ids, "a test", lambda _: door.is_quiet())
    assert door.is_quiet()
