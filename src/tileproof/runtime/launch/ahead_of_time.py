"""Compiling for GPUs ahead of any launch: launches are planned here, and made on another machine.

A plan is a launch that was bound and proved as a launch is, with arrays of the host in place of a GPU's. What it found
or put in the cache of the process on the way is what the launch itself will look for.
"""

from __future__ import annotations

import math
import mmap
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from tileproof.backends.cuda.assembler.assemble import Assembled, Job, assemble_each
from tileproof.backends.cuda.assembler.cubin import Remark, warnings_of
from tileproof.backends.cuda.codegen.program import Program, Request
from tileproof.backends.cuda.device.loaded_code import Code, code_of, job_of
from tileproof.compiler.bundles import BundledKernel, pack
from tileproof.compiler.cache import default, digest, recorded, write_whole
from tileproof.compiler.proofs import fingerprint, read_entry, write_entry
from tileproof.compiler.proved import Proved
from tileproof.diagnostics.errors import TileproofError
from tileproof.frontend.signature import parse
from tileproof.ir.types import TensorType
from tileproof.language.kernel import Kernel, Schedule
from tileproof.runtime.interop.describe import Array

from .binding import Bound
from .cuda_code import Variant, space_of, variant
from .launch import prepare

Assemble: TypeAlias = Callable[..., Iterable[tuple[Job, Assembled | TileproofError]]]
"""What calls the assembler, as `assemble_each` does."""
_PAGE: Final = 4096
_NO_RESERVE: Final = 0x4000 if sys.platform == "linux" else 0
"""A flag that older versions of Python do not name: the system need not promise memory that is never written."""


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """What would be launched. Arrays lie as those of the launch will: their strides and addresses decide the code."""

    name: str
    kernel: Kernel
    args: Sequence[Any]
    constants: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A launch that was bound and proved, and the code it needs for some architectures."""

    launch: Launch
    proved: Proved
    bound: Bound
    variants: tuple[Variant, ...]
    proof: Mapping[str, bytes]
    """The entries of the cache that hold its proof."""
    seconds: float
    """What reading and proving took."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledVariant:
    """What came of one variant of a plan: code, or what is wrong."""

    plan: Plan
    variant: Variant
    outcome: Code | TileproofError
    remarks: tuple[Remark, ...] = ()
    program: Program | None = None
    """The bytecode, if it was made."""
    seconds: float = 0.0
    """What the bytecode took, from the source on; 0 if it was not made."""
    is_kept: bool = False
    """Whether the code was found in the cache."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the code slow that the user can change."""
        return () if isinstance(self.outcome, TileproofError) else warnings_of(self.outcome.resources, self.remarks)


def plan_launch(launch: Launch, archs: Sequence[str], *, checked: bool = True) -> Plan:
    """Binds and proves a launch; raises what the launch would raise."""
    started = time.perf_counter()
    # A kernel of its own: one that was launched or planned before remembers its proof, and reads no entry.
    kernel = launch.kernel.with_schedule(launch.kernel.schedule or Schedule())
    with recorded() as proof:
        proved, bound = prepare(kernel, tuple(launch.args), dict(launch.constants))
        space = space_of(proved, bound)
        variants = tuple(variant(proved, bound, space, arch, checked=checked) for arch in archs)
        _ = proved.key  # writes the proof
    return Plan(launch, proved, bound, variants, dict(proof), time.perf_counter() - started)


def compile_all(
    plans: Sequence[Plan], *, workers: int | None = None, programs: bool = False, verbose: bool | None = None,
    assemble: Assemble | None = None,
) -> Iterator[CompiledVariant]:  # fmt: skip
    """Makes what plans need and the cache does not have, several at a time; gives each as it is done.

    `programs` asks for the bytecode too where the code is in the cache. One that fails ends nothing.
    """
    waiting: dict[tuple[str, bytes], list[tuple[Plan, Variant, Request, Program, float]]] = {}
    jobs: list[Job] = []
    for plan, wanted in ((user, wanted) for user in plans for wanted in user.variants):
        kept = _kept(wanted)
        if kept is not None and not programs:
            yield CompiledVariant(plan, wanted, *kept, is_kept=True)
            continue
        started = time.perf_counter()
        try:
            request = wanted.request()
            program = request.lowered()
        except TileproofError as error:
            yield CompiledVariant(plan, wanted, error)
            continue
        seconds = plan.seconds + time.perf_counter() - started
        if kept is not None:
            yield CompiledVariant(plan, wanted, *kept, program, seconds, is_kept=True)
            continue
        job = job_of(request, program, remarks=True)
        # Some forms of a kernel come to the same code, which is then assembled once.
        sharing = waiting.setdefault((job.arch, job.bytecode), [])
        if not sharing:
            jobs.append(job)
        sharing.append((plan, wanted, request, program, seconds))
    for job, outcome in (assemble or assemble_each)(jobs, workers, verbose=verbose):
        for plan, wanted, request, program, seconds in waiting[job.arch, job.bytecode]:
            if isinstance(outcome, TileproofError):
                yield CompiledVariant(plan, wanted, outcome, (), program, seconds)
                continue
            code = code_of(request, program, outcome)
            _keep(wanted, code, outcome.remarks)
            yield CompiledVariant(plan, wanted, code, outcome.remarks, program, seconds)


