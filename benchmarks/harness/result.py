"""What a benchmark measured: figures, lines, runs, and the JSON they are kept in. Pages and pictures are made of it."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from .text import amount, si

Unit: TypeAlias = Literal["B/s", "FLOP/s", "OP/s", "tok/s", "s", "B"]
"""What a line is about: a rate, a time of which no rate is of interest, or memory."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One contestant: seconds per call of each round, or bytes. What counts is their median."""

    name: str
    rounds: tuple[float, ...]
    typical: float | None = None
    """The median call, where what counts is the best one."""
    is_loaded: bool = False
    """Whether other processes were busy in every turn."""
    outside: float = 0.0
    """How many cores other processes used at most in a turn that counts."""

    @property
    def value(self) -> float:
        return statistics.median(self.rounds)

    @property
    def span(self) -> tuple[float, float]:
        """Between what rounds lie, a tenth of them left out at each end; up to the median call where there is one."""
        if self.typical is not None:
            return self.value, self.typical
        ordered = sorted(self.rounds)
        cut = len(ordered) // 10
        return ordered[cut], ordered[-1 - cut]

    @property
    def spread(self) -> float:
        low, high = self.span
        return (high - low) / abs(self.value) if self.value else 0.0

    def minus(self, other: Figure) -> Figure:
        """The difference, round by round: in a round all take turns."""
        pairs = zip(self.rounds, other.rounds, strict=True)
        return replace(self, rounds=tuple(a - b for a, b in pairs), is_loaded=self.is_loaded or other.is_loaded)


@dataclass(frozen=True, slots=True)
class Goal:
    """So many times as fast as a peer; such a part of a limit's rate; or so much at most."""

    ratio: float
    peer: str
    """The first words of a peer's or a yardstick's name; "limit"; or "at most" for seconds or bytes."""
    is_part: bool = False
    """Whether `ratio` is a part of the peer's time, which is not to be exceeded."""
    or_limit: float | None = None
    """The part of the limit that will do instead."""
    threads: int | None = None
    """The one number of threads it is stated for."""

    def wanted(self, unit: str) -> str:
        if self.peer == "at most":
            return f"<= {amount(self.ratio, unit)}"
        if self.peer == "limit" or self.peer in YARDSTICKS:
            return f">= {self.ratio:.0%} of the {self.peer}{' rate' * (self.peer != 'limit')}"
        instead = "" if self.or_limit is None else f" or {self.or_limit:.0%} of the limit"
        return f"{'<=' if self.is_part else '>='} {self.ratio:.2f} x {self.peer}{instead}"


