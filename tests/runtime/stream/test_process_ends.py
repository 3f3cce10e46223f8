"""The end of a process, and processes that are forked off, while work is in flight."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import tileproof as tp
from samples.host_kernels import add, double, errors_of, fill, looked_up, numbers, whole
from support.gates import Gate
from tileproof import In, Out, f32, i32
from tileproof.diagnostics.codes import Code
from tileproof.runtime.memory import accounting

TESTS = Path(__file__).parents[2]
BEGIN = """
import atexit, gc, sys, threading, time
{first}
sys.path.insert(0, {tests!r})
import numpy as np
import tileproof as tp
from support.gates import Gate
from samples.host_kernels import add, columns, double, fill, looked_up, numbers, whole

a, c = tp.ones(1 << 16), tp.zeros(1 << 16)
add(c, a, a)
tp.current_stream().synchronize()
gate = Gate()
"""
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system forks no processes")


def ended(text: str, first: str = "") -> list[str]:
    """What a process prints that runs a program to its end."""
    program = BEGIN.format(tests=str(TESTS), first=first) + text
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


def test_a_process_ends_with_a_kernel_under_way() -> None:
    text = """
big = tp.ones(1 << 22)
for _ in range(50):
    double(big)
print(big.is_in_flight)
"""
    assert ended(text) == ["True"]


def test_a_process_ends_with_a_closed_gate() -> None:
    text = """
gate.hold()
for _ in range(300):
    add(c, a, a)
print(c.is_in_flight)
"""
    assert ended(text) == ["True"]


def test_a_process_ends_with_calls_of_python_in_the_queue() -> None:
    text = """
rows, total = tp.ones((64, 64)), tp.zeros(64)
for _ in range(200):
    columns(total, rows)
    tp.copy(total[::2], total[1::2])
print(len(tp.current_stream().pending) > 0)
"""
    assert ended(text) == ["True"]


def test_a_process_ends_with_calls_of_python_behind_a_closed_gate() -> None:
    text = """
rows, total = tp.ones((64, 64)), tp.zeros(64)
gate.hold()
for _ in range(20):
    columns(total, rows)
print(total.is_in_flight)
"""
    assert ended(text) == ["True"]


def test_a_process_ends_with_streams_that_wait_for_one_another() -> None:
    text = """
streams = [tp.Stream() for _ in range(4)]
gate.hold(streams[0])
for turn in range(40):
    with streams[turn % 4]:
        double(c)
print(c.is_in_flight)
"""
    assert ended(text) == ["True"]


@pytest.mark.slow
def test_a_process_ends_with_daemon_threads_that_launch_and_wait() -> None:
    text = """
started = threading.Barrier(5)
def launching():
    mine, stream = tp.ones(1 << 12), tp.Stream()
    out = tp.zeros(1 << 12)
    with stream:
        add(out, mine, mine)
        started.wait()
        while True:
            add(out, mine, mine)
            tp.Stream()
def waiting():
    held = tp.Stream()
    gate.hold(held)
    out = tp.zeros(4)
    with held:
        fill(out, 1.0)
    started.wait()
    out.tolist()
for work in (launching, launching, waiting, waiting):
    threading.Thread(target=work, daemon=True).start()
started.wait()
print("here")
"""
    program = BEGIN.format(tests=str(TESTS), first="") + text
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["here"]


def test_a_function_that_runs_at_the_end_sees_what_was_done() -> None:
    text = """
atexit.register(lambda: print(int(c.tolist()[0])))
double(c)
"""
    assert ended(text) == ["4"]


def test_a_function_that_runs_later_is_refused_what_was_not_done() -> None:
    """Registered before tileproof was loaded, so it runs when streams are gone: it must not wait for ever."""
    first = """
def late():
    print(int(a.tolist()[0]))
    for use in (c.tolist, lambda: double(a), tp.Stream().synchronize, lambda: add(c, a, np.ones(1 << 16, np.float32))):
        try:
            use()
            print("done")
        except RuntimeError as error:
            print("ended" if "process end" in str(error) else error)
atexit.register(late)
"""
    text = """
gate.hold()
double(c)
"""
    assert ended(text, first) == ["1", "ended", "ended", "done", "done"]


def test_an_error_that_ends_the_process_is_the_only_one() -> None:
    text = """
gate.hold()
looked_up(c[:2], numbers(1, 2), whole(0, 9))
sys.exit(0)
"""
    assert ended(text) == []


STOPS = """
import random, signal
class Stop(Exception):
    pass
def stop(*_):
    raise Stop
sys.unraisablehook = id  # where Python cannot raise, it says so and goes on; in a function of Python it could raise
chance = random.Random(0)
signal.signal(signal.SIGALRM, stop)
"""
"""Has a signal raise `Stop`, once it is armed."""


@pytest.mark.slow
def test_a_handler_of_a_signal_that_raises_at_any_moment_breaks_nothing() -> None:
    """Ctrl-C, in short: whatever it comes into the middle of, memory lives, and every byte is written whole."""
    text = """
