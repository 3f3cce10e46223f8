"""Rows of cells as text: for a terminal, and for a page."""

from __future__ import annotations

from collections.abc import Sequence


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells under heads, for a terminal."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    texts = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (heads, *rows)]
    return "\n".join(text.rstrip() for text in texts)


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same for a page."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


def duration(seconds: float) -> str:
    """`12.34 us` or `1.234 ms`."""
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.2f} us"


def first_line(error: BaseException, most: int = 140) -> str:
    """What an error says, in a line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:most]}" if lines else type(error).__name__
