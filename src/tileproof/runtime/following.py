"""Launches on a GPU that are like an earlier one: what it found is remembered as a plan, which others follow."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from tileproof.backends.cuda import running
from tileproof.backends.cuda.driver import entry_point
from tileproof.backends.cuda.facts import Facts
from tileproof.backends.launching import requires_scalars
from tileproof.frontend.signature import ContentOf, Signature, TensorParameter
from tileproof.ir.types import Access
from tileproof.language.dtypes import by_storage

from . import fast, following_beside, streams
from .arguments import Bound
from .contracts import any_looks_at_scalars
from .cuda_launches import give
from .cuda_streams import CudaStream, current_cuda_stream
from .devices import current_stream
from .fast import CUDA, Join, Plan, Plans, ScalarArgument, TensorArgument, readers
from .fast.around import follow_torch
from .fast.lanes import cell_of
from .gpu import Compiled
from .launch_cache import Form, can_follow, launch_with, remember, scalar_argument
from .proved import Proved, signature_of


def _streams(plans: Plans) -> list[tuple[int, int] | tuple[()]]:
    """The current stream of each device that there are plans for, as `fast.launch` is told; nothing is torch's."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    has_torch = cuda is not None and cuda.is_initialized()
    known = readers.torch()
    is_known = has_torch and known is not None and known.module is torch
    if is_known:
        follow_torch(torch)
    found: list[tuple[int, int] | tuple[()]] = []
    for device in dict.fromkeys(plan.device[1] for plan in plans.kept):
        chosen, handle = streams.chosen_stream(device), current_stream(device)
        if not isinstance(chosen, CudaStream):
            found.append(() if is_known else (device, handle))
        elif not has_torch or chosen.handle == handle:
            found.append((device, chosen.handle))
    return found


def _follow(form: Form, args: tuple[Any, ...]) -> bool:
    """Launches as an earlier launch on the current stream of each device; False if nothing was done."""
    return any(fast.launch(form.plans, args, *stream) for stream in _streams(form.plans))


launch_with("cuda", lambda form, args: following_beside.follow(form.found.kernel.name, form.plans, args), _follow)


def launch(code: Compiled, found: Proved, bound: Bound) -> None:
    """Runs a kernel on a GPU, and remembers how for launches with the same constants."""
    loaded, facts, space = code.loaded, code.facts, code.space
    give(found, bound, loaded, space)
    assert bound.device is not None
    signature, args, named = signature_of(found), bound.args, bound.constants_given
    if args is None or not all(type(value) is int for value in named.values()):
        return
    if not _is_repeatable(found, signature, loaded) or not can_follow(signature, args):
        return
    if loaded.is_joined and current_cuda_stream(bound.device).is_recording:
        return  # the pool is not to be set up meanwhile, and whoever records does not launch often
    plan = _plan(signature, bound, loaded, facts, space, args)
    if plan is not None:
        remember(found, named, plan)


def _is_repeatable(found: Proved, signature: Signature, loaded: running.Loaded) -> bool:
    """Whether all that a launch decides follows from shapes, strides and addresses."""
    return (
        (loaded.is_plain or loaded.is_joined)
        and not any(isinstance(tensor.element, ContentOf) for tensor in signature.tensors)
        and not any_looks_at_scalars(found.verdict.compares)
        and not requires_scalars(found.ready)
    )


def _plan(
    signature: Signature, bound: Bound, loaded: running.Loaded, facts: Facts, space: running.Space,
    args: tuple[Any, ...],
) -> Plan | None:  # fmt: skip
    """What a launch found that holds for every launch like it; None if scalars are of an unusual type."""
    assert bound.device is not None
    layouts = dict(zip((tensor.name for tensor in loaded.tensors), facts.layouts, strict=True))
    dtypes = {scalar.name: scalar.type.dtype for scalar in loaded.scalars}
    arguments: list[TensorArgument | ScalarArgument] = []
    for parameter, given in zip(signature.arguments, args, strict=True):
        name = parameter.name
        if isinstance(parameter, TensorParameter):
            array = bound.tensors[name]
            alignment = max(layouts[name].aligned, array.itemsize)
            is_written = parameter.access is not Access.IN
            dtype, word = by_storage()[array.dtype], loaded.place("pointer", name)
            is_read = parameter.access is not Access.OUT
            arguments.append(TensorArgument(dtype, array.shape, array.strides, alignment, is_written, word, is_read))
        else:
            scalar = scalar_argument(dtypes[name], given, loaded.place("scalar", name))
            if scalar is None:
                return None
            arguments.append(scalar)
    blocks = loaded.grid(loaded.code.stages[0], space, bound.tensors)
    join = _join(tuple(arguments), bound, loaded, space) if blocks else None
    context, ask = loaded.device.context_entry()
    return Plan(
        tuple(arguments), tuple(loaded.fixed_words(bound.tensors, bound.dimensions, space)), loaded.functions[0].handle,
        (blocks, 1, 1), entry_point("cuLaunchKernel"), (CUDA, bound.device), None, context=context, context_entry=ask,
        alone=cell_of(bound.device), join=join, keep=loaded,
    )  # fmt: skip


def _join(
    arguments: tuple[TensorArgument | ScalarArgument, ...], bound: Bound, loaded: running.Loaded, space: running.Space
) -> Join | None:
    """What comes behind the kernel itself, if anything does."""
    if not loaded.is_joined:
        return None
    assert bound.device is not None
    loaded.device.pool()  # from now on it keeps what is freed: to get memory anew takes longer than the launch
    stage = loaded.code.stages[1]
    broke = partial(following_beside.broke, loaded.kernel.name, stage.entry, arguments, bound.device)
    return Join(
        stage.entry, loaded.functions[1].handle, (loaded.grid(stage, space, bound.tensors), 1, 1),
        loaded.place("space"), max(loaded.code.piece * space.programs, 16), entry_point("cuMemAllocAsync"),
        entry_point("cuMemFreeAsync"), entry_point("cuStreamIsCapturing"),
        entry_point("cuLaunchKernelEx") if stage.is_early else 0, broke,
    )  # fmt: skip
