"""Times of contestants on a GPU that take turns, by CUDA events.

Each contestant is captured into a CUDA graph of many launches, one for each set of buffers and round again, so that
what the host does between launches is nobody's advantage and data that one launch left in the cache is gone when its
turn comes again. Kernels with checks cannot be captured, because a launch waits for what they find; they and all that
race with them are launched one by one. So is a contestant whose capture fails, and that is said.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

ROUNDS: Final = 5
_GRAPH: Final = 2e-3
"""Seconds that a graph should take at least: the pause before its first launch is then lost in it."""
_MOST: Final = 512
"""The most launches in a graph."""
_TURN: Final = 0.02
"""Seconds of a contestant's turn."""
_FEWEST: Final = 3
"""Replays in a turn at least."""
_WARM: Final = 0.05
"""Seconds of launches that do not count, in which clocks rise."""


@dataclass
class Contestant:
    """One way to do the work: a call for each set of buffers."""

    name: str
    calls: Sequence[Callable[[], object]]
    rounds: list[float] = field(default_factory=list)
    """The median of each round, in seconds for one launch."""
    note: str = ""
    replay: Callable[[], object] | None = None
    launches: int = 1
    """In a replay."""


def race(contestants: Sequence[Contestant], torch: Any, rounds: int = ROUNDS, *, captured: bool = True) -> None:
    """Gives everybody a turn in each round; who begins moves on from round to round. `captured`: as graphs."""
    for each in contestants:
        _prepare(each, torch, captured)
    for turn in range(rounds):
        for place in range(len(contestants)):
            each = contestants[(turn + place) % len(contestants)]
            each.rounds.append(_turn(each, torch))


def _prepare(each: Contestant, torch: Any, captured: bool) -> None:
    """Warms up, decides how many launches make a graph, and captures them."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for call in each.calls:
            call()
        single = max(_elapsed(lambda: [call() for call in each.calls], torch) / len(each.calls), 1e-6)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    count = min(max(round(_GRAPH / single), 2), _MOST)
    times = max(-(-count // len(each.calls)), 1)
    each.replay, each.launches = lambda: [call() for call in each.calls], len(each.calls)
    if captured:
        graph = torch.cuda.CUDAGraph()
        try:
            # Relaxed: what the driver is asked meanwhile, about addresses for instance, changes nothing.
            with torch.cuda.graph(graph, capture_error_mode="relaxed"):
                for _ in range(times):
                    for call in each.calls:
                        call()
        except Exception as error:
            torch.cuda.synchronize()
            said = str(error).splitlines()[0][:80] if str(error) else type(error).__name__
            each.note = f"{each.name} without a graph: {said}"
        else:
            each.replay, each.launches = graph.replay, times * len(each.calls)
    end = time.perf_counter() + _WARM
    while time.perf_counter() < end:
        each.replay()
        torch.cuda.synchronize()


def _turn(each: Contestant, torch: Any) -> float:
    """Seconds of one launch: the median of the replays of a turn."""
    assert each.replay is not None
    each.replay()
    taken: list[float] = []
    while len(taken) < _FEWEST or sum(taken) < _TURN:
        taken.append(_elapsed(each.replay, torch))
    return statistics.median(taken) / each.launches


def _elapsed(work: Callable[[], object], torch: Any) -> float:
    """Seconds between two events around some work."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    work()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1e3


def host_times(
    calls: dict[str, Callable[[], object]], torch: Any, launches: int, batch: int
) -> dict[str, tuple[float, ...]]:
    """Seconds of the host for one launch, in batches that the GPU's queue holds; the clock stops before the wait."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(batch):
            call()
        torch.cuda.synchronize()
    for _ in range(launches // batch):
        for name, call in calls.items():
            begin = time.perf_counter()
            for _ in range(batch):
                call()
            taken[name].append((time.perf_counter() - begin) / batch)
            torch.cuda.synchronize()
    return {name: tuple(each) for name, each in taken.items()}
