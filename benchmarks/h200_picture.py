"""Pictures of the suite: tokens per second over context, share of the bandwidth, and where a step goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from .h200_report import DATASHEET, GRAPH, OURS, PICTURES, Found, Model, Row
from .pictures import GREY, INK, PALETTE, drawn, plain
from .pictures import OURS as BLUE

_COLOURS: Final = {"compiled": PALETTE[1], "proxy": PALETTE[2], "transformers": PALETTE[3]}
_FEWEST: Final = 0.02
"""Parts of a step with a smaller share are shown together."""


def draw(folder: Path, found: Found) -> list[tuple[str, str]]:
    """Draws all; gives titles and names of files."""
    models = [model for model in found.models if any(row.what == "tg" and row.rounds for row in model.rows)]
    if not models:
        return []
    _speed(folder / PICTURES[0][1], models)
    _share(folder / PICTURES[1][1], models)
    timed = [model for model in models if model.parts]
    if not timed:
        return list(PICTURES[:2])
    _parts(folder / PICTURES[2][1], timed)
    return list(PICTURES)


def _lines(model: Model) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in model.rows:
        if row.what == "tg" and row.rounds:
            found.setdefault((row.who, row.weights), []).append(row)
    return found


def _style(who: str, weights: str) -> dict[str, Any]:
    if who == OURS:
        return {"color": BLUE, "linewidth": 2.2, "linestyle": "-" if weights == "bf16" else "--"}
    if who == GRAPH:
        return {"color": BLUE, "linewidth": 1.0, "linestyle": ":" if weights == "bf16" else (0, (1, 4))}
    return {"color": _COLOURS.get(who.partition(" ")[0], GREY), "linewidth": 1.5}


def _named(who: str, weights: str) -> str:
    return who if weights == "bf16" else f"{who}, 8-bit weights"


def _speed(path: Path, models: Sequence[Model]) -> None:
    with drawn(path, max(6.2 * len(models), 8.0), 4.6, columns=len(models), squeeze=False) as (figure, grid):
        for axis, model in zip(grid[0], models, strict=True):
            for (who, weights), rows in _lines(model).items():
                places, values = [row.context for row in rows], [row.median for row in rows]
                axis.plot(places, values, marker="o", markersize=3.5, label=_named(who, weights),
                          **_style(who, weights))  # fmt: skip
            axis.set_title(f"{model.name}: tokens per second", loc="left", fontweight="bold", fontsize=11)
            _contexts(axis, model)
            axis.set_ylim(bottom=0)
        handles, labels = grid[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False, fontsize=8)
        figure.tight_layout(rect=(0, 0.12, 1, 1))


def _share(path: Path, models: Sequence[Model]) -> None:
    with drawn(path, max(6.2 * len(models), 8.0), 4.6, columns=len(models), squeeze=False) as (figure, grid):
        for axis, model in zip(grid[0], models, strict=True):
            for (who, weights), rows in _lines(model).items():
                values = [100 * row.bytes_per_second / DATASHEET for row in rows]
                axis.plot([row.context for row in rows], values, marker="o", markersize=3.5,
                          label=_named(who, weights), **_style(who, weights))  # fmt: skip
            limit = 100 * model.read_rate / DATASHEET
            axis.axhline(limit, color=INK, linewidth=1.0)
            axis.annotate("torch.sum", (1, limit), xycoords=("axes fraction", "data"), ha="right", va="bottom",
                          fontsize=8, color=GREY)  # fmt: skip
            axis.set_title(f"{model.name}: % of 4.8 TB/s", loc="left", fontweight="bold", fontsize=11)
            _contexts(axis, model)
            axis.set_ylim(0, 100)
        handles, labels = grid[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False, fontsize=8)
        figure.tight_layout(rect=(0, 0.12, 1, 1))


def _contexts(axis: Any, model: Model) -> None:
    contexts = sorted({row.context for row in model.rows if row.what == "tg" and row.rounds})
    axis.set_xscale("log", base=2)
    axis.set_xticks(contexts, [str(each) for each in contexts])
    axis.minorticks_off()
    axis.set_xlabel("tokens before")
    plain(axis)


def _parts(path: Path, models: Sequence[Model]) -> None:
    """A bar for each model: its operations behind one another, and below it what each of them takes."""
    with drawn(path, 12, 2.5 * len(models) + 0.3, rows=len(models), squeeze=False) as (figure, grid):
        for axis, model in zip(grid[:, 0], models, strict=True):
            shown = _largest(model.parts["parts"])
            total, at = sum(seconds for _, _, seconds in shown) or 1e-9, 0.0
            for number, (name, calls, seconds) in enumerate(shown):
                said = f"{calls} x {name}: {1e6 * seconds / calls:.1f} us each"
                axis.barh(0, 1e3 * seconds, 0.7, left=1e3 * at, color=PALETTE[number % len(PALETTE)], label=said)
                if seconds > 0.03 * total:
                    axis.text(1e3 * (at + seconds / 2), 0, f"{100 * seconds / total:.0f}%", ha="center", va="center",
                              fontsize=8, color="white")  # fmt: skip
                at += seconds
            step, context = 1e3 * model.parts["seconds"], model.parts["context"]
            title = f"{model.name}: one token at {context} takes {step:.2f} ms"
            axis.set_title(f"{title}; its operations, each kind timed alone", loc="left", weight="bold", fontsize=10)
            axis.set_yticks([])
            axis.set_xlim(0, 1e3 * total)
            axis.set_xlabel("ms")
            plain(axis, "x")
            axis.legend(loc="upper left", bbox_to_anchor=(0, -0.42), ncols=4, frameon=False, fontsize=7.5)
        figure.tight_layout()


def _largest(parts: Sequence[Any]) -> list[tuple[str, int, float]]:
    """Name, calls and seconds of the operations, the slowest first, the smallest of them together."""
    total = sum(each["seconds"] for each in parts)
    slowest = sorted(parts, key=lambda each: -each["seconds"])
    large = [(each["name"], each["calls"], each["seconds"]) for each in slowest if each["seconds"] >= _FEWEST * total]
    small = slowest[len(large) :]
    rest = [("others", sum(each["calls"] for each in small), sum(each["seconds"] for each in small))] if small else []
    return large + rest
