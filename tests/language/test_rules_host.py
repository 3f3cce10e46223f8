"""The rules of docs/language.md on tensors, work in flight, operations and graphs, one test for each."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import numpy as np
import pytest
from rules import each, ints, kernel

import tileproof as tp
from support.gates import Gate

double = kernel('y: Out[T, "N"], x: In[T, "N"]', "for n in tp.parallel(N=64):\n    y[n] = x[n] + x[n]")
pick = each('y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N"]', "y[n] = x[at[n]]")
take = each('y: Out[f32, "N"], x: In[f32, "V"], ids: In[Index["V"], "N"]', "y[n] = x[ids[n]]")


def test_what_makes_tiles_in_a_kernel_makes_tensors_on_the_host() -> None:
    k = each('y: Out[f32, "N 4"]', "y[n, :] = tp.zeros(4) + tp.full(4, 2.0) + tp.arange(4, f32)")
    y = tp.empty((3, 4))
    k(y)
    made = tp.zeros(4), tp.full(4, 2), tp.arange(4, tp.f32)
    assert all(isinstance(one, tp.Tensor) for one in (y, *made))
    assert y.tolist() == [np.sum([one.numpy() for one in made], axis=0).tolist()] * 3


def test_from_numpy_copies_and_asarray_shares() -> None:
    array = np.ones(3, np.float32)
    copied, shared = tp.from_numpy(array), tp.asarray(array)
    array[0] = 5
    assert (copied.tolist(), shared.tolist()) == ([1, 1, 1], [5, 1, 1])
    assert tp.asarray(shared) is shared
    assert tp.asarray([1, 2]).dtype is tp.i64
    assert tp.ones(2).dtype is tp.f32


def test_what_nobody_wrote_is_never_read() -> None:
    x, y = tp.empty(8), tp.empty(8)
    x[:4] = 1
    for reads in (lambda: double(y, x), x.tolist, y.copy):
        with pytest.raises(tp.LaunchError) as raised:
            reads()
        assert raised.value.diagnostics[0].code.id == "TP0615"
    double(y[:4], x[:4])
    assert y[:4].tolist() == [2] * 4


def test_memory_beyond_the_limit_is_refused() -> None:
    before = tp.memory()
    tp.limit_memory("1 MiB")
    try:
        with pytest.raises(tp.OutOfMemory) as raised:
            tp.empty((1024, 1024))
    finally:
        tp.limit_memory(before.limit)
    assert isinstance(raised.value, MemoryError)
    assert "takes 4.0 MiB" in raised.value.diagnostics[0].message
    x = tp.zeros(1000)
    assert tp.memory().high_water >= tp.memory().in_use >= x.nbytes


# Work in flight.


def test_a_launch_on_tensors_returns_before_it_is_done() -> None:
    x, y = tp.ones(100), tp.zeros(100)
    with Gate() as gate:
        gate.hold()
        double(y, x)
        assert x.is_in_flight
        assert y.is_in_flight
    y.wait()
    assert not y.is_in_flight


def test_the_host_waits_to_read_what_a_kernel_writes() -> None:
    x, y, seen, is_reading = tp.ones(100), tp.zeros(100), [], threading.Event()

    def read() -> None:
        is_reading.set()
        seen.append(y.tolist())

    reader = threading.Thread(target=read)
    with Gate() as gate:
        gate.hold()
        double(y, x)
        assert x.tolist() == [1] * 100  # a kernel that reads is not waited for
        reader.start()
        is_reading.wait()
    reader.join()
    assert seen == [[2] * 100]


def test_the_host_never_writes_what_a_kernel_uses() -> None:
    x, y = tp.ones(100), tp.zeros(100)
    with Gate() as gate:
        gate.hold()
        double(y[:50], x[:50])
        for used in (x[:50], y[49:]):
            with pytest.raises(tp.InFlight):
                used[...] = 3
        x[50:] = 3
    assert x.tolist() == [1] * 50 + [3] * 50
    assert y.tolist() == [2] * 50 + [0] * 50


def test_work_on_two_streams_that_shares_memory_is_ordered() -> None:
    x, y, z, apart = tp.ones(100), tp.zeros(100), tp.zeros(100), tp.zeros(100)
    side = tp.Stream()
    with Gate() as gate:
        gate.hold(side)
        with side:
            assert tp.current_stream() is side
            double(y, x)
        double(apart, x)
        apart.wait()
        double(z, y)
        assert z.is_in_flight
    assert (apart.tolist(), z.tolist()) == ([2] * 100, [4] * 100)


def test_memory_in_flight_outlives_its_tensors() -> None:
    x, y = tp.ones(100_000), tp.zeros(100_000)
    with Gate() as gate:
        gate.hold()
        double(y, x)
        del x
        others = [tp.zeros(100_000) for _ in range(10)]
    assert y.tolist() == [2] * 100_000
    assert others[0].is_initialised


def test_a_launch_on_memory_of_others_is_done_when_it_returns() -> None:
    x, y, array = tp.ones(100), tp.zeros(100), np.zeros(100, np.float32)
    double(array, x)
    assert array.tolist() == [2] * 100
    view = y.numpy()
    double(y, x)
    assert view.tolist() == [2] * 100
    del view
    with Gate() as gate:
        gate.hold()
        double(y, x)
        assert y.is_in_flight


def test_a_copy_is_work_of_the_stream() -> None:
    x, y, new = tp.ones(100), tp.zeros(100), tp.full(100, 3)
    with Gate() as gate:
        gate.hold()
        double(y, x)
        assert tp.copy(x, new) is x
        assert new.is_in_flight
    assert (x.tolist(), y.tolist()) == ([3] * 100, [2] * 100)


def test_what_a_failed_kernel_writes_is_poisoned_until_it_is_written_anew() -> None:
    x, y, z = tp.ones(4), tp.zeros(3), tp.zeros(3)
    with Gate() as gate:
        gate.hold()
        pick(y, x, tp.from_numpy(ints(0, 9, 1)))
        double(z, y)
    for spoiled in (y, z, y):
        with pytest.raises(tp.OutOfBounds, match="program n=1"):
            spoiled.tolist()
    with pytest.raises(tp.OutOfBounds):
        double(z, y)
    y[...] = 5
    double(z, y)
    assert z.tolist() == [10] * 3


def test_an_error_is_told_once_by_its_stream() -> None:
    x, y, z = tp.ones(4), tp.zeros(3), tp.zeros(3)
    pick(y, x, tp.from_numpy(ints(0, 9, 1)))
    with pytest.raises(tp.OutOfBounds):
        tp.current_stream().synchronize()
    tp.current_stream().synchronize()
    pick(z, x, tp.from_numpy(ints(0, 9, 1)))
    with pytest.raises(tp.OutOfBounds):
        z.wait()
    tp.current_stream().synchronize()


# Operations and graphs.


def test_an_operation_does_nothing_until_it_is_run_and_runs_once() -> None:
    x, y = tp.ones(8), tp.zeros(8)
    step = double.op(y, x)
    assert isinstance(step, tp.Operation)
    assert y.tolist() == [0] * 8
    step.run()
    assert y.tolist() == [2] * 8
    with pytest.raises(tp.LaunchError, match="run already"):
        step.run()


def test_the_value_of_an_operation_is_what_its_kernel_writes() -> None:
    k = kernel('y: Out[f32, "N"], z: InOut[f32, "N"], x: In[f32, "N"]',
               "for n in tp.parallel(N=4):\n    y[n] = x[n]\n    z[n] = z[n] + x[n]")  # fmt: skip
    x, y, z = tp.ones(8), tp.empty(8), tp.ones(8)
    assert k.op(y, z, x).run() == (y, z)
    assert (double.op(y, x) >> double.op(z, y)).run() is z
    assert tp.copy_op(y, x).run() is y
    assert tp.value_op(3).run() == 3
    assert tp.host_op(max, 3, 4).run() == 4
    assert double.op(y, x).then(lambda made: double.op(z, made)).run().tolist() == [4] * 8


def test_all_gives_the_values_of_its_parts() -> None:
    x, outs = tp.ones(8), [tp.empty(8) for _ in range(3)]
    with tp.StreamPool(2):
        made = tp.all(*(double.op(out, x) for out in outs)).run()
    assert made == tuple(outs)
    assert [out.tolist() for out in outs] == [[2] * 8] * 3


def test_a_function_is_mapped_when_the_work_is_done() -> None:
    x, y = tp.ones(8), tp.zeros(8)
    in_flight = double.op(y, x).map(lambda made: made.is_in_flight)
    assert in_flight.run() is False


def test_a_task_goes_on_while_another_awaits_an_operation() -> None:
    x, y = tp.ones(8), tp.zeros(8)

    async def waiting() -> Any:
        return await double.op(y, x)

    async def main() -> Any:
        with Gate() as gate:
            gate.hold()
            task = asyncio.create_task(waiting())
            for _ in range(3):
                await asyncio.sleep(0)
            assert not task.done()
            assert y.is_in_flight
        return await task

    assert asyncio.run(main()).tolist() == [2] * 8


def test_nothing_runs_while_a_graph_is_recorded() -> None:
    x, y, z = tp.ones(8), tp.zeros(8), tp.zeros(8)
    with tp.Graph() as graph:
        double(y, x)
        (double.op(z, y) >> tp.copy_op(x, z)).run()
    assert (y.tolist(), z.tolist()) == ([0] * 8, [0] * 8)
    for expected in (4, 16):
        graph.replay()
        assert z.tolist() == [expected] * 8
    assert [node.kind for node in graph.describe().nodes] == ["kernel", "kernel", "copy"]
    with pytest.raises(tp.LaunchError, match="while a graph is recorded"), tp.Graph():
        tp.empty(8)


def test_a_replay_takes_leases_as_a_launch_does() -> None:
    x, y = tp.ones(8), tp.zeros(8)
    with tp.Graph() as graph:
        double(y, x)
    with Gate() as gate:
        gate.hold()
        graph.replay()
        assert y.is_in_flight
        with pytest.raises(tp.InFlight):
            x[...] = 3
    assert y.tolist() == [2] * 8


def test_contents_are_tested_at_every_replay() -> None:
    x, y, ids = tp.arange(4, tp.f32), tp.zeros(3), tp.from_numpy(ints(0, 1, 2))
    with tp.Graph() as graph:
        take(y, x, ids)
    graph.replay()
    assert y.tolist() == [0, 1, 2]
    ids[...] = ints(0, 7, 2)
    graph.replay()
    with pytest.raises(tp.LaunchError) as raised:
        y.tolist()
    assert raised.value.diagnostics[0].code.id == "TP0607"
    ids[...] = ints(3, 3, 3)
    graph.replay()
    assert y.tolist() == [3, 3, 3]
