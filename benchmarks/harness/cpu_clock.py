"""Times of contestants that take turns in one process, and what else the machine did meanwhile.

A turn is a fifth of a second of calls in a row. Turns alternate, so that a slow minute of the machine hits everybody.
On one thread the time of a call is the processor time of that thread, which a busy machine disturbs less than the time
on the wall; on several it is the time on the wall. A turn during which other processes used the processor is thrown
away; only if a contestant never had a quiet turn are its loaded ones kept, and marked as loaded.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

TURN = 0.2
"""Seconds of calls in one turn: several ticks of the clock by which Linux counts processor time."""
PAUSE = 0.02
"""Seconds between turns, in which the threads of the one before stop spinning."""
QUIET = 0.10
"""The most of one core that others may have used during a turn that counts."""
PATIENCE = 3
"""How many times longer than asked for a race may take until everybody had quiet turns."""
_STATISTICS = Path("/proc/stat")
_BUSY = (0, 1, 2, 5, 6, 7)
"""Where a line of /proc/stat has the time of users, of the kernel, of interrupts, and stolen by the host."""


@dataclass
class Contestant:
    """One way to do the work, and how long it took."""

    name: str
    call: Callable[[], object]
    threads: int
    quiet: list[float] = field(default_factory=list)
    loaded: list[float] = field(default_factory=list)
    outside: list[float] = field(default_factory=list)
    """For each turn, how much of one core others used."""

    @property
    def times(self) -> list[float]:
        return self.quiet or self.loaded

    @property
    def best(self) -> float:
        return min(self.times)

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def is_loaded(self) -> bool:
        """Whether it never had the machine for itself."""
        return not self.quiet


def outside_load(began: tuple[float, float, float]) -> float:
    """How many cores other processes kept busy since `now`; 0 where the system does not tell."""
    passed, busy, own = (after - before for after, before in zip(now(), began, strict=True))
    return max(busy - own, 0.0) / passed if passed > 0 and busy > 0 else 0.0


def now() -> tuple[float, float, float]:
    """The clock, the time all cores were busy, and the time this process used, in seconds."""
    return time.perf_counter(), _busy(), time.process_time()


def _busy() -> float:
    try:
        fields = _STATISTICS.read_text(encoding="ascii").partition("\n")[0].split()[1:]
    except OSError:
        return 0.0
    return sum(int(fields[place]) for place in _BUSY) / os.sysconf("SC_CLK_TCK")


def race(contestants: list[Contestant], seconds: float, using: Callable[[int], None], *, wall: bool = False) -> None:
    """Gives everybody turns for so many seconds, and at least two; longer while somebody had no quiet one.

    `using` is told before each turn how many threads all may use. With `wall`, one thread is timed as several are.
    """
    for contestant in contestants:
        using(contestant.threads)
        contestant.call()
    began, rounds = time.perf_counter(), 0
    while True:
        for contestant in contestants:
            using(contestant.threads)
            time.sleep(PAUSE)
            clock = time.thread_time if contestant.threads == 1 and not wall else time.perf_counter
            _turn(contestant, clock, min(TURN, seconds))
        rounds += 1
        spent = time.perf_counter() - began
        is_settled = not any(contestant.is_loaded for contestant in contestants)
        if rounds >= 2 and spent >= seconds * (1 if is_settled else PATIENCE):
            return


def _turn(contestant: Contestant, clock: Callable[[], float], seconds: float) -> None:
    """Calls a contestant for a while, at least once, and keeps its times."""
    call = contestant.call
    times: list[float] = []
    began = now()
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = clock()
        call()
        times.append(clock() - start)
    load = outside_load(began)
    contestant.outside.append(load)
    (contestant.quiet if load <= QUIET else contestant.loaded).extend(times)
