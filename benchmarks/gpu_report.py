"""What the GPU benchmark found, as a table, a page, data and a picture; all of them can be made again from the data.

    python -m benchmarks.gpu_report benchmarks/results       the page and the picture from gpu.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from .gpu_rows import BANDWIDTH, LAUNCHES, PRODUCTS, Goal

TRIED: Final = "## What was tried"
"""The last section of the page, which people write and which is kept when the page is made anew."""
PEERS: Final = ("torch", "Triton", "cuTile")
"""The columns of others. What torch calls is named in the cell: cuBLAS, cuDNN, or torch itself."""
HEADS: Final = (
    "kernel", "shape", "tileproof", *PEERS, "rate", "of datasheet", "against the best peer", "spread", "unsafe twin",
    "goal",
)  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """The times of one contestant: of each round, in seconds for one launch."""

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
        return _time(self.median)


@dataclass(frozen=True)
class Twin:
    """The same kernel without its checks, timed in turns with it."""

    figure: Figure
    is_same: bool
    """Whether there was no check to leave out, and the code is the same."""


@dataclass(frozen=True)
class Line:
    """A line of the table."""

    kernel: str
    shape: str
    choice: str
    """The candidate: tile sizes and schedule."""
    operations: float
    bytes: float
    limit: float | None
    """Seconds that the datasheet allows at best."""
    tileproof: Figure | None
    peers: Mapping[str, tuple[Figure, ...]]
    """By column: all that were timed."""
    absent: Mapping[str, str]
    """By column: why nothing was."""
    goal: Goal | None = None
    twin: Twin | None = None
    problem: str = ""
    """What is wrong with the result; then it is not timed."""
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> Figure | None:
        """The fastest peer."""
        return min((each for way in self.peers.values() for each in way), key=lambda each: each.median, default=None)

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the fastest peer."""
        return None if self.tileproof is None or self.best is None else self.best.median / self.tileproof.median

    @property
    def of_limit(self) -> float | None:
        return None if self.tileproof is None or self.limit is None else self.limit / self.tileproof.median

    @property
    def reached(self) -> float | None:
        """What the goal is about: so many times as fast as its peer; of launches, the part of the peer's time."""
        if self.goal is None or self.tileproof is None:
            return None
        named = [each.median for way in self.peers.values() for each in way if each.name.split()[0] == self.goal.peer]
        if not named:
            return None
        return self.tileproof.median / min(named) if self.kernel == LAUNCHES else min(named) / self.tileproof.median

    @property
    def is_met(self) -> bool | None:
        """Whether the goal is; None if there is none, or nothing to judge it by."""
        if self.goal is None or self.reached is None:
            return None
        return self.reached <= self.goal.ratio if self.kernel == LAUNCHES else self.reached >= self.goal.ratio

    @property
    def verdict(self) -> str:
        if self.problem:
            return self.problem
        if self.goal is None:
            return "reported"
        sign = "<=" if self.kernel == LAUNCHES else ">="
        wanted = f"{sign} {self.goal.ratio:g} x {self.goal.peer}"
        if self.is_met is None:
            return f"not judged: {wanted}"
        # Close to the goal two digits would not tell which side it is on.
        digits = 4 if self.reached is not None and abs(self.reached - self.goal.ratio) < 0.005 else 2
        return f"{'met' if self.is_met else 'MISSED'}: {self.reached:.{digits}f} for {wanted}"

    @property
    def rate(self) -> str:
        """Bytes or operations per second, whichever limits the kernel."""
        if self.tileproof is None or self.limit is None:
            return "-"
        if self.bytes / BANDWIDTH > self.operations / PRODUCTS:
            return f"{self.bytes / self.tileproof.median / 1e12:.2f} TB/s"
        return f"{self.operations / self.tileproof.median / 1e12:.0f} TFLOP/s"

    @property
    def cells(self) -> tuple[str, ...]:
        ours = self.tileproof
        return (
            self.kernel, self.shape, "-" if ours is None else ours.text, *(self._peer(column) for column in PEERS),
            self.rate, "-" if self.of_limit is None else f"{self.of_limit:.0%}",
            "-" if self.ratio is None or self.best is None else f"{self.ratio:.2f} x {self.best.name}",
            "-" if ours is None else f"{ours.spread:.1%}", self._twin, self.verdict,
        )  # fmt: skip

    def _peer(self, column: str) -> str:
        ways = self.peers.get(column, ())
        shown = [each.text if each.name == column else f"{each.text} ({each.name})" for each in ways]
        return ", ".join(shown) or self.absent.get(column, "-")

    @property
    def _twin(self) -> str:
        if self.twin is None or self.tileproof is None:
            return "-"
        ratio = self.tileproof.median / self.twin.figure.median
        return f"{ratio:.3f}{', same code' if self.twin.is_same else ''}"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.2f} us"


