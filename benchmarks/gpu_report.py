"""What the GPU book found: lines of its tables, and the data they are kept in. All else is made from the data."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from .gpu_peers import COLUMNS
from .gpu_row import BANDWIDTH, PRODUCTS, YARDSTICKS, Goal
from .gpu_rows_products import TABLE
from .tables import columns, duration

FILE: Final = "gpu.json"
HEADS: Final = ("row", "size", "tileproof", "peers", "against the best", "rate", "of datasheet", "spread", "goals")
LAUNCH_PEER: Final = "torch launch"
"""The peer whose part of the time a launch of ours may take: there less is better."""


@dataclass(frozen=True)
class Figure:
    """The times of one contestant: of each round, in seconds for one call."""

    name: str
    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return sorted(self.rounds)[len(self.rounds) // 2]

    @property
    def spread(self) -> float:
        """How far rounds lie apart, as a part of the median; of many rounds, without a tenth at each end."""
        ordered = sorted(self.rounds)
        cut = len(ordered) // 10
        return (ordered[-1 - cut] - ordered[cut]) / self.median

    @property
    def text(self) -> str:
        return duration(self.median)


@dataclass(frozen=True)
class Twin:
    """The same launches without their checks, timed in turns with them."""

    figure: Figure
    is_same: bool
    """Whether there was no check to leave out, and the code is the same."""


@dataclass(frozen=True)
class Line:
    """A line of the table."""

    name: str
    group: str
    size: str
    operations: float
    bytes: float
    limit: float | None = None
    """Seconds that the datasheet allows at best."""
    tileproof: Figure | None = None
    forms: tuple[Figure, ...] = ()
    """Other ways of our own."""
    peers: Mapping[str, tuple[Figure, ...]] = field(default_factory=dict)
    """By column: all that were timed."""
    yardsticks: Mapping[str, Figure] = field(default_factory=dict)
    """What only moves the same bytes, in the same run."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """By column: why nothing was timed."""
    goals: tuple[Goal, ...] = ()
    twin: Twin | None = None
    how: tuple[str, ...] = ()
    """The kernels that were launched, with constants and schedules."""
    problem: str = ""
    """What is wrong with the result; then it is not timed."""
    notes: tuple[str, ...] = ()
    run: int = 0
    """Which of the runs of the data it is of."""

    def but(self, **other: Any) -> Line:
        """The same line with other values."""
        return replace(self, **other)

    @property
    def everybody(self) -> list[Figure]:
        """All peers."""
        return [each for column in COLUMNS for each in self.peers.get(column, ())]

    @property
    def best(self) -> Figure | None:
        """The fastest peer."""
        return min(self.everybody, key=lambda each: each.median, default=None)

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the fastest peer."""
        return None if self.tileproof is None or self.best is None else self.best.median / self.tileproof.median

    @property
    def of_limit(self) -> float | None:
        return None if self.tileproof is None or self.limit is None else self.limit / self.tileproof.median

    @property
    def is_streaming(self) -> bool:
        return self.bytes / BANDWIDTH > self.operations / PRODUCTS

    def reached(self, goal: Goal) -> float | None:
        """What a goal is about: so many times as fast as somebody; or a time."""
        if self.tileproof is None:
            return None
        if goal.peer == "seconds":
            return self.tileproof.median
        if goal.peer in YARDSTICKS:
            named = [figure.median for name, figure in self.yardsticks.items() if name == goal.peer]
        else:
            named = [each.median for each in self.everybody if each.name == goal.peer or
                     each.name.split()[0] == goal.peer]  # fmt: skip
        if not named:
            return None
        return self.tileproof.median / min(named) if goal.peer == LAUNCH_PEER else min(named) / self.tileproof.median

    def is_met(self, goal: Goal) -> bool | None:
        """Whether a goal is; None if there is nothing to judge it by."""
        reached = self.reached(goal)
        if reached is None:
            return None
        return reached <= goal.ratio if goal.peer in ("seconds", LAUNCH_PEER) else reached >= goal.ratio

    @property
    def missed(self) -> list[Goal]:
        return [goal for goal in self.goals if self.is_met(goal) is False]

    def judged(self, goal: Goal) -> str:
        """`met: 1.03 for >= 1.00 x cuBLAS`."""
        reached = self.reached(goal)
        if reached is None:
            return f"not judged: {goal.wanted}"
        if goal.peer == "seconds":
            shown = duration(reached)
        else:
            # Close to the goal two digits would not tell which side it is on.
            shown = f"{reached:.{4 if abs(reached - goal.ratio) < 0.005 else 2}f}"
        return f"{'met' if self.is_met(goal) else 'MISSED'}: {shown} for {goal.wanted}"

    @property
    def verdict(self) -> str:
        """What became of all its goals."""
        return self.problem or "; ".join(map(self.judged, self.goals)) or "reported"

    @property
    def rate(self) -> str:
        """Bytes or operations per second, whichever limits the work."""
        if self.tileproof is None or self.group == "launch":
            return "-"
        if self.is_streaming:
            return f"{self.bytes / self.tileproof.median / 1e12:.2f} TB/s"
        return f"{self.operations / self.tileproof.median / 1e12:.0f} TFLOP/s"

    @property
    def cells(self) -> tuple[str, ...]:
        ours = self.tileproof
        return (
            self.name, self.size, "-" if ours is None else ours.text, self._peers,
            "-" if self.ratio is None or self.best is None else f"{self.ratio:.2f} x {self.best.name}", self.rate,
            "-" if self.of_limit is None else f"{self.of_limit:.0%}", "-" if ours is None else f"{ours.spread:.1%}",
            self.verdict,
        )  # fmt: skip

    @property
    def _peers(self) -> str:
        shown = [f"{each.name} {each.text}" for each in self.everybody]
        shown += [f"{name} of the bytes {each.text}" for name, each in self.yardsticks.items()]
        return ", ".join(shown) or "-"

    @property
    def twin_text(self) -> str:
        """Our time over that of the unsafe twin."""
        if self.twin is None or self.tileproof is None:
            return "-"
        return f"{self.tileproof.median / self.twin.figure.median:.3f}{', same code' if self.twin.is_same else ''}"


