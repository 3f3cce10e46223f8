"""Operations: work as a value, run once, put together, awaited and cancelled at every point."""

from __future__ import annotations

import asyncio
import gc
import selectors
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextvars import copy_context
from typing import Any, TypeVar

import pytest

import tileproof as tp
from samples.host_kernels import add, double, errors_of, fill, looked_up, numbers, whole
from support.gates import Gate
from tileproof.diagnostics.codes import Code

Result = TypeVar("Result")


@pytest.fixture
def gate() -> Iterator[Gate]:
    errors_of()
    with Gate() as result:
        yield result
    errors_of()


async def value_of(operation: Any) -> Any:
    return await operation


async def until(condition: Any) -> None:
    """Lets other tasks go on until something is so."""
    while not condition():
        await asyncio.sleep(0)


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(asyncio.wait_for(coroutine, 60))


def notes(error: BaseException) -> list[str]:
    return list(getattr(error, "__notes__", ()))


# As values.


def test_an_operation_does_nothing_until_it_is_run() -> None:
    a, c = tp.ones(4), tp.zeros(4)
    step = add.op(c, a, a)
    assert repr(step) == "<operation `add`>"
    assert c.tolist() == [0, 0, 0, 0]
    assert step.run() is c
    assert c.tolist() == [2, 2, 2, 2]


def test_start_returns_while_it_is_in_flight(gate: Gate) -> None:
    a, c = tp.ones(4), tp.zeros(4)
    gate.hold()
    result = (add.op(c, a, a) >> double.op(c)).start()
    assert result is c
    assert c.is_in_flight
    gate.open()
    assert c.tolist() == [4, 4, 4, 4]


def test_run_waits(gate: Gate) -> None:
    a, c = tp.ones(4), tp.zeros(4)
    gate.hold()
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    assert add.op(c, a, a).run() is c
    assert gate.is_open
    assert not c.is_in_flight
    opener.join()


def test_operations_in_a_row_run_in_order_on_one_stream(gate: Gate) -> None:
    a, c, d = tp.ones(4), tp.zeros(4), tp.zeros(4)
    side = tp.Stream()
    gate.hold(side)
    before = side.turn
    result = (add.op(c, a, a) >> double.op(c) >> tp.copy_op(d, c)).start(side)
    assert side.turn == before + 3
    assert d.is_in_flight
    assert result is d
    gate.open()
    assert d.tolist() == [4, 4, 4, 4]


def test_then_makes_the_next_operation_of_the_value_without_waiting(gate: Gate) -> None:
    a, c, d = tp.ones(4), tp.zeros(4), tp.zeros(4)
    gate.hold()
    seen: list[bool] = []

    def follow(value: tp.Tensor) -> Any:
        seen.append(value.is_in_flight)
        return add.op(d, value, a)

    assert add.op(c, a, a).then(follow).start() is d
    assert seen == [True]
    assert d.is_in_flight
    gate.open()
    assert d.tolist() == [3, 3, 3, 3]


def test_map_calls_the_host_when_the_value_is_there() -> None:
    a, c = tp.ones(4), tp.zeros(4)
    step = add.op(c, a, a).map(lambda value: (value.is_in_flight, value.tolist()))
    assert step.run() == (False, [2, 2, 2, 2])


def test_maps_of_maps_and_the_rest_of_all_are_waited_for(gate: Gate) -> None:
    """Work that another part gives while one is mapped again must be done, too, when all is."""
    a, c, d = tp.ones(4), tp.zeros(4), tp.zeros(4)
    side = tp.Stream()
    hold = tp.host_op(gate.hold, side)
    opener = threading.Timer(0.05, gate.open)
    both = tp.all(add.op(c, a, a).map(lambda _: opener.start()).map(lambda _: 1), hold >> add.op(d, a, a))
    assert both.run(side) == (1, d)
    assert gate.is_open
    assert not d.is_in_flight
    opener.join()


def test_all_gives_all_values_in_order() -> None:
    a = tp.ones(4)
    outs = [tp.zeros(4) for _ in range(5)]
    with tp.StreamPool(3) as pool:
        result = tp.all(*(add.op(out, a, a) for out in outs)).run()
        assert result == tuple(outs)
        assert all(stream.turn for stream in pool.streams)
    assert all(out.tolist() == [2, 2, 2, 2] for out in outs)


def test_parts_of_all_run_side_by_side(gate: Gate) -> None:
    a, c, d = tp.ones(4), tp.zeros(4), tp.zeros(4)
    with tp.StreamPool(2) as pool:
        gate.hold(pool.streams[0])
        tp.all(add.op(c, a, a), add.op(d, a, a)).start()
        pool.streams[1].synchronize()
        assert [c.is_in_flight, d.is_in_flight].count(True) == 1
        assert not gate.is_open


