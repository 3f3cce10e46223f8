"""`tileproof explain`: the page of the catalogue for a code, or the list of all codes."""

from __future__ import annotations

import argparse
import difflib

from tileproof.diagnostics import Code, page

from .command_line import Commands, UsageError, add_command

GROUPS = {
    "TP00": "Source and syntax",
    "TP01": "The parallel space and names",
    "TP02": "Element types",
    "TP03": "Shapes, dimensions and tags",
    "TP04": "What an operation demands",
    "TP05": "Signatures and access",
    "TP06": "Launch",
    "TP07": "Seen by the interpreter",
    "TP08": "Decided by the checker",
    "TP09": "Tools",
    "TP10": "Models",
}


EXAMPLES = """\
examples:
  tileproof explain TP0301   what the error means, with an example that is wrong and one that is right
  tileproof explain 301      the same
  tileproof explain          every error there is, each in a line
"""


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = "Prints the page of the catalogue for a code; without a code, lists them all."
    parser = add_command(commands, "explain", summary, description, EXAMPLES)
    parser.add_argument("code", metavar="CODE", nargs="?", help="a code such as TP0301")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    print(_list() if options.code is None else page(_find(options.code)).rstrip("\n"))
    return 0


def _list() -> str:
    parts = []
    for prefix, heading in GROUPS.items():
        codes = [code for code in Code if code.id.startswith(prefix)]
        parts.append("\n".join([heading, *(f"  {code.id}  {code.title}" for code in codes)]))
    return "\n\n".join(parts)


def _find(text: str) -> Code:
    """The code meant by `TP0301`, `tp0301` or `301`."""
    bare = text.strip().upper().removeprefix("TP")
    code = Code.of(f"TP{bare:0>4}")
    if code is None:
        near = difflib.get_close_matches(f"TP{bare:0>4}", [code.id for code in Code], n=3)
        lines = [f"  {code.id}  {code.title}" for code in Code if code.id in near]
        nearest = "\n".join(["the nearest are", *lines, ""]) if lines else ""
        raise UsageError(f"there is no code `{text}`; {nearest}`tileproof explain` alone lists all codes")
    return code
