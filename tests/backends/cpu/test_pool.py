"""The pool: every item is done once, whoever asks, however many threads there are, in every process."""

from __future__ import annotations

import ctypes
import hashlib
import multiprocessing
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from support.cpu_assembly import assembly
from tileproof.backends.cpu import llvm, target
from tileproof.backends.cpu.device import pool
from tileproof.backends.cpu.device.pool import JOB, Arena, Pool, Spare, pool_text

NATIVE = Path(pool.__file__).parent / "native"
HOST = target.host()
COUNTING = """
define void @test_pool_counting(ptr %counts, ptr %arena, i64 %first, i64 %last) {
entry:
  br label %turn
turn:
  %item = phi i64 [ %first, %entry ], [ %next, %turn ]
  %place = getelementptr i64, ptr %counts, i64 %item
  %count = load i64, ptr %place
  %more = add i64 %count, 1
  store i64 %more, ptr %place
  store i64 %item, ptr %arena
  %next = add i64 %item, 1
  %again = icmp slt i64 %next, %last
  br i1 %again, label %turn, label %end
end:
  ret void
}
"""
CODE = llvm.compile_object(pool_text(HOST), HOST)
COUNT = llvm.load_object(llvm.compile_object(COUNTING, HOST), ["test_pool_counting"])["test_pool_counting"]
"""A job that adds 1 to the element of each item, and scribbles into its arena."""


@pytest.fixture
def three_threads(monkeypatch: pytest.MonkeyPatch) -> Pool:
    monkeypatch.setenv("TILEPROOF_THREADS", "3")
    return Pool(CODE)


def counted(pool: Pool, total: int, chunk: int, arena_bytes: int = 64) -> list[int]:
    """How often each of so many items was done."""
    counts = (ctypes.c_int64 * max(total, 1))()
    pool.run(COUNT, ctypes.addressof(counts), total, chunk, arena_bytes, Arena(arena_bytes))
    return list(counts)[:total]


def ranges(pool: Pool, total: int, chunk: int, during: Callable[[], None] = lambda: None) -> list[tuple[int, int]]:
    """The ranges of items that a job was split into, in order."""
    done: list[tuple[int, int]] = []

    def job(args: int, own: int, first: int, last: int) -> None:
        during()
        done.append((first, last))

    code = JOB(job)
    pool.run(ctypes.cast(code, ctypes.c_void_p).value or 0, 0, total, chunk, 0, Arena(0))
    return sorted(done)


def stress(pool: Pool, seed: int, jobs: int) -> list[str]:
    """Random jobs; says which of them left an item out or did one twice."""
    chance = random.Random(seed)
    counts = (ctypes.c_int64 * 2000)()
    wrong = []
    for _ in range(jobs):
        total, chunk = chance.choice([0, 1, 2, 3, 17, 100, 2000]), chance.choice([1, 2, 7, 64])
        size = chance.choice([64, 4096, 200_000])
        ctypes.memset(counts, 0, ctypes.sizeof(counts))
        pool.run(COUNT, ctypes.addressof(counts), total, chunk, size, Arena(size))
        done = sum(counts[:total])
        if done != total or (total and (min(counts[:total]), max(counts[:total])) != (1, 1)):
            wrong.append(f"seed {seed}: {total} items in chunks of {chunk}: {done} done")
    return wrong


