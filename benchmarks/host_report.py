"""What the host benchmark found: its tables, the data they are kept in, and a chapter of a machine's page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .host_ways import COUNTED, OURS, TORCH
from .measuring import QUIET
from .tables import columns, markdown

DEVICES: Final = {"cpu": "the CPU", "cuda": "a GPU"}
HEADS: Final = ("what", "tileproof, us", "torch, us", "of torch", "goal")
_CHAIN: Final = 10
"""Operations of the chain of which it is said what awaiting adds."""


@dataclass(frozen=True)
class Figure:
    """Microseconds, of each round."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        ordered = sorted(self.rounds)
        return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2

    @property
    def spread(self) -> tuple[float, float]:
        """Between what rounds lie, a tenth of them at each end left out."""
        ordered = sorted(self.rounds)
        cut = len(ordered) // 10
        return ordered[cut], ordered[-1 - cut]

    @property
    def text(self) -> str:
        low, high = self.spread
        return f"{_digits(self.median)} ({_digits(low)} to {_digits(high)})"

    def minus(self, other: Figure, times: int = 1) -> Figure:
        """The difference, round by round: in a round all take turns."""
        return Figure(tuple(times * (a - b) for a, b in zip(self.rounds, other.rounds, strict=True)))


def _digits(number: float) -> str:
    return f"{number:.2f}" if abs(number) < 10 else f"{number:.1f}" if abs(number) < 100 else f"{number:.0f}"


@dataclass(frozen=True)
class Found:
    """All figures of a run: by what was done, by whom, and in what numbers."""

    device: str
    figures: Mapping[tuple[str, str, int], Figure]
    machine: Mapping[str, str]
    note: str = ""
    load: float = 0.0
    """How many cores other processes kept busy meanwhile."""

    @property
    def is_loaded(self) -> bool:
        """Whether the figures say more about other processes than about us: then no goal is judged by them."""
        return self.load > QUIET

    def of(self, what: str, who: str = OURS, operations: int | None = None) -> Figure | None:
        """A figure in microseconds per operation; if it was taken for several numbers of them, for the largest."""
        numbers = [key[2] for key in self.figures if key[:2] == (what, who)]
        wanted = max(numbers, default=0) if operations is None else operations
        return self.figures.get((what, who, wanted))

    @property
    def counts(self) -> list[int]:
        """The numbers of operations."""
        return sorted({number for what, _, number in self.figures if what in COUNTED})


@dataclass(frozen=True)
class Line:
    """What one part costs, and what it may cost."""

    what: str
    ours: Figure
    torch: Figure | None = None
    most: float | None = None
    """Its goal: so many microseconds at most, or with `of_torch` so much of torch's time."""
    of_torch: bool = False
    is_loaded: bool = False

    @property
    def ratio(self) -> float | None:
        return None if self.torch is None else self.ours.median / self.torch.median

    @property
    def is_met(self) -> bool | None:
        """Whether the goal is; None if there is none, or nothing to judge it by."""
        reached = self.ratio if self.of_torch else self.ours.median
        return None if self.most is None or reached is None or self.is_loaded else reached <= self.most

    @property
    def verdict(self) -> str:
        if self.most is None:
            return ""
        wanted = f"<= {self.most:g} {'x torch' if self.of_torch else 'us'}"
        unsure = "loaded, not judged" if self.is_loaded else "not judged"
        return {None: f"{unsure}: {wanted}", True: f"met: {wanted}", False: f"MISSED: {wanted}"}[self.is_met]

    @property
    def cells(self) -> tuple[str, ...]:
        torch = "-" if self.torch is None else self.torch.text
        return self.what, self.ours.text, torch, "-" if self.ratio is None else f"{self.ratio:.2f}", self.verdict


def lines(found: Found) -> list[Line]:
    """What each part costs."""
    is_gpu = found.device == "cuda"
    made: list[Line] = []

    def enter(what: str, ours: Figure | None, torch: Figure | None = None, most: float | None = None, *,
              of_torch: bool = False) -> None:  # fmt: skip
        if ours is not None:
            made.append(Line(what, ours, torch, most, of_torch, found.is_loaded))

    def both(what: str) -> tuple[Figure | None, Figure | None]:
        return found.of(what), found.of(what, TORCH)

    enter("launch, 1024 elements", *both("launch"), 0.6 if is_gpu else 8, of_torch=is_gpu)
    enter("launch, the stream held", found.of("launch held"), most=8)
    enter("launch, 2^20 elements", *both("launch 2^20"), 0.6, of_torch=True)
    enter("launch on torch's tensors" + ("" if is_gpu else ", done when it returns"), found.of("launch on torch"),
          found.of("launch", TORCH))  # fmt: skip
    enter("launch on numpy arrays, done when it returns", found.of("launch on numpy"))
    leased, bare, beside = found.of("leases"), found.of("no leases"), found.of("two streams")
    if leased is not None and bare is not None:
        enter("leases of a launch, one stream", leased.minus(bare), most=1 if is_gpu else None)
        if beside is not None:
            enter("leases of a launch, two streams", beside.minus(bare), most=1 if is_gpu else None)
    count = _CHAIN if _CHAIN in found.counts else max(found.counts, default=0)
    chained, run, awaited = (found.of(what, OURS, count) for what in ("chained", "run chain", "awaited chain"))
    if chained is not None and run is not None and awaited is not None:
        enter(f"await of a chain of {count} over its run", awaited.minus(run, count), most=30 if is_gpu else None)
        enter(f"run of a chain of {count} over plain launches", run.minus(chained, count))
    enter(f"replay, each of {max(found.counts, default=0)} nodes", *both("replay"), 1.5 if is_gpu else 1)
    enter("replay of one node, the call alone", found.of("replay call"))
    enter("tp.empty", *both("empty"))
    enter("tp.zeros", *both("zeros"))
    enter("tp.copy, 4 KiB", *both("copy"))
    return made


