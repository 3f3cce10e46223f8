"""Compiled kernels on a GPU: a launch fills in the words of the parameters and hands them to the driver."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from tileproof.backends.cuda.assembler.assemble import Assembled, Job, assemble
from tileproof.backends.cuda.assembler.cubin import Resources
from tileproof.backends.cuda.codegen.checks import WORDS, sites_of
from tileproof.backends.cuda.codegen.combined_tensors import CHUNK
from tileproof.backends.cuda.codegen.layout_specialization import Specialization, layout_of, specialization_of, steps_of
from tileproof.backends.cuda.codegen.parameters import Slot
from tileproof.backends.cuda.codegen.program import Program, Request, Stage
from tileproof.backends.cuda.codegen.state import number
from tileproof.backends.interpreter.reports import Reporter
from tileproof.backends.parallel_space import place_count, segment_table, space_of
from tileproof.ir import ops
from tileproof.ir.types import Tensor, TensorType, Tile, TileType, size_of
from tileproof.ir.walk import walk

from . import driver
from .driver import Device, Function

_ALL: Final = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Code:
    """A kernel compiled for a specialization, as it is kept on disk."""

    name: str
    arch: str
    cubin: bytes
    slots: tuple[Slot, ...]
    stages: tuple[Stage, ...]
    piece: int
    shadows: tuple[tuple[str, str], ...]
    is_persistent: bool
    is_serial: bool
    has_report: bool
    occupancy: int
    resources: tuple[Resources, ...]
    seconds: float
    """What the assembler took."""
    is_dependent: bool = False
    """Whether it may begin before the kernel ahead of it has ended, and lets the next one do so."""
    cluster: int = 1
    """Multiprocessors that a program takes."""


def compile_kernel(request: Request) -> Code:
    """Machine code of a kernel."""
    program = request.lowered()
    return code_of(request, program, assemble(job_of(request, program)))


def job_of(request: Request, program: Program, *, remarks: bool = False) -> Job:
    """What the assembler is to do for a request."""
    def in_other_words() -> bytes:
        return replace(request, target=replace(request.target, is_disguised=True)).lowered().bytecode

    spans, name = _spans(request.kernel), request.kernel.name
    return Job(program.bytecode, request.target.arch, spans, name, remarks, in_other_words)


def code_of(request: Request, program: Program, assembled: Assembled) -> Code:
    """What is kept of a compiled kernel."""
    cluster = max((math.prod(resource.cluster) for resource in assembled.resources), default=1)
    return Code(
        request.name, request.target.arch, assembled.cubin, program.slots, program.stages, program.piece,
        program.shadows, program.is_persistent, program.is_serial, program.has_report, request.schedule.occupancy or 1,
        assembled.resources, assembled.seconds, program.is_dependent, cluster,
    )  # fmt: skip


def _spans(kernel: ops.KernelIR) -> Callable[[Any], Any]:
    """The place in the source of a location of the bytecode."""

    def find(location: Any) -> Any:
        for op in walk(kernel.body):
            if (op.span.line, op.span.column) == (location.line, location.column):
                return op.span
        return None

    return find


# Specialization.


def specialization_for(kernel: ops.KernelIR, arrays: Mapping[str, Any], addresses: Mapping[str, int],
              dimensions: Mapping[str, int], programs: int) -> Specialization:  # fmt: skip
    """What the arguments of a launch allow the compiler to rely on."""
    layouts, reaches = [], []
    for tensor in _tensors(kernel):
        array = arrays[tensor.name]
        size = array.itemsize
        layouts.append(layout_of(addresses[tensor.name], array.shape, array.strides, size))
        steps = steps_of(array.shape, array.strides, size)
        reach = sum(abs(step) * (extent - 1) for step, extent in zip(steps, array.shape, strict=True) if extent)
        # A tensor whose elements are all one has a reach of 0, and axes as long as any.
        reaches.append(max(reach, *array.shape, 0))
    return specialization_of(kernel, dimensions, layouts, reaches, programs)


def _tensors(kernel: ops.KernelIR) -> list[Tensor]:
    return [p.value for p in kernel.parameters if isinstance(p.value.type, TensorType)]


def _scalars(kernel: ops.KernelIR) -> list[Tile]:
    return [p.value for p in kernel.parameters if isinstance(p.value.type, TileType)]


def parallel_of(kernel: ops.KernelIR) -> ops.Parallel | None:
    """The parallel space of a kernel."""
    return next((op for op in kernel.body.ops if isinstance(op, ops.Parallel)), None)


@dataclass(frozen=True, slots=True)
class LaunchSpace:
    """The programs of a launch."""

    counts: Mapping[str, int]
    """For each walker, how many places it has."""
    tables: Mapping[str, Any]
    """For each ragged walk, its tiles."""
    borders: Mapping[str, Any]
    """The elements of each `Offsets` argument that a walk goes by."""
    pieces: int
    """How many pieces a join combines."""

    @property
    def programs(self) -> int:
        return math.prod(self.counts.values())

    @property
    def left(self) -> int:
        return self.programs // max(self.pieces, 1)


def launch_space(
    kernel: ops.KernelIR, dimensions: Mapping[str, int], borders: Callable[[str], Any]
) -> LaunchSpace:
    """The programs of a launch; `borders` gives the elements of an `Offsets` argument."""
    parallel = parallel_of(kernel)
    counts: dict[str, int] = {}
    tables: dict[str, Any] = {}
    seen: dict[str, Any] = {}
    pieces = 1
    if parallel is not None:
        ragged = {segment.walker: segment for segment in parallel.segments}
        for walker in parallel.walkers:
            if walker in ragged:
                name = ragged[walker].offsets.name
                offsets = seen[name] = np.asarray(borders(name), np.int64)
                tables[walker.name] = segment_table(offsets, number(size_of(walker)))
                counts[walker.name] = len(tables[walker.name])
            else:
                counts[walker.name] = place_count(walker, dimensions)
            if walker.type.is_piece:
                pieces = counts[walker.name]
    return LaunchSpace(counts, tables, seen, pieces)


# Launches.


class Loaded:
    """A compiled kernel on a GPU."""

    def __init__(
        self, kernel: ops.KernelIR, code: Code, device: Device, functions: Sequence[Function] | None = None
    ) -> None:
        """`functions` are those of the code, if it is loaded."""
        self.kernel, self.code, self.device = kernel, code, device
        if functions is None:
            module = driver.load(code.cubin, device)
            functions = [module.function(stage.entry) for stage in code.stages]
        self.functions = functions
        self.tensors = _tensors(kernel)
        self.scalars = _scalars(kernel)
        self.sm_count = device.sm_count
        has_table = any(slot.what[0] == "table" for slot in code.slots)
        self.is_plain = len(code.stages) == 1 and not (code.has_report or has_table)
        """Whether a launch is one call of the driver and nothing else."""
        grids = [stage.grid for stage in code.stages]
        self.is_joined = grids == ["programs", "left"] and not (code.has_report or has_table or code.shadows)
        """Whether it is two: the kernel itself, and what joins the pieces that its programs left in memory between."""
        self.is_dependent = code.is_dependent and self.is_plain
        """Whether a launch may begin before the kernel ahead of it has ended; what lies between would be waited for."""

    def for_kernel(self, kernel: ops.KernelIR) -> Loaded:
        """The same code for a kernel of the same text."""
        return Loaded(kernel, self.code, self.device, self.functions)

    def grid(self, stage: Stage, space: LaunchSpace, arrays: Mapping[str, Any]) -> int:
        """How many blocks a stage has."""
        if stage.grid == "none":
            return 0 if space.programs else 1
        if stage.grid == "elements":
            sizes = (arrays[tensor.name].size for tensor in self.tensors if tensor.type.access.combines)
            return -(-max(sizes, default=0) // CHUNK)
        programs = space.left if stage.grid == "left" else space.programs
        if self.code.is_serial:
            return min(programs, 1)
        if self.code.is_persistent:
            return min(programs, max(self.sm_count * self.code.occupancy // self.code.cluster, 1))
        return programs

    def can_depend(self, space: LaunchSpace, arrays: Mapping[str, Any]) -> bool:
        """Whether a launch can be dependent, after another launch of code that is.

        Its blocks begin when the last blocks of the kernel ahead have, so they take the place of none of them.
        """
        return self.is_dependent and self.grid(self.code.stages[0], space, arrays) > 0

    def fixed_words(
        self, arrays: Mapping[str, Any], dimensions: Mapping[str, int], space: LaunchSpace
    ) -> list[int]:
        """The words of the parameters that follow from shapes and strides; 0 for the others."""
        steps = {
            tensor.name: steps_of(array.shape, array.strides, array.itemsize)
            for tensor in self.tensors
            for array in (arrays[tensor.name],)
        }
        words = []
        for slot in self.code.slots:
            match slot.what:
                case ("extent", str(name), int(axis)):
                    words.append(arrays[name].shape[axis])
                case ("stride", str(name), int(axis)):
                    words.append(steps[name][axis] & _ALL)
                case ("dimension", str(name)):
                    words.append(dimensions[name])
                case ("count", str(name)):
                    words.append(space.counts[name])
                case ("programs",):
                    words.append(space.programs)
                case _:
                    words.append(0)
        return words

    def place(self, *what: str | int) -> int:
        """Which parameter is this."""
        return next(place for place, slot in enumerate(self.code.slots) if slot.what == what)

    def failure(self, slots: Any, dimensions: Mapping[str, int], tensors: Mapping[Tensor, Any]) -> Exception:
        """What the first program with a failed check reported."""
        reports = np.asarray(slots, np.int64).reshape(-1, WORDS)
        first = int(np.flatnonzero(reports[:, 0])[0])
        site, index, low, high = (int(word) for word in reports[first])
        op = sites_of(self.kernel)[site - 1]
        space = space_of(self.kernel, dimensions, tensors)
        reporter = Reporter(self.kernel, space, dimensions)
        point = None if first == 0 else first - 1
        return reporter.failed_check(op, index, low, high, point)