def test_jobs_of_many_threads_are_done_right(three_threads: Pool) -> None:
    wrong: list[str] = []
    callers = [threading.Thread(target=lambda s=s: wrong.extend(stress(three_threads, s, 3000))) for s in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []


@pytest.mark.parametrize(("total", "chunk"), [(0, 1), (1, 1), (5, 5), (6, 5), (100, 7), (3, 1000), (10, 0)])
def test_every_item_is_done_once(three_threads: Pool, total: int, chunk: int) -> None:
    assert counted(three_threads, total, chunk) == [1] * total


def test_a_job_is_split_into_chunks(three_threads: Pool) -> None:
    assert ranges(three_threads, 10, 4) == [(0, 4), (4, 8), (8, 10)]


def test_one_chunk_is_done_by_the_caller(three_threads: Pool) -> None:
    seen: list[int] = []
    assert ranges(three_threads, 4, 4, lambda: seen.append(threading.get_ident())) == [(0, 4)]
    assert seen == [threading.get_ident()]


def test_three_threads_work_at_the_same_time(three_threads: Pool) -> None:
    together = threading.Barrier(3)
    assert len(ranges(three_threads, 3, 1, lambda: together.wait(60) and None)) == 3


def test_workers_that_slept_wake_for_the_next_job(three_threads: Pool) -> None:
    for _ in range(3):
        together = threading.Barrier(3)
        assert len(ranges(three_threads, 3, 1, lambda barrier=together: barrier.wait(60) and None)) == 3
        threading.Event().wait(0.01)


def test_a_job_inside_a_job_is_done_by_its_caller(three_threads: Pool) -> None:
    inner: list[list[int]] = []
    ranges(three_threads, 5, 1, lambda: inner.append(counted(three_threads, 50, 1)))
    assert inner == [[1] * 50] * 5


def test_a_job_beside_a_job_does_not_wait_for_it(three_threads: Pool) -> None:
    outcome: list[list[int]] = []
    others: list[threading.Thread] = []

    def meanwhile() -> None:
        other = threading.Thread(target=lambda: outcome.append(counted(three_threads, 1000, 1)))
        others.append(other)
        other.start()
        other.join(60)

    ranges(three_threads, 6, 1, meanwhile)
    assert not any(other.is_alive() for other in others)
    assert outcome == [[1] * 1000] * 6


@pytest.mark.parametrize("sizes", [(100,), (100, 5_000_000), (5_000_000, 100)])
def test_every_worker_has_an_aligned_arena_of_its_own(three_threads: Pool, sizes: tuple[int, ...]) -> None:
    assert all(_separate_arenas(three_threads, size) for size in sizes)


def _separate_arenas(pool: Pool, size: int) -> bool:
    """Whether three threads at once can fill their arenas without spoiling each other's."""
    together, right = threading.Barrier(3), []

    def job(args: int, own: int, first: int, last: int) -> None:
        together.wait(60)
        ctypes.memset(own, first, size)
        together.wait(60)
        right.append(own % 64 == 0 and ctypes.string_at(own, size) == bytes([first]) * size)

    code = JOB(job)
    pool.run(ctypes.cast(code, ctypes.c_void_p).value or 0, 0, 3, 1, size, Arena(size))
    return right == [True] * 3


def test_an_arena_lives_until_its_job_is_done(three_threads: Pool) -> None:
    # As when a thread's variables go in the middle of a job, because Python ends.
    size, right = 100_000, list[bool]()

    def job(args: int, own: int, first: int, last: int) -> None:
        ctypes.memset(own, 7, size)
        others = [ctypes.create_string_buffer(b"\1" * (size + 64)) for _ in range(20)]
        right.append(ctypes.string_at(own, size) == bytes([7]) * size)
        del others

    code = JOB(job)
    three_threads.run(ctypes.cast(code, ctypes.c_void_p).value or 0, 0, 1, 1, size, Arena(size))
    assert right == [True]


def test_workers_without_memory_leave_the_job_to_the_caller(three_threads: Pool) -> None:
    counts = (ctypes.c_int64 * 100)()
    three_threads.run(COUNT, ctypes.addressof(counts), 100, 1, 1 << 62, Arena(64))
    assert list(counts) == [1] * 100


def test_spare_memory_grows_and_belongs_to_its_thread() -> None:
    spare = Spare()
    first = spare.take(10)
    spare.give(first)
    assert spare.take(5) is first
    spare.give(first)
    larger = spare.take(1 << 20)
    ctypes.memset(larger.address, 1, 1 << 20)
    assert first.address % 64 == larger.address % 64 == 0
    spare.give(larger)
    elsewhere: list[Arena] = []
    thread = threading.Thread(target=lambda: elsewhere.append(spare.take(1 << 20)))
    thread.start()
    thread.join()
    assert elsewhere[0] is not larger
    assert spare.take(10) is larger


def test_what_is_taken_is_nobody_elses_until_it_is_given_back() -> None:
    spare = Spare()
    one, two = spare.take(1 << 20), spare.take(10)
    assert one is not two
    spare.give(one)
    spare.give(two)
    assert spare.take(10) is one, "the largest is kept"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_processes_have_a_pool_of_their_own(three_threads: Pool) -> None:
    counted(three_threads, 100, 1)
    stop = threading.Event()

    def keep_busy(seed: int) -> None:
        while not stop.is_set():
            stress(three_threads, seed, 20)

    busy = [threading.Thread(target=keep_busy, args=(seed,)) for seed in range(2)]
    for thread in busy:
        thread.start()
    try:
        for _ in range(20):
            assert _exit_code_of(lambda: stress(three_threads, 0, 50) == [] and _works_in_threes(three_threads)) == 0
        with multiprocessing.get_context("fork").Pool(2) as processes:
            assert processes.map(_counted_in_child, range(8)) == [[1] * 300] * 8
    finally:
        stop.set()
        for thread in busy:
            thread.join()
    assert stress(three_threads, 1, 200) == []


def _works_in_threes(pool: Pool) -> bool:
    together = threading.Barrier(3)
    return len(ranges(pool, 3, 1, lambda: together.wait(60) and None)) == 3


def _exit_code_of(check: Callable[[], bool]) -> int:
    """What a forked process that checks something exits with: 0 if it holds."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            code = 0 if check() else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _counted_in_child(chunk: int) -> list[int]:
    return counted(Pool(CODE), 300, chunk)


PROGRAM = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import test_pool as here
pool = here.Pool(here.CODE)
assert here.stress(pool, 0, 300) == []
together = threading.Barrier(here.pool.threads())
assert len(here.ranges(pool, here.pool.threads(), 1, lambda: together.wait(60) and None)) in (1, here.pool.threads())
threading.Thread(target=lambda: here.stress(pool, 0, 1 << 60), daemon=True).start()
print(here.pool.threads())
"""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("count", ["1", "2", "7"])
def test_any_number_of_threads_works_and_the_process_ends(count: str) -> None:
    environment = {**os.environ, "TILEPROOF_THREADS": count, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"{count}\n", "")


def test_without_threads_of_the_system_the_caller_does_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "HAS_THREADS", False)
    seen: list[int] = []
    alone = Pool(b"")
    assert counted(alone, 100, 7) == [1] * 100
    assert ranges(alone, 10, 4, lambda: seen.append(threading.get_ident())) == [(0, 10)]
    assert (seen, ranges(alone, 0, 4)) == ([threading.get_ident()], [])


def test_the_text_is_made_of_the_source() -> None:
    digest = hashlib.sha256((NATIVE / "pool.c").read_bytes()).hexdigest()
    first = (NATIVE / "pool.ll").read_text(encoding="utf-8").splitlines()[0]
    assert first.endswith(f" {digest}"), "pool.c has changed: run tools/build_native.py"


@pytest.mark.parametrize("name", ["sse2", "avx2", "avx512", "neon"])
def test_the_pool_compiles_for_every_processor(name: str) -> None:
    there = target.named(name)
    waits = {line.strip() for line in assembly(pool_text(there), there).splitlines()} & {"pause", "yield"}
    assert waits == {"pause" if there.is_x86 else "yield"}