def test_a_pool_may_be_entered_again_and_ends_with_its_last_block() -> None:
    a, c = tp.ones(4), tp.zeros(4)
    with tp.StreamPool(1) as pool:
        with pool:
            pass
        before = pool.streams[0].turn
        add.op(c, a, a).run()
        inside = pool.streams[0].turn
    add.op(c, a, a).run()
    assert before < inside == pool.streams[0].turn


@pytest.mark.parametrize("use", [tp.Stream, tp.StreamPool, tp.Graph])
def test_a_block_of_a_generator_that_is_closed_elsewhere_ends_quietly(use: Callable[[], Any]) -> None:
    def blocks() -> Iterator[None]:
        with use():
            yield

    result = blocks()
    copy_context().run(next, result)
    result.close()
    a, c = tp.ones(4), tp.zeros(4)
    assert add.op(c, a, a).run().tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("use", ["run", "start", "then", ">>", "map", "all"])
def test_an_operation_is_used_once(use: str) -> None:
    a, c = tp.ones(4), tp.zeros(4)
    step = add.op(c, a, a)
    uses = {
        "run": step.run, "start": step.start, "then": lambda: step.then(lambda _: tp.host_op(int)),
        ">>": lambda: step >> double.op(c), "map": lambda: step.map(id), "all": lambda: tp.all(step),
    }  # fmt: skip
    uses[use]()
    for again in uses.values():
        with pytest.raises(tp.LaunchError, match="already") as error:
            again()
        assert error.value.diagnostics[0].code is Code.SPENT
    with pytest.raises(tp.LaunchError, match="already"):
        run(value_of(step))


def test_an_operation_cannot_follow_itself() -> None:
    c = tp.ones(4)
    step = double.op(c)
    with pytest.raises(tp.LaunchError, match="part of another"):
        step >> step
    assert step.run() is c


def test_then_refuses_what_is_no_operation() -> None:
    c = tp.ones(4)
    with pytest.raises(tp.LaunchError, match="not an operation"):
        double.op(c).then(lambda value: 3).run()  # type: ignore[arg-type, return-value]


# Errors.


def test_an_error_names_the_operation_and_nothing_after_it_runs() -> None:
    a, c, d = tp.ones(4), tp.zeros(4), tp.zeros(4)
    called: list[int] = []
    step = add.op(c, a, a) >> add.op(c, tp.ones(3), a) >> tp.host_op(called.append, 1) >> double.op(d)
    with pytest.raises(tp.LaunchError) as error:
        step.run()
    assert notes(error.value)[0] == "in the operation `add`"
    assert called == []
    assert d.tolist() == [0, 0, 0, 0]
    assert c.tolist() == [2, 2, 2, 2]


def test_an_error_of_a_host_function_names_it() -> None:
    def broken() -> None:
        raise KeyError("gone")

    with pytest.raises(KeyError) as error:
        (tp.host_op(broken) >> tp.host_op(int)).run()
    assert notes(error.value)[0] == "in the operation host function broken"


def test_a_failed_check_is_raised_by_the_operation_and_by_nobody_else(gate: Gate) -> None:
    y, table = tp.zeros(2), numbers(1, 2)
    gate.hold()
    step = looked_up.op(y, table, whole(0, 9))
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    with pytest.raises(tp.TileproofError, match="9") as error:
        step.run()
    opener.join()
    assert "in the operation `looked_up`" in notes(error.value)
    assert errors_of() == []


def test_a_failed_check_stops_what_is_mapped_over_it() -> None:
    y, table = tp.zeros(2), numbers(1, 2)
    called: list[int] = []
    with pytest.raises(tp.TileproofError, match="9"):
        looked_up.op(y, table, whole(0, 9)).map(lambda _: called.append(1)).run()
    assert called == []


def test_a_failed_check_in_an_awaited_chain_is_raised_once(gate: Gate) -> None:
    y, z, table = tp.zeros(2), tp.zeros(2), numbers(1, 2)

    async def main() -> None:
        gate.hold()
        chain = looked_up.op(y, table, whole(0, 9)) >> add.op(z, y, table)
        task = asyncio.ensure_future(value_of(chain))
        await until(lambda: z.is_in_flight)
        assert not task.done()
        gate.open()
        with pytest.raises(tp.TileproofError, match="9") as error:
            await task
        assert any("looked_up" in note for note in notes(error.value))

    run(main())
    assert errors_of() == []
    with pytest.raises(tp.TileproofError, match="9"):
        z.tolist()