# All lines together.


def geometric_mean(lines: Sequence[Line]) -> float | None:
    """Of how many times as fast as cuBLAS the products of the table are."""
    goal = Goal(0.0, "cuBLAS")
    ratios = [ratio for line in lines if line.group in TABLE and (ratio := line.reached(goal)) is not None]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def summary(lines: Sequence[Line]) -> str:
    """How many goals are met, and which are not."""
    judged = [(line, goal) for line in lines for goal in line.goals if line.is_met(goal) is not None]
    met = sum(line.is_met(goal) is True for line, goal in judged)
    told = [f"{met} of {len(judged)} goals met"]
    mean = geometric_mean(lines)
    if mean is not None:
        count = sum(line.group in TABLE and line.tileproof is not None for line in lines)
        told.append(f"matmul table: geometric mean {mean:.3f} x cuBLAS over {count} products, goal >= 1.00: "
                    f"{'met' if mean >= 1 else 'MISSED'}")  # fmt: skip
    told += [f"{line.name}: {line.problem}" for line in lines if line.problem]
    told += [f"MISSED: {line.name}: {line.judged(goal).removeprefix('MISSED: ')}" for line in lines
             for goal in line.missed]  # fmt: skip
    return "\n".join(told)


def table(lines: Sequence[Line]) -> str:
    """The table, for a terminal."""
    return columns(HEADS, [line.cells for line in lines])


# Data.


@dataclass(frozen=True)
class Found:
    """Lines, and the machines and circumstances of the runs they are of."""

    lines: tuple[Line, ...]
    runs: tuple[Mapping[str, str], ...]

    def joined(self, later: Found) -> Found:
        """With lines of a later run in place of those of the same names; runs that no line is of are left out."""
        anew = {line.name: line.but(run=line.run + len(self.runs)) for line in later.lines}
        lines = [anew.pop(line.name, line) for line in self.lines]
        every = [*lines, *anew.values()]
        runs = [*self.runs, *later.runs]
        used = sorted({line.run for line in every})
        return Found(
            tuple(line.but(run=used.index(line.run)) for line in every), tuple(runs[number] for number in used)
        )


def written(found: Found) -> str:
    """The data as text. What follows from the times is there too, for those who read it without this program."""
    rows = [
        {**asdict(line), "ratio": line.ratio, "of_limit": line.of_limit, "verdict": line.verdict}
        for line in found.lines
    ]
    return json.dumps({"runs": [*map(dict, found.runs)], "rows": rows}, indent=1) + "\n"


def read(text: str) -> Found:
    """Lines and runs from the data."""
    data = json.loads(text)
    return Found(tuple(map(_line, data["rows"])), tuple(data["runs"]))


def _line(given: Mapping[str, Any]) -> Line:
    known = {name: given[name] for name in Line.__dataclass_fields__}
    known["tileproof"] = None if given["tileproof"] is None else _figure(given["tileproof"])
    known["forms"] = tuple(map(_figure, given["forms"]))
    known["peers"] = {column: tuple(map(_figure, ways)) for column, ways in given["peers"].items()}
    known["yardsticks"] = {name: _figure(each) for name, each in given["yardsticks"].items()}
    known["goals"] = tuple(Goal(**each) for each in given["goals"])
    twin = given["twin"]
    known["twin"] = None if twin is None else Twin(_figure(twin["figure"]), twin["is_same"])
    known["notes"], known["how"] = tuple(given["notes"]), tuple(given["how"])
    return Line(**known)


def _figure(given: Mapping[str, Any]) -> Figure:
    return Figure(given["name"], tuple(given["rounds"]))


def save(folder: Path, found: Found) -> Path:
    """Writes the data whole or not at all: a run may be ended at any moment."""
    folder.mkdir(parents=True, exist_ok=True)
    file, begun = folder / FILE, folder / f"{FILE}.new"
    begun.write_text(written(found), encoding="utf-8")
    begun.replace(file)
    return file


def kept(folder: Path) -> Found:
    """What an earlier run left; nothing if there was none."""
    file = folder / FILE
    return read(file.read_text(encoding="utf-8")) if file.exists() else Found((), ())
