"""What the CPU book found: lines of its tables, and the data they are kept in. All else is made from the data."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.pool import cores
from tileproof.backends.cpu.target import host

from .compiling import Steps
from .cpu_row import Goal
from .measuring import Contestant

FILE = "cpu.json"
HEADS = (
    "kernel", "size", "thr", "unit", "tileproof", "torch", "numpy", "limit", "/torch", "/limit",
    "compile", "load", "note",
)  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """The times of one contestant."""

    way: str
    best: float
    """Seconds, as is the median."""
    median: float
    rate: float
    """Of the best call, in units of 1e9 per second."""
    calls: int
    outside_least: float
    """How many cores others kept busy during its quietest turn."""
    outside_most: float
    """During the least quiet one, whether or not that counts."""
    is_loaded: bool

    @staticmethod
    def of(each: Contestant, work: float) -> Figure:
        return Figure(
            each.name, each.best, each.median, work / each.best / 1e9, len(each.times), min(each.outside),
            max(each.outside), each.is_loaded,
        )  # fmt: skip

    @property
    def text(self) -> str:
        """The best rate, the median one in brackets."""
        return f"{self.rate:.1f} ({self.rate * self.best / self.median:.1f})"


@dataclass(frozen=True)
class Line:
    """A line of the table."""

    kernel: str
    size: str
    unit: str
    threads: int
    tileproof: Figure | None
    torch: Figure | None
    numpy: Figure | None
    limit: Figure | None
    goal: Goal
    compile: Steps | None
    note: str
    problem: str
    """What is wrong with the result; empty if nothing is."""
    how: tuple[str, ...] = ()
    """The kernels that were launched, with their constants."""
    work: float = 0.0
    """Operations of a call, or bytes that must move."""

    @property
    def against_torch(self) -> float | None:
        return None if self.torch is None or self.tileproof is None else self.torch.best / self.tileproof.best

    @property
    def of_limit(self) -> float | None:
        return None if self.limit is None or self.tileproof is None else self.tileproof.rate / self.limit.rate

    @property
    def goals(self) -> list[tuple[str, float, float, bool]]:
        """What it should reach: what of, how much, what it reaches, and whether its figures can be trusted."""
        ours = self.tileproof
        if self.goal.only not in (None, self.threads) or ours is None:
            return []
        stated = (
            ("x torch", self.goal.torch, self.against_torch, self.torch),
            ("of the limit", self.goal.limit, self.of_limit, self.limit),
        )
        return [
            (what, wanted, ratio, not (ours.is_loaded or peer.is_loaded))
            for what, wanted, ratio, peer in stated
            if wanted is not None and ratio is not None and peer is not None
        ]

    @property
    def missed(self) -> list[str]:
        """The goals it does not reach."""
        return [
            f"{ratio:.2f} {what}, not {wanted:g}" for what, wanted, ratio, sure in self.goals if sure and ratio < wanted
        ]

    @property
    def unsure(self) -> list[str]:
        """The goals of which only a busy machine knows."""
        return [f"{ratio:.2f} {what} for {wanted:g}" for what, wanted, ratio, sure in self.goals if not sure]

    @property
    def loaded(self) -> list[str]:
        """Who never had the machine for itself."""
        everybody = {"tileproof": self.tileproof, "torch": self.torch, "numpy": self.numpy, "limit": self.limit}
        return [name for name, figure in everybody.items() if figure is not None and figure.is_loaded]

    @property
    def remark(self) -> str:
        """Whether goals are met, and what else there is to say."""
        parts = [self.problem]
        if self.missed:
            parts.append(f"MISSED: {', '.join(self.missed)}")
        if self.unsure:
            parts.append(f"not judged: {', '.join(self.unsure)}")
        if self.goals and not self.missed and not self.unsure:
            parts.append("goal met")
        if self.loaded:
            parts.append(f"loaded: {', '.join(self.loaded)}")
        return "; ".join(part for part in (*parts, self.note) if part)

    @property
    def cells(self) -> tuple[str, ...]:
        steps = self.compile
        split = () if steps is None else (steps.front_end, steps.proof, steps.lowering, steps.llvm)
        return (
            self.kernel, self.size, str(self.threads), self.unit,
            *("-" if each is None else each.text for each in (self.tileproof, self.torch, self.numpy, self.limit)),
            "-" if self.against_torch is None else f"{self.against_torch:.2f}x",
            "-" if self.of_limit is None else f"{self.of_limit:.2f}",
            "-" if steps is None else f"{'+'.join(f'{step:.0f}' for step in split)} = {steps.cold:.0f} ms",
            "-" if steps is None else f"{steps.load:.1f} ms", self.remark,
        )  # fmt: skip


@dataclass(frozen=True)
class Latency:
    """How long a launch of almost nothing takes."""

    programs: int
    threads: int
    tileproof: Figure
    torch: Figure | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        return (
            f"add, {self.programs} program{'s' if self.programs > 1 else ''}", str(self.threads),
            *("-" if each is None else f"{each.best * 1e6:.1f} us ({each.median * 1e6:.1f})"
              for each in (self.tileproof, self.torch)),
            "loaded" if self.tileproof.is_loaded else "",
        )  # fmt: skip


# Tables.


def table(lines: Sequence[Line]) -> str:
    """The table, for a terminal."""
    return _columns(HEADS, [line.cells for line in lines])


def latency_table(launches: Sequence[Latency]) -> str:
    """Launches, for a terminal."""
    return _columns(("launch", "thr", "tileproof", "torch", "note"), [each.cells for each in launches])


def summary(lines: Sequence[Line]) -> str:
    """Which goals are missed, and which could not be judged."""
    missed = [f"MISSED: {line.kernel} on {line.threads}: {each}" for line in lines for each in line.missed]
    unsure = [f"not judged: {line.kernel} on {line.threads}: {each}" for line in lines for each in line.unsure]
    return "\n".join(missed + unsure) or "no goal is missed"


def _columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    texts = [
        "  ".join(_placed(cell, width, place) for place, (cell, width) in enumerate(zip(row, widths, strict=True)))
        for row in (heads, *rows)
    ]
    return "\n".join(text.rstrip() for text in texts)


def _placed(cell: str, width: int, place: int) -> str:
    """Numbers to the right; names, sizes and remarks to the left."""
    return cell.ljust(width) if place < 2 or place == len(HEADS) - 1 else cell.rjust(width)


# The machine.


def machine() -> dict[str, str]:
    """What the figures depend on."""
    caches = host().caches
    return {
        "processor": processor(),
        "code for": f"{host().name}, {host().lanes} lanes of f32",
        "cores": str(cores()),
        "caches": f"L1 {caches.l1 >> 10} KB, L2 {caches.l2 >> 10} KB, L3 {caches.l3 >> 20} MB",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "LLVM": llvm.version(),
        "torch": _version("torch"),
        "numpy": _version("numpy"),
        "load average": ", ".join(f"{each:.2f}" for each in os.getloadavg()),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def processor() -> str:
    """The processor, as the system names it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


