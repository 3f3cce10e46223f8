"""The native queue: steps in order, more of them than it has room for, waits across queues, and its end."""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.cpu_assembly import assembly
from tileproof.backends.cpu import llvm, target
from tileproof.backends.cpu.device import pool
from tileproof.backends.cpu.device.pool import JOB, Pool, pool_text
from tileproof.backends.cpu.device.queue import CALL, STEP, Queue, call_of, copy_of, queue_text, step_of, zeros_of

NEVER = 2**63 - 1

NATIVE = Path(pool.__file__).parent / "native"
HOST = target.host()
CODE = llvm.compile_object(queue_text(HOST), HOST)
POOL = Pool(llvm.compile_object(pool_text(HOST), HOST))


@pytest.fixture
def queue() -> Iterator[Queue]:
    queue = Queue(CODE, POOL)
    yield queue
    queue.abandon()


@pytest.fixture
def door() -> Iterator[Queue]:
    """A queue without a thread: others wait for it until it is moved."""
    queue = Queue(CODE, None)
    yield queue
    queue.reach(NEVER)


class Calls:
    """Steps that call Python, and what they did."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self._kept: list[object] = []

    def step(self, number: int, then: Callable[[], int] = lambda: 0) -> tuple[int, ...]:
        def call(_: int | None) -> int:
            self.done.append(number)
            return then()

        code = CALL(call)
        self._kept.append(code)
        return call_of(ctypes.cast(code, ctypes.c_void_p).value or 0)

    def given(self, to: Queue, *steps: tuple[int, ...]) -> int:
        words = array("Q", [word for step in steps for word in step])
        self._kept.append(words)
        return to.push(words.buffer_info()[0], len(words) // STEP)


@pytest.fixture
def calls() -> Calls:
    return Calls()


def test_the_text_was_made_of_the_source() -> None:
    digest = hashlib.sha256((NATIVE / "queue.c").read_bytes()).hexdigest()
    first = (NATIVE / "queue.ll").read_text(encoding="utf-8").splitlines()[0]
    assert first.endswith(f" {digest}"), "queue.c has changed: run tools/build_native.py"


@pytest.mark.parametrize("name", ["sse2", "avx2", "avx512", "neon"])
def test_the_queue_compiles_for_every_processor(name: str) -> None:
    there = target.named(name)
    waits = {line.strip() for line in assembly(queue_text(there), there).splitlines()} & {"pause", "yield"}
    assert waits == {"pause" if there.is_x86 else "yield"}


def test_nothing_is_done_before_its_turn(queue: Queue, door: Queue, calls: Calls) -> None:
    queue.wait(door, 1)
    last = [calls.given(queue, calls.step(number)) for number in range(20)][-1]
    assert queue.done == 0
    assert calls.done == []
    door.reach(1)
    queue.until(last)
    assert queue.done == last == 21
    assert calls.done == list(range(20))


def test_the_owner_of_a_queue_without_a_thread_runs_steps_and_counts_those_that_fail(door: Queue, calls: Calls) -> None:
    run, flags = door.running(POOL), array("q", [0, 7, 0, 7])
    steps = array("Q", [*calls.step(1), *zeros_of(flags.buffer_info()[0], 2, 2), *calls.step(2)])
    assert run(steps.buffer_info()[0], 3, 1) == 0
    assert (door.done, calls.done) == (1, [1, 2])
    flags[2] = 1  # every second word is tested
    assert run(steps.buffer_info()[0], 3, 2) == 1
    assert (door.done, calls.done) == (1, [1, 2, 1, 2])  # who failed is noted before the counter moves


def test_steps_of_one_entry_are_done_in_order(queue: Queue, calls: Calls) -> None:
    queue.until(calls.given(queue, *(calls.step(number) for number in range(50))))
    assert calls.done == list(range(50))
    assert queue.done == 1


def test_it_grows_while_entries_wait(queue: Queue, door: Queue) -> None:
    """It has room for 256, and its thread is in the middle of things each time it grows."""
    count = 3000
    memory = (ctypes.c_int64 * (count + 1))()
    memory[0] = 42
    words = array("Q")
    for place in range(count):
        words.extend(copy_of(ctypes.addressof(memory) + 8 * (place + 1), ctypes.addressof(memory) + 8 * place, 8))
    start = words.buffer_info()[0]
    for place in range(count):
        if place == 700:
            queue.wait(door, 1)
        last = queue.push(start + 8 * STEP * place, 1)
    assert memory[count] == 0
    assert queue.done <= 700
    door.reach(1)
    queue.until(last)
    assert list(memory) == [42] * (count + 1)


def test_queues_wait_for_one_another(door: Queue, calls: Calls) -> None:
    one, two = Queue(CODE, POOL), Queue(CODE, POOL)
    one.wait(door, 1)
    first = calls.given(one, calls.step(1))
    two.wait(one, first)
    second = calls.given(two, calls.step(2))
    one.wait(two, second)
    third = calls.given(one, calls.step(3))
    assert (one.done, two.done) == (0, 0)
    door.reach(1)
    one.until(third)
    assert calls.done == [1, 2, 3]
    one.abandon()
    two.abandon()


def test_a_wait_for_what_is_done_is_none(queue: Queue, door: Queue, calls: Calls) -> None:
    door.reach(5)
    queue.wait(door, 5)
    queue.until(calls.given(queue, calls.step(1)))
    assert calls.done == [1]


def test_what_an_entry_wrote_is_seen_by_who_waited(queue: Queue) -> None:
    size = 1 << 20
    source, to = (ctypes.c_char * size).from_buffer(bytearray(b"x" * size)), (ctypes.c_char * size)()
    for _ in range(20):
        ctypes.memset(to, 0, size)
        words = array("Q", copy_of(ctypes.addressof(to), ctypes.addressof(source), size))
        queue.until(queue.push(words.buffer_info()[0], 1))
        assert to.raw == source.raw


def test_jobs_run_on_the_pool(queue: Queue) -> None:
    seen: list[tuple[int, int]] = []

    def job(args: int, own: int, first: int, last: int) -> None:
        seen.append((first, last))

    code = JOB(job)
    address = ctypes.cast(code, ctypes.c_void_p).value or 0
    words = array("Q", step_of(address, 0, 100, 10, 0, 0))
    queue.until(queue.push(words.buffer_info()[0], 1))
    assert sorted(seen)[0][0] == 0
    assert sum(last - first for first, last in seen) == 100


def test_failed_steps_are_counted_and_the_rest_is_done(queue: Queue, calls: Calls) -> None:
    queue.until(calls.given(queue, calls.step(1, lambda: 1), calls.step(2), calls.step(3, lambda: 1)))
    assert queue.failures == 2
    assert calls.done == [1, 2, 3]


def test_a_report_counts_as_a_failure(queue: Queue) -> None:
    def job(args: int, own: int, first: int, last: int) -> None:
        pass

    code = JOB(job)
    address = ctypes.cast(code, ctypes.c_void_p).value or 0
    record = array("Q", [0, NEVER, 0, 0, 0, 0])
    words = array("Q", step_of(address, 0, 1, 1, 0, record.buffer_info()[0]))
    queue.until(queue.push(words.buffer_info()[0], 1))
    assert queue.failures == 0
    record[1] = 7
    queue.until(queue.push(words.buffer_info()[0], 1))
    assert queue.failures == 1


def test_who_waits_is_woken_in_every_thread(queue: Queue, door: Queue, calls: Calls) -> None:
    queue.wait(door, 1)
    turn = calls.given(queue, calls.step(1))
    threads = [threading.Thread(target=queue.until, args=(turn,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert queue.done == 0
    door.reach(1)
    for thread in threads:
        thread.join()
    assert queue.done == turn


def test_an_abandoned_queue_leaves_what_is_not_begun(door: Queue, calls: Calls) -> None:
    queue = Queue(CODE, POOL)
    queue.wait(door, 1)
    turn = calls.given(queue, calls.step(1))
    queue.abandon()
    assert queue.done == 0
    queue.until(turn)  # whoever waits for it is not held up
    door.reach(1)
    assert calls.done == []
    with pytest.raises(RuntimeError, match="while the process ends"):
        calls.given(queue, calls.step(2))


def test_an_abandoned_queue_ends_the_step_it_is_at(calls: Calls) -> None:
    queue = Queue(CODE, POOL)
    begun, may_end = threading.Event(), threading.Event()

    def slow() -> int:
        begun.set()
        may_end.wait()
        return 0

    calls.given(queue, calls.step(1, slow), calls.step(2))
    begun.wait()
    end = threading.Thread(target=queue.abandon)
    end.start()
    while queue._pool is not None:  # until it is closed, and then some time for the word to reach the queue's thread
        time.sleep(0.01)
    time.sleep(0.3)
    assert end.is_alive()
    may_end.set()
    end.join()
    assert calls.done == [1]


def test_a_queue_that_was_given_nothing_has_no_thread() -> None:
    if not Path("/proc/self/task").exists():
        pytest.skip("the system shows no threads")
    before = len(os.listdir("/proc/self/task"))
    results = [Queue(CODE, POOL) for _ in range(5)]
    assert len(os.listdir("/proc/self/task")) == before
    for result in results:
        result.abandon()
