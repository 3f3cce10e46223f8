"""Launches on the CPU: what the code is given, and on which thread it runs.

Memory that nobody else can reach may be in flight: the launch goes to the current stream. Any other launch is done when
the call returns; it takes its leases, copies what `premises` says, and runs on the thread that called.

A launch that is one job is remembered as a plan. What is like it later is matched with the plan (`fast`), and takes the
same two ways with the words that the plan gives.
"""

from __future__ import annotations

import os
import threading
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from itertools import count
from typing import Any, Final

import numpy as np

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.codegen.parameters import Specialization
from tileproof.backends.cpu.device import loaded_code as running
from tileproof.backends.cpu.device.loaded_code import NOBODY, Loaded, Lowered
from tileproof.backends.cpu.device.pool import ARENAS
from tileproof.backends.cpu.device.queue import STEP, copy_of, step_of
from tileproof.backends.cpu.target import Target, depth_for, host
from tileproof.backends.scalars import scalar_word
from tileproof.compiler.cache import default, digest
from tileproof.compiler.proofs import keep_ir, read_entry, read_ir, write_entry
from tileproof.compiler.proved import Proved, signature_of
from tileproof.frontend.signature import ContentOf, Signature, TensorParameter
from tileproof.ir import ops
from tileproof.ir.types import Access
from tileproof.language.kernel import Memo
from tileproof.runtime import native as fast
from tileproof.runtime.interop.describe import address_of, keep_still
from tileproof.runtime.memory.block import Block
from tileproof.runtime.memory.ledger import Span, Work, ledger_of
from tileproof.runtime.stream.cpu_streams import Called, caller, current
from tileproof.runtime.stream.thread_pool import pool
from tileproof.runtime.tensor.tensors import Tensor

from .binding import Bound
from .cpu_plans import RECORD, plan_of
from .launch_cache import Form, are_recognized, launch_with, remember
from .owned import is_own, note_writes, work_of
from .premises import Copy, bring, bring_back, check_own_contents, copy_for, fill