# Data.


@dataclass(frozen=True)
class Found:
    """All that was found on a machine."""

    lines: tuple[Line, ...]
    launches: tuple[Latency, ...]
    machine: Mapping[str, str]

    def joined(self, later: Found) -> Found:
        """With the lines of a later run in place of those of the same kernels."""
        anew = {(line.kernel, line.threads): line for line in later.lines}
        lines = [anew.pop((line.kernel, line.threads), line) for line in self.lines]
        return Found((*lines, *anew.values()), later.launches or self.launches, later.machine)


def written(found: Found) -> str:
    """The data as text. What follows from the times is there too, for those who read it without this program."""
    rows = [
        {**asdict(line), "against_torch": line.against_torch, "of_limit": line.of_limit, "missed": line.missed}
        for line in found.lines
    ]
    data = {"machine": dict(found.machine), "rows": rows, "launches": [asdict(each) for each in found.launches]}
    return json.dumps(data, indent=1) + "\n"


def read(text: str) -> Found:
    """What was found, from the data."""
    data = json.loads(text)
    launches = [Latency(each["programs"], each["threads"], Figure(**each["tileproof"]), _figure(each["torch"]))
                for each in data["launches"]]  # fmt: skip
    return Found(tuple(map(_line, data["rows"])), tuple(launches), data["machine"])


def _line(given: Mapping[str, Any]) -> Line:
    known = {name: given[name] for name in Line.__dataclass_fields__}
    known |= {name: _figure(given[name]) for name in ("tileproof", "torch", "numpy", "limit")}
    known["goal"], known["how"] = Goal(**given["goal"]), tuple(given["how"])
    known["compile"] = None if given["compile"] is None else Steps(**given["compile"])
    return Line(**known)


def _figure(given: Mapping[str, Any] | None) -> Figure | None:
    return None if given is None else Figure(**given)


def save(folder: Path, found: Found) -> Path:
    """Writes the data."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(written(found), encoding="utf-8")
    return folder / FILE


def kept(folder: Path) -> Found | None:
    """What an earlier run left."""
    file = folder / FILE
    return read(file.read_text(encoding="utf-8")) if file.exists() else None
