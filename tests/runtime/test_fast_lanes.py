"""Leases of launches that follow a plan: what a lane notes, what it refuses, and that turns are in order."""

from __future__ import annotations

import ctypes
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fast_driver import WAYS, Driver, Own, buffer_of, entries, plan_of, plans_of

from tileproof.language.dtypes import F32
from tileproof.runtime import fast
from tileproof.runtime.devices import byte_range
from tileproof.runtime.fast import Plan, Plans, TensorArgument, lanes
from tileproof.runtime.fast.lanes import Lane, cell_of, lane_alone, set_alone
from tileproof.runtime.fast.layout import LANE_ROOM

Array = np.ndarray[Any, Any]
Launch = Callable[..., bool]
DEVICE, STREAM = 77, 4096
"""A device that no other test uses, and a stream of it."""


@pytest.fixture(params=list(WAYS))
def launch(request: pytest.FixtureRequest) -> Launch:
    return WAYS[request.param]


@pytest.fixture
def lane() -> Iterator[Lane]:
    """The lane of the only stream."""
    made = Lane(STREAM)
    set_alone(DEVICE, made)
    yield made
    set_alone(DEVICE, None)


def arrays(*shape: int, count: int = 3) -> tuple[Array, ...]:
    return tuple(np.zeros(shape, np.float32) for _ in range(count))


def span(array: Array) -> tuple[int, int]:
    return byte_range(array)


def leased(args: tuple[Any, ...], driver: Driver | None = None, **changes: Any) -> Plan:
    return plan_of(args, driver, **{"stream": STREAM, "alone": cell_of(DEVICE), **changes})


# What is noted.


def test_spans_are_noted_under_the_turn_of_their_launch(launch: Launch, lane: Lane) -> None:
    y, x, z = arrays(4, 6)
    back = np.zeros((4, 6), np.float32)[::-1]
    plans = plans_of(leased((y, x, 1.0)), leased((y, back, z)))
    lane.turn = 9
    assert launch(plans, (y, x, 1.0))
    assert launch(plans, (z, back, x))
    assert lane.turn == 11
    assert lane.spans_since(0) == [
        (10, span(y), True), (10, span(x), False),
        (11, span(z), True), (11, span(back), False), (11, span(x), False),
    ]  # fmt: skip
    assert lane.spans_since(10) == lane.spans_since(0)[2:]
    assert lane.spans_since(11) == []
    assert lane.spans_until(10) == lane.spans_since(0)[:2]
    assert not lane.is_busy


def test_tensors_without_elements_are_not_noted(launch: Launch, lane: Lane) -> None:
    y, x, nothing = *arrays(4, count=2), np.zeros((0, 4), np.float32)
    assert launch(plans_of(leased((y, nothing, x))), (y, nothing, x))
    assert lane.spans_since(0) == [(1, span(y), True), (1, span(x), False)]