# Tables.


def counted(found: Found) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and rows of the table by numbers of operations."""
    ways = [(what, who) for who in (OURS, TORCH) for what in COUNTED if found.of(what, who) is not None]
    rows = []
    for count in found.counts:
        figures = (found.of(what, who, count) for what, who in ways)
        rows.append((str(count), *("-" if figure is None else figure.text for figure in figures)))
    return ("operations", *(what if who == OURS else f"torch, {what}" for what, who in ways)), rows


def table(found: Found) -> str:
    """Both tables, for a terminal."""
    return "\n".join([
        "us per operation: the median of rounds, and between what they lie",
        columns(*counted(found)), "", columns(HEADS, [line.cells for line in lines(found)]),
    ])  # fmt: skip


def summary(found: Found) -> str:
    """How many goals are met, and which are not."""
    judged = [line for line in lines(found) if line.is_met is not None]
    missed = [f"MISSED: {line.what}: {line.ours.text} us, goal {line.verdict.partition(': ')[2]}" for line in judged
              if not line.is_met]  # fmt: skip
    told = [f"{len(judged) - len(missed)} of {len(judged)} goals met", *missed]
    if found.is_loaded:
        told.append(f"loaded: other processes kept {found.load:.1f} cores busy, so no goal is judged")
    return "\n".join(told)


# Data.


def written(found: Found) -> str:
    """The data as text. What follows from the times is there too, for those who read it without this program."""
    figures = [
        {"what": what, "who": who, "operations": number, "rounds": figure.rounds,
         "median": figure.median}
        for (what, who, number), figure in found.figures.items()
    ]  # fmt: skip
    told = [{"what": line.what, "us": line.ours.median, "of_torch": line.ratio, "verdict": line.verdict}
            for line in lines(found)]  # fmt: skip
    data = {
        "device": found.device, "note": found.note, "load": found.load, "machine": dict(found.machine),
        "unit": "us per operation", "lines": told, "figures": figures,
    }  # fmt: skip
    return json.dumps(data, indent=1) + "\n"


def read(text: str) -> Found:
    """What was found, from the data."""
    data = json.loads(text)
    figures = {
        (each["what"], each["who"], each["operations"]): Figure(tuple(each["rounds"])) for each in data["figures"]
    }
    return Found(data["device"], figures, data["machine"], data["note"], data["load"])


# Files.


def save(folder: Path, found: Found) -> Path:
    """Writes host_cpu.json or host_cuda.json."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"host_{found.device}.json"
    file.write_text(written(found), encoding="utf-8")
    return file


def part(found: Found, tried: str, pictures: Sequence[tuple[str, str]]) -> str:
    """A chapter of the machine's page."""
    return "\n".join([
        f"## What the host costs on {DEVICES[found.device]}", "",
        "Operations are adds of 1024 f32. Figures are microseconds per operation: the median of rounds in which all",
        "take turns, and between what rounds lie, a tenth at each end left out. Differences are taken round by round.",
        "Of torch it is `torch.add(out=)` on tensors of the same size, in the same process.",
        "", *([f"**{found.note}**", ""] if found.note else []),
        *(line for title, file in pictures for line in (f"![{title}]({file})", "")),
        markdown(*counted(found)), "",
        "- *sync each*: the host waits for every operation. *chained*: it waits once, at the end.",
        "- *awaited chain*: `await (a >> b >> ...)`, put together each time. *awaited each*: every operation alone.",
        "- *replay*: a graph of so many launches, replayed, and one wait.", "",
        markdown(HEADS, [line.cells for line in lines(found)]), "",
        "A launch is timed on the host alone: many of them, the clock stopped before the wait. What leases cost is the",
        "difference to the same launch without them. With two streams the other is at work on other memory.", "",
        summary(found).replace("\n", "  \n"), "",
        *(["### What was tried for the host", "", tried, ""] if tried else []),
        "### The machine of the host's figures", "", markdown(("what", "here"), [*found.machine.items()]), "",
    ])  # fmt: skip


__all__ = ["Figure", "Found", "Line", "counted", "lines", "part", "read", "save", "summary", "table", "written"]
