"""Places in source text: what every operation and every diagnostic points at."""

from __future__ import annotations

from dataclasses import field

from tileproof.diagnostics.quick_dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One file, notebook cell or REPL entry, as it was when its kernels were read."""

    name: str
    lines: tuple[str, ...] = field(repr=False)

    def line(self, number: int) -> str:
        """The text of a line (counted from 1) without its newline; empty past the end."""
        return self.lines[number - 1].rstrip("\n") if 1 <= number <= len(self.lines) else ""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters. Lines and columns count from 1; the end is exclusive."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def text(self) -> str:
        """The source text the span covers."""
        if self.line == self.end_line:
            return self.source.line(self.line)[self.column - 1 : self.end_column - 1]
        inner = [self.source.line(number) for number in range(self.line + 1, self.end_line)]
        first, last = self.source.line(self.line)[self.column - 1 :], self.source.line(self.end_line)
        return "\n".join([first, *inner, last[: self.end_column - 1]])

    @property
    def place(self) -> str:
        """`file:line:column`, as editors understand it."""
        return f"{self.source.name}:{self.line}:{self.column}"

    def __repr__(self) -> str:
        return f"<{self.place}>"
