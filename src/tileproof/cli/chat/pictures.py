"""Pictures by matplotlib, where it is installed: kept whole or not at all."""

from __future__ import annotations

import importlib
import importlib.util
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tileproof.compiler.cache import write_whole

OURS: Final = "#3f51b5"
OTHER: Final = "#e08a3c"
INK: Final = "#30343b"
GREY: Final = "#8a9099"
HOW_TO_DRAW: Final = "no picture: `pip install matplotlib` draws it"


def can_draw() -> bool:
    """Whether matplotlib is there."""
    return importlib.util.find_spec("matplotlib") is not None


@contextmanager
def drawn(path: Path, width: float, height: float, **grid: Any) -> Iterator[tuple[Any, Any]]:
    """A figure and its axes, in inches, kept in a file at the end; if something fails, there is no file."""
    importlib.import_module("matplotlib").use("Agg")
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    style = {"font.size": 10, "axes.edgecolor": GREY, "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK,
             "ytick.color": INK}  # fmt: skip
    drawing = io.BytesIO()
    with pyplot.rc_context(style):
        figure, axes = pyplot.subplots(figsize=(width, height), **grid)
        try:
            yield figure, axes
            figure.savefig(drawing, dpi=110, facecolor="white", format=path.suffix.lstrip(".") or "png")
            write_whole(path, drawing.getvalue())
        finally:
            pyplot.close(figure)


def plain(axis: Any, grid: str = "both") -> None:
    """Few lines: no frame at the top and the right, and a pale grid."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis=grid, which="major", color="#e3e5e9", linewidth=0.7)
    axis.set_axisbelow(True)
