"""The tuner: compiles, checks, times, and keeps what was found fastest.

A shape goes through the same steps each time. On a GPU all its candidates are compiled, several at a time; each has to
pass the gate, and is timed; the best few are timed again, in turns; and the winner runs against the default. What is
settled is in the record at once, and is not done again.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from tileproof.backends.cuda.device import driver
from tileproof.diagnostics.errors import TileproofError
from tileproof.runtime.launch.ahead_of_time import Launch, Plan, compile_all
from tileproof.runtime.launch.cuda_code import space_of, variant
from tileproof.runtime.launch.launch import prepare

from . import records
from .choices import Choice
from .gate import Gate
from .inputs import TuningError, arguments_of, stand_ins
from .places import Place, place_for
from .provenance import Provenance, is_cpu, recorded_target
from .records import Entry, Record, key_of
from .tunables import Sizes, Tunable

Step: TypeAlias = Callable[[str, int, int], None]
"""Receives the progress of the work: what is done, how many times, of how many."""
_HOPELESS: Final = 3.0
"""A candidate that takes so many times as long as the best so far is timed no longer."""
_FINALISTS: Final = 4
_ROUNDS: Final = 3
"""Turns of each finalist."""


@dataclass(slots=True)
class Result:
    """A shape to tune for, and what came of it."""

    element: str
    sizes: Sizes
    default: Choice
    candidates: Mapping[str, Choice]
    """By label, the default first."""
    problems: dict[str, str] = field(default_factory=dict)
    """Candidates that are wrong, or cannot be launched."""
    best: Choice | None = None
    """None if it is not finished, or cannot be tuned."""
    seconds: float = math.nan
    default_seconds: float = math.nan
    failure: str = ""
    """Why it cannot be tuned."""

    @property
    def key(self) -> tuple[Any, ...]:
        """As that of an entry in a record."""
        return key_of(self.element, self.sizes)

    @property
    def ratio(self) -> float:
        """How many times as fast as the default."""
        return self.default_seconds / self.seconds

    @property
    def shape(self) -> str:
        """`M=512 N=6144 K=2560 bf16`."""
        return " ".join((*(f"{name}={extent}" for name, extent in self.sizes.items()), self.element))


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a tuning."""

    tunable: str
    target: str
    device: str
    results: Sequence[Result]
    path: Path | None = None
    """The file of records, if there is one."""

    @property
    def is_finished(self) -> bool:
        """Whether every shape was settled; if not, the same call goes on."""
        return all(result.best is not None or result.failure for result in self.results)

    def lines(self) -> Iterator[str]:
        """A line for each shape."""
        for result in self.results:
            if result.best is None:
                yield f"{result.shape}: {result.failure or 'not finished'}"
                continue
            ratio = f"{result.ratio:.2f} times as fast as the default, {time_text(result.default_seconds)}"
            yield f"{result.shape}: {result.best.label}: {time_text(result.seconds)}, {ratio}"


def time_text(seconds: float) -> str:
    """A time in the unit that suits it."""
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{seconds * factor:.4g} {unit}"


class OutOfTime(Exception):
    """The time that was given is over."""


