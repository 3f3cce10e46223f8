"""Launches on a GPU that are like an earlier one: what it found is remembered as a plan, which others follow."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

from tileproof.backends.cuda.codegen.layout_specialization import Specialization
from tileproof.backends.cuda.device import loaded_code as running
from tileproof.backends.cuda.device.driver import entry_point
from tileproof.backends.scalars import requires_scalars
from tileproof.compiler.proved import Proved, signature_of
from tileproof.diagnostics.errors import LaunchError
from tileproof.frontend.signature import ContentOf, Signature, TensorParameter
from tileproof.ir.types import Access
from tileproof.language.dtypes import by_storage
from tileproof.runtime import native as fast
from tileproof.runtime.interop.describe import current_stream
from tileproof.runtime.memory.ledger import Span, Work, ledger_of, raise_again
from tileproof.runtime.native import CUDA, Join, Plan, ScalarArgument, TensorArgument, readers
from tileproof.runtime.native.repeated_launch import use_torch_stream
from tileproof.runtime.stream import streams
from tileproof.runtime.stream.cuda_streams import CudaStream, current_cuda_stream
from tileproof.runtime.tensor.tensors import Tensor

from .binding import Bound
from .contracts import any_looks_at_scalars
from .cuda_code import Compiled
from .cuda_launches import give
from .launch_cache import Form, are_recognized, launch_with, remember, scalar_argument


def launch_by_plan(form: Form, args: tuple[Any, ...]) -> bool:
    """Launches like an earlier launch; False if none is like it, and nothing was done."""
    for argument in args:
        if type(argument) is Tensor:
            argument.make_record()
    plans = form.plans
    for device in dict.fromkeys(plan.device[1] for plan in plans.kept):
        stream = current_cuda_stream(device)
        chosen = _chosen(stream)
        if chosen is not None:
            answer = fast.launch(plans, args, *chosen)
            if answer or (answer is None and _follow_in_order(form, args, stream, chosen)):
                return True
    return False


def _chosen(stream: CudaStream) -> tuple[int, int, bool] | tuple[()] | None:
    """How `fast.launch` is told of the current stream of a device: not at all where it is torch's.

    None if torch's current stream is another one, which has to wait before and after.
    """
    device = stream.gpu.ordinal
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    has_torch = cuda is not None and cuda.is_initialized()
    known = readers.torch()
    is_known = has_torch and known is not None and known.module is torch
    if is_known:
        use_torch_stream(torch)
    is_default = streams.chosen_stream(device) is None
    if is_default and is_known:
        return ()
    if has_torch and not is_default and stream.handle != current_stream(device):
        return None
    return device, stream.handle, is_default


def _follow_in_order(form: Form, args: tuple[Any, ...], stream: CudaStream, chosen: tuple[Any, ...]) -> bool:
    """The same once the stream is to wait for work of others that is in the way."""
    plans = form.plans
    raw = fast.match(plans, args)
    if raw is None or stream.is_recording:
        return False
    words = array("Q")
    words.frombytes(raw)
    plan = plans.kept[words[0]]
    at, reads, writes = 2 + len(plan.words), list[Span](), list[Span]()
    for argument in plan.arguments:
        if isinstance(argument, TensorArgument):
            span = words[at], words[at + 1]
            at += 2
            if argument.is_read:
                reads.append(span)
            if argument.is_written:
                writes.append(span)
    ledger = stream.ledger
    ledger.demand_free()
    stream.make_room()
    with ledger.lock:
        if ledger.poisoned:
            return False
        stream.note(Work(form.proved.kernel.name, reads, writes))
        return bool(fast.launch(plans, args, *chosen))


def _broke(
    name: str, second: str, arguments: Sequence[TensorArgument | ScalarArgument], device: int, args: tuple[Any, ...],
    stream: int, number: int,
) -> NoReturn:  # fmt: skip
    """Raises why a launch that the native code gave to a stream broke off: the driver took the first of two calls, and
    its leases are taken. What it was to write is poisoned."""
    reads, writes, written = list[Span](), list[Span](), list[Tensor]()
    for argument, value in zip(arguments, args, strict=True):
        seen = readers.see(value)
        if isinstance(argument, TensorArgument) and seen is not None:
            before, behind = argument.reach
            (writes if argument.is_written else reads).append((seen.address - before, seen.address + behind))
            if argument.is_written and type(value) is Tensor:
                written.append(value)
    at = CudaStream.of(device, stream)
    driver = at.gpu.driver
    work = _Broken(name, reads, writes)
    work.error = LaunchError(driver.failure(driver.api.CUresult(number), f"launching `{second}`"))
    work.exact = [(low, high) for tensor in written for low, high in tensor.runs.tolist()]
    for tensor in written:
        tensor.note_write()
    with suppress(LaunchError):  # if the context is lost, nothing can be read any more
        at.note(work)
    raise_again(work.error)


class _Broken(Work):
    """A launch of which the driver took the first of two calls, for what is said of its memory."""

    __slots__ = ("error", "exact")

    error: LaunchError
    exact: Sequence[Span]
    """What it writes of tensors of our own, without gaps: they are not to live longer for it."""

    def written(self) -> Sequence[Span]:
        return self.exact

    def failure(self) -> BaseException | None:
        return self.error


launch_with("cuda", launch_by_plan)


def launch(code: Compiled, proved: Proved, bound: Bound) -> None:
    """Runs a kernel on a GPU, and remembers how for launches with the same constants."""
    loaded, specialization, space = code.loaded, code.specialization, code.space
    give(proved, bound, loaded, space)
    assert bound.device is not None
    signature, args, named = signature_of(proved), bound.args, bound.constants_given
    if args is None or not all(type(value) is int for value in named.values()):
        return
    if not _is_repeatable(proved, signature, loaded) or not are_recognized(signature, args):
        return
    if loaded.is_joined and current_cuda_stream(bound.device).is_recording:
        return  # the pool is not to be set up meanwhile, and whoever records does not launch often
    plan = _plan(signature, bound, loaded, specialization, space, args)
    if plan is not None:
        remember(proved, named, plan)


def _is_repeatable(proved: Proved, signature: Signature, loaded: running.Loaded) -> bool:
    """Whether all that a launch decides follows from shapes, strides and addresses."""
    return (
        (loaded.is_plain or loaded.is_joined)
        and not any(isinstance(tensor.element, ContentOf) for tensor in signature.tensors)
        and not any_looks_at_scalars(proved.verdict.compares)
        and not requires_scalars(proved.ready)
    )


def _plan(
    signature: Signature, bound: Bound, loaded: running.Loaded, specialization: Specialization,
    space: running.LaunchSpace,
    args: tuple[Any, ...],
) -> Plan | None:  # fmt: skip
    """What a launch found that holds for every launch like it; None if scalars are of an unusual type."""
    assert bound.device is not None
    layouts = dict(zip((tensor.name for tensor in loaded.tensors), specialization.layouts, strict=True))
    dtypes = {scalar.name: scalar.type.dtype for scalar in loaded.scalars}
    arguments: list[TensorArgument | ScalarArgument] = []
    for parameter, value in zip(signature.arguments, args, strict=True):
        name = parameter.name
        if isinstance(parameter, TensorParameter):
            array = bound.tensors[name]
            alignment = max(layouts[name].aligned, array.itemsize)
            is_written = parameter.access is not Access.IN
            dtype, word = by_storage()[array.dtype], loaded.place("pointer", name)
            is_read = parameter.access is not Access.OUT
            arguments.append(TensorArgument(dtype, array.shape, array.strides, alignment, is_written, word, is_read))
        else:
            scalar = scalar_argument(dtypes[name], value, loaded.place("scalar", name))
            if scalar is None:
                return None
            arguments.append(scalar)
    blocks = loaded.grid(loaded.code.stages[0], space, bound.tensors)
    join = _join(tuple(arguments), bound, loaded, space) if blocks else None
    context, ask = loaded.device.context_entry()
    return Plan(
        tuple(arguments), tuple(loaded.fixed_words(bound.tensors, bound.dimensions, space)), loaded.functions[0].handle,
        (blocks, 1, 1), entry_point("cuLaunchKernel"), (CUDA, bound.device), None, context=context, context_entry=ask,
        lanes=ledger_of(bound.device).lanes.address, join=join, keep=loaded,
    )  # fmt: skip


def _join(
    arguments: tuple[TensorArgument | ScalarArgument, ...], bound: Bound, loaded: running.Loaded,
    space: running.LaunchSpace,
) -> Join | None:  # fmt: skip
    """What comes after the kernel itself, if anything does."""
    if not loaded.is_joined:
        return None
    assert bound.device is not None
    loaded.device.pool()  # from now on it keeps what is freed: to get memory anew takes longer than the launch
    stage = loaded.code.stages[1]
    broke = partial(_broke, loaded.kernel.name, stage.entry, arguments, bound.device)
    return Join(
        stage.entry, loaded.functions[1].handle, (loaded.grid(stage, space, bound.tensors), 1, 1),
        loaded.place("space"), max(loaded.code.piece * space.programs, 16), entry_point("cuMemAllocAsync"),
        entry_point("cuMemFreeAsync"), entry_point("cuStreamIsCapturing"),
        entry_point("cuLaunchKernelEx") if stage.is_early else 0, broke,
    )  # fmt: skip
