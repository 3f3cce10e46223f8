"""Which turns of a contestant count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from benchmarks.harness import cpu_clock


def moments(outside: list[float]) -> Iterator[tuple[float, float, float]]:
    """What `now` says before and after each turn of a second: our core is busy, and others are so much."""
    clock = busy = own = 0.0
    for load in outside:
        yield clock, busy, own
        clock, busy, own = clock + 1, busy + 1 + load, own + 1
        yield clock, busy, own


def raced(monkeypatch: pytest.MonkeyPatch, outside: list[float]) -> Any:
    """A contestant that had two turns, with so much load from outside in each."""
    message = moments(outside)
    monkeypatch.setattr(cpu_clock, "now", lambda: next(message))
    contestant = cpu_clock.Contestant("one", lambda: None, 2)
    cpu_clock.race([contestant], 0.0, lambda threads: None)
    return contestant


def test_a_turn_with_load_from_outside_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    result = raced(monkeypatch, [1.3, 0.02])
    assert (len(result.quiet), len(result.loaded)) == (1, 1)
    assert result.times == result.quiet
    assert not result.is_loaded


def test_who_never_had_a_quiet_turn_is_said_to_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    result = raced(monkeypatch, [0.5, 0.4])
    assert result.is_loaded
    assert len(result.times) == 2
    assert result.outside == pytest.approx([0.5, 0.4])


def test_our_own_threads_are_not_load_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_clock, "now", lambda: (12.0, 57.9, 23.9))
    assert cpu_clock.outside_load((10.0, 54.0, 20.0)) == 0.0


def test_the_threads_are_set_before_every_turn() -> None:
    seen: list[Any] = []
    contestants = [cpu_clock.Contestant(str(threads), lambda: seen.append("call"), threads) for threads in (1, 2)]
    cpu_clock.race(contestants, 0.0, seen.append)
    assert seen[:8] == [1, "call", 2, "call", 1, "call", 2, "call"]
