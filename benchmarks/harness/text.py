"""Figures and tables as text, for a terminal and for a page."""

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


def amount(value: float, unit: str) -> str:
    """`12.34 us`, `1.234 ms`, `1.234 s` or `326 MB`."""
    if unit == "B":
        return f"{value / 1e6:.0f} MB"
    if abs(value) >= 1e-3:
        return f"{value:.3f} s" if abs(value) >= 1 else f"{value * 1e3:.3f} ms"
    return f"{value * 1e6:.2f} us"


def si(value: float, unit: str) -> str:
    """`4.38 TB/s` or `742 TFLOP/s`."""
    scale, prefix = (1e12, "T") if value >= 1e12 else (1e9, "G")
    scaled = value / scale
    return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {prefix}{unit}"


def first_line(error: BaseException, most: int = 140) -> str:
    """What an error says, in a line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:most]}" if lines else type(error).__name__
