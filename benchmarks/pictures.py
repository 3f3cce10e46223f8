"""What all pictures of the book have in common: colours, grid and how they are kept. Drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

OURS: Final = "#3f51b5"
THEIRS: Final = "#e08a3c"
INK: Final = "#30343b"
GREY: Final = "#8a9099"
PALETTE: Final = (
    "#3f51b5", "#e08a3c", "#2a9d8f", "#c2446e", "#7a9e3a", "#8e5fbf", "#b8892b", "#3b8fc4", "#d1603d", "#5f6b7a",
    "#1f9e6e",
)  # fmt: skip


def can_draw() -> bool:
    """Whether matplotlib is there; without it pages have no pictures."""
    try:
        import matplotlib  # noqa: F401 - only whether it is there
    except ImportError:
        return False
    return True


@contextmanager
def drawn(path: Path, width: float, height: float, **grid: Any) -> Iterator[tuple[Any, Any]]:
    """A figure and its axes, in inches, kept in a file at the end. `rows`, `columns` and `sharex` make several axes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context({"font.size": 10, "axes.edgecolor": GREY, "text.color": INK, "axes.labelcolor": INK,
                            "xtick.color": INK, "ytick.color": INK}):  # fmt: skip
        rows, columns = grid.pop("rows", 1), grid.pop("columns", 1)
        figure, axes = pyplot.subplots(rows, columns, figsize=(width, height), **grid)
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
