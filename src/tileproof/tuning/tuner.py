"""The tuner: compiles, strikes out, checks, times, and keeps what was found fastest.

A shape goes through the same steps each time. All its candidates are compiled; rules strike out those that need no
launch; each of the rest has to compute what the default computes, and is timed; the best few are timed again, in turns;
and the winner runs against the default, pair by pair, in changing order. Only if it wins by more than noise does it
replace the default.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from tileproof.backends.cuda import driver

from . import record_files, records
from .choices import Choice
from .compiling import Built, OutOfTime, Task, built, labelled, reason_of
from .gate import Gate
from .inputs import TuningError, arguments_of
from .logs import Log, key_of
from .places import CpuPlace, Place
from .provenance import Provenance, gpu_for, is_cpu, recorded_target
from .record_files import Entry
from .reports import Report, Result
from .rules import LIMITS, UNITS, Machine, struck
from .tunables import Sizes, Tunable

Step: TypeAlias = Callable[[str, int, int], None]
"""Is told how far the work is: what is done, how many times, of how many."""
_TRIAL: Final = 0.02
"""Seconds of launches for each candidate."""
_HOPELESS: Final = 3.0
"""A candidate that takes so many times as long as the best so far is timed no longer."""
_FINALISTS: Final = 4
_ROUNDS: Final = 3
"""Turns of each finalist."""
_PAIRS: Final = 8
"""Turns of the winner and the default, side by side."""
_GAIN: Final = 1.01
"""How much faster than the default a choice must be to replace it."""


def tune(
    tunable: Tunable, shapes: Iterable[Sizes], *, element: str | None = None, target: str | None = None,
    into: Path | str | None = None, log: Path | str | None = None, minutes: float | None = None,
    jobs: int | None = None, seed: int | None = None, place: Place | None = None,
    step: Step = lambda what, done, total: None,
) -> Report:  # fmt: skip
    """Finds the fastest choice of a tunable for some shapes on the device of this machine.

    `element` is bf16 on a GPU and f32 on the CPU unless given, `target` an architecture or "cpu". Records are written
    `into` a folder, if one is named. What is settled is in the `log`, and is not done again when the same call is made
    with it; `minutes` ends the work early. `seed` makes inputs that are the same each time.

    Example:
        report = tune(MATMUL, [{"M": 512, "N": 6144, "K": 2560}], into="records", log="matmul.log")
    """
    where = place or place_for(target)
    kind = element or usual_element(where.target)
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    named = recorded_target(where.target)
    provenance = Provenance.of(tunable, named, where.name)
    tasks = tasks_of(tunable, shapes, kind, where.target)
    written = None if log is None else Path(log)
    with closing(Log(written, tunable.name, named, provenance)) as settled:
        work = _Work(tunable, where, settled, np.random.default_rng(seed), deadline, step)
        path = None
        is_finished = False
        try:
            work.compile(tasks, jobs)
            work.measure(tasks)
            is_finished = True
        except OutOfTime:
            pass
        finally:
            results = [work.result(task) for task in tasks]
            entries = [entry for each in results if (entry := _entry(each)) is not None]
            if into is not None and entries:
                path = record_files.write(Path(into), tunable, named, provenance, entries)
                records.forget()
                tunable.forget()
    is_finished = is_finished and not any(each.best is None and not each.failure for each in results)
    return Report(tunable.name, named, where.name, results, is_finished, path)


def compile_only(
    tunable: Tunable, shapes: Iterable[Sizes], *, element: str | None = None, target: str, jobs: int | None = None,
    step: Step = lambda what, done, total: None,
) -> list[tuple[Task, Built]]:  # fmt: skip
    """Compiles the candidates of some shapes for a GPU that need not be here. The kernel cache has them afterwards."""
    tasks = tasks_of(tunable, shapes, element or usual_element(target), target)
    return list(zip(tasks, built(tasks, target, workers=jobs, step=step), strict=True))


def place_for(target: str | None) -> Place:
    """The device that a target runs on here: the first GPU, or the CPU where there is none, unless one is named."""
    if target is None:
        target = driver.Device(0).arch if driver.device_count() else "cpu"
    if is_cpu(target):
        if target not in ("cpu", recorded_target("cpu")):
            raise TuningError(f"this processor is {recorded_target('cpu')}, and not {target}: tune for it there")
        return CpuPlace()
    ordinal = gpu_for(target)
    if ordinal is None:
        raise TuningError(
            f"there is no GPU of {target} here: tune where there is one, or only compile, with --compile-only"
        )
    from .gpu_place import GpuPlace

    return GpuPlace(ordinal)


def usual_element(target: str) -> str:
    """What tunables are tuned for unless it is said."""
    return "f32" if is_cpu(target) else "bf16"


def tasks_of(tunable: Tunable, shapes: Iterable[Sizes], element: str, target: str) -> list[Task]:
    """The shapes to tune for, each once, with their candidates: the default first."""
    found: dict[str, Task] = {}
    for sizes in shapes:
        try:
            default = tunable.default(sizes, target)
            candidates = labelled((default, *tunable.space(sizes, target)))
        except KeyError as error:
            cure = f'give --shapes "{error.args[0]}=..." with the others'
            raise TuningError(f"`{tunable.name}` needs a size for {error.args[0]}: {cure}") from None
        arguments = arguments_of(tunable, sizes, element, default.constants)
        found.setdefault(key_of(element, sizes), Task(element, dict(sizes), arguments, default, candidates))
    if not found:
        raise TuningError(f'say for which sizes to tune `{tunable.name}`: --shapes "M=512,N=4096"')
    return list(found.values())


class _Work:
    """The tuning of one tunable."""

    def __init__(
        self, tunable: Tunable, place: Place, log: Log, rng: np.random.Generator, deadline: float | None, step: Step
    ) -> None:
        self._tunable, self._place, self._log, self._rng = tunable, place, log, rng
        self._deadline, self._step = deadline, step
        self._failures: dict[str, str] = {}

    def compile(self, tasks: Sequence[Task], jobs: int | None) -> None:
        """Compiles what is new, and strikes out what need not be launched."""
        fresh = [task for task in tasks if _shape(task) not in self._log.struck]
        target = self._place.target
        machine = Machine(self._place.units or UNITS.get(target, 1), LIMITS.get(target))
        for task, made in zip(
            fresh, built(fresh, target, workers=jobs, deadline=self._deadline, step=self._step), strict=True
        ):
            kept = task.default.label
            if kept in made.refused:
                self._failures[_shape(task)] = f"the default cannot be launched: {made.refused[kept]}"
                continue
            reasons = struck(made.facts, machine, kept)
            self._log.note_struck(_shape(task), {**made.refused, **reasons})

    def measure(self, tasks: Sequence[Task]) -> None:
        """Checks and times what is left."""
        waiting = [task for task in tasks if _shape(task) in self._log.struck]
        total = sum(len(self._tried(task)) for task in waiting)
        done = 0
        for task in waiting:
            tried = self._tried(task)
            if _shape(task) not in self._log.finals:
                try:
                    self._measure(task, tried, done, total)
                except OutOfTime:
                    raise
                except Exception as error:  # what one shape does, out of memory for instance, is no end of the others
                    lost = driver.lost()
                    if lost is not None:
                        raise TuningError(f"the GPU is lost ({lost.message}): the same command goes on") from error
                    self._failures[_shape(task)] = reason_of(error).removeprefix("TuningError: ")
            done += len(tried)
            self._step("timed", done, total)

    def _tried(self, task: Task) -> dict[str, Choice]:
        out = self._log.struck[_shape(task)]
        return {label: choice for label, choice in task.candidates.items() if label not in out}

    def _measure(self, task: Task, tried: Mapping[str, Choice], done: int, total: int) -> None:
        shape = _shape(task)
        self._demand_time()
        gate = Gate(self._tunable, task.sizes, task.element, self._place, task.default, self._rng)
        known = self._log.trials.get(shape, {})
        for place, (label, choice) in enumerate(tried.items()):
            if label not in known:
                self._demand_time()
                times = [each for each in self._log.trials.get(shape, {}).values() if isinstance(each, float)]
                outcome = self._tried_out(gate, choice, _HOPELESS * min(times, default=math.inf))
                self._log.note_trial(shape, label, outcome)
            self._step("timed", done + place + 1, total)
        self._finish(task, gate)

    def _tried_out(self, gate: Gate, choice: Choice, hopeless: float) -> float | str:
        """The seconds of a candidate, or what is wrong with it."""
        try:
            problem = gate.problem(choice)
            if problem is not None:
                return f"wrong: {problem}"
            seconds = self._seconds(gate, choice, _TRIAL, hopeless)
            problem = gate.problem_afterwards()
            return seconds if problem is None else f"wrong: {problem}"
        except Exception as error:  # whatever a candidate does, the others are still to be tried
            if driver.lost() is not None:
                raise
            return reason_of(error)

    def _seconds(self, gate: Gate, choice: Choice, seconds: float, hopeless: float = math.inf) -> float:
        return statistics.median(self._place.times(gate.call(choice), gate.before, seconds, hopeless))

    def _finish(self, task: Task, gate: Gate) -> None:
        """The best few in turns, then the winner against the default."""
        shape, default = _shape(task), task.default.label
        outcomes = self._log.trials[shape]
        if not isinstance(outcomes[default], float):
            raise TuningError(f"the default does not agree with itself: {outcomes[default]}")
        times = {label: each for label, each in outcomes.items() if isinstance(each, float)}
        ranked = sorted(times, key=lambda label: times[label])[:_FINALISTS]
        rounds: dict[str, list[float]] = {label: [] for label in ranked}
        for turn in range(_ROUNDS if len(ranked) > 1 else 0):
            for place in range(len(ranked)):
                label = ranked[(turn + place) % len(ranked)]
                self._demand_time()
                rounds[label].append(self._seconds(gate, task.candidates[label], _TRIAL))
        best = min(ranked, key=lambda label: statistics.median(rounds[label] or [times[label]]))
        seconds = {best: times[best], default: times[default]}
        if best != default:
            pairs = self._paired(gate, task.candidates[best], task.default)
            gain = statistics.median(theirs / mine for mine, theirs in pairs)
            seconds = {best: statistics.median(each[0] for each in pairs)}
            seconds[default] = statistics.median(each[1] for each in pairs)
            if min(gain, seconds[default] / seconds[best]) < _GAIN:
                best = default
        self._log.note_final(shape, best, seconds[best], seconds[default])

    def _paired(self, gate: Gate, best: Choice, default: Choice) -> list[tuple[float, float]]:
        """Seconds of two choices, pair by pair; who begins changes."""
        found = []
        for turn in range(_PAIRS):
            self._demand_time()
            order = (best, default) if turn % 2 else (default, best)
            taken = {each.label: self._seconds(gate, each, _TRIAL / 2) for each in order}
            found.append((taken[best.label], taken[default.label]))
        return found

    def result(self, task: Task) -> Result:
        """What is settled about a shape."""
        shape = _shape(task)
        out = self._log.struck.get(shape, {})
        outcomes = self._log.trials.get(shape, {})
        final = self._log.finals.get(shape)
        best = None if final is None else task.candidates.get(final["best"])
        operations = None if self._tunable.operations is None else self._tunable.operations(task.sizes)
        return Result(
            task.element, task.sizes, len(task.candidates), best,
            math.nan if final is None else final["seconds"], math.nan if final is None else final["default_seconds"],
            out, {label: each for label, each in outcomes.items() if isinstance(each, str)},
            self._failures.get(shape, ""), operations, task.arguments.nbytes,
        )  # fmt: skip

    def _demand_time(self) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise OutOfTime


def _shape(task: Task) -> str:
    return key_of(task.element, task.sizes)


def _entry(result: Result) -> Entry | None:
    if result.best is None:
        return None
    return Entry.of(result.element, result.sizes, result.best, result.seconds, result.default_seconds)