_ALIGNMENT: Final = 64
_making = threading.RLock()
"""What is made of a kernel is made once."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)
_numbers = count()
_loaded: dict[str, tuple[running.Code, Mapping[str, int]]] = {}
"""By key: code is loaded once, whoever asks for it. Kernels of one text share it, but not where they were written."""
_lowered_ones: Final = Memo[dict[int, Lowered]](dict)
"""By how many products of the processor may be under way at once."""
_loaded_ones: Final = Memo[dict[tuple[Specialization, Target], Loaded]](dict)
_ledger: Final = ledger_of(None)


class Launched(Work):
    """A launch that is jobs of the pool: its words are filled in, and nothing has run."""

    __slots__ = ("copies", "dimensions", "is_own", "kept", "loaded", "own", "own_written", "programs", "words")

    def __init__(
        self, name: str, loaded: Loaded, words: array[int], programs: int, dimensions: Mapping[str, int],
        reads: Sequence[Span], writes: Sequence[Span], keep: object, own: Sequence[Tensor],
        own_written: Sequence[Tensor], *, is_own: bool, copies: Sequence[Copy] = (),
    ) -> None:  # fmt: skip
        # Written out, because a call of the one above takes as long as all of this.
        self.name, self.reads, self.writes, self.keep = name, reads, writes, keep
        self.turn = self.number = 0
        self.guards, self.note, self.views = (), None, None
        self.loaded, self.words, self.programs, self.dimensions = loaded, words, programs, dimensions
        self.own, self.own_written = own, own_written
        self.is_own = is_own
        """Whether nobody else can reach its memory, so that it may be in flight."""
        self.copies = copies
        """Memory of its own in place of premises that others can reach."""
        self.kept: object = None
        """What the steps of a graph use besides: values that tensors begin as, and room for what pieces find."""

    def is_current(self) -> bool:
        if self.is_own:
            for tensor in self.own:
                if tensor.block.lent:
                    return False
        return not self.guards or super().is_current()

    def note_writes(self) -> None:
        if self.note is not None:
            self.note()
            return
        for tensor in self.own_written:
            if tensor.block.written is None:
                tensor.block.writes += 1
            else:
                tensor.note_write()

    def written(self) -> Sequence[Span]:
        return [
            (int(low), int(high))
            for tensor in self.own_written
            if tensor.block.account is not None
            for low, high in tensor.runs
        ]

    def run(self, _: int) -> None:
        """Does the launch on this thread, which has taken its leases."""
        bring(self.copies)
        if self.programs:
            code, words = self.loaded.code, self.words
            arena = ARENAS.take(code.arena)
            pool().run(self.loaded.main, words[2], self.programs, words[4], code.arena, arena)
            ARENAS.give(arena)
        error = self.failure()
        if error is not None:
            raise error
        bring_back(self.copies)

    def failure(self) -> BaseException | None:
        words = self.words
        return None if words[-5] == NOBODY else self.failure_in(words[-6:])

    def may_fail(self) -> bool:
        return self.loaded.has_checks

    def failure_in(self, record: Sequence[int]) -> BaseException:
        """What a failed check reported there."""
        return self.loaded.failure(record, self.dimensions, {})

    def address_words(self) -> None:
        """Has the words point to one another, once they lie where they stay."""
        words, address = self.words, self.words.buffer_info()[0]
        words[2] = address + 8 * STEP
        words[6] = words[STEP] = address + 8 * (len(words) - len(RECORD))


# Starting.


def launch(loaded: Loaded, proved: Proved, bound: Bound) -> None:
    """Runs a launch that was bound and checked, and remembers how for those like it."""
    signature = signature_of(proved)
    if not loaded.is_plain:
        _launch_in_parts(proved, bound, loaded)
        return
    launched = _of(proved, bound, loaded)
    launched.guards = bound.guards
    launched.note = lambda: note_writes(signature, bound, proved)
    start(launched, proved, signature)
    launched.note = None  # it holds what the launch is made of, and was of use
    if bound.args is None or not are_recognized(signature, bound.args):
        return
    plan = plan_of(proved, bound, bound.args, loaded, launched.words, launched.programs)
    if plan is not None:
        remember(proved, bound.constants_given, plan, host())


def _launch_in_parts(proved: Proved, bound: Bound, loaded: Loaded) -> None:
    """Runs a launch that is more than one job, or needs Python in between."""
    if not is_own(bound):
        run_here(deferred(loaded, bound), proved, bound)
        return
    work, steps = called(deferred(loaded, bound), proved, bound)
    work.guards, work.own = bound.guards, tuple(bound.own.values())
    work.note = lambda: note_writes(signature_of(proved), bound, proved)
    current().push(work, steps)
    work.note = None


def run_here(function: Callable[[], None], proved: Proved, bound: Bound) -> None:
    """Runs a launch that is a function of Python on this thread."""
    signature = signature_of(proved)
    work = work_of(signature, bound, bound.keep)
    work.note = lambda: note_writes(signature, bound, proved)
    fill(bound.copies, proved, signature, bound.dimensions)

    def run(_: int) -> None:
        bring(bound.copies)
        function()
        bring_back(bound.copies)

    caller().run(work, run)
    work.note = None


def start(launched: Launched, proved: Proved, signature: Signature) -> None:
    """Gives a launch to the current stream, or does it here if others can reach its memory."""
    if not launched.programs and not launched.copies:
        return
    launched.address_words()
    if launched.is_own:
        current().push(launched, launched.words)
        return
    fill(launched.copies, proved, signature, launched.dimensions)
    caller().run(launched, launched.run)


def launch_by_plan(form: Form, args: tuple[Any, ...]) -> bool:
    """Launches like an earlier launch; False if none is like it, and nothing was done."""
    packed, proved = form.plans.packed, form.proved
    target = host()
    if not packed or not (form.target is target or form.target == target):
        return False
    signature, copies, guards = signature_of(proved), list[Copy](), list[tuple[Block, int]]()
    in_place = list[tuple[int, TensorParameter, bytes | None, int]]()
    kept = keep_still(args)
    if kept is None:
        return False
    for value in kept:
        if type(value) is Tensor:
            value.make_record()
    for place, parameter in form.premises:
        value = kept[place]
        if type(value) is Tensor:
            version = value.block.version  # before: who gets hold of it makes another one
            if not value.block.is_shared:
                guards.append((value.block, version))
                in_place.append((place, parameter, value._record, version))
                continue
        copy = copy_for(parameter, value)
        if copy is None:
            return False
        copies.append(copy)
        kept = (*kept[:place], copy.private, *kept[place + 1 :])
    raw = fast.match(form.plans, kept)
    if raw is None or form.plans.packed is not packed:
        return False
    words = array("Q")
    words.frombytes(raw)
    plan = packed[words[0]].plan
    assert plan.cpu is not None
    end = 2 + len(plan.words)
    reads, writes, own, own_written, is_own_all = [], [], [], [], not copies
    at = end
    for place, is_read, is_written in form.tensors:
        span = words[at], words[at + 1]
        at += 2
        if is_read:
            reads.append(span)
        if is_written:
            writes.append(span)
        value = kept[place]
        if type(value) is Tensor:
            own.append(value)
            if is_written:
                own_written.append(value)
            if value.block.account is None or value.block.lent:
                is_own_all = False
        else:
            is_own_all = False
    if copies and any(low < copy.span[1] and copy.span[0] < high for copy in copies for low, high in writes):
        return False
    if _ledger.poisoned and any(map(_ledger.poison_in, reads)):
        return False
    dimensions = plan.keep.dimensions
    if plan.cpu.dimensions:
        dimensions = {**dimensions, **dict(zip(plan.cpu.dimensions, words[at:], strict=False))}
    launched = Launched(
        signature.name, plan.keep.loaded, words[2:end], words[1], dimensions, reads, writes, (args, kept), own,
        own_written, is_own=is_own_all, copies=copies,
    )  # fmt: skip
    launched.guards = guards
    looked_at = [
        (place, record, version, dimensions[parameter.element.dimension])
        for place, parameter, record, version in in_place
        if isinstance(parameter.element, ContentOf)
    ]
    if not all(map(form.has_looked_at, looked_at)):
        guards += check_own_contents(proved, signature, form.premises, kept, dimensions)
    start(launched, proved, signature)
    for seen in looked_at:  # not before: `start` raises if somebody wrote meanwhile
        form.looked_at[seen[0]] = seen
    return True


# In graphs.


def steps_of(loaded: Loaded, proved: Proved, bound: Bound) -> tuple[Work, array[int]]:
    """A launch for a graph: what it uses, and the steps of a queue that run it. The work keeps what they need."""
    if loaded.is_native:
        launched = _of(proved, bound, loaded)
        return launched, _steps(launched, bound)
    return called(deferred(loaded, bound), proved, bound)


def called(function: Callable[[], None], proved: Proved, bound: Bound) -> tuple[Called, array[int]]:
    """The same for a launch that is a function of Python."""
    work = work_of(signature_of(proved), bound, bound.keep)
    call = Called(work.name, function, work.reads, work.writes, bound.keep)
    call.views = work.views
    return call, call.steps


def _steps(launched: Launched, bound: Bound) -> array[int]:
    """The steps that run a launch, which stay good as long as the launch is kept; none if it has no programs."""
    words, loaded = launched.words, launched.loaded
    cleared = [tensor for tensor in loaded.combined if not tensor.type.keeps]
    if not launched.programs and not cleared:
        return array("Q")
    launched.address_words()
    kept: list[Any] = []
    steps = array("Q")
    if cleared:
        from tileproof.backends.cpu.device.split_launch import beginning_of
    for tensor in cleared:
        output = bound.tensors[tensor.name]
        kept.append(np.full(output.shape, beginning_of(tensor), output.dtype))
        place = words[STEP + loaded.words.places[tensor.name, "pointer"]]
        steps.extend(copy_of(place, kept[-1].ctypes.data, output.nbytes))
    if loaded.code.has_after:
        kept.append(np.empty(loaded.code.piece * launched.programs + _ALIGNMENT, np.uint8))
        words[STEP + loaded.words.places["space"]] = -(-kept[-1].ctypes.data // _ALIGNMENT) * _ALIGNMENT
    steps.extend(words[:STEP])
    if loaded.code.has_after:
        total = loaded.joins(launched.dimensions)
        steps.extend(step_of(loaded.after, words[2], total, pool().chunk(total), loaded.code.arena, words[6]))
    launched.kept = kept
    return steps


# Words.


def _of(proved: Proved, bound: Bound, loaded: Loaded) -> Launched:
    """A launch from its arguments."""
    signature, places = signature_of(proved), loaded.words.places
    values = loaded.fixed_words(bound.tensors, bound.dimensions)
    for tensor in loaded.tensors:
        values[places[tensor.name, "pointer"]] = address_of(bound.tensors[tensor.name])
    for scalar in loaded.scalars:
        values[places[scalar.name]] = scalar_word(scalar.type.dtype, bound.scalars[scalar.name])
    assert places["record"] == 0
    total = loaded.programs(bound.dimensions)
    items = 1 if loaded.combined else total
    if loaded.combined:
        values[places["shares"]] = 1
    step = step_of(loaded.main, 0, items, pool().chunk(items), loaded.code.arena, 0)
    work = work_of(signature, bound, None)
    written = [bound.own[t.name] for t in signature.tensors if t.name in bound.own and t.access is not Access.IN]
    return Launched(
        signature.name, loaded, array("Q", [*step, *values, *RECORD]), total, bound.dimensions, work.reads,
        work.writes, bound.keep, tuple(bound.own.values()), written, is_own=is_own(bound), copies=bound.copies,
    )  # fmt: skip


def deferred(loaded: Loaded, bound: Bound) -> Callable[[], None]:
    """A launch as a function, for launches that are more than one job."""
    from tileproof.backends.cpu.device import split_launch as parts  # few kernels need it

    arguments = {**bound.tensors, **bound.scalars}
    return lambda: parts.run(loaded, arguments, bound.dimensions, pool())


# Code.


def loaded_for(proved: Proved, bound: Bound) -> Loaded:
    """The code for a launch: in memory, on disk, or made now."""
    target = host()
    depth = depth_for(target)
    lowered_ones, known = _lowered_ones.of(proved), _loaded_ones.of(proved)
    lowered = lowered_ones.get(depth)
    if lowered is None:
        lowered = lowered_ones[depth] = Lowered(_lowered(proved, depth))
    specialization = lowered.specialization(bound.tensors, bound.dimensions, target.caches.l3)
    loaded = known.get((specialization, target))
    if loaded is None:
        with _making:
            loaded = known.get((specialization, target)) or _ready(proved, lowered, specialization, target)
            known[specialization, target] = loaded
    return loaded


def _lowered(proved: Proved, depth: int) -> ops.KernelIR:
    """The IR that code is made of, from disk if it is there."""
    key = digest("cpu ir", proved.key, depth) if proved.key else ""
    kernel = read_ir(proved.kernel, proved.elaborated, key) if key else None
    if kernel is None:
        from tileproof.compiler.pipeline import Cpu, lower

        kernel = lower(proved.ready, Cpu(depth))
        if key:
            keep_ir(proved.kernel, proved.elaborated, key, kernel)
    return kernel


def _ready(proved: Proved, lowered: Lowered, specialization: Specialization, target: Target) -> Loaded:
    """A kernel's native form for a specialization, from disk if it is there."""
    if not proved.key:
        from tileproof.backends.cpu.codegen import program

        code = program.compile_kernel(lowered.kernel, specialization, target, f"tileproof_{next(_numbers)}")
        return Loaded(lowered, specialization, code)
    key = digest(
        "cpu", proved.key, astuple(specialization), depth_for(target), target.key, target.caches.l3, llvm.version()
    )
    if key not in _loaded:
        stored = default()
        code = read_entry(stored, key, ())
        if not isinstance(code, running.Code):
            from tileproof.backends.cpu.codegen import program

            code = program.compile_kernel(lowered.kernel, specialization, target, f"tileproof_{key[:32]}")
            stored.put(key, write_entry(code, ()))
        if key not in _loaded:
            _loaded[key] = code, running.load(code)
    return Loaded(lowered, specialization, *_loaded[key])


launch_with("cpu", launch_by_plan)

__all__ = ["Launched", "called", "deferred", "launch", "launch_by_plan", "loaded_for", "steps_of"]
