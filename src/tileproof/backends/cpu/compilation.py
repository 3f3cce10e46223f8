"""From the IR of a kernel to its machine code."""

from __future__ import annotations

from tileproof.ir.ops import KernelIR

from . import llvm
from .parameters import Facts
from .program import Module, module
from .running import Code
from .target import Target


def compile_kernel(kernel: KernelIR, facts: Facts, target: Target, name: str) -> Code:
    """Machine code of a kernel; `name` is its own in this process and wherever it is loaded."""
    made: Module = module(kernel, facts, target, name)
    return Code(
        name, llvm.compile_object(made.text, target), made.arena, made.piece, made.dimensions, made.shown,
        made.packs, made.is_ordered, made.piece > 0,
    )  # fmt: skip
