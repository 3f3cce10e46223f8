"""What the CPU benchmark found, as a table, a page, data and a picture."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.target import host
from tileproof.backends.cpu.threads import cores

from .compiling import Steps
from .cpu_row import Goal
from .measuring import QUIET, Contestant

TRIED = "## What was tried"
"""The last section of the page, which people write and which is kept when the page is made anew."""
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
    tileproof: Figure
    torch: Figure | None
    numpy: Figure | None
    limit: Figure | None
    goal: Goal
    compile: Steps
    note: str
    problem: str
    """What is wrong with the result; empty if nothing is."""

    @property
    def against_torch(self) -> float | None:
        return None if self.torch is None else self.torch.best / self.tileproof.best

    @property
    def of_limit(self) -> float | None:
        return None if self.limit is None else self.tileproof.rate / self.limit.rate

    @property
    def goals(self) -> list[tuple[str, float, float, bool]]:
        """What it should reach: what of, how much, what it reaches, and whether its figures can be trusted."""
        if self.goal.only not in (None, self.threads):
            return []
        stated = (
            ("x torch", self.goal.torch, self.against_torch, self.torch),
            ("of the limit", self.goal.limit, self.of_limit, self.limit),
        )
        return [
            (what, wanted, ratio, not (self.tileproof.is_loaded or peer.is_loaded))
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
        split = (steps.front_end, steps.proof, steps.lowering, steps.llvm)
        return (
            self.kernel, self.size, str(self.threads), self.unit, self.tileproof.text,
            *("-" if figure is None else figure.text for figure in (self.torch, self.numpy, self.limit)),
            "-" if self.against_torch is None else f"{self.against_torch:.2f}x",
            "-" if self.of_limit is None else f"{self.of_limit:.2f}",
            f"{'+'.join(f'{step:.0f}' for step in split)} = {steps.cold:.0f} ms", f"{steps.load:.1f} ms", self.remark,
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


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


# The machine.


def machine() -> dict[str, str]:
    """What the figures depend on."""
    caches = host().caches
    return {
        "processor": _processor(),
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


def _processor() -> str:
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


# Files.


def save(folder: Path, lines: Sequence[Line], launches: Sequence[Latency]) -> None:
    """Writes cpu.json, cpu.md and cpu.png. What people wrote below the figures stays."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cpu.json").write_text(json.dumps(_data(lines, launches), indent=1) + "\n", encoding="utf-8")
    draw(folder / "cpu.png", lines)
    page = folder / "cpu.md"
    before = page.read_text(encoding="utf-8") if page.exists() else ""
    tried = before[before.index(TRIED) :] if TRIED in before else f"{TRIED}\n"
    page.write_text(f"{_page(lines, launches)}\n{tried}", encoding="utf-8")


def _data(lines: Sequence[Line], launches: Sequence[Latency]) -> dict[str, Any]:
    return {
        "machine": machine(),
        "rows": [
            {**asdict(line), "against_torch": line.against_torch, "of_limit": line.of_limit, "missed": line.missed}
            for line in lines
        ],
        "launches": [asdict(each) for each in launches],
    }


def _page(lines: Sequence[Line], launches: Sequence[Latency]) -> str:
    outside = [line.tileproof.outside_most for line in lines]
    return "\n".join([
        "# The CPU backend against torch, numpy and the machine", "",
        "Made by `make bench-cpu`. Rates are of the best call, in brackets of the median one; ratios are of the best.",
        "On one thread they are by its processor time, on several by the time on the wall.",
        "The limit is a loop of the same run that only moves the same bytes, or only multiplies and adds in registers.",
        "Compile times are front end + proof + lowering + LLVM with nothing kept; load is from the cache on disk.", "",
        "![ratios](cpu.png)", "",
        _markdown(HEADS, [line.cells for line in lines]), "",
        summary(lines).replace("\n", "  \n"), "",
        "## Launching almost nothing", "",
        _markdown(("launch", "thr", "tileproof", "torch", "note"), [each.cells for each in launches]), "",
        "## The machine", "",
        _markdown(("what", "here"), [*machine().items()]), "",
        f"Other processes used up to {max(outside, default=0.0):.2f} cores during a turn of tileproof. Turns with more"
        f" than {QUIET:.2f} do not count; a figure without a quiet turn is said to be loaded.", "",
        "Where torch has several ways to do the work, the fastest counts; cpu.json names it.", "",
    ])  # fmt: skip


# The picture.


def draw(path: Path, lines: Sequence[Line]) -> None:
    """Bars of the ratios against torch and against the limit, with the goals as marks; nothing without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(line.kernel for line in lines))
    counts = sorted({line.threads for line in lines})
    figure, axes = pyplot.subplots(1, 2, figsize=(13, 0.45 * len(names) + 1.6), sharey=True, layout="constrained")
    for axis, (title, ratio, goal) in zip(
        axes,
        (
            ("speed relative to torch", lambda line: line.against_torch, lambda line: line.goal.torch),
            ("part of the machine's limit", lambda line: line.of_limit, lambda line: line.goal.limit),
        ),
        strict=True,
    ):
        for offset, count in enumerate(counts):
            shown = [line for line in lines if line.threads == count and ratio(line) is not None]
            places = [names.index(line.kernel) + (offset - (len(counts) - 1) / 2) * 0.38 for line in shown]
            bars = axis.barh(
                places, [ratio(line) for line in shown], 0.36, label=f"{count} thread{'s' if count > 1 else ''}"
            )
            axis.bar_label(bars, [f"{ratio(line):.2f}" for line in shown], padding=3, fontsize=7)
        for line in lines:
            if goal(line) is not None:
                place = names.index(line.kernel)
                axis.plot([goal(line)] * 2, [place - 0.42, place + 0.42], color="black", linewidth=1.4)
        axis.axvline(1.0, color="grey", linewidth=0.8, linestyle="--")
        axis.set_title(title)
    axes[0].set_xscale("log")
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    axes[1].set_xlim(0, 1.15)
    axes[1].legend(loc="lower right")
    busy = "; the machine was busy, see the notes in the table" if any(line.loaded for line in lines) else ""
    figure.supxlabel(f"black marks are goals{busy}", fontsize=8)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