def test_who_awaits_is_told_although_somebody_else_was_told_before(gate: Gate) -> None:
    y, table = tp.zeros(2), numbers(1, 2)

    async def main() -> None:
        gate.hold()
        task = asyncio.ensure_future(value_of(looked_up.op(y, table, whole(0, 9))))
        await until(lambda: y.is_in_flight)
        gate.open()
        with pytest.raises(tp.TileproofError, match="9"):
            y.tolist()
        assert errors_of() == []
        with pytest.raises(tp.TileproofError, match="9"):
            await task

    run(main())


def test_many_tasks_on_shared_streams_get_their_own_errors_only() -> None:
    table = numbers(1, 2)
    outs = [tp.zeros(2) for _ in range(40)]

    async def one(place: int) -> float | None:
        await asyncio.sleep(0)
        ids = whole(0, 9 if place % 3 == 0 else 1)
        try:
            value = await looked_up.op(outs[place], table, ids)
        except tp.TileproofError:
            return None
        return float(value.tolist()[1])

    async def main() -> list[float | None]:
        with tp.StreamPool(3) as pool:
            result = await asyncio.gather(*(one(place) for place in range(40)))
            for stream in pool.streams:
                assert errors_of(stream) == []
            return result

    assert run(main()) == [None if place % 3 == 0 else 2 for place in range(40)]


# Awaiting.


def test_other_tasks_go_on_while_one_awaits(gate: Gate) -> None:
    a, c = tp.ones(4), tp.zeros(4)

    async def main() -> int:
        gate.hold()
        task = asyncio.ensure_future(value_of(add.op(c, a, a)))
        await until(lambda: c.is_in_flight)
        turns = 0
        for _ in range(100):
            await asyncio.sleep(0)
            turns += not task.done()
        gate.open()
        assert await task is c
        return turns

    assert run(main()) == 100
    assert c.tolist() == [2, 2, 2, 2]


def test_the_loop_sleeps_while_a_task_awaits(gate: Gate) -> None:
    """Nobody looks again and again: the loop is woken when the work is done, and not before."""
    a, c = tp.ones(4), tp.zeros(4)
    looks: list[bool] = []

    class Watched(selectors.DefaultSelector):
        def select(self, timeout: float | None = None) -> Any:
            looks.append(gate.is_open)
            return super().select(timeout)

    async def main() -> None:
        gate.hold()
        opener = threading.Timer(0.3, gate.open)
        opener.start()
        await asyncio.wait_for(add.op(c, a, a), 60)
        opener.join()

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(Watched())) as runner:
        runner.run(main())
    assert looks.count(False) < 20


def test_tasks_are_woken_as_their_own_work_is_done(gate: Gate) -> None:
    a = tp.ones(4)
    first, second = tp.zeros(4), tp.zeros(4)
    later = Gate()

    async def main() -> None:
        gate.hold()
        one = asyncio.ensure_future(value_of(add.op(first, a, a)))
        await until(lambda: first.is_in_flight)
        later.hold()
        two = asyncio.ensure_future(value_of(add.op(second, a, a)))
        await until(lambda: second.is_in_flight)
        gate.open()
        assert await one is first
        assert not two.done()
        assert second.is_in_flight
        later.open()
        assert await two is second

    with later:
        run(main())


def test_a_graph_is_awaited(gate: Gate) -> None:
    a, c = tp.ones(4), tp.zeros(4)
    with tp.Graph() as graph:
        add(c, a, a)
        double(c)

    async def main() -> None:
        gate.hold()
        task = asyncio.ensure_future(value_of(graph))
        await until(lambda: c.is_in_flight)
        assert not task.done()
        gate.open()
        await task
        assert not c.is_in_flight
        await (tp.copy_op(a, tp.full(4, 3)) >> graph.op())
        assert c.tolist() == [12, 12, 12, 12]

    run(main())


@pytest.mark.parametrize("after", range(6))
def test_a_chain_can_be_cancelled_at_every_point(gate: Gate, after: int) -> None:
    """The chain has five points at which the host waits. What was given stays given, and nothing else happens."""
    a, c = tp.ones(4), tp.ones(4)
    mapped: list[int] = []
    gates = [Gate() for _ in range(5)]

    def step(place: int) -> Any:
        holding = tp.host_op(gates[place].hold)
        return (holding >> double.op(c)).map(lambda value: (mapped.append(place), value)[1])

    async def main() -> None:
        task = asyncio.ensure_future(value_of(step(0) >> step(1) >> step(2) >> step(3) >> step(4)))
        for place in range(after):
            await until(lambda: c.is_in_flight)
            assert not task.done()
            gates[place].open()
            await until(lambda place=place: place in mapped)
        if after < 5:
            if after:
                await until(lambda: c.is_in_flight)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            assert await task is c

    run(main())
    arguments = 1 if after == 0 and c.is_in_flight else 0
    for each in gates:
        each.open()
    assert mapped == list(range(after))
    doubled = after + (1 if 0 < after < 5 else arguments)
    assert c.tolist() == [2.0**doubled] * 4
    add(a, c, c)
    assert a.tolist() == [2.0 ** (doubled + 1)] * 4
    assert tp.current_stream() is tp.current_stream("cpu")


