"""Which tiles a kernel walks its dimensions by: where they divide an extent, no tile is short."""

from __future__ import annotations

from tileproof.ir.ops import KernelIR, Parallel, TilesLoop
from tileproof.ir.walk import walk


def walks(kernel: KernelIR) -> tuple[tuple[str, int], ...]:
    """Every dimension that is walked by tiles of more than one element, and their size."""
    found: dict[tuple[str, int], None] = {}
    for op in walk(kernel.body):
        walkers = op.walkers if isinstance(op, Parallel) else (op.walker,) if isinstance(op, TilesLoop) else ()
        for walker in walkers:
            of = walker.type
            if isinstance(of.size, int) and of.size > 1:
                found[of.dimension, of.size] = None
    return tuple(found)
