"""The command `tileproof`: parses the command line and hands over to the command's own file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from . import audit, check, doctor, explain, init, ir
from .usage import UsageError, installed_version

DESCRIPTION = """\
GPU kernels in Python, checked before they run.

A kernel is a function under @tp.kernel that works on tiles:

  @tp.kernel
  def double(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 1024) -> None:
      for i in tp.parallel(N=B):
          y[i] = x[i] * 2
"""

EXAMPLES = """\
examples:
  tileproof check double.py               is every kernel of this file right?
  tileproof check norm.py --with D=128    ... when the dimension D is 128?
  tileproof check src/*.py --format json  the same, for an editor or an agent
  tileproof ir double.py                  what became of the kernel
  tileproof explain TP0301                what an error means, with an example of the cure
  tileproof explain                       every error there is
  tileproof audit src --max 0             is there a tp.unsafe block?
  tileproof init scale                    a first kernel, its test and linter settings
  tileproof doctor                        what works on this machine

`tileproof COMMAND --help` tells more about a command.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (that of the process unless given); gives the exit code."""
    parser = _parser()
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse has printed help or what is wrong
        return stop.code if isinstance(stop.code, int) else 2
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except UsageError as error:
        print(f"tileproof {options.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tileproof",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tileproof {installed_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in (check, ir, explain, audit, init, doctor):
        command.add(commands)
    return parser
