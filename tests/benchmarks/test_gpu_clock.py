"""How contestants take turns on a GPU, on a clock that only calls move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks.harness import gpu_clock


def clocked(captures: bool) -> tuple[Any, Callable[[str, float], Callable[[], None]]]:
    """What the timing needs of torch, on a clock that only calls move; a graph replays what it captured."""
    now, seen = [0.0], []
    captured: list[list[Callable[[], None]] | None] = [None]

    class Event:
        def __init__(self, enable_timing: bool) -> None:
            self.at = 0.0

        def record(self) -> None:
            self.at = now[0]

        def synchronize(self) -> None:
            pass

        def elapsed_time(self, later: Any) -> float:
            return (later.at - self.at) * 1e3

    class Graph:
        def replay(self) -> None:
            for work in self.calls:  # type: ignore[attr-defined]
                work()

    @contextmanager
    def graph(result: Any, capture_error_mode: str) -> Iterator[None]:
        if not captures:
            raise RuntimeError("not while capturing")
        captured[0] = result.calls = []
        yield
        captured[0] = None

    def call(name: str, seconds: float) -> Callable[[], None]:
        def work() -> None:
            seen.append(name)
            now[0] += seconds

        return lambda: work() if captured[0] is None else captured[0].append(work)

    stream = SimpleNamespace(wait_stream=lambda other: None)
    cuda = SimpleNamespace(
        Event=Event, CUDAGraph=Graph, graph=graph, Stream=lambda: stream, current_stream=lambda: stream,
        stream=lambda values: nullcontext(), synchronize=lambda: None, seen=seen,
    )  # fmt: skip
    return SimpleNamespace(cuda=cuda), call


@pytest.mark.parametrize(("captures", "way"), [(True, "torch"), (False, "torch"), (False, "none")])
def test_the_time_of_one_launch_is_found(
    captures: bool, way: gpu_clock.Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_clock, "_WARM", 0.0)
    torch, call = clocked(captures)
    contestants = [
        gpu_clock.Contestant("slow", [call("slow", 0.004), call("slow", 0.006)], way),
        gpu_clock.Contestant("fast", [call("fast", 0.001)] * 3, way),
    ]
    gpu_clock.race(contestants, torch, rounds=4)
    assert contestants[0].rounds == pytest.approx([0.005] * 4)
    assert contestants[1].rounds == pytest.approx([0.001] * 4)
    assert contestants[0].note == (
        "slow launched one by one: RuntimeError: not while capturing" if way == "torch" and not captures else ""
    )


def test_what_torch_cannot_capture_of_ours_goes_into_a_graph_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_clock, "_WARM", 0.0)
    torch, call = clocked(captures=False)
    monkeypatch.setattr(gpu_clock, "_by_tileproof", lambda calls, times, torch: (None, lambda: [c() for c in calls]))
    ours = gpu_clock.Contestant("tileproof", [call("ours", 2.0)])
    gpu_clock.prepare(ours, torch)
    assert ours.note == "tileproof replayed from a tp.Graph"


def test_who_begins_moves_on_from_round_to_round(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(gpu_clock, "prepare", lambda each, torch: None)
    monkeypatch.setattr(gpu_clock, "_turn", lambda each, torch: seen.append(each.name) or 1.0)
    gpu_clock.race([gpu_clock.Contestant(name, []) for name in "abc"], None, rounds=3)
    assert "".join(seen) == "abcbcacab"


def test_the_host_is_timed_in_batches() -> None:
    torch, call = clocked(captures=True)
    taken = gpu_clock.host_times({"one": call("one", 0.0)}, torch, launches=20, batch=5)
    assert len(taken["one"]) == 4
    assert len(torch.cuda.seen) == 25
