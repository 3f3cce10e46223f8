"""Times of contestants on a GPU that take turns, by CUDA events.

Each contestant is captured into a CUDA graph of many launches, one for each set of buffers and round again, so that
what the host does between launches is nobody's advantage and data that one launch left in the cache is gone when its
turn comes again. A library function whose index tensors are looked at at every launch is recorded in a graph of ours,
which looks at them on the GPU, and that is timed with it. Where neither can be captured, it is launched one by one, and
that is said.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from .text import first_line

Way: TypeAlias = Literal["torch", "tileproof", "none"]
"""Whose graph holds the launches."""
ROUNDS: Final = 5
_GRAPH: Final = 2e-3
"""Seconds that a graph should take at least: the pause before its first launch is then lost in it."""
_MOST: Final = 256
"""The most launches in a graph."""
_TURN: Final = 0.015
"""Seconds of a contestant's turn."""
_FEWEST: Final = 3
"""Replays in a turn at least."""
_WARM: Final = 0.03
"""Seconds of launches that do not count, in which clocks rise."""


@dataclass
class Contestant:
    """One way to do the work: a call for each set of buffers."""

    name: str
    calls: Sequence[Callable[[], object]]
    way: Way = "torch"
    rounds: list[float] = field(default_factory=list)
    """The median of each round, in seconds for one launch."""
    note: str = ""
    replay: Callable[[], object] | None = None
    launches: int = 1
    """In a replay."""
    kept: object = None
    """The graph."""


def race(contestants: Sequence[Contestant], torch: Any, rounds: int = ROUNDS) -> None:
    """Gives everybody a turn in each round; who begins moves on from round to round."""
    for each in contestants:
        prepare(each, torch)
    for turn in range(rounds):
        for place in range(len(contestants)):
            each = contestants[(turn + place) % len(contestants)]
            each.rounds.append(_turn(each, torch))


def prepare(each: Contestant, torch: Any) -> None:
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
    for way in {"torch": ("torch", "tileproof"), "tileproof": ("tileproof",), "none": ()}[each.way]:
        if way == "tileproof" and each.name != "tileproof":
            continue  # nobody else's launches go into our graphs
        if way == "tileproof":
            times = max(times, -(-_LAUNCHES // len(each.calls)))
        try:
            each.kept, each.replay = (_by_torch if way == "torch" else _by_tileproof)(each.calls, times, torch)
        except Exception as error:
            torch.cuda.synchronize()
            each.note = f"{each.name} launched one by one: {first_line(error)}"
        else:
            each.launches = times * len(each.calls)
            each.note = f"{each.name} replayed from a tp.Graph" if way == "tileproof" else ""
            break
    end = time.perf_counter() + _WARM
    while time.perf_counter() < end:
        each.replay()
        torch.cuda.synchronize()


def _by_torch(calls: Sequence[Callable[[], object]], times: int, torch: Any) -> tuple[object, Callable[[], object]]:
    graph = torch.cuda.CUDAGraph()
    # Relaxed: what the driver is asked meanwhile, about addresses for instance, changes nothing.
    with torch.cuda.graph(graph, capture_error_mode="relaxed"):
        for _ in range(times):
            for call in calls:
                call()
    return graph, graph.replay


def _by_tileproof(calls: Sequence[Callable[[], object]], times: int, torch: Any) -> tuple[object, Callable[[], object]]:
    import tileproof as tp

    with tp.Graph() as graph:
        for _ in range(times):
            for call in calls:
                call()
    return graph, graph.replay


_LAUNCHES: Final = 32
"""In a graph of ours at least: they share what the host does for a replay. How long one launch takes cannot tell,
because those that go into our graphs are slow to launch one by one."""


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
