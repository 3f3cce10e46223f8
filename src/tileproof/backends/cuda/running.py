"""Compiled kernels on a GPU: a launch fills in the words of the parameters and hands them to the driver."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from tileproof.backends.interpreter import points, semantics
from tileproof.backends.interpreter.machine import Machine
from tileproof.backends.interpreter.reports import Reporter
from tileproof.backends.launching import bits_of, places, segment_table
from tileproof.diagnostics.errors import LaunchError
from tileproof.ir import ops
from tileproof.ir.types import Tensor, TensorType, Tile, TileType
from tileproof.ir.walk import walk
from tileproof.language.dtypes import ALL
from tileproof.language.schedule import Schedule
from tileproof.lowering.joins import again

from . import driver
from .assembling import Assembled, Job, Options, assemble_many
from .checks import WORDS, sites_of
from .combined import CHUNK
from .cubin import Resources
from .driver import Device, Function
from .facts import Facts, facts_of, layout_of, steps_of
from .parameters import Slot
from .program import Program, Stage, program
from .state import Target, number

_ALL: Final = 2**64 - 1
_TYPES: Final = {dtype.name: dtype for dtype in ALL}


@dataclass(frozen=True, slots=True)
class Code:
    """A kernel compiled for some facts, as it is kept on disk."""

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


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be compiled."""

    kernel: ops.KernelIR
    facts: Facts
    target: Target
    schedule: Schedule
    name: str
    serial: bool = False

    def lowered(self) -> Program:
        """The bytecode."""
        return program(self.kernel, self.facts, self.target, self.schedule, self.name, serial=self.serial)


def compile_kernel(request: Request, options: Options | None = None) -> Code:
    """Machine code of a kernel."""
    ((_, code),) = compile_many([request], options)
    return code


def compile_many(
    requests: Sequence[Request], options: Options | None = None, workers: int | None = None
) -> list[tuple[Request, Code]]:
    """Machine code of several kernels, assembled at the same time."""
    lowered = {}
    for request in requests:
        made = request.lowered()
        lowered[job_of(request, made, options or Options())] = request, made
    found = []
    for job, assembled in assemble_many(list(lowered), workers):
        request, made = lowered[job]
        found.append((request, code_of(request, made, assembled)))
    return found


def job_of(request: Request, made: Program, options: Options) -> Job:
    """What the assembler is to do for a request."""
    def in_other_words() -> bytes:
        return replace(request, target=replace(request.target, is_disguised=True)).lowered().bytecode

    spans, name = _spans(request.kernel), request.kernel.name
    return Job(made.bytecode, request.target.arch, options, spans, name, in_other_words)


def code_of(request: Request, made: Program, assembled: Assembled) -> Code:
    """What is kept of a compiled kernel."""
    return Code(
        request.name, request.target.arch, assembled.cubin, made.slots, made.stages, made.piece, made.shadows,
        made.is_persistent, made.is_serial, made.has_report, request.schedule.occupancy or 1, assembled.resources,
        assembled.seconds,
    )  # fmt: skip


def _spans(kernel: ops.KernelIR) -> Callable[[Any], Any]:
    """The place in the source of a location of the bytecode."""

    def find(location: Any) -> Any:
        for op in walk(kernel.body):
            if (op.span.line, op.span.column) == (location.line, location.column):
                return op.span
        return None

    return find


# Facts.


def facts_for(kernel: ops.KernelIR, arrays: Mapping[str, Any], addresses: Mapping[str, int],
              dimensions: Mapping[str, int], programs: int) -> Facts:  # fmt: skip
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
    return facts_of(kernel, dimensions, layouts, reaches, programs)


def _tensors(kernel: ops.KernelIR) -> list[Tensor]:
    return [p.value for p in kernel.parameters if isinstance(p.value.type, TensorType)]


def _scalars(kernel: ops.KernelIR) -> list[Tile]:
    return [p.value for p in kernel.parameters if isinstance(p.value.type, TileType)]


def parallel_of(kernel: ops.KernelIR) -> ops.Parallel | None:
    """The parallel space of a kernel."""
    return next((op for op in kernel.body.ops if isinstance(op, ops.Parallel)), None)


@dataclass(frozen=True, slots=True)
class Space:
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


def space_of(
    kernel: ops.KernelIR, dimensions: Mapping[str, int], borders: Callable[[str], Any]
) -> Space:
    """The programs of a launch; `borders` gives the elements of an `Offsets` argument."""
    parallel = parallel_of(kernel)
    counts: dict[str, int] = {}
    tables: dict[str, Any] = {}
    seen: dict[str, Any] = {}
    pieces = 1
    if parallel is not None:
        ragged = {each.walker: each for each in parallel.segments}
        for walker in parallel.walkers:
            if walker in ragged:
                name = ragged[walker].offsets.name
                offsets = seen[name] = np.asarray(borders(name), np.int64)
                tables[walker.name] = segment_table(offsets, number(points.size_of(walker)))
                counts[walker.name] = len(tables[walker.name])
            else:
                counts[walker.name] = places(walker, dimensions)
            if walker.type.is_piece:
                pieces = counts[walker.name]
    return Space(counts, tables, seen, pieces)


