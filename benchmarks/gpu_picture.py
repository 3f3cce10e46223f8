"""The pictures of the GPU book: the roofline, bars against peers, and TFLOP/s over the shapes of the matmul table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .gpu_report import Line, geometric_mean
from .gpu_row import BANDWIDTH, PRODUCTS, Goal
from .gpu_rows_products import MODELS, ROWS_AT
from .pictures import GREY, INK, OURS, PALETTE, THEIRS, drawn, plain

PICTURES: Final = (
    ("Roofline", "roofline.png"), ("Against peers", "peers.png"), ("TFLOP/s over shape", "matmul.png"),
)  # fmt: skip
_GROUPS: Final = {
    "matmul": "o", "linear": "o", "experts": "X", "attention": "^", "decode": "v", "rows": "s", "elementwise": "D",
    "reductions": "P", "quantised": "<", "matvec": ">", "tables": "h",
}  # fmt: skip
_ORDER: Final = (
    "matmul", "experts", "attention", "decode", "rows", "elementwise", "reductions", "tables", "sampling", "quantised",
    "matvec", "chain",
)  # fmt: skip


def draw(folder: Path, lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Draws what there are figures for; gives titles and file names."""
    timed = [line for line in lines if line.tileproof is not None]
    made = []
    for (title, file), picture, wanted in zip(
        PICTURES, (roofline, peers, shapes),
        ([line for line in timed if line.operations and line.limit is not None and line.group in _GROUPS],
         [line for line in timed if line.group in _ORDER and line.everybody],
         [line for line in timed if line.group == "linear"]),
        strict=True,
    ):  # fmt: skip
        if wanted:
            picture(folder / file, wanted)
            made.append((title, file))
    return made


def roofline(path: Path, lines: Sequence[Line]) -> None:
    """Operations per second over operations per byte, with the datasheet as the roof."""
    with drawn(path, 11, 6.6) as (figure, axis):
        ridge = PRODUCTS / BANDWIDTH
        low = min(line.operations / line.bytes for line in lines) / 2
        high = max([line.operations / line.bytes for line in lines] + [ridge]) * 3
        axis.plot([low, ridge, high], [BANDWIDTH * low / 1e12, PRODUCTS / 1e12, PRODUCTS / 1e12], color=INK,
                  linewidth=1.6, zorder=1)  # fmt: skip
        axis.fill_between([low, ridge, high], [BANDWIDTH * low / 1e12, PRODUCTS / 1e12, PRODUCTS / 1e12], 1e6,
                          color="#f4f4f6", zorder=0)  # fmt: skip
        for number, (group, dot) in enumerate(_GROUPS.items()):
            of = [line for line in lines if line.group == group]
            if not of:
                continue
            colour = PALETTE[number % len(PALETTE)]
            places = [line.operations / line.bytes for line in of]
            theirs = [(line.operations / line.bytes, line.operations / line.best.median / 1e12) for line in of
                      if line.best is not None]  # fmt: skip
            small = group == "linear"
            if theirs:
                axis.scatter(*zip(*theirs, strict=True), marker=dot, s=22 if small else 80, facecolors="none",
                             edgecolors=GREY, linewidths=0.9, zorder=2)  # fmt: skip
            rates = [line.operations / line.tileproof.median / 1e12 for line in of if line.tileproof is not None]
            axis.scatter(places, rates, marker=dot, s=13 if small else 46, color=colour, zorder=3, label=group,
                         edgecolors="white", linewidths=0.4)  # fmt: skip
        axis.scatter([], [], marker="o", s=60, facecolors="none", edgecolors=GREY, label="best peer")
        axis.set(xscale="log", yscale="log", xlim=(low, high),
                 ylim=(BANDWIDTH * low / 1e12 / 8, PRODUCTS * 2.2 / 1e12))  # fmt: skip
        middle = math.sqrt(low * ridge)
        axis.annotate(f"{BANDWIDTH / 1e12:g} TB/s", (middle, BANDWIDTH * middle / 1e12), (-6, 6),
                      textcoords="offset points", ha="right", color=INK)  # fmt: skip
        axis.annotate(f"{PRODUCTS / 1e12:g} TFLOP/s, bf16", (high, PRODUCTS / 1e12), (-8, 6),
                      textcoords="offset points", ha="right", color=INK)  # fmt: skip
        axis.set_xlabel("operations for each byte that must move")
        axis.set_ylabel("TFLOP/s")
        axis.set_title("Library functions under the roof of an H200", loc="left", fontweight="bold")
        plain(axis)
        axis.legend(loc="lower right", ncols=2, frameon=False, fontsize=9)
        figure.tight_layout()


