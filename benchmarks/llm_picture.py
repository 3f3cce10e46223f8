"""The picture of the engine's benchmark: tokens per second of both engines, and where the read limit is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .llm_report import Line, Side
from .pictures import INK, OURS, THEIRS, drawn, plain


def draw(path: Path, lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Draws bars of decoding and of prefill; gives the title and the file's name."""
    names = [f"{line.model}\n{line.ours} / {line.theirs}" for line in lines]
    with drawn(path, 12, 0.75 * len(lines) + 1.5, columns=2, sharey=True) as (figure, axes):
        for axis, what, title in ((axes[0], "decode", "Decoding, tokens per second"),
                                  (axes[1], "prefill", "512 tokens of a prompt, tokens per second")):  # fmt: skip
            for offset, name, colour in ((-0.19, "tileproof", OURS), (0.19, "peer", THEIRS)):
                rates = [_rate(getattr(line, name), what) for line in lines]
                places = [number + offset for number in range(len(lines))]
                made = axis.barh(places, rates, 0.35, color=colour, label={"peer": "llama.cpp"}.get(name, name))
                axis.bar_label(made, [f"{rate:.0f}" for rate in rates], padding=3, fontsize=8)
            if what == "decode":
                for number, line in enumerate(lines):
                    limit = line.read.best / line.tileproof.streamed
                    axis.plot([limit] * 2, [number - 0.42, number + 0.42], color=INK, linewidth=1.6,
                              label="read limit" if number == 0 else None)  # fmt: skip
            axis.set_title(title, loc="left", fontweight="bold")
            plain(axis, "x")
            axis.tick_params(axis="y", length=0)
            axis.margins(x=0.12)
        axes[0].set_yticks(range(len(names)), names, fontsize=9)
        axes[0].set_ylim(len(names) - 0.5, -0.5)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False, fontsize=9)
        figure.tight_layout(rect=(0, 0.08, 1, 1))
    return [("Tokens per second", path.name)]


def _rate(side: Side, what: str) -> float:
    return side.decode.best if what == "decode" else side.prefill.best