YARDSTICKS: Final = ("copy", "read", "arithmetic", "Python call")
"""What only moves as many bytes, only multiplies and adds in registers, or only calls a function, in the same run."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row that was measured on a device."""

    name: str
    group: str
    size: str = ""
    threads: int | None = None
    unit: Unit = "s"
    operations: float = 0.0
    bytes: float = 0.0
    tokens: int = 0
    limit: float | None = None
    """Seconds, or bytes, that the hardware allows at best, by its datasheet."""
    tileproof: Figure | None = None
    forms: tuple[Figure, ...] = ()
    """All of our ways, where there are several; the fastest counts."""
    peers: Mapping[str, tuple[Figure, ...]] = field(default_factory=dict)
    """By column: all that were timed."""
    yardsticks: Mapping[str, Figure] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    """By column: why nothing was timed."""
    goals: tuple[Goal, ...] = ()
    twin: Figure | None = None
    """The same launches without their checks."""
    is_same_code: bool = False
    """Whether the twin is the same code, because everything was proved."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """More columns of the table."""
    how: tuple[str, ...] = ()
    """The kernels that were launched, with constants and schedules."""
    problem: str = ""
    """What is wrong with the result; then it is not timed."""
    notes: tuple[str, ...] = ()
    run: int = 0
    """Which of the runs of the data it is of."""

    @property
    def key(self) -> tuple[str, int | None]:
        return self.name, self.threads

    @property
    def label(self) -> str:
        return self.name if self.threads is None else f"{self.name}, {self.threads} thread{'s' * (self.threads > 1)}"

    @property
    def everybody(self) -> list[Figure]:
        """All peers."""
        return [each for way in self.peers.values() for each in way]

    @property
    def best(self) -> Figure | None:
        """The best peer."""
        return min(self.everybody, key=lambda each: each.value, default=None)

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the best peer."""
        return None if self.tileproof is None or self.best is None else self.best.value / self.tileproof.value

    @property
    def of_limit(self) -> float | None:
        """The part of what the hardware allows: by the datasheet, or else by the yardsticks of the same run."""
        floors = [yardstick.value for yardstick in self.yardsticks.values()] if self.limit is None else [self.limit]
        return None if self.tileproof is None or not floors else min(floors) / self.tileproof.value

    @property
    def work(self) -> float:
        return {"B/s": self.bytes, "FLOP/s": self.operations, "OP/s": self.operations, "tok/s": self.tokens}.get(
            self.unit, 0.0
        )

    def rate_of(self, figure: Figure | None) -> float | None:
        """Work per second."""
        return self.work / figure.value if figure is not None and self.work else None

    @property
    def rate(self) -> str:
        result = self.rate_of(self.tileproof)
        if result is None or self.unit == "tok/s":
            return "-" if result is None else f"{result:.{1 if result < 1000 else 0}f} tok/s"
        return si(result, self.unit)

    def text(self, figure: Figure | None) -> str:
        if figure is None:
            return "-"
        typical = "" if figure.typical is None else f" ({amount(figure.typical, self.unit)})"
        return amount(figure.value, self.unit) + typical + (", loaded" if figure.is_loaded else "")

    # Goals.

    def _against(self, goal: Goal) -> list[Figure]:
        if goal.peer in YARDSTICKS:
            return [figure for name, figure in self.yardsticks.items() if name == goal.peer]
        return [each for each in self.everybody if each.name == goal.peer or each.name.startswith(f"{goal.peer} ")]

    def reached(self, goal: Goal) -> float | None:
        """What a goal is about: so many times as fast as somebody, a part of a limit, or a time."""
        if self.tileproof is None or goal.peer == "at most":
            return None if self.tileproof is None else self.tileproof.value
        if goal.peer == "limit":
            return self.of_limit
        named = [each.value for each in self._against(goal)]
        if not named:
            return None
        return self.tileproof.value / min(named) if goal.is_part else min(named) / self.tileproof.value

    def is_met(self, goal: Goal) -> bool | None:
        """Whether a goal is; None if there is nothing to judge it by, or the machine was busy."""
        reached = self.reached(goal)
        if reached is None or self.is_loaded(goal):
            return None
        if goal.is_part or goal.peer == "at most":
            return reached <= goal.ratio
        return reached >= goal.ratio or (goal.or_limit is not None and (self.of_limit or 0.0) >= goal.or_limit)

    def is_loaded(self, goal: Goal) -> bool:
        """Whether a goal rests on figures that other processes disturbed."""
        by_limit = goal.peer == "limit" or goal.or_limit is not None
        floors = self.yardsticks.values() if by_limit else ()
        return any(each is not None and each.is_loaded for each in (self.tileproof, *self._against(goal), *floors))

    @property
    def missed(self) -> list[Goal]:
        return [goal for goal in self.goals if self.is_met(goal) is False]

    def judged(self, goal: Goal) -> str:
        """`met: 1.03 for >= 1.00 x cuBLAS`."""
        reached, wanted = self.reached(goal), goal.wanted(self.unit)
        if reached is None or self.is_met(goal) is None:
            return f"not judged{', loaded' * (reached is not None)}: {wanted}"
        # Close to the goal two digits would not show which side it is on.
        digits = 4 if abs(reached - goal.ratio) < 0.005 else 2
        text = amount(reached, self.unit) if goal.peer == "at most" else f"{reached:.{digits}f}"
        return f"{'met' if self.is_met(goal) else 'MISSED'}: {text} for {wanted}"

    @property
    def verdict(self) -> str:
        """What became of all its goals."""
        return self.problem or "; ".join(map(self.judged, self.goals))

    def but(self, **other: Any) -> Line:
        """The same line with other values."""
        return replace(self, **other)


