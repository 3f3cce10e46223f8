"""The writer of pictures, with matplotlib: ratios against peers, the roofline, and rates over a size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from .result import Figure, Line

OURS: Final = "#3f51b5"
THEIRS: Final = "#e08a3c"
INK: Final = "#30343b"
GREY: Final = "#8a9099"
PALETTE: Final = (
    "#3f51b5", "#e08a3c", "#2a9d8f", "#c2446e", "#7a9e3a", "#8e5fbf", "#b8892b", "#3b8fc4", "#d1603d", "#5f6b7a",
    "#1f9e6e",
)  # fmt: skip
_MARKS: Final = "o^vsDPX<>hp"
_LEAST: Final = 0.2
_MOST: Final = 6.0


def can_draw() -> bool:
    """Whether matplotlib is there; without it pages have the pictures of an earlier run."""
    try:
        import matplotlib  # noqa: F401 - only whether it is there
    except ImportError:
        return False
    return True


def draw(kind: str, path: Path, lines: Sequence[Line]) -> bool:
    """Draws a picture, if there is anything to show."""
    return _KINDS[kind](path, lines)


@contextmanager
def drawn(path: Path, width: float, height: float, **grid: Any) -> Iterator[tuple[Any, Any]]:
    """A figure and its axes, in inches, kept in a file at the end."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context({"font.size": 10, "axes.edgecolor": GREY, "text.color": INK, "axes.labelcolor": INK,
                            "xtick.color": INK, "ytick.color": INK}):  # fmt: skip
        rows, columns = grid.pop("rows", 1), grid.pop("columns", 1)
        figure, axes = pyplot.subplots(rows, columns, figsize=(width, height), squeeze=False, **grid)
        try:
            yield figure, axes
            figure.savefig(path, dpi=110, facecolor="white")
        finally:
            pyplot.close(figure)