def require(kernel: ops.KernelIR, scalars: Mapping[str, Any], dimensions: Mapping[str, int]) -> None:
    """Tests the contracts of a kernel, which look at dimensions and scalars alone."""
    required = [op for op in kernel.body.ops if isinstance(op, ops.Require)]
    if not required:
        return
    outer = ops.Block(tuple(op for op in kernel.body.ops if not isinstance(op, ops.Parallel)))
    needed = again(outer, *(ops.Block((), (op.condition,)) for op in required))
    given = {
        scalar: semantics.constant(np.asarray(scalars[scalar.name]).item(), scalar.type.dtype)
        for scalar in _scalars(kernel)
    }
    space = points.Space()
    report = Reporter(kernel, space, dimensions)
    machine = Machine({}, given, dimensions, space, "forward", report, None)
    machine.block(needed)
    for op in required:
        machine.execute(op)


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

    def for_kernel(self, kernel: ops.KernelIR) -> Loaded:
        """The same code for a kernel of the same text."""
        return Loaded(kernel, self.code, self.device, self.functions)

    def grid(self, stage: Stage, space: Space, arrays: Mapping[str, Any]) -> int:
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
            return min(programs, self.sm_count * self.code.occupancy)
        return programs

    def fixed_words(
        self, arrays: Mapping[str, Any], dimensions: Mapping[str, int], space: Space
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

    def run(
        self, arrays: Mapping[str, Any], addresses: Mapping[str, int], scalars: Mapping[str, Any],
        dimensions: Mapping[str, int], space: Space, stream: int,
    ) -> None:  # fmt: skip
        """Starts all stages on a stream; waits only where there is a check to look at."""
        _Launch(self, arrays, addresses, scalars, dimensions, space, stream).run()

    def place(self, *what: str | int) -> int:
        """Which parameter is this."""
        return next(place for place, slot in enumerate(self.code.slots) if slot.what == what)

    def failure(self, slots: Any, dimensions: Mapping[str, int], tensors: Mapping[Tensor, Any]) -> Exception:
        """What the first program with a failed check reported."""
        reports = np.asarray(slots, np.int64).reshape(-1, WORDS)
        first = int(np.flatnonzero(reports[:, 0])[0])
        site, index, low, high = (int(word) for word in reports[first])
        op = sites_of(self.kernel)[site - 1]
        space = points.space_of(self.kernel, dimensions, tensors)
        reporter = Reporter(self.kernel, space, dimensions)
        point = None if first == 0 else first - 1
        return reporter.failed_check(op, index, low, high, point)


@dataclass
class _Launch:
    loaded: Loaded
    arrays: Mapping[str, Any]
    addresses: Mapping[str, int]
    scalars: Mapping[str, Any]
    dimensions: Mapping[str, int]
    space: Space
    stream: int
    scratch: list[int] = field(default_factory=list)
    """Memory that the launch gives back when the stream is done with it."""

    def run(self) -> None:
        loaded, code = self.loaded, self.loaded.code
        words = loaded.fixed_words(self.arrays, self.dimensions, self.space)
        report = 0
        slots = self.space.programs + self.space.left + 1
        try:
            for place, slot in enumerate(code.slots):
                match slot.what:
                    case ("pointer", str(name)):
                        words[place] = self.addresses[name]
                    case ("shadow", str(name)):
                        size = (_TYPES[dict(code.shadows)[name]].storage or np.dtype(np.int64)).itemsize
                        words[place] = self._take(self.arrays[name].size * size)
                    case ("scalar", str(name)):
                        scalar = next(each for each in loaded.scalars if each.name == name)
                        words[place] = bits_of(scalar.type.dtype, self.scalars[name])
                    case ("table", str(name)):
                        words[place] = self._copied(self.space.tables[name])
                    case ("space",):
                        words[place] = self._take(code.piece * self.space.programs)
                    case ("report",):
                        amount = 8 * WORDS * (slots + 1)
                        report = words[place] = self._take(amount)
                        loaded.device.memset_async(report, 0, amount, self.stream)
                    case _:
                        pass
            packed = (ctypes.c_uint64 * len(words))(*words)
            start = ctypes.addressof(packed)
            pointers = (ctypes.c_uint64 * len(words))(*(start + 8 * place for place in range(len(words))))
            for stage, function in zip(code.stages, loaded.functions, strict=True):
                blocks = loaded.grid(stage, self.space, self.arrays)
                if blocks:
                    driver.launch(function, (blocks, 1, 1), self.stream, ctypes.addressof(pointers))
            if report:
                self._look(report, slots)
        finally:
            for address in self.scratch:
                # Where the context is lost, the memory went with it, and what went wrong is said already.
                with suppress(LaunchError):
                    loaded.device.free_async(address, self.stream)

    def _take(self, amount: int) -> int:
        address = self.loaded.device.allocate_async(max(amount, 16), self.stream)
        self.scratch.append(address)
        return address

    def _copied(self, table: Any) -> int:
        address = self._take(table.nbytes)
        self.loaded.device.copy_from_host(address, table, self.stream)
        return address

    def _look(self, report: int, slots: int) -> None:
        """Waits for the launch and raises what a check found."""
        flag = self.loaded.device.copy_to_host(report, 8, self.stream).view(np.int64)
        if flag[0]:
            held = self.loaded.device.copy_to_host(report + 8 * WORDS, 8 * WORDS * slots, self.stream)
            raise self.loaded.failure(held.view(np.int64), self.dimensions, self._by_tensor())

    def _by_tensor(self) -> dict[Tensor, Any]:
        return {tensor: self.space.borders[tensor.name] for tensor in self.loaded.tensors
                if tensor.name in self.space.borders}  # fmt: skip
