"""`--with D=128`: values for the constants of kernels, given on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from tileproof.diagnostics.values import shortened
from tileproof.language.kernel import Kernel

from .command_line import UsageError, suggestion

SYMBOLIC = "Without it a dimension stays symbolic and other constants have their defaults"


def add_option(parser: argparse.ArgumentParser, without: str = SYMBOLIC) -> None:
    """Adds the option, which may be given several times; `without` says what holds if it is not."""
    parser.add_argument(
        "--with",
        dest="constants",
        metavar="NAME=VALUE",
        action="append",
        type=_pair,
        default=[],
        help=f"the value of a constant, such as D=128; may be repeated. {without}",
    )


def _pair(text: str) -> tuple[str, int]:
    name, sign, value = text.partition("=")
    try:
        if not (sign and name.isidentifier()):
            raise ValueError
        return name, int(value, 0)
    except ValueError:
        message = f"`{shortened(text)}` is not a name and an integer, such as D=128"
        raise argparse.ArgumentTypeError(message) from None


def names_of(kernel: Kernel) -> tuple[str, ...]:
    """The names of a kernel's constants: its keyword-only parameters."""
    code = kernel.function.__code__
    return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]


def for_kernel(kernel: Kernel, constants: Mapping[str, int]) -> dict[str, int]:
    """Those of the given values that a kernel has a constant for."""
    return {name: value for name, value in constants.items() if name in names_of(kernel)}


def demand_known(constants: Mapping[str, int], kernels: Sequence[Kernel]) -> None:
    """Refuses a name that is a constant of no kernel: a misspelt one would otherwise be ignored."""
    known = sorted({name for kernel in kernels for name in names_of(kernel)})
    for name in constants:
        if kernels and name not in known:
            there = f"the constants are: {', '.join(known)}" if known else "there are no constants"
            close = suggestion(name, known)
            raise UsageError(f"--with {name}: no kernel has a constant of that name{close}; {there}")
