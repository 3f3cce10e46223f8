"""Graphs on the CPU: recorded once, replayed often, under the same law as launches, in flight like them."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from samples.host_kernels import (
    add,
    columns,
    double,
    errors_of,
    fill,
    looked_up,
    numbers,
    places,
    ragged,
    scattered,
    taken,
    whole,
)
from support.gates import Gate
from tileproof import In, Index, InOut, Unique, f32
from tileproof.backends.interpreter import InterpreterBackend
from tileproof.diagnostics.codes import Code


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    errors_of()
    yield
    tp.current_stream().until(tp.current_stream().turn)
    errors_of()


@pytest.fixture
def gate() -> Iterator[Gate]:
    with Gate() as result:
        yield result


def refusal(error: pytest.ExceptionInfo[tp.LaunchError]) -> Code:
    return error.value.diagnostics[0].code


OUTSIDE = whole(9, 9, 9, 9)


# Recording.


def test_nothing_runs_while_a_graph_is_recorded() -> None:
    a, c = tp.ones(4), tp.zeros(4)
    turn = tp.current_stream().turn
    with tp.Graph() as graph:
        add(c, a, a)
        double(c)
        tp.copy(a, c)
    assert tp.current_stream().turn == turn
    assert c.tolist() == [0, 0, 0, 0]
    for power in (4, 16):
        graph.replay()
        assert c.tolist() == [power] * 4


def test_a_replay_is_in_flight_like_a_launch(gate: Gate) -> None:
    a, c = tp.ones(4), tp.zeros(4)
    with tp.Graph() as graph:
        add(c, a, a)
        double(c)
    gate.hold()
    graph.replay()
    assert c.is_in_flight
    assert a.is_in_flight
    with pytest.raises(tp.InFlight):
        a[...] = 1
    assert a.tolist() == [1, 1, 1, 1]
    graph.replay()
    gate.open()
    assert c.tolist() == [4, 4, 4, 4]


def test_what_a_graph_holds_is_told() -> None:
    a, c, d = tp.ones(4), tp.zeros(4), tp.zeros(4)
    with tp.Graph() as graph:
        add(c, a, a)
        add(d, a, a)
        tp.copy(a, c)
    result = graph.describe()
    assert [node.kind for node in result.nodes] == ["kernel", "kernel", "copy"]
    assert [node.name for node in result.nodes] == ["add", "add", "copy[4]"]
    assert result.edges == ((0, 1), (1, 2))
    assert "3 nodes, 2 edges" in str(result)
    text = result.dot()
    assert text.startswith("digraph {")
    assert text.rstrip().endswith("}")
    assert '0 [label="0: add\\l' in text
    assert "2 [label" in text
    assert "style=dashed" in text
    assert "0 -> 1" in text
    assert "recorded, 3 nodes" in repr(graph)


def test_streams_in_a_graph_decide_what_waits_for_what() -> None:
    """Launches of different streams are ordered by the memory they share, and by nothing else."""
    one, two = tp.Stream(), tp.Stream()
    a, b, c, d = tp.ones(4), tp.zeros(4), tp.zeros(4), tp.zeros(4)
    with tp.Graph() as graph:
        with one:
            add(b, a, a)
        with two:
            add(c, a, a)
        with one:
            add(d, b, c)
        with two:
            double(a)
    assert graph.describe().edges == ((0, 2), (0, 3), (1, 2), (1, 3))
    graph.replay()
    assert d.tolist() == [4, 4, 4, 4]
    assert a.tolist() == [2, 2, 2, 2]
    assert one.turn == one.done


def test_memory_is_not_made_in_a_graph() -> None:
    a, c = tp.ones(4), tp.zeros(4)
    for make in (lambda: tp.zeros(4), lambda: tp.empty(4), a.copy, lambda: tp.from_numpy(np.ones(4))):
        with pytest.raises(tp.LaunchError) as error, tp.Graph():
            make()
        assert refusal(error) is Code.NOT_IN_GRAPH
    with tp.Graph() as graph:
        add(c, a, a)
    graph.replay()
    assert c.tolist() == [2, 2, 2, 2]


def test_the_host_neither_reads_nor_writes_in_a_graph() -> None:
    a, c = tp.ones(4), tp.zeros(4)
    uses: list[Any] = [
        a.tolist, a.numpy, a[0].item, a.wait, lambda: a.__dlpack__(), lambda: a.copy_from(3),
        lambda: tp.host_op(int).run(), lambda: double.op(a).map(id).run(),
    ]  # fmt: skip
    for use in uses:
        with tp.Graph() as graph:
            add(c, a, a)
            with pytest.raises(tp.LaunchError) as error:
                use()
            assert refusal(error) is Code.NOT_IN_GRAPH
        assert a.tolist() == [1, 1, 1, 1]
        graph.replay()
        assert c.tolist() == [2, 2, 2, 2]


def test_an_error_in_the_block_leaves_no_graph() -> None:
    a, c = tp.ones(4), tp.zeros(4)
    graph = tp.Graph()
    with pytest.raises(ZeroDivisionError), graph:  # noqa: PT012
        add(c, a, a)
        _ = 1 / 0
    with pytest.raises(tp.LaunchError, match="an error came in between") as error:
        graph.replay()
    assert refusal(error) is Code.NOT_IN_GRAPH
    add(c, a, a)  # launches run again
    assert c.tolist() == [2, 2, 2, 2]
    with pytest.raises(tp.LaunchError):
        graph.__enter__()


def test_a_refused_launch_leaves_the_rest_of_the_graph() -> None:
    a, c = tp.ones(4), tp.zeros(4)
    with tp.Graph() as graph:
        add(c, a, a)
        with pytest.raises(tp.LaunchError):
            add(c, c, a)
        double(c)
    graph.replay()
    assert c.tolist() == [4, 4, 4, 4]


def test_graphs_are_neither_nested_nor_replayed_while_one_is_recorded() -> None:
    a, c = tp.ones(4), tp.zeros(4)
    with tp.Graph() as inner:
        add(c, a, a)
    with tp.Graph():
        with pytest.raises(tp.LaunchError, match="inside another"):
            tp.Graph().__enter__()
        with pytest.raises(tp.LaunchError, match="while another is recorded"):
            inner.replay()
    with pytest.raises(tp.LaunchError, match="recorded once"):
        inner.__enter__()
    with pytest.raises(tp.LaunchError):
        tp.Graph().replay()


def test_another_thread_launches_while_this_one_records() -> None:
    a, c, d = tp.ones(4), tp.zeros(4), tp.zeros(4)
    with tp.Graph() as graph:
        other = threading.Thread(target=add, args=(d, a, a))
        other.start()
        other.join()
        add(c, a, a)
    assert d.tolist() == [2, 2, 2, 2]
    assert len(graph.describe().nodes) == 1


def test_an_empty_graph_does_nothing() -> None:
    with tp.Graph() as graph:
        pass
    turn = tp.current_stream().turn
    graph.replay()
    assert tp.current_stream().turn == turn


# Memory.


def test_the_last_handle_of_a_graphs_memory_may_go(gate: Gate) -> None:
    a, c, result = tp.ones(4), tp.zeros(4), tp.zeros(4)
    with tp.Graph() as graph:
        add(c, a, a)
        add(result, c, a)
    kept = weakref.ref(c.block)
    gate.hold()
    graph.replay()
    assert c.is_in_flight
    del a, c
    gc.collect()
    assert kept() is not None
    noise = [tp.full(4, 9) for _ in range(20)]
    graph.replay()
    gate.open()
    assert result.tolist() == [3, 3, 3, 3]
    del graph
    tp.current_stream().synchronize()
    gc.collect()
    assert kept() is None
    assert len(noise) == 20


def test_a_graph_that_is_dropped_in_flight_ends_its_replay(gate: Gate) -> None:
    a, c = tp.ones(4), tp.zeros(4)
    with tp.Graph() as graph:
        add(c, a, a)
        columns(a, c.reshape(1, 4))
    gate.hold()
    graph.replay()
    del graph
    gc.collect()
    assert c.is_in_flight
    gate.open()
    assert c.tolist() == [2, 2, 2, 2]
    assert a.tolist() == [2, 2, 2, 2]


def test_a_replay_races_no_launch_on_another_stream(gate: Gate) -> None:
    side = tp.Stream()
    a, c, d = tp.ones(4), tp.zeros(4), tp.zeros(4)
    with tp.Graph() as graph:
        add(c, a, a)
    gate.hold(side)
    with side:
        fill(a, 5.0)  # before the replay: it reads this
    graph.replay()
    with side:
        add(d, c, a)  # behind the replay
        fill(c, 0.0)
    assert all(each.is_in_flight for each in (a, c, d))
    gate.open()
    assert d.tolist() == [15, 15, 15, 15]
    assert c.tolist() == [0, 0, 0, 0]


def test_replays_on_two_streams_follow_one_another(gate: Gate) -> None:
    side = tp.Stream()
    x = tp.ones(4)
    with tp.Graph() as graph:
        double(x)
    gate.hold(side)
    graph.replay(side)
    for _ in range(4):
        graph.replay()
        graph.replay(side)
    assert x.is_in_flight
    gate.open()
    assert x.tolist() == [2.0**9] * 4


def test_what_nobody_wrote_is_not_read() -> None:
    a, c, d = tp.empty(4), tp.empty(4), tp.empty(4)
    with tp.Graph() as graph:
        add(c, a, a)
        add(d, c, a)
    with pytest.raises(tp.LaunchError) as error:
        graph.replay()
    assert refusal(error) is Code.UNINITIALISED
    a[...] = 1
    graph.replay()
    assert d.tolist() == [3, 3, 3, 3]
    assert c.is_initialised


def test_elements_between_those_that_a_graph_writes_count_as_unwritten() -> None:
    x, ones, all_ones, y = tp.empty(7), tp.ones(4), tp.ones(7), tp.empty(7)
    with tp.Graph() as graph:
        add(x[::2], ones, ones)
        add(y, x, all_ones)
    with pytest.raises(tp.LaunchError) as error:
        graph.replay()
    assert refusal(error) is Code.UNINITIALISED
    x[1::2] = 4
    graph.replay()
    assert y.tolist() == [3, 5, 3, 5, 3, 5, 3]


def test_inputs_change_by_copying_into_them(gate: Gate) -> None:
    a, c = tp.ones(4), tp.zeros(4)
    results = [tp.zeros(4) for _ in range(5)]
    with tp.Graph() as graph:
        add(c, a, a)
    gate.hold()
    for number, result in enumerate(results):
        tp.copy(a, tp.full(4, number))
        graph.replay()
        tp.copy(result, c)
    assert results[-1].is_in_flight
    gate.open()
    assert [each.tolist()[0] for each in results] == [0, 2, 4, 6, 8]


def test_memory_of_others_in_a_graph_is_waited_for() -> None:
    theirs, out, c = np.ones(4, np.float32), np.zeros(4, np.float32), tp.zeros(4)
    with tp.Graph() as graph:
        add(c, theirs, theirs)
        add(out, c, theirs)
    graph.replay()
    assert out.tolist() == [3, 3, 3, 3]
    theirs[:] = 2
    graph.replay()
    assert out.tolist() == [6, 6, 6, 6]


@pytest.mark.parametrize("rejected", [looked_up, taken])
def test_a_replay_on_memory_of_others_raises_what_its_checks_found(rejected: Any) -> None:
    """`looked_up` has a check in its kernel; the entries that `taken` needs are tested by the graph."""
    table, ids, theirs, rest, one = numbers(5, 6, 7), whole(0, 1), np.zeros(2, np.float32), tp.zeros(2), numbers(1, 2)
    with tp.Graph() as graph:
        rejected(theirs, table, ids)
        add(rest, one, one)
    for _ in range(2):
        ids[...] = np.array([1, 8])
        with pytest.raises(tp.TileproofError, match="is 8"):
            graph.replay()
        with pytest.raises(tp.TileproofError, match="is 8"):
            rest.tolist()
        ids[...] = np.array([2, 0])
        graph.replay()
        assert theirs.tolist() == [7, 5]
        assert rest.tolist() == [2, 4]
    assert errors_of() == []


def test_memory_that_is_handed_out_while_a_replay_begins_is_waited_for(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, c, views = tp.ones(4), tp.zeros(4), list[Any]()
    with tp.Graph() as graph:
        add(c, a, a)
    look = tp.Graph._is_awaited

    def lending(self: tp.Graph) -> bool:
        is_awaited = look(self)
        views.append(c.numpy())  # as another thread does between this look at the memory and the lease
        return is_awaited

    monkeypatch.setattr(tp.Graph, "_is_awaited", lending)
    gate.hold()
    graph.replay()
    assert not c.is_in_flight
    assert views[0].tolist() == [2, 2, 2, 2]


def test_memory_that_was_handed_out_after_recording_is_waited_for(gate: Gate) -> None:
    a, c = tp.ones(4), tp.zeros(4)
    with tp.Graph() as graph:
        add(c, a, a)
    gate.hold()
    graph.replay()
    assert c.is_in_flight
    gate.open()
    view = c.numpy()
    assert view.tolist() == [2, 2, 2, 2]
    a[...] = 5
    graph.replay()
    assert view.tolist() == [10, 10, 10, 10]


def test_a_graph_of_a_thousand_launches() -> None:
    x, ones, y = tp.zeros(4), tp.ones(4), tp.zeros(4)
    with tp.Graph() as graph:
        for _ in range(500):
            add(y, x, ones)
            add(x, y, ones)
    result = graph.describe()
    assert len(result.nodes) == 1000
    assert result.edges == tuple((place, place + 1) for place in range(999))
    for times in (1, 2, 3):
        graph.replay()
        assert x.tolist() == [1000 * times] * 4


# Contents.


def test_index_tensors_are_tested_at_every_replay(gate: Gate) -> None:
    table, ids, y = numbers(5, 6, 7), whole(0, 1, 2), tp.zeros(3)
    with tp.Graph() as graph:
        taken(y, table, ids)
    graph.replay()
    assert y.tolist() == [5, 6, 7]
    ids[...] = np.array([2, 3, 0])
    gate.hold()
    graph.replay()
    assert y.is_in_flight
    gate.open()
    with pytest.raises(tp.LaunchError, match="`ids\\[1\\]` is 3"):
        y.tolist()
    assert errors_of() == []
    ids[...] = np.array([2, 2, 0])
    graph.replay()
    assert y.tolist() == [7, 7, 5]


def test_duplicates_and_offsets_are_tested_at_every_replay() -> None:
    y, x, to = tp.zeros(4), numbers(1, 2), whole(3, 1)
    rows, off = tp.zeros(5), whole(0, 2, 5)
    with tp.Graph() as graph:
        scattered(y, x, to)
        ragged(rows, off)
    graph.replay()
    assert y.tolist() == [0, 2, 0, 1]
    assert rows.tolist() == [0, 0, 1, 1, 1]
    to[...] = np.array([1, 1])
    graph.replay()
    assert "to" in errors_of()[0]
    to[...] = np.array([0, 2])
    off[...] = np.array([0, 4, 3])
    y[...] = 0
    graph.replay()
    assert "off" in errors_of()[0]
    off[...] = np.array([0, 1, 5])
    y[...] = 0
    graph.replay()
    assert errors_of() == []
    assert y.tolist() == [1, 0, 2, 0]
    assert rows.tolist() == [0, 1, 1, 1, 1]


@pytest.mark.parametrize("kind", ["own", "numpy"])
def test_entries_with_gaps_between_them_are_tested(kind: str) -> None:
    entries = np.array([[0, 9], [2, 9], [1, 9]], np.int32)
    ids: Any = tp.from_numpy(entries) if kind == "own" else entries
    table, y = numbers(5, 6, 7), tp.zeros(3)
    with tp.Graph() as graph:
        taken(y, table, ids[:, 0])
    graph.replay()
    assert y.tolist() == [5, 7, 6]
    ids[1, 0] = 4
    assert "`ids[1]` is 4" in replayed(graph)


def replayed(graph: tp.Graph) -> str:
    """What a replay raises, or its stream when it is synchronized."""
    try:
        graph.replay()
    except tp.LaunchError as error:
        return str(error)
    return errors_of()[0]


@tp.kernel
def moved(y: InOut[f32, "V"], x: In[f32, "W"], at: In[Index["W"], "N"], to: In[Unique["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[to[n]] = x[at[n]] + y[to[n]]


def test_a_rejected_launch_leaves_no_copies_to_later_ones() -> None:
    y, x, at, to = tp.zeros(2), numbers(1, 2, 3), whole(0, 1, 2), whole(0, 1, 1)
    z = tp.zeros(3)
    with tp.Graph() as graph:
        with pytest.raises(tp.LaunchError, match="3 entries"):
            moved(y, x, at, to)
        taken(z, x, at)
    graph.replay()
    assert z.tolist() == [1, 2, 3]


def test_entries_that_an_earlier_launch_vouches_for_are_not_copied() -> None:
    table, ids, y = numbers(5, 6, 7), tp.zeros(4, tp.i32), tp.zeros(4)
    with tp.Graph() as graph:
        places(ids, table)
        taken(y, table, ids)
    assert [node.name for node in graph.describe().nodes] == ["places", "taken"]
    graph.replay()
    assert y.tolist() == [5, 5, 5, 5]
    with tp.Graph() as overwritten:
        places(ids, table)
        tp.copy(ids, OUTSIDE)
        taken(y, table, ids)
    assert len(overwritten.describe().nodes) > 3
    overwritten.replay()
    assert "ids" in errors_of()[0]


def test_every_replay_in_flight_tells_of_its_own_entries(gate: Gate) -> None:
    """Bad, good, bad: what the second found must neither hide what the first did nor be blamed for the third."""
    table, y = numbers(5, 6, 7), tp.zeros(2)
    ids, good, bad = whole(0, 0), whole(1, 2), whole(0, 8)
    saved = [tp.zeros(2) for _ in range(3)]
    with tp.Graph() as graph:
        taken(y, table, ids)
    gate.hold()
    turns = []
    for source, result in zip((bad, good, bad), saved, strict=True):
        tp.copy(ids, source)
        graph.replay()
        turns.append(tp.current_stream().turn)
        tp.copy(result, y)
    assert y.is_in_flight
    gate.open()
    with pytest.raises(tp.LaunchError, match="is 8"):
        saved[0].tolist()
    assert saved[1].tolist() == [6, 7]
    with pytest.raises(tp.LaunchError, match="is 8"):
        saved[2].tolist()
    with pytest.raises(tp.LaunchError, match="is 8"):
        y.tolist()


def test_every_replay_in_flight_tells_of_its_own_checks(gate: Gate) -> None:
    table, y = numbers(5, 6, 7), tp.zeros(2)
    ids, good, bad = whole(0, 0), whole(1, 2), whole(0, 8)
    saved = [tp.zeros(2) for _ in range(4)]
    with tp.Graph() as graph:
        looked_up(y, table, ids)
    gate.hold()
    for source, result in zip((good, bad, good, bad), saved, strict=True):
        tp.copy(ids, source)
        graph.replay()
        tp.copy(result, y)
    assert y.is_in_flight
    gate.open()
    assert saved[0].tolist() == [6, 7]
    assert saved[2].tolist() == [6, 7]
    for spoiled in (saved[1], saved[3], y):
        with pytest.raises(tp.TileproofError, match="is 8"):
            spoiled.tolist()


def test_awaited_replays_get_their_own_failures(gate: Gate) -> None:
    table, y = numbers(5, 6, 7), tp.zeros(2)
    ids, good, bad = whole(0, 0), whole(1, 2), whole(0, 8)
    with tp.Graph() as graph:
        looked_up(y, table, ids)

    async def one(source: tp.Tensor) -> str:
        try:
            await (tp.copy_op(ids, source) >> graph.op())
        except tp.TileproofError:
            return "failed"
        return "fine"

    async def main() -> list[str]:
        gate.hold()
        tasks = [asyncio.ensure_future(one(source)) for source in (good, bad, good, bad)]
        await asyncio.sleep(0)
        assert y.is_in_flight
        gate.open()
        return await asyncio.gather(*tasks)

    assert asyncio.run(main()) == ["fine", "failed", "fine", "failed"]
    assert errors_of() == []


def test_a_failed_replay_spoils_and_the_next_cures() -> None:
    table, ids, y, z = numbers(5, 6, 7), whole(0, 8), tp.zeros(2), tp.zeros(2)
    with tp.Graph() as graph:
        looked_up(y, table, ids)
        add(z, y, y)
    graph.replay()
    assert "8" in errors_of()[0]
    for each in (y, z):
        with pytest.raises(tp.TileproofError, match="is 8"):
            each.tolist()
    ids[...] = 1
    graph.replay()
    assert errors_of() == []
    assert z.tolist() == [12, 12]


def test_a_replay_does_not_read_what_is_spoiled() -> None:
    table, y, z = numbers(5, 6, 7), tp.zeros(2), tp.zeros(2)
    with tp.Graph() as graph:
        add(z, y, y)
    looked_up(y, table, whole(0, 8))
    errors_of()
    with pytest.raises(tp.TileproofError, match="is 8"):
        graph.replay()
    y[...] = 2
    graph.replay()
    assert z.tolist() == [4, 4]


def test_launches_of_several_jobs_in_a_graph() -> None:
    x, total = tp.ones((8, 4)), tp.zeros(4)
    with tp.Graph() as graph:
        columns(total, x)
        double(x.reshape(-1))
    for times in range(3):
        graph.replay()
        assert total.tolist() == [8.0 * 2**times] * 4


@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
def test_a_graph_replays_on_the_backend_that_it_was_recorded_on(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    compile = InterpreterBackend.compile

    def noted(self: InterpreterBackend, result: Any, bound: Any) -> Callable[..., None]:
        code = compile(self, result, bound)

        def run(*values: Any) -> None:
            ran.append(result.kernel.name)
            code(*values)

        return run

    monkeypatch.setattr(InterpreterBackend, "compile", noted)
    x, y = tp.from_numpy(np.arange(19, dtype=np.float32)), tp.empty(19)
    with tp.backend(backend), tp.Graph() as graph:
        add(y, x, x)
    assert not ran
    for value in (1.0, 3.0):
        tp.copy(x, tp.full(19, value))
        graph.replay()
        assert np.array_equal(y.numpy(), np.full(19, 2 * value))
    assert ran == (["add", "add"] if backend == "interpreter" else [])
