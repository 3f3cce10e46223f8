"""What the commands share: their parsers, the error for wrong usage, streams, color, progress, and the version."""

from __future__ import annotations

import argparse
import codecs
import difflib
import io
import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO, TypeAlias

if TYPE_CHECKING:
    from tileproof.diagnostics import Diagnostic

_ESCAPED = "tileproof.escaped"


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""Where the parser of a command is added."""


class UsageError(Exception):
    """The command cannot be carried out as typed. Its text says how to type it; the exit code is 2."""


def add_command(
    commands: Commands, name: str, summary: str, description: str, examples: str
) -> argparse.ArgumentParser:
    """Adds a command; returns its parser, for its options and the function that runs it."""
    return commands.add_parser(
        name, help=summary, description=description, epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip


def named_values(option: str, text: str, example: str) -> Iterator[tuple[str, str, str]]:
    """The name, the sign and the value of each item in `M=512,N=4096`; each name once."""
    names: set[str] = set()
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, sign, value = (part.strip() for part in item.partition("="))
        if not name.isidentifier():
            raise UsageError(f"{option}: `{item}` is not {example}")
        if name in names:
            raise UsageError(f"{option}: `{name}` is given twice")
        names.add(name)
        yield name, sign, value


def suggestion(wrong: str, right: Iterable[str]) -> str:
    """`; did you mean ...?` if one of the right words is close, else nothing."""
    close = difflib.get_close_matches(wrong, list(right), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def open_streams() -> None:
    """Makes the streams of the process fit to be used, whatever it was started with.

    One that is closed is an empty one. Characters that the encoding of one does not have, and bytes of names of files
    that are no text, are written as in JSON, so that JSON is still JSON.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - it stays open
        elif mode == "w" and isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors=_ESCAPED)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)), error.end


codecs.register_error(_ESCAPED, _escaped)


def wants_color(stream: TextIO) -> bool:
    """Whether to colour what is written to a stream: on a terminal, unless NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def print_findings(findings: Iterable[Diagnostic], stream: TextIO | None = None) -> None:
    """Prints findings, with a blank line after each."""
    from tileproof.diagnostics import render

    stream = stream or sys.stdout
    for finding in findings:
        print(render(finding, color=wants_color(stream)), end="\n\n", file=stream)


def count(number: int, noun: str) -> str:
    """`1 kernel`, `12 kernels`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def bar(done: int, total: int) -> str:
    """`[####....]`, at the start of the line of a terminal."""
    filled = 24 * done // max(total, 1)
    return f"\r\x1b[K[{'#' * filled}{'.' * (24 - filled)}]"


class Progress:
    """A bar on a terminal with what is done, and how long the rest may take; nothing elsewhere."""

    def __init__(self) -> None:
        self._stream = sys.stderr if sys.stderr.isatty() else None
        self._what, self._began, self._from = "", time.perf_counter(), 0

    def step(self, what: str, done: int, total: int) -> None:
        """So many are done."""
        if what != self._what:
            self._what, self._began, self._from = what, time.perf_counter(), done - 1
        if self._stream is None:
            return
        passed = time.perf_counter() - self._began
        left = passed / max(done - self._from, 1) * (total - done)
        self._stream.write(f"{bar(done, total)} {done} of {total} {what}, {passed:.0f} s, about {left:.0f} s left")
        self._stream.flush()

    def clear(self) -> None:
        """Takes the bar away, for something else to be printed."""
        if self._stream is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
