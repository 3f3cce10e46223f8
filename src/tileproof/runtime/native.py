"""Launches on the CPU: the native form of a kernel, found in memory, found on disk, or made."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import astuple
from itertools import count
from typing import Any

from tileproof.backends.cpu import llvm, running
from tileproof.backends.cpu.blocking import depth_for
from tileproof.backends.cpu.facts import Facts
from tileproof.backends.cpu.fusing import fuse
from tileproof.backends.cpu.pool import Pool, pool_text
from tileproof.backends.cpu.target import Target, host
from tileproof.frontend.elaborate import parse
from tileproof.frontend.pipeline import verified
from tileproof.ir.ops import KernelIR
from tileproof.language.kernel import Kernel

from . import repeats
from .arguments import Bound
from .cache import default, digest
from .check import Proved
from .proofs import fingerprint, read_entry, write_entry

_making = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)
_numbers = count()
_loaded: dict[str, tuple[running.Code, Mapping[str, int]]] = {}
"""By key: code is loaded once, whoever asks for it. Kernels of one text share it, but not where they were written."""
_pools: list[Pool] = []


def repeat(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Runs a launch that is like an earlier one; False if it is not, and nothing was done."""
    memory: dict[Any, repeats.Repeat | None] = kernel.cache.setdefault("launches", {})
    found = memory.get(repeats.key_of(args, named))
    return found is not None and found.target is host() and repeats.run(found, args, pool())


def launch(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any], found: Proved, bound: Bound) -> None:
    """Runs a kernel natively, and remembers how for launches like this one."""
    target = host()
    loaded = _run(found, bound, target)
    key = repeats.key_of(args, named)
    if key is not None and not named.keys() & bound.tensors.keys():
        memory: dict[Any, repeats.Repeat | None] = kernel.cache.setdefault("launches", {})
        repeats.note(memory, key, repeats.remember(found, parse(kernel).signature, target, bound, loaded, args))


def _run(found: Proved, bound: Bound, target: Target) -> running.Loaded:
    arguments = {**bound.tensors, **bound.scalars}
    depth = depth_for(target)
    if depth not in found.native:
        found.native[depth] = verified(fuse(found.ready, depth))
    kernel = found.native[depth]
    facts = running.facts_for(kernel, arguments, bound.dimensions, target.caches.l3)
    loaded = found.native.get((facts, target))
    if loaded is None:
        with _making:
            loaded = found.native.get((facts, target)) or _ready(found, kernel, facts, target)
            found.native[facts, target] = loaded
    loaded.run(arguments, bound.dimensions, pool())
    return loaded


def _ready(found: Proved, kernel: KernelIR, facts: Facts, target: Target) -> running.Loaded:
    """A kernel's native form for some facts, from disk if it is there."""
    if not found.key:
        code = running.compile_kernel(kernel, facts, target, f"tileproof_{next(_numbers)}")
        return running.Loaded(kernel, code)
    key = digest("cpu", found.key, astuple(facts), depth_for(target), target.key, target.caches.l3, llvm.version())
    if key not in _loaded:
        stored = default()
        code = read_entry(stored, key, ())
        if not isinstance(code, running.Code):
            code = running.compile_kernel(kernel, facts, target, f"tileproof_{key[:32]}")
            stored.put(key, write_entry(code, ()))
        _loaded[key] = code, running.load(code)
    return running.Loaded(kernel, *_loaded[key])


def pool() -> Pool:
    """The threads of this process."""
    if not _pools:
        with _making:
            if not _pools:
                _pools.append(Pool(_pool_code(host())))
    return _pools[0]


def _pool_code(target: Target) -> bytes:
    key = digest("pool", fingerprint(), target.key, llvm.version())
    stored = default()
    code = stored.get(key)
    if code is None:
        code = llvm.compile_object(pool_text(target), target)
        stored.put(key, code)
    return code
