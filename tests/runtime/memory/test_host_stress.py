"""Random pipelines equal a sequential reference bit for bit; without leases the same pipelines do not."""

from __future__ import annotations

import os

import pytest

import tileproof as tp
from fuzz.host_stress import Different, Program, run, without_order
from tileproof.runtime.memory.ledger import Ledger

PROGRAMS = int(os.environ.get("TILEPROOF_STRESS_PROGRAMS", "100"))


def test_random_pipelines_leave_what_they_leave_one_after_another() -> None:
    assert run(range(PROGRAMS), steps=60) == PROGRAMS


def differing(seeds: range) -> int:
    """How many programs find that something is not as it should be."""
    count = 0
    for seed in seeds:
        try:
            Program(seed, longest=0.005).run(40)
        except (Different, tp.TileproofError):
            count += 1
    return count


def test_without_order_between_streams_they_do_not() -> None:
    with without_order():
        assert differing(range(12)) >= 3


def test_without_waits_of_the_host_they_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ledger, "holders", lambda self, span, writing: [])
    assert differing(range(12)) >= 3