def test_a_launch_without_programs_takes_no_turn(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    assert launch(plans_of(leased(args, grid=(0, 1, 1))), args)
    set_alone(DEVICE, None)
    assert launch(plans_of(leased(args, grid=(0, 1, 1))), args)
    assert (lane.turn, lane.spans_since(0)) == (0, [])


def test_what_the_driver_refuses_leaves_no_lease(launch: Launch, lane: Lane) -> None:
    args, driver = arrays(4), Driver(answer=1)
    plans = plans_of(leased(args, driver))
    assert not launch(plans, args)
    assert driver.calls == 1
    assert lane.spans_since(0) == []
    assert not lane.is_busy
    turn = lane.turn
    assert launch(plans_of(leased(args)), args)
    assert [noted for noted, _, _ in lane.spans_since(0)] == [turn + 1] * 3


def test_what_is_done_is_forgotten(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    plans = plans_of(leased(args))
    for _ in range(4):
        launch(plans, args)
    lane.retire(2)
    assert [turn for turn, _, _ in lane.spans_since(0)] == [3] * 3 + [4] * 3
    lane.retire(2)
    lane.retire(100)
    assert lane.spans_since(0) == []


def test_a_plan_without_a_lane_takes_no_leases(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    assert launch(plans_of(leased(args, alone=0)), args)
    assert (lane.turn, lane.spans_since(0)) == (0, [])


# What is refused.


def test_another_stream_than_the_one_alone_is_refused(launch: Launch, lane: Lane) -> None:
    args, driver = arrays(4), Driver()
    other = Lane(STREAM + 8)
    plans = plans_of(leased(args, driver))
    set_alone(DEVICE, None)
    assert lane_alone(DEVICE) is None
    assert not launch(plans, args)
    set_alone(DEVICE, other)
    assert not launch(plans, args)
    assert (driver.calls, lane.turn, other.turn) == (0, 0, 0)
    set_alone(DEVICE, lane)
    assert lane_alone(DEVICE) is lane
    assert launch(plans, args)
    assert (lane.turn, other.turn) == (1, 0)


def test_a_closed_lane_is_refused(launch: Launch, lane: Lane) -> None:
    args, driver = arrays(4), Driver()
    plans = plans_of(leased(args, driver))
    with lane.closed():
        with lane.closed():
            assert not launch(plans, args)
        assert not launch(plans, args)
    assert driver.calls == 0
    assert launch(plans, args)


def test_a_busy_lane_is_refused(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    plans = plans_of(leased(args))
    lane._data.given += 1
    assert lane.is_busy
    before = bytes(lane._data)
    assert not launch(plans, args)
    assert bytes(lane._data) == before
    lane._data.given -= 1
    assert launch(plans, args)


def test_a_full_lane_is_refused_until_something_is_done(launch: Launch, lane: Lane) -> None:
    args, driver = arrays(4), Driver()
    plans = plans_of(leased(args, driver))
    launches = 0
    while launch(plans, args):
        launches += 1
    assert lane.is_full
    assert 0 < launches < LANE_ROOM // 3
    lane.retire(0)  # someone has looked, and nothing is done: the other half is for that
    assert not lane.is_full
    for _ in range(2):
        while launch(plans, args):
            launches += 1
        lane.retire(0)
    assert lane.is_full
    assert 0 <= LANE_ROOM - 3 * launches < 3
    assert not launch(plans, args)
    lane.retire(launches - 1)
    assert not lane.is_full
    assert launch(plans, args)
    assert driver.calls == lane.turn == launches + 1
    assert [turn for turn, _, _ in lane.spans_since(0)] == [launches] * 3 + [launches + 1] * 3


def test_the_ring_goes_round_and_round(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    plans = plans_of(leased(args))
    expected = [(*span(args[0]), True), (*span(args[1]), False), (*span(args[2]), False)]
    for turn in range(1, 2 * LANE_ROOM):
        assert launch(plans, args)
        if lane.is_full:
            lane.retire(turn - 100)
            noted = lane.spans_since(0)
            assert [each for each, _, _ in noted] == [each for each in range(turn - 99, turn + 1) for _ in range(3)]
            assert [(low, high, is_written) for _, (low, high), is_written in noted] == expected * 100
            assert lane.spans_since(turn - 50) == noted[150:]
            assert lane.spans_until(turn - 50) == noted[:150]


def test_the_memory_of_a_lane_serves_another_that_begins_anew() -> None:
    first = Lane(1)
    first.turn = 5
    first._data.head = 7
    address = first.address
    del first
    second = Lane(2)
    assert second.address == address
    assert (second.turn, second.handle, second._data.handle, second.spans_since(0)) == (0, 2, 2, [])


# The current stream.


def test_a_stream_that_is_given_is_the_current_one(launch: Launch, lane: Lane) -> None:
    args, driver = arrays(4), Driver()
    plans = plans_of(leased(args, driver, stream=None))
    assert not launch(plans, args, -1, 8)
    assert launch(plans, args, -1, STREAM)
    assert driver.latest.stream == STREAM
    assert launch(plans, args, 0, STREAM)
    assert not launch(plans, args, 1, STREAM), "a stream of another device"
    assert driver.calls == lane.turn == 2


def test_a_plan_with_a_stream_keeps_it(launch: Launch, lane: Lane) -> None:
    args, driver = arrays(4), Driver()
    assert launch(plans_of(leased(args, driver)), args, -1, 8)
    assert driver.latest.stream == STREAM


@pytest.mark.parametrize("wrong", [(0.0, 8), (-1, "8"), (True, 8), (-1, 8.0)])
def test_streams_are_named_by_numbers(launch: Launch, wrong: tuple[Any, Any]) -> None:
    args = arrays(4)
    assert not launch(plans_of(plan_of(args, stream=None)), args, *wrong)


# Tensors of our own.


def test_a_write_counts_as_a_version(launch: Launch) -> None:
    args = arrays(4)
    y, x = Own(args[0]), Own(args[1])
    plans = plans_of(plan_of(args))
    assert launch(plans, (y, x, args[2]))
    assert launch(plans, (y, x, args[2]))
    assert (y.state.version, x.state.version) == (2, 0)


def test_a_write_that_goes_the_full_way_is_not_counted_here(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    y = Own(args[0])
    set_alone(DEVICE, None)
    assert not launch(plans_of(leased(args)), (y, *args[1:]))
    assert y.state.version == 0


@pytest.mark.parametrize("place", [0, 1])
def test_memory_that_is_lent_goes_the_full_way(launch: Launch, place: int) -> None:
    args = arrays(4)
    given: list[Any] = [Own(array) for array in args]
    plans = plans_of(plan_of(args))
    assert launch(plans, tuple(given))
    given[place].lent.append(None)
    assert not launch(plans, tuple(given))
    given[place].lent.pop()
    assert launch(plans, tuple(given))


def filling(args: tuple[Array, ...], driver: Driver | None = None) -> Plan:
    """A plan of a launch that writes all of its first tensor, whatever it held."""
    arguments = tuple(
        TensorArgument(F32, array.shape, array.strides, 4, not place, place + 1, is_read=bool(place))
        for place, array in enumerate(args)
    )
    return plan_of(args, driver, arguments=arguments)


def test_memory_that_was_never_written_is_filled_and_not_read(launch: Launch) -> None:
    args = arrays(4, 6)
    y, x = Own(args[0], unwritten=True), Own(args[1], unwritten=True)
    assert not launch(plans_of(plan_of(args)), (y, *args[1:])), "what it held may matter"
    plans = plans_of(filling(args))
    assert not launch(plans, (y, x, args[2]))
    assert y.state.unwritten
    assert launch(plans, (y, *args[1:]))
    assert not y.state.unwritten
    assert launch(plans, (args[2], y, args[1]))


def test_a_part_of_memory_that_was_never_written_goes_the_full_way(launch: Launch) -> None:
    whole = np.zeros((8, 6), np.float32)
    for part in (whole[:4], whole[4:], whole[::2], whole[:, :3], whole[::-1, ::2]):
        y, x = Own(part, whole=whole, unwritten=True), np.zeros_like(part)
        args = np.ndarray(part.shape, np.float32, np.zeros((8, 6), np.float32), 0 if part.strides[0] > 0 else 168,
                          part.strides), x  # fmt: skip
        assert not launch(plans_of(filling(args)), (y, x))
        assert y.state.unwritten
    y = Own(whole[::-1], whole=whole, unwritten=True)
    args = np.zeros((8, 6), np.float32)[::-1], np.zeros((8, 6), np.float32)
    assert launch(plans_of(filling(args)), (y, args[1]))


def test_what_the_driver_refuses_was_not_written(launch: Launch) -> None:
    args = arrays(4)
    y = Own(args[0], unwritten=True)
    assert not launch(plans_of(filling(args, Driver(answer=1))), (y, *args[1:]))
    assert y.state.unwritten


# Both ways agree.


@pytest.mark.parametrize("seed", range(10))
def test_both_ways_note_the_same(seed: int) -> None:
    rng = random.Random(seed)
    memory = np.zeros(1 << 14, np.uint8)
    seen: dict[str, list[Any]] = {}
    for way, launch in WAYS.items():
        rng.seed(seed)
        made = Lane(STREAM)
        set_alone(DEVICE, made)
        told: list[Any] = []
        plans: list[tuple[Plans, tuple[Any, ...]]] = []
        for _ in range(4):
            given: list[Any] = []
            for _ in range(rng.randrange(1, 6)):
                start, count = 4 * rng.randrange(2048), rng.choice((0, 1, 7, 64))
                array = memory[start : start + 4 * count].view(np.float32)
                given.append(array if rng.random() < 0.5 else array[::-1])
            written = tuple(place for place in range(5) if rng.random() < 0.3)
            answer = int(rng.random() < 0.1)
            plans.append((plans_of(leased(tuple(given), Driver(answer), written=written)), tuple(given)))
        for _ in range(2000):
            each, args = rng.choice(plans)
            if rng.random() < 0.2:
                args = tuple(buffer_of(array) if array.size else array for array in args)
            told.append((launch(each, args), made.turn, made.is_full))
            if rng.random() < 0.01:
                made.retire(made.turn - rng.randrange(20))
            if rng.random() < 0.02:
                told.append(made.spans_since(made.turn - rng.randrange(50)))
        set_alone(DEVICE, None)
        told.append(made.spans_since(0))
        seen[way] = told
    assert seen["native"] == seen["python"]


# Threads.


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("releases_gil", [True, False])
def test_threads_take_turns(lane: Lane, way: str, releases_gil: bool) -> None:
    """Two threads launch at once while a third retires and gives work of its own: no turn is lost or given twice."""
    launch, launches = WAYS[way], 30_000 if way == "native" else 2_000
    lock, driver = threading.Lock(), Driver()
    went: list[int] = []
    noted: list[tuple[int, tuple[int, int], bool]] = []
    given_here = 0

    def retire() -> None:
        with lock:
            done = lane.turn
            noted.extend(lane.spans_until(done))
            lane.retire(done)

    def work(args: tuple[Array, ...], plans: Plans) -> None:
        count = 0
        while count < launches:
            if launch(plans, args):
                count += 1
            elif lane.is_full:
                retire()
        went.append(count)

    given = [arrays(4, count=2) for _ in range(2)]
    all_plans = [plans_of(leased(args, driver, releases_gil=releases_gil)) for args in given]
    threads = [threading.Thread(target=work, args=pair) for pair in zip(given, all_plans, strict=True)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        with lock, lane.closed():
            calls = driver.calls
            lane.turn += 1
            given_here += 1
            assert lane.spans_since(lane.turn) == []
            assert driver.calls == calls, "someone followed a plan meanwhile"
        time.sleep(0)  # lets others go on
    for thread in threads:
        thread.join()
    retire()
    assert lane.turn == sum(went) + given_here
    assert sum(went) == driver.calls == 2 * launches
    assert len(noted) == 2 * sum(went)
    turns = [turn for turn, _, _ in noted]
    assert turns == sorted(turns)
    pairs = list(zip(noted[::2], noted[1::2], strict=True))
    assert len({one[0] for one, _ in pairs}) == len(pairs)
    expected = {((span(y), True), (span(x), False)) for y, x in given}
    assert all(one[0] == two[0] and (one[1:], two[1:]) in expected for one, two in pairs)


def test_whoever_takes_the_stream_away_waits_for_a_launch_that_is_half_given(lane: Lane) -> None:
    """The driver is held in the middle of a launch; its spans are known, and its turn is not over."""
    args, gate = arrays(4, count=2), np.zeros(2, np.int64)
    arguments = tuple(fast.TensorArgument(F32, (4,), (4,), 4, not word, word + 1) for word in (0, 1))
    plan = leased((), arguments=arguments, words=(gate.ctypes.data, 0, 0), entry=entries()["gate"], keep=gate)
    plans = plans_of(plan)
    told: list[str] = []
    launching = threading.Thread(target=lambda: told.append(f"launched: {fast.launch(plans, args)}"))
    launching.start()
    while not ctypes.c_int64.from_address(gate.ctypes.data).value:
        pass
    assert lane.is_busy
    assert (lane.turn, [turn for turn, _, _ in lane.spans_since(0)]) == (0, [1, 1])
    assert not fast.launch(plans, args), "one at a time"

    def take_away() -> None:
        set_alone(DEVICE, None)
        told.append(f"taken away at {lane.turn}")

    taking = threading.Thread(target=take_away)
    taking.start()
    while ctypes.c_void_p.from_address(cell_of(DEVICE)).value is not None:
        pass
    assert told == []
    gate[1] = 1
    launching.join()
    taking.join()
    assert sorted(told) == ["launched: True", "taken away at 1"]
    assert not lane.is_busy


def test_a_thread_that_follows_a_plan_in_python_keeps_others_away(lane: Lane) -> None:
    args = arrays(4)
    plans = plans_of(leased(args))

    def start() -> bool:
        assert lane.is_busy
        assert not fast.launch(plans, args)
        assert not lanes.give(cell_of(DEVICE), STREAM, [], lambda: True)
        assert lane.spans_since(0) == [(1, (5, 9), True)]
        return True

    assert lanes.give(cell_of(DEVICE), STREAM, [(5, 9, True)], start)
    assert (lane.turn, lane.is_busy) == (1, False)
    assert fast.launch(plans, args)


def test_a_signal_in_the_middle_of_a_launch_loses_no_lease(lane: Lane) -> None:
    def start() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lanes.give(cell_of(DEVICE), STREAM, [(5, 9, True)], start)
    assert (lane.turn, lane.spans_since(0), lane.is_busy) == (1, [(1, (5, 9), True)], False)
