"""What the commands share: the error for a command typed wrongly, colour, and the version."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import TextIO


class UsageError(Exception):
    """The command cannot be carried out as typed. Its text says how to type it; the exit code is 2."""


def suggestion(wrong: str, right: Iterable[str]) -> str:
    """`; did you mean ...?` if one of the right words is close, else nothing."""
    close = difflib.get_close_matches(wrong, list(right), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def wants_color(stream: TextIO) -> bool:
    """Whether to colour what is written to a stream: on a terminal, unless NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def installed_version() -> str:
    """The version of tileproof; `0` where it runs from a checkout that is not installed."""
    try:
        return version("tileproof")
    except PackageNotFoundError:
        return "0"
