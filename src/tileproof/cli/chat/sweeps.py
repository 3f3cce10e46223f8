"""Measuring an engine: each row several times; runs next to other load are repeated."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tileproof.llm import ModelConfig, SamplingParams

from .figures import bytes_per_token
from .memory_rate import QUIET, now, outside_load

if TYPE_CHECKING:
    from tileproof.llm import LLM

PATIENCE = 3
"""How many times as many runs as asked for there may be, until enough of them were quiet."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is measured: decode of `tokens` at a context, or prefill of a prompt of `tokens`."""

    kind: Literal["tg", "pp"]
    tokens: int
    context: int = 0

    @property
    def places(self) -> int:
        """What must fit the context."""
        return self.context + self.tokens + 1

    def __str__(self) -> str:
        return f"tg {self.tokens} at {self.context}" if self.kind == "tg" else f"pp {self.tokens}"


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured."""

    task: Task
    rates: tuple[float, ...]
    """Tokens in a second, of the runs that count."""
    is_loaded: bool
    """Whether there was no quiet run, so that loaded ones count."""
    outside: float
    """Cores that other processes kept busy, at the worst, during the runs that count."""
    rejected: int
    """Runs that do not count."""
    bytes_per_token: float
    operations_per_token: float
    read_rate: float = math.inf
    """Bytes that the machine reads in a second, measured in the same process."""

    @property
    def best(self) -> float:
        return max(self.rates)

    @property
    def median(self) -> float:
        return statistics.median(self.rates)

    @property
    def bytes_per_second(self) -> float:
        """Of the best run."""
        return self.best * self.bytes_per_token

    @property
    def share(self) -> float:
        """The part of the machine's read rate that the best run reached."""
        return self.bytes_per_second / self.read_rate

    @property
    def operations_per_second(self) -> float:
        """Of the best run: multiplications and additions."""
        return self.best * self.operations_per_token

    def line(self) -> str:
        """All of it in a line."""
        runs = f"{len(self.rates)} run{'s' * (len(self.rates) != 1)}"
        line = f"{self.task}: {self.best:.1f} tokens/s (median {self.median:.1f} of {runs})"
        if self.task.kind == "tg":
            line += f", {self.bytes_per_second / 1e9:.1f} GB/s"
            line += f": {100 * self.share:.0f} % of the {self.read_rate / 1e9:.1f} GB/s that this machine reads"
        else:
            line += f", {self.operations_per_second / 1e9:.0f} GFLOP/s"
        if self.is_loaded:
            line += f"; LOADED, others used {self.outside:.1f} cores"
        elif self.rejected:
            line += f"; {self.rejected} loaded run{'s' * (self.rejected != 1)} left out"
        return line

    def as_json(self) -> dict[str, Any]:
        """All of it, for a program."""
        names = ("rates", "best", "median", "is_loaded", "outside", "rejected", "bytes_per_token", "bytes_per_second",
                 "operations_per_second", "read_rate", "share")  # fmt: skip
        task = {"kind": self.task.kind, "tokens": self.task.tokens, "context": self.task.context}
        return task | {name: getattr(self, name) for name in names}


def planned(decoded: Sequence[int], contexts: Sequence[int], prompts: Sequence[int]) -> list[Task]:
    """The rows of a sweep: each number of tokens at each context, and each prompt."""
    tasks = [Task("tg", tokens, context) for tokens in decoded for context in contexts]
    return tasks + [Task("pp", tokens) for tokens in prompts]


def measured(llm: LLM, task: Task, repeat: int) -> Row:
    """Runs a task some times, after once that does not count."""
    config = llm.config
    rng = np.random.default_rng(task.context + task.tokens)
    prompt = rng.integers(0, config.tokens, task.context or task.tokens).tolist()
    params = SamplingParams(max_new_tokens=task.tokens + 1 if task.kind == "tg" else 1, ignore_eos=True)
    quiet: list[tuple[float, float]] = []
    loaded: list[tuple[float, float]] = []
    _once(llm, task, prompt, params)
    while len(quiet) < repeat and len(quiet) + len(loaded) < PATIENCE * repeat:
        began = now()
        speed = _once(llm, task, prompt, params)
        load = outside_load(began)
        (quiet if load <= QUIET else loaded).append((speed, load))
    counted = quiet or loaded
    middle = task.context + task.tokens / 2 if task.kind == "tg" else 0
    return Row(
        task, tuple(speed for speed, _ in counted), not quiet, max(load for _, load in counted),
        len(loaded) if quiet else 0, bytes_per_token(config, llm.weights.streamed, middle), _operations(config, task),
    )  # fmt: skip


def _once(llm: LLM, task: Task, prompt: list[int], params: SamplingParams) -> float:
    done = llm.generate(prompt, params)
    if task.kind == "tg":
        return done.tokens_per_second
    return len(prompt) / done.prefill_seconds if done.prefill_seconds > 0 else 0.0


def _operations(config: ModelConfig, task: Task) -> float:
    """Multiplications and additions for a token: of the layers, of attention, and of the head where it is computed."""
    layer = config.hidden_size * (
        (2 * config.num_attention_heads + 2 * config.num_key_value_heads) * config.head_dim
        + 3 * config.intermediate_size
    )
    seen = task.context + task.tokens / 2
    attention = 2 * config.num_attention_heads * config.head_dim * seen
    head = config.vocab_size * config.hidden_size * (1 if task.kind == "tg" else 1 / task.tokens)
    return 2 * (config.num_hidden_layers * (layer + attention) + head)
