"""What a sweep found: JSON for programs, Markdown for people, and a picture."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tileproof import __version__
from tileproof.backends.cpu.device.pool import threads
from tileproof.compiler.cache import write_whole
from tileproof.tuning.places import processor

from .pictures import GREY, HOW_TO_DRAW, INK, OTHER, OURS, can_draw, drawn, plain
from .sweeps import Row
from .terminal import format_bytes, format_count

if TYPE_CHECKING:
    from tileproof.llm import LLM

HEADS = ("what", "tokens/s", "median", "GB/s", "share of read", "GFLOP/s", "runs")


@dataclass(frozen=True, slots=True)
class Report:
    """A model on a machine, and its rows."""

    model: str
    parameters: int
    kind: str
    device: str
    machine: str
    threads: int
    streamed: int
    memory: dict[str, int]
    version: str
    day: str
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, llm: LLM, rows: Sequence[Row]) -> Report:
        """What is known of an engine, with its rows."""
        kind = llm.weights.layers[0].qkv.kind
        return cls(
            llm.config.name, llm.config.parameters, kind, llm.device, processor_of(llm.device), threads(),
            llm.weights.streamed, dict(llm.memory), __version__, time.strftime("%Y-%m-%d"), tuple(rows),
        )  # fmt: skip

    @property
    def is_loaded(self) -> bool:
        return any(row.is_loaded for row in self.rows)

    @property
    def title(self) -> str:
        return f"{self.model}, {self.kind}, on {self.machine}"

    def as_json(self) -> str:
        document: dict[str, Any] = {
            "format": 1,
            **{name: getattr(self, name) for name in self.__slots__ if name != "rows"},
            "rows": [row.as_json() for row in self.rows],
        }
        return json.dumps(document, indent=2, ensure_ascii=False)

    def as_markdown(self) -> str:
        """A table, and the lines that belong to it."""
        used = f", {self.threads} thread{'s' * (self.threads != 1)}" if self.device == "cpu" else ""
        lines = [
            f"## {self.title}",
            "",
            f"{format_count(self.parameters)} parameters, {format_bytes(self.streamed)} of weights for a token{used}; "
            f"tileproof {self.version}, {self.day}.",
            "",
            f"| {' | '.join(HEADS)} |",
            f"|---|{'---:|' * (len(HEADS) - 1)}",
        ]
        lines += [f"| {' | '.join(cells(row))} |" for row in self.rows]
        if self.is_loaded:
            lines += ["", "Loaded: other processes used the machine in every run of the row, so it is too slow."]
        return "\n".join(lines)


def cells(row: Row) -> tuple[str, ...]:
    """A row of the table."""
    is_decode = row.task.kind == "tg"
    runs = str(len(row.rates)) + (f", loaded: {row.outside:.1f} cores" if row.is_loaded else "")
    runs += f", {row.rejected} rejected" if row.rejected else ""
    return (
        str(row.task), f"{row.best:.1f}", f"{row.median:.1f}", f"{row.bytes_per_second / 1e9:.1f}" if is_decode else "",
        f"{100 * row.share:.0f} % of {row.read_rate / 1e9:.1f}" if is_decode else "",
        f"{row.operations_per_second / 1e9:.0f}", runs,
    )  # fmt: skip


def file_names(report: Report) -> str:
    """What the files of a report are called, before the dot."""
    return re.sub(r"[^a-z0-9.]+", "-", f"{report.model}-{report.kind}-{report.device}".lower()).strip("-")


def write(report: Report, folder: Path, stem: str) -> list[str]:
    """Writes the files, those of the same name replaced; gives lines on what was written."""
    lines = []
    for ending, text in (("json", report.as_json()), ("md", report.as_markdown())):
        path = folder / f"{stem}.{ending}"
        write_whole(path, f"{text}\n".encode())
        lines.append(f"{path} is written")
    return [*lines, draw(report, folder / f"{stem}.png")]


def draw(report: Report, path: Path) -> str:
    """Bars of tokens in a second, decode next to prefill; returns the line that says where, or why not."""
    if not can_draw():
        return HOW_TO_DRAW
    sides = [
        (title, colour, [row for row in report.rows if row.task.kind == kind])
        for kind, title, colour in (("tg", "Decode", OURS), ("pp", "Prefill", OTHER))
    ]
    sides = [side for side in sides if side[2]]
    height = 0.5 * max(len(rows) for _, _, rows in sides) + 1.7
    with drawn(path, 5.5 * len(sides), height, ncols=len(sides), squeeze=False) as (figure, axes):
        for axis, (title, colour, rows) in zip(axes[0], sides, strict=True):
            bars = axis.barh(range(len(rows)), [row.best for row in rows], 0.6, color=colour)
            axis.bar_label(bars, [_label(row) for row in rows], padding=4, fontsize=8, color=INK)
            for place, row in enumerate(rows):
                axis.plot([row.median] * 2, [place - 0.3, place + 0.3], color="white", linewidth=1.2)
            axis.set_yticks(range(len(rows)), [str(row.task) for row in rows], fontsize=9)
            axis.margins(x=0.45)
            axis.set_ylim(max(len(line) for _, _, line in sides) - 0.5, -0.5)
            axis.set_xlabel("tokens/s: the best run; white marks the median", fontsize=8, color=GREY)
            axis.set_title(title, loc="left", fontweight="bold", fontsize=11)
            plain(axis, "x")
        figure.suptitle(report.title, x=0.01, ha="left", fontsize=9, color=GREY)
        figure.tight_layout()
    return f"{path} is written"


def _label(row: Row) -> str:
    is_decode = row.task.kind == "tg"
    reached = f"{100 * row.share:.0f} % of read" if is_decode else f"{row.operations_per_second / 1e9:.0f} GFLOP/s"
    return f"{row.best:.1f}, {reached}" + (", loaded" if row.is_loaded else "")


def processor_of(device: str) -> str:
    """The name of the processor or the GPU that the model ran on."""
    if device.startswith("cuda"):
        from tileproof.backends.cuda.device.driver import Device

        return Device(int(device.partition(":")[2] or 0)).name
    return processor()
