"""The command `tileproof`: parses the command line and hands over to the command's own file."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from tileproof import __version__, interrupts

from .command_line import UsageError, open_streams

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
  tileproof compile add.py --arch sm_90   machine code for a GPU; none is needed
  tileproof tune matmul --shapes "M=512,N=4096,K=4096"    find and record the fastest tile sizes
  tileproof ir double.py                  its intermediate representation
  tileproof explain TP0301                what an error means, with an example of the cure
  tileproof explain                       every error there is
  tileproof audit src --max 0             is there a tp.unsafe block?
  tileproof init scale                    a first kernel, its test and linter settings
  tileproof cache info                    where compiled kernels are kept, and how many
  tileproof doctor                        what works on this machine
  tileproof run --prompt "What is the capital of France?"    generate text; every kernel is proved
  tileproof chat --model smollm2          a chat with a model
  tileproof serve --model smollm2         a model over HTTP, by OpenAI's API
  tileproof bench --shape qwen3-0.6b      how fast a model is here, against what memory allows
  tileproof models                        which models are found here

`tileproof COMMAND --help` describes a command.
"""

COMMANDS = {
    "check": "prove the kernels of some files safe, or report what is wrong",
    "compile": "compile kernels for GPUs, without one, and pack them into a bundle",
    "tune": "find the fastest tile sizes and schedule for some shapes, and keep records of them",
    "ir": "print the typed form of a kernel after a pass",
    "explain": "explain an error code, with a wrong and a right example",
    "audit": "list every tp.unsafe block, with its reason",
    "init": "write a first kernel, its test and linter settings",
    "cache": "show or clear the compiled kernels that are kept on disk",
    "doctor": "report what is installed, which backends work, and how to fix the rest",
    "run": "generate text with a model",
    "chat": "chat with a model in the terminal",
    "serve": "serve a model over HTTP, by the APIs of OpenAI and Anthropic",
    "bench": "measure prefill and decode of a model on this machine",
    "models": "list the models on this machine",
}
"""What each command does, in the order of the help. Its file has the same name."""
_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (that of the process unless given); gives the exit code."""
    try:
        interrupts.raise_again()
        open_streams()
        return _main(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return INTERRUPTED
    finally:
        if interrupts.IS_COMMAND:
            interrupts.end_process()


def _main(words: Sequence[str]) -> int:
    parser = _parser(words)
    try:
        options = parser.parse_args(words)
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
        _drop_output()
        return 1
    except OSError as error:
        print(f"tileproof {options.command}: {_line_of(error)}", file=sys.stderr)
        _drop_output()
        return 2
    except MemoryError as error:
        why = str(error) or "the memory of this machine is not enough"
        print(f"tileproof {options.command}: {why}", file=sys.stderr)
        return 2
    return code


def _line_of(error: OSError) -> str:
    """The error of the system, and the file it is about."""
    why = error.strerror or str(error)
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {why}"
    if isinstance(error, FileNotFoundError):
        return "the current folder is gone: go to another, and call again"
    return f"the output cannot be written: {why}" if error.errno in _WRITING else why


def _drop_output() -> None:
    """Lets go of what was printed and cannot be written: Python would try once more as it ends, and complain."""
    with suppress(OSError, ValueError):  # what stands in for the output may have no number
        number = sys.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Loads the commands that are typed and no others: the checker takes longer to load than most of them to run."""
    parser = argparse.ArgumentParser(
        prog="tileproof",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tileproof {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, summary in COMMANDS.items():
        if name in words:
            importlib.import_module(f".{name}", __package__).add(commands, summary)
        else:
            commands.add_parser(name, help=summary)
    return parser
