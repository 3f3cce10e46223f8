"""Every pass of the compiler, in order: from Python source to the IR that each target makes code of.

`elaborate` makes IR of Python, and the passes of the front end simplify it. Then the kernel is proved, or rejected. A
proved kernel goes through the passes that all targets share, then through those of one target. A pass takes IR and
returns IR, and has no other effect. The verifier checks the result where TILEPROOF_VERIFY is set; `tileproof ir --after
PASS --target TARGET` prints it. No other file calls a pass.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from tileproof.analysis.verdict import Residual, Verdict
from tileproof.backends.cpu.gemm.loop_depth import deepen_products
from tileproof.frontend.elaborate import elaborate
from tileproof.frontend.signature import Elaborated
from tileproof.frontend.simplify import simplify
from tileproof.frontend.specialization import Specialization
from tileproof.ir.ops import KernelIR
from tileproof.ir.verifier import IRError, verify
from tileproof.language.kernel import Kernel
from tileproof.lowering.product_sums import add_products
from tileproof.lowering.residual_checks import place_checks


@dataclass(frozen=True, slots=True)
class Pass:
    """A step from IR to IR. Whatever else it depends on is bound in `run`."""

    name: str
    run: Callable[[KernelIR], KernelIR]
    summary: str


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The interpreter. It defines what a kernel computes, so nothing is rewritten for it."""


@dataclass(frozen=True, slots=True)
class Cpu:
    """Processors whose caches hold panels of products this deep; `target.depth_for` computes it."""

    depth: int


@dataclass(frozen=True, slots=True)
class Cuda:
    """Every NVIDIA GPU: what differs between architectures is decided where Tile IR is written."""


Target: TypeAlias = Interpreter | Cpu | Cuda
"""What IR is lowered for, with the properties of it that passes depend on: equal targets get equal IR."""


# The list.

ELABORATE: Final = "elaborate"
"""The name of the first step, which makes IR of Python."""

FRONT_END: Final = (
    # Ahead of the proof, which then has less to read.
    Pass("simplify", simplify, "removes unused values, and duplicates of numbers and positions"),
)

_ACCUMULATE: Final = Pass("accumulate", add_products, "`x + l @ r` becomes a product that accumulates into x")


def shared(residuals: Sequence[Residual] = ()) -> tuple[Pass, ...]:
    """The passes of all targets that follow the proof. `residuals` are the obligations that it left for run time."""
    return (
        # First: residuals name operations of the IR that was proved.
        Pass("checks", partial(place_checks, residuals=residuals), "inserts the checks that remain at run time"),
    )


def of_target(target: Target) -> tuple[Pass, ...]:
    """The passes of one target, which follow those of all targets."""
    match target:
        case Interpreter():
            return ()
        case Cpu(depth):
            return (
                _ACCUMULATE,
                Pass("deepen", partial(deepen_products, depth=depth), "loops over products take longer steps along K"),
            )
        case Cuda():
            return (_ACCUMULATE,)


# Running it.


def compile_for(kernel: Kernel, specialization: Specialization) -> Elaborated:
    """The IR of a kernel for one specialization, as it is proved."""
    return passed(elaborate(kernel, specialization))


def passed(elaborated: Elaborated) -> Elaborated:
    """What an elaborated kernel becomes in the passes of the front end."""
    return Elaborated(apply(FRONT_END, verified(elaborated.ir, ELABORATE)), elaborated.captures)


def with_checks(verdict: Verdict) -> KernelIR:
    """A proved kernel with the checks that its proof left. Proofs on disk keep it, and every target begins with it."""
    if verdict.kernel is None:
        raise ValueError("a kernel that the front end rejected has no IR")
    return apply(shared(verdict.residuals), verdict.kernel)


def lower(ir: KernelIR, target: Target) -> KernelIR:
    """The IR that a target makes code of, from the IR of `with_checks`, or without checks that was proved."""
    return apply(of_target(target), ir)


def apply(passes: Sequence[Pass], ir: KernelIR, after: str | None = None) -> KernelIR:
    """What passes make of a kernel, all of them or up to `after`."""
    for step in passes:
        ir = verified(step.run(ir), step.name)
        if step.name == after:
            break
    return ir


def verified(ir: KernelIR, name: str) -> KernelIR:
    """What a pass made, verified where the environment asks for it: a mistake found here is tileproof's own."""
    if os.environ.get("TILEPROOF_VERIFY"):
        try:
            verify(ir)
        except IRError as error:
            error.add_note(f"the pass `{name}` made this IR")
            raise
    return ir
