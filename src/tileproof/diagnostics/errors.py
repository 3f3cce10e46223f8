"""Diagnostics: a mistake, its place, the reason and an edit that cures it; and how they are printed."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import groupby

from tileproof.diagnostics.quick_dataclasses import dataclass

from .codes import Code
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
    """A range to underline, and the text next to it."""

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
    """An empty line with its margin."""
    return [(f"{'':{width}} |", Style.FRAME)]


def numbered(number: int, text: str, width: int, sign: str = "|", style: Style = Style.PLAIN) -> Line:
    """One source line with its number; `sign` divides the two."""
    code = visible(text)
    return [(f"{number:>{width}} {sign}", style if sign != "|" else Style.FRAME), (f" {code}", style)]


def visible(text: str) -> str:
    """Source text as it is printed: a tab as four blanks, a control character as U+FFFD."""
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
    """The lines under a source line: the strokes, then the texts that do not fit next to them.

    The text of the rightmost mark follows its stroke; the others hang below theirs, rightmost first, so that no
    connecting bar crosses a text.
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


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary place, with a few words on its part in the mistake."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of a text range that an editor or agent can apply as it stands."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A call that led to the mistake: helpers are inlined, their callers must still be seen."""

    function: str
    span: Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `message` is one sentence; `label` is printed under the primary span."""

    code: Code
    message: str
    span: Span | None = None
    label: str = ""
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    edit: Edit | None = None
    stack: tuple[Frame, ...] = ()
    """Calls from the kernel to the helper at fault, outermost first."""
    kernel: str = ""

    def __str__(self) -> str:
        """The diagnostic as it is printed, without colors."""
        return render(self)


# As text for people: code, sentence, source with underlines, notes, and the edit that helps.


