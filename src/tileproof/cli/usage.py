"""What the commands share: the error for a command typed wrongly, streams, colour, and the version."""

from __future__ import annotations

import codecs
import difflib
import io
import os
import sys
import time
from collections.abc import Iterable
from typing import TextIO

_ESCAPED = "tileproof.escaped"


class UsageError(Exception):
    """The command cannot be carried out as typed. Its text says how to type it; the exit code is 2."""


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


def installed_version() -> str:
    """The version of tileproof; `0` where it runs from a checkout that is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # Ctrl-C while it is loaded is to find us here

    try:
        return version("tileproof")
    except PackageNotFoundError:
        return "0"


class Progress:
    """A bar on a terminal that says how far the work is, and how long it may still take; nothing elsewhere."""

    _WIDTH = 24

    def __init__(self) -> None:
        self._stream = sys.stderr if sys.stderr.isatty() else None
        self._what, self._began, self._from = "", time.perf_counter(), 0

    def step(self, what: str, done: int, total: int) -> None:
        """So many are done."""
        if what != self._what:
            self._what, self._began, self._from = what, time.perf_counter(), done - 1
        if self._stream is None:
            return
        filled = self._WIDTH * done // max(total, 1)
        passed = time.perf_counter() - self._began
        left = passed / max(done - self._from, 1) * (total - done)
        bar = "#" * filled + "." * (self._WIDTH - filled)
        self._stream.write(f"\r\x1b[K[{bar}] {done} of {total} {what}, {passed:.0f} s, about {left:.0f} s left")
        self._stream.flush()

    def clear(self) -> None:
        """Takes the bar away, for something else to be printed."""
        if self._stream is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
