"""A plan of the suite under way: its rows and facts, on disk after every row, and how much of its time is left."""

from __future__ import annotations

import json
import signal
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from tileproof.llm.models.config import ModelConfig
from tileproof.llm.models.shapes import shape

from ..harness.device import nvidia_smi
from ..harness.text import first_line
from .plan import Plan
from .report import Model, Row


class TooSlow(Exception):
    """Something took longer than it may."""


@contextmanager
def boxed(seconds: float) -> Iterator[None]:
    """Gives up what is still under way after so many seconds, whatever that makes of being stopped."""
    too_slow = TooSlow(f"given up after {seconds:.0f} s")
    is_late = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal is_late
        is_late = True
        raise too_slow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1))
    try:
        yield
    except Exception:
        if is_late:
            raise too_slow from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(slots=True)
class Run:
    """A plan under way."""

    plan: Plan
    config: ModelConfig
    began: float = field(default_factory=time.monotonic)
    rows: list[Row] = field(default_factory=list)
    parts: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    read_rate: float = 1.0

    def tell(self, text: str) -> None:
        """A line on how far it is."""
        print(f"[{time.monotonic() - self.began:6.1f} s] {self.plan.model}: {text}", file=sys.stderr, flush=True)

    def left(self, part: float = 1.0) -> float:
        """Seconds until so much of the time is gone."""
        return part * self.plan.seconds - (time.monotonic() - self.began)

    def keep(self, *rows: Row) -> None:
        """Rows that are done, and all so far in the file."""
        self.rows += rows
        whole = shape(self.plan.model).num_hidden_layers
        layers = self.config.num_hidden_layers
        model = Model(
            self.plan.model, layers, layers == whole, self.read_rate, tuple(self.rows), self.parts, self.facts
        )
        partial = Path(self.plan.file + ".part")
        partial.write_text(json.dumps(model.data()), encoding="utf-8")
        partial.replace(self.plan.file)

    def has(self, what: str) -> bool:
        return what not in self.plan.without


@contextmanager
def attempt(run: Run, what: str) -> Iterator[None]:
    """What fails is said and left out: everything else can still be measured."""
    try:
        yield
    except Exception as error:
        run.tell(f"{what}: {first_line(error)}")
        run.facts[f"failed: {what}"] = first_line(error, 100)


def clocks() -> str:
    """Clocks, heat and power, as nvidia-smi reports them."""
    return nvidia_smi("clocks.sm,clocks.mem,temperature.gpu,power.draw")


def bytes_per_token(config: ModelConfig, streamed: int, places: float) -> float:
    """Weights, and keys and values of so many places, that one token reads."""
    return streamed + config.num_hidden_layers * 2 * config.num_key_value_heads * config.head_dim * 2 * places


def percentiles(values: Sequence[float]) -> tuple[float, float, float] | None:
    """Milliseconds that a tenth, half and nine tenths took less than."""
    if len(values) < 2:
        return None
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    return 1e3 * tenths[0], 1e3 * tenths[4], 1e3 * tenths[8]