def _kept(wanted: Variant) -> tuple[Code, tuple[Remark, ...]] | None:
    """Code and remarks of a variant, if the cache has both: a launch keeps no remarks."""
    if not wanted.key:
        return None
    stored = default()
    code, remarks = read_entry(stored, wanted.key, ()), read_entry(stored, _remarks_key(wanted), ())
    are_remarks = isinstance(remarks, tuple) and all(isinstance(remark, Remark) for remark in remarks)
    return (code, remarks) if isinstance(code, Code) and are_remarks else None


def _keep(wanted: Variant, code: Code, remarks: Sequence[Remark]) -> None:
    if wanted.key:
        stored = default()
        stored.put(wanted.key, write_entry(code, ()))
        stored.put(_remarks_key(wanted), write_entry(tuple(replace(remark, span=None) for remark in remarks), ()))


def _remarks_key(wanted: Variant) -> str:
    return digest("remarks", fingerprint(), wanted.key)


# Bundles.


def write_bundle(
    path: str | os.PathLike[str], outcomes: Iterable[CompiledVariant], *, version: str, assembler: str
) -> int:
    """Writes a bundle of all that was made; gives its bytes. What lies there is replaced, as a whole or not at all."""
    codes: dict[Plan, dict[str, str]] = {}
    entries: dict[str, bytes] = {}
    for outcome in outcomes:
        assert isinstance(outcome.outcome, Code), "what failed is in no bundle"
        codes.setdefault(outcome.plan, {})[outcome.variant.target.arch] = outcome.variant.key
        # How long the assembler took would make every bundle another.
        entries[outcome.variant.key] = write_entry(replace(outcome.outcome, seconds=0.0), ())
        entries |= outcome.plan.proof
    data = pack(version, assembler, [_bundled(plan, keys) for plan, keys in codes.items()], entries)
    write_whole(Path(path), data)
    return len(data)


def _bundled(plan: Plan, codes: Mapping[str, str]) -> BundledKernel:
    kernel, constants = plan.proved.kernel, plan.bound.constants
    return BundledKernel(kernel.name, Path(kernel.filename).name, shapes_of(plan), constants, sorted(plan.proof), codes)


def shapes_of(plan: Plan) -> str:
    """The arguments of a launch as `tileproof compile --shapes` takes them."""
    types = {
        parameter.value.name: parameter.value.type.stored_as.name
        for parameter in plan.proved.ir.parameters
        if isinstance(parameter.value.type, TensorType)
    }
    shapes = {name: f"{'x'.join(map(str, array.shape))}:{types[name]}" for name, array in plan.bound.tensors.items()}
    texts = shapes | {name: repr(value) for name, value in plan.bound.scalars.items()}
    return ",".join(f"{arg.name}={texts[arg.name]}" for arg in parse(plan.proved.kernel).signature.arguments)


# Arrays.


def stand_in(shape: Sequence[int], dtype: np.dtype[Any], strides: Sequence[int] | None = None) -> Array:
    """An array of zeros that takes no memory while nobody writes it, however large; strides are in bytes."""
    steps = _dense(shape, dtype.itemsize) if strides is None else tuple(strides)
    reaches = [step * (extent - 1) for step, extent in zip(steps, shape, strict=True)]
    before = -sum(reach for reach in reaches if reach < 0)
    size = 0 if 0 in shape else before + sum(reach for reach in reaches if reach > 0) + dtype.itemsize
    try:
        memory = mmap.mmap(-1, max(size, _PAGE), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    except (OSError, OverflowError):
        message = f"an array of shape {tuple(shape)} and {dtype} has more bytes than this machine has addresses"
        raise MemoryError(message) from None
    return np.ndarray(tuple(shape), dtype, memory, 0 if 0 in shape else before, steps)


def _dense(shape: Sequence[int], size: int) -> tuple[int, ...]:
    return tuple(size * math.prod(max(extent, 1) for extent in shape[axis + 1 :]) for axis in range(len(shape)))
