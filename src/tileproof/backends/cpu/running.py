"""Compiled kernels in memory: a launch fills in the words of the arguments and hands them to the pool."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tileproof.backends.interpreter import points, semantics
from tileproof.backends.interpreter.reports import Reporter
from tileproof.ir import ops
from tileproof.ir.types import Access, Tensor, TensorType, Tile, TileType, Walker
from tileproof.language.dtypes import DType

from . import llvm
from .checks import sites_of
from .facts import Facts, facts_of
from .pool import Pool, arena, pool_text, threads
from .program import Module, Words, module
from .state import Shown, number, stored
from .target import Target, host

Array: TypeAlias = npt.NDArray[Any]

_NOBODY: Final = 2**63 - 1
"""The program in a record that holds no report."""
_SHARES: Final = 16
"""The most copies of a tensor that is combined into."""
_SHARED_BYTES: Final = 64 << 20
"""The most memory those copies take together."""
_CHUNKS: Final = 16
"""How many chunks of programs each thread gets on average."""
_PRINT = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
_SETUP = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_COMBINES = {Access.SUM: ops.BinaryFn.ADD, Access.MAX: ops.BinaryFn.MAX, Access.MIN: ops.BinaryFn.MIN}
_IDENTITIES = {Access.SUM: ops.ReduceFn.SUM, Access.MAX: ops.ReduceFn.MAX, Access.MIN: ops.ReduceFn.MIN}


@dataclass(frozen=True, slots=True)
class Code:
    """A kernel compiled for some facts, as it is kept on disk."""

    name: str
    object: bytes
    arena: int
    piece: int
    dimensions: tuple[str, ...]
    shown: Mapping[int, tuple[Shown, ...]]
    is_ordered: bool
    has_after: bool


def compile_kernel(kernel: ops.KernelIR, facts: Facts, target: Target, name: str) -> Code:
    """Machine code of a kernel; `name` is its own in this process and wherever it is loaded."""
    made: Module = module(kernel, facts, target, name)
    return Code(
        name, llvm.compile_object(made.text, target), made.arena, made.piece, made.dimensions, made.shown,
        made.is_ordered, made.piece > 0,
    )  # fmt: skip


class Loaded:
    """A compiled kernel that can run."""

    def __init__(self, kernel: ops.KernelIR, code: Code) -> None:
        names = [f"{code.name}.{what}" for what in ("setup", "main", *(("after",) if code.has_after else ()))]
        found = llvm.load_object(code.object, names)
        self.kernel, self.code = kernel, code
        self._setup = _SETUP(found[names[0]])
        self._main = found[names[1]]
        self._after = found[names[2]] if code.has_after else 0
        self._words = Words(kernel)
        for name in code.dimensions:
            self._words.dimension(name)
        self._tensors = [p.value for p in kernel.parameters if isinstance(p.value.type, TensorType)]
        self._scalars = [p.value for p in kernel.parameters if isinstance(p.value.type, TileType)]

    def run(self, arguments: Mapping[str, Any], dimensions: Mapping[str, int]) -> None:
        """Runs all programs and waits for them."""
        launch = _Launch(self, arguments, dimensions)
        launch.run()


def facts_for(kernel: ops.KernelIR, arguments: Mapping[str, Any], dimensions: Mapping[str, int], cache: int) -> Facts:
    """What the arguments of a launch allow the compiler to rely on."""
    arrays = [arguments[p.name] for p in kernel.parameters if isinstance(p.value.type, TensorType)]
    strides = []
    for parameter, array in zip(
        (p for p in kernel.parameters if isinstance(p.value.type, TensorType)), arrays, strict=True
    ):
        if parameter.value.type.access.combines:  # type: ignore[union-attr]
            array = np.empty(array.shape, array.dtype) if _shares(array.nbytes, 2) > 1 else array
        strides.append([step // array.itemsize for step in array.strides])
    return facts_of(kernel, dimensions, strides, [array.nbytes for array in arrays], cache)


def _shares(amount: int, count: int) -> int:
    """How many copies of a tensor of so many bytes programs combine into: a function of sizes, not of threads."""
    return max(1, min(_SHARES, count, _SHARED_BYTES // max(amount, 1)))


@dataclass
class _Launch:
    loaded: Loaded
    arguments: Mapping[str, Any]
    dimensions: Mapping[str, int]
    kept: list[object] = field(default_factory=list)
    """What must live until the launch is done."""

    def run(self) -> None:
        words, code = self.loaded._words, self.loaded.code
        values = [0] * len(words.places)
        record = np.array([0, _NOBODY, 0, 0, 0, 0], np.int64)
        values[words.places["record"]] = record.ctypes.data
        counts = [self._walk(walker, values) for walker in words.walkers]
        total = math.prod(counts)
        values[words.places["programs"]] = total
        combined = self._tensors(values, total)
        self._scalars(values)
        for name in code.dimensions:
            values[words.dimension(name)] = self.dimensions[name]
        printer = _PRINT(self._print)
        if code.is_ordered:
            values[words.places["printer"]] = ctypes.cast(printer, ctypes.c_void_p).value or 0
        if code.has_after:
            values[words.places["space"]] = self._space(code.piece * total)
        packed = (ctypes.c_uint64 * len(values))(*(value & 0xFFFFFFFFFFFFFFFF for value in values))
        address, scratch = ctypes.addressof(packed), arena(code.arena)
        broken = self.loaded._setup(address, scratch)
        if broken:
            required = [op for op in self.loaded.kernel.body.ops if isinstance(op, ops.Require)]
            raise self._report().broken_contract(required[broken - 1].span)
        items = max(1, min(total, max((len(parts) for _, _, parts in combined), default=1))) if combined else total
        if total:
            self._job(self.loaded._main, address, items, scratch)
        if code.has_after and total:
            pieces = next(n for walker, n in zip(words.walkers, counts, strict=True) if walker.type.is_piece)
            self._job(self.loaded._after, address, total // pieces, scratch)
        for tensor, target, parts in combined:
            _combine(tensor, target, parts)
        if record[1] != _NOBODY:
            raise self._failure(record)

    def _job(self, code: int, address: int, total: int, scratch: int) -> None:
        chunk = total if self.loaded.code.is_ordered else max(1, total // (_CHUNKS * threads()))
        pool().run(code, address, total, chunk, self.loaded.code.arena, scratch)

    # Words.

    def _walk(self, walker: Walker, values: list[int]) -> int:
        """The number of places of a walker."""
        words = self.loaded._words
        if walker in words.segments:
            borders = np.asarray(self.arguments[words.segments[walker].offsets.name], np.int64)
            table = _segments(borders, number(points.size_of(walker)))
            self.kept.append(table)
            values[words.places[walker.name, "table"]] = table.ctypes.data
            count = len(table)
        else:
            extent = self.dimensions[walker.type.dimension]
            count = -(-extent // number(points.size_of(walker)))
            if walker.type.is_piece:
                count = max(count, 1)
        values[words.places[walker.name, "count"]] = count
        return count

    def _tensors(self, values: list[int], total: int) -> list[tuple[Tensor, Array, list[Array]]]:
        words, combined = self.loaded._words, []
        shares = 1
        for tensor in self.loaded._tensors:
            if tensor.type.access.combines:
                shares = max(shares, _SHARES)
                shares = min(shares, _shares(self.arguments[tensor.name].nbytes, max(total, 1)))
        for tensor in self.loaded._tensors:
            array: Array = self.arguments[tensor.name]
            if tensor.type.access.combines:
                combined.append((tensor, array, self._copies(tensor, array, shares)))
                copies = combined[-1][2]
                values[words.places[tensor.name, "share"]] = copies[0].nbytes if shares > 1 else 0
                array = copies[0]
            values[words.places[tensor.name, "pointer"]] = array.ctypes.data
            for axis in range(array.ndim):
                values[words.places[tensor.name, "extent", axis]] = array.shape[axis]
                values[words.places[tensor.name, "stride", axis]] = array.strides[axis] // array.itemsize
        values[words.places["shares"]] = shares
        return combined

    def _copies(self, tensor: Tensor, array: Array, shares: int) -> list[Array]:
        identity = semantics.identity(_IDENTITIES[tensor.type.access], stored(tensor))
        if shares == 1:
            array.fill(identity[()])
            return [array]
        copies = np.full((shares, *array.shape), identity, array.dtype)
        self.kept.append(copies)
        return list(copies)

    def _scalars(self, values: list[int]) -> None:
        for scalar in self.loaded._scalars:
            given = self.arguments[scalar.name]
            values[self.loaded._words.places[scalar.name]] = _bits(scalar, given)

    def _space(self, amount: int) -> int:
        space = np.empty(amount + 64, np.uint8)
        self.kept.append(space)
        return -(-space.ctypes.data // 64) * 64

    # Reports.

    def _report(self) -> Reporter:
        kernel = self.loaded.kernel
        arrays = {tensor: self.arguments[tensor.name] for tensor in self.loaded._tensors}
        return Reporter(kernel, points.space_of(kernel, self.dimensions, arrays), self.dimensions)

    def _failure(self, record: Array) -> Exception:
        point, site, index, low, high = (int(word) for word in record[1:])
        op = sites_of(self.loaded.kernel)[site]
        assert isinstance(op, ops.Check)
        return self._report().failed_check(op, index, low, high, None if point < 0 else point)

    def _print(self, site: int, point: int, words: int) -> None:
        op = sites_of(self.loaded.kernel)[site]
        assert isinstance(op, ops.Print)
        values, place = [], 0
        for shown in self.loaded.code.shown[site]:
            rank = len(shown.strides)
            pointer, *lives = (ctypes.c_int64 * (rank + 1)).from_address(words + 8 * place)
            place += rank + 1
            values.append(_seen(shown, pointer, lives))
        print(self._report().shown(op.label, values, None if point < 0 else point))


def _seen(shown: Shown, pointer: int, lives: Sequence[int]) -> Array:
    """A copy of a value that a program shows."""
    dtype = semantics.storage(shown.dtype)
    if not all(lives):
        return np.empty(tuple(lives), dtype)
    span = 1 + sum((live - 1) * step for live, step in zip(lives, shown.strides, strict=True))
    held = np.frombuffer(memoryview((ctypes.c_char * (span * dtype.itemsize)).from_address(pointer)), dtype)
    steps = [step * dtype.itemsize for step in shown.strides]
    return np.array(np.lib.stride_tricks.as_strided(held, tuple(lives), steps))


def _segments(borders: Array, size: int) -> npt.NDArray[np.int64]:
    """Start, stop, number and segment of every tile of a ragged walk."""
    starts, stops = borders[:-1], borders[1:]
    counts = -(-(stops - starts) // size)
    segment = np.repeat(np.arange(len(counts)), counts)
    turn = np.arange(len(segment)) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = starts[segment] + turn * size
    return np.ascontiguousarray(np.stack([begin, np.minimum(begin + size, stops[segment]), turn, segment], axis=1))


def _bits(scalar: Tile, given: Any) -> int:
    dtype: DType = scalar.type.dtype
    value = semantics.constant(np.asarray(given).item(), dtype)
    return int.from_bytes(value.tobytes().ljust(8, b"\0"), "little")


def _combine(tensor: Tensor, target: Array, parts: list[Array]) -> None:
    """The copies of all shares, in order, as one."""
    if parts[0] is target:
        return
    whole = parts[0]
    for part in parts[1:]:
        whole = semantics.binary(_COMBINES[tensor.type.access], whole, part, stored(tensor))
    np.copyto(target, whole)


_pools: list[Pool] = []


def pool() -> Pool:
    """The threads of this process."""
    if not _pools:
        target = host()
        _pools.append(Pool(llvm.compile_object(pool_text(target), target)))
    return _pools[0]


