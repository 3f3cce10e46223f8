"""Launches on the CPU: the native form of a kernel, found in memory, or made."""

from __future__ import annotations

from itertools import count

from tileproof.backends.cpu import running
from tileproof.backends.cpu.target import host

from .arguments import Bound
from .check import Proved

_numbers = count()


def run(found: Proved, bound: Bound) -> None:
    """Runs a proved kernel natively."""
    arguments = {**bound.tensors, **bound.scalars}
    kernel, target = found.ready, host()
    facts = running.facts_for(kernel, arguments, bound.dimensions, target.caches.l3)
    key = (facts, target)
    loaded = found.native.get(key)
    if loaded is None:
        code = running.compile_kernel(kernel, facts, target, f"tileproof{next(_numbers)}")
        loaded = found.native[key] = running.Loaded(kernel, code)
    loaded.run(arguments, bound.dimensions)