a, b, theirs = tp.ones(64), tp.zeros(64), np.ones(64, np.float32)
streams = [tp.Stream(), tp.Stream()]
with tp.Graph() as graph:
    double(b)
    tp.copy(b, a)
def work(times):
    for _ in range(times):
        for stream in streams:
            with stream:
                between = tp.empty(64)
                add(between, a, a)
                add(b, between, a)
                columns(b, between.reshape(1, 64))
                graph.replay()
        add(b, a, theirs)
work(2)
tp.current_stream().synchronize()
wrong, stops = [], 0
while stops < 1500:
    try:
        signal.setitimer(signal.ITIMER_REAL, chance.random() * 1e-3 + 2e-5, 5e-3)
        work(10**9)
    except Stop:
        stops += 1
    while True:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
            break
        except Stop:
            pass
    try:
        if set(b.tolist()) not in ({1.0}, {2.0}, {3.0}):
            wrong.append(b.tolist())
    except RuntimeError as error:  # it was interrupted when it was to write this
        b[...] = 1
for stream in streams:
    stream.synchronize()
print(len(wrong))
"""
    assert ended(STOPS + text) == ["0"]


@pytest.mark.slow
def test_a_handler_of_a_signal_that_launches_at_any_moment_breaks_nothing() -> None:
    """It is rejected in the middle of a launch; anywhere else it is as if it came before or after."""
    text = """
import random, signal
x, y, z, side = tp.ones(1 << 14), tp.zeros(1 << 14), tp.ones(64), tp.Stream()
theirs, sums = np.ones(64, np.float32), np.zeros(64, np.float32)
def on_side():
    with side:
        add(z, a[:64], a[:64])
calls = [on_side, lambda: add(sums, theirs, theirs), lambda: add(z, a[:64], a[:64]), lambda: z.tolist()]
came = [0]
def handle(*_):
    came[0] += 1
    try:
        calls[came[0] % len(calls)]()
    except tp.InFlight:
        pass
for each in calls:
    each()
signal.signal(signal.SIGALRM, handle)
chance, wrong = random.Random(0), 0
for turn in range(1500):
    signal.setitimer(signal.ITIMER_REAL, chance.random() * 8e-5 + 1e-6)
    add(y, x, x if turn % 2 else b)
    wrong += set(y.tolist()[::64]) != {2.0}
    y[...] = 7
signal.setitimer(signal.ITIMER_REAL, 0)
print(wrong, came[0] > 0, set(z.tolist()), set(sums.tolist()))
"""
    assert ended("b = np.ones(1 << 14, np.float32)" + text) == ["0", "True", "{2.0}", "{2.0}"]


def test_a_handler_of_a_signal_that_raises_leaves_no_memory_shared_for_good() -> None:
    """A view that is gone is gone, also if the signal came at its end."""
    text = """
stops = 0
while stops < 1000:
    try:
        signal.setitimer(signal.ITIMER_REAL, chance.random() * 1e-4 + 2e-5, 5e-3)
        while True:
            a.numpy()
    except Stop:
        stops += 1
    while True:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
            break
        except Stop:
            pass
gc.collect()
print(a.block.exports)
"""
    assert ended(STOPS + text) == ["0"]


# Forks.


def in_child(function: Any) -> str:
    """What a function gives in a process that is forked off, as text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = str(function())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        content = file.read()
    assert os.waitpid(child, 0)[1] == 0
    return content


@needs_fork
def test_a_forked_process_computes_by_itself() -> None:
    a, c = tp.ones(1 << 16), tp.zeros(1 << 16)
    add(c, a, a)
    tp.current_stream().synchronize()

    def work() -> float:
        d = tp.zeros(1 << 16)
        side = tp.Stream()
        with side:
            add(d, c, a)
        double(d)
        return float(d.tolist()[-1])

    assert in_child(work) == "6.0"
    double(c)
    assert c.tolist()[0] == 4


@needs_fork
def test_memory_in_flight_at_a_fork_is_refused_in_the_child_until_it_is_written() -> None:
    a, c = tp.ones(4), tp.zeros(4)
    with Gate() as gate:
        gate.hold()
        add(c, a, a)
        assert c.is_in_flight

        def work() -> list[Any]:
            results: list[Any] = [c.is_in_flight, a.tolist()]
            for use in (c.tolist, lambda: double(c), c.numpy):
                try:
                    use()
                except tp.TileproofError as error:
                    results.append(error.diagnostics[0].code is Code.FORKED)
            fill(c, 5.0)
            double(c)
            return [*results, c.tolist()[0]]

        assert in_child(work) == str([False, [1.0] * 4, True, True, True, 10.0])
        assert c.is_in_flight
    assert c.tolist() == [2, 2, 2, 2]


