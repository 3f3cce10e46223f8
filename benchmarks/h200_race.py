"""A race in turns of equal length, for work that is bounded by power.

Under load a GPU lowers its clock within tens of milliseconds, so whoever runs longer in a row is measured slower. Here
everybody works for the same time, on a GPU that is hot from the beginning, in an order that rotates by round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

TURN: Final = 0.15
"""Seconds of the timed runs of a turn; there is at least one."""
HEATING: Final = 0.3
"""Seconds of work before the first round."""

Contestant: TypeAlias = Callable[[int], float]
"""Takes a turn of so many timed runs, behind one that is not timed, and gives their seconds."""


def timed(run: Callable[[], object], wait: Callable[[], object], runs: int) -> float:
    """Seconds of some runs by the clock of the host, behind one that is not timed; they are waited for together."""
    run()
    wait()
    began = time.perf_counter()
    for _ in range(runs):
        run()
    wait()
    return time.perf_counter() - began


def race(contestants: Mapping[str, Contestant], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Seconds of a run in each round, by contestant; no round is begun once so much time has passed since the first."""
    runs = {name: max(1, int(TURN / once)) for name, once in _heated(contestants).items()}
    found: dict[str, list[float]] = {name: [] for name in contestants}
    began = time.perf_counter()
    for number in range(rounds):
        if number and time.perf_counter() - began > seconds:
            break
        for name in _rotated(list(contestants), number):
            found[name].append(contestants[name](runs[name]) / runs[name])
    return found


def _heated(contestants: Mapping[str, Contestant]) -> dict[str, float]:
    """Has everybody work until the GPU is hot, and gives the seconds of their last runs.

    What counts is work, not time: the first run of a contestant may first have to be prepared, while the GPU cools.
    """
    worked = 0.0
    while True:
        once = {name: turn(1) for name, turn in contestants.items()}
        worked += 2 * sum(once.values())  # a run that is not timed, and one that is
        if worked >= HEATING:
            return once


def _rotated(names: Sequence[str], number: int) -> Iterator[str]:
    """All names, each in front in its turn."""
    return (names[(number + place) % len(names)] for place in range(len(names)))
