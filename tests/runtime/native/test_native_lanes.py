"""Leases in memory that native code reads: what is noted, what is in the way of what, and that turns are in order."""

from __future__ import annotations

import ctypes
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from oracles.recording_driver import Driver, Own, entries, plan_of, plans_of
from tileproof.language.dtypes import F32
from tileproof.runtime import native as fast
from tileproof.runtime.interop.describe import byte_range
from tileproof.runtime.native import Plan, Plans, TensorArgument
from tileproof.runtime.native.lease_lanes import Lane, Lanes
from tileproof.runtime.native.structures import LANE_ROOM

Array = np.ndarray[Any, Any]
Launch = Callable[..., bool]
STREAM = 4096
LANES = Lanes()
"""Of a device that no other test uses."""


@pytest.fixture
def launch() -> Launch:
    return fast.launch


@pytest.fixture
def lane() -> Iterator[Lane]:
    """The lane of the only stream."""
    lane = Lane(STREAM)
    LANES.add(lane)
    yield lane
    LANES.remove(lane)


def arrays(*shape: int, count: int = 3) -> tuple[Array, ...]:
    return tuple(np.zeros(shape, np.float32) for _ in range(count))


def span(array: Array) -> tuple[int, int]:
    return byte_range(array)


def leased(args: tuple[Any, ...], driver: Driver | None = None, **changes: Any) -> Plan:
    return plan_of(args, driver, **{"stream": STREAM, "lanes": LANES.address, **changes})


# What is noted.


def test_spans_are_noted_under_the_turn_of_their_launch(launch: Launch, lane: Lane) -> None:
    y, x, z = arrays(4, 6)
    back = np.zeros((4, 6), np.float32)[::-1]
    plans = plans_of(leased((y, x, 1.0)), leased((y, back, z)))
    lane.turn = 9
    assert launch(plans, (y, x, 1.0))
    assert launch(plans, (z, back, x))
    assert lane.turn == 11
    assert lane.entries() == [
        (10, span(y), True), (10, span(x), False),
        (11, span(z), True), (11, span(back), False), (11, span(x), False),
    ]  # fmt: skip
    assert lane.entries(10) == lane.entries()[2:]
    assert lane.entries(11) == []
    assert lane.entries(until=10) == lane.entries()[:2]
    assert not lane.is_busy


def test_tensors_without_elements_are_not_noted(launch: Launch, lane: Lane) -> None:
    y, x, nothing = *arrays(4, count=2), np.zeros((0, 4), np.float32)
    assert launch(plans_of(leased((y, nothing, x))), (y, nothing, x))
    assert lane.entries() == [(1, span(y), True), (1, span(x), False)]


