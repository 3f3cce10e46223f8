"""Launch plans of the CPU: what one launch computed that holds for all launches like it.

Most plans are open: they hold for every shape for which the specialization of the compiled code is true, and state from
what each word of a launch follows. Where more depends on extents, such as a contract, a plan is of one shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tileproof.backends.cpu.codegen.parameters import limits
from tileproof.backends.cpu.device.loaded_code import NOBODY, Loaded
from tileproof.backends.cpu.device.pool import Arena
from tileproof.backends.cpu.device.queue import STEP
from tileproof.backends.cpu.target import host
from tileproof.backends.parallel_space import place_count
from tileproof.compiler.proved import Proved, signature_of
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.frontend.signature import Signature, TensorParameter
from tileproof.ir import ops
from tileproof.ir.types import Access, Named, Unnamed, size_of
from tileproof.ir.walk import walk
from tileproof.language.dtypes import by_storage
from tileproof.runtime.native import CPU, OnCpu, OpenAxis, OpenTensor, Plan, Source, TensorArgument
from tileproof.runtime.native.structures import SMALL, Division, From
from tileproof.runtime.stream.thread_pool import pool

from .binding import Bound
from .contracts import any_looks_at_scalars
from .launch_cache import scalar_argument
from .owned import any_check

RECORD: Final = (0, NOBODY, 0, 0, 0, 0)
"""What a failed check reports, before there is one."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a plan keeps besides what is matched."""

    loaded: Loaded
    dimensions: Mapping[str, int]
    arena: Arena


def plan_of(
    proved: Proved, bound: Bound, args: tuple[Any, ...], loaded: Loaded, words: Sequence[int], programs: int
) -> Plan | None:
    """What a launch found that holds for all like it; None if others like it need the full way."""
    signature = signature_of(proved)
    compares = proved.verdict.compares
    if any(copy.is_back for copy in bound.copies) or any_looks_at_scalars(compares):
        return None
    unpacked = limits(loaded.kernel, loaded.lowered.packable)
    is_open = not (
        loaded.has_setup or compares or proved.groups or signature.equations
        or unpacked is None or any(bound.dimensions[name] > most for name, most in unpacked)
        or any(not isinstance(size_of(walker), int) for walker in loaded.words.walkers)
    )  # fmt: skip
    arguments: list[Any] = []
    free = _open_dimensions(signature) if is_open else []
    specialization = loaded.specialization
    units = dict(zip((tensor.name for tensor in loaded.tensors), specialization.unit, strict=True))
    scalars = {scalar.name: scalar.type.dtype for scalar in loaded.scalars}
    large = dict(zip((tensor.name for tensor in loaded.tensors), specialization.stream, strict=True))
    for parameter, value in zip(signature.arguments, args, strict=True):
        if isinstance(parameter, TensorParameter):
            name, array_of = parameter.name, bound.tensors[parameter.name]
            dtype, word = by_storage()[array_of.dtype], STEP + loaded.words.places[parameter.name, "pointer"]
            is_written, is_read = parameter.access is not Access.IN, parameter.access is not Access.OUT
            if is_open:
                axes = tuple(
                    OpenAxis(_number(free, parameter, axis), extent, unit)
                    for axis, (extent, unit) in enumerate(zip(array_of.shape, units[name], strict=True))
                )
                is_large = large[name] if is_written else None
                arguments.append(OpenTensor(dtype, axes, is_written, word, is_read, is_large))
            else:
                arguments.append(
                    TensorArgument(
                        dtype, array_of.shape, array_of.strides, array_of.itemsize, is_written, word, is_read
                    )
                )
        else:
            word = STEP + loaded.words.places[parameter.name]
            scalar = scalar_argument(scalars[parameter.name], value, word)
            if scalar is None:
                return None
            arguments.append(scalar)
    cpu = _on_cpu(proved, bound, loaded, (words, programs), free, unpacked if is_open else None)
    return Plan(
        tuple(arguments), (*words[: -len(RECORD)], *RECORD), loaded.main, (1, 1, 1), 0, CPU, 0,
        keep=_Kept(loaded, dict(bound.dimensions), cpu[1]), cpu=cpu[0],
    )  # fmt: skip