# Tables.


def table(lines: Sequence[Line]) -> str:
    """The table, for a terminal."""
    return columns(HEADS, [line.cells for line in lines])


def summary(lines: Sequence[Line]) -> str:
    """How many goals are met, and which are not."""
    judged = [line for line in lines if line.is_met is not None]
    met = sum(line.is_met is True for line in judged)
    missed = [f"MISSED: {line.kernel}: {line.verdict.removeprefix('MISSED: ')}" for line in judged if not line.is_met]
    wrong = [f"{line.kernel}: {line.problem}" for line in lines if line.problem]
    notes = [f"note: {line.kernel}: {note}" for line in lines for note in line.notes]
    return "\n".join([f"{met} of {len(judged)} goals met", *wrong, *missed, *notes])


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells under heads, for a terminal."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    texts = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (heads, *rows)]
    return "\n".join(text.rstrip() for text in texts)


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same for a page."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


# Data.


def written(lines: Sequence[Line], machine: Mapping[str, str]) -> str:
    """The data as text. What follows from the times is there too, for those who read it without this program."""
    rows = [
        {**asdict(line), "ratio": line.ratio, "of_limit": line.of_limit, "verdict": line.verdict} for line in lines
    ]
    return json.dumps({"machine": dict(machine), "rows": rows}, indent=1) + "\n"


def read(text: str) -> tuple[list[Line], dict[str, str]]:
    """Lines and machine from the data."""
    data = json.loads(text)
    return [_line(each) for each in data["rows"]], data["machine"]


def _line(given: Mapping[str, Any]) -> Line:
    known = {name: given[name] for name in Line.__dataclass_fields__}
    known["tileproof"] = _figure(given["tileproof"])
    known["peers"] = {column: tuple(map(_figure, ways)) for column, ways in given["peers"].items()}
    known["goal"] = None if given["goal"] is None else Goal(**given["goal"])
    twin = given["twin"]
    known["twin"] = None if twin is None else Twin(_figure(twin["figure"]), twin["is_same"])  # type: ignore[arg-type]
    known["notes"] = tuple(given["notes"])
    return Line(**known)


def _figure(given: Mapping[str, Any] | None) -> Figure | None:
    return None if given is None else Figure(given["name"], tuple(given["rounds"]))


# Files.