@needs_fork
def test_what_failed_before_a_fork_failed_in_the_child_too() -> None:
    y = tp.zeros(2)
    looked_up(y, numbers(1, 2), whole(0, 77))
    tp.current_stream().until(tp.current_stream().turn)

    def work() -> str:
        try:
            return str(y.tolist())
        except tp.TileproofError as error:
            return "refused" if "77" in error.diagnostics[0].message else "other"

    assert in_child(work) == "refused"
    assert len(errors_of()) == 1


@needs_fork
def test_a_fork_in_the_middle_of_other_threads_launches() -> None:
    over = threading.Event()
    failed: list[BaseException] = []

    def launching() -> None:
        try:
            x, stream = tp.ones(64), tp.Stream()
            with stream:
                while not over.is_set():
                    double(x)
                    x.wait()
                    x[...] = 1
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=launching) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            mine = tp.ones(64)
            assert in_child(lambda mine=mine: (double(mine), mine.tolist()[0])[1]) == "2.0"
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert failed == []


@needs_fork
def test_a_fork_while_another_thread_takes_memory() -> None:
    """What that thread was in the middle of is not there to end."""
    account, kept, over = accounting.account_of(None), threading.Event(), threading.Event()

    def hold() -> None:
        with account.lock, accounting._making:
            kept.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    kept.wait()

    def work() -> bool:
        signal.alarm(60)  # ends this process if it waits for ever
        in_use = tp.memory().in_use
        x = tp.ones(64)
        return tp.memory().in_use == in_use + x.nbytes and accounting._making.acquire(blocking=False)

    try:
        assert in_child(work) == "True"
    finally:
        over.set()
        thread.join()


def _doubled(values: list[float]) -> list[float]:
    x = numbers(*values)
    double(x)
    result: list[float] = x.tolist()
    return result


@needs_fork
def test_workers_that_multiprocessing_forks_compute() -> None:
    x = tp.ones(1 << 14)
    double(x)
    with Gate() as gate:
        gate.hold()
        double(x)
        assert x.is_in_flight
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(_doubled, [[1, 2], [3, 4], [5, 6]]) == [[2, 4], [6, 8], [10, 12]]
    assert x.tolist()[0] == 4


@needs_fork
def test_a_forked_process_may_fork_again() -> None:
    x = tp.ones(4)
    double(x)
    tp.current_stream().synchronize()

    def outer() -> str:
        double(x)
        tp.current_stream().synchronize()

        def inner() -> float:
            double(x)
            return float(x.tolist()[0])

        return in_child(inner)

    assert in_child(outer) == "8.0"
    assert x.tolist()[0] == 2


@needs_fork
def test_a_stream_of_the_parent_that_ends_in_the_child_leaves_nothing_to_later_ones() -> None:
    """Its queue has a thread in the parent only."""
    a, side = tp.ones(4), [tp.Stream()]
    with side[0]:
        double(a)
    assert a.tolist() == [2, 2, 2, 2]

    def work() -> list[float]:
        signal.alarm(60)  # ends this process if it waits for ever
        results = []
        side.clear()
        for _ in range(2):
            with tp.Stream():
                double(a)
            results.append(a.tolist()[0])
        return results

    assert in_child(work) == str([4.0, 8.0])


@tp.kernel
def shown(y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N"]) -> None:
    """A stream calls Python for it."""
    for n in tp.parallel(N=tp.each):
        tp.print("at", at[n])
        y[n] = x[at[n]]


@tp.kernel
def passed(y: Out[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        tp.print("passed")
        y[n] = 1.0


@needs_fork
@pytest.mark.parametrize("kernel", [looked_up, shown])
@pytest.mark.parametrize(("begun", "later"), [(0, 77), (77, 0)])
def test_a_replay_in_a_forked_process_is_judged_by_its_own_checks(
    kernel: tp.Kernel, begun: int, later: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by what the first part of another reported, whose second part runs in the parent only."""
    at, x, y, z = whole(0, 0), numbers(1, 2), tp.zeros(2), tp.zeros(1)
    with tp.Graph() as graph:
        kernel(y, x, at)
        passed(z)
    came, go_on = threading.Event(), threading.Event()

    def write(text: str) -> int:
        if "passed" in text:
            came.set()
            go_on.wait()
        return len(text)

    def work() -> str:
        go_on.set()
        at[...] = later
        graph.replay()
        try:
            return str(y.tolist())
        except tp.TileproofError as error:
            return "refused" if "77" in error.diagnostics[0].message else "other"

    monkeypatch.setattr(sys.stdout, "write", write)
    at[...] = begun
    graph.replay()
    came.wait()
    try:
        assert in_child(work) == ("refused" if later else "[1.0, 1.0]")
    finally:
        go_on.set()
    assert len(errors_of()) == (1 if begun else 0)
