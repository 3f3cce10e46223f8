"""Launches on a GPU that are like an earlier one: what it found is remembered as a plan, which others follow."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from tileproof.backends.cuda import running
from tileproof.backends.cuda.driver import entry_point
from tileproof.backends.cuda.facts import Facts
from tileproof.backends.launching import requires_scalars
from tileproof.frontend.elaborate import parse
from tileproof.frontend.signature import ContentOf, Signature, TensorParameter
from tileproof.frontend.watching import split
from tileproof.ir.types import Access
from tileproof.language.dtypes import by_storage
from tileproof.language.kernel import Kernel

from . import choice, fast, following_beside, gpu, streams
from .arguments import Bound
from .check import Proved
from .cuda_streams import CudaStream, current_cuda_stream
from .devices import current_stream
from .fast import CUDA, Join, Plan, Plans, ScalarArgument, TensorArgument, readers, register_buffer
from .fast.around import Around, Follow, Way, follow_torch, follower
from .fast.lanes import cell_of
from .repeats import looks_at_scalars
from .tensors import Tensor

_SCALARS: Final = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64")
"""The types of scalars that a launch like an earlier one may have."""


_MOST: Final = 64
"""How many sets of constants of a kernel are remembered."""
_FORMS: Final = 8
"""How many forms of a kernel with the same constants: for other element types, or for extents that are constants."""


_around: Final = Around(
    (streams.recording, choice._chosen), choice._variables, choice._ENCODED, streams._chosen
)
register_buffer(Tensor, "_record")


@dataclass(frozen=True, slots=True)
class Remembered:
    """Launches of one form of a kernel that others like them can follow."""

    found: Proved
    plans: Plans = field(default_factory=Plans)

    def add(self, plan: Plan) -> None:
        """Remembers a launch, unless one like it is remembered: not all that could follow a plan may."""
        if not any(_are_alike(plan, other) for other in self.plans.kept):
            self.plans.add(plan)


def _are_alike(one: Plan, other: Plan) -> bool:
    names = ("arguments", "words", "function", "grid", "device", "context", "join")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _follower(key: tuple[tuple[str, int], ...], forms: Sequence[Remembered]) -> Follow:
    """What follows launches with the same constants. Natively, unless something is unusual."""
    expected = dict(key)
    launch = fast.launch
    ways = tuple((each.found.watch, each.plans) for each in forms)

    def follow(args: tuple[Any, ...], constants: dict[str, Any]) -> bool:
        if len(constants) != len(expected):
            return False
        for name, value in constants.items():
            if type(value) is not int or value != expected.get(name):  # True and 1.0 are equal to 1, and differ
                return False
        if choice.is_free():
            for is_current, plans in ways:
                if is_current():
                    for stream in _streams(plans):
                        if launch(plans, args, *stream):
                            return True
        return False

    glances = [Way(*split(each.found.elaborated.captures), each.plans) for each in forms]
    return follower(follow, expected, glances, _around)


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


def follow_beside(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Launches as an earlier launch where that could not be done natively, as while several streams are at work."""
    if not following_beside.may_follow(named):
        return False
    forms = kernel.cache.get("followed", {}).get(tuple(named.items()), ())
    return any(form.found.watch() and following_beside.follow(kernel.name, form.plans, args) for form in forms)


def launch(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any], found: Proved, bound: Bound) -> None:
    """Runs a kernel on a GPU, and remembers how for launches with the same constants."""
    loaded, facts, space = gpu.run(found, bound)
    assert bound.device is not None
    signature = parse(kernel).signature
    is_plain = all(type(value) is int for value in named.values())
    if len(args) != len(signature.arguments) or not is_plain or not _is_repeatable(found, signature, loaded):
        return
    if not _can_follow(signature, args):
        return
    if loaded.is_joined and current_cuda_stream(bound.device).is_recording:
        return  # the pool is not to be set up meanwhile, and whoever records does not launch often
    plan = _plan(signature, bound, loaded, facts, space, args)
    if plan is not None:
        _form_of(kernel, tuple(named.items()), found).add(plan)


def _form_of(kernel: Kernel, key: tuple[tuple[str, Any], ...], found: Proved) -> Remembered:
    """What is remembered of one form of a kernel. Forms that are out of date are forgotten."""
    known: dict[Any, tuple[Remembered, ...]] = kernel.cache.setdefault("followed", {})
    forms = known.get(key, ())
    for form in forms:
        if form.found is found:
            return form
    if key not in known and len(known) >= _MOST:
        known.clear()
        kernel.remembered.clear()
    made = Remembered(found)
    known[key] = (made, *(form for form in forms if form.found.is_current))[:_FORMS]
    kernel.remembered[key] = kernel.recent = _follower(key, known[key])
    return made


def _can_follow(signature: Signature, args: tuple[Any, ...]) -> bool:
    """Whether tensors of these types can be recognised: those of cupy, say, cannot."""
    readers.refresh()
    types = {reader.type for reader in readers.known()}
    pairs = zip(signature.arguments, args, strict=True)
    return all(type(given) in types for parameter, given in pairs if isinstance(parameter, TensorParameter))


def _is_repeatable(found: Proved, signature: Signature, loaded: running.Loaded) -> bool:
    """Whether all that a launch decides follows from shapes, strides and addresses."""
    return (
        (loaded.is_plain or loaded.is_joined)
        and not any(isinstance(tensor.element, ContentOf) for tensor in signature.tensors)
        and not any(looks_at_scalars(compare) for compare in found.verdict.compares)
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
        elif type(given) in (bool, int, float) and dtypes[name].name in _SCALARS:
            arguments.append(ScalarArgument(dtypes[name], type(given), loaded.place("scalar", name)))
        else:
            return None
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
