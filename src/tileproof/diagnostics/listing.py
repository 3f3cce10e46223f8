"""Source text with line numbers and underlined ranges: the middle part of a printed diagnostic."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import groupby

from tileproof.diagnostics.records import dataclass

from .spans import Source, Span


class Style(Enum):
    """What a piece of text is; the value is the ANSI code that colours it."""

    PLAIN = ""
    BOLD = "1"
    ERROR = "1;31"
    FRAME = "1;34"
    HELP = "1;32"


Line = list[tuple[str, Style]]
"""A line of output as pieces of text, each with its style."""


def paint(line: Line, color: bool) -> str:
    """The text of a line, with ANSI codes when `color` is set and without trailing blanks."""
    if not color:
        return "".join(text for text, _ in line).rstrip()
    return "".join(_painted(text, style) for text, style in line).rstrip()


def _painted(text: str, style: Style) -> str:
    return f"\x1b[{style.value}m{text}\x1b[0m" if style is not Style.PLAIN and text.strip() else text


@dataclass(frozen=True, slots=True)
class Mark:
    """A range to underline, and the words to set beside it."""

    span: Span
    text: str
    primary: bool = False

    @property
    def style(self) -> Style:
        return Style.ERROR if self.primary else Style.FRAME


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A mark as it lies on the screen: cells `start` (inclusive) to `stop` (exclusive) of its line."""

    start: int
    stop: int
    mark: Mark


class _Canvas:
    """A line that is written out of order, cell by cell."""

    def __init__(self) -> None:
        self._cells: list[tuple[str, Style]] = []

    def put(self, column: int, text: str, style: Style) -> None:
        end = column + len(text)
        self._cells.extend([(" ", Style.PLAIN)] * (end - len(self._cells)))
        self._cells[column:end] = [(character, style) for character in text]

    def line(self) -> Line:
        groups = groupby(self._cells, key=lambda cell: cell[1])
        return [("".join(character for character, _ in cells), style) for style, cells in groups]


def listing(source: Source, marks: Iterable[Mark], width: int) -> list[Line]:
    """The marked lines of one source in line order, each underlined; `width` is that of the line numbers."""
    lines: list[Line] = [bar(width)]
    previous = 0
    by_line = groupby(sorted(marks, key=lambda mark: mark.span.line), key=lambda mark: mark.span.line)
    for number, group in by_line:
        if previous and number == previous + 2:
            lines.append(numbered(previous + 1, source.line(previous + 1), width))
        elif previous and number > previous + 2:
            lines.append([("...", Style.FRAME)])
        lines.append(numbered(number, source.line(number), width))
        lines.extend(_underlines(source.line(number), list(group), width))
        previous = number
    return lines


def bar(width: int) -> Line:
    """A line of the margin with nothing beside it."""
    return [(f"{'':{width}} |", Style.FRAME)]


def numbered(number: int, text: str, width: int, sign: str = "|", style: Style = Style.PLAIN) -> Line:
    """One source line with its number; `sign` divides the two."""
    shown = visible(text)
    return [(f"{number:>{width}} {sign}", style if sign != "|" else Style.FRAME), (f" {shown}", style)]


def visible(text: str) -> str:
    """Source text as a terminal shows it: a tab is four blanks, a control character a replacement sign."""
    return "".join(
        "    " if character == "\t" else "\ufffd" if unicodedata.category(character) == "Cc" else character
        for character in text
    )


def cells(text: str) -> int:
    """How many columns of a terminal the text takes: wide characters two, combining ones none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in visible(text)
    )


def _underlines(text: str, marks: Sequence[Mark], width: int) -> list[Line]:
    """The lines under a source line: the strokes, then the words that found no room beside them.

    The words of the rightmost mark stand beside its stroke; the others hang below theirs, rightmost first, so
    that no connecting bar crosses a word.
    """
    stretches = sorted((_stretch(text, mark) for mark in marks), key=lambda s: (s.start, s.stop))
    strokes = _Canvas()
    for stretch in sorted(stretches, key=lambda s: (s.start - s.stop, s.mark.primary)):
        sign = "^" if stretch.mark.primary else "-"
        strokes.put(stretch.start, sign * (stretch.stop - stretch.start), stretch.mark.style)
    last = stretches[-1]
    hanging = [s for s in stretches[:-1] if s.mark.text]
    if all(s.stop <= last.stop for s in stretches):
        strokes.put(last.stop + 1, last.mark.text, last.mark.style)
    elif last.mark.text:
        hanging.append(last)
    lines = [strokes.line()]
    if hanging:
        lines.append(_connectors(hanging).line())
    while hanging:
        stretch = hanging.pop()
        row = _connectors(s for s in hanging if s.start < stretch.start)
        row.put(stretch.start, stretch.mark.text, stretch.mark.style)
        lines.append(row.line())
    margin = f"{'':{width}} | "
    return [[(margin, Style.FRAME), *line] for line in lines]


def _connectors(stretches: Iterable[_Stretch]) -> _Canvas:
    row = _Canvas()
    for stretch in stretches:
        row.put(stretch.start, "|", stretch.mark.style)
    return row


def _stretch(text: str, mark: Mark) -> _Stretch:
    """Where a mark lies on the screen. One of several lines is underlined to the end of its first."""
    span = mark.span
    end = span.end_column - 1 if span.end_line <= span.line else len(text.rstrip())
    start = cells(text[: span.column - 1]) + max(0, span.column - 1 - len(text))
    return _Stretch(start, max(start + 1, cells(text[:end])), mark)
