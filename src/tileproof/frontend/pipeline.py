"""The passes from source to IR, by name, so that each can be run and printed alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final

from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import KernelError
from tileproof.ir.ops import KernelIR
from tileproof.ir.verifier import verify
from tileproof.language.kernel import Kernel

from .elaborate import Elaborated, elaborate, parse
from .refusal import Refused
from .specialisation import ConstantValue, Specialisation, generic, told_for
from .tidy import tidy

PASSES: Final[tuple[tuple[str, Callable[[KernelIR], KernelIR]], ...]] = (("tidy", tidy),)
"""What follows `elaborate`, in order."""


def names() -> list[str]:
    """The names of all passes, in order."""
    return ["elaborate", *(name for name, _ in PASSES)]


def compile_for(kernel: Kernel, specialisation: Specialisation, after: str | None = None) -> Elaborated:
    """The IR of a kernel for one specialisation, through all passes or up to `after`."""
    return passed(elaborate(kernel, specialisation), after)


def passed(made: Elaborated, after: str | None = None) -> Elaborated:
    """What an elaborated kernel becomes in the passes that follow, all of them or up to `after`."""
    ir = verified(made.ir)
    if after != "elaborate":
        for name, run_pass in PASSES:
            ir = verified(run_pass(ir))
            if name == after:
                break
    return Elaborated(ir, made.captures)


def verified(ir: KernelIR) -> KernelIR:
    """`ir`, verified where the environment asks for it, as the tests do: a mistake found here is tileproof's own."""
    if os.environ.get("TILEPROOF_VERIFY"):
        verify(ir)
    return ir


def accepted(kernel: Kernel, constants: Mapping[str, ConstantValue]) -> Elaborated:
    """A kernel for the first generic specialisation it is elaborated for; if there is none, raises the mistakes of one.

    The one that got furthest: a kernel for integers is not told that its `&` does not work on bf16.
    """
    signature = parse(kernel).signature
    failed: list[tuple[Diagnostic, ...]] = []
    try:
        for specialisation in generic(signature, constants):
            try:
                return elaborate(kernel, specialisation)
            except KernelError as error:
                failed.append(tuple(told_for(each, signature, specialisation) for each in error.diagnostics))
    except Refused as refused:
        raise KernelError(refused.diagnostic) from None
    raise KernelError(*max(failed, key=lambda mistakes: _place(mistakes[0])))


def _place(mistake: Diagnostic) -> tuple[int, int]:
    return (mistake.span.line, mistake.span.column) if mistake.span else (0, 0)


def run(kernel: Kernel, constants: Mapping[str, ConstantValue], after: str | None = None) -> KernelIR:
    """The IR a reader is shown: for the first element types the kernel compiles for."""
    return passed(accepted(kernel, constants), after).ir
