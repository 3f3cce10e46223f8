"""`tileproof ir`: prints the typed form of a kernel after any pass."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tileproof.diagnostics import Code, Diagnostic, KernelError, TileproofError, render, shown_path
from tileproof.frontend import pipeline
from tileproof.ir.printer import print_kernel
from tileproof.language.kernel import Kernel
from tileproof.lowering.checks import place_checks
from tileproof.runtime.check import verdict

from . import constants
from .load import load
from .usage import UsageError, suggestion, wants_color

EXAMPLES = """\
examples:
  tileproof ir matmul.py                    every kernel of the file, after the last pass
  tileproof ir matmul.py:matmul             one of them
  tileproof ir norm.py --with D=2560        with the dimension D known
  tileproof ir matmul.py --after elaborate  as it was after that pass

The last pass puts in the checks that stay for run time. A kernel that is not proved is printed as it was before.
"""
CHECKS = "checks"
"""The pass after those of the front end."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser], summary: str) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "ir",
        help=summary,
        description="Prints the intermediate representation of the kernels of a file.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("target", metavar="FILE[:KERNEL]", help="a Python file; one kernel of it")
    parser.add_argument("--after", metavar="PASS", help=f"stop after a pass: {', '.join(_passes())}")
    constants.add_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Carries the command out; gives the exit code."""
    _demand_pass(options.after)
    try:
        kernels = _kernels(options.target)
        given = dict(options.constants)
        constants.demand_known(given, kernels)
        texts = [_text(kernel, constants.for_kernel(kernel, given), options.after) for kernel in kernels]
    except TileproofError as error:
        color = wants_color(sys.stderr)
        print("\n\n".join(render(each, color=color) for each in error.diagnostics), file=sys.stderr)
        return 1
    print("\n\n".join(texts))
    return 0


def _passes() -> list[str]:
    return [*pipeline.names(), CHECKS]


def _text(kernel: Kernel, given: dict[str, int], after: str | None) -> str:
    if after in (None, CHECKS):
        found = verdict(kernel, given)
        if found.accepted:
            return print_kernel(place_checks(found)).rstrip("\n")
        if after == CHECKS:
            raise KernelError(*found.findings)
    return print_kernel(pipeline.run(kernel, given, after=after)).rstrip("\n")


def _demand_pass(name: str | None) -> None:
    names = _passes()
    if name is not None and name not in names:
        raise UsageError(
            f"--after {name}: there is no pass of that name{suggestion(name, names)}; "
            f"the passes are, in order: {', '.join(names)}"
        )


def _kernels(target: str) -> tuple[Kernel, ...]:
    file, wanted = _split(target)
    loaded = load(file)
    if loaded.problems:
        raise KernelError(*loaded.problems)
    chosen = tuple(kernel for kernel in loaded.kernels if wanted in ("", kernel.name))
    if not chosen:
        names = [kernel.name for kernel in loaded.kernels]
        which = f"kernel `{wanted}`{suggestion(wanted, names)}" if wanted else "kernel"
        raise KernelError(
            Diagnostic(
                Code.NO_KERNEL,
                f"`{shown_path(loaded.file)}` has no {which}",
                notes=(f"its kernels are: {', '.join(names)}" if names else "it defines no kernel at all",),
                help="a kernel is a function at the top level of the file, under @tp.kernel",
            )
        )
    return chosen


def _split(target: str) -> tuple[str, str]:
    """`FILE:KERNEL` into its parts; a file whose own name has a colon is taken as it is."""
    if Path(target).exists() or ":" not in target:
        return target, ""
    file, _, kernel = target.rpartition(":")
    return file, kernel
