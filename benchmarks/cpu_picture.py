"""The picture of the CPU book: bars against torch and against the machine's limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from .cpu_report import Line
from .pictures import INK, OURS, PALETTE, THEIRS, drawn, plain

PICTURES: Final = (("Against torch and the limit", "cpu.png"),)


def draw(folder: Path, lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Draws what there are figures for; gives titles and file names."""
    timed = [line for line in lines if line.tileproof is not None]
    if not timed:
        return []
    bars(folder / PICTURES[0][1], timed)
    return list(PICTURES)


def bars(path: Path, lines: Sequence[Line]) -> None:
    """Ratios against torch and against the limit, with the goals as marks."""
    names = list(dict.fromkeys(line.kernel for line in lines))
    counts = sorted({line.threads for line in lines})
    height = 0.4 * len(names) + 1.6
    with drawn(path, 13, height, columns=2, sharey=True) as (figure, axes):
        sides: tuple[tuple[str, Callable[[Line], float | None], Callable[[Line], float | None]], ...] = (
            ("How many times as fast as torch", lambda line: line.against_torch, lambda line: line.goal.torch),
            ("Part of the machine's limit", lambda line: line.of_limit, lambda line: line.goal.limit),
        )
        for axis, (title, ratio, goal) in zip(axes, sides, strict=True):
            for offset, count in enumerate(counts):
                shown = [(line, reached) for line in lines if line.threads == count and (reached := ratio(line))]
                places = [names.index(line.kernel) + (offset - (len(counts) - 1) / 2) * 0.38 for line, _ in shown]
                colour = (OURS, THEIRS, *PALETTE)[offset]
                made = axis.barh(places, [reached for _, reached in shown], 0.34, color=colour,
                                 label=f"{count} thread{'s' if count > 1 else ''}")  # fmt: skip
                axis.bar_label(made, [f"{reached:.2f}" for _, reached in shown], padding=3, fontsize=7)
            for line in lines:
                if goal(line) is not None:
                    place = names.index(line.kernel)
                    axis.plot([goal(line)] * 2, [place - 0.42, place + 0.42], color=INK, linewidth=1.6)
            axis.axvline(1.0, color=INK, linewidth=0.8, linestyle="--")
            axis.set_title(title, loc="left", fontweight="bold")
            plain(axis, "x")
            axis.tick_params(axis="y", length=0)
        axes[0].set_xscale("log")
        axes[0].set_xticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
        axes[0].minorticks_off()
        axes[0].set_yticks(range(len(names)), names, fontsize=9)
        axes[0].set_ylim(len(names) - 0.5, -0.5)
        axes[1].set_xlim(0, 1.2)
        busy = "; the machine was busy, see the notes in the table" if any(line.loaded for line in lines) else ""
        figure.supxlabel(f"black marks are goals{busy}", fontsize=8)
        handles, labels = axes[1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower right", ncols=2, frameon=False, fontsize=9)
        figure.tight_layout()
