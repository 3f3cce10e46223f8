"""A verdict as a table: one line for each access, with what settles it and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tileproof.analysis.compares import Compare, Fits
from tileproof.analysis.verdict import Rung, Settled, Verdict
from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import Op

_LONGEST = 44
"""An access that is longer is cut, so that the table stays one."""


@dataclass(slots=True)
class Line:
    """The obligations of one kind that an access has, one for each of its axes."""

    span: Span
    what: str
    goal: str
    rung: Rung
    reasons: list[str] = field(default_factory=list)


def explanation(verdict: Verdict) -> Iterator[str]:
    """The lines of the table, then tiles that are full, then what a launch compares."""
    lines = lines_of(verdict.settled)
    if lines:
        places = [f"{line.span.line}:{line.span.column}" for line in lines]
        whats = [_cut(line.what) for line in lines]
        widths = [max(map(len, column)) for column in (places, whats)]
        goals = max(len(line.goal) for line in lines)
        rungs = max(len(line.rung.label) for line in lines)
        for line, place, what in zip(lines, places, whats, strict=True):
            settled = f"{int(line.rung)} {line.rung.label.ljust(rungs)}"
            reasons = "; ".join(dict.fromkeys(line.reasons))
            yield f"  {place.rjust(widths[0])}  {what.ljust(widths[1])}  {line.goal.ljust(goals)}  {settled}  {reasons}"
    spans = (one.op.span for one in verdict.full if isinstance(one.op, Op))
    full = dict.fromkeys(" ".join(span.text.split()) for span in spans)
    if full:
        yield f"  never clipped, so never masked: {', '.join(full)}"
    for compare in dict.fromkeys(compared(compare) for compare in verdict.compares):
        yield f"  at launch: {compare}"


def compared(compare: Compare | Fits) -> str:
    """What a launch looks at, in the user's words."""
    match compare:
        case Compare(demand=demand):
            return demand
        case Fits(span=span):
            return f"`{' '.join(span.text.split())}` fits 64 bits"


def lines_of(settled: tuple[Settled, ...]) -> list[Line]:
    """Obligations by place and kind, in the order of the source; the costliest rung stands for all axes."""
    found: dict[tuple[Span, str, str], Line] = {}
    for one in settled:
        line = found.setdefault((one.span, one.what, one.goal), Line(one.span, one.what, one.goal, one.rung))
        line.rung = max(line.rung, one.rung)
        line.reasons.append(one.reason)
    order = {"covered": 0, "inside": 1, "nonempty": 2, "fits": 3, "apart": 4}
    return sorted(found.values(), key=lambda line: (line.span.line, line.span.column, order.get(line.goal, 5)))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
