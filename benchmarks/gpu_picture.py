"""The picture of the GPU benchmark: where kernels stand under the roof, and how much of their limit each reaches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from .gpu_report import Line
from .gpu_rows import BANDWIDTH, PRODUCTS

_OURS, _THEIRS = "#1f6fb4", "#d9822b"
_DOTS: Final = {
    "add": "o", "softmax": "s", "rms_norm": "D", "matvec": "v", "matmul": "P", "matmul_nt": "X", "attention": "^",
    "full_attention": "h",
}  # fmt: skip


def draw(path: Path, lines: Sequence[Line]) -> None:
    """Two panels: the roofline, and bars of what the datasheet allows."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [line for line in lines if line.of_limit is not None]
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(14, max(6.0, 0.33 * len(shown) + 1.5)), width_ratios=(1.15, 1), layout="constrained"
    )
    _roof(left, [line for line in shown if line.operations])
    _bars(right, shown)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _kind(line: Line) -> str:
    return line.kernel.split()[0]


def _roof(axis: Any, lines: Sequence[Line]) -> None:
    """Operations per second over operations per byte, with the datasheet as the roof."""
    ridge = PRODUCTS / BANDWIDTH
    low, high = 0.05, max([line.operations / line.bytes for line in lines] + [ridge]) * 4
    roof = [min(BANDWIDTH * place, PRODUCTS) / 1e12 for place in (low, ridge, high)]
    axis.plot([low, ridge, high], roof, color="black", linewidth=1.2)
    axis.text(8, BANDWIDTH * 8 * 1.25 / 1e12, f"{BANDWIDTH / 1e12:g} TB/s", ha="right", fontsize=9)
    axis.text(high / 1.2, PRODUCTS * 1.12 / 1e12, f"{PRODUCTS / 1e12:g} TFLOP/s, bf16", ha="right", fontsize=9)
    for kind, dot in _DOTS.items():
        of = [line for line in lines if _kind(line) == kind]
        places = [line.operations / line.bytes for line in of]
        theirs = [line for line in of if line.best is not None]
        axis.scatter(
            [line.operations / line.bytes for line in theirs],
            [line.operations / line.best.median / 1e12 for line in theirs if line.best is not None],
            marker=dot, s=70, facecolors="none", edgecolors=_THEIRS, linewidths=1.2, zorder=2,
        )  # fmt: skip
        rates = [line.operations / line.tileproof.median / 1e12 for line in of if line.tileproof is not None]
        axis.scatter(places, rates, marker=dot, s=42, color=_OURS, zorder=3, label=kind if of else None)
    axis.scatter([], [], marker="o", facecolors="none", edgecolors=_THEIRS, label="best peer (hollow)")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlim(low, high)
    axis.set_ylim(BANDWIDTH * low / 1e12 / 2, PRODUCTS * 2.5 / 1e12)
    axis.set_xlabel("operations per byte that must move")
    axis.set_ylabel("TFLOP/s")
    axis.set_title("Roofline of an H200")
    axis.grid(which="major", color="#dddddd", linewidth=0.6)
    axis.legend(loc="lower right", fontsize=9)


def _bars(axis: Any, lines: Sequence[Line]) -> None:
    """For each line the part of its limit that we and the best peer reach."""
    places = range(len(lines))
    ours = [line.of_limit or 0.0 for line in lines]
    bars = axis.barh([place - 0.19 for place in places], ours, 0.36, color=_OURS, label="tileproof")
    axis.bar_label(bars, [f"{share:.0%}" for share in ours], padding=3, fontsize=7)
    theirs = [0.0 if line.best is None or line.limit is None else line.limit / line.best.median for line in lines]
    bars = axis.barh([place + 0.19 for place in places], theirs, 0.36, color=_THEIRS, label="best peer")
    names = ["" if line.best is None else line.best.name for line in lines]
    axis.bar_label(
        bars, [f"{share:.0%} {name}" if share else "" for share, name in zip(theirs, names, strict=True)],
        padding=3, fontsize=7,
    )  # fmt: skip
    axis.set_yticks(places, [line.kernel for line in lines], fontsize=9)
    axis.invert_yaxis()
    axis.set_xlim(0, 1.3)
    axis.axvline(1.0, color="grey", linewidth=0.8, linestyle="--")
    axis.set_title("Part of the datasheet's limit")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.04), ncols=2, fontsize=9)