def tune(
    tunable: Tunable, shapes: Iterable[Sizes], *, element: str | None = None, target: str | None = None,
    into: Path | str | None = None, again: bool = False, minutes: float | None = None, jobs: int | None = None,
    seed: int | None = None, place: Place | None = None, step: Step = lambda what, done, total: None,
) -> Report:  # fmt: skip
    """Finds the fastest choice of a tunable for some shapes on the device of this machine.

    `element` is bf16 on a GPU and f32 on the CPU unless given, `target` an architecture or "cpu". A shape is recorded
    `into` a folder, if one is named, as soon as it is settled; one that a fresh record of this device has is not tuned
    unless `again` says so. `minutes` ends the work early: the same call goes on. `seed` makes inputs that are the same
    each time.

    Example:
        report = tune(MATMUL, [{"M": 512, "N": 6144, "K": 2560}], into="records")
    """
    work = _Work(tunable, place or place_for(target), np.random.default_rng(seed), minutes, step)
    here = work.place
    named = recorded_target(here.target)
    results = results_of(tunable, shapes, element, here.target)
    path = None if into is None else records.file_of(Path(into), tunable.name, named)
    kept = None if path is None else records.fresh(path, tunable.kernels)
    entries = {} if kept is None else {entry.key: entry for entry in kept.entries}
    if kept is not None and kept.provenance.device == here.name and not again:
        for result in results:
            if (entry := entries.get(result.key)) is not None:
                result.best = entry.choice(tunable.kernels)
                result.seconds, result.default_seconds = entry.seconds, entry.default_seconds
    waiting = [result for result in results if result.best is None]
    work.compile(waiting, jobs)
    for result in waiting:
        work.settle(result)
        if path is not None and result.best is not None:
            entries[result.key] = Entry.of(
                result.element, result.sizes, result.best, result.seconds, result.default_seconds
            )
            provenance = Provenance.of(tunable.kernels, named, here.name)
            records.write(path, Record(tunable.name, named, provenance, tuple(entries.values())))
            tunable.forget()
    return Report(tunable.name, named, here.name, results, path if entries else None)


def results_of(tunable: Tunable, shapes: Iterable[Sizes], element: str | None, target: str) -> list[Result]:
    """The shapes to tune for, each once, with their candidates: the default first."""
    results: dict[tuple[Any, ...], Result] = {}
    kind = element or ("f32" if is_cpu(target) else "bf16")
    for sizes in shapes:
        try:
            default = tunable.default(sizes, target)
            candidates = {choice.label: choice for choice in (default, *tunable.space(sizes, target))}
        except KeyError as error:
            cure = f'give --shapes "{error.args[0]}=..." with the others'
            raise TuningError(f"`{tunable.name}` needs a size for {error.args[0]}: {cure}") from None
        arguments_of(tunable, sizes, kind, default.constants)  # rejects what cannot be launched
        result = Result(kind, dict(sizes), default, candidates)
        results.setdefault(result.key, result)
    if not results:
        raise TuningError(f'say for which sizes to tune `{tunable.name}`: --shapes "M=512,N=4096"')
    return list(results.values())


