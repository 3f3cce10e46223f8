"""Which turns of a contestant count."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "benchmarks" / "measuring.py"


@pytest.fixture(scope="module")
def measuring() -> Any:
    """The file itself: it is in no package that tests can import."""
    spec = importlib.util.spec_from_file_location("measuring_under_test", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def moments(outside: list[float]) -> Iterator[tuple[float, float, float]]:
    """What `now` says before and after each turn of a second: our core is busy, and others are so much."""
    clock = busy = own = 0.0
    for load in outside:
        yield clock, busy, own
        clock, busy, own = clock + 1, busy + 1 + load, own + 1
        yield clock, busy, own


def raced(measuring: Any, monkeypatch: pytest.MonkeyPatch, outside: list[float]) -> Any:
    """A contestant that had two turns, with so much load from outside in each."""
    told = moments(outside)
    monkeypatch.setattr(measuring, "now", lambda: next(told))
    contestant = measuring.Contestant("one", lambda: None, 2)
    measuring.race([contestant], 0.0, lambda threads: None)
    return contestant


def test_a_turn_with_load_from_outside_does_not_count(measuring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = raced(measuring, monkeypatch, [1.3, 0.02])
    assert (len(found.quiet), len(found.loaded)) == (1, 1)
    assert found.times == found.quiet
    assert not found.is_loaded


def test_who_never_had_a_quiet_turn_is_said_to_be_loaded(measuring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = raced(measuring, monkeypatch, [0.5, 0.4])
    assert found.is_loaded
    assert len(found.times) == 2
    assert found.outside == pytest.approx([0.5, 0.4])


def test_our_own_threads_are_not_load_from_outside(measuring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "now", lambda: (12.0, 57.9, 23.9))
    assert measuring.outside_load((10.0, 54.0, 20.0)) == 0.0


def test_the_threads_are_set_before_every_turn(measuring: Any) -> None:
    seen: list[Any] = []
    contestants = [measuring.Contestant(str(threads), lambda: seen.append("call"), threads) for threads in (1, 2)]
    measuring.race(contestants, 0.0, seen.append)
    assert seen[:8] == [1, "call", 2, "call", 1, "call", 2, "call"]
