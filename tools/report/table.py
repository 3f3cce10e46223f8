"""A report as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .facts import RUNGS, KernelFacts, Library, Report
from .words import headline, measured_in_short, sentences, tests_in_short, tuned_in_short, verdict

_HEADS = ("kernel", "verdict", *map(str, RUNGS), "at launch", "tests", "tuned", "best peer")
_LEFT = (0, 1, len(_HEADS) - 2, len(_HEADS) - 1)
_LONGEST = 46
_COLOURS = {"proved": "32", "checked": "33", "unsafe": "31", "refused": "31"}


def text(report: Report, color: bool = False) -> str:
    """The whole of it."""
    parts = ["\n".join(_library(library, color)) for library in report.libraries]
    looked = ", ".join(f"{name} {message}" for name, message in report.versions.items())
    return "\n\n".join([*parts, f"{report.date}: {looked}"]) + "\n"


def summary(report: Report) -> str:
    """The verdict alone."""
    return "\n".join(
        f"{library.name}: {line}" for library in report.libraries for line in (headline(library), *sentences(library))
    )


def _library(library: Library, color: bool) -> Iterator[str]:
    named = f"{library.name} {library.version}".strip()
    yield f"{named}: {headline(library)}"
    yield from (f"  {line}" for line in sentences(library))
    rows = {family.name: [_cells(kernel) for kernel in family.kernels] for family in library.families}
    widths = [max(map(len, column)) for column in zip(_HEADS, *(row for each in rows.values() for row in each),
                                                      strict=True)]  # fmt: skip
    yield ""
    yield _line(_HEADS, widths)
    for family in library.families:
        if family.kernels:
            yield family.name
        for kernel, cells in zip(family.kernels, rows[family.name], strict=True):
            line = _line(cells, widths)
            shade = _COLOURS[kernel.state]
            message = cells[1]
            yield line.replace(message, f"\x1b[{shade}m{message}\x1b[0m", 1) if color else line
    yield "  1 to 6: how many obligations each rung settles (tileproof check --help)"
    for kernel in library.kernels:
        yield from (f"\n{finding}" for finding in kernel.proof.findings)
    yield from (f"not looked at: {problem}" for problem in library.problems)
    if not library.junit:
        yield "tests: no results were given; --junit names the file"
    if not library.results:
        yield "benchmarks: none are here; --results names the folder"


def _cells(kernel: KernelFacts) -> tuple[str, ...]:
    judged = verdict(kernel)
    rungs = (str(number) if number else "" for number in kernel.proof.rungs.values())
    return (
        f"  {kernel.name}", judged if len(judged) <= _LONGEST else f"{judged[: _LONGEST - 3]}...", *rungs,
        str(kernel.proof.at_launch or ""), tests_in_short(kernel.tested), tuned_in_short(kernel.tuned),
        measured_in_short(kernel.measured),
    )  # fmt: skip


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    placed = (
        cell.ljust(width) if place in _LEFT else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(placed).rstrip()