class _Work:
    """The tuning of one tunable."""

    def __init__(
        self, tunable: Tunable, place: Place, rng: np.random.Generator, minutes: float | None, step: Step
    ) -> None:
        self._tunable, self.place, self._rng, self._step = tunable, place, rng, step
        self._end = math.inf if minutes is None else time.monotonic() + 60 * minutes
        self._done = self._total = 0

    def compile(self, results: Sequence[Result], jobs: int | None) -> None:
        """Compiles what is to be tuned. A CPU compiles when it launches: there is nothing to wait for."""
        self._total = sum(len(result.candidates) for result in results)
        if not is_cpu(self.place.target):
            with suppress(OutOfTime):
                compile_candidates(self._tunable, results, self.place.target, jobs, self._step, self._demand_time)

    def settle(self, result: Result) -> None:
        """Tunes for one shape."""
        try:
            self._settle(result)
        except OutOfTime:
            pass
        except Exception as error:  # what one shape does, out of memory for instance, is no end of the others
            lost = driver.lost()
            if lost is not None:
                raise TuningError(f"the GPU is lost ({lost.message}): the same command goes on") from error
            result.failure = reason_of(error).removeprefix("TuningError: ")

    def _settle(self, result: Result) -> None:
        default, problems = result.default.label, result.problems
        if default in problems:
            raise TuningError(f"the default cannot be launched: {problems[default]}")
        self._demand_time()
        gate = Gate(self._tunable, result.sizes, result.element, self.place, result.default, self._rng)
        times: dict[str, float] = {}
        for label, choice in result.candidates.items():
            self._done += 1
            if label in problems:
                continue
            self._demand_time()
            try:
                outcome = gate.tried(choice, _HOPELESS * min(times.values(), default=math.inf))
            except Exception as error:  # whatever a candidate does, the others are still to be tried
                if driver.lost() is not None:
                    raise
                outcome = reason_of(error)
            if isinstance(outcome, float):
                times[label] = outcome
            else:
                problems[label] = outcome
            self._step("timed", self._done, self._total)
        if default not in times:
            raise TuningError(f"the default does not agree with itself: {problems[default]}")
        best = result.candidates[self._fastest(result, gate, times)]
        winner = (best, times[default], times[default])
        if best is not result.default:
            winner = gate.winner(best, self._demand_time)
        result.best, result.seconds, result.default_seconds = winner

    def _fastest(self, result: Result, gate: Gate, times: Mapping[str, float]) -> str:
        """The best few take turns."""
        ranked = sorted(times, key=lambda label: times[label])[:_FINALISTS]
        rounds: dict[str, list[float]] = {label: [] for label in ranked}
        for turn in range(_ROUNDS if len(ranked) > 1 else 0):
            for label in (*ranked[turn % len(ranked) :], *ranked[: turn % len(ranked)]):
                self._demand_time()
                rounds[label].append(gate.seconds(result.candidates[label]))
        return min(ranked, key=lambda label: statistics.median(rounds[label] or [times[label]]))

    def _demand_time(self) -> None:
        if time.monotonic() > self._end:
            raise OutOfTime


# Compiling ahead of launches.


def compile_candidates(
    tunable: Tunable, results: Sequence[Result], target: str, jobs: int | None, step: Step,
    demand_time: Callable[[], None] = lambda: None,
) -> None:  # fmt: skip
    """Compiles candidates for a GPU, which need not be here, several at a time: the kernel cache has them then. Those
    that cannot be launched are among the problems afterwards.

    Sizes decide little about code, so most candidates of one shape serve others too, and are compiled once.
    """
    plans: dict[str, Plan] = {}
    users: dict[str, list[tuple[Result, str]]] = {}
    total, done = sum(len(result.candidates) for result in results), 0
    for result in results:
        args = stand_ins(arguments_of(tunable, result.sizes, result.element, result.default.constants))
        for label, choice in result.candidates.items():
            demand_time()
            done += 1
            step("proved", done, total)
            try:
                plan = _plan(choice, args, target)
            except Exception as error:  # also of a form that these arrays do not have
                result.problems[label] = reason_of(error)
                continue
            key = plan.variants[0].key or f"of its own {done}"
            plans.setdefault(key, plan)
            users.setdefault(key, []).append((result, label))
    keys = {id(plan): key for key, plan in plans.items()}
    for done, compiled in enumerate(compile_all(list(plans.values()), workers=jobs), start=1):
        step("compiled", done, len(plans))
        demand_time()
        if isinstance(compiled.outcome, TileproofError):
            for result, label in users[keys[id(compiled.plan)]]:
                result.problems[label] = reason_of(compiled.outcome)


def _plan(choice: Choice, args: Sequence[Any], target: str) -> Plan:
    """A launch, bound and proved. The kernel remembers its proof for the launch."""
    kernel, constants, arrays = choice.launched, dict(choice.constants), choice.arguments(args)
    proved, bound = prepare(kernel, tuple(arrays), constants)
    wanted = variant(proved, bound, space_of(proved, bound), target)
    return Plan(Launch(kernel.name, kernel, arrays, constants), proved, bound, (wanted,), {}, 0.0)


def reason_of(error: BaseException) -> str:
    """The first sentence of what went wrong."""
    if isinstance(error, TileproofError) and error.diagnostics:
        first = error.diagnostics[0]
        return f"{first.code.id}: {first.message}"
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
