"""Lines for people: on the error stream, with colour on a terminal, and with a bar while something is loaded."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from tileproof.cli.command_line import bar, wants_color


def dim(text: str, *, dimmed: bool) -> str:
    """Text that stands back, on a terminal."""
    return f"\x1b[2m{text}\x1b[0m" if dimmed and text else text


class Notes:
    """All that is printed next to the text: on the error stream, or nowhere."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._color = wants_color(sys.stderr)
        self._bar = sys.stderr.isatty() and not quiet
        self._drawn = 0.0
        self._in_text = False
        """Whether the line of the terminal belongs to text that is being streamed."""

    @property
    def is_quiet(self) -> bool:
        return self._quiet

    def note(self, line: str) -> None:
        """A line, dim on a terminal."""
        self._in_text = False
        if not self._quiet:
            self.clear()
            print(dim(line, dimmed=self._color), file=sys.stderr, flush=True)

    def warn(self, line: str) -> None:
        """A line on something that went wrong, also when all else is quiet."""
        self.clear()
        print(line, file=sys.stderr, flush=True)

    def loading(self, done: int, total: int, name: str) -> None:
        """How much of a model is loaded, as a bar; only on a terminal."""
        moment = time.perf_counter()
        if not self._bar or (moment - self._drawn < 0.05 and done < total):
            return
        self._drawn = moment
        sys.stderr.write(f"{bar(done, total)} {format_bytes(done)} of {format_bytes(total)} {name[-40:]}")
        sys.stderr.flush()

    def working(self, what: str) -> None:
        """What takes a while, until something else is printed; only on a terminal."""
        if self._bar and not self._in_text:
            self._drawn = time.perf_counter()
            sys.stderr.write(f"\r\x1b[K{what} ...")
            sys.stderr.flush()

    def begin_text(self) -> None:
        """Leaves the line to text, until the next note."""
        if not self._in_text:
            self.clear()
            self._in_text = True

    def clear(self) -> None:
        """Takes the bar away, for something else to be printed."""
        if self._bar and self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = 0.0


def format_bytes(size: float) -> str:
    """`512 B`, `98.4 MB`, `1.19 GB`: thousands, as makers of memory and models count."""
    return _scaled(size, (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1)))


def format_count(number: float) -> str:
    """`134.5 M`, `4.02 B`: how many weights a model has."""
    return _scaled(number, (("B", 1e9), ("M", 1e6), ("k", 1e3), ("", 1))).rstrip()


def _scaled(number: float, units: tuple[tuple[str, float], ...]) -> str:
    """The number in the first unit of which there is one, with three or four figures."""
    unit, factor = next(((unit, factor) for unit, factor in units if number >= factor), units[-1])
    value = number / factor
    digits = 0 if factor == 1 else 2 if value < 10 else 1
    return f"{value:.{digits}f} {unit}"


def table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, right: frozenset[int] = frozenset()) -> list[str]:
    """Lines of columns as wide as what stands in them; those in `right` are set to the right."""
    widths = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    lines = []
    for row in (heads, *rows):
        cells = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
