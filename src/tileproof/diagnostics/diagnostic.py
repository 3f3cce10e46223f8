"""A finding: one mistake, where it is, why it is one, and the edit that cures it; and how a terminal shows it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tileproof.diagnostics.records import dataclass

from .codes import Code
from .listing import Line, Mark, Style, bar, cells, listing, numbered, paint
from .spans import Span


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
    """One finding. `message` is one sentence; `label` is said under the primary span."""

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
        """As the terminal shows it."""
        return render(self)


# As text for people: code, sentence, source with underlines, notes, and the edit that helps.


def render(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """One diagnostic as lines of text without a final newline; ANSI colours when `color` is set."""
    return "\n".join(paint(line, color) for line in _lines(diagnostic))


def shown_path(name: str) -> str:
    """A file name as people want to read it: relative to the working directory if it lies inside."""
    if not os.path.isabs(name):
        return name
    try:
        relative = os.path.relpath(name)
    except (OSError, ValueError):  # the working directory is gone, or on another drive
        return name
    return name if relative.split(os.sep)[0] == os.pardir else relative


def shown_place(span: Span) -> str:
    """`file:line:column`, as editors understand it, with the file as people want to read it."""
    return f"{shown_path(span.source.name)}:{span.line}:{span.column}"


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
    return [(f"{'':{width}}{sign} ", Style.FRAME), (shown_place(span), Style.PLAIN)]


def _calls(diagnostic: Diagnostic, width: int) -> Iterator[Line]:
    """The calls that led here, outermost first, each with its source line."""
    for frame in diagnostic.stack:
        place = f"{shown_path(frame.span.source.name)}:{frame.span.line}"
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
    """`= note: text`; further lines of the text stand under the first."""
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
    """What stands before and after the replaced text, and the whole lines once it is replaced."""
    before = edit.span.source.line(edit.span.line)[: edit.span.column - 1]
    after = edit.span.source.line(edit.span.end_line)[edit.span.end_column - 1 :]
    return before, after, (before + edit.replacement + after).split("\n")
