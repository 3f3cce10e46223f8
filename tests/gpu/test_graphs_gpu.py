"""Graphs on a real GPU, and what else may happen to work in flight there: forks, exits, cancelled tasks, aliases."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from samples.chain_launches import EXTENT as LONG
from samples.chain_launches import PROGRAMS, early, looked, looked_twice, matvec, pieces, rows
from samples.chain_launches import counted as chained
from samples.host_launches import EXTENT, counted, mixed, picked, raised, taken
from support.cuda_host import CudaGate
from tileproof.backends.cuda.device.driver import Device
from tileproof.diagnostics.codes import Code
from tileproof.runtime.stream.cuda_streams import CudaStream, current_cuda_stream

pytestmark = pytest.mark.gpu
TESTS = str(Path(__file__).resolve().parents[1])


def stream_of() -> CudaStream:
    made: Any = tp.Stream("cuda")
    assert isinstance(made, CudaStream)
    return made


def full(value: float) -> tp.Tensor:
    return tp.full(EXTENT, value, tp.f32, "cuda")


def holds(tensor: tp.Tensor, value: float) -> bool:
    return bool((tensor.numpy() == np.float32(value)).all())


@pytest.fixture(autouse=True)
def clean(gpu: Device, compiled: None) -> Iterator[None]:
    yield
    gc.collect()
    current_cuda_stream(0).synchronize()


# Graphs.


def test_a_graph_is_replayed_in_order_and_reads_what_was_copied_into_it() -> None:
    x, y, z = full(2), full(0), full(0)
    with tp.Graph() as graph:
        mixed(y, x, x)
        mixed(z, y, x)
        raised(z)
    graph.replay()
    assert holds(z, ((2 * 0.5 + 2) * 0.5 + 2) * 0.5 + 1)
    x[...] = 4
    for _ in range(3):
        graph.replay()
    assert holds(z, ((4 * 0.5 + 4) * 0.5 + 4) * 0.5 + 1)
    described = graph.describe()
    assert [node.name for node in described.nodes] == ["mixed", "mixed", "raised"]
    assert described.edges == ((0, 1), (1, 2))


def test_a_graph_of_many_nodes_is_one_launch_of_the_driver() -> None:
    y = full(0)
    with tp.Graph() as graph:
        for _ in range(200):
            raised(y)
    expected = np.zeros(EXTENT, np.float32)
    for _ in range(400):
        expected = expected * np.float32(0.5) + np.float32(1)
    graph.replay()
    graph.replay()
    assert np.array_equal(y.numpy(), expected)


def test_contents_are_tested_at_every_replay() -> None:
    x, y = tp.from_numpy(np.arange(EXTENT, dtype=np.float32), "cuda"), full(0)
    ids = tp.from_numpy(np.arange(EXTENT, dtype=np.int32)[::-1].copy(), "cuda")
    with tp.Graph() as graph:
        taken(y, x, ids)
    graph.replay()
    assert np.array_equal(y.numpy(), np.arange(EXTENT, dtype=np.float32)[::-1])
    ids[7] = EXTENT + 3
    graph.replay()
    with pytest.raises(tp.LaunchError, match=rf"`ids\[7\]` is {EXTENT + 3}") as raised_:
        y.numpy()
    assert raised_.value.diagnostics[0].code is Code.CONTENTS
    ids[7] = 0
    graph.replay()
    assert y[7].item() == 0


def test_failed_checks_are_told_by_who_waits_for_the_replay() -> None:
    x, y = full(3), full(0)
    places = tp.from_numpy(np.zeros(EXTENT, np.int32), "cuda")
    with tp.Graph() as graph:
        picked(y, x, places)
    graph.replay()
    assert holds(y, 3)
    places[5] = -9
    graph.replay()
    with pytest.raises(tp.TileproofError, match="-9"):
        current_cuda_stream(0).synchronize()
    places[5] = 1
    graph.replay()
    assert holds(y, 3)


def test_sums_begin_anew_at_every_replay() -> None:
    total, x = tp.empty(1, device="cuda"), full(1)
    with tp.Graph() as graph:
        counted(total, x)
    for _ in range(3):
        graph.replay()
    assert total.item() == EXTENT


def test_streams_of_a_graph_run_side_by_side_and_meet() -> None:
    x, a, b, c, side = full(2), full(0), full(0), full(0), stream_of()
    with tp.Graph() as graph:
        mixed(a, x, x)
        with side:
            mixed(b, x, x)
        mixed(c, a, b)
    assert graph.describe().edges == ((0, 2), (1, 2))
    graph.replay()
    assert holds(c, 4.5)


def test_a_graph_keeps_memory_whose_last_handle_is_dropped() -> None:
    x, middle, y = full(2), full(0), full(0)
    with tp.Graph() as graph:
        mixed(middle, x, x)
        mixed(y, middle, x)
    del middle, x
    gc.collect()
    others = [full(77) for _ in range(16)]
    graph.replay()
    assert holds(y, 3.5)
    assert all(holds(other, 77) for other in others)


def test_a_replay_and_a_launch_on_another_stream_take_turns() -> None:
    x, y, z, side = full(2), full(0), full(0), stream_of()
    with tp.Graph() as graph:
        raised(y)
        mixed(z, y, x)
    expected = np.zeros(EXTENT, np.float32)
    here = current_cuda_stream(0)
    with CudaGate(here) as gate:
        for _ in range(20):
            graph.replay()
            with side:
                raised(y)
            for _ in range(2):
                expected = expected * np.float32(0.5) + np.float32(1)
        assert y.is_in_flight
        assert not side.is_idle()
        with pytest.raises(tp.InFlight):
            y[...] = 0
        gate.open()
    assert np.array_equal(y.numpy(), expected)


def test_a_chain_that_begins_early_computes_the_same() -> None:
    random = np.random.default_rng(3)
    weights = tp.from_numpy((random.standard_normal((LONG, LONG)) / LONG**0.5).astype(np.float32), "cuda")
    start = random.standard_normal(LONG).astype(np.float32)
    ends = []
    for kernel in (matvec, early(matvec)):
        one, two = tp.from_numpy(start, "cuda"), tp.empty(LONG, device="cuda")
        with tp.Graph() as graph:
            for _ in range(20):
                kernel(two, weights, one)
                kernel(one, weights, two)
        graph.replay()
        ends.append(one.numpy().tobytes())
        operation = kernel.op(two, weights, one)
        for _ in range(10):
            operation = operation >> kernel.op(one, weights, two) >> kernel.op(two, weights, one)
        ends.append(operation.run().numpy().tobytes())
    assert ends[:2] == ends[2:]


def reads_early(graph: tp.Graph) -> list[bool]:
    """For each launch, whether it reads before the one ahead has ended."""
    found = [part.behind is not None for part in graph._player._parts]
    if not any(found):
        pytest.skip("code that reads early was not compiled elsewhere, or this GPU waits for each kernel to end")
    return found


def test_what_two_launches_ahead_wrote_is_seen_before_the_wait() -> None:
    """No multiprocessor has anything else to remember than what it saw the last time."""
    count, look = early(chained), early(looked)
    times, replays = 64, 25
    x, y = tp.zeros(1, tp.i32, "cuda"), tp.zeros(1, tp.i32, "cuda")
    seen = tp.zeros((times, PROGRAMS), tp.i32, "cuda")
    with tp.Graph() as graph:
        for number in range(times):
            count(x)
            count(y)
            look(seen[number], x)
    assert reads_early(graph)[2::3] == [True] * times
    for number in range(replays):
        graph.replay()
        expected = number * times + 1 + np.arange(times, dtype=np.int32)
        assert (seen.numpy() == expected[:, None]).all()
    assert int(y.numpy()[0]) == times * replays


@pytest.mark.parametrize("step", [1, 8, 31, 32, 64])
def test_neighbours_of_what_is_read_are_seen_as_they_are(step: int) -> None:
    """Two numbers in one line of a cache or in two, one of which the launch ahead writes."""
    count, look = early(chained), early(looked_twice)
    times, replays = 64, 10
    line, other = tp.zeros(128, tp.i32, "cuda"), tp.zeros(128, tp.i32, "cuda")
    still, moved = line[0:1], line[step : step + 1]
    seen, rest = tp.zeros((times, PROGRAMS), tp.i32, "cuda"), tp.zeros((times, PROGRAMS), tp.i32, "cuda")
    with tp.Graph() as graph:
        for number in range(times):
            count(moved)
            look(rest[number], still, moved)
            look(seen[number], moved, other[0:1])
    reads_early(graph)
    for number in range(replays):
        graph.replay()
        expected = (number * times + 1 + np.arange(times, dtype=np.int32))[:, None]
        assert (rest.numpy() == expected).all()
        assert (seen.numpy() == expected).all()


def test_what_the_launch_ahead_wrote_is_seen() -> None:
    count, look = early(chained), early(looked)
    x, seen = tp.zeros(1, tp.i32, "cuda"), tp.zeros((64, PROGRAMS), tp.i32, "cuda")
    with tp.Graph() as graph:
        for number in range(64):
            count(x)
            look(seen[number], x)
    for number in range(25):
        graph.replay()
        assert (seen.numpy() == (number * 64 + 1 + np.arange(64, dtype=np.int32))[:, None]).all()


@pytest.mark.parametrize("forms", [(rows, rows), (rows, pieces), (pieces, rows), (pieces, pieces)])
def test_weights_that_are_read_early_and_joins_give_the_same_bits(forms: tuple[tp.Kernel, tp.Kernel]) -> None:
    random = np.random.default_rng(5)
    weights = tp.from_numpy((random.standard_normal((LONG, LONG)) / LONG**0.5).astype(np.float32), "cuda")
    start = random.standard_normal(LONG).astype(np.float32)
    ends = []
    for first, second in (forms, tuple(map(early, forms))):
        one, two = tp.from_numpy(start, "cuda"), tp.empty(LONG, device="cuda")
        with tp.Graph() as graph:
            for _ in range(40):
                first(two, weights, one)
                second(one, weights, two)
        for _ in range(5):
            graph.replay()
        ends.append(one.numpy().tobytes())
    parts = graph._player._parts
    assert all(part.can_begin(ahead) for ahead, part in pairwise(parts))
    if rows in forms:  # the pieces of a row are read in a loop, and so behind the wait
        assert reads_early(graph) == [False, *[form is rows for form in forms * 40][1:]]
    assert ends[0] == ends[1]
    assert np.isfinite(np.frombuffer(ends[0], np.float32)).all()


# Tasks.


def test_a_task_that_is_cancelled_leaves_its_work_to_the_stream() -> None:
    x, y, z, stream = full(2), full(0), full(0), stream_of()

    async def main() -> None:
        async def work() -> None:
            await mixed.op(y, x, x)
            await mixed.op(z, y, x)

        with stream:
            task = asyncio.create_task(work())
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with CudaGate(stream) as gate:
        asyncio.run(main())
        assert y.is_in_flight
        assert not z.is_in_flight
        gate.open()
    assert holds(y, 3)
    assert holds(z, 0)


def test_graphs_and_chains_are_awaited_on_several_streams() -> None:
    x, ends = full(2), [full(0) for _ in range(8)]
    graphs = []
    for y in ends:
        with tp.Graph() as graph:
            mixed(y, x, x)
        graphs.append(graph)

    async def main() -> None:
        with tp.StreamPool(4, "cuda"):
            await tp.all(*(graph.op() >> raised.op(y) for graph, y in zip(graphs, ends, strict=True)))

    asyncio.run(main())
    assert all(holds(y, 2.5) for y in ends)


# Aliases.


def test_two_imports_of_one_buffer_are_one_buffer() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, y = full(2), full(0)
    one, two = torch.from_dlpack(x), torch.from_dlpack(x)
    assert one.data_ptr() == two.data_ptr()
    with pytest.raises(tp.LaunchError) as raised_:
        mixed(one, two, y)
    assert raised_.value.diagnostics[0].code is Code.ALIASED
    mixed(y, one, two)
    torch.cuda.synchronize()
    assert holds(y, 3)


def test_an_output_that_overlaps_an_input_by_one_element_is_refused() -> None:
    both = tp.zeros(2 * EXTENT, device="cuda")
    with pytest.raises(tp.LaunchError) as raised_:
        mixed(both[:EXTENT], both[EXTENT - 1 : -1], full(0))
    assert raised_.value.diagnostics[0].code is Code.ALIASED


# Processes.


def test_a_process_ends_with_work_in_flight(alone: Callable[[str], str]) -> None:
    printed = alone(f"""
        import sys
        sys.path.insert(0, {TESTS!r})
        from samples.host_launches import EXTENT, mixed
        import tileproof as tp
        x, y = (tp.zeros(EXTENT, device="cuda") for _ in range(2))
        side = tp.Stream("cuda")
        with tp.Graph() as graph:
            mixed(y, x, x)
        for _ in range(500):
            mixed(y, x, x)
            graph.replay()
            with side:
                mixed(y, x, x)
        print("ended")
    """)
    assert printed == "ended\n"


def test_a_process_that_is_forked_off_is_told_that_cuda_stays_behind(alone: Callable[[str], str]) -> None:
    printed = alone(f"""
        import os, sys
        sys.path.insert(0, {TESTS!r})
        from samples.host_launches import EXTENT, mixed
        import tileproof as tp
        x, y = (tp.zeros(EXTENT, device="cuda") for _ in range(2))
        mixed(y, x, x)
        sys.stdout.flush()
        child = os.fork()
        if not child:
            try:
                mixed(y, x, x)
                print("nothing was said")
            except tp.TileproofError as error:
                print("spawn" in str(error))
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)
        print(y.tolist()[:1])
    """)
    assert printed == "True\n[0.0]\n"