def summary(lines: Sequence[Line]) -> list[str]:
    """How many goals are met, which are not, and which could not be judged."""
    judged = [(line, goal) for line in lines for goal in line.goals if line.is_met(goal) is not None]
    met = sum(line.is_met(goal) is True for line, goal in judged)
    verdicts = [f"{met} of {len(judged)} goals met"] if judged else ["no goal was judged"]
    verdicts += [f"{line.label}: {line.problem}" for line in lines if line.problem]
    verdicts += [f"{line.label}: {line.judged(goal)}" for line in lines for goal in line.goals
             if line.is_met(goal) is False or (line.is_met(goal) is None and line.is_loaded(goal))]  # fmt: skip
    return verdicts


def geometric_mean(lines: Sequence[Line], peer: str) -> float | None:
    """Of how many times as fast as a peer they are."""
    ratios = [ratio for line in lines if (ratio := line.reached(Goal(0.0, peer))) is not None]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


# Data.


@dataclass(frozen=True, slots=True)
class Results:
    """Lines, and the machines and circumstances of the runs they are of."""

    lines: tuple[Line, ...] = ()
    runs: tuple[Mapping[str, str], ...] = ()

    def joined(self, later: Results) -> Results:
        """With lines of a later run in place of those of the same names; runs that no line is of are left out."""
        anew = {line.key: line.but(run=line.run + len(self.runs)) for line in later.lines}
        lines = [anew.pop(line.key, line) for line in self.lines]
        every = [*lines, *anew.values()]
        runs = [*self.runs, *later.runs]
        used = sorted({line.run for line in every})
        return Results(
            tuple(line.but(run=used.index(line.run)) for line in every), tuple(runs[number] for number in used)
        )


def written(results: Results) -> str:
    """The data as text. What follows from the figures is there too, for those who read it without this program."""
    empty = asdict(Line("", ""))
    rows = [
        {name: value for name, value in asdict(line).items() if value != empty[name]}
        | {"tileproof": None if line.tileproof is None else asdict(line.tileproof), "how": line.how, "run": line.run,
           "ratio": line.ratio, "of_limit": line.of_limit, "verdict": line.verdict}
        for line in results.lines
    ]  # fmt: skip
    return json.dumps({"runs": [*map(dict, results.runs)], "rows": rows}, indent=1) + "\n"


def read(text: str) -> Results:
    """Lines and runs from the data."""
    data = json.loads(text)
    return Results(tuple(map(_line, data["rows"])), tuple(data["runs"]))


def _line(values: Mapping[str, Any]) -> Line:
    known = {name: values[name] for name in Line.__dataclass_fields__ if name in values}
    for name in ("tileproof", "twin"):
        known[name] = None if values.get(name) is None else _figure(values[name])
    known["forms"] = tuple(map(_figure, values.get("forms", ())))
    known["peers"] = {column: tuple(map(_figure, ways)) for column, ways in values.get("peers", {}).items()}
    known["yardsticks"] = {name: _figure(each) for name, each in values.get("yardsticks", {}).items()}
    known["goals"] = tuple(Goal(**each) for each in values.get("goals", ()))
    known["notes"], known["how"] = tuple(values.get("notes", ())), tuple(values.get("how", ()))
    return Line(**known)


def _figure(values: Mapping[str, Any]) -> Figure:
    return Figure(**{**values, "rounds": tuple(values["rounds"])})


def save(file: Path, results: Results) -> Path:
    """Writes the data whole or not at all: a run may be ended at any moment."""
    file.parent.mkdir(parents=True, exist_ok=True)
    begun = file.with_suffix(".json.new")
    begun.write_text(written(results), encoding="utf-8")
    begun.replace(file)
    return file


def kept(file: Path) -> Results:
    """What an earlier run left; nothing if there was none."""
    return read(file.read_text(encoding="utf-8")) if file.exists() else Results()