def render(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """One diagnostic as lines of text without a final newline; ANSI colours when `color` is set."""
    return "\n".join(paint(line, color) for line in _lines(diagnostic))


def display_path(name: str) -> str:
    """A file name as people want to read it: relative to the working directory if it lies inside."""
    if not os.path.isabs(name):
        return name
    try:
        relative = os.path.relpath(name)
    except (OSError, ValueError):  # the working directory is gone, or on another drive
        return name
    return name if relative.split(os.sep)[0] == os.pardir else relative


def display_place(span: Span) -> str:
    """`file:line:column`, as editors understand it, with the file as people want to read it."""
    return f"{display_path(span.source.name)}:{span.line}:{span.column}"


def _lines(diagnostic: Diagnostic) -> Iterator[Line]:
    width = _margin(diagnostic)
    first, *more = diagnostic.message.split("\n")
    yield [(f"error[{diagnostic.code.id}]", Style.ERROR), (f": {first}", Style.BOLD)]
    yield from ([(f"  {line}", Style.BOLD)] for line in more)
    body = [*_places(diagnostic, width), *_calls(diagnostic, width)]
    yield from body
    remarks = [*_remarks(diagnostic, width), *_suggestion(diagnostic, width)]
    if body and remarks and _has_text(diagnostic):
        yield bar(width)
    yield from remarks


def _has_text(diagnostic: Diagnostic) -> bool:
    return diagnostic.span is not None and bool(diagnostic.span.source.lines)


def _margin(diagnostic: Diagnostic) -> int:
    """Width of the widest line number that will be printed."""
    spans = [diagnostic.span, *(label.span for label in diagnostic.labels)]
    spans += [frame.span for frame in diagnostic.stack]
    numbers = [span.line for span in spans if span is not None]
    if diagnostic.edit is not None:
        numbers.append(diagnostic.edit.span.line + diagnostic.edit.replacement.count("\n"))
    return max((len(str(number)) for number in numbers), default=1)


def _places(diagnostic: Diagnostic, width: int) -> Iterator[Line]:
    """The listings, one per source, that of the primary span first."""
    marks = [Mark(label.span, label.text) for label in diagnostic.labels]
    if diagnostic.span is not None:
        marks.insert(0, Mark(diagnostic.span, diagnostic.label, primary=True))
    by_text: dict[tuple[str, tuple[str, ...]], list[Mark]] = {}  # one file may have been read more than once
    for mark in marks:
        by_text.setdefault((mark.span.source.name, mark.span.source.lines), []).append(mark)
    for position, group in enumerate(by_text.values()):
        if position:
            yield bar(width)
        yield _arrow(group[0].span, width, ":::" if position else "-->")
        if group[0].span.source.lines:
            yield from listing(group[0].span.source, group, width)


def _arrow(span: Span, width: int, sign: str = "-->") -> Line:
    return [(f"{'':{width}}{sign} ", Style.FRAME), (display_place(span), Style.PLAIN)]


def _calls(diagnostic: Diagnostic, width: int) -> Iterator[Line]:
    """The calls that led here, outermost first, each with its source line."""
    for frame in diagnostic.stack:
        place = f"{display_path(frame.span.source.name)}:{frame.span.line}"
        yield bar(width)
        yield [(f"{'':{width}} = ", Style.FRAME), (f"called from `{frame.function}` at {place}", Style.BOLD)]
        if frame.span.source.lines:
            yield from listing(frame.span.source, [Mark(frame.span, "")], width)[1:]


def _remarks(diagnostic: Diagnostic, width: int) -> Iterator[Line]:
    for note in diagnostic.notes:
        yield from _remark("note", note, width)
    if diagnostic.help:
        yield from _remark("help", diagnostic.help, width)


def _remark(kind: str, text: str, width: int) -> Iterator[Line]:
    """`= note: text`; further lines of the text are aligned with the first."""
    first, *more = text.split("\n")
    yield [(f"{'':{width}} = ", Style.FRAME), (f"{kind}: ", Style.BOLD), (first, Style.PLAIN)]
    for line in more:
        yield [(f"{'':{width + len(kind) + 5}}{line}", Style.PLAIN)]


def _suggestion(diagnostic: Diagnostic, width: int) -> Iterator[Line]:
    """The lines as they would be after the edit; what is new in a single line is underlined."""
    edit = diagnostic.edit
    if edit is None or not edit.span.source.lines:
        return
    if not diagnostic.help:
        yield from _remark("help", "write" if edit.replacement else "delete this", width)
    if diagnostic.span is None or diagnostic.span.source.name != edit.span.source.name:
        yield _arrow(edit.span, width)
    yield bar(width)
    before, after, lines = _edited(edit)
    if not any(line.strip() for line in lines):
        for number in range(edit.span.line, edit.span.end_line + 1):
            yield numbered(number, edit.span.source.line(number), width, "-", Style.ERROR)
        return
    for number, line in enumerate(lines, start=edit.span.line):
        yield numbered(number, line, width, "+", Style.HELP)
    new = lines[0][len(before) : len(lines[0]) - len(after)]
    if len(lines) == 1 and new.strip():
        blank = cells(before) + cells(new) - cells(new.lstrip())
        yield [*bar(width), (f" {'':{blank}}{'~' * cells(new.strip())}", Style.HELP)]


def _edited(edit: Edit) -> tuple[str, str, list[str]]:
    """The text before and after the replaced range, and the lines after the replacement."""
    before = edit.span.source.line(edit.span.line)[: edit.span.column - 1]
    after = edit.span.source.line(edit.span.end_line)[edit.span.end_column - 1 :]
    return before, after, (before + edit.replacement + after).split("\n")


class TileproofError(Exception):
    """Base of all errors of tileproof; its text is the rendered diagnostics."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics

    def __str__(self) -> str:
        return "\n" + render_all(self.diagnostics)


def render_all(diagnostics: Sequence[Diagnostic]) -> str:
    """Every diagnostic as plain text, a blank line between two."""
    return "\n\n".join(render(diagnostic) for diagnostic in diagnostics)


class KernelError(TileproofError):
    """The kernel itself is wrong: nothing was launched."""


class LaunchError(TileproofError):
    """The kernel is fine, its arguments are not: nothing was launched, nothing was touched."""


class InFlight(TileproofError):
    """The host would write memory that a kernel in flight uses, or a handler of a signal would launch or wait in the
    middle of a launch: nothing was written or launched."""


class OutOfMemory(TileproofError, MemoryError):
    """There is too little memory for a tensor: nothing was allocated."""


class SanitizerError(TileproofError):
    """The interpreter saw the kernel break a promise. The arguments are as they were before the call."""


class OutOfBounds(SanitizerError):
    """An access left its tensor."""


class Race(SanitizerError):
    """Two programs touched one element, at least one of them to write it."""


class Unwritten(SanitizerError):
    """An element of an `Out` was written by no program."""