def peers(path: Path, lines: Sequence[Line]) -> None:
    """For each row, how many times as fast as each of its peers it is; above 1 is in our favour."""
    ordered = sorted(lines, key=lambda line: _ORDER.index(line.group))
    columns = 2 if len(ordered) > 20 else 1
    tall = -(-len(ordered) // columns)
    names = list(dict.fromkeys(_peer(each.name) for line in ordered for each in line.everybody))
    colours = {name: PALETTE[place % len(PALETTE)] for place, name in enumerate(names)}
    with drawn(path, 6.6 * columns, 0.34 * tall + 1.5, columns=columns) as (figure, axes):
        for number in range(columns):
            axis = axes[number] if columns > 1 else axes
            part = ordered[number * tall : (number + 1) * tall]
            for place, line in enumerate(part):
                assert line.tileproof is not None
                if place % 2:
                    axis.axhspan(place - 0.5, place + 0.5, color="#f6f6f8", zorder=0)
                best: dict[str, float] = {}
                for each in line.everybody:
                    ratio, name = each.median / line.tileproof.median, _peer(each.name)
                    best[name] = min(best.get(name, math.inf), ratio)
                lowest = min(best.values())
                axis.plot([1.0, _within(lowest)], [place, place], zorder=2, linewidth=5, solid_capstyle="butt",
                          color=OURS if lowest >= 1 else THEIRS, alpha=0.35)  # fmt: skip
                for name, ratio in best.items():
                    axis.scatter([_within(ratio)], [place], s=44, color=colours[name], zorder=3,
                                 marker=">" if ratio > _MOST else "o", edgecolors="white", linewidths=0.5)  # fmt: skip
                axis.annotate(f"{lowest:.2f}", (1.0, place), xycoords=("axes fraction", "data"), xytext=(6, 0),
                              textcoords="offset points", va="center", fontsize=8.5, annotation_clip=False,
                              color=INK if lowest >= 0.995 else "#b03030")  # fmt: skip
            axis.axvline(1.0, color=INK, linewidth=1.0, zorder=1)
            axis.set(xscale="log", xlim=(_LEAST, _MOST * 1.06), ylim=(len(part) - 0.5, -0.5))
            axis.set_xticks([0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0], ["0.5", "0.7", "1", "1.5", "2", "3", "4"])
            axis.minorticks_off()
            axis.set_yticks(range(len(part)), [line.name for line in part], fontsize=9)
            plain(axis, "x")
            axis.tick_params(axis="y", length=0)
        first = axes[0] if columns > 1 else axes
        first.set_title("How many times as fast as each peer; the figure is of the best one", loc="left",
                        fontweight="bold")  # fmt: skip
        handles = [first.scatter([], [], s=44, color=colours[name], label=name) for name in names]
        figure.legend(handles=handles, loc="lower center", ncols=min(len(names), 8), frameon=False, fontsize=9)
        figure.tight_layout(rect=(0, 0.6 / (0.34 * tall + 1.5), 1, 1))


_LEAST: Final = 0.4
_MOST: Final = 4.0


def _within(ratio: float) -> float:
    """Inside the picture: what is far away is at its edge."""
    return min(max(ratio, _LEAST), _MOST)


def _peer(name: str) -> str:
    """A peer without the way it did it."""
    return name.split()[0]


def shapes(path: Path, lines: Sequence[Line]) -> None:
    """TFLOP/s of the linear layers over the number of rows, ours and cuBLAS's."""
    by_name = {line.name: line for line in lines}
    with drawn(path, 13.5, 6.4, rows=2, columns=4, sharex=True) as (figure, axes):
        for row, (model, matrices) in enumerate(MODELS.items()):
            for column, (what, (n, k)) in enumerate(matrices.items()):
                axis = axes[row][column]
                of = [(m, by_name[name]) for m in ROWS_AT if (name := f"linear {model} {what} {m}") in by_name]
                peer = Goal(0.0, "cuBLAS")
                ours = [(m, line.operations / line.tileproof.median / 1e12) for m, line in of if line.tileproof]
                theirs = [(m, rate / ratio) for (m, rate), (_, line) in zip(ours, of, strict=True)
                          if (ratio := line.reached(peer))]  # fmt: skip
                roof = [(m, 2.0 * m * n * k / max(2.0 * m * n * k / PRODUCTS,
                                                  2 * (m * n + m * k + n * k) / BANDWIDTH) / 1e12)
                        for m in ROWS_AT]  # fmt: skip
                axis.plot(*zip(*roof, strict=True), color=GREY, linewidth=1.0, linestyle=":", label="datasheet")
                if theirs:
                    axis.plot(*zip(*theirs, strict=True), color=THEIRS, marker="o", markersize=4, linewidth=1.4,
                              label="cuBLAS")  # fmt: skip
                if ours:
                    axis.plot(*zip(*ours, strict=True), color=OURS, marker="o", markersize=4, linewidth=1.8,
                              label="tileproof")  # fmt: skip
                mean = geometric_mean([line for _, line in of])
                axis.set_title(f"{model} {what}  {n} x {k}" + ("" if mean is None else f"   {mean:.2f}x"), fontsize=10,
                               loc="left")  # fmt: skip
                axis.set(xscale="log", ylim=(0, PRODUCTS / 1e12 * 1.05))
                axis.set_xticks(ROWS_AT, [str(m) if math.log2(m) % 2 == 0 else "" for m in ROWS_AT])
                axis.minorticks_off()
                plain(axis)
        axes[0][0].legend(frameon=False, fontsize=9, loc="upper left")
        figure.supylabel("TFLOP/s", fontsize=10)
        figure.supxlabel("rows of x (tokens at a time)", fontsize=10)
        figure.tight_layout()
