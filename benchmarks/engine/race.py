"""A race in turns of equal length, for work that is bounded by power.

Under load a GPU lowers its clock within tens of milliseconds, so whoever runs longer in a row is measured slower, and
what ran before matters, too. Here everybody works for the same time, after work of its own that is not timed, in an
order drawn by lot. The same code lay up to 4% apart in a fixed order, and 0.5% in an order by lot after 0.15 s of its
own work.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

TURN: Final = 0.15
"""Seconds of the timed runs of a turn; there is at least one."""
LONG: Final = 2
"""How many such turns one takes where a goal is judged."""
WARMING: Final = 0.1
"""Seconds of a turn before the timed runs, for what many fit in; a single run is always ahead of them."""

Contestant: TypeAlias = Callable[[int], float]
"""Takes a turn of so many timed runs, after one that is not timed, and gives their seconds."""


def timed(run: Callable[[], object], wait: Callable[[], object], runs: int) -> float:
    """Seconds of some runs by the clock of the host, after one that is not timed; they are waited for together."""
    run()
    wait()
    began = time.perf_counter()
    for _ in range(runs):
        run()
    wait()
    return time.perf_counter() - began


def race(contestants: Mapping[str, Contestant], rounds: int, seconds: float, turns: int = 1) -> dict[str, list[float]]:
    """Seconds of a run in each round, by contestant; no round is begun once so much time has passed since the first."""
    once = {name: turn(1) for name, turn in contestants.items()}
    runs = {name: max(1, int(turns * TURN / each)) for name, each in once.items()}
    warming = {name: int(turns * WARMING / each) for name, each in once.items()}
    lot, order = random.Random(0), list(contestants)
    results: dict[str, list[float]] = {name: [] for name in contestants}
    began = time.perf_counter()
    for number in range(rounds):
        if number and time.perf_counter() - began > seconds:
            break
        lot.shuffle(order)
        for name in order:
            if warming[name]:
                contestants[name](warming[name])
            results[name].append(contestants[name](runs[name]) / runs[name])
    return results
