"""`tileproof ir`: prints the typed form of a kernel after any pass, on its way to any target."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tileproof.backends.cpu.target import depth_for, host
from tileproof.backends.cuda.assembler.toolchain import ARCHITECTURES
from tileproof.compiler.compile import verdict
from tileproof.compiler.pipeline import (
    ELABORATE,
    FRONT_END,
    Cpu,
    Cuda,
    Interpreter,
    Pass,
    Target,
    apply,
    of_target,
    shared,
    verified,
)
from tileproof.diagnostics import Code, Diagnostic, KernelError, TileproofError, display_path
from tileproof.frontend.elaborate import accepted
from tileproof.ir.printer import print_kernel
from tileproof.language.kernel import Kernel

from . import constants
from .command_line import Commands, UsageError, add_command, print_findings, suggestion
from .kernel_file import load

EXAMPLES = """\
examples:
  tileproof ir matmul.py                    every kernel of the file, proved, with the checks that remain
  tileproof ir matmul.py:matmul             one of them
  tileproof ir norm.py --with D=2560        with the dimension D known
  tileproof ir matmul.py --after elaborate  after the first pass
  tileproof ir matmul.py --target cpu       after the last pass of the CPU target
  tileproof ir matmul.py --target sm_90 --after accumulate
  tileproof ir --list-passes                every pass in order, and what it does

A kernel is proved between the passes of the front end and those that follow. One that is not proved has no code: it is
printed after the front end, and is an error where --target or a later pass is given.
"""
_TARGETS: Final[Mapping[str, Target]] = {"interpreter": Interpreter(), "cpu": Cpu(depth=0), "sm_XX": Cuda()}
"""A target of each kind, by the name that --target gives it, for the names of its passes."""


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = "Prints the intermediate representation of the kernels of a file, after any pass of the compiler."
    parser = add_command(commands, "ir", summary, description, EXAMPLES)
    option = parser.add_argument
    option("file", metavar="FILE[:KERNEL]", nargs="?", help="a Python file; one kernel of it")
    option("--after", metavar="PASS", help=f"stop after a pass: {', '.join(_passes_of_all())}")
    names = "cpu for this machine's, an architecture of GPUs such as sm_90, or interpreter"
    option("--target", metavar="TARGET", help=f"run the passes of a target too: {names}")
    option("--list-passes", action="store_true", help="print every pass in order, or those of --target, and stop")
    constants.add_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    kind = None if options.target is None else _kind(options.target)
    if options.list_passes:
        print("\n".join(_listing(_TARGETS if kind is None else {kind: _TARGETS[kind]})))
        return 0
    if options.file is None:
        raise UsageError("name a Python file with kernels, or ask for the passes: --list-passes")
    _demand_pass(options.after, kind)
    try:
        target = None if kind is None else Cpu(depth_for(host())) if kind == "cpu" else _TARGETS[kind]
        kernels = _kernels(options.file)
        values = dict(options.constants)
        constants.demand_known(values, kernels)
        texts = [_text(kernel, constants.for_kernel(kernel, values), target, options.after) for kernel in kernels]
    except TileproofError as error:
        print_findings(error.diagnostics, sys.stderr)
        return 1
    print("\n\n".join(texts))
    return 0


def _text(kernel: Kernel, values: dict[str, int], target: Target | None, after: str | None) -> str:
    ir = verified(accepted(kernel, values).ir, ELABORATE)
    if after != ELABORATE:
        ir = apply(FRONT_END, ir, after)
    if after not in (ELABORATE, *_names(FRONT_END)):
        outcome = verdict(kernel, values)
        if outcome.accepted and outcome.kernel is not None:
            ir = apply((*shared(outcome.residuals), *of_target(target or Interpreter())), outcome.kernel, after)
        elif target is not None or after is not None:
            raise KernelError(*outcome.findings)
    return print_kernel(ir).rstrip("\n")


# Passes and targets, by name.


def _names(passes: Sequence[Pass]) -> list[str]:
    return [step.name for step in passes]


def _passes(kind: str) -> list[str]:
    """The names of every pass on the way to a target, in order."""
    return [ELABORATE, *_names((*FRONT_END, *shared(), *of_target(_TARGETS[kind])))]


def _passes_of_all() -> list[str]:
    return list(dict.fromkeys(name for kind in _TARGETS for name in _passes(kind)))


def _kind(target: str) -> str:
    """What kind of target a name is of: all architectures of GPUs have the same passes."""
    if target in ARCHITECTURES:
        return "sm_XX"
    names = ("cpu", *ARCHITECTURES, "interpreter")
    if target not in names:
        close = suggestion(target, names)
        raise UsageError(f"--target {target}: there is no such target{close}; there are {', '.join(names)}")
    return target


def _demand_pass(name: str | None, kind: str | None) -> None:
    """Raises unless a pass is one of the target's; without a target, of those that all targets share."""
    names = _passes(kind or "interpreter")
    if name is None or name in names:
        return
    having = [target for target in _TARGETS if name in _passes(target)]
    if having:
        which = f"without --target, the passes are those of all targets; add --target {having[0]}"
        if kind is not None:
            which = f"it is no pass of this target, but of {' and '.join(having)}"
        raise UsageError(f"--after {name}: {which}; the passes here are, in order: {', '.join(names)}")
    names = names if kind is not None else _passes_of_all()
    close = suggestion(name, names)
    raise UsageError(
        f"--after {name}: there is no pass of that name{close}; the passes are, in order: {', '.join(names)}"
    )


def _listing(targets: Mapping[str, Target]) -> list[str]:
    """Every pass with what it does, in order, under the step it belongs to."""
    steps = {
        "front end": [(ELABORATE, "translates the Python source to typed IR"), *_rows(FRONT_END)],
        "after the proof, for every target": _rows(shared()),
        **{f"then for --target {kind}": _rows(of_target(target)) for kind, target in targets.items()},
    }
    width = max(map(len, _passes_of_all()))
    lines: list[str] = []
    for step, rows in steps.items():
        lines += [f"{step}:", *(f"  {name:<{width}}  {summary}" for name, summary in rows or [("none", "")])]
    return [line.rstrip() for line in lines]


def _rows(passes: Sequence[Pass]) -> list[tuple[str, str]]:
    return [(step.name, step.summary) for step in passes]


# Kernels.


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
                f"`{display_path(loaded.file)}` has no {which}",
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