def _on_cpu(
    proved: Proved, bound: Bound, loaded: Loaded, made_of: tuple[Sequence[int], int], free: Sequence[str],
    unpacked: Sequence[tuple[str, int]] | None,
) -> tuple[OnCpu, Arena]:  # fmt: skip
    """`unpacked` has the greatest extents of an open plan; None for a plan of one shape."""
    words, programs = made_of
    is_open = unpacked is not None
    arena = _arena_for(loaded.code.arena)
    sources = tuple(_sources(bound, loaded, free, proved)) if is_open else ()
    divided = tuple(
        (free.index(name), size, Division.EXACT if (name, size) in loaded.specialization.divided else Division.RAGGED)
        for name, size in loaded.lowered.walks if is_open and name in free
    )  # fmt: skip
    divided += tuple((free.index(name), most, Division.AT_MOST) for name, most in unpacked or () if name in free)
    # A plan for one shape knows how much there is to do; the bytes between which a tensor lies may be few all the same.
    is_small = is_open or sum(array.nbytes for array in bound.tensors.values()) <= SMALL
    is_quick = is_small and not (
        any_check(proved) or proved.premises or _may_run_long(proved.ready) or loaded.has_setup
    )
    on_cpu = OnCpu(
        STEP, len(words) - len(RECORD), programs, tuple(free), is_open, is_quick, pool().chunks,
        host().caches.l3, arena.address, sources, divided,
    )  # fmt: skip
    return on_cpu, arena


def _sources(bound: Bound, loaded: Loaded, free: Sequence[str], proved: Proved) -> list[Source]:
    """The words of an open plan that follow from extents and strides."""
    places, sources = loaded.words.places, list[Source]()
    order = {parameter.name: number for number, parameter in enumerate(signature_of(proved).arguments)}
    for tensor in loaded.tensors:
        for axis in range(bound.tensors[tensor.name].ndim):
            sources.append(Source(STEP + places[tensor.name, "extent", axis], From.EXTENT, order[tensor.name], axis))
            sources.append(Source(STEP + places[tensor.name, "stride", axis], From.STRIDE, order[tensor.name], axis))
    for name in loaded.code.dimensions:
        if name in free:
            sources.append(Source(STEP + loaded.words.dimension(name), From.DIMENSION, free.index(name)))
    fixed = 1
    for walker in loaded.words.walkers:
        size, dimension = size_of(walker), walker.type.dimension
        assert isinstance(size, int)
        if dimension in free:
            word = STEP + places[walker.name, "count"]
            sources.append(Source(word, From.PLACES, free.index(dimension), int(walker.type.is_piece), size))
        else:
            fixed *= place_count(walker, bound.dimensions)
    sources.append(Source(STEP + places["programs"], From.PROGRAMS, size=fixed))
    sources.append(Source(3, From.PROGRAMS))
    sources.append(Source(4, From.CHUNK))
    return sources


def _open_dimensions(signature: Signature) -> list[str]:
    """The dimensions that a plan leaves open: those that are no constants of the code, and `_`."""
    names: dict[str, None] = {}
    for tensor in signature.tensors:
        for axis, dimension in enumerate(tensor.dimensions):
            match dimension:
                case Named(name=name) if name not in signature.static:
                    names[name] = None
                case Unnamed():
                    names[f"{tensor.name}.{axis}"] = None
                case _:
                    pass
    return list(names)


def _number(free: Sequence[str], tensor: TensorParameter, axis: int) -> int:
    """Which of the open dimensions an axis is; -1 if it is none."""
    match tensor.dimensions[axis]:
        case Named(name=name) if name in free:
            return free.index(name)
        case Unnamed():
            return free.index(f"{tensor.name}.{axis}")
        case _:
            return -1


def _may_run_long(kernel: ops.KernelIR) -> bool:
    """Whether how long a program takes depends on more than extents."""
    return any(isinstance(op, ops.While | ops.RangeLoop | ops.Print) for op in walk(kernel.body))


_arenas: list[Arena] = []


def _arena_for(size: int) -> Arena:
    """Memory that launches done at once work in: each has Python's lock to its end, so one is enough."""
    if not _arenas or _arenas[-1].size < size:
        _arenas.append(Arena(max(size, 1 << 16)))
    return _arenas[-1]
