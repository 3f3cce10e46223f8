"""Launches on the CPU: the native form of a kernel, found in memory, found on disk, or made."""

from __future__ import annotations

import os
import threading
from array import array
from collections.abc import Callable, Mapping
from dataclasses import astuple
from itertools import count
from typing import Any

from tileproof.backends.cpu import llvm, running
from tileproof.backends.cpu.blocking import depth_for
from tileproof.backends.cpu.facts import Facts
from tileproof.backends.cpu.fusing import fuse
from tileproof.backends.cpu.target import Target, host
from tileproof.backends.launching import require
from tileproof.frontend.elaborate import parse
from tileproof.frontend.pipeline import verified
from tileproof.ir.ops import KernelIR
from tileproof.language.kernel import Kernel

from . import repeats
from .arguments import Bound
from .cache import default, digest
from .check import Proved
from .cpu_streams import Called, caller, current
from .leases import Work
from .owned import is_own, note_writes, work_of
from .proofs import read_entry, write_entry
from .workers import pool

_making = threading.RLock()
"""A handler of a signal that comes while this thread makes something may make something too."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)
_numbers = count()
_loaded: dict[str, tuple[running.Code, Mapping[str, int]]] = {}
"""By key: code is loaded once, whoever asks for it. Kernels of one text share it, but not where they were written."""


def repeat(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Runs a launch that is like an earlier one; False if it is not, and nothing was done."""
    memory: dict[Any, repeats.Repeat | None] | None = kernel.cache.get("launches")
    if memory is None:
        return False
    found = memory.get(repeats.key_of(args, named))
    return found is not None and found.target is host() and repeats.run(found, args, pool())


def launch(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any], found: Proved, bound: Bound) -> None:
    """Starts a kernel, and remembers how for those like it. On memory of others it is done when this returns."""
    signature = parse(kernel).signature
    launched = remembered(kernel, args, named, found, bound)
    if launched is not None:
        launched.guards = bound.guards
        launched.note = lambda: note_writes(signature, bound, found)
        repeats.start(launched, pool())
        launched.note = None  # it holds what the launch is made of, and was of use
        return
    require(found.ready, bound.scalars, bound.dimensions)
    work, function = work_of(signature, bound, args), deferred(found, bound)
    if is_own(bound):
        written = work.views
        work = called = Called(work.name, function, work.reads, work.writes, args)
        called.guards, called.own, called.views = bound.guards, tuple(bound.own.values()), written
    work.note = lambda: note_writes(signature, bound, found)
    if is_own(bound):
        current().push(work, called.steps)
    else:
        with caller().doing(work):
            function()
    work.note = None


def steps_of(
    kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any], found: Proved, bound: Bound
) -> tuple[Work, array[int]]:
    """A launch for a graph: what it uses, and the steps of a queue that run it. The work keeps what they need."""
    launched = remembered(kernel, args, named, found, bound, in_graph=True)
    if launched is not None:
        return launched, repeats.steps_in(launched, bound, pool())
    work = work_of(parse(kernel).signature, bound, args)
    called = Called(work.name, deferred(found, bound), work.reads, work.writes, args)
    return called, called.steps


def remembered(
    kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any], found: Proved, bound: Bound, *, in_graph: bool = False
) -> repeats.Launched | None:
    """A launch in the form in which those like it run, if it has one. In a graph it may be several steps."""
    target = host()
    loaded = _loaded_for(found, bound, target)
    key = repeats.key_of(args, named)
    if key is None or named.keys() & bound.tensors.keys():
        return None
    if loaded.has_setup and (loaded.is_plain or in_graph):
        require(found.ready, bound.scalars, bound.dimensions)  # what is like this launch keeps its contracts too
    memory = kernel.cache.setdefault("recorded" if in_graph else "launches", {})
    # A graph has the same launch for every layer of a model, and it is large.
    repeat = memory.get(key) if in_graph else None
    if repeat is None or not repeat.is_of(found, target, loaded, bound):
        signature = parse(kernel).signature
        repeat = repeats.remember(found, signature, target, bound, loaded, args, pool(), in_graph=in_graph)
        repeats.note(memory, key, repeat)
    return None if repeat is None else repeats.prepared(repeat, args, is_checked=True)


def deferred(found: Proved, bound: Bound) -> Callable[[], None]:
    """A launch as a function, for launches that are more than one job."""
    loaded = _loaded_for(found, bound, host())
    arguments = {**bound.tensors, **bound.scalars}
    return lambda: loaded.run(arguments, bound.dimensions, pool())


def _loaded_for(found: Proved, bound: Bound, target: Target) -> running.Loaded:
    arguments = {**bound.tensors, **bound.scalars}
    depth = depth_for(target)
    if depth not in found.native:
        found.native[depth] = verified(fuse(found.ready, depth))
    kernel = found.native[depth]
    facts = running.facts_for(kernel, arguments, bound.dimensions, target.caches.l3)
    loaded: running.Loaded | None = found.native.get((facts, target))
    if loaded is None:
        with _making:
            made = found.native.get((facts, target)) or _ready(found, kernel, facts, target)
            loaded = found.native.setdefault((facts, target), made)
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
        if key not in _loaded:  # else a handler of a signal came in between and needed the same
            _loaded[key] = code, running.load(code)
    return running.Loaded(kernel, *_loaded[key])