def plain(axis: Any, grid: str = "both") -> None:
    """Few lines: no frame at the top and the right, and a pale grid."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis=grid, which="major", color="#e3e5e9", linewidth=0.7)
    axis.set_axisbelow(True)


def peer_of(figure: Figure) -> str:
    """A peer without the way it did the work."""
    return figure.name.split()[0].split("(")[0]


def ratios(path: Path, lines: Sequence[Line]) -> bool:
    """For each row, how many times as fast as each of its peers it is, and the part of the limit."""
    text = [line for line in lines if line.everybody]
    if not text:
        return False
    columns = 2 if len(text) > 20 else 1
    tall = -(-len(text) // columns)
    names = list(dict.fromkeys(peer_of(each) for line in text for each in line.everybody))
    colours = {name: PALETTE[1:][place % (len(PALETTE) - 1)] for place, name in enumerate(names)}
    with drawn(path, 7.2 * columns, 0.34 * tall + 1.6, columns=columns) as (figure, axes):
        for number, axis in enumerate(axes[0]):
            part = text[number * tall : (number + 1) * tall]
            for place, line in enumerate(part):
                _row(axis, place, line, colours)
            axis.axvline(1.0, color=INK, linewidth=1.0, zorder=1)
            axis.set(xscale="log", xlim=(_LEAST, _MOST * 1.06), ylim=(len(part) - 0.5, -0.5))
            axis.set_xticks([0.25, 0.5, 1.0, 2.0, 4.0], ["0.25", "0.5", "1", "2", "4"])
            axis.minorticks_off()
            axis.set_yticks(range(len(part)), [line.label for line in part], fontsize=9)
            plain(axis, "x")
            axis.tick_params(axis="y", length=0)
        axes[0][0].set_title("How many times as fast as each peer; right: the best peer, part of the limit",
                             loc="left", fontweight="bold", fontsize=10)  # fmt: skip
        handles = [axes[0][0].scatter([], [], s=44, color=colours[name], label=name) for name in names]
        figure.legend(handles=handles, loc="lower center", ncols=min(len(names), 8), frameon=False, fontsize=9)
        figure.tight_layout(rect=(0, 0.6 / (0.34 * tall + 1.6), 1, 1))
    return True


def _row(axis: Any, place: int, line: Line, colours: Mapping[str, str]) -> None:
    assert line.tileproof is not None
    if place % 2:
        axis.axhspan(place - 0.5, place + 0.5, color="#f6f6f8", zorder=0)
    best: dict[str, float] = {}
    for each in line.everybody:
        ratio, name = each.value / max(line.tileproof.value, 1e-12), peer_of(each)
        best[name] = min(best.get(name, math.inf), ratio)
    lowest = min(best.values())
    axis.plot([1.0, _within(lowest)], [place, place], zorder=2, linewidth=5, solid_capstyle="butt",
              color=OURS if lowest >= 1 else THEIRS, alpha=0.35)  # fmt: skip
    for name, ratio in best.items():
        axis.scatter([_within(ratio)], [place], s=44, color=colours[name], zorder=3, edgecolors="white",
                     linewidths=0.5, marker=">" if ratio > _MOST else "<" if ratio < _LEAST else "o")  # fmt: skip
    limit = "" if line.of_limit is None else f"  {line.of_limit:.0%}"
    axis.annotate(f"{lowest:.2f}{limit}", (1.0, place), xycoords=("axes fraction", "data"), xytext=(6, 0),
                  textcoords="offset points", va="center", fontsize=8.5, annotation_clip=False,
                  color=INK if lowest >= 0.995 else "#b03030")  # fmt: skip


def _within(ratio: float) -> float:
    """Inside the picture: what is far away is at its edge."""
    return min(max(ratio, _LEAST), _MOST)


def roofline(path: Path, lines: Sequence[Line]) -> bool:
    """Operations per second over operations per byte. The roof is what lines that touch it say of the datasheet."""
    from .row import BANDWIDTH, PRODUCTS

    text = [line for line in lines if line.operations and line.bytes and line.limit is not None]
    if not text:
        return False
    with drawn(path, 11, 6.6) as (figure, axes):
        axis, ridge = axes[0][0], PRODUCTS / BANDWIDTH
        low = min(line.operations / line.bytes for line in text) / 2
        high = max([line.operations / line.bytes for line in text] + [ridge]) * 3
        roof = [BANDWIDTH * low / 1e12, PRODUCTS / 1e12, PRODUCTS / 1e12]
        axis.plot([low, ridge, high], roof, color=INK, linewidth=1.6, zorder=1)
        axis.fill_between([low, ridge, high], roof, 1e6, color="#f4f4f6", zorder=0)
        for number, group in enumerate(dict.fromkeys(line.group for line in text)):
            of, dot = [line for line in text if line.group == group], _MARKS[number % len(_MARKS)]
            small = len(of) > 20
            peers, ours = ([(line.operations / line.bytes, line.operations / each.value / 1e12) for line in of
                            if (each := which(line)) is not None]
                           for which in (lambda line: line.best, lambda line: line.tileproof))  # fmt: skip
            if peers:
                axis.scatter(*zip(*peers, strict=True), marker=dot, s=22 if small else 80, facecolors="none",
                             edgecolors=GREY, linewidths=0.9, zorder=2)  # fmt: skip
            axis.scatter(*zip(*ours, strict=True), marker=dot, s=13 if small else 46, zorder=3, label=group,
                         color=PALETTE[number % len(PALETTE)], edgecolors="white", linewidths=0.4)  # fmt: skip
        axis.scatter([], [], marker="o", s=60, facecolors="none", edgecolors=GREY, label="best peer")
        axis.set(xscale="log", yscale="log", xlim=(low, high), ylim=(roof[0] / 8, PRODUCTS * 2.2 / 1e12),
                 xlabel="operations for each byte that must move", ylabel="TFLOP/s")  # fmt: skip
        axis.set_title(f"Roofline: {BANDWIDTH / 1e12:g} TB/s, {PRODUCTS / 1e12:g} TFLOP/s of bf16", loc="left",
                       fontweight="bold")  # fmt: skip
        plain(axis)
        axis.legend(loc="lower right", ncols=2, frameon=False, fontsize=9)
        figure.tight_layout()
    return True


def curves(path: Path, lines: Sequence[Line]) -> bool:
    """Rates over the number at the end of names: a panel for each beginning, a curve for each contestant."""
    panels: dict[str, dict[str, list[tuple[int, float]]]] = {}
    units = dict.fromkeys(line.unit for line in lines)
    for line in lines:
        name, _, number = line.name.rpartition(" ")
        if not number.isdigit() or not line.work:
            continue
        panel = panels.setdefault(name, {})
        limit = None if line.limit is None else Figure("limit", (line.limit,))
        peers = ((peer_of(each), each) for each in line.everybody)
        for who, figure in (("tileproof", line.tileproof), ("limit", limit), *peers):
            if figure is not None:
                panel.setdefault(who, []).append((int(number), line.work / figure.value))
    if not panels:
        return False
    columns = min(len(panels), 4)
    rows = -(-len(panels) // columns)
    styles = {"tileproof": {"color": OURS, "linewidth": 1.8}, "limit": {"color": GREY, "linestyle": ":"}}
    others = dict.fromkeys(who for panel in panels.values() for who in panel if who not in styles)
    styles |= {who: {"color": PALETTE[1:][place]} for place, who in enumerate(others)}
    scale = 1e12 if "FLOP/s" in units else 1.0
    with drawn(path, 3.4 * columns + 2, 2.9 * rows + 0.8, rows=rows, columns=columns) as (figure, axes):
        for axis, (name, panel) in zip(axes.flat, panels.items(), strict=False):
            for who, points in panel.items():
                xs, ys = zip(*sorted(points), strict=True)
                axis.plot(xs, [y / scale for y in ys], label=who, marker="" if who == "limit" else "o", markersize=4,
                          **styles[who])  # fmt: skip
            axis.set_title(name, fontsize=10, loc="left")
            axis.set(xscale="log", ylim=(0, None))
            marks = sorted({x for points in panel.values() for x, _ in points})[::2]
            axis.set_xticks(marks, [str(x) for x in marks], fontsize=8)
            axis.minorticks_off()
            plain(axis)
        handles = {label: handle for axis in axes.flat for handle, label in zip(*axis.get_legend_handles_labels(),
                                                                              strict=True)}  # fmt: skip
        figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=6, frameon=False, fontsize=9)
        figure.supylabel(" and ".join(f"T{unit}" if scale > 1 else unit for unit in units), fontsize=10)
        figure.tight_layout(rect=(0.01, 0.35 / (2.9 * rows + 0.8), 1, 1))
    return True


_KINDS: Final[Mapping[str, Callable[[Path, Sequence[Line]], bool]]] = {
    "ratios": ratios, "roofline": roofline, "curves": curves,
}  # fmt: skip
