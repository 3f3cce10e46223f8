"""The picture of the host benchmark: microseconds per operation, for each number of operations a group of bars."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

from .host_report import DEVICES, Found
from .host_ways import COUNTED, OURS, TORCH

_OURS: Final = ("#0b3c66", "#1f6fb4", "#5b9bd5", "#9cc3e6", "#2e8b57")
_THEIRS: Final = ("#8c4a08", "#d9822b", "#f2b880", "#f7d7b5", "#b5651d")
"""A colour for each way, ours and torch's."""
_WIDTH: Final = 0.84
"""Of a group, where the next begins at 1."""


def draw(path: Path, found: Found) -> None:
    """Draws the ways that were timed for several numbers of operations."""
    colours = {(what, who): shade for who, shades in ((OURS, _OURS), (TORCH, _THEIRS))
               for what, shade in zip(COUNTED, shades, strict=True)}  # fmt: skip
    ways = [way for way in colours if found.of(*way) is not None]
    figure, axis = pyplot.subplots(figsize=(3 + 2.4 * len(found.counts), 5), layout="constrained")
    width = _WIDTH / max(len(ways), 1)
    for place, (what, who) in enumerate(ways):
        present = [(group, found.of(what, who, count)) for group, count in enumerate(found.counts)]
        bars = [(group - _WIDTH / 2 + width * (place + 0.5), each) for group, each in present if each is not None]
        middles = [max(each.median, 1e-3) for _, each in bars]
        pairs = list(zip(middles, (each.spread for _, each in bars), strict=True))
        below = [max(middle - low, 0) for middle, (low, _) in pairs]
        above = [max(high - middle, 0) for middle, (_, high) in pairs]
        drawn = axis.bar(
            [x for x, _ in bars], middles, width * 0.92, yerr=[below, above], color=colours[what, who],
            label=f"{who}, {what}", error_kw={"linewidth": 0.8, "ecolor": "#444444"},
        )  # fmt: skip
        axis.bar_label(drawn, [f"{middle:.2g}" for middle in middles], fontsize=6, padding=2)
    axis.set_yscale("log")
    axis.set_xticks(range(len(found.counts)), [f"{count} operation{'s' * (count > 1)}" for count in found.counts])
    axis.set_ylabel("us per operation (log scale)")
    axis.set_title(f"Adds of 1024 elements on {DEVICES[found.device]}")
    axis.grid(axis="y", which="major", color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