def save(folder: Path, lines: Sequence[Line], machine: Mapping[str, str]) -> list[Path]:
    """Writes gpu.json, gpu.md and, where it can be drawn, gpu_roofline.png. What people wrote on the page stays."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [folder / "gpu.json", folder / "gpu.md"]
    made[0].write_text(written(lines, machine), encoding="utf-8")
    picture = folder / "gpu_roofline.png"
    if _can_draw():
        from .gpu_picture import draw

        draw(picture, lines)
        made.append(picture)
    before = made[1].read_text(encoding="utf-8") if made[1].exists() else ""
    tried = before[before.index(TRIED) :] if TRIED in before else f"{TRIED}\n"
    made[1].write_text(f"{page(lines, machine)}\n{tried}", encoding="utf-8")
    return made


def _can_draw() -> bool:
    try:
        import matplotlib  # noqa: F401 - only whether it is there
    except ImportError:
        return False
    return True


BETWEEN: Final = {
    "add": "ours and torch's lie within the spread of each other; runs gave 0.9993 to 1.001. Tiles of 1024, 2048 and "
    "4096, several occupancies and a persistent grid were tried.",
    "matmul 2048": "the goal was set when cuBLAS was seen to take 41 us. Replayed from a graph it takes 25 us here, as "
    "do ours and cuTile's; 32 candidates were timed, and none is faster.",
    "matmul 4096 and larger": "the GPU lowers its clocks under such load, so the same code differs by up to 10% from "
    "run to run. All take turns, which is why ratios are steadier than times.",
    "attention 8192, full_attention": "cuTile's kernel lets `exp2` give 0 where the result would be subnormal. Ours "
    "does not, because the language says otherwise: flushing was tried, and gains 2%. Programs in reverse order, "
    "clusters, 8 warps and persistent grids were tried and are not faster.",
    "matvec": "all are ahead of cuBLAS. Triton's are ahead of ours by up to 15% on the smallest, where a launch ends "
    "before its loads are well under way; cuTile, which goes the same way to machine code, is where we are.",
    "softmax, rms_norm": "Triton's are 4 to 8% ahead; the assembler loads rows through shared memory.",
    "gather": "its launches wait for their checks and take the full way through Python, about 0.9 ms, which is most of "
    "what is timed here. The kernels alone, by torch's profiler: 265.6 us with checks, 264.6 us without.",
    "launch": "the driver's own `cuLaunchKernel`, called with nothing around it, takes 3.9 us on this machine, where "
    "torch's whole launch takes 6 us: 0.65 of it. Our native part adds 0.15 us, and Python's call of a kernel with a "
    "constant by name about 1.5 us. A callable without Python in it would save most of that, not the rest.",
}
"""What was tried where a goal or a peer was missed, and what is believed to be in the way. By hand, of the H200."""


def page(lines: Sequence[Line], machine: Mapping[str, str]) -> str:
    """The page of results, without what people write below it."""
    tiles = [(line.kernel, line.shape, line.choice) for line in lines]
    return "\n".join([
        "# The GPU backend against torch, Triton, cuTile and the datasheet", "",
        "Made by `python -m benchmarks.gpu --save benchmarks/results`. Times are of one launch, by CUDA events around",
        "replays of a graph of many: the median of several rounds in which all take turns. Kernels that memory limits",
        "go through buffers of ten times the cache in turn. The spread is how far our rounds lie apart. Every result",
        "was compared with one of float64 on fresh random numbers before it was timed.",
        "",
        f"The datasheet of an H200 says {BANDWIDTH / 1e12:g} TB/s and {PRODUCTS / 1e12:g} TFLOP/s of bf16. A ratio",
        "above 1 is in our favour. The unsafe twin is the same kernel without its checks, and its figure our time over",
        "its; where everything was proved, there is nothing to leave out and the code is the same.",
        "", "![roofline](gpu_roofline.png)", "", markdown(HEADS, [line.cells for line in lines]), "",
        summary(lines).replace("\n", "  \n"), "",
        "The launch is what the host needs to start an add of 2^20 elements, the clock stopped before the wait.", "",
        "## What stands between", "", *(f"- **{name}**: {words}" for name, words in BETWEEN.items()), "",
        "## Tiles and schedules", "", markdown(("kernel", "shape", "candidate"), tiles), "",
        "## The machine", "", markdown(("what", "here"), [*machine.items()]), "",
    ])  # fmt: skip


def main() -> int:
    """Makes page and picture anew from the data in a folder."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "benchmarks/results")
    lines, machine = read((folder / "gpu.json").read_text(encoding="utf-8"))
    print(table(lines))
    print(f"\n{summary(lines)}\nwritten: {', '.join(map(str, save(folder, lines, machine)))}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