def test_parts_of_all_are_cancelled_together(gate: Gate) -> None:
    a, c, d = tp.ones(4), tp.zeros(4), tp.zeros(4)
    mapped: list[int] = []

    async def main() -> None:
        with tp.StreamPool(2) as pool:
            for stream in pool.streams:
                gate.hold(stream)
            both = tp.all(add.op(c, a, a).map(mapped.append), add.op(d, a, a).map(mapped.append))
            task = asyncio.ensure_future(value_of(both))
            await until(lambda: c.is_in_flight and d.is_in_flight)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(main())
    gate.open()
    assert c.tolist() == d.tolist() == [2, 2, 2, 2]
    assert mapped == []


def test_a_timeout_leaves_the_work_under_way(gate: Gate) -> None:
    a, c = tp.ones(4), tp.zeros(4)

    async def main() -> None:
        gate.hold()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(value_of(add.op(c, a, a)), 0.02)

    run(main())
    assert c.is_in_flight
    gate.open()
    assert c.tolist() == [2, 2, 2, 2]


def test_loops_that_end_while_work_is_in_flight_leave_nothing_behind(gate: Gate) -> None:
    """Nor do they wait for it to be done: the gate is closed when they end."""
    a, c = tp.ones(4), tp.zeros(4)

    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(value_of(add.op(c, a, a)), 0.001)

    gate.hold()
    for _ in range(40):
        run(main())
    assert c.is_in_flight
    for _ in range(3):  # closed with a task that was never told
        loop = asyncio.new_event_loop()
        task = loop.create_task(value_of(add.op(c, a, a)))
        loop.run_until_complete(asyncio.wait([task], timeout=0.001))
        loop.close()
        del task, loop

    async def last() -> None:
        task = asyncio.ensure_future(value_of(add.op(c, a, a)))
        await asyncio.sleep(0)
        gate.open()
        await task

    run(last())
    gc.collect()


def test_loops_in_many_threads_are_all_woken(gate: Gate) -> None:
    a = tp.ones(4)
    outs = [tp.zeros(4) for _ in range(20)]
    failed: list[BaseException] = []
    waiting = threading.Barrier(21)

    async def main(place: int) -> None:
        task = asyncio.ensure_future(value_of(add.op(outs[place], a, a)))
        await until(lambda: outs[place].is_in_flight)
        await asyncio.sleep(0.01)
        waiting.wait()
        assert await task is outs[place]

    def work(place: int) -> None:
        try:
            run(main(place))
        except BaseException as error:
            failed.append(error)

    gate.hold()
    threads = [threading.Thread(target=work, args=(place,)) for place in range(20)]
    for thread in threads:
        thread.start()
    waiting.wait()
    gate.open()
    for thread in threads:
        thread.join()
    assert failed == []
    assert all(out.tolist() == [2, 2, 2, 2] for out in outs)


def test_a_host_function_in_a_chain_sees_the_stream_of_the_chain(gate: Gate) -> None:
    side = tp.Stream()
    c = tp.ones(4)
    result = (double.op(c) >> tp.host_op(tp.current_stream)).run(side)
    assert result is side
    assert tp.current_stream() is not side


def test_an_operation_that_writes_memory_of_others_is_done_when_it_returns() -> None:
    c = tp.ones(4)
    view = c.numpy()
    assert double.op(c).start() is c
    assert view.tolist() == [2, 2, 2, 2]


def test_an_error_in_between_leaves_the_earlier_part_given(gate: Gate) -> None:
    c = tp.ones(4)
    gate.hold()
    with pytest.raises(tp.LaunchError):
        (double.op(c) >> add.op(c, c, c) >> fill.op(c, 0.0)).start()
    assert c.is_in_flight
    gate.open()
    assert c.tolist() == [2, 2, 2, 2]


def test_a_host_function_waits_for_what_was_given_before(gate: Gate) -> None:
    c = tp.ones(4)
    gate.hold()
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    seen: list[bool] = []
    (double.op(c) >> tp.host_op(lambda: seen.append(c.is_in_flight)) >> fill.op(c, 0.0)).run()
    assert seen == [False]
    assert gate.is_open
    opener.join()
