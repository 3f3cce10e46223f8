"""The instructions that LLVM makes of a text, for tests that count them."""

from __future__ import annotations

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.target import Target


def assembly(text: str, target: Target) -> str:
    """What `llvm.compile_object` gives, as text."""
    with llvm._optimised(text, target) as (module, machine):
        return str(machine.emit_assembly(module))
