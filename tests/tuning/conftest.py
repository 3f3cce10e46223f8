"""Records of the machine that runs the tests play no part, and a clock that says what it is told."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from samples.tuned_kernels import TUNABLES
from tileproof.tuning import records
from tileproof.tuning.places import CpuPlace


class Told(CpuPlace):
    """A CPU on which a candidate takes as long as the test says, by label; each launch that is timed is noted."""

    def __init__(self, seconds: Callable[[str], float]) -> None:
        super().__init__()
        self.seconds, self.timed = seconds, list[str]()

    def times(
        self, launch: Any, before: Callable[[], object], seconds: float, hopeless: float = math.inf
    ) -> list[float]:
        label: str = launch.choice.label
        before()
        launch()
        self.timed.append(label)
        return [self.seconds(label)]


@pytest.fixture(autouse=True)
def no_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(records.VARIABLE, raising=False)
    for each in TUNABLES:
        each.forget()


@pytest.fixture
def told() -> Callable[[Callable[[str], float]], Told]:
    return Told