def test_a_launch_without_programs_takes_no_turn(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    assert launch(plans_of(leased(args, grid=(0, 1, 1))), args)
    LANES.remove(lane)
    assert launch(plans_of(leased(args, grid=(0, 1, 1))), args)
    assert (lane.turn, lane.entries()) == (0, [])


def test_what_the_driver_refuses_leaves_no_lease(launch: Launch, lane: Lane) -> None:
    args, driver = arrays(4), Driver(answer=1)
    plans = plans_of(leased(args, driver))
    assert not launch(plans, args)
    assert driver.calls == 1
    assert lane.entries() == []
    assert not lane.is_busy
    turn = lane.turn
    assert launch(plans_of(leased(args)), args)
    assert [noted for noted, _, _ in lane.entries()] == [turn + 1] * 3


def test_what_is_done_is_forgotten(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    plans = plans_of(leased(args))
    for _ in range(4):
        launch(plans, args)
    lane.retire(2)
    assert [turn for turn, _, _ in lane.entries()] == [3] * 3 + [4] * 3
    lane.retire(2)
    lane.retire(100)
    assert lane.entries() == []


def test_a_plan_without_lanes_takes_no_leases(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    assert launch(plans_of(leased(args, lanes=0)), args)
    assert (lane.turn, lane.entries()) == (0, [])


# What is rejected.


def test_a_stream_without_a_lane_asks_the_ledger(launch: Launch, lane: Lane) -> None:
    args, driver = arrays(4), Driver()
    other = Lane(STREAM + 8)
    plans = plans_of(leased(args, driver))
    LANES.remove(lane)
    assert launch(plans, args) is None
    LANES.add(other)
    assert launch(plans, args) is None
    assert (driver.calls, lane.turn, other.turn) == (0, 0, 0)
    LANES.add(lane)
    assert launch(plans, args)
    assert (lane.turn, other.turn) == (1, 0)
    LANES.remove(other)


def test_while_the_lanes_are_closed_the_ledger_is_asked(launch: Launch, lane: Lane) -> None:
    args, driver = arrays(4), Driver()
    plans = plans_of(leased(args, driver))
    with LANES.closed():
        with LANES.closed():
            assert launch(plans, args) is None
        assert launch(plans, args) is None
    LANES.set_poisoned(True)
    assert launch(plans, args) is None
    LANES.set_poisoned(False)
    assert driver.calls == 0
    assert launch(plans, args)


# Several streams.


@pytest.fixture
def other(lane: Lane) -> Iterator[Lane]:
    """The lane of a second stream."""
    result = Lane(STREAM + 8)
    LANES.add(result)
    yield result
    LANES.remove(result)


def test_what_another_stream_uses_is_in_the_way(launch: Launch, lane: Lane, other: Lane) -> None:
    y, x, z = arrays(4, 6)
    driver = Driver()
    plans = plans_of(leased((y, x), driver))
    low, high = span(y)
    edges = ((high - 1, high + 5),), ((low - 5, low + 1),)
    for reads, writes in (((), (span(x),)), ((span(y),), ()), ((), edges[0]), (edges[1], ())):
        other.note(other.turn + 1, reads, writes)
        assert launch(plans, (y, x)) is None, (reads, writes)
        other.clear()
    assert (driver.calls, lane.is_empty, lane.turn) == (0, True, 0)
    for reads, writes in (((span(x),), (span(z),)), ((), ((high, high + 5), (low - 5, low), (low, low)))):
        other.note(other.turn + 1, reads, writes)
        assert launch(plans, (y, x)), (reads, writes)
        other.clear()


def test_what_was_waited_for_is_in_the_way_no_more(launch: Launch, lane: Lane, other: Lane) -> None:
    args = arrays(4)
    plans = plans_of(leased(args))
    other.note(3, (), (span(args[1]),))
    assert launch(plans, args) is None
    lane.see(other, 2)
    assert launch(plans, args) is None
    lane.see(other, 3)
    assert launch(plans, args)
    other.note(4, (span(args[0]),), ())
    assert launch(plans, args) is None
    other.retire(4)
    assert launch(plans, args)


def test_a_slot_that_is_given_to_another_stream_was_seen_by_nobody(launch: Launch, lane: Lane, other: Lane) -> None:
    args = arrays(4)
    plans = plans_of(leased(args))
    lane.see(other, 9)
    LANES.remove(other)
    third = Lane(STREAM + 16)
    LANES.add(third)
    assert third.slot == 1
    third.note(1, (), (span(args[0]),))
    assert launch(plans, args) is None
    LANES.remove(lane)
    LANES.remove(third)
    fourth = Lane(STREAM + 24)
    LANES.add(fourth)
    LANES.add(lane)
    lane.see(fourth, 9)
    LANES.remove(lane)
    LANES.add(lane)
    assert lane.seen(0) == 0, "it was away meanwhile"
    LANES.remove(fourth)


def test_a_stream_that_has_the_handle_of_one_that_is_gone_has_a_lane_of_its_own(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    plans = plans_of(leased(args))
    assert launch(plans, args)
    new = Lane(STREAM)
    LANES.add(new)
    assert launch(plans, args) is None, "the old one may still be at work"
    lane.retire(1)
    assert launch(plans, args)
    assert (lane.turn, new.turn) == (1, 1)
    LANES.remove(new)


def test_there_is_room_for_more_streams_than_what_they_saw_is_noted_for(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    plans = plans_of(leased(args))
    others = [Lane(STREAM + 8 * number) for number in range(1, 100)]
    for each in others:
        LANES.add(each)
    others[-1].note(1, (), (span(args[0]),))
    lane.see(others[-1], 1)
    assert launch(plans, args) is None, "the ledger knows better"
    others[-1].clear()
    assert launch(plans, args)
    for each in others:
        LANES.remove(each)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", range(8))
def test_both_ways_find_the_same_conflicts_and_all_that_bytes_have(seed: int) -> None:
    rng, result = random.Random(seed), Lanes()
    lanes = [Lane(number) for number in range(5)]
    for each in lanes:
        result.add(each)
    turns = [0] * 5
    done, seen = [0] * 5, [[0] * 5 for _ in range(5)]

    def some() -> list[tuple[int, int]]:
        ends = (sorted(rng.choices(range(25), k=2)) for _ in range(rng.randrange(3)))
        return [(low, high) for low, high in ends]

    log: list[tuple[int, int, list[tuple[int, int, bool]]]] = []
    for _ in range(400):
        at = rng.randrange(5)
        reads, writes = some(), some()
        spans = [(*read, False) for read in reads] + [(*write, True) for write in writes]
        mine = rng.choice((None, at))
        results = dict(result.conflicts(None if mine is None else lanes[mine], spans))
        assert results == dict(result._conflicts(None if mine is None else lanes[mine], spans))
        wanted: dict[int, int] = {}
        for slot, turn, used in log:
            known = max(done[slot], 0 if mine is None else seen[mine][slot])
            meets = any(
                (w or v) and max(low, start) < min(high, end) for low, high, w in used for start, end, v in spans
            )
            if slot != mine and turn > known and meets:
                wanted[slot] = max(turn, wanted.get(slot, 0))
        assert results == wanted
        turns[at] += 1
        lanes[at].note(turns[at], reads, writes)
        log.append((at, turns[at], spans))
        if rng.random() < 0.2:
            other = rng.randrange(5)
            done[other] = max(done[other], rng.randint(0, turns[other]))
            lanes[other].retire(done[other])
        if rng.random() < 0.2:
            one, other = rng.sample(range(5), 2)
            seen[one][other] = max(seen[one][other], rng.randint(0, turns[other]))
            lanes[one].see(lanes[other], seen[one][other])


def test_work_with_very_many_spans_is_noted_by_what_lies_around_them() -> None:
    lane = Lane()
    spans = [(100 * number, 100 * number + 4) for number in range(LANE_ROOM)]
    lane.note(1, spans, [(7, 9)])
    assert lane.entries() == [(1, (0, 100 * (LANE_ROOM - 1) + 4), False), (1, (7, 9), True)]


def test_a_crowded_lane_says_what_is_to_be_done_first() -> None:
    lane, turn = Lane(), 0
    while not lane.crowded_until:
        turn += 1
        lane.note(turn, [(0, 4)] * 32, ())
    assert 0 < lane.crowded_until < turn
    assert len(lane.entries()) < LANE_ROOM - LANE_ROOM // 16
    lane.retire(lane.crowded_until)
    assert not lane.crowded_until


def test_a_busy_lane_is_refused(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    plans = plans_of(leased(args))
    lane._data.given += 1
    assert lane.is_busy
    before = bytes(lane._data)
    assert launch(plans, args) is None
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
    assert [turn for turn, _, _ in lane.entries()] == [launches] * 3 + [launches + 1] * 3


def test_the_ring_goes_round_and_round(launch: Launch, lane: Lane) -> None:
    args = arrays(4)
    plans = plans_of(leased(args))
    expected = [(*span(args[0]), True), (*span(args[1]), False), (*span(args[2]), False)]
    for turn in range(1, 2 * LANE_ROOM):
        assert launch(plans, args)
        if lane.is_full:
            lane.retire(turn - 100)
            noted = lane.entries()
            assert [each for each, _, _ in noted] == [each for each in range(turn - 99, turn + 1) for _ in range(3)]
            assert [(low, high, is_written) for _, (low, high), is_written in noted] == expected * 100
            assert lane.entries(turn - 50) == noted[150:]
            assert lane.entries(until=turn - 50) == noted[:150]


def test_the_memory_of_a_lane_serves_another_that_begins_anew() -> None:
    first = Lane(1)
    first.turn = 5
    first._data.head = 7
    address = first.address
    del first
    second = Lane(2)
    assert second.address == address
    assert (second.turn, second.handle, second._data.handle, second.entries()) == (0, 2, 2, [])


# The current stream.


def test_a_stream_that_is_given_is_the_current_one(launch: Launch, lane: Lane) -> None:
    args, driver = arrays(4), Driver()
    plans = plans_of(leased(args, driver, stream=None))
    assert not launch(plans, args, -1, 8, False)
    assert launch(plans, args, -1, STREAM, False)
    assert driver.latest.stream == STREAM
    assert launch(plans, args, 0, STREAM, False)
    assert not launch(plans, args, 1, STREAM, False), "a stream of another device"
    assert driver.calls == lane.turn == 2


def test_a_plan_with_a_stream_keeps_it(launch: Launch, lane: Lane) -> None:
    args, driver = arrays(4), Driver()
    assert launch(plans_of(leased(args, driver)), args, -1, 8, False)
    assert driver.latest.stream == STREAM


@pytest.mark.parametrize("wrong", [(0.0, 8), (-1, "8"), (True, 8), (-1, 8.0)])
def test_streams_are_named_by_numbers(launch: Launch, wrong: tuple[Any, Any]) -> None:
    args = arrays(4)
    assert not launch(plans_of(plan_of(args, stream=None)), args, *wrong, True)


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
    LANES.remove(lane)
    assert not launch(plans_of(leased(args)), (y, *args[1:]))
    assert y.state.version == 0


@pytest.mark.parametrize("place", [0, 1])
def test_memory_that_is_lent_goes_the_full_way(launch: Launch, place: int) -> None:
    args = arrays(4)
    arguments: list[Any] = [Own(array) for array in args]
    plans = plans_of(plan_of(args))
    assert launch(plans, tuple(arguments))
    arguments[place].lent.append(None)
    assert not launch(plans, tuple(arguments))
    arguments[place].lent.pop()
    assert launch(plans, tuple(arguments))


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


# Threads.


@pytest.mark.parametrize("releases_gil", [True, False])
def test_threads_take_turns(lane: Lane, releases_gil: bool) -> None:
    """Two threads launch at once while a third retires and gives work of its own: no turn is lost or given twice."""
    launch, launches = fast.launch, 30_000
    lock, driver = threading.Lock(), Driver()
    went: list[int] = []
    noted: list[tuple[int, tuple[int, int], bool]] = []
    given_here = 0

    def retire() -> None:
        with lock:
            done = lane.turn
            noted.extend(lane.entries(until=done))
            lane.retire(done)

    def work(args: tuple[Array, ...], plans: Plans) -> None:
        count = 0
        while count < launches:
            if launch(plans, args):
                count += 1
            elif lane.is_full:
                retire()
        went.append(count)

    arguments = [arrays(4, count=2) for _ in range(2)]
    all_plans = [plans_of(leased(args, driver, releases_gil=releases_gil)) for args in arguments]
    threads = [threading.Thread(target=work, args=pair) for pair in zip(arguments, all_plans, strict=True)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        with lock, LANES.closed():
            lane.settle()
            calls = driver.calls
            lane.turn += 1
            given_here += 1
            assert lane.entries(lane.turn) == []
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
    expected = {((span(y), True), (span(x), False)) for y, x in arguments}
    assert all(one[0] == two[0] and (one[1:], two[1:]) in expected for one, two in pairs)


def test_whoever_takes_the_stream_away_waits_for_a_launch_that_is_half_given(lane: Lane) -> None:
    """The driver is held in the middle of a launch; its spans are known, and its turn is not over."""
    args, gate = arrays(4, count=2), np.zeros(2, np.int64)
    arguments = tuple(fast.TensorArgument(F32, (4,), (4,), 4, not word, word + 1) for word in (0, 1))
    plan = leased((), arguments=arguments, words=(gate.ctypes.data, 0, 0), entry=entries()["gate"], keep=gate)
    plans = plans_of(plan)
    messages: list[str] = []
    launching = threading.Thread(target=lambda: messages.append(f"launched: {fast.launch(plans, args)}"))
    launching.start()
    while not ctypes.c_int64.from_address(gate.ctypes.data).value:
        pass
    assert lane.is_busy
    assert (lane.turn, [turn for turn, _, _ in lane.entries()]) == (0, [1, 1])
    assert not fast.launch(plans, args), "one at a time"

    def take_away() -> None:
        with LANES.closed():
            lane.settle()
            messages.append(f"taken away at {lane.turn}")

    taking = threading.Thread(target=take_away)
    taking.start()
    while not LANES._data.closed:
        pass
    assert messages == []
    gate[1] = 1
    launching.join()
    taking.join()
    assert sorted(messages) == ["launched: True", "taken away at 1"]
    assert not lane.is_busy
