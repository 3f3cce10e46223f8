"""The passes from source to IR, by name, so that each can be run and printed alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final

from tileproof.diagnostics.errors import KernelError
from tileproof.ir.ops import KernelIR
from tileproof.ir.verifier import verify
from tileproof.language.kernel import Kernel

from .binding import ConstantValue, Specialisation, generic
from .elaborate import Elaborated, elaborate, parse
from .refusal import Refused
from .tidy import tidy

PASSES: Final[tuple[tuple[str, Callable[[KernelIR], KernelIR]], ...]] = (("tidy", tidy),)
"""What follows `elaborate`, in order."""


def names() -> list[str]:
    """The names of all passes, in order."""
    return ["elaborate", *(name for name, _ in PASSES)]


def compile_for(kernel: Kernel, specialisation: Specialisation, after: str | None = None) -> Elaborated:
    """The IR of a kernel for one specialisation, through all passes or up to `after`."""
    made = elaborate(kernel, specialisation)
    ir = _verified(made.ir)
    if after != "elaborate":
        for name, run_pass in PASSES:
            ir = _verified(run_pass(ir))
            if name == after:
                break
    return Elaborated(ir, made.captures)


def _verified(ir: KernelIR) -> KernelIR:
    """`ir`, verified where the environment asks for it, as the tests do: a mistake found here is tileproof's own."""
    if os.environ.get("TILEPROOF_VERIFY"):
        verify(ir)
    return ir


def accepted(kernel: Kernel, constants: Mapping[str, ConstantValue]) -> list[Specialisation]:
    """The generic specialisations a kernel compiles for; raises the mistakes of the first if there are none."""
    parsed = parse(kernel)
    first: KernelError | None = None
    found = []
    try:
        for specialisation in generic(parsed.signature, constants):
            try:
                elaborate(kernel, specialisation)
                found.append(specialisation)
            except KernelError as error:
                first = first or error
    except Refused as refused:
        raise KernelError(refused.diagnostic) from None
    if not found and first is not None:
        raise first
    return found


def run(kernel: Kernel, constants: Mapping[str, ConstantValue], after: str | None = None) -> KernelIR:
    """The IR a reader is shown: for the first element types the kernel compiles for."""
    return compile_for(kernel, accepted(kernel, constants)[0], after).ir
