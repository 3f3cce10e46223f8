"""Compiled kernels in memory: a launch fills in the words of the arguments and hands them to the pool."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tileproof.backends.interpreter import points, semantics
from tileproof.backends.interpreter.reports import Reporter
from tileproof.backends.launching import bits_of, requires_scalars, segment_table
from tileproof.backends.launching import places as places_of
from tileproof.ir import ops
from tileproof.ir.types import Tensor, TensorType, TileType, Walker

from . import llvm
from .checks import sites_of
from .facts import Facts, facts_of
from .pool import ARENAS, SPACES, Arena, Pool
from .prepacking import candidates, chosen, counts
from .program import Module, Words, module
from .state import Shown, number
from .target import Target

Array: TypeAlias = npt.NDArray[Any]

NOBODY: Final = 2**63 - 1
"""The program in a record that holds no report."""
_ALL: Final = 2**64 - 1
_SHARES: Final = 16
"""The most copies of a tensor that is combined into."""
_SHARED_BYTES: Final = 64 << 20
"""The most memory those copies take together."""
_PRINT = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
_SETUP = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class Code:
    """A kernel compiled for some facts, as it is kept on disk."""

    name: str
    object: bytes
    arena: int
    piece: int
    dimensions: tuple[str, ...]
    shown: Mapping[int, tuple[Shown, ...]]
    packs: tuple[tuple[int, int], ...]
    is_ordered: bool
    has_after: bool


def compile_kernel(kernel: ops.KernelIR, facts: Facts, target: Target, name: str) -> Code:
    """Machine code of a kernel; `name` is its own in this process and wherever it is loaded."""
    made: Module = module(kernel, facts, target, name)
    return Code(
        name, llvm.compile_object(made.text, target), made.arena, made.piece, made.dimensions, made.shown,
        made.packs, made.is_ordered, made.piece > 0,
    )  # fmt: skip


def load(code: Code) -> dict[str, int]:
    """Puts code into memory, for good and only once; gives the addresses of its functions by what they do."""
    after = ("after",) if code.has_after else ()
    what = ("setup", "main", *after, *(f"pack{place}" for place, _ in code.packs))
    found = llvm.load_object(code.object, [f"{code.name}.{each}" for each in what])
    return dict(zip(what, found.values(), strict=True))


class Loaded:
    """A compiled kernel that can run."""

    def __init__(self, kernel: ops.KernelIR, code: Code, found: Mapping[str, int] | None = None) -> None:
        """`found` is where the functions of the code are, if it is loaded."""
        found = load(code) if found is None else found
        self.packing = [found[f"pack{place}"] for place, _ in code.packs]
        self.packed = candidates(kernel)
        self.kernel, self.code = kernel, code
        self.setup = _SETUP(found["setup"])
        self.main = found["main"]
        self.after = found.get("after", 0)
        self.words = Words(kernel)
        for name in code.dimensions:
            self.words.dimension(name)
        self.tensors = [p.value for p in kernel.parameters if isinstance(p.value.type, TensorType)]
        self.scalars = [p.value for p in kernel.parameters if isinstance(p.value.type, TileType)]
        outer = [op for op in kernel.body.ops if not isinstance(op, ops.Parallel)]
        is_alone = self.words.parallel is None
        tested = (ops.Require,) if is_alone else (ops.Require, ops.Check)
        self.has_setup = any(isinstance(op, tested) for op in outer)
        is_tested = not is_alone and any(isinstance(op, ops.Check) for op in outer)
        is_simple = not (is_tested or self.words.segments or code.is_ordered or code.packs)
        self.combined = [tensor for tensor in self.tensors if tensor.type.access.combines]
        self.is_plain = is_simple and not (code.has_after or self.combined or requires_scalars(kernel))
        """Whether a launch is one job and nothing else, once contracts of its extents were tested."""
        self.is_native = is_simple and not (code.has_after and self.combined)
        """Whether it is copies and jobs in a fixed order, once its contracts were tested: what tensors begin as, the
        programs, and those behind a join."""

    def run(self, arguments: Mapping[str, Any], dimensions: Mapping[str, int], pool: Pool) -> None:
        """Runs all programs and waits for them."""
        _Launch(self, arguments, dimensions, pool).run()

    def programs(self, dimensions: Mapping[str, int]) -> int:
        """How many programs there are at these extents, where no walker goes by segments."""
        return math.prod(places_of(walker, dimensions) for walker in self.words.walkers)

    def shares(self, tensors: Mapping[str, Array], programs: int) -> int:
        """How many copies of the tensors that are combined into so many programs share."""
        amounts = [tensors[tensor.name].nbytes for tensor in self.combined]
        return min((_shares(amount, max(programs, 1)) for amount in amounts), default=1)

    def joins(self, dimensions: Mapping[str, int]) -> int:
        """How many programs follow the join."""
        return math.prod(places_of(walker, dimensions) for walker in self.words.walkers if not walker.type.is_piece)

    def fixed_words(self, tensors: Mapping[str, Array], dimensions: Mapping[str, int]) -> list[int]:
        """The words of the arguments that follow from shapes and strides; 0 for the others."""
        places = self.words.places
        values = [0] * len(places)
        for walker in self.words.walkers:
            if walker not in self.words.segments:
                values[places[walker.name, "count"]] = places_of(walker, dimensions)
        for tensor in self.tensors:
            array = tensors[tensor.name]
            for axis in range(array.ndim):
                values[places[tensor.name, "extent", axis]] = array.shape[axis]
                values[places[tensor.name, "stride", axis]] = array.strides[axis] // array.itemsize & _ALL
        for name in self.code.dimensions:
            values[self.words.dimension(name)] = dimensions[name]
        values[places["programs"]] = 0 if self.words.segments else self.programs(dimensions)
        return values

    def failure(
        self, record: Sequence[int], dimensions: Mapping[str, int], tensors: Mapping[Tensor, Array]
    ) -> Exception:
        """What a failed check reported."""
        point, site, index, low, high = (int(word) - (1 << 64 if word >> 63 else 0) for word in record[1:])
        op = sites_of(self.kernel)[site]
        assert isinstance(op, ops.Check)
        return self.report(dimensions, tensors).failed_check(op, index, low, high, None if point < 0 else point)

    def report(self, dimensions: Mapping[str, int], tensors: Mapping[Tensor, Array]) -> Reporter:
        """Who says what went wrong."""
        return Reporter(self.kernel, points.space_of(self.kernel, dimensions, tensors), dimensions)


def facts_for(kernel: ops.KernelIR, arguments: Mapping[str, Any], dimensions: Mapping[str, int], cache: int) -> Facts:
    """What the arguments of a launch allow the compiler to rely on."""
    arrays = [arguments[p.name] for p in kernel.parameters if isinstance(p.value.type, TensorType)]
    strides = []
    for parameter, array in zip(
        (p for p in kernel.parameters if isinstance(p.value.type, TensorType)), arrays, strict=True
    ):
        is_combined = parameter.value.type.access.combines  # type: ignore[union-attr]
        steps = _row_by_row(array) if is_combined else array.strides
        strides.append([step // array.itemsize for step in steps])
    found = facts_of(kernel, dimensions, strides, [array.nbytes for array in arrays], cache)
    tensors = (p.name for p in kernel.parameters if isinstance(p.value.type, TensorType))
    shapes = {name: array.shape for name, array in zip(tensors, arrays, strict=True)}
    return replace(found, packed=chosen(kernel, dimensions, shapes))


def beginning_of(tensor: Tensor) -> Any:
    """What every element of a tensor that is combined into begins as."""
    return semantics.identity(ops.BEGINS_AS[tensor.type.access], tensor.type.stored_as)


def is_row_by_row(array: Array) -> bool:
    """Whether an array has no gaps."""
    return array.strides == _row_by_row(array)


def _shares(amount: int, count: int) -> int:
    """How many copies of a tensor of so many bytes programs combine into: a function of sizes, not of threads."""
    return max(1, min(_SHARES, count, _SHARED_BYTES // max(amount, 1)))


def _row_by_row(array: Array) -> tuple[int, ...]:
    """The steps of an array without gaps, in bytes: those that code relies on for tensors that are combined into."""
    steps = [array.itemsize]
    for extent in reversed(array.shape[1:]):
        steps.append(steps[-1] * extent)
    return tuple(reversed(steps[: array.ndim]))


@dataclass
class _Launch:
    loaded: Loaded
    arguments: Mapping[str, Any]
    dimensions: Mapping[str, int]
    pool: Pool
    special: dict[object, int] = field(default_factory=dict)
    """Words that not only shapes decide."""
    kept: list[object] = field(default_factory=list)
    """What must live until the launch is done."""
    space: Arena | None = None
    """Where operands are packed beforehand."""

    def run(self) -> None:
        loaded = self.loaded
        code, places = loaded.code, loaded.words.places
        arrays = {tensor.name: self.arguments[tensor.name] for tensor in loaded.tensors}
        total = math.prod(self._places(walker) for walker in loaded.words.walkers)
        combined = self._combined(arrays, total)
        values = loaded.fixed_words(arrays, self.dimensions)
        for key, value in self.special.items():
            values[places[key]] = value
        record = np.array([0, NOBODY, 0, 0, 0, 0], np.uint64)
        values[places["record"]] = record.ctypes.data
        values[places["programs"]] = total
        for name, array in arrays.items():
            values[places[name, "pointer"]] = array.__array_interface__["data"][0]
        for scalar in loaded.scalars:
            values[places[scalar.name]] = bits_of(scalar.type.dtype, self.arguments[scalar.name])
        printer = _PRINT(self._print) if code.is_ordered else None
        if printer is not None:
            values[places["printer"]] = ctypes.cast(printer, ctypes.c_void_p).value or 0
        if code.has_after:
            values[places["space"]] = self._space(code.piece * total)
        jobs = self._packing(values)
        packed = (ctypes.c_uint64 * len(values))(*values)
        address, scratch = ctypes.addressof(packed), ARENAS.take(code.arena)
        self._require(address, scratch)
        if total:
            for job, items in jobs:
                self._job(job, address, items, scratch)
            shares = values[places["shares"]]
            self._job(loaded.main, address, shares if combined else total, scratch)
            if code.has_after:
                pieces = next(w for w in loaded.words.walkers if w.type.is_piece)
                joins = total // self._places(pieces)
                self._job(loaded.after, address, shares if loaded.words.combines_after else joins, scratch)
        ARENAS.give(scratch)
        if self.space is not None:
            SPACES.give(self.space)
        for tensor, target, parts in combined:
            _combine(tensor, target, parts)
        if record[1] != NOBODY:
            raise loaded.failure([int(word) for word in record], self.dimensions, self._by_tensor())

    def _packing(self, values: list[int]) -> list[tuple[int, int]]:
        """Makes room for operands that are packed beforehand; the jobs that pack them."""
        jobs, amount, places = [], 0, []
        for (place, size), job in zip(self.loaded.code.packs, self.loaded.packing, strict=True):
            candidate = self.loaded.packed[place]
            items = math.prod(counts(candidate, self.arguments[candidate.load.tensor.name].shape))
            places.append((place, amount))
            amount += items * size
            jobs.append((job, items))
        if jobs:
            self.space = SPACES.take(amount)
            for place, begin in places:
                values[self.loaded.words.places["packed", place]] = self.space.address + begin
        return jobs

    def _require(self, address: int, scratch: Arena) -> None:
        """Tests the contracts, before anything is written."""
        broken = self.loaded.setup(address, scratch.address) if self.loaded.has_setup else 0
        if broken:
            required = [op for op in self.loaded.kernel.body.ops if isinstance(op, ops.Require)]
            report = self.loaded.report(self.dimensions, self._by_tensor())
            raise report.broken_contract(required[broken - 1].span)

    def _by_tensor(self) -> dict[Tensor, Array]:
        return {tensor: self.arguments[tensor.name] for tensor in self.loaded.tensors}

    def _job(self, code: int, address: int, total: int, scratch: Arena) -> None:
        chunk = total if self.loaded.code.is_ordered else self.pool.chunk(total)
        self.pool.run(code, address, total, chunk, self.loaded.code.arena, scratch)

    # Words.

    def _places(self, walker: Walker) -> int:
        """The number of places of a walker; of a ragged walk, counted once and kept as a table."""
        words = self.loaded.words
        if walker not in words.segments:
            return places_of(walker, self.dimensions)
        if (walker.name, "count") not in self.special:
            borders = np.asarray(self.arguments[words.segments[walker].offsets.name], np.int64)
            table = segment_table(borders, number(points.size_of(walker)))
            self.kept.append(table)
            self.special[walker.name, "table"] = table.ctypes.data
            self.special[walker.name, "count"] = len(table)
        return self.special[walker.name, "count"]

    def _combined(self, arrays: dict[str, Array], total: int) -> list[tuple[Tensor, Array, list[Array]]]:
        """The tensors that are combined into, each with its copies, the first of which programs are given."""
        shares = self.loaded.shares(arrays, total)
        found = []
        for tensor in self.loaded.combined:
            target = arrays[tensor.name]
            copies = self._copies(tensor, target, shares)
            found.append((tensor, target, copies))
            arrays[tensor.name] = copies[0]
            self.special[tensor.name, "share"] = copies[0].nbytes if shares > 1 else 0
        self.special["shares"] = shares
        return found

    def _copies(self, tensor: Tensor, array: Array, shares: int) -> list[Array]:
        identity = beginning_of(tensor)
        if shares == 1 and is_row_by_row(array):
            array.fill(identity[()])
            return [array]
        copies = np.full((shares, *array.shape), identity, array.dtype)
        self.kept.append(copies)
        return list(copies)

    def _space(self, amount: int) -> int:
        space = np.empty(amount + 64, np.uint8)
        self.kept.append(space)
        return -(-space.ctypes.data // 64) * 64

    def _print(self, site: int, point: int, words: int) -> None:
        op = sites_of(self.loaded.kernel)[site]
        assert isinstance(op, ops.Print)
        values, place = [], 0
        for shown in self.loaded.code.shown[site]:
            rank = len(shown.strides)
            pointer, *lives = (ctypes.c_int64 * (rank + 1)).from_address(words + 8 * place)
            place += rank + 1
            values.append(_seen(shown, pointer, lives))
        report = self.loaded.report(self.dimensions, self._by_tensor())
        print(report.shown(op.label, values, None if point < 0 else point))


def _seen(shown: Shown, pointer: int, lives: Sequence[int]) -> Array:
    """A copy of a value that a program shows."""
    dtype = semantics.storage(shown.dtype)
    if not all(lives):
        return np.empty(tuple(lives), dtype)
    span = 1 + sum((live - 1) * step for live, step in zip(lives, shown.strides, strict=True))
    held = np.frombuffer(memoryview((ctypes.c_char * (span * dtype.itemsize)).from_address(pointer)), dtype)
    steps = [step * dtype.itemsize for step in shown.strides]
    return np.array(np.lib.stride_tricks.as_strided(held, tuple(lives), steps))


def _combine(tensor: Tensor, target: Array, parts: list[Array]) -> None:
    """The copies of all shares, in order, as one."""
    if parts[0] is target:
        return
    whole = parts[0]
    for part in parts[1:]:
        whole = semantics.binary(ops.COMBINED_BY[tensor.type.access], whole, part, tensor.type.stored_as)
    np.copyto(target, whole)
